//! Conversion of bodies into commands, shared by timelines and the API.
//!
//! What stands in a path (a recipient, an object) is handed in; the rest is the body. Everything that
//! can be judged by the [`Rules`] alone is judged here; who and what exists only the engine knows.

use std::borrow::Cow;

use tidings_core::command::{Cancelled, Choice, MarkKind, Marked};
use tidings_core::rules::{CHANNELS, INBOX};
use tidings_core::{
    Audience, Command, Day, Event, Id, Mode, Near, Object, PreferenceScope, RecipientChange, Rules,
    State,
};

use super::address::within;
use super::fault::{About, Fault};
use super::fields::{Fields, IdOrObject};
use super::json::{self, Json};
use crate::config::{is_address, is_locale};
use crate::keys::fault_of_name;
use crate::wording::{did_you_mean, quoted};
use crate::zone;

/// The most bytes of a title and of a recipient's name.
const TITLE_BYTES_MAX: usize = 1 << 10;
/// The furthest that two places are apart, in kilometres.
const NEAR_KM_MAX: f64 = 20_038.0;
const LATITUDES: (f64, f64) = (-90.0, 90.0);
const LONGITUDES: (f64, f64) = (-180.0, 180.0);

/// A reader of bodies for a configuration.
#[derive(Clone, Copy, Debug)]
pub struct Bodies<'r> {
    rules: &'r Rules,
}

impl<'r> Bodies<'r> {
    /// Reads by these rules.
    #[must_use]
    pub fn new(rules: &'r Rules) -> Self {
        Self { rules }
    }

    /// A change of a profile. Null takes a value away; `lat` and `lon` come together.
    ///
    /// # Errors
    /// The first [`Fault`] of the body.
    pub fn recipient(self, id: Id, mut fields: Fields<'_>) -> Result<Command, Fault> {
        fields.only(&["name", "email", "tz", "locale", "lat", "lon", "state"])?;
        let name = fields.change("name")?;
        if let Some(Some(name)) = &name {
            within("`name`", name, TITLE_BYTES_MAX)?;
        }
        let email = fields.change("email")?;
        check(email.as_ref(), is_address, |email| {
            let hint = "write `local@domain`, or null for no address";
            let reason = format!("`email` must be an address, got {}", quoted(email));
            Fault::new(reason, hint)
        })?;
        let tz = fields.change("tz")?;
        check(tz.as_ref(), zone::exists, |tz| {
            Fault::new(format!("unknown time zone {}", quoted(tz)), zone::hint(tz))
        })?;
        let locale = fields.change("locale")?;
        check(locale.as_ref(), is_locale, |locale| {
            let hint = "write a BCP 47 tag, such as `en` or `pt-BR`";
            let reason = format!("`locale` must be a locale, got {}", quoted(locale));
            Fault::new(reason, hint)
        })?;
        let lat = fields.number_change("lat", LATITUDES)?;
        let lon = fields.number_change("lon", LONGITUDES)?;
        if lat.map(|lat| lat.is_some()) != lon.map(|lon| lon.is_some()) {
            let hint = "give both, both as numbers or both as null";
            return Err(Fault::new("`lat` and `lon` must be given together", hint));
        }
        let state = state(&mut fields)?;
        let owned = |change: Option<Option<Cow<'_, str>>>| change.map(|v| v.map(Cow::into_owned));
        Ok(Command::Recipient(Box::new(RecipientChange {
            id,
            name: owned(name),
            email: owned(email),
            tz: owned(tz),
            locale: owned(locale),
            lat,
            lon,
            state,
        })))
    }

    /// A change of a profile that names its recipient itself.
    ///
    /// # Errors
    /// The first [`Fault`] of the body.
    pub fn named_recipient(self, mut fields: Fields<'_>) -> Result<Command, Fault> {
        self.recipient(fields.required_id("id")?, fields)
    }

    /// A whole profile: what is not given is taken away. It may name its recipient, as an answer
    /// does.
    ///
    /// # Errors
    /// The first [`Fault`] of the body, or another recipient's name in it.
    pub fn whole_recipient(self, id: Id, mut fields: Fields<'_>) -> Result<Command, Fault> {
        same_id(&id, &mut fields)?;
        let mut command = self.recipient(id, fields)?;
        if let Command::Recipient(change) = &mut command {
            change.name.get_or_insert(None);
            change.email.get_or_insert(None);
            change.tz.get_or_insert(None);
            change.locale.get_or_insert(None);
            change.lat.get_or_insert(None);
            change.lon.get_or_insert(None);
            change.state.get_or_insert(State::default());
        }
        Ok(command)
    }

