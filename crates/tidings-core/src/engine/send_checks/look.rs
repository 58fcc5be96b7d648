//! The look before sending: the checks that may end an entry, in their order (contract, section 2, "When a
//! message is made").
//!
//! The planner runs all of them, entry by entry. Deliveries to inboxes, scheduled events that enter their lanes, and
//! entries that move run those that apply to them, set by set, without the other facts.

use roaring::RoaringBitmap;

use crate::engine::intake::state::Intake;
use crate::index::headers::Header;
use crate::journal::record::Arrival;
use crate::journal::stored::StoredArrival;
use crate::model::reason::Reason;
use crate::model::time::Instant;
use crate::rules::compiled::CompiledRules;

/// The facts that decide about the entries of one event on one channel. Those left out end nothing.
#[derive(Clone, Copy, Default)]
pub(crate) struct SendCheckFacts<'a> {
    /// Its tenant was disabled or deleted.
    pub(crate) tenant_gone: EndedRecipients<'a>,
    /// Its type is no longer configured.
    pub(crate) unknown_type: EndedRecipients<'a>,
    /// The recipient is gone.
    pub(crate) gone: EndedRecipients<'a>,
    /// `expires_at` has come.
    pub(crate) expired: EndedRecipients<'a>,
    /// The preference says never.
    pub(crate) never: EndedRecipients<'a>,
    /// The condition of its type is false.
    pub(crate) untrue: EndedRecipients<'a>,
    /// The condition of its type has no answer.
    pub(crate) unanswered: EndedRecipients<'a>,
    /// Its object is withdrawn.
    pub(crate) withdrawn: EndedRecipients<'a>,
    /// The recipient has seen it, and that counts.
    pub(crate) seen: EndedRecipients<'a>,
    /// It is older than the type's look-back.
    pub(crate) stale: EndedRecipients<'a>,
    /// The recipient has no address.
    pub(crate) no_address: EndedRecipients<'a>,
    /// The recipient's address is suppressed.
    pub(crate) suppressed: EndedRecipients<'a>,
    /// The channel's `allow` leaves the recipient's address out.
    pub(crate) not_allowed: EndedRecipients<'a>,
}

/// The recipients to whom a fact applies.
#[derive(Clone, Copy, Default)]
pub(crate) enum EndedRecipients<'a> {
    #[default]
    None,
    All,
    Of(&'a RoaringBitmap),
    Where(&'a dyn Fn(u32) -> bool),
}

/// A check: the reason that it gives, and the fact that it looks at.
type SendCheck = (Reason, for<'a> fn(&SendCheckFacts<'a>) -> EndedRecipients<'a>);

/// The checks in their order: the first that applies ends the entry.
const CHECKS: [SendCheck; 13] = [
    (Reason::TenantGone, |facts| facts.tenant_gone),
    (Reason::UnknownType, |facts| facts.unknown_type),
    (Reason::RecipientGone, |facts| facts.gone),
    (Reason::Expired, |facts| facts.expired),
    (Reason::Preference, |facts| facts.never),
    (Reason::Condition, |facts| facts.untrue),
    (Reason::ConditionError, |facts| facts.unanswered),
    (Reason::NotApplicable, |facts| facts.withdrawn),
    (Reason::Seen, |facts| facts.seen),
    (Reason::Stale, |facts| facts.stale),
    (Reason::NoAddress, |facts| facts.no_address),
    (Reason::Suppressed, |facts| facts.suppressed),
    // Comes last, so that a staging system gives the same reasons as production up to here.
    (Reason::NotAllowed, |facts| facts.not_allowed),
];

/// The reasons of the checks, in their order.
pub(crate) fn reasons() -> impl Iterator<Item = Reason> {
    CHECKS.iter().map(|(reason, _)| *reason)
}

impl<'a> EndedRecipients<'a> {
    /// All or none.
    pub(crate) fn all_if(applies: bool) -> Self {
        if applies { Self::All } else { Self::None }
    }

    fn ends_nobody(self) -> bool {
        match self {
            Self::None => true,
            Self::Of(recipients) => recipients.is_empty(),
            Self::All | Self::Where(_) => false,
        }
    }

    fn has(self, number: u32) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Of(recipients) => recipients.contains(number),
            Self::Where(applies) => applies(number),
        }
    }

    fn intersect(self, recipients: &RoaringBitmap) -> RoaringBitmap {
        match self {
            Self::None => RoaringBitmap::new(),
            Self::All => recipients.clone(),
            Self::Of(some) => recipients & some,
            Self::Where(applies) => recipients.iter().filter(|number| applies(*number)).collect(),
        }
    }
}

/// The checks that may end an entry of one event on one channel, in their order.
pub(crate) struct Checks<'a>(Vec<(Reason, EndedRecipients<'a>)>);

impl<'a> SendCheckFacts<'a> {
    /// The checks that may end something, given these facts.
    pub(crate) fn checks(&self) -> Checks<'a> {
        let checks = CHECKS.iter().map(|(reason, fact)| (*reason, fact(self)));
        Checks(checks.filter(|(_, ends)| !ends.ends_nobody()).collect())
    }
}

