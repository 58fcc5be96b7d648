//! A view over the world without an engine: the first few hundred recipients, one Monday mail a
//! week each. It stands in for the real one, so that the page can be tested and looked at.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use tidings_core::command::{MarkKind, Marked};
use tidings_core::time::{DAY_MS, HOUR_MS};
use tidings_core::{Books, Command, Day, Event, Instant};

use super::view::*;
use super::{picture, text};
use crate::scenario::{Scenario, scenario};

const PEOPLE: usize = 400;

pub(crate) struct Sample {
    scenario: Scenario,
    heard: Vec<Vec<Heard>>,
    mails: Vec<Mail>,
}

struct Heard {
    at: Instant,
    event: Box<Event>,
    reasons: Vec<String>,
    seen: bool,
    read: bool,
}

impl Sample {
    pub(crate) fn new() -> Self {
        let scenario = scenario();
        let mut heard: Vec<Vec<Heard>> = (0..PEOPLE).map(|_| Vec::new()).collect();
        let world = &scenario.world;
        let artists: HashMap<String, usize> = (0..world.followers.len())
            .map(|n| (world.topic(n).to_string(), n))
            .collect();
        for timed in scenario.commands() {
            match timed.command {
                Command::Publish(event) => hear(&scenario, &artists, &mut heard, timed.at, &event),
                Command::Mark {
                    recipient,
                    what,
                    kind,
                } => {
                    let place = recipient.as_str()[1..].parse::<usize>().unwrap() - 1;
                    for item in heard.get_mut(place).into_iter().flatten() {
                        let covered = match &what {
                            Marked::UpTo(at) => item.at <= *at,
                            Marked::Object(object) => item.event.object.id == *object,
                            Marked::Event(event) => item.event.id == *event,
                        };
                        item.seen |= covered;
                        item.read |= covered && kind == MarkKind::Read;
                    }
                }
                _ => {}
            }
        }
        let mut mails: Vec<Mail> = (0..PEOPLE)
            .flat_map(|place| mails_of(&scenario, place, &heard[place]))
            .collect();
        mails.sort_by(|a, b| (a.line.at, &a.line.recipient).cmp(&(b.line.at, &b.line.recipient)));
        Self {
            scenario,
            heard,
            mails,
        }
    }

    pub(crate) fn first_mail(&self) -> &Mail {
        &self.mails[0]
    }

    fn line(&self, place: usize) -> PersonLine {
        let person = &self.scenario.world.people[place];
        let city = self.scenario.world.city_of(person);
        PersonLine {
            id: person.id.to_string(),
            city: city.name.clone(),
            country: city.country.clone(),
            zone: city.zone.clone(),
            follows: person.follows.len(),
            mails: self
                .mails
                .iter()
                .filter(|m| m.line.recipient == person.id.as_str())
                .count(),
        }
    }
}

impl View for Sample {
    fn summary(&self) -> Summary {
        let largest = self
            .mails
            .iter()
            .max_by_key(|mail| mail.line.entries)
            .unwrap();
        let mails_in = |monday: Day| {
            let week = monday.start()..monday.start().plus_ms(7 * DAY_MS);
            self.mails
                .iter()
                .filter(|mail| week.contains(&mail.line.at))
                .count() as u64
                * 62
        };
        let fan_out = |title: &str, event: &str, recipients, ms| FanOut {
            title: title.to_owned(),
            event: event.to_owned(),
            recipients,
            ms,
        };
        let pick = |title: &str, note: &str, to| Pick {
            title: title.to_owned(),
            note: note.to_owned(),
            to,
        };
        Summary {
            books: Books {
                events: 6362,
                notifications: 2_871_204,
                entries: 5_634_117,
                messages: 412_908,
                delivered: 5_530_201,
                cancelled: 31_604,
                skipped: 52_113,
                expired: 9_872,
                pending: 10_327,
                ..Books::default()
            },
            facts: self.scenario.facts(),
            weeks: self
                .scenario
                .weeks
                .iter()
                .map(|week| WeekLine {
                    week: week.clone(),
                    mails: mails_in(week.monday),
                })
                .collect(),
            mails: 98_412,
            lanes: ["digest:daily", "digest:weekly", "now"]
                .map(str::to_owned)
                .to_vec(),
            warhol: fan_out(
                "Marilyn Monroe",
                self.scenario.warhol_event.as_str(),
                12_004,
                3.21,
            ),
            largest: fan_out(
                "Word and Image",
                "followed_artist_show/show/956",
                19_214,
                4.87,
            ),
            seconds: 21.43,
            picks: vec![
                pick(
                    "4,929 photographs, one mail",
                    "On 6 March 1968 the Abbott-Levy Collection of Eugène Atget’s prints came in one day.",
                    PickTarget::Mail(largest.line.id.clone()),
                ),
                pick(
                    "The first Monday",
                    "Nine in the morning comes to the east of the world first.",
                    PickTarget::Mail(self.first_mail().line.id.clone()),
                ),
                pick(
                    "Somebody who follows many",
                    "Works, shows and suggestions, grouped by artist, with what was seen and read.",
                    PickTarget::Person(largest.line.recipient.clone()),
                ),
            ],
        }
    }

