//! The journal of sets: records, and their indexed form.

pub mod parts;
pub mod record;
pub(crate) mod row;
pub mod stored;
pub mod table;
