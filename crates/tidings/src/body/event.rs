//! The body of a publish: an event and its audience.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tidings_core::rules::schema::DataFault;
use tidings_core::time::WallTime;
use tidings_core::{
    Audience, Command, Event, HostText, Id, Instant, Near, Object, Rules, Score, Trace,
};
use utoipa::openapi::{Array, OneOf, Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::fault::{About, Fault, HELP};
use super::host_text::{self, TextBody};
use super::not_one;
use super::object::EventObject;
use super::recipient::ProfileChange;
use super::text::{FromText as _, Kilometres, Latitude, Longitude, Text, Topic, Wait};
use crate::wording::{did_you_mean, quoted};

/// An event: something that happened.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Event, example = json!({"type": "artwork_published", "actor": "ben", "object": {"id": "works/1", "title": "Water Lilies", "url": "https://example.org/works/1"}, "to": {"topics": ["artist/42"]}}))]
pub(crate) struct EventBody {
    /// Id of the event: the same id is the same event. The server makes one if it is absent.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    pub(crate) id: Option<Text<Id>>,
    /// A type of the configuration.
    #[schema(value_type = String, min_length = 1, max_length = 256)]
    pub(crate) r#type: Text<Id>,
    /// The actor: who did it.
    pub(crate) actor: Option<IdOrObject>,
    /// The object: what it was done to.
    pub(crate) object: EventObject,
    /// The target: what it was done in or for.
    pub(crate) target: Option<IdOrObject>,
    /// Anything else, returned with the inbox item.
    pub(crate) data: Option<Map<String, Value>>,
    /// Text that a person wrote, such as a comment: plain, at most 2 KiB, or an object with a text for each locale.
    /// Messages and inboxes show it.
    #[serde(default, deserialize_with = "host_text::body")]
    #[schema(value_type = Option<TextBody>)]
    pub(crate) body: Option<HostText>,
    /// The rank among the events of a message: the highest is shown first; 0 if it is absent.
    pub(crate) score: Option<f64>,
    /// The audience.
    pub(crate) to: AudienceBody,
    /// Restricts the type's channels; `["inbox"]` imports a history without sending mail.
    #[schema(min_items = 1)]
    pub(crate) channels: Option<Vec<String>>,
    /// Time that is shown to people. It has no effect on delivery.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub(crate) occurred_at: Option<Text<Instant>>,
    /// Time before which nothing is delivered; one of `deliver_at`, `delay` and `deliver_local` at most.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub(crate) deliver_at: Option<Text<Instant>>,
    /// Duration after its arrival before which nothing is delivered, such as `90s`, `36h` or `PT4M`.
    #[schema(value_type = Option<String>)]
    pub(crate) delay: Option<Text<Wait>>,
    /// Time on each recipient's wall clock before which nothing is delivered, such as `2024-05-01T09:00`. Where it is
    /// past, the event is delivered at its arrival.
    #[schema(value_type = Option<String>)]
    pub(crate) deliver_local: Option<Text<WallTime>>,
    /// Time from which on nothing is delivered.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub(crate) expires_at: Option<Text<Instant>>,
    /// The tenant of the event and of all its notifications.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    pub(crate) tenant: Option<Text<Id>>,
    /// A key to cancel several events at once.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    pub(crate) cancellation_key: Option<Text<Id>>,
    /// The W3C `traceparent` of what made the event: the spans of its messages link to it. By default that of the
    /// request.
    #[schema(value_type = Option<String>, example = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")]
    pub(crate) trace: Option<Text<Trace>>,
}

impl EventBody {
    /// The command that publishes the event. `or_id` gives the id of an event that has none of its own.
    ///
    /// # Errors
    /// A channel that the type does not have, `data` that does not fit its schema, two schedules, or a profile of a recipient that is not possible.
    pub(crate) fn command(
        self,
        rules: &Rules,
        or_id: impl FnOnce() -> Id,
    ) -> Result<Command, Fault> {
        let event = self.event(rules, or_id)?;
        Ok(Command::Publish(Box::new(event)))
    }

    /// The event; errors as of [`EventBody::command`].
    pub(super) fn event(self, rules: &Rules, or_id: impl FnOnce() -> Id) -> Result<Event, Fault> {
        let schedules = [
            ("deliver_at", self.deliver_at.is_some()),
            ("delay", self.delay.is_some()),
            ("deliver_local", self.deliver_local.is_some()),
        ];
        if schedules.iter().filter(|(_, is_given)| *is_given).count() > 1 {
            let hint = "give one of them".to_owned();
            return Err(Fault { hint, ..not_one(&schedules) });
        }
        let event_type = self.r#type.0;
        let channels =
            self.channels.map(|channels| channels_of(channels, rules, event_type.as_str()));
        let data = held_to_schema(self.data, rules, &event_type)?;
        Ok(Event {
            id: self.id.map_or_else(or_id, Text::inner),
            event_type,
            actor: self.actor.map(Object::from),
            object: self.object.into(),
            target: self.target.map(Object::from),
            data,
            body: self.body,
            // A number of JSON is finite.
            score: self.score.and_then(Score::new).unwrap_or_default(),
            to: self.to.audience()?,
            channels: channels.transpose()?,
            occurred_at: self.occurred_at.map(Text::inner),
            deliver_at: self.deliver_at.map(Text::inner),
            delay_ms: self.delay.map(|Text(Wait(ms))| ms),
            deliver_local: self.deliver_local.map(Text::inner),
            expires_at: self.expires_at.map(Text::inner),
            tenant: self.tenant.map(Text::inner),
            cancellation_key: self.cancellation_key.map(Text::inner),
            trace: self.trace.map(Text::inner),
        })
    }
}

/// A JSON pointer as callers write the place: `/data/lines/1/price` is `data.lines[1].price`.
fn path_of(pointer: &str) -> String {
    let mut path = String::new();
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        let is_number = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
        if path.is_empty() {
            path = token;
        } else if is_number {
            path += &format!("[{token}]");
        } else {
            path += &format!(".{token}");
        }
    }
    path
}

