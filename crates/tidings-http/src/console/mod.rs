//! The console over this server: its calls are those of the API, made within the process in the name of its viewers.

mod mcp;
mod proxy;
mod sign_in;
#[cfg(test)]
mod tests;

use std::fmt::Display;
use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use jiff::Timestamp;
use serde_json::Value;
use tidings_api::keys::Secret;
use tidings_console::{
    Api, Call, CallProblem, Caller, CallerKind, Console, MASKED, McpEndpoint, Viewer, Way,
};
use tidings_core::engine::LoggedChange;
use tidings_core::model::{
    Author, AuthorKind, ChangeSubject, ChangedField, Role, SubjectKind, Via,
};
use tidings_core::rules::CONSOLE_PATH;
use tidings_node::{CallerId, RuntimeError};
use tokio::sync::oneshot;
use tower::ServiceExt as _;

use self::sign_in::ServerSignIn;
use crate::call::{is_call, roles_of};
use crate::change::origin::{Logged, Requester};
use crate::error::{Code, MisdirectedCall, Problem};
use crate::request::caller::Caller as KeyHolder;
use crate::request::extract::whole;
use crate::request::masked_values::{MASKS, MasksValues, shown_data};
use crate::service::{Access, Service};
use crate::shares::{CALLER, stranger};

/// The most bytes of an answer that a page is made of.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// The console's way to the calls of this server.
struct CallsInProcess {
    service: Arc<Service>,
    calls: Router,
}

impl CallsInProcess {
    /// Answers a call, here or at the node that has its recipient.
    async fn answer(
        &self,
        requester: &Requester,
        holder: Arc<KeyHolder>,
        call: &Call,
    ) -> Result<Response, CallProblem> {
        let of_others = self.service.shards.cluster_view();
        let elsewhere = of_others.and_then(|(owners, cluster)| {
            let home = owners.of_path(&call.path).filter(|home| !owners.has(*home))?;
            Some((cluster, home))
        });
        if let Some((cluster, home)) = elsewhere {
            return Ok(cluster.call_in_name(request(call)?, home, requester).await);
        }
        let mut here = request(call)?;
        here.extensions_mut().insert(requester.clone());
        here.extensions_mut().insert(holder);
        let response = match self.calls.clone().oneshot(here).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        match (of_others, response.extensions().get::<MisdirectedCall>()) {
            // Nothing was done: its handler has found that another node has the recipient.
            (Some((_, cluster)), Some(found)) => {
                let home = found.home;
                Ok(cluster.call_in_name(request(call)?, home, requester).await)
            }
            _ => Ok(response),
        }
    }
}

/// A call as a request.
fn request(call: &Call) -> Result<Request, CallProblem> {
    let body = call.body.as_ref().map_or_else(Body::empty, |body| body.to_string().into());
    let request = Request::builder()
        .method(call.method.clone())
        .uri(call.target())
        .header(header::CONTENT_TYPE, "application/json")
        .body(body);
    let mut request = request.map_err(|fault| internal(&fault))?;
    if call.masks_values() {
        request.headers_mut().insert(MASKS, HeaderValue::from_static("true"));
        request.extensions_mut().insert(MasksValues);
    }
    Ok(request)
}

#[async_trait]
impl Api for CallsInProcess {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.service.now().0).unwrap_or_default()
    }

    fn shown_data(&self) -> Vec<String> {
        shown_data(&self.service.rules())
    }

    fn may(&self, role: &str, operation: &str) -> bool {
        let Some(role) = Role::named(role) else { return false };
        if operation == OPEN_PERSON {
            return OPENS_PEOPLE.contains(&role);
        }
        let roles = is_call(operation).then(|| roles_of(operation)).flatten();
        roles.is_some_and(|roles| roles.allow(role))
    }

    fn is_dev(&self) -> bool {
        matches!(self.service.access, Access::Open)
    }

    async fn call(&self, caller: &Caller, call: Call) -> Result<Value, CallProblem> {
        let requester = requester(caller);
        let Some(role) = requester.role() else {
            return Err(problem(&Problem::new(Code::Role, "the caller has no role")));
        };
        let id = self.caller_id(caller);
        let holder = Arc::new(KeyHolder { role, id: id.clone() });
        let response = CALLER.scope(id, self.answer(&requester, holder, &call)).await?;
        let status = response.status();
        let body = to_bytes(response.into_body(), ANSWER_BYTES_MAX).await;
        let body = body.map_err(|fault| internal(&fault))?;
        let mut body: Value = serde_json::from_slice(&body).unwrap_or_default();
        if !status.is_success() {
            return Err(CallProblem { status, body });
        }
        if call.masks_values() && body.is_object() {
            body[MASKED] = true.into();
        }
        Ok(body)
    }

    async fn open_person(&self, viewer: &Viewer, recipient: &str) -> Result<(), CallProblem> {
        // An unknown one is refused, and leaves no line.
        self.call(&viewer.caller, Call::get(&["recipients", recipient])).await?;
        let subject = ChangeSubject::new(SubjectKind::Recipient, recipient);
        let line = LoggedChange { subject, fields: Vec::new() };
        self.log(&viewer.caller, "person.shown", line).await
    }

    async fn log_tool_call(&self, caller: &Caller, tool: &'static str) -> Result<(), CallProblem> {
        // A call is about the key that makes it: what it asks about may be anything that somebody typed.
        let subject = ChangeSubject::new(SubjectKind::Key, caller.id.as_str());
        let fields = ChangedField::shown("tool", Value::Null, tool.into());
        let line = LoggedChange { subject, fields: fields.into_iter().collect() };
        self.log(caller, "mcp.called", line).await
    }

    fn secret(&self) -> Result<String, CallProblem> {
        let secret = Secret::random().map_err(|fault| internal(&fault))?;
        Ok(secret.text().to_owned())
    }
}

