use proptest::prelude::*;

use super::*;

const TABLE: u32 = 16_385;

fn frame(change: &[u8]) -> Vec<u8> {
    let mut frame = vec![b'w'];
    frame.extend([0; 16]);
    frame.extend(7_000_i64.to_be_bytes());
    frame.extend(change);
    frame
}

fn text(text: &str) -> Vec<u8> {
    [text.as_bytes(), &[0]].concat()
}

fn relation(table: u32, columns: &[&str]) -> Vec<u8> {
    let mut change = vec![b'R'];
    change.extend(table.to_be_bytes());
    change.extend(text("public"));
    change.extend(text("tidings_outbox"));
    change.push(b'd');
    change.extend(u16::try_from(columns.len()).unwrap().to_be_bytes());
    for column in columns {
        change.push(0);
        change.extend(text(column));
        change.extend([0; 8]);
    }
    frame(&change)
}

fn tuple(columns: &[Option<&str>]) -> Vec<u8> {
    let mut tuple = u16::try_from(columns.len()).unwrap().to_be_bytes().to_vec();
    for column in columns {
        match column {
            None => tuple.push(b'n'),
            Some("unchanged") => tuple.push(b'u'),
            Some(text) => {
                tuple.push(b't');
                tuple.extend(u32::try_from(text.len()).unwrap().to_be_bytes());
                tuple.extend(text.as_bytes());
            }
        }
    }
    tuple
}

fn change(kind: u8, table: u32, parts: &[(u8, &[Option<&str>])]) -> Vec<u8> {
    let mut change = vec![kind];
    change.extend(table.to_be_bytes());
    for (kind, columns) in parts {
        change.push(*kind);
        change.extend(tuple(columns));
    }
    frame(&change)
}

fn message(flags: u8, prefix: &str, payload: &[u8]) -> Vec<u8> {
    let mut change = vec![b'M', flags];
    change.extend(0x16_0000_0abc_u64.to_be_bytes());
    change.extend(text(prefix));
    change.extend(u32::try_from(payload.len()).unwrap().to_be_bytes());
    change.extend(payload);
    frame(&change)
}

const COLUMNS: [&str; 6] = ["id", "key", "payload", "created_at", "taken_at", "refused"];

/// A decoder that knows the table.
fn decoder() -> Decoder {
    let mut decoder = Decoder::of(TABLE);
    assert_eq!(decoder.read(&relation(TABLE, &COLUMNS)), Ok(Told::Nothing));
    decoder
}

#[test]
fn rows_that_wait_are_told_and_no_others() {
    let mut decoder = decoder();
    let mut read = |frame: &[u8]| decoder.read(frame);
    let new = [Some("42"), None, Some("{}"), Some("now"), None, None];
    let told = Ok(Told::Row { id: 42, bytes: 7 });
    assert_eq!(read(&change(b'I', TABLE, &[(b'N', &new)])), told);
    assert_eq!(read(&change(b'U', TABLE, &[(b'N', &new)])), told);
    assert_eq!(read(&change(b'U', TABLE, &[(b'K', &new), (b'N', &new)])), told);
    let large = [Some("42"), None, Some("unchanged"), Some("now"), None, None];
    assert!(matches!(
        read(&change(b'U', TABLE, &[(b'N', &large)])),
        Ok(Told::Row { id: 42, bytes: 65_541 })
    ));
    for marked in [
        [Some("42"), None, Some("{}"), Some("now"), Some("now"), None],
        [Some("42"), None, Some("{}"), Some("now"), None, Some("{}")],
        [Some("42"), None, Some("{}"), Some("now"), None, Some("unchanged")],
    ] {
        assert_eq!(read(&change(b'U', TABLE, &[(b'N', &marked)])), Ok(Told::Nothing));
    }
    assert_eq!(read(&change(b'I', 1, &[(b'N', &new)])), Ok(Told::Nothing));
    assert_eq!(read(&change(b'D', TABLE, &[(b'K', &new)])), Ok(Told::Nothing));
    let text = [Some("forty"), None, Some("{}"), Some("now"), None, None];
    assert!(read(&change(b'I', TABLE, &[(b'N', &text)])).is_err());
}

