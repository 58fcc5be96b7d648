//! The message as mail servers take it: headers, bodies as bytes, signature, sealed links (RFC 5322 and its kin).

pub(super) mod address;
pub(super) mod dkim;
pub(super) mod list;
pub(super) mod mime;
pub(super) mod quoted;
pub(super) mod sender;
pub(super) mod tag;
pub(super) mod token;
