//! The mailbox of a developer's server (`--dev`): what the provider `file:` caught, as mail programs would show it.
//!
//! Mails hold what hosts and their users wrote. They are shown in frames that run nothing and ask for nothing but
//! pictures, and a name in an address leads to a file of the Maildir or to none.

mod page;
mod samples;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use axum::Router;
use axum::extract::{Path as InPath, Query, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use mail_parser::{Message, MessageParser};
use serde::Deserialize;
use tidings_core::channel::EMAIL;
use tokio::task::spawn_blocking;

use self::page::{Listed, View};
use super::error::{Code, Problem};
use super::service::{Access, Service};

/// The most mails of a list: the newest.
const LISTED_MAX: usize = 100;
/// The most bytes of a mail that is shown.
const MAIL_BYTES_MAX: u64 = 8 << 20;

/// The routes of the mailbox.
pub(super) fn routes() -> Router<Arc<Service>> {
    Router::new()
        .route("/_mail", get(list))
        .route("/_mail/{name}", get(mail))
        .route("/_mail/{name}/{part}", get(part))
        .route("/_mail/-/mailbox.css", get(async || of_kind("text/css", STYLE)))
        .route("/_mail/-/mailbox.js", get(async || of_kind("text/javascript", SCRIPT)))
        .route("/_mail/-/newest", get(newest_name))
        .route("/_mail/-/preview", get(samples::page))
        .route("/_mail/-/preview/message", get(samples::message))
}

/// The mails of the list.
async fn listed(service: &Service) -> Result<Listed, Problem> {
    let directory = directory(service)?;
    let listed = move || -> io::Result<Listed> {
        let files = newest(&directory)?;
        let newest = files.first().map(|file| file.name.clone()).unwrap_or_default();
        let mut rows = Vec::new();
        for file in files {
            // Who reads the Maildir with a mail program may move files meanwhile.
            let Ok(bytes) = load(&file.path) else {
                continue;
            };
            if let Some(mail) = parsed(&bytes) {
                rows.push(page::row(&file.name, &mail));
            }
        }
        Ok(Listed { directory, newest, rows })
    };
    read(listed).await
}

async fn list(State(service): State<Arc<Service>>) -> Result<Response, Problem> {
    let page = page::list(listed(&service).await?).map_err(|fault| internal(&fault))?;
    Ok(answer(page, PAGE))
}

/// The name of the newest mail, by which an open page sees that there is one more.
async fn newest_name(State(service): State<Arc<Service>>) -> Result<String, Problem> {
    let directory = directory(&service)?;
    let names = move || newest(&directory);
    let newest = read(names).await?.into_iter().next();
    Ok(newest.map(|file| file.name).unwrap_or_default())
}

async fn mail(
    State(service): State<Arc<Service>>,
    InPath(name): InPath<String>,
    Query(query): Query<ShownAs>,
) -> Result<Response, Problem> {
    let bytes = found(&service, &name).await?;
    let mail = parsed(&bytes).ok_or_else(|| unknown(&name))?;
    let listed = listed(&service).await?;
    let page = page::mail(&name, query.shown, &mail, &bytes, listed);
    Ok(answer(page.map_err(|fault| internal(&fault))?, PAGE))
}

/// The query of a mail's page.
#[derive(Deserialize)]
struct ShownAs {
    #[serde(default, rename = "as")]
    shown: View,
}

async fn part(
    State(service): State<Arc<Service>>,
    InPath((name, part)): InPath<(String, String)>,
) -> Result<Response, Problem> {
    let bytes = found(&service, &name).await?;
    if part == "source" {
        let plain = (header::CONTENT_TYPE, "text/plain; charset=utf-8");
        return Ok(([plain], bytes).into_response());
    }
    let mail = parsed(&bytes).ok_or_else(|| unknown(&name))?;
    let html = mail.body_html(0).ok_or_else(|| unknown(&part))?;
    match part.as_str() {
        "html" => Ok(answer(html.into_owned(), FRAME)),
        "dark" => Ok(answer(page::in_the_dark(&html), FRAME)),
        "bare" => Ok(answer(page::without_styles(&html), FRAME)),
        "blocked" => Ok(answer(html.into_owned(), BLOCKED)),
        _ => Err(unknown(&part)),
    }
}

/// The Maildir that the configuration names, on a developer's server.
fn directory(service: &Service) -> Result<PathBuf, Problem> {
    let rules = service.rules();
    let email = rules.channels.get(EMAIL);
    let mut providers = email.into_iter().flat_map(|email| &email.providers);
    let maildir = providers.find_map(|provider| provider.strip_prefix("file://"));
    match (&service.access, maildir) {
        (Access::Open, Some(maildir)) => Ok(PathBuf::from(maildir)),
        _ => Err(Problem::new(
            Code::NotFound,
            "mails are shown by `serve --dev` alone, where `[channels.email]` has a provider `file://DIR`",
        )),
    }
}

fn unknown(name: &str) -> Problem {
    let detail = format!("no mail has {}", crate::wording::quoted(name));
    Problem::new(Code::NotFound, detail)
}

async fn found(service: &Service, name: &str) -> Result<Vec<u8>, Problem> {
    let directory = directory(service)?;
    let is_file = !name.starts_with('.') && !name.contains(['/', '\\', '\0']);
    if !is_file {
        return Err(unknown(name));
    }
    let (file, missing) = (name.to_owned(), unknown(name));
    let load = move || {
        let mut places = ["new", "cur"].into_iter();
        Ok(places.find_map(|place| load(&directory.join(place).join(&file)).ok()))
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

struct Caught {
    written: SystemTime,
    name: String,
    path: PathBuf,
}

/// The newest mails of a Maildir, newest first.
fn newest(directory: &Path) -> io::Result<Vec<Caught>> {
    let mut files = Vec::new();
    for place in ["new", "cur"] {
        for entry in fs::read_dir(directory.join(place))? {
            let entry = entry?;
            if let Ok(name) = entry.file_name().into_string() {
                files.push(Caught {
                    written: entry.metadata()?.modified()?,
                    name,
                    path: entry.path(),
                });
            }
        }
    }
    files.sort_unstable_by(|a, b| (b.written, &b.name).cmp(&(a.written, &a.name)));
    files.truncate(LISTED_MAX);
    Ok(files)
}

fn load(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAIL_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Parses a mail; `None` = it is none, or may hold other mails, which none of ours does. The parser reads mails within
/// mails by recursion, without a bound, so that a stranger's could overflow the stack.
fn parsed(bytes: &[u8]) -> Option<Message<'_>> {
    if may_hold_mails(bytes) { None } else { MessageParser::default().parse(bytes) }
}

/// Returns true if a field `Content-Type` names a type that holds mails, wherever it stands. Whitespace within a field's
/// name does not count, as it does not to the parser, and a field ends before the next line that begins with
/// something else.
fn may_hold_mails(bytes: &[u8]) -> bool {
    const NAME: &[u8] = b"content-type:";
    let (mut matched, mut window) = (0, VecDeque::with_capacity(NAME.len()));
    for (at, byte) in bytes
        .iter()
        .map(u8::to_ascii_lowercase)
        .enumerate()
        .filter(|(_, byte)| !byte.is_ascii_whitespace())
    {
        if window.len() == NAME.len() {
            window.pop_front();
        }
        window.push_back(byte);
        // A field within what was looked at already is not looked at twice.
        if at < matched || !window.iter().eq(NAME) {
            continue;
        }
        let field = &bytes[at..];
        let end =
            field.windows(2).position(|pair| pair[0] == b'\n' && !pair[1].is_ascii_whitespace());
        let field = &field[..end.unwrap_or(field.len())];
        matched = at + field.len();
        let text = String::from_utf8_lossy(field).to_ascii_lowercase();
        if ["rfc822", "global", "digest"].iter().any(|kind| text.contains(kind)) {
            return true;
        }
    }
    false
}

const STYLE: &str = include_str!("mailbox.css");
const SCRIPT: &str = include_str!("mailbox.js");

/// The policy of a page: it may load its own style, its script, and frames of this server.
const PAGE: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
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
