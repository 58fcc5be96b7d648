//! Whole mails beside the expected ones, in `golden`: written anew where `UPDATE_GOLDEN` is set.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use tidings_core::content::{Batch, Group};
use tidings_core::model::{ImageSize, Pivot};
use tidings_core::rules::{Brand, Quota, Texts, Wording};
use tidings_core::{Object, Rules};
use tidings_mail::{Design, HTML_BYTES_MAX, SECRET_BYTES, TokenKey, not_shown};

use crate::fixture::{
    assert_proper, batch, bodies, group, id, instant, line, object, role, sender,
};

/// Works with the sizes of their pictures.
const WORKS: [(&str, &str, &str, u16, u16); 7] = [
    ("The Starry Night", "Vincent van Gogh", "van-gogh-starry-night", 640, 507),
    ("The Scream", "Edvard Munch", "munch-the-scream", 510, 640),
    ("Boats at Nagasaki", "Felice Beato", "beato-boats-nagasaki", 640, 470),
    ("Acanthus mollis", "Karl Blossfeldt", "blossfeldt-acanthus-mollis", 480, 640),
    ("Allium ostrowskianum", "Karl Blossfeldt", "blossfeldt-allium-ostrowskianum", 450, 640),
    ("Shipwreck", "J. M. W. Turner", "turner-shipwreck", 640, 440),
    ("A March Pastoral", "Peter Henry Emerson", "emerson-a-march-pastoral", 640, 360),
];

fn texts(all: &[(&str, &str)]) -> Texts {
    Texts(all.iter().map(|(locale, text)| ((*locale).to_owned(), (*text).to_owned())).collect())
}

/// The design that a gallery configures.
pub(crate) fn design() -> Design {
    let mut rules = Rules::default();
    let shown = &mut rules.presentation;
    let some = |text: &str| Some(text.to_owned());
    shown.brand = Brand {
        name: some("Nightwatch"),
        logo: None,
        color: some("#b3261e"),
        footer: some("Nightwatch shows works from museums and galleries near you."),
        postal_address: some("Nightwatch, 1 Museum Square, 1071 DJ Amsterdam"),
        url: some("https://example.org"),
        logo_dark: None,
        address: None,
    };
    let work = Wording {
        title: texts(&[
            ("", "New {count|work|works}"),
            ("de", "{count|neues Werk|neue Werke}"),
            ("fr", "{count|nouvelle œuvre|nouvelles œuvres}"),
            ("he", "{count|יצירה חדשה|יצירות חדשות|יצירות חדשות}"),
            ("ja", "新しい作品"),
            ("es", "{count|obra nueva|obras nuevas}"),
            ("ru", "{count|новая работа|новые работы|новых работ}"),
            ("ar", "{count|أعمال جديدة|عمل جديد|عملان جديدان|أعمال جديدة|عملًا جديدًا|عمل جديد}"),
            ("zh-hans", "新作品"),
        ]),
        ..Wording::default()
    };
    let comment = Wording {
        title: texts(&[("", "New {count|comment|comments}")]),
        sentence: texts(&[("", "{actor} commented on {object}")]),
        ..Wording::default()
    };
    let show = Wording {
        title: texts(&[("", "{count|Show|Shows} near you")]),
        sentence: texts(&[("", "{target} opens {object}")]),
        subject: texts(&[("", "{object} opens near you")]),
        ..Wording::default()
    };
    for (event_type, wording) in [("artwork_published", work), ("comment", comment), ("show", show)]
    {
        shown.types.insert(event_type.to_owned(), wording);
    }
    shown.digests.insert("weekly".to_owned(), Quota::default());
    let key = TokenKey::new(&[1; SECRET_BYTES]);
    Design::new(sender(), &rules).unwrap().linked(key)
}

/// The works of a number, from the first on and around.
fn works(count: usize) -> Vec<tidings_core::content::Line> {
    let work = |n: usize| {
        let (title, artist, file, width, height) = WORKS[n % WORKS.len()];
        let title = match n / WORKS.len() {
            0 => title.to_owned(),
            again => format!("{title}, study {again}"),
        };
        let artist_id = artist.to_lowercase().replace(' ', "-");
        let mut line = line(
            Object {
                url: Some(format!("/works/{n}")),
                image: Some(format!("/images/{file}.jpg")),
                image_size: Some(ImageSize { width, height }),
                ..object(&format!("work/{n}"), &title)
            },
            &[&format!("topic:artist/{artist_id}")],
        );
        line.actors = vec![role(&format!("artist/{artist_id}"), artist)];
        line.order = n;
        line
    };
    (0..count).map(work).collect()
}

/// The works as a message groups them: by artist.
pub(crate) fn by_artist(count: usize) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for work in works(count) {
        let artist = Arc::clone(&work.actors[0]);
        match groups.iter_mut().find(|group| group.key.as_ref() == Some(&artist)) {
            Some(group) => group.lines.push(work),
            None => groups.push(group(Pivot::Actor, Some(artist), vec![work])),
        }
    }
    groups
}

