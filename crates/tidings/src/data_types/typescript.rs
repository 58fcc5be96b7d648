//! TypeScript.

use std::fmt::Write as _;

use serde_json::Value;

use super::EventData;
use super::names::{comment_lines, is_name};
use super::shape::{Declared, Shape, What};

/// The file.
pub(super) fn write(events: &[EventData<'_>], declared: &[Declared]) -> String {
    let mut out = String::from("// Written by `tidings types --lang ts`: do not change it here.\n");
    // Writing to a text can't fail.
    for Declared { name, about, what } in declared {
        out.push('\n');
        comment(&mut out, "", about);
        match what {
            What::Alias(shape) => {
                let _ = writeln!(out, "export type {name} = {};", typed(shape));
            }
            What::Record(fields) => {
                let _ = writeln!(out, "export interface {name} {{");
                for field in fields {
                    comment(&mut out, "  ", &field.about);
                    let mark = if field.is_required { "" } else { "?" };
                    let _ = writeln!(out, "  {}{mark}: {};", key(&field.name), typed(&field.shape));
                }
                out.push_str("}\n");
            }
        }
    }
    out.push_str("\n/** The `data` of each type of event. */\nexport interface EventData {\n");
    for EventData { event_type, declared } in events {
        let data = declared.as_deref().unwrap_or("Record<string, unknown>");
        let _ = writeln!(out, "  {}: {data};", key(event_type));
    }
    out.push_str("}\n\n/** A type of event. */\nexport type EventType = keyof EventData;\n");
    out
}

fn typed(shape: &Shape) -> String {
    match shape {
        Shape::Any => "unknown".to_owned(),
        Shape::Null => "null".to_owned(),
        Shape::Bool => "boolean".to_owned(),
        Shape::Whole | Shape::Number => "number".to_owned(),
        Shape::Text => "string".to_owned(),
        Shape::Words(_, values) => {
            let words: Vec<String> = values.iter().map(literal).collect();
            if words.is_empty() { "never".to_owned() } else { words.join(" | ") }
        }
        Shape::List(item) => format!("Array<{}>", typed(item)),
        Shape::Map(value) => format!("Record<string, {}>", typed(value)),
        Shape::Named { name, .. } => name.clone(),
        Shape::Either(_, shapes) => shapes.iter().map(typed).collect::<Vec<_>>().join(" | "),
    }
}

fn literal(value: &Value) -> String {
    match value {
        Value::Array(_) => "unknown[]".to_owned(),
        Value::Object(_) => "Record<string, unknown>".to_owned(),
        simple => simple.to_string(),
    }
}

fn key(name: &str) -> String {
    if is_name(name) { name.to_owned() } else { Value::from(name).to_string() }
}

fn comment(out: &mut String, indent: &str, text: &str) {
    let lines = comment_lines(text);
    match lines.as_slice() {
        [] => {}
        [line] => {
            let _ = writeln!(out, "{indent}/** {line} */");
        }
        lines => {
            let _ = writeln!(out, "{indent}/**");
            for line in lines {
                let _ = writeln!(out, "{}", format!("{indent} * {line}").trim_end());
            }
            let _ = writeln!(out, "{indent} */");
        }
    }
}
