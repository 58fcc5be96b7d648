//! The conformance vectors of CEL against the evaluator: what it takes it answers as the specification says.

use std::fmt::Write as _;

use serde_json::Value as Json;
use tidings_core::Instant;
use tidings_core::cel::{Program, Root, Value, ValueKind};

/// One vector a line: a name, an expression, what its names are bound to, and the value as [`given`] writes it.
const VECTORS: &str = include_str!("vectors.ndjson");

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

/// The outcome of a vector.
#[derive(Debug, PartialEq)]
enum Outcome {
    Right,
    /// The expression is refused when it is read.
    Refused(String),
    Wrong(String),
}

fn run(expression: &str, bindings: &[(&'static str, Program)], expected: &str) -> Outcome {
    let names: Vec<(&str, Value<'_>)> = bindings
        .iter()
        .map(|(name, program)| (*name, program.value(&[]).expect("a constant")))
        .collect();
    let root =
        |(name, _): &(&'static str, Program)| Root { name, kind: ValueKind::Any, fields: None };
    let roots: Vec<Root> = bindings.iter().map(root).collect();
    let program = match Program::compile(expression, roots.leak()) {
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
    if got == expected {
        Outcome::Right
    } else {
        Outcome::Wrong(format!("expected {expected}, got {got}"))
    }
}

#[test]
fn what_is_taken_is_answered_as_the_specification_says() {
    let (mut right, mut report) = (0, String::new());
    for line in VECTORS.lines() {
        let vector: Json = serde_json::from_str(line).expect("a line of JSON");
        let text = |field: &str| vector[field].as_str().expect("a text");
        let (name, expression) = (text("name"), text("expression"));
        let bindings: Vec<(&'static str, Program)> = vector["bindings"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| {
                let value = value.as_str().expect("an expression");
                let program = Program::compile(value, &[]).expect("a constant");
                (&*name.clone().leak(), program)
            })
            .collect();
        let outcome = run(expression, &bindings, text("value"));
        match (outcome == Outcome::Right, DIFFERENT.contains(&name)) {
            (true, false) => right += 1,
            (false, true) => {}
            _ => {
                let _ = writeln!(report, "{name}: {expression}: {outcome:?}");
            }
        }
    }
    assert!(report.is_empty(), "{report}");
    assert_eq!(right + DIFFERENT.len(), VECTORS.lines().count());
}

/// Vectors that are answered otherwise, each for a reason that docs/conditions.md tells.
const DIFFERENT: [&str; 7] = [
    // Numbers of different types compare exactly.
    "comparisons/lt_literal/not_lt_dyn_int_big_lossy_double",
    "comparisons/gt_literal/not_gt_dyn_big_double_int",
    "comparisons/lte_literal/lte_dyn_big_double_int",
    "comparisons/gte_literal/gte_dyn_int_big_lossy_double",
    // Times have milliseconds, and no units below.
    "timestamps/timestamp_conversions/toString_timestamp_nanos",
    "timestamps/timestamp_arithmetic/add_time_to_duration_nanos_negative",
    "timestamps/timestamp_arithmetic/add_time_to_duration_nanos_positive",
];
