//! Headers: the fields of events that lists and messages need, packed by column and shared by all
//! readers.
//!
//! A reader of one recipient's week needs a few fields of hundreds of events. Fetching the events
//! one by one costs more than everything else together; a block of headers holds
//! [`HEADERS_PER_BLOCK`] of them, and the words that they share once.

use crate::codec::{ByteReader, Corrupt, FORM, put_u64};
use crate::model::event::Score;
use crate::model::id::Id;
use crate::model::number::EventNo;
use crate::model::time::Instant;
use crate::sets::packed::{PackedColumn, PackedTexts, put_column, put_texts};

/// Number of headers in a block; [`encode_headers`] takes any number.
pub(crate) const HEADERS_PER_BLOCK: usize = 256;

/// An event without its data, audience and presentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The event's place in the intake.
    pub place: EventNo,
    /// The event's id.
    pub id: Id,
    /// The type.
    pub event_type: Id,
    /// The actor: who did it.
    pub actor: Option<Id>,
    /// The object: what it was done to.
    pub object: Id,
    /// The target: what it was done in or for.
    pub target: Option<Id>,
    /// The rank among the events of a message.
    pub score: Score,
    /// The time when it happened, as shown to people.
    pub occurred_at: Option<Instant>,
    /// Time from which on nothing is delivered.
    pub expires_at: Option<Instant>,
}

/// Packs headers, column by column, in their order.
///
/// # Examples
/// ```
/// use tidings_core::Id;
/// use tidings_core::index::{Header, HeaderRows, encode_headers};
/// use tidings_core::model::EventNo;
///
/// let header = Header {
///     place: EventNo(1_000),
///     id: Id::new("e1")?,
///     event_type: Id::new("comment")?,
///     actor: None,
///     object: Id::new("work/7")?,
///     target: None,
///     score: Default::default(),
///     occurred_at: None,
///     expires_at: None,
/// };
/// let block = encode_headers(&[header.clone()]);
/// let rows = HeaderRows::parse(&block)?;
/// assert_eq!(rows.get(0)?, header);
/// assert!(rows.get(1).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn encode_headers(headers: &[Header]) -> Vec<u8> {
    let mut out = vec![FORM];
    put_u64(&mut out, headers.len() as u64);
    put_column(&mut out, headers.iter().map(|header| header.place.0));
    put_texts(&mut out, headers.iter().map(|header| header.id.as_str()));
    put_names(&mut out, headers.iter().map(|header| Some(&header.event_type)));
    put_names(&mut out, headers.iter().map(|header| header.actor.as_ref()));
    put_names(&mut out, headers.iter().map(|header| Some(&header.object)));
    put_names(&mut out, headers.iter().map(|header| header.target.as_ref()));
    put_column(&mut out, headers.iter().map(|header| header.score.number().to_bits()));
    put_instants(&mut out, headers.iter().map(|header| header.occurred_at));
    put_instants(&mut out, headers.iter().map(|header| header.expires_at));
    out
}

/// A block of headers as stored: any header is read without the others.
#[derive(Clone, Copy, Debug)]
pub struct HeaderRows<'a> {
    places: PackedColumn<'a>,
    ids: PackedTexts<'a>,
    types: NameRows<'a>,
    actors: NameRows<'a>,
    objects: NameRows<'a>,
    targets: NameRows<'a>,
    scores: PackedColumn<'a>,
    occurred: PackedColumn<'a>,
    expires: PackedColumn<'a>,
}

impl<'a> HeaderRows<'a> {
    /// Reads what [`encode_headers`] wrote.
    ///
    /// # Errors
    /// [`Corrupt`] where the bytes are something else. What is wrong inside shows when it is read.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Corrupt> {
        let mut reader = ByteReader::new(bytes, BLOCK.0);
        if reader.byte()? != FORM {
            return Err(BLOCK);
        }
        let len = usize::try_from(reader.u64()?).map_err(|_| BLOCK)?;
        let reader = &mut reader;
        let rows = Self {
            places: PackedColumn::read(reader, len)?,
            ids: PackedTexts::read(reader, len, BLOCK.0)?,
            types: NameRows::read(reader, len)?,
            actors: NameRows::read(reader, len)?,
            objects: NameRows::read(reader, len)?,
            targets: NameRows::read(reader, len)?,
            scores: PackedColumn::read(reader, len)?,
            occurred: PackedColumn::read(reader, len)?,
            expires: PackedColumn::read(reader, len)?,
        };
        reader.clone().end()?;
        Ok(rows)
    }

    /// Number of headers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns true if there are no headers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The header at an index of the block.
    ///
    /// # Errors
    /// [`Corrupt`] where there is none, or it makes no sense.
    pub fn get(&self, index: usize) -> Result<Header, Corrupt> {
        let some = |name: Option<Id>| name.ok_or(BLOCK);
        Ok(Header {
            place: EventNo(self.places.get(index).ok_or(BLOCK)?),
            id: id(self.ids.get(index)?)?,
            event_type: some(self.types.get(index)?)?,
            actor: self.actors.get(index)?,
            object: some(self.objects.get(index)?)?,
            target: self.targets.get(index)?,
            score: score(&self.scores, index)?,
            occurred_at: instant(&self.occurred, index)?,
            expires_at: instant(&self.expires, index)?,
        })
    }
}

const BLOCK: Corrupt = Corrupt("block of headers");

