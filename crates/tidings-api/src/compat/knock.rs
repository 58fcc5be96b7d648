//! Knock: its trigger, and its users.

use std::borrow::Cow;

use tidings_core::Id;

use super::{
    CompatTrigger, actor, field, missing, nothing_else, put_phone, put_text, refuse, take,
    take_table, take_tenant, take_text, text, wrong_kind,
};
use crate::body::Fault;
use crate::body::json::{Json, JsonObject};

const FIELDS: [&str; 5] = ["recipients", "actor", "data", "cancellation_key", "tenant"];

/// The fields of a publish that a trigger of a workflow stands for; the event gets this id.
///
/// # Errors
/// The fields that can't be mapped.
pub fn trigger<'a>(
    workflow: &'a str,
    id: &'a Id,
    mut body: JsonObject<'a>,
) -> Result<JsonObject<'a>, Fault> {
    let tenant = take_tenant(&mut body, "tenant", "id")?;
    let (mut recipients, mut topics) = (Vec::new(), Vec::new());
    let all = match take(&mut body, "recipients") {
        Some(Json::List(all)) => all,
        // Clients send one by itself as well.
        Some(one @ (Json::Text(_) | Json::Table(_))) => vec![one],
        Some(other) => return Err(wrong_kind("recipients", "an array", &other)),
        None => return Err(missing("recipients")),
    };
    for (at, one) in all.into_iter().enumerate() {
        let within = |fault: Fault| Fault {
            reason: format!("`recipients[{at}]`: {}", fault.reason),
            ..fault
        };
        match named(one).map_err(within)? {
            TriggerRecipient::Recipient(recipient) => recipients.push(recipient),
            TriggerRecipient::Topic(topic) => topics.push(topic),
        }
    }
    let actor = match take(&mut body, "actor") {
        None => None,
        Some(Json::Text(id)) => Some(Json::Text(id)),
        Some(Json::Table(fields)) => Some(actor_of(fields)?),
        Some(other) => return Err(wrong_kind("actor", "a string or an object", &other)),
    };
    let data = take_table(&mut body, "data")?;
    let cancellation_key = take_text(&mut body, "cancellation_key")?;
    nothing_else(&body, &FIELDS)?;
    let event_type = Cow::Borrowed(workflow);
    let trigger =
        CompatTrigger { event_type, id, actor, data, recipients, topics, cancellation_key, tenant };
    Ok(trigger.publish())
}

/// The recipients of a trigger.
enum TriggerRecipient<'a> {
    Recipient(Json<'a>),
    Topic(Json<'a>),
}

/// A recipient: an id, a user inline, or an object, whose subscribers are the followers of a topic.
fn named(one: Json<'_>) -> Result<TriggerRecipient<'_>, Fault> {
    match one {
        Json::Text(id) => Ok(TriggerRecipient::Recipient(Json::Text(id))),
        Json::Table(mut fields) => match take_text(&mut fields, "collection")? {
            Some(collection) => {
                let id = take_text(&mut fields, "id")?.ok_or_else(|| missing("id"))?;
                Ok(TriggerRecipient::Topic(text(format!("{collection}/{id}"))))
            }
            None => Ok(TriggerRecipient::Recipient(Json::Table(user(fields, true)?))),
        },
        other => Err(wrong_kind("recipient", "a string or an object", &other)),
    }
}

/// The fields that Knock itself adds to users.
const PASSED_OVER: [&str; 3] = ["__typename", "created_at", "updated_at"];

const SEPARATE: &str = "leave it out; `tidings import --kind preferences` takes preferences, and addresses of other \
                        channels are set with `PUT /v1/recipients/{id}`";

/// The profile of a user. `strict` refuses what has to be moved by itself; of an export it is passed over.
///
/// # Errors
/// The fields that can't be mapped.
pub fn user(mut user: JsonObject<'_>, strict: bool) -> Result<JsonObject<'_>, Fault> {
    if strict {
        refuse(&mut user, &[("channel_data", SEPARATE), ("preferences", SEPARATE)])?;
    }
    for name in ["channel_data", "preferences"].into_iter().chain(PASSED_OVER) {
        drop(take(&mut user, name));
    }
    let id = take_text(&mut user, "id")?.ok_or_else(|| missing("id"))?;
    let mut profile = vec![field("id", text(id))];
    for (theirs, ours) in
        [("name", "name"), ("email", "email"), ("timezone", "tz"), ("locale", "locale")]
    {
        put_text(&mut profile, ours, take_text(&mut user, theirs)?);
    }
    put_phone(&mut profile, take_text(&mut user, "phone_number")?);
    // The rest are properties of the host's own.
    user.retain(|(_, value)| *value != Json::Null);
    if !user.is_empty() {
        profile.push(field("data", Json::Table(user)));
    }
    Ok(profile)
}

fn actor_of(mut fields: JsonObject<'_>) -> Result<Json<'_>, Fault> {
    let id = take_text(&mut fields, "id")?.ok_or_else(|| missing("actor.id"))?;
    let id = match take_text(&mut fields, "collection")? {
        Some(collection) => Cow::Owned(format!("{collection}/{id}")),
        None => id,
    };
    let name = take_text(&mut fields, "name")?;
    Ok(actor(id, name, take_text(&mut fields, "avatar")?))
}
