//! Deserialization of a JSON value into the type of a body, with faults that have a place and a cure.
//!
//! serde finds the faults and knows the fields of each type; here faults get their path and their words. serde_json's
//! own deserializer would return one text without a path, and accept an array for a struct.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::iter::Enumerate;
use std::marker::PhantomData;
use std::vec;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, Expected, IntoDeserializer as _, MapAccess,
    SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use tidings_config::wording::{did_you_mean, nearest, quoted};

use super::fault::{Fault, HELP};
use super::json::{Json, JsonObject, kind};

/// A fault of a value, on its way up to the body, where its path becomes known.
#[derive(Debug)]
pub struct ValueFault {
    /// The path of the value, such as `to.near[1].km`; empty for the body itself.
    path: String,
    what: ReadFaultKind,
}

#[derive(Debug)]
enum ReadFaultKind {
    /// It is of another kind.
    Kind { wanted: String, got: &'static str },
    /// It is missing.
    Missing,
    /// It has an unknown field.
    Field { name: String, known: &'static [&'static str] },
    /// It is an unknown word.
    Word { word: String, known: &'static [&'static str] },
    /// Something else; the text may have a hint.
    Other(String),
}

impl ValueFault {
    fn new(what: ReadFaultKind) -> Self {
        Self { path: String::new(), what }
    }

    /// The same fault, of a value in the field or item of this name.
    fn within(mut self, name: &str) -> Self {
        let is_end = self.path.is_empty() || self.path.starts_with('[');
        let dot = if is_end { "" } else { "." };
        self.path = format!("{name}{dot}{}", self.path);
        self
    }
}

impl From<ValueFault> for Fault {
    fn from(ValueFault { path, what }: ValueFault) -> Self {
        // A path has only names of fields that there are, and numbers.
        let name = format!("`{path}`");
        let key = path.rsplit('.').next().unwrap_or_default();
        match what {
            ReadFaultKind::Kind { wanted, got } => {
                let (wanted, hint) = wanted.split_once(HELP).unwrap_or((&wanted, ""));
                let wanted = match wanted {
                    "f64" => "a number",
                    "a sequence" => "an array",
                    "a map" => "an object",
                    wanted if wanted.starts_with("struct ") => "an object",
                    wanted => wanted,
                };
                let hint = match hint {
                    "" => example(key, wanted),
                    hint => hint,
                };
                Self::new(format!("{name} must be {wanted}, got {got}"), hint)
            }
            ReadFaultKind::Missing => {
                Self::new(format!("{name} is missing"), format!("add {name}"))
            }
            ReadFaultKind::Field { name: field, known } => {
                let reason = match path.as_str() {
                    "" => format!("unknown field {}", quoted(&field)),
                    _ => format!("unknown field {} in {name}", quoted(&field)),
                };
                let hint = did_you_mean(&field, known.iter().copied());
                Self::new(reason, hint.unwrap_or_else(|| "remove it".to_owned()))
            }
            ReadFaultKind::Word { word, known } => {
                let mut hint = did_you_mean(&word, known.iter().copied()).unwrap_or_default();
                if key == "op" && nearest(&word, known.iter().copied()).is_none() {
                    hint += "; `docs/timeline.md` has each with its fields";
                }
                Self::new(format!("unknown {key} {}", quoted(&word)), hint)
            }
            ReadFaultKind::Other(text) => {
                let (reason, hint) =
                    text.split_once(HELP).unwrap_or((&text, "see the body in `/v1/openapi.json`"));
                Self::new(format!("{name} {reason}"), hint)
            }
        }
    }
}

impl Display for ValueFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for ValueFault {}

impl de::Error for ValueFault {
    fn custom<T: Display>(text: T) -> Self {
        Self::new(ReadFaultKind::Other(text.to_string()))
    }

    fn invalid_type(got: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self::new(ReadFaultKind::Kind { wanted: wanted.to_string(), got: kind(got) })
    }

    fn unknown_field(name: &str, known: &'static [&'static str]) -> Self {
        let name = name.to_owned();
        Self::new(ReadFaultKind::Field { name, known })
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        let word = word.to_owned();
        Self::new(ReadFaultKind::Word { word, known })
    }

    fn missing_field(name: &'static str) -> Self {
        Self::new(ReadFaultKind::Missing).within(name)
    }
}

/// An example of a field's value, for faults.
fn example(key: &str, wanted: &str) -> &'static str {
    match (wanted, key) {
        ("an object", _) => r#"Example: {"excerpt": "Well done"}"#,
        ("an array", "topics") => r#"Example: ["artist/42"]"#,
        ("an array", "channels") => r#"Example: ["email"]"#,
        ("an array", _) => r#"Example: ["ada"]"#,
        ("a boolean", _) => "write true or false, without quotes",
        ("a number", _) => "write it without quotes",
        _ => "write it in quotes",
    }
}

