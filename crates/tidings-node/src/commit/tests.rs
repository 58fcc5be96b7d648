use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

fn write(key: &[u8], value: Option<&[u8]>) -> Write {
    Write { partition: Partition::Base, key: key.to_vec(), value: value.map(<[u8]>::to_vec) }
}

fn scanned(
    writes: &Writes,
    before: &Rows,
    from: &[u8],
    until: Option<&[u8]>,
    most: usize,
) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut found = Vec::new();
    let visit = &mut |key: &[u8], value: &[u8]| {
        found.push((key.to_vec(), value.to_vec()));
        if found.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let scan = |visit: &mut Visit<'_>| {
        let rows = before.iter().filter(|(key, _)| {
            key.as_slice() >= from && until.is_none_or(|until| key.as_slice() < until)
        });
        for (key, value) in rows {
            if visit(key, value).is_break() {
                break;
            }
        }
        Ok::<(), ()>(())
    };
    writes.merge(Partition::Base, from, until, visit, scan).unwrap();
    found
}

proptest! {
    #[test]
    fn reads_are_those_of_a_store_that_has_the_commit(
        before in prop::collection::btree_map(
            prop::collection::vec(0..4_u8, 0..3), prop::collection::vec(0..9_u8, 0..2), 0..12),
        changes in prop::collection::vec(
            (prop::collection::vec(0..4_u8, 0..3),
             prop::option::of(prop::collection::vec(0..9_u8, 0..2))), 0..12),
        from in prop::collection::vec(0..4_u8, 0..3),
        until in prop::option::of(prop::collection::vec(0..4_u8, 0..3)),
        most in 1..8_usize,
    ) {
        let mut after = before.clone();
        for (key, value) in &changes {
            match value {
                Some(value) => { after.insert(key.clone(), value.clone()); }
                None => { after.remove(key); }
            }
        }
        let all = changes.iter().map(|(key, value)| write(key, value.as_deref()));
        // Another partition's rows stay out of it.
        let elsewhere = Write {
            partition: Partition::Day(tidings_core::Day(1)),
            ..write(&[1], Some(&[1]))
        };
        let writes = Writes::new(all.chain([elsewhere]).collect());
        for key in before.keys().chain(after.keys()).chain([&from]) {
            let read = writes.get(Partition::Base, key).unwrap_or_else(|| before.get(key).map(Vec::as_slice));
            prop_assert_eq!(read, after.get(key).map(Vec::as_slice));
        }
        let until = until.as_deref();
        let expected: Vec<_> = after.iter().filter(|(key, _)| {
            **key >= from && until.is_none_or(|until| key.as_slice() < until)
        }).take(most)
            .map(|(key, value)| (key.clone(), value.clone())).collect();
        prop_assert_eq!(scanned(&writes, &before, &from, until, most), expected);
    }
}
