//! The lists of the engine, page by page.

use std::collections::BTreeMap;

use tidings_core::Id;
use tidings_core::engine::{
    ChannelFate, EventFilter, FateFilter, FateState, ListPage, Positioned, Reader, RecipientFilter,
};

use crate::lists::{ListedEvent, ListedPerson, Lists, States};

/// Number of rows of a page: few, so that a walk has many.
const MOST: usize = 3;

/// All lists, with the followers of topics.
pub(super) fn of(reader: Reader<'_>, topics: &[Id]) -> Lists {
    let mut lists = Lists::default();
    let all = RecipientFilter::default();
    for of in walk(|after| reader.recipients(&all, after, MOST)) {
        lists.people.push(ListedPerson { id: of.id, state: of.state, tenants: of.tenants });
    }
    for of in events(reader, &EventFilter::default()) {
        let filter = EventFilter { object: Some(of.object.clone()), ..EventFilter::default() };
        let with_object = events(reader, &filter);
        assert!(with_object.contains(&of), "the index has {of:?}");
        assert!(with_object.iter().all(|other| other.object == of.object));
        let reached = walk(|after| {
            let page = reader.event_recipients(&of.id, &FateFilter::default(), after, MOST);
            page.expect("the store can be read").expect("the event is listed")
        });
        let states = reached.into_iter().map(|of| (of.recipient, states(of.channels)));
        lists.reached.insert(of.id.clone(), states.collect());
        lists.events.push(of);
    }
    for person in &lists.people {
        let filter = EventFilter { recipient: Some(person.id.clone()), ..EventFilter::default() };
        let ids: Vec<Id> = events(reader, &filter).into_iter().map(|of| of.id).collect();
        if !ids.is_empty() {
            lists.events_of.insert(person.id.clone(), ids);
        }
    }
    for topic in topics {
        let followers = walk(|after| reader.followers(topic, None, after, MOST).page);
        let count = reader.followers(topic, None, None, 1).count;
        assert_eq!(followers.len() as u64, count, "the count of the followers of {topic}");
        if !followers.is_empty() {
            let ids = followers.into_iter().map(|of| of.recipient);
            lists.followers.insert(topic.clone(), ids.collect());
        }
    }
    lists
}

fn events(reader: Reader<'_>, filter: &EventFilter) -> Vec<ListedEvent> {
    let all = walk(|after| reader.events(filter, after, MOST).expect("the store can be read"));
    all.into_iter()
        .map(|of| ListedEvent {
            id: of.id,
            event_type: of.event_type,
            actor: of.actor,
            object: of.object,
            target: of.target,
            tenant: of.tenant,
            arrived: of.arrived,
        })
        .collect()
}

/// All rows of a list.
fn walk<T: Positioned>(mut page: impl FnMut(Option<T::Position>) -> ListPage<T>) -> Vec<T> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let ListPage { rows, next } = page(after);
        all.extend(rows);
        match next {
            Some(next) => after = Some(next),
            None => return all,
        }
    }
}

/// As the model has them: it sends at once, and tells no reason of an end.
fn states(channels: BTreeMap<&'static str, ChannelFate>) -> States {
    let state = |fate: ChannelFate| match fate.state {
        FateState::Sending => ("pending", None),
        FateState::LeftOut => ("left_out", fate.reason.map(|reason| reason.word())),
        other => (other.word(), None),
    };
    channels.into_iter().map(|(channel, fate)| (channel.to_owned(), state(fate))).collect()
}
