//! The log of changes, as it is read: a line for every change by every way in, and no line without one.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{NDJSON, done, event, get, post, problem, publish, put, with_people};
use crate::rig::{CONFIG, Rig, user_token};
use crate::{Access, Settings};

/// The lines of a log with a query, newest first.
fn lines(rig: &Rig, query: &str) -> Vec<Value> {
    get(rig, &format!("/v1/admin/log?limit=500{query}"))["log"].as_array().unwrap().clone()
}

/// Makes a call, and returns the lines that it leaves: action, subject, fields, result.
fn left(rig: &Rig, method: Method, path: &str, body: &Value) -> Vec<Value> {
    let before = lines(rig, "");
    let answer = rig.call(method, path, body);
    assert!(answer.status.is_success(), "{path}: {}", answer.json());
    new_lines(rig, &before)
}

fn new_lines(rig: &Rig, before: &[Value]) -> Vec<Value> {
    let is_new = |line: &Value| before.iter().all(|known| known["id"] != line["id"]);
    lines(rig, "").into_iter().filter(is_new).collect()
}

fn field(name: &str, from: impl Into<Value>, to: impl Into<Value>) -> Value {
    json!({"name": name, "from": from.into(), "to": to.into()})
}

const TENANTS: &str = "[tenants]\non = true\n";

#[test]
fn log_1_a_change_leaves_one_line_with_its_author_and_no_personal_value() {
    let rig = Rig::new();
    let body = json!({"name": "Ada", "email": "ada@example.org", "tz": "Europe/Paris", "lat": 48.9, "lon": 2.4, "data": {"plan": "gold"}});
    let made = left(&rig, Method::PUT, "/v1/recipients/ada", &body);
    let [line] = &made[..] else { panic!("{made:?}") };
    assert_eq!(line["by"], json!({"kind": "key", "id": "dev", "role": "admin"}));
    assert_eq!((&line["via"], &line["action"]), (&json!("api"), &json!("put_recipient")));
    assert_eq!(line["subject"], json!({"kind": "recipient", "id": "ada"}));
    assert_eq!(line["result"], "done");
    assert_eq!(
        line["fields"],
        json!([
            field("name", Value::Null, "changed"),
            field("addresses.email", Value::Null, "changed"),
            field("tz", Value::Null, "Europe/Paris"),
            field("lat", Value::Null, "changed"),
            field("lon", Value::Null, "changed"),
            field("state", Value::Null, "active"),
            field("data", Value::Null, "changed"),
        ])
    );
    let part =
        json!({"name": "Grace", "tz": null, "quiet_hours": {"from": "22:00", "to": "07:00"}});
    let changed = left(&rig, Method::PATCH, "/v1/recipients/ada", &part);
    let hours = json!({"from": "22:00", "to": "07:00"});
    assert_eq!(
        changed[0]["fields"],
        json!([
            field("name", "changed", "changed"),
            field("tz", "Europe/Paris", Value::Null),
            field("quiet_hours", "default", hours),
        ])
    );
    assert_eq!(changed.len(), 1);
}

#[test]
fn log_2_what_changes_nothing_or_is_refused_leaves_no_line() {
    let rig = with_people();
    for _ in 0..2 {
        post(&rig, "/v1/channels/email/pause", &Value::Null);
    }
    assert_eq!(lines(&rig, "&action=pause_channel").len(), 1);
    let profile = get(&rig, "/v1/recipients/ada");
    assert_eq!(left(&rig, Method::PUT, "/v1/recipients/ada", &profile), Vec::<Value>::new());
    for (method, path, body) in [
        (Method::DELETE, "/v1/suppressions/email/nobody%40example.org", Value::Null),
        (Method::POST, "/v1/recipients/ada/flush", Value::Null),
        (Method::PATCH, "/v1/recipients/ada/preferences", json!([])),
    ] {
        assert_eq!(left(&rig, method, path, &body), Vec::<Value>::new(), "{path}");
    }
    let before = lines(&rig, "");
    for (method, path, body) in [
        (Method::PATCH, "/v1/recipients/nobody/preferences", json!([])),
        (Method::PUT, "/v1/recipients/ada", json!({"tz": "Mars/Olympus"})),
        (Method::POST, "/v1/types/unknown/pause", Value::Null),
        (Method::DELETE, "/v1/admin/keys/none", Value::Null),
    ] {
        assert!(rig.call(method, path, &body).status.is_client_error(), "{path}");
    }
    assert_eq!(new_lines(&rig, &before), Vec::<Value>::new());
}

