//! The content of a page of preferences: choices, mutes, quiet hours, and changes of them.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::rig::{Answered, Rig, user_token};
use crate::{Access, Settings};

const CONFIG: &str = r#"
[users]
[categories.works]
title = { en = "Works", de = "Werke" }
[categories.account]
[digests.weekly]
every = "week"
on = "mon"
[digests.daily]
every = "day"
[types.show_opens]
category = "works"
title = { en = "shows", de = "Ausstellungen" }
channels = { inbox = { policy = "now" }, email = { policy = "digest", digest = "weekly" } }
[types.alarm]
category = "works"
urgent = true
channels = { email = { policy = "digest", digest = "weekly" } }
[types.invoice]
category = "account"
required = true
channels = { email = { policy = "now" }, inbox = { policy = "never" } }
[types.login]
category = "account"
channels = { email = { policy = "now" } }
[channels.webpush]
provider = "vapid://BPublic:${PRIVATE}?subject=mailto:ops@example.org"
"#;

const MINE: &str = "/v1/me/preferences";
const TWIN: &str = "/v1/recipients/ana/preferences";

fn rig() -> Rig {
    let rig = Rig::with(CONFIG, Access::Open, Settings::default());
    rig.make_signing_key("k1");
    rig
}

fn by_user(rig: &Rig, method: Method, recipient: &str, body: &Value) -> Answered {
    let bearer = format!("Bearer {}", user_token("k1", recipient, None));
    let headers = [("authorization", &*bearer), ("content-type", "application/json")];
    let body = if body.is_null() { String::new() } else { body.to_string() };
    rig.send(method, MINE, &headers, body)
}

fn get(rig: &Rig, path: &str) -> Value {
    let answer = rig.call(Method::GET, path, &Value::Null);
    assert_eq!(answer.status, StatusCode::OK, "{path}: {answer:?}");
    answer.json()
}

fn prefer(rig: &Rig, body: &Value) {
    let answer = rig.call(Method::PATCH, TWIN, body);
    assert!(answer.status.is_success(), "{answer:?}");
}

/// The choice on a channel: of a category, or of a type of it.
fn choice(all: &Value, category: usize, event_type: Option<usize>, channel: &str) -> Value {
    let of = &all["choices"][category];
    let of = event_type.map_or(of, |at| &of["types"][at]);
    let channels = of["channels"].as_array().unwrap();
    channels.iter().find(|choice| choice["channel"] == channel).cloned().unwrap_or_default()
}

fn in_force(all: &Value, category: usize, event_type: Option<usize>) -> (Value, Value) {
    let choice = choice(all, category, event_type, "email");
    (choice["mode"].clone(), choice["from"].clone())
}

