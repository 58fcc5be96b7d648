//! Bodies that each operation takes, and those that it refuses, with the words.

use tidings_core::model::{
    Cancelled, EMAIL_NO, Marked, Mode, PreferenceScope, RecipientState, View,
};
use tidings_core::{Day, Instant, Object, Rules};

use super::*;

mod locales;
mod recipients;
mod tenants;

const CONFIG: &str = r#"
[categories.art]
[digests.weekly]
every = "week"
on = "mon"
[types.work]
category = "art"
channels.inbox = { policy = "now" }
channels.email = { policy = "digest", digest = "weekly" }
[types.note]
category = "art"
channels.inbox = { policy = "now" }
"#;

fn rules() -> Rules {
    tidings_config::parse(CONFIG, "t.toml").unwrap()
}

fn read(op: &str, body: &str) -> Result<Command, Fault> {
    let comma = if body.is_empty() { "" } else { "," };
    let line = format!(r#"{{"at":"2024-01-01T00:00:00Z","op":"{op}"{comma}{body}}}"#);
    let timed = read_line(&rules(), 7, line.as_bytes())?;
    assert_eq!(timed.at.to_string(), "2024-01-01T00:00:00Z");
    Ok(timed.command)
}

#[track_caller]
fn refused(op: &str, body: &str, reason: &str, hint: &str) {
    let fault = read(op, body).expect_err(body);
    assert!(fault.reason.contains(reason), "{fault:?} should say {reason}");
    assert!(fault.hint.contains(hint), "{fault:?} should hint at {hint}");
    assert_eq!(fault.line, Some(7));
}

fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

#[test]
fn actors_and_targets_are_ids_or_objects() {
    let body = r#""id":"e","type":"work","object":{"id":"o"},"to":{},"actor":{"id":"a","title":"Ann","url":"/ann"},"target":"t""#;
    let Ok(Command::Publish(event)) = read("publish", body) else { panic!() };
    let actor = event.actor.unwrap();
    assert_eq!(
        (actor.id, actor.title.as_ref().map(|title| title.first()), actor.url.as_deref()),
        (id("a"), Some("Ann"), Some("/ann"))
    );
    assert_eq!(event.target, Some(Object::bare(id("t"))));
    for (role, reason, hint) in [
        (r#""actor":7"#, "`actor` must be an id or an object, got a number", "Example"),
        (r#""actor":{"title":"Ann"}"#, "`actor.id` is missing", "`actor.id`"),
        (r#""target":"""#, "`target`", "1 to 256 bytes"),
        (
            r#""target":{"id":"t","notifiable":true}"#,
            "unknown field `notifiable` in `target`",
            "known: `id`",
        ),
        (
            r#""target":{"id":"t","url":"javascript:alert(1)"}"#,
            "`target.url` = `javascript:alert(1)` has a scheme other than",
            "`https://`",
        ),
    ] {
        let body = format!(r#""id":"e","type":"work","object":{{"id":"o"}},"to":{{}},{role}"#);
        refused("publish", &body, reason, hint);
    }
}

#[test]
fn texts_have_bounds() {
    let long = |bytes: usize| "x".repeat(bytes);
    let too_long = format!(r#""id":"r","name":"{}""#, long(1025));
    refused("recipient", &too_long, "`name` has 1025 bytes, more than 1024", "shorter");
    let name = format!(r#""id":"r","name":"{}""#, long(1024));
    assert!(read("recipient", &name).is_ok());
    for (field, most) in [("title", 1024), ("url", 2048), ("image", 2048)] {
        let object = |bytes: usize| format!(r#""id":"o","{field}":"{}""#, long(bytes));
        assert!(read("object", &object(most)).is_ok(), "{field}");
        let unit = if field == "title" { "" } else { " as a link" };
        let reason = format!("`{field}` has {} bytes{unit}, more than {most}", most + 1);
        refused("object", &object(most + 1), &reason, "shorter");
    }
}

#[test]
fn body_of_a_publish_is_read_and_bounded() {
    let with = |bytes: usize| {
        let body = "x".repeat(bytes);
        format!(r#""type":"note","object":{{"id":"o"}},"to":{{}},"body":"{body}""#)
    };
    let Ok(Command::Publish(event)) = read("publish", &with(2048)) else { panic!() };
    assert_eq!(event.body.map(|body| body.first().len()), Some(2048));
    refused("publish", &with(2049), "`body` has 2049 bytes, more than 2048", "shorter");
}

#[test]
fn bad_recipients_are_refused() {
    for (body, reason, hint) in [
        ("", "`id` is missing", "add `id`"),
        (r#""idd":"r""#, "unknown field `idd`", "did you mean `id`?"),
        (r#""id":null"#, "`id` is missing", ""),
        (r#""id":7"#, "`id` must be a string, got a number", ""),
        (r#""id":"""#, "at least one byte", ""),
        (r#""id":"a\u0000""#, "control", ""),
        (r#""id":"r","tz":"Mars""#, "unknown time zone `Mars`", ""),
        (r#""id":"r","tz":"europe/paris""#, "unknown time zone", "Europe/Paris"),
        (r#""id":"r","email":"""#, "must be an address", "null"),
        (r#""id":"r","email":"a@b\nBcc: c@d""#, "must be an address", ""),
        (r#""id":"r","locale":"not a tag""#, "must be a locale", ""),
        (r#""id":"r","lat":1"#, "given together", ""),
        (r#""id":"r","lat":1,"lon":null"#, "given together", ""),
        (r#""id":"r","lat":90.01,"lon":0"#, "`lat` must be a number from", "-90 to 90"),
        (r#""id":"r","lat":0,"lon":-181"#, "`lon` must be a number from", "-180 to 180"),
        (r#""id":"r","lat":"0","lon":0"#, "a number, got a string", ""),
        (r#""id":"r","state":"gone""#, "unknown state", "disabled"),
        (r#""id":"r","state":null"#, "can't be null", "active"),
        (r#""id":"r","emial":"a@b""#, "unknown field `emial`", "email"),
    ] {
        refused("recipient", body, reason, hint);
    }
}

#[test]
fn subscriptions_are_read() {
    let body = r#""recipient":"r","topic":"artist/42""#;
    let (recipient, topic) = (id("r"), id("artist/42"));
    assert_eq!(
        read("subscribe", body),
        Ok(Command::Subscribe { tenant: None, recipient: recipient.clone(), topic: topic.clone() })
    );
    assert_eq!(
        read("unsubscribe", body),
        Ok(Command::Unsubscribe { tenant: None, recipient, topic })
    );
    refused("subscribe", r#""recipient":"r""#, "`topic` is missing", "");
    refused("subscribe", r#""recipient":"r","topics":"x""#, "unknown field", "topic");
}

#[test]
fn a_publish_is_read_whole() {
    let body = r#""id":"e","type":"work","actor":"a","target":"t","cancellation_key":"k",
        "object":{"id":"o","title":"T","url":"u","image":null},"data":{"n":1,"l":[null]},"score":-2.5,
        "to":{"recipients":["r","s"],"topics":["x"],"near":{"lat":1,"lon":2,"km":20038},
        "everyone":true},"channels":["email","email"],"occurred_at":"2024-01-01T00:00:00.5Z",
        "deliver_at":"2024-01-01T01:00:00+01:00","expires_at":"2025-01-01T00:00:00Z""#;
    let Ok(Command::Publish(event)) = read("publish", &body.replace('\n', " ")) else { panic!() };
    assert_eq!((event.id.as_str(), event.event_type.as_str()), ("e", "work"));
    let bare = |text: &str| Some(Object::bare(id(text)));
    assert_eq!((event.actor, event.target), (bare("a"), bare("t")));
    assert_eq!((event.object.title, event.object.image), (Some("T".into()), None));
    assert_eq!(event.object.notifiable, None);
    assert_eq!(event.data.map(|data| data.len()), Some(2));
    assert_eq!(Some(event.score), tidings_core::model::Score::new(-2.5));
    assert_eq!(event.to.recipients, [id("r"), id("s")]);
    assert_eq!(event.to.near.len(), 1);
    assert!((event.to.near[0].km - 20_038.0).abs() < 1e-9);
    assert!(event.to.everyone);
    assert_eq!(event.channels, Some(vec!["email".to_owned()]));
    assert_eq!(event.occurred_at.map(|at| at.0 % 1000), Some(500));
    assert_eq!(event.deliver_at, Some(Instant::parse("2024-01-01T00:00:00Z").unwrap()));
    assert_eq!(event.cancellation_key, Some(id("k")));
}

#[test]
fn a_publish_without_id_is_named_after_its_line() {
    let body = r#""type":"note","object":{"id":"o"},"to":{}"#;
    let Ok(Command::Publish(event)) = read("publish", body) else { panic!() };
    assert_eq!(event.id.as_str(), "line-7");
    assert_eq!(event.to, tidings_core::model::Audience::default());
}

#[test]
fn bad_publishes_are_refused() {
    let with = |extra: &str| format!(r#""type":"note","object":{{"id":"o"}},"to":{{}},{extra}"#);
    for (extra, reason, hint) in [
        (r#""channels":["email"]"#, "`note` has no channel `email`", "inbox"),
        (r#""channels":["imbox"]"#, "no channel `imbox`", "did you mean `inbox`"),
        (r#""channels":[]"#, "empty", "leave it out"),
        (r#""channels":[1]"#, "`channels[0]` must be a string, got a number", ""),
        (r#""channels":"inbox""#, "an array, got a string", ""),
        (r#""data":[]"#, "`data` must be an object, got an array", ""),
        (r#""notifiable":false"#, "unknown field `notifiable`", ""),
        (r#""typ":"x""#, "unknown field `typ`", "did you mean `type`"),
        (r#""to":{}"#, "duplicate key `to`", "keep one"),
    ] {
        refused("publish", &with(extra), reason, hint);
    }
    let to = |to: &str| format!(r#""type":"note","object":{{"id":"o"}},"to":{{{to}}}"#);
    for (audience, reason) in [
        (r#""everybody":true"#, "unknown field `everybody` in `to`"),
        (r#""everyone":1"#, "`to.everyone` must be a boolean"),
        (r#""recipients":"r""#, "`to.recipients` must be an array"),
        (
            r#""recipients":[""]"#,
            "`to.recipients[0]` must be an id, got ``: an id must have at least one byte",
        ),
        (r#""topics":["a",1]"#, "`to.topics[1]` must be a string, got a number"),
        (r#""near":{"lat":0,"lon":0}"#, "`to.near.km` is missing"),
        (
            r#""near":{"lat":0,"lon":0,"km":-1}"#,
            "`to.near.km` must be a number from 0 to 20038, got -1",
        ),
        (
            r#""near":{"lat":0,"lon":0,"km":20039}"#,
            "`to.near.km` must be a number from 0 to 20038, got 20039",
        ),
        (r#""near":{"lat":0,"lng":0,"km":1}"#, "unknown field `lng` in `to.near`"),
    ] {
        refused("publish", &to(audience), reason, "");
    }
    refused("publish", r#""object":{"id":"o"},"to":{}"#, "`type` is missing", "");
    refused("publish", r#""type":"note","to":{}"#, "`object` is missing", "");
    refused("publish", r#""type":"note","object":{},"to":{}"#, "`object.id` is missing", "");
    refused("publish", r#""type":"note","object":"o","to":{}"#, "an object, got a string", "");
    refused("publish", r#""type":"note","object":{"id":"o"}"#, "`to` is missing", "");
}

#[test]
fn bad_schedules_are_refused() {
    let with = |extra: &str| format!(r#""type":"note","object":{{"id":"o"}},"to":{{}},{extra}"#);
    for (extra, reason, hint) in [
        (r#""deliver_at":"tomorrow""#, "must be a time, got `tomorrow`", "RFC 3339"),
        (r#""deliver_at":"2024-01-01T00:00:00""#, "must be a time", "offset"),
        (r#""delay":"soon""#, "`delay` must be a duration, got `soon`", "90s"),
        (
            r#""deliver_local":"2024-01-01T09:00Z""#,
            "`deliver_local` must be a time without a zone",
            "2024-05-01T09:00",
        ),
        (
            r#""delay":"1h","deliver_at":"2024-01-01T00:00:00Z""#,
            "`deliver_at` and `delay` are mutually exclusive",
            "give one of them",
        ),
    ] {
        refused("publish", &with(extra), reason, hint);
    }
}

#[test]
fn objects_and_retractions_are_read() {
    let Ok(Command::Object(object)) = read("object", r#""id":"o","notifiable":false"#) else {
        panic!()
    };
    assert_eq!((object.notifiable, object.title), (Some(false), None));
    assert_eq!(read("retract", r#""id":"o""#), Ok(Command::Retract { object: id("o") }));
    refused("object", r#""id":"o","notifiable":"no""#, "a boolean, got a string", "");
    refused("retract", r#""object":"o""#, "unknown field `object`", "");
}

#[test]
fn marks_speak_of_exactly_one_thing() {
    let mark = |what, kind| Ok(Command::Mark { view: View::All, recipient: id("r"), what, kind });
    let up_to = Marked::UpTo(Instant(0));
    assert_eq!(
        read("seen", r#""recipient":"r","up_to":"1970-01-01T00:00:00Z","event":null"#),
        mark(up_to, MarkKind::Seen)
    );
    assert_eq!(
        read("read", r#""recipient":"r","object":"o""#),
        mark(Marked::Object(id("o")), MarkKind::Read)
    );
    assert_eq!(
        read("seen", r#""recipient":"r","event":"e""#),
        mark(Marked::Event(id("e")), MarkKind::Seen)
    );
    refused("seen", r#""recipient":"r""#, "is missing", "exactly one of");
    refused(
        "read",
        r#""recipient":"r","object":"o","event":"e""#,
        "mutually exclusive",
        "exactly one",
    );
}

#[test]
fn what_is_cancelled_flushed_and_forgotten_is_read() {
    assert_eq!(
        read("cancel", r#""event":"e""#),
        Ok(Command::Cancel { what: Cancelled::Event(id("e")), tenant: None })
    );
    assert_eq!(
        read("cancel", r#""cancellation_key":"k""#),
        Ok(Command::Cancel { what: Cancelled::Key(id("k")), tenant: None })
    );
    refused("cancel", "", "is missing", "cancellation_key");
    assert_eq!(
        read("withdraw", r#""event":"e""#),
        Ok(Command::Withdraw { what: Cancelled::Event(id("e")), tenant: None })
    );
    refused("withdraw", "", "is missing", "cancellation_key");
    let flush = |channel: Option<&str>, lane: Option<&str>| {
        let (channel, lane) = (channel.map(str::to_owned), lane.map(str::to_owned));
        Ok(Command::Flush { view: View::All, recipient: id("r"), channel, lane, key: None })
    };
    assert_eq!(read("flush", r#""recipient":"r""#), flush(None, None));
    assert_eq!(
        read("flush", r#""recipient":"r","channel":"email","lane":"digest:weekly""#),
        flush(Some("email"), Some("digest:weekly"))
    );
    refused("flush", r#""recipient":"r","channel":"pigeon""#, "unknown channel", "inbox");
    assert_eq!(read("forget", r#""before":"1970-01-02""#), Ok(Command::Forget { before: Day(1) }));
    refused("forget", r#""before":"1970-02-30""#, "must be a date", "");
}

#[test]
fn preferences_name_one_scope_and_a_known_mode() {
    let preference = |body: &str| read("preference", &format!(r#""recipient":"r",{body}"#));
    let Ok(Command::Preference { scope, channel, mode, .. }) =
        preference(r#""type":"work","channel":"email","mode":"weekly""#)
    else {
        panic!()
    };
    assert_eq!(scope, PreferenceScope::Type("work".to_owned()));
    assert_eq!((channel.as_str(), mode), ("email", Mode::Digest("weekly".to_owned())));
    for (word, expected) in
        [("never", Mode::Never), ("immediate", Mode::Immediate), ("default", Mode::Default)]
    {
        let body = format!(r#""category":"art","channel":"inbox","mode":"{word}""#);
        let Ok(Command::Preference { mode, .. }) = preference(&body) else { panic!() };
        assert_eq!(mode, expected);
    }
    for (body, reason, hint) in [
        (r#""channel":"email","mode":"never""#, "is missing", "exactly one"),
        (
            r#""type":"work","category":"art","channel":"email","mode":"never""#,
            "mutually exclusive",
            "",
        ),
        (r#""type":"wrok","channel":"email","mode":"never""#, "unknown type", "`work`"),
        (r#""category":"arts","channel":"email","mode":"never""#, "unknown category", "`art`"),
        (r#""type":"work","channel":"pigeon","mode":"never""#, "unknown channel", ""),
        (r#""type":"work","channel":"email","mode":"daily""#, "unknown mode", "`weekly`"),
        (r#""type":"work","channel":"inbox","mode":"weekly""#, "can't have a digest", "immediate"),
        (r#""type":"work","channel":"email""#, "`mode` is missing", ""),
        (r#""type":"work","mode":"never""#, "`channel` is missing", ""),
        (r#""digest":"weekly","on":"fri""#, "does not let recipients choose", "`choose`"),
    ] {
        refused("preference", &format!(r#""recipient":"r",{body}"#), reason, hint);
    }
}

#[test]
fn a_line_is_one_object_with_at_and_op() {
    let rules = rules();
    let reason = |line: &str| read_line(&rules, 3, line.as_bytes()).unwrap_err();
    assert!(reason("[]").reason.contains("must be an object"));
    assert!(reason("{}").reason.contains("`at` is missing"));
    assert!(reason(r#"{"At":"x"}"#).hint.contains("`At` meant to be `at`"));
    assert!(reason(r#"{"at":"x"}"#).reason.contains("must be a time"));
    assert!(reason(r#"{"at":1704067200}"#).reason.contains("a string, got a number"));
    assert!(reason(r#"{"at":"2024-01-01T00:00:00Z"}"#).reason.contains("`op` is missing"));
    let fault = reason(r#"{"at":"2024-01-01T00:00:00Z","op":7}"#);
    assert_eq!(fault.reason, "`op` must be a string, got a number");
    refused("publsh", "", "unknown op `publsh`", "did you mean `publish`");
    let fault = reason(r#"{"at":"#);
    assert_eq!((fault.line, fault.column), (Some(3), Some(6)));
    assert!(fault.to_string().starts_with("line 3, column 6: not JSON"), "{fault}");
}

#[test]
fn f17_the_page_of_timelines_has_each_operation() {
    let page = include_str!("../../../../docs/timeline.md");
    let hint = read("neither", "").unwrap_err().hint;
    assert!(hint.ends_with("`docs/timeline.md` has each with its fields"), "{hint}");
    let (known, _) = hint.strip_prefix("known: ").and_then(|hint| hint.split_once(';')).unwrap();
    let known: Vec<&str> = known.split(", ").collect();
    assert_eq!(known.len(), 18, "{hint}");
    for name in known {
        assert!(page.contains(name), "{name}");
    }
}