#[test]
fn log_3_publishes_objects_subscriptions_marks_and_views_leave_none() {
    let rig = with_people();
    let before = lines(&rig, "");
    publish(&rig, "e1", "note", &["ada"]);
    put(&rig, "/v1/objects/works%2F1", &json!({"title": "Lilies"}));
    done(&rig.call(Method::DELETE, "/v1/objects/works%2F1", &Value::Null));
    put(&rig, "/v1/recipients/ada/subscriptions/artist/42", &Value::Null);
    done(&rig.call(Method::DELETE, "/v1/recipients/ada/subscriptions/artist/42", &Value::Null));
    for mark in ["seen", "read", "archive", "unarchive", "unread"] {
        let path = format!("/v1/recipients/ada/inbox/{mark}");
        assert!(rig.call(Method::POST, &path, &json!({"event": "e1"})).status.is_success());
    }
    get(&rig, "/v1/recipients/ada/inbox");
    assert_eq!(new_lines(&rig, &before), Vec::<Value>::new());
}

#[test]
fn log_4_every_operation_leaves_its_line() {
    let config = format!("{TENANTS}{CONFIG}");
    let rig = Rig::with(&config, Access::Open, Settings::default());
    put(&rig, "/v1/recipients/ada", &json!({"email": "ada@example.org"}));
    rig.at("2024-01-01T12:01:00Z");
    publish(&rig, "e1", "note", &["ada"]);
    let mut weekly = event("e2", "weekly", &["ada"]);
    weekly["cancellation_key"] = json!("order-7");
    post(&rig, "/v1/events", &weekly);
    let null = || Value::Null;
    let hash = "address";
    let calls = [
        (Method::POST, "/v1/events/e1/cancel", null(), "cancel_event", "event:e1"),
        (
            Method::PATCH,
            "/v1/recipients/ada",
            json!({"tz": "UTC"}),
            "patch_recipient",
            "recipient:ada",
        ),
        (
            Method::PUT,
            "/v1/recipients/ada/preferences",
            json!([{"type": "note", "channel": "email", "mode": "never"}]),
            "put_preferences",
            "recipient:ada",
        ),
        (
            Method::PATCH,
            "/v1/recipients/ada/preferences",
            json!([{"type": "note", "channel": "email", "mode": "default"}]),
            "patch_preferences",
            "recipient:ada",
        ),
        (Method::POST, "/v1/types/note/pause", null(), "pause_type", "type:note"),
        (Method::POST, "/v1/types/note/resume", null(), "resume_type", "type:note"),
        (Method::POST, "/v1/channels/email/pause", null(), "pause_channel", "channel:email"),
        (Method::POST, "/v1/channels/email/resume", null(), "resume_channel", "channel:email"),
        (Method::PUT, "/v1/tenants/acme", json!({"name": "Acme"}), "put_tenant", "tenant:acme"),
        (Method::PATCH, "/v1/tenants/acme", json!({"locale": "fr"}), "patch_tenant", "tenant:acme"),
        (Method::PUT, "/v1/tenants/acme/members/ada", null(), "put_member", "recipient:ada"),
        (Method::DELETE, "/v1/tenants/acme/members/ada", null(), "remove_member", "recipient:ada"),
        (Method::DELETE, "/v1/tenants/acme", null(), "delete_tenant", "tenant:acme"),
        (Method::PUT, "/v1/suppressions/email/ada%40example.org", json!({}), "suppress", hash),
        (Method::DELETE, "/v1/suppressions/email/ada%40example.org", null(), "unsuppress", hash),
        (
            Method::POST,
            "/v1/hooks/app.example.org/replay",
            json!({"since": "2024-01-01T00:00:00Z"}),
            "replay_hook",
            "hook:app.example.org",
        ),
        (
            Method::POST,
            "/v1/hooks/app.example.org/resume",
            null(),
            "resume_hook",
            "hook:app.example.org",
        ),
        (
            Method::POST,
            "/v1/cancel",
            json!({"cancellation_key": "order-7"}),
            "cancel_all",
            "cancellation_key:order-7",
        ),
        (Method::POST, "/v1/events/later/cancel", null(), "cancel_event", "event:later"),
        (
            Method::POST,
            "/v1/admin/keys",
            json!({"name": "site", "role": "publish"}),
            "make_key",
            "key",
        ),
        (
            Method::POST,
            "/v1/admin/signing-keys",
            json!({"name": "app"}),
            "make_signing_key",
            "signing_key",
        ),
        (
            Method::POST,
            "/v1/recipients/ada/tokens/revoke",
            null(),
            "revoke_tokens",
            "recipient:ada",
        ),
        (Method::DELETE, "/v1/recipients/ada", null(), "erase_recipient", "recipient"),
    ];
    for (method, path, body, action, subject) in calls {
        let found = left(&rig, method, path, &body);
        let [line] = &found[..] else { panic!("{path}: {found:?}") };
        assert_eq!(line["action"], action, "{path}");
        let of = &line["subject"];
        let (kind, id) = (of["kind"].as_str().unwrap(), of["id"].as_str().unwrap());
        match subject.split_once(':') {
            Some(_) => assert_eq!(format!("{kind}:{id}"), subject, "{path}"),
            None => assert!(kind == subject && !id.contains("ada"), "{path}: {of}"),
        }
    }
}

