//! The body of a change of a profile.

use serde::{Deserialize, Deserializer, Serialize};
use tidings_core::{Command, Id, RecipientChange, State};
use utoipa::ToSchema;

use super::fault::Fault;
use super::fields::Fields;
use super::same_id;
use super::text::{self, Latitude, Longitude, Within};
use crate::config::{is_address, is_locale};
use crate::wording::quoted;
use crate::zone;

/// A profile, or a part of one. Null removes a value; give `lat` and `lon` together.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RecipientChange, example = json!({"name": "Ada", "email": "ada@example.org", "tz": "Europe/Paris"}))]
pub(crate) struct ProfileChange {
    /// Name to show, at most 1 KiB. Mails and inboxes also use it for an actor with this id that has no
    /// title.
    #[serde(default, deserialize_with = "name")]
    #[schema(value_type = Option<String>, max_length = 1024)]
    name: Change<String>,
    /// Address of the e-mail channel.
    #[serde(default, deserialize_with = "email")]
    #[schema(value_type = Option<String>)]
    email: Change<String>,
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
    /// Whether messages are sent; `active` for a new recipient.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = StateWord, required = false)]
    state: Change<StateWord>,
}

/// A value that may be given, and may be null then, which removes it.
type Change<T> = Option<Option<T>>;

/// Whether messages are sent: notifications of an `unconfirmed` recipient wait on every channel but the
/// inbox, those of a `disabled` one end when they are due.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = RecipientState)]
pub(crate) enum StateWord {
    Active,
    Unconfirmed,
    Disabled,
}

impl From<State> for StateWord {
    fn from(state: State) -> Self {
        match state {
            State::Active => Self::Active,
            State::Unconfirmed => Self::Unconfirmed,
            State::Disabled => Self::Disabled,
        }
    }
}

impl From<StateWord> for State {
    fn from(word: StateWord) -> Self {
        match word {
            StateWord::Active => Self::Active,
            StateWord::Unconfirmed => Self::Unconfirmed,
            StateWord::Disabled => Self::Disabled,
        }
    }
}

impl ProfileChange {
    /// What it changes of a recipient.
    ///
    /// # Errors
    /// Half a place, or no state.
    fn of(self, id: Id) -> Result<RecipientChange, Fault> {
        if self.lat.map(|lat| lat.is_some()) != self.lon.map(|lon| lon.is_some()) {
            let hint = "give both, both as numbers or both as null";
            return Err(Fault::new("`lat` and `lon` must be given together", hint));
        }
        if let Some(None) = self.state {
            let hint = "write `active`, `unconfirmed` or `disabled`";
            return Err(Fault::new("`state` can't be null", hint));
        }
        Ok(RecipientChange {
            id,
            name: self.name,
            email: self.email,
            tz: self.tz,
            locale: self.locale,
            lat: self.lat.map(|lat| lat.map(|Within(lat)| lat)),
            lon: self.lon.map(|lon| lon.map(|Within(lon)| lon)),
            state: self.state.flatten().map(State::from),
        })
    }

    /// The command that changes the given fields.
    ///
    /// # Errors
    /// Half a place, or no state.
    pub(crate) fn command(self, id: Id) -> Result<Command, Fault> {
        Ok(Command::Recipient(Box::new(self.of(id)?)))
    }

    /// The command that puts a whole profile: what is not given is removed.
    ///
    /// # Errors
    /// Half a place, or no state.
    fn whole_command(self, id: Id) -> Result<Command, Fault> {
        let mut change = self.of(id)?;
        change.name.get_or_insert(None);
        change.email.get_or_insert(None);
        change.tz.get_or_insert(None);
        change.locale.get_or_insert(None);
        change.lat.get_or_insert(None);
        change.lon.get_or_insert(None);
        change.state.get_or_insert(State::default());
        Ok(Command::Recipient(Box::new(change)))
    }
}

/// Reads a change of a profile that names its recipient itself.
///
/// # Errors
/// The first [`Fault`] of the body.
pub(crate) fn named(mut fields: Fields<'_>) -> Result<Command, Fault> {
    let id = fields.id("id")?;
    fields.body::<ProfileChange>()?.command(id)
}

/// Reads a whole profile, which may name its recipient, as an answer does.
///
/// # Errors
/// The first [`Fault`] of the body, or another recipient's name in it.
pub(crate) fn whole(id: Id, mut fields: Fields<'_>) -> Result<Command, Fault> {
    same_id(&id, &mut fields)?;
    fields.body::<ProfileChange>()?.whole_command(id)
}

fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    value: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(value).map(Some)
}

fn name<'de, D: Deserializer<'de>>(value: D) -> Result<Change<String>, D::Error> {
    text::title(value).map(Some)
}

fn email<'de, D: Deserializer<'de>>(value: D) -> Result<Change<String>, D::Error> {
    let check = |email: &str| match is_address(email) {
        true => Ok(()),
        false => Err(Fault::new(
            format!("must be an address, got {}", quoted(email)),
            "write `local@domain`, or null for no address",
        )),
    };
    text::checked(value, check).map(Some)
}

fn tz<'de, D: Deserializer<'de>>(value: D) -> Result<Change<String>, D::Error> {
    let check = |tz: &str| match zone::exists(tz) {
        true => Ok(()),
        false => Err(Fault::new(
            format!("names the unknown time zone {}", quoted(tz)),
            zone::hint(tz),
        )),
    };
    text::checked(value, check).map(Some)
}

fn locale<'de, D: Deserializer<'de>>(value: D) -> Result<Change<String>, D::Error> {
    let check = |locale: &str| match is_locale(locale) {
        true => Ok(()),
        false => Err(Fault::new(
            format!("must be a locale, got {}", quoted(locale)),
            "write a BCP 47 tag, such as `en` or `pt-BR`",
        )),
    };
    text::checked(value, check).map(Some)
}
