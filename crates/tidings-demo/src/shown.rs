//! The content of the page, read from the engine and the Maildir.

use std::collections::HashMap;

use mail_parser::{HeaderValue, MessageParser};
use tidings_core::engine::{
    InboxGroup as Group, InboxItem as Item, InboxPage, InboxQuery, Presenter,
};
use tidings_core::model::{DAY_MS, EMAIL_NO, Pivot, PreferenceScope, RecipientState, View};
use tidings_core::{Command, Day, Id, Instant, Rules};
use tidings_mail::{Design, Rest};
use tidings_node::{Node, StoreView};

use super::fan_out::MeasuredFanOut;
use super::museum;
use super::names::name_of;
use super::page::picture;
use super::page::view::{
    FanOut, InboxGroup, InboxItem, ListSlice, Listing, MailLine, MailQuery, OpenLane, PersonLine,
    PersonPage, Pick, PickTarget, ShownMail, ShownPreference, Summary, WeekLine,
};
use super::play::{self, PlayedStory, Telling};
use super::postbox::{Postbox, Posted};
use super::scenario::{LAST_DAY, Scenario};
use super::world::{Person, World};

/// Numbers of a group's items, and of topics, on a page.
const ITEMS_SHOWN: usize = 6;
const TOPICS_SHOWN: usize = 100;

/// The data behind the demo's page: the played story, and the node to read from.
pub struct Shown {
    node: Node,
    postbox: Postbox,
    design: Design,
    rules: Rules,
    world: World,
    summary: Summary,
    /// By place in the world: how many mails, and where they live now.
    mails: Vec<u32>,
    city_of: Vec<usize>,
    /// A further line of an object, by its id.
    notes: HashMap<String, String>,
    names: HashMap<String, String>,
}

impl Shown {
    /// The view of what was played.
    #[must_use]
    pub fn new(played: PlayedStory, scenario: Scenario) -> Self {
        let PlayedStory { node, rules, design, postbox, telling } = played;
        let notes = notes(&scenario.world);
        let summary = summary(&scenario, &postbox, &telling);
        let world = scenario.world;
        let mut mails = vec![0; world.people.len()];
        for mail in &postbox.mails {
            if let Some(count) = mails.get_mut(mail.person as usize) {
                *count += 1;
            }
        }
        let city_of = city_of(&world, &node);
        let names = museum::artist_names();
        Self { node, postbox, design, rules, world, summary, mails, city_of, notes, names }
    }

    fn mail_line(&self, mail: &Posted) -> MailLine {
        let head = self.postbox.head(mail).unwrap_or_default();
        let parsed = MessageParser::new().parse_headers(&head);
        let subject = parsed.as_ref().and_then(|message| message.subject()).unwrap_or_default();
        let city = self.world.museum.cities.get(mail.city as usize);
        let person = self.world.people.get(mail.person as usize);
        let lane = self.postbox.lanes.get(usize::from(mail.lane));
        MailLine {
            id: mail.name(),
            at: mail.at,
            zone: city.map(|city| city.zone.clone()).unwrap_or_default(),
            recipient: person.map(|person| person.id.to_string()).unwrap_or_default(),
            name: name_of(mail.person as usize),
            city: city.map(|city| city.name.clone()).unwrap_or_default(),
            lane: lane.cloned().unwrap_or_default(),
            subject: subject.to_owned(),
            entries: mail.entries as usize,
        }
    }

    fn place_of(&self, id: &str) -> Option<usize> {
        self.world.people.binary_search_by(|person| person.id.as_str().cmp(id)).ok()
    }

    fn person_line(&self, place: usize, follows: usize) -> PersonLine {
        let city = &self.world.museum.cities[self.city_of[place]];
        PersonLine {
            id: self.world.people[place].id.to_string(),
            name: name_of(place),
            city: city.name.clone(),
            country: city.country.clone(),
            zone: city.zone.clone(),
            follows,
            mails: self.mails[place] as usize,
        }
    }

