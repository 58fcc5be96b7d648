//! Messages as they look: the next one of a channel, and one that was sent, built again.

use std::sync::Arc;

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tidings_core::model::sending_channels;
use tidings_mail::{Design, Sender};
use tidings_node::channel::{
    CaughtMessage, Channel, MailRenderer, MessageAppearance, Outcome, Rendered, RenderingChannel,
};

use super::{done, get, post, problem, publish, put};
use crate::rig::{CONFIG, Rig, tokens};

/// A configuration with every channel, whose messages are kept.
fn config() -> String {
    let sections: String = sending_channels()
        .map(|kind| {
            let from = match kind.name {
                "email" => "from = \"Art <art@example.org>\"\n",
                "sms" => "from = \"+12025550100\"\n",
                _ => "",
            };
            format!("[channels.{}]\nprovider = \"caught://\"\n{from}", kind.name)
        })
        .collect();
    let routes: Vec<String> = sending_channels()
        .map(|kind| format!("{} = {{ policy = \"cooldown\", quiet = \"4m\" }}", kind.name))
        .collect();
    format!(
        "[tenants]\non = true\n[brand]\nname = \"Art\"\n[categories.c]\n[types.note]\ncategory = \"c\"\n\
         sentence.en = \"{{actor}} asks about {{object}}\"\nsentence.de = \"{{actor}} fragt nach {{object}}\"\n\
         channels = {{ inbox = {{ policy = \"now\" }}, {} }}\n{sections}",
        routes.join(", ")
    )
}

/// A server with that configuration, and ana on each channel.
fn catching() -> Rig {
    let rig = Rig::catching(&config());
    let ana = json!({"email": "ana@example.com", "addresses": {
        "sms": "+12025550123", "fcm": ["t1"], "apns": ["a".repeat(64)], "slack": "C0123456789",
        "discord": "123456789012345678", "teams": "https://teams.example/hook", "telegram": "@ana_art",
        "webhook": "https://ana.example/hook",
        "webpush": [{"endpoint": "https://push.example/1", "keys": {
            "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            "auth": "BTBZMqHH6r4Tts7J_aSIgg",
        }}],
    }});
    put(&rig, "/v1/recipients/ana", &ana);
    rig
}

/// Asks ana about an object, with an event of the same id.
fn ask(rig: &Rig, object: &str, tenant: &Value) {
    let id = object.to_lowercase();
    let event = json!({
        "id": id, "type": "note", "actor": {"id": "ben", "title": "Ben"}, "tenant": tenant,
        "object": {"id": id, "title": object, "url": "https://art.example/o"}, "to": {"recipients": ["ana"]},
    });
    post(rig, "/v1/events", &event);
}

fn next(rig: &Rig, channel: &str) -> Value {
    let mut answer = get(rig, &format!("/v1/recipients/ana/preview?channel={channel}"));
    assert!(answer.get("mail").is_none() && answer["scheduled"].is_null(), "{answer}");
    answer["message"].take()
}

/// The messages in a state by channel, once there are so many: channels answer in their own time.
fn awaited(rig: &Rig, state: &str, count: usize) -> Vec<(String, String)> {
    for _ in 0..100_000 {
        let page = get(rig, &format!("/v1/messages?state={state}"));
        let messages = page["messages"].as_array().unwrap();
        if messages.len() == count {
            let text = |message: &Value, field: &str| message[field].as_str().unwrap().to_owned();
            return messages.iter().map(|one| (text(one, "channel"), text(one, "id"))).collect();
        }
        std::thread::yield_now();
    }
    panic!("{}", get(rig, "/v1/messages"));
}

fn looks(rig: &Rig, id: &str) -> Value {
    get(rig, &format!("/v1/messages/{id}/preview"))
}

/// A mail without its tag, in which its number is.
fn untagged(mail: &str) -> String {
    mail.split_inclusive('\n').filter(|line| !line.starts_with("X-Tidings-Message:")).collect()
}

/// Checks that a preview is the message that was handed over.
fn is_what_was_sent(next: &Value, sent: &CaughtMessage) {
    let channel = &sent.message.head.channel;
    let (subject, text) = match sent.look().unwrap() {
        MessageAppearance::Mail => {
            let bytes = String::from_utf8(sent.message.bytes.clone()).unwrap();
            assert_eq!(untagged(next["source"].as_str().unwrap()), untagged(&bytes));
            return;
        }
        MessageAppearance::Text { text, parts, .. } => {
            assert_eq!(next["parts"], parts);
            (None, text)
        }
        MessageAppearance::Push { title, text, url } => {
            assert_eq!(next["url"], json!(url), "{channel}");
            (Some(title), text)
        }
        MessageAppearance::Chat { title: None, text, url } => {
            (None, format!("{text}\n{}", url.unwrap()))
        }
        MessageAppearance::Chat { title, text, url } => {
            assert_eq!(next["url"], json!(url), "{channel}");
            (title, text)
        }
        MessageAppearance::Call { body, .. } => (None, body.to_string()),
    };
    assert_eq!(next["subject"], json!(subject), "{channel}");
    assert_eq!(next["text"], text, "{channel}");
    assert!(next.get("html").is_none() && next.get("source").is_none(), "{channel}");
}

