//! The endpoint over a server of fixed answers: the protocol, and what tools answer.

mod protocol;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use axum::body::to_bytes;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Request, StatusCode};
use serde_json::{Value, json};

use super::McpEndpoint;
use crate::api::{Caller, CallerKind, Way};
use crate::console::Console;
use crate::fake::Fake;
use crate::problem::CallProblem;
use crate::sign_in::{PeerAddress, Place, ProxyPerson, Session, SignIn};

/// A server known as `tidings.example.org`, with a key for each role that has its name.
struct Keys;

#[async_trait]
impl SignIn for Keys {
    fn place(&self) -> Place {
        Place { origin: Some("https://tidings.example.org".to_owned()) }
    }
    fn knows_host(&self, host: &str) -> bool {
        host == "tidings.example.org"
    }
    fn key_holder(&self, key: &str) -> Option<Caller> {
        let role = ["read", "support", "operate"].into_iter().find(|role| *role == key)?;
        Some(caller(role, role))
    }
    async fn vouched(&self, _: &Parts) -> Option<ProxyPerson> {
        None
    }
    fn role(&self, _: &ProxyPerson) -> Option<&'static str> {
        None
    }
    async fn begin(&self, _: &Caller, _: &[String]) -> Result<String, CallProblem> {
        Ok(String::new())
    }
    async fn session(&self, _: &str) -> Option<Session> {
        None
    }
    async fn end(&self, _: &str) -> Result<(), CallProblem> {
        Ok(())
    }
    async fn refused(&self, _: Option<PeerAddress>) {}
}

pub(super) fn caller(id: &str, role: &'static str) -> Caller {
    Caller { kind: CallerKind::Key, id: id.to_owned(), role, way: Way::Mcp }
}

/// The endpoint over fixed answers of the API.
pub(super) struct Assistant {
    endpoint: McpEndpoint,
    called: Arc<Mutex<Vec<String>>>,
}

/// An answer of the endpoint.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) status: StatusCode,
    pub(super) body: Value,
}

impl Answered {
    /// The structure of a tool's answer.
    pub(super) fn structured(&self) -> &Value {
        assert_eq!(self.body["result"]["isError"], false, "{}", self.body);
        &self.body["result"]["structuredContent"]
    }

    /// The text of a tool that refuses.
    pub(super) fn refusal(&self) -> &str {
        assert_eq!(self.body["result"]["isError"], true, "{}", self.body);
        assert!(self.body["result"].get("structuredContent").is_none(), "{}", self.body);
        self.body["result"]["content"][0]["text"].as_str().unwrap()
    }

    /// The code of an error of the protocol.
    pub(super) fn code(&self) -> i64 {
        self.body["error"]["code"].as_i64().unwrap()
    }
}

impl Assistant {
    pub(super) fn new(fake: Fake) -> Self {
        let called = fake.calls();
        let console = Arc::new(Console::new(Arc::new(fake), "/console"));
        Self { endpoint: McpEndpoint::new(console, Arc::new(Keys)), called }
    }

    /// The calls of the API that were made since the last time.
    pub(super) fn called(&self) -> Vec<String> {
        std::mem::take(&mut *self.called.lock().unwrap())
    }

    /// Sends a body with headers.
    pub(super) async fn send(
        &self,
        caller: Caller,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answered {
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            let name: axum::http::HeaderName = name.parse().unwrap();
            all.append(name, value.parse().unwrap());
        }
        let response = self.endpoint.answer(caller, &all, body.as_bytes()).await;
        let status = response.status();
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let body = match bytes.is_empty() {
            true => Value::Null,
            false => serde_json::from_slice(&bytes).unwrap(),
        };
        Answered { status, body }
    }

    /// Makes a request of the stateless protocol as it should be.
    pub(super) async fn request(&self, caller: Caller, method: &str, params: Value) -> Answered {
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let headers = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", method),
            ("mcp-name", name.as_str()),
        ];
        let body =
            json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": with_meta(params)});
        self.send(caller, &headers, &body.to_string()).await
    }

    /// Calls a tool as the holder of a key of this role.
    pub(super) async fn tool(&self, role: &'static str, name: &str, arguments: Value) -> Answered {
        self.tool_of(caller(role, role), name, arguments).await
    }

    pub(super) async fn tool_of(&self, of: Caller, name: &str, arguments: Value) -> Answered {
        let answered =
            self.request(of, "tools/call", json!({"name": name, "arguments": arguments})).await;
        if answered.body["result"]["isError"] == false {
            check_answer(name, &answered.body["result"]);
        }
        answered
    }

    /// The refusal of a request at the door; `None` = it is admitted.
    pub(super) fn refused(&self, method: &str, headers: &[(&str, &str)]) -> Option<StatusCode> {
        let mut request = Request::builder().method(method).uri("/mcp");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let parts = request.body(()).unwrap().into_parts().0;
        self.endpoint.admit(&parts).err().map(|refusal| refusal.status())
    }
}

/// Parameters with what each request says of itself.
fn with_meta(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

/// Fails unless an answer is what the tool's table says, twice the same, and short.
fn check_answer(name: &str, result: &Value) {
    let fields = super::Tool::of(name).unwrap().definition().answer;
    let structured = &result["structuredContent"];
    for field in fields.iter().chain(&super::schema::COMMON) {
        match structured.get(field.name) {
            Some(value) => assert!(field.kind.fits(value), "{name}: {} = {value}", field.name),
            None => assert!(!field.is_always, "{name} lacks {}", field.name),
        }
    }
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, *structured);
    assert!(result.to_string().len() <= super::answer::ANSWER_BYTES_MAX);
}