    fn mails(&self, which: &MailQuery, slice: Slice) -> Listing<MailLine> {
        let wanted = |asked: &Option<String>, is: &str| asked.as_ref().is_none_or(|a| a == is);
        let rows = self.mails.iter().map(|mail| &mail.line).filter(|line| {
            wanted(&which.recipient, &line.recipient) && wanted(&which.lane, &line.lane)
        });
        part(rows.cloned().collect(), slice)
    }

    fn mail(&self, id: &str) -> Option<Mail> {
        self.mails.iter().find(|mail| mail.line.id == id).cloned()
    }

    fn rest(&self, _: &str, _: usize) -> Option<String> {
        None
    }

    fn picture(&self, work: u32) -> Option<String> {
        self.scenario.world.museum.work(work).map(picture::of)
    }

    fn people(&self, search: &str, slice: Slice) -> Listing<PersonLine> {
        let search = search.to_lowercase();
        let rows = (0..PEOPLE)
            .map(|place| self.line(place))
            .filter(|line| line.id.contains(&search) || line.city.to_lowercase().contains(&search));
        part(rows.collect(), slice)
    }

    fn person(&self, id: &str, slice: Slice) -> Option<PersonPage> {
        let world = &self.scenario.world;
        let place = world.people[..PEOPLE]
            .iter()
            .position(|person| person.id.as_str() == id)?;
        let person = &world.people[place];
        let mut groups: BTreeMap<(Instant, String), Vec<&Heard>> = BTreeMap::new();
        for item in self.heard[place].iter().rev() {
            groups
                .entry((Instant(-item.at.0), title_of(item)))
                .or_default()
                .push(item);
        }
        Some(PersonPage {
            line: self.line(place),
            email: person.email.clone(),
            state: format!("{:?}", person.state).to_lowercase(),
            choices: person
                .choices
                .iter()
                .map(|choice| Choice {
                    scope: category(choice.category).to_owned(),
                    channel: choice.channel.to_owned(),
                    mode: format!("{:?}", choice.mode).to_lowercase(),
                })
                .collect(),
            topics: person
                .follows
                .iter()
                .take(60)
                .map(|artist| world.topic(*artist).to_string())
                .collect(),
            waiting: vec![OpenLane {
                channel: "email".to_owned(),
                lane: "digest:weekly".to_owned(),
                due: Some(self.scenario.ends.plus_ms(7 * DAY_MS)),
                entries: 3,
            }],
            unseen: self.heard[place].iter().filter(|item| !item.seen).count() as u64,
            unread: self.heard[place].iter().filter(|item| !item.read).count() as u64,
            inbox: part(
                groups
                    .iter()
                    .map(|(key, items)| group(&key.1, items))
                    .collect(),
                slice,
            ),
        })
    }
}

fn part<T>(rows: Vec<T>, slice: Slice) -> Listing<T> {
    let total = rows.len();
    Listing {
        rows: rows.into_iter().skip(slice.skip).take(slice.take).collect(),
        total,
    }
}

