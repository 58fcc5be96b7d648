//! The times that recipients chose for the slots of digests.
//!
//! Few choose any, so the others cost nothing: each digest has a set of those who did.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use roaring::RoaringBitmap;

use super::preferences::Preference;
use crate::model::channel::INBOX_NO;
use crate::model::preference::{Mode, OwnTimes, PreferenceScope};
use crate::model::tenant::TenantNo;
use crate::sets::shared::{Shared, Tree};

static NOBODY: LazyLock<RoaringBitmap> = LazyLock::new(RoaringBitmap::new);

/// The times of digests that recipients chose, for entries of a tenant or for all.
#[derive(Clone, Debug, Default)]
pub(crate) struct DigestTimes {
    chosen: Tree<(u32, String, Option<TenantNo>), OwnTimes>,
    recipients: Shared<BTreeMap<String, RoaringBitmap>>,
}

impl DigestTimes {
    /// Sets the preference for a digest's slots; [`Mode::Default`] resets it.
    pub(crate) fn choose(&mut self, number: u32, chosen: &Preference) {
        let Some(name) = chosen.scope.digest().map(str::to_owned) else {
            return;
        };
        let at = (number, name, chosen.tenant);
        let mut times = self.chosen.get(&at).copied().unwrap_or_default();
        match (&chosen.scope, &chosen.mode) {
            (PreferenceScope::DigestDay(_), Mode::Day(day)) => times.day = Some(*day),
            (PreferenceScope::DigestDay(_), _) => times.day = None,
            (_, Mode::Time(minute)) => times.minute = Some(*minute),
            _ => times.minute = None,
        }
        if times.is_empty() {
            self.chosen.remove(&at);
        } else {
            self.chosen.insert(at.clone(), times);
        }
        let (_, name, _) = at;
        let is_left = self.of_digest(number, &name).next().is_some();
        if is_left {
            self.recipients.entry(name).or_default().insert(number);
        } else if let Some(recipients) = self.recipients.get_mut(&name) {
            recipients.remove(number);
        }
    }

    /// The recipients who chose times for a digest, for entries of any tenant.
    pub(crate) fn recipients(&self, digest: &str) -> &RoaringBitmap {
        self.recipients.get(digest).unwrap_or(&NOBODY)
    }

    /// The times of a recipient for entries of a tenant or of none: those for the tenant, else those for all.
    pub(crate) fn of(&self, number: u32, digest: &str, tenant: Option<TenantNo>) -> OwnTimes {
        if !self.recipients(digest).contains(number) {
            return OwnTimes::default();
        }
        let said = |tenant| {
            let at = (number, digest.to_owned(), tenant);
            self.chosen.get(&at).copied().unwrap_or_default()
        };
        match tenant {
            Some(_) => said(tenant).or(said(None)),
            None => said(None),
        }
    }

    /// All that a recipient chose, as preferences.
    pub(crate) fn preferences_of(&self, number: u32) -> Vec<Preference> {
        let mut all = Vec::new();
        for ((_, digest, tenant), times) in self.of_recipient(number) {
            let of = |scope, mode| Preference { tenant: *tenant, channel: INBOX_NO, scope, mode };
            let day = times.day.map(Mode::Day);
            all.extend(day.map(|mode| of(PreferenceScope::DigestDay(digest.clone()), mode)));
            let minute = times.minute.map(Mode::Time);
            all.extend(minute.map(|mode| of(PreferenceScope::DigestTime(digest.clone()), mode)));
        }
        all
    }

    /// The recipients with times for entries of a tenant.
    pub(crate) fn recipients_in(&self, tenant: TenantNo) -> impl Iterator<Item = u32> {
        let all = self.recipients.values().flatten();
        all.filter(move |number| {
            self.of_recipient(*number).any(|((.., of), _)| *of == Some(tenant))
        })
    }

    /// Forgets what a recipient chose.
    pub(crate) fn erase(&mut self, number: u32) {
        let keys: Vec<_> = self.of_recipient(number).map(|(key, _)| key.clone()).collect();
        for key in keys {
            self.chosen.remove(&key);
        }
        for recipients in self.recipients.values_mut() {
            recipients.remove(number);
        }
    }

    fn of_recipient(
        &self,
        number: u32,
    ) -> impl Iterator<Item = (&(u32, String, Option<TenantNo>), &OwnTimes)> {
        let from = self.chosen.from(&(number, String::new(), None));
        from.take_while(move |((of, ..), _)| *of == number)
    }

    fn of_digest(&self, number: u32, digest: &str) -> impl Iterator<Item = &OwnTimes> {
        let of = self.of_recipient(number).filter(move |((_, name, _), _)| name == digest);
        of.map(|(_, times)| times)
    }
}
