//! What is worth a look: mails of the mailbox, an inbox, and answers to why, chosen among those whose mails were kept.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::Serialize;
use tidings_core::model::{DAY_MS, Timed};
use tidings_core::{Command, Day, Event, Id, Instant};
use tidings_node::channel::{CaughtMailbox, CaughtMessage};

use crate::postbox::kept_for;
use crate::scenario::{LAST_DAY, Scenario};
use crate::text::{date, segment};
use crate::world::Person;

/// Something that is worth a look.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sight {
    /// What is to be seen there, in a few words.
    pub title: String,
    /// The reason why it is worth a look, in a sentence or two.
    pub note: String,
    /// The pages that show it.
    pub links: Vec<SightLink>,
}

/// A link to a page of the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SightLink {
    /// Its words.
    pub label: String,
    /// Its address.
    pub to: String,
}

impl Sight {
    fn new(title: &str, note: impl Into<String>, links: Vec<SightLink>) -> Self {
        Self { title: title.to_owned(), note: note.into(), links }
    }
}

fn link(label: impl Into<String>, to: String) -> SightLink {
    SightLink { label: label.into(), to }
}

fn mail(mail: &CaughtMessage) -> SightLink {
    link("Read the mail", format!("/_mail/caught-{}", mail.number))
}

fn mails_of(person: &str) -> SightLink {
    link("All their mails", format!("/_mail?to={}", segment(person)))
}

fn person(id: &str) -> SightLink {
    link(id, format!("/console/people/{}", segment(id)))
}

fn why(label: &str, person: &str, event: &Id) -> SightLink {
    let event = segment(event.as_str());
    link(label, format!("/console/people/{}/why/{event}", segment(person)))
}

/// The recipient of a mail.
fn reader(mail: &CaughtMessage) -> &str {
    mail.message.head.recipient.as_ref().map_or("", Id::as_str)
}

/// The lane of most mails.
const WEEKLY: &str = "digest:weekly";

/// All that is there to be seen, in the order in which it is shown.
pub(super) fn all(scenario: &Scenario, mailbox: &CaughtMailbox) -> Vec<Sight> {
    let mut mails = mailbox.newest_first();
    mails.reverse();
    let sights =
        [at_once(scenario, &mails), thousands(&mails), monday(&mails), taken_back(scenario)];
    sights.into_iter().chain([looker(scenario)]).flatten().collect()
}

/// A mail that left at the very instant.
fn at_once(scenario: &Scenario, mails: &[Arc<CaughtMessage>]) -> Option<Sight> {
    let found = mails.iter().find(|mail| mail.at == scenario.warhol_at)?;
    let of = reader(found);
    let links = vec![mail(found), why("Why they got it", of, &scenario.warhol_event), person(of)];
    let note =
        "Some do not want to wait for Monday: their mail left at the instant of the announcement.";
    Some(Sight::new("Marilyn Monroe, at once", note, links))
}

/// The largest mail of the last Monday.
fn thousands(mails: &[Arc<CaughtMessage>]) -> Option<Sight> {
    let last = Day::parse(LAST_DAY).map_or(Instant::MAX, Day::start).plus_ms(-DAY_MS);
    let of_last = mails.iter().filter(|mail| mail.at >= last && mail.message.head.lane == WEEKLY);
    let found = of_last.max_by_key(|mail| mail.message.head.entries)?;
    let note = "On 6 March 1968 the Abbott-Levy Collection of Eugène Atget’s prints was entered, nearly five thousand of \
                them. This is all that a follower’s mail made of it.";
    let links = vec![mail(found), person(reader(found))];
    Some(Sight::new("Thousands of photographs, one mail", note, links))
}

/// The remainder of a Monday's day number by 7: 5 January 1970 was one.
const MONDAY: i32 = 4;