#[test]
fn columns_are_found_by_name() {
    let mut decoder = Decoder::of(TABLE);
    let row = change(b'I', TABLE, &[(b'N', &[None, None, Some("7")])]);
    assert!(decoder.read(&row).is_err());
    assert!(decoder.read(&relation(TABLE, &["id", "refused"])).is_err());
    assert_eq!(decoder.read(&relation(1, &["id"])), Ok(Told::Nothing));
    decoder.read(&relation(TABLE, &["refused", "taken_at", "id"])).unwrap();
    assert_eq!(decoder.read(&row), Ok(Told::Row { id: 7, bytes: 1 }));
}

#[test]
fn messages_of_a_transaction_with_the_prefix_are_told() {
    let mut decoder = Decoder::of(TABLE);
    let told =
        |payload: &str| Ok(Told::Message { place: 0x16_0000_0abc, payload: payload.to_owned() });
    assert_eq!(decoder.read(&message(1, "tidings", b"{}")), told("{}"));
    assert_eq!(decoder.read(&message(1, "tidings", b"\xff")), told("\u{fffd}"));
    for other in [message(0, "tidings", b"{}"), message(1, "tiding", b"{}"), message(1, "", b"{}")]
    {
        assert_eq!(decoder.read(&other), Ok(Told::Nothing));
    }
}

#[test]
fn a_transaction_begins_and_ends() {
    let mut decoder = Decoder::of(TABLE);
    let begin = [&b"B"[..], &9_u64.to_be_bytes(), &5_000_i64.to_be_bytes(), &77_u32.to_be_bytes()];
    assert_eq!(
        decoder.read(&frame(&begin.concat())),
        Ok(Told::Begin { commit: 9, xid: 77, age_us: 2_000 })
    );
    let commit = [&b"C\0"[..], &9_u64.to_be_bytes(), &12_u64.to_be_bytes(), &[0; 8]];
    assert_eq!(decoder.read(&frame(&commit.concat())), Ok(Told::Commit { end: 12 }));
    let alive = [&b"k"[..], &30_u64.to_be_bytes(), &[0; 8], &[1]];
    assert_eq!(decoder.read(&alive.concat()), Ok(Told::Alive { end: 30, asks: true }));
    assert!(decoder.read(b"x").is_err());
    assert!(decoder.read(b"").is_err());
}

fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let row = change(
        b'U',
        TABLE,
        &[(b'O', &[Some("42"), None]), (b'N', &[Some("42"), None, Some("{}"), None, None, None])],
    );
    let real = prop_oneof![
        Just(relation(TABLE, &COLUMNS)),
        Just(row),
        Just(message(1, "tidings", b"{}")),
        Just(frame(b"B12345678901234567890")),
        Just(b"k12345678123456781".to_vec()),
    ];
    let bent = (real, any::<prop::sample::Index>(), any::<u8>(), any::<prop::sample::Index>());
    let bent = bent.prop_map(|(mut frame, at, byte, length)| {
        let at = at.index(frame.len());
        frame[at] = byte;
        frame.truncate(length.index(frame.len()) + 1);
        frame
    });
    let noise = (0..2_usize, prop::collection::vec(any::<u8>(), 0..200))
        .prop_map(|(kind, tail)| if kind == 0 { tail } else { frame(&tail) });
    prop_oneof![bent, noise]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_bytes_make_the_decoder_panic(frames in prop::collection::vec(any_frame(), 1..8)) {
        let mut decoder = decoder();
        for frame in frames {
            if let Ok(Told::Row { id, .. }) = decoder.read(&frame) {
                // A number is one that the bytes have.
                let id = id.to_string();
                prop_assert!(id.parse::<i64>().is_ok());
            }
        }
    }
}
