//! The providers of the channels whose messages are a few words.

use super::super::super::{Scope, ShortRenderer};
use super::*;

const SUBSCRIPTION: &str = r#"{"endpoint":"https://push.example.net/send/x1","keys":{"p256dh":"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4","auth":"BTBZMqHH6r4Tts7J_aSIgg"}}"#;

/// A message in a few words to addresses of a channel.
pub(super) fn note(channel: &str, to: &[&str], from: Option<&str>) -> Rendered {
    let kind = channel_kind(channel).unwrap();
    let mut rules = Rules::default();
    rules.presentation.brand.url = Some("https://example.org".to_owned());
    let design = Design::short(channel, &rules).unwrap();
    let mut batch = batch("b1", "A <title> & more");
    channel.clone_into(&mut batch.channel);
    batch.recipient.addresses.set(kind.number, to);
    let head = Arc::new(MessageHead::of(&batch));
    let renderer = ShortRenderer::new(design, kind, from);
    renderer.render(&head, &batch).unwrap()
}

#[test]
fn twilio_takes_texts() {
    Documented {
        channel: "sms",
        provider: "twilio://AC123:${KEY}?base=BASE",
        from: Some("+12025550100"),
        message: note("sms", &["+4915112345678"], Some("+12025550100")),
        check: |heard| {
            assert_eq!(
                heard.line,
                "POST /2010-04-01/Accounts/AC123/Messages.json HTTP/1.1"
            );
            // `AC123:key`
            assert_eq!(heard.header("authorization"), "Basic QUMxMjM6a2V5");
            let form = "application/x-www-form-urlencoded";
            assert_eq!(heard.header("content-type"), form);
            let body = String::from_utf8(heard.body.clone()).unwrap();
            let start = "To=%2B4915112345678&From=%2B12025550100&Body=A%20%3Ctitle%3E%20%26%20more";
            assert!(body.starts_with(start), "{body}");
            assert!(body.ends_with("%0Ahttps%3A%2F%2Fexample%2Eorg"), "{body}");
        },
        takes: (
            says(201, "", r#"{"sid":"SM123","status":"queued"}"#),
            Some("SM123"),
        ),
        answers: vec![
            // STOP
            (says(400, "", r#"{"code":21610,"message":"Attempt to send to unsubscribed recipient","status":400}"#), "stopped"),
            (says(400, "", r#"{"code":21211,"message":"The 'To' number +4915112345678 is not a valid phone number.","status":400}"#), "dead"),
            (says(400, "", r#"{"code":21614,"message":"not a mobile number","status":400}"#), "dead"),
            (says(400, "", r#"{"code":21606,"message":"The From phone number is not valid","status":400}"#), "away"),
            (says(400, "", r#"{"code":21703,"message":"The Messaging Service does not contain any phone numbers","status":400}"#), "away"),
            (says(400, "", r#"{"code":21704,"message":"The Messaging Service does not contain any phone numbers capable to send","status":400}"#), "away"),
            (says(400, "", r#"{"code":21705,"message":"The Messaging Service SID is not valid","status":400}"#), "away"),
            (says(400, "", r#"{"code":21408,"message":"Permission to send an SMS has not been enabled for the region","status":400}"#), "failed"),
            (says(401, "", r#"{"code":20003,"message":"Authenticate","status":401}"#), "away"),
            (says(404, "", r#"{"code":20404,"message":"not found","status":404}"#), "away"),
            (says(429, "", r#"{"code":20429,"message":"Too Many Requests","status":429}"#), "away"),
            (says(500, "", ""), "away"),
            (says(503, "", ""), "away"),
        ],
    }
    .hold();
}

#[test]
fn slack_takes_messages_of_bots() {
    Documented {
        channel: "slack",
        provider: "slack://${KEY}?base=BASE",
        from: None,
        message: note("slack", &["C0123456789"], None),
        check: |heard| {
            assert_eq!(heard.line, "POST /api/chat.postMessage HTTP/1.1");
            assert_eq!(heard.header("authorization"), "Bearer key");
            let body = heard.json();
            assert_eq!(body["channel"], "C0123456789");
            assert_eq!([&body["unfurl_links"], &body["unfurl_media"]], [false, false]);
            let text = body["text"].as_str().unwrap();
            assert!(text.starts_with("A &lt;title&gt; &amp; more\n"), "{text}");
            assert!(text.ends_with("\nhttps://example.org"), "{text}");
        },
        takes: (
            says(200, "", r#"{"ok":true,"channel":"C0123456789","ts":"1503435956.000247"}"#),
            Some("1503435956.000247"),
        ),
        answers: vec![
            (says(200, "", r#"{"ok":false,"error":"channel_not_found"}"#), "dead"),
            (says(200, "", r#"{"ok":false,"error":"is_archived"}"#), "dead"),
            (says(200, "", r#"{"ok":false,"error":"invalid_auth"}"#), "away"),
            (says(200, "", r#"{"ok":false,"error":"token_revoked"}"#), "away"),
            (says(200, "", r#"{"ok":false,"error":"not_in_channel"}"#), "failed"),
            (says(200, "", r#"{"ok":false,"error":"rate_limited"}"#), "retry"),
            (says(200, "", r#"{"ok":false,"error":"fatal_error"}"#), "unknown"),
            (
                says(429, "retry-after: 30\r\n", r#"{"ok":false,"error":"ratelimited"}"#),
                "away, with a wait",
            ),
            (says(500, "", r#"{"ok":false,"error":"internal_error"}"#), "away"),
        ],
    }
    .hold();
}

#[test]
fn slack_takes_messages_at_webhooks() {
    Documented {
        channel: "slack",
        provider: "slack://?base=BASE",
        from: None,
        message: note("slack", &["https://hooks.slack.com/services/T0/B0/x"], None),
        check: |heard| {
            assert_eq!(heard.line, "POST /services/T0/B0/x HTTP/1.1");
            assert_eq!(heard.header("authorization"), "");
            let body = heard.json();
            assert!(body["text"].as_str().unwrap().contains("&lt;title&gt;"));
            assert_eq!([&body["unfurl_links"], &body["unfurl_media"]], [false, false]);
        },
        takes: (says(200, "", "ok"), None),
        answers: vec![
            (says(400, "", "invalid_payload"), "failed"),
            (says(403, "", "action_prohibited"), "failed"),
            (says(404, "", "channel_not_found"), "dead"),
            (says(404, "", "no_service"), "dead"),
            (says(410, "", "channel_is_archived"), "dead"),
            (says(429, "retry-after: 1\r\n", ""), "retry, with a wait"),
            (says(500, "", "rollup_error"), "retry"),
        ],
    }
    .hold();
    let ids = note("slack", &["C0123456789"], None);
    let outcome = channel_of("slack", "slack://", None).send(&ids, GO);
    assert_eq!(class(&outcome), "failed", "a webhook has no channels");
}

#[test]
fn discord_takes_messages_at_webhooks_and_of_bots() {
    Documented {
        channel: "discord",
        provider: "discord://?base=BASE",
        from: None,
        message: note("discord", &["https://discord.com/api/webhooks/1/x"], None),
        check: |heard| {
            assert_eq!(heard.line, "POST /api/webhooks/1/x?wait=true HTTP/1.1");
            let body = heard.json();
            assert_eq!(body["allowed_mentions"], json!({"parse": []}));
            let content = body["content"].as_str().unwrap();
            assert!(content.starts_with("A \\<title\\> & more\n"), "{content}");
        },
        takes: (says(200, "", r#"{"id":"1098"}"#), Some("1098")),
        answers: vec![
            (says(400, "", r#"{"code":50006,"message":"Cannot send an empty message"}"#), "failed"),
            (says(401, "", r#"{"code":50027,"message":"Invalid Webhook Token"}"#), "dead"),
            (says(404, "", r#"{"code":10015,"message":"Unknown Webhook"}"#), "dead"),
            (says(429, "", r#"{"message":"You are being rate limited.","retry_after":0.57,"global":false}"#), "retry, with a wait"),
            (says(429, "", r#"{"message":"You are being rate limited.","retry_after":3,"global":true}"#), "away, with a wait"),
            (says(500, "", ""), "retry"),
        ],
    }
    .hold();
    Documented {
        channel: "discord",
        provider: "discord://${KEY}?base=BASE",
        from: None,
        message: note("discord", &["123456789012345678"], None),
        check: |heard| {
            assert_eq!(heard.line, "POST /api/v10/channels/123456789012345678/messages HTTP/1.1");
            assert_eq!(heard.header("authorization"), "Bot key");
        },
        takes: (says(200, "", r#"{"id":"1099"}"#), Some("1099")),
        answers: vec![
            (says(401, "", r#"{"code":0,"message":"401: Unauthorized"}"#), "away"),
            (says(403, "", r#"{"code":50001,"message":"Missing Access"}"#), "dead"),
            (says(404, "", r#"{"code":10003,"message":"Unknown Channel"}"#), "dead"),
        ],
    }
    .hold();
}

#[test]
fn teams_takes_cards() {
    Documented {
        channel: "teams",
        provider: "teams://?base=BASE",
        from: None,
        message: note("teams", &["https://prod-1.logic.azure.com/workflows/w1"], None),
        check: |heard| {
            assert_eq!(heard.line, "POST /workflows/w1 HTTP/1.1");
            let body = heard.json();
            assert_eq!(body["type"], "message");
            let attachment = &body["attachments"][0];
            let kind = "application/vnd.microsoft.card.adaptive";
            assert_eq!(attachment["contentType"], kind);
            let card = &attachment["content"];
            assert_eq!(card["type"], "AdaptiveCard");
            // In a text run nothing is markup.
            assert_eq!(card["body"][0]["inlines"][0]["text"], "A <title> & more");
            assert_eq!(card["actions"][0]["url"], "https://example.org");
        },
        takes: (says(202, "", ""), None),
        answers: vec![
            (says(400, "", r#"{"error":{"code":"InvalidRequestContent"}}"#), "failed"),
            (says(401, "", r#"{"error":{"code":"DirectApiAuthorizationRequired"}}"#), "failed"),
            (says(404, "", r#"{"error":{"code":"WorkflowNotFound"}}"#), "dead"),
            (says(429, "retry-after: 5\r\n", ""), "retry, with a wait"),
            (says(502, "", ""), "unknown"),
        ],
    }
    .hold();
}

#[test]
fn telegram_takes_messages_of_bots() {
    Documented {
        channel: "telegram",
        provider: "telegram://${KEY}?base=BASE",
        from: None,
        message: note("telegram", &["-1001234567890"], None),
        check: |heard| {
            assert_eq!(heard.line, "POST /botkey/sendMessage HTTP/1.1");
            let body = heard.json();
            assert_eq!(body["chat_id"], "-1001234567890");
            assert_eq!(body.get("message_thread_id"), None);
            assert_eq!(body.get("parse_mode"), None);
            let text = body["text"].as_str().unwrap();
            assert!(text.starts_with("A <title> & more\n"), "{text}");
        },
        takes: (
            says(200, "", r#"{"ok":true,"result":{"message_id":42}}"#),
            Some("42"),
        ),
        answers: vec![
            (says(400, "", r#"{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}"#), "dead"),
            (says(400, "", r#"{"ok":false,"error_code":400,"description":"Bad Request: message thread not found"}"#), "dead"),
            (says(400, "", r#"{"ok":false,"error_code":400,"description":"Bad Request: message is too long"}"#), "failed"),
            (says(401, "", r#"{"ok":false,"error_code":401,"description":"Unauthorized"}"#), "away"),
            (says(403, "", r#"{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by the user"}"#), "dead"),
            (says(404, "", r#"{"ok":false,"error_code":404,"description":"Not Found"}"#), "away"),
            (says(429, "", r#"{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 8","parameters":{"retry_after":8}}"#), "retry, with a wait"),
            (says(500, "", ""), "away"),
        ],
    }
    .hold();
}

#[test]
fn a_webhook_is_signed_and_says_what_a_mail_would() {
    Documented {
        channel: "webhook",
        provider: "webhook://${KEY_OF_AT_LEAST_24_BYTES}?base=BASE",
        from: None,
        message: note("webhook", &["https://app.example.net/hooks?x=1"], None),
        check: |heard| {
            use base64::Engine as _;
            use ring::hmac;
            assert_eq!(heard.line, "POST /hooks?x=1 HTTP/1.1");
            assert_eq!(heard.header("webhook-id"), "msg_b1");
            assert_eq!(heard.header("webhook-timestamp"), "1700000000");
            let key = hmac::Key::new(hmac::HMAC_SHA256, b"key_of_at_least_24_bytes");
            let mut signed = b"msg_b1.1700000000.".to_vec();
            signed.extend_from_slice(&heard.body);
            let signature = heard.header("webhook-signature").strip_prefix("v1,").unwrap();
            let standard = base64::engine::general_purpose::STANDARD;
            let signature = standard.decode(signature).unwrap();
            assert!(hmac::verify(&key, &signed, &signature).is_ok());
            let body = heard.json();
            assert_eq!(body["type"], "notification.message");
            assert_eq!(body["timestamp"], "2023-11-14T22:13:20Z");
            let data = &body["data"];
            assert_eq!(data["recipient"], "r1");
            assert_eq!(data["title"], "A <title> & more");
            assert_eq!(data["items"][0]["object"]["id"], "work/1");
            assert_eq!(data["items"][0]["types"], json!(["artwork_published"]));
            assert_eq!(data["items"][0]["reasons"], json!(["named"]));
            assert_eq!(data["items"][0]["body"], Value::Null);
        },
        takes: (says(204, "", ""), None),
        answers: vec![
            // No redirection is followed.
            (says(302, "location: http://127.0.0.1:1/\r\n", ""), "failed"),
            (says(400, "", ""), "failed"),
            (says(404, "", ""), "failed"),
            (says(410, "", ""), "dead"),
            (says(429, "retry-after: 7\r\n", ""), "retry, with a wait"),
            (says(500, "", ""), "retry"),
            (says(504, "", ""), "unknown"),
        ],
    }
    .hold();
}

#[test]
fn a_webhook_reaches_no_private_address() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let channel = channel_of("webhook", "webhook://${KEY_OF_AT_LEAST_24_BYTES}", None);
    for host in ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"] {
        let address = format!("https://{host}:{port}/");
        let outcome =
            channel.send(&note("webhook", &[&address], None), &|| panic!("it was called"));
        assert_eq!(class(&outcome), "failed", "{host}: {outcome:?}");
    }
    let fault = listener.accept().unwrap_err();
    assert_eq!(fault.kind(), std::io::ErrorKind::WouldBlock);
}

/// The public key of the example in RFC 8291, appendix A; its private key is what the secret is.
const VAPID: &str = "vapid://BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8:${VAPID}?subject=mailto:ops@example.org&base=BASE";

#[test]
fn web_push_services_take_sealed_messages() {
    Documented {
        channel: "webpush",
        provider: VAPID,
        from: None,
        message: note("webpush", &[SUBSCRIPTION], None),
        check: |heard| {
            assert_eq!(heard.line, "POST /send/x1 HTTP/1.1");
            assert_eq!(heard.header("content-encoding"), "aes128gcm");
            assert_eq!(heard.header("ttl"), "86400");
            assert_eq!(heard.header("urgency"), "normal");
            assert_eq!(heard.header("topic"), "b1");
            let vapid = heard.header("authorization");
            assert!(vapid.starts_with("vapid t=eyJ"), "{vapid}");
            assert!(vapid.contains(", k=BP4z9KsN6n"), "{vapid}");
            // Salt, record size, the length of a key.
            assert_eq!(heard.body[16..21], [0, 0, 16, 0, 65]);
            let body = String::from_utf8_lossy(&heard.body);
            assert!(!body.contains("title"));
        },
        takes: (says(201, "location: https://push.example.net/m/1\r\n", ""), None),
        answers: vec![
            (says(400, "", ""), "failed"),
            (says(401, "", ""), "away"),
            (says(403, "", r#"{"reason":"BadJwtToken"}"#), "away"),
            (says(404, "", ""), "dead"),
            (says(410, "", ""), "dead"),
            (says(413, "", ""), "failed"),
            (says(429, "retry-after: 60\r\n", ""), "retry, with a wait"),
            (says(500, "", ""), "retry"),
            (says(503, "", ""), "retry"),
        ],
    }
    .hold();
}

#[test]
fn field_5_a_push_service_that_refuses_our_keys_is_away_and_says_why() {
    let server = Server::start();
    let channel = channel_of("webpush", &VAPID.replace("BASE", &server.base), None);
    server.answer(Some(says(403, "", r#"{"reason":"BadJwtToken"}"#)));
    let outcome = channel.send(&note("webpush", &[SUBSCRIPTION], None), GO);
    let expected = Outcome::Away {
        scope: Scope::Destination,
        why: "reply: 403 BadJwtToken".to_owned(),
        after_ms: None,
    };
    assert_eq!(outcome, expected);
}

#[test]
fn field_4_the_code_of_every_answer_of_slack_is_shown() {
    let server = Server::start();
    let channel = channel_of("slack", &format!("slack://${{KEY}}?base={}", server.base), None);
    for (body, why) in [
        (r#"{"ok":false,"error":"not_in_channel"}"#, "reply: 200 not_in_channel"),
        (r#"{"ok":false,"error":"a_code_of_tomorrow"}"#, "reply: 200 a_code_of_tomorrow"),
        (r#"{"ok":false,"error":"invalid_auth"}"#, "reply: 200 invalid_auth"),
        // What is no code may hold an address.
        (r#"{"ok":false,"error":"no <ann@example.org>"}"#, "reply: 200"),
    ] {
        server.answer(Some(says(200, "", body)));
        let outcome = channel.send(&note("slack", &["C0123456789"], None), GO);
        assert_eq!(outcome.words(), Some(why));
    }
}

#[test]
fn field_4_a_topic_of_a_telegram_group_has_an_address() {
    let server = Server::start();
    let channel =
        channel_of("telegram", &format!("telegram://${{KEY}}?base={}", server.base), None);
    for chat in ["-1001234567890", "@art_group"] {
        server.answer(Some(says(200, "", r#"{"ok":true,"result":{"message_id":42}}"#)));
        let outcome = channel.send(&note("telegram", &[&format!("{chat}:45")], None), GO);
        assert_eq!(class(&outcome), "sent");
        let body = server.heard.recv().unwrap().json();
        assert_eq!((&body["chat_id"], &body["message_thread_id"]), (&json!(chat), &json!(45)));
    }
}

#[test]
fn field_14_webhooks_of_slack_take_no_markup() {
    let server = Server::start();
    let provider = format!("slack://?base={}", server.base);
    let channel = channel_of("slack", &provider, None);
    server.answer(Some(says(200, "", "ok")));
    let hook = "https://hooks.slack.com/services/T0/B0/x";
    let outcome = channel.send(&note("slack", &[hook], None), GO);
    assert_eq!(class(&outcome), "sent");
    assert_eq!(server.heard.recv().unwrap().json()["mrkdwn"], false);
}

#[test]
fn field_15_a_group_of_telegram_that_moved_is_followed() {
    let server = Server::start();
    let provider = format!("telegram://${{KEY}}?base={}", server.base);
    let channel = channel_of("telegram", &provider, None);
    let moved = r#"{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a supergroup chat","parameters":{"migrate_to_chat_id":-100987}}"#;
    server.answer(Some(says(400, "", moved)));
    server.answer(Some(says(200, "", r#"{"ok":true,"result":{"message_id":42}}"#)));
    let outcome = channel.send(&note("telegram", &["-4321"], None), GO);
    assert_eq!(class(&outcome), "sent");
    let asked: Vec<_> =
        (0..2).map(|_| server.heard.recv().unwrap().json()["chat_id"].clone()).collect();
    assert_eq!(asked, ["-4321", "-100987"]);
    // One that moves again and again is asked twice, and no more.
    server.answer(Some(says(400, "", moved)));
    server.answer(Some(says(400, "", moved)));
    let outcome = channel.send(&note("telegram", &["-4321"], None), GO);
    assert_eq!(class(&outcome), "failed");
}

#[test]
fn a3_a_call_to_a_strangers_host_is_bounded_as_a_whole() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    // One that answers nothing, and one that drips a header without an end.
    let server = std::thread::spawn(move || {
        use std::io::Write;
        let (silent, _) = listener.accept().unwrap();
        let (mut dripping, _) = listener.accept().unwrap();
        let _line = dripping.write_all(b"HTTP/1.1 200 OK\r\nx: ");
        while dripping.write_all(b"x").is_ok() {
            std::thread::yield_now();
        }
        drop(silent);
    });
    let patience = ServerTimeouts { stranger_ms: 300, ..ServerTimeouts::default() };
    let provider = format!("webhook://${{KEY_OF_AT_LEAST_24_BYTES}}?base={base}");
    let channel = patient_channel_of("webhook", &provider, None, patience);
    let message = note("webhook", &["https://hooks.example/x"], None);
    for _ in 0..2 {
        let outcome = channel.send(&message, GO);
        assert_eq!(class(&outcome), "unknown", "{outcome:?}");
    }
    server.join().unwrap();
}

#[test]
fn a_message_to_several_devices_is_handed_over_once_one_took_it() {
    let server = Server::start();
    let channel = channel_of("webpush", &VAPID.replace("BASE", &server.base), None);
    let other = SUBSCRIPTION.replace("x1", "x2");
    let message = note("webpush", &[SUBSCRIPTION, &other], None);
    for (first, second, expected, dead) in [
        (201, 201, "sent", vec![]),
        (410, 201, "sent", vec![SUBSCRIPTION.to_owned()]),
        (503, 201, "sent", vec![]),
        (201, 410, "sent", vec![other]),
        (410, 503, "retry", vec![]),
        (410, 502, "unknown", vec![]),
        (410, 400, "failed", vec![]),
        (410, 404, "dead", vec![]),
    ] {
        for status in [first, second] {
            server.answer(Some(says(status, "", "")));
        }
        let outcome = channel.send(&message, GO);
        assert_eq!(class(&outcome), expected, "{first} {second}");
        if let Outcome::Sent(receipt) = &outcome {
            let found = receipt.dead.iter().map(|(to, _)| to.clone());
            assert_eq!(found.collect::<Vec<_>>(), dead);
        }
        assert_eq!(server.heard.recv().unwrap().line, "POST /send/x1 HTTP/1.1");
        assert_eq!(server.heard.recv().unwrap().line, "POST /send/x2 HTTP/1.1");
    }
}

mod apns;
mod fcm;
