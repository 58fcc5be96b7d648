//! Calls by which support and operators look: explanations, searches, previews, figures and trials.

mod explain;
mod figures;
mod preview;
mod search;
pub(super) mod trials;

use crate::call::Calls;

/// The calls by which operators look.
pub(super) fn calls(calls: Calls) -> Calls {
    let calls = search::calls(explain::calls(calls));
    trials::calls(figures::calls(preview::calls(calls)))
}
