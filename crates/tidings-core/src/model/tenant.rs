//! Tenants: customers of the host with their own members, defaults and brand.
//!
//! An event and its entries belong to one tenant or to none. The settings of a tenant apply to its entries only, and a
//! reader has a view of some entries (contract, section 12).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::model::channel::{CHANNEL_KINDS, ChannelNo, EACH_CHANNEL, channel_no};
use crate::model::command::Choice;
use crate::model::data::Data;
use crate::model::id::Id;
use crate::model::number::EventNo;
use crate::model::preference::{Mode, PreferenceScope};
use crate::model::recipient::{OwnHours, removable};
use crate::model::time::Instant;
use crate::rules::presentation::{Brand, FormOfAddress};

pub(crate) use crate::model::number::TenantNo;

/// A tenant, without its id and its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tenant {
    /// Name to show.
    pub name: Option<String>,
    /// Fields that override `[brand]`.
    pub brand: Brand,
    /// Sender name of its messages.
    pub from_name: Option<String>,
    /// Mailbox for replies to its mails.
    pub reply_to: Option<String>,
    /// BCP 47 locale; the configuration's default where `None`.
    pub locale: Option<String>,
    /// IANA time zone; the configuration's default where `None`.
    pub tz: Option<String>,
    /// Quiet hours; `None` = those of each channel.
    pub quiet_hours: Option<Box<OwnHours>>,
    /// Its defaults, which replace the types' policies; without mutes.
    pub preferences: Vec<Choice>,
    /// Data of the host.
    pub data: Option<Data>,
    /// True = publishing is refused, and nothing is sent.
    pub disabled: bool,
}

/// A tenant with its id, as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnownTenant {
    /// The id.
    pub id: Id,
    /// Its fields.
    pub tenant: Tenant,
    /// The instant of its creation.
    pub made: Instant,
    /// Events before this place are void: the tenant was disabled or deleted after their arrival.
    pub(crate) void_before: EventNo,
    /// The instant of its deletion. Its id may belong to another tenant from then on.
    pub(crate) deleted: Option<Instant>,
}

impl KnownTenant {
    /// A tenant created at an instant.
    #[must_use]
    pub fn new(id: Id, tenant: Tenant, made: Instant) -> Self {
        Self { id, tenant, made, void_before: EventNo::default(), deleted: None }
    }
}

/// The settings of a tenant that its lanes depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenantTerms {
    /// IANA time zone.
    pub tz: Option<String>,
    /// Quiet hours.
    pub quiet_hours: Option<Box<OwnHours>>,
    /// Its defaults by channel and scope, each once.
    pub preferences: Vec<(ChannelNo, PreferenceScope, Mode)>,
}

impl Tenant {
    /// The terms of a tenant. Of two defaults for the same scope and channel the later one wins.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::model::{CHANNEL_KINDS, Choice, Mode, PreferenceScope, Tenant};
    ///
    /// let choice = |channel: &str, mode| Choice {
    ///     scope: PreferenceScope::AllCategories,
    ///     channel: channel.to_owned(),
    ///     mode,
    ///     tenant: None,
    /// };
    /// let preferences = vec![choice("*", Mode::Never), choice("email", Mode::Immediate)];
    /// let terms = Tenant { preferences, ..Tenant::default() }.terms();
    /// assert_eq!(terms.preferences.len(), CHANNEL_KINDS.len());
    /// assert!(terms.preferences.iter().any(|(.., mode)| *mode == Mode::Immediate));
    /// ```
    #[must_use]
    pub fn terms(&self) -> TenantTerms {
        let mut preferences = BTreeMap::new();
        for choice in self.preferences.iter().filter(|choice| !choice.scope.is_mute()) {
            let all =
                CHANNEL_KINDS.iter().map(|of| of.number).filter(|_| choice.channel == EACH_CHANNEL);
            for channel in channel_no(&choice.channel).into_iter().chain(all) {
                preferences.insert((channel, choice.scope.clone()), choice.mode.clone());
            }
        }
        preferences.retain(|_, mode| *mode != Mode::Default);
        TenantTerms {
            tz: self.tz.clone(),
            quiet_hours: self.quiet_hours.clone(),
            preferences: preferences
                .into_iter()
                .map(|((channel, scope), mode)| (channel, scope, mode))
                .collect(),
        }
    }
}

/// A change of a tenant: only the given fields change. `Some(None)` removes what was set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TenantChange {
    /// True = absent fields return to their defaults.
    pub replaces: bool,
    /// New name.
    #[serde(with = "removable", skip_serializing_if = "Option::is_none")]
    pub name: Option<Option<String>>,
    /// New fields of the brand.
    pub brand: BrandChange,
    /// New name of the sender.
    #[serde(with = "removable", skip_serializing_if = "Option::is_none")]
    pub from_name: Option<Option<String>>,
    /// New mailbox for answers.
    #[serde(with = "removable", skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<Option<String>>,
    /// New locale.
    #[serde(with = "removable", skip_serializing_if = "Option::is_none")]
    pub locale: Option<Option<String>>,
    /// New time zone.
    #[serde(with = "removable", skip_serializing_if = "Option::is_none")]
    pub tz: Option<Option<String>>,
    /// New quiet hours; `Some(None)` = those of each channel.
    #[serde(with = "removable", skip_serializing_if = "Option::is_none")]
    pub quiet_hours: Option<Option<Box<OwnHours>>>,
    /// New defaults, all of them.
    pub preferences: Option<Vec<Choice>>,
    /// New data, as a whole.
    #[serde(with = "removable", skip_serializing_if = "Option::is_none")]
    pub data: Option<Option<Data>>,
    /// True = disable, false = enable.
    pub disabled: Option<bool>,
}

