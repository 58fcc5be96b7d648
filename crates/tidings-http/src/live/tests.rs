//! Streams as pages read them.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tidings_core::Instant as Time;
use tokio::time::timeout;

use super::*;
use crate::rig::{CONFIG, Rig, user_token};
use crate::{Access, Settings};

mod tenants;

/// The time that a frame has: far more than it takes, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(300);

/// An event of a stream.
#[derive(Debug)]
struct Event {
    name: String,
    id: Option<String>,
    data: Value,
}

/// The reader of a stream, with the rows that a page would show.
struct Reader {
    body: Body,
    rows: BTreeMap<String, Value>,
    counts: Value,
    last: Option<String>,
}

impl Reader {
    fn of(response: Response) -> Self {
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        assert_eq!(response.headers()["cache-control"], "no-store, no-transform");
        let (rows, counts) = (BTreeMap::new(), Value::Null);
        Self { body: response.into_body(), rows, counts, last: None }
    }

    /// The text of the next piece; `None` at the end.
    fn text(&mut self, rig: &Rig) -> Option<String> {
        let frame = rig.tokio.block_on(async { timeout(PATIENCE, self.body.frame()).await });
        let frame = frame.expect("a frame comes in time")?;
        Some(String::from_utf8(frame.unwrap().into_data().unwrap().to_vec()).unwrap())
    }

    fn next(&mut self, rig: &Rig) -> Event {
        let text = loop {
            let text = self.text(rig).expect("the stream goes on");
            if text != ":\n\n" {
                break text;
            }
        };
        let line = |start: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(start));
            line.map(str::to_owned)
        };
        assert!(text.ends_with("\n\n"), "{text}");
        let data = serde_json::from_str(&line("data: ").unwrap()).unwrap();
        Event { name: line("event: ").unwrap(), id: line("id: "), data }
    }

    /// Reads the first event.
    fn hello(mut self, rig: &Rig) -> Self {
        let hello = self.next(rig);
        assert_eq!((hello.name.as_str(), &hello.id), ("hello", &None));
        self.counts = hello.data;
        self
    }

    /// Reads a change, and applies it.
    fn change(&mut self, rig: &Rig) -> Event {
        let event = self.next(rig);
        assert_eq!(event.name, "inbox", "{event:?}");
        for key in event.data["gone"].as_array().unwrap() {
            assert!(self.rows.remove(key.as_str().unwrap()).is_some(), "{key} was not there");
        }
        for group in event.data["changed"].as_array().unwrap() {
            self.rows.insert(group["key"].as_str().unwrap().to_owned(), group.clone());
        }
        let of = |data: &Value| data["rev"].as_u64().unwrap();
        assert!(of(&event.data) >= of(&self.counts), "{event:?}");
        self.counts = event.data.clone();
        self.last = event.id.clone().or(self.last.take());
        event
    }

    /// Reads until it has what the server has.
    fn catch_up(&mut self, rig: &Rig, recipient: &str) {
        let (rows, counts) = page(rig, recipient);
        while self.rows != rows || counts.iter().any(|(name, count)| self.counts[name] != *count) {
            self.change(rig);
        }
    }
}

fn live(rig: &Rig, recipient: &str, last: Option<&str>) -> Reader {
    let mut request = Request::builder().uri(format!("/v1/recipients/{recipient}/live"));
    if let Some(last) = last {
        request = request.header("last-event-id", last);
    }
    Reader::of(rig.begin(request.body(Body::empty()).unwrap()))
}

