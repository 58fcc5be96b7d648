//! Streams, pages and marks of views: each shows the entries of a tenant and of none, and hears of nothing else.

use tidings_core::Id;

use super::*;
use crate::http::rig::signing_key;
use crate::token::sign;

const ALL: &str = "/v1/recipients/ada/live";
const ACME: &str = "/v1/recipients/ada/live?tenant=acme";
const BOLT: &str = "/v1/recipients/ada/live?tenant=bolt";

fn with_tenants() -> Rig {
    let config = format!("{CONFIG}[users]\n[tenants]\non = true\n");
    let rig = with(Rig::with(&config, Access::Open, Settings::default()), &["ada"]);
    rig.make_signing_key("k1");
    for tenant in ["acme", "bolt"] {
        done(&rig, Method::PUT, &format!("/v1/tenants/{tenant}"), &json!({}));
    }
    rig
}

/// Publishes an event about the object of all others.
fn publish_of(rig: &Rig, event: &str, tenant: Option<&str>) {
    let object = json!({"id": "o"});
    let body =
        json!({"id": event, "type": "note", "object": object, "to": to("ada"), "tenant": tenant});
    done(rig, Method::POST, "/v1/events", &body);
}

fn stream(rig: &Rig, path: &str, last: Option<&str>) -> Reader {
    let mut request = Request::get(path);
    if let Some(last) = last {
        request = request.header("last-event-id", last);
    }
    Reader::of(rig.begin(request.body(Body::empty()).unwrap())).hello(rig)
}

/// A page by a token, with its claim `tenant`.
fn mine(rig: &Rig, tenant: Option<&str>, query: &str) -> (StatusCode, Value) {
    let (ada, tenant) = (Id::new("ada").unwrap(), tenant.map(|tenant| Id::new(tenant).unwrap()));
    let key = signing_key("k1");
    let token = sign(&key, &ada, 1_704_110_400, 1_704_111_300, None, tenant.as_ref()).unwrap();
    let bearer = format!("Bearer {token}");
    let path = format!("/v1/me/inbox{query}");
    let answer = rig.send(Method::GET, &path, &[("authorization", &bearer)], Body::empty());
    (answer.status, answer.json())
}

fn events(page: &Value) -> Vec<&str> {
    let groups = page["groups"].as_array().unwrap().iter();
    groups.map(|group| group["items"][0]["event"].as_str().unwrap()).collect()
}

#[test]
fn t42_a_stream_tells_what_its_view_shows_and_nothing_else() {
    let rig = with_tenants();
    let [mut all, mut acme] = [ALL, ACME].map(|path| stream(&rig, path, None));
    assert_eq!((all.counts["tenants"].clone(), acme.counts.get("tenants")), (json!({}), None));
    publish_of(&rig, "b1", Some("bolt"));
    let of_bolt = all.change(&rig).data;
    assert_eq!(of_bolt["changed"][0]["tenant"], "bolt");
    assert_eq!(of_bolt["changed"][0]["items"][0]["tenant"], "bolt");
    assert_eq!(of_bolt["tenants"], json!({"bolt": {"unseen": 1, "unread": 1}}));
    // What is about the same object is another group.
    publish_of(&rig, "n1", None);
    let (of_all, of_acme) = (all.change(&rig).data, acme.change(&rig).data);
    assert_eq!(of_acme["changed"], of_all["changed"], "the same group in both");
    assert_eq!(of_acme["changed"].as_array().unwrap().len(), 1);
    assert!(of_acme["changed"][0].get("tenant").is_none());
    assert_eq!((&of_all["unseen"], &of_acme["unseen"]), (&json!(2), &json!(1)));
    // A mark of a view reaches what it holds; of what others hold nobody else hears.
    mark(&rig, "ada", "read?tenant=bolt", &json!({"event": "b1"}));
    assert_eq!(all.change(&rig).data["tenants"], json!({}));
    mark(&rig, "ada", "read?tenant=bolt", &json!({"all": true}));
    let (of_all, of_acme) = (all.change(&rig).data, acme.change(&rig).data);
    assert_eq!((&of_all["unread"], &of_acme["unread"]), (&json!(0), &json!(0)));
    assert_eq!(of_acme["changed"][0]["items"][0]["event"], "n1");
    done(&rig, Method::POST, "/v1/events/b1/withdraw", &json!({}));
    publish_of(&rig, "a1", Some("acme"));
    assert_eq!(acme.change(&rig).data["changed"][0]["items"][0]["event"], "a1");
}

