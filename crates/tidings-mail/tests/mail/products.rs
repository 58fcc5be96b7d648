//! Mails of a project tool and of a shop beside those of the gallery in `golden`: what people wrote, security, invoices.

use std::sync::Arc;

use proptest::prelude::*;
use tidings_core::batch::Batch;
use tidings_core::event::Score;
use tidings_core::group::{Entry, group};
use tidings_core::number::EventNo;
use tidings_core::presentation::{Brand, Texts, Wording};
use tidings_core::rules::TypeRules;
use tidings_core::{Header, ImageSize, Object, Rules};
use tidings_mail::{Design, SECRET_BYTES, TokenKey};

use crate::fixture::{assert_proper, batch, bodies, id, instant, object, role, sender};
use crate::golden::assert_file;

fn texts(all: &[(&str, &str)]) -> Texts {
    Texts(all.iter().map(|(locale, text)| ((*locale).to_owned(), (*text).to_owned())).collect())
}

/// An event in a few words.
struct Told<'a> {
    kind: &'a str,
    actor: Option<&'a str>,
    object: Object,
    target: Option<&'a str>,
    body: Option<&'a str>,
    data: serde_json::Value,
}

fn told<'a>(kind: &'a str, object: Object) -> Told<'a> {
    Told { kind, actor: None, object, target: None, body: None, data: serde_json::json!({}) }
}

fn entry(n: usize, told: &Told<'_>) -> Entry {
    let named = |title: &str| role(&title.to_lowercase().replace(' ', "-"), title);
    let (actor, target) = (told.actor.map(named), told.target.map(named));
    let header = Header {
        place: EventNo(n as u64),
        id: id(&format!("e{n}")),
        event_type: id(told.kind),
        actor: actor.as_ref().map(|actor| actor.id.clone()),
        object: told.object.id.clone(),
        target: target.as_ref().map(|target| target.id.clone()),
        score: Score::default(),
        occurred_at: None,
        expires_at: None,
    };
    Entry {
        header,
        t: instant("2024-03-01T10:00:00Z").plus_ms(n as i64 * 3_600_000),
        reasons: ["named".to_owned()].into(),
        object: Arc::new(told.object.clone()),
        actor,
        target,
        data: told.data.as_object().cloned().map(Arc::new),
        body: told.body.map(Arc::from),
    }
}

/// The rules of a product: its name, its colour, and its types as `name, category, required, wording`.
fn rules(name: &str, color: &str, types: Vec<(&str, &str, bool, Wording)>) -> Rules {
    let mut rules = Rules::default();
    let some = |text: &str| Some(text.to_owned());
    rules.presentation.brand = Brand {
        name: some(name),
        color: some(color),
        url: some("https://example.org"),
        postal_address: some("1 Harbour Street, Dublin"),
        ..Brand::default()
    };
    for (kind, category, required, wording) in types {
        let of_type = TypeRules { category: category.to_owned(), required, ..TypeRules::default() };
        rules.types.insert(kind.to_owned(), of_type);
        rules.presentation.types.insert(kind.to_owned(), wording);
        rules.categories.entry(category.to_owned()).or_default();
    }
    rules
}

pub(crate) fn work_tool() -> Rules {
    let mention = Wording {
        title: texts(&[("", "New {count|mention|mentions}")]),
        sentence: texts(&[
            ("", "{actor} mentioned you in {object}"),
            ("de", "{actor} hat Sie in {object} erwähnt"),
            ("fr", "{actor} vous a mentionné dans {object}"),
            ("he", "{actor} הזכיר אותך ב{object}"),
            ("ja", "{actor}さんが{object}であなたに言及しました"),
        ]),
        action: texts(&[
            ("", "Reply"),
            ("de", "Antworten"),
            ("fr", "Répondre"),
            ("he", "תשובה"),
            ("ja", "返信する"),
        ]),
        reply_to: Some("Frames <replies@example.org>".to_owned()),
        ..Wording::default()
    };
    let comment = Wording {
        title: texts(&[("", "New {count|comment|comments}")]),
        sentence: texts(&[("", "{actor} commented on {object}")]),
        action: texts(&[("", "Reply")]),
        ..Wording::default()
    };
    let task = Wording {
        title: texts(&[("", "{count|task|tasks} assigned to you")]),
        sentence: texts(&[("", "{actor} assigned {object} to you")]),
        ..Wording::default()
    };
    let types = vec![
        ("mention", "conversations", false, mention),
        ("comment", "conversations", false, comment),
        ("task", "tasks", false, task),
    ];
    rules("Frames", "#4f46e5", types)
}