/// The `data` of an event, held to the schema of its type; where there is none to `{}`.
fn held_to_schema(
    data: Option<Map<String, Value>>,
    rules: &Rules,
    event_type: &Id,
) -> Result<Option<Map<String, Value>>, Fault> {
    let of_type = rules.types.get(event_type.as_str());
    let Some(schema) = of_type.and_then(|rules| rules.schema.as_ref()) else {
        return Ok(data);
    };
    let is_given = data.is_some();
    let data = Value::Object(data.unwrap_or_default());
    if let Some(DataFault { pointer, reason, hint }) = schema.fault(&data) {
        let pointer = format!("/data{pointer}");
        let fault = Fault::new(format!("{} {reason}", quoted(&path_of(&pointer))), hint);
        return Err(Fault { pointer: Some(pointer), ..fault.about(About::Data) });
    }
    Ok(match data {
        Value::Object(fields) if is_given => Some(fields),
        _ => None,
    })
}

/// The channels that an event is limited to, each once. A type that is not configured has all: the
/// engine refuses the event, unless its id came before.
fn channels_of(given: Vec<String>, rules: &Rules, event_type: &str) -> Result<Vec<String>, Fault> {
    if given.is_empty() {
        let hint = "leave it out for all channels of the type";
        return Err(Fault::new("`channels` is empty", hint));
    }
    let rules = rules.types.get(event_type);
    let mut channels: Vec<String> = Vec::new();
    for name in given {
        if let Some(rules) = rules
            && !rules.channels.contains_key(&name)
        {
            let names = rules.channels.keys().map(String::as_str);
            let hint = did_you_mean(&name, names).unwrap_or_default();
            let reason =
                format!("the type {} has no channel {}", quoted(event_type), quoted(&name));
            return Err(Fault::new(reason, hint).about(About::UnknownChannel));
        }
        if !channels.contains(&name) {
            channels.push(name);
        }
    }
    Ok(channels)
}

/// An id, or an object with an id and more fields.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(example = json!({"id": "ben", "title": "Ben"}))]
pub(crate) enum IdOrObject {
    Id(BareId),
    Object(EventObject),
}

/// An id alone.
#[derive(Serialize, ToSchema)]
#[schema(value_type = String, min_length = 1, max_length = 256)]
pub(crate) struct BareId(pub(crate) Id);

impl From<IdOrObject> for Object {
    fn from(named: IdOrObject) -> Self {
        match named {
            IdOrObject::Id(BareId(id)) => Self::bare(id),
            IdOrObject::Object(object) => object.into(),
        }
    }
}

impl<'de> Deserialize<'de> for IdOrObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "an id or an object\n  = help: Example: \"ada\" or {\"id\": \"ada\", \"title\": \"Ada\"}";
        Ok(match id_or(deserializer, expected)? {
            IdOr::Id(id) => Self::Id(BareId(id)),
            IdOr::Object(object) => Self::Object(object),
        })
    }
}

/// An id, or an object in its place.
pub(super) enum IdOr<T> {
    Id(Id),
    Object(T),
}

/// Reads an id, or an object in its place. `expected` is said of anything else.
pub(super) fn id_or<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
    expected: &'static str,
) -> Result<IdOr<T>, D::Error> {
    struct Either<T> {
        expected: &'static str,
        object: PhantomData<T>,
    }

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
        type Value = IdOr<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.expected)
        }

        fn visit_str<E: serde::de::Error>(self, id: &str) -> Result<IdOr<T>, E> {
            Id::from_text(id).map_err(E::custom).map(IdOr::Id)
        }

        fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<IdOr<T>, A::Error> {
            T::deserialize(MapAccessDeserializer::new(fields)).map(IdOr::Object)
        }
    }

    let object = PhantomData;
    deserializer.deserialize_any(Either { expected, object })
}

