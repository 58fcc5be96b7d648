//! Tenants, their members and tokens, asked as hosts and end users ask.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tidings_api::keys::NewKey;
use tidings_api::token::sign;
use tidings_core::{Id, Instant};
use tidings_node::{KeyChange, Role};

use crate::rig::{Answered, CONFIG, Rig, signing_key};
use crate::{Access, Settings};

const ON: &str = "[tenants]\non = true\n[users]\ntopics = [\"a\"]\n";

/// A server that asks for keys, and the host's.
struct World {
    rig: Rig,
    host: String,
}

impl World {
    fn new() -> Self {
        let config = format!("{CONFIG}{ON}");
        let rig = Rig::with(&config, Access::Keys { token: None }, Settings::default());
        let key = NewKey::make(String::new(), Role::Admin, Instant(0)).unwrap();
        let host = key.secret.text().to_owned();
        rig.change_keys(KeyChange::Make(key.stored));
        rig.make_signing_key("k1");
        let world = Self { rig, host };
        for tenant in ["acme", "globex"] {
            world.done(Method::PUT, &format!("/v1/tenants/{tenant}"), &json!({ "name": tenant }));
        }
        for who in ["ada", "bob", "eve"] {
            let body = json!({ "name": who, "email": format!("{who}@example.org") });
            world.done(Method::PUT, &format!("/v1/recipients/{who}"), &body);
        }
        world.done(Method::PUT, "/v1/tenants/acme/members/ada", &Value::Null);
        world.done(Method::PUT, "/v1/tenants/globex/members/eve", &Value::Null);
        world
    }

    fn by(&self, key: &str, method: Method, path: &str, body: &Value) -> Answered {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let bearer = format!("Bearer {key}");
        let headers = [("authorization", &*bearer), ("content-type", "application/json")];
        self.rig.send(method, path, &headers, body)
    }

    fn host(&self, method: Method, path: &str, body: &Value) -> Answered {
        self.by(&self.host, method, path, body)
    }

    #[track_caller]
    fn done(&self, method: Method, path: &str, body: &Value) -> Value {
        let answer = self.host(method, path, body);
        assert!(answer.status.is_success(), "{path}: {answer:?}");
        answer.json()
    }

    fn get(&self, path: &str) -> Value {
        self.done(Method::GET, path, &Value::Null)
    }

    /// A token for a tenant.
    fn token(&self, recipient: &str, tenant: Option<&str>) -> String {
        let (recipient, now_s) = (Id::new(recipient).unwrap(), 1_704_110_400);
        let tenant = tenant.map(|id| Id::new(id).unwrap());
        sign(&signing_key("k1"), &recipient, now_s, now_s + 60, None, tenant.as_ref()).unwrap()
    }
}

#[track_caller]
fn refused(answer: &Answered, status: u16, code: &str) -> Value {
    let json = answer.json();
    assert_eq!((answer.status.as_u16(), &json["code"]), (status, &json!(code)), "{json}");
    json
}

#[test]
fn t42_put_replaces_and_patch_merges_brand_key_by_key() {
    let world = World::new();
    let whole = json!({
        "name": "Acme", "brand": { "color": "#0b57a4", "footer": "Bye" }, "locale": "de",
        "data": { "plan": "gold" },
    });
    world.done(Method::PUT, "/v1/tenants/acme", &whole);
    let change = json!({ "brand": { "footer": null, "name": "A" }, "locale": null });
    world.done(Method::PATCH, "/v1/tenants/acme", &change);
    let shown = world.get("/v1/tenants/acme");
    assert_eq!(shown["brand"], json!({ "color": "#0b57a4", "name": "A" }));
    assert_eq!((&shown["name"], &shown["locale"]), (&json!("Acme"), &Value::Null));
    assert_eq!(shown["data"], json!({ "plan": "gold" }));
    // What is shown can be put back.
    world.done(Method::PUT, "/v1/tenants/acme", &shown);
    assert_eq!(world.get("/v1/tenants/acme"), shown);
    world.done(Method::PUT, "/v1/tenants/acme", &json!({}));
    let bare = world.get("/v1/tenants/acme");
    assert_eq!((&bare["name"], &bare["brand"]), (&Value::Null, &json!({})));
}

