//! The categories on the page behind the link of a mail.

use axum::http::Method;
use serde_json::json;

use super::{CONFIG, get, is_mailed, preferences, press, sorted, text, undo, way_out};
use crate::post::Post;

const OFFERS: &str = r#"
[categories.offers]
title = "Offers"
[types.sale]
category = "offers"
channels = { email = { policy = "now" } }
[types.refund]
category = "offers"
required = true
channels = { email = { policy = "now" } }
"#;

/// The headings of a page.
fn headings(page: &str) -> Vec<&str> {
    page.split("<h2>").skip(1).map(|part| part.split('<').next().unwrap()).collect()
}

#[test]
fn a_category_is_turned_off_and_on_with_all_its_types() {
    let post = Post::new(&format!("{CONFIG}{OFFERS}"));
    post.publish_to_ana("comment", "Ben", "Marilyn");
    let path = way_out(&post.bytes());
    let chosen = json!([
        {"type": "comment", "channel": "email", "mode": "immediate"},
        {"type": "show_opened", "channel": "email", "mode": "never"},
    ]);
    post.change(Method::PATCH, "/v1/recipients/ana/preferences", &chosen);
    let page = text(&get(&post, &path));
    assert_eq!(
        headings(&page),
        ["In this message", "Kinds of message", "Categories", "Everything"]
    );
    // A category without anything that can be turned off is none.
    assert!(!page.contains("Account"), "{page}");

    let done = text(&press(&post, &path, &page, "News: Stop"));
    assert!(done.contains("<strong>No more e-mail about “News”.</strong>"), "{done}");
    let stopped = json!([
        {"category": "news", "channel": "email", "mode": "never"},
        {"type": "show_opened", "channel": "email", "mode": "never"},
    ]);
    assert_eq!(sorted(&preferences(&post)), sorted(&stopped));
    assert!(!is_mailed(&post, "comment") && is_mailed(&post, "sale"));
    undo(&post, &path, &done);
    assert_eq!(sorted(&preferences(&post)), sorted(&chosen));

    let page = text(&press(&post, &path, &page, "News: Stop"));
    let done = text(&press(&post, &path, &page, "News: Turn on"));
    assert_eq!(preferences(&post), json!([]));
    // They come at several paces, of which no sentence tells.
    assert!(done.contains("<strong>Saved.</strong>"), "{done}");
    let page = text(&press(&post, &path, &done, "Offers: Stop"));
    assert!(is_mailed(&post, "refund"));
    let done = text(&press(&post, &path, &page, "Offers: Turn on"));
    assert!(done.contains("<strong>Offers: as it happens</strong>"), "{done}");
}

#[test]
fn a_category_is_turned_on_while_all_other_mail_is_off() {
    let post = Post::new(&format!("{CONFIG}{OFFERS}"));
    post.publish_to_ana("comment", "Ben", "Marilyn");
    let path = way_out(&post.bytes());
    let page = text(&get(&post, &path));
    let page = text(&press(&post, &path, &page, "All e-mail: Stop"));
    let page = text(&press(&post, &path, &page, "Offers: Turn on"));
    assert_eq!(
        sorted(&preferences(&post)),
        sorted(&json!([
            {"category": "*", "channel": "email", "mode": "never"},
            {"type": "sale", "channel": "email", "mode": "immediate"},
        ]))
    );
    assert!(page.contains("Offers: Stop") && page.contains("News: Turn on"), "{page}");
    assert!(is_mailed(&post, "sale"));
}

#[test]
fn one_category_alone_is_as_all_mail() {
    let post = Post::new(CONFIG);
    post.publish_to_ana("comment", "Ben", "Marilyn");
    let page = text(&get(&post, &way_out(&post.bytes())));
    assert!(!headings(&page).contains(&"Categories"), "{page}");
}