    /// The topics that a recipient follows now, the most followed first; none where the store fails.
    fn topics(&self, view: &StoreView, id: &Id) -> Vec<String> {
        let engine = self.node.engine();
        let following = engine.reader(view).following(id);
        let following = following.unwrap_or_default().into_iter();
        let mut topics: Vec<String> = following.map(|of| of.topic.as_str().to_owned()).collect();
        topics.sort_by_cached_key(|topic| {
            (std::cmp::Reverse(engine.followers(topic)), topic.clone())
        });
        topics
    }

    fn choices(&self, id: &Id) -> Vec<ShownPreference> {
        let chosen = self.node.engine().preferences(id, &View::All).unwrap_or_default();
        let choice = |chosen: tidings_core::model::Choice| ShownPreference {
            scope: match chosen.scope {
                PreferenceScope::Category(name) => self.category(&name),
                PreferenceScope::Type(name) => name,
                PreferenceScope::DigestDay(name) | PreferenceScope::DigestTime(name) => name,
                PreferenceScope::AllCategories => "everything".to_owned(),
                PreferenceScope::Topic(of) | PreferenceScope::Object(of) => of.as_str().to_owned(),
            },
            channel: chosen.channel,
            mode: chosen.mode.to_string(),
        };
        chosen.into_iter().map(choice).collect()
    }

    /// A category's title.
    fn category(&self, name: &str) -> String {
        let category = self.rules.categories.get(name);
        let title = category.and_then(|category| category.title.0.values().next());
        title.cloned().unwrap_or_else(|| name.to_owned())
    }

    fn waiting(&self, view: &StoreView, id: &Id) -> Vec<OpenLane> {
        let lanes = self.node.engine().reader(view).open_lanes(id);
        lanes
            .unwrap_or_default()
            .into_iter()
            .filter(|lane| lane.channel != "inbox")
            .map(|lane| OpenLane {
                channel: lane.channel.to_owned(),
                due: lane.due,
                entries: lane.entries.len(),
                lane: lane.lane,
            })
            .collect()
    }

    /// The whole inbox: its pages here have numbers, and so few groups that this takes no time.
    fn inbox(&self, view: &StoreView, id: &Id) -> Option<InboxPage> {
        let engine = self.node.engine();
        engine.reader(view).inbox(id, &InboxQuery::newest(usize::MAX)).ok()
    }

    fn group(&self, group: &Group) -> InboxGroup {
        let kind = self.rules.types.get(group.event_type.as_str());
        let first = group.items.first();
        let shared = first.and_then(|item| match kind?.group? {
            Pivot::Actor => item.actor.as_ref(),
            Pivot::Object => Some(&item.object),
            Pivot::Target => item.target.as_ref(),
        });
        let shared = shared.and_then(|shared| self.names.get(shared.id.as_str()));
        InboxGroup {
            title: shared.cloned().or_else(|| first.map(title)).unwrap_or_default(),
            category: kind.map(|kind| self.category(&kind.category)).unwrap_or_default(),
            count: group.count,
            newest_at: group.newest_at,
            seen: group.seen,
            read: group.read,
            items: group.items.iter().take(ITEMS_SHOWN).map(|item| self.item(item)).collect(),
        }
    }

    fn item(&self, item: &Item) -> InboxItem {
        InboxItem {
            title: title(item),
            url: item.object.url.clone(),
            note: self.notes.get(item.object.id.as_str()).cloned().unwrap_or_default(),
            t: item.t,
            reasons: item.reasons.clone(),
            seen: item.seen,
            read: item.read,
        }
    }
}

/// Answers for the page; called from threads that may block.
impl Shown {
    /// The story in numbers.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The e-mails that were sent, in the order of their instants.
    #[must_use]
    pub fn mails(&self, which: &MailQuery, slice: ListSlice) -> Listing<MailLine> {
        let person = which.recipient.as_deref().map(|id| self.place_of(id));
        let lane =
            which.lane.as_ref().map(|name| self.postbox.lanes.iter().position(|l| l == name));
        let wanted: Vec<&Posted> = self
            .postbox
            .mails
            .iter()
            .filter(|mail| person.is_none_or(|place| place == Some(mail.person as usize)))
            .filter(|mail| lane.is_none_or(|place| place == Some(usize::from(mail.lane))))
            .collect();
        let total = wanted.len();
        // The mails of one instant look alike: one person's are in order, those of all are mixed.
        let stride = if person.is_some() { 1 } else { mixing_stride(total) };
        let part = (slice.skip..total).take(slice.take);
        let part = part.map(|nth| self.mail_line(wanted[nth * stride % total]));
        Listing { rows: part.collect(), total }
    }

