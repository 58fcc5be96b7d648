//! The journal of sets: records, and the form at rest.

pub mod at_rest;
pub mod parts;
pub mod record;
pub(crate) mod row;
