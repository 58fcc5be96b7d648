//! The conformance vectors of CEL against the evaluator: what it takes it answers as the specification says.

mod textproto;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use textproto::{Message, Value as Proto};
use tidings_core::Instant;
use tidings_core::cel::{Kind, Program, Root, Value};

/// The files about the language itself; the others are about messages, bytes, enclosing names and extensions.
const FILES: [&str; 12] = [
    "basic",
    "comparisons",
    "conversions",
    "fields",
    "fp_math",
    "integer_math",
    "lists",
    "logic",
    "parse",
    "plumbing",
    "string",
    "timestamps",
];

/// The vectors, where they are: see CONTRIBUTING.md.
fn vectors() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("TIDINGS_SHARED").map_or_else(beside, PathBuf::from);
    let file = folder.join("data/vectors/cel_conformance.tar.gz");
    file.is_file().then_some(file)
}

/// The files of an archive by the stems of their names.
fn unpacked(archive: &Path) -> BTreeMap<String, String> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(archive).expect("a readable archive");
    let mut reader = flate2::read::GzDecoder::new(file);
    reader.read_to_end(&mut bytes).expect("an archive");
    let mut files = BTreeMap::new();
    let mut at = 0;
    while let Some(head) = bytes.get(at..at + 512).filter(|head| head[0] != 0) {
        let field = |from: usize, to: usize| {
            let field = String::from_utf8_lossy(&head[from..to]).into_owned();
            field.trim_matches(['\0', ' ']).to_owned()
        };
        let (name, size) = (field(0, 100), field(124, 136));
        let size = usize::from_str_radix(&size, 8).expect("a size");
        let content = String::from_utf8_lossy(&bytes[at + 512..at + 512 + size]).into_owned();
        let stem = Path::new(&name).file_stem().unwrap_or_default();
        files.insert(stem.to_string_lossy().into_owned(), content);
        at += 512 + size.next_multiple_of(512);
    }
    files
}

/// The part of the language that is left out and that an expression or its expected value needs, if any.
fn left_out(section: &str, test: &Message) -> Option<&'static str> {
    let expression = test.text("expr");
    let shown = format!("{test:?}");
    let needs = |words: &[&str]| words.iter().any(|word| expression.contains(word));
    let is_bytes = ["b'", "b\"", "B'", "B\"", "bytes("]
        .iter()
        .any(|word| expression.contains(word));
    if is_bytes || shown.contains("bytes_value") {
        return Some("bytes");
    }
    if needs(&["google.", "TestAllTypes", "NullValue", "GlobalEnum"])
        || shown.contains("object_value")
            && !shown.contains("Timestamp")
            && !shown.contains("Duration")
        || test.get("container").is_some()
    {
        return Some("messages and enclosing names");
    }
    let is_dotted = |binding: &Message| binding.text("key").contains('.');
    if test.messages("bindings").any(is_dotted) {
        return Some("messages and enclosing names");
    }
    if needs(&["`"]) {
        return Some("names in quotes");
    }
    if needs(&["f_unknown", "x || true"]) || section == "receiver_function_names" {
        return Some("names that nothing has, which are refused when they are read");
    }
    if needs(&["matches("]) {
        return Some("regular expressions");
    }
    if shown.contains("type_value") {
        return Some("names of types");
    }
    None
}

/// The expected value as an expression shows it.
fn shown(value: &Message) -> String {
    let Some((kind, value)) = value.0.first() else {
        return "?".to_owned();
    };
    match (kind.as_str(), value) {
        ("null_value", _) => "null".to_owned(),
        ("bool_value" | "int64_value", Proto::Word(word)) => word.clone(),
        ("uint64_value", Proto::Word(word)) => format!("{word}u"),
        ("double_value", Proto::Word(word)) => {
            let word = match word.as_str() {
                "infinity" | "inf" => "inf",
                "-infinity" | "-inf" => "-inf",
                word => word,
            };
            format!("{:?}", word.parse::<f64>().expect("a number"))
        }
        ("string_value", Proto::Text(bytes)) => {
            format!("{:?}", String::from_utf8_lossy(bytes))
        }
        ("list_value", Proto::Message(list)) => {
            let values: Vec<String> = list.messages("values").map(shown).collect();
            format!("[{}]", values.join(", "))
        }
        ("map_value", Proto::Message(map)) => {
            let pair = |entry: &Message| {
                let side = |name: &str| entry.messages(name).next().map(shown).unwrap_or_default();
                format!("{}: {}", side("key"), side("value"))
            };
            let mut pairs: Vec<String> = map.messages("entries").map(pair).collect();
            pairs.sort();
            format!("{{{}}}", pairs.join(", "))
        }
        ("object_value", Proto::Message(of)) => match of.0.first() {
            Some((kind, Proto::Message(of))) => {
                let number = |name: &str| of.text(name).parse().unwrap_or(0_i64);
                let ms = number("seconds") * 1_000 + number("nanos") / 1_000_000;
                let kind = kind.rsplit('.').next().unwrap_or_default();
                format!("{kind} {ms}")
            }
            _ => "?".to_owned(),
        },
        (kind, _) => format!("? {kind}"),
    }
}

