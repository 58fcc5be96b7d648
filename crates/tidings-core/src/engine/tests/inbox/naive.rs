//! The rows and the badge of an inbox, read naively from the entries that a world keeps.

use crate::engine::tests::inbox::*;

impl World {
    /// The rows of a state that a view shows, newest first, each with its entries.
    pub(super) fn rows(
        &self,
        who: usize,
        state: InboxState,
        view: View<usize>,
    ) -> Vec<(Group<'_>, Vec<&Entry>)> {
        let mut shown: Vec<&Entry> = self
            .entries
            .iter()
            .filter(|entry| entry.who == who && entry.shelf != Shelf::Deleted)
            .filter(|entry| view.shows(entry.tenant))
            .filter(|entry| !self.withdrawn.contains(&entry.object))
            .collect();
        shown.sort_by_key(|entry| std::cmp::Reverse(entry.order));
        let mut groups: Vec<(Group<'_>, Vec<&Entry>)> = Vec::new();
        for entry in shown {
            let word = match entry.shelf {
                Shelf::Archived => "archived",
                Shelf::Snoozed(_) => "snoozed",
                _ if entry.read => "read",
                _ => "new",
            };
            let key = (entry.listed, entry.tenant, entry.kind, entry.pivot.as_str(), word);
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, entries)) => entries.push(entry),
                None => groups.push((key, vec![entry])),
            }
        }
        groups.retain(|((.., word), entries)| match state {
            InboxState::All => true,
            InboxState::Active => ["new", "read"].contains(word),
            InboxState::Unread => *word == "new",
            InboxState::Unseen => *word == "new" && entries.iter().any(|entry| !entry.seen),
            InboxState::Archived => *word == "archived",
            InboxState::Snoozed => *word == "snoozed",
        });
        groups
    }

    /// All rows of a state, newest first, and the badge.
    pub(super) fn naive(&self, who: usize, state: InboxState, view: View<usize>) -> Whole {
        let unseen = self.rows(who, InboxState::Unseen, view).len();
        let unread = self.rows(who, InboxState::Unread, view).len();
        let groups = self.rows(who, state, view);
        let groups = groups.iter().map(|((_, tenant, kind, _, word), entries)| {
            let items = entries
                .iter()
                .take(ITEMS_LISTED)
                .map(|entry| (format!("e{}", entry.event), body_of(entry.event)))
                .collect();
            let kind = KINDS[*kind].to_owned();
            let seen = entries.iter().all(|entry| entry.seen);
            let read = entries.iter().all(|entry| entry.read);
            let until = entries.iter().filter_map(|entry| match entry.shelf {
                Shelf::Snoozed(until) => Some(until),
                _ => None,
            });
            let newest_at = entries[0].newest_at;
            let tenant = tenant.map(|tenant| TENANTS[tenant].to_owned());
            (tenant, kind, entries.len(), items, seen, read, *word, until.min(), newest_at)
        });
        (groups.collect(), unseen as u64, unread as u64)
    }
}
