//! Changes of the configuration that are tried and not made: the text that is in force, which edits begin from, and
//! comparisons of both.

pub(crate) mod comparison;

use std::sync::{Arc, PoisonError, RwLock};

use tidings_config::ConfigSource;
use tidings_config::edit::{Edit, EditError};

use crate::error::{Code, Problem};
use comparison::Comparisons;

/// The configuration in force, to be tried with edits.
#[derive(Debug, Default)]
pub struct Trials {
    /// Its text; `None` = it was put in force without one.
    source: RwLock<Option<Arc<ConfigSource>>>,
    /// Comparisons of it with itself under edits.
    pub(crate) comparisons: Comparisons,
}

/// A configuration before and after edits.
#[derive(Clone, Debug)]
pub(crate) struct EditedConfig {
    /// The configuration in force.
    pub(crate) current: Arc<ConfigSource>,
    /// The same with the edits.
    pub(crate) proposed: ConfigSource,
}

impl Trials {
    /// Sets the text of the configuration that is put in force.
    pub fn set_source(&self, source: impl Into<Option<ConfigSource>>) {
        let source = source.into().map(Arc::new);
        *self.source.write().unwrap_or_else(PoisonError::into_inner) = source;
    }

    /// The configuration in force, and with edits.
    ///
    /// # Errors
    /// [`Code::ConfigUnknown`], or that of an edit.
    pub(crate) fn edited(&self, edits: &[Edit]) -> Result<EditedConfig, Problem> {
        let source = self.source.read().unwrap_or_else(PoisonError::into_inner).clone();
        let current = source.ok_or_else(|| {
            let detail = "the configuration was put in force by a program, and not from a file";
            Problem::new(Code::ConfigUnknown, detail)
        })?;
        let proposed = current.edited(edits)?;
        Ok(EditedConfig { current, proposed })
    }
}

impl From<EditError> for Problem {
    fn from(error: EditError) -> Self {
        let code = match error {
            EditError::NotEditable(_) | EditError::Layout(_) => Code::KeyNotEditable,
            EditError::Key(_) | EditError::NoTable(_) | EditError::Value { .. } => {
                Code::InvalidBody
            }
        };
        Self::new(code, error.to_string()).hint(error.hint())
    }
}
