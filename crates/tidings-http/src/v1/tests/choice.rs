//! Calls about what is told at all: data, mutes, required types, conditions, admission.

use tidings_core::model::CHANNELS;

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
[categories.account]
[types.sign_in]
category = "account"
required = true
channels = { email = { policy = "now" } }
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
    assert_eq!(get(&rig, "/v1/recipients/ada")["data"], json!({"plan": "gold"}));
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
    // `*` is each channel there is, and one item as long as none differs.
    assert_eq!(get(&rig, path), mutes);
    put(&rig, path, &mutes);
    assert_eq!(get(&rig, path), mutes);
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
        (json!([{"topic": "a", "channel": "*", "mode": "daily"}]), "unknown_preference"),
        (json!([{"object": "a", "channel": "email", "mode": "immediate"}]), "unknown_preference"),
        (json!([{"type": "note", "channel": "*", "mode": "never"}]), "unknown_preference"),
        (json!([{"type": "alarm", "channel": "email", "mode": "never"}]), "unknown_preference"),
        (
            json!([{"topic": "a", "object": "b", "channel": "email", "mode": "never"}]),
            "invalid_body",
        ),
        (json!([{"topic": "a", "channel": "fax", "mode": "never"}]), "unknown_channel"),
    ] {
        let answer = rig.call(Method::PUT, path, &list);
        assert_eq!(answer.json()["code"], code, "{list}: {}", answer.json());
    }
}

#[test]
fn an_event_makes_recipients_and_keeps_nothing_of_their_profiles() {
    let rig = rig();
    let event = |to: Value| json!({"id": "e1", "type": "alarm", "object": {"id": "o"}, "to": {"recipients": to}});
    let unknown = post(&rig, "/v1/events", &event(json!(["eve"])));
    assert_eq!(unknown["warnings"][0]["code"], "unknown_recipient");
    assert_eq!(
        problem(&rig.call(Method::GET, "/v1/events/e1", &Value::Null), StatusCode::NOT_FOUND),
        "event_not_found"
    );
    let eve = json!({"id": "eve", "email": "eve@example.org", "tz": "Europe/Paris"});
    let made = post(&rig, "/v1/events", &event(json!([eve, "ada"])));
    assert_eq!((&made["status"], &made["notifications"]), (&json!("accepted"), &json!(2)));
    let profile = get(&rig, "/v1/recipients/eve");
    assert_eq!(profile["email"], "eve@example.org");
    assert_eq!(profile["tz"], "Europe/Paris");
    let stored = get(&rig, "/v1/events/e1")["event"].to_string();
    assert!(stored.contains("\"eve\"") && !stored.contains("example.org"), "{stored}");
    // What came before changes nothing, and what is refused neither.
    let again = post(&rig, "/v1/events", &event(json!([{"id": "eve", "tz": null}, "ada"])));
    assert_eq!((&again["status"], &again["warnings"]), (&json!("duplicate"), &json!([])));
    for odd in [
        json!([{"email": "fay@example.org"}]),
        json!([{"id": "fay", "lat": 1.0}]),
        json!([{"id": "fay", "email": "no address"}]),
        json!([{"id": "fay", "mail": "fay@example.org"}]),
        json!([7]),
    ] {
        let answer = rig.call(Method::POST, "/v1/events", &event(odd.clone()));
        assert_eq!(problem(&answer, StatusCode::UNPROCESSABLE_ENTITY), "invalid_body", "{odd}");
        let detail = answer.json()["detail"].to_string();
        assert!(detail.contains("to.recipients"), "{odd}: {detail}");
    }
    assert_eq!(get(&rig, "/v1/recipients/eve")["tz"], "Europe/Paris");
    let fay = rig.call(Method::GET, "/v1/recipients/fay", &Value::Null);
    assert_eq!(fay.status, StatusCode::NOT_FOUND);
}

#[test]
fn f1_all_categories_are_those_that_come_later_too() {
    let rig = rig();
    let path = "/v1/recipients/ada/preferences";
    let all = json!([{"category": "*", "channel": "*", "mode": "never"}]);
    put(&rig, path, &all);
    assert_eq!(get(&rig, path), all);
    publish(&rig, "e1", "note", &["ada"]);
    assert_eq!(get(&rig, "/v1/events/e1")["channels"], json!({}));
    // One channel more, and it is listed by channel.
    done(&rig.call(
        Method::PATCH,
        path,
        &json!([{"category": "*", "channel": "inbox", "mode": "default"}]),
    ));
    assert_eq!(get(&rig, path).as_array().unwrap().len(), CHANNELS.len() - 1);
    publish(&rig, "e2", "note", &["ada"]);
    let channels = get(&rig, "/v1/events/e2")["channels"].clone();
    assert_eq!(channels.as_object().unwrap().keys().collect::<Vec<_>>(), ["inbox"]);
    let daily = json!([{"category": "*", "channel": "*", "mode": "daily"}]);
    let refused = rig.call(Method::PUT, path, &daily);
    assert_eq!(refused.json()["code"], "unknown_preference");
    put(&rig, path, &json!([]));
    assert_eq!(get(&rig, path), json!([]));
}

#[test]
fn f11_never_for_required_types_alone_is_warned_of() {
    let rig = rig();
    let path = "/v1/recipients/ada/preferences";
    let never = json!([{"category": "account", "channel": "email", "mode": "never"}]);
    let answer = rig.call(Method::PATCH, path, &never);
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.json()["warnings"][0]["code"], "only_required");
    let news = json!([{"category": "news", "channel": "email", "mode": "never"}]);
    done(&rig.call(Method::PATCH, path, &news));
}

#[test]
fn a_required_type_is_told_all_the_same() {
    let rig = rig();
    let path = "/v1/recipients/ada/preferences";
    put(&rig, path, &json!([{"category": "news", "channel": "email", "mode": "never"}]));
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
    assert_eq!((&answer["notifications"], &answer["suppressed"]), (&json!(1), &json!(1)));
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
    assert_eq!(types["types"]["offer"]["condition"], "recipient.data.plan == 'gold'");
    assert_eq!(types["types"]["tip"]["admission"], "once_pending");
}
