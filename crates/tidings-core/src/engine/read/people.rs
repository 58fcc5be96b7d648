//! Lists of recipients in the order of their ids: all of them, and the followers of a topic.
//!
//! Ids are hashed into buckets, so each page merges the buckets' ids, which are kept in order. A set of few recipients
//! is gone through instead: whoever looks for a dozen people among a million walks past nobody else.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::ControlFlow;

use roaring::RoaringBitmap;

use crate::bucket::Bucket;
use crate::engine::read::list::{ListPage, PageBuilder, Positioned};
use crate::engine::read::reader::Reader;
use crate::model::id::Id;
use crate::model::number::RecipientNo;
use crate::model::recipient::{Recipient, RecipientState};
use crate::model::tenant::TenantNo;

/// A set of at most this number of recipients is gone through, whichever page is asked for.
const FEW: u64 = 100_000;

/// The same of a set that is sorted by id.
const FEW_IN_ORDER: u64 = 30_000;

/// A choice among recipients; what is absent leaves all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecipientFilter {
    /// Only those whose id begins so.
    pub id_prefix: Option<Id>,
    /// Only members of this tenant.
    pub tenant: Option<TenantNo>,
    /// Only those in this state.
    pub state: Option<RecipientState>,
}

/// A recipient in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedRecipient {
    /// The id.
    pub id: Id,
    /// Name to show.
    pub name: Option<String>,
    /// The state.
    pub state: RecipientState,
    /// The tenants of which they are a member, by id.
    pub tenants: Vec<Id>,
}

impl Positioned for ListedRecipient {
    type Position = Id;

    fn position(&self) -> Id {
        self.id.clone()
    }
}

/// A follower of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFollower {
    /// The id of the recipient.
    pub recipient: Id,
}

impl Positioned for ListedFollower {
    type Position = Id;

    fn position(&self) -> Id {
        self.recipient.clone()
    }
}

/// A page of the followers of a topic, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FollowersPage {
    /// The page.
    pub page: ListPage<ListedFollower>,
    /// Number of all followers.
    pub count: u64,
}

/// The part of a list of recipients that is asked for.
pub(in crate::engine) struct WantedRecipients<'a> {
    pub(in crate::engine) prefix: Option<&'a Id>,
    pub(in crate::engine) after: Option<Id>,
    pub(in crate::engine) most: usize,
}

impl Reader<'_> {
    /// A page of recipients, by id.
    #[must_use]
    pub fn recipients(
        &self,
        filter: &RecipientFilter,
        after: Option<Id>,
        most: usize,
    ) -> ListPage<ListedRecipient> {
        let RecipientFilter { id_prefix, tenant, state } = filter;
        let sets = |bucket: &Bucket| {
            let members = tenant.map(|tenant| bucket.members.of(tenant));
            let state = state.map(|state| bucket.roster.in_state(state));
            match (members, state) {
                (Some(members), Some(state)) => Some(members & state),
                (members, state) => members.or(state),
            }
        };
        let wanted = WantedRecipients { prefix: id_prefix.as_ref(), after, most };
        self.by_id(&wanted, &sets, &|bucket, number, profile| {
            let tenants = bucket.members.tenants_of(number.0);
            let tenants = tenants.filter_map(|tenant| self.engine.intake.tenants.id(Some(tenant)));
            let mut tenants: Vec<Id> = tenants.cloned().collect();
            tenants.sort_unstable();
            ListedRecipient {
                id: profile.id.clone(),
                name: profile.name.clone(),
                state: profile.state,
                tenants,
            }
        })
    }

    /// A page of the followers of a topic, of a tenant's or of one without a tenant, by id.
    #[must_use]
    pub fn followers(
        &self,
        topic: &Id,
        tenant: Option<TenantNo>,
        after: Option<Id>,
        most: usize,
    ) -> FollowersPage {
        let of = |bucket: &Bucket| {
            let followers = bucket.followers.get(tenant, topic.as_str());
            followers.cloned().unwrap_or_default()
        };
        let wanted = WantedRecipients { prefix: None, after, most };
        let shown =
            |_: &Bucket, _, profile: &Recipient| ListedFollower { recipient: profile.id.clone() };
        FollowersPage {
            page: self.by_id(&wanted, &|bucket| Some(of(bucket)), &shown),
            count: self.engine.shards.buckets().map(|bucket| of(bucket).len()).sum(),
        }
    }

    /// A page of the recipients of sets, one for each bucket, or of all.
    fn by_id<T: Positioned<Position = Id>>(
        &self,
        wanted: &WantedRecipients<'_>,
        set_of: &dyn Fn(&Bucket) -> Option<RoaringBitmap>,
        shown: &dyn Fn(&Bucket, RecipientNo, &Recipient) -> T,
    ) -> ListPage<T> {
        let buckets = || self.engine.shards.buckets();
        let sets: Vec<(&Bucket, Option<RoaringBitmap>)> =
            buckets().map(|bucket| (bucket, set_of(bucket))).collect();
        let sizes = sets.iter().map(|(_, set)| set.as_ref().map(RoaringBitmap::len));
        let size = sizes.sum::<Option<u64>>();
        if size.is_some_and(|size| size <= FEW) {
            of_few(wanted, &sets, shown)
        } else {
            of_many(wanted, &sets, shown)
        }
    }
}

