//! `tidings outbox`: the migration that makes the table out of which a feed is read.

use std::io;
use std::path::PathBuf;

use tidings_config::wording::{did_you_mean, quoted};
use tidings_core::rules::FeedRules;
use tidings_feeds::{TABLE, migration_of};

use super::{Status, Streams, report};

/// The name of a feed where nothing is configured.
const USUAL_NAME: &str = "app";

/// Arguments of `outbox`.
#[derive(clap::Args)]
pub(super) struct OutboxArguments {
    #[command(subcommand)]
    what: OutboxCommand,
}

#[derive(clap::Subcommand)]
enum OutboxCommand {
    /// Print the migration of your database, which may be run twice
    Sql(Sql),
}

#[derive(clap::Args)]
struct Sql {
    /// Feed of the configuration [default: its only one; without any, table `tidings_outbox`]
    #[arg(long, value_name = "NAME")]
    feed: Option<String>,
    /// Configuration
    #[arg(long, value_name = "FILE", default_value = "tidings.toml")]
    config: PathBuf,
}

/// Runs the command. It needs neither the database nor secrets.
pub(super) fn run(arguments: &OutboxArguments, streams: &mut Streams<'_>) -> io::Result<Status> {
    let OutboxCommand::Sql(Sql { feed, config: file }) = &arguments.what;
    if feed.is_none() && !file.exists() {
        streams.out.write_all(migration_of(USUAL_NAME, TABLE).as_bytes())?;
        return Ok(Status::Done);
    }
    let rules = match tidings_config::read(file) {
        Ok(rules) => rules,
        Err(faults) => {
            write!(streams.err, "{faults}")?;
            return Ok(Status::Wrong);
        }
    };
    let names = || rules.feeds.keys().map(String::as_str);
    let found = match feed {
        Some(name) => rules.feeds.get_key_value(name),
        None if rules.feeds.len() > 1 => {
            let names: Vec<&str> = names().collect();
            let message = format!(
                "several feeds are configured: name one with --feed, of {}",
                names.join(", ")
            );
            return Ok(report(streams, &message, Status::Wrong));
        }
        None => rules.feeds.first_key_value(),
    };
    let sql = match (found, feed) {
        (Some((name, FeedRules { table, .. })), _) => migration_of(name, table),
        (None, None) => migration_of(USUAL_NAME, TABLE),
        (None, Some(name)) => {
            let hint = did_you_mean(name, names());
            let hint =
                hint.unwrap_or_else(|| format!("add `[feeds.{name}]` to {}", file.display()));
            let message = format!("no feed is called {}; {hint}", quoted(name));
            return Ok(report(streams, &message, Status::Wrong));
        }
    };
    streams.out.write_all(sql.as_bytes())?;
    Ok(Status::Done)
}
