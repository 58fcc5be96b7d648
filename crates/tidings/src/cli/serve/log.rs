//! The log of a server on standard error: lines for people, or JSON for machines.

use std::io;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::registry::LookupSpan;

/// The form of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// A JSON object a line, for machines.
    Json,
}

/// Writes the log of this process to standard error; `TIDINGS_LOG` sets its levels.
pub(super) fn to_stderr(format: LogFormat) {
    use tracing_subscriber::filter::Targets;
    use tracing_subscriber::layer::SubscriberExt as _;
    use tracing_subscriber::util::SubscriberInitExt as _;
    let levels = std::env::var("TIDINGS_LOG").ok();
    let levels = levels.and_then(|levels| levels.parse::<Targets>().ok());
    let info = || Targets::new().with_default(LevelFilter::INFO);
    let levels = levels.unwrap_or_else(info);
    // A program that embeds this may have a log of its own.
    let _ = match format {
        LogFormat::Text => {
            let is_terminal = io::IsTerminal::is_terminal(&io::stderr());
            let log = tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE);
            let log = log.with_ansi(is_terminal).with_writer(io::stderr);
            log.finish().with(levels).try_init()
        }
        LogFormat::Json => json_log(io::stderr).with(levels).try_init(),
    };
}

/// A log of JSON objects, one a line: `timestamp`, `level`, `target`, `message`, the fields of the line, and `span`, the
/// request that it is about.
fn json_log<W>(writer: W) -> impl tracing::Subscriber + for<'s> LookupSpan<'s> + Send + Sync
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_span_list(false)
        .with_max_level(LevelFilter::TRACE)
        .with_writer(writer)
        .finish()
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl<'w> MakeWriter<'w> for Log {
        type Writer = Self;

        fn make_writer(&'w self) -> Self {
            self.clone()
        }
    }

    #[test]
    fn field_4_a_log_for_machines_is_a_json_object_a_line() {
        let log = Log::default();
        tracing::subscriber::with_default(json_log(log.clone()), || {
            let _request = tracing::info_span!("request", id = "r-7").entered();
            tracing::warn!(provider = "slack", why = "two\nlines", "the provider takes nothing");
        });
        let bytes = log.0.lock().unwrap().clone();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        let line: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(line["level"], "WARN");
        assert_eq!(line["message"], "the provider takes nothing");
        assert_eq!((&line["provider"], &line["why"]), (&"slack".into(), &"two\nlines".into()));
        assert_eq!(line["span"]["id"], "r-7");
        assert!(line["timestamp"].is_string() && line["target"].is_string(), "{line}");
    }
}
