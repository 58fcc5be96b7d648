//! An ordered map of which clones share what neither has changed: a B-tree of counted nodes.
//!
//! A write copies the nodes on the way to its entry, once for each clone that still has them.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::slice;
use std::sync::Arc;

use super::copied;

/// The most entries of a node: few enough to copy without notice.
const ENTRIES_MAX: usize = 64;

/// A node with fewer joins its neighbour where both fit into one.
const ENTRIES_FEW: usize = ENTRIES_MAX / 4;

/// An ordered map.
#[derive(Debug)]
pub(crate) struct Tree<K, V> {
    root: Arc<TreeNode<K, V>>,
    len: usize,
}

#[derive(Debug)]
enum TreeNode<K, V> {
    Leaf(Vec<(K, V)>),
    /// Children by a key that is not above any of theirs and above all of the child's before.
    Inner(Vec<(K, Arc<TreeNode<K, V>>)>),
}

impl<K: Clone, V: Clone> Clone for TreeNode<K, V> {
    fn clone(&self) -> Self {
        match self {
            Self::Leaf(entries) => {
                copied::count(size_of_val(&**entries));
                Self::Leaf(entries.clone())
            }
            Self::Inner(children) => {
                copied::count(size_of_val(&**children));
                Self::Inner(children.clone())
            }
        }
    }
}

/// A node with its least key, or a lower one.
type TreeChild<K, V> = (K, Arc<TreeNode<K, V>>);

/// A node that was split off, with its least key.
type SplitNode<K, V> = Option<(K, Arc<TreeNode<K, V>>)>;

impl<K, V> Default for Tree<K, V> {
    fn default() -> Self {
        Self { root: Arc::new(TreeNode::Leaf(Vec::new())), len: 0 }
    }
}

impl<K, V> Clone for Tree<K, V> {
    fn clone(&self) -> Self {
        Self { root: Arc::clone(&self.root), len: self.len }
    }
}

impl<K, V> Tree<K, V> {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The entry that compares as equal; `compare` compares a key with the wanted one.
    pub(crate) fn find(&self, compare: impl Fn(&K) -> Ordering) -> Option<(&K, &V)> {
        let mut node = &*self.root;
        loop {
            match node {
                TreeNode::Leaf(entries) => {
                    let at = entries.binary_search_by(|(key, _)| compare(key)).ok()?;
                    return entries.get(at).map(|(key, value)| (key, value));
                }
                TreeNode::Inner(children) => node = &children[child_by(children, &compare)].1,
            }
        }
    }

    pub(crate) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let found = self.find(|known| known.borrow().cmp(key));
        found.map(|(_, value)| value)
    }

    pub(crate) fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.get(key).is_some()
    }

    /// All entries, in order.
    pub(crate) fn iter(&self) -> Iter<'_, K, V> {
        let mut iter = Iter { above: Vec::new(), leaf: [].iter() };
        iter.descend(&self.root, |_| 0, |_| 0);
        iter
    }

    /// The entries from a key on, in order.
    pub(crate) fn from<Q: Ord + ?Sized>(&self, key: &Q) -> Iter<'_, K, V>
    where
        K: Borrow<Q>,
    {
        let mut iter = Iter { above: Vec::new(), leaf: [].iter() };
        iter.descend(
            &self.root,
            |children| child_by(children, |known| known.borrow().cmp(key)),
            |entries| entries.partition_point(|(known, _)| known.borrow() < key),
        );
        iter
    }

    /// The entries from the first wanted one on, in order: none before it is wanted, and all after it are.
    pub(crate) fn first_on(&self, is_wanted: impl Fn(&K) -> bool) -> Iter<'_, K, V> {
        let mut iter = Iter { above: Vec::new(), leaf: [].iter() };
        let before = |known: &K| if is_wanted(known) { Ordering::Greater } else { Ordering::Less };
        iter.descend(
            &self.root,
            |children| child_by(children, before),
            |entries| entries.partition_point(|(known, _)| !is_wanted(known)),
        );
        iter
    }

    /// The last entry before a key.
    pub(crate) fn before<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
    {
        self.root.before(key)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    pub(crate) fn first(&self) -> Option<(&K, &V)> {
        self.iter().next()
    }

    pub(crate) fn last(&self) -> Option<(&K, &V)> {
        let mut node = &*self.root;
        loop {
            match node {
                TreeNode::Leaf(entries) => return entries.last().map(|(key, value)| (key, value)),
                TreeNode::Inner(children) => node = &children.last()?.1,
            }
        }
    }
}

