//! Idempotency: the answer to a request with an `Idempotency-Key` is written in the same commit as its
//! work, so that neither exists without the other.
//!
//! A row lives for a day, whatever `keep` says, and outlives restarts. Rows that have had their day
//! are taken away by those that come: as many as were ever kept within one day may lie there.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use tidings_core::codec::FORM;
use tidings_core::engine::{Refused, Reply};
use tidings_core::journal::parts;
use tidings_core::journal::stored::{ReadView, Unreadable, body};
use tidings_core::table::{Key, Owner, Partition, REST, Table, Write, i64_at};
use tidings_core::time::DAY_MS;
use tidings_core::{Command, Instant};

use crate::Error;
use crate::ahead::WhenDurable;
use crate::handle::{Answer, RuntimeError};
use crate::kept_back::Sending;
use crate::node::Node;

/// Time for which a key is remembered, in milliseconds (contract, section 4).
const KEPT_MS: i64 = DAY_MS;

/// Number of expired rows deleted with each new one: more than one, so that they get fewer.
const SWEPT_PER_ROW: usize = 4;

/// The identity of a request that may be sent twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Once {
    /// Hash of the client's key.
    pub key: [u8; 16],
    /// Hash of the request: another request under the same key is refused.
    pub request: [u8; 16],
}

/// The result of a request with a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The request was done now.
    Now,
    /// The request was done before, with this stored answer.
    Before(Vec<u8>),
    /// The key was used with another request; nothing was done.
    Other,
}

/// The requester of a request with a key. Both methods are called on the loop's thread.
pub trait AnswerRecorder: Send {
    /// The answer to store; `None` stores nothing, and the key stays free. Called before the work is
    /// durable: nothing of it may be shown yet.
    fn keep(&mut self, replies: Vec<Result<Reply, Refused>>) -> Option<Vec<u8>>;

    /// Receives the result; must only pass it on.
    fn tell(self: Box<Self>, kept: Result<Kept, RuntimeError>);
}

/// Commands of one step, with their requester.
pub(crate) struct Work {
    pub(crate) commands: Vec<Command>,
    /// Number of commands, also after they were taken to be done.
    pub(crate) count: usize,
    pub(crate) replies: Vec<Result<Reply, Refused>>,
    asker: Asker,
}

/// The requester of commands.
pub(crate) enum Asker {
    Each(Answer),
    Once(Once, Box<dyn AnswerRecorder>),
}

impl Work {
    pub(crate) fn new(commands: Vec<Command>, asker: Asker) -> Self {
        Self {
            count: commands.len(),
            commands,
            replies: Vec::new(),
            asker,
        }
    }

    /// The answer to store.
    pub(crate) fn keep(&mut self) -> Option<(Once, Vec<u8>)> {
        match &mut self.asker {
            Asker::Each(_) => None,
            Asker::Once(once, keeper) => {
                let replies = std::mem::take(&mut self.replies);
                Some((*once, keeper.keep(replies)?))
            }
        }
    }

    /// The answer, to be given when it is durable.
    pub(crate) fn when_durable(self) -> WhenDurable {
        let Self { replies, asker, .. } = self;
        match asker {
            Asker::Each(answer) => Box::new(|done| answer(done.map(|()| replies))),
            Asker::Once(_, keeper) => Box::new(|done| keeper.tell(done.map(|()| Kept::Now))),
        }
    }

    /// Answers that it failed.
    pub(crate) fn fail(self, fault: RuntimeError) {
        match self.asker {
            Asker::Each(answer) => answer(Err(fault)),
            Asker::Once(_, keeper) => keeper.tell(Err(fault)),
        }
    }
}

/// Does work in one step; copies of a request are handled after it and get its answer. Requesters are
/// answered when it is durable, which may be after this returns.
pub(crate) fn step(
    node: &mut Node,
    sending: &dyn Sending,
    now: Instant,
    work: Vec<Work>,
) -> Result<(), Error> {
    let mut waiting = work;
    while !waiting.is_empty() {
        let mut first = Vec::with_capacity(waiting.len());
        let mut again = Vec::new();
        let sorted = sort(node, now, waiting, &mut first, &mut again);
        let done = sorted.and_then(|()| node.step_keeping(sending, now, &mut first));
        if let Err(fault) = done {
            let askers = first.into_iter().chain(again);
            askers.for_each(|work| work.fail(RuntimeError::of_commit(&fault)));
            return Err(fault);
        }
        waiting = again;
    }
    Ok(())
}

