//! The screens, one file each: which calls a screen makes, and what its template gets.

pub(crate) mod figures;
pub(crate) mod messages;
pub(crate) mod now;
pub(crate) mod system;