impl<K: Ord + Clone, V: Clone> Tree<K, V> {
    /// Adds an entry and returns the value that it replaces.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        let mut old = Some(value);
        let split = self.root_mut().insert(key, &mut old);
        if let Some(upper) = split {
            let least = self.root.least().cloned();
            let lower = std::mem::replace(&mut self.root, Arc::new(TreeNode::Leaf(Vec::new())));
            let lower = least.map(|least| (least, lower));
            self.root = Arc::new(TreeNode::Inner(lower.into_iter().chain([upper]).collect()));
        }
        self.len += usize::from(old.is_none());
        old
    }

    /// A mutable value. Where there is none nothing is copied.
    pub(crate) fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        if !self.contains_key(key) {
            return None;
        }
        let mut node = self.root_mut();
        loop {
            match node {
                TreeNode::Leaf(entries) => {
                    let at = entries.binary_search_by(|(known, _)| known.borrow().cmp(key));
                    return entries.get_mut(at.ok()?).map(|(_, value)| value);
                }
                TreeNode::Inner(children) => {
                    let at = child_by(children, |known| known.borrow().cmp(key));
                    node = Arc::make_mut(&mut children[at].1);
                }
            }
        }
    }

    /// A mutable value, the default if there was none.
    #[expect(clippy::needless_pass_by_value, reason = "a key is handed over, as to any map")]
    pub(crate) fn or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        if !self.contains_key(&key) {
            self.insert(key.clone(), V::default());
        }
        let value = self.get_mut(&key);
        value.expect("it was put there if it was missing")
    }

    pub(crate) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        if !self.contains_key(key) {
            return None;
        }
        let removed = self.root_mut().remove(key);
        self.len -= usize::from(removed.is_some());
        while let TreeNode::Inner(children) = &mut *self.root_mut() {
            match &children[..] {
                [] => self.root = Arc::new(TreeNode::Leaf(Vec::new())),
                [(_, only)] => self.root = Arc::clone(only),
                _ => break,
            }
        }
        removed
    }

    /// Removes the first entry.
    pub(crate) fn pop_first(&mut self) -> Option<(K, V)> {
        let key = self.first()?.0.clone();
        let value = self.remove(&key)?;
        Some((key, value))
    }

    /// Removes the entries before a key.
    pub(crate) fn remove_before(&mut self, key: &K) {
        while self.first().is_some_and(|(first, _)| first < key) {
            self.pop_first();
        }
    }

    /// Keeps the entries that are wanted. Nothing is copied where all are.
    pub(crate) fn retain(&mut self, mut is_wanted: impl FnMut(&K, &V) -> bool) {
        let unwanted: Vec<K> = self
            .iter()
            .filter(|(key, value)| !is_wanted(key, value))
            .map(|(key, _)| key.clone())
            .collect();
        for key in unwanted {
            self.remove(&key);
        }
    }

    fn root_mut(&mut self) -> &mut TreeNode<K, V> {
        Arc::make_mut(&mut self.root)
    }
}

/// The child that holds a key, or would.
fn child_by<K, V>(
    children: &[(K, Arc<TreeNode<K, V>>)],
    compare: impl Fn(&K) -> Ordering,
) -> usize {
    let not_above = children.partition_point(|(key, _)| compare(key).is_le());
    not_above.saturating_sub(1)
}

/// Splits a node that is too large. Keys that only grow leave full nodes behind, not half full ones.
fn split<T>(entries: &mut Vec<T>, inserted: usize) -> Option<Vec<T>> {
    if entries.len() <= ENTRIES_MAX {
        return None;
    }
    let is_last = inserted + 1 == entries.len();
    let half = if is_last { ENTRIES_MAX } else { ENTRIES_MAX / 2 };
    Some(entries.split_off(half))
}

impl<K, V> TreeNode<K, V> {
    /// The last entry before a key.
    fn before<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
    {
        match self {
            Self::Leaf(entries) => {
                let before = &entries[..entries.partition_point(|(known, _)| known.borrow() < key)];
                before.last().map(|(key, value)| (key, value))
            }
            Self::Inner(children) => {
                let at = children.partition_point(|(least, _)| least.borrow() < key);
                // A child whose first entries were removed may have none before the key.
                children[..at].iter().rev().find_map(|(_, child)| child.before(key))
            }
        }
    }

    fn least(&self) -> Option<&K> {
        match self {
            Self::Leaf(entries) => entries.first().map(|(key, _)| key),
            Self::Inner(children) => children.first().map(|(key, _)| key),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Leaf(entries) => entries.len(),
            Self::Inner(children) => children.len(),
        }
    }
}

