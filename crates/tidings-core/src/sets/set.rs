//! Sets of recipients of one bucket, which every record of a journal contains.
//!
//! A bitmap in memory; in a journal the smallest of three forms, because a container of the
//! in-memory form spans 65,536 numbers, more than many buckets have recipients.

use std::fmt;
use std::ops::{Deref, DerefMut};

use roaring::RoaringBitmap;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::codec::{ByteReader, Corrupt, put_u32, u32_len};

/// Gaps between members as variable-length integers: for sparse sets.
const FORM_GAPS: u8 = 1;
/// One bit a number from the byte of the first member to that of the last: for dense sets.
const FORM_BITS: u8 = 2;
/// Pairs of gap and length: for sets in few pieces, such as everybody.
const FORM_RUNS: u8 = 3;

/// Recipients of one bucket, by the dense numbers that they have in it.
#[derive(Clone, Default, PartialEq)]
pub struct Set(pub RoaringBitmap);

/// The size of each form, in bytes.
#[derive(Default)]
struct SetFormSizes {
    gaps: u64,
    bits: u64,
    runs: u64,
}

impl Set {
    /// Appends the set in its smallest form to `out`.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::sets::Set;
    ///
    /// let size = |set: Set| {
    ///     let mut bytes = Vec::new();
    ///     set.encode(&mut bytes);
    ///     bytes.len()
    /// };
    /// assert_eq!(size(Set::from_iter([7])), 2);
    /// // All recipients take a few bytes; every second one takes two bits a member.
    /// assert_eq!(size((0..100_000).collect()), 5);
    /// assert_eq!(size((0..100_000).step_by(2).collect()), 2 + 100_000 / 8);
    /// ```
    pub fn encode(&self, out: &mut Vec<u8>) {
        let sizes = self.sizes();
        if sizes.runs < sizes.gaps.min(sizes.bits) {
            out.push(FORM_RUNS);
            self.encode_runs(out);
        } else if sizes.bits < sizes.gaps {
            out.push(FORM_BITS);
            self.encode_bits(out);
        } else {
            out.push(FORM_GAPS);
            self.encode_gaps(out);
        }
    }

    /// Reads what [`Set::encode`] wrote, which must be all of `bytes`.
    ///
    /// Any bytes take at most some 50 times their memory or, with runs, 8 kB for each 65,536 numbers that these span.
    ///
    /// # Errors
    /// [`Corrupt`] where the bytes are something else.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::sets::Set;
    ///
    /// let mut bytes = Vec::new();
    /// Set::from_iter([3, 4, 900]).encode(&mut bytes);
    /// assert_eq!(Set::decode(&bytes)?.iter().collect::<Vec<_>>(), [3, 4, 900]);
    ///
    /// // The empty set is a byte: none at all is damage.
    /// assert!(Set::decode(&[]).is_err());
    /// # Ok::<(), tidings_core::codec::Corrupt>(())
    /// ```
    pub fn decode(bytes: &[u8]) -> Result<Self, Corrupt> {
        let mut reader = ByteReader::new(bytes, "set of recipients");
        match reader.byte()? {
            FORM_GAPS => decode_gaps(reader),
            FORM_BITS => decode_bits(reader),
            FORM_RUNS => decode_runs(reader),
            _ => Err(reader.corrupt()),
        }
    }

    fn sizes(&self) -> SetFormSizes {
        let (Some(first), Some(last)) = (self.0.min(), self.0.max()) else {
            return SetFormSizes::default();
        };
        let bits = u64::from(u32_len(first / 8)) + u64::from(last / 8 - first / 8) + 1;
        let mut sizes = SetFormSizes { bits, ..SetFormSizes::default() };
        let mut next = 0;
        self.each_run(|start, more| {
            let gap = u64::from(u32_len(start - next));
            sizes.gaps += gap + u64::from(more);
            sizes.runs += gap + u64::from(u32_len(more));
            next = (start + more).saturating_add(1);
        });
        sizes
    }

    fn encode_gaps(&self, out: &mut Vec<u8>) {
        let mut next = 0;
        self.each_run(|start, more| {
            put_u32(out, start - next);
            out.resize(out.len() + more as usize, 0);
            next = (start + more).saturating_add(1);
        });
    }

