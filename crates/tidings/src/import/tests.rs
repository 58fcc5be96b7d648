//! Inputs of all kinds, and sinks that refuse and fail.

use tidings_core::model::HostText;
use tidings_node::RuntimeError;

use super::*;

/// Remembers what it took; refuses what is named `bad`, fails once it has taken enough.
struct Kept {
    rows: Vec<String>,
    lines: Vec<u8>,
    wants_lines: bool,
    slices_max: usize,
}

impl Kept {
    fn new() -> Self {
        Self { rows: Vec::new(), lines: Vec::new(), wants_lines: true, slices_max: usize::MAX }
    }
}

impl Sink for Kept {
    fn slice_rows(&self) -> usize {
        2
    }

    fn wants_lines(&self) -> bool {
        self.wants_lines
    }

    fn give(&mut self, commands: Vec<Command>, lines: Vec<u8>) -> Result<PendingSlice, SinkError> {
        if self.slices_max == 0 {
            return Err(RuntimeError::Stopped.into());
        }
        self.slices_max -= 1;
        self.lines.extend(lines);
        let mut refused = Vec::new();
        for (at, command) in commands.iter().enumerate() {
            let Command::Recipient(change) = command else {
                panic!("recipients are brought in");
            };
            if change.id.as_str() == "bad" {
                refused.push((at, Fault::new("it is refused", "")));
            } else {
                self.rows.push(change.id.as_str().to_owned());
            }
        }
        Ok(PendingSlice::Durable(refused))
    }
}

#[derive(Default)]
struct Heard {
    position: InputPosition,
    skipped: Vec<u64>,
}

impl Observer for Heard {
    fn advanced(&mut self, position: InputPosition, _: Tally) {
        assert!(position.bytes >= self.position.bytes, "it never goes back");
        self.position = position;
    }

    fn skipped(&mut self, fault: &Fault) {
        self.skipped.push(fault.line.unwrap());
    }
}

fn import(text: &str, format: Format, bad: BadRows) -> Import<&[u8]> {
    Import { input: text.as_bytes(), format, kind: Kind::Recipients, from: None, bad }
}

const LINES: &str =
    "{\"id\":\"a\"}\r\n\n{\"id\":\"b\"}\n{\"id\":\"bad\"}\n{\"id\":\"c\",\"x\":1}\n{\"id\":\"d\"}";
const CSV: &str = "id,email\na,\nb,\"b@example.org\"\nbad,\nc,no address\nd,\"d@\nx\"\ne,\n";

#[test]
fn an_address_is_a_column_of_its_channel() {
    let text = "id,addresses.email\na,a@example.org\nb,none\nc,\n";
    let (mut kept, mut heard) = (Kept::new(), Heard::default());
    let all = import(text, Format::Csv, BadRows::Skip);
    all.run(&mut kept, &mut heard).1.unwrap();
    assert_eq!(kept.rows, ["a", "c"]);
    assert_eq!(heard.skipped, [3]);
}

#[test]
fn rows_come_in_and_bad_ones_are_left_out_with_their_lines() {
    for (text, format, taken, skipped) in [
        (LINES, Format::Ndjson, &["a", "b", "d"][..], &[4, 5][..]),
        (CSV, Format::Csv, &["a", "b", "e"], &[4, 5, 6]),
    ] {
        let (mut kept, mut heard) = (Kept::new(), Heard::default());
        let all = import(text, format, BadRows::Skip);
        let (tally, ended) = all.run(&mut kept, &mut heard);
        ended.unwrap();
        assert_eq!(kept.rows, taken);
        assert_eq!(heard.skipped, skipped);
        assert_eq!(tally.taken, 3);
        assert_eq!(tally.skipped, skipped.len() as u64);
        assert_eq!(heard.position.bytes, text.len() as u64);
        for line in kept.lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            serde_json::from_slice::<serde_json::Value>(line).unwrap();
        }
    }
}

#[test]
fn the_first_bad_row_ends_an_import_that_refuses_them() {
    for (text, format) in [(LINES, Format::Ndjson), (CSV, Format::Csv)] {
        let (mut kept, mut heard) = (Kept::new(), Heard::default());
        let all = import(text, format, BadRows::Refuse);
        let (tally, ended) = all.run(&mut kept, &mut heard);
        let Err(ImportError::Row(fault)) = ended else { panic!("it went on") };
        assert_eq!(fault.line, Some(4), "{fault}");
        assert_eq!(&kept.rows[..2], ["a", "b"]);
        assert!(tally.taken >= 2);
        assert!(heard.position.line < 4, "it is read again after it was mended");
    }
}

