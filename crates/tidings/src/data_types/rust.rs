//! Rust, for serde.

use std::fmt::Write as _;

use serde_json::Value;

use super::EventData;
use super::names::{Taken, comment_lines, pascal, snake};
use super::shape::{Declared, Field, Shape, What};

const DERIVES: &str = "#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]";

/// The words that are no names without `r#`.
const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];
/// Those that are none at all.
const NEVER: [&str; 3] = ["self", "super", "crate"];

/// The file.
pub(super) fn write(events: &[EventData<'_>], declared: &[Declared]) -> String {
    let mut out = String::from(
        "// Written by `tidings types --lang rust`: do not change it here.\n\
         // It needs `serde` with `derive`, and `serde_json`.\n\n\
         /// The `data` of a type of event.\n\
         pub trait EventData: serde::Serialize {\n    \
         /// The type of event.\n    const TYPE: &'static str;\n}\n",
    );
    // Writing to a text can't fail.
    let mut file = File::default();
    for Declared { name, .. } in declared {
        file.taken.take(name.clone());
    }
    for one in declared {
        file.declare(&mut out, one);
    }
    for EventData { event_type, declared } in events {
        let Some(name) = declared else {
            let name = file.taken.take(format!("{}Data", pascal(event_type)));
            let _ = write!(
                out,
                "\n/// `data` of `{event_type}`, which has no schema.\n\
                 pub type {name} = serde_json::Map<String, serde_json::Value>;\n"
            );
            continue;
        };
        let _ = write!(
            out,
            "\nimpl EventData for {name} {{\n    const TYPE: &'static str = {};\n}}\n",
            text(event_type)
        );
    }
    out
}

#[derive(Default)]
struct File {
    /// Enums that fields need, to be written behind them.
    enums: Vec<String>,
    taken: Taken,
}

impl File {
    fn declare(&mut self, out: &mut String, Declared { name, about, what }: &Declared) {
        out.push('\n');
        comment(out, "", about);
        match what {
            // A type of its own, for `EventData`.
            What::Alias(shape) => {
                let of = self.typed(shape);
                let _ = writeln!(out, "{DERIVES}\n#[serde(transparent)]\npub struct {name}(");
                let _ = writeln!(out, "    /// Its value.\n    pub {of},\n);");
            }
            What::Record(fields) if fields.is_empty() => {
                let _ = writeln!(out, "{DERIVES}\npub struct {name} {{}}");
            }
            What::Record(fields) => {
                let _ = writeln!(out, "{DERIVES}\npub struct {name} {{");
                let mut names = Taken::default();
                for field in fields {
                    self.field(out, field, &mut names);
                }
                out.push_str("}\n");
            }
        }
        for declared in std::mem::take(&mut self.enums) {
            out.push_str(&declared);
        }
    }

    fn field(&mut self, out: &mut String, field: &Field, names: &mut Taken) {
        let about =
            if field.about.is_empty() { format!("`{}`.", field.name) } else { field.about.clone() };
        comment(out, "    ", &about);
        let (shape, has_null) = field.shape.split_null();
        let name = names.take(snake(&field.name));
        let name = match name.as_str() {
            never if NEVER.contains(&never) => format!("{never}_"),
            _ if KEYWORDS.contains(&name.as_str()) => format!("r#{name}"),
            _ => name,
        };
        let is_option = (has_null || !field.is_required) && shape != Shape::Null;
        let mut told = Vec::new();
        if name.trim_start_matches("r#") != field.name {
            told.push(format!("rename = {}", text(&field.name)));
        }
        if !field.is_required {
            told.push("default".to_owned());
            if is_option {
                told.push("skip_serializing_if = \"Option::is_none\"".to_owned());
            }
        }
        if !told.is_empty() {
            let _ = writeln!(out, "    #[serde({})]", told.join(", "));
        }
        let of = self.typed(&shape);
        let of = if is_option { format!("Option<{of}>") } else { of };
        let _ = writeln!(out, "    pub {name}: {of},");
    }

    fn typed(&mut self, shape: &Shape) -> String {
        match shape {
            Shape::Any => "serde_json::Value".to_owned(),
            Shape::Null => "()".to_owned(),
            Shape::Bool => "bool".to_owned(),
            Shape::Whole => "i64".to_owned(),
            Shape::Number => "f64".to_owned(),
            Shape::Text => "String".to_owned(),
            Shape::Words(name, values) => self.words(name, values),
            Shape::List(item) => format!("Vec<{}>", self.typed(item)),
            Shape::Map(value) => {
                format!("std::collections::BTreeMap<String, {}>", self.typed(value))
            }
            Shape::Named { name, back: true } => format!("Box<{name}>"),
            Shape::Named { name, back: false } => name.clone(),
            Shape::Either(name, _) => {
                let (rest, has_null) = shape.split_null();
                if has_null {
                    return format!("Option<{}>", self.typed(&rest));
                }
                self.either(name, shape)
            }
        }
    }

    fn words(&mut self, name: &str, values: &[Value]) -> String {
        let words: Option<Vec<&str>> = values.iter().map(Value::as_str).collect();
        let Some(words) = words.filter(|words| !words.is_empty()) else {
            return kind_of_all(values).to_owned();
        };
        let name = self.taken.take(format!("{name}Word"));
        let mut variants = Taken::default();
        let mut out = format!("\n/// One of some words.\n{DERIVES}\npub enum {name} {{\n");
        for word in words {
            let variant = variants.take(pascal(word));
            let variant = if variant == "Self" { "Self_".to_owned() } else { variant };
            let _ = writeln!(out, "    /// `{}`", comment_lines(word).join(" "));
            let _ = writeln!(out, "    #[serde(rename = {})]\n    {variant},", text(word));
        }
        out.push_str("}\n");
        self.enums.push(out);
        name
    }

    fn either(&mut self, name: &str, shape: &Shape) -> String {
        let Shape::Either(_, shapes) = shape else {
            return self.typed(shape);
        };
        let name = self.taken.take(format!("{name}Form"));
        let mut out = format!(
            "\n/// One of several forms.\n{DERIVES}\n#[serde(untagged)]\npub enum {name} {{\n"
        );
        for (at, shape) in shapes.iter().enumerate() {
            let of = self.typed(shape);
            let number = at + 1;
            let _ = writeln!(out, "    /// Form {number}.\n    Form{number}({of}),");
        }
        out.push_str("}\n");
        self.enums.push(out);
        name
    }
}

/// The type of values of which there are a few.
fn kind_of_all(values: &[Value]) -> &'static str {
    match values {
        [] => "serde_json::Value",
        all if all.iter().all(Value::is_boolean) => "bool",
        all if all.iter().all(Value::is_i64) => "i64",
        all if all.iter().all(Value::is_number) => "f64",
        _ => "serde_json::Value",
    }
}

/// A text as Rust writes it.
fn text(text: &str) -> String {
    format!("{text:?}")
}

fn comment(out: &mut String, indent: &str, text: &str) {
    for line in comment_lines(text) {
        let _ = writeln!(out, "{}", format!("{indent}/// {line}").trim_end());
    }
}
