//! Data of the host about a recipient or an object.
//!
//! The core keeps it as it was given and never looks into it by itself. It is shared, because profiles and
//! objects are copied where one field of them changes.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value};

/// A JSON object of the host, replaced as a whole. Cheap to clone.
///
/// # Examples
/// ```
/// use tidings_core::model::Data;
///
/// let data: Data = serde_json::from_str(r#"{"plan": "gold"}"#)?;
/// assert_eq!(data.fields()["plan"], "gold");
/// assert_eq!(data.bytes(), 15);
/// // Stores of the core's own form keep it as text, which says what it is.
/// let stored = tidings_core::journal::encode(&data);
/// assert_eq!(tidings_core::journal::decode::<Data>("data", &stored)?, data);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data(Arc<Map<String, Value>>);

impl Data {
    /// The fields of the object, by name.
    #[must_use]
    pub fn fields(&self) -> &Map<String, Value> {
        &self.0
    }

    /// Number of bytes as compact JSON.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        serde_json::to_vec(&*self.0).map_or(u64::MAX, |bytes| bytes.len() as u64)
    }
}

impl From<Map<String, Value>> for Data {
    fn from(fields: Map<String, Value>) -> Self {
        Self(Arc::new(fields))
    }
}

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return self.0.serialize(serializer);
        }
        let text = serde_json::to_string(&*self.0).map_err(serde::ser::Error::custom)?;
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return Map::deserialize(deserializer).map(Self::from);
        }
        let text = String::deserialize(deserializer)?;
        let fields: Map<String, Value> = serde_json::from_str(&text).map_err(de::Error::custom)?;
        Ok(fields.into())
    }
}