#[test]
fn f13_what_was_cut_short_comes_in_when_it_is_run_again() {
    for (text, format, taken) in
        [(LINES, Format::Ndjson, &["a", "b", "d"][..]), (CSV, Format::Csv, &["a", "b", "e"])]
    {
        let (mut kept, mut heard) = (Kept::new(), Heard::default());
        kept.slices_max = 1;
        let (_, ended) = import(text, format, BadRows::Skip).run(&mut kept, &mut heard);
        assert!(matches!(ended, Err(ImportError::Trouble(_))));
        assert_eq!(kept.rows, taken[..2]);
        let mut again = Kept::new();
        let (tally, ended) =
            import(text, format, BadRows::Skip).run(&mut again, &mut Heard::default());
        ended.unwrap();
        assert_eq!(again.rows, taken);
        assert_eq!(tally.taken, 3);
    }
}

#[test]
fn a_head_that_names_nothing_or_something_twice_is_refused() {
    for (text, said) in [("id,id\n", "stands twice"), ("id,,tz\n", "has no name")] {
        let (mut kept, mut heard) = (Kept::new(), Heard::default());
        let all = import(text, Format::Csv, BadRows::Skip);
        let Err(ImportError::File(fault)) = all.run(&mut kept, &mut heard).1 else {
            panic!("it was taken")
        };
        assert!(fault.reason.contains(said), "{fault}");
    }
}

#[test]
fn field_4_empty_columns_at_the_end_are_passed_over() {
    let text = "id,email,,\na,,,\nb,b@example.org\nc,,x,\nd,,,y\ne,,,,\n";
    let (mut kept, mut heard) = (Kept::new(), Heard::default());
    import(text, Format::Csv, BadRows::Skip).run(&mut kept, &mut heard).1.unwrap();
    assert_eq!(kept.rows, ["a", "b", "e"]);
    assert_eq!(heard.skipped, [4, 5], "something stands in them");
}

#[test]
fn lines_of_a_csv_are_counted_whatever_ends_them() {
    let text = "\n\nid,email\n\na,\n\n\nc,no address\nb,\"b@example.org\"\nd,none";
    for text in [text.to_owned(), text.replace('\n', "\r\n")] {
        let (mut kept, mut heard) = (Kept::new(), Heard::default());
        let all = import(&text, Format::Csv, BadRows::Skip);
        all.run(&mut kept, &mut heard).1.unwrap();
        assert_eq!(kept.rows, ["a", "b"]);
        assert_eq!(heard.skipped, [8, 10], "{text:?}");
    }
}

#[test]
fn a_quote_that_nothing_closes_is_not_left_out_with_all_that_follows() {
    for row in ["\"b,b@example.org", "b,\"b@example.org"] {
        let text = format!("id,email\na,\n{row}\nc,\nd,\n");
        let (mut kept, mut heard) = (Kept::new(), Heard::default());
        let all = import(&text, Format::Csv, BadRows::Skip);
        let Err(ImportError::File(fault)) = all.run(&mut kept, &mut heard).1 else {
            panic!("it was left out")
        };
        assert_eq!((fault.line, &kept.rows[..]), (Some(3), &["a".to_owned()][..]));
        assert_eq!(
            heard.position,
            InputPosition::default(),
            "it is read again after it was mended"
        );
    }
}

#[test]
fn a_name_that_is_too_long_is_a_bad_row_with_its_line() {
    let text = format!("id,name\na,Ann\nb,{}\nc,Cy\n", "x".repeat(1025));
    let (mut kept, mut heard) = (Kept::new(), Heard::default());
    let all = import(&text, Format::Csv, BadRows::Skip);
    all.run(&mut kept, &mut heard).1.unwrap();
    assert_eq!((kept.rows, heard.skipped), (vec!["a".to_owned(), "c".to_owned()], vec![3]));
}

/// Imports a CSV, with bad rows skipped: the ids that came in, and how it ended.
fn imported(text: &[u8]) -> (Vec<String>, Result<(), ImportError>) {
    let mut kept = Kept::new();
    let all = Import {
        input: text,
        format: Format::Csv,
        kind: Kind::Recipients,
        from: None,
        bad: BadRows::Skip,
    };
    let (_, ended) = all.run(&mut kept, &mut Heard::default());
    (kept.rows, ended)
}