/// All rows of an inbox, by key, and the counts.
fn page(rig: &Rig, recipient: &str) -> (BTreeMap<String, Value>, Vec<(&'static str, Value)>) {
    let (mut rows, mut query) = (BTreeMap::new(), "?limit=100".to_owned());
    loop {
        let path = format!("/v1/recipients/{recipient}/inbox{query}");
        let page = rig.call(Method::GET, &path, &Value::Null).json();
        for group in page["groups"].as_array().unwrap() {
            rows.insert(group["key"].as_str().unwrap().to_owned(), group.clone());
        }
        match page["next"].as_str() {
            Some(next) => query = format!("?limit=100&cursor={next}"),
            None => {
                let counts = ["rev", "unseen", "unread", "categories"]
                    .map(|name| (name, page[name].clone()));
                return (rows, counts.to_vec());
            }
        }
    }
}

fn done(rig: &Rig, method: Method, path: &str, body: &Value) {
    let answer = rig.call(method, path, body);
    assert!(answer.status.is_success(), "{path}: {}", answer.json());
}

fn with(rig: Rig, recipients: &[&str]) -> Rig {
    for id in recipients {
        done(&rig, Method::PUT, &format!("/v1/recipients/{id}"), &json!({}));
    }
    rig
}

fn publish(rig: &Rig, event: &str, object: &str, to: &Value) {
    let body = json!({"id": event, "type": "note", "object": {"id": object}, "to": to});
    done(rig, Method::POST, "/v1/events", &body);
}

fn to(id: &str) -> Value {
    json!({"recipients": [id]})
}

fn mark(rig: &Rig, id: &str, how: &str, what: &Value) {
    done(rig, Method::POST, &format!("/v1/recipients/{id}/inbox/{how}"), what);
}

#[test]
fn i1_a_stream_tells_the_counts_and_then_each_change() {
    let rig = with(Rig::new(), &["ada", "ben"]);
    let mut ada = live(&rig, "ada", None).hello(&rig);
    assert_eq!((&ada.counts["unseen"], &ada.counts["unread"]), (&json!(0), &json!(0)));
    assert!(ada.counts.get("reset").is_none());
    publish(&rig, "e1", "o1", &to("ada"));
    let arrived = ada.change(&rig);
    assert_eq!((&arrived.data["unseen"], &arrived.data["gone"]), (&json!(1), &json!([])));
    assert!(arrived.id.is_some());
    assert_eq!(ada.rows, page(&rig, "ada").0, "a group is that of the page");
    mark(&rig, "ada", "seen", &json!({"event": "e1"}));
    let seen = ada.change(&rig);
    assert_eq!((&seen.data["unseen"], &seen.data["unread"]), (&json!(0), &json!(1)));
    // What was read is a row of its own.
    mark(&rig, "ada", "read", &json!({"event": "e1"}));
    let read = ada.change(&rig);
    assert_eq!(read.data["gone"].as_array().unwrap().len(), 1);
    assert_eq!(ada.rows, page(&rig, "ada").0);
    // Of what concerns others nothing is said.
    publish(&rig, "e2", "o2", &to("ben"));
    publish(&rig, "e3", "o3", &json!({"everyone": true}));
    let next = ada.change(&rig);
    assert_eq!(next.data["changed"][0]["items"][0]["event"], "e3");
}

#[test]
fn i2_what_is_taken_out_of_an_inbox_is_gone_from_its_streams() {
    let rig = with(Rig::new(), &["ada"]);
    publish(&rig, "e1", "o1", &to("ada"));
    publish(&rig, "e2", "o2", &to("ada"));
    let mut ada = live(&rig, "ada", None).hello(&rig);
    ada.rows = page(&rig, "ada").0;
    done(&rig, Method::PUT, "/v1/objects/o1", &json!({"notifiable": false}));
    assert_eq!(ada.change(&rig).data["gone"].as_array().unwrap().len(), 1);
    done(&rig, Method::PUT, "/v1/objects/o1", &json!({"notifiable": true}));
    assert_eq!(ada.change(&rig).data["changed"][0]["items"][0]["event"], "e1");
    done(&rig, Method::POST, "/v1/events/e2/withdraw", &json!({}));
    assert_eq!(ada.change(&rig).data["gone"].as_array().unwrap().len(), 1);
    // Days that are deleted take along what they had.
    rig.at("2024-03-01T12:00:00Z");
    done(&rig, Method::POST, "/v1/admin/forget", &json!({"before": "2024-02-01"}));
    assert_eq!(ada.change(&rig).data["unseen"], 0);
    // Who has the id of somebody who was erased is somebody else.
    publish(&rig, "e3", "o3", &to("ada"));
    ada.change(&rig);
    done(&rig, Method::DELETE, "/v1/recipients/ada", &Value::Null);
    assert_eq!(ada.next(&rig).data, json!({"code": "restart", "retry_ms": 0}));
    let last = ada.last.unwrap();
    let rig = with(rig, &["ada"]);
    assert_eq!(live(&rig, "ada", Some(&last)).hello(&rig).counts["reset"], true);
}

#[test]
fn i2_what_is_archived_or_snoozed_is_gone_and_comes_back() {
    let rig = with(Rig::new(), &["ada"]);
    let mut ada = live(&rig, "ada", None).hello(&rig);
    publish(&rig, "e1", "o1", &to("ada"));
    let key = ada.change(&rig).data["changed"][0]["key"].clone();
    mark(&rig, "ada", "archive", &json!({"event": "e1"}));
    assert_eq!(ada.change(&rig).data["gone"], json!([key]));
    mark(&rig, "ada", "unarchive", &json!({"event": "e1"}));
    assert_eq!(ada.change(&rig).data["changed"][0]["key"], key);
    mark(&rig, "ada", "snooze", &json!({"event": "e1", "for": "1h"}));
    assert_eq!(ada.change(&rig).data["gone"], json!([key]));
    // Each of these steps has an instant of its own.
    rig.at("2024-01-01T13:00:01Z");
    let back = ada.change(&rig);
    let at = back.data["changed"][0]["newest_at"].as_str().unwrap();
    assert!(at.starts_with("2024-01-01T13:00:00"), "{at}");
    assert_eq!(back.data["unseen"], 1);
    assert_eq!(ada.rows, page(&rig, "ada").0);
    mark(&rig, "ada", "delete", &json!({"event": "e1"}));
    assert_eq!(ada.change(&rig).data["unread"], 0);
    assert!(ada.rows.is_empty());
}

#[test]
fn i3_all_streams_of_a_recipient_are_told_the_same_and_the_ninth_replaces_the_first() {
    let rig = with(Rig::new(), &["ada"]);
    let mut streams: Vec<Reader> = (0..8).map(|_| live(&rig, "ada", None).hello(&rig)).collect();
    publish(&rig, "e1", "o1", &to("ada"));
    let frames: Vec<Event> = streams.iter_mut().map(|stream| stream.change(&rig)).collect();
    for frame in &frames {
        assert_eq!((&frame.id, &frame.data), (&frames[0].id, &frames[0].data));
    }
    let ninth = live(&rig, "ada", None).hello(&rig);
    let end = streams[0].next(&rig);
    assert_eq!((end.name.as_str(), &end.data), ("end", &json!({"code": "replaced"})));
    assert!(streams[0].text(&rig).is_none());
    // One that was closed makes room.
    streams.truncate(4);
    drop(ninth);
    assert_eq!(rig.service.live.open_streams(), 4);
    publish(&rig, "e2", "o2", &to("ada"));
    assert_eq!(streams[3].change(&rig).data["unseen"], 2);
    drop(streams);
    assert_eq!(rig.service.live.open_streams(), 0);
}

#[test]
fn i4_a_server_that_stops_ends_its_streams_and_spreads_their_return() {
    let rig = with(Rig::new(), &["ada", "ben"]);
    let mut streams: Vec<Reader> =
        (0..5).flat_map(|_| ["ada", "ben"].map(|id| live(&rig, id, None).hello(&rig))).collect();
    let waiter = rig
        .service
        .live
        .wait_for_change(&tidings_core::Id::new("ada").unwrap(), streams_max(&rig.service.rules()))
        .unwrap();
    rig.service.stop();
    let waits: Vec<u64> = streams
        .iter_mut()
        .map(|stream| {
            let end = stream.next(&rig);
            assert_eq!((end.name.as_str(), &end.data["code"]), ("end", &json!("restart")));
            assert!(stream.text(&rig).is_none());
            end.data["retry_ms"].as_u64().unwrap()
        })
        .collect();
    let expected: Vec<u64> = (0..10).map(|at| at * 10_000 / 9).collect();
    assert_eq!(waits, expected);
    let waited = rig.tokio.block_on(waiter.changed(Instant::now() + PATIENCE));
    assert_eq!(waited.unwrap_err().code, Code::Stopping);
    let refused = rig.call(Method::GET, "/v1/recipients/ada/live", &Value::Null);
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
}

#[test]
fn i5_a_stream_goes_on_from_the_last_event_or_says_that_it_does_not() {
    let rig = with(Rig::new(), &["ada", "ben"]);
    let mut ada = live(&rig, "ada", None).hello(&rig);
    publish(&rig, "e1", "o1", &to("ada"));
    let last = ada.change(&rig).id.unwrap();
    drop(ada);
    let again = live(&rig, "ada", Some(&last)).hello(&rig);
    assert!(again.counts.get("reset").is_none(), "{}", again.counts);
    for (recipient, last) in [("ben", last.as_str()), ("ada", "made up"), ("ada", "-1")] {
        let again = live(&rig, recipient, Some(last)).hello(&rig);
        assert_eq!(again.counts["reset"], true, "{recipient} {last}");
    }
    // A server that is started again has the same state.
    let rig = rig.restart();
    let again = live(&rig, "ada", Some(&last)).hello(&rig);
    assert!(again.counts.get("reset").is_none(), "{}", again.counts);
    // Another store gives other cursors, though everything else is alike.
    publish(&rig, "e2", "o1", &to("ada"));
    let late = live(&rig, "ada", Some(&last)).hello(&rig);
    assert_eq!(late.counts["reset"], true);
}

#[test]
fn i6_streams_are_bounded() {
    let config = format!("{CONFIG}[users]\nstreams = 2\n");
    let rig = with(Rig::with(&config, Access::Open, Settings::default()), &["ada"]);
    let first = live(&rig, "ada", None).hello(&rig);
    let second = rig
        .service
        .live
        .wait_for_change(&tidings_core::Id::new("ada").unwrap(), streams_max(&rig.service.rules()))
        .unwrap();
    let refused = rig.call(Method::GET, "/v1/recipients/ada/live", &Value::Null);
    assert_eq!(refused.json()["code"], "streams_full");
    assert_eq!(refused.headers["retry-after"], "10");
    drop(second);
    let unknown = rig.call(Method::GET, "/v1/recipients/zoe/live", &Value::Null);
    assert_eq!(unknown.json()["code"], "recipient_not_found");
    let second = live(&rig, "ada", None).hello(&rig);
    drop((first, second));
}

#[test]
fn i7_a_reader_who_is_slow_gets_what_has_come_meanwhile_in_one_frame() {
    let rig = with(Rig::new(), &["ada"]);
    let (mut slow, mut quick) = (live(&rig, "ada", None), live(&rig, "ada", None).hello(&rig));
    for event in 0..20 {
        publish(&rig, &format!("e{event}"), &format!("o{event}"), &to("ada"));
        quick.change(&rig);
    }
    slow = slow.hello(&rig);
    slow.change(&rig);
    assert_eq!(slow.rows, page(&rig, "ada").0);
}

#[test]
fn i8_what_is_too_much_for_a_frame_comes_in_several() {
    let rig = with(Rig::new(), &["ada"]);
    let mut ada = live(&rig, "ada", None).hello(&rig);
    let events: Vec<Value> = (0..250)
        .map(|at| json!({"type": "note", "object": {"id": format!("o{at}")}, "to": to("ada")}))
        .collect();
    done(&rig, Method::POST, "/v1/events", &json!(events));
    ada.catch_up(&rig, "ada");
    mark(&rig, "ada", "read", &json!({"up_to": "2024-01-01T12:01:00Z"}));
    let frames: Vec<Event> = (0..3).map(|_| ada.change(&rig)).collect();
    assert_eq!(ada.rows, page(&rig, "ada").0);
    let ids: Vec<bool> = frames.iter().map(|frame| frame.id.is_some()).collect();
    assert_eq!(ids, [false, false, true], "a part of a change is no place to go on from");
    assert!(frames.iter().all(|frame| frame.data["unread"] == 0));
}

/// A server with end users, and a stream of ada by a token.
fn by_token(rig: &Rig) -> Reader {
    let token = user_token("k1", "ada", Some("inbox:read"));
    let request = Request::get("/v1/me/live").header("authorization", format!("Bearer {token}"));
    Reader::of(rig.begin(request.body(Body::empty()).unwrap())).hello(rig)
}

fn with_users(recipients: &[&str]) -> Rig {
    let config = format!("{CONFIG}[users]\n");
    let rig = Rig::with(&config, Access::Open, Settings::default());
    rig.make_signing_key("k1");
    with(rig, recipients)
}

#[test]
fn i9_a_stream_says_that_it_is_alive_and_ends_with_its_token() {
    let rig = with_users(&["ada"]);
    let (mut mine, mut twin) = (by_token(&rig), live(&rig, "ada", None).hello(&rig));
    publish(&rig, "e1", "o1", &to("ada"));
    assert_eq!(mine.change(&rig).data, twin.change(&rig).data);
    (0..15).for_each(|_| rig.service.live.tick());
    assert_eq!(mine.text(&rig).as_deref(), Some(":\n\n"));
    // The clocks of the host and of the server may differ by a minute.
    rig.clock.set(Time::parse("2024-01-01T12:15:59Z").unwrap());
    rig.service.live.tick();
    publish(&rig, "e2", "o2", &to("ada"));
    assert_eq!(mine.change(&rig).data["unseen"], 2);
    rig.clock.set(Time::parse("2024-01-01T12:16:01Z").unwrap());
    rig.service.live.tick();
    assert_eq!(mine.next(&rig).data, json!({"code": "token_expired"}));
    assert!(mine.text(&rig).is_none());
    assert_eq!(twin.change(&rig).data["unseen"], 2, "the host's goes on");
}

#[test]
fn i9_a_stream_ends_when_its_token_or_its_key_is_revoked() {
    let rig = with_users(&["ada"]);
    let mut revoked = by_token(&rig);
    done(&rig, Method::POST, "/v1/recipients/ada/tokens/revoke", &json!({}));
    rig.service.live.tick();
    assert_eq!(revoked.next(&rig).data, json!({"code": "token_revoked"}));
    let rig = with_users(&["ada"]);
    let mut revoked = by_token(&rig);
    done(&rig, Method::DELETE, "/v1/admin/signing-keys/k1", &Value::Null);
    rig.service.live.tick();
    assert_eq!(revoked.next(&rig).data, json!({"code": "token_key"}));
}

#[test]
fn p4_erasing_ends_streams_by_token_as_revoking_does() {
    let rig = with_users(&["ada"]);
    let (mut mine, mut twin) = (by_token(&rig), live(&rig, "ada", None).hello(&rig));
    done(&rig, Method::DELETE, "/v1/recipients/ada", &Value::Null);
    // No second has to pass.
    assert_eq!(mine.next(&rig).data, json!({"code": "token_revoked"}));
    assert_eq!(twin.next(&rig).data, json!({"code": "restart", "retry_ms": 0}));
}

#[test]
fn i10_the_stream_of_somebody_who_is_not_there_comes_alive() {
    let rig = with_users(&[]);
    let mut ada = by_token(&rig);
    assert_eq!(ada.counts["unseen"], 0);
    let rig = with(rig, &["ada"]);
    publish(&rig, "e1", "o1", &to("ada"));
    while ada.rows.is_empty() {
        ada.change(&rig);
    }
    assert_eq!(ada.rows, page(&rig, "ada").0);
}

#[test]
fn i11_whatever_happens_a_reader_ends_with_the_rows_of_the_page() {
    for seed in 0..12 {
        let mut random = Random(seed);
        let rig = with(Rig::new(), &["ada", "ben"]);
        let mut readers = vec![("ada", live(&rig, "ada", None).hello(&rig))];
        for step in 0..60 {
            let who = if random.below(3) == 0 { "ben" } else { "ada" };
            let object = format!("o{}", random.below(5));
            let event = format!("e{}", random.below(60));
            match random.below(12) {
                0..4 => {
                    let to = if random.below(4) == 0 { json!({"everyone": true}) } else { to(who) };
                    publish(&rig, &event, &object, &to);
                }
                4 => mark(&rig, who, "seen", &json!({"object": object})),
                5 => mark(&rig, who, "read", &json!({"event": event})),
                6 => {
                    let body = json!({"notifiable": random.below(2) == 0});
                    done(&rig, Method::PUT, &format!("/v1/objects/{object}"), &body);
                }
                7 => mark(&rig, who, "archive", &json!({"object": object})),
                8 => mark(&rig, who, "snooze", &json!({"event": event, "for": "5h"})),
                9 => mark(&rig, who, "unread", &json!({"event": event})),
                10 => {
                    let path = format!("/v1/events/{event}/withdraw");
                    rig.call(Method::POST, &path, &json!({}));
                }
                _ => {
                    let instant = Time::parse("2024-01-01T12:00:00Z").unwrap();
                    let instant = instant.plus_ms(step * 3_600_000);
                    rig.at(&instant.to_string());
                }
            }
            match random.below(6) {
                0 if readers.len() < 8 => {
                    let mut reader = live(&rig, who, None).hello(&rig);
                    reader.rows = page(&rig, who).0;
                    readers.push((who, reader));
                }
                1 => {
                    let at = random.below(readers.len() as u64);
                    let (who, reader) = &mut readers[usize::try_from(at).unwrap()];
                    reader.catch_up(&rig, who);
                }
                _ => {}
            }
        }
        for (who, mut reader) in readers {
            reader.catch_up(&rig, who);
        }
    }
}

/// A small generator, so that a seed is the whole of a run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

#[test]
fn i15_a_page_is_waited_for_until_its_revision_is_above_the_one_that_is_known() {
    let rig = with(Rig::new(), &["ada", "ben"]);
    publish(&rig, "e0", "o0", &to("ada"));
    let get = |query: &str| {
        let path = format!("/v1/recipients/ada/inbox{query}");
        rig.call(Method::GET, &path, &Value::Null)
    };
    let rev = get("").json()["rev"].as_u64().unwrap();
    let unchanged = get(&format!("?since={rev}"));
    assert_eq!((unchanged.status, unchanged.bytes.len()), (StatusCode::NOT_MODIFIED, 0));
    assert!(unchanged.headers.get("content-type").is_none());
    assert_eq!(get(&format!("?since={rev}&wait=0s")).status, StatusCode::NOT_MODIFIED);
    assert_eq!(get(&format!("?since={rev}&wait=20ms")).status, StatusCode::NOT_MODIFIED);
    assert_eq!(get(&format!("?since={}&wait=60s", rev - 1)).status, StatusCode::OK);
    for refused in ["?since=x", "?since=-1", "?since=1&wait=61s", "?since=1&wait=soon", "?wait=-1s"]
    {
        assert_eq!(get(refused).json()["code"], "invalid_query", "{refused}");
    }
    let uri = format!("/v1/recipients/ada/inbox?since={rev}&wait=60s");
    let waiting = rig.tokio.spawn(rig.ask(Request::get(uri).body(Body::empty()).unwrap()));
    while rig.service.live.open_streams() == 0 {
        std::thread::yield_now();
    }
    publish(&rig, "e1", "o1", &to("ada"));
    let page = rig.tokio.block_on(waiting).unwrap();
    assert_eq!((page.status, &page.json()["unseen"]), (StatusCode::OK, &json!(2)));
    assert_eq!(rig.service.live.open_streams(), 0);
}

#[test]
fn c4_a_frame_is_small_or_has_one_group() {
    let rig = with(Rig::new(), &["ada"]);
    let mut ada = live(&rig, "ada", None).hello(&rig);
    let publish = |no: usize, bytes: usize| {
        let data = json!({ "text": "x".repeat(bytes) });
        let object = json!({ "id": format!("o{no}") });
        let id = format!("e{no}");
        let body =
            json!({"id": id, "type": "note", "object": object, "to": to("ada"), "data": data});
        done(&rig, Method::POST, "/v1/events", &body);
    };
    (0..8).for_each(|no| publish(no, 60_000));
    publish(8, 200_000);
    let mut groups = 0;
    while groups < 9 {
        let text = ada.text(&rig).unwrap();
        let count = text.matches("\"key\":").count();
        assert!(text.len() <= 128 << 10 || count == 1, "{} bytes, {count} groups", text.len());
        groups += count;
    }
}
