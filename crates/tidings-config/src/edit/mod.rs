//! Edits of a configuration's text: a value is set or removed, and comments and layout stay as they are.
//!
//! An edit is written where people would write it: over the old value, in the table of its neighbours, or as a table of
//! its own. TOML has several layouts for one table, and not each may be extended everywhere; so each way of writing is
//! tried, and taken only if the text then has the values that it should have, and no others.

mod diff;
mod layout;
mod place;
#[cfg(test)]
mod tests;
mod value;

use serde_json::Value;

use crate::ConfigSource;
use crate::wording::{all_of, quoted};

pub use diff::unified;

/// The sections whose keys can be edited.
pub const EDITABLE: [&str; 4] = ["types", "categories", "digests", "caps"];

/// A change of one key.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// The dotted key, as TOML writes it, such as `types.comment.channels.email.quiet`. An index names an item of an array:
    /// `caps.0.max`.
    pub key: String,
    /// Its value; null removes the key.
    pub value: Value,
}

/// The reason why an edit is not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The text is no key of TOML.
    #[error("{} is no dotted key", quoted(.0))]
    Key(String),
    /// The key is outside of [`EDITABLE`].
    #[error("{} is not under {}", quoted(.0), all_of(&EDITABLE))]
    NotEditable(String),
    /// The key would be below a value that is no table, or after the end of an array.
    #[error("{} has no such key", quoted(.0))]
    NoTable(String),
    /// TOML has no such value.
    #[error("the value of {} can't be written as TOML: {reason}", quoted(.key))]
    Value {
        /// The key.
        key: String,
        /// The fault.
        reason: &'static str,
    },
    /// No layout was found for it.
    #[error("{} can't be written into the file as it is laid out", quoted(.0))]
    Layout(String),
}

impl EditError {
    /// A way to fix it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Key(_) => {
                "write names with dots, such as `types.comment.channels.email.quiet`; a name with other signs in quotes"
            }
            Self::NotEditable(_) => "change other keys in the file, and reload it",
            Self::NoTable(_) => "edit that key itself, or remove it first",
            Self::Value { .. } => {
                "give a string, a number, a boolean, an array or an object without nulls"
            }
            Self::Layout(_) => "edit the table that it is in as a whole, or change it in the file",
        }
    }
}

impl ConfigSource {
    /// The same configuration with edits, made one after the other.
    ///
    /// # Errors
    /// [`EditError`] of the first that can't be made.
    pub fn edited(&self, edits: &[Edit]) -> Result<Self, EditError> {
        let mut text = self.text.clone();
        for edit in edits {
            let path =
                layout::key_path(&edit.key).ok_or_else(|| EditError::Key(edit.key.clone()))?;
            if !path.first().is_some_and(|section| EDITABLE.contains(&section.as_str())) {
                return Err(EditError::NotEditable(edit.key.clone()));
            }
            text = place::edited(&text, &path, value::of_json(&edit.key, &edit.value)?.as_ref())?;
        }
        Ok(Self { file: self.file.clone(), text })
    }
}
