//! Revoked tokens: up to which second a recipient's tokens are refused, as long as one of them may live.
//!
//! They are rows of the recipient's bucket, so that the node that answers the recipient's calls has them, and no other
//! node needs them. They have only a hash of the recipient: erasing, which revokes too, leaves no id behind.

use std::collections::{BTreeSet, HashMap};

use ring::digest::{SHA256, digest};
use tidings_core::codec::{ByteReader, FORM, put_i64};
use tidings_core::journal::{
    Key, Owner, Partition, REST, ReadView, Table, Unreadable, Write, body, each,
};
use tidings_core::model::{BucketNo, DAY_MS, MINUTE_MS};
use tidings_core::{Id, Instant};

/// The longest life of a token that a configuration can allow, in milliseconds.
pub const TOKEN_MS_MAX: i64 = DAY_MS;

/// Time for which a revocation is kept after its instant: a token that was issued by then is over, however far apart the
/// clocks are that may be.
const KEPT_MS: i64 = TOKEN_MS_MAX + 2 * MINUTE_MS;

/// Number of expired rows deleted with each new one: more than one, so that they get fewer.
const SWEPT_PER_ROW: usize = 4;

const HASH_BYTES: usize = 16;

/// The hash of a recipient's id.
type SubjectHash = [u8; HASH_BYTES];

/// The revocations in force.
#[derive(Debug, Default)]
pub(super) struct Revoked {
    of: HashMap<SubjectHash, (BucketNo, Instant)>,
    by_age: BTreeSet<(Instant, SubjectHash)>,
}

impl Revoked {
    /// The instant up to whose second a recipient's tokens are refused.
    pub(super) fn of(&self, recipient: &Id) -> Option<Instant> {
        self.of.get(&subject(recipient)).map(|(_, before)| *before)
    }

    /// Refuses a recipient's tokens, and returns the writes for it; none if those were refused already.
    pub(super) fn revoke(
        &mut self,
        recipient: &Id,
        buckets: u16,
        before: Instant,
        now: Instant,
    ) -> Vec<Write> {
        let subject = subject(recipient);
        if self.of.get(&subject).is_some_and(|(_, known)| *known >= before) {
            return Vec::new();
        }
        let mut writes = Vec::new();
        for _ in 0..SWEPT_PER_ROW {
            let Some((at, old)) = self.by_age.first().copied().filter(|(at, _)| is_over(*at, now))
            else {
                break;
            };
            self.by_age.remove(&(at, old));
            if let Some((bucket, _)) = self.of.remove(&old) {
                writes.push(write(bucket, old, None));
            }
        }
        let bucket = BucketNo::of(recipient.as_str(), buckets);
        self.put(bucket, subject, before);
        writes.push(write(bucket, subject, Some(before)));
        writes
    }

    fn put(&mut self, bucket: BucketNo, subject: SubjectHash, before: Instant) {
        if let Some((_, older)) = self.of.insert(subject, (bucket, before)) {
            self.by_age.remove(&(older, subject));
        }
        self.by_age.insert((before, subject));
    }

    /// The revocations of a store.
    pub(super) fn stored(view: &dyn ReadView, buckets: u16) -> Result<Self, Unreadable> {
        let torn = || Unreadable("a revocation of tokens is torn".to_owned());
        let mut revoked = Self::default();
        for bucket in (0..buckets).map(BucketNo) {
            each(view, Partition::Base, &table(bucket).done(), |key, row| {
                let subject = key.get(REST..).and_then(|hash| hash.try_into().ok());
                let mut reader = ByteReader::new(body("a revocation", row)?, "a revocation");
                let before = Instant(reader.i64()?);
                reader.end()?;
                revoked.put(bucket, subject.ok_or_else(torn)?, before);
                Ok(())
            })?;
        }
        Ok(revoked)
    }
}

fn is_over(before: Instant, now: Instant) -> bool {
    before.0.saturating_add(KEPT_MS) < now.0
}

fn table(bucket: BucketNo) -> Key {
    Key::of(Owner::Bucket(bucket), Table::RevokedTokens)
}

fn write(bucket: BucketNo, subject: SubjectHash, before: Option<Instant>) -> Write {
    let value = before.map(|before| {
        let mut row = vec![FORM];
        put_i64(&mut row, before.0);
        row
    });
    Write { partition: Partition::Base, key: table(bucket).bytes(&subject).done(), value }
}

fn subject(recipient: &Id) -> SubjectHash {
    let mut subject = [0; HASH_BYTES];
    subject.copy_from_slice(&digest(&SHA256, recipient.as_str().as_bytes()).as_ref()[..HASH_BYTES]);
    subject
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Id {
        Id::new(text).unwrap()
    }

    #[test]
    fn an_older_revocation_takes_nothing_back() {
        let mut revoked = Revoked::default();
        assert_eq!(revoked.revoke(&id("ana"), 4, Instant(9), Instant(9)).len(), 1);
        assert!(revoked.revoke(&id("ana"), 4, Instant(8), Instant(10)).is_empty());
        assert_eq!(revoked.of(&id("ana")), Some(Instant(9)));
        assert_eq!(revoked.of(&id("ben")), None);
    }

    #[test]
    fn what_no_token_outlives_is_deleted_with_later_ones() {
        let mut revoked = Revoked::default();
        for n in 0..10 {
            revoked.revoke(&id(&format!("r{n}")), 4, Instant(n), Instant(n));
        }
        let last = Instant(9 + KEPT_MS);
        let count = |writes: &[Write]| writes.iter().filter(|write| write.value.is_none()).count();
        assert_eq!(count(&revoked.revoke(&id("x"), 4, last, last)), SWEPT_PER_ROW);
        assert_eq!(count(&revoked.revoke(&id("y"), 4, last, last)), SWEPT_PER_ROW);
        // The tokens of the last one may live yet.
        assert_eq!(count(&revoked.revoke(&id("z"), 4, last, last)), 1);
        assert!(revoked.of(&id("r9")).is_some() && revoked.of(&id("r8")).is_none());
    }
}
