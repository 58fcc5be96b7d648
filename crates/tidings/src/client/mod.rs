//! Clients of the API: a running server, or the data directory itself if there is none.
//!
//! Both ways are the API. A command names its call; this module alone decides whether that goes over a socket or to the
//! router in this process.

mod directory;
mod server;
#[cfg(test)]
mod tests;

use std::io::Read;
use std::path::PathBuf;

use axum::http::{Method, StatusCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde_json::Value;
use tidings_store::lease::{Member, MemberStatus};
use tidings_store::{Expected, StorePlace, database};

pub use directory::{Directory, Purpose};
pub use server::Server;
use tidings_config::Faults;

use crate::app::StartError;
use crate::app::server_files;

/// The default address of a server (contract, section 4).
pub const DEFAULT_URL: &str = "http://127.0.0.1:8990";

/// The content type of JSON bodies.
const JSON: &str = "application/json";
/// The content type of bodies with one JSON object per line.
const NDJSON: &str = "application/x-ndjson";

/// A call of the API.
#[derive(Clone, Debug)]
pub struct Request {
    purpose: Purpose,
    method: Method,
    /// The path, percent-encoded, and the query.
    path: String,
    /// Content type and bytes.
    body: Option<(&'static str, Vec<u8>)>,
}

impl Request {
    fn new(method: Method, path: String) -> Self {
        let purpose = if method == Method::GET { Purpose::Look } else { Purpose::Change };
        Self { purpose, method, path, body: None }
    }

    /// Creates a GET request.
    #[must_use]
    pub fn get(path: String) -> Self {
        Self::new(Method::GET, path)
    }

    /// Creates a POST request.
    #[must_use]
    pub fn post(path: String) -> Self {
        Self::new(Method::POST, path)
    }

    /// Creates a PUT request.
    #[must_use]
    pub fn put(path: String) -> Self {
        Self::new(Method::PUT, path)
    }

    /// Creates a PATCH request.
    #[must_use]
    pub fn patch(path: String) -> Self {
        Self::new(Method::PATCH, path)
    }

    /// Creates a DELETE request.
    #[must_use]
    pub fn delete(path: String) -> Self {
        Self::new(Method::DELETE, path)
    }

    /// The purpose of opening a directory for this request.
    #[must_use]
    pub fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Opens a directory for another purpose than that of the method.
    #[must_use]
    pub fn for_purpose(self, purpose: Purpose) -> Self {
        Self { purpose, ..self }
    }

    /// With a body of one JSON value.
    #[must_use]
    pub fn json(self, body: &impl Serialize) -> Self {
        // Texts and numbers are always JSON.
        let body = serde_json::to_vec(body).unwrap_or_default();
        Self { body: Some((JSON, body)), ..self }
    }

    /// With a body of one JSON object a line.
    #[must_use]
    pub fn lines(self, lines: Vec<u8>) -> Self {
        Self { body: Some((NDJSON, lines)), ..self }
    }
}

/// Whatever is not a letter, a digit or `-._~`.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A part of a path: whatever is not a letter, a digit or `-._~` is percent-encoded, so that an id
/// can hold slashes and anything else.
#[must_use]
pub fn segment(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

/// The parameters of a query that are given, each after a `&`.
#[must_use]
pub fn parameters<'p>(all: impl IntoIterator<Item = (&'p str, Option<&'p str>)>) -> String {
    let given =
        all.into_iter().filter_map(|(name, value)| Some(format!("&{name}={}", segment(value?))));
    given.collect()
}

/// The answer to a call.
#[derive(Clone, Debug)]
pub struct CallAnswer {
    /// The status.
    pub status: StatusCode,
    /// The body.
    pub bytes: Vec<u8>,
}

impl CallAnswer {
    /// The answer, if it is a success.
    ///
    /// # Errors
    /// [`CallFault::Refused`] with the text of the problem.
    pub fn success(self) -> Result<Self, CallFault> {
        if self.status.is_success() {
            return Ok(self);
        }
        let problem: Value = serde_json::from_slice(&self.bytes).unwrap_or_default();
        let text = |key: &str| problem.get(key).and_then(Value::as_str).map(str::to_owned);
        let reason = text("detail").or_else(|| text("title"));
        Err(CallFault::Refused {
            status: self.status,
            code: text("code").unwrap_or_default(),
            reason: reason.unwrap_or_else(|| format!("the answer was {}", self.status)),
            hint: text("hint").unwrap_or_default(),
        })
    }

    /// The body as JSON; null if there is none.
    ///
    /// # Errors
    /// [`CallFault::Odd`] where it is something else.
    pub fn json(&self) -> Result<Value, CallFault> {
        if self.bytes.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&self.bytes).map_err(|fault| CallFault::Odd(fault.to_string()))
    }

    /// The lines of the body as JSON.
    ///
    /// # Errors
    /// [`CallFault::Odd`] where one is something else.
    pub fn lines(&self) -> Result<Vec<Value>, CallFault> {
        self.bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.trim_ascii().is_empty())
            .map(|line| {
                serde_json::from_slice(line).map_err(|fault| CallFault::Odd(fault.to_string()))
            })
            .collect()
    }
}

