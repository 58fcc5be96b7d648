//! The statements of a case file about tenants, and what it expects of inboxes.

use std::collections::BTreeMap;

use tidings_core::model::{Choice, Mode, OwnHours, TenantChange};
use tidings_core::{Command, Id};

use super::rules::quiet_hours;
use super::words::{ReadResult, channels, id, number, pair};
use super::{data, mode, preference_scope};
use crate::cases::ExpectedInbox;

/// Takes `tenant=T` out of the words of a command.
pub(super) fn split_tenant<'w>(words: &[&'w str]) -> ReadResult<(Vec<&'w str>, Option<Id>)> {
    let (mut rest, mut tenant) = (Vec::new(), None);
    for word in words {
        match word.strip_prefix("tenant=") {
            Some(name) => tenant = Some(id(name)?),
            None => rest.push(*word),
        }
    }
    Ok((rest, tenant))
}

/// Makes, changes or deletes a tenant.
pub(super) fn tenant(name: &str, facets: &[&str]) -> ReadResult<Command> {
    let tenant = id(name)?;
    if facets == ["deleted"] {
        return Ok(Command::DeleteTenant { tenant });
    }
    let text = |text: &str| Some((text != "none").then(|| text.to_owned()));
    let mut change = TenantChange::default();
    for facet in facets {
        match *facet {
            "replaces" => change.replaces = true,
            "disabled" => change.disabled = Some(true),
            "enabled" => change.disabled = Some(false),
            "prefer=none" => change.preferences = Some(Vec::new()),
            _ => match pair(facet)? {
                ("name", name) => change.name = text(name),
                ("tz", tz) => change.tz = text(tz),
                ("locale", locale) => change.locale = text(locale),
                ("data", data) => change.data = Some(Some(self::data(data)?)),
                ("quiet", "default") => change.quiet_hours = Some(None),
                ("quiet", hours) => {
                    let (hours, channels) = (quiet_hours(hours)?, None);
                    change.quiet_hours = Some(Some(Box::new(OwnHours { hours, channels })));
                }
                ("quiet_on", names) => {
                    if let Some(Some(own)) = &mut change.quiet_hours {
                        own.channels = Some(channels(names));
                    }
                }
                ("prefer", choice) => {
                    change.preferences.get_or_insert_default().push(self::choice(choice)?);
                }
                _ => return Err(format!("unknown {facet}")),
            },
        }
    }
    Ok(Command::Tenant { tenant, change: Box::new(change) })
}

/// `SCOPE=NAME,CHANNEL,MODE`.
fn choice(text: &str) -> ReadResult<Choice> {
    let parts: Vec<&str> = text.split(',').collect();
    let &[scope, channel, mode] = parts.as_slice() else {
        return Err(format!("SCOPE=NAME,CHANNEL,MODE, not {text}"));
    };
    let (scope, mode): (_, Mode) = (preference_scope(scope)?, self::mode(mode)?);
    Ok(Choice { scope, channel: channel.to_owned(), mode, tenant: None })
}

/// `inbox R [tenant=T] unseen=N unread=N [tenants=T:N/N,…]: ROW ROW`.
pub(super) fn expected_inbox(line: &str) -> ReadResult<ExpectedInbox> {
    let (head, rows) = match line.split_once(": ") {
        Some((head, rows)) => (head, rows),
        None => (line.strip_suffix(':').ok_or("rows after `:`")?, ""),
    };
    let words: Vec<&str> = head.split_whitespace().collect();
    let (words, tenant) = split_tenant(&words)?;
    let ["inbox", recipient, facets @ ..] = words.as_slice() else {
        return Err("inbox R …: …".to_owned());
    };
    let (mut counts, mut tenants) = ((0, 0), BTreeMap::new());
    for facet in facets {
        match pair(facet)? {
            ("unseen", count) => counts.0 = number(count)?,
            ("unread", count) => counts.1 = number(count)?,
            ("tenants", all) => {
                for of in all.split(',') {
                    let (tenant, of) = of.split_once(':').ok_or("T:N/N")?;
                    let (unseen, unread) = of.split_once('/').ok_or("N/N")?;
                    tenants.insert(id(tenant)?, (number(unseen)?, number(unread)?));
                }
            }
            _ => return Err(format!("unknown {facet}")),
        }
    }
    Ok(ExpectedInbox {
        recipient: id(recipient)?,
        tenant,
        counts,
        tenants,
        rows: rows.split_whitespace().map(str::to_owned).collect(),
    })
}