#[test]
fn t42_eight_streams_are_for_each_view() {
    let rig = with_tenants();
    let mut all = stream(&rig, ALL, None);
    let mut acme: Vec<Reader> = (0..9).map(|_| stream(&rig, ACME, None)).collect();
    assert_eq!(acme[0].next(&rig).data, json!({"code": "replaced"}));
    publish_of(&rig, "n1", None);
    assert_eq!(all.change(&rig).data["unseen"], 1);
    assert_eq!(acme[1].change(&rig).data["unseen"], 1);
}

#[test]
fn t42_a_stream_goes_on_from_the_last_event_of_its_view() {
    let rig = with_tenants();
    let mut acme = stream(&rig, ACME, None);
    publish_of(&rig, "n1", None);
    let last = acme.change(&rig).id.unwrap();
    publish_of(&rig, "b1", Some("bolt"));
    let is_reset = |path| stream(&rig, path, Some(&last)).counts["reset"] == true;
    assert_eq!([ACME, BOLT, ALL].map(is_reset), [false, true, true]);
}

#[test]
fn t42_pages_of_tokens_are_of_their_tenant_or_of_the_one_that_they_ask_for() {
    let rig = with_tenants();
    for (event, tenant) in [("a1", Some("acme")), ("b1", Some("bolt")), ("n1", None)] {
        publish_of(&rig, event, tenant);
    }
    let (status, of_acme) = mine(&rig, Some("acme"), "");
    assert_eq!((status, events(&of_acme)), (StatusCode::OK, vec!["n1", "a1"]));
    assert_eq!((&of_acme["unseen"], of_acme.get("tenants")), (&json!(2), None));
    assert_eq!(mine(&rig, Some("acme"), "?tenant=acme").0, StatusCode::BAD_REQUEST);
    let (_, all) = mine(&rig, None, "");
    assert_eq!(events(&all), ["n1", "b1", "a1"]);
    let one = json!({"unseen": 1, "unread": 1});
    assert_eq!(all["tenants"], json!({"acme": one, "bolt": one}));
    assert_eq!(mine(&rig, None, "?tenant=acme").1, of_acme);
    assert_eq!(mine(&rig, None, "?tenant=acm").1["code"], "unknown_tenant");
    // What the view does not show raises nothing in it.
    let since = format!("?since={}", of_acme["rev"]);
    publish_of(&rig, "b2", Some("bolt"));
    mark(&rig, "ada", "archive", &json!({"event": "b1"}));
    assert_eq!(mine(&rig, Some("acme"), &since).0, StatusCode::NOT_MODIFIED);
    let since_all = format!("?since={}", all["rev"]);
    assert_eq!(mine(&rig, None, &since_all).0, StatusCode::OK);
}

#[test]
fn t42_what_a_deleted_tenant_told_leaves_inboxes_and_its_streams_end() {
    let rig = with_tenants();
    publish_of(&rig, "a1", Some("acme"));
    publish_of(&rig, "n1", None);
    let [mut all, mut acme, mut bolt] = [ALL, ACME, BOLT].map(|path| stream(&rig, path, None));
    all.rows = page(&rig, "ada").0;
    done(&rig, Method::DELETE, "/v1/tenants/acme", &Value::Null);
    let left = all.change(&rig);
    assert_eq!((left.data["gone"].as_array().unwrap().len(), &left.data["unseen"]), (1, &json!(1)));
    assert_eq!(all.rows, page(&rig, "ada").0);
    assert_eq!(acme.next(&rig).data, json!({"code": "restart", "retry_ms": 0}));
    publish_of(&rig, "b1", Some("bolt"));
    assert_eq!(bolt.change(&rig).data["changed"][0]["items"][0]["event"], "b1");
}
