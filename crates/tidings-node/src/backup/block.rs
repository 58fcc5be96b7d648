//! Blocks: the frames of a backup, each with its checksum.

use std::io::{ErrorKind, Read, Write};

use xxhash_rust::xxh3::Xxh3;

use super::{BackupError, FORMAT, MAGIC, STORE_FORMAT};
use tidings_store::{KEY_BYTES_MAX, VALUE_BYTES_MAX};

/// Bytes of rows that are gathered before they become a block.
pub(super) const BLOCK_BYTES: usize = 1 << 20;

/// The most that a block can hold: what was gathered and one row more.
const RAW_BYTES_MAX: usize = BLOCK_BYTES + KEY_BYTES_MAX + VALUE_BYTES_MAX + 16;

/// Kind, raw bytes and stored bytes.
const HEAD_BYTES: usize = 9;

/// The kind of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    Partition = 1,
    Rows = 2,
    End = 3,
}

/// Writes blocks.
pub(super) struct BlockWriter<W> {
    out: W,
    all: Xxh3,
    packed: Vec<u8>,
}

impl<W: Write> BlockWriter<W> {
    /// Writes the head.
    pub(super) fn new(out: W) -> std::io::Result<Self> {
        let mut writer = Self { out, all: Xxh3::new(), packed: Vec::new() };
        writer.put(MAGIC)?;
        writer.put(&FORMAT.to_be_bytes())?;
        writer.put(&STORE_FORMAT.to_be_bytes())?;
        Ok(writer)
    }

    /// Writes a block.
    pub(super) fn block(&mut self, kind: BlockKind, raw: &[u8]) -> std::io::Result<()> {
        let mut packed = std::mem::take(&mut self.packed);
        packed.clear();
        if kind == BlockKind::Rows {
            packed.resize(lz4_flex::block::get_maximum_output_size(raw.len()), 0);
            let length =
                lz4_flex::block::compress_into(raw, &mut packed).map_err(std::io::Error::other)?;
            packed.truncate(length);
        } else {
            packed.extend_from_slice(raw);
        }
        let mut head = [0; HEAD_BYTES];
        head[0] = kind as u8;
        head[1..5].copy_from_slice(&length(raw)?.to_be_bytes());
        head[5..9].copy_from_slice(&length(&packed)?.to_be_bytes());
        self.put(&head)?;
        self.put(&checksum(&head, &packed).to_be_bytes())?;
        self.put(&packed)?;
        self.packed = packed;
        Ok(())
    }

    /// Writes the last block and gives the stream back.
    pub(super) fn finish(mut self, rows: u64) -> std::io::Result<W> {
        let mut end = [0; 16];
        end[..8].copy_from_slice(&rows.to_be_bytes());
        end[8..].copy_from_slice(&self.all.digest().to_be_bytes());
        self.block(BlockKind::End, &end)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn put(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.all.update(bytes);
        self.out.write_all(bytes)
    }
}

fn length(bytes: &[u8]) -> std::io::Result<u32> {
    u32::try_from(bytes.len()).map_err(std::io::Error::other)
}

fn checksum(head: &[u8], payload: &[u8]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(head);
    hash.update(payload);
    hash.digest()
}

/// Reads blocks, and refuses whatever is not as it was written.
pub(super) struct BlockReader<R> {
    input: R,
    all: Xxh3,
    offset: u64,
    packed: Vec<u8>,
}

impl<R: Read> BlockReader<R> {
    /// Reads the head.
    pub(super) fn new(input: R) -> Result<Self, BackupError> {
        let mut reader = Self { input, all: Xxh3::new(), offset: 0, packed: Vec::new() };
        let mut magic = [0; MAGIC.len()];
        match reader.take(&mut magic) {
            Err(BackupError::CutOff(_)) => return Err(BackupError::Foreign),
            read => read?,
        }
        if magic != *MAGIC {
            return Err(BackupError::Foreign);
        }
        match reader.number()? {
            FORMAT => {}
            other => return Err(BackupError::Format(other)),
        }
        match reader.number()? {
            STORE_FORMAT => Ok(reader),
            other => Err(BackupError::StoreFormat(other)),
        }
    }

    fn number(&mut self) -> Result<u32, BackupError> {
        let mut bytes = [0; 4];
        self.take(&mut bytes)?;
        Ok(u32::from_be_bytes(bytes))
    }

    /// Reads the next block into `raw`. After [`BlockKind::End`] the whole stream has been checked, but
    /// for the number of rows, which `raw` begins with.
    pub(super) fn block(&mut self, raw: &mut Vec<u8>) -> Result<BlockKind, BackupError> {
        let (offset, before) = (self.offset, self.all.digest());
        let damaged = |what| BackupError::Damaged { offset, what };
        let mut head = [0; HEAD_BYTES];
        self.take(&mut head)?;
        let mut sum = [0; 8];
        self.take(&mut sum)?;
        let kind = match head[0] {
            1 => BlockKind::Partition,
            2 => BlockKind::Rows,
            3 => BlockKind::End,
            _ => return Err(damaged("unknown kind of block")),
        };
        let number = |from: usize| {
            let bytes = [head[from], head[from + 1], head[from + 2], head[from + 3]];
            usize::try_from(u32::from_be_bytes(bytes)).unwrap_or(usize::MAX)
        };
        let (raw_bytes, stored_bytes) = (number(1), number(5));
        let stored_max = lz4_flex::block::get_maximum_output_size(raw_bytes.min(RAW_BYTES_MAX));
        // Lengths are checked before memory is taken: a damaged one must not ask for gigabytes.
        if raw_bytes > RAW_BYTES_MAX || stored_bytes > stored_max {
            return Err(damaged("invalid length"));
        }
        let mut packed = std::mem::take(&mut self.packed);
        packed.resize(stored_bytes, 0);
        self.take(&mut packed)?;
        if checksum(&head, &packed) != u64::from_be_bytes(sum) {
            return Err(damaged("wrong checksum"));
        }
        raw.clear();
        if kind == BlockKind::Rows {
            raw.resize(raw_bytes, 0);
            let length = lz4_flex::block::decompress_into(&packed, raw);
            if length.ok() != Some(raw_bytes) {
                return Err(damaged("it can't be unpacked"));
            }
        } else {
            raw.extend_from_slice(&packed);
        }
        self.packed = packed;
        if kind == BlockKind::End {
            self.end(raw, before, offset)?;
        }
        Ok(kind)
    }

    /// The error of a block whose bytes are as they were written, and make no sense.
    pub(super) fn odd(&self) -> BackupError {
        BackupError::Damaged { offset: self.offset, what: "invalid data before the end" }
    }

    fn end(&mut self, raw: &[u8], before: u64, offset: u64) -> Result<(), BackupError> {
        // The sum over all bytes finds what single checksums can't: blocks that are missing or in another
        // order.
        if raw.get(8..) != Some(&before.to_be_bytes()[..]) {
            let what = "blocks are missing or in the wrong order";
            return Err(BackupError::Damaged { offset, what });
        }
        let mut one = [0; 1];
        match self.input.read(&mut one)? {
            0 => Ok(()),
            _ => Err(BackupError::Damaged { offset: self.offset, what: "data after its end" }),
        }
    }

    fn take(&mut self, into: &mut [u8]) -> Result<(), BackupError> {
        match self.input.read_exact(into) {
            Ok(()) => {}
            Err(fault) if fault.kind() == ErrorKind::UnexpectedEof => {
                return Err(BackupError::CutOff(self.offset));
            }
            Err(fault) => return Err(fault.into()),
        }
        self.all.update(into);
        self.offset += into.len() as u64;
        Ok(())
    }
}
