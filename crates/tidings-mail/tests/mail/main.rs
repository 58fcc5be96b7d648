//! Mails as a mail program reads them, named after the acceptance situations where there is one.

#![allow(clippy::unwrap_used, reason = "a fixture that fails is a test that fails")]

mod direction;
mod dkim;
mod fixture;
mod golden;
mod headers;
mod languages;
mod links;
mod locales;
mod lookup;
mod merged;
mod outlook;
mod products;
mod several;
mod short;
mod site;
mod templates;
mod tenants;
mod values;

use std::sync::Arc;

use fixture::*;
use mail_parser::{HeaderValue, MessageParser};
use proptest::prelude::*;
use tidings_core::content::{Group, Line};
use tidings_core::model::{EMAIL_NO, Pivot};
use tidings_core::rules::{Texts, Wording};
use tidings_core::{Object, Rules};
use tidings_mail::{Design, RenderError, Sender};

#[test]
fn m10_one_line_is_told_by_its_title() {
    let mut one = line(object("w1", "You're Dreaming"), &["near", "topic:artist/rob-wynne"]);
    one.actors = vec![role("artist/rob-wynne", "Rob Wynne")];
    Arc::make_mut(&mut one.object).url = Some("https://example.org/w1?a=1&b=2".to_owned());
    Arc::make_mut(&mut one.object).image = Some("https://example.org/w1.jpg".to_owned());
    let mut batch = batch(vec![group(Pivot::Object, Some(role("w1", "W")), vec![one])]);
    batch.topics = vec![role("artist/rob-wynne", "Rob Wynne")];
    let mail = render(&batch);
    assert_proper(&mail);
    assert_eq!(mail.subject, "Rob Wynne · Artwork published · You're Dreaming");
    let (text, html) = bodies(&mail);
    assert_eq!(
        text.trim_end(),
        "You're Dreaming\n\
         Artwork published · Rob Wynne · Friday, March 1, 2024 at 11:00\u{202f}AM\n\n\
         Take a look:\n\
         https://example.org/w1?a=1&b=2\n\n\
         ----------------------------------------\n\
         You are receiving this because you follow Rob Wynne, and it is near you.\n\
         Sent by Art on Monday, March 4, 2024 at 9:00\u{202f}AM (Paris time)."
    );
    assert!(html.contains("href=\"https://example.org/w1?a=1&amp;b=2\""));
    assert!(html.contains("src=\"https://example.org/w1.jpg\" alt=\"You&#39;re Dreaming\""));
}

#[test]
fn m10_many_lines_are_told_in_groups() {
    let works = ["Marilyn", "Flowers"].map(|title| {
        let mut work = line(object(title, title), &["topic:artist/andy-warhol"]);
        work.target = Some(role("artist/andy-warhol", "Andy Warhol"));
        work
    });
    let mut comment = line(object("d1", "Notes on a wall"), &["named"]);
    comment.types = vec![id("comment")];
    comment.entries = 6;
    comment.actors =
        ["Ann", "Bob", "Cy", "Dee", "Eve"].map(|name| role(&name.to_lowercase(), name)).to_vec();
    let mut comments = group(Pivot::Object, Some(role("d1", "D")), vec![comment]);
    comments.category = "Comments".to_owned();
    let mail = render(&batch(vec![
        group(Pivot::Target, Some(role("artist/andy-warhol", "Andy Warhol")), works.to_vec()),
        comments,
    ]));
    assert_proper(&mail);
    assert_eq!(mail.subject, "Andy Warhol and Notes on a wall: 8 new");
    let (text, html) = bodies(&mail);
    assert_eq!(
        text.trim_end(),
        "8 new for you\n\
         Friday, March 1, 2024\n\n\
         == Artists and galleries you follow ==\n\n\
         Andy Warhol\n\
         2 new: artwork published\n\n\
         * Marilyn\n\n\
         * Flowers\n\n\
         == Comments ==\n\n\
         * Notes on a wall\n  6 new: comment · Ann, Bob and 3 others\n\n\
         ----------------------------------------\n\
         Some are there because you follow Andy Warhol.\n\
         Sent by Art on Monday, March 4, 2024 at 9:00\u{202f}AM (Paris time)."
    );
    assert!(html.contains("Ann, Bob and 3 others"));
}