#[test]
fn t42_tenants_are_made_many_at_once_and_listed_in_pages() {
    let world = World::new();
    let many = json!([{ "id": "b" }, { "id": "" }, { "id": "a", "name": "A" }, { "name": "x" }]);
    let answer = world.done(Method::POST, "/v1/tenants", &many);
    let states: Vec<_> = answer.as_array().unwrap().iter().map(|one| &one["status"]).collect();
    assert_eq!(states, ["done", "rejected", "done", "rejected"]);
    let ids = |page: &Value| -> Vec<String> {
        let rows = page["tenants"].as_array().unwrap();
        rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
    };
    let first = world.get("/v1/tenants?limit=3");
    assert_eq!(ids(&first), ["a", "acme", "b"]);
    let rest =
        world.get(&format!("/v1/tenants?limit=3&cursor={}", first["next"].as_str().unwrap()));
    assert_eq!((ids(&rest), &rest["next"]), (vec!["globex".to_owned()], &Value::Null));
}

#[test]
fn t42_an_unknown_tenant_is_404_in_a_path_and_422_elsewhere_with_the_nearest() {
    let world = World::new();
    for method in [Method::GET, Method::PATCH, Method::DELETE] {
        let body = if method == Method::PATCH { json!({}) } else { Value::Null };
        refused(&world.host(method, "/v1/tenants/acne", &body), 404, "tenant_not_found");
    }
    for path in ["/v1/tenants/acne/members/ada", "/v1/tenants/acne/members/nobody"] {
        refused(&world.host(Method::PUT, path, &Value::Null), 404, "tenant_not_found");
    }
    let event = json!({ "type": "note", "object": { "id": "o" }, "to": {}, "tenant": "acne" });
    let told = refused(&world.host(Method::POST, "/v1/events", &event), 422, "unknown_tenant");
    assert!(told["hint"].as_str().unwrap().contains("`acme`"), "{told}");
    for path in ["/v1/recipients/ada/inbox?tenant=acne", "/v1/messages?tenant=acne"] {
        let told = refused(&world.host(Method::GET, path, &Value::Null), 422, "unknown_tenant");
        assert!(told["hint"].as_str().unwrap().contains("`acme`"), "{told}");
    }
    let nobody = world.host(Method::PUT, "/v1/tenants/acme/members/nobody", &Value::Null);
    refused(&nobody, 404, "recipient_not_found");
}

#[test]
fn t42_members_are_listed_in_pages_and_changed_in_bulk() {
    let world = World::new();
    let members = |path: &str| world.get(path)["members"].clone();
    assert_eq!(members("/v1/tenants/acme/members"), json!([{ "id": "ada", "name": "ada" }]));
    let many = json!([
        { "recipient": "eve" }, { "recipient": "bob" }, { "recipient": "ada", "remove": true },
        { "recipient": "nobody" },
    ]);
    let answer = world.done(Method::POST, "/v1/tenants/acme/members", &many);
    assert_eq!(answer[3]["problem"]["code"], "recipient_not_found");
    let page = world.get("/v1/tenants/acme/members?limit=1");
    assert_eq!(page["members"][0]["id"], "bob");
    let next = page["next"].as_str().unwrap();
    let rest = members(&format!("/v1/tenants/acme/members?limit=1&cursor={next}"));
    assert_eq!(rest, json!([{ "id": "eve", "name": "eve" }]));
    world.done(Method::PATCH, "/v1/recipients/eve", &json!({ "tenants": ["globex"] }));
    assert_eq!(members("/v1/tenants/acme/members"), json!([{ "id": "bob", "name": "bob" }]));
}

