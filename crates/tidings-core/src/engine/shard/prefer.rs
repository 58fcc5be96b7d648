//! Preferences of recipients and defaults of tenants; a change moves pending entries.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;

use super::profile::size;
use super::state::Shard;
use super::take_back::EntryFilter;
use super::tenant::TenantRemoval;
use crate::bucket::{Preference, preferences_of};
use crate::engine::intake::state::Intake;
use crate::engine::replies::refused::{Refused, StepError};
use crate::engine::replies::reply::Reply;
use crate::engine::rows::draft::Draft;
use crate::journal::record::Record;
use crate::model::channel::{CHANNEL_KINDS, ChannelNo, EACH_CHANNEL, INBOX_NO, channel_no};
use crate::model::command::Choice;
use crate::model::id::{BucketNo, Id};
use crate::model::limits::Bound;
use crate::model::number::{RecipientAt, RecipientNo};
use crate::model::occurrence::ChangedBy;
use crate::model::preference::{Mode, PreferenceScope};
use crate::model::tenant::TenantNo;
use crate::model::time::Instant;
use crate::rules::Rules;

mod chosen;
mod muted;

/// A change of the preferences of a recipient.
pub(crate) struct PreferenceChange<'a, 'd> {
    shard: &'a mut Shard,
    intake: &'a Intake,
    draft: &'a mut Draft<'d>,
    recipient: RecipientAt,
    by: ChangedBy,
}

impl<'a, 'd> PreferenceChange<'a, 'd> {
    /// # Errors
    /// [`Refused`] if the recipient is unknown.
    pub(crate) fn of(
        shard: &'a mut Shard,
        intake: &'a Intake,
        draft: &'a mut Draft<'d>,
        recipient: &Id,
        by: ChangedBy,
    ) -> Result<Self, Refused> {
        let recipient = shard.find(recipient)?;
        Ok(Self { shard, intake, draft, recipient, by })
    }

    /// Stores one and moves pending entries to the lanes that now apply.
    pub(crate) fn set(
        &mut self,
        scope: &PreferenceScope,
        channel: &str,
        mode: &Mode,
        tenant: Option<&Id>,
    ) -> Result<Reply, StepError> {
        let tenant = tenant.map(|tenant| self.intake.tenant_no(tenant)).transpose()?;
        let choices =
            choosable(self.shard.rules(), scope, channel, mode)?.into_iter().map(|channel| {
                Preference { tenant, channel, scope: scope.clone(), mode: mode.clone() }
            });
        self.choose(choices.collect())
    }

    /// Stores several; all of them or, if one is refused, none. If the list is complete
    /// (`whole`, of one tenant or of all), earlier preferences that are not in it return to the default, except a `never` for
    /// something that is not configured now: it was not shown to anybody, and applies again when it is configured again.
    pub(crate) fn set_all(
        &mut self,
        list: &[Choice],
        whole: Option<Option<&Id>>,
    ) -> Result<Reply, StepError> {
        let RecipientAt { bucket, number } = self.recipient;
        let (shard, intake) = (&*self.shard, self.intake);
        let number_of =
            |tenant: Option<&Id>| tenant.map(|tenant| intake.tenant_no(tenant)).transpose();
        let mut wanted = BTreeMap::new();
        for choice in list {
            let tenant = number_of(choice.tenant.as_ref())?;
            let channels =
                choosable(shard.rules(), &choice.scope, &choice.channel, &choice.mode)?.into_iter();
            let at = |channel| (tenant, channel, choice.scope.clone());
            wanted.extend(channels.map(|channel| (at(channel), choice.mode.clone())));
        }
        let whole = whole.map(number_of).transpose()?;
        let mut choices = Vec::new();
        for known in preferences_of(&shard.buckets[bucket], number.0) {
            let Preference { tenant, channel, scope, mode } = known;
            if tenant.is_some_and(|tenant| intake.tenants.get(tenant).is_none()) {
                continue;
            }
            // A `never` for what is not configured now was shown to nobody, so a list that lacks it does not
            // lift it.
            let is_known = shard.rules().is_some_and(|rules| rules.know_choice(&scope, &mode));
            if mode == Mode::Never && !is_known {
                continue;
            }
            let replaces = whole.is_some_and(|of| of.is_none() || of == tenant);
            match wanted.get(&(tenant, channel, scope.clone())) {
                Some(same) if *same == mode => {
                    wanted.remove(&(tenant, channel, scope));
                }
                None if replaces => {
                    choices.push(Preference { tenant, channel, scope, mode: Mode::Default });
                }
                Some(_) | None => {}
            }
        }
        choices.extend(wanted.into_iter().map(|((tenant, channel, scope), mode)| Preference {
            tenant,
            channel,
            scope,
            mode,
        }));
        self.choose(choices)
    }

