//! The observation of other nodes: silence is counted in answered heartbeats of one's own, and never timed.

use std::collections::BTreeMap;

use tidings_store::lease::{Member, Membership, NodeId, Role};

use super::timing::Timing;
use crate::clock::monotonic::Monotonic;

/// The observations of a node that may be gone.
#[derive(Clone, Debug)]
pub(super) struct MemberWatch {
    heartbeat: Option<i64>,
    /// The answer that showed that heartbeat first, or the beginning of the last one that was counted since.
    from: Monotonic,
    /// Number of answered heartbeats since, without a further one of that node.
    silent: u32,
    /// Number of answered heartbeats with a further one in which that node reported to be unanswered.
    unanswered: u32,
    /// True once a further heartbeat was seen.
    moves: bool,
}

impl MemberWatch {
    /// The state at the first sight of a node, with its last heartbeat if it is a member.
    pub(super) fn new(member: Option<&Member>, now: Monotonic) -> Self {
        Self {
            heartbeat: member.map(|member| member.heartbeat),
            from: now,
            silent: 0,
            unanswered: 0,
            moves: false,
        }
    }

    /// Counts an answered heartbeat, which shows that node so.
    pub(super) fn observe(
        &mut self,
        member: Option<&Member>,
        began: Monotonic,
        now: Monotonic,
        timing: &Timing,
    ) {
        let heartbeat = member.map(|member| member.heartbeat);
        let is_unanswered = member.is_some_and(|member| member.unanswered);
        if self.heartbeat != heartbeat {
            let unanswered = self.unanswered + 1;
            *self = Self {
                unanswered: if is_unanswered { unanswered } else { 0 },
                moves: true,
                ..Self::new(member, now)
            };
        } else if began >= self.from.plus(timing.heartbeat_ms) {
            self.from = began;
            self.silent += 1;
        }
    }

    /// Returns true if others may have what the node has.
    pub(super) fn is_silent(&self, timing: &Timing) -> bool {
        self.silent >= timing.missed || self.unanswered >= 2
    }
}

/// The observations of all members.
#[derive(Default)]
pub(super) struct Watches {
    seen: BTreeMap<NodeId, MemberWatch>,
    is_interrupted: bool,
}

impl Watches {
    /// Begins to count anew: an answer is missing between those that count.
    pub(super) fn interrupt(&mut self) {
        self.is_interrupted = true;
    }

    /// Counts an answered heartbeat.
    pub(super) fn observe(
        &mut self,
        view: &Membership,
        began: Monotonic,
        now: Monotonic,
        timing: &Timing,
    ) {
        self.seen.retain(|id, _| view.member(*id).is_some());
        for member in view.members.iter().map(|seen| &seen.member) {
            let first = MemberWatch::new(Some(member), now);
            let watch = self.seen.entry(member.id).or_insert(first.clone());
            let before = watch.heartbeat;
            // A member that was silent before the interruption stays so until its heartbeat moves.
            let is_same = before == first.heartbeat;
            match self.is_interrupted {
                true if is_same && watch.is_silent(timing) => {}
                true => {
                    let moves = watch.moves || !is_same;
                    *watch = MemberWatch { moves, ..first };
                }
                false => watch.observe(Some(member), began, now, timing),
            }
        }
        self.is_interrupted = false;
    }

    /// Returns true if a node has sent nothing for so long that others may have what it has.
    pub(super) fn is_silent(&self, id: NodeId, timing: &Timing) -> bool {
        let watch = self.seen.get(&id);
        watch.is_some_and(|watch| watch.is_silent(timing))
    }

    /// Returns true if a member may have shards: it stays, is not silent, and is there for some time.
    pub(super) fn is_living(&self, member: &Member, view: &Membership, timing: &Timing) -> bool {
        let watch = self.seen.get(&member.id);
        let is_settled = member.heartbeat >= timing.settled_after
            && watch.is_some_and(|watch| watch.moves && watch.unanswered == 0);
        member.role != Role::Draining
            && !self.is_silent(member.id, timing)
            && (is_settled || view.share_of(member.id).is_some())
    }
}
