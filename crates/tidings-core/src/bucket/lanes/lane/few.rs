//! A lane that few recipients wait in: its rows, and what it leaves behind.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::super::wheel::start_of;
use super::last::LastMessages;
use crate::bucket::lanes::lane::{Columns, Lane};
use crate::model::number::Seq;
use crate::rules::deadline::Window;
use crate::sets::set::Set;

/// Recipients whose windows share a row.
const PAGE: u32 = 1024;

/// The open windows and last messages of some recipients, as stored.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct SparseLanePage {
    windows: Vec<(u32, Window)>,
    /// The beginnings of windows without fields, each with its second.
    since: Vec<(u32, Seq, Option<i64>)>,
    /// The windows of these whose entries are counted.
    counts: Vec<(u32, Window)>,
    /// The recipients whose window was counted.
    counted: Set,
    last: Vec<(u32, LastMessages)>,
    /// The recipients whose window was flushed.
    flushed: Set,
    /// The recipients with an urgent entry, by the seq of its arrival.
    urgent: Vec<(Seq, Set)>,
}

impl SparseLanePage {
    /// The page of a recipient.
    pub(crate) fn of(number: u32) -> u32 {
        number / PAGE
    }

    /// The recipients that it names.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> {
        let windows = self.windows.iter().chain(&self.counts).map(|(number, _)| *number);
        let windows = windows.chain(self.since.iter().map(|(number, ..)| *number));
        let windows = windows.chain(self.counted.iter());
        let last = self.last.iter().map(|(number, _)| *number);
        let urgent = self.urgent.iter().flat_map(|(_, recipients)| recipients.iter());
        windows.chain(last).chain(self.flushed.iter()).chain(urgent)
    }
}

impl Lane {
    /// Its pages, each with the values of its recipients by number.
    pub(crate) fn few_pages(&self) -> BTreeMap<u32, SparseLanePage> {
        let mut pages: BTreeMap<u32, SparseLanePage> = BTreeMap::new();
        if let Columns::Windows(windows) = &self.columns {
            for number in &self.open {
                let page = pages.entry(SparseLanePage::of(number)).or_default();
                page.windows.push((number, windows.get(number)));
            }
        }
        if let Columns::Since(since) = &self.columns {
            let mut seconds = BTreeMap::new();
            for (slot, recipients) in self.wheel.slots().chain(self.parked.slots()) {
                recipients.iter().for_each(|number| {
                    seconds.entry(number).or_insert(slot);
                });
            }
            for number in &self.open {
                let second = seconds.get(&number).copied();
                let page = pages.entry(SparseLanePage::of(number)).or_default();
                page.since.push((number, since.get(number), second));
            }
            for (number, window) in self.counts.few_values() {
                pages.entry(SparseLanePage::of(number)).or_default().counts.push((number, window));
            }
            for number in &self.counted {
                pages.entry(SparseLanePage::of(number)).or_default().counted.0.insert(number);
            }
        }
        let last = self.last.few_values();
        for (number, last) in last.filter(|(_, last)| last.at.is_some()) {
            let page = pages.entry(SparseLanePage::of(number)).or_default();
            page.last.push((number, last));
        }
        for number in &self.flushed {
            let page = pages.entry(SparseLanePage::of(number)).or_default();
            page.flushed.0.insert(number);
        }
        for (seq, recipients) in self.urgent.iter() {
            for number in recipients {
                let page = pages.entry(SparseLanePage::of(number)).or_default();
                match page.urgent.last_mut().filter(|(last, _)| *last == seq) {
                    Some((_, recipients)) => {
                        recipients.0.insert(number);
                    }
                    None => page.urgent.push((seq, [number].into_iter().collect())),
                }
            }
        }
        pages
    }

    /// Restores the values of a page.
    pub(crate) fn restore_few(&mut self, page: SparseLanePage) {
        match &mut self.columns {
            Columns::Windows(windows) => {
                for (number, window) in page.windows {
                    *windows.at(number) = window;
                    self.open.insert(number);
                    self.wheel.insert(window.due(), number);
                }
            }
            Columns::Since(since) => {
                for (number, seq, second) in page.since {
                    *since.at(number) = seq;
                    self.open.insert(number);
                    self.wheel.insert(second.map_or(i64::MAX, start_of), number);
                }
                for (number, window) in page.counts {
                    *self.counts.at(number) = window;
                }
                self.counted |= &page.counted.0;
            }
        }
        self.flushed |= &page.flushed.0;
        for (seq, recipients) in page.urgent {
            self.urgent.note(seq, &recipients);
        }
        for (number, last) in page.last {
            *self.last.at(number) = last;
        }
        self.next = None;
    }

    /// Returns true if it has no entries and its last message is no longer needed.
    pub(crate) fn is_unused(&self) -> bool {
        self.open.is_empty() && self.last_messages().next().is_none()
    }
}
