//! Postings, the index of the journal: per recipient, the arrivals for them.
//!
//! The journal has the recipients of each arrival; a reader needs the arrivals of one recipient. Transposing the matrix
//! once makes that a read of one small block, whose cost does not grow with other recipients' arrivals.
//!
//! A *segment* is a number of consecutive arrivals; an *ordinal* counts them from 0. A *block* holds
//! the rows of [`BLOCK_RECIPIENTS`] neighbouring recipients: which of them have a row, the rows'
//! lengths, the rows. A row is the shorter of two forms, told apart by its length: gaps between
//! ordinals as variable-length integers, or one bit for each ordinal of the segment.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use roaring::RoaringBitmap;

use crate::codec::{ByteReader, Corrupt, FORM, put_u32, u32_len};

/// Number of recipients in a block: their numbers differ in the lowest 8 bits only.
pub(crate) const BLOCK_RECIPIENTS: u32 = 256;

/// Number of blocks that are built together: their rows' ends stay in a core's own cache.
const STRIPE_BLOCKS: u32 = 64;
const STRIPE_RECIPIENTS: u32 = STRIPE_BLOCKS * BLOCK_RECIPIENTS;

/// The number of rows up to which a list of slots is shorter than a bit for each slot.
const SLOT_LIST_ROWS_MAX: usize = 31;
const SLOT_BITS_BYTES: usize = BLOCK_RECIPIENTS as usize / 8;

/// The most bytes that a block can have for this number of arrivals and ordinals, if a recipient has at
/// most one ordinal of each arrival.
#[must_use]
pub(crate) fn block_bytes_max(arrivals: u32, ordinals: u32) -> u64 {
    // A gap takes a byte, and another for each 7 bits: of the sum of all gaps few can be long.
    let wide = [7, 14, 21, 28].map(|bits| ordinals >> bits);
    let gaps = wide.iter().map(|more| u64::from(*more)).sum::<u64>() + u64::from(arrivals);
    let row = gaps.min(bits_len(ordinals).into());
    let header = (9 + SLOT_BITS_BYTES) as u64;
    header + u64::from(BLOCK_RECIPIENTS) * (row + size_of::<u32>() as u64)
}

/// Builds the postings of a segment: `sets[i]` are the recipients that the arrival of ordinal `i` reached.
///
/// The key of a block is a recipient's number divided by `BLOCK_RECIPIENTS`; blocks without a
/// row are left out. Memory beyond the result is small and does not depend on the segment.
///
/// # Panics
/// If there are more than 2^32 - 1 sets.
///
/// # Examples
/// ```
/// use roaring::RoaringBitmap;
/// use tidings_core::index::{PostingBlock, build_blocks};
///
/// let first = RoaringBitmap::from([2, 3]);
/// let second = RoaringBitmap::from([3, 600]);
/// let blocks = build_blocks(&[&first, &second]);
/// // Recipients 2 and 3 share a block; 600 is in the third, and the second has nobody.
/// assert_eq!(blocks.keys().copied().collect::<Vec<_>>(), [0, 2]);
///
/// let mut arrivals_of_3 = Vec::new();
/// PostingBlock::parse(&blocks[&0])?.row(3, &mut |ordinal| arrivals_of_3.push(ordinal))?;
/// assert_eq!(arrivals_of_3, [0, 1]);
/// # Ok::<(), tidings_core::codec::Corrupt>(())
/// ```
#[must_use]
pub fn build_blocks(sets: &[&RoaringBitmap]) -> BTreeMap<u32, Vec<u8>> {
    let mut blocks = BTreeMap::new();
    let mut from = Some(0);
    while let Some(stripe) = from.and_then(|from| build_stripe(sets, from)) {
        blocks.extend(stripe.blocks);
        from = stripe.next;
    }
    blocks
}

/// A stripe: some neighbouring blocks of a segment that is being built.
#[derive(Debug)]
pub(crate) struct PostingStripe {
    /// The blocks that have a row.
    pub blocks: Vec<(u32, Vec<u8>)>,
    /// The number at which to continue; `None` = there is none.
    pub next: Option<u32>,
}

