//! Commands of one request with owners at several nodes: split, done in order at each, and their answers joined.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::to_bytes;
use axum::http::uri::PathAndQuery;
use axum::http::{Method, StatusCode};
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use tidings_core::Command;
use tidings_core::engine::{Refused, Reply};
use tidings_core::model::Origin;
use tidings_store::lease::NodeId;

use crate::cluster::{Cluster, Peer, holder_lost};
use crate::error::{Code, Problem};
use crate::error::{NOBODY, no_holder};
use crate::owners::{Owner, Owners};

/// The path of the call with which nodes give each other commands.
pub(crate) const COMMANDS: &str = "/cluster/commands";

/// The name of calls between nodes in metrics.
pub(crate) const NODES_CALL: &str = "nodes";

/// The most bytes of its answer.
const ANSWER_BYTES_MAX: usize = 256 << 20;

/// One answer per command.
pub(crate) type Replies = Vec<Result<Reply, Problem>>;

/// The answers of a node's runtime.
pub(crate) type OwnReplies = Vec<Result<Reply, Refused>>;

/// Commands of a request, by the nodes that own them.
pub(crate) struct SplitCommands {
    /// Those of this node.
    pub(crate) here: Vec<Command>,
    /// The index of each in the request.
    places_here: Vec<usize>,
    there: Vec<PeerCommands>,
    /// Those that no node owns now.
    nowhere: Vec<usize>,
}

/// Commands for another node.
struct PeerCommands {
    peer: Peer,
    commands: Vec<Command>,
    places: Vec<usize>,
}

/// The answers of other nodes to the commands of a request.
pub(crate) struct RemoteReplies {
    places_here: Vec<usize>,
    /// True if some of the commands were answered, or are of this node.
    any: bool,
    replies: BTreeMap<usize, Result<Reply, Problem>>,
    /// The problem of the first node that did not answer.
    pub(crate) failed: Option<Problem>,
}

impl SplitCommands {
    /// Splits commands; `peer` tells which other node has a home.
    pub(crate) fn of(
        commands: Vec<Command>,
        owners: &Owners,
        peer: impl Fn(Owner) -> Option<Peer>,
    ) -> Self {
        let mut split = Self {
            here: Vec::new(),
            places_here: Vec::new(),
            there: Vec::new(),
            nowhere: Vec::new(),
        };
        let mut known: BTreeMap<Owner, Option<usize>> = BTreeMap::new();
        let mut nodes: BTreeMap<NodeId, usize> = BTreeMap::new();
        for (place, command) in commands.into_iter().enumerate() {
            let home = owners.of_command(&command);
            if owners.has(home) {
                split.here.push(command);
                split.places_here.push(place);
                continue;
            }
            let there = &mut split.there;
            let at = *known.entry(home).or_insert_with(|| {
                let peer = peer(home)?;
                Some(*nodes.entry(peer.id()).or_insert_with(|| {
                    there.push(PeerCommands { peer, commands: Vec::new(), places: Vec::new() });
                    there.len() - 1
                }))
            });
            match at {
                None => split.nowhere.push(place),
                Some(at) => {
                    there[at].commands.push(command);
                    there[at].places.push(place);
                }
            }
        }
        split
    }

    /// Returns true if all commands are of this node.
    pub(crate) fn is_here(&self) -> bool {
        self.there.is_empty() && self.nowhere.is_empty()
    }

