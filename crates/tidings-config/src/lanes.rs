//! The check that all types of a lane have the same policy kind (contract, section 2).
//!
//! A lane has one deadline: with two kinds in it, each would hold the other's entries by a rule that their type does
//! not have.

use std::collections::BTreeMap;

use tidings_core::rules::Policy;

use super::walk::{ByteSpan, ConfigReader};
use crate::wording::quoted;

/// One route that puts entries into a lane.
#[derive(Debug)]
pub(super) struct LaneUse {
    pub(super) channel: String,
    pub(super) lane: String,
    pub(super) policy: Policy,
    /// The type's name.
    pub(super) kind: String,
    pub(super) span: ByteSpan,
}

/// Reports each route that disagrees with the first one (in the file) of its lane.
pub(super) fn check(walk: &mut ConfigReader, mut uses: Vec<LaneUse>) {
    uses.sort_by_key(|route| route.span.start);
    // What a category says stands in one place, however many types have it.
    uses.dedup_by(|next, one| next.span == one.span);
    let mut first: BTreeMap<(&str, &str), &LaneUse> = BTreeMap::new();
    for route in &uses {
        let one = *first.entry((&route.channel, &route.lane)).or_insert(route);
        let (this, that) = (describe(&route.policy), describe(&one.policy));
        if this != that {
            walk.bad(
                &route.span,
                format!(
                    "the lane {} of {} cannot hold {this}: it holds {that} for the type {}",
                    quoted(&route.lane),
                    route.channel,
                    quoted(&one.kind)
                ),
                "give one type a `lane` of its own, or both the same policy",
            );
        }
    }
}

/// Describes what all routes of a lane must have in common.
fn describe(policy: &Policy) -> String {
    match policy {
        Policy::Now => "`now`".to_owned(),
        Policy::FirstEvent { decide, .. } => {
            format!("`first_event` with decide = {}", format!("{decide:?}").to_lowercase())
        }
        Policy::Cooldown { .. } => "`cooldown`".to_owned(),
        Policy::Leading { .. } => "`leading`".to_owned(),
        Policy::Digest { digest } => format!("the digest {}", quoted(digest)),
        Policy::Never => "`never`".to_owned(),
    }
}
