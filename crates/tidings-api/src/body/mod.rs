//! The bodies of calls, one type each: it reads them (serde), describes them in the API's document (utoipa), and
//! becomes a command.
//!
//! Calls, lines of timelines, rows of imports and the command line all go through these types. Values from a path (a
//! recipient, an object) are passed in; the rest is the body. Everything that the [`Rules`](tidings_core::Rules) alone
//! can decide is checked here; only the engine knows which recipients and objects exist.

mod address;
pub mod addresses;
pub mod cloud_event;
pub mod edits;
pub mod event;
pub mod explain;
mod fault;
mod fields;
pub mod host_text;
pub mod items;
pub mod json;
pub mod object;
pub mod preference;
pub mod quiet;
mod read;
pub mod recipient;
pub mod search;
pub mod short;
pub mod suppression;
pub mod tenant;
#[cfg(test)]
mod tests;
pub mod text;

use tidings_core::Id;
use tidings_core::engine::Refused;
use tidings_core::model::CHANNELS;

pub use fault::About;
pub use fault::Fault;
pub use fields::Fields;
pub use read::field_names;

use text::Text;
use tidings_config::wording::{did_you_mean, one_of, quoted};

/// The fault of a word that the configuration does not have.
pub fn unknown<'n>(
    what: &str,
    word: &str,
    names: impl IntoIterator<Item = &'n str> + Clone,
) -> Fault {
    let hint =
        did_you_mean(word, names).unwrap_or_else(|| format!("the configuration has no {what}"));
    Fault::new(format!("unknown {what} {}", quoted(word)), hint)
}

/// The hint for a command that the engine refused, if it is the same for all ways in.
pub fn hint(refused: &Refused) -> Option<String> {
    match refused {
        Refused::Exceeded(exceeded) => Some(exceeded.hint()),
        Refused::TooLarge(too_large) => Some(too_large.hint()),
        Refused::BatchKey(too_long) => Some(too_long.hint()),
        Refused::UnknownType { event_type, configured } => {
            let configured = configured.iter().map(String::as_str);
            Some(unknown("type", event_type.as_str(), configured).hint)
        }
        Refused::UnknownTenant { tenant, near } => {
            did_you_mean(tenant.as_str(), near.iter().map(String::as_str))
        }
        Refused::TenantsOff => Some("set `on = true` under `[tenants]`".to_owned()),
        _ => None,
    }
}

/// Refuses an unknown channel.
fn known_channel(name: &str) -> Result<(), Fault> {
    if CHANNELS.contains(&name) {
        return Ok(());
    }
    Err(unknown("channel", name, CHANNELS).about(About::UnknownChannel))
}

/// The id of the subject of a body: from the path, the body, or both if they are equal.
fn id_of(path: Option<Id>, body: Option<Text<Id>>) -> Result<Id, Fault> {
    match (path, body) {
        (Some(path), Some(Text(body))) if path != body => {
            let (path, body) = (quoted(path.as_str()), quoted(body.as_str()));
            let reason = format!("`id` must be {path}, as in the path, got {body}");
            Err(Fault::new(reason, "leave `id` out"))
        }
        (Some(id), _) | (None, Some(Text(id))) => Ok(id),
        (None, None) => Err(Fault::new("`id` is missing", "add `id`")),
    }
}

/// The fault of fields of which exactly one has to be given.
fn not_one(fields: &[(&str, bool)]) -> Fault {
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let mut given = fields.iter().filter(|(_, is_given)| *is_given);
    let reason = match (given.next(), given.next()) {
        (Some((first, _)), Some((second, _))) => {
            format!("`{first}` and `{second}` are mutually exclusive")
        }
        _ => format!("{} is missing", one_of(&names)),
    };
    Fault::new(reason, format!("give exactly one of {}", one_of(&names)))
}
