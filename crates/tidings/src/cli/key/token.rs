//! `tidings token`: prints a token of a recipient, for development.

use std::io;

use serde_json::json;
use tidings_core::Id;

use super::ask;
use super::signing::scope;
use crate::cli::reach::{self, To};
use crate::cli::{Status, Streams};
use crate::client::{Fault, Purpose, Request};

/// Arguments of `token`.
#[derive(clap::Args)]
pub(in crate::cli) struct Arguments {
    /// Recipient id
    recipient: String,
    /// Life of the token, at most `[users] tokens` [default: 15m]
    #[arg(long = "for", value_name = "DURATION")]
    life: Option<String>,
    /// What it opens, in quotes: of `inbox`, `inbox:read`, `preferences`, `subscriptions`, `push` [default: everything]
    #[arg(long, value_name = "SCOPE", value_parser = scope)]
    scope: Option<String>,
    /// Tenant whose notifications the token shows, with those of no tenant [default: all]
    #[arg(long, value_name = "ID", value_parser = Id::new)]
    tenant: Option<Id>,
    #[command(flatten)]
    to: To,
}

/// Runs the command.
pub(in crate::cli) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> io::Result<Status> {
    let Arguments { recipient, life, scope, tenant, to } = arguments;
    let tenant = tenant.as_ref().map(Id::as_str);
    let body = json!({ "recipient": recipient, "for": life, "scope": scope, "tenant": tenant });
    let request = Request::post("/v1/admin/tokens".to_owned()).json(&body);
    // `[users]` is that of the configuration, as for whatever changes a store.
    let signed = match ask(to, &request, Purpose::Change, streams) {
        Ok(signed) => signed,
        Err(status) => return Ok(status),
    };
    let Some(token) = signed["token"].as_str() else {
        let fault = Fault::Odd("it has no token".to_owned());
        return Ok(reach::report_fault(&fault, streams));
    };
    // The token alone on standard output: `TOKEN=$(tidings token …)`.
    if to.json {
        writeln!(streams.out, "{signed}")?;
    } else {
        writeln!(streams.out, "{token}")?;
    }
    Ok(Status::Done)
}
