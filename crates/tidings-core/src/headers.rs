//! What a list or a message needs to know of an event, packed by column and shared by all readers.
//!
//! A reader of one recipient's week needs a few fields of hundreds of events. Fetching the events
//! one by one costs more than everything else together; a block of headers holds
//! [`HEADERS_PER_BLOCK`] of them, and the words that they share once.

use crate::codec::{Corrupt, Reader, put_bytes, put_i64, put_u64};
use crate::id::Id;
use crate::time::Instant;

/// How many headers are meant to share a block; [`encode`] takes any number.
pub const HEADERS_PER_BLOCK: usize = 256;

/// The first byte of a block: which layout follows.
const FORM: u8 = 1;

/// An event without its data, audience and presentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The event's place in the intake.
    pub place: u64,
    /// Names the event.
    pub id: Id,
    /// The type.
    pub kind: Id,
    /// Who did it.
    pub actor: Option<Id>,
    /// What it was done to.
    pub object: Id,
    /// What it was done in or for.
    pub target: Option<Id>,
    /// When it happened, as shown to people.
    pub occurred_at: Option<Instant>,
    /// From then on it is not worth telling.
    pub expires_at: Option<Instant>,
}

/// Packs headers, column by column, in their order.
#[must_use]
pub fn encode(headers: &[Header]) -> Vec<u8> {
    let mut out = vec![FORM];
    put_u64(&mut out, headers.len() as u64);
    let mut before = 0;
    for header in headers {
        put_i64(&mut out, header.place.wrapping_sub(before).cast_signed());
        before = header.place;
    }
    for header in headers {
        put_bytes(&mut out, header.id.as_str().as_bytes());
    }
    put_names(&mut out, headers.iter().map(|header| Some(&header.kind)));
    put_names(&mut out, headers.iter().map(|header| header.actor.as_ref()));
    put_names(&mut out, headers.iter().map(|header| Some(&header.object)));
    put_names(
        &mut out,
        headers.iter().map(|header| header.target.as_ref()),
    );
    put_instants(&mut out, headers.iter().map(|header| header.occurred_at));
    put_instants(&mut out, headers.iter().map(|header| header.expires_at));
    out
}

/// A block of headers, read.
#[derive(Clone, Debug)]
pub struct HeaderBlock {
    places: Vec<u64>,
    ids: Vec<Id>,
    kinds: Names,
    actors: Names,
    objects: Names,
    targets: Names,
    occurred: Vec<Option<Instant>>,
    expires: Vec<Option<Instant>>,
}

impl HeaderBlock {
    /// Reads what [`encode`] wrote. Whatever the bytes are, it takes at most some 100 times their
    /// memory.
    ///
    /// # Errors
    /// [`Corrupt`] where the bytes are something else.
    pub fn decode(bytes: &[u8]) -> Result<Self, Corrupt> {
        let mut reader = Reader::new(bytes, "block of headers");
        if reader.byte()? != FORM {
            return Err(reader.corrupt());
        }
        let len = reader.count()?;
        let mut before = 0_u64;
        let places = (0..len).map(|_| {
            before = before.wrapping_add(reader.i64()?.cast_unsigned());
            Ok(before)
        });
        let block = Self {
            places: places.collect::<Result<_, _>>()?,
            ids: (0..len)
                .map(|_| read_id(&mut reader))
                .collect::<Result<_, _>>()?,
            kinds: Names::read(&mut reader, len)?,
            actors: Names::read(&mut reader, len)?,
            objects: Names::read(&mut reader, len)?,
            targets: Names::read(&mut reader, len)?,
            occurred: read_instants(&mut reader, len)?,
            expires: read_instants(&mut reader, len)?,
        };
        let whole = block.kinds.is_full() && block.objects.is_full();
        let corrupt = reader.corrupt();
        reader.end()?;
        if whole { Ok(block) } else { Err(corrupt) }
    }

    /// How many headers it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The header at a place of the block, counted from 0. Nothing is copied but counted pointers.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Header> {
        Some(Header {
            place: *self.places.get(index)?,
            id: self.ids.get(index)?.clone(),
            kind: self.kinds.get(index)?,
            actor: self.actors.get(index),
            object: self.objects.get(index)?,
            target: self.targets.get(index),
            occurred_at: *self.occurred.get(index)?,
            expires_at: *self.expires.get(index)?,
        })
    }
}

/// A column of names that repeat: each different one once, and per header which of them.
#[derive(Clone, Debug)]
struct Names {
    names: Vec<Id>,
    /// 0 where the header has none, else the name's index + 1.
    which: Vec<u32>,
}

impl Names {
    fn read(reader: &mut Reader<'_>, len: usize) -> Result<Self, Corrupt> {
        let count = reader.count()?;
        let names = (0..count)
            .map(|_| read_id(reader))
            .collect::<Result<Vec<_>, _>>()?;
        let which = (0..len).map(|_| match reader.u32()? {
            which if which as usize <= names.len() => Ok(which),
            _ => Err(reader.corrupt()),
        });
        let which = which.collect::<Result<_, _>>()?;
        Ok(Self { names, which })
    }

