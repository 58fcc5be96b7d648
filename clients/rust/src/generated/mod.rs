//! Types and calls that are generated from the document of the API.

pub(crate) mod api;
pub(crate) mod error;
#[allow(clippy::large_enum_variant, reason = "a box would be in the way of who matches them")]
pub(crate) mod types;
