//! Tests of the words and the look of messages.

use tidings_core::model::Pivot;
use tidings_core::rules::{FormOfAddress, Quota, Share, Texts};

use super::super::{check, parse};
use super::{reasons, refused, rules};

#[test]
fn the_words_and_the_look_of_messages_are_read() {
    let text = "[brand]\nname = \"Art\"\naddress = \"familiar\"\ncolor = \"#fa0\"\nurl = \"https://example.org/\"\n\
                [categories.c]\n[digests.d]\nevery = \"day\"\nshow = 5\nshow_per = { type = 1, actor = 2 }\n\
                [digests.e]\nevery = \"day\"\n\
                [types.a]\ncategory = \"c\"\ntitle = \"New {count|work|works}\"\n\
                sentence.en = \"{actor} made {object}\"\nsentence.de-AT = \"{object} von {actor}\"\n\
                subject = \"By {actor}\"\n\"subject.de\" = \"Von {actor}\"\n\
                [types.a.channels]\ninbox = { policy = \"now\" }\n";
    let shown = rules(text).presentation;
    assert_eq!(shown.brand.name.as_deref(), Some("Art"));
    assert_eq!(shown.brand.address, Some(FormOfAddress::Familiar));
    assert_eq!(shown.brand.url.as_deref(), Some("https://example.org"));
    let texts = |texts: &Texts| -> Vec<String> { texts.0.keys().cloned().collect() };
    assert_eq!(texts(&shown.types["a"].title), [""]);
    assert_eq!(texts(&shown.types["a"].sentence), ["de-at", "en"]);
    assert_eq!(texts(&shown.types["a"].subject), ["", "de"]);
    let quota = Quota { show: 5, show_per: vec![(Share::Role(Pivot::Actor), 2), (Share::Type, 1)] };
    assert_eq!(shown.digests, [("d".to_owned(), quota)].into());
}

#[test]
fn all_unknown_places_of_a_sentence_are_refused_in_one_run() {
    let reasons = reasons(&with("", "sentence = \"{artist} made {work}\""));
    let parts = ["`{artist}` is unknown", "`{work}` is unknown"];
    assert_eq!(reasons.len(), parts.len(), "{reasons:?}");
    for (reason, part) in reasons.iter().zip(parts) {
        assert!(reason.1.contains(part), "{reason:?}");
    }
}

#[test]
fn wrong_words_and_looks_are_refused() {
    for (line, part) in [
        ("color = \"red\"", "`brand.color` cannot be `red`"),
        ("address = \"Formal\"", "`brand.address` cannot be `Formal`"),
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
        ("title = \"{actor}\"", "`title` heads several events"),
        ("\"sentence.d_e\" = \"x\"", "`d_e` is not a locale"),
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
        ("show_per = { actor = 0 }", "`digests.d.show_per.actor` cannot be 0"),
    ] {
        refused(&format!("[digests.d]\nevery = \"day\"\n{line}\n"), part);
    }
}

/// Asserts that a text has one fault, whose hint says a part.
fn helped(text: &str, part: &str) {
    let faults = parse(text, "t.toml").unwrap_err().list;
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(faults[0].hint.contains(part), "{faults:?} should say {part}");
}

/// A category and a type with these lines.
fn with(category: &str, event_type: &str) -> String {
    format!(
        "[categories.c]\n{category}\n[types.a]\ncategory = \"c\"\n{event_type}\n\
         channels = {{ inbox = {{ policy = \"now\" }} }}\n"
    )
}

#[test]
fn f7_titles_of_categories_are_texts_by_locale() {
    for text in [
        "title = \"Art\"\n\"title.de\" = \"Kunst\"\n\"title.zh-TW\" = \"美術\"",
        "title = { en = \"Art\", DE = \"Kunst\", zh-hant-tw = \"美術\" }",
    ] {
        let titles = &rules(&with(text, "")).categories["c"].title.0;
        assert_eq!((&*titles["de"], &*titles["zh-hant-tw"]), ("Kunst", "美術"));
        assert_eq!(titles.len(), 3, "{titles:?}");
    }
    for (category, part) in [
        ("title = 1", "expected text"),
        ("title = \" \"", "the `title` is empty"),
        ("title.german = \"Kunst\"", "`german` is not a locale"),
        ("\"title.de_AT\" = \"Kunst\"", "`de_AT` is not a locale"),
        ("\"titel.de\" = \"Kunst\"", "unknown key"),
    ] {
        refused(&with(category, ""), part);
    }
}

