//! Access control: hosts need an API key, or with `--dev` must be on this machine; end users need a token.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use tidings_api::keys::owner_of;
use tidings_api::token::Token;
use tidings_node::{CallerId, Role};

use crate::call::CallName;
use crate::change::origin::Requester;
use crate::cluster::{OF_NODES, SHARDS, in_name};
use crate::compat::names::{NOVU_PATH, not_taken_of_novu};
use crate::counters::requests::NO_CALL;
use crate::error::{Code, Problem};
use crate::request::caller::Caller;
use crate::request::catch_up::catch_up;
use crate::request::extract::{user_bytes_max, whole};
use crate::request::masked_values::{MASKS, MasksValues};
use crate::request::traces;
use crate::service::{Access, Service};
use crate::shares::connection::Connection;
use crate::shares::{CALLER, answers, over_share, stranger};
use crate::users::cors::{UI, open_to};
use crate::users::is_mine;

/// The path below which the documentation is.
pub(crate) const DOCS: &str = "/docs/";

/// Returns true if a path needs no key: health checks, and what describes the server.
fn is_open(path: &str) -> bool {
    // Without `[console]` the console's path is one that there is not, for everybody.
    matches!(path, "/" | "/healthz" | "/readyz" | "/llms.txt" | "/v1/openapi.json" | "/console")
        || path.starts_with("/console/")
        || path.starts_with("/errors/")
        || path.starts_with(DOCS)
}

/// Returns true if a path has a token, which opens it to all its holders, or takes signed calls, or has only scripts
/// for every page.
fn has_token(path: &str) -> bool {
    ["/u/", "/more/", "/feedback/", UI].iter().any(|begin| path.starts_with(begin))
}

/// Accepts or refuses a request, and counts it.
pub(crate) async fn check(
    State(service): State<Arc<Service>>,
    mut request: Request,
    next: Next,
) -> Response {
    let mut span = traces::begin(&mut request);
    let response = if is_mine(request.uri().path()) {
        answer_user(&service, request, next).await
    } else {
        match caller(&service, &request) {
            Ok(Some(caller)) => {
                let (caller, requester) = named(caller, &mut request);
                let of = caller.id.clone();
                request.extensions_mut().insert(requester);
                request.extensions_mut().insert(Arc::new(caller));
                within_share(&service, of, request, next).await
            }
            Ok(None) if is_of_host(&service, &request) => {
                let requester = match &service.access {
                    Access::Own(author) => Requester::own(author.clone()),
                    _ => Requester::developer(),
                };
                request.extensions_mut().insert(requester);
                within_share(&service, CallerId::Host, request, next).await
            }
            Ok(None) => {
                let of = stranger(request.extensions().get());
                within_share(&service, of, request, next).await
            }
            Err(refusal) => refusal.into_response(),
        }
    };
    let call = response.extensions().get::<CallName>();
    let call = call.map_or(NO_CALL, |call| call.0);
    service.requests.count(call, response.status());
    traces::end(&mut span, call, &response);
    response
}

/// A caller with whom the log of changes names: another one than they are, where they are a node that makes a call in
/// somebody's name.
fn named(caller: Caller, request: &mut Request) -> (Caller, Requester) {
    if let CallerId::Key(id) = &caller.id {
        let requester = Requester::key(id, caller.role);
        return (caller, requester);
    }
    if request.headers().contains_key(&MASKS) {
        request.extensions_mut().insert(MasksValues);
    }
    let requester = in_name::requester(request.headers()).unwrap_or_else(Requester::command);
    let role = requester.role().unwrap_or(Role::Figures);
    (Caller { role, id: requester.caller() }, requester)
}

/// Returns true if a call without a key is the host's: that of a developer.
fn is_of_host(service: &Service, request: &Request) -> bool {
    matches!(service.access, Access::Open | Access::Own(_)) && !has_token(request.uri().path())
}

/// Answers a call within the shares of its caller.
pub(crate) async fn within_share(
    service: &Service,
    caller: CallerId,
    request: Request,
    next: Next,
) -> Response {
    let connection = request.extensions().get::<Arc<Connection>>();
    let is_stranger = matches!(caller, CallerId::Address(_));
    let _request = match connection.filter(|_| is_stranger).map(Connection::begin) {
        None => {
            connection.into_iter().for_each(|connection| connection.is_known());
            None
        }
        Some(Some(begun)) => Some(begun),
        Some(None) => {
            let detail = "requests of a connection that has shown no key or token";
            return over_share(detail).into_response();
        }
    };
    if !is_stranger && let Some(refused) = answers::refused(&service.answers, &caller) {
        service.refusals.hold(&caller, refused.status()).await;
        return refused;
    }
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
    let response = CALLER.scope(caller.clone(), next.run(request)).await;
    let response = answers::counted(&service.answers, &caller, changes, response);
    service.refusals.hold(&caller, response.status()).await;
    response
}