    /// Who follows what, from now on or no longer.
    ///
    /// # Errors
    /// The first [`Fault`] of the body.
    pub fn subscription(self, on: bool, mut fields: Fields<'_>) -> Result<Command, Fault> {
        fields.only(&["recipient", "topic"])?;
        let recipient = fields.required_id("recipient")?;
        let topic = fields.required_id("topic")?;
        Ok(if on {
            Command::Subscribe { recipient, topic }
        } else {
            Command::Unsubscribe { recipient, topic }
        })
    }

    /// A subscription, or the end of one: `"unsubscribe": true`.
    ///
    /// # Errors
    /// The first [`Fault`] of the body.
    pub fn subscription_change(self, mut fields: Fields<'_>) -> Result<Command, Fault> {
        fields.only(&["recipient", "topic", "unsubscribe"])?;
        let ends = fields.flag("unsubscribe")?.unwrap_or(false);
        self.subscription(!ends, fields)
    }

    /// Something that happened. `or_id` gives the id of an event that has none of its own.
    ///
    /// # Errors
    /// The first [`Fault`] of the body, or that of `or_id`.
    pub fn publish(
        self,
        mut fields: Fields<'_>,
        or_id: impl FnOnce() -> Result<Id, Fault>,
    ) -> Result<Command, Fault> {
        fields.only(&[
            "id",
            "type",
            "actor",
            "object",
            "target",
            "data",
            "to",
            "channels",
            "occurred_at",
            "deliver_at",
            "expires_at",
            "cancellation_key",
        ])?;
        let id = match fields.id("id")? {
            Some(id) => id,
            None => or_id()?,
        };
        let kind = fields.required_id("type")?;
        let Some(object) = fields.object("object", "object")? else {
            return Err(fields.missing("object"));
        };
        let Some(to) = fields.object("to", "to")? else {
            return Err(fields.missing("to"));
        };
        Ok(Command::Publish(Box::new(Event {
            id,
            actor: role(&mut fields, "actor")?,
            object: event_object(object)?,
            target: role(&mut fields, "target")?,
            data: fields.table("data")?.map(json::into_map),
            to: audience(to)?,
            channels: self.channels(&mut fields, kind.as_str())?,
            occurred_at: fields.instant("occurred_at")?,
            deliver_at: fields.instant("deliver_at")?,
            expires_at: fields.instant("expires_at")?,
            cancellation_key: fields.id("cancellation_key")?,
            kind,
        })))
    }

    /// A change of an object; only the given fields change. It may name itself.
    ///
    /// # Errors
    /// The first [`Fault`] of the body, or another object's name in it.
    pub fn object(self, id: Id, mut fields: Fields<'_>) -> Result<Command, Fault> {
        same_id(&id, &mut fields)?;
        fields.only(&["id", "title", "url", "image", "notifiable"])?;
        Ok(Command::Object(read_object(id, &mut fields)?))
    }

    /// A change of an object that names it itself.
    ///
    /// # Errors
    /// The first [`Fault`] of the body.
    pub fn named_object(self, mut fields: Fields<'_>) -> Result<Command, Fault> {
        self.object(fields.required_id("id")?, fields)
    }

    /// What a recipient has seen or read: exactly one of `up_to`, `object`, `event`.
    ///
    /// # Errors
    /// The first [`Fault`] of the body.
    pub fn mark(
        self,
        recipient: Id,
        kind: MarkKind,
        mut fields: Fields<'_>,
    ) -> Result<Command, Fault> {
        const WHAT: [&str; 3] = ["up_to", "object", "event"];
        fields.only(&WHAT)?;
        let what = match fields.one_of(&WHAT)? {
            "up_to" => match fields.instant("up_to")? {
                Some(instant) => Marked::UpTo(instant),
                None => return Err(fields.missing("up_to")),
            },
            "object" => Marked::Object(fields.required_id("object")?),
            _ => Marked::Event(fields.required_id("event")?),
        };
        Ok(Command::Mark {
            recipient,
            what,
            kind,
        })
    }

    /// What is taken back: exactly one of `event`, `cancellation_key`.
    ///
    /// # Errors
    /// The first [`Fault`] of the body.
    pub fn cancel(self, mut fields: Fields<'_>) -> Result<Command, Fault> {
        const WHAT: [&str; 2] = ["event", "cancellation_key"];
        fields.only(&WHAT)?;
        Ok(Command::Cancel(match fields.one_of(&WHAT)? {
            "event" => Cancelled::Event(fields.required_id("event")?),
            _ => Cancelled::Key(fields.required_id("cancellation_key")?),
        }))
    }

