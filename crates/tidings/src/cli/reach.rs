//! What the commands have in common that ask a server or open its directory.

use std::path::PathBuf;

use super::{Status, Streams, report};
use crate::client::{Fault, Place, Purpose, Reach};

/// Where a command goes, and how it answers.
#[derive(clap::Args)]
pub(super) struct To {
    /// The server's address [default: http://127.0.0.1:8990] [env: TIDINGS_URL, where neither this nor
    /// --data is given]
    #[arg(long, value_name = "URL", conflicts_with = "data")]
    pub(super) url: Option<String>,
    /// A key of the server
    #[arg(long, value_name = "KEY", env = "TIDINGS_KEY", hide_env_values = true)]
    pub(super) key: Option<String>,
    /// The data directory: the server that has it open is asked, or it is opened where none has
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
    /// The configuration by which the directory is opened
    #[arg(long, value_name = "FILE", default_value = "tidings.toml")]
    pub(super) config: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Names a server where the command line names nothing.
const URL_VARIABLE: &str = "TIDINGS_URL";

/// Finds who answers; what stands in the way is reported.
pub(super) fn find(to: &To, purpose: Purpose, streams: &mut Streams<'_>) -> Result<Reach, Status> {
    let usual = || std::env::var(URL_VARIABLE).ok();
    let url = to.url.clone().or_else(|| match to.data {
        Some(_) => None,
        None => usual().filter(|url| !url.is_empty()),
    });
    let place = Place {
        url,
        key: to.key.clone().filter(|key| !key.is_empty()),
        data: to.data.clone(),
        config: to.config.clone(),
    };
    Reach::find(&place, purpose).map_err(|fault| report_fault(&fault, streams))
}

/// Reports a fault; how the command ends by it.
pub(super) fn report_fault(fault: &Fault, streams: &mut Streams<'_>) -> Status {
    let status = match fault {
        Fault::Configuration(faults) => {
            // They say themselves that they are errors, each with its place.
            let _ = write!(streams.err, "{faults}");
            return Status::Wrong;
        }
        Fault::Address { .. } => Status::Wrong,
        // Of a command line that can't be meant.
        Fault::Refused { status, code, .. }
            if *status == axum::http::StatusCode::UNAUTHORIZED || code == "invalid_query" =>
        {
            Status::Wrong
        }
        Fault::Store(fault) => Status::of_store(fault),
        Fault::Start(fault) => Status::of_start(fault),
        Fault::NoStore(_) | Fault::Held(_) => Status::Unusable,
        Fault::NoServer { .. }
        | Fault::NoAnswer { .. }
        | Fault::Refused { .. }
        | Fault::Odd(_)
        | Fault::Node(_) => Status::Failed,
    };
    report(streams, &fault.to_string(), status)
}
