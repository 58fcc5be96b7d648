//! The counts of an inbox, and its revision.

use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

use super::rows::Kind;
use super::walk::{Entry, Walk, Wanted};
use crate::bucket::{AsOf, Bucket, Counts, TypeCounts};
use crate::engine::intake::state::Intake;
use crate::engine::read::reader::Reader;
use crate::engine::rows::reply::Stop;
use crate::model::id::Id;
use crate::model::item::State;
use crate::model::number::{RecipientAt, RecipientNo, Seq, TypeNo};
use crate::model::time::Day;

/// The counts of an inbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InboxCounts {
    /// Revision: it rises with every change of what the inbox shows, so an answer with a lower one is older.
    pub rev: u64,
    /// The badge: the number of active rows with an unseen item.
    pub unseen: u64,
    /// Number of active rows with an unread item.
    pub unread: u64,
    /// The same of each configured category, by name.
    pub categories: BTreeMap<String, CategoryCounts>,
}

/// The counts of a category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CategoryCounts {
    /// Number of active rows with an unseen item.
    pub unseen: u64,
    /// Number of active rows with an unread item.
    pub unread: u64,
}

/// The active rows of a day with an unseen item, and those with one that is seen and not read.
#[derive(Default)]
pub(super) struct Badge {
    unseen: FxHashSet<(TypeNo, u64)>,
    seen: FxHashSet<(TypeNo, u64)>,
}

impl Badge {
    pub(super) fn begin_day(&mut self) {
        self.unseen.clear();
        self.seen.clear();
    }

    pub(super) fn count(&mut self, entry: &Entry) {
        if Kind::of(entry) != Kind::New {
            return;
        }
        match entry.state {
            State::New => self.unseen.insert(entry.group),
            State::Seen | State::Read => self.seen.insert(entry.group),
        };
    }

    pub(super) fn counts(&self, newest: Seq) -> Counts {
        let mut types: Vec<TypeCounts> = Vec::new();
        let of_type = |types: &mut Vec<TypeCounts>, type_no| match types
            .iter()
            .position(|counts| counts.type_no == type_no)
        {
            Some(at) => at,
            None => {
                types.push(TypeCounts { type_no, unseen: 0, unread: 0 });
                types.len() - 1
            }
        };
        for (type_no, _) in &self.unseen {
            let at = of_type(&mut types, *type_no);
            types[at].unseen += 1;
            types[at].unread += 1;
        }
        for (type_no, _) in self.seen.difference(&self.unseen) {
            let at = of_type(&mut types, *type_no);
            types[at].unread += 1;
        }
        Counts { types, newest }
    }
}

/// The counts of an inbox under construction. Days are counted newest first.
pub(super) struct Counting<'a> {
    bucket: &'a Bucket,
    number: RecipientNo,
    as_of: AsOf,
    known: std::sync::Arc<Vec<(Day, Counts)>>,
    today: Day,
    counted: Vec<(Day, Counts)>,
    is_changed: bool,
    types: BTreeMap<TypeNo, CategoryCounts>,
    newest: Seq,
}

impl<'a> Counting<'a> {
    pub(super) fn new(intake: &Intake, bucket: &'a Bucket, number: RecipientNo) -> Self {
        let marks = bucket.marks.get(&number.0);
        let as_of = AsOf {
            marked: marks.map_or_else(Seq::default, |marks| marks.changed),
            withdrawals: intake.objects.withdrawals,
            hidden: bucket.hidden,
            forgotten_to: bucket.forgotten_to,
        };
        Self {
            bucket,
            number,
            as_of,
            known: bucket.counted.of(number.0, as_of),
            today: intake.now.day(),
            counted: Vec::with_capacity(bucket.index.days.len()),
            is_changed: false,
            types: BTreeMap::new(),
            newest: Seq::default(),
        }
    }

    /// Adds the counts of a day if they are known without a walk; returns whether they are.
    pub(super) fn add_known(&mut self, day: Day, least: State) -> bool {
        // More arrives on today, which a newer snapshot may have counted as over.
        let known = self.known.iter().find(|(known, _)| *known == day && day < self.today);
        let counts = match known {
            Some((_, counts)) => counts.clone(),
            None if least == State::Read => Counts::default(),
            None => return false,
        };
        self.put(day, counts);
        true
    }

    /// Adds the counts of a day.
    pub(super) fn add(&mut self, day: Day, counts: Counts) {
        self.is_changed = true;
        self.put(day, counts);
    }

    fn put(&mut self, day: Day, counts: Counts) {
        self.newest = self.newest.max(counts.newest);
        for of_type in &counts.types {
            let sum = self.types.entry(of_type.type_no).or_default();
            sum.unseen += u64::from(of_type.unseen);
            sum.unread += u64::from(of_type.unread);
        }
        if day < self.today {
            self.counted.push((day, counts));
        }
    }

    /// The counts of the whole inbox.
    pub(super) fn done(self, intake: &Intake) -> InboxCounts {
        if self.is_changed {
            self.bucket.counted.keep(self.number.0, self.as_of, self.counted);
        }
        let version = intake.compiled.current();
        let names = version.iter().flat_map(|version| version.rules.categories.keys());
        let mut counts = InboxCounts {
            rev: rev(intake, self.bucket, self.newest.max(self.as_of.marked)),
            categories: names.map(|name| (name.clone(), CategoryCounts::default())).collect(),
            ..InboxCounts::default()
        };
        for (type_no, of_type) in self.types {
            counts.unseen += of_type.unseen;
            counts.unread += of_type.unread;
            let category = version
                .and_then(|version| version.of_type(type_no))
                .and_then(|of_type| counts.categories.get_mut(&of_type.rules.category));
            if let Some(category) = category {
                category.unseen += of_type.unseen;
                category.unread += of_type.unread;
            }
        }
        counts
    }
}

/// The revision of an inbox, from the newest seq that concerns it. What concerns others may raise it only with the
/// rare changes that have no set of recipients: withdrawals and forgotten days.
fn rev(intake: &Intake, bucket: &Bucket, newest: Seq) -> u64 {
    let forgotten = intake.forgotten_before.map_or(0, |day| day.0);
    let newest = newest.max(bucket.hidden).max(bucket.forgotten_to);
    newest.0 + intake.objects.withdrawals + u64::try_from(forgotten).unwrap_or(0)
}

impl Reader<'_> {
    /// Counts an inbox.
    ///
    /// # Errors
    /// [`Stop::Refused`] where the recipient is unknown.
    pub fn inbox_counts(&self, id: &Id) -> Result<InboxCounts, Stop> {
        let Reader { engine, view } = *self;
        let RecipientAt { bucket, number } = engine.find(id)?;
        let (intake, bucket) = (&engine.intake, engine.shards.bucket(bucket));
        let walk = Walk::new(intake, view, bucket, number);
        let mut counting = Counting::new(intake, bucket, number);
        let mut badge = Badge::default();
        for of in walk.days() {
            if counting.add_known(of.day, walk.least(of.day)) {
                continue;
            }
            badge.begin_day();
            let newest = walk.each(of, Wanted::Counts, |entry| badge.count(&entry))?;
            counting.add(of.day, badge.counts(newest));
        }
        Ok(counting.done(intake))
    }
}