pub(crate) fn to(locale: &str, groups: Vec<Group>) -> Batch {
    let mut batch = batch(groups);
    batch.locale = locale.to_owned();
    batch.recipient.name = Some("Ana".to_owned());
    let artists = WORKS.iter().map(|(_, artist, ..)| {
        role(&format!("artist/{}", artist.to_lowercase().replace(' ', "-")), artist)
    });
    batch.topics = artists.collect();
    batch.topics.dedup();
    batch
}

pub(crate) fn comments() -> Group {
    let mut comment = line(
        Object { url: Some("/notes/7".to_owned()), ..object("note/7", "Plan for the spring show") },
        &["named"],
    );
    comment.types = vec![id("comment")];
    comment.entries = 5;
    comment.actors = ["Ana Ruiz", "Ben Ito", "Cleo Marsh", "Dov Adler", "Eve Lund"]
        .map(|name| role(&name.to_lowercase().replace(' ', "-"), name))
        .to_vec();
    comment.order = 900;
    let mut group = group(Pivot::Object, None, vec![comment]);
    group.event_type = id("comment");
    group.category = "Conversations".to_owned();
    group
}

pub(crate) fn show() -> Group {
    let mut show = line(
        Object {
            url: Some("/shows/3".to_owned()),
            ..object("show/3", "Light on Water: Photographs 1850 to 1900")
        },
        &["near"],
    );
    show.types = vec![id("show")];
    show.target = Some(role("museum/1", "Foam"));
    show.order = 901;
    let mut group = group(Pivot::Object, None, vec![show]);
    group.event_type = id("show");
    group
}

fn without_images(mut groups: Vec<Group>) -> Vec<Group> {
    for line in groups.iter_mut().flat_map(|group| &mut group.lines) {
        Arc::make_mut(&mut line.object).image = None;
    }
    groups
}

fn titled(titles: &[(&str, &str)]) -> Vec<Group> {
    let mut groups = by_artist(titles.len());
    let lines = groups.iter_mut().flat_map(|group| {
        let actors = &mut group.actors;
        group.lines.iter_mut().map(move |line| (actors.len(), line))
    });
    for (_, line) in lines {
        let (title, artist) = titles[line.order];
        Arc::make_mut(&mut line.object).title = Some(title.into());
        line.actors = vec![role("artist/x", artist)];
        line.reasons = ["everyone".to_owned()].into();
    }
    for group in &mut groups {
        group.actors = group.lines[0].actors.clone();
        group.key = Some(Arc::clone(&group.actors[0]));
    }
    groups
}

/// A mail as text with its subject, and as HTML; no mail program cuts it off.
fn written(name: &str, batch: &Batch) -> (String, String) {
    let mail = tidings_mail::render(batch, &design()).unwrap();
    assert_proper(&mail);
    let (text, html) = bodies(&mail);
    assert!(html.len() <= HTML_BYTES_MAX, "{name}: {} bytes", html.len());
    for picture in html.split("<img ").skip(1) {
        let tag = picture.split('>').next().unwrap();
        for attribute in ["alt=\"", "width=\"", "height=\""] {
            assert!(tag.contains(attribute), "{name}: {tag}");
        }
    }
    (format!("Subject: {}\n\n{text}", mail.subject), html)
}

/// A mail is what was expected of it, byte by byte.
fn assert_golden(name: &str, batch: &Batch) {
    let (text, html) = written(name, batch);
    assert_file(&format!("{name}.html"), &html);
    assert_file(&format!("{name}.txt"), &text);
}

/// A mail has so many items with pictures, and lines beside theirs.
fn assert_items(name: &str, batch: &Batch, items: usize, lines: &[&str]) {
    let (text, html) = written(name, batch);
    let with_mark = text.lines().filter(|line| line.starts_with("* "));
    assert_eq!(with_mark.count(), items, "{text}");
    assert_eq!(html.matches("<img ").count(), items, "{name}");
    let mut rest = text.lines();
    for line in lines {
        assert!(rest.any(|found| found == *line), "{line}: {text}");
    }
}

/// A text is that of a file.
pub(crate) fn assert_file(name: &str, body: &str) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mail/golden");
    let file = dir.join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, body).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(expected == body, "{name} differs: run with UPDATE_GOLDEN=1 and read it");
}

#[test]
fn one_item() {
    assert_golden("one", &to("en", by_artist(1)));
}

#[test]
fn a_comment_of_five_people() {
    assert_golden("comments", &to("en", vec![comments()]));
}

#[test]
fn two_items() {
    assert_golden("two", &to("en", by_artist(2)));
}

#[test]
fn seven_items_of_three_types() {
    let mut groups = by_artist(5);
    groups.extend([comments(), show()]);
    assert_golden("seven", &to("en", groups));
}

