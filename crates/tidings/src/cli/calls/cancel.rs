//! `tidings cancel` and `tidings withdraw`.

use std::io::{self, Write};

use serde_json::{Value, json};
use tidings_core::Id;

use super::{Call, Ended, To};
use crate::body::short::Cancel as CancelBody;
use crate::body::text::Text;
use crate::cli::print::table::{cell, list};
use crate::client::{Request, segment};

/// `tidings cancel`.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("which").required(true))]
pub(in crate::cli) struct Cancel {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    to: To,
}

/// `tidings withdraw`.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("which").required(true))]
pub(in crate::cli) struct Withdraw {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    to: To,
}

/// The events to cancel or to withdraw.
#[derive(clap::Args)]
struct Which {
    /// Event id
    #[arg(group = "which")]
    event: Option<String>,
    /// All events that were published with this cancellation key
    #[arg(long, value_name = "KEY", group = "which", value_parser = Id::new)]
    cancellation_key: Option<Id>,
    /// Only events of this tenant
    #[arg(long, value_name = "ID", value_parser = Id::new)]
    tenant: Option<Id>,
}

impl Which {
    fn request(&self, call: &str) -> Request {
        match (&self.event, &self.cancellation_key) {
            (Some(event), _) => {
                let request = Request::post(format!("/v1/events/{}/{call}", segment(event)));
                match &self.tenant {
                    Some(tenant) => request.json(&json!({ "tenant": tenant.as_str() })),
                    None => request,
                }
            }
            (None, key) => Request::post(format!("/v1/{call}")).json(&CancelBody {
                event: None,
                cancellation_key: key.clone().map(Text),
                tenant: self.tenant.clone().map(Text),
            }),
        }
    }
}

impl Call for Withdraw {
    to!();

    fn request(&self) -> Request {
        self.which.request("withdraw")
    }

    fn write(&self, answer: &Value, out: &mut dyn Write) -> io::Result<()> {
        write_cancelled(answer, out)?;
        let withdrawn = cell(answer, "withdrawn");
        writeln!(out, "Taken out of inboxes: {withdrawn}")
    }

    fn ended(&self, answer: &Value) -> Ended {
        ended_of_cancel(answer)
    }
}

impl Call for Cancel {
    to!();

    fn request(&self) -> Request {
        self.which.request("cancel")
    }

    fn write(&self, answer: &Value, out: &mut dyn Write) -> io::Result<()> {
        write_cancelled(answer, out)
    }

    fn ended(&self, answer: &Value) -> Ended {
        ended_of_cancel(answer)
    }
}

fn write_cancelled(answer: &Value, out: &mut dyn Write) -> io::Result<()> {
    let late = cell(answer, "too_late");
    match answer["status"].as_str() {
        Some("remembered") => writeln!(
            out,
            "No such event yet: it will be cancelled if it is published within 24 hours"
        ),
        Some("unknown") => {
            let unknown = list(answer, "warnings")
                .iter()
                .map(|warning| cell(warning, "detail"))
                .collect::<Vec<_>>()
                .join("; ");
            writeln!(out, "Nothing cancelled: {unknown}")
        }
        Some("nothing_left") => writeln!(out, "Nothing cancelled: nothing is left to cancel"),
        Some("too_late") => {
            writeln!(out, "Nothing cancelled: too late for {late} entries")
        }
        _ => writeln!(
            out,
            "Entries: {} cancelled, {} removed from messages, too late for {late}",
            cell(answer, "cancelled"),
            cell(answer, "removed_from_batch"),
        ),
    }
}

fn ended_of_cancel(answer: &Value) -> Ended {
    match answer["status"].as_str() {
        Some("unknown" | "nothing_left") => Ended::Failed,
        _ => Ended::Done,
    }
}