    /// A choice of a recipient: exactly one of `category`, `type`; `channel`; `mode`.
    ///
    /// # Errors
    /// The first [`Fault`] of the body; a mode that is no digest, or a digest on the inbox.
    pub fn preference(self, recipient: Id, mut fields: Fields<'_>) -> Result<Command, Fault> {
        fields.only(&["category", "type", "channel", "mode"])?;
        let scope = match fields.one_of(&["category", "type"])? {
            "type" => {
                let kind = fields.required_text("type")?;
                let types = &self.rules.types;
                if !types.contains_key(&*kind) {
                    let names = types.keys().map(String::as_str);
                    return Err(unknown("type", &kind, names).about(About::UnknownType));
                }
                PreferenceScope::Type(kind.into_owned())
            }
            _ => {
                let category = fields.required_text("category")?;
                if !self.rules.categories.contains_key(&*category) {
                    let names = self.rules.categories.keys().map(String::as_str);
                    return Err(unknown("category", &category, names));
                }
                PreferenceScope::Category(category.into_owned())
            }
        };
        let channel = fields.required_text("channel")?;
        let channel = known_channel(&channel)?.to_owned();
        let mode = match &*fields.required_text("mode")? {
            "never" => Mode::Never,
            "immediate" => Mode::Immediate,
            "default" => Mode::Default,
            digest if self.rules.digests.contains_key(digest) => Mode::Digest(digest.to_owned()),
            other => {
                let digests = self.rules.digests.keys().map(String::as_str);
                let modes = ["never", "immediate", "default"].into_iter().chain(digests);
                return Err(unknown("mode", other, modes).about(About::Preference));
            }
        };
        if channel == INBOX && matches!(mode, Mode::Digest(_)) {
            let hint = "write `immediate`, `never` or `default`";
            return Err(Fault::new("the inbox can't have a digest", hint).about(About::Preference));
        }
        Ok(Command::Preference {
            recipient,
            scope,
            channel,
            mode,
        })
    }

    /// Several choices of a recipient. Of a `whole` list, what is not in it goes back to the default.
    ///
    /// # Errors
    /// The first [`Fault`] of an item, with its number.
    pub fn preferences(
        self,
        recipient: Id,
        list: Vec<Json<'_>>,
        whole: bool,
    ) -> Result<Command, Fault> {
        let mut chosen = Vec::with_capacity(list.len());
        for (number, item) in (1..).zip(list) {
            let Json::Table(table) = item else {
                let reason = format!("item {number} must be an object, got {}", item.kind());
                let hint = "write `{\"type\": …, \"channel\": …, \"mode\": …}`";
                return Err(Fault::new(reason, hint));
            };
            let choice = self.preference(recipient.clone(), Fields::new(table));
            let choice = choice.map_err(|fault| Fault {
                reason: format!("item {number}: {}", fault.reason),
                ..fault
            })?;
            if let Command::Preference {
                scope,
                channel,
                mode,
                ..
            } = choice
            {
                chosen.push(Choice {
                    scope,
                    channel,
                    mode,
                });
            }
        }
        Ok(Command::Preferences {
            recipient,
            chosen,
            whole,
        })
    }

    /// Whose open lanes are due now; `channel` and `lane` narrow it.
    ///
    /// # Errors
    /// The first [`Fault`] of the body.
    pub fn flush(self, recipient: Id, mut fields: Fields<'_>) -> Result<Command, Fault> {
        fields.only(&["channel", "lane"])?;
        let channel = match fields.text("channel")? {
            Some(channel) => Some(known_channel(&channel)?.to_owned()),
            None => None,
        };
        let lane = fields.id("lane")?.map(|lane| lane.as_str().to_owned());
        Ok(Command::Flush {
            recipient,
            channel,
            lane,
        })
    }

    /// Which days are dropped: all `before` a UTC date.
    ///
    /// # Errors
    /// The first [`Fault`] of the body.
    pub fn forget(self, mut fields: Fields<'_>) -> Result<Command, Fault> {
        fields.only(&["before"])?;
        let text = fields.required_text("before")?;
        let before = Day::parse(&text).map_err(|_| {
            let reason = format!("`before` must be a date, got {}", quoted(&text));
            Fault::new(reason, "write a UTC date, such as `2024-01-31`")
        })?;
        Ok(Command::Forget { before })
    }

    /// The name of a new API key; empty if it has none.
    ///
    /// # Errors
    /// The first [`Fault`] of the body.
    pub fn key_name(self, mut fields: Fields<'_>) -> Result<String, Fault> {
        fields.only(&["name"])?;
        let name = fields.owned("name")?.unwrap_or_default();
        match fault_of_name(&name) {
            None => Ok(name),
            Some(fault) => Err(Fault::new(
                format!("`name`: {fault}"),
                "use a name such as `site`",
            )),
        }
    }