fn shop() -> Rules {
    let password = Wording {
        sentence: texts(&[
            ("", "Your password was changed"),
            ("de", "Ihr Passwort wurde geändert"),
            ("he", "הסיסמה שלך שונתה"),
        ]),
        notice: texts(&[
            ("", "Not you? Secure your account at {data.secure_url}"),
            ("de", "Das waren nicht Sie? Sichern Sie Ihr Konto: {data.secure_url}"),
            ("he", "לא ביצעת זאת? {data.secure_url}"),
        ]),
        ..Wording::default()
    };
    let invoice = Wording {
        sentence: texts(&[("", "Your invoice for {data.month} is ready: {data.total}")]),
        action: texts(&[("", "View invoice")]),
        ..Wording::default()
    };
    let shipped = Wording {
        title: texts(&[("", "{count|order|orders} on the way")]),
        sentence: texts(&[("", "{object} is on its way")]),
        action: texts(&[("", "Track parcel")]),
        ..Wording::default()
    };
    let types = vec![
        ("password_changed", "account", true, password),
        ("invoice", "billing", true, invoice),
        ("shipped", "orders", false, shipped),
    ];
    rules("Kiosk", "#0f766e", types)
}

fn document(title: &str) -> Object {
    Object { url: Some("/docs/7".to_owned()), ..object("docs/7", title) }
}