#[test]
fn h30_headers_are_those_of_the_batch() {
    let batch = of_titles(&["One".to_owned()]);
    let mail = render(&batch);
    let parsed = MessageParser::default().parse(&mail.bytes).unwrap();
    assert_eq!(mail.message_id, format!("<{}@example.org>", batch.id));
    assert_eq!(parsed.message_id(), Some(format!("{}@example.org", batch.id).as_str()));
    assert_eq!(parsed.date().unwrap().to_rfc3339(), "2024-03-04T08:00:00Z");
    assert_eq!(parsed.subject(), Some("Artwork published: One"));
    assert_eq!(
        parsed.header("Auto-Submitted").and_then(HeaderValue::as_text),
        Some("auto-generated")
    );
    assert_eq!(parsed.header("X-Tidings-Batch").and_then(HeaderValue::as_text), Some(&*batch.id));
    let from = parsed.from().and_then(|from| from.first()).unwrap();
    assert_eq!((from.name(), from.address()), (Some("Art"), Some("art@example.org")));
    let to = parsed.to().and_then(|to| to.first()).unwrap();
    assert_eq!((to.name(), to.address()), (None, Some("r1@example.org")));
    assert_eq!((mail.from.as_str(), mail.to.as_str()), ("art@example.org", "r1@example.org"));
}

#[test]
fn h30_a_batch_gives_the_same_bytes_each_time() {
    let batch = of_titles(&["Ünï".to_owned(), "Two".to_owned()]);
    assert_eq!(render(&batch), render(&batch.clone()));
    let mut other = batch.clone();
    other.id = "f".repeat(32);
    assert_ne!(render(&batch).message_id, render(&other).message_id);
}

#[test]
fn a_mail_of_1964_has_its_date() {
    let mut batch = of_titles(&["One".to_owned()]);
    batch.at = instant("1964-10-06T09:00:00Z");
    let mail = render(&batch);
    assert_proper(&mail);
    assert!(mail.bytes.starts_with(b"Date: Tue, 06 Oct 1964 09:00:00 +0000\r\n"));
}

#[test]
fn h25_long_and_foreign_titles_arrive_whole() {
    let words = "Fünf Bilder über 東京 и Москва 🎨 ";
    let long: String = words.chars().cycle().take(159).chain(['.']).collect();
    let unbroken = "x".repeat(160);
    for title in [long, unbroken] {
        let single = render(&of_titles(std::slice::from_ref(&title)));
        let many = render(&of_titles(&[title.clone(), "Two".to_owned()]));
        for mail in [single, many] {
            assert_proper(&mail);
            let (text, html) = bodies(&mail);
            assert!(text.contains(&title) && html.contains(&title));
            let parsed = MessageParser::default().parse(&mail.bytes).unwrap();
            assert_eq!(parsed.subject(), Some(mail.subject.as_str()));
            assert!(mail.subject.chars().count() <= 150);
        }
    }
    let (text, html) = bodies(&render(&of_titles(&["x".repeat(161)])));
    let cut = format!("{}…", "x".repeat(159));
    assert!(text.contains(&cut) && html.contains(&cut), "{text}");
}

#[test]
fn h25_what_hosts_write_stays_text() {
    for (title, shown) in [
        ("a\r\nBcc: all@example.org", "a Bcc: all@example.org"),
        ("a\r\n\r\n<script>alert(1)</script>", "a <script>alert(1)</script>"),
        ("{{ sender }}{% raw %}", "{{ sender }}{% raw %}"),
        ("\" onload=\"x\" '", "\" onload=\"x\" '"),
        ("=?utf-8?q?Bcc=3A?= é", "=?utf-8?q?Bcc=3A?= é"),
        (
            "--=_tidings_0123456789abcdef0123456789abcdef--",
            "--=_tidings_0123456789abcdef0123456789abcdef--",
        ),
        (".\r\n.", ". ."),
        ("From here on", "From here on"),
    ] {
        let mut hostile =
            line(object("o", title), &["topic:a/<script>", "named\r\nX: y", "nonsense"]);
        Arc::make_mut(&mut hostile.object).url = Some("javascript:alert(1)".to_owned());
        Arc::make_mut(&mut hostile.object).image =
            Some("http://example.org/insecure.jpg".to_owned());
        let mut all = group(Pivot::Actor, None, vec![hostile.clone(), hostile]);
        all.category = title.to_owned();
        let mut one = all.clone();
        one.lines.truncate(1);
        for groups in [vec![one], vec![all]] {
            let mail = render(&batch(groups));
            assert_proper(&mail);
            let (text, html) = bodies(&mail);
            assert!(text.contains(shown), "{text}");
            assert!(!html.contains("javascript:") && !html.contains("<img"), "{html}");
            assert!(!html.contains("\" onload"), "{html}");
            let parsed = MessageParser::default().parse(&mail.bytes).unwrap();
            assert_eq!(parsed.subject(), Some(mail.subject.as_str()));
            assert_eq!(parsed.to().map(|to| to.iter().count()), Some(1));
            assert!(parsed.bcc().is_none());
        }
    }
}

