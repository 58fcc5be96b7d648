//! Work is done in one step: copies of a request get the answer of the first.

use std::collections::BTreeSet;
use std::time::Duration;

use tidings_core::Instant;

use crate::commit::work::StepWork;
use crate::delivery::sending::SenderInterface;
use crate::error::{Error, RuntimeError};
use crate::handle::shares::CallerId;
use crate::node::{Node, Repeats};
use crate::telemetry::vitals::Timer;

/// Does work in one step; copies of a request are handled after it and get its answer. Requesters are
/// answered when it is durable, which may be after this returns.
pub(super) fn step(
    node: &mut Node,
    sending: &dyn SenderInterface,
    now: Instant,
    work: Vec<StepWork>,
    spent: &mut Vec<(CallerId, Duration)>,
) -> Result<(), Error> {
    let mut waiting = work;
    while !waiting.is_empty() {
        let mut first = Vec::with_capacity(waiting.len());
        let mut again = Vec::new();
        let sorted = sort(node, now, waiting, &mut first, &mut again);
        let done = sorted.and_then(|()| decide(node, sending, now, &mut first, spent));
        if let Err(fault) = done {
            first
                .into_iter()
                .chain(again)
                .for_each(|work| work.fail(RuntimeError::of_commit(&fault)));
            return Err(fault);
        }
        // Copies come in a further step: their first request has its row by then, which answers them.
        waiting = again;
    }
    Ok(())
}

/// Decides the work of an instant: that of each recipient apart, which tells the time that it takes, and then the rest
/// together. Work that may touch no more than so many people is decided alone, since they are counted before it.
fn decide(
    node: &mut Node,
    sending: &dyn SenderInterface,
    now: Instant,
    work: &mut Vec<StepWork>,
    spent: &mut Vec<(CallerId, Duration)>,
) -> Result<(), Error> {
    let is_of_one = |work: &StepWork| matches!(work.caller, CallerId::Recipient(_));
    let expects = |work: &StepWork| work.expect.is_some();
    work.sort_by_key(|work| !is_of_one(work));
    loop {
        let first = work.first();
        let is_alone = first.is_some_and(|first| is_of_one(first) || expects(first));
        let caller = first.filter(|first| is_of_one(first)).map(|first| first.caller.clone());
        let plain = work.iter().take_while(|work| !expects(work)).count();
        let watch = Timer::start();
        let rest = work.split_off(if is_alone { 1 } else { plain });
        let counted = if is_alone { node.refuse_grown(sending, now, work) } else { Ok(()) };
        let done = counted.and_then(|()| node.step_keeping(sending, now, work, rest.is_empty()));
        work.extend(rest);
        done?;
        spent.extend(caller.map(|caller| (caller, watch.elapsed())));
        if work.is_empty() {
            return Ok(());
        }
    }
}

