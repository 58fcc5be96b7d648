//! Fields of one JSON object: some are taken one by one, because they belong to a line and not to the body of a call,
//! and the others are read as one body.

use serde::Deserialize;
use tidings_config::wording::{nearest, quoted};
use tidings_core::Id;

use super::fault::Fault;
use super::json::{self, Json, JsonObject};
use super::read;
use super::text::Text;

/// The fields that have not been taken yet.
#[derive(Debug, Default)]
pub struct Fields<'a>(JsonObject<'a>);

impl<'a> Fields<'a> {
    /// The fields of an object.
    #[must_use]
    pub fn new(table: JsonObject<'a>) -> Self {
        Self(table)
    }

    /// Reads the fields of a text that is one JSON object.
    ///
    /// # Errors
    /// As [`json::object`].
    pub fn parse(text: &'a [u8]) -> Result<Self, Fault> {
        json::object(text).map(Self)
    }

    /// The `id`, even if other fields are invalid.
    #[must_use]
    pub fn said_id(&self) -> Option<&str> {
        match self.0.iter().find(|(key, _)| key == "id") {
            Some((_, Json::Text(id))) => Some(id),
            _ => None,
        }
    }

    /// All fields that have not been taken.
    #[must_use]
    pub fn into_table(self) -> JsonObject<'a> {
        self.0
    }

    /// Takes a field that must be there.
    ///
    /// # Errors
    /// The [`Fault`] of a field that is missing or can't be read.
    pub fn required<T: Deserialize<'a>>(&mut self, key: &str) -> Result<T, Fault> {
        if let Some(at) = self.0.iter().position(|(name, _)| name == key) {
            return read::field(self.0.remove(at));
        }
        let hint = match nearest(key, self.0.iter().map(|(name, _)| &**name)) {
            Some(near) => format!("is {} meant to be `{key}`?", quoted(near)),
            None => format!("add `{key}`"),
        };
        Err(Fault::new(format!("`{key}` is missing"), hint))
    }

    /// Takes a field that need not be there.
    ///
    /// # Errors
    /// The [`Fault`] of a field that can't be read.
    pub fn optional<T: Deserialize<'a>>(&mut self, key: &str) -> Result<Option<T>, Fault> {
        let place = self.0.iter().position(|(name, _)| name == key);
        place.map(|at| read::field(self.0.remove(at))).transpose()
    }

    /// Takes an id that must be there.
    ///
    /// # Errors
    /// The [`Fault`] of an id that is missing or is none.
    pub fn id(&mut self, key: &str) -> Result<Id, Fault> {
        self.required(key).map(Text::inner)
    }

    /// Reads all fields that have not been taken as one body.
    ///
    /// # Errors
    /// The first [`Fault`] in them.
    pub fn body<T: Deserialize<'a>>(self) -> Result<T, Fault> {
        read::body(Json::Table(self.0))
    }
}