    fn encode_bits(&self, out: &mut Vec<u8>) {
        let (Some(first), Some(last)) = (self.0.min(), self.0.max()) else {
            return;
        };
        let base = first / 8;
        put_u32(out, base);
        let from = out.len();
        out.resize(from + (last / 8 - base) as usize + 1, 0);
        let bits = &mut out[from..];
        self.each_run(|start, more| {
            for member in start..=start + more {
                bits[(member / 8 - base) as usize] |= 1 << (member % 8);
            }
        });
    }

    fn encode_runs(&self, out: &mut Vec<u8>) {
        let mut next = 0;
        self.each_run(|start, more| {
            put_u32(out, start - next);
            put_u32(out, more);
            next = (start + more).saturating_add(1);
        });
    }

    /// Visits the maximal runs of consecutive members: the first, and the number that follow it.
    fn each_run(&self, mut visit: impl FnMut(u32, u32)) {
        let mut members = self.0.iter();
        let (Some(first), Some(last)) = (self.0.min(), self.0.max()) else {
            return;
        };
        if self.0.len() > u64::from(last - first) / 4 {
            while let Some(run) = members.next_range() {
                visit(*run.start(), run.end() - run.start());
            }
            return;
        }
        // Looking for the end of each short run costs more than stepping; stepping through a long one costs more still.
        members.next();
        let (mut start, mut end) = (first, first);
        while let Some(member) = members.next() {
            if member > end + 1 {
                visit(start, end - start);
                (start, end) = (member, member);
                continue;
            }
            end = member;
            if let Some(run) = members.next_range() {
                if *run.start() > end + 1 {
                    visit(start, end - start);
                    start = *run.start();
                }
                end = *run.end();
            }
        }
        visit(start, end - start);
    }
}

fn decode_gaps(mut reader: ByteReader<'_>) -> Result<Set, Corrupt> {
    let mut fault = None;
    let mut next = Some(0_u32);
    let members = std::iter::from_fn(|| {
        if reader.is_empty() {
            return None;
        }
        let member = reader.u32().and_then(|gap| {
            next.and_then(|next| next.checked_add(gap)).ok_or_else(|| reader.corrupt())
        });
        match member {
            Ok(member) => {
                next = member.checked_add(1);
                Some(member)
            }
            Err(corrupt) => {
                fault = Some(corrupt);
                None
            }
        }
    });
    let bitmap =
        RoaringBitmap::from_sorted_iter(members).expect("gaps lead to ever larger numbers");
    fault.map_or(Ok(Set(bitmap)), Err)
}

fn decode_bits(mut reader: ByteReader<'_>) -> Result<Set, Corrupt> {
    let base = u64::from(reader.u32()?) * 8;
    let bits = reader.rest();
    let end = base + bits.len() as u64 * 8;
    match u32::try_from(base) {
        Ok(base) if end <= 1 << 32 => Ok(Set(RoaringBitmap::from_lsb0_bytes(base, bits))),
        _ => Err(reader.corrupt()),
    }
}

fn decode_runs(mut reader: ByteReader<'_>) -> Result<Set, Corrupt> {
    let mut bitmap = RoaringBitmap::new();
    let mut next = Some(0_u32);
    while !reader.is_empty() {
        let (gap, more) = (reader.u32()?, reader.u32()?);
        let start = next.and_then(|next| next.checked_add(gap)).ok_or_else(|| reader.corrupt())?;
        let end = start.checked_add(more).ok_or_else(|| reader.corrupt())?;
        bitmap.insert_range(start..=end);
        next = end.checked_add(1);
    }
    Ok(Set(bitmap))
}

impl Deref for Set {
    type Target = RoaringBitmap;

    fn deref(&self) -> &RoaringBitmap {
        &self.0
    }
}

impl DerefMut for Set {
    fn deref_mut(&mut self) -> &mut RoaringBitmap {
        &mut self.0
    }
}

impl From<RoaringBitmap> for Set {
    fn from(bitmap: RoaringBitmap) -> Self {
        Self(bitmap)
    }
}

impl FromIterator<u32> for Set {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        Self(numbers.into_iter().collect())
    }
}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Set {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::new();
        self.encode(&mut bytes);
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for Set {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(SetBytes)
    }
}

struct SetBytes;

