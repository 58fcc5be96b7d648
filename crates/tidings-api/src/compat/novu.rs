//! Novu: its trigger, and its subscribers.

use std::borrow::Cow;

use tidings_core::Id;

use super::{
    CompatTrigger, actor, field, is_nothing, missing, nothing_else, put_phone, put_text, refuse,
    take, take_table, take_tenant, take_text, text, wrong_kind,
};
use crate::body::Fault;
use crate::body::json::{Json, JsonObject};
use crate::body::text::FromText as _;

const FIELDS: [&str; 8] =
    ["name", "to", "payload", "transactionId", "actor", "tenant", "overrides", "context"];

const OVERRIDES: &str = "leave it out: looks and senders stand in the configuration, and `payload` is there in templates";
const CHANNELS: &str =
    "leave it out: addresses of other channels are set with `PUT /v1/recipients/{id}`";

/// The id of the transaction that a trigger names.
///
/// # Errors
/// It is none.
pub fn transaction(body: &mut JsonObject<'_>) -> Result<Option<Id>, Fault> {
    let Some(id) = take_text(body, "transactionId")? else {
        return Ok(None);
    };
    let id = Id::from_text(&id);
    id.map(Some).map_err(|fault| Fault::new(format!("`transactionId` {fault}"), "send another"))
}

/// The fields of a publish that a trigger stands for; the event gets this id.
///
/// # Errors
/// The fields that can't be mapped.
pub fn trigger<'a>(id: &'a Id, mut body: JsonObject<'a>) -> Result<JsonObject<'a>, Fault> {
    refuse(&mut body, &[("overrides", OVERRIDES)])?;
    let tenant = tenant(&mut body)?;
    let event_type = take_text(&mut body, "name")?.ok_or_else(|| missing("name"))?;
    let all = match take(&mut body, "to") {
        Some(Json::List(all)) => all,
        Some(one @ (Json::Text(_) | Json::Table(_))) => vec![one],
        Some(other) => return Err(wrong_kind("to", "a string, an object or an array", &other)),
        None => return Err(missing("to")),
    };
    let (mut recipients, mut topics) = (Vec::new(), Vec::new());
    for (at, one) in all.into_iter().enumerate() {
        let within =
            |fault: Fault| Fault { reason: format!("`to[{at}]`: {}", fault.reason), ..fault };
        match one {
            Json::Text(id) => recipients.push(Json::Text(id)),
            Json::Table(mut fields) => match topic(&mut fields).map_err(within)? {
                Some(topic) => topics.push(topic),
                None => {
                    let profile = subscriber(fields, true).map_err(within)?;
                    recipients.push(Json::Table(profile));
                }
            },
            other => return Err(within(wrong_kind("to", "a string or an object", &other))),
        }
    }
    let actor = match take(&mut body, "actor") {
        None => None,
        Some(Json::Text(id)) => Some(Json::Text(id)),
        Some(Json::Table(fields)) => Some(actor_of(fields)?),
        Some(other) => return Err(wrong_kind("actor", "a string or an object", &other)),
    };
    let data = take_table(&mut body, "payload")?;
    nothing_else(&body, &FIELDS)?;
    let cancellation_key = None;
    let trigger =
        CompatTrigger { event_type, id, actor, data, recipients, topics, cancellation_key, tenant };
    Ok(trigger.publish())
}

const CONTEXT: &str =
    "send `tenant` alone: an event has no other context, and `payload` is there in templates";

/// The tenant of a trigger, which newer clients name in `context`.
fn tenant<'a>(body: &mut JsonObject<'a>) -> Result<Option<Cow<'a, str>>, Fault> {
    let of_body = take_tenant(body, "tenant", "identifier")?;
    let mut context = take_table(body, "context")?.unwrap_or_default();
    let within = |fault: Fault| Fault { reason: format!("`context`: {}", fault.reason), ..fault };
    let of_context = take_tenant(&mut context, "tenant", "id").map_err(within)?;
    context.retain(|(_, value)| !is_nothing(value));
    if let Some((name, _)) = context.first() {
        return Err(Fault::new(format!("`context.{name}` can't be mapped"), CONTEXT));
    }
    if let (Some(one), Some(other)) = (&of_body, &of_context)
        && one != other
    {
        let hint = "name one tenant";
        return Err(Fault::new("`tenant` and `context.tenant` differ", hint));
    }
    Ok(of_context.or(of_body))
}

/// The topic that a recipient is, if it is one.
fn topic<'a>(fields: &mut JsonObject<'a>) -> Result<Option<Json<'a>>, Fault> {
    let kind = take_text(fields, "type")?;
    if !kind.is_some_and(|kind| kind.eq_ignore_ascii_case("topic")) {
        return Ok(None);
    }
    let hint = "publish to recipients one by one, or to a topic without them";
    refuse(fields, &[("exclude", hint)])?;
    let key = take_text(fields, "topicKey")?.ok_or_else(|| missing("topicKey"))?;
    nothing_else(fields, &["type", "topicKey"])?;
    Ok(Some(text(key)))
}

/// The profile of a subscriber. `strict` refuses unknown fields; an export has many that are Novu's own.
///
/// # Errors
/// The fields that can't be mapped.
pub fn subscriber(mut of: JsonObject<'_>, strict: bool) -> Result<JsonObject<'_>, Fault> {
    let id = take_text(&mut of, "subscriberId")?.ok_or_else(|| missing("subscriberId"))?;
    let mut profile = vec![field("id", text(id))];
    put_text(&mut profile, "name", full_name(&mut of)?);
    put_text(&mut profile, "email", take_text(&mut of, "email")?);
    put_text(&mut profile, "tz", take_text(&mut of, "timezone")?);
    let locale = take_text(&mut of, "locale")?;
    let locale = locale.map(|locale| Cow::Owned(locale.replace('_', "-")));
    put_text(&mut profile, "locale", locale);
    put_phone(&mut profile, take_text(&mut of, "phone")?);
    let mut data = take_table(&mut of, "data")?.unwrap_or_default();
    let avatar = take_text(&mut of, "avatar")?.filter(|avatar| !avatar.is_empty());
    if let Some(avatar) = avatar
        && !data.iter().any(|(key, _)| key == "avatar")
    {
        data.push(field("avatar", text(avatar)));
    }
    if !data.is_empty() {
        profile.push(field("data", Json::Table(data)));
    }
    if strict {
        refuse(&mut of, &[("channels", CHANNELS)])?;
        const KNOWN: [&str; 9] = [
            "subscriberId",
            "firstName",
            "lastName",
            "email",
            "phone",
            "avatar",
            "locale",
            "timezone",
            "data",
        ];
        nothing_else(&of, &KNOWN)?;
    }
    Ok(profile)
}

fn full_name<'a>(of: &mut JsonObject<'a>) -> Result<Option<Cow<'a, str>>, Fault> {
    let names = [take_text(of, "firstName")?, take_text(of, "lastName")?];
    let names: Vec<Cow<'a, str>> =
        names.into_iter().flatten().filter(|name| !name.is_empty()).collect();
    Ok((!names.is_empty()).then(|| Cow::Owned(names.join(" "))))
}

fn actor_of(mut fields: JsonObject<'_>) -> Result<Json<'_>, Fault> {
    let id = take_text(&mut fields, "subscriberId")?;
    let id = id.ok_or_else(|| missing("actor.subscriberId"))?;
    let name = full_name(&mut fields)?;
    Ok(actor(id, name, take_text(&mut fields, "avatar")?))
}
