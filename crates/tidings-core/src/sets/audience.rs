//! The audience of an event: its sources, split into disjoint classes by reason.
//!
//! Each class holds the recipients that exactly the same sources name, so the reasons are written
//! once for all of them. An event may have a source or two with a million members (everyone), or
//! hundreds with a few thousand (the artists of a show): for the former whole bitmaps are
//! intersected, for the latter each member is followed through its sources.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

/// The number of sources that are always intersected, whatever their size: they make 15 classes at most.
const INTERSECTED_MIN: usize = 4;

/// The size of a stripe: the members of one container of a bitmap, which are followed together.
const STRIPE: u32 = 1 << 16;

/// Disjoint classes of recipients and, ascending, the keys of the sources that hold them.
///
/// A key that occurs several times stands for the union of its bitmaps. Classes are never empty
/// and come in the order of their lists of keys; every member of a source is in exactly one.
///
/// # Examples
/// ```
/// use roaring::RoaringBitmap;
/// use tidings_core::sets::partition;
///
/// const NAMED: u32 = 1;
/// const FOLLOWERS: u32 = 2;
/// let sources = vec![
///     (NAMED, RoaringBitmap::from([10, 11])),
///     (FOLLOWERS, RoaringBitmap::from([11, 12, 13])),
/// ];
/// let classes = partition(sources);
/// assert_eq!(classes[0], (vec![NAMED], RoaringBitmap::from([10])));
/// // Recipient 11 is notified once, for both reasons.
/// assert_eq!(classes[1], (vec![NAMED, FOLLOWERS], RoaringBitmap::from([11])));
/// assert_eq!(classes[2], (vec![FOLLOWERS], RoaringBitmap::from([12, 13])));
/// ```
#[must_use]
pub fn partition(sources: Vec<(u32, RoaringBitmap)>) -> Vec<(Vec<u32>, RoaringBitmap)> {
    let mut by_key: BTreeMap<u32, RoaringBitmap> = BTreeMap::new();
    for (key, members) in sources {
        *by_key.entry(key).or_default() |= members;
    }
    let mut sources: Vec<(u32, RoaringBitmap)> = by_key.into_iter().collect();
    let large = take_large(&mut sources);
    let mut classes = follow(&sources);
    for (key, members) in large {
        classes = intersect(classes, key, members);
    }
    classes.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    classes
}

/// Takes out the sources that are cheaper to intersect: if there are few, or if one has more members than
/// all smaller ones together, so that following those costs less than reading it.
fn take_large(sources: &mut Vec<(u32, RoaringBitmap)>) -> Vec<(u32, RoaringBitmap)> {
    if sources.len() <= INTERSECTED_MIN {
        return std::mem::take(sources);
    }
    let mut sizes: Vec<(u64, u32)> = sources.iter().map(|(key, set)| (set.len(), *key)).collect();
    sizes.sort_unstable();
    let mut smaller = 0;
    let mut large = Vec::new();
    for (index, (len, key)) in sizes.into_iter().enumerate() {
        if index >= INTERSECTED_MIN && len > smaller {
            large.push(key);
        } else {
            smaller += len;
        }
    }
    sources.extract_if(.., |(key, _)| large.contains(key)).collect()
}

/// Splits every class by one more source.
fn intersect(
    classes: Vec<(Vec<u32>, RoaringBitmap)>,
    key: u32,
    mut left: RoaringBitmap,
) -> Vec<(Vec<u32>, RoaringBitmap)> {
    let mut split = Vec::with_capacity(classes.len() * 2 + 1);
    for (keys, mut members) in classes {
        let both = &members & &left;
        if !both.is_empty() {
            members -= &both;
            left -= &both;
            let mut with = keys.clone();
            with.insert(with.partition_point(|&one| one < key), key);
            split.push((with, both));
        }
        if !members.is_empty() {
            split.push((keys, members));
        }
    }
    if !left.is_empty() {
        split.push((vec![key], left));
    }
    split
}

/// A list of keys as the list before its last key, and that key; entry 0 is the empty list.
struct KeyLists {
    /// Per list: the shorter list, the last key.
    longer: Vec<(u32, u32)>,
    /// From a list and a key to the list that ends with it.
    with: FxHashMap<(u32, u32), u32>,
}

impl KeyLists {
    fn with(&mut self, list: u32, key: u32) -> u32 {
        *self.with.entry((list, key)).or_insert_with(|| {
            self.longer.push((list, key));
            (self.longer.len() - 1) as u32
        })
    }

    fn keys(&self, mut list: u32) -> Vec<u32> {
        let mut keys = Vec::new();
        while list != 0 {
            let (shorter, key) = self.longer[list as usize];
            keys.push(key);
            list = shorter;
        }
        keys.reverse();
        keys
    }
}

