//! Preferences of other products.

use serde_json::{Value, json};

use super::preferences::{ConfiguredTypes, knock, novu};

fn known() -> ConfiguredTypes {
    ConfiguredTypes::of(&json!({ "types": {
        "comment": { "category": "talk", "required": false, "channels": { "inbox": {}, "email": {}, "webpush": {} } },
        "mention": { "category": "talk", "required": false, "channels": { "inbox": {}, "slack": {} } },
        "password": { "category": "account", "required": true, "channels": { "email": {} } },
    } }))
}

fn never(scope: &str, name: &str, channel: &str) -> Value {
    json!({ scope: name, "channel": channel, "mode": "never" })
}

#[test]
fn moving_knocks_preferences_keeps_off_what_is_off() {
    let line = json!({ "user_id": "ann", "preferences": {
        "id": "default",
        "__typename": "PreferenceSet",
        "channel_types": { "sms": false, "email": true, "push": { "conditions": [{ "variable": "x" }] } },
        "categories": { "talk": { "channel_types": { "email": false, "in_app_feed": true } }, "gone": false },
        "workflows": {
            "comment": false,
            "mention": { "channel_types": { "chat": false } },
            "password": { "channel_types": { "email": false } },
        },
        "channels": { "6f-1": false },
        "commercial_subscribed": false,
    } });
    let mapped = knock(&line, &known()).unwrap();
    assert_eq!(mapped.recipient, "ann");
    let expected = [
        never("category", "*", "sms"),
        never("category", "talk", "email"),
        never("type", "comment", "email"),
        never("type", "comment", "inbox"),
        never("type", "comment", "webpush"),
        never("type", "mention", "slack"),
    ];
    assert_eq!(mapped.list, expected);
    let left_out = [
        "conditions of `push`",
        "the category `gone`, which is not configured",
        "the type `password`, which is required",
        "the provider `6f-1`",
        "`commercial_subscribed`",
    ];
    assert_eq!(mapped.left_out, left_out);
    // All sets of a user, and sets by their id.
    let off = json!({ "channel_types": { "email": false } });
    let mut set = off.clone();
    set["id"] = "default".into();
    for preferences in [
        json!([{ "id": "acme", "workflows": { "comment": false } }, set]),
        json!({ "default": off }),
    ] {
        let line = json!({ "user_id": "ann", "preferences": preferences });
        assert_eq!(knock(&line, &known()).unwrap().list, [never("category", "*", "email")]);
    }
    for wrong in [json!({ "user_id": "ann" }), json!({ "preferences": {} }), json!(7)] {
        assert!(knock(&wrong, &known()).unwrap_err().hint.contains("user_id"), "{wrong}");
    }
}

#[test]
fn moving_novus_preferences_keeps_off_what_is_off() {
    let workflow = |identifier: &str, enabled: bool, channels: Value, overrides: Value| {
        json!({
            "enabled": enabled, "channels": channels, "overrides": overrides,
            "workflow": { "slug": "x_wf_1", "identifier": identifier, "name": "X", "critical": false },
        })
    };
    let preferences = json!({
        "global": { "enabled": true, "channels": { "email": true, "sms": false, "in_app": true } },
        "workflows": [
            workflow("comment", true, json!({ "email": false, "push": false, "in_app": true }), json!([
                { "channel": "email", "source": "subscriber" },
                { "channel": "push", "source": "template" },
            ])),
            workflow("mention", false, json!({ "in_app": true }), json!([])),
            workflow("gone", true, json!({ "email": false }), json!([])),
        ],
    });
    let expected = [
        never("category", "*", "sms"),
        never("type", "comment", "email"),
        never("type", "mention", "inbox"),
        never("type", "mention", "slack"),
    ];
    for preferences in [preferences.clone(), json!({ "data": preferences })] {
        let line = json!({ "subscriberId": "ann", "preferences": preferences });
        let mapped = novu(&line, &known()).unwrap();
        assert_eq!(mapped.list, expected);
        assert_eq!(mapped.left_out, ["the type `gone`, which is not configured"]);
    }
    let off = json!({ "subscriberId": "ann", "preferences": { "global": { "enabled": false, "channels": {} } } });
    assert_eq!(novu(&off, &known()).unwrap().list, [never("category", "*", "*")]);
    assert!(
        novu(&json!({ "subscriberId": "ann" }), &known())
            .unwrap_err()
            .hint
            .contains("subscriberId")
    );
}
