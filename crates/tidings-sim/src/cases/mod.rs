//! Acceptance cases: small hand-written timelines with their promised outcome.
//!
//! A case is a text file `cases/ID.case` beside the sources; [`script`] tells its words. It knows
//! nothing of who plays it: [`Case::run`] tries it on any [`Subject`].

mod inbox;
pub mod script;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

use tidings_core::content::{Message, Totals};
use tidings_core::{Command, Id, Instant, Rules};

use crate::subject::{Make, Step, Subject, line};
pub use inbox::ExpectedInbox;

/// A case: a situation and its expected outcome.
#[derive(Clone, Debug)]
pub struct Case {
    /// The first rules.
    pub rules: Rules,
    /// The steps, each with its expected answer.
    pub steps: Vec<(Step, Expected)>,
    /// End of the clock; `None` = when nothing is left to become due.
    pub until: Option<Instant>,
    /// Restricts the comparison to messages of this channel; `None` = all.
    pub only: Option<String>,
    /// All expected messages, in order.
    pub messages: Vec<ExpectedMessage>,
    /// Expected values of counters of the summary.
    pub books: BTreeMap<String, u64>,
    /// Inboxes as they are at the end.
    pub inboxes: Vec<ExpectedInbox>,
}

/// The expected answer to a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// The step is played.
    Played,
    /// The step is refused, as a faulty line is.
    Refused,
}

/// A message as a case writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedMessage {
    /// When.
    pub at: Instant,
    /// Recipient, channel and lane.
    pub lane: [String; 3],
    /// The batch key.
    pub key: String,
    /// The tenant.
    pub tenant: Option<String>,
    /// Its items.
    pub items: Vec<ExpectedItem>,
    /// Event and reason of each entry that ended at the check.
    pub skipped: Vec<(String, String)>,
}

/// An item as a case writes it: fields left out are not compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedItem {
    /// The event.
    pub event: String,
    /// Its time.
    pub t: Option<Instant>,
    /// Its reasons.
    pub reasons: Option<Vec<String>>,
}

impl Case {
    /// Plays the case and compares.
    ///
    /// # Errors
    /// The first difference, in words.
    pub fn run(&self, make: Make) -> Result<(), String> {
        let mut subject = make(self.rules.clone());
        let mut commands = Vec::new();
        for (step, expected) in &self.steps {
            if self.until.is_some_and(|until| step.at() > until) {
                break;
            }
            step.play(subject.as_mut())?;
            if let Step::Play(_) = step {
                commands.push((step, expected));
            }
        }
        subject.finish(self.until)?;
        let answers = subject.answers();
        if answers.len() != commands.len() {
            let (few, all) = (answers.len(), commands.len());
            return Err(format!("{few} answers to {all} commands"));
        }
        for (answer, (step, expected)) in answers.into_iter().zip(commands) {
            match (answer, expected) {
                (Ok(()), Expected::Played) | (Err(_), Expected::Refused) => {}
                (Ok(()), Expected::Refused) => return Err(format!("not refused: {step:?}")),
                (Err(reason), Expected::Played) => {
                    return Err(format!("refused ({reason}): {step:?}"));
                }
            }
        }
        self.compare(subject.as_ref())
    }

    fn compare(&self, subject: &dyn Subject) -> Result<(), String> {
        let mut messages = subject.messages();
        messages.retain(|message| self.only.as_ref().is_none_or(|only| *only == message.channel));
        let same = messages.len() == self.messages.len()
            && messages.iter().zip(&self.messages).all(|(message, expected)| expected.is(message));
        let mut faults = String::new();
        if !same {
            faults.push_str("expected messages:\n");
            for expected in &self.messages {
                let _ = writeln!(faults, "  {expected}");
            }
            faults.push_str("but there are:\n");
            for message in &messages {
                let _ = writeln!(faults, "  {}", line(message));
            }
        }
        let published = self.published();
        for item in messages.iter().flat_map(|message| &message.items) {
            if !published.contains(&(&item.event, &item.event_type, &item.object)) {
                let _ = writeln!(faults, "{} has another type or object: {item:?}", item.event);
            }
        }
        let books = subject.books();
        for (name, expected) in &self.books {
            match counter(&books, name) {
                Some(value) if value == *expected => {}
                value => {
                    let _ = writeln!(faults, "{name}: expected {expected}, is {value:?}");
                }
            }
        }
        for expected in &self.inboxes {
            let of = (&expected.recipient, expected.tenant.as_ref());
            match subject.inbox(of.0, of.1).map(|inbox| expected.as_seen(&inbox)) {
                // Not every subject shows inboxes.
                None => {}
                Some(seen) if seen == *expected => {}
                Some(seen) => {
                    let _ = writeln!(faults, "expected {expected:?}\n     is {seen:?}");
                }
            }
        }
        if !books.balance() {
            let _ = writeln!(faults, "the books do not balance: {books:?}");
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    /// Every event with its type and object, as they were published.
    fn published(&self) -> BTreeSet<(&Id, &Id, &Id)> {
        let commands = self.steps.iter().filter_map(|(step, _)| match step {
            Step::Play(timed) => Some(&timed.command),
            Step::Reconfigure(..) => None,
        });
        commands
            .filter_map(|command| match command {
                Command::Publish(event) => Some((&event.id, &event.event_type, &event.object.id)),
                _ => None,
            })
            .collect()
    }
}

impl ExpectedMessage {
    fn is(&self, message: &Message) -> bool {
        let lane = [message.recipient.as_str(), &message.channel, &message.lane];
        let skipped = message
            .skipped
            .iter()
            .map(|skipped| (skipped.event.as_str().to_owned(), skipped.reason.word().to_owned()));
        self.at == message.at
            && self.lane.iter().map(String::as_str).eq(lane)
            && self.key == message.key.as_str()
            && self.tenant.as_deref() == message.tenant.as_ref().map(Id::as_str)
            && self.items.len() == message.items.len()
            && self.items.iter().zip(&message.items).all(|(expected, item)| {
                expected.event == item.event.as_str()
                    && expected.t.is_none_or(|t| t == item.t)
                    && expected.reasons.as_ref().is_none_or(|reasons| *reasons == item.reasons)
            })
            && self.skipped.iter().cloned().eq(skipped)
    }
}

impl fmt::Display for ExpectedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "= {} {}", self.at, self.lane.join(" "))?;
        if !self.key.is_empty() {
            write!(f, " {}", self.key)?;
        }
        if let Some(tenant) = &self.tenant {
            write!(f, " tenant={tenant}")?;
        }
        f.write_str(":")?;
        for ExpectedItem { event, t, reasons } in &self.items {
            write!(f, " {event}")?;
            if let Some(t) = t {
                write!(f, "@{t}")?;
            }
            if let Some(reasons) = reasons {
                write!(f, "[{}]", reasons.join(","))?;
            }
        }
        self.skipped.iter().try_for_each(|(event, reason)| write!(f, " -{event}={reason}"))
    }
}

/// A counter of the summary by its name.
fn counter(books: &Totals, name: &str) -> Option<u64> {
    serde_json::to_value(books).ok()?.get(name)?.as_u64()
}