#[test]
fn f19_locales_are_tags_and_each_has_one_text() {
    for (locale, help) in [
        ("german", "did you mean `de`?"),
        ("de_AT", "did you mean `de-AT`?"),
        ("klingon", "write a BCP 47 tag"),
        ("en GB", "write a BCP 47 tag"),
    ] {
        helped(&format!("[defaults]\nlocale = \"{locale}\"\n"), help);
        helped(&with(&format!("\"title.{locale}\" = \"Kunst\""), ""), help);
    }
    for (event_type, part) in [
        (
            "sentence.de = \"a\"\n\"sentence.DE\" = \"b\"",
            "`types.a.sentence` has two texts in `de`",
        ),
        ("sentence = { he = \"a\", iw = \"b\" }", "has two texts in `he`"),
        ("sentence = \"a\"\n\"sentence.en\" = \"b\"", "has two texts in `en`"),
    ] {
        refused(&with("", event_type), part);
    }
}

#[test]
fn field_11_forms_are_as_many_as_the_texts_locale_has() {
    for (event_type, part) in [
        ("sentence.pl = \"{count|praca|prace}\"", "`{count|…}` has 2 forms, but `pl` has 3"),
        ("sentence.en = \"{actors|has|have|had}\"", "`{actors|…}` has 3 forms, but `en` has 2"),
        ("title = \"{count|work}\"", "`{count|…}` has 1 form, but `en` has 2"),
        ("title.ja = \"{count|a|b}\"", "`ja` has 1"),
        ("title = \"{actors|a|b}\"", "`title` heads several events"),
    ] {
        refused(&with("", event_type), part);
    }
    helped(
        &with("", "sentence.pl = \"{count|praca|prace}\""),
        "write one for each of one, few, many, in this order",
    );
    // A text without a locale is of the default one.
    let text = |locale: &str| {
        let types = with("", "sentence = \"{count|a|b|c}\"");
        format!("[defaults]\nlocale = \"{locale}\"\n{types}")
    };
    rules(&text("ru-RU"));
    refused(&text("de"), "3 forms, but `de` has 2");
    rules(&with("", "sentence.fr = \"{count|a|b}\"\nsubject.fr = \"{count|a|b|c}\""));
}

fn warned(text: &str, templates: &[&str]) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.toml");
    std::fs::write(&path, text).unwrap();
    let beside = super::super::templates::directory(&path);
    std::fs::create_dir_all(&beside).unwrap();
    for name in templates {
        std::fs::write(beside.join(name), "x").unwrap();
    }
    let name = format!("{}:", path.display());
    check(&path)
        .unwrap()
        .warnings
        .into_iter()
        .map(|warning| warning.replace(&name, "t.toml:"))
        .collect()
}

#[test]
fn f8_each_language_has_one_warning_of_what_it_lacks() {
    let texts = "sentence = \"{actor} made it\"\n\"sentence.fr\" = \"{actor} l’a fait\"\n\
                 subject.de = \"Neues\"\nsubject.en = \"News\"\ntitle = \"serves all\"";
    let all = with("title = { en = \"Art\", fr = \"Art\", el = \"Τέχνη\" }", texts);
    assert_eq!(
        warned(&all, &[]),
        [
            "the locale `de` lacks `categories.c.title` (t.toml:2), `types.a.sentence` (t.toml:5): messages that need \
             them are in `en`, the default locale",
            "the locale `el` lacks tidings' own words, `types.a.sentence` (t.toml:5), `types.a.subject` \
             (t.toml:7): messages that need them are in `en`, the default locale",
            "the locale `fr` lacks `types.a.subject` (t.toml:7): messages that need them are in `en`, \
             the default locale",
        ]
    );
    let of_default =
        warned(&with("", "subject.de = \"Neues\"\n\"subject.de-AT\" = \"Neues!\""), &[]);
    assert_eq!(
        of_default,
        [
            "the locale `en` lacks `types.a.subject` (t.toml:5): messages omit them, because it is the default locale"
        ]
    );
    for text in [
        with("title = \"Art\"", "sentence = \"{actor} made it\""),
        with("title.en = \"Art\"", "subject = \"News\""),
        with(
            "title = \"Art\"\n\"title.de\" = \"Kunst\"",
            "subject = { en = \"News\", de = \"Neues\" }",
        ),
    ] {
        assert_eq!(warned(&text, &[]), Vec::<String>::new(), "{text}");
    }
    let of_greece = format!("[defaults]\nlocale = \"el\"\n{}", with("title.el = \"Τέχνη\"", ""));
    assert_eq!(
        warned(&of_greece, &[]),
        [
            "tidings has no words of its own in the default locale `el`: its dates, lists and pages are in English; \
             write the words to `locales/el.toml`"
        ]
    );
    let greek = with("title = { en = \"Art\", el = \"Τέχνη\" }", "");
    assert_eq!(warned(&greek, &[]).len(), 1);
    assert_eq!(warned(&greek, &["layout.el.html"]), Vec::<String>::new());
}

