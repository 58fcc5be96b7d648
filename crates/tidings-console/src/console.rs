//! The state of the console: its way to the server, and where it is.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::HeaderMap;
use axum::http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::api::{Api, Caller};
use crate::call::Call;
use crate::mask::Mask;
use crate::problem::CallProblem;
use crate::viewer::{Viewer, zone};

/// The console of a server.
pub struct Console {
    api: Arc<dyn Api>,
    /// The path of its pages, without a slash at the end.
    base: String,
    /// The people whom each session has opened, and until when.
    opened: Mutex<HashMap<String, BTreeMap<String, Timestamp>>>,
}

/// The time for which a person stays opened.
const OPENED_FOR: SignedDuration = SignedDuration::from_mins(15);

impl Console {
    /// A console whose pages are below a path.
    #[must_use]
    pub fn new(api: Arc<dyn Api>, base: &str) -> Self {
        Self { api, base: base.trim_end_matches('/').to_owned(), opened: Mutex::default() }
    }

    /// The way to the server.
    pub(crate) fn api(&self) -> &dyn Api {
        &*self.api
    }

    /// The path of the pages, without a slash at the end.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// The viewer of a request.
    #[must_use]
    pub fn viewer(&self, caller: Caller, session: String, headers: &HeaderMap) -> Viewer {
        Viewer { shown: self.opened(&session), session, caller, zone: zone(headers) }
    }

    /// The people whom a session has opened.
    fn opened(&self, session: &str) -> BTreeMap<String, Timestamp> {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.get(session).cloned().unwrap_or_default()
    }

    /// Opens a person to a session for a quarter of an hour.
    pub(crate) fn open(&self, session: &str, recipient: &str) {
        let now = self.api.now();
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.retain(|_, people| {
            people.retain(|_, until| now < *until);
            !people.is_empty()
        });
        let until = now.saturating_add(OPENED_FOR).unwrap_or(now);
        opened.entry(session.to_owned()).or_default().insert(recipient.to_owned(), until);
    }

    /// Refuses a page that asks for a change which the viewer's role may not make.
    ///
    /// # Errors
    /// The role lacks the operation.
    pub(crate) fn allow(&self, viewer: &Viewer, operation: &str) -> Result<(), CallProblem> {
        let role = viewer.caller.role;
        if self.api.may(role, operation) {
            return Ok(());
        }
        let may = ["support", "publish", "operate", "admin"];
        let may: Vec<&str> = may.into_iter().filter(|role| self.api.may(role, operation)).collect();
        let detail = format!("The role {role} may not do this. These may: {}.", may.join(", "));
        Err(CallProblem::new(StatusCode::FORBIDDEN, "forbidden", detail))
    }

    /// Makes a call in a viewer's name. The answer is masked, and so is a refusal.
    ///
    /// # Errors
    /// The refusal of the call.
    pub(crate) async fn call(&self, viewer: &Viewer, call: Call) -> Result<Value, CallProblem> {
        self.call_prepared(viewer, call, |_| ()).await
    }

    /// The same with an answer that something is done to before it is masked.
    ///
    /// # Errors
    /// The refusal of the call.
    pub(crate) async fn call_prepared(
        &self,
        viewer: &Viewer,
        call: Call,
        prepare: impl FnOnce(&mut Value),
    ) -> Result<Value, CallProblem> {
        let (resource, recipient) = (call.resource().to_owned(), call.recipient());
        let is_open = recipient.as_deref().is_some_and(|id| viewer.sees(id, self.api.now()));
        let call = if call.builds_message() && !is_open { call.with_masked_values() } else { call };
        let result = self.api.call(&viewer.caller, call).await;
        let shown = self.api.shown_data();
        let mask = Mask::new(&resource, viewer, self.api.now(), &shown);
        match result {
            Ok(mut answer) => {
                prepare(&mut answer);
                mask.answer(&mut answer, recipient.as_deref());
                Ok(answer)
            }
            Err(mut problem) => {
                mask.problem(&mut problem.body);
                Err(problem)
            }
        }
    }

    /// Makes a call whose answer no page gets: to find what a masked row stands for.
    ///
    /// # Errors
    /// The refusal of the call.
    pub(crate) async fn call_unmasked(
        &self,
        viewer: &Viewer,
        call: Call,
    ) -> Result<Value, CallProblem> {
        let resource = call.resource().to_owned();
        let result = self.api.call(&viewer.caller, call).await;
        result.map_err(|mut problem| {
            let shown = self.api.shown_data();
            Mask::new(&resource, viewer, self.api.now(), &shown).problem(&mut problem.body);
            problem
        })
    }
}