/// Answers a call of an end user, at the node that has the recipient.
async fn answer_user(service: &Arc<Service>, mut request: Request, next: Next) -> Response {
    let token = match token(service, request.headers()).await {
        Ok(token) => token,
        Err(refusal) => return refusal.into_response(),
    };
    let caller = CallerId::Recipient(token.recipient.clone());
    if let Err(elsewhere) = service.shards.at_home(&token.recipient) {
        let (parts, body) = request.into_parts();
        let bound = user_bytes_max(service);
        let read = whole(&parts, body, &service.user_bodies, bound);
        return match CALLER.scope(caller, read).await {
            Ok((body, _room)) => elsewhere.with_body(&body).into_response(),
            Err(refusal) => refusal.into_response(),
        };
    }
    // That node alone knows.
    if let Some(ended) = service.end_of(&token) {
        return Problem::new(ended, ended.row().title).into_response();
    }
    request.extensions_mut().insert(Requester::user(token.recipient.as_str()));
    request.extensions_mut().insert(Arc::new(token));
    let response = within_share(service, caller, request, next).await;
    match response.extensions().get() {
        Some(Code::UnknownTenant) => without_near(response).await,
        _ => response,
    }
}

/// The token of a call of an end user. One for a new tenant may come before the node knows the tenant.
async fn token(service: &Service, headers: &HeaderMap) -> Result<Token, Problem> {
    match service.token(headers) {
        Err(refusal) if refusal.code == Code::TokenTenant && catch_up(service).await? => {
            service.token(headers)
        }
        token => token,
    }
}

/// The answer about an unknown tenant without the name of one that is near: end users learn of no tenant by it.
async fn without_near(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let body = to_bytes(body, PROBLEM_BYTES_MAX).await.unwrap_or_default();
    let said: Value = serde_json::from_slice(&body).unwrap_or_default();
    let detail = said["detail"].as_str().unwrap_or(Code::UnknownTenant.row().title);
    let problem = Problem::new(Code::UnknownTenant, detail.to_owned());
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, problem.into_response().into_body())
}

/// The most bytes of a problem, most of which are what a request said.
const PROBLEM_BYTES_MAX: usize = 64 << 10;

/// Answers preflights, and lets pages of open origins read the other answers.
pub(crate) async fn open_to_pages(
    State(service): State<Arc<Service>>,
    request: Request,
    next: Next,
) -> Response {
    let rules = service.rules();
    let origins = rules.users.as_ref().map_or(&[][..], |users| &users.origins);
    open_to(origins, request, async |request| next.run(request).await).await
}

/// Returns true if a request is one that a node makes to another.
fn is_of_node(request: &Request) -> bool {
    request.headers().contains_key(&SHARDS) || request.uri().path().starts_with(OF_NODES)
}

/// The holder of the key of a request; `None` = the call needs none.
fn caller(service: &Service, request: &Request) -> Result<Option<Caller>, Problem> {
    let is_of_node = is_of_node(request);
    if has_token(request.uri().path()) && !is_of_node {
        return Ok(None);
    }
    let Access::Keys { token } = &service.access else {
        return match foreign(request) {
            None => Ok(None),
            Some(detail) => Err(Problem::new(Code::Unauthorized, detail)),
        };
    };
    if is_open(request.uri().path()) && !is_of_node {
        return Ok(None);
    }
    let keys = service.handle.keys();
    let keys = keys.iter().filter(|_| !is_of_node).map(|key| (&key.hash, Some(key)));
    // The token of this start lies beside the store: its reader could open that as well.
    let known = keys.chain(token.iter().map(|token| (token, None)));
    let Some(key) = key(request) else {
        // "No API key" would send a client of Novu, which gave one in another scheme, after the wrong fault.
        let is_theirs = authorization(request).is_some_and(|(scheme, _)| is_of_novu(scheme));
        let compat = service.rules().compat;
        let not_taken = || not_taken_of_novu(compat, request.uri().path());
        if let Some(problem) = is_theirs.then(not_taken).flatten() {
            return Err(problem);
        }
        return Err(Problem::new(Code::Unauthorized, "the request has no API key"));
    };
    match owner_of(key, known) {
        Some(found) => {
            let role = found.map_or(Role::Admin, |key| key.role);
            let key = found.map(|key| CallerId::Key(key.id.as_str().into()));
            Ok(Some(Caller { role, id: key.unwrap_or(CallerId::Host) }))
        }
        None => Err(Problem::new(Code::Unauthorized, "the API key is unknown")),
    }
}