/// Has requests that were done before answered, and separates first requests from their copies.
fn sort(
    node: &mut Node,
    now: Instant,
    work: Vec<Work>,
    first: &mut Vec<Work>,
    again: &mut Vec<Work>,
) -> Result<(), Error> {
    let mut keys = BTreeSet::new();
    let mut done = Ok(());
    for work in work {
        let once = match &work.asker {
            Asker::Once(once, _) if done.is_ok() => *once,
            Asker::Once(..) | Asker::Each(_) => {
                first.push(work);
                continue;
            }
        };
        if !keys.insert(once.key) {
            again.push(work);
            continue;
        }
        let kept = node.view().and_then(|view| kept(&view, now, once));
        match (kept, work.asker) {
            // What was kept of an answer must not be told before it is durable.
            (Ok(Some(kept)), Asker::Once(_, keeper)) => {
                let tell = |done: Result<(), _>| keeper.tell(done.map(|()| kept));
                node.ahead().answer(Box::new(tell));
            }
            (kept, asker) => {
                first.push(Work { asker, ..work });
                done = kept.map(|_| ());
            }
        }
    }
    done
}

struct Row {
    at: Instant,
    request: [u8; 16],
    answer: Vec<u8>,
}

fn row_key(key: &[u8; 16]) -> Vec<u8> {
    Key::of(Owner::Intake, Table::Answers).bytes(key).done()
}

fn age_key(at: Instant, key: &[u8; 16]) -> Vec<u8> {
    let ages = Key::of(Owner::Intake, Table::AnswersByAge);
    ages.i64(at.0).bytes(key).done()
}

/// The row of a key, whatever its age.
fn stored(view: &dyn ReadView, key: &[u8; 16]) -> Result<Option<Row>, Error> {
    let Some(value) = parts::get(view, Partition::Base, &row_key(key))? else {
        return Ok(None);
    };
    let value = body("an answer that was kept", &value)?;
    let read = || {
        let at = Instant(i64_at(value, 0)?);
        let request = value.get(8..24)?.try_into().ok()?;
        let answer = value.get(24..)?.to_vec();
        Some(Row {
            at,
            request,
            answer,
        })
    };
    let unreadable = || Unreadable("an answer that was kept is torn".to_owned());
    Ok(Some(read().ok_or_else(unreadable)?))
}

/// The result of a request whose key is remembered.
pub(crate) fn kept(view: &dyn ReadView, now: Instant, once: Once) -> Result<Option<Kept>, Error> {
    let row = stored(view, &once.key)?;
    let row = row.filter(|row| now.0 < row.at.0.saturating_add(KEPT_MS));
    Ok(row.map(|row| match row.request == once.request {
        true => Kept::Before(row.answer),
        false => Kept::Other,
    }))
}

/// The writes that store these answers, and delete expired ones.
pub(crate) fn writes(
    view: &dyn ReadView,
    now: Instant,
    answers: &[(Once, Vec<u8>)],
) -> Result<Vec<Write>, Error> {
    let write = |key: Vec<u8>, value: Option<Vec<u8>>| Write {
        partition: Partition::Base,
        key,
        value,
    };
    let mut writes = Vec::with_capacity(answers.len() * 2);
    if answers.is_empty() {
        return Ok(writes);
    }
    for (at, key) in aged(view, now, answers.len() * SWEPT_PER_ROW)? {
        writes.push(write(age_key(at, &key), None));
        // The clock may have stepped back since: then the row is younger than its first age.
        if stored(view, &key)?.is_some_and(|row| row.at == at) {
            let key = row_key(&key);
            let row = view.get(Partition::Base, &key)?.unwrap_or_default();
            let more = parts::more_keys(&key, &row)?.into_iter();
            writes.extend(more.chain([key]).map(|key| write(key, None)));
        }
    }
    for (once, answer) in answers {
        let mut value = Key::of(Owner::Intake, Table::Answers).i64(now.0).done();
        value.splice(..REST, [FORM]);
        value.extend_from_slice(&once.request);
        value.extend_from_slice(answer);
        writes.extend(parts::rows(Partition::Base, row_key(&once.key), &value));
        writes.push(write(age_key(now, &once.key), Some(Vec::new())));
    }
    Ok(writes)
}