/// Reads a body.
pub(super) fn body<'de, T: Deserialize<'de>>(value: Json<'de>) -> Result<T, Fault> {
    Ok(T::deserialize(value)?)
}

/// The names of the fields of a body.
#[must_use]
pub fn field_names<T: for<'de> Deserialize<'de>>() -> &'static [&'static str] {
    let mut names: &[&str] = &[];
    // It gives no value, so there is none to look at.
    let _ = T::deserialize(FieldNameRecorder(&mut names));
    names
}

/// A deserializer that records the names of a struct's fields.
struct FieldNameRecorder<'n>(&'n mut &'static [&'static str]);

impl<'de> Deserializer<'de> for FieldNameRecorder<'_> {
    type Error = ValueFault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueFault> {
        Err(de::Error::invalid_type(Unexpected::Unit, &visitor))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueFault> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// Reads a field of a body.
pub(super) fn field<'de, T: Deserialize<'de>>(
    (name, value): (Cow<'de, str>, Json<'de>),
) -> Result<T, Fault> {
    Ok(value_of(&name, value, PhantomData)?)
}

/// Reads the value of a field. Null is the same as absent if the type has no use for it.
fn value_of<'de, T: DeserializeSeed<'de>>(
    name: &str,
    value: Json<'de>,
    seed: T,
) -> Result<T::Value, ValueFault> {
    let is_null = value == Json::Null;
    seed.deserialize(value).map_err(|wrong| match wrong.what {
        ReadFaultKind::Kind { .. } if is_null => {
            ValueFault::new(ReadFaultKind::Missing).within(name)
        }
        _ => wrong.within(name),
    })
}

/// The unread fields of an object, and the unread value of the field whose name was read.
struct UnreadFields<'de> {
    entries: vec::IntoIter<(Cow<'de, str>, Json<'de>)>,
    entry: Option<(Cow<'de, str>, Json<'de>)>,
}

impl<'de> UnreadFields<'de> {
    fn of(table: JsonObject<'de>) -> Self {
        let entries = table.into_iter();
        let entry = None;
        Self { entries, entry }
    }
}

impl<'de> MapAccess<'de> for UnreadFields<'de> {
    type Error = ValueFault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ValueFault> {
        self.entry = self.entries.next();
        let name = self.entry.as_ref().map(|(name, _)| name.as_ref());
        let name = name.map(|name| seed.deserialize(StrDeserializer::new(name)));
        name.transpose()
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<T::Value, ValueFault> {
        match self.entry.take() {
            Some((name, value)) => value_of(&name, value, seed),
            None => Err(de::Error::custom("has no value")),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// The unread items of a list, with their numbers.
struct UnreadItems<'de>(Enumerate<vec::IntoIter<Json<'de>>>);

impl<'de> SeqAccess<'de> for UnreadItems<'de> {
    type Error = ValueFault;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ValueFault> {
        let item = self.0.next().map(|(index, item)| {
            let item = seed.deserialize(item);
            item.map_err(|wrong| wrong.within(&format!("[{index}]")))
        });
        item.transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

impl<'de> Deserializer<'de> for Json<'de> {
    type Error = ValueFault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueFault> {
        match self {
            Self::Null => visitor.visit_unit(),
            Self::Bool(flag) => visitor.visit_bool(flag),
            Self::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(number), _) => visitor.visit_u64(number),
                (None, Some(number)) => visitor.visit_i64(number),
                (None, None) => visitor.visit_f64(number.as_f64().unwrap_or_default()),
            },
            Self::Text(Cow::Borrowed(text)) => visitor.visit_borrowed_str(text),
            Self::Text(Cow::Owned(text)) => visitor.visit_string(text),
            Self::List(list) => visitor.visit_seq(UnreadItems(list.into_iter().enumerate())),
            Self::Table(table) => visitor.visit_map(UnreadFields::of(table)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueFault> {
        match self {
            Self::Null => visitor.visit_none(),
            other => visitor.visit_some(other),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueFault> {
        match self {
            // A struct would take a list for its fields in their order.
            Self::List(_) => Err(de::Error::invalid_type(Unexpected::Seq, &visitor)),
            other => other.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueFault> {
        match self {
            Self::Text(word) => visitor.visit_enum(word.into_deserializer()),
            other => Err(de::Error::invalid_type(other.unexpected(), &"a string")),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ValueFault> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}
