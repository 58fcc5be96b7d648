//! An ordered set of pairs of numbers, in a few bytes a pair. Clones share what neither has changed.
//!
//! Pages store pairs as gaps. The key of a page is the last pair that it may contain, so a page that lost its last pair
//! keeps its key; the last page may contain any pair.

use std::sync::Arc;

use crate::codec::{ByteReader, Corrupt, put_u32, put_u64};
use crate::sets::shared::Tree;

/// Maximum number of pairs of a page: small, because each change packs the page again.
const PAGE_MAX: usize = 256;

/// A page with fewer joins the next one if both fit into one.
const PAGE_FEW: usize = PAGE_MAX / 4;

/// Bytes of memory of a page beside its pairs: its place in the tree, its length and counts.
const PAGE_BYTES: usize = 64;

/// A pair as one number, which keeps the order.
pub(crate) fn pair(first: u32, second: u32) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}

/// The first and the second number of a pair.
pub(crate) fn parts(pair: u64) -> (u32, u32) {
    ((pair >> 32) as u32, pair as u32)
}

/// The pairs of a page.
pub(crate) type PairPage = Arc<[u8]>;

/// An ordered set of pairs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs {
    /// Pages by the last pair that each may have.
    pages: Tree<u64, PairPage>,
}

impl Pairs {
    pub(crate) fn has(&self, first: u32, second: u32) -> bool {
        let sought = pair(first, second);
        let page = self.pages.from(&sought).next();
        page.is_some_and(|(_, page)| {
            each(page).take_while(|at| *at <= sought).last() == Some(sought)
        })
    }

    /// The second numbers of the pairs with a first one, ascending.
    pub(crate) fn of(&self, first: u32) -> impl Iterator<Item = u32> {
        let (from, to) = (pair(first, 0), pair(first, u32::MAX));
        self.pages
            .from(&from)
            .flat_map(|(_, page)| each(page))
            .skip_while(move |at| *at < from)
            .take_while(move |at| *at <= to)
            .map(|at| parts(at).1)
    }

    /// All pairs, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> {
        self.pages.values().flat_map(each)
    }

    /// A page, by the last pair that it may have.
    pub(crate) fn page(&self, last: u64) -> Option<&PairPage> {
        self.pages.get(&last)
    }

    /// Adds or removes ascending pairs. `touched` is called for each page that is changed, added or removed.
    pub(crate) fn change(&mut self, pairs: &[u64], on: bool, touched: &mut impl FnMut(u64)) {
        let mut rest = pairs;
        while let Some(first) = rest.first() {
            let last = self.pages.from(first).next().map_or(u64::MAX, |(last, _)| *last);
            let (changed, others) = rest.split_at(rest.partition_point(|at| *at <= last));
            rest = others;
            let known: Vec<u64> = self.pages.get(&last).into_iter().flat_map(each).collect();
            let new = if on { union(&known, changed) } else { difference(&known, changed) };
            if new.len() != known.len() {
                self.put(last, &new, touched);
            }
        }
    }

    /// Adds a page that was stored, above all others.
    ///
    /// # Errors
    /// [`Corrupt`] where its pairs do not ascend, or are not where they belong.
    pub(crate) fn restore(&mut self, last: u64, page: &[u8]) -> Result<(), Corrupt> {
        let mut walk = PairWalk::new(page);
        let mut below = self.pages.last().map(|(last, _)| *last);
        while let Some(at) = walk.step()? {
            if at > last || below.is_some_and(|below| at <= below) {
                return Err(walk.reader.corrupt());
            }
            below = Some(at);
        }
        if page.is_empty() {
            return Err(walk.reader.corrupt());
        }
        self.pages.insert(last, page.into());
        Ok(())
    }

    /// Bytes of memory, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.pages.values().map(|page| page.len() + PAGE_BYTES).sum()
    }

    /// Stores the pairs of a page, as several if they are too many.
    fn put(&mut self, last: u64, pairs: &[u64], touched: &mut impl FnMut(u64)) {
        touched(last);
        if pairs.is_empty() {
            self.pages.remove(&last);
            return;
        }
        if pairs.len() < PAGE_FEW
            && let Some(next) = last.checked_add(1)
            && let Some((next, page)) = self.pages.from(&next).next()
        {
            let next = *next;
            let joined: Vec<u64> = pairs.iter().copied().chain(each(page)).collect();
            if joined.len() <= PAGE_MAX / 2 {
                self.pages.remove(&last);
                touched(next);
                self.pages.insert(next, pack(&joined));
                return;
            }
        }
        let pages = pairs.len().div_ceil(PAGE_MAX);
        let mut pieces = pairs.chunks(pairs.len().div_ceil(pages)).peekable();
        while let Some(piece) = pieces.next() {
            let lasts = piece.last().filter(|_| pieces.peek().is_some());
            let at = lasts.copied().unwrap_or(last);
            touched(at);
            self.pages.insert(at, pack(piece));
        }
    }
}

