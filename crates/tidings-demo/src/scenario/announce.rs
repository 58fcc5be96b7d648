//! Publications of the museum: works to followers, shows to followers and neighbours, suggestions.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tidings_core::model::{Audience, DAY_MS, GeoCircle, HOUR_MS, MINUTE_MS, SECOND_MS, Timed};
use tidings_core::{Command, Event, Id, Instant, Object};

use super::{FIRST_DAY, LAST_DAY, day, work_id};
use crate::museum::{Exhibition, Work};
use crate::random::Random;
use crate::world::{World, id};

/// A followed artist's work came to the museum.
pub(crate) const ARTWORK_PUBLISHED: &str = "artwork_published";
/// A show with a followed artist opens.
pub(crate) const FOLLOWED_ARTIST_SHOW: &str = "followed_artist_show";
/// A show opens near where the recipient lives.
pub(crate) const SHOW_NEARBY: &str = "show_nearby";
/// A work by an artist who was shown together with a followed one.
pub(crate) const ARTWORK_SUGGESTED: &str = "artwork_suggested";

/// Warhol's *Marilyn Monroe*, the portfolio as a whole.
const WARHOL_PORTFOLIO: u32 = 61_240;

/// Ten in the morning in New York, which was five hours behind UTC all that winter.
const OPENING_HOUR_UTC: i64 = 15;
/// Duration of the museum's announcements on one day.
const ANNOUNCING_MS: i64 = 7 * HOUR_MS;
/// Suggestions leave on Thursdays: this many works a week, each to a bounded number of people.
const SUGGESTIONS_A_WEEK: usize = 12;
const SUGGESTED_TO_MAX: usize = 60;

/// Everything that is published, and the Warhol event with its instant.
pub(super) fn all(world: &World) -> (Vec<Timed>, Id, Instant) {
    let mut said = works(world);
    said.extend(world.museum.shows.iter().flat_map(|show| show_events(world, show)));
    said.extend(suggestions(world));
    let warhol = event_id(ARTWORK_PUBLISHED, &work_id(WARHOL_PORTFOLIO));
    let at = said
        .iter()
        .find(|timed| matches!(&timed.command, Command::Publish(event) if event.id == warhol))
        .map(|timed| timed.at)
        .expect("the portfolio is among the compiled-in works");
    (said, warhol, at)
}

/// The key by which all works of one artist that came on one day can be taken back together.
pub(super) fn cancellation_key(world: &World, acquired: &str, artist: usize) -> Id {
    id(&format!("acquired/{acquired}/{}", world.museum.artists[artist].slug))
}

/// The works of one artist that came on one day are announced together, artist after artist, the
/// most followed first; who wants mail at once then gets one for each artist, not for each work.
fn works(world: &World) -> Vec<Timed> {
    let mut days: BTreeMap<&str, BTreeMap<(usize, bool), Vec<&Work>>> = BTreeMap::new();
    for work in &world.museum.works {
        let artist = first_artist(world, work);
        // The portfolio comes first, alone.
        let turn = (artist, work.id != WARHOL_PORTFOLIO);
        days.entry(&work.acquired).or_default().entry(turn).or_default().push(work);
    }
    let mut said = Vec::new();
    for (date, artists) in &days {
        let opens = day(date).start().plus_ms(OPENING_HOUR_UTC * HOUR_MS);
        let turns = i64::try_from(artists.len()).unwrap_or(i64::MAX);
        let pace = (ANNOUNCING_MS / turns) / SECOND_MS * SECOND_MS;
        let instants = (0_i64..).map(|turn| opens.plus_ms(turn * pace));
        for (at, ((artist, _), works)) in instants.zip(artists) {
            said.extend(works.iter().map(|work| publish(at, work_event(world, *artist, work))));
        }
    }
    said
}

fn work_event(world: &World, artist: usize, work: &Work) -> Event {
    Event {
        target: Some(artist_object(world, artist)),
        data: Some(work_data(world, artist, work)),
        cancellation_key: Some(cancellation_key(world, &work.acquired, artist)),
        ..event(
            ARTWORK_PUBLISHED,
            work_object(work),
            Audience { topics: topics(world, &work.artists), ..Audience::default() },
        )
    }
}

fn show_events(world: &World, show: &Exhibition) -> Vec<Timed> {
    // Half past eight in New York, before the Monday mail of those who live there.
    let at = day(&show.opens).start().plus_ms(13 * HOUR_MS + 30 * MINUTE_MS);
    let object = Object {
        id: id(&format!("show/{}", show.id)),
        title: Some(show.title.as_str().into()),
        url: show.url.clone(),
        image: None,
        image_size: None,
        data: None,
        notifiable: None,
    };
    let mut data = Map::new();
    for (key, value) in [
        ("venue", Some(&show.venue)),
        ("address", show.address.as_ref()),
        ("opens", Some(&show.opens)),
        ("closes", show.closes.as_ref()),
    ] {
        if let Some(value) = value {
            data.insert(key.to_owned(), Value::String(value.clone()));
        }
    }
    let ends = show.closes.as_deref().map(|last| day(last).end());
    let about = |event_type, to| Event {
        data: Some(data.clone()),
        expires_at: ends,
        ..event(event_type, object.clone(), to)
    };
    // Great shows are worth a longer way.
    let km = match show.artists.len() {
        0..=10 => 50.0,
        11..=50 => 100.0,
        _ => 200.0,
    };
    let near = vec![GeoCircle { lat: show.lat, lon: show.lon, km }];
    let mut said = vec![publish(at, about(SHOW_NEARBY, Audience { near, ..Audience::default() }))];
    if !show.artists.is_empty() {
        let to = Audience { topics: topics(world, &show.artists), ..Audience::default() };
        said.push(publish(at, about(FOLLOWED_ARTIST_SHOW, to)));
    }
    said
}

