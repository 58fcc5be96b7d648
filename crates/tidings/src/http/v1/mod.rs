//! The calls of version 1, a file a resource.

mod events;
mod objects;
mod schema;

use super::call::Calls;

/// All calls.
pub(super) fn calls(calls: Calls) -> Calls {
    let calls = events::calls(calls);
    objects::calls(calls)
}
