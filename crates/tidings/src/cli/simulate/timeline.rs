//! The timeline of a command: where its lines come from, and how much of it is played.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use tidings_core::{Instant, Rules};
use tidings_trial::simulate::{LineOrder, Run};

use crate::cli::{Progress, Status, Streams, export, reach, report};
use crate::client::{CallFault, CallTarget, Purpose, ServerOptions};

/// Bytes read ahead of the line that is played.
const READ_BYTES: usize = 1 << 16;

/// Arguments that name a timeline.
#[derive(clap::Args)]
pub(in crate::cli) struct TimelineArguments {
    /// Timeline to play, one JSON object per line; `-` reads standard input
    #[arg(long, value_name = "FILE", required_unless_present_any = ["data", "store", "url"], conflicts_with_all = ["data", "store", "url"])]
    timeline: Option<PathBuf>,
    /// Play the last days of this data directory instead, as `tidings export` writes them
    #[arg(long, value_name = "DIR", conflicts_with_all = ["store", "url"])]
    data: Option<PathBuf>,
    /// Play the last days of this database that nodes share instead
    #[arg(long, value_name = "URL", conflicts_with = "url")]
    store: Option<String>,
    /// Play the last days of this server instead
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// API key of the server [env: TIDINGS_KEY]
    #[arg(long, value_name = "API_KEY")]
    key: Option<String>,
    /// With --data, --store or --url: days, today (UTC) included
    #[arg(long, value_name = "DAYS", default_value_t = export::DAYS, value_parser = clap::value_parser!(u16).range(1..=3650), conflicts_with = "timeline")]
    days: u16,
    /// Stop at this instant (RFC 3339), after everything that is due then
    #[arg(long, value_name = "INSTANT", value_parser = Instant::parse)]
    until: Option<Instant>,
    /// Sort the lines by `at`; the whole timeline is kept in memory
    #[arg(long)]
    sort: bool,
}

/// A timeline that can be read.
pub(in crate::cli) enum Timeline {
    /// Read from a file.
    File(PathBuf),
    /// Read from standard input, once.
    Input,
    /// Held in memory.
    Held(Vec<u8>),
}

impl TimelineArguments {
    /// The name under which people see it.
    pub(in crate::cli) fn source(&self) -> String {
        let name = |path: &Path| path.file_name().map(|name| name.display().to_string());
        match &self.timeline {
            None => format!("the last {} days of the store", self.days),
            Some(path) if path.as_os_str() == "-" => "standard input".to_owned(),
            Some(path) => name(path).unwrap_or_default(),
        }
    }

    /// The instant at which it stops.
    pub(in crate::cli) fn until(&self) -> Option<Instant> {
        self.until
    }

    /// The timeline, to be read once; faults are reported.
    pub(in crate::cli) fn once(&self, streams: &mut Streams<'_>) -> Result<Timeline, Status> {
        match &self.timeline {
            None => self.exported(streams).map(Timeline::Held),
            Some(path) if path.as_os_str() == "-" => Ok(Timeline::Input),
            Some(path) => Ok(Timeline::File(path.clone())),
        }
    }

    /// The timeline, to be read several times; faults are reported.
    pub(in crate::cli) fn again(&self, streams: &mut Streams<'_>) -> Result<Timeline, Status> {
        match self.once(streams)? {
            Timeline::Input => {
                let mut held = Vec::new();
                match io::stdin().lock().read_to_end(&mut held) {
                    Ok(_) => Ok(Timeline::Held(held)),
                    Err(error) => {
                        let message = format!("cannot read standard input: {error}");
                        Err(report(streams, &message, Status::Failed))
                    }
                }
            }
            other => Ok(other),
        }
    }

    /// The last days of a store.
    fn exported(&self, streams: &mut Streams<'_>) -> Result<Vec<u8>, Status> {
        let place = ServerOptions {
            url: self.url.clone(),
            key: reach::key(self.key.as_deref(), &|name| std::env::var_os(name)),
            store: reach::store_place(self.data.clone(), self.store.clone()),
            // Nothing is changed there.
            config: PathBuf::new(),
        };
        let read = || -> Result<Vec<u8>, CallFault> {
            let mut reach = CallTarget::find(&place, Purpose::Look)?;
            let mut held = Vec::new();
            let copied = reach.stream(&export::request(self.days, None))?.read_to_end(&mut held);
            copied.map_err(|fault| CallFault::Odd(fault.to_string()))?;
            reach.close()?;
            Ok(held)
        };
        read().map_err(|fault| reach::report_fault(&fault, streams))
    }

    /// A run over the timeline under these rules; faults are reported.
    pub(in crate::cli) fn run<'r>(
        &self,
        timeline: &'r Timeline,
        rules: &'r Rules,
        bar: &ProgressBar,
        streams: &mut Streams<'_>,
    ) -> Result<Run<'r, Box<dyn BufRead + 'r>>, Status> {
        let timeline = timeline.open(streams.progress, bar).map_err(|error| {
            let path = self.timeline.as_deref().unwrap_or(Path::new("-"));
            let message = format!("cannot open {}: {error}", path.display());
            report(streams, &message, Status::Wrong)
        })?;
        Ok(Run {
            rules,
            timeline,
            order: if self.sort { LineOrder::ByInstant } else { LineOrder::AsGiven },
            until: self.until,
        })
    }
}

impl Timeline {
    fn open<'t>(
        &'t self,
        progress: Progress,
        bar: &ProgressBar,
    ) -> io::Result<Box<dyn BufRead + 't>> {
        let (source, bytes): (Box<dyn Read + 't>, Option<u64>) = match self {
            Self::Input => (Box::new(io::stdin()), None),
            Self::Held(held) => (Box::new(held.as_slice()), Some(held.len() as u64)),
            Self::File(path) => file(path)?,
        };
        if progress != Progress::Apart {
            return Ok(Box::new(BufReader::with_capacity(READ_BYTES, source)));
        }
        bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
        let template = match bytes {
            Some(bytes) => {
                bar.set_length(bytes);
                "{bar:40} {bytes} of {total_bytes}, {eta} left"
            }
            None => "{spinner} {bytes} read in {elapsed}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Ok(Box::new(BufReader::with_capacity(READ_BYTES, bar.wrap_read(source))))
    }
}

/// A file, with its length where it has one.
fn file(path: &Path) -> io::Result<(Box<dyn Read>, Option<u64>)> {
    let file = File::open(path)?;
    let about = file.metadata().ok().filter(std::fs::Metadata::is_file);
    let bytes = about.map(|about| about.len());
    Ok((Box::new(file), bytes))
}
