//! The pages as recipients and mail programs use them. Named after rows of the acceptance table where there is one.

mod categories;
mod digest_times;
mod tenants;

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tidings_mail::{SECRET_BYTES, TokenKey, Unsubscribe};

use crate::post::Post;
use crate::rig::{Answered, tokens};

mod situations;

const CONFIG: &str = r#"
[brand]
name = "Art"
url = "https://art.example"
[categories.news]
title = "News"
[categories.account]
[digests.daily]
every = "day"
at = "09:00"
[digests.weekly]
every = "week"
on = "mon"
[types.artwork_published]
title = "New works"
category = "news"
channels = { inbox = { policy = "now" }, email = { policy = "digest", digest = "daily" } }
[types.show_opened]
category = "news"
channels = { email = { policy = "digest", digest = "daily" } }
[types.comment]
category = "news"
channels = { inbox = { policy = "now" }, email = { policy = "now" } }
[types.password_changed]
category = "account"
required = true
channels = { email = { policy = "now" } }
"#;

/// The header of a mail, unfolded.
fn header(bytes: &[u8], name: &str) -> Option<String> {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let head = text.split("\r\n\r\n").next().unwrap().replace("\r\n ", " ");
    let mut lines = head.split("\r\n").filter_map(|line| line.split_once(": "));
    let value = lines.find(|(found, _)| *found == name);
    value.map(|(_, value)| value.trim().to_owned())
}

/// The path of the page that unsubscribes from a mail.
fn way_out(bytes: &[u8]) -> String {
    let link = header(bytes, "List-Unsubscribe").unwrap();
    let path = link.strip_prefix("<https://art.example").unwrap();
    path.strip_suffix('>').unwrap().to_owned()
}

fn text(answer: &Answered) -> String {
    String::from_utf8(answer.bytes.clone()).unwrap()
}

fn get(post: &Post, path: &str) -> Answered {
    post.rig.send(Method::GET, path, &[], "")
}

fn send(post: &Post, path: &str, form: &str) -> Answered {
    let kind = ("content-type", "application/x-www-form-urlencoded");
    // A form comes from wherever the page was, and has no key.
    let from = ("origin", "https://art.example");
    post.rig.send(Method::POST, path, &[kind, from], form.to_owned())
}

/// Presses the button of a row.
fn press(post: &Post, path: &str, page: &str, label: &str) -> Answered {
    let label = format!("aria-label=\"{label}\"");
    let row = page
        .split("<button ")
        .find(|button| button.contains(&label))
        .unwrap_or_else(|| panic!("no {label} in {page}"));
    let value = row.split("value=\"").nth(1).unwrap();
    send_set(post, path, value.split('"').next().unwrap())
}

fn undo(post: &Post, path: &str, page: &str) -> Answered {
    let saved = page.split("class=\"saved\"").nth(1).unwrap();
    let value = saved.split("value=\"").nth(1).unwrap();
    send_set(post, path, value.split('"').next().unwrap())
}

fn send_set(post: &Post, path: &str, escaped: &str) -> Answered {
    let set = escaped.replace("&quot;", "\"");
    let set = percent_encoding::utf8_percent_encode(&set, percent_encoding::NON_ALPHANUMERIC);
    send(post, path, &format!("set={set}"))
}

fn preferences(post: &Post) -> Value {
    let path = "/v1/recipients/ana/preferences";
    post.change(Method::GET, path, &Value::Null)
}

/// A list of preferences in one order.
fn sorted(value: &Value) -> Vec<Value> {
    let mut list = value.as_array().unwrap().clone();
    list.sort_by_key(Value::to_string);
    list
}

/// A digest of two types, by a topic.
fn digest(post: &Post) -> Vec<u8> {
    let topic = json!({"title": "Andy Warhol"});
    post.change(Method::PUT, "/v1/objects/artist%2F1", &topic);
    post.change(Method::PUT, "/v1/recipients/ana/subscriptions/artist/1", &Value::Null);
    post.publish("artwork_published", "Ben", "Marilyn", &json!({"topics": ["artist/1"]}));
    post.publish("show_opened", "Cy", "Flowers", &json!({"recipients": ["ana"]}));
    post.rig.at("2024-01-02T09:00:00Z");
    post.bytes()
}

