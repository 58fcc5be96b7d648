//! Tenants, their members, tokens and keys, asked as hosts, end users and tenants ask.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::http::rig::{Answered, CONFIG, Rig, signing_key};
use crate::http::{Access, Settings};
use crate::keys::NewKey;
use crate::token::sign;
use tidings_core::{Id, Instant};
use tidings_node::{KeyChange, Role};

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
        let key = NewKey::make(String::new(), Role::Admin, None, Instant(0)).unwrap();
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

    /// A key of a tenant.
    fn key_of(&self, tenant: &str) -> String {
        let body = json!({ "tenant": tenant, "role": "admin" });
        let made = self.done(Method::POST, "/v1/admin/keys", &body);
        assert_eq!(made["tenant"], tenant);
        made["key"].as_str().unwrap().to_owned()
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
fn t42_put_replaces_and_patch_merges_brand_and_limits_key_by_key() {
    let world = World::new();
    let whole = json!({
        "name": "Acme", "brand": { "color": "#0b57a4", "footer": "Bye" }, "locale": "de",
        "limits": { "notifications_per_day": 7 }, "data": { "plan": "gold" },
    });
    world.done(Method::PUT, "/v1/tenants/acme", &whole);
    let change = json!({ "brand": { "footer": null, "name": "A" }, "limits": {}, "locale": null });
    world.done(Method::PATCH, "/v1/tenants/acme", &change);
    let shown = world.get("/v1/tenants/acme");
    assert_eq!(shown["brand"], json!({ "color": "#0b57a4", "name": "A" }));
    assert_eq!((&shown["name"], &shown["locale"]), (&json!("Acme"), &Value::Null));
    assert_eq!(shown["limits"], json!({ "notifications_per_day": 7 }));
    assert_eq!(shown["data"], json!({ "plan": "gold" }));
    // What is shown can be put back.
    world.done(Method::PUT, "/v1/tenants/acme", &shown);
    assert_eq!(world.get("/v1/tenants/acme"), shown);
    world.done(Method::PUT, "/v1/tenants/acme", &json!({}));
    let bare = world.get("/v1/tenants/acme");
    assert_eq!((&bare["name"], &bare["brand"]), (&Value::Null, &json!({})));
    assert_eq!(bare["limits"], json!({ "notifications_per_day": null }));
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
    assert_eq!((&page["members"][0]["id"], &page["next"]), (&json!("bob"), &json!("bob")));
    let rest = members("/v1/tenants/acme/members?limit=1&cursor=bob");
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
        (Method::POST, "/v1/admin/keys", json!({ "tenant": "acme" })),
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
fn t42_a_key_of_a_tenant_has_what_is_its_tenants_alone() {
    let world = World::new();
    let key = world.key_of("acme");
    let call = |method: Method, path: &str, body: Value| world.by(&key, method, path, &body);
    let get = |path: &str| call(Method::GET, path, Value::Null);
    // Of a member it sees id and name; of others nothing.
    assert_eq!(get("/v1/recipients/ada").json(), json!({ "id": "ada", "name": "ada" }));
    for who in ["eve", "bob", "nobody"] {
        for path in ["", "/inbox", "/preferences", "/subscriptions"] {
            let path = format!("/v1/recipients/{who}{path}");
            let told = refused(&get(&path), 404, "recipient_not_found");
            assert_eq!(told["detail"], format!("unknown recipient `{who}`"), "{path}");
        }
        let gone = format!("/v1/tenants/acme/members/{who}");
        refused(&call(Method::DELETE, &gone, Value::Null), 404, "recipient_not_found");
    }
    // Calls that are of no tenant.
    for (method, path, body) in [
        (Method::GET, "/v1/types", Value::Null),
        (Method::GET, "/v1/suppressions", Value::Null),
        (Method::GET, "/v1/admin/keys", Value::Null),
        (Method::GET, "/v1/tenants", Value::Null),
        (Method::PUT, "/v1/recipients/ada", json!({})),
        (Method::DELETE, "/v1/recipients/ada", Value::Null),
        (Method::POST, "/v1/types/note/pause", Value::Null),
        (Method::PUT, "/v1/tenants/acme", json!({})),
        (Method::PUT, "/v1/tenants/acme/members/bob", Value::Null),
        (Method::POST, "/v1/recipients/ada/tokens/revoke", Value::Null),
    ] {
        refused(&call(method, path, body), 403, "tenant");
    }
    // Its own tenant, and no other.
    assert_eq!(get("/v1/tenants/acme").json()["name"], "acme");
    refused(&get("/v1/tenants/globex"), 404, "tenant_not_found");
    refused(&get("/v1/tenants/globex/members"), 404, "tenant_not_found");
    let named = call(Method::PATCH, "/v1/tenants/acme", json!({ "name": "A" }));
    assert_eq!(named.status, StatusCode::NO_CONTENT);
    for of_host in [json!({ "disabled": true }), json!({ "limits": {} })] {
        refused(&call(Method::PATCH, "/v1/tenants/acme", of_host), 403, "tenant");
    }
    assert_eq!(get("/v1/tenants/acme/members").json()["members"][0]["id"], "ada");
    let follow = call(Method::PUT, "/v1/recipients/ada/subscriptions/artist/1", Value::Null);
    assert_eq!(follow.status, StatusCode::NO_CONTENT);
    assert_eq!(get("/v1/recipients/ada/subscriptions").json()["topics"], json!(["artist/1"]));
    let all = world.get("/v1/recipients/ada/subscriptions");
    assert_eq!(all, json!({ "topics": [], "tenants": { "acme": ["artist/1"] } }));
    // It ends with the tenant.
    world.done(Method::DELETE, "/v1/tenants/acme", &Value::Null);
    refused(&get("/v1/tenants/acme"), 401, "unauthorized");
    world.done(Method::PUT, "/v1/tenants/acme", &json!({}));
    refused(&get("/v1/tenants/acme"), 401, "unauthorized");
}

#[test]
fn t42_events_by_a_key_are_of_its_tenant_and_others_are_not_there() {
    let world = World::new();
    let key = world.key_of("acme");
    let event = |id: &str| json!({ "id": id, "type": "note", "object": { "id": "o" }, "to": { "recipients": ["ada"] } });
    let by_key = |method: Method, path: &str, body: Value| world.by(&key, method, path, &body);
    let published = by_key(Method::POST, "/v1/events", event("own"));
    assert_eq!(published.status, StatusCode::ACCEPTED, "{published:?}");
    assert_eq!(world.get("/v1/events/own")["event"]["tenant"], "acme");
    let mut strangers = event("strangers");
    strangers["to"]["recipients"] = json!(["ada", "eve", "nobody"]);
    assert_eq!(by_key(Method::POST, "/v1/events", strangers).json()["notifications"], 1);
    world.done(Method::POST, "/v1/events", &event("hosts"));
    let mut theirs = event("theirs");
    theirs["tenant"] = json!("globex");
    world.done(Method::POST, "/v1/events", &theirs);
    refused(&by_key(Method::POST, "/v1/events", theirs), 422, "unknown_tenant");
    for id in ["hosts", "theirs"] {
        refused(&by_key(Method::POST, "/v1/events", event(id)), 409, "id_taken");
        let path = format!("/v1/events/{id}");
        refused(&by_key(Method::GET, &path, Value::Null), 404, "event_not_found");
        let why = json!({ "event": id, "recipient": "ada" });
        refused(&by_key(Method::POST, "/v1/explain", why), 404, "event_not_found");
        let cancelled = by_key(Method::POST, &format!("{path}/cancel"), Value::Null).json();
        assert_eq!(cancelled["status"], "remembered", "{id}");
    }
    let why = |who: &str| json!({ "event": "own", "recipient": who });
    assert_eq!(by_key(Method::POST, "/v1/explain", why("ada")).status, StatusCode::OK);
    refused(&by_key(Method::POST, "/v1/explain", why("eve")), 404, "recipient_not_found");
    let again = by_key(Method::POST, "/v1/events", event("own"));
    assert_eq!(again.json()["status"], "duplicate");
    let export = String::from_utf8(by_key(Method::GET, "/v1/export", Value::Null).bytes).unwrap();
    assert!(export.contains("\"own\"") && export.contains("\"ada\""), "{export}");
    for of_others in ["hosts", "theirs", "globex", "eve", "bob", "example.org"] {
        assert!(!export.contains(of_others), "{of_others}: {export}");
    }
}

#[test]
fn t42_idempotency_keys_are_remembered_by_api_key() {
    let world = World::new();
    let (acme, globex) = (world.key_of("acme"), world.key_of("globex"));
    let publish = |key: &str| {
        let bearer = format!("Bearer {key}");
        let headers = [
            ("authorization", &*bearer),
            ("content-type", "application/json"),
            ("idempotency-key", "once"),
        ];
        let event = json!({ "type": "note", "object": { "id": "o" }, "to": {} });
        self::id(&world.rig.send(Method::POST, "/v1/events", &headers, event.to_string()))
    };
    let first = publish(&acme);
    assert_eq!(publish(&acme), first);
    assert_ne!(publish(&globex), first);
}

#[test]
fn t42_lines_without_an_id_are_anothers_under_each_api_key() {
    let world = World::new();
    let keys = [world.key_of("acme"), world.key_of("acme"), world.host.clone()];
    let ids = keys.map(|key| {
        let bearer = format!("Bearer {key}");
        let headers = [
            ("authorization", &*bearer),
            ("content-type", "application/x-ndjson"),
            ("idempotency-key", "once"),
        ];
        let event = json!({ "type": "note", "object": { "id": "o" }, "to": {} }).to_string();
        let publish = || id(&world.rig.send(Method::POST, "/v1/events", &headers, event.clone()));
        let first = publish();
        assert_eq!(publish(), first);
        first
    });
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
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
fn t42_to_a_key_who_is_no_member_is_an_unknown_recipient_until_they_join() {
    let world = World::new();
    let key = world.key_of("acme");
    let publish = |id: &str, to: Value| {
        let event = json!({ "id": id, "type": "note", "object": { "id": "o" }, "to": { "recipients": to } });
        world.by(&key, Method::POST, "/v1/events", &event).json()
    };
    let warned = |answer: &Value| -> Vec<String> {
        let warnings = answer["warnings"].as_array().unwrap().iter();
        let words = warnings.filter(|one| one["code"] == "unknown_recipient");
        words.map(|one| one["detail"].as_str().unwrap().replace(['`', '.'], "")).collect()
    };
    let some = publish("some", json!(["ada", "eve", "nobody"]));
    assert_eq!(some["notifications"], 1, "{some}");
    let [eve, nobody] = &warned(&some)[..] else { panic!("{some}") };
    assert_eq!(eve.replace("eve", "nobody"), *nobody, "one who is there is told as one who is not");
    // An event that nobody got gives its id back, as where there is nobody of that name.
    let none = publish("none", json!(["eve"]));
    assert_eq!((&none["notifications"], warned(&none).len()), (&json!(0), 1));
    world.done(Method::PUT, "/v1/tenants/acme/members/eve", &Value::Null);
    let again = publish("none", json!(["eve"]));
    assert_eq!((&again["status"], &again["notifications"]), (&json!("accepted"), &json!(1)));
    // The host may send it again.
    let event = json!({ "id": "none", "type": "note", "object": { "id": "o" }, "to": { "recipients": ["eve"] }, "tenant": "acme" });
    let hosts = world.done(Method::POST, "/v1/events", &event);
    assert_eq!((&hosts["status"], &hosts["warnings"]), (&json!("duplicate"), &json!([])));
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
    let rules = crate::config::parse(&format!("{CONFIG}{ON}"), "tidings.toml").unwrap();
    for (number, line) in (1..).zip(export.lines()) {
        crate::timeline::read_line(&rules, number, line.as_bytes()).unwrap();
    }
}

#[test]
fn t42_an_explanation_says_that_the_limit_of_a_tenant_left_somebody_out() {
    let world = World::new();
    let limit = json!({ "limits": { "notifications_per_day": 0 } });
    world.done(Method::PATCH, "/v1/tenants/acme", &limit);
    let event = json!({ "id": "e", "type": "note", "object": { "id": "o" }, "to": { "recipients": ["ada"] }, "tenant": "acme" });
    let published = world.done(Method::POST, "/v1/events", &event);
    assert_eq!(published["suppressed"], 1, "{published}");
    for asked in [json!("e"), event] {
        let why = json!({ "event": asked, "recipient": "ada" });
        let told = world.done(Method::POST, "/v1/explain", &why);
        let last = told["steps"].as_array().unwrap().last().unwrap().clone();
        assert_eq!((&last["rule"], &last["ends"]), (&json!("tenant"), &json!(true)), "{told}");
        assert_eq!(last["result"], "left out: tenant_limit", "{told}");
    }
}

#[test]
fn t42_a_key_of_a_tenant_is_not_told_the_quiet_hours_of_a_member() {
    let world = World::new();
    let hours = json!({ "quiet_hours": { "from": "22:00", "to": "07:00" } });
    world.done(Method::PATCH, "/v1/recipients/ada", &hours);
    let path = "/v1/recipients/ada/preferences?choices=true";
    assert_eq!(world.get(path)["quiet_hours"]["from"], "22:00");
    let told = world.by(&world.key_of("acme"), Method::GET, path, &Value::Null);
    assert_eq!(told.json()["quiet_hours"], "default", "{told:?}");
}

fn id(answer: &Answered) -> String {
    assert_eq!(answer.status, StatusCode::ACCEPTED, "{answer:?}");
    answer.json()["id"].as_str().unwrap().to_owned()
}

#[test]
fn t42_a_key_changes_reads_and_retracts_the_objects_of_its_tenant() {
    let world = World::new();
    let [acme, globex] = ["acme", "globex"].map(|tenant| world.key_of(tenant));
    let ask = |key: &str, method: Method, body: Value| {
        world.by(key, method, "/v1/objects/doc%2F1", &body)
    };
    let get = |key: &str| ask(key, Method::GET, Value::Null);
    refused(&get(&acme), 404, "object_not_found");
    refused(&ask(&acme, Method::DELETE, Value::Null), 403, "object_not_yours");
    let title = json!({ "title": "Doc", "notifiable": true, "data": { "n": 1 } });
    assert_eq!(ask(&acme, Method::PUT, title).status, StatusCode::NO_CONTENT);
    let mut shown = json!({
        "id": "doc/1", "title": "Doc", "url": null, "image": null, "image_size": null,
        "data": { "n": 1 }, "notifiable": true, "retracted": false, "tenant": "acme",
    });
    assert_eq!(get(&acme).json(), shown);
    assert_eq!(world.get("/v1/objects/doc%2F1"), shown);
    refused(&get(&globex), 404, "object_not_found");
    refused(&ask(&globex, Method::PUT, json!({ "title": "G" })), 403, "object_not_yours");
    refused(&ask(&globex, Method::DELETE, Value::Null), 403, "object_not_yours");
    assert_eq!(get(&acme).json(), shown);
    assert_eq!(ask(&acme, Method::DELETE, Value::Null).status, StatusCode::NO_CONTENT);
    shown["retracted"] = json!(true);
    assert_eq!(get(&acme).json(), shown);
    refused(&ask(&globex, Method::PUT, json!({})), 403, "object_not_yours");
    // The host makes, shows and changes any; what it makes is no tenant's.
    world.done(Method::PUT, "/v1/objects/doc%2F1", &json!({ "title": { "en": "E", "de": "D" } }));
    assert_eq!(get(&acme).json()["title"], json!({ "en": "E", "de": "D" }));
    world.done(Method::PUT, "/v1/objects/plain", &json!({ "image": "/a.png" }));
    assert_eq!(world.get("/v1/objects/plain").get("tenant"), None);
    let many =
        json!([{ "id": "doc/1", "url": "/1" }, { "id": "plain", "url": "/2" }, { "id": "new" }]);
    let done = world.by(&acme, Method::POST, "/v1/objects", &many).json();
    let told = [&done[0]["status"], &done[1]["problem"]["code"], &done[2]["status"]];
    assert_eq!(told, ["done", "object_not_yours", "done"]);
    assert_eq!(world.get("/v1/objects/plain")["url"], Value::Null);
    assert_eq!(world.get("/v1/objects/new")["tenant"], "acme");
    // Its ownership ends with it: the id made anew is another tenant.
    world.done(Method::DELETE, "/v1/tenants/acme", &Value::Null);
    assert_eq!(world.get("/v1/objects/new").get("tenant"), None);
    world.done(Method::PUT, "/v1/tenants/acme", &json!({}));
    let anew = world.key_of("acme");
    refused(&ask(&anew, Method::PUT, json!({})), 403, "object_not_yours");
    refused(&get(&anew), 404, "object_not_found");
}

#[test]
fn t42_a_key_that_only_reads_changes_no_objects() {
    let world = World::new();
    let body = json!({ "tenant": "acme", "role": "read" });
    let made = world.done(Method::POST, "/v1/admin/keys", &body);
    let key = made["key"].as_str().unwrap();
    for method in [Method::PUT, Method::DELETE] {
        refused(&world.by(key, method, "/v1/objects/o", &json!({})), 403, "role");
    }
    let got = world.by(key, Method::GET, "/v1/objects/o", &Value::Null);
    refused(&got, 404, "object_not_found");
}

#[test]
fn t42_a_key_of_a_tenant_follows_and_unfollows_in_bulk_for_its_members_alone() {
    let world = World::new();
    let key = world.key_of("acme");
    let one = |who: &str, more: Value| {
        let mut one = json!({ "recipient": who, "topic": "artist/1" });
        one.as_object_mut().unwrap().append(&mut more.as_object().unwrap().clone());
        one
    };
    let many = [
        one("eve", json!({})),
        one("ada", json!({})),
        one("nobody", json!({})),
        one("ada", json!({ "topic": "artist/2", "tenant": "acme" })),
        one("ada", json!({ "tenant": "globex" })),
    ];
    let outcome = |row: &Value| row["problem"]["code"].as_str().unwrap_or("done").to_owned();
    let codes = ["recipient_not_found", "done", "recipient_not_found", "done", "unknown_tenant"];
    let array = world.by(&key, Method::POST, "/v1/subscriptions", &json!(many)).json();
    assert_eq!(array.as_array().unwrap().iter().map(outcome).collect::<Vec<_>>(), codes);
    let follows = |who: &str| world.get(&format!("/v1/recipients/{who}/subscriptions"));
    let of_acme = json!({ "topics": [], "tenants": { "acme": ["artist/1", "artist/2"] } });
    assert_eq!(follows("ada"), of_acme);
    assert_eq!(follows("eve"), json!({ "topics": [] }));
    // What the host and another tenant follow for them stays.
    for tenant in [None, Some("globex")] {
        world.done(
            Method::POST,
            "/v1/subscriptions",
            &json!([one("ada", json!({ "tenant": tenant }))]),
        );
    }
    let ends: String = many.iter().map(|of| format!("{}\n", one_ended(of))).collect();
    let bearer = format!("Bearer {key}");
    let headers = [("authorization", &*bearer), ("content-type", "application/x-ndjson")];
    let lines = world.rig.send(Method::POST, "/v1/subscriptions?answers=all", &headers, ends);
    let lines = String::from_utf8(lines.bytes).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[..5].iter().map(outcome).collect::<Vec<_>>(), codes);
    let left = json!({ "topics": ["artist/1"], "tenants": { "globex": ["artist/1"] } });
    assert_eq!(follows("ada"), left);
}

fn one_ended(subscription: &Value) -> Value {
    let mut ended = subscription.clone();
    ended["unsubscribe"] = json!(true);
    ended
}

#[test]
fn t42_a_key_of_a_tenant_removes_members_in_bulk_and_adds_none() {
    let world = World::new();
    let key = world.key_of("acme");
    world.done(Method::PUT, "/v1/tenants/acme/members/eve", &Value::Null);
    let many = json!([
        { "recipient": "bob" }, { "recipient": "eve", "remove": true },
        { "recipient": "bob", "remove": true }, { "recipient": "nobody", "remove": true },
    ]);
    let path = "/v1/tenants/acme/members";
    let answer = world.by(&key, Method::POST, path, &many).json();
    let codes: Vec<_> =
        answer.as_array().unwrap().iter().map(|row| row["problem"]["code"].clone()).collect();
    let absent = json!("recipient_not_found");
    assert_eq!(codes, [json!("tenant"), Value::Null, absent.clone(), absent]);
    assert_eq!(answer[2]["problem"]["detail"], "unknown recipient `bob`");
    assert_eq!(world.get(path)["members"], json!([{ "id": "ada", "name": "ada" }]));
    let others = world.by(&key, Method::POST, "/v1/tenants/globex/members", &many);
    refused(&others, 404, "tenant_not_found");
    assert_eq!(world.get("/v1/tenants/globex/members")["members"][0]["id"], "eve");
    // The same request under a key is answered alike.
    let bearer = format!("Bearer {key}");
    let headers = [
        ("authorization", &*bearer),
        ("content-type", "application/json"),
        ("idempotency-key", "once"),
    ];
    let ada =
        json!([{ "recipient": "ada", "remove": true }, { "recipient": "bob", "remove": true }]);
    let [first, again] =
        [(); 2].map(|()| world.rig.send(Method::POST, path, &headers, ada.to_string()).json());
    assert_eq!((&first[0]["status"], &first[1]["status"]), (&json!("done"), &json!("rejected")));
    assert_eq!(again, first);
}

#[test]
fn t42_a_list_of_preferences_by_a_key_of_a_tenant_replaces_its_own_alone() {
    let world = World::new();
    let key = world.key_of("acme");
    let path = "/v1/recipients/ada/preferences";
    let never = |tenant: Value| {
        let mut never = json!({ "type": "note", "channel": "email", "mode": "never" });
        if !tenant.is_null() {
            never["tenant"] = tenant;
        }
        never
    };
    let [none, acme, globex] = [Value::Null, json!("acme"), json!("globex")].map(never);
    let all = || -> Vec<Value> { world.get(path).as_array().unwrap().clone() };
    world.done(Method::PUT, path, &json!([none, acme, globex]));
    let put = |body: Value| world.by(&key, Method::PUT, path, &body);
    assert_eq!(put(json!([])).status, StatusCode::NO_CONTENT);
    assert!(all().contains(&none) && all().contains(&globex) && all().len() == 2, "{:?}", all());
    // It is the tenant's where it doesn't say so.
    assert_eq!(put(json!([none])).status, StatusCode::NO_CONTENT);
    assert!(all().contains(&acme) && all().len() == 3, "{:?}", all());
    refused(&put(json!([globex])), 422, "invalid_body");
    let of_eve = world.by(&key, Method::PUT, "/v1/recipients/eve/preferences", &json!([]));
    refused(&of_eve, 404, "recipient_not_found");
    // The host does the same for a tenant that it names, else for all.
    world.done(Method::PUT, &format!("{path}?tenant=acme"), &json!([]));
    assert!(!all().contains(&acme) && all().len() == 2, "{:?}", all());
    world.done(Method::PUT, path, &json!([]));
    assert_eq!(all(), [] as [Value; 0]);
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
    // A tenant sees id and name.
    let key = world.key_of("acme");
    let shown = world.by(&key, Method::GET, "/v1/recipients/ada", &Value::Null).json();
    assert_eq!(shown, json!({ "id": "ada", "name": "ada" }));
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
