//! Calls about what hosts know of recipients and objects.

use super::*;

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
