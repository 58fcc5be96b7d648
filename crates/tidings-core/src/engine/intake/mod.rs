//! The intake: assigns ids, places and order, and keeps events, objects and rules.

pub(super) mod accept;
pub(super) mod accepted;
pub(super) mod ahead;
pub(super) mod arrivals;
pub(super) mod figures;
pub(super) mod known_ids;
pub(super) mod list_old_arrivals;
pub(super) mod locate;
pub(super) mod objects;
pub(super) mod old_arrivals;
pub(super) mod recent;
pub(super) mod state;
pub(super) mod suppressed;
mod suppressing;
mod tenancy;
pub(super) mod tenants;