#[test]
fn log_5_an_end_user_and_a_link_are_named() {
    let config = format!("{CONFIG}[users]\n");
    let rig = Rig::with(&config, Access::Open, Settings::default());
    rig.make_signing_key("s1");
    put(&rig, "/v1/recipients/ada", &json!({"email": "ada@example.org"}));
    let token = format!("Bearer {}", user_token("s1", "ada", None));
    let never = json!([{"type": "note", "channel": "email", "mode": "never"}]);
    let headers = [("content-type", "application/json"), ("authorization", &*token)];
    let body = serde_json::to_vec(&never).unwrap();
    let answer = rig.send(Method::PATCH, "/v1/me/preferences", &headers, body);
    assert!(answer.status.is_success(), "{}", answer.json());
    let of_user = lines(&rig, "&by=user:ada");
    let [line] = &of_user[..] else { panic!("{of_user:?}") };
    assert_eq!(line["action"], "patch_my_preferences");
    assert_eq!(line["by"], json!({"kind": "user", "id": "ada"}));
    assert_eq!(line["fields"], json!([field("preferences.type:note.email", "default", "never")]));
}

#[test]
fn log_6_a_bulk_call_has_a_line_a_commit_with_its_count() {
    let config = format!("{TENANTS}{CONFIG}");
    let rig = Rig::with(&config, Access::Open, Settings::default());
    put(&rig, "/v1/tenants/acme", &json!({}));
    let people: Vec<Value> = (0..7).map(|n| json!({"id": format!("r{n}"), "name": "N"})).collect();
    let made = left(&rig, Method::POST, "/v1/recipients", &people.clone().into());
    let [line] = &made[..] else { panic!("{made:?}") };
    assert_eq!((&line["count"], &line["action"]), (&json!(7), &json!("change_recipients")));
    assert_eq!(line["subject"], json!({"kind": "recipient", "id": null}));
    assert_eq!(line["fields"], json!([]));
    // Of the same again nothing changes.
    assert_eq!(left(&rig, Method::POST, "/v1/recipients", &people.into()), Vec::<Value>::new());
    let members: String = (0..5).map(|n| format!("{{\"recipient\": \"r{n}\"}}\n")).collect();
    let before = lines(&rig, "");
    let path = "/v1/tenants/acme/members";
    assert_eq!(rig.send(Method::POST, path, NDJSON, members).status, StatusCode::OK);
    let found = new_lines(&rig, &before);
    let [line] = &found[..] else { panic!("{found:?}") };
    assert_eq!((&line["count"], &line["tenant"]), (&json!(5), &json!("acme")));
    assert_eq!(line["subject"], json!({"kind": "tenant", "id": "acme"}));
}