#[test]
fn h25_every_value_of_a_template_is_replaced() {
    let mail = render(&of_titles(&["One".to_owned(), "Two".to_owned()]));
    let (text, html) = bodies(&mail);
    for body in [text, html] {
        assert!(
            !body.contains("{{")
                && !body.contains("{%")
                && !body.contains("\nnone\n")
                && !body.contains(">none<"),
            "{body}"
        );
    }
}

#[test]
fn p5_ten_thousand_lines_show_twenty_and_tell_the_rest() {
    let titles: Vec<String> = (0..10_000).map(|n| format!("Work number {n}")).collect();
    let mail = render(&of_titles(&titles));
    assert_proper(&mail);
    assert_eq!(mail.subject, "Work number 0, Work number 1 and 9,998 more: 10,000 new");
    let (text, html) = bodies(&mail);
    assert_eq!(text.matches("\n* Work number ").count(), 20);
    assert!(text.contains("\nand 9,980 more\n") && html.contains("and 9,980 more"));
}

#[test]
fn twenty_lines_are_all_shown() {
    let titles: Vec<String> = (0..20).map(|n| format!("Work number {n}")).collect();
    let (text, _) = bodies(&render(&of_titles(&titles)));
    assert!(text.contains("\n* Work number 19\n") && !text.contains("\nand "), "{text}");
}

/// The comments of some people on a document; who has no name gives an empty one.
fn comments(on: Object, by: &[&str]) -> Line {
    let mut line = line(on, &["named"]);
    line.types = vec![id("comment")];
    line.entries = by.len();
    let actors = by.iter().enumerate();
    line.actors = actors.map(|(n, name)| role(&format!("u{n}"), name)).collect();
    line
}

#[test]
fn h40_h42_comments_on_one_document_are_one_line_with_names_once() {
    let on = object("issues/43", "Crash when the list is empty");
    let line = comments(on.clone(), &["Ann", "Bob", "", "Cy", "Dee"]);
    let mail = render(&batch(vec![group(Pivot::Object, Some(Arc::new(on)), vec![line])]));
    assert_eq!(mail.subject, "5 new: Crash when the list is empty");
    let (text, _) = bodies(&mail);
    let line = "Crash when the list is empty\n5 new: comment · Ann, Bob and 3 others · Friday";
    assert!(text.contains(line), "{text}");
}

#[test]
fn what_nobody_did_is_not_named_among_people() {
    let mention = |actors: &[&str]| {
        let mut line = line(object("p1", "Launch plan"), &["named"]);
        line.types = vec![id("mention")];
        line.actors = actors.iter().map(|name| role(&name.to_lowercase(), name)).collect();
        let mut group = group(Pivot::Object, None, vec![line]);
        group.event_type = id("mention");
        group
    };
    let invoice = || {
        let mut line = line(object("i1", "INV-2026-0042"), &["named"]);
        (line.types, line.lacks_actor) = (vec![id("invoice")], true);
        let mut group = group(Pivot::Object, None, vec![line]);
        group.event_type = id("invoice");
        group
    };
    let mut rules = Rules::default();
    for (name, sentence) in [("mention", "{actor} mentioned you"), ("invoice", "{object}")] {
        let sentence = Texts([(String::new(), sentence.to_owned())].into());
        let title = Texts([(String::new(), format!("{{count|{name}|{name}s}}"))].into());
        let wording = Wording { title, sentence, ..Wording::default() };
        rules.presentation.types.insert(name.to_owned(), wording);
    }
    let design = Design::new(sender(), &rules).unwrap();
    let subject =
        |groups: Vec<Group>| tidings_mail::render(&batch(groups), &design).unwrap().subject;
    assert_eq!(subject(vec![invoice(), mention(&["Ben"])]), "Ben: 1 invoice, 1 mention");
    assert_eq!(
        subject(vec![invoice(), mention(&[])]),
        "INV-2026-0042 and Launch plan: 1 invoice, 1 mention"
    );
}

