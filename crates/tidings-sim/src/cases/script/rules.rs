//! The statements of a case file that change the rules.

use tidings_core::Rules;
use tidings_core::model::{INBOX, MINUTE_MS, channel_no};
use tidings_core::rules::{
    Admission, AdmissionKeyPart, AllowedAddresses, Cap, Category, ChoosableTimes, Decide, Digest,
    Every, Policy, QuietHours, Route, TenantRules, TypeRules, UnknownTenant,
};

use super::words::{ReadResult, duration, number, parsed};

/// Changes the rules, if the words speak of them.
pub(super) fn rule(words: &[&str], rules: &mut Rules) -> ReadResult<bool> {
    match words {
        ["keep", keep] => rules.store.keep_ms = duration(keep)?,
        ["default_tz", tz] => rules.defaults.tz = (*tz).to_owned(),
        ["cap", channel, per, max] => rules.caps.push(Cap {
            channel: (*channel).to_owned(),
            per_ms: duration(per)?,
            max: number(max)?,
        }),
        ["tenants"] | ["tenants", "refuse"] => rules.tenants = Some(TenantRules::default()),
        ["tenants", "make"] => {
            rules.tenants = Some(TenantRules { unknown: UnknownTenant::Make });
        }
        ["uncap"] => rules.caps.clear(),
        ["quiet", channel, hours] => {
            let rules = rules.channels.entry((*channel).to_owned()).or_default();
            rules.quiet_hours = quiet_hours(hours)?;
        }
        ["allow", channel, allowed] => {
            let number = channel_no(channel).ok_or_else(|| format!("no channel {channel}"))?;
            let rules = rules.channels.entry((*channel).to_owned()).or_default();
            let all = allowed.split(',').map(|text| AllowedAddresses::new(number, text));
            rules.allow = (*allowed != "all").then(|| all.collect());
        }
        ["drop_type", name] => {
            rules.types.remove(*name).ok_or_else(|| format!("no type {name}"))?;
        }
        ["digest", name, calendar @ ..] => {
            rules.digests.insert((*name).to_owned(), digest(calendar)?);
        }
        ["type", name, facets @ ..] => {
            let type_rules = type_rules(facets)?;
            rules.categories.insert(type_rules.category.clone(), Category::default());
            rules.types.insert((*name).to_owned(), type_rules);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn digest(words: &[&str]) -> ReadResult<Digest> {
    let (every, rest) = match words {
        ["day", rest @ ..] => (Every::Day, rest),
        ["weekday", rest @ ..] => (Every::Weekday, rest),
        ["week", on, rest @ ..] => {
            let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
            let on = days.iter().position(|day| day == on).ok_or("no such weekday")?;
            (Every::Week(u8::try_from(on + 1).map_err(|fault| fault.to_string())?), rest)
        }
        ["month", on, rest @ ..] => (Every::Month(number(on)?), rest),
        [hours, rest @ ..] => {
            let hours = hours.strip_suffix('h').ok_or("no such calendar")?;
            (Every::Hours(number(hours)?), rest)
        }
        [] => return Err("no such calendar".to_owned()),
    };
    let [at, rest @ ..] = rest else {
        return Err("a digest wants a time".to_owned());
    };
    let mut digest = Digest::new(every, minute_of_day(at)?);
    for word in rest {
        match word.split_once('=') {
            None => digest.tz = Some((*word).to_owned()),
            Some(("spread", span)) => {
                let minutes = u16::try_from(duration(span)? / MINUTE_MS);
                digest.spread_minutes = minutes.map_err(|fault| fault.to_string())?;
            }
            Some(("min_items", items)) => digest.min_items = number(items)?,
            Some(("choose", what)) => {
                digest.choose =
                    ChoosableTimes { day: what.contains("on"), minute: what.contains("at") };
            }
            Some(_) => return Err(format!("unknown {word}")),
        }
    }
    Ok(digest)
}

/// Hours such as `22:00-07:00,mon+tue`, or `none`.
pub(super) fn quiet_hours(text: &str) -> ReadResult<Option<QuietHours>> {
    if text == "none" {
        return Ok(None);
    }
    let (hours, days) = match text.split_once(',') {
        Some((hours, days)) => (hours, days),
        None => (text, "mon+tue+wed+thu+fri+sat+sun"),
    };
    let (from, to) = hours.split_once('-').ok_or("FROM-TO")?;
    let mut set = 0;
    for day in days.split('+') {
        let week = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
        let at = week.iter().position(|known| *known == day);
        set |= 1 << at.ok_or("no such weekday")?;
    }
    Ok(Some(QuietHours {
        from_minute: minute_of_day(from)?,
        to_minute: minute_of_day(to)?,
        days: set,
    }))
}

pub(super) fn minute_of_day(text: &str) -> ReadResult<u16> {
    let (hour, minute) = text.split_once(':').ok_or("HH:MM")?;
    Ok(number::<u16>(hour)? * 60 + number::<u16>(minute)?)
}

fn type_rules(words: &[&str]) -> ReadResult<TypeRules> {
    let mut rules = TypeRules { category: "main".to_owned(), ..TypeRules::default() };
    for word in words {
        match *word {
            "urgent" => rules.urgent = true,
            "required" => rules.required = true,
            "include_actor" => rules.include_actor = true,
            INBOX => {
                rules.channels.insert(INBOX.to_owned(), Route::of(Policy::Now));
            }
            _ => match word.split_once('=') {
                Some(("admission", word)) => {
                    let admission = Admission::ALL.into_iter().find(|of| of.word() == word);
                    rules.admission = admission.ok_or("no such admission")?;
                }
                Some(("per", word)) => {
                    let per = AdmissionKeyPart::ALL.into_iter().find(|per| per.word() == word);
                    rules.per = per.ok_or("no such key of an admission")?;
                }
                Some(("condition", text)) => rules.condition = Some(text.to_owned()),
                Some(("category", name)) => rules.category = name.to_owned(),
                Some(("look_back", back)) => rules.look_back_ms = Some(duration(back)?),
                Some(("drop_if_seen", drop)) => rules.drop_if_seen = Some(parsed(drop)?),
                _ => {
                    let (channel, policy) = word.split_once(':').ok_or("CHANNEL:POLICY")?;
                    rules.channels.insert(channel.to_owned(), route(policy)?);
                }
            },
        }
    }
    Ok(rules)
}

fn route(text: &str) -> ReadResult<Route> {
    let (text, after_ms) = match text.split_once('~') {
        Some((text, after)) => (text, Some(duration(after)?)),
        None => (text, None),
    };
    let (text, max_items) = match text.split_once('^') {
        Some((text, most)) => (text, Some(parsed(most)?)),
        None => (text, None),
    };
    let (text, batch_key) = match text.split_once('#') {
        Some((text, key)) => (text, Some(key.to_owned())),
        None => (text, None),
    };
    let (policy, lane) = match text.split_once('@') {
        Some((policy, lane)) => (policy, Some(lane.to_owned())),
        None => (text, None),
    };
    let policy = match policy.split(',').collect::<Vec<_>>().as_slice() {
        ["now"] => Policy::Now,
        ["never"] => Policy::Never,
        ["first_event", hold] => {
            Policy::FirstEvent { hold_ms: duration(hold)?, decide: Decide::First }
        }
        ["first_event", hold, "earliest"] => {
            Policy::FirstEvent { hold_ms: duration(hold)?, decide: Decide::Earliest }
        }
        ["cooldown", quiet] => {
            let quiet_ms = duration(quiet)?;
            Policy::Cooldown { quiet_ms, max_wait_ms: Some(4 * quiet_ms) }
        }
        ["cooldown", quiet, "none"] => {
            Policy::Cooldown { quiet_ms: duration(quiet)?, max_wait_ms: None }
        }
        ["cooldown", quiet, wait] => {
            Policy::Cooldown { quiet_ms: duration(quiet)?, max_wait_ms: Some(duration(wait)?) }
        }
        ["leading", quiet] => Policy::Leading { quiet_ms: duration(quiet)? },
        ["digest", name] => Policy::Digest { digest: (*name).to_owned() },
        _ => return Err(format!("no such policy: {policy}")),
    };
    Ok(Route { lane, batch_key, max_items, after_ms, ..Route::of(policy) })
}