    /// The channels that an event is limited to, each once. A type that is not configured has all: the
    /// engine refuses the event, unless its id came before.
    fn channels(self, fields: &mut Fields<'_>, kind: &str) -> Result<Option<Vec<String>>, Fault> {
        let Some(list) = fields.list("channels")? else {
            return Ok(None);
        };
        let rules = self.rules.types.get(kind);
        let mut channels: Vec<String> = Vec::new();
        for item in list {
            let Json::Text(name) = item else {
                return Err(fields.wrong("channels", "an array of strings", &item));
            };
            if let Some(rules) = rules
                && !rules.channels.contains_key(&*name)
            {
                let names = rules.channels.keys().map(String::as_str);
                let hint = did_you_mean(&name, names).unwrap_or_default();
                let reason = format!("the type {} has no channel {}", quoted(kind), quoted(&name));
                return Err(Fault::new(reason, hint).about(About::UnknownChannel));
            }
            if channels.iter().all(|channel| *channel != name) {
                channels.push(name.into_owned());
            }
        }
        if channels.is_empty() {
            return Err(Fault::new(
                "`channels` is empty",
                "leave it out for all channels of the type",
            ));
        }
        Ok(Some(channels))
    }
}

/// Refuses a body that names itself, and not as it was named already.
fn same_id(id: &Id, fields: &mut Fields<'_>) -> Result<(), Fault> {
    match fields.id("id")? {
        Some(other) if other != *id => {
            let (body, path) = (quoted(other.as_str()), quoted(id.as_str()));
            let reason = format!("`id` must be {path}, as in the path, got {body}");
            Err(Fault::new(reason, "leave `id` out"))
        }
        _ => Ok(()),
    }
}

/// Refuses a given text that is not what it should be.
fn check(
    change: Option<&Option<Cow<'_, str>>>,
    good: impl FnOnce(&str) -> bool,
    fault: impl FnOnce(&str) -> Fault,
) -> Result<(), Fault> {
    match change {
        Some(Some(text)) if !good(text) => Err(fault(text)),
        _ => Ok(()),
    }
}

/// The fault of a word that the configuration does not have.
pub(crate) fn unknown<'n>(
    what: &str,
    word: &str,
    names: impl IntoIterator<Item = &'n str> + Clone,
) -> Fault {
    let hint = did_you_mean(word, names);
    let hint = hint.unwrap_or_else(|| format!("the configuration has no {what}"));
    Fault::new(format!("unknown {what} {}", quoted(word)), hint)
}

fn known_channel(name: &str) -> Result<&'static str, Fault> {
    let known = CHANNELS.into_iter().find(|channel| *channel == name);
    known.ok_or_else(|| unknown("channel", name, CHANNELS).about(About::UnknownChannel))
}

fn state(fields: &mut Fields<'_>) -> Result<Option<State>, Fault> {
    let hint = "write `active`, `unconfirmed` or `disabled`";
    match fields.change("state")? {
        None => Ok(None),
        Some(None) => Err(Fault::new("`state` can't be null", hint)),
        Some(Some(word)) => match &*word {
            "active" => Ok(Some(State::Active)),
            "unconfirmed" => Ok(Some(State::Unconfirmed)),
            "disabled" => Ok(Some(State::Disabled)),
            other => Err(Fault::new(format!("unknown state {}", quoted(other)), hint)),
        },
    }
}

/// An actor or a target: an id, or an object as an event's object is one.
fn role(fields: &mut Fields<'_>, key: &'static str) -> Result<Option<Object>, Fault> {
    match fields.id_or_object(key)? {
        None => Ok(None),
        Some(IdOrObject::Id(id)) => Ok(Some(Object::bare(id))),
        Some(IdOrObject::Object(object)) => event_object(object).map(Some),
    }
}

/// An object within an event.
fn event_object(mut fields: Fields<'_>) -> Result<Object, Fault> {
    fields.only(&["id", "title", "url", "image"])?;
    read_object(fields.required_id("id")?, &mut fields)
}

fn read_object(id: Id, fields: &mut Fields<'_>) -> Result<Object, Fault> {
    let title = fields.owned("title")?;
    if let Some(title) = &title {
        within(&fields.name("title"), title, TITLE_BYTES_MAX)?;
    }
    Ok(Object {
        id,
        title,
        url: fields.address("url")?,
        image: fields.address("image")?,
        notifiable: fields.flag("notifiable")?,
    })
}

fn audience(mut to: Fields<'_>) -> Result<Audience, Fault> {
    to.only(&["recipients", "topics", "near", "everyone"])?;
    let circle = |mut near: Fields<'_>| {
        near.only(&["lat", "lon", "km"])?;
        Ok(Near {
            lat: near.required_number("lat", LATITUDES)?,
            lon: near.required_number("lon", LONGITUDES)?,
            km: near.required_number("km", (0.0, NEAR_KM_MAX))?,
        })
    };
    let near = to.one_or_many("near", "to.near")?;
    let near = near.into_iter().map(circle).collect::<Result<_, Fault>>()?;
    Ok(Audience {
        recipients: to.ids("recipients")?,
        topics: to.ids("topics")?,
        near,
        everyone: to.flag("everyone")?.unwrap_or(false),
    })
}
