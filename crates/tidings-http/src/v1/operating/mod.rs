//! Calls by which support and operators look: explanations, searches, previews and figures.

mod explain;
mod figures;
mod preview;
mod search;

use crate::call::Calls;

/// The calls by which operators look.
pub(super) fn calls(calls: Calls) -> Calls {
    let calls = search::calls(explain::calls(calls));
    figures::calls(preview::calls(calls))
}
