//! Sessions of the console, as operators list and end them, and their lines in the log of changes.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::channel;

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tidings_api::sessions::NewSession;
use tidings_core::engine::LoggedChange;
use tidings_core::model::{Author, AuthorKind, ChangeSubject, Origin, SubjectKind, Via};
use tidings_node::{CallerId, KeyChange, Role, Session, SignedIn};

use super::{get, post, problem};
use crate::rig::Rig;

const SESSIONS: &str = "/v1/admin/sessions";

fn person() -> SignedIn {
    SignedIn::Person("mara@example.org".to_owned())
}

/// The origin of what somebody does in the console.
fn in_console(by: Author, action: Option<&'static str>) -> Option<Arc<Origin>> {
    let (via, action) = (Via::Console, action.map(Into::into));
    Some(Arc::new(Origin { by, via, action, is_counted: false, request: None }))
}

/// Signs somebody in, as the console does.
fn sign_in(rig: &Rig, id: &str, by: SignedIn) {
    let now = rig.service.now();
    let new = NewSession::make(by, Role::Operate, Vec::new(), now).unwrap();
    let session = Session { id: id.to_owned(), ..new.stored };
    let handle = rig.service.handle.with_origin(in_console(session.author(), None));
    let (tell, told) = channel();
    let begin = KeyChange::BeginSession(session);
    handle.change_keys(now, begin, None, move |done| tell.send(done).unwrap()).unwrap();
    assert!(told.recv().unwrap().unwrap().is_some());
}

fn listed(rig: &Rig) -> Vec<String> {
    let sessions = get(rig, SESSIONS)["sessions"].as_array().unwrap().clone();
    sessions.iter().map(|session| session["id"].as_str().unwrap().to_owned()).collect()
}

fn end(rig: &Rig, id: &str) -> crate::rig::Answered {
    rig.call(Method::DELETE, &format!("{SESSIONS}/{id}"), &Value::Null)
}

/// The lines about sessions, oldest first: action, author, way in, subject.
fn lines(rig: &Rig) -> Vec<String> {
    let log = get(rig, "/v1/admin/log?limit=500")["log"].as_array().unwrap().clone();
    let of_session = |line: &&Value| line["subject"]["kind"] == "session";
    let shown = |line: &Value| {
        let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let (by, subject) = (&line["by"], &line["subject"]["id"]);
        let words = [&line["action"], &by["kind"], &by["id"], &line["via"], subject];
        words.map(word).join(" ")
    };
    log.iter().rev().filter(of_session).map(shown).collect()
}

#[test]
fn sessions_are_listed_newest_first_in_pages() {
    let rig = Rig::new();
    assert_eq!(get(&rig, SESSIONS), json!({"sessions": [], "next": null}));
    sign_in(&rig, "s1", person());
    rig.at("2024-01-01T13:00:00Z");
    sign_in(&rig, "s2", person());
    sign_in(&rig, "s3", person());
    let all = get(&rig, SESSIONS);
    let mara = json!({"kind": "person", "id": "mara@example.org", "role": "operate"});
    let first = json!({
        "id": "s1", "by": mara, "began": "2024-01-01T12:00:00Z", "used": "2024-01-01T12:00:00Z",
        "until": "2024-01-02T00:00:00Z",
    });
    assert_eq!(all["sessions"][2], first);
    assert_eq!(listed(&rig), ["s2", "s3", "s1"]);
    let page = get(&rig, &format!("{SESSIONS}?limit=2"));
    assert_eq!(page["sessions"], json!([all["sessions"][0], all["sessions"][1]]));
    let next = page["next"].as_str().unwrap();
    let rest = get(&rig, &format!("{SESSIONS}?limit=2&cursor={next}"));
    assert_eq!(rest, json!({"sessions": [first], "next": null}));
    let unknown = rig.call(Method::GET, &format!("{SESSIONS}?by=mara"), &Value::Null);
    assert_eq!(problem(&unknown, StatusCode::BAD_REQUEST), "invalid_query");
    // Two hours without use.
    rig.at("2024-01-01T14:00:00Z");
    assert_eq!(listed(&rig), ["s2", "s3"]);
}

#[test]
fn a_session_that_is_ended_is_gone_for_good() {
    let rig = Rig::new();
    sign_in(&rig, "s1", person());
    sign_in(&rig, "s2", person());
    assert_eq!(end(&rig, "s1").status, StatusCode::NO_CONTENT);
    assert_eq!(problem(&end(&rig, "s1"), StatusCode::NOT_FOUND), "session_not_found");
    assert_eq!(problem(&end(&rig, "nobody"), StatusCode::NOT_FOUND), "session_not_found");
    let rig = rig.restart();
    assert_eq!(listed(&rig), ["s2"]);
    rig.at("2024-01-01T14:00:00Z");
    assert_eq!(problem(&end(&rig, "s2"), StatusCode::NOT_FOUND), "session_not_found");
}

