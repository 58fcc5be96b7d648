//! The days and times of digests on the page behind the link of a mail.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{CONFIG, digest, get, preferences, press, send, text, undo, way_out};
use crate::post::Post;

/// A server that lets recipients choose times of both digests.
fn post() -> Post {
    let daily = "[digests.daily]\nchoose = [\"at\"]";
    let weekly = "[digests.weekly]\nchoose = [\"on\", \"at\"]";
    let open = CONFIG.replace("[digests.daily]", daily).replace("[digests.weekly]", weekly);
    Post::new(&format!("{open}[tenants]\non = true\n"))
}

/// The text of a page, with plain spaces.
fn page(post: &Post, path: &str) -> String {
    text(&get(post, path)).replace('\u{202f}', " ")
}

/// The form of a digest; `None` = there is none.
fn form<'p>(page: &'p str, digest: &str) -> Option<&'p str> {
    let forms = page.split("<form ");
    let named = format!("name=\"digest\" value=\"{digest}\"");
    forms.map(|form| form.split("</form>").next().unwrap()).find(|form| form.contains(&named))
}

/// The options of the page that are selected, in order.
fn selected(form: &str) -> Vec<&str> {
    let options = form.split("<option value=\"").skip(1);
    let chosen = options.filter_map(|option| option.split_once("\" selected>"));
    chosen.map(|(_, label)| label.split('<').next().unwrap()).collect()
}

/// Sends the form of a digest; returns the page that says what was done.
fn choose(post: &Post, path: &str, form: &str) -> String {
    let answer = send(post, path, form);
    assert_eq!(answer.status, StatusCode::OK, "{form}: {answer:?}");
    text(&answer).replace('\u{202f}', " ")
}

/// The time at which the mail that waits is due.
fn due(post: &Post) -> String {
    let pending = post.change(Method::GET, "/v1/recipients/ana/pending", &Value::Null);
    let mut lanes = pending["lanes"].as_array().unwrap().iter();
    let mail = lanes.find(|lane| lane["channel"] == "email").unwrap();
    mail["due"].as_str().unwrap().to_owned()
}

#[test]
fn the_times_of_a_digest_are_chosen_and_taken_back_without_script() {
    let post = post();
    let path = way_out(&digest(&post));
    let shown = page(&post, &path);
    let daily = form(&shown, "daily").unwrap();
    assert!(daily.contains("Once a day") && daily.contains("method=\"post\""), "{daily}");
    assert_eq!(selected(daily), ["9:00 AM · Default"]);
    assert_eq!(daily.matches("<option ").count(), 96);
    // The day is not open, and nothing comes weekly.
    assert!(!daily.contains("name=\"on\"") && form(&shown, "weekly").is_none(), "{shown}");

    let done = choose(&post, &path, "digest=daily&at=17%3A15");
    assert!(done.contains("<strong>Once a day: 5:15 PM</strong>"), "{done}");
    assert_eq!(selected(form(&done, "daily").unwrap()), ["5:15 PM"]);
    let own = json!([{"digest": "daily", "at": "17:15"}]);
    assert_eq!(preferences(&post), own);
    undo(&post, &path, &done);
    assert_eq!(preferences(&post), json!([]));
    choose(&post, &path, "digest=daily&at=17%3A15");

    // What comes weekly from now on is listed.
    let done = text(&press(&post, &path, &shown, "New works: Once a week instead"));
    let weekly = form(&done, "weekly").unwrap();
    for field in ["name=\"on\"", "name=\"at\"", "value=\"fri\"", ">Friday<"] {
        assert!(weekly.contains(field), "{field} in {weekly}");
    }
    post.publish_to_ana("artwork_published", "Ben", "Elvis");
    assert_eq!(due(&post), "2024-01-08T09:00:00Z");
    let done = choose(&post, &path, "digest=weekly&on=fri&at=18%3A30");
    assert!(done.contains("<strong>Once a week: Friday, 6:30 PM</strong>"), "{done}");
    assert_eq!(selected(form(&done, "weekly").unwrap()), ["Friday", "6:30 PM"]);
    assert_eq!(due(&post), "2024-01-05T18:30:00Z");
    undo(&post, &path, &done);
    assert_eq!(due(&post), "2024-01-08T09:00:00Z");

    // The default takes a choice back.
    choose(&post, &path, "digest=weekly&on=fri&at=18%3A30");
    choose(&post, &path, "digest=weekly&on=default&at=18%3A30");
    assert!(preferences(&post).to_string().contains(r#"{"digest":"weekly","at":"18:30"}"#));
    choose(&post, &path, "digest=weekly&on=default&at=default");
    choose(&post, &path, "digest=daily&at=default");
    let never = json!([{"type": "artwork_published", "channel": "email", "mode": "weekly"}]);
    assert_eq!(preferences(&post), never);
}

#[test]
fn what_a_digest_does_not_leave_open_changes_nothing() {
    let post = post();
    let path = way_out(&digest(&post));
    for form in [
        "digest=daily&on=fri",
        "digest=daily&on=fri&at=17%3A15",
        "digest=daily&at=17%3A10",
        "digest=daily&at=24%3A00",
        "digest=daily&at=",
        "digest=daily",
        "digest=weekly&on=5",
        "digest=hourly&at=17%3A15",
        "at=17%3A15",
    ] {
        let answer = send(&post, &path, form);
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{form}");
        assert!(text(&answer).contains("This link doesn’t work"), "{form}");
    }
    assert_eq!(get(&post, &format!("{path}?digest=daily&at=17%3A15")).status, StatusCode::OK);
    let wrong = send(&post, &path[..path.len() - 1], "digest=daily&at=17%3A15");
    assert_eq!(wrong.status, StatusCode::NOT_FOUND);
    assert_eq!(preferences(&post), json!([]));
    // A mail program that unsubscribes does nothing else.
    send(&post, &path, "digest=daily&at=17%3A15&List-Unsubscribe=One-Click");
    let chosen = preferences(&post).to_string();
    assert!(chosen.contains("never") && !chosen.contains("\"digest\""), "{chosen}");
}

#[test]
fn a_link_of_a_tenants_mail_sets_the_times_of_that_tenant_alone() {
    let post = post();
    post.change(Method::PUT, "/v1/tenants/acme", &json!({}));
    let event = json!({
        "type": "artwork_published", "object": {"id": "marilyn", "title": "Marilyn"},
        "to": {"recipients": ["ana"]}, "tenant": "acme",
    });
    post.change(Method::POST, "/v1/events", &event);
    let general = json!({"digest": "daily", "at": "12:00"});
    post.change(Method::PATCH, "/v1/recipients/ana/preferences", &json!([general]));
    post.rig.at("2024-01-02T12:00:00Z");
    let path = way_out(&post.bytes());
    // Without a choice for the tenant, what the recipient chose for all of them is in force.
    let shown = page(&post, &path);
    assert_eq!(selected(form(&shown, "daily").unwrap()), ["12:00 PM · Default"]);
    let done = choose(&post, &path, "digest=daily&at=17%3A15");
    assert_eq!(selected(form(&done, "daily").unwrap()), ["5:15 PM"]);
    let of_acme = json!({"digest": "daily", "tenant": "acme", "at": "17:15"});
    assert_eq!(preferences(&post), json!([general, of_acme]));
    choose(&post, &path, "digest=daily&at=default");
    assert_eq!(preferences(&post), json!([general]));
}