/// As [`build_blocks`], but only the first stripe of blocks that has a recipient whose number is `from` or
/// more; `from` is 0 or what the stripe before said. `None` = there is no such recipient.
///
/// # Panics
/// If there are more than 2^32 - 1 sets.
#[must_use]
pub(crate) fn build_stripe(sets: &[&RoaringBitmap], from: u32) -> Option<PostingStripe> {
    let ordinals = u32::try_from(sets.len()).expect("ordinals have 32 bits");
    let stripe = first_member(sets, from)? / STRIPE_RECIPIENTS;
    let first = stripe * STRIPE_RECIPIENTS;
    let last = first + (STRIPE_RECIPIENTS - 1);
    let mut rows = PostingRows::new(STRIPE_RECIPIENTS as usize, ordinals);
    each_entry(sets, first..=last, |member, ordinal| {
        rows.measure((member - first) as usize, ordinal);
    });
    rows.lay_out();
    each_entry(sets, first..=last, |member, ordinal| {
        rows.write((member - first) as usize, ordinal);
    });
    let blocks_before = stripe * STRIPE_BLOCKS;
    let blocks = (0..STRIPE_BLOCKS).filter_map(|i| Some((blocks_before + i, rows.block(i)?)));
    Some(PostingStripe { blocks: blocks.collect(), next: last.checked_add(1) })
}

/// The least member of all sets that is not below `from`.
fn first_member(sets: &[&RoaringBitmap], from: u32) -> Option<u32> {
    sets.iter().filter_map(|set| set.range(from..).next()).min()
}

/// Visits the members within a range of numbers, set by set, each with the set's ordinal.
fn each_entry(
    sets: &[&RoaringBitmap],
    numbers: RangeInclusive<u32>,
    mut visit: impl FnMut(u32, u32),
) {
    for (ordinal, set) in (0_u32..).zip(sets) {
        // One by one on purpose: roaring 0.12 reads past a full container of runs in `next_many`.
        for member in set.range(numbers.clone()) {
            visit(member, ordinal);
        }
    }
}

/// Merges segments of one block, each with the offset of its ordinals.
///
/// # Errors
/// [`Corrupt`] where a block is, where ordinals leave 32 bits, or where a segment's ordinals don't all
/// lie above those of the segment before.
///
/// # Examples
/// ```
/// use roaring::RoaringBitmap;
/// use tidings_core::index::{PostingBlock, build_blocks, merge_blocks};
///
/// let segment = build_blocks(&[&RoaringBitmap::from([3])]);
/// let merged = merge_blocks(&[(&segment[&0], 0), (&segment[&0], 5)])?;
/// let mut ordinals = Vec::new();
/// PostingBlock::parse(&merged)?.row(3, &mut |ordinal| ordinals.push(ordinal))?;
/// assert_eq!(ordinals, [0, 5]);
/// // Segments of the same ordinals are not of one journal.
/// assert!(merge_blocks(&[(&segment[&0], 0), (&segment[&0], 0)]).is_err());
/// # Ok::<(), tidings_core::codec::Corrupt>(())
/// ```
pub fn merge_blocks(blocks: &[(&[u8], u32)]) -> Result<Vec<u8>, Corrupt> {
    let mut ordinals = 0;
    let mut segments = Vec::with_capacity(blocks.len());
    for &(bytes, offset) in blocks {
        let segment = PostingBlock::parse(bytes)?;
        let end = offset.checked_add(segment.ordinals);
        ordinals = match end {
            Some(end) if offset >= ordinals => end,
            _ => return Err(Corrupt("postings: segments that overlap")),
        };
        segments.push((segment, offset));
    }
    let each = |visit: &mut dyn FnMut(usize, u32)| {
        segments.iter().try_for_each(|(segment, offset)| {
            segment.each(|_| true, |slot, ordinal| visit(slot.into(), ordinal + offset))
        })
    };
    let mut rows = PostingRows::new(BLOCK_RECIPIENTS as usize, ordinals);
    each(&mut |slot, ordinal| rows.measure(slot, ordinal))?;
    rows.lay_out();
    each(&mut |slot, ordinal| rows.write(slot, ordinal))?;
    Ok(rows.block(0).unwrap_or_else(|| rows.header(0..0)))
}