/// New fields of a brand; `Some(None)` = that of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BrandChange {
    /// New name.
    #[serde(with = "removable", skip_serializing_if = "Option::is_none")]
    pub name: Option<Option<String>>,
    /// New picture.
    #[serde(with = "removable", skip_serializing_if = "Option::is_none")]
    pub logo: Option<Option<String>>,
    /// New picture for dark mode.
    #[serde(with = "removable", skip_serializing_if = "Option::is_none")]
    pub logo_dark: Option<Option<String>>,
    /// New colour.
    #[serde(with = "removable", skip_serializing_if = "Option::is_none")]
    pub color: Option<Option<String>>,
    /// New text at the foot.
    #[serde(with = "removable", skip_serializing_if = "Option::is_none")]
    pub footer: Option<Option<String>>,
    /// New postal address.
    #[serde(with = "removable", skip_serializing_if = "Option::is_none")]
    pub postal_address: Option<Option<String>>,
    /// New public address.
    #[serde(with = "removable", skip_serializing_if = "Option::is_none")]
    pub url: Option<Option<String>>,
    /// New form of address.
    #[serde(with = "removable", skip_serializing_if = "Option::is_none")]
    pub address: Option<Option<FormOfAddress>>,
}

impl TenantChange {
    /// The tenant after the change.
    #[must_use]
    pub fn of(&self, known: Option<&Tenant>) -> Tenant {
        let known = known.filter(|_| !self.replaces).cloned().unwrap_or_default();
        Tenant {
            name: given(self.name.as_ref(), known.name),
            brand: self.brand.of(known.brand),
            from_name: given(self.from_name.as_ref(), known.from_name),
            reply_to: given(self.reply_to.as_ref(), known.reply_to),
            locale: given(self.locale.as_ref(), known.locale),
            tz: given(self.tz.as_ref(), known.tz),
            quiet_hours: given(self.quiet_hours.as_ref(), known.quiet_hours),
            preferences: self.preferences.as_deref().map_or(known.preferences, each_once),
            data: given(self.data.as_ref(), known.data),
            disabled: self.disabled.unwrap_or(known.disabled),
        }
    }
}

/// Defaults with one line for each scope and channel: the last that was given, which wins over those before it.
fn each_once(given: &[Choice]) -> Vec<Choice> {
    let mut seen = BTreeSet::new();
    let mut last = Vec::new();
    for choice in given.iter().rev() {
        if seen.insert((&choice.scope, &choice.channel)) {
            last.push(choice.clone());
        }
    }
    last.reverse();
    last
}

impl BrandChange {
    fn of(&self, known: Brand) -> Brand {
        Brand {
            name: given(self.name.as_ref(), known.name),
            logo: given(self.logo.as_ref(), known.logo),
            logo_dark: given(self.logo_dark.as_ref(), known.logo_dark),
            color: given(self.color.as_ref(), known.color),
            footer: given(self.footer.as_ref(), known.footer),
            postal_address: given(self.postal_address.as_ref(), known.postal_address),
            url: given(self.url.as_ref(), known.url),
            address: given(self.address.as_ref(), known.address),
        }
    }
}

fn given<T: Clone>(given: Option<&Option<T>>, known: Option<T>) -> Option<T> {
    given.cloned().unwrap_or(known)
}

/// The entries that a reader sees: all, or those of a tenant. `T` identifies a tenant: by id, or by number.
///
/// # Examples
/// ```
/// use tidings_core::model::View;
///
/// assert!(View::Of("acme").shows(None) && View::Of("acme").shows(Some("acme")));
/// assert!(!View::Of("acme").shows(Some("other")) && !View::Only("acme").shows(None));
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum View<T = Id> {
    /// Entries of every tenant and of none.
    #[default]
    All,
    /// Entries of this tenant and of none.
    Of(T),
    /// Entries of this tenant only: what its export has, and what marks reach that earlier versions stored so.
    Only(T),
}

impl<T: PartialEq> View<T> {
    /// Returns true if the entries of a tenant, or of none, are in the view.
    pub fn shows(&self, tenant: Option<T>) -> bool {
        match (self, tenant) {
            (Self::All, _) | (Self::Of(_), None) => true,
            (Self::Only(_), None) => false,
            (Self::Of(own) | Self::Only(own), Some(tenant)) => *own == tenant,
        }
    }
}

impl<T> View<T> {
    /// The tenant of the view; `None` = it shows all.
    #[must_use]
    pub fn tenant(&self) -> Option<&T> {
        match self {
            Self::All => None,
            Self::Of(tenant) | Self::Only(tenant) => Some(tenant),
        }
    }

    /// Converts the identifier of the view's tenant.
    ///
    /// # Errors
    /// The errors of `name`.
    pub(crate) fn try_map<U, E>(
        &self,
        name: impl FnOnce(&T) -> Result<U, E>,
    ) -> Result<View<U>, E> {
        Ok(match self {
            Self::All => View::All,
            Self::Of(tenant) => View::Of(name(tenant)?),
            Self::Only(tenant) => View::Only(name(tenant)?),
        })
    }
}
