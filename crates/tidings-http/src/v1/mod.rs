//! The calls of version 1, one file per resource.

mod admin;
mod backup;
pub(super) mod events;
pub(super) mod export;
mod hooks;
pub(super) mod inbox;
mod keys;
mod log;
mod messages;
pub mod nodes;
mod objects;
mod operating;
mod pausing;
mod people;
pub(super) mod preferences;
pub(super) mod push;
mod recipients;
mod schema;
pub(super) mod subscriptions;
mod suppressions;
pub mod tenants;
#[cfg(test)]
mod tests;
mod types;
pub(super) mod waiting;

pub(super) use admin::clock_behind_seconds;

use super::call::Calls;

/// All calls.
pub(super) fn calls(calls: Calls) -> Calls {
    let calls = people::calls(tenants::calls(recipients::calls(calls)));
    let calls = push::calls(subscriptions::calls(calls));
    let calls = preferences::calls(calls);
    let calls = events::calls(calls);
    let calls = events::list::calls(events::outcome::calls(calls));
    let calls = operating::calls(calls);
    let calls = events::cancel::calls(calls);
    let calls = objects::calls(calls);
    let calls = inbox::calls(calls);
    let calls = waiting::calls(calls);
    let calls = messages::content::calls(messages::jobs::calls(messages::calls(calls)));
    let calls = suppressions::calls(calls);
    let calls = types::calls(calls);
    let calls = pausing::calls(calls);
    let calls = pausing::parked::calls(pausing::feeds::calls(nodes::calls(calls)));
    let calls = hooks::calls(calls);
    let calls = backup::calls(calls);
    let calls = export::calls(calls);
    let calls = keys::calls(calls);
    let calls = keys::sessions::calls(calls);
    let calls = keys::signing::calls(calls);
    let calls = keys::tokens::calls(calls);
    let calls = log::calls(calls);
    admin::calls(calls)
}
