//! `tidings hooks`: lists the hooks, resumes and replays them.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::cli::calls::{self, Call};
use crate::cli::print::table::{Table, cell};
use crate::cli::reach::To;
use crate::cli::{Status, Streams};
use crate::client::{Request, segment};

/// `tidings hooks`.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(in crate::cli) struct Arguments {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    list: List,
}

#[derive(clap::Subcommand)]
enum What {
    /// List the hooks: which are off, and how much each is still to be told
    List(List),
    /// Turn a hook on again that answered 410
    Resume(Resume),
    /// Send a hook again what occurred since a time, under the same ids
    Replay(Replay),
}

/// `tidings hooks list`.
#[derive(clap::Args)]
struct List {
    #[command(flatten)]
    to: To,
}

/// `tidings hooks resume`.
#[derive(clap::Args)]
struct Resume {
    /// Name of the hook
    name: String,
    #[command(flatten)]
    to: To,
}

/// `tidings hooks replay`.
#[derive(clap::Args)]
struct Replay {
    /// Name of the hook
    name: String,
    /// Time (RFC 3339), or a duration until now, such as `2h`
    #[arg(long, value_name = "TIME")]
    since: String,
    #[command(flatten)]
    to: To,
}

/// Runs the command.
pub(in crate::cli) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> io::Result<Status> {
    match &arguments.what {
        None => calls::run(&arguments.list, streams),
        Some(What::List(list)) => calls::run(list, streams),
        Some(What::Resume(resume)) => calls::run(resume, streams),
        Some(What::Replay(replay)) => calls::run(replay, streams),
    }
}

impl Call for List {
    fn to(&self) -> &To {
        &self.to
    }

    fn request(&self) -> Request {
        Request::get("/v1/hooks".to_owned())
    }

    fn write(&self, answer: &Value, out: &mut dyn Write) -> io::Result<()> {
        let hooks = answer.as_array().map_or(&[][..], Vec::as_slice);
        if hooks.is_empty() {
            return writeln!(out, "No hooks: add `[[hooks]]` to the configuration");
        }
        let mut table = Table::new(&["NAME", "STATE", "BACKLOG", "LAST AT", "STATUS", "URL"]);
        for hook in hooks {
            let of_hook = ["name", "state", "backlog"].map(|key| cell(hook, key));
            let last = ["at", "status"].map(|key| cell(&hook["last"], key));
            table.row(of_hook.into_iter().chain(last).chain([cell(hook, "url")]));
        }
        table.write(out)
    }
}

impl Call for Resume {
    fn to(&self) -> &To {
        &self.to
    }

    fn request(&self) -> Request {
        Request::post(format!("/v1/hooks/{}/resume", segment(&self.name)))
    }

    fn write(&self, _: &Value, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "The hook {} is on", self.name)
    }
}

impl Call for Replay {
    fn to(&self) -> &To {
        &self.to
    }

    fn request(&self) -> Request {
        Request::post(format!("/v1/hooks/{}/replay", segment(&self.name)))
            .json(&json!({"since": self.since}))
    }

    fn write(&self, _: &Value, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "The hook {} is sent again what occurred since {}", self.name, self.since)
    }
}