#[test]
fn each_channel_shows_its_next_message_and_whether_what_was_sent_looked_the_same() {
    let rig = catching();
    let all = sending_channels().count();
    for kind in sending_channels() {
        assert_eq!(next(&rig, kind.name), Value::Null);
    }
    ask(&rig, "Flowers", &Value::Null);
    let previews: Vec<Value> = sending_channels().map(|kind| next(&rig, kind.name)).collect();
    for (preview, kind) in previews.iter().zip(sending_channels()) {
        assert_eq!(preview["channel"], kind.name);
        assert_eq!(
            [&preview["at"], &preview["lane"], &preview["entries"]],
            [&json!("2024-01-01T12:04:00Z"), &json!("cooldown"), &json!(1)]
        );
    }
    rig.at("2024-01-01T12:04:00Z");
    let sent = awaited(&rig, "sent", all);
    let caught = rig.service.caught.newest_first();
    for preview in &previews {
        let channel = preview["channel"].as_str().unwrap();
        let message = caught.iter().find(|one| one.message.head.channel == channel).unwrap();
        is_what_was_sent(preview, message);
    }

    // Nothing has changed since.
    let same = |rig: &Rig, expected: bool, title: &str| {
        for (channel, id) in &sent {
            let shown = looks(rig, id);
            assert_eq!(shown["channel"], *channel);
            assert_eq!(shown["same"], expected, "{channel}: {shown}");
            // A title may say everything.
            let words = format!("{} {}", shown["subject"], shown["text"]);
            assert!(words.contains(title), "{shown}");
        }
    };
    same(&rig, true, "Flowers");
    for preview in &previews {
        let of_channel = |(channel, _): &&(String, String)| preview["channel"] == **channel;
        let (_, id) = sent.iter().find(of_channel).unwrap();
        let shown = looks(&rig, id);
        for field in ["subject", "html", "text", "parts"] {
            assert_eq!(shown[field], preview[field], "{field}");
        }
    }
    // The address is not what it looked like.
    done(&rig.call(Method::PATCH, "/v1/recipients/ana", &json!({"email": null})));
    same(&rig, true, "Flowers");
    let object = |title: &str| json!({"title": title, "url": "https://art.example/o"});
    put(&rig, "/v1/objects/flowers", &object("Leaves"));
    same(&rig, false, "Leaves");
    put(&rig, "/v1/objects/flowers", &object("Flowers"));
    same(&rig, true, "Flowers");
    // What was sent is known after a restart.
    let rig = rig.restart_with(&config());
    same(&rig, true, "Flowers");
    // Texts of the configuration count, too.
    let rig = rig.restart_with(&config().replace("asks about", "wonders about"));
    same(&rig, false, "wonders about Flowers");
}

#[test]
fn a_preview_wears_the_tenants_brand_and_speaks_the_readers_language() {
    let rig = catching();
    let acme = |color: &str| json!({"name": "Acme", "locale": "de", "brand": {"name": "Acme Hall", "color": color}});
    put(&rig, "/v1/tenants/acme", &acme("#006622"));
    ask(&rig, "Flowers", &json!("acme"));
    let mail = next(&rig, "email");
    assert_eq!(
        (&mail["tenant"], &mail["subject"]),
        (&json!("acme"), &json!("Ben fragt nach Flowers"))
    );
    let html = mail["html"].as_str().unwrap();
    assert!(html.contains("Acme Hall") && html.contains("#006622"), "{html}");
    assert!(next(&rig, "sms")["text"].as_str().unwrap().contains("fragt nach"));
    // The recipient's own locale comes before the tenant's.
    done(&rig.call(Method::PATCH, "/v1/recipients/ana", &json!({"locale": "en"})));
    assert_eq!(next(&rig, "email")["subject"], "Ben asks about Flowers");

    rig.at("2024-01-01T12:04:00Z");
    let sent = awaited(&rig, "sent", sending_channels().count());
    let look = |channel: &str| {
        let (_, id) = sent.iter().find(|(of, _)| of == channel).unwrap();
        looks(&rig, id)
    };
    assert!(look("email")["html"].as_str().unwrap().contains("Acme Hall"));
    assert_eq!(look("email")["same"], true);
    // A text message shows no colour.
    put(&rig, "/v1/tenants/acme", &acme("#aa0000"));
    assert_eq!((&look("email")["same"], &look("sms")["same"]), (&json!(false), &json!(true)));
    done(&rig.call(Method::PATCH, "/v1/recipients/ana", &json!({"locale": "de"})));
    let text = look("sms");
    assert!(text["text"].as_str().unwrap().contains("fragt nach"), "{text}");
    assert_eq!(text["same"], false);
}

