//! Preferences of recipients and defaults of tenants; a change moves pending entries.

use std::collections::{BTreeMap, BTreeSet};

use roaring::RoaringBitmap;

use self::chosen::note_chosen;
use super::profile::size;
use super::state::Shard;
use super::take_back::Among;
use crate::bucket::tenant::terms_of;
use crate::bucket::{Preference, preferences_of};
use crate::engine::intake::state::Intake;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::reply::{Refused, Reply, StepError};
use crate::journal::record::Record;
use crate::journal::stored::Unreadable;
use crate::model::channel::{ChannelNo, EACH, INBOX_NO, TABLE, channel_no};
use crate::model::command::Choice;
use crate::model::id::{BucketNo, Id};
use crate::model::limits::Bound;
use crate::model::number::{RecipientAt, RecipientNo};
use crate::model::occurrence::By;
use crate::model::preference::{Mode, PreferenceScope};
use crate::model::tenant::{Tenant, TenantNo};
use crate::model::time::Instant;
use crate::rules::Rules;

mod chosen;

/// A preference as in a command.
#[derive(Clone, Copy)]
pub(crate) struct Chosen<'a> {
    pub(crate) recipient: &'a Id,
    pub(crate) scope: &'a PreferenceScope,
    pub(crate) channel: &'a str,
    pub(crate) mode: &'a Mode,
    pub(crate) tenant: Option<&'a Id>,
}

/// Stores a preference and moves pending entries to the lanes that now apply.
pub(crate) fn prefer(
    shard: &mut Shard,
    intake: &Intake,
    draft: &mut Draft<'_>,
    chosen: Chosen<'_>,
    by: By,
) -> Result<Reply, StepError> {
    let Chosen { recipient, scope, channel, mode, tenant } = chosen;
    let at = shard.find(recipient)?;
    let tenant = tenant.map(|tenant| intake.tenant_no(tenant)).transpose()?;
    let choices = choosable(shard.rules(), scope, channel, mode)?
        .into_iter()
        .map(|channel| Preference { tenant, channel, scope: scope.clone(), mode: mode.clone() });
    choose(shard, intake, draft, at, choices.collect(), by)
}

/// Stores several preferences of a recipient; all of them or, if one is refused, none. If the list is complete
/// (`whole`, of one tenant or of all), earlier preferences that are not in it return to the default, except a `never` for
/// something that is not configured now: it was not shown to anybody, and applies again when it is configured again.
pub(crate) fn prefer_all(
    shard: &mut Shard,
    intake: &Intake,
    draft: &mut Draft<'_>,
    recipient: &Id,
    list: &[Choice],
    whole: Option<Option<&Id>>,
    by: By,
) -> Result<Reply, StepError> {
    let at = shard.find(recipient)?;
    let RecipientAt { bucket, number } = at;
    let number_of = |tenant: Option<&Id>| tenant.map(|tenant| intake.tenant_no(tenant)).transpose();
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
    choose(shard, intake, draft, at, choices, by)
}

/// Notes what a tenant sets from now on, and moves the entries of it that wait to the lanes that now apply; `None` = it
/// is deleted and sets nothing.
pub(crate) fn tenant_changed(
    shard: &mut Shard,
    draft: &mut Draft<'_>,
    tenant: TenantNo,
    after: Option<&Tenant>,
) -> Result<(), Unreadable> {
    let terms = after.map(Tenant::terms).unwrap_or_default();
    for &no in &*shard.buckets.numbers() {
        let before = terms_of(&shard.buckets[no], tenant);
        if terms == before {
            continue;
        }
        let at = shard.now;
        shard.write(draft, no, Record::Tenant { at, tenant, terms: Box::new(terms.clone()) });
        if after.is_some() && terms.preferences != before.preferences {
            shard.reroute(draft, no, Among { tenant: Some(tenant), ..Among::default() })?;
            shard.take_out_unwanted(draft, no, None, Some(tenant))?;
        }
    }
    Ok(())
}