    /// One e-mail; `None` where there is none of this id.
    #[must_use]
    pub fn mail(&self, id: &str) -> Option<ShownMail> {
        let posted = self.postbox.find(id)?;
        let raw = self.postbox.read(posted).ok()?;
        let message = MessageParser::new().parse(&raw)?;
        let headers = message
            .headers()
            .iter()
            .map(|header| (header.name().to_owned(), header_text(&header.value, header, &raw)))
            .collect();
        let html = message.body_html(0).map(|html| html.into_owned());
        let text = message.body_text(0).map(|text| text.into_owned()).unwrap_or_default();
        Some(ShownMail { line: self.mail_line(posted), headers, html, text, raw })
    }

    /// The HTML of a page of what a mail counted and did not show, from this line on; `None` where the token is none
    /// of ours, or there is no such page.
    #[must_use]
    pub fn rest(&self, token: &str, from: usize) -> Option<String> {
        let rest = Rest::open(&play::tokens(), token)?;
        let engine = self.node.engine();
        let view = self.node.view().ok()?;
        let built = Presenter::built(engine, &view, rest.message, rest.day);
        let (batch, is_whole) = built.ok()??;
        let shown = is_whole.then_some(&rest.shown);
        self.design.rest(&batch, shown, from).ok()?
    }

    /// The picture of the work with this number, as SVG.
    #[must_use]
    pub fn picture(&self, work: u32) -> Option<String> {
        self.world.museum.work(work).map(picture::of)
    }

    /// The recipients whose id, address or city holds `search` (letter case does not matter; all
    /// where it is empty), in the order of their ids.
    #[must_use]
    pub fn people(&self, search: &str, slice: ListSlice) -> Listing<PersonLine> {
        let search = search.to_lowercase();
        let cities = &self.world.museum.cities;
        // Each city is lowered once, not once for each who lives there.
        let named: Vec<bool> =
            cities.iter().map(|city| city.name.to_lowercase().contains(&search)).collect();
        let found: Vec<usize> = (0..self.world.people.len())
            .filter(|place| {
                let person = &self.world.people[*place];
                named[self.city_of[*place]]
                    || person.id.as_str().contains(&search)
                    || name_of(*place).to_lowercase().contains(&search)
                    || person.email.as_deref().is_some_and(|email| email.contains(&search))
            })
            .collect();
        let view = self.node.view().ok();
        let part = found.iter().skip(slice.skip).take(slice.take).map(|place| {
            let id = &self.world.people[*place].id;
            let follows = view.as_ref().map_or(0, |view| self.topics(view, id).len());
            self.person_line(*place, follows)
        });
        Listing { rows: part.collect(), total: found.len() }
    }

    /// One recipient with all that the page shows of them; `slice` counts inbox groups.
    #[must_use]
    pub fn person(&self, id: &str, slice: ListSlice) -> Option<PersonPage> {
        let place = self.place_of(id)?;
        let id = &self.world.people[place].id;
        let profile = self.node.engine().recipient(id)?;
        let view = self.node.view().ok()?;
        let topics = self.topics(&view, id);
        let inbox = self.inbox(&view, id)?;
        Some(PersonPage {
            line: self.person_line(place, topics.len()),
            email: profile.addresses.get(EMAIL_NO).map(str::to_owned),
            state: match profile.state {
                RecipientState::Active => "active",
                RecipientState::Unconfirmed => "unconfirmed",
                RecipientState::Disabled => "disabled",
            }
            .to_owned(),
            choices: self.choices(id),
            topics: topics.into_iter().take(TOPICS_SHOWN).collect(),
            waiting: self.waiting(&view, id),
            unseen: inbox.counts.unseen,
            unread: inbox.counts.unread,
            inbox: Listing {
                total: inbox.groups.len(),
                rows: (inbox.groups.iter().skip(slice.skip).take(slice.take))
                    .map(|group| self.group(group))
                    .collect(),
            },
        })
    }
}

