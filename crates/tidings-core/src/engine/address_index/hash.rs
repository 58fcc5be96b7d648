//! Keyed hashes of addresses. Without the key nobody can find out by trying which address one is of.

use std::collections::BTreeSet;
use std::fmt;

use siphasher::sip128::SipHasher24;

use crate::codec::FORM;
use crate::journal::stored::{ReadView, Unreadable, body};
use crate::journal::table::{Key, Owner, Partition, Table, Write};
use crate::model::channel::CHANNEL_KINDS;
use crate::model::recipient::Addresses;
use crate::model::suppression::ChannelAddress;

/// Number of bytes of a hash.
pub(crate) const HASH_BYTES: usize = 16;

/// The hash of an address in the form in which addresses are compared, whatever its channel.
pub(crate) type AddressHash = [u8; HASH_BYTES];

/// The key of the hashes of a store.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct HashKey([u8; 16]);

// It is a secret, and belongs in no log.
impl fmt::Debug for HashKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HashKey(…)")
    }
}

fn key_row() -> Vec<u8> {
    Key::of(Owner::Intake, Table::Addresses).done()
}

impl HashKey {
    /// A key of random bits.
    pub(crate) fn new(bits: [u8; 16]) -> Self {
        Self(bits)
    }

    /// Reads the key of a store; `None` = it has none yet.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read or makes no sense.
    pub(crate) fn read(view: &dyn ReadView) -> Result<Option<Self>, Unreadable> {
        let Some(row) = view.get(Partition::Base, &key_row())? else {
            return Ok(None);
        };
        let key = body("the key of hashes", &row)?.try_into();
        key.map(|key| Some(Self(key)))
            .map_err(|_| Unreadable("the key of hashes is torn".to_owned()))
    }

    /// The row that keeps it.
    pub(crate) fn row(self) -> Write {
        let value = [&[FORM], &self.0[..]].concat();
        Write { partition: Partition::Base, key: key_row(), value: Some(value) }
    }

    fn hash(self, compared: &str) -> AddressHash {
        SipHasher24::new_with_key(&self.0).hash(compared.as_bytes()).as_u128().to_be_bytes()
    }

    /// The hash of a text in words, for readers; of another label it is another one.
    pub(crate) fn labelled(self, label: &str, text: &str) -> String {
        let labelled = format!("{label}\n{text}");
        let hash = SipHasher24::new_with_key(&self.0).hash(labelled.as_bytes());
        format!("{:032x}", hash.as_u128())
    }

    /// The hashes of the addresses of a profile.
    pub(crate) fn of_profile(self, addresses: &Addresses) -> BTreeSet<AddressHash> {
        let all = addresses.all();
        all.map(|(channel, text)| self.hash(ChannelAddress::new(channel, text).address())).collect()
    }

    /// The hashes of the addresses that a text may be.
    pub(crate) fn of_text(self, text: &str) -> BTreeSet<AddressHash> {
        spellings(text).iter().map(|compared| self.hash(compared)).collect()
    }
}

/// The text in each form in which addresses of some channel are compared.
pub(crate) fn spellings(text: &str) -> BTreeSet<String> {
    let kinds = CHANNEL_KINDS.iter().filter_map(|channel| channel.address);
    kinds.map(|kind| kind.compared(text.trim())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::channel::{ChannelNo, EMAIL_NO};

    #[test]
    fn a_hash_is_the_same_for_all_spellings_and_another_by_another_key() {
        let (key, other) = (HashKey([1; 16]), HashKey([2; 16]));
        let sms = ChannelNo(2);
        let addresses =
            Addresses::from([(EMAIL_NO, "Ana+news@Bücher.example"), (sms, "+34600111212")]);
        let known = key.of_profile(&addresses);
        for text in [
            "ana+news@bücher.example",
            " ANA+NEWS@XN--BCHER-KVA.example ",
            "+34 600 11 12 12",
            "+34\u{a0}600-111-212",
        ] {
            assert!(!key.of_text(text).is_disjoint(&known), "{text}");
            assert!(other.of_text(text).is_disjoint(&known), "{text}");
        }
        for text in ["ana@bücher.example", "+34600111213", "34600111212"] {
            assert!(key.of_text(text).is_disjoint(&known), "{text}");
        }
        assert_eq!(format!("{key:?}"), "HashKey(…)");
    }
}