#[test]
fn t42_without_tenants_whatever_names_one_is_refused_with_the_key() {
    let rig = Rig::new();
    rig.call(Method::PUT, "/v1/recipients/ada", &json!({}));
    let event = json!({ "type": "note", "object": { "id": "o" }, "to": {}, "tenant": "acme" });
    let follow = json!([{ "recipient": "ada", "topic": "t", "tenant": "acme" }]);
    for (method, path, body) in [
        (Method::PUT, "/v1/tenants/acme", json!({})),
        (Method::GET, "/v1/tenants", Value::Null),
        (Method::POST, "/v1/events", event),
        (Method::PATCH, "/v1/recipients/ada", json!({ "tenants": ["acme"] })),
        (Method::POST, "/v1/cancel", json!({ "cancellation_key": "k", "tenant": "acme" })),
        (Method::GET, "/v1/recipients/ada/inbox?tenant=acme", Value::Null),
        (Method::POST, "/v1/recipients/ada/inbox/seen", json!({ "event": "e", "tenant": "acme" })),
    ] {
        let told = refused(&rig.call(method, path, &body), 422, "tenants_off");
        assert!(told["hint"].as_str().unwrap().contains("[tenants]"), "{path}: {told}");
    }
    let answer = rig.call(Method::POST, "/v1/subscriptions", &follow);
    assert_eq!(answer.json()[0]["problem"]["code"], "tenants_off");
    // A profile without tenants is put as ever.
    let put = rig.call(Method::PUT, "/v1/recipients/ada", &json!({ "tenants": [] }));
    assert_eq!(put.status, StatusCode::NO_CONTENT);
}

#[test]
fn t42_tokens_name_a_tenant_that_is_there_and_pages_of_theirs_take_no_other() {
    let world = World::new();
    let inbox = |token: &str, query: &str| {
        world.by(token, Method::GET, &format!("/v1/me/inbox{query}"), &Value::Null)
    };
    let of_acme = world.token("ada", Some("acme"));
    assert_eq!(inbox(&of_acme, "").status, StatusCode::OK);
    // Membership is not asked.
    assert_eq!(inbox(&world.token("ada", Some("globex")), "").status, StatusCode::OK);
    refused(&inbox(&world.token("ada", Some("acne")), ""), 401, "token_tenant");
    refused(&inbox(&of_acme, "?tenant=acme"), 400, "invalid_query");
    assert_eq!(inbox(&world.token("ada", None), "?tenant=acme").status, StatusCode::OK);
    refused(&inbox(&world.token("ada", None), "?tenant=acne"), 422, "unknown_tenant");
    // What a token sets is its tenant's.
    let mute = |tenant: Value| {
        let choice =
            json!({ "type": "note", "channel": "email", "mode": "never", "tenant": tenant });
        world.by(&of_acme, Method::PATCH, "/v1/me/preferences", &json!([choice]))
    };
    refused(&mute(json!("globex")), 422, "invalid_body");
    assert_eq!(mute(Value::Null).status, StatusCode::NO_CONTENT);
    let chosen = world.get("/v1/recipients/ada/preferences");
    assert_eq!(chosen[0]["tenant"], "acme", "{chosen}");
    world.done(Method::DELETE, "/v1/tenants/acme", &Value::Null);
    refused(&inbox(&of_acme, ""), 401, "token_tenant");
}

