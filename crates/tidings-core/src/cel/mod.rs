//! Expressions of a configuration: the part of CEL that keys and conditions need.
//!
//! An expression comes from a configuration and is asked of data that anybody may publish, in the core. So it is
//! compiled once, and an evaluation is total: it ends after a bounded number of steps, never panics, and a
//! failure is a value. The crates that there are for CEL promise none of this (decision 037). Left out are bytes,
//! messages, and regular expressions.

mod apart;
mod call;
mod eval;
mod fault;
mod kinds;
mod lex;
mod names;
mod parse;
mod steps;
mod value;

use crate::model::batch_key::{BatchKey, BatchKeyTooLong};
use crate::model::data::Data;
use crate::model::event::host_text::HostText;
use crate::model::event::{Audience, Event, Object};
use crate::model::id::Id;
use crate::model::recipient::Recipient;
use crate::model::tenant::Tenant;
use crate::model::time::Instant;
pub use fault::{CelFault, EvaluationFailure};
use kinds::KindInference;
pub use names::{DEPTH_MAX, EXPRESSION_BYTES_MAX, OF_CONDITION, OF_EVENT, Root, ValueKind};
use parse::Parser;
pub use steps::STEPS_MAX;
pub use value::Value;

/// A compiled expression.
///
/// # Examples
/// ```
/// use tidings_core::Event;
/// use tidings_core::cel::{OF_EVENT, Program};
/// use tidings_core::model::BatchKey;
///
/// let event: Event = serde_json::from_str(
///     r#"{"id": "e1", "type": "comment", "object": {"id": "c7"}, "target": {"id": "doc/7"}, "to": {}}"#,
/// )?;
/// let program = Program::compile("event.target.id", OF_EVENT).unwrap();
/// assert_eq!(program.key(&event), BatchKey::new("doc/7"));
/// // What can't be asked is the empty key.
/// let program = Program::compile("event.data.room", OF_EVENT).unwrap();
/// assert_eq!(program.key(&event), Ok(BatchKey::EMPTY));
/// let fault = Program::compile("event.traget.id", OF_EVENT).unwrap_err();
/// assert_eq!(fault.offset, 6);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    text: String,
    expression: parse::Expression,
    names_read: Vec<&'static str>,
}

impl Program {
    /// Compiles an expression that may use these names.
    ///
    /// # Errors
    /// [`CelFault`]: the first one, with its place.
    pub fn compile(text: &str, names: &'static [Root]) -> Result<Self, CelFault> {
        let (expression, names_read) = Parser::parse(text, names)?;
        Ok(Self { text: text.to_owned(), expression, names_read })
    }

    /// Compiles an expression, and refuses one with a part that would always fail; `wanted` = the kind of value that
    /// it must have.
    ///
    /// # Errors
    /// [`CelFault`]: the first one, with its place.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::cel::{OF_CONDITION, Program, ValueKind};
    ///
    /// let check = |text| Program::checked(text, OF_CONDITION, Some(ValueKind::Bool));
    /// assert!(check("event.data.amount > 100 && now - event.t < duration('1h')").is_ok());
    /// assert_eq!(check("event.t < 'noon'").unwrap_err().offset, 8);
    /// assert_eq!(check("recipient.id").unwrap_err().offset, 10);
    /// ```
    pub fn checked(
        text: &str,
        names: &'static [Root],
        wanted: Option<ValueKind>,
    ) -> Result<Self, CelFault> {
        let program = Self::compile(text, names)?;
        let kind = KindInference::of(&program.expression, names)?;
        kinds::check(&program.expression, kind, wanted)?;
        Ok(program)
    }

    /// Returns true if the expression asks for a name from outside.
    #[must_use]
    pub fn reads(&self, name: &str) -> bool {
        self.names_read.contains(&name)
    }

    /// The answer of a condition.
    ///
    /// # Errors
    /// [`EvaluationFailure`], also where the value is no bool.
    pub fn holds<'a>(&'a self, names: &[(&'a str, Value<'a>)]) -> Result<bool, EvaluationFailure> {
        match self.value(names)? {
            Value::Bool(holds) => Ok(holds),
            _ => Err(EvaluationFailure::new("the condition is neither true nor false")),
        }
    }

    /// The expression as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Evaluates the expression; each name comes with its value.
    ///
    /// # Errors
    /// [`EvaluationFailure`].
    pub fn value<'a>(
        &'a self,
        names: &[(&'a str, Value<'a>)],
    ) -> Result<Value<'a>, EvaluationFailure> {
        eval::evaluate(&self.expression, names)
    }

    /// The batch key of an event: a text, a number or a bool as text; empty for anything else.
    ///
    /// # Errors
    /// [`BatchKeyTooLong`].
    pub fn key(&self, event: &Event) -> Result<BatchKey, BatchKeyTooLong> {
        let value = self.value(&[("event", of_event(event))]);
        let text = value.ok().and_then(|value| value.as_text());
        text.map_or(Ok(BatchKey::EMPTY), |text| BatchKey::new(&text))
    }
}