    /// Has the commands of other nodes done; `waits` = their answers wait for the shards on all nodes.
    pub(crate) async fn send(
        self,
        cluster: &Arc<Cluster>,
        waits: bool,
        origin: Option<Arc<Origin>>,
    ) -> RemoteReplies {
        let mut remote = RemoteReplies {
            any: !self.places_here.is_empty(),
            places_here: self.places_here,
            replies: BTreeMap::new(),
            failed: None,
        };
        for place in self.nowhere {
            let nobody = no_holder(NOBODY);
            remote.failed.get_or_insert_with(|| nobody.clone());
            remote.replies.insert(place, Err(nobody));
        }
        let calls = self.there.into_iter().map(async |at| {
            let commands = Commands { commands: at.commands, waits, origin: origin.clone() };
            (at.places, ask(cluster, &at.peer, commands).await)
        });
        for (places, answers) in join_all(calls).await {
            let answers = match answers {
                Ok(answers) => {
                    remote.any = true;
                    answers.into_iter().map(|answer| answer.map_err(Problem::from)).collect()
                }
                Err(problem) => {
                    let each: Replies = places.iter().map(|_| Err(problem.clone())).collect();
                    remote.failed.get_or_insert(problem);
                    each
                }
            };
            remote.replies.extend(places.into_iter().zip(answers));
        }
        remote
    }
}

impl RemoteReplies {
    /// The problem of the request, if no node has answered any of its commands.
    pub(crate) fn failed_whole(&self) -> Option<Problem> {
        self.failed.clone().filter(|_| !self.any)
    }

    /// All answers in the order of the commands.
    pub(crate) fn with(self, here: Result<OwnReplies, Problem>) -> Replies {
        let mut replies = self.replies;
        match here {
            Ok(here) => {
                let here = here.into_iter().map(|reply| reply.map_err(Problem::from));
                replies.extend(self.places_here.into_iter().zip(here));
            }
            Err(problem) => {
                let each = self.places_here.into_iter();
                replies.extend(each.map(|place| (place, Err(problem.clone()))));
            }
        }
        replies.into_values().collect()
    }
}

/// The answers of a node in order, as they are read from its answer.
#[derive(Deserialize)]
#[serde(transparent)]
struct PeerAnswers(OwnReplies);

/// The body of the call.
#[derive(Serialize, Deserialize)]
pub(crate) struct Commands {
    pub(crate) commands: Vec<Command>,
    /// True if the answer waits for the shards on all nodes.
    pub(crate) waits: bool,
    /// The origin of the commands; `None` = their changes are not logged.
    #[serde(default)]
    pub(crate) origin: Option<Arc<Origin>>,
}

/// Calls a node to do commands; returns an answer for each.
///
/// # Errors
/// The [`Problem`] of the call.
async fn ask(cluster: &Cluster, peer: &Peer, commands: Commands) -> Result<OwnReplies, Problem> {
    let count = commands.commands.len();
    let body = serde_json::to_vec(&commands)
        .map_err(|fault| Problem::new(Code::Internal, fault.to_string()))?;
    drop(commands);
    let path = PathAndQuery::from_static(COMMANDS);
    let answer = cluster.call(peer, (Method::POST, path), body).await?;
    match answer.status() {
        StatusCode::OK => {}
        // The node says that it has done nothing.
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => {
            let bytes = to_bytes(answer.into_body(), ANSWER_BYTES_MAX).await;
            return Err(said(&bytes.unwrap_or_default()));
        }
        _ => return Err(holder_lost()),
    }
    let bytes = to_bytes(answer.into_body(), ANSWER_BYTES_MAX).await.map_err(|_| holder_lost())?;
    let PeerAnswers(answers) = serde_json::from_slice(&bytes)
        .map_err(|fault| Problem::new(Code::Internal, format!("the answer of a node: {fault}")))?;
    if answers.len() == count { Ok(answers) } else { Err(holder_lost()) }
}

/// The problem that a node answered with, as far as it is one that may be answered in its place.
fn said(body: &[u8]) -> Problem {
    #[derive(Deserialize)]
    struct Said {
        code: String,
        detail: String,
    }
    let Ok(said) = serde_json::from_slice::<Said>(body) else {
        return holder_lost();
    };
    let codes = [
        Code::TooBusy,
        Code::Busy,
        Code::Unavailable,
        Code::StoreFull,
        Code::OutcomeUnknown,
        Code::TimedOut,
        Code::NoHolder,
        Code::HolderLost,
        Code::Stopping,
    ];
    let mut codes = codes.into_iter();
    match codes.find(|code| code.row().code == said.code) {
        Some(code) => Problem::new(code, said.detail),
        None => holder_lost(),
    }
}

