//! The threads that call hooks: some for each, so that one that hangs holds up no other.

use std::collections::BTreeMap;
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::answer::{HookAnswer, HookCall};
use crate::channel::InForce;
use crate::clock::Clock;
use crate::commit::executor::Executor;
use crate::delivery::MaySend;

/// The most calls of a hook at once.
pub(super) const CALLS_MAX: usize = 8;

/// The calls that are under way.
pub(super) struct Calls {
    channels: InForce,
    may_send: MaySend,
    clock: Arc<dyn Clock>,
    by: Executor,
    lines: BTreeMap<Arc<str>, Line>,
    answers: (Sender<(HookCall, HookAnswer)>, Receiver<(HookCall, HookAnswer)>),
}

/// The calls of a hook.
struct Line {
    calls: (Sender<HookCall>, Receiver<HookCall>),
    threads: usize,
}

impl Calls {
    pub(super) fn new(
        channels: InForce,
        may_send: MaySend,
        clock: Arc<dyn Clock>,
        by: Executor,
    ) -> Self {
        Self { channels, may_send, clock, by, lines: BTreeMap::new(), answers: unbounded() }
    }

    /// The answers.
    pub(super) fn answers(&self) -> &Receiver<(HookCall, HookAnswer)> {
        &self.answers.1
    }

    /// Calls as soon as a thread is free.
    pub(super) fn begin(&mut self, call: HookCall, under_way: usize) {
        let line = self
            .lines
            .entry(Arc::clone(&call.hook))
            .or_insert_with(|| Line { calls: unbounded(), threads: 0 });
        // The other end is held by this.
        let _ = line.calls.0.send(call);
        if self.by != Executor::Threads {
            return;
        }
        if line.threads >= under_way.min(CALLS_MAX) {
            return;
        }
        let (calls, answers) = (line.calls.1.clone(), self.answers.0.clone());
        let (may_send, clock) = (Arc::clone(&self.may_send), Arc::clone(&self.clock));
        let channels = self.channels.clone();
        let thread = std::thread::Builder::new().name("tidings-hook".to_owned());
        let started = thread.spawn(move || {
            for call in calls {
                let answer = told(&channels, &call, &*clock, &*may_send);
                if answers.send((call, answer)).is_err() {
                    break;
                }
            }
        });
        match started {
            Ok(_) => line.threads += 1,
            Err(fault) => tracing::error!(error = %fault, "no thread for a hook"),
        }
    }

    /// Makes the next call in the caller's thread. Whether there was one.
    pub(super) fn call_next(&self) -> bool {
        let call = self.lines.values().find_map(|line| line.calls.1.try_recv().ok());
        let Some(call) = call else {
            return false;
        };
        let answer = told(&self.channels, &call, &*self.clock, &*self.may_send);
        let _ = self.answers.0.send((call, answer));
        true
    }

    /// Takes back what no thread has taken.
    pub(super) fn clear(&mut self) -> Vec<HookCall> {
        self.lines.values().flat_map(|line| line.calls.1.try_iter()).collect()
    }
}

/// Makes a call.
fn told(
    channels: &InForce,
    call: &HookCall,
    clock: &dyn Clock,
    go: &dyn Fn() -> bool,
) -> HookAnswer {
    let Some(outlet) = channels.outlet(&call.message.head.channel) else {
        return HookAnswer::Withheld;
    };
    let reply = outlet.pass(&[], clock.now()).send(&call.message, &|| clock.now(), go);
    HookAnswer::of(&reply.outcome)
}