/// An event as an expression sees it: all that was published. What was not given is absent, but `data` is empty.
#[must_use]
pub(crate) fn of_event(event: &Event) -> Value<'_> {
    Value::of_fields(fields_of(event))
}

/// An event as a condition sees it: with the instant at which it entered its lanes.
#[must_use]
pub fn of_entered(event: &Event, t: Instant) -> Value<'_> {
    let fields = fields_of(event).into_iter();
    Value::of_fields(fields.chain([("t", Value::Timestamp(t))]))
}

fn fields_of(event: &Event) -> Vec<(&str, Value<'_>)> {
    let mut fields = vec![
        ("id", Value::of_text(event.id.as_str())),
        ("type", Value::of_text(event.event_type.as_str())),
        ("object", of_object(&event.object)),
        ("data", event.data.as_ref().map_or_else(Value::empty, Value::Object)),
        ("score", Value::Double(event.score.number())),
        ("to", of_audience(&event.to)),
    ];
    let roles = [("actor", &event.actor), ("target", &event.target)];
    fields.extend(
        roles.into_iter().filter_map(|(name, role)| Some((name, of_object(role.as_ref()?)))),
    );
    let instants = [
        ("occurred_at", event.occurred_at),
        ("deliver_at", event.deliver_at),
        ("expires_at", event.expires_at),
    ];
    let instants = instants.into_iter();
    fields.extend(
        instants.filter_map(|(name, at)| Some((name, Value::Text(at?.to_string().into())))),
    );
    let delay = event.delay_ms.map(|ms| format!("{ms}ms"));
    let local = event.deliver_local.map(|time| time.to_string());
    let times = [("delay", delay), ("deliver_local", local)];
    fields.extend(
        times.into_iter().filter_map(|(name, text)| Some((name, Value::Text(text?.into())))),
    );
    if let Some(body) = &event.body {
        fields.push(("body", Value::of_text(body.first())));
    }
    if let Some(channels) = &event.channels {
        let channels = channels.iter().map(|channel| Value::of_text(channel));
        fields.push(("channels", Value::of_list(channels)));
    }
    if let Some(tenant) = &event.tenant {
        fields.push(("tenant", Value::of_text(tenant.as_str())));
    }
    if let Some(key) = &event.cancellation_key {
        fields.push(("cancellation_key", Value::of_text(key.as_str())));
    }
    fields
}

/// A recipient as a condition sees them, with the zone and the locale that hold for an entry. `data` that was not given
/// is empty.
#[must_use]
pub fn of_recipient<'a>(recipient: &'a Recipient, tz: &'a str, locale: &'a str) -> Value<'a> {
    Value::of_fields([
        ("id", Value::of_text(recipient.id.as_str())),
        ("tz", Value::of_text(tz)),
        ("locale", Value::of_text(locale)),
        ("data", of_data(recipient.data.as_ref())),
    ])
}

/// A tenant as a condition sees it. A name that was not given is absent, but `data` is empty.
#[must_use]
pub fn of_tenant<'a>(id: &'a Id, tenant: &'a Tenant) -> Value<'a> {
    let name = tenant.name.iter().map(|name| ("name", Value::of_text(name)));
    let always = [("id", Value::of_text(id.as_str())), ("data", of_data(tenant.data.as_ref()))];
    Value::of_fields(name.chain(always))
}

/// An object as an expression sees it. What was not given is absent, but `data` is empty.
#[must_use]
pub fn of_object(object: &Object) -> Value<'_> {
    let fields = [
        ("id", Some(object.id.as_str())),
        ("title", object.title.as_ref().map(HostText::first)),
        ("url", object.url.as_deref()),
        ("image", object.image.as_deref()),
    ];
    let given = fields.into_iter().filter_map(|(name, text)| Some((name, Value::of_text(text?))));
    Value::of_fields(given.chain([("data", of_data(object.data.as_ref()))]))
}

/// Data of the host; where there is none, an object with nothing in it.
fn of_data(data: Option<&Data>) -> Value<'_> {
    data.map_or_else(Value::empty, |data| Value::Object(data.fields()))
}

/// A list of ids; `None` where there are none.
fn of_ids<'e>(ids: impl ExactSizeIterator<Item = &'e Id>) -> Option<Value<'e>> {
    (ids.len() > 0).then(|| Value::of_list(ids.map(|id| Value::of_text(id.as_str()))))
}

fn of_audience(to: &Audience) -> Value<'_> {
    let mut fields = Vec::new();
    let lists = [
        ("recipients", of_ids(to.recipients.iter())),
        ("topics", of_ids(to.topics.iter())),
        ("except", of_ids(to.except.iter())),
    ];
    fields.extend(lists.into_iter().filter_map(|(name, ids)| Some((name, ids?))));
    if !to.near.is_empty() {
        let circles = to.near.iter().map(|near| {
            let fields = [("lat", near.lat), ("lon", near.lon), ("km", near.km)];
            Value::of_fields(fields.map(|(name, number)| (name, Value::Double(number))))
        });
        fields.push(("near", Value::of_list(circles)));
    }
    if to.everyone {
        fields.push(("everyone", Value::Bool(true)));
    }
    Value::of_fields(fields)
}

#[cfg(test)]
mod tests;
