//! The requests of each call. `{m}` stands for a marker, `{message}` for a message of whose marker it is.

use serde_json::{Value, json};

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) path: String,
    pub(super) body: Value,
}

/// The test of a call.
pub(super) enum Plan {
    /// It needs no key, and has nothing of a tenant.
    Open,
    /// It is refused: only the host may make it.
    OfNoTenant,
    /// It answers these requests.
    Asked(Vec<Asked>),
}

/// The calls that are of no tenant, or change what only hosts change.
const OF_NO_TENANT: &[&str] = &[
    "GET /metrics",
    "GET /v1/admin/backup",
    "GET /v1/admin/due",
    "POST /v1/admin/forget",
    "GET /v1/admin/keys",
    "POST /v1/admin/keys",
    "DELETE /v1/admin/keys/{id}",
    "GET /v1/admin/signing-keys",
    "POST /v1/admin/signing-keys",
    "DELETE /v1/admin/signing-keys/{id}",
    "GET /v1/admin/status",
    "POST /v1/admin/tokens",
    "POST /v1/channels/{channel}/pause",
    "POST /v1/channels/{channel}/resume",
    "GET /v1/feeds",
    "POST /v1/feeds/{name}/pause",
    "POST /v1/feeds/{name}/resume",
    "GET /v1/hooks",
    "POST /v1/hooks/{name}/replay",
    "POST /v1/hooks/{name}/resume",
    "GET /v1/nodes",
    "POST /v1/recipients",
    "PUT /v1/recipients/{id}",
    "PATCH /v1/recipients/{id}",
    "DELETE /v1/recipients/{id}",
    "GET /v1/recipients/{id}/preview",
    "PUT /v1/recipients/{id}/push",
    "DELETE /v1/recipients/{id}/push",
    "POST /v1/recipients/{id}/tokens/revoke",
    "GET /v1/suppressions",
    "GET /v1/suppressions/{channel}/{address}",
    "PUT /v1/suppressions/{channel}/{address}",
    "DELETE /v1/suppressions/{channel}/{address}",
    "GET /v1/tenants",
    "POST /v1/tenants",
    "PUT /v1/tenants/{id}",
    "DELETE /v1/tenants/{id}",
    "PUT /v1/tenants/{id}/members/{recipient}",
    "GET /v1/types",
    "POST /v1/types/{type}/pause",
    "POST /v1/types/{type}/resume",
];

/// The calls that need no key.
const OPEN: &[&str] =
    &["GET /errors/{code}", "GET /healthz", "GET /llms.txt", "GET /readyz", "GET /v1/openapi.json"];

/// The plan of a call; `None` = nobody has thought of it.
pub(super) fn plan(call: &str) -> Option<Plan> {
    if OPEN.contains(&call) {
        return Some(Plan::Open);
    }
    if OF_NO_TENANT.contains(&call) {
        return Some(Plan::OfNoTenant);
    }
    let (method, template) = call.split_once(' ')?;
    let asked = if let Some(rest) = template.strip_prefix("/v1/me/") {
        of_reader(method, rest, &["/v1/me"])?
    } else if let Some(rest) = template.strip_prefix("/v1/recipients/{id}/") {
        let who = ["/v1/recipients/both", "/v1/recipients/one-{m}", "/v1/recipients/stranger-{m}"];
        of_reader(method, rest, &who)?
    } else {
        of_many(call).or_else(|| of_host(call))?
    };
    Some(Plan::Asked(asked))
}

fn get(paths: &[&str]) -> Vec<Asked> {
    all(paths, &[Value::Null])
}

/// Every body at every path.
fn all(paths: &[&str], bodies: &[Value]) -> Vec<Asked> {
    let each = |path: &&str| {
        let path = (*path).to_owned();
        bodies.iter().map(move |body| Asked { path: path.clone(), body: body.clone() })
    };
    paths.iter().flat_map(each).collect()
}

/// The requests of a call under `/v1/me` and at its twin.
fn of_reader(method: &str, rest: &str, who: &[&str]) -> Option<Vec<Asked>> {
    let is_mine = who == ["/v1/me"];
    let paths = |ends: &[&str]| -> Vec<String> {
        who.iter().flat_map(|who| ends.iter().map(move |end| format!("{who}/{end}"))).collect()
    };
    let asked = |ends: &[&str], bodies: &[Value]| {
        let paths = paths(ends);
        Some(all(&paths.iter().map(String::as_str).collect::<Vec<_>>(), bodies))
    };
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
        ("PUT" | "DELETE", "push") if is_mine => asked(&["push"], &[browser]),
        _ => None,
    }
}

fn prefix(what: &str) -> &'static str {
    if what == "event" { "e1-" } else { "obj/" }
}

/// The requests of calls with many items.
fn of_many(call: &str) -> Option<Vec<Asked>> {
    Some(match call {
        "POST /v1/subscriptions" => {
            let of = |who: &str, more: Value| {
                let mut one = json!({ "recipient": who, "topic": "open/{m}" });
                one.as_object_mut().unwrap().append(&mut more.as_object().unwrap().clone());
                one
            };
            let ends = json!({ "unsubscribe": true });
            let one = ["one-{m}", "stranger-{m}"].map(|who| of(who, json!({})));
            all(
                &["/v1/subscriptions"],
                &[
                    json!(one),
                    json!([of("one-{m}", ends.clone()), of("left-{m}", ends)]),
                    json!([of("both", json!({ "tenant": "t-{m}" }))]),
                ],
            )
        }
        "POST /v1/tenants/{id}/members" => {
            let all_of = |more: Value| {
                let each = ["one-{m}", "left-{m}", "stranger-{m}"].map(|who| {
                    let mut one = json!({ "recipient": who });
                    one.as_object_mut().unwrap().append(&mut more.as_object().unwrap().clone());
                    one
                });
                json!(each)
            };
            all(
                &["/v1/tenants/t-{m}/members", "/v1/tenants/t-mka/members"],
                &[all_of(json!({})), all_of(json!({ "remove": true }))],
            )
        }
        _ => return None,
    })
}

