//! The journal of sets: records, and their indexed form.

pub mod chunks;
pub mod record;
pub(crate) mod row;
pub mod stored;
pub mod table;