#[test]
fn field_7_a_file_that_is_no_csv_in_utf_8_is_refused_with_the_cure() {
    let utf_16 = |text: &str| {
        std::iter::once(0xfeff)
            .chain(text.encode_utf16())
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<u8>>()
    };
    let without_mark = utf_16("id,name\r\nana,Ana\r\n").split_off(2);
    let cases: [(&[u8], &str, &str); 9] = [
        (b"id,name\rana,Ana\rben,Ben\r", "carriage return", "line feed"),
        (b"id\rana\rben", "carriage return", "line feed"),
        (&utf_16("id,name\r\nana,Ana\r\n"), "not UTF-8", "CSV UTF-8"),
        (&without_mark, "not UTF-8", "CSV UTF-8"),
        (b"id;email;name\nana;a@example.org;Ana\n", "separated by `;`", "commas"),
        (b"id\temail\nana\ta@example.org\n", "separated by `\\t`", "commas"),
        (b"Id,Email\nana,a@example.org\n", "unknown column `Id`", "`id`"),
        (b"id,addresess.email\nana,\n", "unknown column", "`addresses`"),
        (b"id,topic\nana,x\n", "unknown column `topic`", "known:"),
    ];
    for (text, reason, hint) in cases {
        let (rows, ended) = imported(text);
        let Err(ImportError::File(fault)) = ended else {
            panic!("it was taken: {}", String::from_utf8_lossy(text))
        };
        assert!(fault.reason.contains(reason), "{fault}");
        assert!(fault.hint.contains(hint), "{fault}");
        assert_eq!((fault.line, rows.len()), (Some(1), 0), "{fault}");
    }
}

#[test]
fn field_8_a_quote_that_nothing_closes_is_refused_whatever_the_row_is_otherwise() {
    for end in ["", "\n", "\r\n", "\n\n"] {
        let text = format!("id,name\nben,\"Ben\nO\"\nana,\"Ana\ncleo,Cleo\ndov,Dov{end}");
        let (rows, ended) = imported(text.as_bytes());
        let Err(ImportError::File(fault)) = ended else { panic!("it was taken: {text}") };
        assert!(fault.reason.contains("unclosed quote"), "{fault}");
        assert_eq!(fault.line, Some(4), "{text:?}");
        assert_eq!(rows, ["ben"]);
    }
    // Closed at the very end, and with an end of line as its last sign.
    for text in ["id,name\nana,\"Ana\"", "id,name\nana,\"Ana\n\"\n"] {
        let (rows, ended) = imported(text.as_bytes());
        ended.unwrap();
        assert_eq!(rows, ["ana"], "{text:?}");
    }
}

#[test]
fn field_9_spaces_around_cells_are_removed_and_rows_of_empty_cells_left_out() {
    let text = "id      , email\nana     ,  a@example.org \n,\n  ,\n\" ben \",\u{a0}\n,,\n";
    let (rows, ended) = imported(text.as_bytes());
    ended.unwrap();
    assert_eq!(rows, ["ana", "ben"]);
}

/// On the stack that a thread of a server has, as those of tests do.
#[test]
fn a_head_of_one_sign_a_million_times_is_read_without_a_recursion() {
    for part in ["\"", "\"\"", ",", "a\"b", "\r"] {
        let _ = imported(part.repeat(1 << 20).as_bytes());
    }
}

/// The content of a file of another product, as lines of ours.
fn moved(from: Source, text: &str) -> (Vec<serde_json::Value>, Vec<u64>) {
    let mut kept = Kept::new();
    let mut heard = Heard::default();
    let (format, kind) = (Format::Ndjson, Kind::Recipients);
    let import =
        Import { input: text.as_bytes(), format, kind, from: Some(from), bad: BadRows::Skip };
    import.run(&mut kept, &mut heard).1.unwrap();
    let lines = kept.lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    (lines.map(|line| serde_json::from_slice(line).unwrap()).collect(), heard.skipped)
}

