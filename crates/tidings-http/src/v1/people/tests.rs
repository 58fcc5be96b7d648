//! Lists of recipients, asked as operators ask.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::rig::{CONFIG, Rig};
use crate::{Access, Settings};

/// Recipients `p000` to `p119`: each tenth is disabled, each eleventh a member of `acme`.
fn people() -> Rig {
    let config = format!("{CONFIG}[tenants]\non = true\n");
    let rig = Rig::with(&config, Access::Open, Settings::default());
    done(&rig, Method::PUT, "/v1/tenants/acme", &json!({}));
    let all: Vec<Value> = (0..120)
        .map(|number| {
            let state = if number % 10 == 0 { "disabled" } else { "active" };
            let tenants = if number % 11 == 0 { json!(["acme"]) } else { json!([]) };
            let name = format!("Person {number}");
            json!({"id": id(number), "name": name, "state": state, "tenants": tenants})
        })
        .collect();
    done(&rig, Method::POST, "/v1/recipients", &json!(all));
    rig
}

fn id(number: usize) -> String {
    format!("p{number:03}")
}

fn done(rig: &Rig, method: Method, path: &str, body: &Value) {
    let answer = rig.call(method, path, body);
    assert!(answer.status.is_success(), "{path}: {answer:?}");
}

fn get(rig: &Rig, path: &str) -> Value {
    let answer = rig.call(Method::GET, path, &Value::Null);
    assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.json());
    answer.json()
}

/// All rows of a list, page by page.
fn walk(rig: &Rig, list: &str, rows: &str) -> Vec<Value> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = get(rig, &format!("{list}{cursor}"));
        all.extend(page[rows].as_array().unwrap().iter().cloned());
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return all,
        }
    }
}

fn ids(rows: &[Value], field: &str) -> Vec<String> {
    rows.iter().map(|row| row[field].as_str().unwrap().to_owned()).collect()
}

#[test]
fn recipients_are_listed_by_id_with_every_filter() {
    let rig = people();
    let listed = |query: &str| {
        let list = format!("/v1/recipients?limit=7{query}");
        ids(&walk(&rig, &list, "recipients"), "id")
    };
    let expected = |is_wanted: &dyn Fn(usize) -> bool| {
        (0..120).filter(|number| is_wanted(*number)).map(id).collect::<Vec<_>>()
    };
    assert_eq!(listed(""), expected(&|_| true));
    assert_eq!(listed("&id_prefix=p01"), expected(&|number| (10..20).contains(&number)));
    assert_eq!(listed("&state=disabled"), expected(&|number| number % 10 == 0));
    assert_eq!(listed("&tenant=acme"), expected(&|number| number % 11 == 0));
    assert_eq!(listed("&tenant=acme&state=disabled&id_prefix=p"), [id(0), id(110)]);
    assert!(listed("&id_prefix=q").is_empty());
    assert!(listed("&state=unconfirmed").is_empty());
    let page = get(&rig, "/v1/recipients?limit=2");
    let acme = json!({"id": "p000", "name": "Person 0", "state": "disabled", "tenants": ["acme"]});
    let other = json!({"id": "p001", "name": "Person 1", "state": "active"});
    assert_eq!(page["recipients"], json!([acme, other]));
    // Fifty if nothing is said.
    assert_eq!(get(&rig, "/v1/recipients")["recipients"].as_array().unwrap().len(), 50);
}

#[test]
fn a_walk_of_recipients_while_things_change_shows_who_stays_once() {
    let rig = people();
    let first = get(&rig, "/v1/recipients?limit=50");
    let next = first["next"].as_str().unwrap();
    for gone in [10, 60, 119] {
        done(&rig, Method::DELETE, &format!("/v1/recipients/{}", id(gone)), &Value::Null);
    }
    for new in ["p0105", "p0705", "z"] {
        done(&rig, Method::PUT, &format!("/v1/recipients/{new}"), &json!({}));
    }
    let rest = get(&rig, &format!("/v1/recipients?limit=500&cursor={next}"));
    let rest = ids(rest["recipients"].as_array().unwrap(), "id");
    let mut expected: Vec<String> =
        (50..119).filter(|number| *number != 60).map(id).chain(["p0705".to_owned()]).collect();
    expected.push("z".to_owned());
    expected.sort_unstable();
    assert_eq!(rest, expected);
}

#[test]
fn followers_are_those_of_this_very_topic_and_tenant() {
    let rig = people();
    let follow = |number: usize, topic: &str, tenant: Option<&str>| match tenant {
        Some(tenant) => {
            json!({"recipient": id(number), "topic": topic, "tenant": tenant})
        }
        None => json!({"recipient": id(number), "topic": topic}),
    };
    let mut all: Vec<Value> = (0..30).map(|number| follow(number, "artist/42", None)).collect();
    all.push(follow(40, "artist", None));
    all.push(follow(41, "artist/42/works", None));
    all.push(follow(11, "artist/42", Some("acme")));
    done(&rig, Method::POST, "/v1/subscriptions", &json!(all));
    done(&rig, Method::DELETE, &format!("/v1/recipients/{}", id(3)), &Value::Null);
    let rows = walk(&rig, "/v1/topics/artist%2F42/followers?limit=4", "followers");
    let expected: Vec<Value> = (0..30)
        .filter(|number| *number != 3)
        .map(|number| json!({"recipient": id(number)}))
        .collect();
    assert_eq!(rows, expected);
    let page = get(&rig, "/v1/topics/artist%2F42/followers?limit=1");
    assert_eq!(page["count"], 29);
    let page = get(&rig, "/v1/topics/artist%2F42/followers?tenant=acme");
    assert_eq!((&page["count"], &page["followers"]), (&json!(1), &json!([{"recipient": "p011"}])));
    let page = get(&rig, "/v1/topics/nothing/followers");
    let none = json!({"followers": [], "count": 0, "next": null});
    assert_eq!(page, none);
}

#[test]
fn lists_of_recipients_refuse_unknown_words_and_tenants() {
    let rig = people();
    for (query, status, code, hint) in [
        ("state=disable", 400, "invalid_query", "did you mean `disabled`?"),
        ("prefix=p", 400, "invalid_query", ""),
        ("id_prefix=", 400, "invalid_query", "give `id_prefix` a value, or leave it out"),
        ("tenant=acm", 422, "unknown_tenant", "did you mean `acme`?"),
    ] {
        let path = format!("/v1/recipients?{query}");
        let answer = rig.call(Method::GET, &path, &Value::Null);
        assert_eq!(answer.status.as_u16(), status, "{query}");
        let problem = answer.json();
        assert_eq!(problem["code"], code, "{query}");
        assert!(problem["hint"].as_str().unwrap().contains(hint), "{problem}");
    }
    let next = get(&rig, "/v1/recipients?limit=1&state=active")["next"].clone();
    let path = format!("/v1/recipients?state=disabled&cursor={}", next.as_str().unwrap());
    let answer = rig.call(Method::GET, &path, &Value::Null);
    assert_eq!(answer.json()["code"], "bad_cursor");
}