#[test]
fn choices_are_in_the_order_of_the_configuration_and_the_recipients_language() {
    let rig = rig();
    rig.call(Method::PUT, "/v1/recipients/ana", &json!({ "locale": "de-AT" }));
    let all = get(&rig, &format!("{TWIN}?choices=true"));
    assert_eq!(by_user(&rig, Method::GET, "ana", &Value::Null).json(), all);
    // Who is not there yet has what everybody has.
    let nobody = by_user(&rig, Method::GET, "nobody", &Value::Null).json();
    assert_eq!(nobody["choices"][0]["title"], "Works");
    assert_eq!(nobody["choices"][0]["types"][0]["title"], "Shows");
    assert_eq!(
        rig.call(Method::GET, "/v1/recipients/nobody/preferences?choices=true", &Value::Null)
            .status,
        404
    );

    let names = |of: &Value, key: &str| -> Vec<String> {
        let all = of.as_array().unwrap().iter();
        all.map(|one| one[key].as_str().unwrap().to_owned()).collect()
    };
    let choices = &all["choices"];
    assert_eq!(names(choices, "category"), ["works", "account"]);
    assert_eq!(names(choices, "title"), ["Werke", "Account"]);
    assert_eq!(names(&choices[0]["types"], "type"), ["show_opens", "alarm"]);
    assert_eq!(names(&choices[0]["types"], "title"), ["Ausstellungen", "Alarm"]);
    assert_eq!(names(&choices[1]["types"], "type"), ["invoice", "login"]);
    assert_eq!(names(&choices[0]["types"][0]["channels"], "channel"), ["inbox", "email"]);
    // What is off by itself, and nothing turns on, is no choice.
    assert_eq!(names(&choices[1]["types"][0]["channels"], "channel"), ["email"]);
    assert_eq!(all["digests"], json!({ "daily": "Täglich", "weekly": "Wöchentlich" }));
    assert_eq!(all["quiet_hours"], "default");
    assert_eq!(all["push"], json!({ "key": "BPublic" }));
    assert_eq!((&all["preferences"], &all["mutes"]), (&json!([]), &json!([])));

    assert_eq!(
        choice(&all, 0, Some(0), "email"),
        json!({ "channel": "email", "modes": ["never", "immediate", "daily", "weekly"], "mode": "weekly", "from": "default", "connected": false })
    );
    assert_eq!(choice(&all, 0, Some(0), "inbox")["modes"], json!(["never", "immediate"]));
    // What is urgent waits for no digest; what is required is never off.
    assert_eq!(choice(&all, 0, Some(1), "email")["modes"], json!(["never", "immediate"]));
    assert_eq!(in_force(&all, 0, Some(1)).0, "immediate");
    assert_eq!(choice(&all, 1, Some(0), "email")["modes"], json!(["immediate", "daily", "weekly"]));
    let required = |at: usize| choices[1]["types"][at]["required"].clone();
    assert_eq!((required(0), required(1)), (json!(true), json!(false)));
    assert_eq!((&choices[0]["required"], &choices[1]["required"]), (&json!(false), &json!(false)));
}

#[test]
fn a_channel_is_connected_where_the_recipient_has_an_address_for_the_view() {
    let config = format!("[tenants]\non = true\n{CONFIG}");
    let rig = Rig::with(&config, Access::Open, Settings::default());
    for tenant in ["acme", "bolt"] {
        rig.call(Method::PUT, &format!("/v1/tenants/{tenant}"), &json!({}));
    }
    let connected = |query: &str| {
        let all = get(&rig, &format!("{TWIN}?choices=true{query}"));
        let shown = |of: &Value, channel: &str| {
            let mut channels = of["channels"].as_array().unwrap().iter();
            channels.find(|of| of["channel"] == channel).unwrap()["connected"].clone()
        };
        let works = &all["choices"][0];
        assert_eq!(shown(works, "email"), shown(&works["types"][0], "email"));
        (shown(works, "inbox"), shown(works, "email"))
    };
    rig.call(Method::PUT, "/v1/recipients/ana", &json!({}));
    assert_eq!(connected(""), (json!(true), json!(false)));
    rig.call(Method::PUT, "/v1/recipients/ana", &json!({ "email": "ana@example.org" }));
    assert_eq!(connected(""), (json!(true), json!(true)));
    assert_eq!(connected("&tenant=bolt"), (json!(true), json!(true)));
}

#[test]
fn the_mode_in_force_says_where_it_comes_from() {
    let rig = rig();
    rig.call(Method::PUT, "/v1/recipients/ana", &json!({}));
    let all = || get(&rig, &format!("{TWIN}?choices=true"));
    let pair = |mode: &str, from: &str| (json!(mode), json!(from));
    // A weekly type beside one that is urgent: the category has no mode of its own.
    assert_eq!(in_force(&all(), 0, None), (Value::Null, json!("default")));
    prefer(&rig, &json!([{ "category": "*", "channel": "email", "mode": "never" }]));
    assert_eq!(in_force(&all(), 0, Some(0)), pair("never", "*"));
    assert_eq!(in_force(&all(), 0, None), pair("never", "*"));
    prefer(&rig, &json!([{ "category": "account", "channel": "email", "mode": "never" }]));
    // Those that can be turned off say what holds for the category.
    assert_eq!(in_force(&all(), 1, None), pair("never", "category"));
    assert_eq!(in_force(&all(), 1, Some(0)), pair("immediate", "default"));
    assert_eq!(in_force(&all(), 1, Some(1)), pair("never", "category"));
    prefer(&rig, &json!([{ "type": "login", "channel": "email", "mode": "daily" }]));
    assert_eq!(in_force(&all(), 1, Some(1)), pair("daily", "type"));
    // The list of section 4 is as it was, and a part of this.
    let list = get(&rig, TWIN);
    assert_eq!(list.as_array().unwrap().len(), 3);
    assert_eq!(all()["preferences"], list);
}