/// Follows each member through its sources, whose keys ascend: the cost is the sum of the sizes,
/// however many classes there are.
fn follow(sources: &[(u32, RoaringBitmap)]) -> Vec<(Vec<u32>, RoaringBitmap)> {
    let mut lists = KeyLists { longer: vec![(0, 0)], with: FxHashMap::default() };
    let mut members_of: Vec<RoaringBitmap> = Vec::new();
    // Per member of the stripe the list of those keys that have been seen.
    let mut list_of = vec![0_u32; STRIPE as usize];
    let mut next = first_member(sources, 0);
    while let Some(first) = next {
        let start = first / STRIPE * STRIPE;
        let last = start + (STRIPE - 1);
        for (key, source) in sources {
            let mut latest = (u32::MAX, 0);
            for member in source.range(start..=last) {
                let list = &mut list_of[(member - start) as usize];
                if latest.0 != *list {
                    latest = (*list, lists.with(*list, *key));
                }
                *list = latest.1;
            }
        }
        members_of.resize_with(lists.longer.len(), RoaringBitmap::new);
        for (member, list) in (start..=last).zip(&mut list_of) {
            if *list != 0 {
                let class = &mut members_of[std::mem::take(list) as usize];
                class.try_push(member).expect("members ascend");
            }
        }
        next = last.checked_add(1).and_then(|from| first_member(sources, from));
    }
    (0_u32..)
        .zip(members_of)
        .filter(|(_, members)| !members.is_empty())
        .map(|(list, members)| (lists.keys(list), members))
        .collect()
}

/// The least member of all sources that is not below `from`.
fn first_member(sources: &[(u32, RoaringBitmap)], from: u32) -> Option<u32> {
    sources.iter().filter_map(|(_, source)| source.range(from..).next()).min()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Member by member, as slow as it is plain.
    fn naive(sources: &[(u32, RoaringBitmap)]) -> Vec<(Vec<u32>, RoaringBitmap)> {
        let mut classes: BTreeMap<Vec<u32>, RoaringBitmap> = BTreeMap::new();
        let all: RoaringBitmap = sources.iter().flat_map(|(_, members)| members).collect();
        for member in all {
            let holds = |(_, members): &&(u32, RoaringBitmap)| members.contains(member);
            let mut keys: Vec<u32> = sources.iter().filter(holds).map(|(key, _)| *key).collect();
            keys.sort_unstable();
            keys.dedup();
            classes.entry(keys).or_default().insert(member);
        }
        classes.into_iter().collect()
    }

    fn source() -> impl Strategy<Value = (u32, RoaringBitmap)> {
        let few =
            prop::collection::vec(prop_oneof![0_u32..60, 65_500..65_600_u32, any::<u32>()], 0..30)
                .prop_map(|members| members.into_iter().collect::<RoaringBitmap>());
        let many = (0_u32..300, 0_u32..70_000).prop_map(|(from, len)| {
            let mut members = RoaringBitmap::new();
            members.insert_range(from..from + len);
            members
        });
        (0_u32..20, prop_oneof![9 => few, 1 => many])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn classes_are_those_of_the_plain_way(sources in prop::collection::vec(source(), 0..24)) {
            let plain = naive(&sources);
            prop_assert_eq!(partition(sources), plain);
        }

        #[test]
        fn both_ways_lead_to_the_same(sources in prop::collection::btree_map(0_u32..20, source(), 0..12)) {
            let sources: Vec<(u32, RoaringBitmap)> =
                sources.into_iter().map(|(key, (_, members))| (key, members)).collect();
            let mut followed = follow(&sources);
            followed.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
            let split = sources.into_iter().fold(vec![], |classes, (key, members)| intersect(classes, key, members));
            let mut split: Vec<_> = split;
            split.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
            prop_assert_eq!(followed, split);
        }
    }

    #[test]
    fn many_sources_and_everyone_do_not_blow_up() {
        let mut everyone = RoaringBitmap::new();
        everyone.insert_range(0..20_000);
        let mut sources: Vec<(u32, RoaringBitmap)> = (1..=320)
            .map(|artist| {
                (artist, (0..20_000).filter(|n| (n * 7 + artist * 13) % 320 < 9).collect())
            })
            .collect();
        sources.push((0, everyone));
        let classes = partition(sources);
        assert_eq!(classes.iter().map(|(_, members)| members.len()).sum::<u64>(), 20_000);
        assert!(classes.iter().all(|(keys, _)| keys[0] == 0 && keys.len() == 10));
        assert_eq!(classes.len(), 320);
    }

    #[test]
    fn a_key_that_comes_twice_is_a_union() {
        let set = |members: &[u32]| members.iter().copied().collect::<RoaringBitmap>();
        let classes =
            partition(vec![(5, set(&[1])), (2, set(&[2, 3])), (5, set(&[2])), (9, set(&[]))]);
        assert_eq!(classes, [(vec![2], set(&[3])), (vec![2, 5], set(&[2])), (vec![5], set(&[1]))]);
        assert!(partition(vec![]).is_empty());
    }
}
