//! Mails of a project tool and of a shop beside those of the gallery in `golden`: what people wrote, security, invoices.

mod content;

use std::sync::Arc;

use proptest::prelude::*;
use tidings_core::content::{Batch, Entry, group};
use tidings_core::index::Header;
use tidings_core::model::{EventNo, ImageSize, Score};
use tidings_core::rules::{Brand, Texts, TypeRules, Wording};
use tidings_core::{Object, Rules};
use tidings_mail::{Design, SECRET_BYTES, TokenKey};

use crate::fixture::{assert_proper, batch, bodies, id, instant, object, role, sender};
use crate::golden::assert_file;
use content::{CONTENTS, Content};

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
        body: told.body.map(Into::into),
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

/// A text in each of the languages of `CONTENTS`; English serves the others.
fn in_all([en, de, fr, he, ja]: [&str; 5]) -> Texts {
    texts(&[("", en), ("de", de), ("fr", fr), ("he", he), ("ja", ja)])
}

pub(crate) fn work_tool() -> Rules {
    let reply = || in_all(["Reply", "Antworten", "Répondre", "תשובה", "返信する"]);
    let mention = Wording {
        title: in_all([
            "New {count|mention|mentions}",
            "neue {count|Erwähnung|Erwähnungen}",
            "{count|nouvelle mention|nouvelles mentions}",
            "{count|אזכור חדש|אזכורים חדשים|אזכורים חדשים}",
            "新しいメンション",
        ]),
        sentence: in_all([
            "{actor} mentioned you in {object}",
            "{actor} {actors|hat|haben} Sie in „{object}“ erwähnt",
            "{actor} vous {actors|a|ont} mentionné dans «\u{a0}{object}\u{a0}»",
            "{actor} {actors|הזכיר/ה|הזכירו|הזכירו} אותך ב\"{object}\"",
            "{actor}さんが「{object}」であなたに言及しました",
        ]),
        action: reply(),
        reply_to: Some("Frames <replies@example.org>".to_owned()),
        ..Wording::default()
    };
    let comment = Wording {
        title: in_all([
            "New {count|comment|comments}",
            "{count|neuer Kommentar|neue Kommentare}",
            "{count|nouveau commentaire|nouveaux commentaires}",
            "{count|תגובה חדשה|תגובות חדשות|תגובות חדשות}",
            "新しいコメント",
        ]),
        sentence: in_all([
            "{actor} commented on {object}",
            "{actor} {actors|hat|haben} „{object}“ kommentiert",
            "{actor} {actors|a|ont} commenté «\u{a0}{object}\u{a0}»",
            "{actor} {actors|הגיב/ה|הגיבו|הגיבו} על \"{object}\"",
            "{actor}から「{object}」にコメントがありました",
        ]),
        action: reply(),
        ..Wording::default()
    };
    let task = Wording {
        title: in_all([
            "{count|task|tasks} assigned to you",
            "neue {count|Aufgabe|Aufgaben} für Sie",
            "{count|nouvelle tâche|nouvelles tâches} pour vous",
            "{count|משימה חדשה|משימות חדשות|משימות חדשות} בשבילך",
            "新しい担当タスク",
        ]),
        sentence: in_all([
            "{actor} assigned {object} to you",
            "{actor} {actors|hat|haben} Ihnen „{object}“ zugewiesen",
            "{actor} vous {actors|a|ont} confié «\u{a0}{object}\u{a0}»",
            "{actor} {actors|העביר/ה|העבירו|העבירו} אליך את \"{object}\"",
            "{actor}さんが「{object}」をあなたに割り当てました",
        ]),
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
        sentence: in_all([
            "Your password was changed",
            "Ihr Passwort wurde geändert",
            "Votre mot de passe a été modifié",
            "הסיסמה שלך שונתה",
            "パスワードが変更されました",
        ]),
        notice: in_all([
            "Not you? Secure your account at {data.secure_url}",
            "Das waren nicht Sie? Sichern Sie Ihr Konto: {data.secure_url}",
            "Ce n’était pas vous\u{a0}? Sécurisez votre compte\u{a0}: {data.secure_url}",
            "לא ביצעת זאת? אפשר לאבטח את החשבון כאן: {data.secure_url}",
            "お心当たりがない場合は、こちらからアカウントを保護してください：{data.secure_url}",
        ]),
        ..Wording::default()
    };
    let invoice = Wording {
        sentence: in_all([
            "Your invoice for {data.month} is ready: {data.total}",
            "Ihre Rechnung für {data.month} ist da: {data.total}",
            "Votre facture de {data.month} est prête\u{a0}: {data.total}",
            "החשבונית שלך לחודש {data.month} מוכנה: {data.total}",
            "{data.month}分の請求書ができました：{data.total}",
        ]),
        action: in_all([
            "View invoice",
            "Rechnung ansehen",
            "Voir la facture",
            "לצפייה בחשבונית",
            "請求書を見る",
        ]),
        ..Wording::default()
    };
    let shipped = Wording {
        title: in_all([
            "{count|order|orders} on the way",
            "{count|Bestellung|Bestellungen} unterwegs",
            "{count|commande|commandes} en route",
            "{count|הזמנה|הזמנות|הזמנות} בדרך",
            "発送した注文",
        ]),
        sentence: in_all([
            "{object} is on its way",
            "{object} ist unterwegs",
            "{object} est en route",
            "{object} בדרך אליך",
            "{object}を発送しました",
        ]),
        action: in_all([
            "Track parcel",
            "Sendung verfolgen",
            "Suivre le colis",
            "מעקב אחר המשלוח",
            "配送状況を見る",
        ]),
        ..Wording::default()
    };
    let types = vec![
        ("password_changed", "account", true, password),
        ("invoice", "billing", true, invoice),
        ("shipped", "orders", false, shipped),
    ];
    let mut rules = rules("Kiosk", "#0f766e", types);
    rules.presentation.brand.logo = Some("https://example.org/kiosk.png".to_owned());
    rules.presentation.brand.logo_dark = Some("https://example.org/kiosk-dark.png".to_owned());
    rules
}

