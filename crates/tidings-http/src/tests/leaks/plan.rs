//! The requests of each call. `{m}` stands for a marker, `{of inbox}` for a cursor of its view.

use serde_json::{Value, json};

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) path: String,
    pub(super) body: Value,
}

/// The requests of a call under `/v1/me`; `None` = nobody has thought of it.
pub(super) fn plan(call: &str) -> Option<Vec<Asked>> {
    let (method, rest) = call.split_once(" /v1/me/")?;
    let asked = |ends: &[&str], bodies: &[Value]| Some(all(ends, bodies));
    let nothing = [Value::Null];
    let browser = json!({
        "endpoint": "https://push.example.net/send/{m}",
        "keys": { "p256dh": "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM", "auth": "tBHItJI5svbpez7KI4CCXg" },
    });
    match (method, rest) {
        ("GET", "inbox") => asked(
            &[
                "inbox",
                "inbox?limit=1",
                "inbox?grouped=false&limit=100",
                "inbox?state=archived",
                "inbox?type=note",
                "inbox?category=news",
                "inbox?since=0",
                "inbox?tenant=t-{m}",
                "inbox?cursor={of inbox}",
            ],
            &nothing,
        ),
        ("GET", "inbox/counts") => asked(&["inbox/counts", "inbox/counts?tenant=t-{m}"], &nothing),
        ("GET", "live") => asked(&["live", "live?tenant=t-{m}"], &nothing),
        ("GET", "pending") => asked(&["pending", "pending?tenant=t-{m}"], &nothing),
        ("GET", "preferences") => {
            asked(&["preferences", "preferences?choices=all", "preferences?tenant=t-{m}"], &nothing)
        }
        ("GET", "subscriptions") => {
            asked(&["subscriptions", "subscriptions?tenant=t-{m}"], &nothing)
        }
        ("POST", "flush") => {
            asked(&["flush"], &[json!({ "lane": "nope-{m}" }), json!({ "tenant": "t-{m}" })])
        }
        ("POST", "inbox/snooze") => {
            let of = |what: &str| json!({ what: format!("{}{{m}}", prefix(what)), "for": "1h" });
            asked(&["inbox/snooze"], &[of("event"), of("object")])
        }
        ("POST", mark) if mark.starts_with("inbox/") => {
            let of = |what: &str| json!({ what: format!("{}{{m}}", prefix(what)) });
            let other = json!({ "all": true, "tenant": "t-{m}" });
            let group = json!({ "group": "note:{m}:2024-01-01:new" });
            asked(&[mark], &[of("event"), of("object"), group, other])
        }
        ("PUT", "preferences") => {
            let topic = json!({ "topic": "muted/{m}", "channel": "email", "mode": "never" });
            let mut other = topic.clone();
            other["tenant"] = json!("t-{m}");
            let bodies = [json!([]), json!([topic]), json!([other]), json!([{ "type": "{m}" }])];
            asked(&["preferences", "preferences?tenant=t-{m}"], &bodies)
        }
        ("PATCH", "preferences") => {
            let topic = json!({ "topic": "muted/{m}", "channel": "email", "mode": "never" });
            let mut other = topic.clone();
            other["tenant"] = json!("t-{m}");
            asked(&["preferences"], &[json!([topic]), json!([other]), json!([{ "type": "{m}" }])])
        }
        ("PUT" | "DELETE", "subscriptions/{topic}") => {
            asked(&["subscriptions/open/{m}", "subscriptions/open/{m}?tenant=t-{m}"], &nothing)
        }
        ("PUT" | "DELETE", "push") => asked(&["push"], &[browser]),
        _ => None,
    }
}

fn prefix(what: &str) -> &'static str {
    if what == "event" { "e1-" } else { "obj/" }
}

/// Every body at every path.
fn all(ends: &[&str], bodies: &[Value]) -> Vec<Asked> {
    let each = |end: &&str| {
        let path = format!("/v1/me/{end}");
        bodies.iter().map(move |body| Asked { path: path.clone(), body: body.clone() })
    };
    ends.iter().flat_map(each).collect()
}
