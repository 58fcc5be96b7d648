//! JSON for bodies: borrowed from the line; a duplicate key is a fault.
//!
//! `serde_json::Value` would keep the last of two equal keys in silence, and would copy every text.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde_json::Number;
use tidings_config::wording::quoted;

use super::fault::Fault;

/// Number of keys from which on equal ones are found by sorting rather than one by one.
const FEW_KEYS: usize = 16;

/// Maximum depth of arrays and objects. Stored values and those passed between nodes have some levels more around them,
/// and their parser has a limit of 128.
const LEVELS_MAX: usize = 64;

/// A JSON value that borrows its text if it has no escapes.
#[derive(Clone, Debug, PartialEq)]
pub enum Json<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(Cow<'a, str>),
    /// A list.
    List(Vec<Json<'a>>),
    /// An object without duplicate keys.
    Table(JsonObject<'a>),
}

/// The keys and values of an object in their order.
pub type JsonObject<'a> = Vec<(Cow<'a, str>, Json<'a>)>;

impl Json<'_> {
    /// The value as serde names it in faults.
    pub(super) fn unexpected(&self) -> Unexpected<'_> {
        match self {
            Self::Null => Unexpected::Unit,
            Self::Bool(flag) => Unexpected::Bool(*flag),
            Self::Number(number) => Unexpected::Float(number.as_f64().unwrap_or_default()),
            Self::Text(text) => Unexpected::Str(text),
            Self::List(_) => Unexpected::Seq,
            Self::Table(_) => Unexpected::Map,
        }
    }

    /// The kind of the value, for faults.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        kind(self.unexpected())
    }
}

/// The kind of a value, for faults.
pub(super) fn kind(value: Unexpected<'_>) -> &'static str {
    match value {
        Unexpected::Unit => "null",
        Unexpected::Bool(_) => "a boolean",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) | Unexpected::Float(_) => "a number",
        Unexpected::Str(_) => "a string",
        Unexpected::Seq => "an array",
        Unexpected::Map => "an object",
        _ => "something else",
    }
}

/// Reads one JSON object.
///
/// # Errors
/// Not UTF-8, not JSON, a duplicate key (with its column), or something else than an object.
pub fn object(bytes: &[u8]) -> Result<JsonObject<'_>, Fault> {
    match value(bytes)? {
        Json::Table(table) => Ok(table),
        other => {
            let reason = format!("the body must be an object, got {}", other.kind());
            Err(Fault::new(reason, "write `{…}`"))
        }
    }
}

/// Reads one JSON array.
///
/// # Errors
/// As [`object`], for something else than an array.
pub fn list(bytes: &[u8]) -> Result<Vec<Json<'_>>, Fault> {
    match value(bytes)? {
        Json::List(list) => Ok(list),
        other => {
            let reason = format!("the body must be an array, got {}", other.kind());
            Err(Fault::new(reason, "write `[…]`"))
        }
    }
}

/// Reads one JSON value.
///
/// # Errors
/// Not UTF-8, not JSON, or a duplicate key, with its column, and its line if there are several.
pub fn value(bytes: &[u8]) -> Result<Json<'_>, Fault> {
    let text = str::from_utf8(bytes).map_err(|error| {
        Fault::new("not UTF-8", "write JSON in UTF-8").at_column(error.valid_up_to() + 1)
    })?;
    if text.trim_ascii().is_empty() {
        return Err(Fault::new("the body is empty", "write a JSON value").at_column(1));
    }
    serde_json::from_str(text).map_err(|error| syntax(&error))
}

fn syntax(error: &serde_json::Error) -> Fault {
    let column = error.column();
    let message = error.to_string();
    let place = format!(" at line {} column {column}", error.line());
    let message = message.strip_suffix(&place).unwrap_or(&message);
    let fault = match message.strip_prefix(TWICE) {
        Some(key) => Fault::new(format!("duplicate key {key}"), "keep one of the two"),
        None if message == DEEP => Fault::new(
            format!("more than {LEVELS_MAX} levels of arrays and objects in each other"),
            "flatten it",
        ),
        None => Fault::new(
            format!("not JSON: {}", in_words(message)),
            "check the brackets, quotes and commas there",
        ),
    };
    let fault = fault.at_column(column);
    match error.line() {
        ..=1 => fault,
        line => fault.on_line(line as u64),
    }
}

/// A fault of the parser, in words of JSON where it has those of its own.
fn in_words(message: &str) -> &str {
    match message {
        "expected ident" => "neither a number, a text in quotes, true, false nor null",
        "expected value" => "a value is missing",
        _ if message.starts_with("EOF") => "it ends too early",
        _ => message,
    }
}