    /// Refuses more mutes than a recipient may have.
    fn may_mute(&self, choices: &[Preference]) -> Result<(), Refused> {
        let RecipientAt { bucket, number } = self.recipient;
        let mutes = |mode: Mode| {
            let chosen = choices.iter().filter(move |of| of.mode == mode && of.scope.is_mute());
            chosen.map(|of| (of.tenant, of.channel, &of.scope))
        };
        if mutes(Mode::Never).next().is_none() {
            return Ok(());
        }
        let known = self.shard.buckets[bucket].preferences.mutes.of(number.0);
        let mut all: BTreeSet<(Option<TenantNo>, ChannelNo, &PreferenceScope)> = known.collect();
        for lifted in mutes(Mode::Default) {
            all.remove(&lifted);
        }
        all.extend(mutes(Mode::Never));
        Ok(self.shard.limits().check(Bound::Mutes, all.len() as u64)?)
    }

    /// Refuses more preferences than a recipient may have, if a change adds some.
    fn may_prefer(&self, choices: &[Preference]) -> Result<(), Refused> {
        let RecipientAt { bucket, number } = self.recipient;
        let chosen = choices.iter().filter(|of| !of.scope.is_mute());
        if chosen.clone().all(|of| of.mode == Mode::Default) {
            return Ok(());
        }
        let mut known = preferences_of(&self.shard.buckets[bucket], number.0);
        // Those of a deleted tenant are on their way out.
        known.retain(|of| {
            let is_there = |tenant| self.intake.tenants.get(tenant).is_some();
            !of.scope.is_mute() && of.tenant.is_none_or(is_there)
        });
        let at = |of: &Preference| (of.tenant, of.channel, of.scope.clone());
        let before: BTreeSet<_> = known.iter().map(at).collect();
        let mut after = before.clone();
        for of in chosen {
            match of.mode {
                Mode::Default => after.remove(&at(of)),
                _ => after.insert(at(of)),
            };
        }
        if after.len() <= before.len() {
            return Ok(());
        }
        Ok(self.shard.limits().check(Bound::Preferences, after.len() as u64)?)
    }

    fn choose(&mut self, choices: Vec<Preference>) -> Result<Reply, StepError> {
        self.may_mute(&choices)?;
        self.may_prefer(&choices)?;
        let RecipientAt { bucket, number } = self.recipient;
        if let Some(profile) = self.shard.buckets[bucket].roster.profile(number) {
            let adds = choices.iter().any(|of| of.mode != Mode::Default);
            if adds {
                let of_bucket = &self.shard.buckets[bucket];
                size::check(of_bucket, Some(number), profile, &choices, self.intake.row_bytes)?;
            }
        }
        // Precedes the records: hooks learn what has changed against the choices of before.
        self.note_chosen(&choices);
        let unmuted = self.unmuted_before(&choices);
        self.note_fields(&choices);
        let mut changed: BTreeMap<ChannelNo, BTreeSet<Option<TenantNo>>> = BTreeMap::new();
        for chosen in choices {
            if chosen.scope.digest().is_none() {
                changed.entry(chosen.channel).or_default().insert(chosen.tenant);
            }
            let at = self.shard.now;
            self.shard.write(self.draft, bucket, record_of(at, number, chosen));
        }
        self.count_muted(&unmuted);
        let recipients = RoaringBitmap::from_iter([number.0]);
        for (channel, tenants) in changed {
            // A choice without a tenant applies to the entries of all tenants.
            let is_of_one = tenants.len() == 1;
            let tenant = tenants.into_iter().next().flatten().filter(|_| is_of_one);
            let filter = EntryFilter {
                channel: Some(channel),
                recipients: Some(&recipients),
                tenant,
                ..EntryFilter::default()
            };
            self.shard.reroute(self.draft, bucket, filter)?;
            self.shard.take_out_unwanted(self.draft, bucket, Some((number.0, channel)), tenant)?;
        }
        Ok(Reply::Done)
    }
}

