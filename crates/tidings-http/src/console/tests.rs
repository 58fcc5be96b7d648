//! The console over a real server: what people see, what they may do, and what the log has of it.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode};
use serde_json::json;
use tidings_api::keys::NewKey;
use tidings_core::Instant;
use tidings_core::model::Role;
use tidings_node::KeyChange;
use tower::ServiceExt as _;

use crate::rig::{CONFIG, Rig};

const SAME: (&str, &str) = ("sec-fetch-site", "same-origin");

/// An answer of a page.
struct Shown {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

impl Shown {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

fn send(rig: &Rig, method: Method, path: &str, headers: &[(&str, &str)], form: &str) -> Shown {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if !headers.iter().any(|(name, _)| *name == "host") {
        request = request.header("host", "localhost");
    }
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    let request = request.body(Body::from(form.to_owned())).unwrap();
    rig.tokio.block_on(async {
        let response = rig.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, 1 << 22).await.unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        Shown { status: parts.status, headers: parts.headers, text }
    })
}

fn get(rig: &Rig, path: &str, headers: &[(&str, &str)]) -> Shown {
    send(rig, Method::GET, path, headers, "")
}

/// People, an event, and a hostile name.
fn filled(rig: &Rig) {
    for (id, name) in [("ada", "Ada Quillfeather"), ("bob", "<script>alert(1)</script>")] {
        let profile = json!({"name": name, "email": format!("{id}@planted.example.org")});
        let put = rig.call(Method::PUT, &format!("/v1/recipients/{id}"), &profile);
        assert!(put.status.is_success(), "{put:?}");
    }
    let event = json!({
        "id": "e1", "type": "note", "to": {"recipients": ["ada", "bob"]},
        "actor": {"id": "bob", "title": "Planted Title"}, "object": {"id": "works/1"},
    });
    let published = rig.call(Method::POST, "/v1/events", &event);
    assert!(published.status.is_success(), "{published:?}");
}

/// Every screen that has no id in its path, or that of what [`filled`] has made.
const SCREENS: [&str; 25] = [
    "",
    "search",
    "people",
    "people/ada",
    "people/ada?tab=inbox",
    "people/ada?tab=preferences",
    "people/ada?tab=addresses",
    "people/ada?tab=messages",
    "people/ada/why/e1",
    "people/ada/suppose",
    "people/ada/suppose?type=note&object=works/1",
    "events",
    "events/e1",
    "messages",
    "types",
    "types/note",
    "types/note/try",
    "figures",
    "system",
    "system/suppressions",
    "system/feeds",
    "system/hooks",
    "system/keys",
    "system/log",
    "system/jobs",
];

/// Planted texts, shown in no page before somebody opens the person.
const PLANTED: [&str; 4] =
    ["Quillfeather", "planted.example.org", "<script>alert", "Planted Title"];

#[test]
fn a_developer_sees_every_screen_and_nothing_that_is_masked() {
    let rig = Rig::new();
    filled(&rig);
    for screen in SCREENS {
        let path = format!("/console/{screen}");
        let shown = get(&rig, &path, &[]);
        assert_eq!(shown.status, StatusCode::OK, "{path}: {}", shown.text);
        assert!(shown.text.contains("<h1"), "{path}");
        assert_eq!(shown.header("cache-control"), "no-store", "{path}");
        assert!(shown.header("content-security-policy").contains("frame-ancestors"), "{path}");
        for planted in PLANTED {
            assert!(!shown.text.contains(planted), "{path} shows {planted}");
        }
    }
    assert_eq!(get(&rig, "/console", &[]).header("location"), "/console/");
    for path in ["/console/people/nobody", "/console/events/none", "/console/none"] {
        assert_eq!(get(&rig, path, &[]).status, StatusCode::NOT_FOUND, "{path}");
    }
    // Without tenants, the page says how to turn them on.
    let tenants = get(&rig, "/console/system/tenants", &[]);
    assert_eq!(tenants.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(tenants.text.contains("tenants_off"), "{}", tenants.text);
    let wrong = get(&rig, "/console/messages?state=gone", &[]);
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    let elsewhere = get(&rig, "/console/", &[("host", "evil.example")]);
    assert_eq!(elsewhere.status, StatusCode::MISDIRECTED_REQUEST);
}

#[test]
fn messages_are_built_with_masked_values_for_those_who_have_not_opened_the_person() {
    let rig = Rig::new();
    filled(&rig);
    // The person's name and the body are in a mail of their own words.
    let event = json!({
        "id": "e2", "type": "note", "to": {"recipients": ["ada"]},
        "actor": {"id": "bob", "title": "Planted Title"}, "body": "Planted body",
        "object": {"id": "works/2", "title": {"en": "Planted Flowers", "fr": "Planted Fleurs"}},
        "data": {"secret": "planted-data"},
    });
    assert!(rig.call(Method::POST, "/v1/events", &event).status.is_success());
    let next = get(&rig, "/console/people/ada?tab=next", &[]);
    assert_eq!(next.status, StatusCode::OK, "{}", next.text);
    assert!(next.text.contains("P•••••• F••••••"), "{}", next.text);
    assert!(rig.call(Method::POST, "/v1/recipients/ada/flush", &json!(null)).status.is_success());
    let messages = rig.call(Method::GET, "/v1/messages?recipient=ada", &json!(null)).json();
    let id = messages["messages"][0]["id"].as_str().unwrap().to_owned();
    let message = get(&rig, &format!("/console/messages/{id}"), &[]);
    assert!(message.text.contains("P•••••• F••••••"), "{}", message.text);
    let frame = get(&rig, &format!("/console/messages/{id}/html"), &[]);
    assert!(frame.text.contains("P•••••• F••••••"), "{}", frame.text);
    for page in [&next, &message, &frame] {
        for planted in [&PLANTED[..], &["Planted", "planted-data", "/u/"]].concat() {
            assert!(!page.text.contains(planted), "{planted}: {}", page.text);
        }
    }
}

#[test]
fn without_a_section_there_is_no_console() {
    let rig = Rig::with_keys(CONFIG, BTreeMap::new());
    for path in ["/console", "/console/", "/console/sign-in"] {
        assert_eq!(get(&rig, path, &[]).status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[test]
fn a_form_that_is_too_large_is_refused() {
    let (rig, _) = signed(Role::Admin);
    let form = format!("key={}", "a".repeat(70_000));
    let refused = send(&rig, Method::POST, "/console/sign-in", &[SAME], &form);
    assert_eq!(refused.status, StatusCode::PAYLOAD_TOO_LARGE);
}

/// A server with keys and a console, and the secret of a key of this role.
fn signed(role: Role) -> (Rig, String) {
    let config = format!("[console]\n{CONFIG}");
    let rig = Rig::with_keys(&config, BTreeMap::new());
    let new = NewKey::make("desk".to_owned(), role, Instant(0)).unwrap();
    let secret = new.secret.text().to_owned();
    rig.change_keys(KeyChange::Make(new.stored));
    (rig, secret)
}

#[test]
fn a_session_begins_by_a_key_and_ends_with_it_and_the_log_has_both() {
    let (rig, secret) = signed(Role::Admin);
    assert_eq!(get(&rig, "/console/", &[]).status, StatusCode::SEE_OTHER);
    let form = format!("key={secret}");
    let foreign = send(&rig, Method::POST, "/console/sign-in", &[], &form);
    assert_eq!(foreign.status, StatusCode::FORBIDDEN);
    let wrong = send(&rig, Method::POST, "/console/sign-in", &[SAME], "key=none");
    assert_eq!(wrong.status, StatusCode::UNAUTHORIZED);
    let signed_in = send(&rig, Method::POST, "/console/sign-in", &[SAME], &form);
    assert_eq!(signed_in.status, StatusCode::SEE_OTHER, "{}", signed_in.text);
    let cookie = signed_in.header("set-cookie").split(';').next().unwrap().to_owned();
    let cookie = ("cookie", &*cookie);
    assert_eq!(get(&rig, "/console/", &[cookie]).status, StatusCode::OK);
    // A session opens the pages, and no call.
    assert_eq!(get(&rig, "/v1/types", &[cookie]).status, StatusCode::UNAUTHORIZED);

    let bearer = format!("Bearer {secret}");
    let key = ("authorization", &*bearer);
    let log = get(&rig, "/v1/admin/log", &[key]);
    for action in ["session.begun", "session.refused"] {
        assert_eq!(log.text.matches(action).count(), 1, "{action}: {}", log.text);
    }
    let out = send(&rig, Method::POST, "/console/sign-out", &[SAME, cookie], "");
    assert_eq!(out.status, StatusCode::SEE_OTHER);
    assert_eq!(get(&rig, "/console/", &[cookie]).status, StatusCode::SEE_OTHER);
    let log = get(&rig, "/v1/admin/log", &[key]);
    assert_eq!(log.text.matches("session.ended").count(), 1, "{}", log.text);
}

#[test]
fn a_person_is_shown_after_a_line_of_the_log_in_that_session_alone() {
    let (rig, secret) = signed(Role::Admin);
    let bearer = format!("Bearer {secret}");
    let key = ("authorization", &*bearer);
    let json = [key, ("content-type", "application/json")];
    let profile = json!({"name": "Ada Quillfeather", "email": "ada@planted.example.org"});
    let put = rig.send(Method::PUT, "/v1/recipients/ada", &json, profile.to_string());
    assert!(put.status.is_success(), "{put:?}");
    let form = format!("key={secret}");
    let session = || {
        let signed_in = send(&rig, Method::POST, "/console/sign-in", &[SAME], &form);
        signed_in.header("set-cookie").split(';').next().unwrap().to_owned()
    };
    let (one, other) = (session(), session());
    let (one, other) = (("cookie", &*one), ("cookie", &*other));
    assert!(!get(&rig, "/console/people/ada", &[one]).text.contains("Quillfeather"));
    let path = "/console/people/ada/show";
    assert_eq!(send(&rig, Method::POST, path, &[one], "").status, StatusCode::FORBIDDEN);
    let shown = send(&rig, Method::POST, path, &[SAME, one], "");
    assert_eq!(shown.status, StatusCode::SEE_OTHER, "{}", shown.text);
    assert!(get(&rig, "/console/people/ada", &[one]).text.contains("Quillfeather"));
    assert!(!get(&rig, "/console/people/ada", &[other]).text.contains("Quillfeather"));
    let log = get(&rig, "/v1/admin/log", &[key]);
    assert_eq!(log.text.matches("person.shown").count(), 1, "{}", log.text);
    let unknown = send(&rig, Method::POST, "/console/people/nobody/show", &[SAME, one], "");
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);

    // A quarter of an hour later nobody is open.
    rig.clock.set(rig.service.now().plus_ms(15 * 60_000));
    assert!(!get(&rig, "/console/people/ada", &[one]).text.contains("Quillfeather"));
}

#[test]
fn a_role_that_may_not_open_people_is_refused() {
    let (rig, secret) = signed(Role::Read);
    let signed_in = send(&rig, Method::POST, "/console/sign-in", &[SAME], &format!("key={secret}"));
    let cookie = signed_in.header("set-cookie").split(';').next().unwrap().to_owned();
    let cookie = ("cookie", &*cookie);
    let shown = send(&rig, Method::POST, "/console/people/ada/show", &[SAME, cookie], "");
    assert_eq!(shown.status, StatusCode::FORBIDDEN, "{}", shown.text);
    let paused = send(&rig, Method::POST, "/console/types/note/pause", &[SAME, cookie], "");
    assert_eq!(paused.status, StatusCode::FORBIDDEN, "{}", paused.text);
}

/// The keys that a proxy publishes, and an assertion about `mara@example.org` of the group `support` that one of them
/// has signed (RS256, until 2033).
const PROXY: (&str, &str) = (
    "o4ZeArid_19RKxl5YDM8e5S1VRv8mj3KqPDDBIPicbjThoby9SX8fzKcu0XvioZktOECm39hpvXcM9zB1Q8VfQivyZWKsLdM_nN5WnHGSp-Ej0A6oNjgatGAGdBJEvI9ZirSDVbBheAOqDVHgcfmML9rV3AVhkm2tKM2bjYLDflukjKczuZJc0JLcE1B-PnlSoDnU8mCLx85-ZO9CwlR9L4glMj6CvUy04hbW1O_CejigzzmUguMen_-59R5NzHfsJ4YBncRmjmsWCR0C9nMyOta1m1rzhgwt0un_xWnxO_wO9lTtWMg9E5DudP9FDTZPMfMmD9rnvvLxIgOBN62nw",
    "eyJhbGciOiAiUlMyNTYiLCAia2lkIjogInIxIn0.eyJpc3MiOiAiaHR0cHM6Ly9pZHAuZXhhbXBsZS5vcmciLCAiYXVkIjogWyJvdGhlciIsICJ0aWRpbmdzIl0sICJleHAiOiAyMDAwMDAwMDAwLCAiaWF0IjogMTcwMDAwMDAwMCwgImVtYWlsIjogIm1hcmFAZXhhbXBsZS5vcmciLCAiZ3JvdXBzIjogWyJzdXBwb3J0IiwgIm9wcyJdfQ.WDsKM5ROwHKuUqBWe7g93JB7F7o8a5RP_t9Ps8fZkNU-JydDVqiw1ICXDASmUJRM46ATJk8DV4IJdL9tQFc59ORN47X2RZa4OFz9dYTUXFWXhssD9u6IgHFQJIliDUkBkX5t1Vc8mYTUkB9wuIfMfGF6u2QPKEo4bZqiaYz3qAmi8so0rIsSqSwDeekbhjvNsqlKmbVfdmS81mi57NerM38vzeMhejI8fO9YtlgdJV0fVv0mJ9LNZaEFxRv4RMdFiZZBS8dWZjQ7OVdjVrR26BQz7CWlIXtz_O1R51G1xAiwy_gMrYXzeZhamKV45YK6e5GvEYEn5UEOUIe5q47H4g",
);

/// Publishes the key of [`PROXY`] over HTTP; returns the port.
fn publish_keys() -> u16 {
    let key = json!({"kty": "RSA", "kid": "r1", "alg": "RS256", "n": PROXY.0, "e": "AQAB"});
    let body = json!({ "keys": [key] }).to_string();
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    );
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut request = [0; 4096];
            // A client that hangs up is no fault of the test.
            let _ = stream.read(&mut request).and_then(|_| stream.write_all(answer.as_bytes()));
        }
    });
    port
}