/// The audience of an event: all of these together, without the actor and those in `except`.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object\n  = help: Example: {\"recipients\": [\"ada\"]}"
)]
#[schema(as = Audience)]
pub(crate) struct AudienceBody {
    /// Recipients, by their ids. An object in place of an id makes the recipient, or changes the given fields of the
    /// profile, before the audience is asked for.
    pub(crate) recipients: Option<Vec<IdOrProfile>>,
    /// Recipients who follow one of these topics, or a parent of it.
    #[schema(value_type = Option<Vec<String>>)]
    pub(crate) topics: Option<Vec<Text<Topic>>>,
    /// Recipients within a circle, or within one of several: up to 50, see `[limits]`.
    pub(crate) near: Option<Circles>,
    /// All recipients.
    pub(crate) everyone: Option<bool>,
    /// Recipients who are left out, by their ids, whatever their reasons: up to 10,000, see `[limits]`. Unknown ones
    /// don't matter.
    #[schema(value_type = Option<Vec<String>>)]
    pub(crate) except: Option<Vec<Text<Id>>>,
}

impl AudienceBody {
    /// The audience.
    ///
    /// # Errors
    /// The profile of a recipient that is not possible.
    fn audience(self) -> Result<Audience, Fault> {
        let (mut recipients, mut profiles) = (Vec::new(), Vec::new());
        for (at, named) in self.recipients.into_iter().flatten().enumerate() {
            match named {
                IdOrProfile::Id(BareId(id)) => recipients.push(id),
                IdOrProfile::Profile(profile) => {
                    let change = profile.of(None).map_err(|fault| Fault {
                        reason: format!("`to.recipients[{at}]`: {}", fault.reason),
                        ..fault
                    })?;
                    recipients.push(change.id.clone());
                    profiles.push(change);
                }
            }
        }
        let topics = self.topics.into_iter().flatten().map(|Text(Topic(topic))| topic);
        let circles = self.near.map_or_else(Vec::new, |circles| circles.0);
        Ok(Audience {
            recipients,
            profiles,
            topics: topics.collect(),
            near: circles.into_iter().map(Near::from).collect(),
            everyone: self.everyone.unwrap_or(false),
            except: self.except.into_iter().flatten().map(|Text(id)| id).collect(),
        })
    }
}

/// A recipient whom an event names: the id, or the id with fields of the profile.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum IdOrProfile {
    Id(BareId),
    // No event that is written has one.
    #[serde(skip_serializing)]
    Profile(Box<ProfileChange>),
}

impl<'de> Deserialize<'de> for IdOrProfile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "an id or an object\n  = help: Example: \"ada\" or {\"id\": \"ada\", \"email\": \"ada@example.org\"}";
        Ok(match id_or(deserializer, expected)? {
            IdOr::Id(id) => Self::Id(BareId(id)),
            IdOr::Object(profile) => Self::Profile(Box::new(profile)),
        })
    }
}

/// A circle on the map.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object\n  = help: Example: {\"lat\": 48.86, \"lon\": 2.35, \"km\": 10}"
)]
#[schema(as = Near)]
pub(crate) struct Circle {
    /// Degrees north.
    #[schema(value_type = f64, minimum = -90, maximum = 90)]
    lat: Latitude,
    /// Degrees east.
    #[schema(value_type = f64, minimum = -180, maximum = 180)]
    lon: Longitude,
    /// Radius in kilometres.
    #[schema(value_type = f64, minimum = 0, maximum = 20038)]
    km: Kilometres,
}

impl From<Circle> for Near {
    fn from(circle: Circle) -> Self {
        Self { lat: circle.lat.0, lon: circle.lon.0, km: circle.km.0 }
    }
}

/// One circle, or several of which one is enough.
#[derive(Serialize)]
pub(crate) struct Circles(Vec<Circle>);

impl<'de> Deserialize<'de> for Circles {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;

        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Circles;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let example = r#"{"lat": 48.86, "lon": 2.35, "km": 10}"#;
                write!(f, "an object, or a list of objects{HELP}Example: {example}")
            }

            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Circles, A::Error> {
                let circle = Circle::deserialize(MapAccessDeserializer::new(fields))?;
                Ok(Circles(vec![circle]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Circles, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(items)).map(Circles)
            }
        }

        deserializer.deserialize_any(OneOrMany)
    }
}

impl PartialSchema for IdOrProfile {
    fn schema() -> RefOr<Schema> {
        let profile = Ref::from_schema_name(ProfileChange::name());
        OneOf::builder().item(BareId::schema()).item(profile).into()
    }
}

impl ToSchema for IdOrProfile {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((ProfileChange::name().into_owned(), ProfileChange::schema()));
        ProfileChange::schemas(schemas);
    }
}

impl PartialSchema for Circles {
    fn schema() -> RefOr<Schema> {
        let circle = Ref::from_schema_name(Circle::name());
        let many = Array::builder().items(circle.clone());
        OneOf::builder().item(circle).item(many).into()
    }
}

impl ToSchema for Circles {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((Circle::name().into_owned(), Circle::schema()));
    }
}