/// Answers requests that were done before, lets copies wait with their first request, and separates first requests from
/// copies.
fn sort(
    node: &mut Node,
    now: Instant,
    work: Vec<StepWork>,
    first: &mut Vec<StepWork>,
    again: &mut Vec<StepWork>,
) -> Result<(), Error> {
    let mut keys = BTreeSet::new();
    let mut work = work.into_iter();
    while let Some(next) = work.next() {
        let Some(once) = next.once() else {
            let each: Vec<_> = next.onces.iter().flatten().map(|once| once.key).collect();
            if each.iter().any(|key| keys.contains(key)) {
                again.push(next);
                continue;
            }
            keys.extend(each);
            match (Repeats { node, now }).drop_known(next) {
                Ok(next) => first.push(next),
                Err(fault) => {
                    first.extend(work);
                    return Err(fault);
                }
            }
            continue;
        };
        if !keys.insert(once.key) {
            again.push(next);
            continue;
        }
        // Precedes the look at rows: a request that waits for other nodes has none yet.
        let Some(next) = node.replication().wait_with_first(&once.key, next) else {
            continue;
        };
        match (Repeats { node, now }).answer(next) {
            Ok(next) => first.extend(next),
            Err(fault) => {
                first.extend(work);
                return Err(fault);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tidings_core::engine::{Options, Refused, Reply};
    use tidings_core::model::DAY_MS;
    use tidings_core::{Command, Id, Object};
    use tidings_store::{MemoryStore, Store};

    use super::*;
    use crate::commit::idempotency::{IdempotencyHit, Once, expired, stored};
    use crate::commit::work::{AnswerRecorder, CommandRequester};

    fn node(store: &Arc<MemoryStore>) -> Node {
        Node::open(Arc::clone(store) as Arc<dyn Store>, Options::default()).unwrap()
    }

    fn once(key: u8, request: u8) -> Once {
        Once { key: [key; 16], request: [request; 16] }
    }

    /// A test requester: stores a given answer, and sends the result to a channel.
    struct Recorded1(Option<Vec<u8>>, crossbeam_channel::Sender<IdempotencyHit>);

    impl AnswerRecorder for Recorded1 {
        fn keep(&mut self, replies: Vec<Result<Reply, Refused>>) -> Option<Vec<u8>> {
            assert_eq!(replies.len(), 1);
            self.0.take()
        }

        fn send(self: Box<Self>, hit: Result<IdempotencyHit, RuntimeError>) {
            self.1.send(hit.unwrap()).unwrap();
        }
    }

    fn object(id: &str) -> Object {
        Object {
            id: Id::new(id).unwrap(),
            title: Some("Lilies".into()),
            url: None,
            image: None,
            image_size: None,
            data: None,
            notifiable: None,
        }
    }

    /// The results of requests (identity, answer to store), in the order in which they come.
    fn told(node: &mut Node, at: i64, requests: &[(Once, Option<&str>)]) -> Vec<IdempotencyHit> {
        let (tell, told) = crossbeam_channel::unbounded();
        let work = requests.iter().map(|(once, keep)| {
            let keep = keep.map(|text| text.as_bytes().to_vec());
            let object = Object { title: None, ..object("works/1") };
            let asker = CommandRequester::Once(*once, Box::new(Recorded1(keep, tell.clone())));
            StepWork::new(vec![Command::Object(object)], asker)
        });
        step(node, &(), Instant(at), work.collect(), &mut Vec::new()).unwrap();
        told.try_iter().collect()
    }

    #[test]
    fn a_request_is_done_once_across_a_restart() {
        let store = Arc::new(MemoryStore::default());
        let first = told(&mut node(&store), 0, &[(once(1, 1), Some("a"))]);
        assert_eq!(first, [IdempotencyHit::Fresh]);
        let mut node = node(&store);
        let again = told(&mut node, 1, &[(once(1, 1), Some("b"))]);
        assert_eq!(again, [IdempotencyHit::Replayed(b"a".to_vec())]);
        let other = told(&mut node, 2, &[(once(1, 2), Some("c"))]);
        assert_eq!(other, [IdempotencyHit::Mismatch]);
    }

    /// Hands in a command for each key, of an object of its own; returns how many objects there are then.
    fn followed(node: &mut Node, at: i64, keys: &[Option<u8>]) -> usize {
        let (tell, told) = crossbeam_channel::unbounded();
        let commands: Vec<_> = keys
            .iter()
            .enumerate()
            .map(|(index, _)| Command::Object(object(&format!("works/{at}/{index}"))))
            .collect();
        let answer = move |replies: crate::commit::work::Replies| tell.send(replies).unwrap();
        let mut work = StepWork::new(commands, CommandRequester::Each(Box::new(answer)));
        work.onces = keys.iter().map(|key| key.map(|key| once(key, key))).collect();
        step(node, &(), Instant(at), vec![work], &mut Vec::new()).unwrap();
        let replies = told.try_recv().unwrap().unwrap();
        assert_eq!(replies, vec![Ok(Reply::Done); keys.len()]);
        let view = node.view().unwrap();
        usize::try_from(node.engine().reader(&view).kept_objects()).unwrap()
    }

    #[test]
    fn commands_that_are_known_one_by_one_are_each_done_once() {
        let store = Arc::new(MemoryStore::default());
        let mut first = node(&store);
        assert_eq!(followed(&mut first, 1, &[Some(1), None, Some(2)]), 3);
        // Another process, other neighbours: the two that came are known, and the others are done.
        let mut second = node(&store);
        assert_eq!(followed(&mut second, 2, &[Some(2), Some(3), None, Some(1)]), 5);
        assert_eq!(followed(&mut second, DAY_MS + 1, &[Some(1), Some(3)]), 6);
    }

    #[test]
    fn of_two_at_the_same_instant_the_second_gets_what_the_first_got() {
        let store = Arc::new(MemoryStore::default());
        let two = [(once(1, 1), Some("a")), (once(1, 1), Some("b"))];
        let told = told(&mut node(&store), 0, &two);
        assert_eq!(told, [IdempotencyHit::Fresh, IdempotencyHit::Replayed(b"a".to_vec())]);
    }

    #[test]
    fn what_was_not_kept_may_be_tried_again() {
        let store = Arc::new(MemoryStore::default());
        let two = [(once(1, 1), None), (once(1, 1), Some("b"))];
        let told = told(&mut node(&store), 0, &two);
        assert_eq!(told, [IdempotencyHit::Fresh, IdempotencyHit::Fresh]);
    }

    #[test]
    fn a_key_is_free_again_after_a_day_and_its_row_goes() {
        let store = Arc::new(MemoryStore::default());
        let mut node = node(&store);
        told(&mut node, 0, &[(once(1, 1), Some("a"))]);
        let last = told(&mut node, DAY_MS - 1, &[(once(1, 1), Some("b"))]);
        assert_eq!(last, [IdempotencyHit::Replayed(b"a".to_vec())]);
        let free = told(&mut node, DAY_MS, &[(once(1, 2), Some("c"))]);
        assert_eq!(free, [IdempotencyHit::Fresh]);
        for key in 2..10 {
            told(&mut node, 3 * DAY_MS, &[(once(key, 1), Some("d"))]);
        }
        let view = node.view().unwrap();
        assert!(stored(&view, &[1; 16]).unwrap().is_none());
        assert!(expired(&view, Instant(3 * DAY_MS), 9).unwrap().is_empty());
        assert!(stored(&view, &[9; 16]).unwrap().is_some());
    }
}
