//! Schemas of `data`: JSON Schema (draft 2020-12), compiled once when the configuration is read.
//!
//! Nothing is ever loaded from elsewhere, and patterns are matched in time that grows with the text alone. The words of
//! faults are our own and never repeat a value, which may be personal.
//!
//! `boon` passes the official suite, has no way to a network, and matches patterns with `regex`. `jsonschema` matches them
//! with `fancy-regex`, which can take for ever. An event is held to its schema where its body is read
//! (`EventBody::event`), which all ways in share; the core keeps the text of the schema and never checks.

use std::error::Error;
use std::sync::Arc;

use boon::{
    CompileError, Compiler, Draft, ErrorKind, SchemaIndex, Schemas, Type, UrlLoader,
    ValidationError,
};
use serde_json::Value;
use tidings_core::rules::{DataCheck, DataFault, DataSchema};

use crate::wording::{all_of, did_you_mean, one_of, quoted};

/// The address that the schema has for the compiler; nothing is there.
const ADDRESS: &str = "tidings:schema";

/// The words that are shown at once, of the values that are possible.
const WORDS_SHOWN: usize = 12;

/// A fault of a schema: where in it, why, and how to mend it.
#[derive(Debug)]
pub struct SchemaFault {
    /// The JSON pointer of its place, or the words that stand there.
    pub place: FaultPlace,
    /// The fault.
    pub reason: String,
    /// Advice on how to fix it.
    pub hint: String,
}

/// The place of a fault of a schema.
#[derive(Debug)]
pub enum FaultPlace {
    /// A JSON pointer.
    Pointer(String),
    /// The text of a value or the name of a key.
    Text(String),
}

const NO_REGEX: &str = "not a regular expression";
const REGEX_HINT: &str =
    "write one of ECMA-262, without looking ahead or behind and without back references";

/// Compiles a schema.
///
/// # Errors
/// The first fault of the schema.
pub fn compile(schema: &Value) -> Result<DataSchema, SchemaFault> {
    let mut compiler = Compiler::new();
    compiler.set_default_draft(Draft::V2020_12);
    compiler.enable_format_assertions();
    compiler.use_loader(Box::new(NoRemoteSchemas));
    let mut schemas = Schemas::new();
    compiler.add_resource(ADDRESS, schema.clone()).map_err(|fault| uncompiled(&fault))?;
    let index = compiler.compile(ADDRESS, &mut schemas).map_err(|fault| uncompiled(&fault))?;
    let check = CompiledSchema { schemas, index, schema: schema.clone() };
    Ok(DataSchema::new(&schema.to_string(), Arc::new(check)))
}

/// The loader of schemas from elsewhere: it has none.
struct NoRemoteSchemas;

impl UrlLoader for NoRemoteSchemas {
    fn load(&self, _: &str) -> Result<Value, Box<dyn Error>> {
        Err("schemas of other places are not loaded".into())
    }
}

fn uncompiled(fault: &CompileError) -> SchemaFault {
    let at =
        |place, reason: String, hint: &str| SchemaFault { place, reason, hint: hint.to_owned() };
    match fault {
        CompileError::ValidationError { src, .. } => {
            let leaf = leaf(src);
            if let ErrorKind::Format { want: "regex", .. } = leaf.kind {
                let pointer = leaf.instance_location.to_string();
                return at(FaultPlace::Pointer(pointer), NO_REGEX.to_owned(), REGEX_HINT);
            }
            let DataFault { reason, .. } = fault_of(leaf, None);
            let pointer = leaf.instance_location.to_string();
            let name = pointer.rsplit('/').next().unwrap_or_default();
            let reason = format!("not JSON Schema: {} {reason}", quoted(name));
            at(FaultPlace::Pointer(pointer), reason, "write JSON Schema, draft 2020-12")
        }
        CompileError::InvalidRegex { regex, .. } => {
            at(FaultPlace::Text(regex.clone()), NO_REGEX.to_owned(), REGEX_HINT)
        }
        CompileError::JsonPointerNotFound(_) | CompileError::InvalidJsonPointer(_) => at(
            FaultPlace::Text("$ref".to_owned()),
            "a `$ref` leads nowhere".to_owned(),
            "point to a schema below `$defs`, such as `\"#/$defs/NAME\"`",
        ),
        CompileError::AnchorNotFound { reference, .. } => at(
            FaultPlace::Text(reference.clone()),
            format!("no schema has the anchor {}", quoted(reference)),
            "point to a schema below `$defs`, such as `\"#/$defs/NAME\"`",
        ),
        other => at(
            FaultPlace::Pointer(String::new()),
            format!("the schema can't be compiled: {other}"),
            "write JSON Schema, draft 2020-12",
        ),
    }
}

/// A compiled schema.
struct CompiledSchema {
    schemas: Schemas,
    index: SchemaIndex,
    schema: Value,
}

impl DataCheck for CompiledSchema {
    fn fault(&self, data: &Value) -> Option<DataFault> {
        let fault = self.schemas.validate(data, self.index).err()?;
        Some(fault_of(leaf(&fault), Some(&self.schema)))
    }
}

/// The fault to report: of several the deepest, since that form was meant most probably, and of those the first.
fn leaf<'e, 's, 'v>(fault: &'e ValidationError<'s, 'v>) -> &'e ValidationError<'s, 'v> {
    let mut deepest: Option<&ValidationError<'s, 'v>> = None;
    for cause in &fault.causes {
        let leaf = leaf(cause);
        let depth = |one: &ValidationError<'_, '_>| one.instance_location.tokens.len();
        if deepest.is_none_or(|known| depth(leaf) > depth(known)) {
            deepest = Some(leaf);
        }
    }
    deepest.unwrap_or(fault)
}

