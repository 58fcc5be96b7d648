//! Streams, pages and marks of views: each shows the entries of a tenant and of none, and hears of nothing else.

use tidings_api::token::sign;
use tidings_core::model::Audience;
use tidings_core::{Command, Event, Id, Object};

use super::*;
use crate::post::Post;
use crate::rig::signing_key;

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

#[test]
fn t42_who_waits_for_a_page_is_not_given_that_of_a_tenant_made_anew() {
    let rig = with_tenants();
    publish_of(&rig, "a1", Some("acme"));
    let (path, acme) = ("/v1/recipients/ada/inbox?tenant=acme", || Id::new("acme").unwrap());
    let rev = rig.call(Method::GET, path, &Value::Null).json()["rev"].clone();
    let uri = format!("{path}&since={rev}&wait=60s");
    let waiting = rig.tokio.spawn(rig.ask(Request::get(uri).body(Body::empty()).unwrap()));
    while rig.service.live.open_streams() == 0 {
        std::thread::yield_now();
    }
    let to = Audience { recipients: vec![Id::new("ada").unwrap()], ..Audience::default() };
    let [event, note] = ["a2", "note"].map(|id| Id::new(id).unwrap());
    let event = Event::new(event, note, Object::bare(acme()), to);
    let anew = vec![
        Command::DeleteTenant { tenant: acme() },
        Command::Tenant { tenant: acme(), change: Box::default() },
        Command::Publish(Box::new(Event { tenant: Some(acme()), ..event })),
    ];
    let replies = rig.tokio.block_on(rig.service.submit(anew)).unwrap();
    assert!(replies.iter().all(Result::is_ok), "{replies:?}");
    let answer = rig.tokio.block_on(waiting).unwrap();
    assert_eq!(answer.json()["code"], "unknown_tenant", "{answer:?}");
}

/// A token of a recipient, with its claim `tenant`.
fn token(recipient: &str, tenant: Option<&str>) -> String {
    let (id, tenant) = (Id::new(recipient).unwrap(), tenant.map(|tenant| Id::new(tenant).unwrap()));
    sign(&signing_key("k1"), &id, 1_704_110_400, 1_704_111_300, None, tenant.as_ref()).unwrap()
}

fn by(rig: &Rig, token: &str, method: Method, path: &str, body: &Value) -> (StatusCode, Value) {
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", &*bearer), ("content-type", "application/json")];
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let answer = rig.send(method, path, &headers, body);
    (answer.status, answer.json())
}

fn stream_of(rig: &Rig, token: &str) -> Reader {
    let request = Request::get("/v1/me/live").header("authorization", format!("Bearer {token}"));
    Reader::of(rig.begin(request.body(Body::empty()).unwrap())).hello(rig)
}

/// Reads a stream until it shows what the page of its token does; returns its badge.
fn badge(rig: &Rig, reader: &mut Reader, token: &str) -> u64 {
    let (status, page) = by(rig, token, Method::GET, "/v1/me/inbox?limit=100", &Value::Null);
    assert_eq!(status, StatusCode::OK, "{page}");
    let groups = page["groups"].as_array().unwrap().iter();
    let rows: BTreeMap<String, Value> =
        groups.map(|group| (group["key"].as_str().unwrap().to_owned(), group.clone())).collect();
    let names = ["rev", "unseen", "unread", "categories", "tenants"];
    while reader.rows != rows || names.iter().any(|name| reader.counts.get(name) != page.get(name))
    {
        reader.change(rig);
    }
    reader.counts["unseen"].as_u64().unwrap()
}

