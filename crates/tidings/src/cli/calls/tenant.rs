//! `tidings tenant`: lists tenants, shows, makes, changes and deletes them, and says who is a member.

use std::fs;
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};

use clap::value_parser;
use serde_json::{Map, Value, json};
use tidings_core::Id;

use crate::cli::calls::{self, Call, confirmed, write_fields};
use crate::cli::print::table::{Table, cell, list};
use crate::cli::reach::{self, To};
use crate::cli::{Status, Streams, report};
use crate::client::{Fault, LineProblem, Request, parameters, segment};

/// `tidings tenant`.
#[derive(clap::Args)]
pub(in crate::cli) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// List tenants
    List(List),
    /// Show a tenant
    Show(Show),
    /// Make a tenant, or change what is given of one
    Set(Box<Set>),
    /// Delete a tenant: what waits is cancelled, and what was told leaves inboxes
    Delete(Delete),
    /// List the members of a tenant
    Members(Members),
    /// Make a recipient a member of a tenant
    AddMember(AddMember),
    /// End a membership, and the recipient's subscriptions of that tenant
    RemoveMember(RemoveMember),
}

/// A page of rows.
#[derive(clap::Args)]
struct Page {
    /// Number of rows
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = value_parser!(u32).range(1..=500))]
    limit: u32,
    /// Cursor of the next page, as the page before printed it
    #[arg(long, value_name = "NEXT")]
    cursor: Option<String>,
    #[command(flatten)]
    to: To,
}

/// `tidings tenant list`.
#[derive(clap::Args)]
struct List {
    #[command(flatten)]
    page: Page,
}

/// `tidings tenant show`.
#[derive(clap::Args)]
struct Show {
    /// Tenant id
    tenant: String,
    #[command(flatten)]
    to: To,
}

/// `tidings tenant set`.
#[derive(clap::Args)]
struct Set {
    /// Tenant id
    #[arg(value_parser = Id::new)]
    tenant: Id,
    /// JSON object of what changes, as the API takes it and `show --json` prints it; `-` is standard input
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Name to show
    #[arg(long)]
    name: Option<String>,
    /// Locale of recipients that have none
    #[arg(long)]
    locale: Option<String>,
    /// Time zone of recipients that have none
    #[arg(long)]
    tz: Option<String>,
    /// Name of the sender of its messages
    #[arg(long, value_name = "NAME")]
    from_name: Option<String>,
    /// Mailbox to which answers to its mails go
    #[arg(long, value_name = "MAILBOX")]
    reply_to: Option<String>,
    /// Publish nothing for it, and cancel what waits
    #[arg(long)]
    disable: bool,
    /// Publish for it again
    #[arg(long, conflicts_with = "disable")]
    enable: bool,
    #[command(flatten)]
    to: To,
}

/// `tidings tenant delete`.
#[derive(clap::Args)]
struct Delete {
    /// Tenant id
    tenant: String,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    to: To,
}

/// `tidings tenant members`.
#[derive(clap::Args)]
struct Members {
    /// Tenant id
    tenant: String,
    #[command(flatten)]
    page: Page,
}

/// A recipient as a member of a tenant.
#[derive(clap::Args)]
struct Membership {
    /// Tenant id
    tenant: String,
    /// Recipient id
    recipient: String,
}

/// `tidings tenant add-member`.
#[derive(clap::Args)]
struct AddMember {
    #[command(flatten)]
    of: Membership,
    #[command(flatten)]
    to: To,
}

/// `tidings tenant remove-member`.
#[derive(clap::Args)]
struct RemoveMember {
    #[command(flatten)]
    of: Membership,
    #[command(flatten)]
    to: To,
}

/// Runs the command.
pub(in crate::cli) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> io::Result<Status> {
    match &arguments.what {
        What::List(list) => calls::run(list, streams),
        What::Show(show) => calls::run(show, streams),
        What::Set(set) => set.run(streams),
        What::Delete(delete) => calls::run(delete, streams),
        What::Members(members) => calls::run(members, streams),
        What::AddMember(add) => calls::run(add, streams),
        What::RemoveMember(remove) => calls::run(remove, streams),
    }
}

fn path(tenant: &str) -> String {
    format!("/v1/tenants/{}", segment(tenant))
}

impl Page {
    fn request(&self, path: &str) -> Request {
        let cursor = parameters([("cursor", self.cursor.as_deref())]);
        Request::get(format!("{path}?limit={}{cursor}", self.limit))
    }
}

impl Membership {
    fn path(&self) -> String {
        format!("{}/members/{}", path(&self.tenant), segment(&self.recipient))
    }
}