/// The words of a fault; with the schema the names of fields that are near.
fn fault_of(fault: &ValidationError<'_, '_>, schema: Option<&Value>) -> DataFault {
    let mut pointer = fault.instance_location.to_string();
    let (reason, hint) = match &fault.kind {
        ErrorKind::Type { got, want } => {
            let want: Vec<&str> = want.iter().map(kind).collect();
            (format!("must be {}, got {}", want.join(" or "), kind(*got)), String::new())
        }
        ErrorKind::Required { want } => {
            (format!("lacks {}", all_of(want)), format!("add {}", all_of(want)))
        }
        ErrorKind::DependentRequired { prop, missing }
        | ErrorKind::Dependency { prop, missing } => (
            format!("has {} and lacks {}", quoted(prop), all_of(missing)),
            format!("add {}", all_of(missing)),
        ),
        ErrorKind::AdditionalProperties { got } => {
            let name = got.first().map(AsRef::as_ref).unwrap_or_default();
            pointer = format!("{pointer}/{}", escaped(name));
            let known = schema.and_then(|schema| properties(schema, fault.schema_url));
            let near = known.and_then(|known| did_you_mean(name, known.iter().map(String::as_str)));
            (
                "is not among the fields of the schema".to_owned(),
                near.unwrap_or_else(|| "remove it".to_owned()),
            )
        }
        ErrorKind::FalseSchema => {
            ("must not be there".to_owned(), "remove it, or see the schema".to_owned())
        }
        ErrorKind::Enum { want } => {
            let words: Vec<String> = want.iter().take(WORDS_SHOWN).map(word).collect();
            let more = if want.len() > words.len() { ", …" } else { "" };
            (format!("must be {}{more}", one_of(&words)), String::new())
        }
        ErrorKind::Const { want } => (format!("must be {}", quoted(&word(want))), String::new()),
        ErrorKind::Format { want, .. } => must_be(want),
        ErrorKind::Pattern { want, .. } => {
            (format!("does not match {}", quoted(want)), String::new())
        }
        ErrorKind::MinLength { want, .. } => {
            (format!("is shorter than {want} characters"), String::new())
        }
        ErrorKind::MaxLength { want, .. } => {
            (format!("is longer than {want} characters"), String::new())
        }
        ErrorKind::MinItems { want, .. } => (format!("has fewer than {want} items"), String::new()),
        ErrorKind::MaxItems { want, .. } => (format!("has more than {want} items"), String::new()),
        ErrorKind::MinProperties { want, .. } => {
            (format!("has fewer than {want} fields"), String::new())
        }
        ErrorKind::MaxProperties { want, .. } => {
            (format!("has more than {want} fields"), String::new())
        }
        ErrorKind::UniqueItems { got: [first, second] } => {
            (format!("has equal items at {first} and {second}"), String::new())
        }
        ErrorKind::Minimum { want, .. } => (format!("is less than {want}"), String::new()),
        ErrorKind::Maximum { want, .. } => (format!("is more than {want}"), String::new()),
        ErrorKind::ExclusiveMinimum { want, .. } => {
            (format!("must be more than {want}"), String::new())
        }
        ErrorKind::ExclusiveMaximum { want, .. } => {
            (format!("must be less than {want}"), String::new())
        }
        ErrorKind::MultipleOf { want, .. } => (format!("is no multiple of {want}"), String::new()),
        ErrorKind::PropertyName { prop } => {
            (format!("has the field {}, whose name does not fit", quoted(prop)), String::new())
        }
        ErrorKind::OneOf(Some(_)) => {
            ("fits more than one form of `oneOf`".to_owned(), String::new())
        }
        ErrorKind::Contains | ErrorKind::MinContains { .. } => {
            ("lacks an item that fits `contains`".to_owned(), String::new())
        }
        _ => ("does not fit the schema".to_owned(), String::new()),
    };
    let hint = if hint.is_empty() { "see `schema` of the type".to_owned() } else { hint };
    DataFault { pointer, reason, hint }
}

/// The names of the fields that the schema at an address has.
fn properties(schema: &Value, url: &str) -> Option<Vec<String>> {
    let (_, pointer) = url.split_once('#').unwrap_or((url, ""));
    let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8().ok()?;
    let properties = schema.pointer(&pointer)?.get("properties")?.as_object()?;
    Some(properties.keys().cloned().collect())
}

fn escaped(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn kind(kind: Type) -> &'static str {
    match kind {
        Type::Null => "null",
        Type::Boolean => "a boolean",
        Type::Number => "a number",
        Type::Integer => "a whole number",
        Type::String => "a string",
        Type::Array => "an array",
        Type::Object => "an object",
    }
}

/// The formats that are checked.
pub(crate) const FORMATS: [&str; 19] = [
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];

/// The fault of a value that has not the format which it must have, and a hint.
fn must_be(format: &str) -> (String, String) {
    let (what, example) = match format {
        "date" => ("a date", "2024-05-01"),
        "date-time" => ("a time", "2024-05-01T09:00:00Z"),
        "duration" => ("a duration", "PT4M"),
        "email" => ("an address", "ada@example.org"),
        "time" => ("a time of day", "09:00:00Z"),
        "uri" => ("a URI", "https://example.org/works/1"),
        "uuid" => ("a UUID", "018cc251-f400-75a4-b2a5-ce9d0f7a3b11"),
        _ => return (format!("must have the format `{format}`"), String::new()),
    };
    (format!("must be {what} such as {example}"), format!("its schema has `format = \"{format}\"`"))
}
