//! The screens, one file each: which calls a screen makes, and what its template gets.

pub(crate) mod events;
pub(crate) mod figures;
pub(crate) mod messages;
pub(crate) mod now;
pub(crate) mod people;
pub(crate) mod person;
pub(crate) mod search;
pub(crate) mod system;
pub(crate) mod types;
pub(crate) mod unknown;
pub(crate) mod why;
