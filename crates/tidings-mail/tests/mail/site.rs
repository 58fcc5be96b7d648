//! The pages to which mails lead, beside the expected ones in `golden`.

use std::collections::BTreeSet;
use std::sync::Arc;

use tidings_core::model::SlotDay;
use tidings_core::rules::Every;
use tidings_mail::{
    AppliedChoice, ChoiceName, Choices, DigestSlot, NoticePage, OfferedChange, OwnTime,
    PreferenceRow, SendingTime,
};

use crate::fixture::id;
use crate::golden::{assert_file, by_artist, comments, design, show, to};

fn row(name: ChoiceName, pace: Option<SendingTime>, to: &[SendingTime]) -> PreferenceRow {
    let offer = |to: &SendingTime| OfferedChange { to: *to, set: "[{\"type\":\"a\"}]".to_owned() };
    PreferenceRow { name, pace, offers: to.iter().map(offer).collect() }
}

fn choices() -> Choices {
    let weekly = SendingTime::Digest(Every::Week(1));
    let title = |text: &str| ChoiceName::Title(text.into());
    let kind = |name: &str| ChoiceName::Type(id(name));
    Choices {
        undo: Some("[{\"type\":\"a\"}]".to_owned()),
        done: Some(AppliedChoice::Pace { name: title("Karl Blossfeldt"), pace: SendingTime::Off }),
        subjects: vec![
            row(title("Edvard Munch"), None, &[SendingTime::Off]),
            row(title("Karl Blossfeldt"), Some(SendingTime::Off), &[SendingTime::AtOnce]),
            row(
                title("A <b>title</b> of more than a line, as hosts may have them \u{202e}\r\nX"),
                None,
                &[SendingTime::Off],
            ),
        ],
        types: vec![
            row(
                kind("artwork_published"),
                Some(weekly),
                &[SendingTime::Digest(Every::Month(1)), SendingTime::Off],
            ),
            row(
                kind("comment"),
                Some(SendingTime::AtOnce),
                &[SendingTime::Digest(Every::Day), weekly, SendingTime::Off],
            ),
            row(kind("show"), Some(SendingTime::Off), &[SendingTime::AtOnce]),
        ],
        categories: vec![
            row(ChoiceName::Category("conversations".to_owned()), None, &[SendingTime::Off]),
            row(
                ChoiceName::Category("offers".to_owned()),
                Some(SendingTime::Off),
                &[SendingTime::AtOnce],
            ),
        ],
        slots: vec![DigestSlot {
            digest: "weekly".to_owned(),
            every: Every::Week(1),
            day: Some(OwnTime { now: SlotDay::Week(5), default: SlotDay::Week(1) }),
            minute: None,
            zone: "Europe/Paris".to_owned(),
        }],
        everything: vec![
            row(ChoiceName::AllMail, None, &[SendingTime::Off]),
            row(ChoiceName::All, None, &[SendingTime::Off]),
        ],
        has_required: true,
    }
}

#[test]
fn what_can_be_chosen() {
    for locale in ["en", "de", "fr", "he", "ja"] {
        let page = design().choices(&[locale], &choices()).unwrap();
        assert!(!page.contains("<script") && !page.contains("<b>title"), "{page}");
        assert!(
            !page.contains("{often}") && !page.contains("{n}") && !page.contains("{name}"),
            "{page}"
        );
        // One of each direction; the others differ from it by their books of words.
        if ["en", "he"].contains(&locale) {
            assert_file(&format!("site_choices_{locale}.html"), &page);
        }
    }
}

#[test]
fn the_rest_of_a_message() {
    let mut groups = by_artist(60);
    groups.extend([comments(), show()]);
    let batch = to("en", groups);
    let shown: BTreeSet<usize> = (0..20).collect();
    let design = design();
    let page = |from| design.rest(&batch, Some(&shown), from).unwrap();
    let rest = page(0).unwrap();
    for (part, count) in [
        ("<h1>46 more</h1>", 1),
        ("The rest of the message of Monday, March 4, 2024", 1),
        ("<h2>", 3),
        ("<h3>", 6),
        // With 40 works: those that the mail has not shown.
        ("<img class=\"pic\" ", 40),
        ("https://example.org/works/19\"", 0),
        ("Boats at Nagasaki, study 3</a>", 1),
        ("class=\"next\"", 0),
    ] {
        assert_eq!(rest.matches(part).count(), count, "{part}: {rest}");
    }
    assert_eq!(page(42), None);
    // Where lines are gone nobody knows which were shown: the rest is all that is left.
    let partly = design.rest(&batch, None, 0).unwrap().unwrap();
    assert!(partly.contains("no longer kept") && partly.contains("The Starry Night<"), "{partly}");
}

#[test]
fn what_was_taken_back_is_not_told_again() {
    let mut batch = to("de", by_artist(3));
    for line in
        batch.groups.iter_mut().flat_map(|group| &mut group.lines).filter(|line| line.order == 2)
    {
        Arc::make_mut(&mut line.object).notifiable = Some(false);
    }
    let shown = [0].into();
    let page = design().rest(&batch, Some(&shown), 0).unwrap().unwrap();
    assert!(page.contains("The Scream") && !page.contains("Nagasaki"), "{page}");
    assert!(page.contains("<h1>1 weitere</h1>"), "{page}");
    assert_eq!(design().rest(&batch, Some(&[0, 1].into()), 0), Ok(None));
}

#[test]
fn notices_are_polite_in_every_language() {
    for locale in ["en", "de", "fr", "he", "ja", "xx"] {
        for notice in [NoticePage::NoLink, NoticePage::Forgotten, NoticePage::Busy] {
            let page = design().notice(&[locale], notice).unwrap();
            assert!(page.contains("<h1>") && page.contains("Nightwatch"), "{page}");
        }
    }
    assert_file("site_no_link.html", &design().notice(&["en"], NoticePage::NoLink).unwrap());
}