impl WantedRecipients<'_> {
    /// Returns true if an id is in the list and after the page before.
    fn takes(&self, id: &Id) -> bool {
        self.after.as_ref().is_none_or(|after| id > after) && self.has(id)
    }

    fn has(&self, id: &Id) -> bool {
        self.prefix.is_none_or(|prefix| id.as_str().starts_with(prefix.as_str()))
    }

    /// The text at which the page begins, or after which.
    fn begin(&self) -> &str {
        let after = self.after.as_ref().map_or("", Id::as_str);
        after.max(self.prefix.map_or("", Id::as_str))
    }
}

/// A page of sets that are gone through.
fn of_few<T: Positioned<Position = Id>>(
    wanted: &WantedRecipients<'_>,
    sets: &[(&Bucket, Option<RoaringBitmap>)],
    shown: &dyn Fn(&Bucket, RecipientNo, &Recipient) -> T,
) -> ListPage<T> {
    let mut first: BTreeMap<&Id, (&Bucket, RecipientNo)> = BTreeMap::new();
    for (bucket, set) in sets {
        for number in set.iter().flatten().map(RecipientNo) {
            let Some(profile) = bucket.roster.profile(number) else {
                continue;
            };
            let id = &profile.id;
            let is_full = first.len() > wanted.most;
            let is_behind = is_full && first.last_key_value().is_none_or(|(last, _)| *last < id);
            if is_behind || !wanted.takes(id) {
                continue;
            }
            first.insert(id, (*bucket, number));
            if first.len() > wanted.most.saturating_add(1) {
                first.pop_last();
            }
        }
    }
    let rows = first.into_values();
    let rows = rows.filter_map(|(bucket, number)| {
        let profile = bucket.roster.profile(number)?;
        Some(shown(bucket, number, profile))
    });
    ListPage::merged(vec![ListPage { rows: rows.collect(), next: None }], wanted.most)
}

/// A page of all recipients, or of large sets.
fn of_many<T: Positioned<Position = Id>>(
    wanted: &WantedRecipients<'_>,
    sets: &[(&Bucket, Option<RoaringBitmap>)],
    shown: &dyn Fn(&Bucket, RecipientNo, &Recipient) -> T,
) -> ListPage<T> {
    let mut page = PageBuilder::new(wanted.after.clone(), wanted.most);
    merge(wanted, sets, &mut |id, found| {
        if !page.looks_at(id.clone()) {
            return ControlFlow::Break(());
        }
        if let Some((at, number, profile)) = found {
            page.add(shown(sets[at].0, number, profile));
        }
        ControlFlow::Continue(())
    });
    page.page()
}

/// Visits the recipients of sets after a page, in the order of their ids.
pub(in crate::engine) fn in_order(
    wanted: &WantedRecipients<'_>,
    sets: &[(&Bucket, Option<RoaringBitmap>)],
    visit: &mut dyn FnMut(usize, RecipientNo, &Recipient) -> ControlFlow<()>,
) {
    let sizes = sets.iter().map(|(_, set)| set.as_ref().map(RoaringBitmap::len));
    if sizes.sum::<Option<u64>>().is_none_or(|size| size > FEW_IN_ORDER) {
        merge(wanted, sets, &mut |_, found| match found {
            Some((at, number, profile)) => visit(at, number, profile),
            None => ControlFlow::Continue(()),
        });
        return;
    }
    let mut all: Vec<(&Recipient, usize, RecipientNo)> = Vec::new();
    for (at, (bucket, set)) in sets.iter().enumerate() {
        for number in set.iter().flatten().map(RecipientNo) {
            let profile = bucket.roster.profile(number);
            all.extend(profile.map(|profile| (profile, at, number)));
        }
    }
    all.retain(|(profile, ..)| wanted.takes(&profile.id));
    all.sort_unstable_by(|(a, ..), (b, ..)| a.id.cmp(&b.id));
    for (profile, at, number) in all {
        if visit(at, number, profile).is_break() {
            break;
        }
    }
}

/// A recipient of a set: the index of the set, the number and the profile.
type SetRecipient<'a> = (usize, RecipientNo, &'a Recipient);

/// Visits the ids of all buckets after a page in order, with those who are in the sets.
fn merge(
    wanted: &WantedRecipients<'_>,
    sets: &[(&Bucket, Option<RoaringBitmap>)],
    visit: &mut dyn FnMut(&Id, Option<SetRecipient<'_>>) -> ControlFlow<()>,
) {
    let mut ids: Vec<_> = sets
        .iter()
        .map(|(bucket, _)| {
            let ids = bucket.roster.ids_from(wanted.begin());
            ids.skip_while(|id| wanted.after.as_ref().is_some_and(|after| *id <= after))
        })
        .collect();
    let first = ids.iter_mut().enumerate();
    let mut heads: BinaryHeap<Reverse<(&Id, usize)>> =
        first.filter_map(|(at, ids)| Some(Reverse((ids.next()?, at)))).collect();
    while let Some(Reverse((id, at))) = heads.pop() {
        if !wanted.has(id) {
            break;
        }
        if let Some(next) = ids[at].next() {
            heads.push(Reverse((next, at)));
        }
        let (bucket, set) = &sets[at];
        let number = bucket.roster.number(id.as_str());
        let number = number.filter(|of| set.as_ref().is_none_or(|set| set.contains(of.0)));
        let profile = number.and_then(|number| bucket.roster.profile(number));
        if visit(id, number.zip(profile).map(|(number, profile)| (at, number, profile))).is_break()
        {
            break;
        }
    }
}
