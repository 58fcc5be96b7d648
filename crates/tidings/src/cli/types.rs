//! `tidings types`: writes the types of events' `data`, for programs that publish them.

use std::io;
use std::path::PathBuf;

use super::{Status, Streams};
use crate::config;
use crate::data_types::{self, Language};

/// Arguments of `types`.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Language
    #[arg(long, value_enum)]
    lang: Language,
    /// Configuration
    #[arg(long, value_name = "FILE", default_value = "tidings.toml")]
    config: PathBuf,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> io::Result<Status> {
    match config::read(&arguments.config) {
        Ok(rules) => {
            streams.out.write_all(data_types::write(&rules, arguments.lang).as_bytes())?;
            Ok(Status::Done)
        }
        Err(faults) => {
            write!(streams.err, "{faults}")?;
            Ok(Status::Wrong)
        }
    }
}
