//! Calls on a data directory that no server uses, through the router in this process.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::response::Response;
use http_body_util::BodyExt as _;
use tidings_core::Id;
use tidings_core::model::{Author, AuthorKind, Origin, Via};
use tidings_http::{Access, Service, Settings};
use tidings_node::{Clock, Handle, Runtime, SystemClock};
use tidings_store::{Expected, StorePlace};
use tokio::runtime::{Builder, Runtime as Tokio};
use tower::ServiceExt as _;

use super::{CallAnswer, CallFault, Request};
use crate::app::{self, ReopenableStore};

/// The purpose of opening a data directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Reading, and changing API keys. Nothing is decided or sent, and no configuration is needed.
    Look,
    /// [`Purpose::Look`]; a directory that is absent or empty becomes a store.
    MakeBare,
    /// Changing the store. Due lanes are closed and everything is committed; nothing is sent.
    Change,
    /// [`Purpose::Change`]; a directory that is absent or empty becomes a store.
    Make,
}

/// A store that this process has open. It sends no messages.
pub struct Directory {
    tokio: Tokio,
    router: Router,
    runtime: Runtime,
}

impl Directory {
    /// Opens a store.
    ///
    /// # Errors
    /// [`CallFault::NoStore`], [`CallFault::Configuration`], [`CallFault::Store`], [`CallFault::Start`] or
    /// [`CallFault::Node`].
    pub fn open(place: &StorePlace, config: &Path, purpose: Purpose) -> Result<Self, CallFault> {
        let is_there = place.is_there().map_err(CallFault::Store)?;
        let expected = match purpose {
            Purpose::Make | Purpose::MakeBare => app::expect_or_make().map_err(CallFault::Store)?,
            Purpose::Look | Purpose::Change if is_there => Expected::Existing,
            Purpose::Look | Purpose::Change => return Err(CallFault::NoStore(place.clone())),
        };
        // Whom the lock leads to a server needs no configuration; but no store is made for a command
        // that can't be done.
        let opens = is_there || purpose == Purpose::MakeBare;
        let disk = opens.then(|| ReopenableStore::at(place, expected)).transpose();
        let disk = disk.map_err(CallFault::Store)?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let (runtime, rules) = match (disk, purpose) {
            (Some(disk), Purpose::Look | Purpose::MakeBare) => {
                let runtime = disk.look()?;
                let stored = runtime.handle().look(|node| node.engine().rules().cloned());
                let stored = stored.map_err(|fault| CallFault::Node(fault.to_string()))?;
                (runtime, stored.unwrap_or_default())
            }
            (disk, _) => {
                let rules = tidings_config::read(config).map_err(CallFault::Configuration)?;
                let disk = match disk {
                    Some(disk) => disk,
                    None => ReopenableStore::at(place, expected).map_err(CallFault::Store)?,
                };
                (disk.take_in(rules.clone(), Arc::clone(&clock))?, rules)
            }
        };
        let settings = Settings::default();
        let access = Access::Own(Author::new(AuthorKind::Command, operator()));
        let service = Service::new(runtime.handle(), rules, access, clock, settings);
        let tokio = Builder::new_current_thread()
            .enable_time()
            .build()
            .map_err(|fault| CallFault::Node(fault.to_string()))?;
        Ok(Self { tokio, router: tidings_http::router(Arc::new(service)), runtime })
    }

    /// The node's handle, without the API.
    #[must_use]
    pub fn handle(&self) -> Handle {
        // What it is asked for is done in bulk.
        let by = Author::new(AuthorKind::Command, operator());
        let origin = Origin { by, via: Via::Cli, action: None, is_counted: true, request: None };
        self.runtime.handle().with_origin(Some(Arc::new(origin)))
    }

    /// Makes a call and reads the whole answer.
    ///
    /// # Errors
    /// [`CallFault::Odd`] where the answer can't be read.
    pub fn ask(&mut self, request: &Request) -> Result<CallAnswer, CallFault> {
        let (head, body) = self.call(request)?.into_parts();
        let bytes = self.tokio.block_on(axum::body::to_bytes(body, usize::MAX));
        Ok(CallAnswer {
            status: head.status,
            bytes: bytes.map_err(|fault| CallFault::Odd(fault.to_string()))?.to_vec(),
        })
    }

    /// Makes a call whose answer is read as it comes.
    ///
    /// # Errors
    /// As [`Directory::ask`], and [`CallFault::Refused`] where it is none of success.
    pub fn stream(&mut self, request: &Request) -> Result<impl Read + use<'_>, CallFault> {
        let (head, body) = self.call(request)?.into_parts();
        if !head.status.is_success() {
            let bytes = self
                .tokio
                .block_on(axum::body::to_bytes(body, usize::MAX))
                .map_err(|fault| CallFault::Odd(fault.to_string()))?
                .to_vec();
            let status = head.status;
            CallAnswer { status, bytes }.success()?;
            return Err(CallFault::Odd(format!("the status is {status}")));
        }
        Ok(AnswerBodyReader { tokio: &self.tokio, body, chunk: Bytes::new() })
    }

    fn call(&self, request: &Request) -> Result<Response, CallFault> {
        let mut head =
            axum::http::Request::builder().method(request.method.clone()).uri(&request.path);
        let mut body = Body::empty();
        if let Some((content, bytes)) = &request.body {
            head = head.header("content-type", *content);
            body = Body::from(bytes.clone());
        }
        let request = head.body(body).map_err(|fault| CallFault::Odd(fault.to_string()))?;
        let router = self.router.clone();
        Ok(self.tokio.block_on(async move {
            match router.oneshot(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            }
        }))
    }

    /// Finishes all work and closes the directory.
    ///
    /// # Errors
    /// [`CallFault::Node`]; what was acknowledged is durable all the same.
    pub fn close(self) -> Result<(), CallFault> {
        drop(self.router);
        self.runtime.stop().map_err(|fault| CallFault::Node(fault.to_string()))
    }
}

/// The operator, as the system names them.
fn operator() -> String {
    let named = ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok());
    named.filter(|name| Id::new(name).is_ok()).unwrap_or_else(|| "tidings".to_owned())
}

/// The body of an answer for synchronous readers.
struct AnswerBodyReader<'d> {
    tokio: &'d Tokio,
    body: Body,
    chunk: Bytes,
}

impl Read for AnswerBodyReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.chunk.is_empty() {
            match self.tokio.block_on(self.body.frame()) {
                None => return Ok(0),
                Some(Ok(frame)) => self.chunk = frame.into_data().unwrap_or_default(),
                Some(Err(fault)) => return Err(io::Error::other(fault)),
            }
        }
        let length = into.len().min(self.chunk.len());
        into[..length].copy_from_slice(&self.chunk.split_to(length));
        Ok(length)
    }
}
