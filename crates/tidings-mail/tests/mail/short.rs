//! Messages in a few words.

use std::sync::Arc;

use tidings_core::rules::{Texts, Wording};
use tidings_core::{Id, Object, Rules};
use tidings_mail::{Design, SECRET_BYTES, ShortMessage, TokenKey, short};

use super::fixture::*;
use super::*;

fn design() -> Design {
    let mut rules = Rules::default();
    rules.presentation.brand.url = Some("https://example.org".to_owned());
    let wording = Wording {
        sentence: Texts(
            [
                ("en".to_owned(), "{actor} published {object}".to_owned()),
                ("de".to_owned(), "{actor} zeigt {object}".to_owned()),
            ]
            .into(),
        ),
        ..Wording::default()
    };
    let types = &mut rules.presentation.types;
    types.insert("artwork_published".to_owned(), wording);
    let design = Design::short("sms", &rules).unwrap();
    design.linked(TokenKey::new(&[7; SECRET_BYTES]))
}

fn works(count: usize) -> Vec<Line> {
    (0..count)
        .map(|number| Line {
            object: Arc::new(Object {
                url: Some(format!("/works/{number}")),
                ..object(&format!("w{number}"), &format!("Work {number}"))
            }),
            actors: vec![role("a1", "Ann")],
            order: number,
            ..line(object("w", "Work"), &["named"])
        })
        .collect()
}

fn told(lines: Vec<Line>, locale: &str) -> ShortMessage {
    let mut batch = batch(vec![group(Pivot::Actor, Some(role("a1", "Ann")), lines)]);
    locale.clone_into(&mut batch.locale);
    short(&batch, &design()).unwrap()
}

#[test]
fn m10_one_is_a_title_and_a_sentence_and_several_are_counted() {
    let one = told(works(1), "en");
    assert_eq!(one.title, "Ann published Work 0");
    assert_eq!(one.text, "");
    assert_eq!(one.url.as_deref(), Some("https://example.org/works/0"));
    assert_eq!(told(works(1), "de").title, "Ann zeigt Work 0");

    let many = told(works(12), "en");
    assert_eq!(many.count, 12);
    assert!(many.title.contains("12"), "{}", many.title);
    assert_eq!(many.text, "Work 0 · Work 1 · Work 2 · and 9 more");
    // The rest is behind a link that says nothing of the recipient.
    let url = many.url.unwrap();
    assert!(url.starts_with("https://example.org/more/"), "{url}");
}

#[test]
fn words_are_cut_and_no_markup_is_made_of_them() {
    let mut lines = works(1);
    let title = format!("<b>&{}", "long ".repeat(100));
    lines[0].object = Arc::new(object("w0", &title));
    let short = told(lines, "en");
    assert!(short.title.starts_with("Ann published <b>&long"), "{}", short.title);
    assert!(short.title.chars().count() <= 100);
    assert!(short.text.chars().count() <= 300);
    assert_eq!(short.url.as_deref(), Some("https://example.org"));
}

#[test]
fn a_colon_is_that_of_the_language_in_previews_and_push() {
    let mut rules = Rules::default();
    let title = Texts([(String::new(), "work".to_owned())].into());
    let wording = Wording { title, ..Wording::default() };
    rules.presentation.types.insert("artwork_published".to_owned(), wording);
    let push = Design::short("fcm", &rules).unwrap();
    let mail = Design::new(sender(), &rules).unwrap();
    for (locale, colon) in [("en", ": "), ("fr", "\u{a0}: "), ("zh-CN", "：")] {
        let mut lines = works(2);
        for (line, name) in lines.iter_mut().zip(["Ann", "Ben"]) {
            line.actors = vec![role(name, name)];
            line.body = Some("Fine".into());
        }
        let mut batch = batch(vec![group(Pivot::Object, None, lines)]);
        locale.clone_into(&mut batch.locale);
        let said = format!("Ann{colon}Fine");
        let (_, bodies) = tidings_mail::content(&batch, &mail).unwrap();
        assert!(bodies.html.contains(&said), "{}", bodies.html);
        "fcm".clone_into(&mut batch.channel);
        let short = short(&batch, &push).unwrap();
        assert!(short.text.starts_with(&said), "{short:?}");
    }
}

#[test]
fn a_row_without_a_sentence_says_who_what_and_to_what_as_far_as_that_is_known() {
    let titled = |title: &str| {
        let mut rules = Rules::default();
        let title = Texts([(String::new(), title.to_owned())].into());
        let wording = Wording { title, ..Wording::default() };
        rules.presentation.types.insert("artwork_published".to_owned(), wording);
        Design::new(sender(), &rules).unwrap()
    };
    let bare = Design::new(sender(), &Rules::default()).unwrap();
    let title = titled("{count|work|works}");
    let nameless = || Arc::new(Object::bare(Id::new("w").unwrap()));
    let row = |design: &Design, locale: &str, actors: &[&str], entries: usize, has_name: bool| {
        let mut line = works(1).remove(0);
        line.entries = entries;
        line.actors = actors.iter().map(|name| role(name, name)).collect();
        line.lacks_actor = actors.is_empty();
        if !has_name {
            line.object = nameless();
        }
        let mut group = group(Pivot::Object, None, vec![line.clone()]);
        group.actors = line.actors;
        design.row_text(&[group], &[locale], "UTC").text
    };
    assert_eq!(row(&bare, "en", &["Ben"], 1, true), "Ben · Artwork published · Work 0");
    assert_eq!(row(&bare, "en", &[], 1, true), "Artwork published · Work 0");
    assert_eq!(row(&bare, "en", &["Ben"], 1, false), "Ben · Artwork published");
    assert_eq!(row(&bare, "en", &[], 1, false), "New artwork published");
    assert_eq!(row(&title, "en", &["Ben"], 1, true), "Ben · Work · Work 0");
    assert_eq!(row(&title, "de", &["Ben", "Cleo"], 3, true), "Ben und Cleo · Works · Work 0");
    assert_eq!(row(&title, "en", &[], 1, false), "Work");
    // Names of the other direction are apart from what is beside them.
    assert_eq!(
        row(&title, "ar", &["Ben"], 1, true),
        "\u{2068}Ben\u{2069} · \u{2068}Work\u{2069} · \u{2068}Work 0\u{2069}"
    );
}