/// The last mail of a Monday with something to read in it.
fn monday(mails: &[Arc<CaughtMessage>]) -> Option<Sight> {
    let is_monday = |mail: &CaughtMessage| mail.at.day().0.rem_euclid(7) == MONDAY;
    let found = mails.iter().rfind(|mail| {
        let head = &mail.message.head;
        head.lane == WEEKLY && is_monday(mail) && (5..=20).contains(&head.entries)
    })?;
    let note = "At nine, local time: what happened in a week, in one mail.";
    let of = reader(found);
    Some(Sight::new("A Monday morning", note, vec![mail(found), mails_of(of), person(of)]))
}

/// Somebody who follows the artist of a work that was taken back before the Monday mail.
fn taken_back(scenario: &Scenario) -> Option<Sight> {
    let mut events: HashMap<Id, (Instant, Box<Event>)> = HashMap::new();
    let (mut retracted, mut right_after_all) = (Vec::new(), HashSet::new());
    for Timed { at, command } in scenario.commands() {
        match command {
            Command::Publish(event) if !event.to.topics.is_empty() => {
                events.insert(event.object.id.clone(), (at, event));
            }
            Command::Retract { object } => retracted.push((at, object)),
            Command::Object(object) => {
                right_after_all.insert(object.id);
            }
            _ => {}
        }
    }
    let gone = retracted.iter().rev().filter(|(_, object)| !right_after_all.contains(object));
    let mut seen = gone.filter_map(|(at, object)| {
        let (published, event) = events.get(object)?;
        let of = follower(scenario, event)?;
        let note = format!(
            "The museum announced a work on {} and took it back on {}, before the Monday mail. Nobody read of it in a \
             mail that came later.",
            date(*published),
            date(*at)
        );
        let links = vec![why("Why they were not told", of.id.as_str(), &event.id), person(of.id.as_str())];
        Some(Sight::new("Taken back in time", note, links))
    });
    seen.next()
}

/// One of those whose mails were kept who follows a topic of an event and keeps to the weekly mail.
fn follower<'a>(scenario: &'a Scenario, event: &Event) -> Option<&'a Person> {
    let world = &scenario.world;
    let people = kept_for(world).filter_map(|place| world.people.get(place));
    let mut waiting = people.filter(|person| person.choices.is_empty() && person.email.is_some());
    waiting.find(|person| {
        person.follows.iter().any(|artist| event.to.topics.contains(&world.topic(*artist)))
    })
}

/// Somebody who looked into their inbox more than once and follows many, but not hundreds.
fn looker(scenario: &Scenario) -> Option<Sight> {
    const MANY: usize = 60;
    let world = &scenario.world;
    let mut looks: HashMap<Id, usize> = HashMap::new();
    for timed in scenario.commands() {
        if let Command::Mark { recipient, .. } = timed.command {
            *looks.entry(recipient).or_default() += 1;
        }
    }
    let found = kept_for(world)
        .filter_map(|place| world.people.get(place))
        .filter(|person| looks.get(&person.id).is_some_and(|looks| *looks > 1))
        .filter(|person| person.follows.len() <= MANY)
        .max_by_key(|person| (person.follows.len(), std::cmp::Reverse(&person.id)))?;
    let id = found.id.as_str();
    let note = "Works, shows and suggestions, grouped by artist, with what was seen and read. A suggestion \
                that was seen here is left out of the mail.";
    let links = vec![
        link("Their bell", format!("/_inbox?recipient={}", segment(id))),
        link("Their inbox in the console", format!("/console/people/{}?tab=inbox", segment(id))),
        mails_of(id),
    ];
    Some(Sight::new("Somebody who looks often", note, links))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::scenario;

    #[test]
    fn the_whole_story_has_somebody_who_was_not_told_and_somebody_who_looks() {
        let scenario = scenario();
        let taken_back = taken_back(&scenario).unwrap();
        assert!(taken_back.note.contains("6 March 1968 and took it back on 8 March 1968"));
        assert!(taken_back.links[0].to.contains("/why/artwork_published%2Fwork%2F"));
        assert_eq!(looker(&scenario).unwrap().links.len(), 3);
    }
}