/// Marks a duplicate key on its way through the parser's own error.
const TWICE: &str = "twice: ";

/// Marks a value with too many levels on its way through the parser's own error.
const DEEP: &str = "deep";

impl<'de: 'a, 'a> Deserialize<'de> for Json<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let levels = LEVELS_MAX;
        JsonVisitor { levels }.deserialize(deserializer)
    }
}

#[derive(Clone, Copy)]
struct JsonVisitor {
    /// The levels that the value may have.
    levels: usize,
}

impl JsonVisitor {
    /// The visitor of the items of an array or an object.
    fn within<E: serde::de::Error>(self) -> Result<Self, E> {
        let levels = self.levels.checked_sub(1).ok_or_else(|| E::custom(DEEP))?;
        Ok(Self { levels })
    }
}

impl<'de> DeserializeSeed<'de> for JsonVisitor {
    type Value = Json<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Json::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Json::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let within = self.within()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(within)? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let within = self.within()?;
        let mut table: JsonObject<'de> = Vec::new();
        while let Some(BorrowedText(key)) = entries.next_key()? {
            if table.len() < FEW_KEYS && table.iter().any(|(other, _)| *other == key) {
                return Err(A::Error::custom(format_args!("{TWICE}{}", quoted(&key))));
            }
            table.push((key, entries.next_value_seed(within)?));
        }
        if table.len() > FEW_KEYS
            && let Some(key) = twice(&table)
        {
            return Err(A::Error::custom(format_args!("{TWICE}{}", quoted(key))));
        }
        Ok(Json::Table(table))
    }
}

/// A duplicate key.
fn twice<'t>(table: &'t JsonObject<'_>) -> Option<&'t str> {
    let mut keys: Vec<&str> = table.iter().map(|(key, _)| &**key).collect();
    keys.sort_unstable();
    keys.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// A text, borrowed if it has no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct BorrowedText<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_bounded_with_a_place() {
        let nested = |levels: usize| {
            let (arrays, objects) = (levels / 2, levels - levels / 2);
            let open = "[".repeat(arrays) + &"{\"a\":".repeat(objects);
            open + "1" + &"}".repeat(objects) + &"]".repeat(arrays)
        };
        assert!(value(nested(LEVELS_MAX).as_bytes()).is_ok());
        for levels in [LEVELS_MAX + 1, 127, 10_000] {
            let text = nested(levels);
            let fault = value(text.as_bytes()).unwrap_err().to_string();
            assert!(fault.contains("more than 64 levels"), "{fault}");
        }
    }

    #[test]
    fn values_come_out_as_they_went_in() {
        let text = r#"{"a":[1,-2,2.5,true,null,"x\n"],"b":{"c":"é"},"big":18446744073709551615}"#;
        let expected: serde_json::Value = serde_json::from_str(text).unwrap();
        let read: serde_json::Value =
            super::super::read::body(value(text.as_bytes()).unwrap()).unwrap();
        assert_eq!(read, expected);
        assert_eq!(read.to_string(), text);
    }

    #[test]
    fn a_key_that_stands_twice_is_a_fault_at_any_depth_and_size() {
        let many: Vec<String> = (0..40).map(|n| format!("\"k{n}\":0")).collect();
        let large = format!("{{{},\"k3\":0}}", many.join(","));
        for text in [r#"{"a":1,"a":2}"#, r#"{"x":[{"a":1,"\u0061":2}]}"#, &large] {
            let fault = object(text.as_bytes()).unwrap_err();
            assert!(fault.reason.starts_with("duplicate key"), "{fault:?}");
            assert!(fault.column.is_some());
        }
        assert!(object(format!("{{{}}}", many.join(",")).as_bytes()).is_ok());
        let seventeen = format!("{{{},\"k16\":1}}", many[..17].join(","));
        assert!(object(seventeen.as_bytes()).is_err());
        let at_the_bound = format!("{{{},\"k0\":1}}", many[..16].join(","));
        assert!(object(at_the_bound.as_bytes()).is_err());
    }

    #[test]
    fn faults_of_the_syntax_have_their_column() {
        for (bytes, column) in [
            (&b"{\"a\":}"[..], 6),
            (b"{\"a\":1", 6),
            (b"{\"a\":\"\xff\"}", 7),
            (b"{} {}", 4),
            (b"{\"a\":1e999}", 10),
        ] {
            let fault = object(bytes).unwrap_err();
            assert_eq!(fault.column, Some(column), "{fault:?}");
        }
        assert_eq!(object(b"[]").unwrap_err().reason, "the body must be an object, got an array");
        let deep = "[".repeat(100_000);
        assert!(object(deep.as_bytes()).is_err());
    }
}
