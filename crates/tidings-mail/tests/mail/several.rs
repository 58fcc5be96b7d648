//! Mails of several things: a talk about one thing reads forward, with a face, a time and what each wrote; no line repeats
//! its heading, and what only one line says is never lost.

use std::sync::Arc;

use tidings_core::content::{Batch, Entry, group};
use tidings_core::index::Header;
use tidings_core::model::{EventNo, Pivot, Score};
use tidings_core::rules::{Brand, Category, Texts, TypeRules, Wording};
use tidings_core::{Object, Rules};
use tidings_mail::{Design, HTML_BYTES_MAX, SECRET_BYTES, TokenKey};

use crate::fixture::{assert_proper, batch, bodies, id, instant, object, sender};
use crate::golden::assert_file;

const PEOPLE: [&str; 5] = [
    "Ben Okafor",
    "Cleo Marsh",
    "Hubert Blaine Wolfeschlegelsteinhausenbergerdorff-Montgomery Senior",
    "山田 太郎",
    "نور الحسيني",
];
const SAID: [&str; 5] = [
    "First draft is up, please have a look at section 2.",
    "Looks good.\n\n> section 2\nOnly the second table is missing, see https://example.org/a?b=1&c=2",
    "👍",
    "3番目の段落を短くしていただけますか。",
    "مرحبا، الجدول الثاني غير صحيح",
];
const TASKS: [&str; 4] = [
    "Write the launch plan",
    "A title that goes on for a very long time because somebody pasted a whole sentence of a specification",
    "Fix <b>bold</b> & \"quotes\"",
    "ترجمة صفحة الأسعار",
];

fn texts(all: &[(&str, &str)]) -> Texts {
    Texts(all.iter().map(|(locale, text)| ((*locale).to_owned(), (*text).to_owned())).collect())
}

/// A tool for projects, whose comments and tasks belong to a target.
fn rules() -> Rules {
    let mut rules = Rules::default();
    let some = |text: &str| Some(text.to_owned());
    rules.presentation.brand = Brand {
        name: some("Acme on Loop"),
        color: some("#b91c1c"),
        url: some("https://example.org"),
        postal_address: some("Loop GmbH, Torstr. 1, Berlin"),
        ..Brand::default()
    };
    let comment = Wording {
        title: texts(&[
            ("", "{count|comment|comments}"),
            ("ar", "{count|تعليقات|تعليق|تعليقان|تعليقات|تعليقًا|تعليق}"),
            ("ja", "コメント"),
        ]),
        sentence: texts(&[
            ("", "{actor} commented on {target}"),
            ("ar", "{actor} علّق على {target}"),
            ("ja", "{actor}さんが「{target}」にコメントしました"),
        ]),
        action: texts(&[("", "Reply"), ("ar", "رد"), ("ja", "返信する")]),
        ..Wording::default()
    };
    let mention = Wording {
        title: texts(&[("", "{count|mention|mentions}")]),
        sentence: texts(&[("", "{actor} mentioned you in {target}")]),
        action: texts(&[("", "Reply")]),
        ..Wording::default()
    };
    let task = Wording {
        title: texts(&[("", "new {count|task|tasks}")]),
        sentence: texts(&[("", "{actor} assigned {object} to you, due {data.due|date}")]),
        ..Wording::default()
    };
    rules.categories.insert("work".to_owned(), Category::default());
    for (name, wording, group) in [
        ("comment", comment, Some(Pivot::Target)),
        ("mention", mention, Some(Pivot::Target)),
        ("task", task, None),
    ] {
        let of_type = TypeRules { category: "work".to_owned(), group, ..TypeRules::default() };
        rules.types.insert(name.to_owned(), of_type);
        rules.presentation.types.insert(name.to_owned(), wording);
    }
    rules
}

fn with_url(path: &str, title: &str) -> Object {
    Object { url: Some(format!("/{path}")), ..object(path, title) }
}

