//! The rows of the index: written with each change of a profile, read by the hash of an address.

use std::collections::{BTreeMap, BTreeSet};

use super::chore::IndexChores;
use super::hash::{AddressHash, HASH_BYTES, HashKey};
use crate::bucket::Bucket;
use crate::engine::rows::draft::Draft;
use crate::journal::stored::{ReadView, Unreadable, decode, each, encode};
use crate::journal::table::{Key, Owner, Partition, REST, Table, Write, u32_at};
use crate::model::id::BucketNo;
use crate::model::number::{RecipientAt, RecipientNo};
use crate::model::recipient::Addresses;
use crate::model::time::Instant;

/// The index of addresses in a shard.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddressIndex {
    /// `None` = the node with the intake has not written it yet: then nothing is indexed.
    pub(crate) key: Option<HashKey>,
    pub(super) chores: IndexChores,
}

/// The row of an address that a recipient has or had.
pub(super) fn index_row(hash: &AddressHash, at: RecipientAt) -> Vec<u8> {
    let row = Key::of(Owner::Shared, Table::Addresses).bytes(hash);
    row.u16(at.bucket.0).u32(at.number.0).done()
}

/// The beginning of the rows of the addresses that the recipients of a bucket had.
pub(super) fn former_rows(bucket: BucketNo) -> Key {
    Key::of(Owner::Shared, Table::FormerAddresses).u16(bucket.0)
}

fn former_row(hash: &AddressHash, at: RecipientAt) -> Vec<u8> {
    former_rows(at.bucket).u32(at.number.0).bytes(hash).done()
}

/// The row that says that a bucket is indexed.
pub(super) fn built_row(bucket: BucketNo) -> Vec<u8> {
    Key::of(Owner::Bucket(bucket), Table::Addresses).done()
}

/// The address of a row of former addresses, and the recipient who had it, by its key.
pub(super) fn former_at(key: &[u8]) -> Option<(AddressHash, RecipientAt)> {
    let (at, hash) = key.get(REST..)?.split_last_chunk::<HASH_BYTES>()?;
    Some((*hash, recipient_at(at)?))
}

/// The recipient at the end of a key.
fn recipient_at(bytes: &[u8]) -> Option<RecipientAt> {
    let bucket = BucketNo(u16::from_be_bytes(*bytes.first_chunk()?));
    let number = RecipientNo(u32_at(bytes, 2)?);
    Some(RecipientAt { bucket, number })
}

/// The recipients who have an address of one of these hashes (`None`), or had it up to an instant.
///
/// # Errors
/// [`Unreadable`] where the store can't be read or makes no sense.
pub(crate) fn with_address(
    view: &dyn ReadView,
    hashes: &BTreeSet<AddressHash>,
) -> Result<Vec<(RecipientAt, Option<Instant>)>, Unreadable> {
    let mut found = Vec::new();
    for hash in hashes {
        let prefix = Key::of(Owner::Shared, Table::Addresses).bytes(hash).done();
        each(view, Partition::Base, &prefix, |key, value| {
            let at = key.get(prefix.len()..).and_then(recipient_at);
            let at = at.ok_or_else(|| Unreadable("a row of an address is torn".to_owned()))?;
            let since = (!value.is_empty()).then(|| decode("a former address", value)).transpose();
            found.push((at, since?));
            Ok(())
        })?;
    }
    Ok(found)
}

impl AddressIndex {
    /// Writes which addresses a recipient of a bucket is about to get and to lose.
    pub(crate) fn change(
        &mut self,
        draft: &mut Draft<'_>,
        bucket: &Bucket,
        number: RecipientNo,
        (now, new): (Instant, &Addresses),
    ) {
        let Some(key) = self.key else {
            return;
        };
        let at = RecipientAt { bucket: bucket.no, number };
        let roster = &bucket.roster;
        let is_first = roster.next_number() == RecipientNo(0);
        if is_first && !self.chores.is_unbuilt(at.bucket) {
            draft.put(Partition::Base, built_row(at.bucket), Vec::new());
        }
        let known = roster.profile(number).map(|known| &known.addresses);
        if known == Some(new) {
            return;
        }
        let is_known = known.is_some();
        let had = known.map(|known| key.of_profile(known)).unwrap_or_default();
        let has = key.of_profile(new);
        for hash in has.difference(&had) {
            draft.put(Partition::Base, index_row(hash, at), Vec::new());
            if is_known {
                draft.delete(Partition::Base, former_row(hash, at));
            }
        }
        let since = encode(&now);
        for hash in had.difference(&has) {
            draft.put(Partition::Base, index_row(hash, at), since.clone());
            draft.put(Partition::Base, former_row(hash, at), since.clone());
            self.chores.expect_former();
        }
    }

    /// Removes what a recipient of a bucket has and had, before they are erased.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub(crate) fn remove(
        &self,
        draft: &mut Draft<'_>,
        bucket: &Bucket,
        number: RecipientNo,
    ) -> Result<(), Unreadable> {
        let Some(key) = self.key else {
            return Ok(());
        };
        let at = RecipientAt { bucket: bucket.no, number };
        let profile = bucket.roster.profile(number);
        let has = profile.map(|known| key.of_profile(&known.addresses)).unwrap_or_default();
        for hash in &has {
            draft.delete(Partition::Base, index_row(hash, at));
        }
        let prefix = former_rows(at.bucket).u32(at.number.0).done();
        let mut former: BTreeMap<Vec<u8>, bool> = BTreeMap::new();
        each(draft.view, Partition::Base, &prefix, |row, _| {
            former.insert(row.to_vec(), true);
            Ok(())
        })?;
        for (row, value) in draft.written(Partition::Base, &prefix) {
            former.insert(row.to_vec(), value.is_some());
        }
        for (row, _) in former.into_iter().filter(|(_, is_there)| *is_there) {
            if let Some((hash, at)) = former_at(&row) {
                draft.delete(Partition::Base, index_row(&hash, at));
            }
            draft.delete(Partition::Base, row);
        }
        Ok(())
    }
}

/// The rows of the addresses that a recipient has now.
pub(super) fn rows_of(
    key: HashKey,
    at: RecipientAt,
    addresses: &Addresses,
) -> impl Iterator<Item = Write> {
    let hashes = key.of_profile(addresses).into_iter();
    hashes.map(move |hash| put(index_row(&hash, at)))
}

/// A row without a value.
pub(super) fn put(key: Vec<u8>) -> Write {
    Write { partition: Partition::Base, key, value: Some(Vec::new()) }
}
