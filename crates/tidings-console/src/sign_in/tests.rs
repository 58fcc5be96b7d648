//! Attacks on signing in, and what must work beside them.

use std::collections::HashMap;
use std::sync::Mutex;

use axum::body::{Body, to_bytes};
use jiff::Timestamp;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::*;
use crate::api::{Api, CallerKind, Way};
use crate::call::Call;

/// A server with one key (`secret`, role `support`), and the sessions in memory.
#[derive(Default)]
struct Server {
    /// People with a role; the header that names one counts from everywhere.
    roles: Mutex<Vec<(&'static str, &'static str)>>,
    sessions: Mutex<HashMap<String, Session>>,
    refused: Mutex<usize>,
}

fn holder() -> Caller {
    Caller { kind: CallerKind::Key, id: "k1".to_owned(), role: "support", way: Way::Console }
}

#[async_trait]
impl Api for Server {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
    fn shown_data(&self) -> Vec<String> {
        Vec::new()
    }
    fn may(&self, _: &str, _: &str) -> bool {
        true
    }
    fn is_dev(&self) -> bool {
        false
    }
    async fn call(&self, _: &Caller, _: Call) -> Result<Value, CallProblem> {
        Ok(json!({}))
    }
    async fn log_tool_call(&self, _: &Caller, _: &'static str) -> Result<(), CallProblem> {
        Ok(())
    }
    fn secret(&self) -> Result<String, CallProblem> {
        Ok(String::new())
    }
}

#[async_trait]
impl SignIn for Server {
    fn place(&self) -> Place {
        Place { origin: Some("https://tidings.example.org".to_owned()) }
    }
    fn knows_host(&self, host: &str) -> bool {
        host == "tidings.example.org"
    }
    fn key_holder(&self, key: &str) -> Option<Caller> {
        (key == "secret").then(holder)
    }
    async fn vouched(&self, request: &Parts) -> Option<ProxyPerson> {
        let name = request.headers.get("x-forwarded-user")?.to_str().ok()?.to_owned();
        Some(ProxyPerson { name, groups: Vec::new() })
    }
    fn role(&self, person: &ProxyPerson) -> Option<&'static str> {
        let roles = self.roles.lock().unwrap();
        roles.iter().find(|(name, _)| *name == person.name).map(|(_, role)| *role)
    }
    async fn begin(&self, caller: &Caller, groups: &[String]) -> Result<String, CallProblem> {
        let mut sessions = self.sessions.lock().unwrap();
        let secret = format!("s{}", sessions.len());
        let session =
            Session { id: secret.clone(), caller: caller.clone(), groups: groups.to_vec() };
        sessions.insert(secret.clone(), session);
        Ok(secret)
    }
    async fn session(&self, secret: &str) -> Option<Session> {
        self.sessions.lock().unwrap().get(secret).cloned()
    }
    async fn end(&self, secret: &str) -> Result<(), CallProblem> {
        self.sessions.lock().unwrap().remove(secret);
        Ok(())
    }
    async fn refused(&self, _: Option<PeerAddress>) {
        *self.refused.lock().unwrap() += 1;
    }
}

struct World {
    server: Arc<Server>,
    router: Router,
}

/// An answer: its status, the path that it leads to, its cookie, its text.
struct Answer {
    status: StatusCode,
    location: String,
    cookie: String,
    text: String,
}

impl World {
    fn new() -> Self {
        let server = Arc::new(Server::default());
        let console = Console::new(Arc::<Server>::clone(&server), "/console");
        let router = signed_in(Arc::new(console), Arc::<Server>::clone(&server));
        Self { server, router }
    }

    async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", "tidings.example.org");
        }
        let form = "application/x-www-form-urlencoded";
        let request =
            request.header("content-type", form).extension(PeerAddress([10, 0, 0, 7].into()));
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let of = |name: &str| {
            let value = response.headers().get(name).and_then(|value| value.to_str().ok());
            value.unwrap_or_default().to_owned()
        };
        let (location, cookie) = (of("location"), of("set-cookie"));
        let status = response.status();
        let bytes = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        Answer { status, location, cookie, text }
    }

    /// Signs in with the key, and returns the cookie.
    async fn signed_in(&self) -> String {
        let answer = self.send("POST", "/console/sign-in", &[SAME], "key=secret").await;
        assert_eq!((answer.status, answer.location.as_str()), (StatusCode::SEE_OTHER, "/console/"));
        answer.cookie.split(';').next().unwrap().to_owned()
    }
}

const SAME: (&str, &str) = ("sec-fetch-site", "same-origin");