#[test]
fn log_7_lines_are_found_by_author_action_subject_tenant_and_time_in_pages() {
    let rig = with_people();
    for n in 0..9 {
        rig.at(&format!("2024-01-01T12:0{n}:30Z"));
        let tz = if n % 2 == 0 { "UTC" } else { "Europe/Paris" };
        done(&rig.call(Method::PATCH, "/v1/recipients/ada", &json!({"tz": tz})));
        let state = if n % 2 == 0 { "pause" } else { "resume" };
        post(&rig, &format!("/v1/channels/email/{state}"), &Value::Null);
    }
    assert_eq!(lines(&rig, "&subject=recipient:ada").len(), 10);
    assert_eq!(lines(&rig, "&subject=recipient:ada&action=patch_recipient").len(), 9);
    assert_eq!(lines(&rig, "&action=pause_channel").len(), 5);
    assert_eq!(lines(&rig, "&subject=recipient:ada&action=pause_channel").len(), 0);
    assert_eq!(lines(&rig, "&by=key:dev&action=resume_channel").len(), 4);
    assert_eq!(lines(&rig, "&by=key:other").len(), 0);
    let between = "&from=2024-01-01T12:03:30Z&to=2024-01-01T12:05:30Z";
    assert_eq!(lines(&rig, between).len(), 4);
    let all = lines(&rig, "");
    let instants: Vec<&str> = all.iter().map(|line| line["at"].as_str().unwrap()).collect();
    assert!(instants.is_sorted_by(|a, b| a >= b), "{instants:?}");
    let (mut walked, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = get(&rig, &format!("/v1/admin/log?limit=3{cursor}"));
        walked.extend(page["log"].as_array().unwrap().clone());
        let Some(next) = page["next"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(walked, all);
    for (query, hint) in [
        ("by=keys:k1", "key"),
        ("subject=recipients:ada", "recipient"),
        ("action=pause_chanel", "pause_channel"),
        ("by=ada", "key"),
        ("about=x", ""),
        ("from=yesterday", ""),
    ] {
        let refused = rig.call(Method::GET, &format!("/v1/admin/log?{query}"), &Value::Null);
        assert_eq!(problem(&refused, StatusCode::BAD_REQUEST), "invalid_query", "{query}");
        assert!(refused.json()["hint"].to_string().contains(hint), "{query}: {}", refused.json());
    }
    let other = format!("/v1/admin/log?action=pause_channel{cursor}");
    let refused = rig.call(Method::GET, &other, &Value::Null);
    assert_eq!(problem(&refused, StatusCode::BAD_REQUEST), "bad_cursor");
}

#[test]
fn log_8_the_configuration_leaves_a_line_only_where_it_differs() {
    let rig = Rig::new();
    let loaded = |rig: &Rig| lines(rig, "&action=configuration.loaded");
    assert_eq!(loaded(&rig).len(), 1);
    let rig = rig.restart();
    assert_eq!(loaded(&rig).len(), 1);
    rig.at("2024-01-01T13:00:00Z");
    let other = format!(
        "{CONFIG}[types.added]\ncategory = \"news\"\nchannels = {{ inbox = {{ policy = \"now\" }} }}\n"
    );
    let rig = rig.restart_with(&other);
    let found = loaded(&rig);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0]["by"]["kind"], "configuration");
    let fields = found[0]["fields"].as_array().unwrap();
    assert!(fields.contains(&field("types.added", Value::Null, "changed")), "{fields:?}");
}

#[test]
fn log_9_an_export_and_a_backup_leave_a_line() {
    let rig = with_people();
    for path in ["/v1/admin/backup", "/v1/export"] {
        let before = lines(&rig, "");
        assert_eq!(rig.call(Method::GET, path, &Value::Null).status, StatusCode::OK);
        let found = new_lines(&rig, &before);
        assert_eq!(found.len(), 1, "{path}");
        assert_eq!(found[0]["action"], "data.exported");
        assert_eq!(found[0]["subject"], json!({"kind": "store", "id": null}));
    }
}

#[test]
fn log_10_a_request_id_is_kept_and_a_retry_leaves_one_line() {
    let rig = with_people();
    let headers = [
        ("content-type", "application/json"),
        ("x-request-id", "req-7"),
        ("idempotency-key", "once"),
    ];
    for _ in 0..2 {
        let body = r#"{"tz": "UTC"}"#;
        done(&rig.send(Method::PATCH, "/v1/recipients/ada", &headers, body));
    }
    let found = lines(&rig, "&action=patch_recipient");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["request"], "req-7");
}