#[test]
fn t42_a_signing_key_of_a_tenant_signs_for_that_one_alone() {
    let world = World::new();
    let made = world.done(Method::POST, "/v1/admin/signing-keys", &json!({ "tenant": "acme" }));
    assert_eq!(made["tenant"], "acme");
    let (id, secret) = (made["id"].as_str().unwrap(), made["secret"].as_str().unwrap());
    let key = tidings_node::SigningKey {
        id: id.to_owned(),
        secret: tidings_node::SigningSecret::Hs256(secret.to_owned()),
        ..signing_key("k1")
    };
    let call = |tenant: Option<&str>| {
        let (ada, tenant) = (Id::new("ada").unwrap(), tenant.map(|id| Id::new(id).unwrap()));
        let now_s = 1_704_110_400;
        let token = sign(&key, &ada, now_s, now_s + 60, None, tenant.as_ref()).unwrap();
        world.by(&token, Method::GET, "/v1/me/inbox", &Value::Null)
    };
    assert_eq!(call(Some("acme")).status, StatusCode::OK);
    refused(&call(Some("globex")), 401, "token_tenant");
    refused(&call(None), 401, "token_tenant");
    let signed = json!({ "recipient": "ada", "tenant": "acme" });
    let token = world.done(Method::POST, "/v1/admin/tokens", &signed)["token"].clone();
    let mine = world.by(token.as_str().unwrap(), Method::GET, "/v1/me/inbox", &Value::Null);
    assert_eq!(mine.status, StatusCode::OK);
    world.done(Method::DELETE, "/v1/tenants/acme", &Value::Null);
    let keys = world.get("/v1/admin/signing-keys");
    assert!(!keys.to_string().contains(id), "{keys}");
    world.done(Method::PUT, "/v1/tenants/acme", &json!({}));
    refused(&call(Some("acme")), 401, "token_tenant");
}

#[test]
fn t42_what_is_done_in_one_view_under_an_idempotency_key_is_not_done_in_another() {
    let world = World::new();
    for tenant in ["acme", "globex"] {
        let event = json!({ "id": tenant, "type": "note", "object": { "id": "o" }, "to": { "recipients": ["ada"] }, "tenant": tenant });
        world.done(Method::POST, "/v1/events", &event);
    }
    for (tenant, left) in [("acme", 1), ("globex", 0)] {
        let bearer = format!("Bearer {}", world.token("ada", Some(tenant)));
        let headers = [
            ("authorization", &*bearer),
            ("content-type", "application/json"),
            ("idempotency-key", "once"),
        ];
        let all = json!({ "all": true }).to_string();
        let answer = world.rig.send(Method::POST, "/v1/me/inbox/read", &headers, all);
        assert_eq!(answer.json()["unread"], 0, "{tenant}: {answer:?}");
        assert_eq!(world.get("/v1/recipients/ada/inbox/counts")["unread"], left, "{tenant}");
    }
}

#[test]
fn t42_a_token_of_the_second_of_a_deletion_is_not_for_the_tenant_made_anew() {
    let world = World::new();
    let inbox = |token: &str| world.by(token, Method::GET, "/v1/me/inbox", &Value::Null);
    let token = world.token("ada", Some("acme"));
    assert_eq!(inbox(&token).status, StatusCode::OK);
    world.done(Method::DELETE, "/v1/tenants/acme", &Value::Null);
    world.done(Method::PUT, "/v1/tenants/acme", &json!({}));
    refused(&inbox(&token), 401, "token_tenant");
    world.rig.at("2024-01-01T12:00:01Z");
    let (ada, acme) = (Id::new("ada").unwrap(), Id::new("acme").unwrap());
    let later =
        sign(&signing_key("k1"), &ada, 1_704_110_401, 1_704_110_461, None, Some(&acme)).unwrap();
    assert_eq!(inbox(&later).status, StatusCode::OK);
}

#[test]
fn t42_nothing_is_published_for_a_tenant_that_was_deleted() {
    let world = World::new();
    let event =
        json!({ "id": "e", "type": "note", "object": { "id": "o" }, "to": {}, "tenant": "acme" });
    world.done(Method::DELETE, "/v1/tenants/acme", &Value::Null);
    refused(&world.host(Method::POST, "/v1/events", &event), 409, "tenant_gone");
    world.done(Method::PUT, "/v1/tenants/acme", &json!({}));
    world.done(Method::POST, "/v1/events", &event);
}

