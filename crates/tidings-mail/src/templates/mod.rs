//! Templates: their language, what is tried on them before a mail depends on them, and what they print.

pub(super) mod check;
pub(super) mod client_support;
pub(super) mod language;
pub(super) mod rendered;
pub(super) mod sample;
pub(super) mod template;
