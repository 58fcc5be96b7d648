//! Recipients: their profiles and addresses.

pub(super) mod removable;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::channel::ChannelNo;
use crate::model::data::Data;
use crate::model::id::Id;
use crate::model::number::TenantNo;
use crate::rules::QuietHours;

/// The state of a recipient, which decides whether messages are sent; read when a message is built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecipientState {
    /// Messages are sent.
    #[default]
    Active,
    /// The recipient has not confirmed: on every channel but the inbox no lane closes (Meldium).
    Unconfirmed,
    /// The recipient is in audiences, but pending entries end as cancelled when they are due.
    Disabled,
}

/// A recipient's profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipient {
    /// The id.
    pub id: Id,
    /// Name to show; the title of an actor of the same id whose own title is not known.
    pub name: Option<String>,
    /// The addresses by channel.
    pub addresses: Addresses,
    /// IANA time zone; the configuration's default where `None`.
    pub tz: Option<String>,
    /// BCP 47 locale; the configuration's default where `None`.
    pub locale: Option<String>,
    /// The place: degrees north and east, both or neither.
    pub place: Option<(f64, f64)>,
    /// The state, which decides whether messages are sent.
    pub state: RecipientState,
    /// Data of the host.
    pub data: Option<Data>,
    /// Quiet hours of one's own; `None` = those of each channel.
    pub quiet_hours: Option<Box<OwnHours>>,
}

/// The quiet hours that a recipient has chosen.
///
/// # Examples
/// ```
/// use tidings_core::model::{ChannelNo, EMAIL_NO, OwnHours};
/// use tidings_core::rules::QuietHours;
///
/// let night = QuietHours { from_minute: 22 * 60, to_minute: 7 * 60, days: QuietHours::EVERY_DAY };
/// let none_at_all = OwnHours { hours: None, channels: None };
/// assert_eq!(none_at_all.on(EMAIL_NO, Some(&night)), None);
/// let on_another = OwnHours { hours: None, channels: Some(vec![ChannelNo(2)]) };
/// assert_eq!(on_another.on(EMAIL_NO, Some(&night)), Some(&night));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnHours {
    /// The hours; `None` = none at all.
    pub hours: Option<QuietHours>,
    /// The channels on which they hold; `None` = all. On the others the channel's hold.
    pub channels: Option<Vec<ChannelNo>>,
}

impl OwnHours {
    /// The hours that hold on a channel with hours of its own.
    #[must_use]
    pub fn on<'a>(
        &'a self,
        channel: ChannelNo,
        of_channel: Option<&'a QuietHours>,
    ) -> Option<&'a QuietHours> {
        match &self.channels {
            Some(channels) if !channels.contains(&channel) => of_channel,
            Some(_) | None => self.hours.as_ref(),
        }
    }
}

/// A recipient's addresses, by channel: one, or one for each device. One may be of a tenant: it takes the messages of that
/// tenant and of none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addresses(Box<[Address]>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Address {
    channel: ChannelNo,
    address: Box<str>,
    /// `None` = it takes those of all.
    tenant: Option<TenantNo>,
}

impl Addresses {
    /// The first address of a channel.
    #[must_use]
    pub fn get(&self, channel: ChannelNo) -> Option<&str> {
        self.of(channel).next()
    }

    /// The addresses of a channel, in the order in which they were given.
    pub fn of(&self, channel: ChannelNo) -> impl Iterator<Item = &str> {
        self.views(channel).map(|(address, _)| address)
    }

    /// All addresses, each with its channel.
    pub(crate) fn all(&self) -> impl Iterator<Item = (ChannelNo, &str)> {
        self.0.iter().map(|known| (known.channel, &*known.address))
    }

    /// The addresses of a channel, each with its tenant, in the order in which they were given.
    pub fn views(&self, channel: ChannelNo) -> impl Iterator<Item = (&str, Option<TenantNo>)> {
        let known = self.0.iter().filter(move |known| known.channel == channel);
        known.map(|known| (&*known.address, known.tenant))
    }

    /// The addresses of a channel that take messages of a tenant, or of none.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::model::{Addresses, ChannelNo, TenantNo};
    ///
    /// let (webpush, acme) = (ChannelNo(3), Some(TenantNo::FIRST));
    /// let mut addresses = Addresses::default();
    /// addresses.set_views(webpush, &[("all", None), ("acme's", acme)]);
    /// assert_eq!(addresses.taking(webpush, acme).collect::<Vec<_>>(), ["all", "acme's"]);
    /// assert_eq!(addresses.taking(webpush, None).collect::<Vec<_>>(), ["all", "acme's"]);
    /// assert_eq!(addresses.taking(webpush, TenantNo::of_raw(2)).collect::<Vec<_>>(), ["all"]);
    /// ```
    pub fn taking(
        &self,
        channel: ChannelNo,
        tenant: Option<TenantNo>,
    ) -> impl Iterator<Item = &str> {
        let all = self.views(channel).filter(move |(_, of)| takes(*of, tenant));
        all.map(|(address, _)| address)
    }

    /// The tenants of addresses; one may come several times.
    pub fn tenants(&self) -> impl Iterator<Item = TenantNo> {
        self.0.iter().filter_map(|known| known.tenant)
    }