/// Neighbouring rows under construction. Entries come twice, those of one row in ascending order: first
/// to be measured, then to be written.
struct PostingRows {
    /// Number of ordinals of the segment.
    ordinals: u32,
    /// Length of a row of bits, in bytes.
    bits_len: u32,
    /// Per row, the least ordinal that may come next.
    next: Vec<u32>,
    /// Per row, its length in bytes.
    len: Vec<u32>,
    /// Per row, the position of its next byte (of its first, for a row of bits); then the end of all.
    positions: Vec<usize>,
    bytes: Vec<u8>,
}

impl PostingRows {
    fn new(rows: usize, ordinals: u32) -> Self {
        Self {
            ordinals,
            bits_len: bits_len(ordinals),
            next: vec![0; rows],
            len: vec![0; rows],
            positions: Vec::new(),
            bytes: Vec::new(),
        }
    }

    #[inline]
    fn measure(&mut self, row: usize, ordinal: u32) {
        let gap = ordinal - self.next[row];
        // A row of gaps is never kept beyond the length of the bits, so more need not be counted.
        self.len[row] = self.len[row].saturating_add(u32_len(gap));
        self.next[row] = ordinal + 1;
    }

    fn lay_out(&mut self) {
        let mut end = 0;
        self.positions.reserve(self.len.len());
        for len in &mut self.len {
            *len = (*len).min(self.bits_len);
            self.positions.push(end);
            end += *len as usize;
        }
        self.bytes = vec![0; end];
        self.next.fill(0);
    }

    #[inline]
    fn write(&mut self, row: usize, ordinal: u32) {
        let at = self.positions[row];
        if self.len[row] == self.bits_len {
            self.bytes[at + (ordinal / 8) as usize] |= 1 << (ordinal % 8);
            return;
        }
        let mut gap = ordinal - self.next[row];
        let mut end = at;
        while gap >= 0x80 {
            self.bytes[end] = gap as u8 | 0x80;
            gap >>= 7;
            end += 1;
        }
        self.bytes[end] = gap as u8;
        self.positions[row] = end + 1;
        self.next[row] = ordinal + 1;
    }

    /// The finished block of the rows from `index` times [`BLOCK_RECIPIENTS`] on, if there are any.
    fn block(&self, index: u32) -> Option<Vec<u8>> {
        let from = (index * BLOCK_RECIPIENTS) as usize;
        let slots = from..from + BLOCK_RECIPIENTS as usize;
        let last = slots.clone().rev().find(|&row| self.len[row] > 0)?;
        let first = slots.clone().find(|&row| self.len[row] > 0)?;
        let mut block = self.header(slots);
        block.extend_from_slice(&self.bytes[self.start(first)..self.start(last + 1)]);
        Some(block)
    }

    /// The start of a row, also once it is written.
    fn start(&self, row: usize) -> usize {
        match (self.positions.get(row), self.len.get(row)) {
            (Some(&at), Some(&len)) if len == self.bits_len || len == 0 => at,
            (Some(&at), Some(&len)) => at - len as usize,
            _ => self.bytes.len(),
        }
    }

    /// The header of a block: everything before its rows.
    fn header(&self, slots: Range<usize>) -> Vec<u8> {
        let lens = &self.len[slots];
        let present: Vec<(u8, u32)> =
            (0_u8..=255).zip(lens.iter().copied()).filter(|&(_, len)| len > 0).collect();
        let width = match present.iter().map(|&(_, len)| len).max() {
            Some(0x1_0000..) => 4,
            Some(0x100..) => 2,
            _ => 1,
        };
        let rows_len: usize = present.iter().map(|&(_, len)| len as usize).sum();
        let mut out = Vec::with_capacity(9 + SLOT_BITS_BYTES + present.len() * width + rows_len);
        out.extend([FORM, width as u8]);
        put_u32(&mut out, self.ordinals);
        if present.len() <= SLOT_LIST_ROWS_MAX {
            out.push(present.len() as u8);
            out.extend(present.iter().map(|&(slot, _)| slot));
        } else {
            out.push(SLOT_LIST_ROWS_MAX as u8 + 1);
            let start = out.len();
            out.resize(start + SLOT_BITS_BYTES, 0);
            for &(slot, _) in &present {
                out[start + usize::from(slot / 8)] |= 1 << (slot % 8);
            }
        }
        for &(_, len) in &present {
            out.extend_from_slice(&len.to_le_bytes()[..width]);
        }
        out
    }
}

