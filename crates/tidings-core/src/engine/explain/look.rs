//! The checks before sending for one entry, as the planner runs them, with the inputs of each.

use std::sync::Arc;

use roaring::RoaringBitmap;

use crate::bucket::ComparedEntry;
use crate::engine::explain::{ExplainQuestion, ended};
use crate::engine::intake::state::header_of;
use crate::engine::message::plan::Plan;
use crate::engine::rows::draft::Draft;
use crate::engine::send_checks::addresses::TenantChannel;
use crate::engine::send_checks::look;
use crate::index::{Found, FoundArrival, FoundEntry};
use crate::journal::record::Arrival;
use crate::journal::stored::{StoredArrival, Unreadable};
use crate::model::batch_key::LaneKey;
use crate::model::channel::{ChannelNo, INBOX_NO};
use crate::model::command::MarkKind;
use crate::model::explanation::{ChannelPath, ExplanationStep, Rule};
use crate::model::reason::Reason;
use crate::model::recipient::RecipientState;
use crate::model::time::{Instant, duration_text};

impl ExplainQuestion<'_> {
    /// The reason why an entry would end if its message were built for an instant, by the planner.
    pub(super) fn look(
        &self,
        kept: &Arc<StoredArrival>,
        variant: u32,
        address: &LaneKey,
        at: Instant,
    ) -> Result<Option<Reason>, Unreadable> {
        let name = self.shard.compiled.names.lane(address.lane);
        let found = Found {
            sources: vec![FoundArrival { kept: Arc::clone(kept), variant }],
            entries: vec![FoundEntry { number: self.number.0, source: 0 }],
        };
        let plan = Plan {
            closing: self.bucket.closing_id(self.bucket.next_seq),
            at,
            as_of: at,
            channel: name.channel.name(),
            lane_name: name.name.clone(),
            key: address.key.clone(),
            tenant: address.tenant,
            messages: Vec::new(),
            unrecoverable: Vec::new(),
            unanswered: Vec::new(),
            lane: address.lane,
            found,
            headers: vec![header_of(&self.event.row)],
        };
        let mut draft = Draft::new(self.draft.view);
        if self.supposed {
            let event = kept.arrival.event;
            draft.events.add(event.day, event.ordinal, &self.event.row);
        }
        let recipients = RoaringBitmap::from_iter([self.number.0]);
        let planner = self.engine.planner(self.draft.view);
        let answers = planner.answers(&draft, self.bucket, &plan)?;
        let planned = planner.planned(&draft, self.bucket, &recipients, &plan, &answers)?;
        let reason = planned.iter().flat_map(|planned| &planned.ended).next();
        Ok(reason.map(|(_, reason)| *reason))
    }

    /// The checks of an entry, in their order, up to the one that ended it, if one did. `kept` = its arrival, unless it is
    /// a supposed one's.
    pub(super) fn look_steps(
        &self,
        kept: Option<&StoredArrival>,
        (channel, ended_by): (ChannelNo, Option<Reason>),
        at: Instant,
        path: &mut ChannelPath,
    ) {
        let mut passed = None;
        for check in look::reasons() {
            let rule = rule_of(check);
            // A rule that gives several reasons is one step.
            if passed == Some(rule) {
                continue;
            }
            let Some(looked_at) = self.looked_at(check, channel, at, ended_by) else {
                continue;
            };
            if let Some(reason) = ended_by.filter(|reason| rule_of(*reason) == rule) {
                let seen = kept.filter(|_| reason == Reason::Seen);
                let seen = seen.and_then(|kept| self.marked_at(kept, MarkKind::Seen));
                let looked_at = match seen.filter(|seen| *seen <= at) {
                    Some(seen) => format!("{looked_at}; seen by {seen}"),
                    None => looked_at,
                };
                path.steps.push(ended(rule, looked_at, reason).at(at));
                return;
            }
            path.steps.push(ExplanationStep::passes(rule, looked_at, "passes").at(at));
            passed = Some(rule);
        }
    }

    /// The instant by which an entry was marked, as far as is kept.
    pub(super) fn marked_at(&self, kept: &StoredArrival, kind: MarkKind) -> Option<Instant> {
        let Arrival { t, place, type_no, tenant, .. } = kept.arrival;
        let has_inbox = |version| self.shard.compiled.has_inbox(version, type_no);
        let object = &self.event().object.id;
        let looked = ComparedEntry { t, place, tenant, object, has_inbox: &has_inbox };
        self.bucket.marks.get(&self.number.0)?.covered_at(looked, kind)
    }

    /// The step of an item in the inbox that was seen or read.
    pub(super) fn mark_step(&self, kept: &StoredArrival) -> Option<ExplanationStep> {
        let read = self.marked_at(kept, MarkKind::Read).map(|at| (at, "it was read by then"));
        let seen = || self.marked_at(kept, MarkKind::Seen).map(|at| (at, "it was seen by then"));
        let (at, result) = read.or_else(seen)?;
        Some(ExplanationStep::passes(Rule::Seen, "the marks of the inbox", result).at(at))
    }

    /// The text of what the check for a reason looks at; `None` = it does not concern the event on the channel.
    fn looked_at(
        &self,
        check: Reason,
        channel: ChannelNo,
        at: Instant,
        ended_by: Option<Reason>,
    ) -> Option<String> {
        let (event, rules) = (self.event(), self.of_type.map(|of_type| &of_type.rules));
        let is_inbox = channel == INBOX_NO;
        match check {
            Reason::UnknownType => Some(event.event_type.as_str().to_owned()),
            Reason::RecipientGone => {
                let state = match self.profile.state {
                    RecipientState::Active => "active",
                    RecipientState::Unconfirmed => "unconfirmed",
                    RecipientState::Disabled => "disabled",
                };
                Some(state.to_owned())
            }
            Reason::Expired => event.expires_at.map(|at| at.to_string()),
            Reason::Preference => {
                let of_type = self.of_type.filter(|_| !is_inbox)?;
                Some(match ended_by {
                    Some(Reason::Preference) => self.unwanted_text(channel),
                    _ => self.preference_text(of_type, channel),
                })
            }
            Reason::Condition | Reason::ConditionError => rules?.condition.clone(),
            Reason::NotApplicable => Some(event.object.id.as_str().to_owned()),
            Reason::Seen => {
                let after_ms = self.of_type.and_then(|of_type| of_type.after_ms(channel));
                let seen = match rules.and_then(|rules| rules.drop_if_seen) {
                    _ if after_ms.is_some() => "after the inbox",
                    _ if is_inbox => return None,
                    _ if rules.is_some_and(|rules| !rules.drops_seen(false)) => return None,
                    _ if ended_by == Some(Reason::Seen) => {
                        "seen in the inbox; `drop_if_seen = false` sends it anyway"
                    }
                    Some(true) => "drop_if_seen: not seen in the inbox",
                    _ => "drop_if_seen: not seen in the inbox, or in a digest",
                };
                Some(seen.to_owned())
            }
            Reason::Stale => rules?.look_back_ms.map(duration_text),
            Reason::NoAddress => {
                let mut addresses = self.way(channel).addresses(&self.engine.intake, self.profile);
                let text = addresses.next().map_or("none", |_| "there is one");
                (!is_inbox).then(|| text.to_owned())
            }
            Reason::Suppressed => {
                let was = ended_by == Some(Reason::Suppressed);
                let now = self.suppression_text(channel, at);
                now.or_else(|| was.then(|| "lifted since".to_owned()))
            }
            Reason::NotAllowed => {
                let left_out = self.way(channel).is_left_out(&self.engine.intake, self.profile)?;
                let text = if left_out { "`allow` leaves it out" } else { "`allow` has it" };
                Some(text.to_owned())
            }
            Reason::TenantGone => event.tenant.as_ref().map(|tenant| tenant.as_str().to_owned()),
            // No check gives these.
            Reason::Event
            | Reason::Forgotten
            | Reason::Refused
            | Reason::Unreachable
            | Reason::Template
            | Reason::Replaced
            | Reason::Message => None,
        }
    }

    /// The way of the event's message on a channel.
    fn way(&self, channel: ChannelNo) -> TenantChannel {
        TenantChannel { channel, tenant: self.event.row.tenant }
    }

    /// The list of suppressed addresses, where an address of the recipient is on it.
    fn suppression_text(&self, channel: ChannelNo, at: Instant) -> Option<String> {
        let known = self.way(channel).suppression(&self.engine.intake, self.profile, at)?;
        let since = known.since;
        let until = known.until.map(|until| format!(", until {until}")).unwrap_or_default();
        Some(format!("{} since {since}{until}", known.reason.word()))
    }
}

/// The rule behind a reason for which entries end by themselves.
pub(super) fn rule_of(reason: Reason) -> Rule {
    match reason {
        Reason::TenantGone => Rule::Tenant,
        Reason::UnknownType => Rule::Type,
        Reason::RecipientGone => Rule::Recipient,
        Reason::Expired => Rule::ExpiresAt,
        Reason::Preference => Rule::Preference,
        Reason::Condition | Reason::ConditionError => Rule::Condition,
        Reason::NotApplicable => Rule::Object,
        Reason::Seen => Rule::Seen,
        Reason::Stale => Rule::LookBack,
        Reason::NoAddress | Reason::NotAllowed => Rule::Address,
        Reason::Suppressed => Rule::Suppression,
        Reason::Replaced => Rule::Admission,
        Reason::Event | Reason::Forgotten | Reason::Message => Rule::Cancel,
        Reason::Refused | Reason::Unreachable | Reason::Template => Rule::Delivery,
    }
}