#[tokio::test]
async fn a_key_opens_the_pages_through_the_form_alone() {
    let world = World::new();
    let out = world.send("GET", "/console/people?state=active", &[], "").await;
    assert_eq!(out.status, StatusCode::SEE_OTHER);
    assert_eq!(out.location, "/console/sign-in?next=%2Fconsole%2Fpeople%3Fstate%3Dactive");
    let bearer = ("authorization", "Bearer secret");
    assert_eq!(world.send("GET", "/console/", &[bearer], "").await.status, StatusCode::SEE_OTHER);
    let wrong = world.send("POST", "/console/sign-in", &[SAME], "key=secrets").await;
    assert_eq!((wrong.status, wrong.cookie.as_str()), (StatusCode::UNAUTHORIZED, ""));
    assert!(!wrong.text.contains("secrets"), "a key is not written back");
    assert_eq!(*world.server.refused.lock().unwrap(), 1);

    let cookie = world.signed_in().await;
    assert!(cookie.starts_with("__Host-tidings="), "{cookie}");
    let page = world.send("GET", "/console/", &[("cookie", &cookie)], "").await;
    assert_eq!(page.status, StatusCode::OK);
    // Two cookies of the name may be one's own and one of an attacker.
    let twice = format!("{cookie}; {cookie}");
    let page = world.send("GET", "/console/", &[("cookie", &twice)], "").await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    let again = world.signed_in().await;
    assert_ne!(cookie, again, "each signing in begins another session");

    let out = world.send("POST", "/console/sign-out", &[SAME, ("cookie", &cookie)], "").await;
    assert!(out.status == StatusCode::SEE_OTHER && out.cookie.contains("Max-Age=0"));
    let page = world.send("GET", "/console/", &[("cookie", &cookie)], "").await;
    assert_eq!(page.status, StatusCode::SEE_OTHER);
    let late = world.send("POST", "/console/people/ana/flush", &[SAME], "expect=1").await;
    assert_eq!(late.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn forms_of_other_sites_and_foreign_names_are_refused() {
    let world = World::new();
    let cookie = world.signed_in().await;
    for headers in [
        vec![("sec-fetch-site", "cross-site")],
        vec![("sec-fetch-site", "same-site")],
        vec![("origin", "null")],
        vec![("origin", "https://evil.example")],
        vec![],
    ] {
        for path in ["/console/sign-in", "/console/sign-out", "/console/people/ana/flush"] {
            let all: Vec<_> = headers.iter().copied().chain([("cookie", &*cookie)]).collect();
            let answer = world.send("POST", path, &all, "key=secret").await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{path} {headers:?}");
            assert!(answer.text.contains("cross_site") && answer.cookie.is_empty());
        }
    }
    let sessions = world.server.sessions.lock().unwrap().len();
    assert_eq!(sessions, 1, "nothing has begun or ended");
    for host in ["evil.example", "tidings.example.org.evil.example"] {
        let answer =
            world.send("GET", "/console/", &[("host", host), ("cookie", &cookie)], "").await;
        assert_eq!(answer.status, StatusCode::MISDIRECTED_REQUEST, "{host}");
    }
    let plain = [SAME, ("cookie", &*cookie)];
    let json = world.send("POST", "/console/sign-in", &plain, "{}").await;
    assert_eq!(json.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn next_leads_to_pages_of_the_console_alone() {
    let world = World::new();
    for (next, expected) in [
        ("/console/events/e1%3Fchannel%3Demail", "/console/events/e1?channel=email"),
        ("//evil.example", "/console/"),
        ("https://evil.example/console/", "/console/"),
        ("%5Cevil.example", "/console/"),
        ("/console%5C%5Cevil.example", "/console/"),
        ("/console/%0d%0aSet-Cookie:a", "/console/"),
        ("/consoles/", "/console/"),
        ("/console/../v1", "/console/"),
        ("/console//evil.example", "/console/"),
    ] {
        let form = format!("key=secret&next={next}");
        let answer = world.send("POST", "/console/sign-in", &[SAME], &form).await;
        assert_eq!(answer.location, expected, "{next}");
    }
}

#[tokio::test]
async fn ten_failures_a_minute_are_all_that_a_peer_has() {
    let world = World::new();
    for _ in 0..10 {
        let answer = world.send("POST", "/console/sign-in", &[SAME], "key=no").await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    }
    let answer = world.send("POST", "/console/sign-in", &[SAME], "key=secret").await;
    assert_eq!((answer.status, answer.cookie.as_str()), (StatusCode::TOO_MANY_REQUESTS, ""));
}

#[tokio::test]
async fn a_person_of_the_proxy_is_in_as_long_as_it_vouches_and_the_roles_say_so() {
    let world = World::new();
    world.server.roles.lock().unwrap().push(("mara@example.org", "operate"));
    let mara = ("x-forwarded-user", "mara@example.org");
    let page = world.send("GET", "/console/sign-in", &[mara], "").await;
    assert!(page.text.contains("Go on as mara@example.org"), "{}", page.text);
    let answer = world.send("POST", "/console/sign-in", &[SAME, mara], "next=%2Fconsole%2F").await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let cookie = answer.cookie.split(';').next().unwrap().to_owned();
    let cookie = ("cookie", &*cookie);
    assert_eq!(world.send("GET", "/console/", &[mara, cookie], "").await.status, StatusCode::OK);
    // Without its word, or for somebody else, the session opens nothing.
    for headers in [vec![cookie], vec![cookie, ("x-forwarded-user", "jo@example.org")]] {
        let answer = world.send("GET", "/console/", &headers, "").await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER);
    }
    let jo = ("x-forwarded-user", "jo@example.org");
    let answer = world.send("POST", "/console/sign-in", &[SAME, jo], "").await;
    assert_eq!((answer.status, answer.cookie.as_str()), (StatusCode::FORBIDDEN, ""));
    assert!(answer.text.contains("no role"), "{}", answer.text);
    // A leaver is taken out of `roles`: the next request is refused.
    world.server.roles.lock().unwrap().clear();
    let answer = world.send("GET", "/console/", &[mara, cookie], "").await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn every_answer_has_the_policy_and_is_not_kept() {
    let world = World::new();
    for path in ["/console/", "/console/sign-in", "/console/none"] {
        let request = Request::builder().uri(path).header("host", "localhost");
        let request = request.body(Body::empty()).unwrap();
        let response = world.router.clone().oneshot(request).await.unwrap();
        let headers = response.headers();
        assert_eq!(headers["cache-control"], "no-store", "{path}");
        assert_eq!(headers["referrer-policy"], "same-origin", "{path}");
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("require-trusted-types-for 'script'"), "{path}");
    }
}
