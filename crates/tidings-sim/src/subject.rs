//! Test subjects: anything that plays a timeline and returns messages and books.
//!
//! The model is one subject, the engine another; cases, random worlds and real timelines know neither.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tidings_core::content::{Message, Totals};
use tidings_core::engine::{CommandConcerns, GroupBy};
use tidings_core::model::Timed;
use tidings_core::{Id, Instant, Rules};

use crate::figures::Figures;
use crate::inbox::Inbox;
use crate::lists::{HitInWords, Lists};
use crate::model::Model;
pub use crate::model::ModelAnswer;
use crate::model::looks::{ChangedAddresses, ModelLists, ModelSearch};

/// A subject: it plays timelines by the contract.
pub trait Subject {
    /// Plays one command, after everything that was due before it.
    ///
    /// # Errors
    /// The fault that it found, in words.
    fn play(&mut self, timed: &Timed) -> Result<(), String>;

    /// The data that a command would touch, were it played now: the clock runs to its instant, and nothing else changes. `None`
    /// where it would be refused, or the subject has no dry runs.
    ///
    /// # Errors
    /// The fault that it found, in words.
    fn dry_run(&mut self, timed: &Timed) -> Result<Option<CommandConcerns>, String> {
        let _has_none = timed;
        Ok(None)
    }

    /// Takes a new configuration, as a command at that instant.
    ///
    /// # Errors
    /// Why it was refused.
    fn reconfigure(&mut self, at: Instant, rules: &Rules) -> Result<(), String>;

    /// Runs the clock until no pending entry can become due, or to `until`.
    ///
    /// # Errors
    /// The fault that it found, in words.
    fn finish(&mut self, until: Option<Instant>) -> Result<(), String>;

    /// The answers to all commands whose instant is over, in order: why one was refused, of which nothing but the
    /// clock has changed.
    fn answers(&self) -> Vec<ModelAnswer>;

    /// All messages so far, in order of (at, recipient, channel, lane) by bytes.
    fn messages(&self) -> Vec<Message>;

    /// The current books.
    fn books(&self) -> Totals;

    /// A recipient's inbox now: of a tenant's view, or whole. `None` where the subject shows none, or no recipient of that
    /// id is there.
    fn inbox(&self, recipient: &Id, tenant: Option<&Id>) -> Option<Inbox> {
        let _shows_none = (recipient, tenant);
        None
    }

    /// The figures by these parts of the days that are kept; `None` where the subject counts none.
    fn figures(&self, by: &[GroupBy]) -> Option<Figures> {
        let _counts_none = by;
        None
    }

    /// The lists of operators now, with the followers of these topics. `None` where the subject shows none.
    fn lists(&self, topics: &[Id]) -> Option<Lists> {
        let _shows_none = topics;
        None
    }

    /// The hits of a search at an instant; `None` where the subject has none.
    fn search(&self, text: &str, now: Instant) -> Option<BTreeSet<HitInWords>> {
        let _finds_none = (text, now);
        None
    }
}

/// Makes a subject under its first rules.
pub type Make = fn(Rules) -> Box<dyn Subject>;

/// One step of a timeline.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A command.
    Play(Timed),
    /// A new configuration, taking effect like a command.
    Reconfigure(Instant, Box<Rules>),
}

impl Step {
    /// The time when it takes effect.
    #[must_use]
    pub fn at(&self) -> Instant {
        match self {
            Self::Play(timed) => timed.at,
            Self::Reconfigure(at, _) => *at,
        }
    }

    /// Plays this step on a subject.
    ///
    /// # Errors
    /// The fault that it found, in words.
    pub fn play(&self, subject: &mut dyn Subject) -> Result<(), String> {
        match self {
            Self::Play(timed) => subject.play(timed),
            Self::Reconfigure(at, rules) => subject.reconfigure(*at, rules),
        }
    }
}

/// The naive model as a subject.
#[must_use]
pub fn model(rules: Rules) -> Box<dyn Subject> {
    Box::new(Model::new(rules))
}

impl Subject for Model {
    fn play(&mut self, timed: &Timed) -> Result<(), String> {
        let answer = Model::play(self, timed.clone());
        ChangedAddresses(self).note();
        self.answers.push(answer.map_err(|refused| refused.to_string()));
        Ok(())
    }

