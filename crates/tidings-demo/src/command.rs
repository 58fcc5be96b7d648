//! The demo as a command: plays the story and prints its outcome.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tempfile::TempDir;
use tidings_core::content::Totals;
use tidings_core::model::HOUR_MS;
use tidings_core::{Instant, Rules};
use tidings_store::StoreId;

use crate::Scenario;
use crate::play::{self, Afterwards, PlayedStory};
use crate::story::Story;
use crate::text::{date, milliseconds, number};

/// Settings of the command.
pub struct DemoSettings {
    /// [`play::RULES`], parsed.
    pub rules: Rules,
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
pub enum DemoData {
    /// It stays.
    Kept(PathBuf),
    /// Removed when dropped.
    Passing(TempDir),
}

impl DemoData {
    /// The directory.
    #[must_use]
    pub fn path(&self) -> &Path {
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

/// A story that was played and printed.
pub struct PlayedDemo {
    /// The story as its page tells it.
    pub story: Story,
    /// The end of it, with the store open.
    pub played: PlayedStory,
    /// The instant of the end.
    pub ends: Instant,
    /// The directory, which is removed with this where nobody named one.
    pub data: DemoData,
}

/// Plays a scenario and prints its outcome, until `stop` says so.
///
/// # Errors
/// [`DemoFault`].
pub fn run(
    settings: DemoSettings,
    scenario: &Scenario,
    stop: &dyn Fn() -> bool,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<PlayedDemo, DemoFault> {
    let data = match settings.data {
        Some(dir) => DemoData::Kept(dir),
        None => DemoData::Passing(tempfile::Builder::new().prefix("tidings-demo-").tempdir()?),
    };
    let mut teller = Teller::new(settings.progress, scenario);
    let report = &mut |at| {
        teller.show(at, err);
        if stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let afterwards = data.afterwards();
    let played =
        play::play(scenario, settings.rules, data.path(), settings.store, afterwards, report);
    teller.end();
    let played = played?;
    let story = Story::of(scenario, &played.telling, &played.mailbox);
    if settings.json {
        write_json(&story, out)?;
    } else {
        write_story(&story, &data, out)?;
    }
    out.flush()?;
    if !story.books.balance() {
        return Err(DemoFault::Books);
    }
    Ok(PlayedDemo { story, played, ends: scenario.ends, data })
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
        let day = date(progress.at);
        let text = format!("{day}, {} mails", number(progress.mails));
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

fn write_json(story: &Story, out: &mut dyn Write) -> io::Result<()> {
    let numbers = Numbers {
        books: &story.books,
        largest_audience: story.largest.recipients,
        largest_audience_ms: rounded(story.largest.ms),
        seconds: rounded(story.seconds),
        warhol_followers: story.warhol.recipients,
        warhol_ms: rounded(story.warhol.ms),
    };
    serde_json::to_writer(&mut *out, &numbers)?;
    out.write_all(b"\n")
}

/// To three places: what is beyond them is noise.
fn rounded(n: f64) -> f64 {
    (n * 1000.0).round() / 1000.0
}

fn write_story(story: &Story, data: &DemoData, out: &mut dyn Write) -> io::Result<()> {
    let (books, facts) = (&story.books, &story.facts);
    writeln!(
        out,
        "{} events for {} people in {} cities: {} notifications, {} messages, {} of them mails; \
         {:.1} seconds.\n",
        number(books.events),
        number(facts.recipients as u64),
        number(facts.cities as u64),
        number(books.notifications),
        number(books.messages),
        number(story.mails),
        story.seconds,
    )?;
    for (what, event) in [("Andy Warhol", &story.warhol), ("largest audience", &story.largest)] {
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
        DemoData::Kept(_) => writeln!(out, "Maildir  {}", play::maildir_in(dir).display()),
        DemoData::Passing(_) => writeln!(
            out,
            "It goes when this ends; `--data DIR` keeps it, with all mails in a Maildir."
        ),
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
