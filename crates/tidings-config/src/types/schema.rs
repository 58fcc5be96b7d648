//! `schema` of a type: JSON Schema as TOML, so that each of its faults has a place in the file.
//!
//! JSON Schema passes over words that it doesn't know. Here an unknown word is a fault, as everywhere in a
//! configuration: a misspelt `required` would let everything in.

use serde_json::{Map, Number, Value};
use tidings_core::rules::DataSchema;
use toml::Spanned;
use toml::de::DeValue;

use super::data_schema::{FORMATS, FaultPlace, compile};
use crate::walk::{ByteSpan, ConfigReader, Section};
use crate::wording::{did_you_mean, quoted};

/// The most bytes of a schema as JSON.
const SCHEMA_BYTES_MAX: usize = 64 << 10;

/// The most levels of schemas in each other.
const LEVELS_MAX: usize = 32;

/// The dialect, which need not be named.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

const HINT: &str =
    "write `schema = { type = \"object\", properties = { amount = { type = \"number\" } } }`";

/// The value of a keyword.
#[derive(Clone, Copy)]
enum KeywordValue {
    /// Any value, which the meta-schema judges.
    Value,
    /// A schema.
    Schema,
    /// A list of schemas.
    List,
    /// Schemas by name.
    Named,
}

/// The keywords of draft 2020-12 that mean something without another document.
const KEYWORDS: [(&str, KeywordValue); 53] = [
    ("$anchor", KeywordValue::Value),
    ("$comment", KeywordValue::Value),
    ("$defs", KeywordValue::Named),
    ("$ref", KeywordValue::Value),
    ("$schema", KeywordValue::Value),
    ("additionalProperties", KeywordValue::Schema),
    ("allOf", KeywordValue::List),
    ("anyOf", KeywordValue::List),
    ("const", KeywordValue::Value),
    ("contains", KeywordValue::Schema),
    ("contentEncoding", KeywordValue::Value),
    ("contentMediaType", KeywordValue::Value),
    ("default", KeywordValue::Value),
    ("definitions", KeywordValue::Named),
    ("dependentRequired", KeywordValue::Value),
    ("dependentSchemas", KeywordValue::Named),
    ("deprecated", KeywordValue::Value),
    ("description", KeywordValue::Value),
    ("else", KeywordValue::Schema),
    ("enum", KeywordValue::Value),
    ("examples", KeywordValue::Value),
    ("exclusiveMaximum", KeywordValue::Value),
    ("exclusiveMinimum", KeywordValue::Value),
    ("format", KeywordValue::Value),
    ("if", KeywordValue::Schema),
    ("items", KeywordValue::Schema),
    ("maxContains", KeywordValue::Value),
    ("maxItems", KeywordValue::Value),
    ("maxLength", KeywordValue::Value),
    ("maxProperties", KeywordValue::Value),
    ("maximum", KeywordValue::Value),
    ("minContains", KeywordValue::Value),
    ("minItems", KeywordValue::Value),
    ("minLength", KeywordValue::Value),
    ("minProperties", KeywordValue::Value),
    ("minimum", KeywordValue::Value),
    ("multipleOf", KeywordValue::Value),
    ("not", KeywordValue::Schema),
    ("oneOf", KeywordValue::List),
    ("pattern", KeywordValue::Value),
    ("patternProperties", KeywordValue::Named),
    ("prefixItems", KeywordValue::List),
    ("properties", KeywordValue::Named),
    ("propertyNames", KeywordValue::Schema),
    ("readOnly", KeywordValue::Value),
    ("required", KeywordValue::Value),
    ("then", KeywordValue::Schema),
    ("title", KeywordValue::Value),
    ("type", KeywordValue::Value),
    ("unevaluatedItems", KeywordValue::Schema),
    ("unevaluatedProperties", KeywordValue::Schema),
    ("uniqueItems", KeywordValue::Value),
    ("writeOnly", KeywordValue::Value),
];

/// The schema of a type.
pub(super) fn schema(walk: &mut ConfigReader, section: &Section<'_>) -> Option<DataSchema> {
    let value = section.value("schema")?;
    let path = section.below("schema");
    walk.section(section, "schema", HINT)?;
    let before = walk.count();
    words(walk, &path, value, 0);
    let json = json(walk, value);
    if walk.count() > before {
        return None;
    }
    let is_object = match json.get("type") {
        None => true,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        Some(kind) => kind == "object" || !kind.is_string(),
    };
    if !is_object {
        let reason = format!("{}: `data` of an event is an object", quoted(&path));
        walk.bad(&place(value, "/type"), reason, "write `type = \"object\"`");
        return None;
    }
    if json.to_string().len() > SCHEMA_BYTES_MAX {
        let reason = format!("{} has more than {SCHEMA_BYTES_MAX} bytes", quoted(&path));
        walk.bad(&value.span(), reason, "check less: leave out what nobody gets wrong");
        return None;
    }
    match compile(&json) {
        Ok(schema) => Some(schema),
        Err(fault) => {
            let span = match &fault.place {
                FaultPlace::Pointer(pointer) => place(value, pointer),
                FaultPlace::Text(text) => find(value, text).unwrap_or_else(|| value.span()),
            };
            walk.bad(&span, format!("{}: {}", quoted(&path), fault.reason), fault.hint);
            None
        }
    }
}