/// The event of a number: its type, who did it, its object and its target.
fn event(n: usize, kind: &str, actor: usize, object: Object, target: Object) -> Entry {
    let person = PEOPLE[actor % PEOPLE.len()];
    let actor = with_url(&format!("people/{}", actor % PEOPLE.len()), person);
    let due = format!("2024-12-{:02}", 1 + n % 28);
    let data = serde_json::json!({ "due": due });
    Entry {
        header: Header {
            place: EventNo(n as u64),
            id: id(&format!("e{n}")),
            event_type: id(kind),
            actor: Some(actor.id.clone()),
            object: object.id.clone(),
            target: Some(target.id.clone()),
            score: Score::default(),
            occurred_at: None,
            expires_at: None,
        },
        t: instant("2024-03-01T12:00:00Z").plus_ms(n as i64 * 7 * 60_000),
        reasons: ["named".to_owned()].into(),
        object: Arc::new(object),
        actor: Some(Arc::new(actor)),
        target: Some(Arc::new(target)),
        data: data.as_object().cloned().map(Arc::new),
        body: None,
    }
}

/// Comment `n` of somebody. Its object is the comment itself.
fn comment(n: usize, target: (&str, &str)) -> Entry {
    let own = with_url(&format!("{}#c{n}", target.0), "x");
    let said = SAID[n % SAID.len()];
    let entry = event(n, "comment", n, own, with_url(target.0, target.1));
    Entry { body: Some(said.into()), ..entry }
}

fn task(n: usize, actor: usize) -> Entry {
    let title = TASKS[n % TASKS.len()];
    let own = with_url(&format!("tasks/{n}"), title);
    event(n, "task", actor, own, with_url("projects/1", "Website relaunch"))
}

const PLAN: (&str, &str) = ("tasks/7", "Write the launch plan");

fn message(entries: &[Entry], locale: &str) -> Batch {
    let mut batch: Batch = batch(group(entries.iter().collect(), &rules()));
    locale.clone_into(&mut batch.locale);
    batch.tz = "America/New_York".to_owned();
    batch.at = entries.last().expect("an event").t.plus_ms(2 * 60_000);
    batch.entries = entries.len();
    batch.topics.clear();
    batch
}

/// The text of a mail below its subject, and its HTML.
fn written(entries: &[Entry], locale: &str) -> (String, String) {
    let design = Design::new(sender(), &rules()).unwrap();
    let design = design.linked(TokenKey::new(&[1; SECRET_BYTES]));
    let mail = tidings_mail::render(&message(entries, locale), &design).unwrap();
    assert_proper(&mail);
    let (text, html) = bodies(&mail);
    assert!(html.len() <= HTML_BYTES_MAX, "{}", html.len());
    (format!("Subject: {}\n\n{text}", mail.subject), html)
}

fn assert_golden(name: &str, entries: &[Entry], locale: &str) -> (String, String) {
    let (text, html) = written(entries, locale);
    assert_file(&format!("{name}.html"), &html);
    assert_file(&format!("{name}.txt"), &text);
    (text, html)
}

fn talk(count: usize) -> Vec<Entry> {
    (0..count).map(|n| comment(n, PLAN)).collect()
}

#[test]
fn f12_a_talk_reads_forward_and_names_its_subject_once() {
    let (text, html) = assert_golden("talk", &talk(7), "en");
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
    assert!(place("* Ben Okafor · 7:00") < place("* Cleo Marsh · 7:07"), "{text}");
    // Once as the heading, and once in the subject.
    assert_eq!(text.matches(PLAN.1).count(), 2, "{text}");
    assert!(!text.contains("commented on Write the launch plan\n  "), "{text}");
    // Lines of what was written stay apart.
    assert!(text.contains("  Looks good.\n  > section 2\n  Only the second table"), "{text}");
    assert!(html.contains("Looks good.<br>&gt; section 2<br>Only the second"), "{html}");
    // One button, which leads to what they speak about.
    assert_eq!(html.matches("class=\"button\"").count(), 1);
    assert!(
        text.ends_with("\n") && text.contains("\nReply:\nhttps://example.org/tasks/7\n"),
        "{text}"
    );
    // A face for each.
    assert_eq!(html.matches("class=\"face\"").count(), 7);
}

#[test]
fn f12_two_comments_and_sixty() {
    assert_golden("talk_two", &talk(2), "en");
    let (text, _) = assert_golden("talk_sixty", &talk(60), "en");
    // The newest are shown, in the order in which they were written.
    assert!(text.contains("\nand 40 more\n"), "{text}");
    assert!(!text.contains("7:00\u{202f}AM") && text.contains("1:53\u{202f}PM"), "{text}");
}

#[test]
fn f12_talks_in_other_languages() {
    assert_golden("talk_ar", &talk(7), "ar");
    assert_golden("talk_ja", &talk(7), "ja");
}