impl CallsInProcess {
    /// Writes a line of the log for what is no change, and waits until it is durable.
    async fn log(
        &self,
        caller: &Caller,
        action: &'static str,
        line: LoggedChange,
    ) -> Result<(), CallProblem> {
        let origin = requester(caller).origin(Logged::As(action), None);
        let (send, done) = oneshot::channel();
        let then = move |done: Result<(), RuntimeError>| {
            let _ = send.send(done.map_err(Problem::from));
        };
        let logged = self.service.handle.with_origin(origin).log(line, then);
        logged.map_err(|fault| problem(&Problem::from(fault)))?;
        self.service.answered(done).await.map_err(|fault| problem(&fault))
    }

    /// The caller by whom the rooms of the server are shared.
    fn caller_id(&self, caller: &Caller) -> CallerId {
        // A developer's key is in no store.
        if self.is_dev() { CallerId::Host } else { requester(caller).caller() }
    }
}

/// The name of opening a person, which is no call of the API.
const OPEN_PERSON: &str = "open_person";

/// The roles that may open people (contract, section 11).
const OPENS_PEOPLE: [Role; 3] = [Role::Support, Role::Operate, Role::Admin];

/// The author of a caller's changes, and their way in.
fn requester(caller: &Caller) -> Requester {
    let kind = match caller.kind {
        CallerKind::Key => AuthorKind::Key,
        CallerKind::Person => AuthorKind::Person,
    };
    let by = Author::new(kind, caller.id.as_str());
    let via = match caller.way {
        Way::Console => Via::Console,
        Way::Mcp => Via::Mcp,
    };
    Requester { by: Author { role: Some(caller.role.into()), ..by }, via }
}

fn internal(fault: &dyn Display) -> CallProblem {
    problem(&Problem::new(Code::Internal, fault.to_string()))
}

/// A problem as the console has it.
fn problem(problem: &Problem) -> CallProblem {
    let row = problem.code.row();
    let status = StatusCode::from_u16(row.status).unwrap_or_default();
    CallProblem::new(status, row.code, problem.detail.clone())
}

/// The pages of a server that has them: a developer's, or one with `[console]`. They call the API by `calls`.
pub(crate) fn routes(service: &Arc<Service>, calls: Router<Arc<Service>>) -> Router {
    let rules = service.rules();
    let path = match (&rules.console, &service.access) {
        (Some(console), Access::Keys { .. } | Access::Open) => console.path(),
        (None, Access::Open) => CONSOLE_PATH,
        (None, Access::Keys { .. }) | (_, Access::Own(_)) => return Router::new(),
    };
    let calls = calls.with_state(Arc::clone(service));
    let api = Arc::new(CallsInProcess { service: Arc::clone(service), calls });
    let console = Arc::new(Console::new(Arc::<CallsInProcess>::clone(&api), path));
    let sign_in = Arc::new(ServerSignIn::new(service));
    let endpoint = McpEndpoint::new(Arc::clone(&console), Arc::<ServerSignIn>::clone(&sign_in));
    let tools = mcp::routes(api, endpoint);
    let pages = if matches!(service.access, Access::Open) {
        let signed_in = middleware::from_fn_with_state(Arc::clone(&console), as_developer);
        let pages = tidings_console::router(Arc::clone(&console)).layer(signed_in);
        tidings_console::from_here(pages, console, sign_in)
    } else {
        tidings_console::signed_in(console, sign_in)
    };
    pages.layer(middleware::from_fn_with_state(Arc::clone(service), with_body)).merge(tools)
}

/// The most bytes of a form.
const FORM_BYTES_MAX: usize = 64 << 10;

/// Reads a form within the room and the patience for bodies that anybody may send.
async fn with_body(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let caller = stranger(parts.extensions.get());
    let read = whole(&parts, body, &service.open_bodies, FORM_BYTES_MAX);
    match CALLER.scope(caller, read).await {
        Ok((body, _room)) => next.run(Request::from_parts(parts, Body::from(body))).await,
        Err(refusal) => refusal.into_response(),
    }
}

/// Signs a developer in.
async fn as_developer(
    State(console): State<Arc<Console>>,
    mut request: Request,
    next: Next,
) -> Response {
    let caller = Caller::developer(Way::Console);
    let viewer = console.viewer(caller, String::new(), request.headers());
    request.extensions_mut().insert(viewer);
    next.run(request).await
}
