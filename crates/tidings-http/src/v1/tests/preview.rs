//! The mail that a recipient gets next, beside the one that is sent then.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::post::Post;

const CONFIG: &str = r#"
[channels.email]
from = "Art <art@example.org>"
[categories.news]
[digests.daily]
every = "day"
at = "09:00"
[types.work]
category = "news"
condition = "object.title != 'Sold'"
channels = { email = { policy = "digest", digest = "daily" } }
[types.comment]
category = "news"
channels = { inbox = { policy = "now" }, email = { policy = "cooldown", quiet = "4m", batch_key = "event.object.id" } }
"#;

fn next(post: &Post) -> Value {
    post.change(Method::GET, "/v1/recipients/ana/preview", &Value::Null)["mail"].take()
}

/// A mail without its tag: a message that is not built yet has another number.
fn untagged(mail: &str) -> String {
    let lines = mail.split_inclusive('\n');
    lines.filter(|line| !line.starts_with("X-Tidings-Message:")).collect()
}

fn source(preview: &Value) -> String {
    untagged(preview["source"].as_str().unwrap())
}

#[test]
fn the_preview_is_the_mail_that_is_sent_if_nothing_happens() {
    let post = Post::new(CONFIG);
    assert_eq!(next(&post), Value::Null);
    post.publish_to_ana("work", "Ben", "Marilyn");
    post.publish_to_ana("work", "Ben", "Flowers");
    let digest = next(&post);
    assert_eq!(digest["at"], "2024-01-02T09:00:00Z");
    assert_eq!((&digest["lane"], &digest["entries"]), (&json!("digest:daily"), &json!(2)));

    // What is due before it comes first.
    post.publish_to_ana("comment", "Cy", "Note");
    let comment = next(&post);
    assert_eq!((&comment["key"], &comment["entries"]), (&json!("note"), &json!(1)));
    post.rig.at("2024-01-01T12:04:00Z");
    let sent = String::from_utf8(post.bytes()).unwrap();
    assert_eq!(source(&comment), untagged(&sent));

    // It looks again, as the mail will.
    let sold = json!({"title": "Sold"});
    post.change(Method::PUT, "/v1/objects/flowers", &sold);
    let digest = next(&post);
    assert_eq!(digest["entries"], 1);
    post.rig.at("2024-01-02T09:00:00Z");
    let sent = String::from_utf8(post.bytes()).unwrap();
    assert_eq!(source(&digest), untagged(&sent));
    assert_eq!(next(&post), Value::Null);
    let nobody = post.rig.call(Method::GET, "/v1/recipients/nobody/preview", &Value::Null);
    assert_eq!(nobody.status, StatusCode::NOT_FOUND);
}

#[test]
fn somebody_without_an_address_gets_no_mail_next() {
    let post = Post::new(CONFIG);
    post.change(Method::PUT, "/v1/recipients/bo", &json!({}));
    let event = json!({
        "id": "e1", "type": "work", "object": {"id": "marilyn", "title": "Marilyn"}, "to": {"recipients": ["bo"]},
    });
    post.change(Method::POST, "/v1/events", &event);
    let of_mail = post.change(Method::GET, "/v1/recipients/bo/preview", &Value::Null);
    let named = post.change(Method::GET, "/v1/recipients/bo/preview?channel=email", &Value::Null);
    assert_eq!([&of_mail["mail"], &named["message"]], [&Value::Null, &Value::Null]);
}

#[test]
fn f10_preview_flush_and_pending_agree_on_what_is_scheduled_and_which_lane() {
    let post = Post::new(CONFIG);
    let event = json!({
        "type": "comment", "object": {"id": "o"}, "to": {"recipients": ["ana"]},
        "deliver_local": "2024-01-05T08:00",
    });
    post.change(Method::POST, "/v1/events", &event);
    let scheduled = json!({"notifications": 1, "first": "2024-01-05T08:00:00Z"});
    let preview = |query: &str| {
        let path = format!("/v1/recipients/ana/preview{query}");
        post.change(Method::GET, &path, &Value::Null)
    };
    let flush = || {
        let path = "/v1/recipients/ana/flush";
        post.change(Method::POST, path, &Value::Null)
    };
    assert_eq!(preview("")["scheduled"], scheduled);
    let flushed = flush();
    assert_eq!((&flushed["lanes"], &flushed["scheduled"]), (&json!(0), &scheduled));

    post.publish_to_ana("work", "Ben", "Marilyn");
    post.publish_to_ana("comment", "Cy", "Note");
    assert_eq!(preview("")["mail"]["lane"], "cooldown");
    let pending = post.change(Method::GET, "/v1/recipients/ana/pending", &Value::Null);
    for lane in pending["lanes"].as_array().unwrap() {
        let name = lane["lane"].as_str().unwrap();
        assert_eq!(preview(&format!("?lane={name}"))["mail"]["lane"], name);
    }
    assert_eq!(preview("?lane=leading")["mail"], Value::Null);
    let flushed = flush();
    assert_eq!((&flushed["lanes"], &flushed["scheduled"]), (&json!(2), &scheduled));
}