#[test]
fn body_action_notice_and_reply_to_are_read_with_their_locales() {
    let text = "[brand]\nlogo = \"https://e.org/a.png\"\nlogo_dark = \"https://e.org/b.png\"\n\
                [channels.email]\nprovider = \"file:///tmp/sent\"\nfrom = \"a@e.org\"\n\
                reply_to = \"Desk <desk@e.org>\"\n\
                [categories.c]\nreply_to = \"talk@e.org\"\n[categories.d]\n\
                [types.a]\ncategory = \"c\"\nbody = \"{data.excerpt}\"\n\
                action = { en = \"Reply {{now}}\", de = \"Antworten\" }\n\
                notice = \"Not you? {data.secure_url}\"\n\"notice.de\" = \"Waren Sie es?\"\n\
                reply_to = \"Team <team@e.org>\"\n\
                channels = { email = { policy = \"now\" } }\n";
    let shown = rules(text).presentation;
    let wording = &shown.types["a"];
    assert_eq!(wording.body.0[""], "{data.excerpt}");
    assert_eq!(wording.action.0["en"], "Reply {{now}}");
    assert_eq!(wording.action.0["de"], "Antworten");
    assert_eq!(wording.notice.0.keys().collect::<Vec<_>>(), ["", "de"]);
    assert_eq!(wording.reply_to.as_deref(), Some("Team <team@e.org>"));
    assert_eq!(shown.category_reply_to, [("c".to_owned(), "talk@e.org".to_owned())].into());
    assert_eq!(shown.reply_to.as_deref(), Some("Desk <desk@e.org>"));
    assert_eq!(shown.brand.logo_dark.as_deref(), Some("https://e.org/b.png"));
}

#[test]
fn body_action_notice_and_reply_to_that_are_wrong_are_refused() {
    for (event_type, part) in [
        ("body = \"{excerpt}\"", "`{excerpt}` is unknown"),
        ("notice.de = \"{data.}\"", "`{data.}` is unknown"),
        ("notice = \" \"", "the `notice` is empty"),
        ("action = \"{actor}\"", "`action` is the label of a button"),
        ("action = \"{{{count|a|b}\"", "`action` is the label of a button"),
        ("action = \"{\"", "a brace is alone"),
        ("reply_to = \"Team\"", "`Team` is not a mailbox"),
        ("reply_to = 1", "expected text"),
        ("reply_to.de = \"a@e.org\"", "expected text"),
    ] {
        refused(&with("", event_type), part);
    }
    helped(&with("", "action = \"{actor}\""), "write plain text");
    helped(&with("", "reply_to = \"team@\""), "write a mailbox");
    refused(&with("reply_to = \"a@192.0.2.1\"", ""), "needs a domain");
    refused("[brand]\nlogo_dark = \"http://example.org/a.png\"\n", "`brand.logo_dark`");
    for (channel, part) in
        [("email", "`x` is not a mailbox"), ("sms", "unknown key `channels.sms.reply_to`")]
    {
        refused(&format!("[channels.{channel}]\nreply_to = \"x\"\n"), part);
    }
    // A fault is told once, with its place.
    let text = format!("{}[channels.email]\nreply_to = \"x\"\n", with("reply_to = \"y\"", ""));
    let faults = parse(&text, "t.toml").unwrap_err().list;
    let lines: Vec<_> = faults.iter().map(|fault| fault.place.as_ref().unwrap().line).collect();
    assert_eq!(lines, [2, 8], "{faults:?}");
}

#[test]
fn body_action_and_notice_are_among_the_texts_that_a_language_lacks() {
    for key in ["body", "action", "notice"] {
        let all =
            with("", &format!("subject.de = \"Neues\"\nsubject.en = \"News\"\n{key}.en = \"A\""));
        assert_eq!(
            warned(&all, &[]),
            [format!(
                "the locale `de` lacks `types.a.{key}` (t.toml:7): messages that need them are in `en`, \
                 the default locale"
            )]
        );
    }
}