/// The step through a mixed list of N items that visits each once: near the golden section.
fn mixing_stride(total: usize) -> usize {
    let begin = total * 618 / 1_000;
    let is_coprime = |stride: &usize| {
        let (mut a, mut b) = (*stride, total);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a == 1
    };
    (begin.max(1)..).find(is_coprime).unwrap_or(1)
}

fn title(item: &Item) -> String {
    let title = item.object.title.as_ref();
    title.map_or_else(|| item.object.id.to_string(), |title| title.first().to_owned())
}

/// A header field as people read it.
fn header_text(value: &HeaderValue<'_>, header: &mail_parser::Header<'_>, raw: &[u8]) -> String {
    match value {
        HeaderValue::Text(text) => text.clone().into_owned(),
        HeaderValue::Address(address) => {
            let each = address.iter().map(|one| match (one.name(), one.address()) {
                (Some(name), Some(address)) => format!("{name} <{address}>"),
                (None, Some(address)) => address.to_owned(),
                (name, None) => name.unwrap_or_default().to_owned(),
            });
            each.collect::<Vec<_>>().join(", ")
        }
        HeaderValue::TextList(_)
        | HeaderValue::DateTime(_)
        | HeaderValue::ContentType(_)
        | HeaderValue::Received(_)
        | HeaderValue::Empty => {
            let range = header.offset_start as usize..header.offset_end as usize;
            let bytes = raw.get(range).unwrap_or_default();
            String::from_utf8_lossy(bytes).split_whitespace().collect::<Vec<_>>().join(" ")
        }
    }
}

/// The city of each recipient at the end, by their coordinates.
fn city_of(world: &World, node: &Node) -> Vec<usize> {
    let cities: HashMap<(u64, u64), usize> = (world.museum.cities.iter().enumerate())
        .map(|(n, city)| ((city.lat.to_bits(), city.lon.to_bits()), n))
        .collect();
    let home = |person: &Person| {
        let (lat, lon) = node.engine().recipient(&person.id)?.place?;
        cities.get(&(lat.to_bits(), lon.to_bits())).copied()
    };
    world.people.iter().map(|person| home(person).unwrap_or(person.city)).collect()
}

/// Date and medium of works, venue and address of shows.
fn notes(world: &World) -> HashMap<String, String> {
    let joined = |parts: [Option<&String>; 2]| {
        parts
            .into_iter()
            .flatten()
            .filter(|part| !part.is_empty())
            .cloned()
            .collect::<Vec<_>>()
            .join(", ")
    };
    let works = world.museum.works.iter().map(|work| {
        (format!("work/{}", work.id), joined([work.date.as_ref(), work.medium.as_ref()]))
    });
    let shows = world.museum.shows.iter().map(|show| {
        (format!("show/{}", show.id), joined([Some(&show.venue), show.address.as_ref()]))
    });
    works.chain(shows).collect()
}

