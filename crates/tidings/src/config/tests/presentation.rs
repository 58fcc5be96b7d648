//! Tests of the words and the look of messages.

use tidings_core::event::Pivot;
use tidings_core::presentation::{Quota, Share, Texts};

use super::{refused, rules};

#[test]
fn the_words_and_the_look_of_messages_are_read() {
    let text = "[brand]\nname = \"Art\"\ncolor = \"#fa0\"\nurl = \"https://example.org/\"\n\
                [categories.c]\n[digests.d]\nevery = \"day\"\nshow = 5\nshow_per = { type = 1, actor = 2 }\n\
                [digests.e]\nevery = \"day\"\n\
                [types.a]\ncategory = \"c\"\ntitle = \"New {count|work|works}\"\n\
                sentence.en = \"{actor} made {object}\"\nsentence.de-AT = \"{object} von {actor}\"\n\
                subject = \"By {actor}\"\n\"subject.de\" = \"Von {actor}\"\n\
                [types.a.channels]\ninbox = { policy = \"now\" }\n";
    let shown = rules(text).presentation;
    assert_eq!(shown.brand.name.as_deref(), Some("Art"));
    assert_eq!(shown.brand.url.as_deref(), Some("https://example.org"));
    let texts = |texts: &Texts| -> Vec<String> { texts.0.keys().cloned().collect() };
    assert_eq!(texts(&shown.types["a"].title), [""]);
    assert_eq!(texts(&shown.types["a"].sentence), ["de-at", "en"]);
    assert_eq!(texts(&shown.types["a"].subject), ["", "de"]);
    let quota = Quota {
        show: 5,
        show_per: vec![(Share::Role(Pivot::Actor), 2), (Share::Type, 1)],
    };
    assert_eq!(shown.digests, [("d".to_owned(), quota)].into());
}

#[test]
fn wrong_words_and_looks_are_refused() {
    for (line, part) in [
        ("color = \"red\"", "`brand.color` cannot be `red`"),
        ("logo = \"http://example.org/a.png\"", "`brand.logo`"),
        ("url = \"http://example.org\"", "`brand.url`"),
        ("url = \"https://example.org/?a=b\"", "`brand.url`"),
        ("url = \"https://bücher.example\"", "`brand.url`"),
        ("name = \" \"", "`brand.name`"),
        ("colour = \"#fff\"", "unknown key `brand.colour`"),
    ] {
        refused(&format!("[brand]\n{line}\n"), part);
    }
    for (line, part) in [
        ("sentence = \"{artist} x\"", "`{artist}` is unknown"),
        ("sentence.de = \"{actor\"", "a brace is alone"),
        ("sentence = { x_y = \"z\" }", "`x_y` is not a locale"),
        ("subject = 1", "expected text"),
        ("title = \"{actor}\"", "a title stands without an event"),
        ("\"sentence.d_e\" = \"x\"", "unknown key"),
    ] {
        let text = format!(
            "[categories.c]\n[types.a]\ncategory = \"c\"\n{line}\nchannels = {{ inbox = {{ policy = \"now\" }} }}\n"
        );
        refused(&text, part);
    }
    for (line, part) in [
        ("show = 0", "`digests.d.show` cannot be 0"),
        ("show_per = 2", "expected a table"),
        ("show_per = { actors = 2 }", "unknown key"),
        (
            "show_per = { actor = 0 }",
            "`digests.d.show_per.actor` cannot be 0",
        ),
    ] {
        refused(&format!("[digests.d]\nevery = \"day\"\n{line}\n"), part);
    }
}
