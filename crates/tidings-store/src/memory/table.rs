//! An ordered table that is cheap to share: simulation takes a snapshot at every step, and a plain
//! map would be copied whole by the write that follows.
//!
//! The rows stand in leaves of bounded size; a snapshot shares them all, and a write copies the one
//! leaf that it changes (and the list of leaves, once a snapshot).

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::Visit;

/// Rows in a leaf before it is split: small enough to copy without notice, large enough that the
/// list of leaves stays short.
const LEAF_ROWS_MAX: usize = 128;

type Row = (Arc<[u8]>, Arc<[u8]>);
type Leaf = Vec<Row>;

/// Ordered rows; clones share everything until one of them is written to.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    // No leaf is empty.
    leaves: Arc<Vec<Arc<Leaf>>>,
}

impl Table {
    pub(super) fn get(&self, key: &[u8]) -> Option<&[u8]> {
        let leaf = self.leaves.get(self.leaf_of(key))?;
        let row = leaf.binary_search_by(|row| row.0.as_ref().cmp(key)).ok()?;
        Some(&leaf[row].1)
    }

    pub(super) fn insert(&mut self, key: &[u8], value: Vec<u8>) {
        let at = self.leaf_of(key);
        let leaves = Arc::make_mut(&mut self.leaves);
        let Some(leaf) = leaves.get_mut(at) else {
            leaves.push(Arc::new(vec![(key.into(), value.into())]));
            return;
        };
        let leaf = Arc::make_mut(leaf);
        match leaf.binary_search_by(|row| row.0.as_ref().cmp(key)) {
            Ok(row) => leaf[row].1 = value.into(),
            Err(row) => leaf.insert(row, (key.into(), value.into())),
        }
        if leaf.len() > LEAF_ROWS_MAX {
            // Keys that only grow, as a journal's do, leave full leaves behind, not half full ones.
            let is_last = at + 1 == leaves.len();
            let leaf = Arc::make_mut(&mut leaves[at]);
            let half = if is_last { LEAF_ROWS_MAX } else { LEAF_ROWS_MAX / 2 };
            let upper = leaf.split_off(half);
            leaves.insert(at + 1, Arc::new(upper));
        }
    }

    pub(super) fn remove(&mut self, key: &[u8]) {
        let at = self.leaf_of(key);
        let found = self
            .leaves
            .get(at)
            .and_then(|leaf| leaf.binary_search_by(|row| row.0.as_ref().cmp(key)).ok());
        let Some(row) = found else { return };
        let leaves = Arc::make_mut(&mut self.leaves);
        let leaf = Arc::make_mut(&mut leaves[at]);
        leaf.remove(row);
        if leaf.is_empty() {
            leaves.remove(at);
        }
    }

    pub(super) fn scan(&self, from: &[u8], until: Option<&[u8]>, visit: &mut Visit<'_>) {
        let first = self.leaf_of(from);
        for leaf in self.leaves.iter().skip(first) {
            let start = leaf.partition_point(|row| row.0.as_ref() < from);
            for (key, value) in &leaf[start..] {
                if until.is_some_and(|until| key.as_ref() >= until) {
                    return;
                }
                if visit(key, value) == ControlFlow::Break(()) {
                    return;
                }
            }
        }
    }

    /// The leaf that holds the key, or would: the last one that does not begin above it.
    fn leaf_of(&self, key: &[u8]) -> usize {
        self.leaves.partition_point(|leaf| leaf[0].0.as_ref() <= key).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn rows(table: &Table) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut rows = Vec::new();
        table.scan(&[], None, &mut |key, value| {
            rows.push((key.to_vec(), value.to_vec()));
            ControlFlow::Continue(())
        });
        rows
    }

    proptest! {
        #[test]
        fn a_table_is_an_ordered_map(
            steps in prop::collection::vec((0_u16..700, prop::option::of(0_u8..9)), 0..1_500),
            pause in 0_usize..1_500,
        ) {
            let mut table = Table::default();
            let mut model = BTreeMap::new();
            let mut earlier = None;
            for (number, (key, value)) in steps.into_iter().enumerate() {
                if number == pause {
                    earlier = Some((table.clone(), model.clone()));
                }
                let key = key.to_be_bytes().to_vec();
                match value {
                    Some(value) => {
                        table.insert(&key, vec![value]);
                        model.insert(key, vec![value]);
                    }
                    None => {
                        table.remove(&key);
                        model.remove(&key);
                    }
                }
            }
            if let Some((table, model)) = earlier {
                prop_assert_eq!(rows(&table), model.into_iter().collect::<Vec<_>>());
            }
            for key in 0_u16..700 {
                let key = key.to_be_bytes();
                prop_assert_eq!(table.get(&key), model.get(key.as_slice()).map(Vec::as_slice));
            }
            prop_assert_eq!(rows(&table), model.into_iter().collect::<Vec<_>>());
        }
    }
}
