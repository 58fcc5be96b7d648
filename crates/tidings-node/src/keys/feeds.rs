//! Feeds that are paused: rows of the store beside the keys.

use std::collections::BTreeSet;

use tidings_core::codec::FORM;
use tidings_core::journal::{
    Key, Owner, Partition, REST, ReadView, Table, Unreadable, Write, body, each,
};

fn table() -> Key {
    Key::of(Owner::Intake, Table::Feeds)
}

/// The write that notes that a feed is paused, or no longer.
pub(super) fn write(name: &str, pauses: bool) -> Write {
    let value = pauses.then(|| vec![FORM]);
    Write { partition: Partition::Base, key: table().bytes(name.as_bytes()).done(), value }
}

/// The names of the paused feeds of a store.
pub(super) fn stored(view: &dyn ReadView) -> Result<BTreeSet<String>, Unreadable> {
    let mut paused = BTreeSet::new();
    each(view, Partition::Base, &table().done(), |key, row| {
        body("a paused feed", row)?;
        let name = String::from_utf8(key.get(REST..).unwrap_or_default().to_vec());
        paused.insert(name.map_err(|_| Unreadable("a paused feed is torn".to_owned()))?);
        Ok(())
    })?;
    Ok(paused)
}
