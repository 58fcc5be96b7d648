//! `tidings suppressions`: lists the addresses to which nothing is sent, adds and removes them.

use std::io::{self, Write};

use clap::value_parser;
use serde_json::{Value, json};
use tidings_core::Instant;
use tidings_core::channel::EMAIL;
use tidings_core::suppression::SuppressedFor;

use crate::cli::calls::{self, Call};
use crate::cli::print::table::{Table, cell, list};
use crate::cli::reach::To;
use crate::cli::{Status, Streams};
use crate::client::{Request, parameters, segment};

/// `tidings suppressions`.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(in crate::cli) struct Arguments {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    list: List,
}

#[derive(clap::Subcommand)]
enum What {
    /// List suppressed addresses
    List(List),
    /// Suppress an address: nothing is sent to it from now on
    Add(Add),
    /// Lift the suppression of an address
    Remove(Remove),
}

/// `tidings suppressions list`.
#[derive(clap::Args)]
struct List {
    /// Only addresses of this channel
    #[arg(long, value_name = "CHANNEL")]
    channel: Option<String>,
    /// Number of addresses
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = value_parser!(u32).range(1..=1000))]
    limit: u32,
    /// Cursor of the next page, as the page before printed it
    #[arg(long, value_name = "NEXT")]
    cursor: Option<String>,
    #[command(flatten)]
    to: To,
}

/// An address on a channel.
#[derive(clap::Args)]
struct Named {
    /// The address
    address: String,
    /// Its channel
    #[arg(long, value_name = "CHANNEL", default_value = EMAIL)]
    channel: String,
}

/// `tidings suppressions add`.
#[derive(clap::Args)]
struct Add {
    #[command(flatten)]
    named: Named,
    /// Reason: manual, bounce, complaint, stop or gone
    #[arg(long, value_name = "REASON", default_value = "manual", value_parser = reason)]
    reason: SuppressedFor,
    /// Time from which on messages are sent to it again (RFC 3339)
    #[arg(long, value_name = "TIME", value_parser = Instant::parse)]
    expires_at: Option<Instant>,
    #[command(flatten)]
    to: To,
}

/// `tidings suppressions remove`.
#[derive(clap::Args)]
struct Remove {
    #[command(flatten)]
    named: Named,
    #[command(flatten)]
    to: To,
}

fn reason(text: &str) -> Result<SuppressedFor, &'static str> {
    let mut all = SuppressedFor::ALL.into_iter();
    let found = all.find(|reason| reason.word() == text);
    found.ok_or("one of manual, bounce, complaint, stop and gone")
}

/// Runs the command.
pub(in crate::cli) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> io::Result<Status> {
    match &arguments.what {
        None => calls::run(&arguments.list, streams),
        Some(What::List(list)) => calls::run(list, streams),
        Some(What::Add(add)) => calls::run(add, streams),
        Some(What::Remove(remove)) => calls::run(remove, streams),
    }
}

impl Named {
    fn path(&self) -> String {
        let (channel, address) = (segment(&self.channel), segment(&self.address));
        format!("/v1/suppressions/{channel}/{address}")
    }
}

impl Call for List {
    fn to(&self) -> &To {
        &self.to
    }

    fn request(&self) -> Request {
        let (channel, cursor) = (self.channel.as_deref(), self.cursor.as_deref());
        let rest = parameters([("channel", channel), ("cursor", cursor)]);
        Request::get(format!("/v1/suppressions?limit={}{rest}", self.limit))
    }

    fn write(&self, answer: &Value, out: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::new(&["CHANNEL", "ADDRESS", "REASON", "SINCE", "EXPIRES AT"]);
        for one in list(answer, "suppressions") {
            let names = ["channel", "address", "reason", "since", "expires_at"];
            table.whole_row(names.map(|name| cell(one, name)));
        }
        table.write_page(answer, "No suppressed addresses", out)
    }
}

impl Call for Add {
    fn to(&self) -> &To {
        &self.to
    }

    fn request(&self) -> Request {
        let expires_at = self.expires_at.map(|at| at.to_string());
        Request::put(self.named.path()).json(&json!({
            "reason": self.reason.word(),
            "expires_at": expires_at,
        }))
    }

    fn write(&self, _: &Value, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "Nothing is sent to it from now on")
    }
}

impl Call for Remove {
    fn to(&self) -> &To {
        &self.to
    }

    fn request(&self) -> Request {
        Request::delete(self.named.path())
    }

    fn write(&self, _: &Value, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "It is not suppressed")
    }
}
