//! Reports as providers and mail servers make them, about mails that were sent a moment ago.

use std::fs;
use std::time::{Duration, SystemTime};

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use tidings_core::Instant;
use tidings_core::model::{DAY_MS, EMAIL_NO};
use tidings_mail::MailEvent;

use super::*;
use crate::post::Post;

const CONFIG: &str = r#"
[categories.news]
[types.note]
category = "news"
channels = { email = { policy = "now" } }
[feedback]
address = "bounces@example.org"
opened = true
"#;

/// The first day of 2024 at noon, in seconds: the server's clock stands there.
const NOON: &str = "1704110400";

/// A server that has sent one mail, and the mail's tag.
fn sent() -> (Post, String) {
    let post = Post::new(CONFIG);
    post.publish_to_ana("note", "Bob", "Works");
    let mail = String::from_utf8(post.bytes()).unwrap();
    let tag = mail.lines().find_map(|line| line.strip_prefix("X-Tidings-Message: "));
    let tag = tag.unwrap().to_owned();
    (post, tag)
}

fn get(post: &Post, path: &str) -> Value {
    post.change(Method::GET, path, &Value::Null)
}

/// Reads the answers in the time line of the only message, and the reasons of suppressed addresses.
fn state(post: &Post) -> (Vec<String>, Vec<Value>) {
    let messages = get(post, "/v1/messages");
    let id = messages["messages"][0]["id"].as_str().unwrap();
    let message = get(post, &format!("/v1/messages/{id}"));
    let answers = message["attempts"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|attempt| attempt["answer"] != "sent")
        .map(|attempt| {
            let text = |name: &str| attempt[name].as_str().unwrap().to_owned();
            let count = attempt["count"].as_u64().unwrap();
            format!("{} {} {count}x {}", text("provider"), text("answer"), text("reply"))
        });
    let list = get(post, "/v1/suppressions");
    let list = list["suppressions"].as_array().unwrap().iter();
    (answers.collect(), list.map(|of| of["reason"].clone()).collect())
}

fn take(post: &Post, reports: Vec<Reported>) {
    let taken = post.rig.service.take(reports, None);
    post.rig.tokio.block_on(taken).unwrap();
}

/// A bounce as Postfix makes it.
fn bounce(tag: &str, status: &str, said: &str) -> String {
    format!(
        "Return-Path: <>\r\nFrom: MAILER-DAEMON@mx.example.net (Mail Delivery System)\r\n\
         To: bounces+{tag}@example.org\r\nSubject: Undelivered Mail Returned to Sender\r\n\
         Content-Type: multipart/report; report-type=delivery-status; boundary=\"b\"\r\n\r\n\
         --b\r\nContent-Type: text/plain\r\n\r\n<ana@example.org>: host mx.example.net said: {said}\r\n\
         \x20   (in reply to RCPT TO command)\r\n\
         --b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.example.net\r\n\r\n\
         Final-Recipient: rfc822; ana@example.org\r\nAction: failed\r\nStatus: {status}\r\n\
         Diagnostic-Code: smtp; {said}\r\n\r\n--b--\r\n"
    )
}

/// A complaint in the form of RFC 5965, without the reader's address.
fn complaint(tag: &str) -> String {
    format!(
        "From: <abuse@mx.example.net>\r\nTo: <fbl@example.org>\r\nSubject: FW: Works\r\n\
         Content-Type: multipart/report; report-type=feedback-report; boundary=\"b\"\r\n\r\n\
         --b\r\nContent-Type: text/plain\r\n\r\nThis is an abuse report.\r\n\
         --b\r\nContent-Type: message/feedback-report\r\n\r\nFeedback-Type: abuse\r\nVersion: 1\r\n\
         User-Agent: SomeGenerator/1.0\r\n\r\n\
         --b\r\nContent-Type: message/rfc822\r\n\r\nFrom: art@example.org\r\nX-Tidings-Message: {tag}\r\n\r\nx\r\n--b--\r\n"
    )
}