#[test]
fn a_mail_program_unsubscribes_with_one_post() {
    let post = Post::new(CONFIG);
    post.publish_to_ana("comment", "Ben", "Marilyn");
    let mail = post.bytes();
    assert_eq!(
        header(&mail, "List-Unsubscribe-Post").as_deref(),
        Some("List-Unsubscribe=One-Click")
    );
    assert_eq!(header(&mail, "List-ID").as_deref(), Some("<comment.example.org>"));
    let path = way_out(&mail);
    assert_eq!(preferences(&post), json!([]));
    let done = send(&post, &path, "List-Unsubscribe=One-Click");
    assert_eq!(done.status, StatusCode::OK);
    let never = json!([{"type": "comment", "channel": "email", "mode": "never"}]);
    assert_eq!(preferences(&post), never);
    // Once more, and it stays.
    send(&post, &path, "List-Unsubscribe=One-Click");
    assert_eq!(preferences(&post), never);
    undo(&post, &path, &text(&done));
    assert_eq!(preferences(&post), json!([]));
}

#[test]
fn a_choice_behind_a_link_leaves_one_line_in_the_log() {
    let post = Post::new(CONFIG);
    post.publish_to_ana("comment", "Ben", "Marilyn");
    let path = way_out(&post.bytes());
    for _ in 0..2 {
        send(&post, &path, "List-Unsubscribe=One-Click");
    }
    let log = post.change(Method::GET, "/v1/admin/log?by=link:ana", &Value::Null);
    let lines = log["log"].as_array().unwrap();
    let [line] = &lines[..] else { panic!("{log}") };
    assert_eq!((&line["via"], &line["action"]), (&json!("page"), &json!("patch_preferences")));
    assert_eq!(line["subject"], json!({"kind": "recipient", "id": "ana"}));
    let never =
        json!([{"name": "preferences.type:comment.email", "from": "default", "to": "never"}]);
    assert_eq!(line["fields"], never);
}

#[test]
fn one_click_on_a_digest_leaves_all_that_comes_with_it() {
    let post = Post::new(CONFIG);
    post.publish("artwork_published", "Ben", "Marilyn", &json!({"recipients": ["ana"]}));
    post.rig.at("2024-01-02T09:00:00Z");
    let mail = post.bytes();
    assert_eq!(header(&mail, "List-ID").as_deref(), Some("<daily.example.org>"));
    send(&post, &way_out(&mail), "List-Unsubscribe=One-Click");
    assert_eq!(
        preferences(&post),
        json!([
            {"type": "artwork_published", "channel": "email", "mode": "never"},
            // What comes another way stays.
            {"type": "comment", "channel": "email", "mode": "immediate"},
            {"type": "show_opened", "channel": "email", "mode": "never"},
            {"category": "*", "channel": "email", "mode": "never"},
        ])
    );
    reload(&post);
    assert!(is_mailed(&post, "comment"));
    for later in ["sale", "show_closed", "artwork_published"] {
        assert!(!is_mailed(&post, later), "{later}");
    }
}

/// Types that are configured later: of a category that is there, and of one that comes with them.
const LATER: &str = r#"
[categories.offers]
[types.sale]
category = "offers"
channels = { inbox = { policy = "now" }, email = { policy = "now" } }
[types.show_closed]
category = "news"
channels = { email = { policy = "digest", digest = "daily" } }
"#;

fn reload(post: &Post) {
    let rules = tidings_config::parse(&format!("{CONFIG}{LATER}"), "tidings.toml").unwrap();
    post.rig.service.configure(rules, Default::default()).unwrap();
}

/// The channels on which an event of a type makes entries for `ana`.
fn channels_of(post: &Post, kind: &str) -> Vec<String> {
    let event = json!({"id": format!("of-{kind}"), "type": kind, "object": {"id": "o"}, "to": {"recipients": ["ana"]}});
    post.change(Method::POST, "/v1/events", &event);
    let path = format!("/v1/events/of-{kind}");
    let event = post.change(Method::GET, &path, &Value::Null);
    event["channels"].as_object().unwrap().keys().cloned().collect()
}

fn is_mailed(post: &Post, kind: &str) -> bool {
    channels_of(post, kind).contains(&"email".to_owned())
}

