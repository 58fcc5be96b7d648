//! Shared parts of the commands that call a server or open a directory.

use std::ffi::OsString;
use std::path::PathBuf;

use tidings_config::wording::all_of;
use tidings_core::model::CHANNELS;
use tidings_store::StorePlace;

use super::{Status, Streams, report};
use crate::client::{CallFault, CallTarget, Purpose, ServerOptions};

/// The target and output options of a command.
#[derive(Clone, clap::Args)]
#[command(next_help_heading = "Connection")]
pub(super) struct TargetArguments {
    /// Address of the server [default: http://127.0.0.1:8990] [env: TIDINGS_URL]. Not together with --data
    #[arg(long, value_name = "URL", conflicts_with = "data")]
    pub(super) url: Option<String>,
    /// API key of the server [env: TIDINGS_KEY]
    #[arg(long, value_name = "API_KEY")]
    pub(super) key: Option<String>,
    /// Data directory. Uses the running server if there is one, else opens it directly [env: TIDINGS_DATA].
    /// Not together with --url
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
    /// Database that nodes share. Uses a running node if there is one, else opens it directly [env: TIDINGS_STORE].
    /// Not together with --url or --data
    #[arg(long, value_name = "URL", conflicts_with_all = ["url", "data"])]
    pub(super) store: Option<String>,
    /// Configuration for changes to a store without a server
    #[arg(long, value_name = "FILE", default_value = "tidings.toml")]
    pub(super) config: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

impl TargetArguments {
    /// Reads from the command line, or else the environment, where the answer comes from. What is named
    /// on the command line goes before the environment, and an address there before a directory.
    fn place(&self, environment: &dyn Fn(&str) -> Option<OsString>) -> ServerOptions {
        let given = |name: &str| environment(name).filter(|value| !value.is_empty());
        let is_named = self.url.is_some() || self.data.is_some() || self.store.is_some();
        let url = given(URL_VARIABLE).filter(|_| !is_named);
        let url = url.and_then(|url| url.into_string().ok());
        let is_named = is_named || url.is_some();
        let store = given(STORE_VARIABLE).filter(|_| !is_named);
        let store = store.and_then(|store| store.into_string().ok());
        let data = given(DATA_VARIABLE).filter(|_| !is_named && store.is_none());
        ServerOptions {
            url: self.url.clone().or(url),
            key: key(self.key.as_deref(), environment),
            store: store_place(
                self.data.clone().or(data.map(PathBuf::from)),
                self.store.clone().or(store),
            ),
            config: self.config.clone(),
        }
    }
}

impl TargetArguments {
    /// The store that is named, on the command line or in the environment.
    pub(super) fn store_place(&self) -> Option<StorePlace> {
        let place = self.place(&|name| std::env::var_os(name));
        place.store.filter(|_| place.url.is_none())
    }