#[test]
fn mutes_have_titles_and_quiet_hours_are_set_with_preferences() {
    let rig = rig();
    let hours = json!({ "quiet_hours": { "from": "22:00", "to": "07:00" } });
    assert_eq!(by_user(&rig, Method::PATCH, "ana", &hours).status, 404);
    assert_eq!(rig.call(Method::GET, "/v1/recipients/ana", &Value::Null).status, 404);
    rig.call(Method::PUT, "/v1/recipients/ana", &json!({}));
    rig.call(Method::PUT, "/v1/objects/artist%2F7", &json!({ "title": "Andy Warhol" }));
    let change = json!({
        "preferences": [
            { "topic": "artist/7", "channel": "*", "mode": "never" },
            { "object": "o1", "channel": "email", "mode": "never" },
        ],
        "quiet_hours": { "from": "22:00", "to": "07:00", "days": ["sat"] },
    });
    assert_eq!(by_user(&rig, Method::PATCH, "ana", &change).status, 204);
    let all = by_user(&rig, Method::GET, "ana", &Value::Null).json();
    assert_eq!(
        all["mutes"],
        json!([
            { "topic": "artist/7", "title": "Andy Warhol", "channel": "*" },
            { "object": "o1", "title": null, "channel": "email" },
        ])
    );
    assert_eq!(all["quiet_hours"], json!({ "from": "22:00", "to": "07:00", "days": ["sat"] }));
    // A fault in one of the two changes neither.
    let faulty = json!({
        "preferences": [{ "type": "login", "channel": "email", "mode": "never" }],
        "quiet_hours": { "from": "22:00", "to": "22:00" },
    });
    assert_eq!(by_user(&rig, Method::PATCH, "ana", &faulty).status, 422);
    assert_eq!(by_user(&rig, Method::GET, "ana", &Value::Null).json(), all);
    for (word, shown) in [(Value::Null, Value::Null), (json!("default"), json!("default"))] {
        let change = json!({ "quiet_hours": word });
        assert_eq!(by_user(&rig, Method::PATCH, "ana", &change).status, 204);
        let all = by_user(&rig, Method::GET, "ana", &Value::Null).json();
        assert_eq!(all["quiet_hours"], shown);
    }
    assert_eq!(by_user(&rig, Method::PATCH, "ana", &json!({ "quiet": null })).status, 422);
}

#[test]
fn digests_and_what_is_muted_are_called_by_their_titles_in_the_recipients_language() {
    let weekly = "[digests.weekly]\ntitle = { en = \"The week\", de = \"Die Woche\" }\n";
    let config = CONFIG.replacen("[digests.weekly]\n", weekly, 1);
    let rig = Rig::with(&config, Access::Open, Settings::default());
    let title = json!({"title": {"fr": "Peintres", "en": "Painters", "de": "Maler"}});
    rig.call(Method::PUT, "/v1/objects/artist", &title);
    for (locale, digests, muted) in [
        ("de-AT", json!({ "daily": "Täglich", "weekly": "Die Woche" }), "Maler"),
        ("fr", json!({ "daily": "Une fois par jour", "weekly": "The week" }), "Peintres"),
        ("pl", json!({ "daily": "Raz dziennie", "weekly": "The week" }), "Painters"),
    ] {
        rig.call(Method::PUT, "/v1/recipients/ana", &json!({ "locale": locale }));
        prefer(&rig, &json!([{"object": "artist", "channel": "email", "mode": "never"}]));
        let all = get(&rig, &format!("{TWIN}?choices=true"));
        assert_eq!(all["digests"], digests, "{locale}");
        assert_eq!(all["mutes"][0]["title"], muted, "{locale}");
    }
}

