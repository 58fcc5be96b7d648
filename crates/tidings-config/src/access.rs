//! The sections of those who come in with no API key: end users with tokens, and people who open the console.

pub(super) mod console;
pub(super) mod users;
