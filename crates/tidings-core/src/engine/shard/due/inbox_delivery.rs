//! Deliveries to inboxes, and the journal records of them.

use crate::engine::replies::unanswered::UnansweredCondition;
use crate::journal::record::Record;
use crate::journal::record_size::{pieces, set_bytes};
use crate::model::id::BucketNo;
use crate::model::number::Seq;
use crate::model::reason::Reason;
use crate::model::time::Instant;
use crate::sets::set::Set;

/// A delivery of arrivals to the inboxes of a bucket.
#[derive(Clone, Debug, PartialEq)]
pub struct InboxDelivery {
    /// The bucket.
    pub bucket: BucketNo,
    /// The instant.
    pub at: Instant,
    /// The first seq.
    pub from: Seq,
    /// The last seq.
    pub to: Seq,
    /// Entries that ended instead.
    pub except: Vec<(Seq, Reason, Set)>,
    /// Conditions without an answer.
    pub unanswered: Vec<UnansweredCondition>,
}

impl InboxDelivery {
    /// The journal records of the delivery: each starts at the arrival where the previous one ends.
    pub(crate) fn records(&self) -> Vec<Record> {
        let by_arrival = self.except.chunk_by(|one, next| one.0 == next.0);
        let bytes = |of: &&[(Seq, Reason, Set)]| {
            of.iter().map(|(.., recipients)| set_bytes(recipients)).sum()
        };
        let mut pieces = pieces(by_arrival.collect::<Vec<_>>(), bytes);
        if pieces.is_empty() {
            pieces.push(Vec::new());
        }
        let (mut from, last) = (self.from, pieces.len() - 1);
        let records = pieces.into_iter().enumerate().map(|(at, piece)| {
            let except = piece.concat();
            let to = match except.last() {
                Some((seq, ..)) if at < last => *seq,
                _ => self.to,
            };
            let from = std::mem::replace(&mut from, to.next());
            Record::InboxDelivered { at: self.at, from, to, except }
        });
        records.collect()
    }
}
