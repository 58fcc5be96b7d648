//! The loop with a clock that is late, steps back, or was put back.

use tidings_core::Instant;

use super::EventLoop;
use super::missed::put_back;
use crate::error::Error;
use crate::handle::request::Request;

impl EventLoop {
    /// The requests that were put off, and those that came since.
    pub(super) fn with_put_off(&mut self, requests: Vec<Request>) -> Vec<Request> {
        let mut all = std::mem::take(&mut self.put_off);
        all.extend(requests);
        all
    }

    /// Waits for the end of an instant that ended with a delivery, before commands are handled: later
    /// arrivals in it would need a second message of the same instant.
    pub(super) fn let_instant_pass(&self, requests: &[Request]) {
        let changes = |request: &Request| {
            matches!(
                request,
                Request::Work(_) | Request::Configure(..) | Request::Apply(_) | Request::CatchUp(_)
            )
        };
        let spoke = self.node.as_ref().and_then(|node| node.engine().last_output_at());
        if let Some(spoke) = spoke.filter(|_| requests.iter().any(changes)) {
            self.clock.source.pass(spoke);
        }
    }

    /// Reads the clock and counts a step back.
    pub(super) fn look_at_the_clock(&mut self) -> Instant {
        let newest_step = self.node.as_ref().map(|node| node.engine().newest_step());
        self.clock.read_turn(newest_step, &self.shared.vitals)
    }

    /// Takes over a clock that was put back by more than a minute: what waits is due by it from now on.
    pub(super) fn put_back(&mut self, now: Instant) -> Result<(), Error> {
        let Some(node) = &mut self.node else {
            return Ok(());
        };
        if let Some(by_ms) = put_back(node, now)? {
            self.outbound.delivery.put_back(now, by_ms);
            self.resolving.put_back(by_ms);
            self.hooks.put_back(by_ms);
            self.outbound.senders.wake();
        }
        Ok(())
    }
}