fn hear(
    scenario: &Scenario,
    artists: &HashMap<String, usize>,
    heard: &mut [Vec<Heard>],
    at: Instant,
    event: &Event,
) {
    let world = &scenario.world;
    let followed: Vec<(&Vec<usize>, String)> = event
        .to
        .topics
        .iter()
        .map(|topic| {
            (
                &world.followers[artists[topic.as_str()]],
                format!("topic:{topic}"),
            )
        })
        .collect();
    for (place, heard) in heard.iter_mut().enumerate() {
        let person = &world.people[place];
        let mut reasons: Vec<String> = followed
            .iter()
            .filter(|(followers, _)| followers.binary_search(&place).is_ok())
            .map(|(_, reason)| reason.clone())
            .collect();
        if event.to.recipients.contains(&person.id) {
            reasons.push("named".to_owned());
        }
        if !event.to.near.is_empty() && world.city_of(person).zone == "America/New_York" {
            reasons.push("near".to_owned());
        }
        if !reasons.is_empty() {
            let event = Box::new(event.clone());
            heard.push(Heard {
                at,
                event,
                reasons,
                seen: false,
                read: false,
            });
        }
    }
}

fn category(event_type: &str) -> &'static str {
    match event_type {
        "show_nearby" | "nearby" => "Shows near you",
        "artwork_suggested" | "suggested" => "Chosen for you",
        _ => "Artists you follow",
    }
}

fn datum(event: &Event, key: &str) -> String {
    let value = event
        .data
        .as_ref()
        .and_then(|data| data.get(key))
        .and_then(|v| v.as_str());
    value.unwrap_or_default().to_owned()
}

fn title_of(item: &Heard) -> String {
    let artist = datum(&item.event, "artist");
    if artist.is_empty() {
        item.event.object.title.clone().unwrap()
    } else {
        artist
    }
}

fn group(title: &str, items: &[&Heard]) -> InboxGroup {
    InboxGroup {
        title: title.to_owned(),
        category: category(items[0].event.event_type.as_str()).to_owned(),
        count: items.len(),
        newest_at: items[0].at,
        seen: items.iter().all(|item| item.seen),
        read: items.iter().all(|item| item.read),
        items: items.iter().take(5).map(|item| inbox_item(item)).collect(),
    }
}

fn inbox_item(item: &Heard) -> InboxItem {
    let note = ["date", "medium", "venue", "address"].map(|key| datum(&item.event, key));
    InboxItem {
        title: item.event.object.title.clone().unwrap(),
        url: item.event.object.url.clone(),
        note: note
            .into_iter()
            .filter(|n| !n.is_empty())
            .collect::<Vec<_>>()
            .join(", "),
        t: item.at,
        reasons: item.reasons.clone(),
        seen: item.seen,
        read: item.read,
    }
}

fn mails_of(scenario: &Scenario, place: usize, heard: &[Heard]) -> Vec<Mail> {
    let person = &scenario.world.people[place];
    let city = scenario.world.city_of(person);
    let mut mails = Vec::new();
    for week in &scenario.weeks {
        let at = week
            .monday
            .start()
            .plus_ms(9 * HOUR_MS - i64::from(place as u32 % 12) * HOUR_MS);
        let told: Vec<&Heard> = heard
            .iter()
            .filter(|h| h.at < at && h.at >= at.plus_ms(-7 * DAY_MS))
            .collect();
        let (Some(first), Some(email)) = (told.first(), &person.email) else {
            continue;
        };
        let title = first.event.object.title.clone().unwrap();
        let subject = match told.len() {
            1 => title,
            n => format!("{} new: {title} and {} more", text::number(n as u64), n - 1),
        };
        let mut html = format!(
            "<!doctype html><title>x</title><body style='font:16px/1.5 Georgia;max-width:600px;margin:32px auto;padding:0 16px'><h1 style='font-weight:400'>{}</h1><ul>",
            subject.replace('<', "&lt;")
        );
        let mut plain = String::new();
        for item in told.iter().take(50) {
            let title = item.event.object.title.as_deref().unwrap();
            write!(html, "<li>{}", title.replace('<', "&lt;")).unwrap();
            writeln!(plain, "* {title}").unwrap();
        }
        let line = MailLine {
            id: format!("{:032x}", place * 1000 + mails.len()),
            at,
            zone: city.zone.clone(),
            recipient: person.id.to_string(),
            city: city.name.clone(),
            lane: "digest:weekly".to_owned(),
            subject: subject.clone(),
            entries: told.len(),
        };
        let headers = vec![
            (
                "From".to_owned(),
                "Museum news <news@example.org>".to_owned(),
            ),
            ("To".to_owned(), email.clone()),
            ("Subject".to_owned(), subject),
        ];
        let raw = plain.clone().into_bytes();
        mails.push(Mail {
            line,
            headers,
            html: Some(html),
            text: plain,
            raw,
        });
    }
    mails
}