#[test]
fn t42_a_member_of_two_tenants_has_the_right_badge_with_each_token() {
    let rig = with_tenants();
    for tenant in ["acme", "bolt"] {
        done(&rig, Method::PUT, &format!("/v1/tenants/{tenant}/members/ada"), &Value::Null);
    }
    let tokens = [Some("acme"), Some("bolt"), None].map(|tenant| token("ada", tenant));
    let mut streams = [0, 1, 2].map(|at| stream_of(&rig, &tokens[at]));
    let mark = |token: usize, how: &str, what: Value| {
        let path = format!("/v1/me/inbox/{how}");
        let (status, answer) = by(&rig, &tokens[token], Method::POST, &path, &what);
        assert_eq!(status, StatusCode::OK, "{answer}");
    };
    type Step<'s> = (&'s str, &'s dyn Fn(), [u64; 3]);
    let steps: [Step<'_>; 11] = [
        ("of acme", &|| publish_of(&rig, "a1", Some("acme")), [1, 0, 1]),
        ("of bolt", &|| publish_of(&rig, "b1", Some("bolt")), [1, 1, 2]),
        ("of none", &|| publish_of(&rig, "n1", None), [2, 2, 3]),
        ("acme reads its own", &|| mark(0, "read", json!({"event": "a1"})), [1, 2, 2]),
        ("bolt sees all", &|| mark(1, "seen", json!({"all": true})), [0, 0, 0]),
        ("of acme", &|| publish_of(&rig, "a2", Some("acme")), [1, 0, 1]),
        ("of bolt", &|| publish_of(&rig, "b2", Some("bolt")), [1, 1, 2]),
        (
            "withdrawn",
            &|| done(&rig, Method::POST, "/v1/events/a2/withdraw", &json!({})),
            [0, 1, 1],
        ),
        ("acme can't read bolt's", &|| mark(0, "read", json!({"event": "b2"})), [0, 1, 1]),
        ("acme reads all", &|| mark(0, "read", json!({"all": true})), [0, 1, 1]),
        ("all are read", &|| mark(2, "read", json!({"all": true})), [0, 0, 0]),
    ];
    for (name, step, expected) in steps {
        step();
        let badges = [0, 1, 2].map(|at| badge(&rig, &mut streams[at], &tokens[at]));
        assert_eq!(badges, expected, "{name}");
    }
    let shown = streams.map(|stream| {
        let items = stream.rows.values().flat_map(|row| row["items"].as_array().unwrap().clone());
        let mut events: Vec<_> =
            items.map(|item| item["event"].as_str().unwrap().to_owned()).collect();
        events.sort();
        events.join(" ")
    });
    assert_eq!(shown, ["a1 n1", "b1 b2 n1", "a1 b1 b2 n1"]);
}

