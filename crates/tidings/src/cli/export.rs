//! `tidings export`: the store's last days as a timeline, or all data of a recipient.

use std::io;

use tidings_core::Id;

use super::reach::{self, TargetArguments};
use super::{Status, Streams, report};
use crate::client::{Purpose, Request, parameters, segment};

/// Arguments of `export`.
#[derive(clap::Args)]
pub(super) struct ExportArguments {
    /// Days, today (UTC) included
    #[arg(long, value_name = "DAYS", default_value_t = DAYS, value_parser = clap::value_parser!(u16).range(1..=3650))]
    days: u16,
    /// Only what is of this tenant: its events, and its members by name alone
    #[arg(long, value_name = "ID", value_parser = Id::new)]
    tenant: Option<Id>,
    /// All data of this recipient, as one JSON document, instead of a timeline
    #[arg(long, value_name = "ID", value_parser = Id::new, conflicts_with_all = ["days", "tenant"])]
    recipient: Option<Id>,
    #[command(flatten)]
    to: TargetArguments,
}

/// Days, if nothing is said.
pub(super) const DAYS: u16 = 7;

impl ExportArguments {
    /// The request, and what it writes.
    fn request(&self) -> (Request, &'static str) {
        match &self.recipient {
            Some(recipient) => {
                let recipient = segment(recipient.as_str());
                (Request::get(format!("/v1/recipients/{recipient}/export")), "document")
            }
            None => (request(self.days, self.tenant.as_ref()), "timeline"),
        }
    }
}

/// The request for so many days, of one tenant or of all.
pub(super) fn request(days: u16, tenant: Option<&Id>) -> Request {
    let tenant = parameters([("tenant", tenant.map(Id::as_str))]);
    Request::get(format!("/v1/export?days={days}{tenant}"))
}

/// Runs the command.
pub(super) fn run(arguments: &ExportArguments, streams: &mut Streams<'_>) -> io::Result<Status> {
    let mut reach = match reach::find(&arguments.to, Purpose::Look, streams) {
        Ok(reach) => reach,
        Err(status) => return Ok(status),
    };
    let (request, what) = arguments.request();
    let copied = match reach.stream(&request) {
        Ok(mut lines) => io::copy(&mut lines, streams.out),
        Err(fault) => return Ok(reach::report_fault(&fault, streams)),
    };
    let closed = reach.close();
    match copied {
        Ok(_) => {}
        Err(fault) if fault.kind() == io::ErrorKind::BrokenPipe => return Err(fault),
        Err(fault) => {
            let message = format!("the {what} is not whole: {fault}");
            return Ok(report(streams, &message, Status::Failed));
        }
    }
    Ok(match closed {
        Ok(()) => Status::Done,
        Err(fault) => reach::report_fault(&fault, streams),
    })
}
