//! Timelines: each line, one JSON object, becomes one command at its instant (contract, section 3).
//!
//! [`Bodies`] reads bodies, whoever sends them; [`read_line`] adds what only a line has: `at`, `op`
//! and its number. [`Lines`] takes a stream apart without ever holding more than one line of it.

mod address;
pub mod body;
pub mod fault;
pub mod fields;
pub mod json;
pub mod lines;
#[cfg(test)]
mod tests;

use tidings_core::command::MarkKind;
use tidings_core::{Command, Id, Timed};

pub use body::Bodies;
pub use fault::{About, Fault};
pub use fields::Fields;
pub use lines::{Line, Lines};

use crate::wording::{did_you_mean, quoted};

const OPS: [&str; 12] = [
    "recipient",
    "subscribe",
    "unsubscribe",
    "publish",
    "object",
    "retract",
    "seen",
    "read",
    "cancel",
    "preference",
    "flush",
    "forget",
];

/// Reads one line; `number` counts from 1 and names an event that has no id of its own.
///
/// # Errors
/// The first [`Fault`] of the line, with its number.
pub fn read_line(bodies: Bodies<'_>, number: u64, line: &[u8]) -> Result<Timed, Fault> {
    timed(bodies, number, line).map_err(|fault| fault.on_line(number))
}

fn timed(bodies: Bodies<'_>, number: u64, line: &[u8]) -> Result<Timed, Fault> {
    let mut fields = Fields::new(json::object(line)?);
    let Some(at) = fields.instant("at")? else {
        return Err(fields.missing("at"));
    };
    let op = fields.required_text("op")?;
    let command = command(bodies, number, &op, fields)?;
    Ok(Timed { at, command })
}

fn command(
    bodies: Bodies<'_>,
    number: u64,
    op: &str,
    mut fields: Fields<'_>,
) -> Result<Command, Fault> {
    match op {
        "recipient" => bodies.named_recipient(fields),
        "subscribe" | "unsubscribe" => bodies.subscription(op == "subscribe", fields),
        "publish" => bodies.publish(fields, || line_id(number)),
        "object" => bodies.named_object(fields),
        "retract" => {
            fields.only(&["id"])?;
            Ok(Command::Retract {
                object: fields.required_id("id")?,
            })
        }
        "seen" => bodies.mark(fields.required_id("recipient")?, MarkKind::Seen, fields),
        "read" => bodies.mark(fields.required_id("recipient")?, MarkKind::Read, fields),
        "cancel" => bodies.cancel(fields),
        "preference" => bodies.preference(fields.required_id("recipient")?, fields),
        "flush" => bodies.flush(fields.required_id("recipient")?, fields),
        "forget" => bodies.forget(fields),
        other => {
            let hint = did_you_mean(other, OPS).unwrap_or_default();
            Err(Fault::new(format!("unknown op {}", quoted(other)), hint))
        }
    }
}

fn line_id(number: u64) -> Result<Id, Fault> {
    Id::new(&format!("line-{number}"))
        .map_err(|error| Fault::new(error.to_string(), "give an `id`"))
}
