//! Export of a snapshot as a stream.

use std::io::Write;
use std::ops::ControlFlow;

use tidings_store::{Partition, Snapshot};

use super::block::{BLOCK_BYTES, BlockKind, BlockWriter};
use super::{BackupError, BackupSize};

/// Writes everything in a snapshot. The store may continue meanwhile; a deleted day's disk space is freed
/// when the snapshot is dropped.
///
/// # Errors
/// [`BackupError::Store`] or [`BackupError::Stream`]; what was written is no backup then.
pub fn export(snapshot: &dyn Snapshot, out: impl Write) -> Result<BackupSize, BackupError> {
    let mut writer = BlockWriter::new(out)?;
    let mut contents = BackupSize::default();
    let days = snapshot.days()?;
    contents.rows += partition(snapshot, Partition::Base, &mut writer)?;
    for day in days {
        let rows = partition(snapshot, Partition::Day(day), &mut writer)?;
        contents.days += u64::from(rows > 0);
        contents.rows += rows;
    }
    writer.finish(contents.rows)?;
    Ok(contents)
}

fn partition<W: Write>(
    snapshot: &dyn Snapshot,
    partition: Partition,
    writer: &mut BlockWriter<W>,
) -> Result<u64, BackupError> {
    let mut rows = 0;
    let mut raw = Vec::with_capacity(BLOCK_BYTES);
    let mut failed = None;
    let mut flush = |raw: &mut Vec<u8>, first: bool| {
        if first {
            let name = match partition {
                Partition::Base => Vec::new(),
                Partition::Day(day) => day.0.to_be_bytes().to_vec(),
            };
            writer.block(BlockKind::Partition, &name)?;
        }
        writer.block(BlockKind::Rows, raw)?;
        raw.clear();
        Ok::<(), std::io::Error>(())
    };
    let mut first = true;
    snapshot.scan(partition, &[], None, &mut |key, value| {
        for part in [key, value] {
            // A store takes no longer ones (`tidings_store::VALUE_BYTES_MAX`).
            let length = u32::try_from(part.len()).unwrap_or(u32::MAX);
            raw.extend_from_slice(&length.to_be_bytes());
            raw.extend_from_slice(part);
        }
        rows += 1;
        if raw.len() >= BLOCK_BYTES
            && let Err(fault) = flush(&mut raw, std::mem::take(&mut first))
        {
            failed = Some(fault);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    if let Some(fault) = failed {
        return Err(fault.into());
    }
    if !raw.is_empty() {
        flush(&mut raw, first)?;
    }
    Ok(rows)
}