impl TenantRemoval<'_, '_> {
    /// Removes preferences for entries of the tenant in a bucket.
    pub(super) fn forget_preferences(&mut self, bucket: BucketNo) {
        let (tenant, of_bucket) = (self.tenant, &self.shard.buckets[bucket]);
        let with_times = of_bucket.roster.digest_times.recipients_in(tenant);
        let numbers = of_bucket.preferences.recipients_with_choices(tenant).chain(with_times);
        let numbers: BTreeSet<u32> = numbers.take(self.room).collect();
        self.room = self.room.saturating_sub(numbers.len());
        let of = |number: &u32| {
            let number = RecipientNo(*number);
            let chosen = preferences_of(of_bucket, number.0).into_iter();
            chosen.filter(|of| of.tenant == Some(tenant)).map(move |of| (number, of))
        };
        for (number, of) in numbers.iter().flat_map(of).collect::<Vec<_>>() {
            let default = Preference { mode: Mode::Default, ..of };
            self.shard.write(self.draft, bucket, record_of(self.shard.now, number, default));
        }
    }
}

/// The record of a choice.
fn record_of(at: Instant, number: RecipientNo, chosen: Preference) -> Record {
    let Preference { tenant, channel, scope, mode } = chosen;
    match scope.digest() {
        Some(_) => Record::DigestTime { at, number, tenant, scope, mode },
        None => Record::Preference { number, tenant, scope, channel, mode },
    }
}

/// Refuses invalid defaults of a tenant: mutes, times of digests, a `never` of a required type, unknown names.
pub(crate) fn check_defaults(rules: Option<&Rules>, defaults: &[Choice]) -> Result<(), Refused> {
    defaults.iter().try_for_each(|Choice { scope, channel, mode, .. }| {
        if scope.is_mute() {
            let what = "a tenant can't mute: its defaults are for types and categories";
            return Err(Refused::Preference(what.to_owned()));
        }
        if let Some(digest) = scope.digest() {
            let what =
                format!("a tenant can't choose times of the digest `{digest}`: recipients do");
            return Err(Refused::Preference(what));
        }
        choosable(rules, scope, channel, mode).map(drop)
    })
}

/// The numbers of the channels on which a mode is set, where it is allowed.
fn choosable(
    rules: Option<&Rules>,
    scope: &PreferenceScope,
    channel: &str,
    mode: &Mode,
) -> Result<Vec<ChannelNo>, Refused> {
    if scope.is_mute() && !matches!(mode, Mode::Never | Mode::Default) {
        let what = "a mute is `never`, or lifted by `default`";
        return Err(Refused::Preference(what.to_owned()));
    }
    if let (PreferenceScope::Type(name), Mode::Never) = (scope, mode)
        && let Some(of_type) = rules.and_then(|rules| rules.types.get(name))
        && of_type.required
    {
        let what = format!("the type `{name}` is required, so it can't be `never`");
        return Err(Refused::Preference(what));
    }
    if let Some(name) = scope.digest() {
        let digest = rules.and_then(|rules| rules.digests.get(name));
        let digest =
            digest.ok_or_else(|| Refused::Preference(format!("there is no digest `{name}`")))?;
        if !digest.lets_choose(scope, mode) {
            let what = format!("the digest `{name}` does not let recipients choose that");
            return Err(Refused::Preference(what));
        }
        // Times of digests belong to no channel, and are kept once.
        return Ok(vec![INBOX_NO]);
    }
    if matches!(mode, Mode::Day(_) | Mode::Time(_)) {
        let what = "a day and a time are those of a digest";
        return Err(Refused::Preference(what.to_owned()));
    }
    let channels: Vec<ChannelNo> = match channel_no(channel) {
        Some(number) => vec![number],
        None if channel == EACH_CHANNEL && scope.may_be_on_each() => {
            CHANNEL_KINDS.iter().map(|channel| channel.number).collect()
        }
        None => return Err(Refused::UnknownChannel(channel.to_owned())),
    };
    if let Mode::Digest(name) = mode {
        let known = rules.is_some_and(|rules| rules.digests.contains_key(name));
        if !known {
            return Err(Refused::Preference(format!("there is no digest `{name}`")));
        }
        if channels.contains(&INBOX_NO) {
            return Err(Refused::Preference(format!(
                "the inbox has no digests, so `{name}` can't be chosen for it"
            )));
        }
    }
    Ok(channels)
}
