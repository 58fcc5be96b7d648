//! Pages of the console over a server that runs elsewhere: `cargo run --example live -- URL ADDRESS`. A server that is
//! not for developers needs a key, in `TIDINGS_KEY`.

use std::sync::Arc;

use async_trait::async_trait;
use axum::http::StatusCode;
use jiff::Timestamp;
use serde_json::Value;
use tidings_console::{Api, Call, CallProblem, Caller, CallerKind, Console, Viewer, Way};

struct Remote {
    url: String,
}

#[async_trait]
impl Api for Remote {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn shown_data(&self) -> Vec<String> {
        vec!["data.plan".to_owned()]
    }

    fn may(&self, _: &str, _: &str) -> bool {
        true
    }

    fn is_dev(&self) -> bool {
        true
    }

    async fn call(&self, _: &Caller, call: Call) -> Result<Value, CallProblem> {
        let url = format!("{}{}", self.url, call.target());
        let (method, body) = (call.method.clone(), call.body.clone());
        let key = std::env::var("TIDINGS_KEY").unwrap_or_default();
        let answer = tokio::task::spawn_blocking(move || {
            let agent: ureq::Agent =
                ureq::Agent::config_builder().http_status_as_error(false).build().into();
            let body = body.map(|body| body.to_string()).unwrap_or_default();
            let request = axum::http::Request::builder()
                .method(method)
                .uri(url)
                .header("content-type", "application/json")
                .header("authorization", format!("Bearer {key}"))
                .body(body)
                .unwrap();
            let mut answer = agent.run(request).unwrap();
            let text = answer.body_mut().read_to_string().unwrap();
            (answer.status().as_u16(), serde_json::from_str(&text).unwrap_or_default())
        });
        let (status, body): (u16, Value) = answer.await.unwrap();
        let status = StatusCode::from_u16(status).unwrap();
        if status.is_success() { Ok(body) } else { Err(CallProblem { status, body }) }
    }
}

/// The zone of the cookie that the script sets.
fn zone(headers: &axum::http::HeaderMap) -> jiff::tz::TimeZone {
    let cookies = headers.get("cookie").and_then(|cookies| cookies.to_str().ok()).unwrap_or("");
    let name = cookies.split("; ").find_map(|cookie| cookie.strip_prefix("tidings-zone="));
    name.and_then(|name| jiff::tz::TimeZone::get(name).ok()).unwrap_or(jiff::tz::TimeZone::UTC)
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().expect("the server");
    let address = arguments.next().expect("an address");
    let console = Console::new(Arc::new(Remote { url }), "/console");
    let router = tidings_console::router(Arc::new(console)).layer(axum::middleware::from_fn(
        async |mut request: axum::extract::Request, next: axum::middleware::Next| {
            let zone = zone(request.headers());
            request.extensions_mut().insert(Viewer {
                caller: Caller {
                    kind: CallerKind::Key,
                    id: "dev".to_owned(),
                    role: "admin",
                    way: Way::Console,
                },
                session: String::new(),
                shown: Default::default(),
                zone,
            });
            next.run(request).await
        },
    ));
    let listener = tokio::net::TcpListener::bind(address).await.unwrap();
    axum::serve(listener, router).await.unwrap();
}