#[test]
fn a_signed_token_of_a_proxy_signs_in_and_has_to_come_with_each_request() {
    let console = format!(
        "[console]\nurl = \"https://localhost/console\"\ngroups = \"groups\"\n\
         roles = {{ \"group:support\" = \"support\" }}\n\
         proxy = {{ jwt = \"X-Assertion\", keys = \"http://127.0.0.1:{}/certs\", \
         issuer = \"https://idp.example.org\", audience = \"tidings\", claim = \"email\" }}\n",
        publish_keys()
    );
    let rig = Rig::with_keys(&format!("{console}{CONFIG}"), BTreeMap::new());
    let (assertion, origin) = (("x-assertion", PROXY.1), ("origin", "https://localhost"));
    let begin = |headers: &[(&str, &str)]| {
        send(&rig, Method::POST, "/console/sign-in", &[headers, &[SAME, origin]].concat(), "")
    };
    // A GET shows the button and changes nothing.
    let form = get(&rig, "/console/sign-in", &[assertion]);
    assert!(form.text.contains("mara@example.org"), "{}", form.text);
    assert_eq!(form.header("set-cookie"), "");

    let mut forged = PROXY.1.to_owned();
    forged.replace_range(60..61, if &forged[60..61] == "A" { "B" } else { "A" });
    for headers in [&[][..], &[("x-assertion", &*forged)], &[assertion, assertion]] {
        assert_eq!(begin(headers).status, StatusCode::UNAUTHORIZED, "{headers:?}");
    }
    let begun = begin(&[assertion]);
    assert_eq!(begun.status, StatusCode::SEE_OTHER, "{}", begun.text);
    let cookie = begun.header("set-cookie").split(';').next().unwrap().to_owned();
    let cookie = ("cookie", &*cookie);
    let now = get(&rig, "/console/", &[cookie, assertion]);
    assert_eq!(now.status, StatusCode::OK);
    assert!(now.text.contains("mara@example.org"), "{}", now.text);
    for without in [&[cookie][..], &[assertion], &[cookie, ("x-assertion", &*forged)]] {
        assert_eq!(get(&rig, "/console/", without).status, StatusCode::SEE_OTHER, "{without:?}");
    }
    // The role is that of the group.
    let paused = send(
        &rig,
        Method::POST,
        "/console/types/note/pause",
        &[cookie, assertion, SAME, origin],
        "",
    );
    assert_eq!(paused.status, StatusCode::FORBIDDEN, "{}", paused.text);
    // After the token has ended, so has the session.
    rig.clock.set(Instant::parse("2033-05-18T04:00:00Z").unwrap());
    assert_eq!(get(&rig, "/console/", &[cookie, assertion]).status, StatusCode::SEE_OTHER);
}