/// A column of repeating names: each distinct name once, and an index per header.
#[derive(Clone, Copy, Debug)]
struct NameRows<'a> {
    names: PackedTexts<'a>,
    /// 0 = none, else the name's index + 1.
    which: PackedColumn<'a>,
}

impl<'a> NameRows<'a> {
    fn read(reader: &mut ByteReader<'a>, len: usize) -> Result<Self, Corrupt> {
        let count = reader.count()?;
        Ok(Self {
            names: PackedTexts::read(reader, count, BLOCK.0)?,
            which: PackedColumn::read(reader, len)?,
        })
    }

    fn get(&self, index: usize) -> Result<Option<Id>, Corrupt> {
        let which = self.which.get(index).ok_or(BLOCK)?;
        let Some(name) = which.checked_sub(1) else {
            return Ok(None);
        };
        let name = usize::try_from(name).map_err(|_| BLOCK)?;
        id(self.names.get(name)?).map(Some)
    }
}

fn put_names<'a>(out: &mut Vec<u8>, column: impl Iterator<Item = Option<&'a Id>>) {
    let mut names = indexmap::IndexSet::<&str, rustc_hash::FxBuildHasher>::default();
    let which: Vec<u64> = column
        .map(|name| name.map_or(0, |name| names.insert_full(name.as_str()).0 as u64 + 1))
        .collect();
    put_u64(out, names.len() as u64);
    put_texts(out, names.into_iter());
    put_column(out, which.into_iter());
}

fn id(text: &str) -> Result<Id, Corrupt> {
    Id::new(text).map_err(|_| BLOCK)
}

fn score(column: &PackedColumn<'_>, index: usize) -> Result<Score, Corrupt> {
    let bits = column.get(index).ok_or(BLOCK)?;
    Score::new(f64::from_bits(bits)).ok_or(BLOCK)
}

/// Writes instants: 0 = none, else the distance from the earliest + 1.
fn put_instants(out: &mut Vec<u8>, column: impl Iterator<Item = Option<Instant>> + Clone) {
    let number = |instant: Instant| instant.0.cast_unsigned() ^ (1 << 63);
    put_column(
        out,
        column.map(|instant| instant.map_or(0, |instant| number(instant).saturating_add(1))),
    );
}

fn instant(column: &PackedColumn<'_>, index: usize) -> Result<Option<Instant>, Corrupt> {
    let number = column.get(index).ok_or(BLOCK)?.checked_sub(1);
    Ok(number.map(|number| Instant((number ^ (1 << 63)).cast_signed())))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header() -> impl Strategy<Value = Header> {
        let few = || (0_u8..4).prop_map(|n| Id::new(&format!("name-{n}")).unwrap());
        let any_id = "[a-zé/]{1,40}".prop_map(|text| Id::new(&text).unwrap());
        let years = Instant::MIN.0..=Instant::MAX.0;
        let instant = || prop::option::of(years.clone().prop_map(Instant));
        let roles = (few(), prop::option::of(few()), few(), prop::option::of(few()));
        let score = prop::num::f64::NORMAL | prop::num::f64::ZERO;
        let ranked = (any_id, score);
        (any::<u64>(), ranked, roles, instant(), instant()).prop_map(
            |(place, (id, score), (event_type, actor, object, target), occurred_at, expires_at)| {
                Header {
                    score: Score::new(score).unwrap(),
                    place: EventNo(place),
                    id,
                    event_type,
                    actor,
                    object,
                    target,
                    occurred_at,
                    expires_at,
                }
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_back(headers in prop::collection::vec(header(), 0..60)) {
            let bytes = encode_headers(&headers);
            let block = HeaderRows::parse(&bytes).unwrap();
            prop_assert_eq!(block.len(), headers.len());
            prop_assert_eq!(block.is_empty(), headers.is_empty());
            let read: Result<Vec<Header>, Corrupt> = (0..block.len()).map(|i| block.get(i)).collect();
            prop_assert!(block.get(headers.len()).is_err());
            prop_assert_eq!(read.unwrap(), headers);
        }

        #[test]
        fn any_bytes_are_read_or_refused(
            headers in prop::collection::vec(header(), 0..10),
            at: prop::sample::Index,
            by: u8,
            noise: Vec<u8>,
        ) {
            let mut bytes = encode_headers(&headers);
            let at = at.index(bytes.len());
            let cut = &bytes[..at];
            prop_assert!(HeaderRows::parse(cut).is_err());
            bytes[at] ^= by;
            for bytes in [bytes, [vec![FORM], noise].concat()] {
                if let Ok(block) = HeaderRows::parse(&bytes) {
                    (0..block.len()).take(100).for_each(|i| drop(block.get(i)));
                }
            }
        }
    }

    #[test]
    fn names_that_repeat_stand_once() {
        let id = |text: &str| Id::new(text).unwrap();
        let headers: Vec<Header> = (0..256)
            .map(|n| Header {
                place: EventNo(1_000_000 + n),
                id: id(&format!("event-{n:06}")),
                event_type: id("artwork_published"),
                actor: Some(id(&format!("artist/{}", n % 10))),
                object: id(&format!("artwork/{n:06}")),
                target: None,
                score: Score::default(),
                occurred_at: None,
                expires_at: None,
            })
            .collect();
        let bytes = encode_headers(&headers).len();
        // Per event: 13 bytes of its id, 15 of its object, and a byte or two for each other column.
        assert!(bytes < 256 * (13 + 15 + 7), "{bytes}");
    }
}
