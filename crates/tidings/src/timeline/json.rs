//! JSON for bodies: borrowed from the line; a duplicate key is a fault.
//!
//! `serde_json::Value` would keep the last of two equal keys in silence, and would copy every text.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use super::fault::Fault;
use crate::wording::quoted;

/// From this many keys on, equal ones are looked for by sorting rather than one by one.
const FEW_KEYS: usize = 16;

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
    /// An object; no key stands twice.
    Table(Table<'a>),
}

/// The keys and values of an object in their order.
pub type Table<'a> = Vec<(Cow<'a, str>, Json<'a>)>;

impl Json<'_> {
    /// What kind of value it is, for faults.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "an array",
            Self::Table(_) => "an object",
        }
    }

    /// The same value as the core carries it.
    #[must_use]
    pub fn into_value(self) -> serde_json::Value {
        match self {
            Self::Null => serde_json::Value::Null,
            Self::Bool(flag) => flag.into(),
            Self::Number(number) => serde_json::Value::Number(number),
            Self::Text(text) => text.into_owned().into(),
            Self::List(list) => list.into_iter().map(Self::into_value).collect(),
            Self::Table(table) => serde_json::Value::Object(into_map(table)),
        }
    }
}

/// An object as the core carries it.
#[must_use]
pub fn into_map(table: Table<'_>) -> serde_json::Map<String, serde_json::Value> {
    table
        .into_iter()
        .map(|(key, value)| (key.into_owned(), value.into_value()))
        .collect()
}

/// Reads one JSON object.
///
/// # Errors
/// Not UTF-8, not JSON, a key that stands twice (with its column), or something else than an object.
pub fn object(bytes: &[u8]) -> Result<Table<'_>, Fault> {
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
/// Not UTF-8, not JSON, or a key that stands twice, with its column, and its line where there are
/// several.
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
        None => Fault::new(
            format!("invalid JSON: {message}"),
            "check the brackets, quotes and commas there",
        ),
    };
    let fault = fault.at_column(column);
    match error.line() {
        ..=1 => fault,
        line => fault.on_line(line as u64),
    }
}

/// Marks a key that stands twice on its way through the parser's own error.
const TWICE: &str = "twice: ";

impl<'de: 'a, 'a> Deserialize<'de> for Json<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

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
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut table: Table<'de> = Vec::new();
        while let Some(Key(key)) = entries.next_key()? {
            if table.len() < FEW_KEYS && table.iter().any(|(other, _)| *other == key) {
                return Err(A::Error::custom(format_args!("{TWICE}{}", quoted(&key))));
            }
            table.push((key, entries.next_value()?));
        }
        if table.len() > FEW_KEYS
            && let Some(key) = twice(&table)
        {
            return Err(A::Error::custom(format_args!("{TWICE}{}", quoted(key))));
        }
        Ok(Json::Table(table))
    }
}

/// A key that stands twice.
fn twice<'t>(table: &'t Table<'_>) -> Option<&'t str> {
    let mut keys: Vec<&str> = table.iter().map(|(key, _)| &**key).collect();
    keys.sort_unstable();
    keys.windows(2)
        .find(|pair| pair[0] == pair[1])
        .map(|pair| pair[0])
}

/// A key, borrowed if it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KeyVisitor)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Key<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Key(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Key(Cow::Owned(value.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_out_as_they_went_in() {
        let text = r#"{"a":[1,-2,2.5,true,null,"x\n"],"b":{"c":"é"},"big":18446744073709551615}"#;
        let expected: serde_json::Value = serde_json::from_str(text).unwrap();
        let read = serde_json::Value::Object(into_map(object(text.as_bytes()).unwrap()));
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
        assert_eq!(
            object(b"[]").unwrap_err().reason,
            "the body must be an object, got an array"
        );
        let deep = "[".repeat(100_000);
        assert!(object(deep.as_bytes()).is_err());
    }
}