fn at(path: &str, title: &str) -> Object {
    Object { url: Some(format!("/{path}")), ..object(path, title) }
}

impl Content {
    /// An act of a person on the object of a number, in one of the projects.
    fn by(
        &self,
        kind: &'static str,
        (actor, on, project): (usize, usize, usize),
        said: Option<usize>,
    ) -> Told<'_> {
        Told {
            actor: Some(self.people[actor]),
            target: Some(self.projects[project]),
            body: said.map(|said| self.said[said]),
            ..told(kind, at(&format!("tasks/{on}"), self.titles[on]))
        }
    }

    fn mention(&self) -> Told<'_> {
        self.by("mention", (0, 0, 1), Some(0))
    }

    /// A week's work in the order in which it happened: seven events, or the last of them.
    fn work(&self, count: usize) -> Vec<Told<'_>> {
        let mut all = vec![
            self.by("task", (3, 4, 1), None),
            self.by("task", (3, 3, 0), None),
            self.by("comment", (4, 5, 0), Some(3)),
            self.by("mention", (1, 5, 0), Some(4)),
            self.by("comment", (2, 2, 0), Some(2)),
            self.by("comment", (1, 1, 0), Some(1)),
            self.mention(),
        ];
        all.split_off(all.len() - count)
    }

    /// Comments of four people on one thing.
    fn thread(&self) -> Vec<Told<'_>> {
        (1..5).map(|actor| self.by("comment", (actor, 1, 0), Some(actor))).collect()
    }

    fn security(&self) -> Told<'_> {
        Told {
            data: serde_json::json!({"secure_url": "https://example.org/secure?t=1"}),
            ..told("password_changed", object("accounts/9", self.account))
        }
    }

    fn invoice(&self) -> Told<'_> {
        let [title, month, total] = self.invoice;
        Told {
            data: serde_json::json!({"month": month, "total": total}),
            ..told("invoice", at("invoices/2024-03", title))
        }
    }

    fn parcel(&self) -> Told<'_> {
        let lamp = Object {
            image: Some("/images/lamp.jpg".to_owned()),
            image_size: Some(ImageSize { width: 800, height: 600 }),
            ..at("orders/81", self.lamp)
        };
        told("shipped", lamp)
    }
}

fn mail_of(rules: &Rules, (locale, tz): (&str, &str), all: &[Told<'_>]) -> (String, String) {
    let entries: Vec<Entry> = all.iter().enumerate().map(|(n, told)| entry(n, told)).collect();
    let mut batch: Batch = batch(group(entries.iter().collect(), rules));
    batch.locale = locale.to_owned();
    batch.tz = tz.to_owned();
    batch.lane = "now".to_owned();
    batch.at = entries.last().expect("an event").t.plus_ms(2 * 60_000);
    batch.topics.clear();
    let design = Design::new(sender(), rules).unwrap();
    let mail =
        tidings_mail::render(&batch, &design.linked(TokenKey::new(&[1; SECRET_BYTES]))).unwrap();
    assert_proper(&mail);
    let (text, html) = bodies(&mail);
    (format!("Subject: {}\n\n{text}", mail.subject), html)
}

/// No mail says the same thing twice: its title, a paragraph, an item, the heading of a section, or a line within a
/// paragraph. A place, a day or a count may be that of several.
fn assert_no_line_twice(text: &str) {
    let assert_none = |mut all: Vec<&str>| {
        all.sort_unstable();
        for pair in all.windows(2) {
            assert!(pair[0] != pair[1], "`{}` twice: {text}", pair[0]);
        }
    };
    let paragraphs = || text.split("\n\n").map(str::trim);
    assert_none(paragraphs().filter(|paragraph| *paragraph != "---").collect());
    assert_none(text.lines().filter(|line| line.starts_with(['*', '='])).collect());
    let title = text.lines().find(|line| !line.is_empty()).unwrap_or_default();
    let as_title = text.lines().filter(|line| line.trim_start_matches([' ', '*']) == title);
    assert_eq!(as_title.count(), 1, "the title `{title}` twice: {text}");
    for paragraph in paragraphs() {
        assert_none(paragraph.lines().map(|line| line.trim_start_matches([' ', '*'])).collect());
    }
}

/// A mail in each language is what was expected of it: `name` in English, `name_de` in German.
fn assert_golden<'c>(name: &str, rules: &Rules, all: impl Fn(&'c Content) -> Vec<Told<'c>>) {
    for content in &CONTENTS {
        let (text, html) = mail_of(rules, (content.locale, content.tz), &all(content));
        assert_no_line_twice(text.split_once('\n').expect("a subject").1);
        let name = match content.locale {
            "en" => name.to_owned(),
            locale => format!("{name}_{locale}"),
        };
        assert_file(&format!("{name}.html"), &html);
        assert_file(&format!("{name}.txt"), &text);
    }
}