#[test]
fn each_session_that_begins_or_is_ended_leaves_one_line() {
    let rig = Rig::new();
    rig.make_key("k1");
    sign_in(&rig, "s1", person());
    for id in ["s2", "s3"] {
        sign_in(&rig, id, SignedIn::Key("k1".to_owned()));
    }
    assert_eq!(
        lines(&rig),
        [
            "session.begun person mara@example.org console s1",
            "session.begun key k1 console s2",
            "session.begun key k1 console s3",
        ]
    );
    let before = lines(&rig).len();
    // A use is none.
    let now = rig.service.now().plus_ms(60_000);
    let hash = rig.service.handle.sessions(now)[0].hash;
    rig.service.handle.use_session(&hash, now).unwrap();
    end(&rig, "s1");
    end(&rig, "s1");
    assert_eq!(lines(&rig)[before..], ["session.ended key dev api s1"]);
    let before = lines(&rig).len();
    let revoked = rig.call(Method::DELETE, "/v1/admin/keys/k1", &Value::Null);
    assert_eq!(revoked.status, StatusCode::NO_CONTENT);
    let mut ended = lines(&rig)[before..].to_vec();
    ended.sort();
    assert_eq!(ended, ["session.ended key dev api s2", "session.ended key dev api s3"]);
    let log = get(&rig, "/v1/admin/log?action=revoke_key")["log"].as_array().unwrap().clone();
    assert_eq!((log.len(), &log[0]["subject"]["id"]), (1, &json!("k1")));
    assert_eq!(listed(&rig), Vec::<String>::new());
    let of_begun = get(&rig, "/v1/admin/log?action=session.begun&by=key:k1");
    assert_eq!(of_begun["log"].as_array().unwrap().len(), 2);
    let role = json!([{"name": "role", "from": null, "to": "operate"}]);
    assert_eq!(of_begun["log"][0]["fields"], role);
}

#[test]
fn a_refused_sign_in_leaves_a_line_a_minute_and_peer() {
    let rig = Rig::new();
    let by = || Author::new(AuthorKind::Person, "eve@example.org");
    let refuse = |address: [u8; 4], s: i64| {
        let peer = CallerId::Address(IpAddr::from(address));
        let handle = rig.service.handle.of(peer).with_origin(in_console(by(), None));
        handle.log_refused_session(rig.service.now().plus_ms(s * 1_000)).unwrap();
    };
    refuse([10, 0, 0, 7], 0);
    refuse([10, 0, 0, 7], 59);
    refuse([10, 0, 0, 8], 59);
    refuse([10, 0, 0, 7], 60);
    // What is asked later is answered later.
    post(&rig, "/v1/channels/email/pause", &Value::Null);
    let line = "session.refused person eve@example.org console -";
    assert_eq!(lines(&rig), [line; 3]);
}

#[test]
fn what_the_console_and_assistants_do_has_a_line_of_its_own() {
    let rig = Rig::new();
    let by = || Author { role: Some("support".into()), ..Author::new(AuthorKind::Person, "mara") };
    let console = in_console(by(), Some("person.shown"));
    let mcp = Origin {
        via: Via::Mcp,
        action: Some("mcp.called".into()),
        ..(*console.clone().unwrap()).clone()
    };
    for origin in [console, Some(Arc::new(mcp))] {
        let subject = ChangeSubject::new(SubjectKind::Recipient, "ada");
        let (tell, told) = channel();
        let handle = rig.service.handle.with_origin(origin);
        let shown = LoggedChange { subject, fields: Vec::new() };
        handle.log(shown, move |logged| tell.send(logged).unwrap()).unwrap();
        told.recv().unwrap().unwrap();
    }
    for (action, via) in [("person.shown", "console"), ("mcp.called", "mcp")] {
        let found = get(&rig, &format!("/v1/admin/log?action={action}"))["log"].clone();
        assert_eq!(found.as_array().unwrap().len(), 1);
        let line = &found[0];
        assert_eq!(line["by"], json!({"kind": "person", "id": "mara", "role": "support"}));
        assert_eq!((&line["via"], &line["subject"]["id"]), (&json!(via), &json!("ada")));
    }
}
