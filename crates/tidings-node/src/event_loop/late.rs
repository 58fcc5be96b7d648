//! The loop with a clock that is late, steps back, or was put back.

use tidings_core::Instant;

use super::EventLoop;
use super::missed::put_back;
use crate::error::Error;
use crate::handle::Request;

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
            self.clock.pass(spoke);
        }
    }

    /// Reads the clock and counts a step back.
    pub(super) fn look_at_the_clock(&mut self) -> Instant {
        let now = self.clock.now();
        if now < self.seen {
            self.vitals.stepped_back();
            tracing::warn!(from = %self.seen, to = %now, "the clock stepped back");
        }
        self.seen = now;
        let newest_step = self.node.as_ref().map_or(now, |node| node.engine().newest_step());
        self.forgets_until = self.watch.read(newest_step, now, self.clock.monotonic());
        now
    }

    /// Takes over a clock that was put back by more than a minute: what waits is due by it from now on.
    pub(super) fn put_back(&mut self, now: Instant) -> Result<(), Error> {
        let Some(node) = &mut self.node else {
            return Ok(());
        };
        if let Some(by_ms) = put_back(node, now)? {
            self.delivery.put_back(now, by_ms);
            self.resolving.put_back(by_ms);
            self.hooks.put_back(by_ms);
            self.senders.wake();
        }
        Ok(())
    }
}