impl<K: Ord + Clone, V: Clone> TreeNode<K, V> {
    /// Adds the value, and leaves the one that it replaces in its place.
    fn insert(&mut self, key: K, value: &mut Option<V>) -> SplitNode<K, V> {
        match self {
            Self::Leaf(entries) => match entries.binary_search_by(|(known, _)| known.cmp(&key)) {
                Ok(at) => {
                    if let Some(value) = value {
                        std::mem::swap(&mut entries[at].1, value);
                    }
                    None
                }
                Err(at) => {
                    entries.extend(value.take().map(|value| (key, value)));
                    entries[at..].rotate_right(1);
                    let upper = split(entries, at)?;
                    let least = upper.first()?.0.clone();
                    Some((least, Arc::new(Self::Leaf(upper))))
                }
            },
            Self::Inner(children) => {
                let at = child_by(children, |known| known.cmp(&key));
                let (least, child) = &mut children[at];
                if key < *least {
                    *least = key.clone();
                }
                let upper = Arc::make_mut(child).insert(key, value)?;
                children.insert(at + 1, upper);
                let upper = split(children, at + 1)?;
                let least = upper.first()?.0.clone();
                Some((least, Arc::new(Self::Inner(upper))))
            }
        }
    }

    fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        match self {
            Self::Leaf(entries) => {
                let at = entries.binary_search_by(|(known, _)| known.borrow().cmp(key));
                Some(entries.remove(at.ok()?).1)
            }
            Self::Inner(children) => {
                let at = child_by(children, |known| known.borrow().cmp(key));
                let child = Arc::make_mut(&mut children[at].1);
                let removed = child.remove(key);
                match child.len() {
                    0 => {
                        children.remove(at);
                    }
                    1..ENTRIES_FEW => join(children, at),
                    _ => {}
                }
                removed
            }
        }
    }
}

/// Joins a child that has become small with a neighbour, if both fit into one.
fn join<K: Clone, V: Clone>(children: &mut Vec<(K, Arc<TreeNode<K, V>>)>, index: usize) {
    let fits = |lower: usize| {
        let both = children.get(lower..lower + 2)?;
        let sum = both.iter().map(|(_, child)| child.len()).sum::<usize>();
        (sum <= ENTRIES_MAX / 2).then_some(lower)
    };
    let Some(lower) = fits(index).or_else(|| fits(index.checked_sub(1)?)) else {
        return;
    };
    let (_, upper) = children.remove(lower + 1);
    match (Arc::make_mut(&mut children[lower].1), Arc::unwrap_or_clone(upper)) {
        (TreeNode::Leaf(entries), TreeNode::Leaf(more)) => entries.extend(more),
        (TreeNode::Inner(children), TreeNode::Inner(more)) => children.extend(more),
        // All children of a node are as deep.
        _ => {}
    }
}

/// The entries of a tree, in order.
pub(crate) struct Iter<'a, K, V> {
    above: Vec<slice::Iter<'a, TreeChild<K, V>>>,
    leaf: slice::Iter<'a, (K, V)>,
}

impl<'a, K, V> Iter<'a, K, V> {
    /// Goes down to a leaf, by the index of a child and that of an entry.
    fn descend(
        &mut self,
        mut node: &'a TreeNode<K, V>,
        child: impl Fn(&[(K, Arc<TreeNode<K, V>>)]) -> usize,
        entry: impl Fn(&[(K, V)]) -> usize,
    ) {
        loop {
            match node {
                TreeNode::Leaf(entries) => {
                    self.leaf = entries[entry(entries)..].iter();
                    return;
                }
                TreeNode::Inner(children) => {
                    let at = child(children);
                    node = &children[at].1;
                    self.above.push(children[at + 1..].iter());
                }
            }
        }
    }
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((key, value)) = self.leaf.next() {
                return Some((key, value));
            }
            let next = loop {
                match self.above.last_mut()?.next() {
                    Some((_, node)) => break node,
                    None => {
                        self.above.pop();
                    }
                }
            };
            self.descend(next, |_| 0, |_| 0);
        }
    }
}

impl<'a, K, V> IntoIterator for &'a Tree<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<K: Ord + Clone, V: Clone> FromIterator<(K, V)> for Tree<K, V> {
    fn from_iter<T: IntoIterator<Item = (K, V)>>(entries: T) -> Self {
        let mut tree = Self::new();
        tree.extend(entries);
        tree
    }
}

impl<K: Ord + Clone, V: Clone> Extend<(K, V)> for Tree<K, V> {
    fn extend<T: IntoIterator<Item = (K, V)>>(&mut self, entries: T) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for Tree<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl<K: Eq, V: Eq> Eq for Tree<K, V> {}

#[cfg(test)]
mod tests;