    fn is_full(&self) -> bool {
        !self.which.contains(&0)
    }

    fn get(&self, index: usize) -> Option<Id> {
        let which = self.which.get(index)?.checked_sub(1)?;
        self.names.get(which as usize).cloned()
    }
}

fn put_names<'a>(out: &mut Vec<u8>, column: impl Iterator<Item = Option<&'a Id>>) {
    let mut names = indexmap::IndexSet::<&Id, rustc_hash::FxBuildHasher>::default();
    let which: Vec<usize> = column
        .map(|name| name.map_or(0, |name| names.insert_full(name).0 + 1))
        .collect();
    put_u64(out, names.len() as u64);
    for name in names {
        put_bytes(out, name.as_str().as_bytes());
    }
    for which in which {
        put_u64(out, which as u64);
    }
}

fn read_id(reader: &mut Reader<'_>) -> Result<Id, Corrupt> {
    let text = std::str::from_utf8(reader.bytes()?).map_err(|_| reader.corrupt())?;
    Id::new(text).map_err(|_| reader.corrupt())
}

/// First a bit for each header whether it has one, then the differences of those that have.
fn put_instants(out: &mut Vec<u8>, column: impl Iterator<Item = Option<Instant>>) {
    let column: Vec<Option<Instant>> = column.collect();
    out.extend(column.chunks(8).map(|some| {
        some.iter().rev().fold(0_u8, |bits, instant| {
            bits << 1 | u8::from(instant.is_some())
        })
    }));
    let mut before = 0_i64;
    for instant in column.into_iter().flatten() {
        put_i64(out, instant.0.wrapping_sub(before));
        before = instant.0;
    }
}

fn read_instants(reader: &mut Reader<'_>, len: usize) -> Result<Vec<Option<Instant>>, Corrupt> {
    let has = reader.take(len.div_ceil(8))?;
    let mut before = 0_i64;
    let instants = (0..len).map(|index| {
        if has[index / 8] >> (index % 8) & 1 == 0 {
            return Ok(None);
        }
        before = before.wrapping_add(reader.i64()?);
        Ok(Some(Instant(before)))
    });
    instants.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header() -> impl Strategy<Value = Header> {
        let few = || (0_u8..4).prop_map(|n| Id::new(&format!("name-{n}")).unwrap());
        let any_id = "[a-zé/]{1,40}".prop_map(|text| Id::new(&text).unwrap());
        let instant = || prop::option::of(any::<i64>().prop_map(Instant));
        let roles = (
            few(),
            prop::option::of(few()),
            few(),
            prop::option::of(few()),
        );
        (any::<u64>(), any_id, roles, instant(), instant()).prop_map(
            |(place, id, (kind, actor, object, target), occurred_at, expires_at)| Header {
                place,
                id,
                kind,
                actor,
                object,
                target,
                occurred_at,
                expires_at,
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_back(headers in prop::collection::vec(header(), 0..60)) {
            let block = HeaderBlock::decode(&encode(&headers)).unwrap();
            prop_assert_eq!(block.len(), headers.len());
            prop_assert_eq!(block.is_empty(), headers.is_empty());
            let read: Vec<Header> = (0..block.len()).filter_map(|i| block.get(i)).collect();
            prop_assert_eq!(block.get(headers.len()), None);
            prop_assert_eq!(read, headers);
        }

        #[test]
        fn any_bytes_are_read_or_refused(
            headers in prop::collection::vec(header(), 0..10),
            at: prop::sample::Index,
            by: u8,
            noise: Vec<u8>,
        ) {
            let mut bytes = encode(&headers);
            let at = at.index(bytes.len());
            let cut = &bytes[..at];
            prop_assert!(HeaderBlock::decode(cut).is_err());
            bytes[at] ^= by;
            for bytes in [bytes, [vec![FORM], noise].concat()] {
                if let Ok(block) = HeaderBlock::decode(&bytes) {
                    prop_assert!((0..block.len()).all(|i| block.get(i).is_some()));
                }
            }
        }
    }

    #[test]
    fn names_that_repeat_stand_once() {
        let id = |text: &str| Id::new(text).unwrap();
        let headers: Vec<Header> = (0..256)
            .map(|n| Header {
                place: 1_000_000 + n,
                id: id(&format!("event-{n:06}")),
                kind: id("artwork_published"),
                actor: Some(id(&format!("artist/{}", n % 10))),
                object: id(&format!("artwork/{n:06}")),
                target: None,
                occurred_at: None,
                expires_at: None,
            })
            .collect();
        let bytes = encode(&headers).len();
        // Per event: 13 bytes of its id, 15 of its object, and a byte or two for each other column.
        assert!(bytes < 256 * (13 + 15 + 7), "{bytes}");
    }
}