    /// Sets the addresses of a channel, which take messages of all; none removes those that there are.
    pub fn set<T: AsRef<str>>(&mut self, channel: ChannelNo, addresses: &[T]) {
        let views: Vec<_> = addresses.iter().map(|address| (address.as_ref(), None)).collect();
        self.set_views(channel, &views);
    }

    /// Sets the addresses of a channel, each with its tenant.
    pub fn set_views<T: AsRef<str>>(
        &mut self,
        channel: ChannelNo,
        addresses: &[(T, Option<TenantNo>)],
    ) {
        let mut all = std::mem::take(&mut self.0).into_vec();
        all.retain(|known| known.channel != channel);
        all.extend(addresses.iter().map(|(address, tenant)| Address {
            channel,
            address: address.as_ref().into(),
            tenant: *tenant,
        }));
        // Stable: those of a channel keep their order.
        all.sort_by_key(|known| known.channel);
        self.0 = all.into_boxed_slice();
    }

    /// Removes the addresses of a tenant.
    pub(crate) fn end_tenant(&mut self, tenant: TenantNo) {
        let mut all = std::mem::take(&mut self.0).into_vec();
        all.retain(|known| known.tenant != Some(tenant));
        self.0 = all.into_boxed_slice();
    }
}

/// Returns true if an address of a tenant, or of none, takes messages of a tenant, or of none.
pub(crate) fn takes(of: Option<TenantNo>, tenant: Option<TenantNo>) -> bool {
    of.is_none() || tenant.is_none() || of == tenant
}

impl<const N: usize> From<[(ChannelNo, &str); N]> for Addresses {
    fn from(all: [(ChannelNo, &str); N]) -> Self {
        let mut addresses = Self::default();
        for (channel, address) in all {
            addresses.set(channel, &[address]);
        }
        addresses
    }
}

/// An address as a change gives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenAddress {
    /// The address.
    pub text: String,
    /// The tenant whose messages it takes, beside those of none; `None` = it takes those of all.
    #[serde(default)]
    pub tenant: Option<Id>,
}

impl From<String> for GivenAddress {
    fn from(text: String) -> Self {
        Self { text, tenant: None }
    }
}

impl From<&str> for GivenAddress {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// A change of a profile: only the given fields change.
///
/// # Examples
/// ```
/// use tidings_core::Id;
/// use tidings_core::model::{EMAIL_NO, RecipientChange};
///
/// let change: RecipientChange =
///     serde_json::from_str(r#"{"id": "ada", "name": "Ada", "addresses": {"1": []}}"#)?;
/// assert_eq!(change.name, Some(Some("Ada".to_owned())));
/// // The address on channel 1 is removed, the time zone stays as it is.
/// assert!(change.addresses[&EMAIL_NO].is_empty());
/// assert_eq!(change.tz, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecipientChange {
    /// The id; an unknown recipient is created.
    pub id: Id,
    /// New name; `Some(None)` removes it.
    #[serde(default, with = "removable", skip_serializing_if = "Option::is_none")]
    pub name: Option<Option<String>>,
    /// New addresses by channel; none removes those of a channel.
    #[serde(default)]
    pub addresses: BTreeMap<ChannelNo, Vec<GivenAddress>>,
    /// New time zone; `Some(None)` = the default.
    #[serde(default, with = "removable", skip_serializing_if = "Option::is_none")]
    pub tz: Option<Option<String>>,
    /// New locale; `Some(None)` = the default.
    #[serde(default, with = "removable", skip_serializing_if = "Option::is_none")]
    pub locale: Option<Option<String>>,
    /// New latitude in degrees; `Some(None)` removes the place.
    #[serde(default, with = "removable", skip_serializing_if = "Option::is_none")]
    pub lat: Option<Option<f64>>,
    /// New longitude in degrees; `Some(None)` removes the place.
    #[serde(default, with = "removable", skip_serializing_if = "Option::is_none")]
    pub lon: Option<Option<f64>>,
    /// New state.
    pub state: Option<RecipientState>,
    /// New data, as a whole; `Some(None)` removes it.
    #[serde(default, with = "removable", skip_serializing_if = "Option::is_none")]
    pub data: Option<Option<Data>>,
    /// New quiet hours; `Some(None)` = those of each channel.
    #[serde(default, with = "removable", skip_serializing_if = "Option::is_none")]
    pub quiet_hours: Option<Option<Box<OwnHours>>>,
    /// The tenants of which the recipient is a member, all of them; `None` = as before.
    #[serde(default)]
    pub tenants: Option<Vec<Id>>,
}

impl RecipientChange {
    /// A change of nothing: it creates the recipient if there is none.
    #[must_use]
    pub fn nothing(id: Id) -> Self {
        Self {
            id,
            name: None,
            addresses: BTreeMap::new(),
            tz: None,
            locale: None,
            lat: None,
            lon: None,
            data: None,
            state: None,
            quiet_hours: None,
            tenants: None,
        }
    }

    /// The tenants that it names: those of which the recipient is a member, and those of addresses.
    pub(crate) fn named_tenants(&self) -> impl Iterator<Item = &Id> {
        let of_addresses = self.addresses.values().flatten();
        let of_addresses = of_addresses.filter_map(|address| address.tenant.as_ref());
        self.tenants.iter().flatten().chain(of_addresses)
    }
}
