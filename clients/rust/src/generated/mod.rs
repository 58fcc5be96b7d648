//! What is written from the document of the API.

pub(crate) mod api;
pub(crate) mod error;
pub(crate) mod types;