    /// Finds the server or opens the store.
    pub(super) fn find(&self, purpose: Purpose) -> Result<CallTarget, CallFault> {
        CallTarget::find(&self.place(&|name| std::env::var_os(name)), purpose)
    }
}

/// The API key, from the command line or else the environment. It is not read there by the parser, which would name the
/// option in each usage as if it were wanted.
pub(super) fn key(
    given: Option<&str>,
    environment: &dyn Fn(&str) -> Option<OsString>,
) -> Option<String> {
    let key = given.map(str::to_owned);
    let key = key.or_else(|| environment(KEY_VARIABLE).and_then(|key| key.into_string().ok()));
    key.filter(|key| !key.is_empty())
}

/// The place of a store by its directory or its database.
pub(super) fn store_place(data: Option<PathBuf>, store: Option<String>) -> Option<StorePlace> {
    store.map(StorePlace::Database).or(data.map(StorePlace::Directory))
}

/// The variable with the server's address if the command line has none.
const URL_VARIABLE: &str = "TIDINGS_URL";

/// The variable with the API key if the command line has none.
const KEY_VARIABLE: &str = "TIDINGS_KEY";

/// The variable with the data directory if the command line has none.
pub(super) const DATA_VARIABLE: &str = "TIDINGS_DATA";

/// The variable with the address of the shared store.
pub(super) const STORE_VARIABLE: &str = "TIDINGS_STORE";

/// Finds the server or opens the directory; faults are reported.
pub(super) fn find(
    to: &TargetArguments,
    purpose: Purpose,
    streams: &mut Streams<'_>,
) -> Result<CallTarget, Status> {
    to.find(purpose).map_err(|fault| report_fault(&fault, streams))
}

/// Reports a fault and returns the command's status.
pub(super) fn report_fault(fault: &CallFault, streams: &mut Streams<'_>) -> Status {
    let status = match fault {
        CallFault::Configuration(faults) => {
            // They say themselves that they are errors, each with its place.
            let _ = write!(streams.err, "{faults}");
            return Status::Wrong;
        }
        CallFault::Address { .. } | CallFault::Untrusted { .. } => Status::Wrong,
        // Of a command line that can't be meant.
        CallFault::Refused { status, code, .. }
            if *status == axum::http::StatusCode::UNAUTHORIZED
                || matches!(code.as_str(), "invalid_query" | "key_not_found") =>
        {
            Status::Wrong
        }
        CallFault::Store(fault) => Status::of_store(fault),
        CallFault::Start(fault) => Status::of_start(fault),
        CallFault::NoStore(_) | CallFault::Held(_) => Status::Unusable,
        CallFault::NoServer { .. }
        | CallFault::NoAnswer { .. }
        | CallFault::Refused { .. }
        | CallFault::Odd(_)
        | CallFault::Node(_) => Status::Failed,
    };
    report(streams, &said(fault), status)
}

/// A fault in the words of the command line: the server's hints are for clients of its API.
fn said(fault: &CallFault) -> String {
    let CallFault::Refused { code, reason, .. } = fault else {
        return fault.to_string();
    };
    let hint = match code.as_str() {
        "unauthorized" => {
            return "no API key, or one that the server does not know. Set TIDINGS_KEY or pass --key. \
                    Create one: tidings key new --data DIR, or --store URL"
                .to_owned();
        }
        "key_not_found" => return format!("{reason}; `tidings key list` lists the keys"),
        "recipient_not_found" => "recipients are created by `tidings import` or by the application",
        "message_not_found" => {
            "`tidings messages` lists messages; they are kept for as many days as `[store] keep` says"
        }
        "event_not_found" => "events are kept for as many days as `[store] keep` says",
        "unknown_type" | "type_not_found" => {
            "types are declared under [types] in the server's configuration"
        }
        "unknown_channel" | "channel_not_found" => {
            let names = all_of(&CHANNELS);
            return format!("{reason}\n  = help: the channels are {names}");
        }
        _ => return fault.to_string(),
    };
    format!("{reason}\n  = help: {hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(url: Option<&str>, data: Option<&str>) -> TargetArguments {
        TargetArguments {
            url: url.map(str::to_owned),
            key: Some(String::new()),
            data: data.map(PathBuf::from),
            store: None,
            config: PathBuf::new(),
            json: false,
        }
    }

    #[test]
    fn the_command_line_goes_before_the_environment() {
        let both = |name: &str| {
            Some(OsString::from(match name {
                URL_VARIABLE => "http://there",
                _ => "there",
            }))
        };
        let data = |name: &str| (name == DATA_VARIABLE).then(|| OsString::from("there"));
        let none = |_: &str| Some(OsString::new());
        let store =
            |name: &str| (name == STORE_VARIABLE).then(|| OsString::from("postgres://u:p@h/d"));
        let named = |place: ServerOptions| (place.url, place.store.map(|store| store.to_string()));
        let (url, dir) = (Some("http://there".to_owned()), Some("there".to_owned()));
        assert_eq!(named(to(None, None).place(&both)), (url, None));
        assert_eq!(named(to(None, None).place(&data)), (None, dir));
        assert_eq!(named(to(None, None).place(&none)), (None, None));
        let database = Some("postgres://h/d".to_owned());
        assert_eq!(named(to(None, None).place(&store)), (None, database));
        let here = named(to(None, Some("here")).place(&both));
        assert_eq!(here, (None, Some("here".to_owned())));
        let here = named(to(Some("http://here"), None).place(&both));
        assert_eq!(here, (Some("http://here".to_owned()), None));
        assert_eq!(to(None, None).place(&none).key, None);
        let variable = |name: &str| (name == KEY_VARIABLE).then(|| OsString::from("k"));
        assert_eq!(key(None, &variable).as_deref(), Some("k"));
        assert_eq!(key(Some("given"), &variable).as_deref(), Some("given"));
    }
}