fn mail_of(rules: &Rules, locale: &str, all: &[Told<'_>]) -> (String, String) {
    let entries: Vec<Entry> = all.iter().enumerate().map(|(n, told)| entry(n, told)).collect();
    let mut batch: Batch = batch(group(entries.iter().collect(), rules));
    batch.locale = locale.to_owned();
    batch.lane = "now".to_owned();
    batch.topics.clear();
    let design = Design::new(sender(), rules).unwrap();
    let mail =
        tidings_mail::render(&batch, &design.linked(TokenKey::new(&[1; SECRET_BYTES]))).unwrap();
    assert_proper(&mail);
    let (text, html) = bodies(&mail);
    (format!("Subject: {}\n\n{text}", mail.subject), html)
}

/// No mail says the same thing twice.
pub(crate) fn assert_no_line_twice(text: &str) {
    let mut lines: Vec<&str> = text.lines().map(str::trim).filter(|line| line.len() > 3).collect();
    lines.sort_unstable();
    for pair in lines.windows(2) {
        assert!(pair[0] != pair[1] || pair[0].starts_with("http"), "`{}` twice: {text}", pair[0]);
    }
}

fn assert_golden(name: &str, rules: &Rules, locale: &str, all: &[Told<'_>]) {
    let (text, html) = mail_of(rules, locale, all);
    assert_no_line_twice(text.split_once('\n').expect("a subject").1);
    assert_file(&format!("{name}.html"), &html);
    assert_file(&format!("{name}.txt"), &text);
}

#[test]
fn a_mention_says_what_was_written() {
    let mention = |actor, title, body| Told {
        actor: Some(actor),
        target: Some("Spring exhibition"),
        body: Some(body),
        ..told("mention", document(title))
    };
    let english = mention(
        "Ben Okafor",
        "Frames for the north wall",
        "I measured again: 84 × 62 cm will do, if we hang it above the door.\n\n@Ana, can you ask the \
         workshop whether oak is still possible by the 14th?",
    );
    assert_golden("mention", &work_tool(), "en", &[english]);
    let hebrew = mention("דנה כהן", "מסגרות לקיר הצפוני", "מדדתי שוב: 84 × 62 ס״מ יספיקו.");
    assert_golden("mention_he", &work_tool(), "he", &[hebrew]);
    let japanese = mention("山田太郎", "北壁の額縁", "もう一度測りました。84×62cmで大丈夫です。");
    assert_golden("mention_ja", &work_tool(), "ja", &[japanese]);
    let french = mention("Élodie Brun", "Cadres du mur nord", "C’est bon pour moi.");
    assert_golden("mention_fr", &work_tool(), "fr", &[french]);
}

#[test]
fn a_digest_of_work_says_who_wrote_what_where() {
    let task = |n: usize, title: &str| Object {
        url: Some(format!("/tasks/{n}")),
        ..object(&format!("tasks/{n}"), title)
    };
    let comment = |n, actor, title, body| Told {
        actor: Some(actor),
        target: Some("Website redesign"),
        body: Some(body),
        ..told("comment", task(n, title))
    };
    let all = [
        comment(
            1,
            "Cleo Marsh",
            "Hero image",
            "The crop cuts off her hand on phones. Could we use the wide one?",
        ),
        comment(2, "Dov Adler", "Footer links", "Done, please check the French labels."),
        Told {
            actor: Some("Ana Ruiz"),
            target: Some("Website redesign"),
            ..told("task", task(3, "Write alt texts for the collection pages"))
        },
        Told {
            actor: Some("Ben Okafor"),
            target: Some("Spring exhibition"),
            body: Some("Can you decide by Thursday?"),
            ..told("mention", document("Frames for the north wall"))
        },
    ];
    assert_golden("work", &work_tool(), "en", &all);
}

#[test]
fn a_mail_about_security_says_what_when_and_what_to_do() {
    let changed = || Told {
        data: serde_json::json!({"secure_url": "https://example.org/secure?t=1"}),
        ..told("password_changed", object("accounts/9", "Your account"))
    };
    assert_golden("security", &shop(), "en", &[changed()]);
    assert_golden("security_de", &shop(), "de", &[changed()]);
    assert_golden("security_he", &shop(), "he", &[changed()]);
}

#[test]
fn an_invoice_and_a_parcel_say_what_they_are() {
    let invoice = Told {
        data: serde_json::json!({"month": "March", "total": "€ 48.20"}),
        ..told(
            "invoice",
            Object {
                url: Some("/invoices/2024-03".to_owned()),
                ..object("invoices/3", "Invoice 2024-03")
            },
        )
    };
    assert_golden("invoice", &shop(), "en", &[invoice]);
    let parcel = told(
        "shipped",
        Object {
            url: Some("/orders/81".to_owned()),
            image: Some("/images/lamp.jpg".to_owned()),
            image_size: Some(ImageSize { width: 800, height: 600 }),
            ..object("orders/81", "Desk lamp, brass")
        },
    );
    assert_golden("parcel", &shop(), "en", &[parcel]);
}

/// Events of a work tool in any order and mixture: `type actor object body`.
fn events() -> impl Strategy<Value = Vec<(usize, usize, usize, bool)>> {
    proptest::collection::vec((0..KINDS.len(), 0..4_usize, 0..30_usize, any::<bool>()), 1..80)
}

const KINDS: [&str; 3] = ["mention", "comment", "task"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn whatever_a_subject_counts_is_in_the_mail(events in events()) {
        let actors = ["Ann Bo", "Cy Dee", "Eve Fox", "Gil Hay"];
        let all: Vec<Told<'_>> = events
            .iter()
            .map(|(kind, actor, on, has_body)| Told {
                actor: Some(actors[*actor]),
                body: has_body.then_some("Please look."),
                ..told(KINDS[*kind], object(&format!("{kind}/{on}"), &format!("Task {kind}.{on}")))
            })
            .collect();
        let (text, _) = mail_of(&work_tool(), "en", &all);
        let subject = text.lines().next().unwrap_or_default();
        let body = text.split_once("\n\n").expect("a body").1;
        for (kind, counted) in [" new mention", " new comment", " assigned to you"].iter().enumerate() {
            if subject.contains(counted) {
                prop_assert!(body.contains(&format!("Task {kind}.")), "{counted}: {text}");
            }
        }
        let counted = subject.rsplit_once(": ").map_or("", |(_, counted)| counted);
        prop_assert!(!counted.contains('…'), "{subject}");
    }
}