/// The length of a row of bits.
fn bits_len(ordinals: u32) -> u32 {
    ordinals.div_ceil(8)
}

/// The slots of a block that have a row.
#[derive(Clone, Copy, Debug)]
enum BlockSlots<'a> {
    List(&'a [u8]),
    Bits(&'a [u8]),
}

impl BlockSlots<'_> {
    /// Number of rows before that of `slot`; `None` if it has none.
    fn rank(self, slot: u8) -> Option<usize> {
        match self {
            Self::List(slots) => slots.iter().position(|&one| one == slot),
            Self::Bits(bits) => {
                let (byte, bit) = (usize::from(slot / 8), slot % 8);
                let below = (bits[byte] & ((1 << bit) - 1)).count_ones() as usize;
                (bits[byte] >> bit & 1 == 1).then(|| count_ones(&bits[..byte]) + below)
            }
        }
    }

    fn each(self, mut visit: impl FnMut(u8) -> Result<(), Corrupt>) -> Result<(), Corrupt> {
        match self {
            Self::List(slots) => slots.iter().try_for_each(|&slot| visit(slot)),
            Self::Bits(bits) => (0_u8..=255)
                .filter(|slot| bits[usize::from(slot / 8)] >> (slot % 8) & 1 == 1)
                .try_for_each(visit),
        }
    }
}

/// A block as stored; reading allocates nothing.
#[derive(Clone, Copy, Debug)]
pub struct PostingBlock<'a> {
    ordinals: u32,
    slots: BlockSlots<'a>,
    width: usize,
    lens: &'a [u8],
    rows: &'a [u8],
}