#[test]
fn mails_that_come_back_are_taken_in() {
    let (post, tag) = sent();
    let home = tempfile::tempdir().unwrap();
    for part in ["new", "cur", "tmp"] {
        fs::create_dir(home.path().join(part)).unwrap();
    }
    let put = |name: &str, mail: &str| fs::write(home.path().join("new").join(name), mail).unwrap();
    let take_in = || {
        let taken = maildir::take_in(&post.rig.service, home.path());
        post.rig.tokio.block_on(taken).unwrap()
    };
    put("1", &bounce(&tag, "5.2.2", "552 5.2.2 Mailbox full"));
    put("2", "Subject: hello\r\n\r\nnothing\r\n");
    // Not a mail, and nothing to be taken in.
    fs::create_dir(home.path().join("new/directory")).unwrap();
    put("3", &complaint(&tag));
    // The server's clock stands, so the files are older than it.
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(NOON.parse().unwrap());
    let written = |name: &str, seconds_ago: u64| {
        let file = fs::File::options().write(true).open(home.path().join("new").join(name));
        let at = now - Duration::from_secs(seconds_ago);
        file.unwrap().set_modified(at).unwrap();
    };
    for name in ["1", "2", "3"] {
        written(name, 60);
    }
    assert_eq!(take_in(), 3);
    let answers = ["mail bounced 1x 552 5.2.2", "mail complained 1x "];
    assert_eq!(state(&post), (answers.map(str::to_owned).into(), vec![json!("complaint")]));
    let mut left: Vec<String> = fs::read_dir(home.path().join("cur"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["1:2,S", "2:2,S", "3:2,S"]);
    assert_eq!(take_in(), 0);
    // As after a stop before they were put away.
    for name in ["1", "2", "3"] {
        let (from, to) = (format!("cur/{name}:2,S"), format!("new/{name}"));
        fs::rename(home.path().join(from), home.path().join(to)).unwrap();
    }
    assert_eq!(take_in(), 3);
    assert_eq!(state(&post), (answers.map(str::to_owned).into(), vec![json!("complaint")]));
    // Another mail that says the same.
    put("4", &bounce(&tag, "5.2.2", "552 5.2.2 Mailbox full"));
    written("4", 50);
    assert_eq!(take_in(), 1);
    assert_eq!(state(&post).0.len(), 3);
}

#[test]
fn an_address_that_does_not_exist_hears_nothing_any_more() {
    let (post, tag) = sent();
    let mail = bounce(&tag, "5.1.1", "550 5.1.1 User unknown");
    let again = |seconds_ago: i64| {
        let written = post.rig.service.now().plus_ms(-1_000 * seconds_ago);
        take(&post, maildir::reports(mail.as_bytes(), Some(written)));
    };
    again(60);
    // Another mail that says the same.
    again(50);
    let answers = vec!["mail bounced 2x 550 5.1.1".to_owned()];
    assert_eq!(state(&post), (answers, vec![json!("bounce")]));
    let log = get(&post, "/v1/admin/log?action=suppressed");
    let lines = log["log"].as_array().unwrap();
    assert!(!lines.is_empty() && !log.to_string().contains("example.org"), "{log}");
    for line in lines {
        assert_eq!(line["by"], json!({"kind": "provider", "id": "mail"}));
        assert_eq!((&line["via"], &line["subject"]["kind"]), (&json!("api"), &json!("address")));
    }
    post.publish_to_ana("note", "Bob", "More");
    let suppressed = || get(&post, "/v1/messages?state=suppressed")["messages"].clone();
    while suppressed() == json!([]) {
        std::thread::yield_now();
    }
    assert_eq!(suppressed()[0]["reason"], "suppressed");
}

#[test]
fn a6_words_about_another_address_suppress_nobody() {
    let (post, tag) = sent();
    let words = |address: &str| {
        format!(
            "From: MAILER-DAEMON@mx.example.net\r\nTo: bounces+{tag}@example.org\r\nSubject: failure notice\r\n\r\n\
             <{address}>:\r\n192.0.2.1 does not like recipient.\r\nRemote host said: 550 5.1.1 user unknown\r\n"
        )
    };
    let hear = |address: &str| {
        take(&post, maildir::reports(words(address).as_bytes(), Some(post.rig.service.now())));
        state(&post)
    };
    let answers = vec!["mail bounced 1x 550 5.1.1".to_owned()];
    assert_eq!(hear("bob@example.org"), (answers, Vec::new()));
    assert_eq!(hear("Ana@Example.org").1, [json!("bounce")]);
}

#[test]
fn mail_3_bounces_of_five_days_suppress_for_a_month() {
    let (post, tag) = sent();
    let now = post.rig.service.now();
    let hear = |said: &str, days_ago: i64| {
        let mail = bounce(&tag, "5.0.0", said);
        let written = now.plus_ms(-days_ago * DAY_MS);
        take(&post, maildir::reports(mail.as_bytes(), Some(written)));
    };
    for days_ago in [6, 5, 4, 3] {
        hear("552 5.2.2 Mailbox full", days_ago);
    }
    // What is about us counts against nobody.
    hear("550 5.7.1 Client host [192.0.2.1] blocked using zen.spamhaus.org", 2);
    assert_eq!(state(&post).1, Vec::<Value>::new());
    // Nor does what came before an arrival.
    let arrived = Reported {
        event: MailEvent::Delivered,
        channel: EMAIL_NO,
        by: "mail",
        hints: vec![tag.clone()],
        words: String::new(),
        at: Some(now.plus_ms(-5 * DAY_MS)),
        address: None,
        named: Vec::new(),
    };
    take(&post, vec![arrived]);
    for days_ago in [2, 1] {
        hear("552 5.2.2 Mailbox full", days_ago);
    }
    assert_eq!(state(&post).1, Vec::<Value>::new());
    hear("552 5.2.2 Mailbox full", 0);
    let list = get(&post, "/v1/suppressions");
    let listed = &list["suppressions"][0];
    assert_eq!(listed["reason"], "bounce");
    let end = now.plus_ms(30 * DAY_MS).to_string();
    assert_eq!(listed["expires_at"], end);
}

#[test]
fn an_address_that_was_left_behind_is_not_suppressed() {
    let (post, tag) = sent();
    let moved = json!({"email": "ana@example.net"});
    post.change(Method::PUT, "/v1/recipients/ana", &moved);
    let mail = bounce(&tag, "5.1.1", "550 5.1.1 User unknown");
    take(&post, maildir::reports(mail.as_bytes(), None));
    let (answers, suppressed) = state(&post);
    assert_eq!((answers.len(), suppressed), (1, Vec::new()));
}

#[test]
fn a_report_without_a_tag_of_ours_is_counted_and_nothing_else() {
    let (post, tag) = sent();
    let forged = format!("{}0", &tag[..tag.len() - 1]);
    for forged in [forged.as_str(), ""] {
        let mail = bounce(forged, "5.1.1", "550 5.1.1 User unknown");
        take(&post, maildir::reports(mail.as_bytes(), None));
    }
    let (answers, suppressed) = state(&post);
    // One time in sixteen the last digit is a 0 already.
    let is_forged = !tag.ends_with('0');
    assert_eq!(answers.is_empty() && suppressed.is_empty(), is_forged);
    let metrics = post.rig.send(Method::GET, "/metrics", &[], "");
    let metrics = String::from_utf8(metrics.bytes).unwrap();
    let counted = format!("kind=\"unknown_message\"}} {}", 1 + u8::from(is_forged));
    assert!(metrics.contains(&counted), "{metrics}");
}

/// A call with these headers.
fn heard<T>(
    headers: &[(&'static str, String)],
    body: &str,
    read: impl FnOnce(&Call<'_>) -> T,
) -> T {
    let headers: HeaderMap = headers
        .iter()
        .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_str(value).unwrap()))
        .collect();
    read(&Call {
        headers: &headers,
        body: &Bytes::from(body.to_owned()),
        now: Instant::parse("2024-01-01T12:00:00Z").unwrap(),
    })
}

#[test]
fn calls_of_sendgrid_are_signed() {
    let (post, tag) = sent();
    let random = SystemRandom::new();
    let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
    let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap();
    // What stands before the point in a key of P-256 (RFC 5480).
    let head = STANDARD.decode("MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE").unwrap();
    let point = &pair.public_key().as_ref()[1..];
    let key = STANDARD.encode([&head[..], point].concat());
    let body = json!([
        {"event": "processed", "tidings_message": tag},
        {"event": "open", "tidings_message": tag},
        {"event": "click", "tidings_message": tag},
        {"event": "bounce", "type": "bounce", "status": "5.1.1", "reason": "550 5.1.1 no such user", "tidings_message": tag},
        {"event": "delivered"},
    ])
    .to_string();
    let signature = pair.sign(&random, format!("{NOON}{body}").as_bytes()).unwrap();
    let headers = |time: &str| {
        [
            ("x-twilio-email-event-webhook-timestamp", time.to_owned()),
            ("x-twilio-email-event-webhook-signature", STANDARD.encode(signature.as_ref())),
        ]
    };
    let reports = heard(&headers(NOON), &body, |call| sendgrid::read(call, &key)).unwrap();
    take(&post, reports);
    let answers = ["sendgrid opened 1x ", "sendgrid bounced 1x 5.1.1"];
    assert_eq!(state(&post), (answers.map(str::to_owned).into(), vec![json!("bounce")]));
    for (time, body, key) in [
        ("1704110401", &*body, &*key),
        ("1604110400", &body, &key),
        (NOON, "[]", &key),
        (NOON, &body, "AAAA"),
    ] {
        let refused = heard(&headers(time), body, |call| sendgrid::read(call, key));
        assert_eq!(refused.unwrap_err().code, Code::Unauthorized);
    }
    let refused = heard(&[], &body, |call| sendgrid::read(call, &key));
    assert_eq!(refused.unwrap_err().code, Code::Unauthorized);
}

#[test]
fn calls_of_mailgun_are_signed() {
    let (post, tag) = sent();
    let key = "key-1";
    let signed: String = hmac::sign(
        &hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes()),
        format!("{NOON}t0").as_bytes(),
    )
    .as_ref()
    .iter()
    .map(|byte| format!("{byte:02x}"))
    .collect();
    let body = |signature: &str, event: Value| {
        let signature = json!({"timestamp": NOON, "token": "t0", "signature": signature});
        json!({"signature": signature, "event-data": event}).to_string()
    };
    let failed = |severity: &str, message: &str| {
        json!({
            "event": "failed", "severity": severity,
            "delivery-status": {"code": 550, "message": message, "description": ""},
            "user-variables": {"tidings_message": tag},
        })
    };
    for event in [failed("temporary", "4.2.2 full"), failed("permanent", "5.1.1 No such user")] {
        let body = body(&signed, event);
        take(&post, heard(&[], &body, |call| mailgun::read(call, key)).unwrap());
    }
    let answers = ["mailgun delayed 1x 550 4.2.2", "mailgun bounced 1x 550 5.1.1"];
    assert_eq!(state(&post), (answers.map(str::to_owned).into(), vec![json!("bounce")]));
    for signature in ["", "00", "é", &signed.replace('a', "b").replace('0', "1")] {
        let body = body(signature, failed("permanent", ""));
        let refused = heard(&[], &body, |call| mailgun::read(call, key));
        assert_eq!(refused.unwrap_err().code, Code::Unauthorized, "{signature}");
    }
}

/// If the signature is in the body, any caller has it read.
#[test]
fn a1_a_call_of_any_depth_is_refused() {
    let login = [("authorization", format!("Basic {}", STANDARD.encode("me:secret")))];
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
        for levels in [100, 200_000] {
            let deep = format!("{}1{}", open.repeat(levels), close.repeat(levels));
            let bodies = ["signature", "event-data", "Metadata", "x", "Message"]
                .map(|name| format!("{{\"{name}\":{deep}}}"));
            for body in bodies.iter().chain([&deep]) {
                let taken = heard(&[], body, |call| mailgun::read(call, "k"));
                assert!(taken.is_err(), "{levels} {open}");
                // What no field names is passed over.
                let _ = heard(&login, body, of_postmark);
            }
        }
    }
}

