//! The rows of an inbox as a stream has told them, in few bytes, and what differs from them later.

use std::collections::HashMap;

use super::read::InboxRow;

/// The keys of rows, each with the fingerprint of its content.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Rows {
    /// The keys, each with a line break behind it: an id has none.
    keys: Box<str>,
    prints: Box<[u64]>,
}

/// The difference of two states of an inbox.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Difference {
    /// The keys of rows that are new or have changed, in the order of the page.
    pub(super) changed: Vec<String>,
    /// The keys of rows that are no longer there.
    pub(super) gone: Vec<String>,
}

impl Rows {
    pub(super) fn of(rows: &[InboxRow]) -> Self {
        Self::of_each(rows.iter().map(|row| (row.key.as_str(), row.fingerprint)))
    }

    fn of_each<'a>(rows: impl Iterator<Item = (&'a str, u64)>) -> Self {
        let (mut keys, mut prints) = (String::new(), Vec::new());
        for (key, print) in rows {
            keys.push_str(key);
            keys.push('\n');
            prints.push(print);
        }
        Self { keys: keys.into(), prints: prints.into() }
    }

    fn each(&self) -> impl Iterator<Item = (&str, u64)> {
        self.keys.lines().zip(self.prints.iter().copied())
    }

    /// What has changed since an older state.
    pub(super) fn since(&self, old: &Self) -> Difference {
        if self == old {
            return Difference::default();
        }
        let mut known: HashMap<&str, u64> = old.each().collect();
        let mut changed = Vec::new();
        for (key, print) in self.each() {
            if known.remove(key) != Some(print) {
                changed.push(key.to_owned());
            }
        }
        let is_gone = |(key, _): &(&str, u64)| known.contains_key(key);
        let gone = old.each().filter(is_gone).map(|(key, _)| key.to_owned());
        Difference { changed, gone: gone.collect() }
    }

    /// The state of somebody who was at an older one and was told of all differences but those rows.
    pub(super) fn without(&self, old: &Self, untold: &[String]) -> Self {
        let known: HashMap<&str, u64> = old.each().collect();
        let untold: std::collections::HashSet<&str> = untold.iter().map(String::as_str).collect();
        let told = self.each().filter_map(|(key, print)| {
            if untold.contains(key) {
                return known.get(key).map(|print| (key, *print));
            }
            Some((key, print))
        });
        Self::of_each(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[(&str, u64)]) -> Rows {
        Rows::of_each(rows.iter().copied())
    }

    #[test]
    fn rows_differ_by_key_and_content() {
        let old = rows(&[("c", 3), ("b", 2), ("a", 1)]);
        let new = rows(&[("d", 4), ("b", 5), ("a", 1)]);
        let difference = new.since(&old);
        assert_eq!(difference.changed, ["d", "b"]);
        assert_eq!(difference.gone, ["c"]);
        assert_eq!(new.since(&new), Difference::default());
        assert_eq!(rows(&[]).since(&old).gone, ["c", "b", "a"]);
    }

    #[test]
    fn what_was_told_in_parts_ends_as_what_was_told_at_once() {
        let old = rows(&[("c", 3), ("b", 2), ("a", 1)]);
        let new = rows(&[("e", 7), ("d", 4), ("b", 5), ("a", 1)]);
        let first = new.since(&old);
        let told = new.without(&old, &first.changed[1..]);
        let second = new.since(&told);
        assert_eq!(second.changed, first.changed[1..]);
        assert!(second.gone.is_empty());
        assert_eq!(new.without(&told, &[]), new);
    }
}
