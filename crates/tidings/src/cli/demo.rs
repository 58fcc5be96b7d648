//! `tidings demo`: plays a museum's winter for 25,000 recipients, and serves a page that shows the
//! result.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tempfile::TempDir;
use tidings_core::Books;
use tidings_core::time::HOUR_MS;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use super::{Progress, Status, Streams, report, signals};
use crate::demo::page::text::{date, milliseconds, number};
use crate::demo::page::view::Summary;
use crate::demo::play::{self, Afterwards, Fault};
use crate::demo::told::Told;
use crate::demo::{Scenario, page};

/// Arguments of `demo`.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Play and print only; serve no page
    #[arg(long)]
    pub(super) headless: bool,
    /// Print one JSON object: the counters of the summary, and durations
    #[arg(long)]
    pub(super) json: bool,
    /// Keep the store and the Maildir in this directory, which must be empty or absent; else they are
    /// deleted at the end
    #[arg(long, value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
    /// Address of the page
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8990", value_parser = super::serve::address)]
    pub(super) listen: SocketAddr,
}

/// The location of store and Maildir.
enum Data {
    Kept(PathBuf),
    /// Removed when dropped.
    Passing(TempDir),
}

impl Data {
    fn path(&self) -> &Path {
        match self {
            Self::Kept(dir) => dir,
            Self::Passing(dir) => dir.path(),
        }
    }

    fn afterwards(&self) -> Afterwards {
        match self {
            Self::Kept(_) => Afterwards::Kept,
            Self::Passing(_) => Afterwards::Removed,
        }
    }
}