/// The oldest expired rows.
fn aged(view: &dyn ReadView, now: Instant, most: usize) -> Result<Vec<(Instant, [u8; 16])>, Error> {
    let ages = Key::of(Owner::Intake, Table::AnswersByAge);
    let until = ages.clone().i64(now.0.saturating_sub(KEPT_MS)).done();
    let mut aged = Vec::new();
    let mut visit = |key: &[u8], _: &[u8]| {
        let at = i64_at(key, REST).map(Instant);
        let name = key.get(REST + 8..).and_then(|name| name.try_into().ok());
        aged.extend(at.zip(name));
        if aged.len() < most {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    };
    view.scan(Partition::Base, &ages.done(), Some(&until), &mut visit)?;
    Ok(aged)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tidings_core::engine::Options;
    use tidings_core::{Id, Object};
    use tidings_store::{MemoryStore, Store};

    use super::*;

    fn node(store: &Arc<MemoryStore>) -> Node {
        Node::open(Arc::clone(store) as Arc<dyn Store>, Options::default()).unwrap()
    }

    fn once(key: u8, request: u8) -> Once {
        Once {
            key: [key; 16],
            request: [request; 16],
        }
    }

    /// A test requester: stores a given answer, and sends the result to a channel.
    struct Recorded1(Option<Vec<u8>>, crossbeam_channel::Sender<Kept>);

    impl AnswerRecorder for Recorded1 {
        fn keep(&mut self, replies: Vec<Result<Reply, Refused>>) -> Option<Vec<u8>> {
            assert_eq!(replies.len(), 1);
            self.0.take()
        }

        fn tell(self: Box<Self>, kept: Result<Kept, RuntimeError>) {
            self.1.send(kept.unwrap()).unwrap();
        }
    }

    /// The results of requests (identity, answer to store), in the order in which they come.
    fn told(node: &mut Node, at: i64, requests: &[(Once, Option<&str>)]) -> Vec<Kept> {
        let (tell, told) = crossbeam_channel::unbounded();
        let work = requests.iter().map(|(once, keep)| {
            let keep = keep.map(|text| text.as_bytes().to_vec());
            let object = Object {
                id: Id::new("works/1").unwrap(),
                title: None,
                url: None,
                image: None,
                image_size: None,
                notifiable: None,
            };
            let asker = Asker::Once(*once, Box::new(Recorded1(keep, tell.clone())));
            Work::new(vec![Command::Object(object)], asker)
        });
        step(node, &(), Instant(at), work.collect()).unwrap();
        told.try_iter().collect()
    }

    #[test]
    fn a_request_is_done_once_across_a_restart() {
        let store = Arc::new(MemoryStore::default());
        let first = told(&mut node(&store), 0, &[(once(1, 1), Some("a"))]);
        assert_eq!(first, [Kept::Now]);
        let mut node = node(&store);
        let again = told(&mut node, 1, &[(once(1, 1), Some("b"))]);
        assert_eq!(again, [Kept::Before(b"a".to_vec())]);
        let other = told(&mut node, 2, &[(once(1, 2), Some("c"))]);
        assert_eq!(other, [Kept::Other]);
    }

    #[test]
    fn of_two_at_the_same_instant_the_second_gets_what_the_first_got() {
        let store = Arc::new(MemoryStore::default());
        let two = [(once(1, 1), Some("a")), (once(1, 1), Some("b"))];
        let told = told(&mut node(&store), 0, &two);
        assert_eq!(told, [Kept::Now, Kept::Before(b"a".to_vec())]);
    }

    #[test]
    fn what_was_not_kept_may_be_tried_again() {
        let store = Arc::new(MemoryStore::default());
        let two = [(once(1, 1), None), (once(1, 1), Some("b"))];
        let told = told(&mut node(&store), 0, &two);
        assert_eq!(told, [Kept::Now, Kept::Now]);
    }

    #[test]
    fn a_key_is_free_again_after_a_day_and_its_row_goes() {
        let store = Arc::new(MemoryStore::default());
        let mut node = node(&store);
        told(&mut node, 0, &[(once(1, 1), Some("a"))]);
        let last = told(&mut node, DAY_MS - 1, &[(once(1, 1), Some("b"))]);
        assert_eq!(last, [Kept::Before(b"a".to_vec())]);
        let free = told(&mut node, DAY_MS, &[(once(1, 2), Some("c"))]);
        assert_eq!(free, [Kept::Now]);
        for key in 2..10 {
            told(&mut node, 3 * DAY_MS, &[(once(key, 1), Some("d"))]);
        }
        let view = node.view().unwrap();
        assert!(stored(&view, &[1; 16]).unwrap().is_none());
        assert!(aged(&view, Instant(3 * DAY_MS), 9).unwrap().is_empty());
        assert!(stored(&view, &[9; 16]).unwrap().is_some());
    }
}
