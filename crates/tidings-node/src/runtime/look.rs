//! A node whose engine stands still: it builds and sends nothing, decides nothing that is done, and writes nothing but API
//! keys.

use std::sync::Arc;

use tidings_core::engine::Options;
use tidings_store::Store;

use super::Runtime;
use crate::error::{Error, RuntimeError};
use crate::handle::request::Request;
use crate::handle::shared_state::SharedState;
use crate::handle::{Handle, QueueReceiver};
use crate::node::Node;

/// Length of the queue of requests; one more is refused.
const REQUESTS_MAX: usize = 64;

impl Runtime {
    /// Opens a store to look at it, whatever has come due since. Reads are answered, API keys are changed,
    /// and everything else is refused.
    ///
    /// # Errors
    /// [`Error`] where the store can't be read.
    pub fn look(store: Arc<dyn Store>, options: Options) -> Result<Self, Error> {
        let mut node = Node::open_to_look(store, options)?;
        let shared = SharedState::default();
        shared.keys.load(&node.view()?, node.engine().replica().of_buckets())?;
        node.show_in(&shared.reads)?;
        let (handle, inbox) = Handle::new(REQUESTS_MAX, shared);
        Self::spawn("tidings-look", handle, inbox, node, answer)
    }
}

/// Changes keys, until the runtime is stopped or its store fails.
fn answer(node: &mut Node, inbox: &QueueReceiver) {
    let refused = || RuntimeError::Unavailable("it is open to be looked at only".to_owned());
    while !inbox.is_empty() || inbox.woken.recv().is_ok() {
        for request in inbox.turn() {
            match request {
                Request::Work(work) => work.fail(refused()),
                Request::DryRun(request) => {
                    let now = node.engine().now();
                    if let Err(fault) = request.answer(node, &(), now) {
                        tracing::error!(error = %fault, "the store failed");
                        return;
                    }
                }
                Request::Keys(request) => {
                    if let Err(fault) = request.work(node) {
                        tracing::error!(error = %fault, "the store failed");
                        return;
                    }
                }
                Request::Log(request) => request.fail(refused()),
                Request::Configure(.., answer) => {
                    let _ = answer.send(Err(refused()));
                }
                Request::Apply(request) => (request.then)(Err(refused())),
                Request::CatchUp(then) => then(Ok(())),
                Request::Report(..) | Request::ReadKeys | Request::Wake => {}
                Request::Stop(stop) => {
                    let _ = stop.answer.send(Ok(()));
                    return;
                }
            }
        }
    }
}