/// Refuses words that no schema has, and what would be looked for elsewhere.
fn words(walk: &mut ConfigReader, path: &str, schema: &Spanned<DeValue<'_>>, level: usize) {
    let DeValue::Table(table) = schema.get_ref() else {
        return;
    };
    if level > LEVELS_MAX {
        let reason = format!("{} has more than {LEVELS_MAX} levels", quoted(path));
        walk.bad(&schema.span(), reason, "name parts of it below `$defs`, and `$ref` them");
        return;
    }
    for (key, value) in table {
        let name: &str = key.get_ref();
        let below = format!("{path}.{name}");
        let Some((_, holds)) = KEYWORDS.iter().find(|(known, _)| *known == name) else {
            if !name.starts_with("x-") {
                let hint = did_you_mean(name, KEYWORDS.iter().map(|(known, _)| *known));
                let reason = format!("unknown key {}", quoted(&below));
                let hint = hint.unwrap_or_else(|| {
                    "remove it: fields of `data` stand below `properties`".to_owned()
                });
                walk.bad(&key.span(), reason, hint);
            }
            continue;
        };
        known_word(walk, name, value);
        match (holds, value.get_ref()) {
            (KeywordValue::Schema, _) => words(walk, &below, value, level + 1),
            (KeywordValue::List, DeValue::Array(list)) => {
                list.iter().for_each(|item| words(walk, &below, item, level + 1));
            }
            (KeywordValue::Named, DeValue::Table(named)) => {
                for (name, value) in named {
                    words(walk, &format!("{below}.{}", name.get_ref()), value, level + 1);
                }
            }
            // What is of the wrong kind the meta-schema refuses.
            (KeywordValue::Value | KeywordValue::List | KeywordValue::Named, _) => {}
        }
    }
}

/// Checks the words of which there are few.
fn known_word(walk: &mut ConfigReader, key: &str, value: &Spanned<DeValue<'_>>) {
    let Some(text) = value.get_ref().as_str() else {
        return;
    };
    match key {
        "$ref" if !text.starts_with('#') => {
            let reason = format!("`$ref` to {}: nothing is loaded from elsewhere", quoted(text));
            let hint = "copy the schema below `$defs`, and write `\"#/$defs/NAME\"`";
            walk.bad(&value.span(), reason, hint);
        }
        "$schema" if text != DIALECT => {
            let reason = format!("the dialect {} is not supported", quoted(text));
            walk.bad(&value.span(), reason, "remove it, and write draft 2020-12");
        }
        "format" if !FORMATS.contains(&text) => {
            let near = did_you_mean(text, FORMATS);
            let hint = near.unwrap_or_else(|| "remove it, or write a `pattern`".to_owned());
            walk.bad(&value.span(), format!("unknown format {}", quoted(text)), hint);
        }
        _ => {}
    }
}

/// A value of TOML as JSON. What JSON has not is a fault.
fn json(walk: &mut ConfigReader, value: &Spanned<DeValue<'_>>) -> Value {
    match value.get_ref() {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Boolean(flag) => Value::from(*flag),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            match i64::from_str_radix(&digits, number.radix()) {
                Ok(whole) => whole.into(),
                Err(_) => no_json(walk, value, "a number beyond 64 bits"),
            }
        }
        DeValue::Float(number) => {
            let number: Option<f64> = number.as_str().replace('_', "").parse().ok();
            match number.and_then(Number::from_f64) {
                Some(number) => number.into(),
                None => no_json(walk, value, "an infinite number"),
            }
        }
        DeValue::Datetime(_) => no_json(walk, value, "a date or time"),
        DeValue::Array(list) => list.iter().map(|item| json(walk, item)).collect(),
        DeValue::Table(table) => {
            let fields = table.iter();
            let fields: Map<String, Value> =
                fields.map(|(key, value)| (key.get_ref().to_string(), json(walk, value))).collect();
            fields.into()
        }
    }
}

fn no_json(walk: &mut ConfigReader, value: &Spanned<DeValue<'_>>, got: &str) -> Value {
    let reason = format!("{got} is no value of JSON");
    walk.bad(&value.span(), reason, "write text in quotes, or a finite number");
    Value::Null
}

/// The place of a JSON pointer, as far as it leads.
fn place(schema: &Spanned<DeValue<'_>>, pointer: &str) -> ByteSpan {
    let mut at = schema;
    for token in pointer.split('/').skip(1) {
        let name = token.replace("~1", "/").replace("~0", "~");
        let below = match at.get_ref() {
            DeValue::Table(table) => table.get(name.as_str()),
            DeValue::Array(list) => name.parse().ok().and_then(|index: usize| list.get(index)),
            _ => None,
        };
        let Some(below) = below else {
            break;
        };
        at = below;
    }
    at.span()
}

/// The first place of a text: as a value, as an item, or as a key.
fn find(value: &Spanned<DeValue<'_>>, text: &str) -> Option<ByteSpan> {
    match value.get_ref() {
        DeValue::String(found) => (found.as_ref() == text).then(|| value.span()),
        DeValue::Array(list) => list.iter().find_map(|item| find(item, text)),
        DeValue::Table(table) => table.iter().find_map(|(key, value)| {
            if key.get_ref().as_ref() == text { Some(key.span()) } else { find(value, text) }
        }),
        _ => None,
    }
}