    fn dry_run(&mut self, timed: &Timed) -> Result<Option<CommandConcerns>, String> {
        Ok(self.concerned(timed).ok())
    }

    fn reconfigure(&mut self, at: Instant, rules: &Rules) -> Result<(), String> {
        Model::reconfigure(self, at, rules.clone()).map_err(|refused| refused.to_string())
    }

    fn finish(&mut self, until: Option<Instant>) -> Result<(), String> {
        Model::finish(self, until);
        Ok(())
    }

    fn answers(&self) -> Vec<ModelAnswer> {
        self.answers.clone()
    }

    fn messages(&self) -> Vec<Message> {
        Model::messages(self).to_vec()
    }

    fn books(&self) -> Totals {
        Model::books(self)
    }

    fn inbox(&self, recipient: &Id, tenant: Option<&Id>) -> Option<Inbox> {
        Model::inbox(self, recipient, tenant)
    }

    fn figures(&self, by: &[GroupBy]) -> Option<Figures> {
        Some(Model::figures(self, by))
    }

    fn lists(&self, topics: &[Id]) -> Option<Lists> {
        let mut lists = ModelLists(self).lists();
        lists.followers.retain(|topic, _| topics.contains(topic));
        Some(lists)
    }

    fn search(&self, text: &str, now: Instant) -> Option<BTreeSet<HitInWords>> {
        Some(ModelSearch(self).search(text, now))
    }
}

/// The result of a whole timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    /// All messages, in order.
    pub messages: Vec<Message>,
    /// The books at the end.
    pub books: Totals,
}

/// Plays a whole timeline on a new subject; steps after `until` are left out.
///
/// # Errors
/// The step that was refused, and why.
pub fn play_all(
    make: Make,
    rules: &Rules,
    steps: &[Step],
    until: Option<Instant>,
) -> Result<Played, String> {
    let mut subject = make(rules.clone());
    let steps = || steps.iter().filter(|step| until.is_none_or(|until| step.at() <= until));
    for step in steps() {
        step.play(subject.as_mut()).map_err(|reason| format!("{reason}: {step:?}"))?;
    }
    subject.finish(until)?;
    let answers = subject.answers();
    refuses_none(steps(), &answers)?;
    Ok(Played { messages: subject.messages(), books: subject.books() })
}

/// Checks that a subject refused none of these steps.
///
/// # Errors
/// The step that was refused, and why.
pub fn refuses_none<'s>(
    steps: impl Iterator<Item = &'s Step>,
    answers: &[ModelAnswer],
) -> Result<(), String> {
    let mut commands = steps.filter(|step| matches!(step, Step::Play(_)));
    for answer in answers {
        let step = commands.next();
        answer.as_ref().map_err(|reason| format!("{reason}: {step:?}"))?;
    }
    match commands.next() {
        Some(step) => Err(format!("no answer to {step:?}")),
        None => Ok(()),
    }
}

/// The difference between two results: the first message that differs, or the books.
#[must_use]
pub fn difference(one: &Played, other: &Played) -> Option<String> {
    let length = one.messages.len().max(other.messages.len());
    let line = |played: &Played, index: usize| {
        played.messages.get(index).map_or("nothing".to_owned(), line)
    };
    (0..length)
        .find(|&index| one.messages.get(index) != other.messages.get(index))
        .map(|index| format!("one says   {}\nother says {}", line(one, index), line(other, index)))
        .or_else(|| {
            (one.books != other.books)
                .then(|| format!("one has   {:?}\nother has {:?}", one.books, other.books))
        })
}

/// A message in the words of a case.
#[must_use]
pub fn line(message: &Message) -> String {
    let Message { at, recipient, channel, lane, key, tenant, items, skipped } = message;
    let mut line = format!("= {at} {recipient} {channel} {lane}");
    if !key.is_empty() {
        let _ = write!(line, " {}", key.as_str());
    }
    if let Some(tenant) = tenant {
        let _ = write!(line, " tenant={tenant}");
    }
    line.push(':');
    for item in items {
        let _ = write!(line, " {}@{}[{}]", item.event, item.t, item.reasons.join(","));
    }
    for skipped in skipped {
        let _ = write!(line, " -{}={}", skipped.event, skipped.reason.word());
    }
    line
}