#[test]
fn f1_what_is_stopped_stays_so_for_types_that_come_later() {
    for (label, left) in
        [("All e-mail: Stop", vec!["inbox"]), ("All messages, on every channel: Stop", Vec::new())]
    {
        let post = Post::new(CONFIG);
        post.publish_to_ana("comment", "Ben", "Marilyn");
        let path = way_out(&post.bytes());
        // What is chosen for a category or a type stands above it.
        let chosen = json!([
            {"category": "news", "channel": "email", "mode": "weekly"},
            {"type": "comment", "channel": "email", "mode": "immediate"},
        ]);
        post.change(Method::PATCH, "/v1/recipients/ana/preferences", &chosen);
        let page = text(&get(&post, &path));
        let page = text(&press(&post, &path, &page, label));
        reload(&post);
        for kind in ["comment", "sale", "artwork_published"] {
            assert_eq!(channels_of(&post, kind), left, "{label}: {kind}");
        }
        assert!(!is_mailed(&post, "show_closed"), "{label}");
        assert!(is_mailed(&post, "password_changed"), "{label}");
        undo(&post, &path, &page);
        assert_eq!(sorted(&preferences(&post)), sorted(&chosen), "{label}");
    }
}

#[test]
fn looking_at_the_page_changes_nothing() {
    let post = Post::new(CONFIG);
    let mail = digest(&post);
    let path = way_out(&mail);
    let page = get(&post, &path);
    assert_eq!(page.status, StatusCode::OK);
    assert_eq!(page.headers["cache-control"], "no-store");
    assert_eq!(page.headers["referrer-policy"], "no-referrer");
    let html = text(&page);
    for words in [
        "<html lang=\"en\" dir=\"ltr\">",
        "What Art sends you",
        "Andy Warhol",
        "New works",
        "once a day",
        "Once a week instead",
        "Show opened",
        "All e-mail",
        "All messages, on every channel",
    ] {
        assert!(html.contains(words), "{words} in {html}");
    }
    // The narrowest comes first, nothing runs, nobody is named.
    let place = |words: &str| html.find(words).unwrap();
    assert!(place("Andy Warhol") < place("New works") && place("New works") < place("All e-mail"));
    assert!(!html.contains("<script") && !html.contains("ana"), "{html}");
    assert_eq!(post.rig.send(Method::HEAD, &path, &[], "").status, StatusCode::OK);
    assert_eq!(preferences(&post), json!([]));
}

#[test]
fn each_choice_is_a_preference_that_can_be_taken_back() {
    let post = Post::new(CONFIG);
    let path = way_out(&digest(&post));
    let all = json!([
        {"category": "*", "channel": "*", "mode": "never"},
    ]);
    let mail = json!([{"category": "*", "channel": "email", "mode": "never"}]);
    for (label, set) in [
        ("Andy Warhol: Stop", json!([{"topic": "artist/1", "channel": "email", "mode": "never"}])),
        (
            "New works: Stop",
            json!([{"type": "artwork_published", "channel": "email", "mode": "never"}]),
        ),
        (
            "New works: Once a week instead",
            json!([{"type": "artwork_published", "channel": "email", "mode": "weekly"}]),
        ),
        ("All e-mail: Stop", mail),
        ("All messages, on every channel: Stop", all),
    ] {
        let page = text(&get(&post, &path));
        let done = text(&press(&post, &path, &page, label));
        let said = match label.rsplit_once(": ").unwrap() {
            (all, "Stop") if all.starts_with("All ") => format!("<strong>{all}: off</strong>"),
            (name, "Stop") => format!("<strong>No more e-mail about “{name}”.</strong>"),
            (name, _) => format!("<strong>{name}: once a week</strong>"),
        };
        assert!(done.contains(&said), "{said}: {done}");
        assert_eq!(sorted(&preferences(&post)), sorted(&set), "{label}");
        undo(&post, &path, &done);
        assert_eq!(preferences(&post), json!([]), "{label}");
    }
    // What is off can be turned on where it stands.
    let page = text(&get(&post, &path));
    let page = text(&press(&post, &path, &page, "All e-mail: Stop"));
    let page = text(&press(&post, &path, &page, "New works: Turn on"));
    assert!(preferences(&post).to_string().contains("\"daily\""));
    press(&post, &path, &page, "All e-mail: Stop");
    let expected = json!([
        {"category": "*", "channel": "email", "mode": "never"},
    ]);
    assert_eq!(sorted(&preferences(&post)), sorted(&expected));
}

