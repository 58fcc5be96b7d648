//! Bodies of other products as bodies of ours, for hosts that move in: the result goes through the same types as what
//! our own callers send, which judge it.
//!
//! Fields that can't be mapped are refused by name. Nothing that would change the notified recipients is left out
//! silently.

pub mod knock;
pub mod novu;
pub mod preferences;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use tidings_config::wording::{did_you_mean, quoted};
use tidings_core::Id;

use crate::body::Fault;
use crate::body::json::{Json, JsonObject};

/// Takes a field; null is the same as nothing.
fn take<'a>(table: &mut JsonObject<'a>, name: &str) -> Option<Json<'a>> {
    let at = table.iter().position(|(key, _)| key == name)?;
    Some(table.remove(at).1).filter(|value| *value != Json::Null)
}

/// Takes a text.
fn take_text<'a>(table: &mut JsonObject<'a>, name: &str) -> Result<Option<Cow<'a, str>>, Fault> {
    match take(table, name) {
        None => Ok(None),
        Some(Json::Text(text)) => Ok(Some(text)),
        Some(other) => Err(wrong_kind(name, "a string", &other)),
    }
}

/// Takes an object.
fn take_table<'a>(table: &mut JsonObject<'a>, name: &str) -> Result<Option<JsonObject<'a>>, Fault> {
    match take(table, name) {
        None => Ok(None),
        Some(Json::Table(fields)) => Ok(Some(fields)),
        Some(other) => Err(wrong_kind(name, "an object", &other)),
    }
}

fn wrong_kind(name: &str, wanted: &str, got: &Json<'_>) -> Fault {
    Fault::new(format!("`{name}` must be {wanted}, got {}", got.kind()), "see docs/moving.md")
}

fn missing(name: &str) -> Fault {
    Fault::new(format!("`{name}` is missing"), format!("add `{name}`"))
}

/// Refuses fields that nothing here corresponds to, if they say something.
fn refuse(table: &mut JsonObject<'_>, refused: &[(&str, &'static str)]) -> Result<(), Fault> {
    for (name, hint) in refused {
        let said = take(table, name).filter(|value| !is_nothing(value));
        if said.is_some() {
            return Err(Fault::new(format!("`{name}` can't be mapped"), *hint));
        }
    }
    Ok(())
}

/// Refuses what is left of a body.
fn nothing_else(table: &JsonObject<'_>, known: &[&str]) -> Result<(), Fault> {
    let Some((name, _)) = table.first() else {
        return Ok(());
    };
    let near = did_you_mean(name, known.iter().copied());
    let hint = near.unwrap_or_else(|| "remove it; docs/moving.md says what is taken".to_owned());
    Err(Fault::new(format!("unknown field {}", quoted(name)), hint))
}

/// Takes the tenant of a trigger: its id, or an object in which `id` names it.
fn take_tenant<'a>(
    table: &mut JsonObject<'a>,
    name: &str,
    id: &str,
) -> Result<Option<Cow<'a, str>>, Fault> {
    match take(table, name) {
        None => Ok(None),
        Some(Json::Text(tenant)) => Ok(Some(tenant)),
        Some(Json::Table(mut fields)) => {
            let tenant = take_text(&mut fields, id)?;
            let tenant = tenant.ok_or_else(|| missing(&format!("{name}.{id}")))?;
            fields.retain(|(_, value)| !is_nothing(value));
            match fields.first() {
                Some((field, _)) => {
                    Err(Fault::new(format!("`{name}.{field}` can't be mapped"), TENANT))
                }
                None => Ok(Some(tenant)),
            }
        }
        Some(other) => Err(wrong_kind(name, "a string or an object", &other)),
    }
}

const TENANT: &str = "send the id alone; the rest of a tenant is set with `PUT /v1/tenants/{id}`";

/// Returns true for an empty value.
fn is_nothing(value: &Json<'_>) -> bool {
    match value {
        Json::Null => true,
        Json::Table(fields) => fields.is_empty(),
        Json::List(items) => items.is_empty(),
        _ => false,
    }
}