impl<'de> de::Visitor<'de> for SetBytes {
    type Value = Set;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a set of recipients as bytes")
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Set, E> {
        Set::decode(bytes).map_err(E::custom)
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Set, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = seq.next_element()? {
            bytes.push(byte);
        }
        Set::decode(&bytes).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn there_and_back(set: &Set) -> Vec<u8> {
        let mut bytes = vec![7];
        set.encode(&mut bytes);
        let encoded = bytes.split_off(1);
        assert_eq!(Set::decode(&encoded).as_ref(), Ok(set));
        encoded
    }

    #[test]
    fn f37_a_long_run_in_a_wide_set_is_not_stepped_through() {
        let mut wide = RoaringBitmap::new();
        wide.insert_range(3..900_000_000);
        wide.extend([1, 900_000_001, 900_000_002, u32::MAX]);
        assert_eq!(there_and_back(&Set(wide)).len(), 17);
    }

    /// Pieces of any gap and length, near the start or near the end of the numbers.
    fn sets() -> impl Strategy<Value = Set> {
        let piece = (0_u32..20, 0_u32..20).prop_map(|(a, b)| (1_u32 << a, 1_u32 << (b / 2)));
        let start = prop_oneof![Just(0_u32), 0_u32..100_000, Just(u32::MAX - 70_000)];
        (start, prop::collection::vec(piece, 0..40)).prop_map(|(start, pieces)| {
            let mut set = Set::default();
            let mut at = Some(start);
            for (gap, len) in pieces {
                let Some(from) = at.and_then(|at| at.checked_add(gap - 1)) else {
                    break;
                };
                let to = from.saturating_add(len - 1);
                set.insert_range(from..=to);
                at = to.checked_add(2);
            }
            set
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(set in sets()) {
            let len = there_and_back(&set).len();
            for encode in [Set::encode_gaps, Set::encode_runs, Set::encode_bits] {
                let mut bytes = Vec::new();
                if set.len() < 100_000 {
                    encode(&set, &mut bytes);
                    prop_assert!(len <= 1 + bytes.len());
                }
            }
            let bytes = postcard::to_stdvec(&set).unwrap();
            prop_assert_eq!(&postcard::from_bytes::<Set>(&bytes).unwrap(), &set);
            let text = serde_json::to_string(&set).unwrap();
            prop_assert_eq!(serde_json::from_str::<Set>(&text).unwrap(), set);
        }

        #[test]
        fn any_bytes_are_read_or_refused(form in 0_u8..5, bytes: Vec<u8>) {
            let mut bytes = bytes;
            bytes.insert(0, form);
            if let Ok(set) = Set::decode(&bytes) {
                there_and_back(&set);
            }
        }

        #[test]
        fn every_form_says_the_same(set in sets()) {
            let forms: [fn(&Set, &mut Vec<u8>); 2] = [Set::encode_gaps, Set::encode_runs];
            for (form, encode) in [FORM_GAPS, FORM_RUNS].into_iter().zip(forms) {
                let mut bytes = vec![form];
                encode(&set, &mut bytes);
                prop_assert_eq!(Set::decode(&bytes), Ok(set.clone()));
            }
        }
    }

    #[test]
    fn each_form_serves_its_kind_of_set() {
        let mut everybody = Set::default();
        everybody.insert_range(0..1_000_000);
        assert_eq!(there_and_back(&everybody), [FORM_RUNS, 0, 0xbf, 0x84, 0x3d]);
        let sparse: Set = (0..12_000).map(|i| i * 83).collect();
        assert_eq!(there_and_back(&sparse).len(), 1 + 12_000);
        let dense: Set = (0..100_000).filter(|i| i % 7 < 3 || i % 5 == 1).collect();
        assert!(there_and_back(&dense).len() <= 100_000 / 8 + 5);
        assert_eq!(there_and_back(&Set::default()), [FORM_GAPS]);
        there_and_back(&[u32::MAX].into_iter().collect());
        there_and_back(&[0, u32::MAX].into_iter().collect());
    }

    #[test]
    fn overflow_is_refused() {
        for bytes in [
            &[][..],
            &[0],
            &[FORM_GAPS, 0xff, 0xff, 0xff, 0xff, 0x0f, 0],
            &[FORM_RUNS, 0xff, 0xff, 0xff, 0xff, 0x0f, 1],
            &[FORM_RUNS, 0, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0],
            &[FORM_BITS, 0xff, 0xff, 0xff, 0xff, 0x01, 1, 1],
            &[FORM_BITS, 0xff, 0xff, 0xff, 0xff, 0x0f, 1],
        ] {
            assert!(Set::decode(bytes).is_err(), "{bytes:?}");
        }
    }
}
