//! The text that a person wrote, in messages of a few words.

use std::sync::Arc;

use tidings_core::content::{Batch, Line};
use tidings_core::model::HostText;
use tidings_core::rules::{Texts, Wording};

use super::super::super::ShortRenderer;
use super::super::note::Note;
use super::super::sms;
use super::*;

const BODY: &str = "First\r\n\u{202e}line, <b>&\u{0} second";
const CLEAN: &str = "First line, <b>& second";

/// A message about a work by Ben, whose type has these words.
fn message(wording: &Wording, change: impl FnOnce(&mut Batch)) -> Note {
    let mut rules = Rules::default();
    let types = &mut rules.presentation.types;
    types.insert("artwork_published".to_owned(), wording.clone());
    let kind = channel_kind("slack").unwrap();
    let design = Design::short("slack", &rules).unwrap();
    let mut batch = batch("b1", "Rain");
    "slack".clone_into(&mut batch.channel);
    batch.recipient.addresses.set(kind.number, &["C0123456789"]);
    let line = line(&mut batch);
    let ben = tidings_core::Object {
        title: Some("Ben".into()),
        ..tidings_core::Object::bare(tidings_core::Id::new("ben").unwrap())
    };
    line.actors = vec![Arc::new(ben)];
    line.body = Some(BODY.into());
    change(&mut batch);
    let head = Arc::new(MessageHead::of(&batch));
    Note::of(&ShortRenderer::new(design, kind, None).render(&head, &batch).unwrap()).unwrap()
}

fn line(batch: &mut Batch) -> &mut Line {
    &mut batch.groups[0].lines[0]
}

fn texts(text: &str) -> Texts {
    Texts([(String::new(), text.to_owned())].into())
}

fn told() -> Wording {
    Wording { sentence: texts("{actor} published {object}"), ..Wording::default() }
}

#[test]
fn body_is_the_text_of_push_chat_and_sms_below_the_sentence() {
    let note = message(&told(), |_| {});
    assert_eq!((&*note.title, &*note.text), ("Ben published Rain", CLEAN));
    assert_eq!(note.lines(1_000), format!("Ben published Rain\n{CLEAN}"));
    assert_eq!(sms::text_of(&note), format!("Ben published Rain\n{CLEAN}"));
    // Without a body there is the sentence alone.
    for body in [None, Some(""), Some(" \u{0}\n")] {
        let note = message(&told(), |batch| line(batch).body = body.map(HostText::from));
        assert_eq!((&*note.title, &*note.text), ("Ben published Rain", ""));
        assert_eq!(note.lines(1_000), "Ben published Rain");
    }
}

#[test]
fn body_stands_below_the_title_where_there_is_no_sentence() {
    let note = message(&Wording::default(), |batch| line(batch).body = Some("I like Rain".into()));
    assert_eq!((&*note.title, &*note.text), ("Rain", "I like Rain"));
    assert_eq!(note.lines(1_000), "Rain\nI like Rain");
}

#[test]
fn body_is_cut_and_in_few_parts() {
    let note = message(&told(), |batch| line(batch).body = Some("long ".repeat(400).into()));
    assert!(note.text.chars().count() <= 300, "{}", note.text);
    assert!(note.text.ends_with('…'), "{}", note.text);
    assert_eq!(note.title, "Ben published Rain");
    assert!(sms::parts(&sms::text_of(&note)) <= 3);
}

#[test]
fn body_that_repeats_the_sentence_does_not_take_it_away() {
    for body in ["Ben published Rain", "x Ben published Rain y"] {
        let note = message(&told(), |batch| line(batch).body = Some(body.into()));
        assert_eq!(note.lines(1_000), format!("Ben published Rain\n{body}"));
    }
}

#[test]
fn body_of_one_is_never_that_of_others() {
    let two = message(&told(), |batch| {
        let mut second = line(batch).clone();
        second.order = 1;
        second.body = Some("Second".into());
        batch.groups[0].lines.push(second);
    });
    // In a list each has its own.
    assert_eq!(two.text, format!("Ben: {CLEAN} · Ben: Second"));
    // Of one line the core says what all of its events have in common.
    let merged = message(&told(), |batch| {
        line(batch).entries = 2;
        line(batch).body = None;
    });
    assert_eq!(merged.lines(1_000), "Ben published Rain");
}

#[test]
fn body_of_the_type_is_for_events_without_their_own() {
    let wording = Wording { body: texts("“{data.excerpt}”"), ..told() };
    let data = json!({"excerpt": "Well\ndone"}).as_object().cloned().map(Arc::new);
    let of = |body: Option<&str>, data| {
        message(&wording, |batch| {
            line(batch).body = body.map(HostText::from);
            line(batch).data = data;
        })
    };
    assert_eq!(of(None, data.clone()).text, "“Well done”");
    assert_eq!(of(Some("Own"), data).text, "Own");
    let none = of(None, None);
    assert_eq!((&*none.title, &*none.text), ("Ben published Rain", ""));
}
