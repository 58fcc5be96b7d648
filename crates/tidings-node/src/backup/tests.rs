//! Backups come back as they were written, and changed ones are refused.

use std::path::Path;

use tidings_core::Day;
use tidings_store::{
    Expected, FjallStore, MemoryStore, Options, Partition, Store, StoreId, StorePlace, Write,
};

use super::*;

type Row = (Partition, Vec<u8>, Vec<u8>);

fn put(partition: Partition, key: &[u8], value: Vec<u8>) -> Write {
    Write { partition, key: key.to_vec(), value: Some(value) }
}

/// Some blocks' worth of rows in three partitions, and a day without any.
fn store() -> MemoryStore {
    let store = MemoryStore::new();
    let mut writes = vec![
        put(Partition::Base, b"empty", Vec::new()),
        put(Partition::Day(Day(-3)), &[0xff; 300], b"before 1970".to_vec()),
    ];
    for number in 0..60_000_u32 {
        let value = number.to_le_bytes().repeat(10);
        writes.push(put(Partition::Day(Day(19_000)), &number.to_be_bytes(), value));
    }
    let gone = Write { partition: Partition::Day(Day(7)), key: vec![1], value: None };
    writes.push(put(Partition::Day(Day(7)), &[1], vec![1]));
    writes.push(gone);
    store.commit(writes.into()).unwrap();
    store
}

fn rows(store: &dyn Store) -> Vec<Row> {
    let snapshot = store.snapshot().unwrap();
    let days = snapshot.days().unwrap().into_iter().map(Partition::Day);
    let mut rows = Vec::new();
    for partition in [Partition::Base].into_iter().chain(days) {
        let mut visit = |key: &[u8], value: &[u8]| {
            rows.push((partition, key.to_vec(), value.to_vec()));
            std::ops::ControlFlow::Continue(())
        };
        snapshot.scan(partition, &[], None, &mut visit).unwrap();
    }
    rows
}

fn exported(store: &dyn Store) -> (Vec<u8>, BackupSize) {
    let mut bytes = Vec::new();
    let contents = export(&*store.snapshot().unwrap(), &mut bytes).unwrap();
    (bytes, contents)
}

fn restored(bytes: &[u8], directory: &Path) -> Result<BackupSize, BackupError> {
    restore(bytes, &StorePlace::Directory(directory.to_owned()), StoreId([7; 16]), |_| Ok(()))
}

#[test]
fn a_backup_brings_everything_back() {
    let store = store();
    let (bytes, contents) = exported(&store);
    assert_eq!(contents, BackupSize { days: 2, rows: 60_002 });
    assert_eq!(check(&bytes[..]).unwrap(), contents);
    assert!(bytes.len() < 1_500_000, "it is packed: {}", bytes.len());
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    assert_eq!(restored(&bytes, &data).unwrap(), contents);
    let back = FjallStore::open(&data, Expected::Existing, Options::default()).unwrap();
    assert!(rows(&back) == rows(&store), "every row is as it was");
    assert_eq!(exported(&back).0, bytes, "the same rows give the same backup");
}

#[test]
fn a_backup_of_nothing_is_one() {
    let (bytes, contents) = exported(&MemoryStore::new());
    assert_eq!(contents, BackupSize::default());
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(restored(&bytes, directory.path()).unwrap(), contents);
}

#[test]
fn what_is_cut_off_is_no_store() {
    let (bytes, _) = exported(&store());
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    for length in [0, 5, 16, 19, 20, 23, 24, 29, 60, bytes.len() / 2, bytes.len() - 1] {
        let fault = restored(&bytes[..length], &data).unwrap_err();
        let expected = match length {
            0..16 => matches!(fault, BackupError::Foreign),
            _ => matches!(fault, BackupError::CutOff(_)),
        };
        assert!(expected, "{length}: {fault}");
        let left = std::fs::read_dir(&data).map(|left| {
            left.map(|entry| entry.unwrap().file_name()).filter(|name| name != "LOCK").count()
        });
        assert_eq!(left.unwrap_or(0), 0, "{length}: nothing was put in place");
    }
    assert!(restored(&bytes, &data).is_ok());
}

#[test]
fn a_flipped_bit_is_found_wherever_it_is() {
    let (bytes, _) = exported(&store());
    for place in
        (0..200).chain((200..bytes.len()).step_by(9973)).chain(bytes.len() - 41..bytes.len())
    {
        let mut flipped = bytes.clone();
        flipped[place] ^= 1 << (place % 8);
        let fault = check(&flipped[..]).unwrap_err();
        assert!(
            !matches!(fault, BackupError::Store(_) | BackupError::Stream(_)),
            "{place}: {fault}"
        );
    }
}

#[test]
fn blocks_that_are_missing_doubled_or_foreign_are_found() {
    let mut writer = block::BlockWriter::new(Vec::new()).unwrap();
    writer.block(block::BlockKind::Partition, &[]).unwrap();
    writer.block(block::BlockKind::Rows, &[0, 0, 0, 1, 7, 0, 0, 0, 0]).unwrap();
    let whole = writer.finish(1).unwrap();
    assert_eq!(check(&whole[..]).unwrap().rows, 1);
    let damaged = |bytes: &[u8]| matches!(check(bytes), Err(BackupError::Damaged { .. }));
    let (head, rest) = whole.split_at(24);
    let (named, rows) = rest.split_at(17);
    assert!(damaged(&[head, rows].concat()));
    assert!(damaged(&[head, named, named, rows].concat()));
    assert!(damaged(&[&whole[..], b"\n"].concat()));
    for (name, rows) in [(&b"day"[..], &[][..]), (&[], &[0, 0, 0, 9, 1])] {
        let mut writer = block::BlockWriter::new(Vec::new()).unwrap();
        writer.block(block::BlockKind::Partition, name).unwrap();
        writer.block(block::BlockKind::Rows, rows).unwrap();
        assert!(damaged(&writer.finish(0).unwrap()));
    }
}

#[test]
fn other_files_and_other_formats_are_refused_before_anything_is_touched() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let foreign = restored(b"{\"id\":\"a\"}\n{\"id\":\"b\"}\n", &data);
    assert!(matches!(foreign, Err(BackupError::Foreign)));
    let (bytes, _) = exported(&MemoryStore::new());
    for (at, what) in [(19, "backup has format 9"), (23, "store of format 9")] {
        let mut other = bytes.clone();
        other[at] = 9;
        let fault = restored(&other, &data).unwrap_err();
        assert!(fault.to_string().contains(what), "{fault}");
        assert!(!data.exists());
    }
}