#[cfg(test)]
mod tests {
    use tidings_core::Id;
    use tidings_core::model::MessageAct;
    use tidings_store::lease::Member;

    use super::*;

    fn id(text: &str) -> Id {
        Id::new(text).unwrap()
    }

    fn erase(recipient: &str) -> Command {
        Command::Erase { recipient: id(recipient) }
    }

    fn owners() -> Owners {
        Owners { buckets: 64, shards: 4, held: [0].into(), intake: true }
    }

    /// An id in a shard.
    fn in_shard(shard: u16, n: usize) -> String {
        let mut of = (0..)
            .map(|n| format!("r{n}"))
            .filter(|text| owners().of_recipient(&id(text)) == Owner::Shard(shard));
        of.nth(n).unwrap()
    }

    /// Shards 1 and 2 are at the same node, shard 3 is at none.
    fn peer(home: Owner) -> Option<Peer> {
        match home {
            Owner::Shard(1 | 2) => Some(Peer::fake(Member::new(NodeId(7), "b"))),
            _ => None,
        }
    }

    #[test]
    fn commands_are_split_by_node_in_their_order_and_answers_come_together_in_it() {
        let message: tidings_core::model::MessageName = "2024-03-07.63.1.1".parse().unwrap();
        let commands = vec![
            erase(&in_shard(2, 0)),
            erase(&in_shard(0, 0)),
            Command::Retract { object: id("o") },
            erase(&in_shard(1, 0)),
            Command::Message { message, act: MessageAct::Cancel },
            erase(&in_shard(2, 1)),
            erase(&in_shard(0, 1)),
        ];
        let split = SplitCommands::of(commands.clone(), &owners(), peer);
        assert!(!split.is_here());
        let of = |places: &[usize]| -> Vec<Command> {
            places.iter().map(|at| commands[*at].clone()).collect()
        };
        assert_eq!(split.here, of(&[1, 2, 6]));
        assert_eq!(split.there.len(), 1);
        assert_eq!(split.there[0].commands, of(&[0, 3, 5]));
        assert_eq!(split.nowhere, [4]);

        let remote = RemoteReplies {
            places_here: split.places_here,
            any: true,
            replies: [
                (0, Ok(Reply::Done)),
                (3, Err(no_holder("x"))),
                (4, Err(no_holder(NOBODY))),
                (5, Ok(Reply::Done)),
            ]
            .into(),
            failed: None,
        };
        let unknown = || Err(Refused::UnknownRecipient(id("r")));
        let replies = remote.with(Ok(vec![Ok(Reply::Done), unknown(), Ok(Reply::Done)]));
        let codes: Vec<_> =
            replies.iter().map(|reply| reply.as_ref().err().map(|problem| problem.code)).collect();
        let no_holder = Some(Code::NoHolder);
        let expected =
            [None, None, Some(Code::RecipientNotFound), no_holder, no_holder, None, None];
        assert_eq!(codes, expected);
    }

    #[test]
    fn what_is_all_here_is_not_split() {
        let commands = vec![erase(&in_shard(0, 0)), Command::Retract { object: id("o") }];
        let split = SplitCommands::of(commands.clone(), &owners(), |_| unreachable!());
        assert!(split.is_here());
        assert_eq!(split.here, commands);
    }

    #[test]
    fn a_problem_of_a_node_is_told_as_it_is() {
        let full = Problem::new(Code::StoreFull, "x");
        let body = serde_json::to_vec(&full.body()).unwrap();
        assert_eq!(said(&body), full);
        for odd in ["", "{}", r#"{"code": "invalid_json", "detail": ""}"#] {
            assert_eq!(said(odd.as_bytes()).code, Code::HolderLost);
        }
    }
}
