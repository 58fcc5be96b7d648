//! The only place where parts are put together.

use tidings_core::Rules;

use crate::simulate::{Play, PlayError};

/// What `tidings simulate` plays a timeline through.
///
/// # Errors
/// [`PlayError::Broken`] where it cannot be set up.
pub fn player(_rules: Rules) -> Result<Box<dyn Play>, PlayError> {
    Err(PlayError::Broken("this build has no engine".to_owned()))
}