#[test]
fn situation_8_a_token_of_a_tenant_shows_it_and_none_and_a_forged_one_nothing() {
    let post = Post::new(&format!("{CONFIG}[users]\n[tenants]\non = true\n"));
    post.rig.make_signing_key("k1");
    for tenant in ["acme", "bolt"] {
        let look = json!({
            "name": format!("Name of {tenant}"), "from_name": format!("From {tenant}"),
            "brand": {"name": format!("Brand of {tenant}")}, "data": {"of": tenant},
        });
        post.change(Method::PUT, &format!("/v1/tenants/{tenant}"), &look);
        post.change(Method::PUT, &format!("/v1/tenants/{tenant}/members/ana"), &Value::Null);
    }
    let [mine, theirs] = ["acme", "bolt"].map(|tenant| token("ana", Some(tenant)));
    let mut live = stream_of(&post.rig, &mine);
    for (event, tenant) in [("a1", Some("acme")), ("b1", Some("bolt")), ("n1", None)] {
        let object =
            json!({"id": event, "title": format!("Told by {}", tenant.unwrap_or("nobody"))});
        let event = json!({
            "id": event, "type": "note", "object": object, "to": to("ana"), "tenant": tenant,
        });
        post.change(Method::POST, "/v1/events", &event);
    }
    // List, counts and stream.
    assert_eq!(badge(&post.rig, &mut live, &mine), 2);
    let said = format!("{:?} {}", live.rows, live.counts);
    assert!(said.contains("Told by acme") && said.contains("Told by nobody"), "{said}");
    assert!(!said.contains("bolt"), "{said}");
    for path in ["inbox", "inbox/counts", "pending", "preferences", "subscriptions"] {
        let (status, answer) =
            by(&post.rig, &mine, Method::GET, &format!("/v1/me/{path}"), &Value::Null);
        assert_eq!(status, StatusCode::OK, "{path}: {answer}");
        assert!(!answer.to_string().contains("bolt"), "{path}: {answer}");
    }
    // Mails: of acme, of bolt, of none.
    post.rig.at("2024-01-01T12:05:00Z");
    let mut told = [(); 3].map(|()| {
        let mail = String::from_utf8(post.bytes()).unwrap().replace("=\r\n", "");
        let names =
            ["acme", "bolt", "nobody"].map(|name| mail.contains(&format!("Told by {name}")));
        let brands = ["acme", "bolt"].map(|name| {
            [format!("Brand of {name}"), format!("From {name}")].iter().any(|of| mail.contains(of))
        });
        assert!(!(names[0] && brands[1] || names[1] && brands[0]), "{mail}");
        assert!(!names[2] || brands == [false, false], "{mail}");
        names
    });
    told.sort_unstable();
    assert_eq!(told, [[false, false, true], [false, true, false], [true, false, false]]);
    // Export.
    let export = post.rig.send(Method::GET, "/v1/export?tenant=acme", &[], Body::empty());
    let export = String::from_utf8(export.bytes).unwrap();
    assert!(export.contains("Told by acme"), "{export}");
    assert!(!export.contains("bolt") && !export.contains("Told by nobody"), "{export}");
    // What the browser makes of its token, or asks beside it.
    let part = |token: &str, at: usize| token.split('.').nth(at).unwrap().to_owned();
    let forged = [part(&mine, 0), part(&theirs, 1), part(&mine, 2)].join(".");
    let nowhere = token("ana", Some("nowhere"));
    for (token, query, status, code) in [
        (&forged, "", StatusCode::UNAUTHORIZED, "token_signature"),
        (&nowhere, "", StatusCode::UNAUTHORIZED, "token_tenant"),
        (&mine, "?tenant=bolt", StatusCode::BAD_REQUEST, "invalid_query"),
    ] {
        for path in ["inbox", "inbox/counts", "live", "pending", "preferences"] {
            let (was, answer) =
                by(&post.rig, token, Method::GET, &format!("/v1/me/{path}{query}"), &Value::Null);
            assert_eq!((was, &answer["code"]), (status, &json!(code)), "{path}: {answer}");
            assert!(!answer.to_string().contains("Told by"), "{path}: {answer}");
        }
    }
}

#[test]
fn c8_the_views_of_a_recipient_are_told_in_turn() {
    let rig = with(with_tenants(), &["ben"]);
    let [all, acme] = [ALL, ACME].map(|path| stream(&rig, path, None));
    let second = stream(&rig, ACME, None);
    let bens = live(&rig, "ben", None).hello(&rig);
    let durable = rig.service.handle.durable().unwrap();
    let engine = durable.engine();
    let [ada, ben] = ["ada", "ben"].map(|id| Id::new(id).unwrap());
    // No pass runs as long as the lock is held.
    let mut hub = rig.service.live.hub();
    let now = tokio::time::Instant::now().into_std();
    hub.next(usize::MAX, now);
    let turn = |hub: &mut StreamHub, id: &Id| {
        assert_eq!(hub.next(1, now), std::slice::from_ref(id));
        let (streams, is_another) = hub.streams_of(id, engine.number_of(id), engine.bucket_of(id));
        assert!(!is_another);
        streams.len()
    };
    hub.look_at(&ada);
    hub.look_at(&ben);
    assert_eq!(turn(&mut hub, &ada), 1);
    // Ben does not wait for her other view, and what comes meanwhile begins no round anew before it.
    hub.look_at(&ada);
    assert_eq!(turn(&mut hub, &ben), 1);
    assert_eq!(turn(&mut hub, &ada), 2);
    assert_eq!(turn(&mut hub, &ada), 1);
    assert_eq!(hub.rest(now), None);
    drop(hub);
    drop((all, acme, second, bens));
}
