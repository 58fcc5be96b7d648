//! Marks of a world's inboxes, by its views, beside what a naive reading makes of them.

use crate::engine::tests::inbox::*;

impl World {
    pub(super) fn mark(&mut self, who: usize, what: u8, which: u8, change: u8) {
        self.mark_in(View::All, who, (what, which, change));
    }

    pub(super) fn mark_in(
        &mut self,
        view: View<usize>,
        who: usize,
        (what, which, change): (u8, u8, u8),
    ) {
        let until = self.now.plus_ms(i64::from(1 + which % 50) * HOUR_MS);
        let change = match change {
            0..=2 => Change::Mark(MarkKind::Seen),
            3 | 4 => Change::Mark(MarkKind::Read),
            5 => Change::Items(ItemChange::Unread),
            6 => Change::Items(ItemChange::Archive),
            7 => Change::Items(ItemChange::Unarchive),
            8 => Change::Items(ItemChange::Snooze(until)),
            9 => Change::Items(ItemChange::Unsnooze),
            _ => Change::Items(ItemChange::Delete),
        };
        let up_to = self.now.plus_ms(-i64::from(which % 40) * HOUR_MS);
        let kind = usize::from(which) % KINDS.len();
        let what = match what {
            0 => Marked::Object(object(which % 4).id),
            1 => Marked::Event(id(&format!("e{}", usize::from(which) % (self.events + 1)))),
            2 => {
                let keys = self.whole(who, View::All).groups;
                let at = usize::from(which) % keys.len().max(1);
                Marked::Row(keys.get(at).map_or("no:key".to_owned(), |group| group.key.clone()))
            }
            3 => Marked::UpToOf(up_to, TypeFilter::Type(KINDS[kind].to_owned())),
            _ => Marked::UpTo(up_to),
        };
        let row = match &what {
            Marked::Row(key) => {
                let groups = self.whole(who, View::All).groups;
                let at = groups.iter().position(|group| group.key == *key);
                let rows = self.rows(who, InboxState::All, View::All);
                at.map(|at| rows[at].1.iter().map(|entry| entry.event).collect::<BTreeSet<_>>())
            }
            _ => None,
        };
        let is_hit = |entry: &Entry| {
            let place = match change {
                Change::Items(ItemChange::Unarchive) => entry.shelf == Shelf::Archived,
                Change::Items(ItemChange::Unsnooze) => matches!(entry.shelf, Shelf::Snoozed(_)),
                _ => entry.shelf == Shelf::Active,
            };
            match &what {
                Marked::Event(event) => event.as_str() == format!("e{}", entry.event),
                Marked::Row(_) => row.as_ref().is_some_and(|row| row.contains(&entry.event)),
                Marked::Object(object) => place && *object == self::object(entry.object).id,
                Marked::UpTo(up_to) => place && entry.newest_at <= *up_to,
                Marked::UpToOf(up_to, _) => {
                    place && entry.newest_at <= *up_to && entry.kind == kind
                }
            }
        };
        let is_there = |entry: &&mut Entry| entry.who == who && entry.shelf != Shelf::Deleted;
        for entry in self.entries.iter_mut().filter(is_there) {
            if !is_hit(entry) || !view.shows(entry.tenant) {
                continue;
            }
            match change {
                Change::Mark(MarkKind::Seen) => entry.seen = true,
                Change::Mark(MarkKind::Read) => (entry.seen, entry.read) = (true, true),
                Change::Items(ItemChange::Unread) => entry.read = false,
                Change::Items(ItemChange::Archive) => entry.shelf = Shelf::Archived,
                Change::Items(ItemChange::Snooze(until)) => entry.shelf = Shelf::Snoozed(until),
                Change::Items(ItemChange::Delete) => entry.shelf = Shelf::Deleted,
                Change::Items(ItemChange::Unarchive) if entry.shelf == Shelf::Archived => {
                    entry.shelf = Shelf::Active;
                }
                Change::Items(ItemChange::Unsnooze) if matches!(entry.shelf, Shelf::Snoozed(_)) => {
                    entry.shelf = Shelf::Active;
                }
                Change::Items(ItemChange::Unarchive | ItemChange::Unsnooze) => {}
            }
        }
        let recipient = id(PEOPLE[who]);
        let before = VIEWS.map(|of| self.whole(who, of));
        let view = named(view);
        self.step(&[match change {
            Change::Mark(kind) => Command::Mark { recipient, what, kind, view },
            Change::Items(change) => Command::ChangeItems { recipient, what, change, view },
        }]);
        for (of, before) in VIEWS.into_iter().zip(before) {
            let after = self.whole(who, of);
            if after.groups == before.groups && self.withdrawn.is_empty() {
                let what = "a mark that changes nothing that a view shows raises nothing there";
                assert_eq!(after.counts, before.counts, "{what}: {of:?}");
            } else if after.groups != before.groups {
                assert!(after.counts.rev > before.counts.rev);
            }
        }
    }
}