#[test]
fn i42_choices_within_a_tenant_are_in_its_language_where_the_recipient_has_none() {
    let rig =
        Rig::with(&format!("[tenants]\non = true\n{CONFIG}"), Access::Open, Settings::default());
    rig.call(Method::PUT, "/v1/tenants/acme", &json!({ "locale": "de" }));
    for (body, of_tenant, of_all) in [
        (json!({}), "Werke", "Works"),
        (json!({ "locale": "en-GB" }), "Works", "Works"),
        // There is no French title.
        (json!({ "locale": "fr" }), "Werke", "Works"),
    ] {
        rig.call(Method::PUT, "/v1/recipients/ana", &body);
        let title = |query: &str| {
            get(&rig, &format!("{TWIN}?choices=true{query}"))["choices"][0]["title"].clone()
        };
        assert_eq!((title("&tenant=acme"), title("")), (json!(of_tenant), json!(of_all)), "{body}");
    }
}

#[test]
fn quiet_hours_in_force_say_who_set_them_and_by_which_clock() {
    const HOURS: &str = r#"
[tenants]
on = true
[channels.email]
quiet_hours = { from = "21:00", to = "07:00", days = ["fri"] }
[channels.sms]
quiet_hours = { from = "20:00", to = "08:00" }
"#;
    let rig = Rig::with(&format!("{CONFIG}{HOURS}"), Access::Open, Settings::default());
    rig.make_signing_key("k1");
    let path = format!("{TWIN}?choices=true");
    rig.call(Method::PUT, "/v1/recipients/ana", &json!({}));
    let told = |path: &str| {
        let all = get(&rig, path);
        (all["quiet_hours"].clone(), all["quiet_hours_in_force"].clone(), all["tz"].clone())
    };
    // No type has SMS.
    let of_channel = json!([{
        "channel": "email", "hours": { "from": "21:00", "to": "07:00", "days": ["fri"] },
        "set_by": "channel",
    }]);
    assert_eq!(told(&path), (json!("default"), of_channel, json!("UTC")));
    // Of a tenant, and in its zone.
    let tenant = json!({ "tz": "Asia/Tokyo", "quiet_hours": { "from": "22:00", "to": "06:00" } });
    rig.call(Method::PUT, "/v1/tenants/acme", &tenant);
    let of_tenant = json!([{
        "channel": "email", "hours": { "from": "22:00", "to": "06:00" }, "set_by": "tenant",
    }]);
    let in_tenant = format!("{path}&tenant=acme");
    assert_eq!(told(&in_tenant), (json!("default"), of_tenant, json!("Asia/Tokyo")));
    // One's own.
    let own = json!({ "tz": "Europe/Paris", "quiet_hours": { "from": "23:00", "to": "05:00" } });
    rig.call(Method::PATCH, "/v1/recipients/ana", &own);
    let of_ana = json!([{
        "channel": "email", "hours": { "from": "23:00", "to": "05:00" }, "set_by": "recipient",
    }]);
    assert_eq!(told(&in_tenant), (own["quiet_hours"].clone(), of_ana, json!("Europe/Paris")));
    rig.call(Method::PATCH, "/v1/recipients/ana", &json!({ "quiet_hours": null }));
    assert_eq!(told(&in_tenant), (Value::Null, json!([]), json!("Europe/Paris")));
}

const OWN_TIMES: &str = r#"
[tenants]
on = true
[categories.works]
[digests.fixed]
every = "week"
on = "mon"
[digests.monthly]
every = "month"
on = 1
choose = ["on"]
[digests.weekly]
every = "week"
on = "mon"
choose = ["on", "at"]
[types.show_opens]
category = "works"
channels = { inbox = { policy = "now" }, email = { policy = "digest", digest = "weekly" } }
"#;