#[test]
fn log_11_planted_names_and_addresses_are_in_no_line() {
    let config = format!("{TENANTS}{CONFIG}");
    let rig = Rig::with(&config, Access::Open, Settings::default());
    for n in 0..50 {
        let planted = format!("Planted{n}");
        let path = format!("/v1/recipients/r{n}");
        let body = json!({"name": planted, "email": format!("{planted}@example.org"), "data": {"note": planted}});
        put(&rig, &path, &body);
        done(&rig.call(
            Method::PATCH,
            &path,
            &json!({"email": format!("other-{planted}@example.org")}),
        ));
        let address = format!("/v1/suppressions/email/{planted}%40example.org");
        put(&rig, &address, &json!({}));
        done(&rig.call(Method::DELETE, &address, &Value::Null));
        put(
            &rig,
            &format!("/v1/tenants/t{n}"),
            &json!({"name": planted, "reply_to": format!("{planted}@example.org"), "brand": {"footer": planted}}),
        );
    }
    post(&rig, "/v1/admin/keys", &json!({"name": "Planted key", "role": "read"}));
    let mut cursor = String::new();
    let mut count = 0;
    loop {
        let page = get(&rig, &format!("/v1/admin/log?limit=100{cursor}"));
        count += page["log"].as_array().unwrap().len();
        assert!(!page.to_string().to_lowercase().contains("planted"), "{page}");
        let Some(next) = page["next"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(count, 50 * 5 + 2);
}

#[test]
fn log_12_erasing_a_person_answers_a_receipt_and_hides_their_id_in_all_lines() {
    let config = format!("{TENANTS}{CONFIG}[log]\nkeep = \"30d\"\n");
    let rig = Rig::with(&config, Access::Open, Settings::default());
    put(&rig, "/v1/tenants/acme", &json!({}));
    put(&rig, "/v1/recipients/ada", &json!({"name": "Ada", "email": "ada@example.org"}));
    put(&rig, "/v1/tenants/acme/members/ada", &Value::Null);
    put(&rig, "/v1/recipients/ada/subscriptions/artist/42", &Value::Null);
    let never = json!([{"type": "note", "channel": "email", "mode": "never"}]);
    let chosen = rig.call(Method::PATCH, "/v1/recipients/ada/preferences", &never);
    assert!(chosen.status.is_success(), "{}", chosen.json());
    assert_eq!(lines(&rig, "&subject=recipient:ada").len(), 3);
    let erased = rig.call(Method::DELETE, "/v1/recipients/ada", &Value::Null);
    assert_eq!(erased.status, StatusCode::OK);
    let answer = erased.json();
    let counts = json!({"profile": 1, "addresses": 1, "preferences": 1, "subscriptions": 1, "memberships": 1});
    assert_eq!(answer["erased"], counts);
    let kept = answer["kept"].as_array().unwrap();
    let until =
        |what: &str| kept.iter().find(|kept| kept["what"] == what).unwrap()["until"].clone();
    assert_eq!(until("log"), "2024-01-31T12:00:00Z");
    assert_eq!(until("suppressions"), Value::Null);
    let (id, subject) = (&answer["receipt"]["id"], answer["receipt"]["subject"].as_str().unwrap());
    assert_eq!(lines(&rig, "&subject=recipient:ada"), Vec::<Value>::new());
    let found = lines(&rig, &format!("&subject=recipient:{subject}"));
    assert_eq!(found.len(), 4);
    assert!(found.is_sorted_by_key(|line| line["id"].as_str()), "one instant: by id");
    assert_eq!((&found[0]["id"], &found[0]["action"]), (id, &json!("erase_recipient")));
    let all = get(&rig, "/v1/admin/log?limit=500").to_string();
    assert!(!all.contains("ada"), "{all}");
    // Of somebody who is not there nothing is erased, and nothing is logged.
    let nobody = rig.call(Method::DELETE, "/v1/recipients/ada", &Value::Null);
    assert_eq!(nobody.json(), json!({"erased": {}, "kept": [], "receipt": null}));
    assert_eq!(lines(&rig, "").len(), all.matches("log_").count());
}
