//! Calls about what is told at all: data, mutes, required types, conditions, admission.

use tidings_core::channel::CHANNELS;

use super::*;

const RULES: &str = r#"
[categories.news]
[categories.news.channels]
inbox = { policy = "now" }
email = { policy = "cooldown", quiet = "4m" }
[digests.daily]
every = "day"
[types.note]
category = "news"
[types.alarm]
category = "news"
required = true
[types.tip]
category = "news"
admission = "once_pending"
per = "object"
[types.offer]
category = "news"
condition = "recipient.data.plan == 'gold'"
"#;

fn rig() -> Rig {
    let rig = Rig::with(RULES, Access::Open, Settings::default());
    for name in ["ada", "bob"] {
        let body = json!({"email": format!("{name}@example.org")});
        put(&rig, &format!("/v1/recipients/{name}"), &body);
    }
    rig
}

#[test]
fn data_is_taken_and_shown() {
    let rig = with_people();
    let patch = |data: Value| {
        let body = json!({ "data": data });
        rig.call(Method::PATCH, "/v1/recipients/ada", &body)
    };
    done(&patch(json!({"plan": "gold", "seats": 3})));
    done(&patch(json!({"plan": "gold"})));
    let profile = get(&rig, "/v1/recipients/ada");
    assert_eq!(profile["data"], json!({"plan": "gold"}));
    put(&rig, "/v1/recipients/ada", &profile);
    assert_eq!(get(&rig, "/v1/recipients/ada"), profile);
    done(&patch(Value::Null));
    assert_eq!(get(&rig, "/v1/recipients/ada")["data"], Value::Null);
    let refused = patch(json!([1]));
    assert!(refused.status.is_client_error(), "{}", refused.json());
    assert_eq!(refused.json()["code"], "invalid_body");

    put(&rig, "/v1/objects/o", &json!({"data": {"status": "open"}}));
    let mut event = event("e1", "note", &["ada"]);
    event["object"] = json!({"id": "o", "title": "Invoice"});
    event["target"] = json!({"id": "p", "title": "Place", "data": {"floor": 2}});
    post(&rig, "/v1/events", &event);
    let inbox = get(&rig, "/v1/recipients/ada/inbox");
    let item = &inbox["groups"][0]["items"][0];
    let object = json!({"id": "o", "title": "Invoice", "data": {"status": "open"}});
    assert_eq!(item["object"], object);
    let target = json!({"id": "p", "title": "Place", "data": {"floor": 2}});
    assert_eq!(item["target"], target);
    let published = get(&rig, "/v1/events/e1");
    assert_eq!(published["event"]["target"], target);
    // It outlives a restart.
    done(&patch(json!({"plan": "gold"})));
    let rig = rig.restart();
    assert_eq!(
        get(&rig, "/v1/recipients/ada")["data"],
        json!({"plan": "gold"})
    );
}

#[test]
fn h19_mutes_are_preferences() {
    let rig = rig();
    let path = "/v1/recipients/ada/preferences";
    let mutes = json!([
        {"topic": "a/b", "channel": "*", "mode": "never"},
        {"object": "of/e1", "channel": "email", "mode": "never"},
    ]);
    publish(&rig, "e1", "note", &["ada"]);
    put(&rig, path, &mutes);
    let email = json!({"entries": 1, "pending": 0, "outcomes": {"cancelled": 1}, "reasons": {"preference": 1}});
    assert_eq!(get(&rig, "/v1/events/e1")["channels"]["email"], email);
    // `*` says it of each channel there is.
    let each = |channel: &str| json!({"topic": "a/b", "channel": channel, "mode": "never"});
    let mut shown: Vec<Value> = CHANNELS.into_iter().map(each).collect();
    shown.insert(
        2,
        json!({"object": "of/e1", "channel": "email", "mode": "never"}),
    );
    assert_eq!(get(&rig, path), json!(shown));
    done(&rig.call(
        Method::PATCH,
        path,
        &json!([{"topic": "a/b", "channel": "inbox", "mode": "default"}]),
    ));
    let left = get(&rig, path).as_array().unwrap().len();
    assert_eq!(left, CHANNELS.len());
    put(&rig, path, &json!([]));
    assert_eq!(get(&rig, path), json!([]));
    for (list, code) in [
        (
            json!([{"topic": "a", "channel": "*", "mode": "daily"}]),
            "unknown_preference",
        ),
        (
            json!([{"object": "a", "channel": "email", "mode": "immediate"}]),
            "unknown_preference",
        ),
        (
            json!([{"type": "note", "channel": "*", "mode": "never"}]),
            "unknown_preference",
        ),
        (
            json!([{"type": "alarm", "channel": "email", "mode": "never"}]),
            "unknown_preference",
        ),
        (
            json!([{"topic": "a", "object": "b", "channel": "email", "mode": "never"}]),
            "invalid_body",
        ),
        (
            json!([{"topic": "a", "channel": "fax", "mode": "never"}]),
            "unknown_channel",
        ),
    ] {
        let answer = rig.call(Method::PUT, path, &list);
        assert_eq!(answer.json()["code"], code, "{list}: {}", answer.json());
    }
}

#[test]
fn a_required_type_is_told_all_the_same() {
    let rig = rig();
    let path = "/v1/recipients/ada/preferences";
    put(
        &rig,
        path,
        &json!([{"category": "news", "channel": "email", "mode": "never"}]),
    );
    for kind in ["note", "alarm"] {
        publish(&rig, kind, kind, &["ada"]);
        let email = &get(&rig, &format!("/v1/events/{kind}"))["channels"]["email"];
        assert_eq!(email["entries"] == 1, kind == "alarm", "{email}");
    }
}

#[test]
fn t5_who_is_left_out_is_counted() {
    let rig = rig();
    let tip = |id: &str, object: &str, to: &[&str]| {
        let mut tip = event(id, "tip", to);
        tip["object"]["id"] = json!(object);
        post(&rig, "/v1/events", &tip)
    };
    assert_eq!(tip("e1", "o", &["ada"])["suppressed"], 0);
    let answer = tip("e2", "o", &["ada", "bob"]);
    assert_eq!(
        (&answer["notifications"], &answer["suppressed"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(tip("e3", "p", &["ada"])["suppressed"], 0);
    let event = get(&rig, "/v1/events/e2");
    assert_eq!(event["notifications"], 1);
    assert_eq!(event["suppressed"], json!({"once_pending": 1}));
    assert_eq!(get(&rig, "/v1/events/e1")["suppressed"], json!({}));
    // The same after a restart.
    let rig = rig.restart_with(RULES);
    let mut again = super::event("e4", "tip", &["ada", "bob"]);
    again["object"]["id"] = json!("o");
    assert_eq!(post(&rig, "/v1/events", &again)["suppressed"], 2);
}

#[test]
fn t19_a_condition_is_asked_of_each_recipient() {
    let rig = rig();
    let data = json!({"data": {"plan": "gold"}});
    done(&rig.call(Method::PATCH, "/v1/recipients/ada", &data));
    publish(&rig, "e1", "offer", &["ada", "bob"]);
    let inbox = &get(&rig, "/v1/events/e1")["channels"]["inbox"];
    assert_eq!(inbox["outcomes"], json!({"delivered": 1, "skipped": 1}));
    assert_eq!(inbox["reasons"], json!({"condition_error": 1}));
    let types = get(&rig, "/v1/types");
    assert_eq!(
        types["types"]["offer"]["condition"],
        "recipient.data.plan == 'gold'"
    );
    assert_eq!(types["types"]["tip"]["admission"], "once_pending");
}
