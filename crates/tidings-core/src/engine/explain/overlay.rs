//! The store with the writes of a step that are thrown away afterwards.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};

use crate::journal::stored::{ReadView, Unreadable};
use crate::journal::table::{Partition, Write};

/// A view with writes on top.
pub(super) struct ViewOverlay<'a> {
    view: &'a dyn ReadView,
    /// `None` = deleted.
    writes: BTreeMap<(Partition, Vec<u8>), Option<Vec<u8>>>,
}

impl<'a> ViewOverlay<'a> {
    pub(super) fn new(view: &'a dyn ReadView, writes: Vec<Write>) -> Self {
        let writes = writes.into_iter();
        let writes = writes.map(|Write { partition, key, value }| ((partition, key), value));
        Self { view, writes: writes.collect() }
    }
}

impl ReadView for ViewOverlay<'_> {
    fn get(&self, partition: Partition, key: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
        match self.writes.get(&(partition, key.to_vec())) {
            Some(value) => Ok(value.clone()),
            None => self.view.get(partition, key),
        }
    }

    fn scan(
        &self,
        partition: Partition,
        from: &[u8],
        until: Option<&[u8]>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<(), Unreadable> {
        let first = Bound::Included((partition, from.to_vec()));
        let written = self.writes.range((first, Bound::Unbounded));
        let is_within =
            |at: Partition, key: &[u8]| at == partition && until.is_none_or(|until| key < until);
        let mut written = written.take_while(|((at, key), _)| is_within(*at, key)).peekable();
        let mut broken = false;
        self.view.scan(partition, from, until, &mut |key, value| {
            while let Some(((_, before), new)) = written.next_if(|((_, at), _)| **at < *key) {
                if let Some(new) = new
                    && visit(before, new).is_break()
                {
                    broken = true;
                    return ControlFlow::Break(());
                }
            }
            let flow = match written.next_if(|((_, at), _)| **at == *key) {
                Some((_, Some(new))) => visit(key, new),
                Some((_, None)) => ControlFlow::Continue(()),
                None => visit(key, value),
            };
            broken = flow.is_break();
            flow
        })?;
        for ((_, key), new) in written {
            if let Some(new) = new
                && !broken
            {
                broken = visit(key, new).is_break();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of one letter each.
    struct Rows(&'static str);

    impl ReadView for Rows {
        fn get(&self, _: Partition, key: &[u8]) -> Result<Option<Vec<u8>>, Unreadable> {
            Ok(self.0.bytes().find(|row| [*row] == *key).map(|_| b"stored".to_vec()))
        }

        fn scan(
            &self,
            _: Partition,
            from: &[u8],
            until: Option<&[u8]>,
            visit: &mut dyn FnMut(&[u8], &[u8]) -> ControlFlow<()>,
        ) -> Result<(), Unreadable> {
            for key in self.0.bytes().map(|row| [row]) {
                if &key[..] >= from
                    && until.is_none_or(|until| &key[..] < until)
                    && visit(&key, b"stored").is_break()
                {
                    break;
                }
            }
            Ok(())
        }
    }

    #[test]
    fn writes_stand_where_their_rows_would() {
        let of = |key: &str, value: Option<&str>| Write {
            partition: Partition::Base,
            key: key.into(),
            value: value.map(Into::into),
        };
        let rows = Rows("bdf");
        let writes =
            vec![of("a", Some("new")), of("d", None), of("f", Some("new")), of("g", Some("new"))];
        let overlay = ViewOverlay::new(&rows, writes);
        let read = |from: &str, until: Option<&str>, most: usize| {
            let mut seen = Vec::new();
            let visit = &mut |key: &[u8], value: &[u8]| {
                seen.push(format!(
                    "{}={}",
                    String::from_utf8_lossy(key),
                    String::from_utf8_lossy(value)
                ));
                if seen.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let until = until.map(str::as_bytes);
            overlay.scan(Partition::Base, from.as_bytes(), until, visit).unwrap();
            seen
        };
        assert_eq!(read("", None, 9), ["a=new", "b=stored", "f=new", "g=new"]);
        assert_eq!(read("b", Some("g"), 9), ["b=stored", "f=new"]);
        assert_eq!(read("", None, 1), ["a=new"]);
        assert_eq!(read("b", None, 2), ["b=stored", "f=new"]);
        assert_eq!(overlay.get(Partition::Base, b"d"), Ok(None));
        assert_eq!(overlay.get(Partition::Base, b"b"), Ok(Some(b"stored".to_vec())));
    }
}
