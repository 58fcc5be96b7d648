//! Journals made by hand: whole, torn and damaged.

use tempfile::TempDir;

use super::*;

fn row(keyspace: u64, key: &[u8], value: &[u8]) -> Vec<u8> {
    let length = u32::try_from(value.len()).unwrap().to_le_bytes();
    let key_length = u16::try_from(key.len()).unwrap().to_le_bytes();
    let keyspace = keyspace.to_le_bytes();
    [[ITEM, 0, 0].as_slice(), &keyspace, &key_length, &length, &length, key, value].concat()
}

fn commit(number: u64, sequence: u64) -> Vec<u8> {
    let filler = vec![u8::try_from(number % 256).unwrap(); 100];
    let rows = [row(2, b"key", &filler), row(COMMITS_KEYSPACE, LAST, &number.to_be_bytes())];
    let rows = rows.concat();
    let mut hasher = Xxh3::new();
    hasher.update(&rows);
    let (sequence, sum) = (sequence.to_le_bytes(), hasher.digest().to_le_bytes());
    let start = [[START].as_slice(), &2_u32.to_le_bytes(), &sequence].concat();
    [start, rows, vec![END], sum.to_vec(), TRAILER.to_vec()].concat()
}

fn commits(numbers: impl IntoIterator<Item = u64>) -> Vec<u8> {
    numbers.into_iter().flat_map(|number| commit(number, number * 2)).collect()
}

fn engine(journals: &[Vec<u8>]) -> TempDir {
    let engine = tempfile::tempdir().unwrap();
    for (number, bytes) in journals.iter().enumerate() {
        // The names' order is not that of their letters.
        fs::write(engine.path().join(format!("{}.jnl", number + 9)), bytes).unwrap();
    }
    engine
}

fn verdict(journals: &[Vec<u8>]) -> Result<Option<u64>, Error> {
    recover(engine(journals).path())
}

fn is_corrupt(journals: &[Vec<u8>]) -> bool {
    matches!(verdict(journals), Err(Error::Corrupt(_)))
}

#[test]
fn whole_journals_pass() {
    let zeros = vec![0; 200_000];
    assert_eq!(verdict(&[vec![]]).unwrap(), None);
    assert_eq!(verdict(std::slice::from_ref(&zeros)).unwrap(), None);
    assert_eq!(verdict(&[commits(1..4)]).unwrap(), Some(3));
    assert_eq!(verdict(&[[commits(7..2_000), zeros].concat(), vec![]]).unwrap(), Some(1_999));
    assert_eq!(verdict(&[commits(1..4), commits(4..9)]).unwrap(), Some(8));
}

#[test]
fn the_torn_end_of_a_crash_passes() {
    let last = commit(4, 8);
    for length in 0..last.len() {
        let torn = [commits(1..4), last[..length].to_vec(), vec![0; 100]].concat();
        assert_eq!(verdict(&[torn]).unwrap(), Some(3), "{length}");
    }
    let mut hole = last.clone();
    hole[..20].fill(0);
    assert_eq!(verdict(&[[commits(1..4), hole].concat()]).unwrap(), Some(3));
    let mut looks_whole = last;
    looks_whole[60..90].fill(0);
    let engine = engine(&[[commits(1..4), looks_whole].concat()]);
    assert_eq!(recover(engine.path()).unwrap(), Some(3));
    let left = fs::read(engine.path().join("9.jnl")).unwrap();
    assert!(left == commits(1..4), "{} bytes are left", left.len());
}

#[test]
fn damage_before_another_commit_is_refused() {
    let whole = commits(1..6);
    let length = whole.len() / 5;
    for byte in 0..length * 4 {
        for bit in [1, 128] {
            let mut damaged = whole.clone();
            damaged[byte] ^= bit;
            let in_commit = byte % length;
            // The lower bits of the engine's own number are allowed to be anything ascending.
            if !(5..13).contains(&in_commit) {
                assert!(is_corrupt(&[damaged]), "byte {byte}, bit {bit}");
            }
        }
    }
}

#[test]
fn missing_commits_are_refused() {
    assert!(is_corrupt(&[commits([1, 2, 4])]));
    assert!(is_corrupt(&[commits(1..3), commits(4..6)]));
    assert!(is_corrupt(&[commits(1..3), commits(4..6), commits(3..4)]));
    let cut = commits(1..4);
    assert!(is_corrupt(&[cut[..cut.len() - 1].to_vec(), commits(4..6)]));
    assert!(is_corrupt(&[commits(1..4), commits(2..6)]));
}

#[test]
fn commits_out_of_order_are_refused() {
    let ordered = |sequences: [u64; 3]| -> Vec<u8> {
        (1..).zip(sequences).flat_map(|(number, sequence)| commit(number, sequence)).collect()
    };
    assert_eq!(verdict(&[ordered([5, 6, 90])]).unwrap(), Some(3));
    assert!(is_corrupt(&[ordered([5, 4, 6])]));
    assert!(is_corrupt(&[ordered([5, 6, 1 << 40])]));
    assert!(is_corrupt(&[ordered([1 << 63, 6, 7])]));
}

#[test]
fn a_store_without_journals_is_refused() {
    assert!(is_corrupt(&[]));
    let engine = engine(&[commits(1..3)]);
    fs::create_dir(engine.path().join("10.jnl")).unwrap();
    assert!(matches!(recover(engine.path()), Err(Error::Corrupt(_))));
}