#[test]
fn the_subject_counts_notifications_and_not_lines() {
    let on = |n: u32, title: &str| object(&format!("issues/{n}"), title);
    let told = |lines: Vec<Line>| render(&batch(vec![group(Pivot::Target, None, lines)])).subject;
    let crash = || comments(on(43, "Crash when the list is empty"), &["Ann", "Bob", "Ann"]);
    let names = || comments(on(44, "Names"), &["Ann"]);
    assert_eq!(told(vec![crash(), names()]), "Crash when the list is empty and Names: 4 new");
    assert_eq!(told(vec![names(), crash()]), "Names and Crash when the list is empty: 4 new");
    let mut closed = names();
    closed.types = vec![id("issue_closed")];
    assert_eq!(told(vec![closed, crash()]), "Names and Crash when the list is empty: 4 new");
    let (text, _) =
        bodies(&render(&batch(vec![group(Pivot::Target, None, vec![crash(), names()])])));
    assert!(text.starts_with("Artists and galleries you follow\nFriday"), "{text}");
}

#[test]
fn names_are_titles_and_never_ids() {
    let of = |target: Arc<Object>, actor: Arc<Object>| {
        let lines = [1, 2].map(|n| {
            let mut line = line(object(&format!("o{n}"), "Work"), &["named", "topic:repo/5512"]);
            line.actors = vec![Arc::clone(&actor)];
            line.target = Some(Arc::clone(&target));
            line
        });
        let group = group(Pivot::Target, Some(target), lines.to_vec());
        bodies(&render(&batch(vec![group])))
    };
    let (text, _) = of(role("show/42", "Long Show"), role("user-7", "Ann"));
    let head = "Long Show\n2 new: artwork published · Ann\nFriday, March 1, 2024\n\n* Work\n";
    assert!(text.starts_with(head), "{text}");
    let bare = |name: &str| Arc::new(Object::bare(id(name)));
    let uuid = "0b54f1f8-3f8e-4b42-8d4e-2f1d3f6f9f10";
    for body in <[String; 2]>::from(of(bare("jane_doe"), bare(uuid))) {
        for hidden in ["jane", "Jane", uuid, "5512", "repo", "user-7", "o1"] {
            assert!(!body.contains(hidden), "{hidden} in {body}");
        }
    }
}

#[test]
fn nothing_is_its_own_heading() {
    let ann = role("ann", "Ann");
    let made = |name: &str, title: &str| {
        let mut line = line(object(name, title), &["everyone"]);
        line.target = Some(Arc::clone(&ann));
        line
    };
    let lines = vec![made("ann", "Ann"), made("x", "X")];
    let (text, _) =
        bodies(&render(&batch(vec![group(Pivot::Target, Some(Arc::clone(&ann)), lines)])));
    let lines = "* Ann\n  Artwork published\n\n* X\n  Artwork published · Ann\n";
    assert!(text.contains(lines), "{text}");
    assert!(!text.contains("\nAnn\n"), "{text}");
}

#[test]
fn no_line_stands_under_anothers_heading() {
    let of = |target: Option<&str>, names: &[&str]| {
        let target = target.map(|name| role(&name.to_lowercase(), name));
        let lines = names.iter().map(|name| {
            let mut line = line(object(name, name), &["everyone"]);
            line.target.clone_from(&target);
            line
        });
        group(Pivot::Target, target.clone(), lines.collect())
    };
    let alone = batch(vec![of(Some("Ann"), &["A1"]), of(None, &["X1"])]);
    let (text, _) = bodies(&render(&alone));
    let lines = "* A1\n  Artwork published · Ann\n\n* X1\n";
    assert!(text.contains(lines), "{text}");
    let mixed = batch(vec![
        of(Some("Ann"), &["A1", "A2"]),
        of(Some("Bob"), &["B1"]),
        of(None, &["X1"]),
        of(None, &["Y1"]),
    ]);
    let (text, _) = bodies(&render(&mixed));
    let headings = "Ann\n2 new: artwork published\n\n* A1\n\n* A2\n\n\
                    ---\n\n* B1\n  Artwork published · Bob\n\n\
                    * X1\n  Artwork published\n\n\
                    * Y1\n  Artwork published\n";
    assert!(text.contains(headings), "{text}");
}

