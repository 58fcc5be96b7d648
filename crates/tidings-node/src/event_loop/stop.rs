//! The end of a loop: the last commit and, where there is time, the chores.

use crossbeam_channel::Receiver;

use super::EventLoop;
use crate::error::{RuntimeError, unavailable};
use crate::handle::request::{Request, Stop};

impl EventLoop {
    /// Returns true if nothing is left to wait for.
    pub(super) fn can_end(&self) -> bool {
        let is_settled = self.outbound.answered.is_empty() || self.node.is_none();
        let is_sent =
            self.outbound.senders.is_idle() && self.outbound.delivery.in_flight.follows_none();
        self.is_drained || (is_sent && is_settled)
    }

    /// Ends, and answers the requester.
    pub(super) fn end(&mut self, stop: &Stop) {
        self.put_off.drain(..).for_each(Request::turn_away);
        // Another process may open the store right after: nothing may be handed over from here on.
        let in_flight = &mut self.outbound.delivery.in_flight;
        let withheld = in_flight.take_from_senders(|_| true).len() + in_flight.drop_following();
        let under_way = self.outbound.senders.under_way();
        if withheld + under_way > 0 {
            tracing::warn!(
                messages = withheld + under_way,
                withheld,
                "stopped while messages were under way; the next start takes them up"
            );
        }
        let result = self.last_writes(&stop.drained);
        if !self.is_drained {
            self.compactor.wait_until(&stop.drained);
        }
        let _ = stop.answer.send(result);
    }

    fn last_writes(&mut self, drained: &Receiver<std::time::Instant>) -> Result<(), RuntimeError> {
        let Some(node) = &mut self.node else {
            return Err(unavailable());
        };
        let failed = |fault: crate::Error| RuntimeError::Unknown(fault.to_string());
        let now = node.engine().now();
        // Requests that wait for other nodes are answered as far as it goes: this node hears of no answer
        // any more.
        node.replication().answer_gathered(now, true).map_err(failed)?;
        self.hooks.save(node).map_err(failed)?;
        node.flush().map_err(failed)?;
        // Chores that are not done now are for the next start, and so are all where there is no room.
        if !self.settings.chores_at_stop || node.store().ensure_room().is_err() {
            return Ok(());
        }
        while !self.is_drained {
            let done = node.chore();
            match done.and_then(|done| node.flush().map(|()| done)) {
                Ok(true) => self.is_drained = drained.try_recv().is_ok(),
                Ok(false) => break,
                Err(fault @ crate::Error::Chore { .. }) => {
                    self.fail(&fault);
                    break;
                }
                Err(fault) => return Err(failed(fault)),
            }
        }
        Ok(())
    }
}