#[test]
fn moving_takes_users_of_knock_as_its_list_has_them() {
    let text = r#"{"__typename": "User", "id": "ann", "email": "ann@example.org", "name": "Ann", "phone_number": "+15550100", "timezone": "Europe/Paris", "locale": null, "avatar": null, "created_at": null, "updated_at": "2024-05-01T09:00:00Z", "plan": "pro"}
{"__typename": "User", "name": "nobody"}
{"__typename": "User", "id": "bob", "timezone": "Mars/Base", "updated_at": "2024-05-01T09:00:00Z"}
{"__typename": "User", "id": "cy", "updated_at": "2024-05-01T09:00:00Z"}
"#;
    let (lines, skipped) = moved(Source::Knock, text);
    let ann = serde_json::json!({
        "id": "ann", "name": "Ann", "email": "ann@example.org", "tz": "Europe/Paris",
        "addresses": { "sms": "+15550100" }, "data": { "plan": "pro" },
    });
    assert_eq!(lines, [ann, serde_json::json!({ "id": "cy" })]);
    assert_eq!(skipped, [2, 3]);
}

#[test]
fn moving_takes_subscribers_of_novu_as_its_list_has_them() {
    let text = r#"{"_id": "64", "_organizationId": "o", "subscriberId": "ann", "firstName": "Ann", "lastName": "Lee", "email": "ann@example.org", "phone": "", "avatar": "https://example.org/a.png", "locale": "en_US", "timezone": "", "data": {"plan": "pro"}, "channels": [{"providerId": "slack"}], "deleted": false, "isOnline": true, "__v": 0}
{"_id": "65"}
{"subscriberId": "bob", "data": null}
"#;
    let (lines, skipped) = moved(Source::Novu, text);
    let ann = serde_json::json!({
        "id": "ann", "name": "Ann Lee", "email": "ann@example.org", "locale": "en-US",
        "data": { "plan": "pro", "avatar": "https://example.org/a.png" },
    });
    assert_eq!(lines, [ann, serde_json::json!({ "id": "bob" })]);
    assert_eq!(skipped, [2]);
}

/// Remembers the titles of the objects that it took.
#[derive(Default)]
struct Titles(Vec<(String, Option<HostText>)>);

impl Sink for Titles {
    fn slice_rows(&self) -> usize {
        2
    }

    fn wants_lines(&self) -> bool {
        false
    }

    fn give(&mut self, commands: Vec<Command>, _: Vec<u8>) -> Result<PendingSlice, SinkError> {
        for command in commands {
            let Command::Object(object) = command else { panic!("objects are brought in") };
            self.0.push((object.id.as_str().to_owned(), object.title));
        }
        Ok(PendingSlice::Durable(Vec::new()))
    }
}

#[test]
fn t42_titles_by_locale_are_brought_in_from_lines_and_from_columns() {
    let lines = r#"{"id":"both","title":{"fr":"Nymphéas","de-AT":"Seerosen"}}
{"id":"one","title":"Seerosen"}
{"id":"bad","title":{"de_AT":"Seerosen"}}
{"id":"twice","title":{"zh-TW":"a","zh-Hant-TW":"b"}}
{"id":"alone","title":{"de-AT":"Seerosen"}}
"#;
    let columns = "id,title.fr,title.de-AT\nboth,Nymphéas,Seerosen\nalone,,Seerosen\nnone,,\n";
    let plain = "id,title\none,Seerosen\n";
    let bad = "id,title.de_AT\nbad,Seerosen\n";
    let by_locale = |texts: &[(&str, &str)]| {
        let texts = texts.iter().map(|(tag, text)| ((*tag).to_owned(), (*text).to_owned()));
        HostText::by_locale(texts.collect())
    };
    let title = |name: &str| match name {
        "both" => by_locale(&[("fr", "Nymphéas"), ("de-AT", "Seerosen")]),
        "alone" => by_locale(&[("de-AT", "Seerosen")]),
        "one" => Some("Seerosen".into()),
        _ => None,
    };
    for (text, format, taken, skipped) in [
        (lines, Format::Ndjson, &["both", "one", "alone"][..], &[3, 4][..]),
        (columns, Format::Csv, &["both", "alone", "none"], &[]),
        (plain, Format::Csv, &["one"], &[]),
        (bad, Format::Csv, &[], &[2]),
    ] {
        let (mut kept, mut heard) = (Titles::default(), Heard::default());
        let all = Import { kind: Kind::Objects, ..import(text, format, BadRows::Skip) };
        all.run(&mut kept, &mut heard).1.unwrap();
        let expected: Vec<_> = taken.iter().map(|name| ((*name).to_owned(), title(name))).collect();
        assert_eq!(kept.0, expected);
        assert_eq!(heard.skipped, skipped, "{text}");
    }
}