#[test]
fn a_required_mail_has_no_way_out() {
    let post = Post::new(CONFIG);
    post.publish_to_ana("password_changed", "Ben", "Password");
    let mail = post.bytes();
    for name in ["List-Unsubscribe", "List-Unsubscribe-Post", "List-ID"] {
        assert_eq!(header(&mail, name), None, "{name}");
    }
}

#[test]
fn the_page_speaks_the_recipients_language() {
    let post = Post::new(CONFIG);
    let ana = json!({"email": "ana@example.org", "locale": "he"});
    post.change(Method::PUT, "/v1/recipients/ana", &ana);
    post.publish_to_ana("comment", "Ben", "Marilyn");
    let path = way_out(&post.bytes());
    let page = text(&get(&post, &path));
    assert!(page.contains("<html lang=\"he\" dir=\"rtl\">"), "{page}");
}

#[test]
fn situation_13_the_page_of_a_digest_speaks_one_language_and_undo_works() {
    let texts = "title = \"New works\"\n\"title.de\" = \"Neue Werke\"";
    let config = CONFIG.replacen("title = \"New works\"", texts, 1).replacen(
        "digest = \"daily\"",
        "digest = \"weekly\"",
        1,
    );
    let post = Post::new(&config);
    let speak = |locale: &str| {
        post.change(Method::PATCH, "/v1/recipients/ana", &json!({ "locale": locale }));
    };
    let topic = json!({"title": {"en": "Painters", "de": "Maler", "pl": "Malarze"}});
    post.change(Method::PUT, "/v1/objects/artist%2F1", &topic);
    post.change(Method::PUT, "/v1/recipients/ana/subscriptions/artist/1", &Value::Null);
    post.publish("artwork_published", "Ben", "Marilyn", &json!({"topics": ["artist/1"]}));
    post.rig.at("2024-01-08T09:00:00Z");
    let path = way_out(&post.bytes());
    for (locale, tag, words) in [
        ("de-AT", "lang=\"de\" dir=\"ltr\"", ["Maler", "Neue Werke", "wöchentlich", "Abbestellen"]),
        // Polish has no title of the type: all of the page is in the default language.
        ("pl", "lang=\"en\" dir=\"ltr\"", ["Painters", "New works", "once a week", "Stop"]),
        ("xx", "lang=\"en\" dir=\"ltr\"", ["Painters", "New works", "once a week", "Stop"]),
    ] {
        speak(locale);
        let page = text(&get(&post, &path));
        for words in words.into_iter().chain([tag]) {
            assert!(page.contains(words), "{locale}: {words} in {page}");
        }
    }
    speak("en");
    let page = text(&get(&post, &path));
    let done = text(&press(&post, &path, &page, "New works: Stop"));
    let never = json!([{"type": "artwork_published", "channel": "email", "mode": "never"}]);
    assert_eq!(preferences(&post), never);
    speak("de");
    let there = text(&get(&post, &path));
    assert!(there.contains("Einschalten"), "{there}");
    undo(&post, &path, &done);
    assert_eq!(preferences(&post), json!([]));
}

#[test]
fn wrong_tokens_lead_to_one_polite_page() {
    let post = Post::new(CONFIG);
    post.publish_to_ana("comment", "Ben", "Marilyn");
    let path = way_out(&post.bytes());
    let token = path.strip_prefix("/u/").unwrap();
    let known = Unsubscribe::open(&tokens(), token).unwrap();
    let forged = known.seal(&TokenKey::new(&[8; SECRET_BYTES]));
    let nobody = Unsubscribe { recipient: tidings_core::Id::new("nobody").unwrap(), ..known };
    let nobody = nobody.seal(&tokens());
    let cut = &token[..token.len() - 1];
    let same = text(&get(&post, "/u/x"));
    assert!(same.contains("This link doesn’t work"), "{same}");
    for path in [
        format!("/u/{forged}"),
        format!("/u/{nobody}"),
        format!("/u/{cut}"),
        format!("/more/{token}"),
        "/more/x".to_owned(),
    ] {
        let page = get(&post, &path);
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(text(&page), same, "{path}");
    }
    for path in [format!("/u/{forged}"), format!("/u/{nobody}")] {
        let page = send(&post, &path, "List-Unsubscribe=One-Click");
        assert_eq!((page.status, text(&page)), (StatusCode::NOT_FOUND, same.clone()));
    }
    let put = post.rig.send(Method::PUT, &path, &[], "");
    assert_eq!(put.status, StatusCode::METHOD_NOT_ALLOWED);
    // A form that asks for nothing that is known changes nothing.
    for form in ["", "set=", "set=[1]", "set=[{}]", "List-Unsubscribe=x"] {
        send(&post, &path, form);
        assert_eq!(preferences(&post), json!([]), "{form}");
    }
}

