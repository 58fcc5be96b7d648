//! `tidings signing-key`: creates, lists and revokes the keys by which tokens of end users are checked.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;
use tidings_core::Id;

use super::{ask, name, or_dash};
use crate::cli::print::table::{Table, cell, list};
use crate::cli::reach::{self, To};
use crate::cli::{Status, Streams, report};
use crate::client::{Fault, Purpose, Request, segment};
use crate::token::Scope;

/// Arguments of `signing-key`.
#[derive(clap::Args)]
pub(in crate::cli) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Create a key and print its secret once; a running server accepts its tokens at once
    New(New),
    /// List the keys by id; their secrets are not shown
    List {
        #[command(flatten)]
        to: To,
    },
    /// Revoke a key; a running server refuses its tokens at once
    Revoke {
        /// Key id, as `signing-key list` prints it
        id: String,
        #[command(flatten)]
        to: To,
    },
}

#[derive(clap::Args)]
struct New {
    /// Name shown by `signing-key list`
    #[arg(long, default_value = "", value_parser = name)]
    name: String,
    /// File with a public key of Ed25519 in PEM: the server then has nothing that can sign
    #[arg(long, value_name = "FILE")]
    public: Option<PathBuf>,
    /// What its tokens may open at most, in quotes: of `inbox`, `inbox:read`, `preferences`, `subscriptions`, `push`
    #[arg(long, value_name = "SCOPE", value_parser = scope)]
    scope: Option<String>,
    /// Tenant that tokens signed with the key must name
    #[arg(long, value_name = "ID", value_parser = Id::new)]
    tenant: Option<Id>,
    #[command(flatten)]
    to: To,
}

/// Reads the scope of a key or a token.
pub(super) fn scope(text: &str) -> Result<String, String> {
    match Scope::check(text) {
        Ok(()) => Ok(text.to_owned()),
        Err(fault) => Err(format!("{}; {}", fault.reason, fault.hint)),
    }
}

/// Runs the command.
pub(in crate::cli) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> io::Result<Status> {
    match &arguments.action {
        Action::New(new) => make(new, streams),
        Action::List { to } => show(to, streams),
        Action::Revoke { id, to } => revoke(id, to, streams),
    }
}

/// The most bytes of a file with a public key.
const PEM_BYTES_MAX: u64 = 16 << 10;

fn read(path: &Path) -> io::Result<String> {
    if fs::metadata(path)?.len() > PEM_BYTES_MAX {
        return Err(io::Error::other("the file is too large for a public key"));
    }
    fs::read_to_string(path)
}

fn make(new: &New, streams: &mut Streams<'_>) -> io::Result<Status> {
    let public = match new.public.as_deref().map(read).transpose() {
        Ok(public) => public,
        Err(fault) => {
            let path = new.public.as_deref().unwrap_or(Path::new(""));
            let message = format!("can't read {}: {fault}", path.display());
            return Ok(report(streams, &message, Status::Wrong));
        }
    };
    let tenant = new.tenant.as_ref().map(Id::as_str);
    let body = json!({
        "name": new.name, "public": public, "scope": new.scope, "tenant": tenant,
    });
    let request = Request::post("/v1/admin/signing-keys".to_owned()).json(&body);
    let made = match ask(&new.to, &request, Purpose::Look, streams) {
        Ok(made) => made,
        Err(status) => return Ok(status),
    };
    let id = cell(&made, "id");
    if new.to.json {
        writeln!(streams.out, "{made}")?;
        return Ok(Status::Done);
    }
    match (made["secret"].as_str(), &new.public) {
        (Some(secret), _) => {
            // The secret alone on standard output.
            writeln!(streams.out, "{secret}")?;
            writeln!(
                streams.err,
                "Created signing key {id}. Its secret is not shown again. Sign tokens with HS256, `kid` {id}, and the \
                 whole text as the key"
            )?;
        }
        (None, Some(_)) => {
            writeln!(streams.out, "{id}")?;
            writeln!(
                streams.err,
                "Created signing key {id}. Sign tokens with EdDSA and `kid` {id}"
            )?;
        }
        (None, None) => {
            let fault = Fault::Odd("it has no secret".to_owned());
            return Ok(reach::report_fault(&fault, streams));
        }
    }
    Ok(Status::Done)
}

fn show(to: &To, streams: &mut Streams<'_>) -> io::Result<Status> {
    let request = Request::get("/v1/admin/signing-keys".to_owned());
    let answer = match ask(to, &request, Purpose::Look, streams) {
        Ok(answer) => answer,
        Err(status) => return Ok(status),
    };
    let keys = list(&answer, "keys");
    if keys.is_empty() && !to.json {
        writeln!(streams.err, "No signing keys. Create one: tidings signing-key new --data DIR")?;
    }
    let has_tenants = keys.iter().any(|key| key.get("tenant").is_some());
    let heads = ["ID", "CREATED", "ALG", "SCOPE", "NAME", "TENANT"];
    let mut table = Table::new(if has_tenants { &heads } else { &heads[..5] });
    for key in keys {
        if to.json {
            writeln!(streams.out, "{key}")?;
        }
        let scope = if key["scope"].is_null() { "all".to_owned() } else { cell(key, "scope") };
        let name = or_dash(key, "name");
        let tenant = has_tenants.then(|| or_dash(key, "tenant"));
        let cells = [cell(key, "id"), cell(key, "made"), cell(key, "alg"), scope, name];
        table.row(cells.into_iter().chain(tenant));
    }
    if !to.json {
        table.write(streams.out)?;
    }
    Ok(Status::Done)
}

fn revoke(id: &str, to: &To, streams: &mut Streams<'_>) -> io::Result<Status> {
    let request = Request::delete(format!("/v1/admin/signing-keys/{}", segment(id)));
    if let Err(status) = ask(to, &request, Purpose::Look, streams) {
        return Ok(status);
    }
    if to.json {
        writeln!(streams.out, "{{}}")?;
    } else {
        writeln!(streams.out, "Revoked signing key {id}")?;
    }
    Ok(Status::Done)
}