#[test]
fn h20_what_the_inbox_shows_as_two_groups_is_one_in_the_mail() {
    let config = CONFIG.to_owned()
        + r#"
[digests.weekly]
every = "week"
on = "mon"
at = "09:00"
[types.like]
category = "news"
include_actor = true
sentence = "{actor} liked {object}"
channels = { inbox = { policy = "now" }, email = { policy = "digest", digest = "weekly" } }
"#;
    let post = Post::new(&config);
    post.publish_to_ana("like", "Ben", "Marilyn");
    post.publish_to_ana("like", "Cy", "Marilyn");
    post.rig.at("2024-01-03T12:00:00Z");
    post.publish_to_ana("like", "Dan", "Marilyn");
    post.publish_to_ana("like", "Eve", "Marilyn");
    let inbox = post.change(Method::GET, "/v1/recipients/ana/inbox", &Value::Null);
    let groups = inbox["groups"].as_array().unwrap();
    let counts: Vec<_> = groups.iter().map(|group| &group["count"]).collect();
    assert_eq!(counts, [2, 2]);
    let mail = next(&post);
    assert_eq!(mail["entries"], 4);
    let text = mail["text"].as_str().unwrap();
    assert_eq!(text.matches("liked Marilyn").count(), 1, "{text}");
    assert!(text.contains("Eve, Dan and 2 others liked Marilyn"), "{text}");
}

#[test]
fn mails_of_several_keys_that_are_due_together_all_go() {
    let post = Post::new(CONFIG);
    let titles = ["Note", "Frame", "Wall", "Lamp"];
    for title in titles {
        post.publish_to_ana("comment", "Cy", title);
    }
    // Each arrival is a millisecond after the one before, as the inbox was told in between.
    post.rig.at("2024-01-01T12:04:01Z");
    let mut subjects: Vec<String> = titles.iter().map(|_| post.mail().0).collect();
    subjects.sort();
    let expected = ["Frame", "Lamp", "Note", "Wall"].map(|title| format!("Cy · Comment · {title}"));
    assert_eq!(subjects, expected);
}

#[test]
fn i42_values_are_told_in_the_recipients_locale_and_zone_as_these_are_now() {
    let config = CONFIG.to_owned()
        + r#"
[types.bill]
category = "news"
sentence.en = "{object}: {data.sum|money(data.unit)} at {data.at|datetime}"
sentence.de = "{object}: {data.sum|money(data.unit)} um {data.at|datetime}"
channels = { inbox = { policy = "now" }, email = { policy = "digest", digest = "daily" } }
"#;
    let post = Post::new(&config);
    let event = json!({
        "type": "bill", "object": {"id": "b", "title": "Rent"}, "to": {"recipients": ["ana"]},
        "data": {"sum": 1_234.5, "unit": "CHF", "at": "2024-01-01T23:30:00Z"},
    });
    post.change(Method::POST, "/v1/events", &event);
    for (locale, tz, told) in [
        ("en", "UTC", "Rent: CHF 1,234.50 at Jan 1, 2024, 11:30 PM"),
        ("en-GB", "Europe/London", "Rent: CHF 1,234.50 at 1 Jan 2024, 23:30"),
        ("de-AT", "Europe/Vienna", "Rent: CHF 1.234,50 um 02.01.2024, 00:30"),
        ("fr", "Asia/Tokyo", "Rent: CHF 1,234.50 at Jan 2, 2024, 8:30 AM"),
    ] {
        let reader = json!({"locale": locale, "tz": tz});
        post.change(Method::PATCH, "/v1/recipients/ana", &reader);
        let plain = |text: &Value| text.as_str().unwrap().replace(['\u{a0}', '\u{202f}'], " ");
        let inbox = post.change(Method::GET, "/v1/recipients/ana/inbox", &Value::Null);
        let group = &inbox["groups"][0];
        assert_eq!(
            [plain(&group["text"]), plain(&group["items"][0]["text"])],
            [told, told],
            "{locale}"
        );
        let mail = next(&post);
        assert_eq!(plain(&mail["subject"]), told, "{locale}");
        assert!(plain(&mail["text"]).contains(told), "{locale}: {mail}");
        assert!(plain(&mail["html"]).contains(told), "{locale}: {mail}");
    }
}

#[test]
fn i42_words_of_polish_and_arabic_follow_the_number_in_inboxes_and_mails() {
    let config = CONFIG.to_owned()
        + r#"
[types.note]
category = "news"
title.pl = "{count|komentarz|komentarze|komentarzy}"
title.ar = "{count|لا تعليقات|تعليق واحد|تعليقان|تعليقات|تعليقًا|تعليق}"
sentence.pl = "{object}: {count} {count|komentarz|komentarze|komentarzy}"
sentence.ar = "{object}: {count} {count|لا تعليقات|تعليق واحد|تعليقان|تعليقات|تعليقًا|تعليق}"
channels = { inbox = { policy = "now" }, email = { policy = "digest", digest = "daily" } }
"#;
    let post = Post::new(&config);
    let mut published = 0;
    for (count, polish, arabic) in [
        (1, "komentarz", "تعليق واحد"),
        (2, "komentarze", "تعليقان"),
        (3, "komentarze", "تعليقات"),
        (5, "komentarzy", "تعليقات"),
        (11, "komentarzy", "تعليقًا"),
        (22, "komentarze", "تعليقًا"),
        (100, "komentarzy", "تعليق"),
    ] {
        while published < count {
            published += 1;
            post.publish_to_ana("note", &format!("By {published}"), "شعر");
        }
        for (locale, words) in [("pl", polish), ("ar", arabic)] {
            post.change(Method::PATCH, "/v1/recipients/ana", &json!({"locale": locale}));
            let title = if locale == "ar" { "شعر" } else { "\u{2068}شعر\u{2069}" };
            let told = format!("{title}: {count} {words}");
            let inbox = post.change(Method::GET, "/v1/recipients/ana/inbox", &Value::Null);
            assert_eq!(inbox["groups"][0]["text"], told, "{locale}");
            assert_eq!(next(&post)["subject"], told, "{locale}");
        }
    }
}