#[test]
fn own_times_of_a_digest_are_set_shown_and_taken_back() {
    let rig = Rig::with(OWN_TIMES, Access::Open, Settings::default());
    rig.call(Method::PUT, "/v1/recipients/ana", &json!({ "tz": "Europe/Paris" }));
    rig.call(Method::PUT, "/v1/tenants/acme", &json!({}));
    let both = json!({ "digest": "weekly", "on": "fri", "at": "17:15" });
    let month = json!({ "digest": "monthly", "on": 31 });
    let of_tenant = json!({ "digest": "weekly", "tenant": "acme", "on": "sun" });
    prefer(&rig, &json!([both, month, of_tenant]));
    let list = get(&rig, TWIN);
    assert_eq!(list, json!([month, both, of_tenant]));
    // The list can be put back.
    let answer = rig.call(Method::PUT, TWIN, &list);
    assert!(answer.status.is_success(), "{answer:?}");
    assert_eq!(get(&rig, TWIN), list);
    // In force, and from where.
    let times =
        |query: &str| get(&rig, &format!("{TWIN}?choices=true{query}"))["digest_times"].clone();
    let weekly = json!({ "digest": "weekly", "choose": ["on", "at"], "every": "week",
        "on": "fri", "on_from": "recipient", "at": "17:15", "at_from": "recipient",
        "default_on": "mon", "default_at": "09:00", "tz": "Europe/Paris" });
    assert_eq!(times("")[1], weekly);
    let mut within = weekly;
    within["on"] = json!("sun");
    within["on_from"] = json!("tenant");
    // What the recipient chose for all tenants holds once the choice for this one is taken back.
    within["default_on"] = json!("fri");
    within["default_at"] = json!("17:15");
    assert_eq!(times("&tenant=acme")[1], within);
    // One of both is taken back, by null or by a word.
    prefer(
        &rig,
        &json!([{ "digest": "weekly", "on": null }, { "digest": "monthly", "on": "default" }]),
    );
    assert_eq!(get(&rig, TWIN), json!([{ "digest": "weekly", "at": "17:15" }, of_tenant]));
    rig.call(Method::PUT, TWIN, &json!([]));
    assert_eq!(get(&rig, TWIN), json!([]));
    assert_eq!(times("").as_array().unwrap().len(), 2);
}

#[test]
fn what_a_digest_does_not_leave_open_is_refused() {
    let rig = Rig::with(OWN_TIMES, Access::Open, Settings::default());
    rig.call(Method::PUT, "/v1/recipients/ana", &json!({}));
    for refused in [
        json!({ "digest": "fixed", "on": "fri" }),
        json!({ "digest": "fixed", "at": "17:00" }),
        json!({ "digest": "monthly", "on": 1, "at": "17:00" }),
        json!({ "digest": "monthly", "on": 32 }),
        json!({ "digest": "monthly", "on": 0 }),
        json!({ "digest": "monthly", "on": "mon" }),
        json!({ "digest": "monthly", "on": "+5" }),
        json!({ "digest": "weekly", "on": 5 }),
        json!({ "digest": "weekly", "on": "5" }),
        json!({ "digest": "weekly", "on": "friday" }),
        json!({ "digest": "weekly", "at": "17:10" }),
        json!({ "digest": "weekly", "at": "24:00" }),
        json!({ "digest": "weekly", "at": 17 }),
        json!({ "digest": "weekly" }),
        json!({ "digest": "weekly", "on": "fri", "mode": "never" }),
        json!({ "digest": "weekly", "on": "fri", "channel": "email" }),
        json!({ "digest": "weekly", "on": "fri", "type": "show_opens" }),
        json!({ "digest": "yearly", "on": "fri" }),
        json!({ "type": "show_opens", "channel": "email", "mode": "never", "on": "fri" }),
    ] {
        let answer = rig.call(Method::PATCH, TWIN, &json!([refused]));
        assert!(answer.status.is_client_error(), "{refused}: {answer:?}");
    }
    assert_eq!(get(&rig, TWIN), json!([]));
}