/// Packs pairs that ascend: the gap of the second number, or, where the first is another one, its gap and the second.
fn pack(pairs: &[u64]) -> PairPage {
    let mut out = Vec::with_capacity(pairs.len() * 3);
    let (mut first, mut second) = (0, 0);
    for at in pairs {
        let (other, number) = parts(*at);
        if other == first {
            put_u64(&mut out, u64::from(number - second) << 1);
        } else {
            put_u64(&mut out, u64::from(number) << 1 | 1);
            put_u32(&mut out, other - first);
        }
        (first, second) = (other, number);
    }
    out.into()
}

/// A way through a page.
struct PairWalk<'p> {
    reader: ByteReader<'p>,
    offset: u64,
}

impl<'p> PairWalk<'p> {
    fn new(page: &'p [u8]) -> Self {
        Self { reader: ByteReader::new(page, "page of pairs"), offset: 0 }
    }

    /// The next pair; `None` = there are no more.
    fn step(&mut self) -> Result<Option<u64>, Corrupt> {
        if self.reader.is_empty() {
            return Ok(None);
        }
        let (first, second) = parts(self.offset);
        let coded = self.reader.u64()?;
        let number = u32::try_from(coded >> 1).map_err(|_| self.reader.corrupt())?;
        let next = if coded & 1 == 0 {
            second.checked_add(number).map(|second| pair(first, second))
        } else {
            first.checked_add(self.reader.u32()?).map(|first| pair(first, number))
        };
        self.offset = next.ok_or_else(|| self.reader.corrupt())?;
        Ok(Some(self.offset))
    }
}

/// The pairs of a page, which was packed here or checked.
fn each(page: &PairPage) -> impl Iterator<Item = u64> {
    let mut walk = PairWalk::new(page);
    std::iter::from_fn(move || walk.step().ok().flatten())
}

fn union(known: &[u64], more: &[u64]) -> Vec<u64> {
    let mut all = Vec::with_capacity(known.len() + more.len());
    let mut more = more.iter().copied().peekable();
    for at in known {
        while let Some(one) = more.next_if(|one| one <= at) {
            if one < *at {
                all.push(one);
            }
        }
        all.push(*at);
    }
    all.extend(more);
    all.dedup();
    all
}

