//! Python, from 3.10 on: which knows no `NotRequired`, so what may be left out stands in a class of its own.

use std::fmt::Write as _;

use serde_json::Value;

use super::EventData;
use super::names::{comment_lines, is_name};
use super::shape::{Declared, Field, Shape, What};

/// The words that are no names.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// The file.
pub(super) fn write(events: &[EventData<'_>], declared: &[Declared]) -> String {
    let mut out = String::from(
        "# Written by `tidings types --lang python`: do not change it here.\n\
         \"\"\"The `data` of events.\"\"\"\n\n\
         from __future__ import annotations\n\n\
         from typing import Any, Dict, List, Literal, TypedDict, Union\n",
    );
    // Writing to a text can't fail.
    for Declared { name, about, what } in declared {
        match what {
            What::Alias(shape) => {
                out.push_str("\n\n");
                comment(&mut out, "", about);
                let _ = writeln!(out, "{name} = {}", typed(shape, true));
            }
            What::Record(fields) => record(&mut out, name, about, fields),
        }
    }
    out.push_str("\n\nEventData = TypedDict(\n    \"EventData\",\n    {\n");
    for EventData { event_type, declared } in events {
        let data = declared.as_deref().unwrap_or("Dict[str, Any]");
        let _ = writeln!(out, "        {}: {},", text(event_type), text(data));
    }
    out.push_str("    },\n    total=False,\n)\n\"\"\"The `data` of each type of event.\"\"\"\n");
    out
}

fn record(out: &mut String, name: &str, about: &str, fields: &[Field]) {
    let (required, optional): (Vec<&Field>, Vec<&Field>) =
        fields.iter().partition(|field| field.is_required);
    let is_class = |fields: &[&Field]| {
        fields.iter().all(|field| {
            // Names in a class that begin with two underscores would be changed.
            is_name(&field.name)
                && !KEYWORDS.contains(&&*field.name)
                && !field.name.starts_with("__")
        })
    };
    let parts = [("Required", &required, ""), ("Optional", &optional, ", total=False")];
    let mut bases = Vec::new();
    let mut own = None;
    for (part, fields, total) in parts {
        if fields.is_empty() {
            continue;
        }
        let base = format!("_{name}{part}");
        if !is_class(fields) {
            let _ = write!(out, "\n\n{base} = TypedDict(\n    \"{base}\",\n    {{\n");
            for field in fields {
                let of = text(&typed(&field.shape, false));
                let _ = writeln!(out, "        {}: {of},", text(&field.name));
            }
            let _ = write!(out, "    }}{total},\n)\n", total = total.replace(", ", ",\n    "));
            bases.push(base);
        } else if part == "Required" && !optional.is_empty() {
            let _ = write!(out, "\n\nclass {base}(TypedDict):\n");
            members(out, fields);
            bases.push(base);
        } else {
            own = Some((fields, total));
        }
    }
    if bases.is_empty() {
        bases.push("TypedDict".to_owned());
    }
    let total = own.map(|(_, total)| total).unwrap_or_default();
    let _ = write!(out, "\n\nclass {name}({}{total}):\n", bases.join(", "));
    let lines = comment_lines(about);
    if !lines.is_empty() {
        let _ = writeln!(out, "    {}", docstring(&lines));
    }
    match own {
        Some((fields, _)) => {
            if !lines.is_empty() {
                out.push('\n');
            }
            members(out, fields);
        }
        None if lines.is_empty() => out.push_str("    pass\n"),
        None => {}
    }
}

fn members(out: &mut String, fields: &[&Field]) {
    for field in fields {
        let _ = writeln!(out, "    {}: {}", field.name, typed(&field.shape, false));
        let lines = comment_lines(&field.about);
        if !lines.is_empty() {
            let _ = writeln!(out, "    {}", docstring(&lines));
        }
    }
}

fn docstring(lines: &[String]) -> String {
    let safe: Vec<String> =
        lines.iter().map(|line| line.replace('\\', "\\\\").replace('"', "'")).collect();
    format!("\"\"\"{}\"\"\"", safe.join("\n    ").replace("\n    \n", "\n\n"))
}

/// The type of a shape; one that is evaluated at once names others in quotes.
fn typed(shape: &Shape, at_once: bool) -> String {
    let of = |shape: &Shape| typed(shape, at_once);
    match shape {
        Shape::Any => "Any".to_owned(),
        Shape::Null => "None".to_owned(),
        Shape::Bool => "bool".to_owned(),
        Shape::Whole => "int".to_owned(),
        Shape::Number => "float".to_owned(),
        Shape::Text => "str".to_owned(),
        Shape::Words(_, values) => words(values),
        Shape::List(item) => format!("List[{}]", of(item)),
        Shape::Map(value) => format!("Dict[str, {}]", of(value)),
        Shape::Named { name, .. } if at_once => format!("\"{name}\""),
        Shape::Named { name, .. } => name.clone(),
        Shape::Either(_, shapes) => {
            format!("Union[{}]", shapes.iter().map(of).collect::<Vec<_>>().join(", "))
        }
    }
}

fn words(values: &[Value]) -> String {
    let literal = |value: &Value| match value {
        Value::String(word) => Some(text(word)),
        Value::Bool(true) => Some("True".to_owned()),
        Value::Bool(false) => Some("False".to_owned()),
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        _ => None,
    };
    let literals: Option<Vec<String>> = values.iter().map(literal).collect();
    match literals {
        Some(literals) if !literals.is_empty() => format!("Literal[{}]", literals.join(", ")),
        _ if values.iter().all(Value::is_number) && !values.is_empty() => "float".to_owned(),
        _ => "Any".to_owned(),
    }
}

/// A text as Python writes it. JSON's escapes are Python's too, but for pairs of surrogates, which it does not make.
fn text(text: &str) -> String {
    Value::from(text).to_string()
}

fn comment(out: &mut String, indent: &str, about: &str) {
    for line in comment_lines(about) {
        let _ = writeln!(out, "{}", format!("{indent}# {line}").trim_end());
    }
}