impl<'a> PostingBlock<'a> {
    /// Reads the header of a block.
    ///
    /// # Errors
    /// [`Corrupt`] where the bytes are not a block. What is wrong inside a row shows when it is read.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Corrupt> {
        let mut reader = ByteReader::new(bytes, "block of postings");
        if reader.byte()? != FORM {
            return Err(reader.corrupt());
        }
        let width = match reader.byte()? {
            width @ (1 | 2 | 4) => usize::from(width),
            _ => return Err(reader.corrupt()),
        };
        let ordinals = reader.u32()?;
        let (slots, rows) = match usize::from(reader.byte()?) {
            rows @ ..=SLOT_LIST_ROWS_MAX => {
                let list = reader.take(rows)?;
                if !list.is_sorted_by(|a, b| a < b) {
                    return Err(reader.corrupt());
                }
                (BlockSlots::List(list), rows)
            }
            rows if rows == SLOT_LIST_ROWS_MAX + 1 => {
                let bits = reader.take(SLOT_BITS_BYTES)?;
                (BlockSlots::Bits(bits), count_ones(bits))
            }
            _ => return Err(reader.corrupt()),
        };
        let lens = reader.take(rows * width)?;
        let block = Self { ordinals, slots, width, lens, rows: reader.rest() };
        let (shortest, longest) = block.len_bounds();
        let lens_fit = rows == 0 || shortest > 0 && longest <= bits_len(ordinals);
        if lens_fit && block.rows_before(rows) == block.rows.len() as u64 {
            Ok(block)
        } else {
            Err(reader.corrupt())
        }
    }

    /// Number of ordinals of its segment.
    #[must_use]
    pub fn ordinals(&self) -> u32 {
        self.ordinals
    }

    /// Visits one recipient's ordinals, ascending, without touching another row. `slot` is the
    /// recipient's number modulo `BLOCK_RECIPIENTS`.
    ///
    /// # Errors
    /// [`Corrupt`] where the row is; ordinals may have been visited by then.
    pub fn row(&self, slot: u8, visit: &mut dyn FnMut(u32)) -> Result<(), Corrupt> {
        let Some(rank) = self.slots.rank(slot) else {
            return Ok(());
        };
        let start = usize::try_from(self.rows_before(rank)).map_err(|_| Self::CORRUPT_ROW)?;
        let len = read_len(&self.lens[rank * self.width..][..self.width]);
        self.visit_row(start, len, visit)
    }

    /// Visits the entries of all wanted recipients: slot by slot, and in a slot by ascending ordinal.
    ///
    /// # Errors
    /// [`Corrupt`] where a wanted row is; entries may have been visited by then.
    pub fn each(
        &self,
        wanted: impl Fn(u8) -> bool,
        mut visit: impl FnMut(u8, u32),
    ) -> Result<(), Corrupt> {
        let mut lens = self.lens.chunks_exact(self.width).map(read_len);
        let mut start = 0;
        self.slots.each(|slot| {
            let len = lens.next().unwrap_or(0);
            if wanted(slot) {
                self.visit_row(start, len, |ordinal| visit(slot, ordinal))?;
            }
            start += len;
            Ok(())
        })
    }

    const CORRUPT_ROW: Corrupt = Corrupt("row of postings");

    /// The bytes of the first `rank` rows.
    fn rows_before(&self, rank: usize) -> u64 {
        let lens = &self.lens[..rank * self.width];
        if self.width == 1 {
            return lens.iter().map(|&len| u64::from(len)).sum();
        }
        lens.chunks_exact(self.width).map(|len| read_len(len) as u64).sum()
    }

    /// The lengths of the shortest and the longest row.
    fn len_bounds(&self) -> (u32, u32) {
        if self.width == 1 {
            let bounds = (u8::MAX, u8::MIN);
            let (least, most) = self
                .lens
                .iter()
                .fold(bounds, |(least, most), &len| (least.min(len), most.max(len)));
            return (least.into(), most.into());
        }
        self.lens
            .chunks_exact(self.width)
            .map(|len| read_len(len) as u32)
            .fold((u32::MAX, 0), |(least, most), len| (least.min(len), most.max(len)))
    }

    fn visit_row(
        &self,
        start: usize,
        len: usize,
        mut visit: impl FnMut(u32),
    ) -> Result<(), Corrupt> {
        let row = self.rows.get(start..start + len).ok_or(Self::CORRUPT_ROW)?;
        if len == bits_len(self.ordinals) as usize {
            return self.visit_bits(row, visit);
        }
        let mut reader = ByteReader::new(row, Self::CORRUPT_ROW.0);
        let mut next = 0_u32;
        while !reader.is_empty() {
            match next.checked_add(reader.u32()?) {
                Some(ordinal) if ordinal < self.ordinals => {
                    visit(ordinal);
                    next = ordinal + 1;
                }
                _ => return Err(Self::CORRUPT_ROW),
            }
        }
        Ok(())
    }

    fn visit_bits(&self, row: &[u8], mut visit: impl FnMut(u32)) -> Result<(), Corrupt> {
        for (base, chunk) in (0_u32..).step_by(64).zip(row.chunks(8)) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            let mut bits = u64::from_le_bytes(word);
            while bits != 0 {
                let ordinal = base + bits.trailing_zeros();
                if ordinal >= self.ordinals {
                    return Err(Self::CORRUPT_ROW);
                }
                visit(ordinal);
                bits &= bits - 1;
            }
        }
        Ok(())
    }
}

fn count_ones(bits: &[u8]) -> usize {
    let (words, rest) = bits.as_chunks::<8>();
    let in_words: u32 = words.iter().map(|word| u64::from_le_bytes(*word).count_ones()).sum();
    let in_rest: u32 = rest.iter().map(|byte| byte.count_ones()).sum();
    (in_words + in_rest) as usize
}

/// A row's length, of 1 to 4 bytes.
#[inline]
fn read_len(bytes: &[u8]) -> usize {
    bytes.iter().rev().fold(0, |len, &byte| len << 8 | usize::from(byte))
}

#[cfg(test)]
mod tests;