/// On Thursdays, works of the last four weeks go to followers of an artist who was shown together
/// with theirs, and who do not follow theirs.
fn suggestions(world: &World) -> Vec<Timed> {
    let mut random = Random::new(17);
    let mut said = Vec::new();
    for thursday in (day(FIRST_DAY).0 + 3..day(LAST_DAY).0).step_by(7) {
        let at = tidings_core::Day(thursday).start().plus_ms(17 * HOUR_MS);
        let recent: Vec<&Work> = world
            .museum
            .works
            .iter()
            .filter(|work| (thursday - 28..thursday).contains(&day(&work.acquired).0))
            .collect();
        let mut suggested = BTreeMap::new();
        for _ in 0..4 * SUGGESTIONS_A_WEEK {
            if suggested.len() == SUGGESTIONS_A_WEEK {
                break;
            }
            let Some(work) = random.pick(&recent) else {
                break;
            };
            let artist = first_artist(world, work);
            // One work an artist a week, so that no name comes twice.
            if !suggested.contains_key(&artist)
                && let Some(event) = suggestion(world, work, artist, thursday, &mut random)
            {
                suggested.insert(artist, publish(at, event));
            }
        }
        said.extend(suggested.into_values());
    }
    said
}

fn suggestion(
    world: &World,
    work: &Work,
    artist: usize,
    thursday: i32,
    random: &mut Random,
) -> Option<Event> {
    let shows: Vec<&Exhibition> = world
        .museum
        .shows
        .iter()
        .filter(|show| show.artists.contains(&work.artists[0]) && show.artists.len() > 1)
        .collect();
    let show = random.pick(&shows)?;
    let companion = world.museum.place_of(*random.pick(&show.artists)?)?;
    let mut recipients: Vec<usize> = (0..SUGGESTED_TO_MAX)
        .filter_map(|_| random.pick(&world.followers[companion]).copied())
        .filter(|person| !world.people[*person].follows.contains(&artist))
        .collect();
    recipients.sort_unstable();
    recipients.dedup();
    if companion == artist || recipients.is_empty() {
        return None;
    }
    let mut data = work_data(world, artist, work);
    data.insert("because".to_owned(), Value::String(world.museum.artists[companion].name.clone()));
    let to = Audience {
        recipients: recipients.iter().map(|person| world.people[*person].id.clone()).collect(),
        ..Audience::default()
    };
    Some(Event {
        // A work can be suggested again in another week.
        id: id(&format!("{ARTWORK_SUGGESTED}/{}/{}", work.id, tidings_core::Day(thursday))),
        target: Some(artist_object(world, artist)),
        data: Some(data),
        expires_at: Some(tidings_core::Day(thursday).start().plus_ms(14 * DAY_MS)),
        ..event(ARTWORK_SUGGESTED, work_object(work), to)
    })
}

/// Place in the museum's artists of the first one of a work.
pub(super) fn first_artist(world: &World, work: &Work) -> usize {
    world.museum.place_of(work.artists[0]).expect("the compiled-in works name carried artists")
}

/// An artist under the id of their topic, so that mails call the topic by their name.
fn artist_object(world: &World, artist: usize) -> Object {
    Object {
        title: Some(world.museum.artists[artist].name.as_str().into()),
        ..Object::bare(world.topic(artist))
    }
}

fn topics(world: &World, artists: &[u32]) -> Vec<Id> {
    artists
        .iter()
        .filter_map(|artist| world.museum.place_of(*artist))
        .map(|place| world.topic(place))
        .collect()
}

fn work_object(work: &Work) -> Object {
    let title = if work.title.is_empty() { "Untitled" } else { &work.title };
    Object {
        id: work_id(work.id),
        title: Some(title.into()),
        url: work.url.clone(),
        image: None,
        image_size: None,
        data: None,
        notifiable: None,
    }
}

fn work_data(world: &World, artist: usize, work: &Work) -> Map<String, Value> {
    let artist = Some(&world.museum.artists[artist].name);
    [
        ("artist", artist),
        ("date", work.date.as_ref()),
        ("medium", work.medium.as_ref()),
        ("credit", work.credit.as_ref()),
    ]
    .into_iter()
    .filter_map(|(key, value)| Some((key.to_owned(), Value::String(value?.clone()))))
    .collect()
}

fn event_id(event_type: &str, object: &Id) -> Id {
    id(&format!("{event_type}/{object}"))
}

fn event(event_type: &str, object: Object, to: Audience) -> Event {
    Event::new(event_id(event_type, &object.id), id(event_type), object, to)
}

fn publish(at: Instant, event: Event) -> Timed {
    Timed { at, command: Command::Publish(Box::new(event)) }
}