/// A channel that takes nothing for now.
struct Deferring;

impl Channel for Deferring {
    fn send(&self, _: &Rendered, _: &dyn Fn() -> bool) -> Outcome {
        Outcome::Retry { why: "RCPT: 451 4.3.0".to_owned(), after_ms: None }
    }
}

/// A server whose mails wait for their next attempt, with ana, and somebody without an address.
fn deferring() -> Rig {
    let config = format!("{CONFIG}[channels.email]\nfrom = \"Art <art@example.org>\"\n");
    let rules = tidings_config::parse(&config, "tidings.toml").unwrap();
    let from = Sender::parse("Art <art@example.org>").unwrap();
    let design = Design::new(from, &rules).unwrap().linked(tokens());
    let outlet = RenderingChannel::new(Arc::new(MailRenderer::new(design)), Arc::new(Deferring));
    let rig = Rig::with_channels(&config, [("email".to_owned(), outlet)].into());
    put(&rig, "/v1/recipients/ana", &json!({"email": "ana@example.org"}));
    put(&rig, "/v1/recipients/nowhere", &json!({}));
    rig
}

/// Sends a note to somebody now, and returns its message once it is in a state.
fn note(rig: &Rig, id: &str, to: &str, state: &str) -> String {
    publish(rig, id, "note", &[to]);
    post(rig, &format!("/v1/recipients/{to}/flush"), &json!({}));
    awaited(rig, state, 1).remove(0).1
}

#[test]
fn a_message_without_content_has_only_a_channel_and_one_of_somebody_erased_is_gone() {
    let rig = deferring();
    let nothing = json!({"channel": "email", "same": null});
    let suppressed = note(&rig, "e0", "nowhere", "suppressed");
    assert_eq!(looks(&rig, &suppressed), nothing);

    // What no provider took yet is compared with what it was asked to take.
    let first = note(&rig, "e1", "ana", "retrying");
    let shown = looks(&rig, &first);
    assert_eq!(shown["same"], true, "{shown}");
    put(&rig, "/v1/objects/of%2Fe1", &json!({"title": "Leaves"}));
    let shown = looks(&rig, &first);
    assert_eq!(shown["same"], false);
    assert!(shown["html"].as_str().unwrap().contains("Leaves"), "{shown}");
    post(&rig, &format!("/v1/messages/{first}/cancel"), &Value::Null);
    assert_eq!(get(&rig, &format!("/v1/messages/{first}"))["state"], "cancelled");
    assert_eq!(looks(&rig, &first), nothing);

    let second = note(&rig, "e2", "ana", "retrying");
    assert!(rig.call(Method::DELETE, "/v1/recipients/ana", &Value::Null).status.is_success());
    let answer = rig.call(Method::GET, &format!("/v1/messages/{second}/preview"), &Value::Null);
    assert_eq!(problem(&answer, StatusCode::CONFLICT), "message_state");
    assert!(answer.json()["detail"].as_str().unwrap().contains("erased"), "{}", answer.json());
    for unknown in ["2024-01-01.1.2.3", "x"] {
        let path = format!("/v1/messages/{unknown}/preview");
        let answer = rig.call(Method::GET, &path, &Value::Null);
        assert_eq!(problem(&answer, StatusCode::NOT_FOUND), "message_not_found");
    }
    let answer = rig.call(Method::GET, "/v1/recipients/ana/preview?channel=email", &Value::Null);
    assert_eq!(problem(&answer, StatusCode::NOT_FOUND), "recipient_not_found");
}

#[test]
fn a_channel_that_is_not_configured_is_refused_with_the_nearest() {
    let rig = deferring();
    for query in ["channel=inbox", "channel=emial", "channel=sms", "channel=", "chanel=email"] {
        let path = format!("/v1/recipients/ana/preview?{query}");
        let answer = rig.call(Method::GET, &path, &Value::Null);
        assert_eq!(problem(&answer, StatusCode::BAD_REQUEST), "invalid_query", "{query}");
        if query == "channel=emial" {
            assert!(answer.json()["hint"].as_str().unwrap().contains("`email`"));
        }
    }
}

#[test]
fn the_next_message_is_that_of_the_first_lane_with_something_to_say() {
    let rig = catching();
    ask(&rig, "Flowers", &Value::Null);
    rig.at("2024-01-01T12:01:00Z");
    put(&rig, "/v1/tenants/acme", &json!({}));
    ask(&rig, "Leaves", &json!("acme"));
    assert_eq!(next(&rig, "sms")["at"], "2024-01-01T12:04:00Z");
    // What is due first has been seen by then.
    post(&rig, "/v1/recipients/ana/inbox/seen", &json!({"event": "flowers"}));
    let text = next(&rig, "sms");
    assert_eq!(
        (&text["at"], &text["tenant"]),
        (&json!("2024-01-01T12:05:00Z"), &json!("acme")),
        "{text}"
    );
}
