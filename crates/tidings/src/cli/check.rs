//! `tidings check`: checks a configuration.

mod locales;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::json;
use tidings_config::zone;
use tidings_config::{CheckedConfig, Faults, duration};
use tidings_core::Rules;
use tidings_core::rules::{Policy, TypeRules};
use tidings_http::feedback::maildir;

use super::reach::TargetArguments;
use super::{Status, Streams};
use crate::app;

/// Arguments of `check`.
#[derive(clap::Args)]
pub(super) struct CheckArguments {
    /// Configuration [default: tidings.toml]
    file: Option<PathBuf>,
    /// Configuration, as other commands take it
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    config: Option<PathBuf>,
    /// List the texts that are missing in each locale of the recipients; exits with 1 if one is missing
    #[arg(long)]
    locales: bool,
    /// Data directory with the recipients [env: TIDINGS_DATA]
    #[arg(long, value_name = "DIR", requires = "locales", conflicts_with_all = ["store", "url"])]
    data: Option<PathBuf>,
    /// Database with the recipients [env: TIDINGS_STORE]
    #[arg(long, value_name = "URL", requires = "locales", conflicts_with = "url")]
    store: Option<String>,
    /// Address of the server with the recipients [env: TIDINGS_URL]
    #[arg(long, value_name = "URL", requires = "locales")]
    url: Option<String>,
    /// API key of the server [env: TIDINGS_KEY]
    #[arg(long, value_name = "API_KEY")]
    key: Option<String>,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(super) fn run(arguments: &CheckArguments, streams: &mut Streams<'_>) -> io::Result<Status> {
    let path = arguments
        .file
        .as_ref()
        .or(arguments.config.as_ref())
        .map_or(Path::new("tidings.toml"), PathBuf::as_path);
    let file = path.display().to_string();
    let read = tidings_config::check(path);
    if let (true, Ok(checked)) = (arguments.locales, &read) {
        let to = TargetArguments {
            url: arguments.url.clone(),
            key: arguments.key.clone(),
            data: arguments.data.clone(),
            store: arguments.store.clone(),
            config: path.to_owned(),
            json: arguments.json,
        };
        return locales::list(&file, checked, &to, streams);
    }
    let broken = read.as_ref().map(|checked| broken_secrets(&checked.rules)).unwrap_or_default();
    let status = match &read {
        Ok(_) if broken.is_empty() => Status::Done,
        Ok(_) => Status::Failed,
        Err(_) => Status::Wrong,
    };
    match (&read, arguments.json) {
        (Ok(checked), false) => {
            write_summary(&file, checked, streams.out)?;
            for note in notes(&checked.rules) {
                writeln!(streams.out, "note: {note}")?;
            }
            for text in &broken {
                writeln!(streams.err, "error: {text}")?;
            }
        }
        (Err(faults), false) => write!(streams.err, "{faults}")?,
        (read, true) => writeln!(streams.out, "{}", to_json(&file, read.as_ref()))?,
    }
    Ok(status)
}

/// Notes on the configuration, and on what else `serve` needs.
fn notes(rules: &Rules) -> Vec<String> {
    let mut notes = tidings_config::notes(rules);
    let secrets = app::secret_faults(rules).into_iter();
    notes.extend(secrets.filter(|fault| fault.is_unset).map(|fault| fault.text));
    notes
}

/// The secrets that are set here and can't be read, or are wrong: `serve` refuses to start.
fn broken_secrets(rules: &Rules) -> Vec<String> {
    let secrets = app::secret_faults(rules).into_iter();
    secrets.filter(|fault| !fault.is_unset).map(|fault| fault.text).collect()
}

/// Warnings of the configuration, and of what it needs on this machine.
fn warnings(checked: &CheckedConfig) -> Vec<String> {
    let mut warnings = checked.warnings.clone();
    let maildir = checked.rules.feedback.maildir.as_ref();
    warnings.extend(maildir.and_then(|maildir| maildir::missing(Path::new(maildir))));
    warnings
}

fn to_json(file: &str, read: Result<&CheckedConfig, &Faults>) -> serde_json::Value {
    match read {
        Ok(checked @ CheckedConfig { rules, .. }) => json!({
            "file": file,
            "ok": broken_secrets(rules).is_empty(),
            "types": rules.types.len(),
            "categories": rules.categories.len(),
            "digests": rules.digests.len(),
            "keep": duration::print(rules.store.keep_ms),
            "time_zones": zone::release(),
            "warnings": warnings(checked),
            "notes": notes(rules),
            "secrets": broken_secrets(rules),
        }),
        Err(faults) => json!({ "file": file, "ok": false, "faults": faults.to_json() }),
    }
}

fn write_summary(file: &str, checked: &CheckedConfig, out: &mut dyn Write) -> io::Result<()> {
    let rules = &checked.rules;
    let count = |count: usize, one: &str, many: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    };
    writeln!(
        out,
        "{file}: ok, {}, {}, {}; days are kept for {}",
        count(rules.types.len(), "type", "types"),
        count(rules.categories.len(), "category", "categories"),
        count(rules.digests.len(), "digest", "digests"),
        duration::print(rules.store.keep_ms)
    )?;
    let width = rules.types.keys().map(|name| name.chars().count()).max().unwrap_or(0);
    for (name, kind) in &rules.types {
        writeln!(out, "  {name:width$}  {}", routes(kind))?;
    }
    writeln!(out, "  time zones of {}", zone::release())?;
    for warning in warnings(checked) {
        writeln!(out, "warning: {warning}")?;
    }
    Ok(())
}

fn routes(kind: &TypeRules) -> String {
    let each: Vec<String> = kind
        .channels
        .iter()
        .map(|(channel, route)| {
            let lane = route.lane.as_ref().map(|lane| format!(" in {lane}")).unwrap_or_default();
            let key = route.batch_key.as_ref();
            let key = key.map(|key| format!(" by {key}")).unwrap_or_default();
            let most = route.max_items.map(|most| format!(" up to {most}")).unwrap_or_default();
            let after = route.after_ms.map(duration::print);
            let after = after.map(|after| format!(", {after} after the inbox")).unwrap_or_default();
            format!("{channel}: {}{lane}{key}{most}{after}", policy(&route.policy))
        })
        .collect();
    let condition = kind.condition.as_ref();
    let condition = condition.map(|condition| format!("if {condition}"));
    let all: Vec<String> = each.into_iter().chain(condition).collect();
    all.join("; ")
}

fn policy(policy: &Policy) -> String {
    let print = duration::print;
    match policy {
        Policy::Now => "now".to_owned(),
        Policy::FirstEvent { hold_ms, decide } => {
            let decide = format!("{decide:?}").to_lowercase();
            format!("first_event {} ({decide})", print(*hold_ms))
        }
        Policy::Cooldown { quiet_ms, max_wait_ms } => {
            let max =
                max_wait_ms.map_or("without end".to_owned(), |ms| format!("at most {}", print(ms)));
            format!("cooldown {}, {max}", print(*quiet_ms))
        }
        Policy::Leading { quiet_ms } => format!("leading {}", print(*quiet_ms)),
        Policy::Digest { digest } => format!("digest {digest}"),
        Policy::Never => "never".to_owned(),
    }
}
