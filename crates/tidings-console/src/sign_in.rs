//! Signing in: by a key in a form, or as the person whom a proxy vouches for (contract, section 11).
//!
//! A session opens the pages and nothing else, and a key opens them only through the form. Every request that is not
//! a GET must come from a page of the console itself; no GET changes anything, so a link from elsewhere is harmless.

mod attempts;
pub(crate) mod origin;
mod person;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use axum::extract::{Query, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use jiff::tz::TimeZone;
use minijinja::context;
use serde::Deserialize;

use self::attempts::Attempts;
pub use self::person::{Place, ProxyPerson};
use crate::api::Caller;
use crate::console::Console;
use crate::form::PostedForm;
use crate::page::{BarSection, Page, frameless};
use crate::problem::CallProblem;
use crate::routes;
use crate::viewer::{Viewer, cookie};

/// The address of the TCP peer of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PeerAddress(pub std::net::IpAddr);

/// A session that is alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The public id, by which what it has opened is kept.
    pub id: String,
    /// The caller, with its role of now.
    pub caller: Caller,
    /// The groups of a person at sign-in.
    pub groups: Vec<String>,
}

/// Keys, people and sessions, as the server knows them.
#[async_trait]
pub trait SignIn: Send + Sync + 'static {
    /// The origin under which people open the console.
    fn place(&self) -> Place;

    /// Returns true if a host, by its name alone, is that of the console's URL, or one of its further names.
    fn knows_host(&self, host: &str) -> bool;

    /// The holder of an API key.
    fn key_holder(&self, key: &str) -> Option<Caller>;

    /// The person whom a proxy vouches for in a request: by a header of a trusted peer, or by a signed assertion.
    async fn vouched(&self, request: &Parts) -> Option<ProxyPerson>;

    /// The role of a person; `None` = they have none.
    fn role(&self, person: &ProxyPerson) -> Option<&'static str>;

    /// Begins a session, and returns the secret that its cookie has.
    ///
    /// # Errors
    /// The refusal of the server.
    async fn begin(&self, caller: &Caller, groups: &[String]) -> Result<String, CallProblem>;

    /// The session of a cookie, which is used now.
    async fn session(&self, secret: &str) -> Option<Session>;

    /// Ends the session of a cookie.
    ///
    /// # Errors
    /// The refusal of the server.
    async fn end(&self, secret: &str) -> Result<(), CallProblem>;

    /// Logs a refused attempt, at most one a minute and peer.
    async fn refused(&self, peer: Option<PeerAddress>);
}

/// The state of signing in, beside that of the pages.
struct Door {
    console: Arc<Console>,
    sign_in: Arc<dyn SignIn>,
    attempts: Attempts,
}

/// The console for people who sign in.
pub fn signed_in(console: Arc<Console>, sign_in: Arc<dyn SignIn>) -> Router {
    let base = console.base().to_owned();
    let door =
        Arc::new(Door { console: Arc::clone(&console), sign_in, attempts: Attempts::default() });
    let open = Router::new()
        .route("/sign-in", get(form).post(submit))
        .route("/sign-out", post(sign_out))
        .with_state(Arc::clone(&door));
    let open = Router::new().nest(&base, open);
    let pages = routes::router(console)
        .layer(middleware::from_fn_with_state(Arc::clone(&door), with_session));
    guarded(pages.merge(open), door)
}

/// The console of a developer, who needs no session: what its pages are protected from stays.
pub fn from_here(pages: Router, console: Arc<Console>, sign_in: Arc<dyn SignIn>) -> Router {
    guarded(pages, Arc::new(Door { console, sign_in, attempts: Attempts::default() }))
}

fn guarded(pages: Router, door: Arc<Door>) -> Router {
    pages
        .layer(middleware::from_fn_with_state(door, only_from_here))
        .layer(middleware::from_fn(routes::with_headers))
}

/// Refuses requests under a foreign name, and changes that come from pages of others.
async fn only_from_here(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let is_ours = |host: &str| origin::is_this_machine(host) || door.sign_in.knows_host(host);
    if !origin::is_host_ours(&parts, is_ours) {
        let text = "This server is not known by that name. Add it to `hosts` of [console].";
        return (StatusCode::MISDIRECTED_REQUEST, text).into_response();
    }
    let changes = !matches!(parts.method, Method::GET | Method::HEAD);
    if changes && !origin::is_same_origin(&parts, &door.sign_in.place()) {
        let detail = "A form of another site can't change anything here.";
        let problem = CallProblem::new(StatusCode::FORBIDDEN, "cross_site", detail);
        return frameless(&Page::of_problem(&problem), &door.console);
    }
    next.run(Request::from_parts(parts, body)).await
}

/// Lets through requests with a session, with their viewer.
async fn with_session(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    // The sheet is that of the sign-in page as well.
    let is_open = [".css", ".js"].iter().any(|end| parts.uri.path().ends_with(end));
    let Some(caller) = caller(&door, &parts).await else {
        if is_open {
            parts.extensions.insert(nobody());
            return next.run(Request::from_parts(parts, body)).await;
        }
        return door.unknown(&parts);
    };
    let viewer = door.console.viewer(caller.caller, caller.session, &parts.headers);
    parts.extensions.insert(viewer);
    next.run(Request::from_parts(parts, body)).await
}

/// A caller with the session that vouches for it.
struct Known {
    caller: Caller,
    session: String,
}