fn given(value: &Value<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Uint(value) => format!("{value}u"),
        Value::Double(value) => format!("{value:?}"),
        Value::Text(text) => format!("{text:?}"),
        Value::Timestamp(Instant(ms)) => format!("Timestamp {ms}"),
        Value::Duration(ms) => format!("Duration {ms}"),
        Value::List(values) => {
            let values: Vec<String> = values.iter().map(given).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Map(pairs) => {
            let pair =
                |(key, value): &(Value<'_>, Value<'_>)| format!("{}: {}", given(key), given(value));
            let mut pairs: Vec<String> = pairs.iter().map(pair).collect();
            pairs.sort();
            format!("{{{}}}", pairs.join(", "))
        }
        Value::Array(_) | Value::Object(_) | Value::Type(_) => "?".to_owned(),
    }
}

/// A bound value, of the kinds that the vectors bind.
fn bound(value: &Message) -> Option<Value<'static>> {
    let (kind, value) = value.0.first()?;
    Some(match (kind.as_str(), value) {
        ("null_value", _) => Value::Null,
        ("bool_value", Proto::Word(word)) => Value::Bool(word == "true"),
        ("int64_value", Proto::Word(word)) => Value::Int(word.parse().ok()?),
        ("uint64_value", Proto::Word(word)) => Value::Uint(word.parse().ok()?),
        ("double_value", Proto::Word(word)) => Value::Double(word.parse().ok()?),
        ("string_value", Proto::Text(bytes)) => {
            Value::Text(String::from_utf8_lossy(bytes).into_owned().into())
        }
        ("list_value", Proto::Message(list)) => {
            let values: Option<Vec<_>> = list.messages("values").map(bound).collect();
            Value::of_list(values?)
        }
        ("map_value", Proto::Message(map)) => {
            let pair = |entry: &Message| {
                let side = |name: &str| entry.messages(name).next().and_then(bound);
                Some((side("key")?, side("value")?))
            };
            let pairs: Option<Vec<_>> = map.messages("entries").map(pair).collect();
            Value::Map(pairs?.into())
        }
        _ => return None,
    })
}

/// The outcome of a vector.
#[derive(Debug, PartialEq)]
enum Outcome {
    Right,
    /// The expression is refused when it is read.
    Refused(String),
    Wrong(String),
}

fn run(test: &Message) -> Outcome {
    let expected = match test.messages("value").next() {
        Some(value) => shown(value),
        None if test.get("eval_error").is_some() => "error".to_owned(),
        None => "true".to_owned(),
    };
    let mut names: Vec<(&str, Value<'_>)> = Vec::new();
    for binding in test.messages("bindings") {
        let value = binding.messages("value").next();
        let value = value.and_then(|value| value.messages("value").next());
        match value.and_then(bound) {
            Some(value) => names.push((binding.text("key").leak(), value)),
            None => return Outcome::Refused("a value that can't be bound".to_owned()),
        }
    }
    let roots: Vec<Root> = names
        .iter()
        .map(|(name, _)| Root {
            name: (*name).to_owned().leak(),
            kind: Kind::Any,
            fields: None,
        })
        .collect();
    let program = match Program::compile(&test.text("expr"), roots.leak()) {
        Ok(program) => program,
        // A name that there is not is an error, whenever it is told.
        Err(fault) if expected == "error" && fault.what.contains("unknown") => {
            return Outcome::Right;
        }
        Err(fault) => return Outcome::Refused(fault.what),
    };
    let got = match program.value(&names) {
        Ok(value) => given(&value),
        Err(_) => "error".to_owned(),
    };
    match got == expected {
        true => Outcome::Right,
        false => Outcome::Wrong(format!("expected {expected}, got {got}")),
    }
}

#[test]
fn what_is_taken_is_answered_as_the_specification_says() {
    let Some(archive) = vectors() else {
        println!("skipped: the vectors are not there");
        return;
    };
    let files = unpacked(&archive);
    let (mut right, mut left, mut report) = (0, BTreeMap::new(), String::new());
    for file in FILES {
        for section in textproto::parse(&files[file]).messages("section") {
            for test in section.messages("test") {
                if let Some(what) = left_out(&section.text("name"), test) {
                    *left.entry(what).or_insert(0) += 1;
                    continue;
                }
                let name = format!("{file}/{}/{}", section.text("name"), test.text("name"));
                match run(test) {
                    Outcome::Right => right += 1,
                    other if DIFFERENT.contains(&&*name) => drop(other),
                    other => {
                        let expression = test.text("expr");
                        let _ = writeln!(report, "{name}: {expression}: {other:?}");
                    }
                }
            }
        }
    }
    println!("{right} right, left out {left:?}");
    assert!(report.is_empty(), "{report}");
    assert!(right > 800, "{right}");
}

/// Vectors that are answered otherwise, each for a reason that docs/conditions.md tells.
const DIFFERENT: [&str; 8] = [
    // Numbers of different types compare exactly.
    "comparisons/lt_literal/not_lt_dyn_int_big_lossy_double",
    "comparisons/gt_literal/not_gt_dyn_big_double_int",
    "comparisons/lte_literal/lte_dyn_big_double_int",
    "comparisons/gte_literal/gte_dyn_int_big_lossy_double",
    // Times have milliseconds, and no units below.
    "timestamps/timestamp_conversions/toString_timestamp_nanos",
    "timestamps/timestamp_arithmetic/add_time_to_duration_nanos_negative",
    "timestamps/timestamp_arithmetic/add_time_to_duration_nanos_positive",
    "timestamps/duration_converters/get_milliseconds",
];