/// The reports of a call of Postmark, whose login is checked first.
fn of_postmark(call: &Call<'_>) -> Result<Vec<Reported>, Problem> {
    postmark::check(call.headers, "me:secret")?;
    postmark::read(call)
}

#[test]
fn calls_of_postmark_have_a_login() {
    let (post, tag) = sent();
    let login = |text: &str| [("authorization", format!("Basic {}", STANDARD.encode(text)))];
    let line = |record: &str, kind: Option<&str>| {
        json!({"RecordType": record, "Type": kind, "Metadata": {"tidings_message": tag}})
            .to_string()
    };
    for (record, kind) in [("Delivery", None), ("SpamComplaint", Some("SpamComplaint"))] {
        let body = line(record, kind);
        let reports = heard(&login("me:secret"), &body, of_postmark);
        take(&post, reports.unwrap());
    }
    let answers = ["postmark delivered 1x ", "postmark complained 1x SpamComplaint"];
    assert_eq!(state(&post), (answers.map(str::to_owned).into(), vec![json!("complaint")]));
    let body = line("Delivery", None);
    let refused = heard(&login("me:secre"), &body, of_postmark);
    assert_eq!(refused.unwrap_err().code, Code::Unauthorized);
    let odd = heard(&login("me:secret"), "{", of_postmark);
    assert_eq!(odd.unwrap_err().code, Code::InvalidBody);
}