#[test]
fn sixty_items() {
    let lines = [
        "Subject: Vincent van Gogh, Edvard Munch und 4 weitere: 60 neue Werke",
        "60 neue Werke",
        "Freitag, 1. März 2024",
        "Vincent van Gogh",
        "9 neue Werke",
        "Karl Blossfeldt",
        "17 neue Werke",
        "und 40 weitere",
        "Sie erhalten diese Nachricht, weil Sie Vincent van Gogh, Edvard Munch und 4 weitere abonniert haben.",
        "Gesendet von Nightwatch am Montag, 4. März 2024 um 09:00 (Ortszeit Paris).",
        "Abbestellen oder auswählen, was Sie bekommen:",
    ];
    let batch = to("de-AT", by_artist(60));
    assert_items("sixty", &batch, 20, &lines);
    assert_golden("sixty", &batch);
}

#[test]
fn five_thousand_items() {
    let lines = [
        "Subject: Vincent van Gogh, Edvard Munch and 4 more: 5,000 new works",
        "5,000 new works",
        "715 new works",
        "1,428 new works",
        "and 4,980 more",
    ];
    let batch = to("en", by_artist(5_000));
    assert_items("many", &batch, 20, &lines);
    assert_golden("many", &batch);
}

#[test]
fn long_titles() {
    let long =
        "An unusually long title that somebody copied from a catalogue, with the technique, the \
                dimensions and the provenance of the work, "
            .repeat(7);
    let titles = [(long.as_str(), "A"), (&"unbroken".repeat(80), "B"), ("Short", "C")];
    let cut = |title: &str| format!("* {}", tidings_mail::cut(title, 160));
    let (long, unbroken) = (cut(long.trim()), cut(titles[1].0));
    let lines =
        ["Subject: A, B and 1 more: 3 new works", &long, "  A", &unbroken, "  B", "* Short"];
    assert_items("long", &to("en", titled(&titles)), 3, &lines);
}

#[test]
fn items_without_images() {
    assert_golden("bare", &to("en", without_images(by_artist(7))));
}

#[test]
fn a_right_to_left_mail() {
    let titles = [
        ("לילה כוכבים", "וינסנט ואן גוך"),
        ("הצעקה", "אדוורד מונק"),
        ("סירות בנגסאקי", "פליצ׳ה ביאטו"),
        ("Acanthus mollis", "Karl Blossfeldt"),
    ];
    let mut batch = to("he", titled(&titles));
    batch.tz = "Asia/Jerusalem".to_owned();
    assert_golden("right_to_left", &batch);
}

#[test]
fn a_japanese_mail() {
    let titles = [
        ("星月夜", "フィンセント・ファン・ゴッホ"),
        ("叫び", "エドヴァルド・ムンク"),
        ("長崎の船", "フェリーチェ・ベアト"),
    ];
    let mut batch = to("ja-JP", titled(&titles));
    batch.tz = "Asia/Tokyo".to_owned();
    batch.at = instant("2024-03-04T00:00:00Z");
    assert_golden("japanese", &batch);
}

#[test]
fn digests_in_four_languages() {
    for locale in ["es", "ru", "ar", "zh-Hans"] {
        assert_golden(&format!("digest_{locale}"), &to(locale, by_artist(22)));
    }
}

#[test]
fn whatever_is_in_it_no_mail_is_cut_off() {
    let mut groups = by_artist(20);
    for line in groups.iter_mut().flat_map(|group| &mut group.lines) {
        let object = Arc::make_mut(&mut line.object);
        object.title = Some("\"".repeat(1_000).into());
        object.url = Some(format!("https://example.org/{}", "&".repeat(1_900)));
        object.image.clone_from(&object.url);
    }
    let mail = tidings_mail::render(&to("en", groups), &design()).unwrap();
    let (text, html) = bodies(&mail);
    assert!(html.len() <= HTML_BYTES_MAX, "{}", html.len());
    assert!(html.len() > HTML_BYTES_MAX / 2, "{}", html.len());
    assert!(text.contains("\nand ") && text.contains(" more\n"), "{text:.300}");
}

/// Parts of the default look that some clients do not show, with what their readers see instead.
const NOT_SHOWN: [(&str, &str); 11] = [
    ("<bdi>", "the characters around it do the same"),
    ("@media", "cards of 270 pixels below each other on a phone"),
    ("aria-hidden", "a picture and its title are read as two links"),
    ("border-radius", "square corners"),
    ("color-scheme", "the light side"),
    ("height", "a picture in the height of its attribute"),
    ("max-height", "the preview text stays hidden by other means"),
    ("overflow", "the preview text stays hidden by other means"),
    ("overflow-wrap", "`word-wrap` breaks long words"),
    ("prefers-color-scheme", "the light side"),
    ("word-wrap", "a very long word widens its column"),
];

#[test]
fn clients_show_all_of_the_default_look_but_for_what_is_listed() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mail/golden");
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.ends_with(".html") && !name.starts_with("site_") {
            let html = std::fs::read_to_string(&path).unwrap();
            let ignored = not_shown(&html).into_iter().filter(|found| !found.by.is_empty());
            found.extend(ignored.map(|found| found.what));
        }
    }
    assert_eq!(found, NOT_SHOWN.map(|(what, _)| what.to_owned()).into());
}
