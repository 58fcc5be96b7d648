//! Messages as recipients get them: the bytes of their mails and the pages of their inboxes. Named after rows
//! of the acceptance table.

use axum::http::Method;
use serde_json::{Value, json};

use crate::post::Post;

const CONFIG: &str = r#"
[categories.news]
title = "News"
[digests.daily]
every = "day"
at = "09:00"
[types.artwork_published]
category = "news"
channels = { inbox = { policy = "now" }, email = { policy = "digest", digest = "daily" } }
[types.artwork_shown]
category = "news"
channels = { inbox = { policy = "now" }, email = { policy = "digest", digest = "daily" } }
[types.comment]
category = "news"
channels = { email = { policy = "first_event", hold = "2h" } }
[types.share]
category = "news"
channels = { email = { policy = "first_event", hold = "3h" } }
"#;

/// Type, count and reasons of each group of the inbox.
fn inbox(post: &Post) -> Vec<(String, u64, Value)> {
    let page = post.change(Method::GET, "/v1/recipients/ana/inbox", &Value::Null);
    let shown = page["groups"].as_array().unwrap().iter().map(|group| {
        let items = group["items"].as_array().unwrap();
        let reasons = items.iter().map(|item| item["reasons"].clone()).collect();
        (group["type"].as_str().unwrap().to_owned(), group["count"].as_u64().unwrap(), reasons)
    });
    shown.collect()
}

#[test]
fn a3_the_same_object_of_one_type_is_shown_once() {
    let post = Post::new(CONFIG);
    post.publish_to_ana("artwork_published", "Ben", "Marilyn");
    post.rig.at("2024-01-01T20:00:00Z");
    post.publish_to_ana("artwork_published", "Cy", "Marilyn");
    post.rig.at("2024-01-02T09:00:00Z");
    let (subject, text) = post.mail();
    assert_eq!(subject, "2 new: Marilyn");
    let told = "Marilyn\n2 new: artwork published · Cy and Ben · Monday, January 1, 2024 at 8:00\u{202f}PM\n";
    assert!(text.starts_with(told), "{text}");
    assert_eq!(text.matches("Marilyn").count(), 1, "{text}");
    let group = ("artwork_published".to_owned(), 2, json!([["named"], ["named"]]));
    assert_eq!(inbox(&post), [group]);
}

