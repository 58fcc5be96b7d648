//! Reads, which change nothing: inboxes, messages, outcomes, counts.

pub(super) mod agenda;
pub(super) mod books;
pub(super) mod changed;
pub(super) mod events;
pub(super) mod list;
pub(super) mod members;
pub(super) mod message_content;
pub(super) mod message_report;
pub(super) mod messages;
pub(super) mod next;
pub(super) mod outcome;
pub(super) mod people;
pub(super) mod reader;
pub(super) mod retrying;
pub(super) mod search;
pub(super) mod simulation_export;
pub(super) mod snapshot;
pub(super) mod suppressions;
pub(super) mod tenants;
pub(super) mod view;
