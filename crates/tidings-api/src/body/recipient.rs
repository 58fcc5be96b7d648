//! The body of a change of a profile.

use std::collections::BTreeMap;

use serde::de::DeserializeSeed;
use serde::{Deserialize, Deserializer, Serialize};
use tidings_config::wording::quoted;
use tidings_config::zone;
use tidings_core::model::{
    AddressKind, ChannelNo, Data, EMAIL_NO, GivenAddress, RecipientChange, RecipientState,
    sending_channels,
};
use tidings_core::{Command, Id};
use tidings_mail::{LocaleError, check_locale};
use utoipa::ToSchema;

use super::addresses::{self, AddressesOfKind};
use super::fault::Fault;
use super::text::{self, BoundedNumber, Latitude, Longitude, Text};
use super::{id_of, quiet};

/// A profile, or some of its fields. Null removes a value (for `quiet_hours`: no quiet hours); give `lat` and `lon`
/// together.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RecipientChange, example = json!({"name": "Ada", "email": "ada@example.org", "tz": "Europe/Paris"}))]
pub struct ProfileChange {
    /// Id of the recipient; the same as in the path, if that has one.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 256)]
    id: Option<Text<Id>>,
    /// Name to show, at most 1 KiB. Mails and inboxes also use it for an actor with this id and without a title.
    #[serde(default, deserialize_with = "name")]
    #[schema(value_type = Option<String>, max_length = 1024)]
    name: Change<String>,
    /// Address of the e-mail channel, short for `addresses.email`.
    #[serde(default, deserialize_with = "email")]
    #[schema(value_type = Option<String>)]
    email: Change<String>,
    /// Addresses by channel; null removes those of a channel, or all.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<addresses::AddressesChange>, required = false)]
    addresses: Change<addresses::AddressesChange>,
    /// IANA time zone.
    #[serde(default, deserialize_with = "tz")]
    #[schema(value_type = Option<String>)]
    tz: Change<String>,
    /// BCP 47 locale.
    #[serde(default, deserialize_with = "locale")]
    #[schema(value_type = Option<String>)]
    locale: Change<String>,
    /// Latitude, in degrees north.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<f64>, minimum = -90, maximum = 90)]
    lat: Change<Latitude>,
    /// Longitude, in degrees east.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<f64>, minimum = -180, maximum = 180)]
    lon: Change<Longitude>,
    /// The state, which decides whether messages are sent; `active` for a new recipient.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = StateWord, required = false)]
    state: Change<RecipientState>,
    /// Data of the host, replaced as a whole; at most 16 KiB, see `[limits]`.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<BTreeMap<String, serde_json::Value>>, required = false)]
    data: Change<Data>,
    /// Quiet hours: the recipient's own, null = none, `default` = those of each channel.
    #[serde(default, deserialize_with = "quiet::given")]
    #[schema(value_type = Option<quiet::QuietHoursShown>, required = false)]
    quiet_hours: Option<quiet::QuietHoursChange>,
    /// All tenants of which the recipient is a member; null = none.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Vec<String>>, required = false)]
    tenants: Change<Vec<Text<Id>>>,
}

/// A value that may be given, and may be null then, which removes it.
pub(super) type Change<T> = Option<Option<T>>;

/// The state of a recipient: notifications of an `unconfirmed` one wait on every channel but the
/// inbox, those of a `disabled` one end when they are due.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = RecipientState)]
#[expect(missing_docs, reason = "a text of a variant would be one of the API's document")]
pub enum StateWord {
    Active,
    Unconfirmed,
    Disabled,
}

impl From<RecipientState> for StateWord {
    fn from(state: RecipientState) -> Self {
        match state {
            RecipientState::Active => Self::Active,
            RecipientState::Unconfirmed => Self::Unconfirmed,
            RecipientState::Disabled => Self::Disabled,
        }
    }
}