async fn caller(door: &Door, request: &Parts) -> Option<Known> {
    let secret = cookie(&request.headers, door.sign_in.place().cookie())?;
    let session = door.sign_in.session(secret).await?;
    let known = Known { session: session.id, caller: session.caller };
    if known.caller.kind == crate::api::CallerKind::Key {
        return Some(known);
    }
    // The proxy has to vouch for a person at each request.
    let person = door.sign_in.vouched(request).await?;
    if person.name != known.caller.id {
        return None;
    }
    let role = door.sign_in.role(&ProxyPerson { groups: session.groups, ..person })?;
    Some(Known { caller: Caller { role, ..known.caller }, ..known })
}

impl Door {
    /// The answer to somebody without a session.
    fn unknown(&self, request: &Parts) -> Response {
        if !matches!(request.method, Method::GET | Method::HEAD) {
            let problem = CallProblem::new(
                StatusCode::UNAUTHORIZED,
                "signed_out",
                "Sign in again: the session has ended, and nothing was changed.",
            );
            return frameless(&Page::of_problem(&problem), &self.console);
        }
        let target = request.uri.path_and_query().map_or("", |target| target.as_str());
        let next: String = form_urlencoded::byte_serialize(target.as_bytes()).collect();
        Redirect::to(&format!("{}/sign-in?next={next}", self.console.base())).into_response()
    }

    /// The path to which a signed-in person goes on.
    fn next(&self, next: Option<&str>) -> String {
        let base = self.console.base();
        let within = |next: &&str| {
            let rest = next.strip_prefix(base);
            let is_path = rest.is_some_and(|rest| rest.starts_with('/'));
            let is_plain = next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
            is_path && is_plain && !next.contains("//") && !next.contains("/..")
        };
        let first = format!("{base}/");
        next.filter(within).map_or(first, str::to_owned)
    }

    fn page(&self, status: StatusCode, values: minijinja::Value) -> Response {
        let page = Page::new(BarSection::Other, "Sign in", "sign-in.html").with(values);
        frameless(&Page { status, ..page }, &self.console)
    }
}

#[derive(Deserialize)]
struct FormQuery {
    next: Option<String>,
}

async fn form(
    State(door): State<Arc<Door>>,
    Query(query): Query<FormQuery>,
    parts: Parts,
) -> Response {
    let person = door.sign_in.vouched(&parts).await;
    let next = door.next(query.next.as_deref());
    let Some(person) = person else {
        return door.page(StatusCode::OK, context! { next });
    };
    if door.sign_in.role(&person).is_none() {
        return door.page(StatusCode::FORBIDDEN, context! { next, without_role => person.name });
    }
    door.page(StatusCode::OK, context! { next, person => person.name })
}

async fn submit(State(door): State<Arc<Door>>, parts: Parts, form: PostedForm) -> Response {
    let peer = parts.extensions.get::<PeerAddress>().copied();
    let now = door.console.api().now();
    if !door.attempts.may(peer, now) {
        let wait = HeaderValue::from_static("60");
        let mut response = door.page(
            StatusCode::TOO_MANY_REQUESTS,
            context! { problem => "Too many attempts. Wait a minute." },
        );
        response.headers_mut().insert(header::RETRY_AFTER, wait);
        return response;
    }
    let person = door.sign_in.vouched(&parts).await;
    let key = form.get("key").map(str::trim).filter(|key| !key.is_empty());
    let next = door.next(form.get("next"));
    let (caller, groups) = match (key, person) {
        (Some(key), _) => (door.sign_in.key_holder(key), Vec::new()),
        (None, Some(person)) => match door.sign_in.role(&person) {
            Some(role) => (Some(person.caller(role)), person.groups),
            None => {
                let values = context! { next, without_role => person.name };
                return door.page(StatusCode::FORBIDDEN, values);
            }
        },
        (None, None) => (None, Vec::new()),
    };
    let Some(caller) = caller else {
        door.attempts.failed(peer, now);
        door.sign_in.refused(peer).await;
        let problem = match key {
            Some(_) => "No API key is like this one.",
            None => "Paste an API key.",
        };
        return door.page(StatusCode::UNAUTHORIZED, context! { next, problem });
    };
    match door.sign_in.begin(&caller, &groups).await {
        Ok(secret) => {
            let mut response = see_other(&next);
            let cookie = door.sign_in.place().set_cookie(&secret);
            if let Ok(cookie) = HeaderValue::from_str(&cookie) {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            response
        }
        Err(problem) => frameless(&Page::of_problem(&problem), &door.console),
    }
}

async fn sign_out(State(door): State<Arc<Door>>, headers: HeaderMap) -> Response {
    let place = door.sign_in.place();
    if let Some(secret) = cookie(&headers, place.cookie())
        && let Err(problem) = door.sign_in.end(secret).await
    {
        return frameless(&Page::of_problem(&problem), &door.console);
    }
    let mut response = see_other(&format!("{}/sign-in", door.console.base()));
    if let Ok(cookie) = HeaderValue::from_str(&place.clear_cookie()) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    let clear = HeaderValue::from_static("\"cache\"");
    response.headers_mut().insert("clear-site-data", clear);
    response
}

/// An answer that leads on after a form.
fn see_other(path: &str) -> Response {
    Redirect::to(path).into_response()
}

fn nobody() -> Viewer {
    let caller = Caller {
        kind: crate::api::CallerKind::Person,
        id: String::new(),
        role: "",
        way: crate::api::Way::Console,
    };
    Viewer { caller, session: String::new(), shown: Default::default(), zone: TimeZone::UTC }
}
