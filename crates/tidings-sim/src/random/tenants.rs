//! Random tenants, their members, and what names them.

use tidings_core::model::{Choice, EMAIL_NO, GivenAddress, RecipientChange, TenantChange, View};
use tidings_core::{Command, Id};

use super::ops::{Builder, ZONES, email, name, profile};
use super::raw::{RawPerson, RawTenant, TENANTS};
use super::rules::{data, own_hours};

impl Builder {
    /// Two tenants, of which each has something of its own.
    pub(super) fn make_tenants(&mut self) {
        for (number, tz) in [(0, "Asia/Tokyo"), (1, "America/New_York")] {
            let change = TenantChange { tz: Some(Some(tz.to_owned())), ..TenantChange::default() };
            self.tenants.insert(number, false);
            self.say(Command::Tenant { tenant: name("n", number), change: Box::new(change) });
        }
    }

    /// The tenant that a step names, if it is there.
    pub(super) fn tenant(&self) -> Option<Id> {
        let known = self.of.filter(|of| self.tenants.contains_key(of));
        known.map(|of| name("n", of))
    }

    pub(super) fn view(&self, which: u8) -> View {
        match self.tenant() {
            Some(tenant) if which.is_multiple_of(5) => View::Only(tenant),
            Some(tenant) => View::Of(tenant),
            None => View::All,
        }
    }

    /// The tenant of an event, which an event that is new may make.
    pub(super) fn tenant_of_event(&mut self, may_be_known: bool) -> Option<Id> {
        let of = self.of?;
        match self.tenants.get(&of) {
            Some(false) => {}
            None if self.raw.tenants == Some(true) && !may_be_known && self.may_make(of) => {
                self.tenants.insert(of, false);
            }
            Some(true) | None => return None,
        }
        Some(name("n", of))
    }

    /// Returns true unless the tenant may be in the middle of its deletion.
    fn may_make(&self, of: u8) -> bool {
        self.deleted.get(&of).is_none_or(|at| *at < self.now)
    }

    pub(super) fn choices(&self, raw: &[(u8, bool, u8)]) -> impl Iterator<Item = Choice> {
        raw.iter().filter_map(|(scope, inbox, mode)| self.choice(*scope, *inbox, *mode))
    }

    pub(super) fn change_tenant(&mut self, raw: &RawTenant) {
        let of = self.of.filter(|of| self.raw.tenants.is_some() && self.may_make(*of));
        let Some(of) = of else {
            return;
        };
        let chosen = self.choices(&raw.chosen).map(|choice| Choice { tenant: None, ..choice });
        let change = TenantChange {
            replaces: raw.what == 15,
            name: (raw.what & 1 > 0).then(|| Some("Acme".to_owned())),
            data: (raw.what & 1 > 0).then(|| data(raw.zone).map(Into::into)),
            tz: (raw.what & 2 > 0).then(|| ZONES[usize::from(raw.zone)].map(str::to_owned)),
            quiet_hours: (raw.what & 4 > 0).then(|| own_hours(raw.quiet)),
            preferences: (raw.what & 8 > 0).then(|| chosen.collect()),
            disabled: raw.what.is_multiple_of(3).then_some(raw.disabled),
            ..TenantChange::default()
        };
        let was_disabled = self.tenants.get(&of).copied().unwrap_or(false);
        let kept = was_disabled && !change.replaces;
        self.tenants.insert(of, change.disabled.unwrap_or(kept));
        self.say(Command::Tenant { tenant: name("n", of), change: Box::new(change) });
    }

    pub(super) fn member(&mut self, person: u8, on: bool) {
        let Some(tenant) = self.tenant() else {
            return;
        };
        let recipient = name("r", person);
        self.say(if on {
            Command::Join { recipient, tenant }
        } else {
            Command::Leave { recipient, tenant }
        });
    }

    pub(super) fn delete_tenant(&mut self) {
        let (Some(of), Some(tenant)) = (self.of, self.tenant()) else {
            return;
        };
        self.tenants.remove(&of);
        self.deleted.insert(of, self.now);
        self.say(Command::DeleteTenant { tenant });
    }

    /// A profile, or a part of one; with tenants, where there are some.
    pub(super) fn profile(&self, number: u8, raw: &RawPerson, what: u8) -> RecipientChange {
        let has_some = what & 32 > 0 && self.rules.tenants.is_some();
        let of = (0..TENANTS).filter(|of| (raw.zone + raw.place) >> of & 1 > 0);
        let there = of.filter(|of| self.tenants.contains_key(of));
        let mut change = RecipientChange {
            tenants: has_some.then(|| there.map(|of| name("n", of)).collect()),
            ..profile(number, raw, what)
        };
        // Some have an address of a tenant, alone or beside another.
        if let Some(addresses) = change.addresses.get_mut(&EMAIL_NO)
            && raw.zone > 3
        {
            addresses.truncate(usize::from(raw.zone > 4));
            addresses.push(self.address(number, raw.zone > 5));
        }
        change
    }

    /// An address of a recipient, of the tenant that a step names.
    pub(super) fn address(&self, number: u8, other: bool) -> GivenAddress {
        GivenAddress { text: email(number, other), tenant: self.tenant() }
    }
}