fn text<'a>(text: impl Into<Cow<'a, str>>) -> Json<'a> {
    Json::Text(text.into())
}

fn field<'a>(name: &'static str, value: Json<'a>) -> (Cow<'a, str>, Json<'a>) {
    (Cow::Borrowed(name), value)
}

/// The parts of a trigger that both products have.
struct CompatTrigger<'a> {
    event_type: Cow<'a, str>,
    id: &'a Id,
    actor: Option<Json<'a>>,
    data: Option<JsonObject<'a>>,
    recipients: Vec<Json<'a>>,
    topics: Vec<Json<'a>>,
    cancellation_key: Option<Cow<'a, str>>,
    tenant: Option<Cow<'a, str>>,
}

impl<'a> CompatTrigger<'a> {
    /// The fields of a publish.
    fn publish(self) -> JsonObject<'a> {
        let of_data = |name: &str| {
            let data = self.data.iter().flatten();
            data.filter(|(key, _)| key == name).find_map(|(_, value)| object(value))
        };
        // An object of its own: equal objects of a type are shown once.
        let own = || Json::Table(vec![field("id", text(self.id.as_str()))]);
        let object = of_data("object").unwrap_or_else(own);
        let target = of_data("target");
        let to = vec![
            field("recipients", Json::List(self.recipients)),
            field("topics", Json::List(self.topics)),
        ];
        let mut fields = vec![
            field("id", text(self.id.as_str())),
            field("type", text(self.event_type)),
            field("object", object),
            field("to", Json::Table(to)),
        ];
        fields.extend(target.map(|target| field("target", target)));
        fields.extend(self.actor.map(|actor| field("actor", actor)));
        fields.extend(self.cancellation_key.map(|key| field("cancellation_key", text(key))));
        fields.extend(self.tenant.map(|tenant| field("tenant", text(tenant))));
        fields.extend(self.data.map(|data| field("data", Json::Table(data))));
        fields
    }
}

/// An object that `data` names, by its id or with fields; `None` = it is something else.
fn object<'a>(value: &Json<'a>) -> Option<Json<'a>> {
    let fields = match value {
        Json::Text(id) => return Some(Json::Table(vec![field("id", text(id.clone()))])),
        Json::Table(fields) => fields,
        _ => return None,
    };
    let of = |name: &str| match fields.iter().find(|(key, _)| key == name) {
        Some((_, Json::Text(text))) => Some(Json::Text(text.clone())),
        _ => None,
    };
    let mut object = vec![field("id", of("id")?)];
    object.extend(of("title").or(of("name")).map(|title| field("title", title)));
    object.extend(of("url").map(|url| field("url", url)));
    object.extend(of("image").map(|image| field("image", image)));
    Some(Json::Table(object))
}

/// The actor of a person's fields.
fn actor<'a>(
    id: Cow<'a, str>,
    name: Option<Cow<'a, str>>,
    image: Option<Cow<'a, str>>,
) -> Json<'a> {
    let mut fields = vec![field("id", text(id))];
    fields.extend(name.map(|name| field("title", text(name))));
    fields.extend(image.map(|image| field("image", text(image))));
    Json::Table(fields)
}

/// Puts an address of the channel `sms`; an empty one is none.
fn put_phone<'a>(profile: &mut JsonObject<'a>, phone: Option<Cow<'a, str>>) {
    if let Some(phone) = phone.filter(|phone| !phone.is_empty()) {
        let addresses = Json::Table(vec![field("sms", text(phone))]);
        profile.push(field("addresses", addresses));
    }
}

/// Puts a text; an empty one is none.
fn put_text<'a>(profile: &mut JsonObject<'a>, name: &'static str, value: Option<Cow<'a, str>>) {
    if let Some(value) = value.filter(|value| !value.is_empty()) {
        profile.push(field(name, text(value)));
    }
}
