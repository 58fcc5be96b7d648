//! The indexed form of the journal: segments of arrivals without their sets, and postings with their
//! recipients.

use std::ops::ControlFlow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::record::{Arrival, Variant};
use crate::codec::{FORM, encode_onto};
use crate::journal::table::{Partition, after_prefix};
use crate::model::number::Seq;

/// Read access to the store, implemented outside the core.
pub trait ReadView: Sync {
    /// Reads a value.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    fn get(&self, partition: Partition, key: &[u8]) -> Result<Option<Vec<u8>>, Unreadable>;

    /// Reads the values of several keys, in their order.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    fn get_many(
        &self,
        partition: Partition,
        keys: &[Vec<u8>],
    ) -> Result<Vec<Option<Vec<u8>>>, Unreadable> {
        keys.iter().map(|key| self.get(partition, key)).collect()
    }

    /// Returns true if each call is a round trip over a network, so that several keys should be read by one.
    ///
    /// A read of a directory takes a microsecond: there a list of the keys costs more than it saves.
    fn is_remote(&self) -> bool {
        false
    }

    /// Visits every key `from <= key < until` in order, until the visitor breaks.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    #[expect(clippy::type_complexity, reason = "a name for the visitor would hide what it does")]
    fn scan(
        &self,
        partition: Partition,
        from: &[u8],
        until: Option<&[u8]>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> ControlFlow<()>,
    ) -> Result<(), Unreadable>;
}

/// Visits every key with a prefix, in order; the first fault that the visitor finds ends it.
///
/// # Errors
/// The visitor's, and [`Unreadable`] where the store can't be read.
pub fn each(
    view: &dyn ReadView,
    partition: Partition,
    prefix: &[u8],
    take: impl FnMut(&[u8], &[u8]) -> Result<(), Unreadable>,
) -> Result<(), Unreadable> {
    each_from(view, partition, prefix, prefix, take)
}

/// [`each`], beginning with the key `from`.
///
/// # Errors
/// The visitor's, and [`Unreadable`] where the store can't be read.
pub(crate) fn each_from(
    view: &dyn ReadView,
    partition: Partition,
    prefix: &[u8],
    from: &[u8],
    mut take: impl FnMut(&[u8], &[u8]) -> Result<(), Unreadable>,
) -> Result<(), Unreadable> {
    let until = after_prefix(prefix);
    let mut found = Ok(());
    view.scan(partition, from, until.as_deref(), &mut |key, value| {
        found = take(key, value);
        match found {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    })?;
    found
}

/// A stored value that can't be read or decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(pub String);

impl From<crate::codec::Corrupt> for Unreadable {
    fn from(corrupt: crate::codec::Corrupt) -> Self {
        Self(corrupt.to_string())
    }
}

impl Unreadable {
    /// A value that can't be decoded.
    #[must_use]
    pub fn decode(what: &str, fault: &postcard::Error) -> Self {
        Self(format!("{what} can't be read: {fault}"))
    }
}

/// Decodes a stored value.
///
/// # Errors
/// [`Unreadable`] names what could not be read.
///
/// # Examples
/// ```
/// use tidings_core::journal::{decode, encode};
/// use tidings_core::model::Reason;
///
/// let bytes = encode(&Reason::Seen);
/// assert_eq!(decode::<Reason>("a reason", &bytes)?, Reason::Seen);
/// // The first byte is the form: a value of another version is refused, not misread.
/// let other = [&[99], &bytes[1..]].concat();
/// let unreadable = decode::<Reason>("a reason", &other).unwrap_err();
/// assert!(unreadable.to_string().contains("form 99"));
/// # Ok::<(), tidings_core::journal::Unreadable>(())
/// ```
pub fn decode<'a, T: Deserialize<'a>>(what: &str, bytes: &'a [u8]) -> Result<T, Unreadable> {
    postcard::from_bytes(body(what, bytes)?).map_err(|fault| Unreadable::decode(what, &fault))
}

/// A stored value without its first byte, which is its form.
///
/// # Errors
/// [`Unreadable`] where the form is not this version's.
pub fn body<'a>(what: &str, bytes: &'a [u8]) -> Result<&'a [u8], Unreadable> {
    match bytes.split_first() {
        Some((&FORM, body)) => Ok(body),
        Some((form, _)) => {
            Err(Unreadable(format!("{what} has the form {form}, this version reads form {FORM}")))
        }
        None => Err(Unreadable(format!("{what} is empty"))),
    }
}

/// Encodes a value to be stored.
///
/// # Panics
/// Never for the core's own types: writing them to memory can't fail.
#[must_use]
pub fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = vec![FORM];
    encode_onto(&mut bytes, value);
    bytes
}

/// Decodes a value stored as JSON, because hosts put free-form data into it.
pub(crate) fn from_json<T: for<'de> Deserialize<'de>>(
    what: &str,
    bytes: &[u8],
) -> Result<T, Unreadable> {
    let json = body(what, bytes)?;
    serde_json::from_slice(json).map_err(|fault| Unreadable(format!("{what}: {fault}")))
}

/// The room for a value as JSON; few need more.
const JSON_BYTES: usize = 512;

/// Encodes a value to be stored as JSON.
pub(crate) fn to_json<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(JSON_BYTES);
    bytes.push(FORM);
    serde_json::to_writer(&mut bytes, value).expect("the core's own types can be written as JSON");
    bytes
}

/// An arrival with its seq.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredArrival {
    /// Its seq.
    pub seq: Seq,
    /// The seq of the first record of its row in the journal; 0 once it is at rest.
    #[serde(skip)]
    pub row: Seq,
    /// The arrival.
    pub arrival: Arrival,
}

impl StoredArrival {
    /// Number of notifications in its sets.
    #[must_use]
    pub(crate) fn notifications(&self) -> u64 {
        self.arrival.variants.iter().map(|variant| variant.recipients.len()).sum()
    }
}

/// A segment: consecutive arrivals of a bucket's day, at rest.
#[derive(Debug)]
pub(crate) struct Segment {
    /// The arrivals by seq, with empty sets.
    pub arrivals: Vec<Arc<StoredArrival>>,
    /// Arrival and variant by ordinal in the postings.
    pub variants: Vec<(u32, u32)>,
}

impl Segment {
    /// Prepares a stored segment.
    #[must_use]
    pub(crate) fn new(arrivals: Vec<Arc<StoredArrival>>) -> Self {
        let mut variants = Vec::new();
        for (at, kept) in (0..).zip(&arrivals) {
            let variants_of = (0..).zip(&kept.arrival.variants);
            variants.extend(variants_of.map(|(variant, _)| (at, variant)));
        }
        Self { arrivals, variants }
    }

    /// The arrival and variant of an ordinal; `None` if there is no such ordinal.
    #[must_use]
    pub(crate) fn variant(
        &self,
        ordinal: u32,
    ) -> Option<(u32, u32, &Arc<StoredArrival>, &Variant)> {
        let (at, variant) = *self.variants.get(ordinal as usize)?;
        let kept = self.arrivals.get(at as usize)?;
        Some((at, variant, kept, kept.arrival.variants.get(variant as usize)?))
    }
}
