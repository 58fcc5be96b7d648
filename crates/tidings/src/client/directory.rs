//! The same calls over a data directory that no server has open: the router in this process.

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use tidings_node::{Clock, Handle, Runtime, SystemClock};
use tokio::runtime::{Builder, Runtime as Tokio};
use tower::ServiceExt as _;

use super::{Asked, Fault, Request};
use crate::app::{Disk, StartError};
use crate::config;
use crate::http::{self, Access, Service, Settings};

/// A data directory that this process has open. What comes due meanwhile is told, as a server would.
pub struct Directory {
    tokio: Tokio,
    router: Router,
    runtime: Runtime,
}

impl Directory {
    /// Opens a directory by a configuration; one that is absent or empty becomes a store.
    ///
    /// # Errors
    /// [`Fault::Configuration`], [`Fault::Store`] or [`Fault::Node`].
    pub fn open(data: &Path, config: &Path) -> Result<Self, Fault> {
        // First the lock: who has it open needs no configuration.
        let disk = Disk::open(data).map_err(Fault::Store)?;
        let rules = config::read(config).map_err(Fault::Configuration)?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let runtime =
            disk.start(rules.clone(), Arc::clone(&clock))
                .map_err(|fault| match fault {
                    StartError::Node(tidings_node::Error::Store(fault)) => Fault::Store(fault),
                    StartError::Node(tidings_node::Error::Unreadable(fault)) => {
                        Fault::Store(tidings_store::Error::Corrupt(fault.to_string()))
                    }
                    other => Fault::Node(other.to_string()),
                })?;
        let settings = Settings::default();
        let service = Service::new(runtime.handle(), rules, Access::Open, clock, settings);
        let tokio = Builder::new_current_thread()
            .enable_time()
            .build()
            .map_err(|fault| Fault::Node(fault.to_string()))?;
        Ok(Self {
            tokio,
            router: http::router(Arc::new(service)),
            runtime,
        })
    }

    /// The node, to be asked without the API.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.runtime.handle()
    }

    /// Makes a call.
    ///
    /// # Errors
    /// [`Fault::Odd`] where the answer can't be read.
    pub fn ask(&mut self, request: &Request) -> Result<Asked, Fault> {
        let mut head = axum::http::Request::builder()
            .method(request.method.clone())
            .uri(&request.path);
        let mut body = Body::empty();
        if let Some((content, bytes)) = &request.body {
            head = head.header("content-type", *content);
            body = Body::from(bytes.clone());
        }
        let odd = |fault: &dyn std::fmt::Display| Fault::Odd(fault.to_string());
        let request = head.body(body).map_err(|fault| odd(&fault))?;
        let router = self.router.clone();
        self.tokio.block_on(async move {
            let response = match router.oneshot(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            };
            let (head, body) = response.into_parts();
            let bytes = axum::body::to_bytes(body, usize::MAX).await;
            Ok(Asked {
                status: head.status,
                bytes: bytes.map_err(|fault| odd(&fault))?.to_vec(),
            })
        })
    }

    /// Hands over what is due, writes down what became of it, and lets go of the directory.
    ///
    /// # Errors
    /// [`Fault::Node`]; what was acknowledged is durable all the same.
    pub fn close(self) -> Result<(), Fault> {
        drop(self.router);
        self.runtime
            .stop()
            .map_err(|fault| Fault::Node(fault.to_string()))
    }
}
