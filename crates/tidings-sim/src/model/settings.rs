//! The effective settings of a recipient's entries, of a tenant or of none: their own, the tenant's, or the configured.

use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tidings_core::Rules;
use tidings_core::model::{INBOX, Mode, PreferenceScope, SlotDay, channel_no};
use tidings_core::rules::{Digest, Every, QuietHours};

use super::calendar;
use super::person::Person;
use super::route::Preferences;
use super::tenant::Tenant;

/// The settings of a person, of a tenant, and of the rules.
#[derive(Clone, Copy, Debug)]
pub(super) struct PersonSettings<'m> {
    pub(super) person: &'m Person,
    /// With its number.
    pub(super) tenant: Option<(usize, &'m Tenant)>,
    pub(super) rules: &'m Rules,
}

impl<'m> PersonSettings<'m> {
    fn of_tenant(&self) -> Option<&'m Tenant> {
        self.tenant.map(|(_, tenant)| tenant)
    }

    /// Preferences in order of precedence.
    pub(super) fn chosen(&self) -> Vec<&'m Preferences> {
        let own = &self.person.preferences;
        let with_tenant = self.tenant.and_then(|(number, _)| own.get(&Some(number)));
        let of_tenant = self.of_tenant().map(|tenant| &tenant.preferences);
        with_tenant.into_iter().chain(own.get(&None)).chain(of_tenant).collect()
    }

    /// The name of the zone.
    pub(super) fn tz(&self) -> &'m str {
        let own = self.person.tz.as_deref();
        let of_tenant = || self.of_tenant().and_then(|tenant| tenant.tz.as_deref());
        own.or_else(of_tenant).unwrap_or(&self.rules.defaults.tz)
    }

    /// The zone by which the slots of a digest are worked out.
    pub(super) fn zone_of(&self, digest: &Digest) -> TimeZone {
        calendar::zone(digest.tz.as_deref().unwrap_or_else(|| self.tz()))
    }

    /// A digest at the times that the person chose for it: contract, section 6, "Own times".
    pub(super) fn digest(&self, name: &str, digest: &Digest) -> Digest {
        let said = |scope: PreferenceScope| {
            let at = (scope, INBOX.to_owned());
            self.chosen().into_iter().find_map(|chosen| chosen.get(&at).cloned())
        };
        let mut own = digest.clone();
        if let Some(Mode::Day(day)) = said(PreferenceScope::DigestDay(name.to_owned()))
            && digest.choose.day
        {
            match (&mut own.every, day) {
                (Every::Week(on), SlotDay::Week(day)) => *on = day,
                (Every::Month(on), SlotDay::Month(day)) => *on = day,
                _ => {}
            }
        }
        if let Some(Mode::Time(minute)) = said(PreferenceScope::DigestTime(name.to_owned()))
            && digest.choose.minute
        {
            own.at_minute = minute;
        }
        own
    }

    /// The quiet hours in force on a channel; an erased recipient has none.
    pub(super) fn quiet_hours(&self, channel: &str) -> Option<QuietHours> {
        if self.person.gone || channel == INBOX {
            return None;
        }
        let of_tenant = self.of_tenant().and_then(|tenant| tenant.quiet_hours.as_ref());
        let mut said = self.person.own_hours.iter().chain(of_tenant).filter(|said| {
            let number = channel_no(channel);
            let names = |channels: &Vec<_>| number.is_some_and(|number| channels.contains(&number));
            said.channels.as_ref().is_none_or(names)
        });
        match said.next() {
            Some(said) => said.hours,
            None => self.rules.channels.get(channel).and_then(|of| of.quiet_hours),
        }
    }

    /// The values of `recipient` and `tenant` in conditions.
    pub(super) fn values(&self) -> (Value, Value) {
        let (person, tenant) = (self.person, self.of_tenant());
        let mut recipient = person.as_value();
        let of_tenant = tenant.and_then(|tenant| tenant.locale.as_ref());
        let locale = person.locale.as_ref().or(of_tenant);
        recipient["tz"] = json!(self.tz());
        recipient["locale"] = json!(locale.unwrap_or(&self.rules.defaults.locale));
        (recipient, tenant.map_or_else(|| json!({}), Tenant::as_value))
    }
}