/// A line of an answer with the reason why a line of the request was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineProblem {
    /// The line of the request, counted from 1.
    pub line: u64,
    /// Its status.
    pub status: StatusCode,
    /// The stable code.
    pub code: String,
    /// The fault in words.
    pub reason: String,
    /// Advice on how to fix it.
    pub hint: String,
}

impl LineProblem {
    /// The problem of a line of an answer; `None` if the line succeeded.
    #[must_use]
    pub fn of(line: &Value) -> Option<Self> {
        let problem = line.get("problem")?;
        let text = |key: &str| problem.get(key).and_then(Value::as_str);
        let status = problem.get("status").and_then(Value::as_u64)?;
        Some(Self {
            line: line.get("line").and_then(Value::as_u64)?.max(1),
            status: StatusCode::from_u16(u16::try_from(status).ok()?).ok()?,
            code: text("code")?.to_owned(),
            reason: text("detail").or(text("title"))?.to_owned(),
            hint: text("hint").unwrap_or_default().to_owned(),
        })
    }

    /// Returns true if the server failed: the line is not at fault.
    #[must_use]
    pub fn is_of_the_server(&self) -> bool {
        self.status == StatusCode::TOO_MANY_REQUESTS || self.status.is_server_error()
    }

    /// The same as a fault of the whole call.
    #[must_use]
    pub fn into_fault(self) -> CallFault {
        CallFault::Refused {
            status: self.status,
            code: self.code,
            reason: self.reason,
            hint: self.hint,
        }
    }
}

/// The reason why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum CallFault {
    /// No server listens.
    #[error(
        "no server answers at {url}: {why}\n  = help: start it with `tidings serve`, name another \
         with --url, or name its data directory with --data"
    )]
    NoServer {
        /// The address.
        url: String,
        /// The system's error.
        why: String,
    },
    /// The address can't be used.
    #[error("cannot call {url}: {why}\n  = help: write `http://HOST:PORT`")]
    Address {
        /// The address.
        url: String,
        /// The reason.
        why: String,
    },
    /// The server's certificate is of an authority that is not trusted here.
    #[error(
        "cannot call {url}: this machine does not trust the authority of its certificate\n  = help: install \
         it, or name its file in `SSL_CERT_FILE`"
    )]
    Untrusted {
        /// The address.
        url: String,
    },
    /// The connection broke after the request was sent.
    #[error(
        "no answer from {url}: {why}\n  = help: the request may or may not have been done; an event \
         with an id can safely be published again"
    )]
    NoAnswer {
        /// The address.
        url: String,
        /// The system's error.
        why: String,
    },
    /// The call was refused.
    #[error("{reason}{}", help(.hint))]
    Refused {
        /// Its status.
        status: StatusCode,
        /// The stable code, as `docs/errors.md` has it.
        code: String,
        /// The fault in words.
        reason: String,
        /// Advice on how to fix it.
        hint: String,
    },
    /// The answer is not one of tidings.
    #[error(
        "cannot read the answer: {0}\n  = help: check that a tidings server of this version \
         listens there"
    )]
    Odd(String),
    /// The configuration has faults.
    #[error("{0}")]
    Configuration(Faults),
    /// There is no store, and this command creates none.
    #[error(
        "no tidings store at {0}\n  = help: check the path; `tidings serve`, `key new`, `import`, \
         `restore` and `demo` create a store"
    )]
    NoStore(StorePlace),
    /// The store can't be opened.
    #[error("{0}")]
    Store(tidings_store::Error),
    /// The node can't be started over it.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The node failed.
    #[error("{0}")]
    Node(String),
    /// Another process has the directory open and does not say where it listens.
    #[error(
        "{0}\n  = help: another command or a server that is starting has the directory open; wait, or \
         name the server's address with --url"
    )]
    Held(tidings_store::Error),
}

