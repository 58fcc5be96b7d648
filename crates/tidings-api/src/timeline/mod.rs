//! Timelines: each line, one JSON object, becomes one command at its instant (contract, section 3).
//!
//! [`read_line`] reads what only a line has: `at`, `op` and its number; the rest is the body of the call of that
//! name. [`Lines`] takes a stream apart without ever holding more than one line of it.

pub mod lines;
#[cfg(test)]
mod tests;
mod values;

use serde::Deserialize;
use tidings_core::model::{ChannelAddress, MarkKind, Timed};
use tidings_core::{Command, Id, Instant, Rules};

pub use crate::body::Fault;
pub use lines::{Lines, NextLine};
pub use values::by_line;

use crate::body::Fields;
use crate::body::event::EventBody;
use crate::body::object::ObjectChange;
use crate::body::preference::Preference;
use crate::body::recipient::ProfileChange;
use crate::body::short::{Cancel, FlushLimits, ForgetDays, Mark, Retraction, Subscription};
use crate::body::suppression::{self, Nothing, SuppressionBody};
use crate::body::tenant::{MembershipBody, TenantBody};
use crate::body::text::Text;

/// The operation of a line.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LineOperation {
    Recipient,
    Subscribe,
    Unsubscribe,
    Publish,
    Object,
    Retract,
    Seen,
    Read,
    Cancel,
    Withdraw,
    Preference,
    Flush,
    Forget,
    Suppress,
    Unsuppress,
    Tenant,
    Member,
    Unmember,
}

/// Reads one line; `number` counts from 1 and names an event that has no id of its own.
///
/// # Errors
/// The first [`Fault`] of the line, with its number.
pub fn read_line(rules: &Rules, number: u64, line: &[u8]) -> Result<Timed, Fault> {
    timed(rules, number, line).map_err(|fault| fault.on_line(number))
}

fn timed(rules: &Rules, number: u64, line: &[u8]) -> Result<Timed, Fault> {
    let mut fields = Fields::parse(line)?;
    let at: Text<Instant> = fields.required("at")?;
    let op = fields.required("op")?;
    let command = command(rules, op, fields, || line_id(number))?;
    Ok(Timed { at: at.0, command })
}

/// Reads an object that is an operation as a line is, without an instant; without `op` it is an event. `or_id` gives the
/// id of an event that has none of its own.
///
/// # Errors
/// The first [`Fault`] of the object.
pub fn read_operation(
    rules: &Rules,
    text: &[u8],
    or_id: impl FnOnce() -> Id,
) -> Result<Command, Fault> {
    let mut fields = Fields::parse(text)?;
    let op = fields.optional("op")?.unwrap_or(LineOperation::Publish);
    command(rules, op, fields, or_id)
}

fn command(
    rules: &Rules,
    op: LineOperation,
    mut fields: Fields<'_>,
    or_id: impl FnOnce() -> Id,
) -> Result<Command, Fault> {
    match op {
        LineOperation::Recipient => fields.body::<ProfileChange>()?.command(None),
        LineOperation::Subscribe => fields.body::<Subscription>()?.said(false),
        LineOperation::Unsubscribe => fields.body::<Subscription>()?.said(true),
        LineOperation::Publish => fields.body::<EventBody>()?.command(rules, or_id),
        LineOperation::Object => fields.body::<ObjectChange>()?.command(None),
        LineOperation::Retract => Ok(fields.body::<Retraction>()?.command()),
        LineOperation::Seen => {
            let recipient = fields.id("recipient")?;
            fields.body::<Mark>()?.command(recipient, MarkKind::Seen)
        }
        LineOperation::Read => {
            let recipient = fields.id("recipient")?;
            fields.body::<Mark>()?.command(recipient, MarkKind::Read)
        }
        LineOperation::Cancel => {
            let (what, tenant) = fields.body::<Cancel>()?.named()?;
            Ok(Command::Cancel { what, tenant })
        }
        LineOperation::Withdraw => {
            let (what, tenant) = fields.body::<Cancel>()?.named()?;
            Ok(Command::Withdraw { what, tenant })
        }
        LineOperation::Preference => {
            let recipient = fields.id("recipient")?;
            fields.body::<Preference>()?.command(rules, recipient)
        }
        LineOperation::Flush => {
            let recipient = fields.id("recipient")?;
            let mut limits = fields.body::<FlushLimits>()?;
            let view = limits.view();
            limits.command(recipient, view)
        }
        LineOperation::Suppress => {
            let address = channel_address(&mut fields)?;
            Ok(fields.body::<SuppressionBody>()?.command(address))
        }
        LineOperation::Unsuppress => {
            let address = channel_address(&mut fields)?;
            let Nothing {} = fields.body()?;
            Ok(Command::Unsuppress { address })
        }
        LineOperation::Tenant => {
            if fields.optional("deleted")?.unwrap_or(false) {
                let tenant = fields.id("id")?;
                let Nothing {} = fields.body()?;
                return Ok(Command::DeleteTenant { tenant });
            }
            fields.body::<TenantBody>()?.command(rules, None, false)
        }
        LineOperation::Member => Ok(fields.body::<MembershipBody>()?.joins()),
        LineOperation::Unmember => Ok(fields.body::<MembershipBody>()?.leaves()),
        LineOperation::Forget => Ok(fields.body::<ForgetDays>()?.command()),
    }
}

/// The address that a line names beside its body.
fn channel_address(fields: &mut Fields<'_>) -> Result<ChannelAddress, Fault> {
    let channel: String = fields.required("channel")?;
    let address: String = fields.required("address")?;
    suppression::address(&channel, &address)
}

fn line_id(number: u64) -> Id {
    Id::new(&format!("line-{number}")).expect("a word and a number are an id")
}