#[test]
fn f12_talks_about_several_things() {
    let other = ("tasks/8", "Ship <dark> mode");
    let mut entries = talk(6);
    entries.extend((6..9).map(|n| comment(n, other)));
    let (text, html) = assert_golden("talks", &entries, "en");
    assert!(text.contains("\n9 comments\n"), "{text}");
    assert!(text.contains("\nShip <dark> mode\n3 comments · "), "{text}");
    assert!(!html.contains("class=\"button\""), "there is no one thing to which it could lead");
}

/// Mention `n` of somebody in what they wrote.
fn mention(n: usize, target: (&str, &str)) -> Entry {
    let own = with_url(&format!("{}#c{n}", target.0), "x");
    let entry = event(n, "mention", n, own, with_url(target.0, target.1));
    Entry { body: Some("@ana can you check the numbers?".into()), ..entry }
}

#[test]
fn f12_comments_and_mentions_of_one_thing_are_one_talk() {
    let mut entries = talk(3);
    entries.push(mention(3, PLAN));
    entries.push(comment(4, PLAN));
    let (text, html) = assert_golden("talk_mention", &entries, "en");
    assert!(text.contains("4 comments, 1 mention"), "{text}");
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
    // It says that it is one, between the comments before and after it.
    let mentioned = place("mentioned you in Write the launch plan");
    assert!(place("* Cleo Marsh · 7:07") < mentioned && mentioned < place("7:28"), "{text}");
    assert!(!text.contains("commented on"), "{text}");
    assert_eq!(html.matches("class=\"button\"").count(), 1);
    assert_eq!(html.matches("class=\"face\"").count(), 5);
}

#[test]
fn f12_talks_with_mentions_about_several_things_have_a_block_each() {
    let other = ("tasks/8", "Ship <dark> mode");
    let mut entries = vec![mention(0, PLAN), comment(1, PLAN), comment(2, PLAN)];
    entries.extend([comment(3, other), mention(4, other), comment(5, other), task(6, 1)]);
    let (text, _) = assert_golden("talks_mentions", &entries, "en");
    for name in [PLAN.1, other.1] {
        assert!(text.contains(&format!("\n{name}\n2 comments, 1 mention · ")), "{text}");
    }
}

#[test]
fn f12_tasks_of_several_people_keep_what_each_says() {
    let entries: Vec<Entry> = (0..14).map(|n| task(n, n)).collect();
    let (text, html) = assert_golden("tasks", &entries, "en");
    assert_eq!(text.matches(", due Dec").count(), 14, "{text}");
    assert_eq!(html.matches("class=\"face\"").count(), 14);
    assert!(!html.contains("text-decoration:underline;"), "{html}");
}

#[test]
fn f12_tasks_of_one_person_keep_their_dates() {
    // Whether all are due on one day or each on another.
    for same in [true, false] {
        let mut entries: Vec<Entry> = (0..3).map(|n| task(n, 1)).collect();
        for entry in &mut entries {
            entry.target = None;
            entry.header.target = None;
            if same {
                entry.data =
                    serde_json::json!({"due": "2024-12-05"}).as_object().cloned().map(Arc::new);
            }
        }
        let (text, _) = written(&entries, "en");
        let dates =
            text.lines().filter(|line| line.starts_with("* ") && line.contains(", due Dec"));
        assert_eq!(dates.count(), 3, "{text}");
    }
}

#[test]
fn f12_a_mention_leads_to_its_comment_by_the_button_alone() {
    let own = with_url("tasks/7#c1", "x");
    let mention = event(0, "mention", 0, own, with_url(PLAN.0, PLAN.1));
    let said = "@ana can you check the numbers?\nI doubt the *second* table.";
    let (text, html) =
        assert_golden("mention_x", &[Entry { body: Some(said.into()), ..mention }], "en");
    assert!(!text.contains("\nx\n") && !html.contains(">x<"), "{text}");
    assert!(text.contains("Reply:\nhttps://example.org/tasks/7#c1\n"), "{text}");
}

#[test]
fn preview_of_one_is_never_its_time() {
    let (_, html) = written(&[task(0, 0)], "en");
    let preview = html.split("mso-hide:all\">").nth(1).unwrap().split("&#847;").next().unwrap();
    assert_eq!(preview, "Website relaunch");
}