fn help(hint: &str) -> String {
    if hint.is_empty() { String::new() } else { format!("\n  = help: {hint}") }
}

/// The place to which calls are sent.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// The address of a server.
    pub url: Option<String>,
    /// Its key.
    pub key: Option<String>,
    /// A store: the server that has it open, or the store itself.
    pub store: Option<StorePlace>,
    /// The configuration for opening the store.
    pub config: PathBuf,
}

/// The target of calls.
pub enum CallTarget {
    /// A server.
    Server(Server),
    /// The store, opened by this process.
    Directory(Box<Directory>),
}

impl CallTarget {
    /// Finds the target at a place; a store that no server uses is opened for a purpose. An empty
    /// place means a server at [`DEFAULT_URL`].
    ///
    /// # Errors
    /// [`CallFault`]; whether a server is there shows with the first call.
    pub fn find(place: &ServerOptions, purpose: Purpose) -> Result<Self, CallFault> {
        let key = place.key.as_deref();
        let (None, Some(store)) = (&place.url, &place.store) else {
            let url = place.url.as_deref().unwrap_or(DEFAULT_URL);
            return Ok(Self::Server(Server::new(url, key)?));
        };
        let data = match store {
            StorePlace::Directory(data) => data,
            StorePlace::Database(url) => {
                let node = node_of(url).map_err(CallFault::Store)?;
                return Ok(match node {
                    Some(node) => Self::Server(Server::new(&node.address, Some(&node.token.0))?),
                    None => {
                        let opened = Directory::open(store, &place.config, purpose)?;
                        Self::Directory(Box::new(opened))
                    }
                });
            }
        };
        // Tries the lock first: an address file may be left over from a crash, the lock is not.
        match Directory::open(store, &place.config, purpose) {
            Ok(directory) => Ok(Self::Directory(Box::new(directory))),
            Err(CallFault::Store(fault @ tidings_store::Error::Locked(_))) => {
                match server_files::address_of(data) {
                    Some(url) => {
                        let token = server_files::token_of(data);
                        let key = token.as_deref().or(key);
                        Ok(Self::Server(Server::new(&url, key)?))
                    }
                    None => Err(CallFault::Held(fault)),
                }
            }
            Err(fault) => Err(fault),
        }
    }

    /// Makes a call.
    ///
    /// # Errors
    /// [`CallFault`] where there is no answer; a problem is one.
    pub fn ask(&mut self, request: &Request) -> Result<CallAnswer, CallFault> {
        match self {
            Self::Server(server) => server.ask(request),
            Self::Directory(directory) => directory.ask(request),
        }
    }

    /// Makes a call whose answer is read as it comes.
    ///
    /// # Errors
    /// [`CallFault`] where there is no answer, or none of success.
    pub fn stream(&mut self, request: &Request) -> Result<Box<dyn Read + '_>, CallFault> {
        Ok(match self {
            Self::Server(server) => Box::new(server.stream(request)?),
            Self::Directory(directory) => Box::new(directory.stream(request)?),
        })
    }

    /// Closes the target; a directory after everything is durable.
    ///
    /// # Errors
    /// [`CallFault::Node`] where the last of it could not be written.
    pub fn close(self) -> Result<(), CallFault> {
        match self {
            Self::Server(_) => Ok(()),
            Self::Directory(directory) => directory.close(),
        }
    }
}

/// The time without a heartbeat after which a node does not count as running, in milliseconds.
const NODE_GONE_MS: i64 = 15_000;

/// A node over a database: the one that holds the store, or else one that knows who does, or takes it over.
fn node_of(url: &str) -> Result<Option<Member>, tidings_store::Error> {
    if !database::is_in(url)? {
        return Ok(None);
    }
    let membership = database::share(url, Expected::Existing)?.leases.membership()?;
    let runs = |seen: &&MemberStatus| seen.silent_ms < NODE_GONE_MS;
    let node = membership.holder().filter(runs).or_else(|| membership.members.iter().find(runs));
    Ok(node.map(|seen| seen.member.clone()))
}
