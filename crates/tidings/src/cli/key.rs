//! `tidings key`: creates, lists and revokes API keys.

pub(super) mod signing;
pub(super) mod token;

use std::io;

use serde_json::{Value, json};
use tidings_node::Role;

use super::print::table::{Table, cell, list};
use super::reach::{self, To};
use super::{Status, Streams};
use crate::client::{Fault, Purpose, Request, segment};
use crate::keys::fault_of_name;

/// Arguments of `key`.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Create a key and print it once; a running server accepts it at once
    New {
        /// Name shown by `key list`
        #[arg(long, default_value = "", value_parser = name)]
        name: String,
        /// What it may do: `read`; `publish` (also events, objects, recipients, subscriptions); `operate` (also pause,
        /// flush, cancel, withdraw, retry, suppress); `admin` (everything)
        #[arg(long, value_name = "ROLE", default_value = Role::default().name(), value_parser = ROLES)]
        role: String,
        #[command(flatten)]
        to: To,
    },
    /// List the keys by id; the keys themselves are not stored
    List {
        #[command(flatten)]
        to: To,
    },
    /// Revoke a key; a running server refuses it at once
    Revoke {
        /// Key id, as `key list` prints it
        id: String,
        #[command(flatten)]
        to: To,
    },
}

/// The names of the roles.
const ROLES: [&str; 4] = {
    let [read, publish, operate, admin] = Role::ALL;
    [read.name(), publish.name(), operate.name(), admin.name()]
};

fn name(text: &str) -> Result<String, String> {
    fault_of_name(text).map_or_else(|| Ok(text.to_owned()), Err)
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> io::Result<Status> {
    match &arguments.action {
        Action::New { name, role, to } => new((name, role), to, streams),
        Action::List { to } => show(to, streams),
        Action::Revoke { id, to } => revoke(id, to, streams),
    }
}

/// Makes a call; faults are reported.
fn ask(
    to: &To,
    request: &Request,
    purpose: Purpose,
    streams: &mut Streams<'_>,
) -> Result<Value, Status> {
    let mut reach = reach::find(to, purpose, streams)?;
    let answer = reach.ask(request).and_then(|asked| asked.success()?.json());
    let closed = reach.close();
    let answer = answer.and_then(|answer| closed.map(|()| answer));
    answer.map_err(|fault| reach::report_fault(&fault, streams))
}

fn new((name, role): (&str, &str), to: &To, streams: &mut Streams<'_>) -> io::Result<Status> {
    let request = Request::post("/v1/admin/keys".to_owned());
    let request = request.json(&json!({ "name": name, "role": role }));
    let made = match ask(to, &request, Purpose::MakeBare, streams) {
        Ok(made) => made,
        Err(status) => return Ok(status),
    };
    let Some(key) = made["key"].as_str() else {
        let fault = Fault::Odd("it has no key".to_owned());
        return Ok(reach::report_fault(&fault, streams));
    };
    if to.json {
        writeln!(streams.out, "{made}")?;
    } else {
        // The key alone on standard output: `KEY=$(tidings key new …)`.
        writeln!(streams.out, "{key}")?;
        writeln!(
            streams.err,
            "Created key {}. It is not shown again. Set TIDINGS_KEY, or send `Authorization: Bearer KEY`",
            cell(&made, "id")
        )?;
    }
    Ok(Status::Done)
}

fn show(to: &To, streams: &mut Streams<'_>) -> io::Result<Status> {
    let request = Request::get("/v1/admin/keys".to_owned());
    let answer = match ask(to, &request, Purpose::Look, streams) {
        Ok(answer) => answer,
        Err(status) => return Ok(status),
    };
    let keys = list(&answer, "keys");
    if keys.is_empty() && !to.json {
        writeln!(streams.err, "No API keys. Create one: tidings key new --data DIR")?;
    }
    let mut table = Table::new(&["ID", "CREATED", "ROLE", "NAME"]);
    for key in keys {
        if to.json {
            writeln!(streams.out, "{key}")?;
        }
        table.row([cell(key, "id"), cell(key, "made"), cell(key, "role"), or_dash(key, "name")]);
    }
    if !to.json {
        table.write(streams.out)?;
    }
    Ok(Status::Done)
}

/// The text of a field; a dash where it has none.
fn or_dash(key: &Value, field: &str) -> String {
    match cell(key, field) {
        text if text.is_empty() => "-".to_owned(),
        text => text,
    }
}

fn revoke(id: &str, to: &To, streams: &mut Streams<'_>) -> io::Result<Status> {
    let request = Request::delete(format!("/v1/admin/keys/{}", segment(id)));
    if let Err(status) = ask(to, &request, Purpose::Look, streams) {
        return Ok(status);
    }
    if to.json {
        writeln!(streams.out, "{{}}")?;
    } else {
        writeln!(streams.out, "Revoked key {id}")?;
    }
    Ok(Status::Done)
}