impl Checks<'_> {
    /// The reason why the entry of a recipient ends, if it does.
    pub(crate) fn end_of(&self, number: u32) -> Option<Reason> {
        let first = self.0.iter().find(|(_, ends)| ends.has(number));
        first.map(|(reason, _)| *reason)
    }

    /// Gives away the entries of a set that end, and returns the others.
    pub(crate) fn divide(
        &self,
        mut recipients: RoaringBitmap,
        mut end: impl FnMut(Reason, RoaringBitmap),
    ) -> RoaringBitmap {
        for (reason, ends) in &self.0 {
            let ended = ends.intersect(&recipients);
            if !ended.is_empty() {
                recipients -= &ended;
                end(*reason, ended);
            }
        }
        recipients
    }
}

/// The facts that all entries of an arrival share at an instant.
pub(crate) fn facts_of(
    compiled: &CompiledRules,
    intake: &Intake,
    kept: &StoredArrival,
    header: &Header,
    at: Instant,
) -> SendCheckFacts<'static> {
    let version = compiled.current();
    let of_type = version.and_then(|version| version.of_type(kept.arrival.type_no));
    let look_back = of_type.and_then(|of_type| of_type.rules.look_back_ms);
    let Arrival { tenant, place, .. } = kept.arrival;
    SendCheckFacts {
        tenant_gone: EndedRecipients::all_if(intake.tenants.are_void(tenant, place)),
        unknown_type: EndedRecipients::all_if(of_type.is_none()),
        expired: EndedRecipients::all_if(header.expires_at.is_some_and(|expires| expires <= at)),
        withdrawn: EndedRecipients::all_if(intake.objects.withdrawn.contains_key(&header.object)),
        stale: EndedRecipients::all_if(
            look_back.is_some_and(|ms| kept.arrival.t < at.plus_ms(-ms)),
        ),
        ..SendCheckFacts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_check_that_applies_ends_an_entry() {
        let somebody = RoaringBitmap::from_iter([1, 2]);
        let is_seen = |number| number == 1;
        let mut facts = SendCheckFacts {
            tenant_gone: EndedRecipients::All,
            unknown_type: EndedRecipients::All,
            gone: EndedRecipients::Of(&somebody),
            expired: EndedRecipients::All,
            never: EndedRecipients::Of(&somebody),
            untrue: EndedRecipients::All,
            unanswered: EndedRecipients::Of(&somebody),
            withdrawn: EndedRecipients::All,
            seen: EndedRecipients::Where(&is_seen),
            stale: EndedRecipients::All,
            no_address: EndedRecipients::Of(&somebody),
            suppressed: EndedRecipients::All,
            not_allowed: EndedRecipients::Of(&somebody),
        };
        let lifts: [fn(&mut SendCheckFacts<'_>); 13] = [
            |facts| facts.tenant_gone = EndedRecipients::None,
            |facts| facts.unknown_type = EndedRecipients::None,
            |facts| facts.gone = EndedRecipients::None,
            |facts| facts.expired = EndedRecipients::None,
            |facts| facts.never = EndedRecipients::None,
            |facts| facts.untrue = EndedRecipients::None,
            |facts| facts.unanswered = EndedRecipients::None,
            |facts| facts.withdrawn = EndedRecipients::None,
            |facts| facts.seen = EndedRecipients::None,
            |facts| facts.stale = EndedRecipients::None,
            |facts| facts.no_address = EndedRecipients::None,
            |facts| facts.suppressed = EndedRecipients::None,
            |facts| facts.not_allowed = EndedRecipients::None,
        ];
        let order = [
            Reason::TenantGone,
            Reason::UnknownType,
            Reason::RecipientGone,
            Reason::Expired,
            Reason::Preference,
            Reason::Condition,
            Reason::ConditionError,
            Reason::NotApplicable,
            Reason::Seen,
            Reason::Stale,
            Reason::NoAddress,
            Reason::Suppressed,
            Reason::NotAllowed,
        ];
        for (reason, lift) in order.into_iter().zip(lifts) {
            assert_eq!(facts.checks().end_of(1), Some(reason));
            lift(&mut facts);
        }
        assert_eq!(facts.checks().end_of(1), None);
    }

    #[test]
    fn sets_end_as_their_entries_do() {
        let (gone, never) = (RoaringBitmap::from_iter([1, 9]), (0..3).collect());
        let is_seen = |number| number % 2 == 0;
        let facts = SendCheckFacts {
            gone: EndedRecipients::Of(&gone),
            never: EndedRecipients::Of(&never),
            seen: EndedRecipients::Where(&is_seen),
            ..SendCheckFacts::default()
        };
        let checks = facts.checks();
        let mut ends = Vec::new();
        let left = checks.divide((0..6).collect(), |reason, recipients| {
            ends.extend(recipients.iter().map(|number| (number, reason)));
        });
        assert_eq!(left, RoaringBitmap::from_iter([3, 5]));
        ends.sort_unstable();
        let one_by_one = (0..6).filter_map(|number| Some((number, checks.end_of(number)?)));
        assert_eq!(ends, one_by_one.collect::<Vec<_>>());
    }
}