#[test]
fn a_provider_that_is_not_configured_has_no_call() {
    let (post, _) = sent();
    for provider in ["sendgrid", "ses", "nobody"] {
        let path = format!("/feedback/{provider}");
        let answer = post.rig.call(Method::POST, &path, &json!([]));
        assert_eq!(answer.status, StatusCode::NOT_FOUND);
    }
}

mod opted;
mod sns;

#[test]
fn field_4_stop_and_start_of_text_messages_are_heard() {
    let call = |token: &str, url: &str, fields: &[(&str, &str)]| {
        let fields: Vec<(String, String)> =
            fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(&fields).finish();
        let mut headers = HeaderMap::new();
        let signature = twilio::signed(token, url, &fields);
        headers.insert("x-twilio-signature", HeaderValue::from_str(&signature).unwrap());
        headers.insert("host", HeaderValue::from_static("tidings.example.org"));
        (headers, Bytes::from(body))
    };
    let heard = |(headers, body): &(HeaderMap, Bytes)| {
        let now = Instant(NOON.parse::<i64>().unwrap() * 1_000);
        let call = Call { headers, body, now };
        twilio::read(&call, "token", Some("https://art.example/notes"))
    };
    let url = "https://art.example/notes/feedback/twilio";
    let of = |body: &str| vec![("Body", body.to_owned()), ("From", "+4915112345678".to_owned())];
    let said = |fields: &[(&str, String)]| {
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (*name, &**value)).collect();
        heard(&call("token", url, &fields)).unwrap().pop().map(|report| report.event)
    };
    assert_eq!(said(&of(" stop ")), Some(MailEvent::OptedOut));
    assert_eq!(said(&of("Start")), Some(MailEvent::OptedIn));
    assert_eq!(said(&of("UNSTOP")), Some(MailEvent::OptedIn));
    assert_eq!(said(&of("please start later")), None);
    // Twilio's own judgement, where it gives one.
    let judged = [of("arret"), vec![("OptOutType", "STOP".to_owned())]].concat();
    assert_eq!(said(&judged), Some(MailEvent::OptedOut));
    let other = [("Body", "STOP".to_owned()), ("From", "whatsapp:+4915112345678".to_owned())];
    assert_eq!(said(&other), None);
    // Signed for another address, or by another token.
    let fields = [("Body", "START"), ("From", "+4915112345678")];
    for (token, url) in [("other", url), ("token", "https://evil.example/feedback/twilio")] {
        assert!(heard(&call(token, url, &fields)).is_err(), "{token} {url}");
    }
    // The address that was called, where no other is known.
    assert!(heard(&call("token", "https://tidings.example.org/feedback/twilio", &fields)).is_ok());

    let (post, _) = sent();
    let path = "/v1/suppressions/sms/%2B4915112345678";
    let suppressed = || post.rig.send(Method::GET, path, &[], String::new()).status;
    let take = |body| {
        let fields = [("Body", body), ("From", "+4915112345678")];
        take(&post, heard(&call("token", url, &fields)).unwrap());
    };
    take("STOP");
    assert_eq!(get(&post, path)["reason"], "stop");
    take("START");
    assert_eq!(suppressed(), StatusCode::NOT_FOUND);
}

