//! The demo as a command: plays the story, prints its outcome, and serves the page that shows it.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tempfile::TempDir;
use tidings_core::Rules;
use tidings_core::content::Totals;
use tidings_core::model::HOUR_MS;
use tidings_store::StoreId;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::page::text::{date, milliseconds, number};
use crate::page::view::Summary;
use crate::play::{self, Afterwards};
use crate::shown::Shown;
use crate::{Scenario, page};

/// Settings of the command.
pub struct DemoSettings {
    /// [`play::RULES`], parsed.
    pub rules: Rules,
    /// Address of the page; without one none is served.
    pub listen: Option<SocketAddr>,
    /// True if one JSON object is printed.
    pub json: bool,
    /// Directory of store and Maildir; without one they are deleted at the end.
    pub data: Option<PathBuf>,
    /// Identity of the store that is made.
    pub store: StoreId,
    /// The form in which progress is shown.
    pub progress: ProgressForm,
}

/// The form of progress on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressForm {
    /// As a bar on a terminal.
    Bar,
    /// As a line for each week.
    Lines,
    /// Not at all.
    Hidden,
}

/// The reason why the command failed.
#[derive(Debug, thiserror::Error)]
pub enum DemoFault {
    /// The port of the page can't be used.
    #[error(
        "cannot serve the page on {0}: {1}; choose another port with `--listen 127.0.0.1:0` \
         (any that is free), or none with `--headless`"
    )]
    Port(SocketAddr, io::Error),
    /// The story stopped before its end.
    #[error(transparent)]
    Play(#[from] play::PlayFault),
    /// A notification was lost or sent twice.
    #[error("the books do not balance")]
    Books,
    /// The results can't be written.
    #[error(transparent)]
    Output(#[from] io::Error),
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

/// Runs the command over a scenario until `stop` becomes true. The runtime serves the page, and ends with the command.
///
/// # Errors
/// [`DemoFault`].
pub fn run(
    mut settings: DemoSettings,
    scenario: Scenario,
    runtime: Runtime,
    stop: watch::Receiver<bool>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), DemoFault> {
    // Before anything is played: who waited for it wants to see the page.
    let bind = |listen| {
        let bound = runtime.block_on(TcpListener::bind(listen));
        bound.map_err(|error| DemoFault::Port(listen, error))
    };
    let listener = settings.listen.map(bind).transpose()?;
    if let Some(listener) = &listener {
        // Mails show pictures of the page, and lead to it.
        let here = format!("http://{}", listener.local_addr()?);
        settings.rules.presentation.brand.url = Some(here);
    }
    let data = match settings.data {
        Some(dir) => Data::Kept(dir),
        None => Data::Passing(tempfile::Builder::new().prefix("tidings-demo-").tempdir()?),
    };
    let mut teller = Teller::new(settings.progress, &scenario);
    let report = &mut |at| {
        teller.show(at, err);
        if *stop.borrow() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let played = play::play(
        &scenario,
        settings.rules,
        data.path(),
        settings.store,
        data.afterwards(),
        report,
    );
    teller.end();
    let shown = Shown::new(played?, scenario);
    let summary = shown.summary();
    if settings.json {
        write_json(summary, out)?;
    } else {
        write_story(summary, &data, out)?;
    }
    out.flush()?;
    if !summary.books.balance() {
        return Err(DemoFault::Books);
    }
    if let Some(listener) = listener {
        serve(&runtime, listener, shown, stop, err)?;
    }
    // The pages have the store open, which still writes while it is closed: the directory is removed after that.
    drop(runtime);
    drop(data);
    Ok(())
}

fn serve(
    runtime: &Runtime,
    listener: TcpListener,
    shown: Shown,
    mut stop: watch::Receiver<bool>,
    err: &mut dyn Write,
) -> io::Result<()> {
    let url = format!("http://{}/", listener.local_addr()?);
    writeln!(err, "Look around at {url} (Ctrl-C ends it)")?;
    let router = page::router(Arc::new(shown));
    let server = runtime.spawn(async move { axum::serve(listener, router).await });
    // A browser keeps its connections open: they are cut, since nothing is lost by that.
    let _ = runtime.block_on(stop.wait_for(|stop| *stop));
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
    fn new(progress: ProgressForm, scenario: &Scenario) -> Self {
        let hours = (scenario.ends.0 - scenario.starts.0) / HOUR_MS;
        let bar = match progress {
            ProgressForm::Bar => ProgressBar::with_draw_target(
                Some(hours.unsigned_abs()),
                ProgressDrawTarget::stderr(),
            ),
            ProgressForm::Lines | ProgressForm::Hidden => ProgressBar::hidden(),
        };
        if let Ok(style) = ProgressStyle::with_template("{bar:32} {msg}") {
            bar.set_style(style);
        }
        Self { bar, plain: progress == ProgressForm::Lines, starts: scenario.starts.0, week: None }
    }

    fn show(&mut self, progress: play::StoryProgress, err: &mut dyn Write) {
        const WEEK_MS: i64 = 7 * 24 * HOUR_MS;
        let since = progress.at.0 - self.starts;
        let day = date(progress.at.0, "UTC");
        let text = format!("{day}, {} mails", number(progress.mails as u64));
        if self.plain && self.week != Some(since / WEEK_MS) {
            self.week = Some(since / WEEK_MS);
            // The story runs on even where its progress can't be printed.
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
    books: &'s Totals,
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
    for (what, event) in [("Andy Warhol", &summary.warhol), ("largest audience", &summary.largest)]
    {
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
    match data {
        Data::Kept(_) => writeln!(out, "Maildir  {}", play::maildir_in(dir).display()),
        Data::Passing(_) => {
            writeln!(out, "mails    {}", play::spool_in(dir).display())?;
            writeln!(
                out,
                "Both go when this ends; `--data DIR` keeps them, with the mails in a Maildir."
            )
        }
    }
}

fn write_books(books: &Totals, out: &mut dyn Write) -> io::Result<()> {
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
    if books.balance() {
        writeln!(out, "The books balance: nothing lost, nothing told twice.")
    } else {
        writeln!(
            out,
            "The books do not balance: {} lost, {} told twice.",
            number(books.lost),
            number(books.duplicates)
        )
    }
}
