//! `tidings key`: creates, lists and revokes API keys.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;
use tidings_node::{Clock as _, SystemClock};
use tidings_store::FjallStore;

use super::reach::DATA_VARIABLE;
use super::table::Table;
use super::{Status, Streams, report};
use crate::client::Fault;
use crate::keys::{KeyFile, NAME_CHARS_MAX};

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
        /// Data directory of the server
        #[arg(long, value_name = "DIR", env = DATA_VARIABLE)]
        data: PathBuf,
        /// Name shown by `key list`
        #[arg(long, default_value = "", value_parser = name)]
        name: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// List the keys by id; the keys themselves are not stored
    List {
        /// Data directory of the server
        #[arg(long, value_name = "DIR", env = DATA_VARIABLE)]
        data: PathBuf,
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Revoke a key; a running server refuses it within a second
    Revoke {
        /// Data directory of the server
        #[arg(long, value_name = "DIR", env = DATA_VARIABLE)]
        data: PathBuf,
        /// Key id, as `key list` prints it
        id: String,
    },
}

fn name(text: &str) -> Result<String, String> {
    if text.chars().count() > NAME_CHARS_MAX || text.chars().any(char::is_control) {
        return Err(format!(
            "a name has at most {NAME_CHARS_MAX} characters, and no control characters"
        ));
    }
    Ok(text.to_owned())
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> io::Result<Status> {
    match &arguments.action {
        Action::New { data, name, json } => new(data, name, *json, streams),
        Action::List { data, json } => list(data, *json, streams),
        Action::Revoke { data, id } => revoke(data, id, streams),
    }
}

fn new(data: &Path, name: &str, json: bool, streams: &mut Streams<'_>) -> io::Result<Status> {
    let made = std::fs::create_dir_all(data)
        .and_then(|()| KeyFile::of(data).make(name, SystemClock.now()));
    let (entry, key) = match made {
        Ok(made) => made,
        Err(fault) => return Ok(unusable(data, &fault, streams)),
    };
    if json {
        let row = json!({ "id": entry.id, "name": entry.name, "made": entry.made.to_string(), "key": key });
        writeln!(streams.out, "{row}")?;
    } else {
        // The key alone on standard output: `KEY=$(tidings key new …)`.
        writeln!(streams.out, "{key}")?;
        writeln!(
            streams.err,
            "Created key {}. It is not shown again. Set TIDINGS_KEY, or send `Authorization: Bearer KEY`",
            entry.id
        )?;
    }
    Ok(Status::Done)
}

/// Tells whether a directory has keys or a store; where it has neither, that is reported.
fn is_kept(data: &Path, streams: &mut Streams<'_>) -> bool {
    let is_kept = KeyFile::of(data).is_there() || FjallStore::is_in(data);
    if !is_kept {
        report(
            streams,
            &Fault::NoStore(data.to_owned()).to_string(),
            Status::Unusable,
        );
    }
    is_kept
}

fn list(data: &Path, json: bool, streams: &mut Streams<'_>) -> io::Result<Status> {
    if !is_kept(data, streams) {
        return Ok(Status::Unusable);
    }
    let keys = match KeyFile::of(data).list() {
        Ok(keys) => keys,
        Err(fault) => return Ok(unusable(data, &fault, streams)),
    };
    if keys.is_empty() && !json {
        writeln!(
            streams.err,
            "No API keys. Create one: tidings key new --data DIR"
        )?;
    }
    let mut table = Table::new(&["ID", "CREATED", "NAME"]);
    for key in keys {
        if json {
            writeln!(streams.out, "{}", serde_json::to_string(&key)?)?;
        }
        let name = match key.name.as_str() {
            "" => "-".to_owned(),
            name => name.to_owned(),
        };
        table.row([key.id, key.made.to_string(), name]);
    }
    if !json {
        table.write(streams.out)?;
    }
    Ok(Status::Done)
}

fn revoke(data: &Path, id: &str, streams: &mut Streams<'_>) -> io::Result<Status> {
    if !is_kept(data, streams) {
        return Ok(Status::Unusable);
    }
    match KeyFile::of(data).revoke(id) {
        Ok(true) => {
            writeln!(streams.out, "Revoked key {id}")?;
            Ok(Status::Done)
        }
        Ok(false) => {
            let message = format!("unknown key `{id}`; `tidings key list` lists the keys");
            Ok(report(streams, &message, Status::Wrong))
        }
        Err(fault) => Ok(unusable(data, &fault, streams)),
    }
}

fn unusable(data: &Path, fault: &io::Error, streams: &mut Streams<'_>) -> Status {
    let message = format!("cannot use {}: {fault}", data.display());
    report(streams, &message, Status::Unusable)
}