/// Removes preferences for entries of a deleted tenant in a bucket, as far as there is room, which gets less.
pub(crate) fn forget_tenant(
    shard: &mut Shard,
    draft: &mut Draft<'_>,
    bucket: BucketNo,
    tenant: TenantNo,
    room: &mut usize,
) {
    let of_bucket = &shard.buckets[bucket];
    let with_times = of_bucket.roster.digest_times.recipients_in(tenant);
    let who = of_bucket.preferences.recipients_with_choices(tenant).chain(with_times);
    let who: BTreeSet<u32> = who.take(*room).collect();
    *room = room.saturating_sub(who.len());
    let of = |number: &u32| {
        let number = RecipientNo(*number);
        let chosen = preferences_of(of_bucket, number.0).into_iter();
        chosen.filter(|of| of.tenant == Some(tenant)).map(move |of| (number, of))
    };
    for (number, of) in who.iter().flat_map(of).collect::<Vec<_>>() {
        let at = shard.now;
        shard.write(draft, bucket, record_of(at, number, Preference { mode: Mode::Default, ..of }));
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
        None if channel == EACH && scope.may_be_on_each() => {
            TABLE.iter().map(|channel| channel.number).collect()
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

/// Refuses more mutes than a recipient may have.
fn may_mute(
    shard: &Shard,
    RecipientAt { bucket, number }: RecipientAt,
    choices: &[Preference],
) -> Result<(), Refused> {
    let mutes = |mode: Mode| {
        let chosen = choices.iter().filter(move |of| of.mode == mode && of.scope.is_mute());
        chosen.map(|of| (of.tenant, of.channel, &of.scope))
    };
    if mutes(Mode::Never).next().is_none() {
        return Ok(());
    }
    let known = shard.buckets[bucket].preferences.mutes.of(number.0);
    let mut all: BTreeSet<(Option<TenantNo>, ChannelNo, &PreferenceScope)> = known.collect();
    for lifted in mutes(Mode::Default) {
        all.remove(&lifted);
    }
    all.extend(mutes(Mode::Never));
    Ok(shard.limits().check(Bound::Mutes, all.len() as u64)?)
}

/// Refuses more preferences than a recipient may have, if a change adds some.
fn may_prefer(
    shard: &Shard,
    intake: &Intake,
    RecipientAt { bucket, number }: RecipientAt,
    choices: &[Preference],
) -> Result<(), Refused> {
    let chosen = choices.iter().filter(|of| !of.scope.is_mute());
    if chosen.clone().all(|of| of.mode == Mode::Default) {
        return Ok(());
    }
    let mut known = preferences_of(&shard.buckets[bucket], number.0);
    // Those of a deleted tenant are on their way out.
    known.retain(|of| {
        let is_there = |tenant| intake.tenants.get(tenant).is_some();
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
    Ok(shard.limits().check(Bound::Preferences, after.len() as u64)?)
}

fn choose(
    shard: &mut Shard,
    intake: &Intake,
    draft: &mut Draft<'_>,
    at: RecipientAt,
    choices: Vec<Preference>,
    by: By,
) -> Result<Reply, StepError> {
    may_mute(shard, at, &choices)?;
    may_prefer(shard, intake, at, &choices)?;
    let RecipientAt { bucket, number } = at;
    if let Some(profile) = shard.buckets[bucket].roster.profile(number) {
        let adds = choices.iter().any(|of| of.mode != Mode::Default);
        if adds {
            let of_bucket = &shard.buckets[bucket];
            size::check(of_bucket, Some(number), profile, &choices, intake.row_bytes)?;
        }
    }
    // Precedes the records: hooks learn what has changed against the choices of before.
    note_chosen(shard, intake, draft, at, &choices, by);
    let mut changed: BTreeMap<ChannelNo, BTreeSet<Option<TenantNo>>> = BTreeMap::new();
    for chosen in choices {
        if chosen.scope.digest().is_none() {
            changed.entry(chosen.channel).or_default().insert(chosen.tenant);
        }
        let at = shard.now;
        shard.write(draft, bucket, record_of(at, number, chosen));
    }
    let who = RoaringBitmap::from_iter([number.0]);
    for (channel, tenants) in changed {
        // A choice without a tenant applies to the entries of all tenants.
        let is_of_one = tenants.len() == 1;
        let tenant = tenants.into_iter().next().flatten().filter(|_| is_of_one);
        let among = Among { channel: Some(channel), who: Some(&who), tenant, ..Among::default() };
        shard.reroute(draft, bucket, among)?;
        shard.take_out_unwanted(draft, bucket, Some((number.0, channel)), tenant)?;
    }
    Ok(Reply::Done)
}