/// The reason why a request does not come from this machine: a developer's browser sends requests for any page, and
/// listening on loopback does not prevent that. The `Origin` (RFC 6454) identifies the page. It does not for a page
/// whose own name was pointed here (DNS rebinding), but the `Host` does, and the authority of the target, which HTTP/2
/// has in its place, or beside it.
fn foreign(request: &Request) -> Option<&'static str> {
    let header = |name| request.headers().get(name);
    let is_foreign =
        |value: &HeaderValue, is_ours: fn(&str) -> bool| !value.to_str().is_ok_and(is_ours);
    if header(header::ORIGIN).is_some_and(|origin| is_foreign(origin, is_page_of_this_machine)) {
        return Some(
            "a server without API keys (--dev) refuses requests from web pages of other sites",
        );
    }
    let authority = request.uri().authority();
    if authority.is_some_and(|authority| !is_this_machine(authority.as_str()))
        || header(header::HOST).is_some_and(|host| is_foreign(host, is_this_machine))
    {
        return Some(
            "a server without API keys (--dev) accepts local host names only: call it as 127.0.0.1 or localhost",
        );
    }
    None
}

fn is_page_of_this_machine(origin: &str) -> bool {
    let place = origin.split_once("://");
    place.is_some_and(|(_, place)| is_this_machine(place))
}

/// Returns true if a host, its port behind it or not, is this machine as it is seen from itself.
fn is_this_machine(place: &str) -> bool {
    let host = match place.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => place,
    };
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_loopback || host == "localhost" || host.ends_with(".localhost")
}

/// The key of a request. Clients of Novu name another scheme.
fn key(request: &Request) -> Option<&str> {
    let (scheme, key) = authorization(request)?;
    let is_novu = || request.uri().path() == NOVU_PATH && is_of_novu(scheme);
    (scheme.eq_ignore_ascii_case("bearer") || is_novu()).then(|| key.trim())
}

/// The scheme of a request's authorization, and what follows it.
fn authorization(request: &Request) -> Option<(&str, &str)> {
    request.headers().get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')
}

/// Returns true for the scheme of Novu's clients.
fn is_of_novu(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("apikey")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_this_machine_are_told_from_others() {
        for ours in [
            "http://localhost:3000",
            "http://127.0.0.1",
            "https://[::1]:8990",
            "http://app.localhost:80",
        ] {
            assert!(is_page_of_this_machine(ours), "{ours}");
        }
        for other in [
            "null",
            "",
            "https://example.org",
            "https://localhost.example.org",
            "http://127.0.0.1.example.org:80",
            "http://[::1].example.org",
        ] {
            assert!(!is_page_of_this_machine(other), "{other}");
        }
        for host in ["localhost:8990", "127.0.0.1", "127.0.0.2:1", "[::1]:8990"] {
            assert!(is_this_machine(host), "{host}");
        }
        for host in ["", "evil.example:8990", "127.0.0.1.example.org", "10.0.0.1:8990"] {
            assert!(!is_this_machine(host), "{host}");
        }
    }

    #[test]
    fn the_authority_of_a_target_is_looked_at_beside_the_host() {
        let asked = |uri: &str, host: Option<&str>| {
            let mut request = Request::builder().uri(uri);
            if let Some(host) = host {
                request = request.header("host", host);
            }
            foreign(&request.body(axum::body::Body::empty()).unwrap())
        };
        for (uri, host) in [
            ("/v1/types", Some("localhost:8990")),
            ("http://localhost:8990/v1/types", None),
            ("http://127.0.0.1/v1/types", Some("localhost")),
        ] {
            assert_eq!(asked(uri, host), None, "{uri} {host:?}");
        }
        for (uri, host) in [
            ("http://evil.example/v1/types", Some("localhost")),
            ("http://evil.example/v1/types", None),
            ("http://localhost@evil.example/v1/types", Some("localhost")),
            ("http://localhost/v1/types", Some("evil.example")),
        ] {
            assert!(asked(uri, host).is_some(), "{uri} {host:?}");
        }
    }
}