#[test]
fn a9_a_link_ends_with_its_recipient() {
    let post = Post::new(CONFIG);
    post.publish_to_ana("comment", "Ben", "Marilyn");
    let path = way_out(&post.bytes());
    let same = text(&get(&post, "/u/x"));
    assert_eq!(get(&post, &path).status, StatusCode::OK);
    post.rig.call(Method::DELETE, "/v1/recipients/ana", &Value::Null);
    assert_eq!(text(&get(&post, &path)), same);
    // Somebody else under the same id.
    post.change(Method::PUT, "/v1/recipients/ana", &json!({"email": "other@example.org"}));
    let page = get(&post, &path);
    assert_eq!((page.status, text(&page)), (StatusCode::NOT_FOUND, same.clone()));
    let list = json!([{"type": "comment", "channel": "email", "mode": "never"}]).to_string();
    let list: String = list.bytes().map(|byte| format!("%{byte:02x}")).collect();
    for form in ["List-Unsubscribe=One-Click".to_owned(), format!("set={list}")] {
        let page = send(&post, &path, &form);
        assert_eq!((page.status, text(&page)), (StatusCode::NOT_FOUND, same.clone()), "{form}");
        assert_eq!(preferences(&post), json!([]), "{form}");
    }
}

#[test]
fn p5_the_rest_is_exactly_what_the_mail_does_not_show() {
    let post = Post::new(CONFIG);
    for n in 0..135 {
        post.publish_to_ana("artwork_published", "Ben", &format!("Work number {n:03}"));
    }
    post.rig.at("2024-01-02T09:00:00Z");
    let bytes = post.bytes();
    let mail = mail_parser::MessageParser::default().parse(&bytes).unwrap();
    let body = mail.body_text(0).unwrap().replace("\r\n", "\n");
    let (_, after) = body.split_once("and 115 more\nhttps://art.example").unwrap();
    let html = mail.body_html(0).unwrap();
    assert!(html.contains("/more/"), "{html}");
    let link = after.split('\n').next().unwrap();
    let works = |text: &str| {
        let after = text.split("Work number ").skip(1);
        after.map(|rest| rest[..3].to_owned()).collect::<std::collections::BTreeSet<String>>()
    };
    let body = body.split("----").next().unwrap();
    let mut told = works(body);
    assert_eq!(told.len(), 20);
    let mut path = link.to_owned();
    for count in [50, 50, 15] {
        let page = get(&post, &path);
        assert_eq!(page.status, StatusCode::OK);
        let html = text(&page);
        assert!(html.contains("<h1>115 more</h1>"), "{html}");
        let here = works(&html);
        assert_eq!(here.len(), count);
        assert!(here.is_disjoint(&told), "shown twice");
        told.extend(here);
        if let Some(next) = html.split("href=\"?").find(|rest| rest.contains("rel=\"next\"")) {
            path = format!("{link}?{}", next.split('"').next().unwrap());
        }
    }
    assert_eq!(told.len(), 135);
    // What does not fit a page is none of a person's; it is answered all the same.
    for odd in ["?from=x", "?from=-1", "?from=18446744073709551615", "?from=9999"] {
        let page = get(&post, &format!("{link}{odd}"));
        assert!(page.status == StatusCode::OK || page.status == StatusCode::GONE, "{odd}");
    }
    post.rig.at("2024-03-01T00:00:00Z");
    let gone = get(&post, link);
    assert_eq!(gone.status, StatusCode::GONE);
    assert!(text(&gone).contains("No longer here"));
    // The way out is still there.
    let way_out = get(&post, &way_out(&bytes));
    assert_eq!(way_out.status, StatusCode::OK);
    post.change(Method::DELETE, "/v1/recipients/ana", &Value::Null);
    assert_eq!(get(&post, link).status, StatusCode::NOT_FOUND);
}
