//! `tidings pause` and `tidings resume`.

use std::io::{self, Write};

use serde_json::{Value, json};
use tidings_core::channel::CHANNELS;

use super::{Call, Ended, Request, Streams, To, list, reach, segment, shown};
use crate::client::{Fault, Purpose, Reach};

/// Arguments of `pause`.
#[derive(clap::Args)]
pub(in crate::cli) struct Pause {
    /// `type`, `channel` or `feed`
    #[arg(value_parser = |text: &str| Steered::parse(text, "pause"))]
    what: Steered,
    /// Name of the type, channel or feed
    name: String,
    #[command(flatten)]
    to: To,
}

/// Arguments of `resume`.
#[derive(clap::Args)]
pub(in crate::cli) struct Resume {
    /// `type`, `channel` or `feed`
    #[arg(
        value_parser = |text: &str| Steered::parse(text, "resume"),
        required_unless_present = "all"
    )]
    what: Option<Steered>,
    /// Name of the type, channel or feed
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    name: Option<String>,
    /// Types and channels that are paused; after `type` or `channel` all of that kind
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    to: To,
}

/// A type, a channel or a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Steered {
    /// A type of event, on all channels.
    Type,
    /// A channel, for all types of event.
    Channel,
    /// A database out of which events are read.
    Feed,
}

impl Steered {
    /// Those that the status lists.
    const ALL: [Self; 2] = [Self::Type, Self::Channel];

    fn parse(text: &str, command: &str) -> Result<Self, String> {
        match text {
            "type" => Ok(Self::Type),
            "channel" => Ok(Self::Channel),
            "feed" => Ok(Self::Feed),
            // A name without its kind.
            text => {
                let is_channel = CHANNELS.contains(&text);
                let kind = if is_channel { "channel" } else { "type" };
                Err(format!(
                    "`type`, `channel` or `feed` comes first: `tidings {command} {kind} {text}`"
                ))
            }
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Channel => "channel",
            Self::Feed => "feed",
        }
    }

    /// The word for several, as in paths and answers.
    fn plural(self) -> &'static str {
        match self {
            Self::Type => "types",
            Self::Channel => "channels",
            Self::Feed => "feeds",
        }
    }

    fn request(self, name: &str, call: &str) -> Request {
        Request::post(format!("/v1/{}/{}/{call}", self.plural(), segment(name)))
    }
}

impl Call for Pause {
    to!();

    fn request(&self) -> Request {
        self.what.request(&self.name, "pause")
    }

    fn write(&self, _: &Value, out: &mut dyn Write) -> io::Result<()> {
        let (what, name) = (self.what.word(), &self.name);
        let done = if self.what == Steered::Feed { "read" } else { "sent" };
        writeln!(
            out,
            "Paused {what} {name}. Nothing of it is {done} until `tidings resume {what} {name}`"
        )
    }
}

/// Resuming of one type or channel.
struct One<'a> {
    what: Steered,
    name: &'a str,
    to: &'a To,
}

impl Call for One<'_> {
    fn to(&self) -> &To {
        self.to
    }

    fn request(&self) -> Request {
        self.what.request(self.name, "resume")
    }

    fn write(&self, _: &Value, out: &mut dyn Write) -> io::Result<()> {
        write_resumed(self.what, self.name, out)
    }
}

fn write_resumed(what: Steered, name: &str, out: &mut dyn Write) -> io::Result<()> {
    let then = if what == Steered::Feed { "reads it again" } else { "sends what is due" };
    let what = what.word();
    writeln!(out, "Resumed {what} {name}. A running server {then}")
}

/// Runs `resume`.
pub(in crate::cli) fn resume(arguments: &Resume, streams: &mut Streams<'_>) -> io::Result<Ended> {
    let to = &arguments.to;
    if let (Some(what), Some(name)) = (arguments.what, &arguments.name) {
        return super::run(&One { what, name, to }, streams);
    }
    let mut reach = match reach::find(to, Purpose::Change, streams) {
        Ok(reach) => reach,
        Err(status) => return Ok(status),
    };
    let kinds =
        Steered::ALL.into_iter().filter(|kind| arguments.what.is_none_or(|only| only == *kind));
    let resumed = resume_all(&mut reach, kinds);
    let closed = reach.close();
    let resumed = match resumed.and_then(|resumed| closed.map(|()| resumed)) {
        Ok(resumed) => resumed,
        Err(fault) => return Ok(reach::report_fault(&fault, streams)),
    };
    if to.json {
        let names = |kind: Steered| -> Vec<&String> {
            resumed.iter().filter(|(what, _)| *what == kind).map(|(_, name)| name).collect()
        };
        let answer = json!({"types": names(Steered::Type), "channels": names(Steered::Channel)});
        writeln!(streams.out, "{answer}")?;
        return Ok(Ended::Done);
    }
    for (what, name) in &resumed {
        write_resumed(*what, name, streams.out)?;
    }
    if resumed.is_empty() {
        writeln!(streams.out, "Nothing is paused")?;
    }
    Ok(Ended::Done)
}

/// Resumes all that is paused of some kinds, and returns what that was.
fn resume_all(
    reach: &mut Reach,
    kinds: impl Iterator<Item = Steered>,
) -> Result<Vec<(Steered, String)>, Fault> {
    let status = Request::get("/v1/admin/status".to_owned());
    let status: Value = reach.ask(&status)?.success()?.json()?;
    let mut resumed = Vec::new();
    for what in kinds {
        for name in list(&status["paused"], what.plural()).iter().map(shown) {
            reach.ask(&what.request(&name, "resume"))?.success()?;
            resumed.push((what, name));
        }
    }
    Ok(resumed)
}
