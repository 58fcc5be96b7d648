//! Jobs as operators see them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::job::{JobCounts, JobRow};
use super::rows::counts_of_day;
use crate::engine::read::list::{ListPage, NewestFirst, PageBuilder, Positioned};
use crate::engine::read::reader::Reader;
use crate::journal::stored::Unreadable;
use crate::model::changes::Author;
use crate::model::id::Id;
use crate::model::messages::MessageAct;
use crate::model::messages::jobs::{JobNo, JobState, LeftAsItWas};
use crate::model::time::{Day, Instant};

/// A job, and how far it has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobReport {
    /// Its number.
    pub no: JobNo,
    /// The change of each message.
    pub act: MessageAct,
    /// The filter that chose the messages, as JSON.
    pub filter: String,
    /// Its author; `None` = unknown.
    pub by: Option<Author>,
    /// The instant at which it was made.
    pub at: Instant,
    /// The instant at which it begins.
    pub begins: Instant,
    /// The instant at which it was stopped.
    pub stopped: Option<Instant>,
    /// Number of its messages.
    pub of: u64,
    /// Number of messages that were changed.
    pub done: u64,
    /// Number of messages that were left as they were, by reason.
    pub left_out: BTreeMap<LeftAsItWas, u64>,
    /// The instant of the first change.
    pub began: Option<Instant>,
    /// The instant of the last one so far.
    pub last: Option<Instant>,
}

impl JobReport {
    fn of(no: JobNo, job: &JobRow, counts: JobCounts) -> Self {
        Self {
            no,
            act: job.act,
            filter: job.filter.clone(),
            by: job.origin.as_ref().map(|origin| origin.by.clone()),
            at: job.at,
            begins: job.begins,
            stopped: job.stopped,
            of: job.of,
            done: counts.done,
            left_out: counts.left,
            began: counts.began,
            last: counts.last,
        }
    }

    /// Number of messages that it has come to.
    #[must_use]
    pub fn acted_on(&self) -> u64 {
        self.done + self.left_out.values().sum::<u64>()
    }

    /// Its state.
    #[must_use]
    pub fn state(&self, now: Instant) -> JobState {
        if self.acted_on() >= self.of {
            JobState::Done
        } else if self.stopped.is_some() {
            JobState::Stopped
        } else if self.began.is_none() && self.begins > now {
            JobState::Waiting
        } else {
            JobState::Running
        }
    }

    /// The instant at which it ended, if it did.
    #[must_use]
    pub fn ended(&self) -> Option<Instant> {
        let is_done = self.acted_on() >= self.of;
        self.stopped.filter(|_| !is_done).or(self.last.or(Some(self.at)).filter(|_| is_done))
    }
}

impl Positioned for JobReport {
    type Position = NewestFirst;

    fn position(&self) -> NewestFirst {
        position(self.at, self.no)
    }
}

fn position(at: Instant, no: JobNo) -> NewestFirst {
    let id = Id::new(&no.to_string()).expect("a number is an id");
    NewestFirst { at, id }
}

/// The jobs of an engine, to be read.
#[derive(Clone, Copy)]
pub struct JobReports<'e>(Reader<'e>);

impl<'e> JobReports<'e> {
    /// Those that a reader sees.
    #[must_use]
    pub fn of(reader: Reader<'e>) -> Self {
        Self(reader)
    }

    /// A job; `None` = there is none of this number.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn get(self, no: JobNo) -> Result<Option<JobReport>, Unreadable> {
        let Reader { engine, view } = self.0;
        let Some(job) = engine.intake.jobs.get(&no) else {
            return Ok(None);
        };
        let counts = counts_of_day(view, job.at.day())?.remove(&no);
        Ok(Some(JobReport::of(no, job, counts.unwrap_or_default())))
    }

    /// A page of jobs, the newest first.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read.
    pub fn page(
        self,
        after: Option<&NewestFirst>,
        most: usize,
    ) -> Result<ListPage<JobReport>, Unreadable> {
        let Reader { engine, view } = self.0;
        let all = engine.intake.jobs.iter();
        let mut all: Vec<_> = all.map(|(no, job)| (position(job.at, *no), *no, job)).collect();
        all.sort_by(|(one, ..), (other, ..)| one.cmp(other));
        let mut page = PageBuilder::new(after.cloned(), most);
        let mut counted: BTreeMap<Day, BTreeMap<JobNo, JobCounts>> = BTreeMap::new();
        for (position, no, job) in all {
            if after.is_some_and(|after| position <= *after) {
                continue;
            }
            if !page.looks_at(position) {
                break;
            }
            let day = job.at.day();
            let of_day = match counted.entry(day) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => unknown.insert(counts_of_day(view, day)?),
            };
            page.add(JobReport::of(no, job, of_day.remove(&no).unwrap_or_default()));
        }
        Ok(page.page())
    }
}
