//! Choices for entries of one tenant: those of recipients, and the tenants' defaults.
//!
//! There may be as many as tenants and recipients together, so nothing walks through them: an event asks for its own
//! tenant, and a list for its recipient.

use std::collections::BTreeMap;
use std::sync::Arc;

use roaring::RoaringBitmap;

use crate::model::channel::{ChannelNo, INBOX_NO};
use crate::model::preference::{Mode, PreferenceScope};
use crate::model::tenant::TenantNo;
use crate::sets::shared::{Shared, Tree};

/// Recipients by their mode for a scope on a channel.
pub(super) type ModeRecipients = Shared<BTreeMap<Mode, RoaringBitmap>>;

/// The choices of a tenant itself, by channel and scope.
type TenantDefaults = Arc<[(ChannelNo, PreferenceScope, Mode)]>;

/// A scope on a channel, of a tenant.
type TenantScope = (TenantNo, ChannelNo, PreferenceScope);

/// The choices for entries of each tenant.
#[derive(Clone, Debug, Default)]
pub(crate) struct TenantChoices {
    chosen: Tree<TenantScope, ModeRecipients>,
    by_recipient: Tree<(u32, TenantNo, ChannelNo, PreferenceScope), Mode>,
    defaults: Tree<TenantNo, TenantDefaults>,
}

impl TenantChoices {
    /// Sets a recipient's mode; [`Mode::Default`] removes it.
    pub(super) fn choose(&mut self, number: u32, scope: TenantScope, mode: Mode) {
        let by_recipient = (number, scope.0, scope.1, scope.2.clone());
        if let Some(before) = self.by_recipient.remove(&by_recipient) {
            let is_left = self.chosen.get_mut(&scope).is_some_and(|modes| {
                modes.retain(|of, recipients| {
                    if *of == before {
                        recipients.remove(number);
                    }
                    !recipients.is_empty()
                });
                !modes.is_empty()
            });
            if !is_left {
                self.chosen.remove(&scope);
            }
        }
        if mode != Mode::Default {
            self.chosen.or_default(scope).entry(mode.clone()).or_default().insert(number);
            self.by_recipient.insert(by_recipient, mode);
        }
    }

    /// The choices of a recipient, by tenant, channel and scope.
    pub(super) fn of(
        &self,
        number: u32,
    ) -> impl Iterator<Item = (TenantNo, ChannelNo, &PreferenceScope, &Mode)> {
        let first = (number, TenantNo::FIRST, INBOX_NO, PreferenceScope::Type(String::new()));
        let of = self.by_recipient.from(&first).take_while(move |((of, ..), _)| *of == number);
        of.map(|((_, tenant, channel, scope), mode)| (*tenant, *channel, scope, mode))
    }

    /// The recipients by their mode for a scope on a channel.
    pub(super) fn modes(
        &self,
        tenant: TenantNo,
        channel: ChannelNo,
        scope: &PreferenceScope,
    ) -> Option<&ModeRecipients> {
        if self.chosen.is_empty() {
            return None;
        }
        self.chosen.get(&(tenant, channel, scope.clone()))
    }

    /// Sets a tenant's defaults.
    pub(super) fn set_defaults(
        &mut self,
        tenant: TenantNo,
        defaults: &[(ChannelNo, PreferenceScope, Mode)],
    ) {
        if !defaults.is_empty() {
            self.defaults.insert(tenant, defaults.into());
        } else if self.defaults.contains_key(&tenant) {
            self.defaults.remove(&tenant);
        }
    }

    /// A tenant's defaults.
    pub(crate) fn defaults(&self, tenant: TenantNo) -> &[(ChannelNo, PreferenceScope, Mode)] {
        self.defaults.get(&tenant).map_or(&[], |defaults| defaults)
    }

    /// The recipients with a choice for entries of a tenant, once for each.
    pub(super) fn recipients_with_choices(&self, tenant: TenantNo) -> impl Iterator<Item = u32> {
        let first = (tenant, INBOX_NO, PreferenceScope::Type(String::new()));
        let of = self.chosen.from(&first).take_while(move |((of, ..), _)| *of == tenant);
        of.flat_map(|(_, modes)| modes.values()).flatten()
    }

    /// Returns true if no recipient has chosen anything.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.chosen.is_empty() && self.by_recipient.is_empty()
    }
}
