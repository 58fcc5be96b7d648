//! Masks the values of a message before it is built: its form can be shown then, and what a reader sees of it.

use serde_json::{Map, Value};

use super::{HIDDEN, text};

/// The field of an answer whose message was built with masked values.
pub const MASKED: &str = "masked";

/// The masked forms of values, by what they are.
#[derive(Clone, Debug, Default)]
pub struct ValueMask {
    /// The fields of `data` that are shown, as `data.plan`.
    shown_data: Vec<String>,
}

impl ValueMask {
    /// The mask of a server that shows these fields of `data`.
    #[must_use]
    pub fn new(shown_data: Vec<String>) -> Self {
        Self { shown_data }
    }

    /// A name or a title.
    #[must_use]
    pub fn name(&self, name: &str) -> String {
        text::name(name)
    }

    /// A text of a person.
    #[must_use]
    pub fn text(&self, _: &str) -> String {
        HIDDEN.to_owned()
    }

    /// The fields of `data`.
    #[must_use]
    pub fn data(&self, fields: &Map<String, Value>) -> Map<String, Value> {
        let mut masked = fields.clone();
        for (name, value) in &mut masked {
            data(&self.shown_data, &format!("data.{name}"), value);
        }
        masked
    }
}

/// Masks a value of `data`, but for the fields that are shown. Numbers are hidden as well.
pub(super) fn data(shown_data: &[String], path: &str, value: &mut Value) {
    if shown_data.iter().any(|shown| shown == path) {
        return;
    }
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                data(shown_data, &format!("{path}.{name}"), value);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| data(shown_data, path, value)),
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) | Value::String(_) => *value = HIDDEN.into(),
    }
}
