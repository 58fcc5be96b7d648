//! The buckets of an engine: all of them on a single node, some of them in a cluster.

use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

use crate::bucket::Bucket;
use crate::model::id::BucketNo;

/// A set of buckets, by number.
#[derive(Clone, Debug)]
pub(crate) struct Buckets {
    /// Number of buckets over which recipients are distributed, held here or not.
    total: u16,
    numbers: Arc<[BucketNo]>,
    held: BTreeMap<BucketNo, Arc<Bucket>>,
    /// Clones for readers, of those that were not written to since.
    shown: BTreeMap<BucketNo, Arc<Bucket>>,
}

impl Buckets {
    pub(crate) fn new(total: u16, held: Vec<Bucket>) -> Self {
        let held: BTreeMap<_, _> =
            held.into_iter().map(|bucket| (bucket.no, Arc::new(bucket))).collect();
        Self { total, numbers: held.keys().copied().collect(), held, shown: BTreeMap::new() }
    }

    /// The buckets as they are now, for readers.
    pub(crate) fn snapshot(&mut self) -> Self {
        for (no, bucket) in &self.held {
            let shown = self.shown.entry(*no);
            shown.or_insert_with(|| Arc::new(Bucket::clone(bucket)));
        }
        Self {
            total: self.total,
            numbers: self.numbers(),
            held: self.shown.clone(),
            shown: BTreeMap::new(),
        }
    }

    /// The numbers of those held, ascending.
    pub(crate) fn numbers(&self) -> Arc<[BucketNo]> {
        Arc::clone(&self.numbers)
    }

    /// The number of a recipient's bucket, if it is held here.
    pub(crate) fn of(&self, recipient: &str) -> Option<BucketNo> {
        let no = BucketNo::of(recipient, self.total);
        self.held.contains_key(&no).then_some(no)
    }

    pub(crate) fn get(&self, no: BucketNo) -> Option<&Bucket> {
        self.held.get(&no).map(|bucket| &**bucket)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Bucket> {
        self.held.values().map(|bucket| &**bucket)
    }
}

impl Index<BucketNo> for Buckets {
    type Output = Bucket;

    fn index(&self, no: BucketNo) -> &Bucket {
        &self.held[&no]
    }
}

impl IndexMut<BucketNo> for Buckets {
    fn index_mut(&mut self, no: BucketNo) -> &mut Bucket {
        self.shown.remove(&no);
        let bucket = self.held.get_mut(&no);
        Arc::make_mut(bucket.expect("the number is of a bucket that is held here"))
    }
}