#[test]
fn t42_an_export_plays_also_where_a_tenant_is_disabled() {
    let world = World::new();
    let event = json!({ "id": "e", "type": "note", "object": { "id": "o" }, "to": { "everyone": true }, "tenant": "acme" });
    world.done(Method::POST, "/v1/events", &event);
    world.done(Method::PATCH, "/v1/tenants/acme", &json!({ "disabled": true }));
    let export = world.host(Method::GET, "/v1/export?days=1", &Value::Null);
    let export = String::from_utf8(export.bytes).unwrap();
    let lines: Vec<Value> =
        export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let place = |wanted: &dyn Fn(&Value) -> bool| lines.iter().position(wanted).unwrap();
    let made = place(&|line| line["op"] == "tenant" && line["id"] == "acme");
    let published = place(&|line| line["op"] == "publish");
    let disabled = place(&|line| line["op"] == "tenant" && line["disabled"] == true);
    assert!(made < published && published < disabled, "{export}");
    let rules = tidings_config::parse(&format!("{CONFIG}{ON}"), "tidings.toml").unwrap();
    for (number, line) in (1..).zip(export.lines()) {
        tidings_api::timeline::read_line(&rules, number, line.as_bytes()).unwrap();
    }
}

#[test]
fn t42_profiles_show_their_tenants_and_keep_them_when_put_back() {
    let world = World::new();
    world.done(Method::PUT, "/v1/tenants/globex/members/ada", &Value::Null);
    let ada = world.get("/v1/recipients/ada");
    assert_eq!(ada["tenants"], json!(["acme", "globex"]));
    world.done(Method::PUT, "/v1/recipients/ada", &ada);
    assert_eq!(world.get("/v1/recipients/ada"), ada);
    assert_eq!(world.get("/v1/recipients/bob").get("tenants"), None);
    world.done(Method::DELETE, "/v1/tenants/acme", &Value::Null);
    assert_eq!(world.get("/v1/recipients/ada")["tenants"], json!(["globex"]));
}

#[test]
fn t42_end_users_get_no_name_of_a_tenant_that_is_near() {
    let world = World::new();
    let token = world.token("ada", None);
    let choice = json!({ "type": "note", "channel": "email", "mode": "never", "tenant": "globax" });
    for (method, path, body) in [
        (Method::GET, "/v1/me/inbox?tenant=globax", Value::Null),
        (Method::GET, "/v1/me/inbox/counts?tenant=globax", Value::Null),
        (Method::GET, "/v1/me/live?tenant=globax", Value::Null),
        (Method::GET, "/v1/me/pending?tenant=globax", Value::Null),
        (Method::GET, "/v1/me/preferences?tenant=globax", Value::Null),
        (Method::GET, "/v1/me/subscriptions?tenant=globax", Value::Null),
        (Method::PUT, "/v1/me/subscriptions/a?tenant=globax", Value::Null),
        (Method::PATCH, "/v1/me/preferences", json!([choice])),
        (Method::POST, "/v1/me/inbox/seen", json!({ "all": true, "tenant": "globax" })),
        (
            Method::POST,
            "/v1/me/inbox/snooze",
            json!({ "object": "o", "for": "1h", "tenant": "globax" }),
        ),
        (Method::POST, "/v1/me/flush", json!({ "tenant": "globax" })),
    ] {
        let told = refused(&world.by(&token, method.clone(), path, &body), 422, "unknown_tenant");
        assert!(!told.to_string().contains("globex"), "{path}: {told}");
        // A host may know.
        let twin = path.replacen("/v1/me", "/v1/recipients/ada", 1);
        let told = refused(&world.host(method, &twin, &body), 422, "unknown_tenant");
        assert!(told["hint"].as_str().unwrap().contains("`globex`"), "{path}: {told}");
    }
}