fn summary(scenario: &Scenario, postbox: &Postbox, telling: &Telling) -> Summary {
    let titles: HashMap<Id, String> = scenario
        .commands()
        .filter_map(|timed| match timed.command {
            Command::Publish(event) => {
                let title = event.object.title.as_ref();
                Some((event.id, title.map_or(String::new(), |title| title.first().to_owned())))
            }
            _ => None,
        })
        .collect();
    let fan_out = |reached: Option<&MeasuredFanOut>| FanOut {
        title: reached.and_then(|reached| titles.get(&reached.event)).cloned().unwrap_or_default(),
        event: reached.map(|reached| reached.event.to_string()).unwrap_or_default(),
        recipients: reached.map_or(0, |reached| reached.recipients),
        ms: reached.map_or(0.0, |reached| reached.ms),
    };
    let sent_in = |monday: Day| {
        let week = monday.start()..monday.start().plus_ms(7 * DAY_MS);
        let from = postbox.mails.partition_point(|mail| mail.at < week.start);
        let to = postbox.mails.partition_point(|mail| mail.at < week.end);
        (to - from) as u64
    };
    let weeks = scenario.weeks.iter();
    Summary {
        books: telling.books,
        facts: scenario.facts(),
        weeks: weeks
            .map(|week| WeekLine { week: week.clone(), mails: sent_in(week.monday) })
            .collect(),
        mails: postbox.mails.len() as u64,
        lanes: postbox.lanes.clone(),
        warhol: fan_out(telling.foremost.chosen.as_ref()),
        largest: fan_out(telling.foremost.largest.as_ref()),
        seconds: telling.seconds,
        picks: picks(scenario, postbox),
    }
}

/// The remainder of a Monday's day number by 7: 5 January 1970 was one.
const MONDAY: i32 = 4;

/// Chooses good places to begin to look.
fn picks(scenario: &Scenario, postbox: &Postbox) -> Vec<Pick> {
    let pick =
        |title: &str, note: &str, to| Pick { title: title.to_owned(), note: note.to_owned(), to };
    let weekly = postbox.lanes.iter().position(|lane| lane == "digest:weekly");
    let of_weekly = |mail: &&Posted| weekly == Some(usize::from(mail.lane));
    let mail = |mail: &Posted| PickTarget::Mail(mail.name());
    let mut picks = Vec::new();
    let last = Day::parse(LAST_DAY).map_or(Instant::MAX, Day::start).plus_ms(-DAY_MS);
    let of_last = postbox.mails.iter().filter(of_weekly).filter(|mail| mail.at >= last);
    if let Some(found) = of_last.max_by_key(|mail| (mail.entries, std::cmp::Reverse(mail.id))) {
        picks.push(pick(
            "Thousands of photographs, one mail",
            "On 6 March 1968 the Abbott-Levy Collection of Eugène Atget’s prints was entered, nearly five thousand of them. This is all that a follower’s mail made of it.",
            mail(found),
        ));
    }
    // One with something to read: the first on a Monday with a handful of entries.
    let mut mondays = postbox.mails.iter().filter(of_weekly);
    let is_monday = |mail: &Posted| mail.at.day().0.rem_euclid(7) == MONDAY;
    if let Some(found) = mondays.find(|mail| is_monday(mail) && (5..=20).contains(&mail.entries)) {
        picks.push(pick(
            "A Monday morning",
            "At nine, local time: what happened in a week, in one mail.",
            mail(found),
        ));
    }
    let at_once = postbox.mails.partition_point(|mail| mail.at < scenario.warhol_at);
    if let Some(found) = postbox.mails.get(at_once).filter(|mail| mail.at == scenario.warhol_at) {
        picks.push(pick(
            "Marilyn Monroe, at once",
            "Some do not want to wait for Monday: their mail left at the very instant.",
            mail(found),
        ));
    }
    if let Some(id) = looker(scenario) {
        picks.push(pick(
            "Somebody who looks often",
            "Works, shows and suggestions, grouped by artist, with what was seen and read.",
            PickTarget::Person(id.to_string()),
        ));
    }
    picks
}

/// Somebody who looked into their inbox more than once and follows many, but not hundreds.
fn looker(scenario: &Scenario) -> Option<Id> {
    const MANY: usize = 60;
    let mut looks: HashMap<Id, usize> = HashMap::new();
    for timed in scenario.commands() {
        if let Command::Mark { recipient, .. } = timed.command {
            *looks.entry(recipient).or_default() += 1;
        }
    }
    let looked = |person: &&Person| looks.get(&person.id).is_some_and(|looks| *looks > 1);
    let follows = |person: &&Person| person.follows.len();
    scenario
        .world
        .people
        .iter()
        .filter(looked)
        .filter(|person| follows(person) <= MANY)
        .max_by_key(|person| (follows(person), std::cmp::Reverse(&person.id)))
        .map(|person| person.id.clone())
}
