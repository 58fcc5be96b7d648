//! The state of the console: its way to the server, and where it is.

use std::sync::Arc;

use serde_json::Value;

use crate::api::Api;
use crate::call::Call;
use crate::mask::Mask;
use crate::problem::CallProblem;
use crate::viewer::Viewer;

/// The console of a server.
pub struct Console {
    api: Arc<dyn Api>,
    /// The path of its pages, without a slash at the end.
    base: String,
}

impl Console {
    /// A console whose pages are below a path.
    #[must_use]
    pub fn new(api: Arc<dyn Api>, base: &str) -> Self {
        Self { api, base: base.trim_end_matches('/').to_owned() }
    }

    /// The way to the server.
    pub(crate) fn api(&self) -> &dyn Api {
        &*self.api
    }

    /// The path of the pages, without a slash at the end.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// Makes a call in a viewer's name. The answer is masked, and so is a refusal.
    ///
    /// # Errors
    /// What the call answers instead.
    pub(crate) async fn call(&self, viewer: &Viewer, call: Call) -> Result<Value, CallProblem> {
        let (resource, recipient) = (call.resource().to_owned(), call.recipient());
        let result = self.api.call(&viewer.caller, call).await;
        let shown = self.api.shown_data();
        let mask = Mask::new(&resource, viewer, self.api.now(), &shown);
        match result {
            Ok(mut answer) => {
                mask.answer(&mut answer, recipient.as_deref());
                Ok(answer)
            }
            Err(mut problem) => {
                mask.problem(&mut problem.body);
                Err(problem)
            }
        }
    }
}