fn difference(known: &[u64], without: &[u64]) -> Vec<u64> {
    let gone = |at: &&u64| without.binary_search(at).is_err();
    known.iter().filter(gone).copied().collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::sets::shared::copied;

    /// Pairs close together and far apart, so that pages fill, split and join.
    fn some() -> impl Strategy<Value = u64> {
        prop_oneof![
            6 => (1_u32..12, 0_u32..400).prop_map(|(first, second)| pair(first, second)),
            1 => any::<u64>(),
            1 => Just(u64::MAX),
        ]
    }

    fn step() -> impl Strategy<Value = (Vec<u64>, bool)> {
        let sizes = prop_oneof![3 => 1_usize..8, 1 => 300_usize..900];
        let pairs = sizes.prop_flat_map(|size| prop::collection::btree_set(some(), 1..=size));
        (pairs.prop_map(|pairs| pairs.into_iter().collect()), prop::bool::weighted(0.55))
    }

    fn restored(pairs: &Pairs) -> Pairs {
        let mut again = Pairs::default();
        for (last, page) in &pairs.pages {
            again.restore(*last, page).unwrap();
        }
        again
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn t42_pairs_are_those_of_a_plain_set(steps in prop::collection::vec(step(), 1..24)) {
            let (mut pairs, mut plain) = (Pairs::default(), BTreeSet::new());
            let mut rows: std::collections::BTreeMap<u64, PairPage> = Default::default();
            for (changed, on) in steps {
                let before = (pairs.clone(), plain.clone());
                let mut touched = BTreeSet::new();
                pairs.change(&changed, on, &mut |last| { touched.insert(last); });
                for at in &changed {
                    if on { plain.insert(*at); } else { plain.remove(at); }
                }
                prop_assert!(pairs.iter().eq(plain.iter().copied()));
                // A clone from before is as it was.
                prop_assert!(before.0.iter().eq(before.1.iter().copied()));
                for last in touched {
                    match pairs.page(last) {
                        Some(page) => rows.insert(last, Arc::clone(page)),
                        None => rows.remove(&last),
                    };
                }
                prop_assert!(rows.iter().eq(&pairs.pages), "all that changed was told");
                for at in changed {
                    let (first, second) = parts(at);
                    prop_assert_eq!(pairs.has(first, second), on);
                    let of: Vec<u32> = pairs.of(first).collect();
                    let range = plain.range(pair(first, 0)..=pair(first, u32::MAX));
                    prop_assert_eq!(of, range.map(|at| parts(*at).1).collect::<Vec<_>>());
                }
            }
            prop_assert!(restored(&pairs).iter().eq(plain));
        }
    }

    #[test]
    fn t42_pages_that_make_no_sense_are_refused() {
        let mut pairs = Pairs::default();
        let page = pack(&[pair(1, 5), pair(2, 3)]);
        assert!(pairs.restore(pair(2, 2), &page).is_err(), "a pair above the last");
        pairs.restore(pair(2, 9), &page).unwrap();
        assert!(pairs.restore(u64::MAX, &page).is_err(), "pairs below those before");
        assert!(pairs.restore(u64::MAX, &[]).is_err(), "no pairs");
        assert!(pairs.restore(u64::MAX, &[0x80]).is_err(), "half a number");
        let twice = [0x07, 3, 0];
        assert!(pairs.restore(u64::MAX, &twice).is_err(), "the same pair twice");
        let over = [[0xff; 4].as_slice(), &[0x1f, 3]].concat();
        pairs.restore(u64::MAX, &over).unwrap();
        assert_eq!(pairs.iter().last(), Some(pair(3, u32::MAX)));
        let mut again = Pairs::default();
        let over = [over.as_slice(), &[2]].concat();
        assert!(again.restore(u64::MAX, &over).is_err(), "beyond the numbers");
    }

    #[test]
    fn t42_a_change_after_a_clone_copies_a_page() {
        let mut pairs = Pairs::default();
        let all: Vec<u64> = (0..100_000).map(|at| pair(at / 6 + 1, at % 6 * 10_000)).collect();
        pairs.change(&all, true, &mut |_| {});
        let clone = pairs.clone();
        copied::take();
        pairs.change(&[pair(9_000, 1)], true, &mut |_| {});
        assert!(copied::take() < 8_000);
        assert!(!clone.has(9_000, 1) && pairs.has(9_000, 1));
        assert_eq!(pairs.of(9_000).count(), 7);
    }
}
