//! The screens, one file each: which calls a screen makes, and what its template gets.

pub(crate) mod now;