/// Runs the command over a scenario.
pub(super) fn run(
    arguments: &Arguments,
    scenario: Scenario,
    streams: &mut Streams<'_>,
) -> io::Result<Status> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let stop = signals::stop(&runtime).subscribe();
    // Before anything is played: who waited for it wants to see the page.
    let listener = match arguments.headless {
        true => None,
        false => match runtime.block_on(TcpListener::bind(arguments.listen)) {
            Ok(listener) => Some(listener),
            Err(error) => return Ok(refuse_port(arguments.listen, &error, streams)),
        },
    };
    let data = match &arguments.data {
        Some(dir) => Data::Kept(dir.clone()),
        None => Data::Passing(tempfile::Builder::new().prefix("tidings-demo-").tempdir()?),
    };
    let mut teller = Teller::new(streams.progress, &scenario);
    let played = play::play(&scenario, data.path(), data.afterwards(), &mut |at| {
        teller.tell(at, streams.err);
        if *stop.borrow() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    teller.end();
    let told = match played {
        Ok(played) => Told::new(played, scenario),
        Err(fault) => return Ok(report(streams, &fault.to_string(), status_of(&fault))),
    };
    let summary = told.numbers();
    match arguments.json {
        true => write_json(summary, streams.out)?,
        false => write_story(summary, &data, streams.out)?,
    }
    streams.out.flush()?;
    if !summary.books.balance() {
        return Ok(report(streams, "the books do not balance", Status::Failed));
    }
    if let Some(listener) = listener {
        serve(&runtime, listener, told, stop, streams)?;
    }
    Ok(Status::Done)
}

fn status_of(fault: &Fault) -> Status {
    match fault {
        Fault::Occupied(_) => Status::Wrong,
        Fault::Store(fault) => Status::of_store(fault),
        Fault::Node(fault) => Status::of_node(fault),
        _ => Status::Failed,
    }
}

fn refuse_port(listen: SocketAddr, error: &io::Error, streams: &mut Streams<'_>) -> Status {
    let message = format!(
        "cannot serve the page on {listen}: {error}; choose another port with `--listen 127.0.0.1:0` \
         (any that is free), or none with `--headless`"
    );
    report(streams, &message, Status::Failed)
}

fn serve(
    runtime: &Runtime,
    listener: TcpListener,
    told: Told,
    mut stop: watch::Receiver<bool>,
    streams: &mut Streams<'_>,
) -> io::Result<()> {
    let url = format!("http://{}/", listener.local_addr()?);
    writeln!(streams.err, "Look around at {url} (Ctrl-C ends it)")?;
    let router = page::router(Arc::new(told));
    let server = runtime.spawn(async move { axum::serve(listener, router).await });
    // A browser keeps its connections open: they are cut, since nothing is lost by that.
    drop(runtime.block_on(stop.wait_for(|stop| *stop)));
    server.abort();
    Ok(())
}

/// A progress report of the demo.
struct Teller {
    bar: ProgressBar,
    plain: bool,
    starts: i64,
    week: Option<i64>,
}

impl Teller {
    fn new(progress: Progress, scenario: &Scenario) -> Self {
        let hours = (scenario.ends.0 - scenario.starts.0) / HOUR_MS;
        let bar = match progress {
            Progress::Apart | Progress::Shared => ProgressBar::with_draw_target(
                Some(hours.unsigned_abs()),
                ProgressDrawTarget::stderr(),
            ),
            Progress::Plain | Progress::Hidden => ProgressBar::hidden(),
        };
        if let Ok(style) = ProgressStyle::with_template("{bar:32} {msg}") {
            bar.set_style(style);
        }
        Self {
            bar,
            plain: progress == Progress::Plain,
            starts: scenario.starts.0,
            week: None,
        }
    }

    fn tell(&mut self, progress: play::Progress, err: &mut dyn Write) {
        const WEEK_MS: i64 = 7 * 24 * HOUR_MS;
        let since = progress.at.0 - self.starts;
        let day = date(progress.at.0, "UTC");
        let text = format!("{day}, {} mails", number(progress.mails as u64));
        if self.plain && self.week != Some(since / WEEK_MS) {
            self.week = Some(since / WEEK_MS);
            // A story is told also where nobody hears how far it is.
            let _ = writeln!(err, "{text}");
        }
        self.bar.set_message(text);
        self.bar.set_position((since / HOUR_MS).unsigned_abs());
    }

    fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// The output of `--json` (contract, section 5).
#[derive(serde::Serialize)]
struct Numbers<'s> {
    #[serde(flatten)]
    books: &'s Books,
    largest_audience: u64,
    largest_audience_ms: f64,
    seconds: f64,
    warhol_followers: u64,
    warhol_ms: f64,
}

fn write_json(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let numbers = Numbers {
        books: &summary.books,
        largest_audience: summary.largest.recipients,
        largest_audience_ms: rounded(summary.largest.ms),
        seconds: rounded(summary.seconds),
        warhol_followers: summary.warhol.recipients,
        warhol_ms: rounded(summary.warhol.ms),
    };
    serde_json::to_writer(&mut *out, &numbers)?;
    out.write_all(b"\n")
}

/// To three places: what is beyond them is noise.
fn rounded(n: f64) -> f64 {
    (n * 1000.0).round() / 1000.0
}

fn write_story(summary: &Summary, data: &Data, out: &mut dyn Write) -> io::Result<()> {
    let (books, facts) = (&summary.books, &summary.facts);
    writeln!(
        out,
        "{} events for {} people in {} cities: {} notifications, {} messages, {} of them mails; \
         {:.1} seconds.\n",
        number(books.events),
        number(facts.recipients as u64),
        number(facts.cities as u64),
        number(books.notifications),
        number(books.messages),
        number(summary.mails),
        summary.seconds,
    )?;
    for (what, event) in [
        ("Andy Warhol", &summary.warhol),
        ("largest audience", &summary.largest),
    ] {
        if event.recipients > 0 {
            writeln!(
                out,
                "{:<18}{:>10} people in {:>7}   {}",
                what,
                number(event.recipients),
                milliseconds(event.ms),
                event.title
            )?;
        }
    }
    write_books(books, out)?;
    let dir = data.path();
    writeln!(out, "\nstore    {}", play::store_in(dir).display())?;
    writeln!(out, "Maildir  {}", play::maildir_in(dir).display())?;
    if matches!(data, Data::Passing(_)) {
        writeln!(out, "Both go when this ends; `--data DIR` keeps them.")?;
    }
    Ok(())
}

fn write_books(books: &Books, out: &mut dyn Write) -> io::Result<()> {
    let outcomes = [
        ("delivered", books.delivered),
        ("cancelled", books.cancelled),
        ("skipped", books.skipped),
        ("expired", books.expired),
        ("failed", books.failed),
        ("unknown", books.unknown),
        ("pending", books.pending),
    ];
    writeln!(out, "\nThe books, in entries (a notification on a channel)")?;
    for (name, count) in outcomes {
        writeln!(out, "  {name:<14}{:>14}", number(count))?;
    }
    let sum = outcomes.iter().map(|(_, count)| count).sum();
    writeln!(out, "  {:-<28}", "")?;
    writeln!(out, "  {:<14}{:>14}", "together", number(sum))?;
    writeln!(out, "  {:<14}{:>14}", "entries made", number(books.entries))?;
    match books.balance() {
        true => writeln!(out, "The books balance: nothing lost, nothing told twice."),
        false => writeln!(
            out,
            "The books do not balance: {} lost, {} told twice.",
            number(books.lost),
            number(books.duplicates)
        ),
    }
}

#[cfg(test)]
mod tests;