#[test]
fn the_highest_score_is_told_first_and_shown_with_its_event() {
    let post = Post::new(CONFIG);
    for (id, score) in [("low", json!(-1)), ("high", json!(2.5)), ("none", Value::Null)] {
        let event = json!({
            "id": id, "type": "artwork_published", "object": {"id": id, "title": format!("The {id}")},
            "score": score, "to": {"recipients": ["ana"]},
        });
        post.change(Method::POST, "/v1/events", &event);
    }
    let event = post.change(Method::GET, "/v1/events/high", &Value::Null);
    assert_eq!(event["event"]["score"], json!(2.5));
    post.rig.at("2024-01-02T09:00:00Z");
    let (_, text) = post.mail();
    let places = ["The high", "The none", "The low"].map(|title| text.find(title).unwrap());
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn a4_an_object_of_two_types_is_shown_once_with_both_reasons() {
    let post = Post::new(CONFIG);
    for (topic, title) in [("artist/42", "Andy Warhol"), ("show/7", "Spring Show")] {
        let subscription = format!("/v1/recipients/ana/subscriptions/{topic}");
        post.change(Method::PUT, &subscription, &Value::Null);
        let object = format!("/v1/objects/{}", topic.replace('/', "%2F"));
        post.change(Method::PUT, &object, &json!({"title": title}));
    }
    let to = |topic: &str| json!({"topics": [topic]});
    post.publish("artwork_published", "Ben", "Marilyn", &to("artist/42"));
    post.publish("artwork_shown", "Ben", "Marilyn", &to("show/7/room/1"));
    post.rig.at("2024-01-02T09:00:00Z");
    let (subject, text) = post.mail();
    assert_eq!(subject, "2 new: Marilyn");
    let told = "Marilyn\n2 new: artwork published, artwork shown · Ben · Monday";
    assert!(text.starts_with(told), "{text}");
    assert_eq!(text.matches("Marilyn").count(), 1, "{text}");
    let why = "You are receiving this because you follow Andy Warhol and Spring Show.\n";
    assert!(text.contains(why), "{text}");
    let group = |kind: &str, reason: &str| (kind.to_owned(), 1, json!([[reason]]));
    assert_eq!(
        inbox(&post),
        [group("artwork_shown", "topic:show/7"), group("artwork_published", "topic:artist/42"),]
    );
}

#[test]
fn a13_what_is_published_again_is_shown_once_or_told_again_after_a_flush() {
    let post = Post::new(CONFIG);
    post.publish_to_ana("artwork_published", "Ben", "Marilyn");
    post.change(Method::DELETE, "/v1/objects/marilyn", &Value::Null);
    assert_eq!(inbox(&post), []);
    post.publish_to_ana("artwork_published", "Ben", "Marilyn");
    post.change(Method::POST, "/v1/recipients/ana/flush", &json!({}));
    let (subject, text) = post.mail();
    assert_eq!(subject, "2 new: Marilyn");
    assert_eq!(text.matches("Marilyn").count(), 1, "{text}");
    post.change(Method::DELETE, "/v1/objects/marilyn", &Value::Null);
    post.publish_to_ana("artwork_published", "Ben", "Marilyn");
    post.rig.at("2024-01-02T09:00:00Z");
    let (subject, text) = post.mail();
    assert_eq!(subject, "Ben · Artwork published · Marilyn");
    assert!(text.starts_with("Marilyn\nArtwork published · Ben · "), "{text}");
    let all = json!([["named"], ["named"], ["named"]]);
    assert_eq!(inbox(&post), [("artwork_published".to_owned(), 3, all)]);
}

#[test]
fn h1_four_shares_are_one_line_and_what_comes_at_the_mails_instant_is_in_the_next() {
    let post = Post::new(CONFIG);
    post.rig.at("2024-01-02T01:00:00Z");
    for (at, actor) in [("01:00", "Ann"), ("01:30", "Bob"), ("02:00", "Cy")] {
        post.rig.at(&format!("2024-01-02T{at}:00Z"));
        post.publish_to_ana("share", actor, "Plan");
    }
    post.rig.at("2024-01-02T02:30:00Z");
    post.publish_to_ana("comment", "Ann", "Budget");
    post.rig.at("2024-01-02T03:59:59Z");
    post.publish_to_ana("share", "Dee", "Plan");
    post.rig.at("2024-01-02T04:00:00Z");
    post.publish_to_ana("comment", "Ann", "Plan");
    post.publish_to_ana("comment", "Eve", "Plan");
    let (subject, text) = post.mail();
    assert_eq!(subject, "Plan and Budget: 5 new");
    let told = "News\nTuesday, January 2, 2024\n\n\
                * Plan\n  4 new: share · Dee, Cy and 2 others\n\n\
                * Budget\n  Comment · Ann\n\n---";
    assert!(text.starts_with(told), "{text}");
    post.rig.at("2024-01-02T06:00:00Z");
    let (subject, text) = post.mail();
    assert_eq!(subject, "2 new: Plan");
    let told = "Plan\n2 new: comment · Eve and Ann · Tuesday, January 2, 2024 at 4:00\u{202f}AM\n";
    assert!(text.starts_with(told), "{text}");
}

#[test]
fn h2_a_comment_and_a_share_are_two_lines_and_two_shares_are_one() {
    let post = Post::new(CONFIG);
    post.rig.at("2024-01-02T01:00:00Z");
    post.publish_to_ana("comment", "Ann", "Budget");
    post.rig.at("2024-01-02T02:00:00Z");
    post.publish_to_ana("share", "Bob", "Plan");
    post.rig.at("2024-01-02T03:00:00Z");
    post.publish_to_ana("share", "Cy", "Plan");
    post.publish_to_ana("share", "Dee", "Plan");
    let (subject, text) = post.mail();
    assert_eq!(subject, "Plan and Budget: 2 new");
    let told = "* Plan\n  Share · Bob\n\n* Budget\n  Comment · Ann\n\n---";
    assert!(text.contains(told), "{text}");
    post.rig.at("2024-01-02T06:00:00Z");
    let (subject, text) = post.mail();
    assert_eq!(subject, "2 new: Plan");
    let told = "Plan\n2 new: share · Dee and Cy · Tuesday, January 2, 2024 at 3:00\u{202f}AM\n";
    assert!(text.starts_with(told), "{text}");
}

#[test]
fn mails_hold_no_id_where_a_title_is_known_and_no_id_as_a_subject() {
    let post = Post::new(CONFIG);
    post.change(Method::PUT, "/v1/recipients/ben", &json!({"name": "Ben"}));
    let comment = |actor: &str, object: Value, target: Value| {
        let event = json!({
            "type": "comment", "actor": actor, "object": object, "target": target,
            "to": {"recipients": ["ana"]},
        });
        post.change(Method::POST, "/v1/events", &event);
    };
    let issue = json!({"id": "issue/43", "title": "Crash"});
    comment("ben", json!({"id": "comment/1"}), issue);
    comment("u12", json!({"id": "comment/2"}), json!("issue/43"));
    comment("jane_doe", json!({"id": "comment/3"}), json!("repo:5512"));
    post.rig.at("2024-01-01T14:00:00Z");
    let (subject, text) = post.mail();
    assert_eq!(subject, "Crash: 3 new");
    let told = "News\nMonday, January 1, 2024\n\n\
                Crash\n2 new: comment · Ben and 1 other\n\n\
                * New comment\n  Ben\n\n\
                * New comment\n\n\
                ---\n\n* New comment\n\n---";
    assert!(text.contains(told), "{text}");
    for hidden in ["u12", "jane", "Jane", "5512", "issue/", "comment/"] {
        assert!(!text.contains(hidden), "{hidden} in {text}");
    }
}
