//! Commands for other nodes, those of several requests in one call.
//!
//! To each node one call is under way at a time: what comes meanwhile goes with the next one. So a node that many
//! requests are for answers few calls. The next call does not wait for one that takes long: an answer may wait for parts
//! that do not answer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::value::{RawValue, to_raw_value};
use tidings_core::Command;
use tidings_store::lease::NodeId;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::cluster::{Cluster, Peer, holder_lost};
use super::error::{Code, Problem};
use super::spread::{CommandsOf, OwnReplies, ask};

/// The longest time for which the next call waits for the one before.
const CALL_PATIENCE: Duration = Duration::from_millis(10);

/// The bytes of commands after which no other request's are added to a call.
const BYTES_MAX: usize = 1 << 20;

/// The node that is called, and whether its answer waits for parts on other nodes.
type Destination = (NodeId, bool);

/// The commands that wait for a call, by destination. One without an entry has no call under way.
#[derive(Default)]
pub(super) struct Outgoing(Mutex<BTreeMap<Destination, Vec<Submission>>>);

/// The commands of one request.
struct Submission {
    peer: Peer,
    count: usize,
    /// The commands as they are sent.
    commands: Box<RawValue>,
    answer: oneshot::Sender<Result<OwnReplies, Problem>>,
}

impl Outgoing {
    fn waiting(&self) -> MutexGuard<'_, BTreeMap<Destination, Vec<Submission>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds commands. Returns true if there is nobody yet who calls their node.
    fn add(&self, to: Destination, submission: Submission) -> bool {
        let mut waiting = self.waiting();
        let is_first = !waiting.contains_key(&to);
        waiting.entry(to).or_default().push(submission);
        is_first
    }

    /// Takes the commands of the next call; `None` if there are none: then nobody calls the node any more.
    fn next(&self, to: Destination) -> Option<Vec<Submission>> {
        let mut all = self.waiting();
        let waiting = all.get_mut(&to)?;
        if waiting.is_empty() {
            all.remove(&to);
            return None;
        }
        let mut bytes = 0;
        let count = waiting.iter().take_while(|submission| {
            let is_room = bytes < BYTES_MAX;
            bytes += submission.commands.get().len();
            is_room
        });
        let count = count.count();
        Some(waiting.drain(..count).collect())
    }
}

/// Has a node do the commands of a request; returns an answer for each.
///
/// # Errors
/// The [`Problem`] of the call: what was done is not known, unless it says so.
pub(super) async fn submit(
    cluster: &Arc<Cluster>,
    peer: &Peer,
    waits: bool,
    commands: Vec<Command>,
) -> Result<OwnReplies, Problem> {
    let (answer, answered) = oneshot::channel();
    let to = (peer.id(), waits);
    let submission = Submission {
        peer: peer.clone(),
        count: commands.len(),
        commands: to_raw_value(&commands)
            .map_err(|fault| Problem::new(Code::Internal, fault.to_string()))?,
        answer,
    };
    drop(commands);
    if cluster.outgoing.add(to, submission) {
        tokio::spawn(call_all(Arc::clone(cluster), to));
    }
    answered.await.unwrap_or_else(|_| Err(holder_lost()))
}

/// Calls a node until no commands for it are left.
async fn call_all(cluster: Arc<Cluster>, to: Destination) {
    while let Some(submissions) = cluster.outgoing.next(to) {
        let call = tokio::spawn(call(Arc::clone(&cluster), to.1, submissions));
        // One that takes longer goes on by itself.
        drop(timeout(CALL_PATIENCE, call).await);
    }
}

async fn call(cluster: Arc<Cluster>, waits: bool, submissions: Vec<Submission>) {
    let Some(peer) = submissions.last().map(|newest| newest.peer.clone()) else {
        return;
    };
    let count = submissions.iter().map(|submission| submission.count).sum();
    let requests = submissions.iter().map(|submission| &*submission.commands);
    let commands = CommandsOf {
        requests: requests.collect(),
        waits,
    };
    let mut replies = ask(&cluster, &peer, &commands, count)
        .await
        .map(Vec::into_iter);
    for Submission { count, answer, .. } in submissions {
        let replies = replies.as_mut().map_err(|problem| problem.clone());
        // Who asked may be gone, and hears nothing then.
        drop(answer.send(replies.map(|all| all.take(count).collect())));
    }
}

#[cfg(test)]
mod tests {
    use tidings_store::lease::Member;

    use super::*;

    fn submission(count: usize, bytes: usize) -> Submission {
        Submission {
            peer: Peer::fake(Member::new(NodeId(7), "b")),
            count,
            commands: to_raw_value(&"x".repeat(bytes)).unwrap(),
            answer: oneshot::channel().0,
        }
    }

    fn counts(next: Option<Vec<Submission>>) -> Option<Vec<usize>> {
        next.map(|next| next.iter().map(|one| one.count).collect())
    }

    #[test]
    fn what_comes_while_a_call_is_under_way_goes_with_the_next_one() {
        let outgoing = Outgoing::default();
        let (to, other) = ((NodeId(7), true), (NodeId(7), false));
        let add = |to, count| outgoing.add(to, submission(count, 1));
        assert!(add(to, 1));
        assert_eq!(counts(outgoing.next(to)), Some(vec![1]));
        assert!(!add(to, 2) && !add(to, 3));
        // Who waits for nobody has calls of its own.
        assert!(add(other, 4));
        assert_eq!(counts(outgoing.next(to)), Some(vec![2, 3]));
        assert_eq!(counts(outgoing.next(to)), None);
        assert!(add(to, 5));
        assert_eq!(counts(outgoing.next(other)), Some(vec![4]));
    }

    #[test]
    fn a_call_has_whole_requests_up_to_a_number_of_bytes() {
        let outgoing = Outgoing::default();
        let to = (NodeId(7), true);
        for (count, bytes) in [(1, BYTES_MAX - 10), (2, BYTES_MAX), (3, 1), (4, 1)] {
            outgoing.add(to, submission(count, bytes));
        }
        assert_eq!(counts(outgoing.next(to)), Some(vec![1, 2]));
        assert_eq!(counts(outgoing.next(to)), Some(vec![3, 4]));
        assert_eq!(counts(outgoing.next(to)), None);
    }
}
