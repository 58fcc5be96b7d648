//! The log of changes: who changed what, in the commit of the change (contract, section 11).
//!
//! A command that has an origin is watched while it runs: the code that changes something notes it in the draft, and
//! the step writes the line beside the change. So there is no change without its line, and no line without its change.
//! Lines are rows of the shard that decides the command, or of the intake, newest first, with postings by author,
//! action, subject and tenant. They leave when they are older than `[log] keep`; where a person is erased a keyed hash stands for
//! their id.

pub(super) mod erased;
pub(super) mod expiry;
pub(super) mod fields;
pub(super) mod line;
pub(super) mod note;
pub(super) mod person;
pub(super) mod read;
pub(super) mod subject;
pub(super) mod write;