#[test]
fn a_call_of_twilio_that_comes_again_within_a_day_changes_nothing() {
    let (post, _) = sent();
    let path = "/v1/suppressions/sms/%2B4915112345678";
    let is_stopped = || post.rig.send(Method::GET, path, &[], String::new()).status.is_success();
    let take = |fields: &[(&str, &str)], signature: &'static str| {
        post.rig.clock.set(post.rig.service.now().plus_ms(1_000));
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let mut headers = HeaderMap::new();
        headers.insert("x-twilio-signature", HeaderValue::from_static(signature));
        let (body, now) = (Bytes::from(body), post.rig.service.now());
        let once = twilio::identity(&Call { headers: &headers, body: &body, now });
        let event = if fields[0].1 == "STOP" { MailEvent::OptedOut } else { MailEvent::OptedIn };
        let report = Reported {
            event,
            channel: tidings_core::model::channel_kind("sms").unwrap().number,
            by: "twilio",
            hints: Vec::new(),
            words: fields[0].1.to_owned(),
            at: None,
            address: Some("+4915112345678".to_owned()),
            named: Vec::new(),
        };
        let taken = post.rig.service.take(vec![report], Some(once));
        post.rig.tokio.block_on(taken).unwrap();
    };
    let stop = |sid| [("Body", "STOP"), ("MessageSid", sid)];
    let start = |sid| [("Body", "START"), ("MessageSid", sid)];
    take(&stop("SM1"), "a");
    take(&start("SM2"), "b");
    assert!(!is_stopped());
    take(&stop("SM1"), "a");
    assert!(!is_stopped(), "caught and sent again");
    take(&stop("SM3"), "c");
    assert!(is_stopped());
    take(&start("SM2"), "b");
    assert!(is_stopped(), "caught and sent again");
    // Calls without an id are known by their signature.
    take(&[("Body", "START")], "d");
    assert!(!is_stopped());
    take(&stop("SM4"), "e");
    take(&[("Body", "START")], "d");
    assert!(is_stopped());
}
