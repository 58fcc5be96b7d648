//! The counts of an inbox, and its revision.

use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

use super::rows::RowKind;
use super::walk::{InboxEntry, InboxWalk, WantedFacts};
use crate::bucket::{Counts, CountsVersion, NewestSeqs, TypeCounts};
use crate::engine::read::reader::Reader;
use crate::engine::replies::refused::{Refused, StepError};
use crate::model::id::Id;
use crate::model::item::ItemState;
use crate::model::number::{RecipientAt, Seq, TypeNo};
use crate::model::tenant::{TenantNo, View};
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
    /// The same of each tenant with an unread row, by id; `None` = the view is one tenant's, or tenants are off.
    pub tenants: Option<BTreeMap<String, CategoryCounts>>,
}

/// The counts of a category, or of a tenant.
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
    /// The tenants of those that are of one.
    tenants: FxHashMap<(TypeNo, u64), TenantNo>,
}

impl Badge {
    pub(super) fn begin_day(&mut self) {
        self.unseen.clear();
        self.seen.clear();
        self.tenants.clear();
    }

    pub(super) fn count(&mut self, entry: &InboxEntry) {
        if RowKind::of(entry) != RowKind::New {
            return;
        }
        if let Some(tenant) = entry.tenant {
            self.tenants.insert(entry.group, tenant);
        }
        match entry.state {
            ItemState::New => self.unseen.insert(entry.group),
            ItemState::Seen | ItemState::Read => self.seen.insert(entry.group),
        };
    }

    pub(super) fn counts(&self, newest: NewestSeqs) -> Counts {
        let mut types: Vec<TypeCounts> = Vec::new();
        let unseen = self.unseen.iter().map(|group| (group, 1));
        let seen = self.seen.difference(&self.unseen).map(|group| (group, 0));
        // One loop, since the search is inlined where it is called once: half of a badge's time.
        for (group, unseen) in unseen.chain(seen) {
            let (type_no, tenant) = (group.0, self.tenants.get(group).copied());
            let known = |counts: &TypeCounts| counts.type_no == type_no && counts.tenant == tenant;
            let at = types.iter().position(known).unwrap_or_else(|| {
                types.push(TypeCounts { type_no, tenant, unseen: 0, unread: 0 });
                types.len() - 1
            });
            types[at].unseen += unseen;
            types[at].unread += 1;
        }
        Counts { types, newest }
    }
}

/// The counts of an inbox under construction. Days are counted newest first.
pub(super) struct InboxCounter<'a> {
    walk: &'a InboxWalk<'a>,
    as_of: CountsVersion,
    known: std::sync::Arc<Vec<(Day, Counts)>>,
    today: Day,
    counted: Vec<(Day, Counts)>,
    is_changed: bool,
    types: BTreeMap<(TypeNo, Option<TenantNo>), CategoryCounts>,
    /// The newest seq that the view shows.
    newest: Seq,
}

impl<'a> InboxCounter<'a> {
    pub(super) fn new(walk: &'a InboxWalk<'a>) -> Self {
        let InboxWalk { bucket, intake, marks, .. } = walk;
        let as_of = CountsVersion {
            marked: marks.map_or_else(Seq::default, |marks| marks.changed.of_all()),
            withdrawals: intake.objects.withdrawals,
            hidden: bucket.hidden.of_all(),
            forgotten_to: bucket.forgotten_to,
        };
        Self {
            walk,
            as_of,
            known: bucket.counted.of(walk.number.0, as_of),
            today: intake.now.day(),
            counted: Vec::with_capacity(bucket.index.days.len()),
            is_changed: false,
            types: BTreeMap::new(),
            newest: Seq::default(),
        }
    }

    /// Adds the counts of a day if they are known without a walk; returns whether they are.
    pub(super) fn add_known(&mut self, day: Day) -> bool {
        // More arrives on today, which a newer snapshot may have counted as over.
        let known = self.known.iter().find(|(known, _)| *known == day && day < self.today);
        if let Some((_, counts)) = known {
            let counts = counts.clone();
            self.put(day, counts);
            return true;
        }
        // A mark covers the entries of a deleted tenant and changes none of them, while one of them may have given the inbox
        // its revision: it is found by a walk alone.
        if self.walk.of == View::All && self.walk.intake.tenants.deletions() > 0 {
            return false;
        }
        let is_read = |view| self.walk.least_in(day, view) == ItemState::Read;
        if is_read(View::All) {
            self.put(day, Counts::default());
            return true;
        }
        // Other views may have something unread there.
        is_read(self.walk.of)
    }

