//! A server for tests of pages: fixed answers of calls, and which calls were made.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use axum::Extension;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, header};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::api::{Api, Caller, CallerKind, Way};
use crate::call::Call;
use crate::console::Console;
use crate::problem::CallProblem;
use crate::viewer::Viewer;

/// The instant of all tests.
pub(crate) const NOW: &str = "2026-11-28T22:00:00Z";

/// Fixed answers of calls, by method and target: `GET /v1/events?type=comment`.
#[derive(Default)]
pub(crate) struct Fake {
    answers: BTreeMap<String, Result<Value, CallProblem>>,
    called: Arc<Mutex<Vec<String>>>,
    opened: Vec<String>,
}

/// The answer to a request of a page.
pub(crate) struct Shown {
    pub(crate) status: StatusCode,
    pub(crate) location: String,
    /// The policy of the page.
    pub(crate) policy: String,
    pub(crate) text: String,
    /// The calls that were made, with their bodies.
    pub(crate) called: Vec<String>,
}

impl Fake {
    pub(crate) fn on(mut self, call: &str, answer: Value) -> Self {
        self.answers.insert(call.to_owned(), Ok(answer));
        self
    }

    pub(crate) fn refuse(mut self, call: &str, status: u16, code: &str, hint: &str) -> Self {
        let body = json!({
            "status": status, "code": code, "title": code, "detail": code, "hint": hint,
        });
        let status = StatusCode::from_u16(status).unwrap();
        self.answers.insert(call.to_owned(), Err(CallProblem { status, body }));
        self
    }

    /// The calls that are made, with their bodies.
    pub(crate) fn calls(&self) -> Arc<Mutex<Vec<String>>> {
        Arc::clone(&self.called)
    }

    /// The viewer has opened a person.
    pub(crate) fn opened(mut self, recipient: &str) -> Self {
        self.opened.push(recipient.to_owned());
        self
    }

    /// Requests a page as somebody of a role. The path is below `/console`; a form makes it a POST.
    pub(crate) async fn page(self, role: &'static str, path: &str, form: Option<&str>) -> Shown {
        let until = NOW.parse::<Timestamp>().unwrap() + jiff::SignedDuration::from_mins(10);
        let caller =
            Caller { kind: CallerKind::Key, id: "k-1".to_owned(), role, way: Way::Console };
        let shown = self.opened.iter().map(|id| (id.clone(), until)).collect();
        let session = String::new();
        let viewer = Viewer { caller, session, shown, zone: TimeZone::UTC };
        let called = Arc::clone(&self.called);
        let console = Arc::new(Console::new(Arc::new(self), "/console"));
        let router = crate::router(console).layer(Extension(viewer));
        let request = Request::builder()
            .method(if form.is_some() { "POST" } else { "GET" })
            .uri(format!("/console{path}"))
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Body::from(form.unwrap_or_default().to_owned()))
            .unwrap();
        let response = router.oneshot(request).await.unwrap();
        let header = |name: header::HeaderName| {
            let value = response.headers().get(name);
            value.map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
        };
        let (location, policy) =
            (header(header::LOCATION), header(header::CONTENT_SECURITY_POLICY));
        let status = response.status();
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        // Templates write slashes of values as references.
        let text = String::from_utf8(bytes.to_vec()).unwrap().replace("&#x2f;", "/");
        let called = std::mem::take(&mut *called.lock().unwrap());
        Shown { status, location, policy, text, called }
    }
}

impl Shown {
    /// Fails unless each text is in the page.
    pub(crate) fn has(&self, texts: &[&str]) {
        for text in texts {
            assert!(self.text.contains(text), "the page lacks `{text}`:\n{}", self.text);
        }
    }

    /// Fails if one of the texts is in the page or where it leads.
    pub(crate) fn lacks(&self, texts: &[&str]) {
        for text in texts {
            assert!(!self.text.contains(text), "the page has `{text}`:\n{}", self.text);
            assert!(!self.location.contains(text), "{}", self.location);
        }
    }
}

#[async_trait]
impl Api for Fake {
    fn now(&self) -> Timestamp {
        NOW.parse().unwrap()
    }

    fn shown_data(&self) -> Vec<String> {
        Vec::new()
    }

    /// `read` may change nothing, `support` what support does, all others everything.
    fn may(&self, role: &str, operation: &str) -> bool {
        let reads = ["get_", "list_", "search", "explain", "pending", "preview", "inbox"];
        let supports = ["flush", "unsuppress", "revoke_tokens", "open_person"];
        let is_read = reads.iter().any(|word| operation.starts_with(word));
        match role {
            "read" => is_read,
            "support" => is_read || supports.contains(&operation),
            _ => true,
        }
    }

    fn is_dev(&self) -> bool {
        false
    }

    async fn call(&self, _: &Caller, call: Call) -> Result<Value, CallProblem> {
        let target = format!("{} {}", call.method, call.target());
        let body = call.body.map(|body| format!(" {body}")).unwrap_or_default();
        self.called.lock().unwrap().push(format!("{target}{body}"));
        let answer = self.answers.get(&format!("{target}{body}")).or(self.answers.get(&target));
        answer.cloned().unwrap_or_else(|| {
            let status = StatusCode::NOT_FOUND;
            Err(CallProblem::new(status, "no_fixture", format!("no answer to `{target}`")))
        })
    }

    async fn log_tool_call(&self, caller: &Caller, tool: &'static str) -> Result<(), CallProblem> {
        self.called.lock().unwrap().push(format!("mcp.called {} {tool}", caller.id));
        Ok(())
    }

    fn secret(&self) -> Result<String, CallProblem> {
        Ok(format!("secret-{}", self.called.lock().unwrap().len()))
    }

    async fn open_person(&self, _: &Viewer, recipient: &str) -> Result<(), CallProblem> {
        self.called.lock().unwrap().push(format!("open {recipient}"));
        Ok(())
    }
}
