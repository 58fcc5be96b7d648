//! The schema of a type's `data`: its text, which is stored with the rules, and the check that the reader of the
//! configuration compiled. The core keeps both and uses neither: events are checked before they become commands.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// A check of the `data` of an event.
pub trait DataCheck: Send + Sync {
    /// The first fault of `data`, if it has one.
    fn fault(&self, data: &Value) -> Option<DataFault>;
}

/// The reason why the `data` of an event does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFault {
    /// The JSON pointer (RFC 6901) of what is wrong, from `data` on; empty for `data` itself.
    pub pointer: String,
    /// The fault, in words that follow a name: "must be a number".
    pub reason: String,
    /// A way to fix it.
    pub hint: String,
}

/// The schema that the `data` of a type's events is held to. It is equal to another, and stored, by its text.
#[derive(Clone)]
pub struct DataSchema {
    text: Arc<str>,
    /// `None` where it was read from a store, by which no event is judged.
    check: Option<Arc<dyn DataCheck>>,
}

impl DataSchema {
    /// A schema, JSON Schema as text, with its check.
    #[must_use]
    pub fn new(text: &str, check: Arc<dyn DataCheck>) -> Self {
        Self { text: text.into(), check: Some(check) }
    }

    /// The schema as text: one JSON object.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The first fault of `data`, if it has one.
    #[must_use]
    pub fn fault(&self, data: &Value) -> Option<DataFault> {
        self.check.as_ref()?.fault(data)
    }
}

impl PartialEq for DataSchema {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Debug for DataSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DataSchema").field(&self.text).finish()
    }
}

impl Serialize for DataSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for DataSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(Self { text: text.into(), check: None })
    }
}