    /// Adds the counts of a day.
    pub(super) fn add(&mut self, day: Day, counts: Counts) {
        self.is_changed = true;
        self.put(day, counts);
    }

    fn put(&mut self, day: Day, counts: Counts) {
        self.newest = self.newest.max(counts.newest.in_view(self.walk.of));
        let is_shown = |of_type: &&TypeCounts| {
            self.walk.of.shows(of_type.tenant) && !self.walk.is_gone(of_type.tenant)
        };
        for of_type in counts.types.iter().filter(is_shown) {
            let sum = self.types.entry((of_type.type_no, of_type.tenant)).or_default();
            sum.unseen += u64::from(of_type.unseen);
            sum.unread += u64::from(of_type.unread);
        }
        if day < self.today {
            self.counted.push((day, counts));
        }
    }

    /// The counts of the whole inbox.
    pub(super) fn done(self) -> InboxCounts {
        let InboxWalk { bucket, intake, .. } = self.walk;
        if self.is_changed {
            bucket.counted.keep(self.walk.number.0, self.as_of, self.counted);
        }
        let version = intake.compiled.current();
        let names = version.iter().flat_map(|version| version.rules.categories.keys());
        let mut counts = InboxCounts {
            rev: rev(self.walk, self.newest),
            categories: names.map(|name| (name.clone(), CategoryCounts::default())).collect(),
            tenants: version
                .filter(|version| self.walk.of == View::All && version.rules.tenants.is_some())
                .map(|_| BTreeMap::new()),
            ..InboxCounts::default()
        };
        for ((type_no, tenant), of_type) in self.types {
            counts.unseen += of_type.unseen;
            counts.unread += of_type.unread;
            let category = version
                .and_then(|version| version.of_type(type_no))
                .and_then(|of_type| counts.categories.get_mut(&of_type.rules.category));
            if let Some(category) = category {
                category.unseen += of_type.unseen;
                category.unread += of_type.unread;
            }
            if let Some((tenants, id)) = counts.tenants.as_mut().zip(intake.tenants.id(tenant)) {
                let sum = tenants.entry(id.as_str().to_owned()).or_default();
                sum.unseen += of_type.unseen;
                sum.unread += of_type.unread;
            }
        }
        counts
    }
}

/// The revision of an inbox in a view, from the newest seq that concerns it. What concerns others may raise it only with
/// the rare changes that have no set of recipients: withdrawals and forgotten days. What the view does not show never
/// does.
fn rev(walk: &InboxWalk<'_>, newest: Seq) -> u64 {
    let InboxWalk { bucket, intake, of, marks, .. } = walk;
    let forgotten = intake.forgotten_before.map_or(0, |day| day.0);
    let marked = marks.map_or_else(Seq::default, |marks| marks.changed.in_view(*of));
    let newest = newest.max(marked).max(bucket.hidden.in_view(*of)).max(bucket.forgotten_to);
    // The entries of a tenant that is deleted leave what shows all.
    let deleted = if *of == View::All { intake.tenants.deletions() } else { 0 };
    newest.0 + intake.objects.withdrawals + u64::try_from(forgotten).unwrap_or(0) + deleted
}

/// The walk through what a view shows of a recipient's inbox.
///
/// # Errors
/// [`Refused::UnknownTenant`], [`Refused::UnknownRecipient`].
pub(super) fn walk_of<'a>(
    reader: Reader<'a>,
    recipient: &Id,
    view: &View,
) -> Result<InboxWalk<'a>, Refused> {
    let engine = reader.engine;
    let of = engine.intake.tenants.view(view)?;
    let RecipientAt { bucket, number } = engine.find(recipient)?;
    Ok(InboxWalk::new(&engine.intake, reader.view, engine.shards.bucket(bucket), number, of))
}

impl Reader<'_> {
    /// Counts an inbox.
    ///
    /// # Errors
    /// [`StepError::Refused`] where the recipient or the view's tenant is unknown.
    pub fn inbox_counts(&self, id: &Id, of: &View) -> Result<InboxCounts, StepError> {
        let walk = walk_of(*self, id, of)?;
        let mut counting = InboxCounter::new(&walk);
        let mut badge = Badge::default();
        for of in walk.days() {
            if counting.add_known(of.day) {
                continue;
            }
            badge.begin_day();
            let newest = walk.each(of, WantedFacts::Counts, |entry| badge.count(&entry))?;
            counting.add(of.day, badge.counts(newest));
        }
        Ok(counting.done())
    }
}