#[test]
fn a_mention_says_what_was_written() {
    assert_golden("mention", &work_tool(), |content| vec![content.mention()]);
}

#[test]
fn two_events_of_work_have_their_words() {
    assert_golden("pair", &work_tool(), |content| content.work(2));
}

#[test]
fn a_digest_of_work_says_who_wrote_what_where() {
    assert_golden("work", &work_tool(), |content| content.work(7));
}

#[test]
fn comments_on_one_thing_say_who_wrote() {
    assert_golden("thread", &work_tool(), Content::thread);
}

#[test]
fn a_mail_about_security_says_what_when_and_what_to_do() {
    assert_golden("security", &shop(), |content| vec![content.security()]);
}

#[test]
fn an_invoice_and_a_parcel_say_what_they_are() {
    assert_golden("invoice", &shop(), |content| vec![content.invoice()]);
    assert_golden("parcel", &shop(), |content| vec![content.parcel()]);
}

/// Events of a work tool in any order and mixture: `type actor object body`. Most are of one type, and may all be of one
/// actor. Objects from the 25th on may have events of several types.
fn events() -> impl Strategy<Value = Vec<(usize, usize, usize, bool)>> {
    let kind = (0..KINDS.len(), 0..100_u32);
    (kind, 1..5_usize, 1..80_usize).prop_flat_map(|((most, others), actors, events)| {
        let kind = (0..KINDS.len(), 0..100_u32)
            .prop_map(move |(kind, roll)| if roll < others * others / 100 { kind } else { most });
        proptest::collection::vec((kind, 0..actors, 0..30_usize, any::<bool>()), 1..=events)
    })
}

const KINDS: [&str; 3] = ["mention", "comment", "task"];
const BY_ONE_KIND: usize = 25;

fn mail_of_events(
    events: &[(usize, usize, usize, bool)],
    reader: (&str, &str),
) -> (String, String) {
    let actors = ["Ann Bo", "Cy Dee", "Eve Fox", "Gil Hay"];
    let words: Vec<String> = (0..events.len()).map(|n| format!("Please look, {n}.")).collect();
    let all: Vec<Told<'_>> = events
        .iter()
        .zip(&words)
        .map(|((kind, actor, on, has_body), words)| {
            let object = if *on < BY_ONE_KIND {
                object(&format!("{kind}/{on}"), &format!("Task {kind}.{on}"))
            } else {
                object(&format!("both/{on}"), &format!("Both {on}"))
            };
            Told {
                actor: Some(actors[*actor]),
                body: has_body.then_some(words),
                ..told(KINDS[*kind], object)
            }
        })
        .collect();
    mail_of(&work_tool(), reader, &all)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn whatever_a_subject_counts_is_in_the_mail(events in events()) {
        let (text, _) = mail_of_events(&events, ("en", "Europe/Dublin"));
        let subject = text.lines().next().unwrap_or_default();
        let body = text.split_once("\n\n").expect("a body").1;
        // The sentences of the kinds, their objects under a name that did them all, the count below that name, or those of
        // one object.
        let counted = [" new mention", " new comment", " assigned to you"];
        let sentences = [" mentioned you in ", " commented on ", " to you"];
        for (kind, (counted, sentence)) in counted.iter().zip(sentences).enumerate() {
            let tells = |line: &str| {
                line.contains(&format!("Task {kind}."))
                    || line.starts_with("* ") && line.contains(sentence)
                    || line.starts_with("  ") && line.contains(counted)
                    || line.starts_with(char::is_numeric)
                        && line.contains(counted)
                        && !line.contains(", ")
            };
            if subject.contains(counted) {
                prop_assert!(body.lines().skip(1).any(tells), "{counted}: {text}");
            }
        }
        let counted = subject.rsplit_once(": ").map_or("", |(_, counted)| counted);
        prop_assert!(!counted.contains('…'), "{subject}");
    }

    #[test]
    fn no_mail_shows_two_equal_lines(events in events(), reader in 0..CONTENTS.len()) {
        let Content { locale, tz, .. } = CONTENTS[reader];
        let (text, _) = mail_of_events(&events, (locale, tz));
        assert_no_line_twice(text.split_once("\n\n").expect("a body").1);
    }
}
