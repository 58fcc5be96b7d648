//! Pages of a world's inboxes, in each view, against the naive reading.

use crate::engine::tests::inbox::*;

impl World {
    pub(super) fn whole(&self, who: usize, view: View<usize>) -> InboxPage {
        let (state, view) = (InboxState::All, named(view));
        let query = InboxQuery { state, view, ..InboxQuery::newest(usize::MAX) };
        self.engine.reader(&self.stored).inbox(&id(PEOPLE[who]), &query).unwrap()
    }

    pub(super) fn page(&mut self, who: usize, query: &InboxQuery) -> InboxPage {
        let page = self.engine.reader(&self.stored).inbox(&id(PEOPLE[who]), query).unwrap();
        assert!(page.groups.len() <= query.limit);
        let place = |tenant: &Id| TENANTS.iter().position(|name| *name == tenant.as_str());
        let view = query.view.try_map(|tenant| place(tenant).ok_or(())).unwrap();
        let whole = self.naive(who, InboxState::All, view);
        assert_eq!((page.counts.unseen, page.counts.unread), (whole.1, whole.2));
        let of_tenants = page.counts.tenants.as_ref().map(|tenants| {
            let counts = tenants.iter().map(|(id, of)| (id.as_str(), of.unseen, of.unread));
            counts.collect::<Vec<_>>()
        });
        let naive = (0..TENANTS.len()).map(|tenant| {
            let (_, unseen, unread) = self.naive(who, InboxState::All, View::Only(tenant));
            (TENANTS[tenant], unseen, unread)
        });
        let naive = naive.filter(|(_, _, unread)| *unread > 0).collect();
        assert_eq!(of_tenants, (view == View::All).then_some(naive));
        let reader = self.engine.reader(&self.stored);
        let counted = reader.inbox_counts(&id(PEOPLE[who]), &query.view).unwrap();
        assert_eq!(counted, page.counts, "counts and page say the same");
        let of_categories = page.counts.categories.values();
        assert_eq!(of_categories.map(|of| of.unseen).sum::<u64>(), page.counts.unseen);
        let rev = page.counts.rev;
        let before = self.revs.insert((who, view), (rev, whole.clone()));
        if let Some((before, was)) = before {
            assert!(rev >= before, "a later answer has no lower number");
            assert!(rev > before || was == whole, "what changes a page raises the number");
        }
        page
    }

    /// Reads the inbox as a whole in each state, then page by page while more arrives.
    pub(super) fn look(&mut self, who: usize) {
        VIEWS.into_iter().for_each(|view| self.look_in(who, view));
    }

    pub(super) fn look_in(&mut self, who: usize, view: View<usize>) {
        let usual = InboxQuery { view: named(view), ..InboxQuery::newest(usize::MAX) };
        let of_all = self.whole(who, View::All).groups;
        for state in [
            InboxState::All,
            InboxState::Unseen,
            InboxState::Unread,
            InboxState::Archived,
            InboxState::Snoozed,
            InboxState::Active,
        ] {
            let (groups, ..) = self.naive(who, state, view);
            let whole = self.page(who, &InboxQuery { state, ..usual.clone() });
            assert_eq!(whole.groups.iter().map(shown).collect::<Vec<_>>(), groups);
            assert_eq!(whole.next, None);
            let is_known = |group| of_all.contains(group);
            assert!(whole.groups.iter().all(is_known), "all views have the same groups");
            let keys: BTreeSet<&str> =
                whole.groups.iter().map(|group| group.key.as_str()).collect();
            assert_eq!(keys.len(), groups.len(), "keys tell groups apart");
            let orders: Vec<&str> = whole.groups.iter().map(|group| group.order.as_str()).collect();
            assert!(orders.is_sorted_by(|a, b| a > b), "{orders:?}");
            for (at, kind) in KINDS.iter().enumerate() {
                let types = vec![(*kind).to_owned()];
                let query = InboxQuery { state, types, ..usual.clone() };
                let of_kind = self.rows(who, state, view);
                let of_kind = of_kind.iter().filter(|((_, _, kind, ..), _)| *kind == at).count();
                assert_eq!(self.page(who, &query).groups.len(), of_kind);
            }
            let alone = InboxQuery { state, is_grouped: false, ..usual.clone() };
            if state == InboxState::All {
                let items: usize =
                    self.rows(who, state, view).iter().map(|(_, entries)| entries.len()).sum();
                let page = self.page(who, &alone);
                assert_eq!(page.groups.len(), items);
                assert!(page.groups.iter().all(|group| group.count == 1));
            }
        }
        let (groups, ..) = self.naive(who, InboxState::Active, view);
        let (mut paged, mut from) = (Vec::new(), None);
        loop {
            let page = self.page(who, &InboxQuery { from, limit: 2, ..usual.clone() });
            paged.extend(page.groups.iter().map(shown));
            let Some(next) = page.next else { break };
            assert_eq!(page.groups.len(), 2, "only the last page is short");
            from = Some(next.to_string().parse().unwrap());
            // About nothing that was withdrawn, or it would come back.
            self.publish(paged.len() % 3, (9, 1, 1), 7, 0);
        }
        assert_eq!(paged, groups, "each group once, whatever arrives meanwhile");
    }
}
