use std::cell::Cell;
use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::sets::shared::tree::*;

thread_local! {
    static COPIES: Cell<usize> = const { Cell::new(0) };
}

/// A value that counts its copies.
#[derive(Debug)]
struct Counting(u64);

impl Clone for Counting {
    fn clone(&self) -> Self {
        COPIES.set(COPIES.get() + 1);
        Self(self.0)
    }
}

proptest! {
    #[test]
    fn a_tree_is_an_ordered_map_and_its_clones_stay_as_they_were(
        steps in prop::collection::vec((0_u16..900, prop::option::of(0_u8..9)), 0..2_500),
        pause in 0_usize..2_500,
        from in 0_u16..900,
    ) {
        let mut tree = Tree::new();
        let mut model = BTreeMap::new();
        let mut earlier = None;
        for (number, (key, value)) in steps.into_iter().enumerate() {
            if number == pause {
                earlier = Some((tree.clone(), model.clone()));
            }
            match value {
                Some(0) => prop_assert_eq!(tree.get_mut(&key).map(|value| *value += 1),
                    model.get_mut(&key).map(|value| *value += 1)),
                Some(value) => prop_assert_eq!(tree.insert(key, value), model.insert(key, value)),
                None => {
                    // A stretch, so that nodes become empty and join.
                    for key in key..key + 40 {
                        prop_assert_eq!(tree.remove(&key), model.remove(&key));
                    }
                }
            }
            prop_assert_eq!(tree.len(), model.len());
        }
        for (tree, model) in earlier.into_iter().chain([(tree, model)]) {
            prop_assert!(tree.iter().eq(&model));
            prop_assert!(tree.from(&from).eq(model.range(from..)));
            prop_assert_eq!(tree.first(), model.first_key_value());
            prop_assert_eq!(tree.last(), model.last_key_value());
            for key in 0_u16..940 {
                prop_assert_eq!(tree.get(&key), model.get(&key));
            }
            let mut half = tree.clone();
            half.retain(|key, _| key % 2 == 0);
            prop_assert!(half.iter().eq(model.iter().filter(|(key, _)| **key % 2 == 0)));
            let mut even = model.range(..from).filter(|(key, _)| **key % 2 == 0);
            prop_assert_eq!(half.before(&from), even.next_back());
            half = tree;
            half.remove_before(&from);
            prop_assert!(half.iter().eq(model.range(from..)));
        }
    }
}

#[test]
fn a_write_after_a_clone_copies_the_entries_beside_it() {
    let mut tree: Tree<u64, Counting> = (0..100_000).map(|n| (n, Counting(n))).collect();
    let before = tree.clone();
    COPIES.set(0);
    for n in 50_000..50_100 {
        tree.get_mut(&n).expect("it is there").0 += 1;
    }
    let copies = COPIES.get();
    assert!((100..=3 * ENTRIES_MAX).contains(&copies), "{copies} copies");
    tree.insert(100_000, Counting(0));
    assert!(COPIES.get() <= copies + ENTRIES_MAX);
    COPIES.set(0);
    tree.retain(|_, _| true);
    assert!(tree.get_mut(&200_000).is_none() && tree.remove(&200_000).is_none());
    assert_eq!(COPIES.get(), 0);
    assert_eq!(before.get(&50_000).map(|value| value.0), Some(50_000));
}
