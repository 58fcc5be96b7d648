//! The mailbox of a developer's server (`--dev`): the messages that `caught://` keeps, and the mails of `file://`, as
//! those who get them would see them.
//!
//! Messages hold what hosts and their users wrote. Mails are shown in frames that run nothing and ask for nothing but
//! pictures, all else is text of the page, and a name in an address leads to a file of the Maildir or to none.

mod filter;
mod kept;
mod message;
mod nested;
mod page;
mod samples;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path as InPath, Query, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use serde::Deserialize;
use tokio::task::spawn_blocking;

use self::filter::Filter;
use self::kept::{MailboxMessage, MessagePlaces, parsed};
use self::message::MessageView;
use self::page::MailboxPage;
use super::error::{Code, Problem};
use super::service::{Access, Service};

/// The routes of the mailbox.
pub(super) fn routes() -> Router<Arc<Service>> {
    Router::new()
        .route("/_mail", get(list))
        .route("/_mail/{name}", get(message))
        .route("/_mail/{name}/{part}", get(part))
        .route("/_mail/-/mailbox.css", get(async || of_kind("text/css", STYLE)))
        .route("/_mail/-/mailbox.js", get(async || of_kind("text/javascript", SCRIPT)))
        .route("/_mail/-/newest", get(newest_name))
        .route("/_mail/-/preview", get(samples::page))
        .route("/_mail/-/preview/message", get(samples::message))
}

/// The rows of the list.
async fn listed(service: &Service, filter: Filter) -> Result<MailboxPage, Problem> {
    let places = places(service)?;
    read(move || MailboxPage::of(&places, filter)).await
}

async fn list(
    State(service): State<Arc<Service>>,
    Query(filter): Query<Filter>,
) -> Result<Response, Problem> {
    let listed = listed(&service, filter).await?;
    let page = page::list(listed, &service.rules()).map_err(|fault| internal(&fault))?;
    Ok(answer(page, PAGE))
}

/// The name of the newest message, by which an open page sees that there is one more.
async fn newest_name(State(service): State<Arc<Service>>) -> Result<String, Problem> {
    let places = places(&service)?;
    let newest = read(move || places.newest()).await?.into_iter().next();
    Ok(newest.map(|kept| kept.name).unwrap_or_default())
}

async fn message(
    State(service): State<Arc<Service>>,
    InPath(name): InPath<String>,
    Query(query): Query<MessagePageQuery>,
    Query(filter): Query<Filter>,
) -> Result<Response, Problem> {
    let (kept, bytes) = found(&service, &name).await?;
    let listed = listed(&service, filter).await?;
    let page = page::message(&kept, query.shown, &bytes, listed, &service.rules());
    let page = page.map_err(|fault| internal(&fault))?;
    page.map(|page| answer(page, PAGE)).ok_or_else(|| unknown(&name))
}

/// The query of a message's page.
#[derive(Deserialize)]
struct MessagePageQuery {
    #[serde(default, rename = "as")]
    shown: MessageView,
}

async fn part(
    State(service): State<Arc<Service>>,
    InPath((name, part)): InPath<(String, String)>,
) -> Result<Response, Problem> {
    let (_, bytes) = found(&service, &name).await?;
    if part == "source" {
        let plain = (header::CONTENT_TYPE, "text/plain; charset=utf-8");
        return Ok(([plain], bytes).into_response());
    }
    let mail = parsed(&bytes).ok_or_else(|| unknown(&name))?;
    let html = mail.body_html(0).ok_or_else(|| unknown(&part))?;
    match part.as_str() {
        "html" => Ok(answer(html.into_owned(), FRAME)),
        "dark" => Ok(answer(message::in_the_dark(&html), FRAME)),
        "bare" => Ok(answer(message::without_styles(&html), FRAME)),
        "blocked" => Ok(answer(html.into_owned(), BLOCKED)),
        _ => Err(unknown(&part)),
    }
}

/// The places of messages, on a developer's server.
fn places(service: &Service) -> Result<MessagePlaces, Problem> {
    match service.access {
        Access::Open | Access::Own(_) => Ok(MessagePlaces::of(&service.rules(), &service.caught)),
        Access::Keys { .. } => {
            Err(Problem::new(Code::NotFound, "messages are shown by `serve --dev` alone"))
        }
    }
}

fn unknown(name: &str) -> Problem {
    let detail = format!("no message has {}", tidings_config::wording::quoted(name));
    Problem::new(Code::NotFound, detail)
}

async fn found(service: &Service, name: &str) -> Result<(MailboxMessage, Vec<u8>), Problem> {
    let places = places(service)?;
    let (wanted, missing) = (name.to_owned(), unknown(name));
    let load = move || {
        let found = places.find(&wanted);
        Ok(found.and_then(|kept| kept.bytes().ok().map(|bytes| (kept, bytes))))
    };
    read(load).await?.ok_or(missing)
}

fn internal(fault: &dyn std::fmt::Display) -> Problem {
    Problem::new(Code::Internal, fault.to_string())
}

async fn read<T: Send + 'static>(
    read: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, Problem> {
    let read = spawn_blocking(read).await.map_err(|ended| internal(&ended))?;
    read.map_err(|error| internal(&error))
}

const STYLE: &str = include_str!("mailbox.css");
const SCRIPT: &str = include_str!("mailbox.js");

/// The policy of a page: it may load its own style, its script, frames of this server, and search in it.
const PAGE: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; frame-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
/// The policy of a mail: it may load pictures.
const FRAME: &str = "sandbox allow-popups; default-src 'none'; style-src 'unsafe-inline'; img-src http: https: data:; frame-ancestors 'self'";

/// The policy of a mail whose pictures are blocked.
const BLOCKED: &str =
    "sandbox allow-popups; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'";

fn of_kind(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-store")], text).into_response()
}

fn answer(html: String, policy: &'static str) -> Response {
    let mut response = Html(html).into_response();
    let headers: [(HeaderName, &str); 3] = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    for (name, value) in headers {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}