impl ProfileChange {
    /// The change of the recipient in the path or the body.
    pub(super) fn of(self, path: Option<Id>) -> Result<RecipientChange, Fault> {
        if self.lat.map(|lat| lat.is_some()) != self.lon.map(|lon| lon.is_some()) {
            let hint = "give both, both as numbers or both as null";
            return Err(Fault::new("`lat` and `lon` must be given together", hint));
        }
        if let Some(None) = self.state {
            let hint = "write `active`, `unconfirmed` or `disabled`";
            return Err(Fault::new("`state` can't be null", hint));
        }
        Ok(RecipientChange {
            id: id_of(path, self.id)?,
            addresses: all_addresses(self.email, self.addresses)?,
            name: self.name,
            tz: self.tz,
            locale: self.locale,
            lat: self.lat.map(|lat| lat.map(|BoundedNumber(lat)| lat)),
            lon: self.lon.map(|lon| lon.map(|BoundedNumber(lon)| lon)),
            state: self.state.flatten(),
            data: self.data,
            quiet_hours: self.quiet_hours.map(quiet::QuietHoursChange::choice).transpose()?,
            tenants: self.tenants.map(|all| all.into_iter().flatten().map(Text::inner).collect()),
        })
    }

    /// The command that changes the given fields.
    ///
    /// # Errors
    /// Only one of `lat` and `lon`, an unknown state, or another id than in the path.
    pub fn command(self, path: Option<Id>) -> Result<Command, Fault> {
        Ok(Command::Recipient(Box::new(self.of(path)?)))
    }

    /// The command that replaces a whole profile: absent fields are removed.
    ///
    /// # Errors
    /// As [`Self::command`].
    pub fn whole(self, id: Id) -> Result<Command, Fault> {
        let mut change = self.of(Some(id))?;
        change.name.get_or_insert(None);
        for channel in sending_channels() {
            change.addresses.entry(channel.number).or_default();
        }
        change.tz.get_or_insert(None);
        change.locale.get_or_insert(None);
        change.lat.get_or_insert(None);
        change.lon.get_or_insert(None);
        change.state.get_or_insert(RecipientState::default());
        change.data.get_or_insert(None);
        change.quiet_hours.get_or_insert(None);
        change.tenants.get_or_insert_default();
        Ok(Command::Recipient(Box::new(change)))
    }
}

/// The addresses that change, by channel.
fn all_addresses(
    email: Change<String>,
    listed: Change<addresses::AddressesChange>,
) -> Result<BTreeMap<ChannelNo, Vec<GivenAddress>>, Fault> {
    let of = |email: Option<String>| email.into_iter().map(GivenAddress::from).collect();
    let mut changes: BTreeMap<ChannelNo, Vec<GivenAddress>> =
        email.map(|email| (EMAIL_NO, of(email))).into_iter().collect();
    let listed = match listed {
        None => BTreeMap::new(),
        Some(None) => sending_channels().map(|channel| (channel.number, Vec::new())).collect(),
        Some(Some(addresses::AddressesChange(listed))) => listed,
    };
    for (number, address) in listed {
        let other = changes.insert(number, address.clone());
        if other.is_some_and(|other| other != address) {
            let name = number.name();
            let reason = format!("`{name}` and `addresses.{name}` differ");
            return Err(Fault::new(reason, "give one of them"));
        }
    }
    Ok(changes)
}

pub(super) fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    value: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(value).map(Some)
}

pub(super) fn name<'de, D: Deserializer<'de>>(value: D) -> Result<Change<String>, D::Error> {
    text::title(value).map(Some)
}

fn email<'de, D: Deserializer<'de>>(value: D) -> Result<Change<String>, D::Error> {
    let read = AddressesOfKind(AddressKind::Email).deserialize(value)?;
    Ok(Some(read.into_iter().next().map(|address| address.text)))
}

pub(super) fn tz<'de, D: Deserializer<'de>>(value: D) -> Result<Change<String>, D::Error> {
    let check = |text: &str| {
        let reason = || format!("names the unknown time zone {}", quoted(text));
        let fault = || Fault::new(reason(), zone::hint(text));
        zone::exists(text).then_some(()).ok_or_else(fault)
    };
    text::checked(value, check).map(Some)
}

pub(super) fn locale<'de, D: Deserializer<'de>>(value: D) -> Result<Change<String>, D::Error> {
    let check = |text: &str| {
        let fault = |fault: LocaleError| {
            let reason = format!("must be a locale, got {}", quoted(text));
            Fault::new(reason, fault.to_string())
        };
        check_locale(text).map_err(fault)
    };
    text::checked(value, check).map(Some)
}