/// The requests of the other calls.
fn of_host(call: &str) -> Option<Vec<Asked>> {
    let key = json!({ "cancellation_key": "ck-{m}" });
    let key_of = json!({ "cancellation_key": "ck-{m}", "tenant": "t-{m}" });
    let event = |fields: Value| {
        let mut event = json!({
            "id": "new-{m}", "type": "note", "object": { "id": "new" },
            "to": { "recipients": ["one-{m}", "stranger-{m}"] },
        });
        event.as_object_mut().unwrap().append(&mut fields.as_object().unwrap().clone());
        event
    };
    Some(match call {
        "GET /v1/recipients/{id}" => {
            get(&["/v1/recipients/both", "/v1/recipients/one-{m}", "/v1/recipients/stranger-{m}"])
        }
        "GET /v1/tenants/{id}" => get(&["/v1/tenants/t-{m}"]),
        "PATCH /v1/tenants/{id}" => all(&["/v1/tenants/t-{m}"], &[json!({ "tz": "UTC" })]),
        "GET /v1/tenants/{id}/members" => get(&[
            "/v1/tenants/t-{m}/members",
            "/v1/tenants/t-{m}/members?limit=1",
            "/v1/tenants/t-mka/members?cursor=a-{m}",
        ]),
        "DELETE /v1/tenants/{id}/members/{recipient}" => get(&[
            "/v1/tenants/t-{m}/members/one-{m}",
            "/v1/tenants/t-mka/members/one-{m}",
            "/v1/tenants/t-mka/members/stranger-{m}",
        ]),
        "GET /v1/objects/{id}" => {
            get(&["/v1/objects/made%2F{m}", "/v1/objects/obj%2F{m}", "/v1/objects/none-{m}"])
        }
        // A retraction that is done counts in the `rev` of all.
        "DELETE /v1/objects/{id}" => get(&["/v1/objects/obj%2F{m}", "/v1/objects/none-{m}"]),
        // An id that another has is told by a refusal, which a test of its own looks at.
        "PUT /v1/objects/{id}" => all(
            &["/v1/objects/made%2Fmka", "/v1/objects/put-{m}"],
            &[json!({ "title": "Title mka" }), json!({ "title": 1 }), json!({ "{m}": 1 })],
        ),
        "POST /v1/objects" => all(
            &["/v1/objects"],
            &[json!([{ "id": "made/mka", "url": "/mka" }, { "id": "post-{m}" }, { "id": "" }])],
        ),
        "GET /v1/events/{id}" => {
            get(&["/v1/events/e1-{m}", "/v1/events/e5-{m}", "/v1/events/e6-{m}"])
        }
        "POST /v1/events" => all(
            &["/v1/events"],
            &[
                event(json!({})),
                event(json!({ "tenant": "t-{m}" })),
                event(json!({ "to": { "topics": ["open/{m}"] } })),
                event(json!({ "to": { "everyone": true } })),
                event(json!({ "to": { "near": {} } })),
                event(json!({ "type": "{m}" })),
                event(json!({ "data": "{m}" })),
                json!([event(json!({ "cancellation_key": "ck-{m}" })), { "id": "" }]),
            ],
        ),
        "POST /v1/events/{id}/cancel" | "POST /v1/events/{id}/withdraw" => {
            let path = format!("/v1/events/e5-{{m}}/{}", call.rsplit('/').next()?);
            all(&[&path], &[json!({}), json!({ "tenant": "t-{m}" })])
        }
        "POST /v1/cancel" => all(&["/v1/cancel"], &[key, key_of]),
        "POST /v1/withdraw" => all(&["/v1/withdraw"], &[key, key_of, json!({ "event": "e6-{m}" })]),
        "POST /v1/explain" => all(
            &["/v1/explain"],
            &[
                json!({ "event": "e1-{m}", "recipient": "both" }),
                json!({ "event": "e6-{m}", "recipient": "both" }),
                json!({ "event": "e2-{m}", "recipient": "one-{m}" }),
                json!({ "event": "e6-mka", "recipient": "one-{m}" }),
                json!({ "event": "e6-mka", "recipient": "stranger-{m}" }),
                json!({ "event": event(json!({ "id": "e1-{m}" })), "recipient": "both" }),
                json!({ "event": event(json!({ "tenant": "t-{m}" })), "recipient": "both" }),
                json!({ "event": event(json!({ "to": { "topics": ["open/{m}"] } })), "recipient": "both" }),
            ],
        ),
        "GET /v1/export" => get(&["/v1/export", "/v1/export?days=1", "/v1/export?tenant=t-{m}"]),
        "GET /v1/messages" => get(&[
            "/v1/messages",
            "/v1/messages?limit=1",
            "/v1/messages?recipient=both",
            "/v1/messages?recipient=one-{m}",
            "/v1/messages?recipient=stranger-{m}",
            "/v1/messages?tenant=t-{m}",
            "/v1/messages?cursor={of messages}",
            "/v1/messages?type=note&state=failed",
        ]),
        "GET /v1/messages/{id}" => get(&["/v1/messages/{message}"]),
        "POST /v1/messages/{id}/cancel"
        | "POST /v1/messages/{id}/resend"
        | "POST /v1/messages/{id}/retry" => {
            let path = format!("/v1/messages/{{message}}/{}", call.rsplit('/').next()?);
            all(&[&path], &[Value::Null])
        }
        _ => return None,
    })
}