impl Set {
    /// What changes: the flags go before the file.
    fn body(&self) -> Result<Value, String> {
        let mut body = match &self.file {
            Some(file) => object(file)?,
            None => Map::new(),
        };
        body.insert("id".to_owned(), json!(self.tenant.as_str()));
        let texts = [
            ("name", &self.name),
            ("locale", &self.locale),
            ("tz", &self.tz),
            ("from_name", &self.from_name),
            ("reply_to", &self.reply_to),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                body.insert(name.to_owned(), json!(text));
            }
        }
        if self.disable || self.enable {
            body.insert("disabled".to_owned(), json!(self.disable));
        }
        Ok(body.into())
    }

    fn run(&self, streams: &mut Streams<'_>) -> io::Result<Status> {
        let body = match self.body() {
            Ok(body) => body,
            Err(fault) => return Ok(report(streams, &fault, Status::Wrong)),
        };
        // The call with many makes those that are not there.
        let request = Request::post("/v1/tenants".to_owned()).lines(format!("{body}\n").into());
        let mut reach = match reach::find(&self.to, request.purpose(), streams) {
            Ok(reach) => reach,
            Err(status) => return Ok(status),
        };
        let done = reach.ask(&request).and_then(|asked| {
            let lines = asked.success()?.lines()?;
            let line = lines.first().ok_or_else(|| Fault::Odd("it has no line".to_owned()))?;
            LineProblem::of(line).map_or(Ok(()), |problem| Err(problem.into_fault()))
        });
        let closed = reach.close();
        if let Err(fault) = done.and(closed) {
            return Ok(reach::report_fault(&fault, streams));
        }
        match self.to.json {
            true => writeln!(streams.out, "{{}}")?,
            false => writeln!(streams.out, "The tenant {} is saved", self.tenant)?,
        }
        Ok(Status::Done)
    }
}

/// The object of a file.
fn object(file: &Path) -> Result<Map<String, Value>, String> {
    let shown = file.display();
    let mut text = String::new();
    let read = match file.to_str() {
        Some("-") => io::stdin().lock().read_to_string(&mut text).map(drop),
        _ => fs::read_to_string(file).map(|read| text = read),
    };
    read.map_err(|fault| format!("can't read {shown}: {fault}"))?;
    serde_json::from_str(&text).map_err(|fault| {
        format!("{shown}: {fault}\n  = help: write a JSON object, such as {{\"name\": \"Acme\"}}")
    })
}

impl Call for List {
    fn to(&self) -> &To {
        &self.page.to
    }

    fn request(&self) -> Request {
        self.page.request("/v1/tenants")
    }

    fn write(&self, answer: &Value, out: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::new(&["ID", "NAME", "LOCALE", "TZ", "DISABLED"]);
        for one in list(answer, "tenants") {
            let names = ["id", "name", "locale", "tz", "disabled"];
            table.whole_row(names.map(|name| cell(one, name)));
        }
        table.write_page(answer, "No tenants", out)
    }
}

impl Call for Show {
    fn to(&self) -> &To {
        &self.to
    }

    fn request(&self) -> Request {
        Request::get(path(&self.tenant))
    }

    fn write(&self, answer: &Value, out: &mut dyn Write) -> io::Result<()> {
        write_fields(answer, &[], out)
    }
}

impl Call for Delete {
    fn to(&self) -> &To {
        &self.to
    }

    fn request(&self) -> Request {
        Request::delete(path(&self.tenant))
    }

    fn confirm(&self, streams: &mut Streams<'_>) -> io::Result<Option<Status>> {
        let what = format!(
            "the tenant {}: what waits is cancelled, and what was told leaves inboxes",
            self.tenant
        );
        confirmed(self.yes, &what, streams)
    }

    fn write(&self, _: &Value, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "Deleted the tenant {}", self.tenant)
    }
}

impl Call for Members {
    fn to(&self) -> &To {
        &self.page.to
    }

    fn request(&self) -> Request {
        self.page.request(&format!("{}/members", path(&self.tenant)))
    }

    fn write(&self, answer: &Value, out: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::new(&["RECIPIENT", "NAME"]);
        for one in list(answer, "members") {
            table.whole_row(["id", "name"].map(|name| cell(one, name)));
        }
        table.write_page(answer, "No members", out)?;
        match cell(answer, "missing") {
            missing if missing.is_empty() => Ok(()),
            missing => writeln!(out, "No answer from {missing}: their members are left out"),
        }
    }
}

impl Call for AddMember {
    fn to(&self) -> &To {
        &self.to
    }

    fn request(&self) -> Request {
        Request::put(self.of.path())
    }

    fn write(&self, _: &Value, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{} is a member of {}", self.of.recipient, self.of.tenant)
    }
}

impl Call for RemoveMember {
    fn to(&self) -> &To {
        &self.to
    }

    fn request(&self) -> Request {
        Request::delete(self.of.path())
    }

    fn write(&self, _: &Value, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{} is no member of {}", self.of.recipient, self.of.tenant)
    }
}