#[test]
fn an_object_without_a_title_is_told_by_what_happened() {
    let bare = || {
        let mut bare = comments(object("work/9", "\u{7}"), &["Ann"]);
        bare.reasons = [].into();
        bare
    };
    let told = |lines: Vec<Line>| render(&batch(vec![group(Pivot::Object, None, lines)]));
    let mail = told(vec![bare()]);
    assert_eq!(mail.subject, "Ann · New comment");
    let (text, html) = bodies(&mail);
    assert!(text.starts_with("New comment\nAnn · Friday"), "{text}");
    assert!(!text.contains("You are receiving"), "{text}");
    assert!(!text.contains("work/9") && !html.contains("work/9"), "{html}");
    let mut none = bare();
    Arc::make_mut(&mut none.object).title = None;
    none.target = Some(role("issues/43", "Crash when the list is empty"));
    let mail = told(vec![none.clone()]);
    assert_eq!(mail.subject, "Ann · Comment · Crash when the list is empty");
    let mut other = bare();
    other.types = vec![id("artwork_published")];
    assert_eq!(told(vec![bare(), other]).subject, "2 new: comment, artwork published");
    let again = bare();
    assert_eq!(told(vec![again, none]).subject, "Crash when the list is empty: 2 new");
}

#[test]
fn h26_addresses_that_are_none_are_refused() {
    let fine = of_titles(&["One".to_owned()]);
    for (email, error) in [
        (None, RenderError::NoAddress),
        (Some("nobody"), RenderError::Address),
        (Some("a@example.org\r\nBcc: b@example.org"), RenderError::Address),
        (Some("a@example.org, b@example.org"), RenderError::Address),
        (Some("Ann <a@example.org>"), RenderError::Address),
        (Some("é é@example.org"), RenderError::Address),
        (Some("é\u{202e}@example.org"), RenderError::Address),
        (Some("a@exa\u{202e}mple.org"), RenderError::Address),
    ] {
        let mut batch = fine.clone();
        batch.recipient.addresses.set(EMAIL_NO, email.as_slice());
        assert_eq!(tidings_mail::render(&batch, &design()), Err(error), "{email:?}");
    }
}

#[test]
fn batches_that_make_no_mail_are_refused() {
    let mut odd = of_titles(&["One".to_owned()]);
    for id in ["", "../x", "a>b", "a b", &"x".repeat(65)] {
        odd.id = id.to_owned();
        assert_eq!(tidings_mail::render(&odd, &design()), Err(RenderError::BatchId), "{id:?}");
    }
    assert_eq!(tidings_mail::render(&batch(Vec::new()), &design()), Err(RenderError::Empty));
    let hollow = batch(vec![group(Pivot::Object, None, Vec::new())]);
    assert_eq!(tidings_mail::render(&hollow, &design()), Err(RenderError::Empty));
}

#[test]
fn the_senders_name_may_be_any_text() {
    let sender = Sender::parse("\"Kunst & Töne, <GmbH>\" <art@example.org>").unwrap();
    let mail =
        tidings_mail::render(&of_titles(&["One".to_owned()]), &Design::plain(sender)).unwrap();
    assert_proper(&mail);
    let parsed = MessageParser::default().parse(&mail.bytes).unwrap();
    let from = parsed.from().and_then(|from| from.first()).unwrap();
    assert_eq!(
        (from.name(), from.address()),
        (Some("Kunst & Töne, <GmbH>"), Some("art@example.org"))
    );
    assert!(bodies(&mail).1.contains("Kunst &amp; Töne, &lt;GmbH&gt;"));
}

/// Titles as hosts may write them, already without what is cleaned away.
fn title() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        "[\\PC&&[^ \u{2028}\u{2029}\u{202A}-\u{202E}\u{2066}-\u{2069}\u{FEFF}]]{1,38}",
        1..5,
    )
    .prop_map(|words| words.join(" "))
    .prop_filter("nothing left", |title| !title.trim().is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_titles_parse_back(titles in proptest::collection::vec(title(), 1..12)) {
        let mail = render(&of_titles(&titles));
        assert_proper(&mail);
        let (text, _) = bodies(&mail);
        let text = text.replace(['\u{2068}', '\u{2069}'], "");
        for title in &titles {
            let is_shown = |line: &str| line == title || line.strip_prefix("* ") == Some(title);
            prop_assert!(text.split('\n').any(is_shown), "{title:?} in {text}");
        }
        let parsed = MessageParser::default().parse(&mail.bytes).unwrap();
        prop_assert_eq!(parsed.subject(), Some(mail.subject.as_str()));
    }

    #[test]
    fn any_text_makes_a_proper_mail(title in ".{0,900}", category in ".{0,300}", url in ".{0,300}") {
        let mut line = line(object("o", &title), &["near"]);
        Arc::make_mut(&mut line.object).url = Some(format!("https://{url}"));
        Arc::make_mut(&mut line.object).image = Some(url);
        let mut group = group(Pivot::Object, Some(role("o", "O")), vec![line.clone(), line]);
        group.category = category;
        assert_proper(&render(&batch(vec![group])));
    }
}
