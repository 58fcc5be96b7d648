//! Random commands at times that collide: equal instants, multiples of the holds, midnights, slots.

use std::collections::{BTreeMap, BTreeSet};

use tidings_core::model::{
    AddressReport, Audience, BatchKey, Cancelled, ChangedBy, ChannelAddress, Choice, DAY_MS, Data,
    EACH_CHANNEL, EMAIL, EMAIL_NO, GeoCircle, HOUR_MS, INBOX, ItemChange, MINUTE_MS, MarkKind,
    Marked, Mode, PauseSubject, PreferenceScope, ProviderHash, RecipientChange, RecipientState,
    Score, SlotDay, SuppressedFor, SuppressionSource, Timed, WallTime,
};
use tidings_core::rules::Every;
use tidings_core::{Command, Day, Event, Id, Instant, Object, Rules};

use super::World;
use super::raw::{
    LEVELS, OBJECTS, RECIPIENTS, RawEvent, RawOp, RawPerson, RawStep, TENANTS, TOPICS,
};
use super::rules::{CATEGORIES, RawRules, TYPES, body, by_locale, data, digest_name, own_hours};
use crate::subject::Step;

/// Number of first instants: nights of clock changes, a leap day, a year's end.
pub(super) const BASES: u8 = 6;

const BASE_TIMES: [&str; BASES as usize] = [
    "2024-01-01T08:50:00Z",
    "2024-03-30T21:55:00Z",
    "2024-10-26T22:00:00Z",
    "2024-11-02T23:59:00Z",
    "2024-02-28T23:58:00Z",
    "2023-12-31T23:00:00Z",
];
pub(super) const ZONES: [Option<&str>; 7] = [
    None,
    Some("UTC"),
    Some("Europe/Paris"),
    Some("America/New_York"),
    Some("Asia/Kolkata"),
    Some("Pacific/Auckland"),
    Some("Asia/Beirut"),
];
/// Paris, London, Auckland; far enough from every circle's edge.
const PLACES: [(f64, f64); 3] = [(48.8566, 2.3522), (51.5074, -0.1278), (-36.8485, 174.7633)];
const CIRCLES: [(f64, f64, f64); 3] =
    [(48.85, 2.35, 100.0), (50.0, 1.0, 400.0), (0.0, 0.0, 20_038.0)];

/// An instant some way after this one.
fn after(gap: u8, now: Instant) -> Instant {
    let next = |minute_of_day: i64| {
        let shift = minute_of_day * MINUTE_MS;
        Instant(((now.0 - shift).div_euclid(DAY_MS) + 1) * DAY_MS + shift)
    };
    match gap {
        0 => now,
        1 => now.plus_ms(1),
        2 => now.plus_ms(MINUTE_MS - 1),
        3 | 4 => now.plus_ms(MINUTE_MS),
        5 => now.plus_ms(2 * MINUTE_MS),
        6 => now.plus_ms(3 * MINUTE_MS),
        7 => now.plus_ms(4 * MINUTE_MS),
        8 => now.plus_ms(5 * MINUTE_MS),
        9 => now.plus_ms(HOUR_MS),
        10 => now.plus_ms(2 * HOUR_MS),
        11 => next(0),
        12 => next(9 * 60),
        13 => next(60),
        14 => next(5 * 60 + 30),
        15 => next(23 * 60 + 59),
        16 => now.plus_ms(DAY_MS),
        17 => now.plus_ms(3 * DAY_MS),
        18 => now.plus_ms(7 * DAY_MS),
        _ => now.plus_ms(36 * DAY_MS),
    }
}

/// The part of the world built so far that the next step depends on.
pub(super) struct Builder {
    pub(super) raw: RawRules,
    pub(super) rules: Rules,
    pub(super) now: Instant,
    alive: BTreeSet<u8>,
    /// The tenants that are there, and which of them are disabled.
    pub(super) tenants: BTreeMap<u8, bool>,
    /// The instant of the last deletion of each tenant.
    pub(super) deleted: BTreeMap<u8, Instant>,
    /// The tenant that a step means to name.
    pub(super) of: Option<u8>,
    events: usize,
    steps: Vec<Step>,
}

pub(super) fn build(
    raw: RawRules,
    base: u8,
    people: &[RawPerson],
    follows: &[(u8, u8, u8)],
    steps: &[RawStep],
    until: Option<u8>,
) -> World {
    let now = Instant::parse(BASE_TIMES[usize::from(base)]).unwrap_or_default();
    let rules = raw.build();
    let first = rules.clone();
    let mut builder = Builder {
        raw,
        rules,
        now,
        alive: BTreeSet::new(),
        tenants: BTreeMap::new(),
        deleted: BTreeMap::new(),
        of: None,
        events: 0,
        steps: Vec::new(),
    };
    if builder.rules.tenants.is_some() {
        builder.make_tenants();
    }
    for (number, person) in (0..).zip(people) {
        builder.person(number, person, 63);
    }
    for (person, topic, of) in follows {
        builder.of = Some(*of).filter(|of| builder.tenants.contains_key(of));
        builder.step(&RawOp::Follow(*person, *topic, true));
    }
    for step in steps {
        builder.now = after(step.gap, builder.now);
        builder.of = Some(step.of).filter(|of| *of < TENANTS);
        builder.step(&step.op);
    }
    let until = until.map(|gap| after(gap, builder.now));
    World { rules: first, steps: builder.steps, until }
}

impl Builder {
    pub(super) fn say(&mut self, command: Command) {
        self.steps.push(Step::Play(Timed { at: self.now, command }));
    }

    fn person(&mut self, number: u8, raw: &RawPerson, what: u8) {
        self.alive.insert(number);
        let change = self.profile(number, raw, what);
        self.say(Command::Recipient(Box::new(change)));
    }

    fn flush(&mut self, person: u8, which: u8) {
        let lanes = [
            "now",
            "first_event",
            "cooldown",
            "leading",
            "digest:d0",
            "x",
            "now:required",
            "x:required",
        ];
        let lane = lanes.get(usize::from(which)).map(|lane| (*lane).to_owned());
        let channel = (which.is_multiple_of(2)).then(|| EMAIL.to_owned());
        let keys = ["", "o1", "2"].map(|key| BatchKey::new(key).expect("it is short"));
        let key = keys.get(usize::from(person + which)).cloned();
        let view = self.view(which);
        self.say(Command::Flush { recipient: name("r", person), channel, lane, key, view });
    }

    fn step(&mut self, op: &RawOp) {
        let person = match op {
            RawOp::Follow(person, ..)
            | RawOp::Mark(person, ..)
            | RawOp::Preference(person, ..)
            | RawOp::Flush(person, _)
            | RawOp::Choose(person, ..)
            | RawOp::Member(person, _)
            | RawOp::Device(person, ..)
            | RawOp::Erase(person) => Some(person),
            _ => None,
        };
        if person.is_some_and(|person| !self.alive.contains(person)) {
            return;
        }
        match op {
            RawOp::Publish(raw) => self.publish(raw),
            RawOp::Person(person, raw, what) => self.person(*person, raw, *what),
            RawOp::Follow(person, topic, on) => {
                let recipient = name("r", *person);
                let topic = id(TOPICS[usize::from(*topic)]);
                self.say(if *on {
                    Command::Subscribe { recipient, topic, tenant: self.tenant() }
                } else {
                    Command::Unsubscribe { recipient, topic, tenant: self.tenant() }
                });
            }
            RawOp::Mark(person, what, which) => self.mark(*person, *what, *which),
            RawOp::Cancel(which) => self.cancel(*which),
            RawOp::Preference(person, scope, inbox, mode) => {
                self.preference(*person, *scope, *inbox, *mode);
            }
            RawOp::Flush(person, which) => self.flush(*person, *which),
            RawOp::Object(about, what) => {
                let mut object = object(*about);
                match what {
                    0..5 => return self.say(Command::Retract { object: object.id }),
                    5 => object.notifiable = Some(false),
                    6 | 7 => object.notifiable = Some(true),
                    9.. => object.data = Some(self::data(what - 9).unwrap_or_default().into()),
                    // What decides is the first of several.
                    _ => {
                        object.title = match about % 3 {
                            0 => by_locale([("en", "A title"), ("de", "Ein Titel")]),
                            1 => by_locale([("de", "Ein Titel"), ("en", "A title")]),
                            _ => Some("A title".into()),
                        };
                    }
                }
                self.say(Command::Object(object));
            }
            RawOp::Forget(back) => {
                let Day(today) = self.now.day();
                self.say(Command::Forget { before: Day(today - i32::from(*back)) });
            }
            RawOp::Pause(which, on) => self.pause(*which, *on),
            RawOp::Suppress(person, on, long) => self.suppress(*person, *on, *long),
            RawOp::Device(person, other, joins) => self.say(Command::Device {
                recipient: name("r", *person),
                channel: EMAIL_NO,
                address: self.address(*person, *other),
                joins: *joins,
            }),
            RawOp::Choose(person, choices, whole) => {
                let chosen = self.choices(choices).collect();
                self.say(Command::Preferences {
                    recipient: name("r", *person),
                    chosen,
                    whole: *whole,
                    tenant: self.tenant(),
                    by: ChangedBy::User,
                });
            }
            RawOp::Erase(person) => {
                self.alive.remove(person);
                self.say(Command::Erase { recipient: name("r", *person) });
            }
            RawOp::Rules(change) => {
                self.raw.change(change);
                self.rules = self.raw.build();
                let step = Step::Reconfigure(self.now, Box::new(self.rules.clone()));
                self.steps.push(step);
            }
            RawOp::Tenant(raw) => self.change_tenant(raw),
            RawOp::Member(person, on) => self.member(*person, *on),
            RawOp::DeleteTenant => self.delete_tenant(),
        }
    }

    fn cancel(&mut self, which: u8) {
        let what = match which % 3 {
            0 => Cancelled::Key(name("k", which / 3 % 2)),
            // The next event.
            1 if (which / 3).is_multiple_of(3) => {
                Cancelled::Event(id(&format!("e{}", self.events + 1)))
            }
            _ => Cancelled::Event(self.some_event(which)),
        };
        self.say(match which % 7 {
            0 => Command::Withdraw { what, tenant: self.tenant() },
            _ => Command::Cancel { what, tenant: self.tenant() },
        });
    }

    fn mark(&mut self, person: u8, what: u8, which: u8) {
        let back = [0, MINUTE_MS, 2 * MINUTE_MS, HOUR_MS, -HOUR_MS][usize::from(which % 5)];
        let marked = match what % 4 {
            0 => Marked::Object(name("o", which % OBJECTS)),
            1 => Marked::Event(self.some_event(which)),
            _ => Marked::UpTo(self.now.plus_ms(-back)),
        };
        let recipient = name("r", person);
        let later = self.now.plus_ms(HOUR_MS * i64::from(1 + which % 3));
        let change = match which / 5 % 12 {
            0 => ItemChange::Archive,
            1 => ItemChange::Snooze(later),
            2 => ItemChange::Delete,
            3 => ItemChange::Unread,
            4 => ItemChange::Unarchive,
            5 => ItemChange::Unsnooze,
            _ => {
                let kind = if what < 6 { MarkKind::Seen } else { MarkKind::Read };
                let view = self.view(which);
                return self.say(Command::Mark { recipient, what: marked, kind, view });
            }
        };
        let view = self.view(which);
        self.say(Command::ChangeItems { recipient, what: marked, change, view });
    }

    /// The addresses of the recipients, and some without a recipient.
    fn suppress(&mut self, person: u8, on: bool, long: u8) {
        let address = ChannelAddress::new(EMAIL_NO, &format!("R{person}@example.org"));
        let until = [MINUTE_MS, HOUR_MS, 3 * HOUR_MS].get(usize::from(long));
        // Some are what a provider reports, of now or of a while ago.
        let reported = match long {
            5 => Some((AddressReport::Suppressed(SuppressedFor::Stop), 0)),
            6 => Some((AddressReport::Suppressed(SuppressedFor::Bounce), HOUR_MS)),
            7 => Some((AddressReport::Suppressed(SuppressedFor::Stop), HOUR_MS)),
            // Random worlds are short, so bounces of some days before stand for those of a month.
            8.. => {
                let day = long - 8;
                // Reports, and two providers whose addresses differ.
                let source = match (person + day) % 3 {
                    0 => SuppressionSource::Report,
                    by => SuppressionSource::Provider(ProviderHash::of(&by.to_string())),
                };
                Some((AddressReport::Bounced(source), i64::from(day) * DAY_MS))
            }
            _ => None,
        };
        if let Some((report, ago)) = reported {
            self.say(Command::ReportAddress {
                address,
                report: match (on, report) {
                    (true, report) => report,
                    (false, AddressReport::Bounced(source)) => AddressReport::Arrived(source),
                    (false, _) => AddressReport::OptedIn,
                },
                at: self.now.plus_ms(-ago),
                recipient: None,
            });
            return;
        }
        self.say(if on {
            Command::Suppress {
                address,
                // One that a change of the profile lifts, and one that it doesn't.
                reason: match long % 2 {
                    0 => SuppressedFor::Manual,
                    _ => SuppressedFor::Gone,
                },
                until: until.map(|wait| self.now.plus_ms(*wait)),
            }
        } else {
            Command::Unsuppress { address }
        });
    }

    fn pause(&mut self, which: u8, on: bool) {
        let what = match which.checked_sub(TYPES) {
            None => {
                let kind = format!("t{which}");
                if !self.rules.types.contains_key(&kind) {
                    return;
                }
                PauseSubject::Type(id(&kind))
            }
            Some(0) => PauseSubject::Channel(INBOX.to_owned()),
            Some(_) => PauseSubject::Channel(EMAIL.to_owned()),
        };
        self.say(if on { Command::Pause(what) } else { Command::Resume(what) });
    }

    fn preference(&mut self, person: u8, scope: u8, inbox: bool, mode: u8) {
        if let Some(choice) = self.choice(scope, inbox, mode) {
            let Choice { scope, channel, mode, tenant } = choice;
            let recipient = name("r", person);
            self.say(Command::Preference {
                recipient,
                scope,
                channel,
                mode,
                tenant,
                by: if person.is_multiple_of(2) { ChangedBy::Link } else { ChangedBy::Key },
            });
        }
    }

    pub(super) fn choice(&self, scope: u8, inbox: bool, mode: u8) -> Option<Choice> {
        if let Some(subject) = scope.checked_sub(LEVELS) {
            return Some(Choice { tenant: self.tenant(), ..mute(subject, inbox, mode) });
        }
        let scope = match scope.checked_sub(TYPES) {
            None => PreferenceScope::Type(format!("t{scope}")),
            Some(CATEGORIES) => PreferenceScope::AllCategories,
            Some(category) => PreferenceScope::Category(format!("c{category}")),
        };
        let known = match &scope {
            PreferenceScope::Type(kind) => self.rules.types.contains_key(kind),
            _ => true,
        };
        let on_each = scope == PreferenceScope::AllCategories && mode < 9 && mode.is_multiple_of(4);
        let mode = match mode.checked_sub(9) {
            None if mode < 1 => Mode::Never,
            None if mode < 5 => Mode::Default,
            None => Mode::Immediate,
            Some(digest) => Mode::Digest(digest_name(digest)),
        };
        if inbox && matches!(mode, Mode::Digest(_)) {
            return self.own_time(&scope, mode);
        }
        let is_required = match &scope {
            PreferenceScope::Type(kind) => self.rules.types.get(kind).is_some_and(|of| of.required),
            _ => false,
        };
        let may = match &mode {
            Mode::Never => !is_required,
            Mode::Digest(digest) => !inbox && self.rules.digests.contains_key(digest),
            Mode::Default | Mode::Immediate => true,
            Mode::Day(_) | Mode::Time(_) => false,
        };
        (known && may).then(|| Choice {
            tenant: self.tenant(),
            scope,
            channel: match (on_each, inbox) {
                (true, _) => EACH_CHANNEL,
                (false, true) => INBOX,
                (false, false) => EMAIL,
            }
            .to_owned(),
            mode,
        })
    }

    /// A time of one's own for a digest, in place of a digest on the inbox, which there is not.
    fn own_time(&self, scope: &PreferenceScope, mode: Mode) -> Option<Choice> {
        let Mode::Digest(name) = mode else {
            return None;
        };
        let digest = self.rules.digests.get(&name)?;
        let (scope, mode) = match (scope, digest.every) {
            (PreferenceScope::AllCategories, _) => {
                (PreferenceScope::DigestTime(name), Mode::Default)
            }
            (PreferenceScope::Category(_), Every::Week(day)) => {
                (PreferenceScope::DigestDay(name), Mode::Day(SlotDay::Week(day % 7 + 1)))
            }
            (PreferenceScope::Category(_), Every::Month(day)) => {
                (PreferenceScope::DigestDay(name), Mode::Day(SlotDay::Month(day % 28 + 1)))
            }
            _ => {
                let minute = (digest.at_minute / 15 * 15 + 7 * 60 + 15) % (24 * 60);
                (PreferenceScope::DigestTime(name), Mode::Time(minute))
            }
        };
        let is_open = match mode {
            Mode::Day(_) => digest.choose.day,
            Mode::Time(_) => digest.choose.minute,
            _ => true,
        };
        let channel = EACH_CHANNEL.to_owned();
        is_open.then(|| Choice { tenant: self.tenant(), scope, channel, mode })
    }

    fn publish(&mut self, raw: &RawEvent) {
        let kind = format!("t{}", raw.kind);
        let Some(type_rules) = self.rules.types.get(&kind) else {
            return;
        };
        let only = match raw.channels {
            0 => None,
            1 => Some(INBOX),
            _ => Some(EMAIL),
        };
        let channels = only
            .filter(|channel| type_rules.channels.contains_key(*channel))
            .map(|channel| vec![channel.to_owned()]);
        let id = if raw.again < 8 { self.some_event(raw.again) } else { self.new_event() };
        let to = Audience {
            recipients: (0..8)
                .filter(|bit| raw.named >> bit & 1 > 0)
                .map(|n| name("r", n))
                .collect(),
            profiles: (0..8)
                .filter(|bit| raw.named >> bit & 1 > 0)
                .filter_map(|n| raw.profile.as_ref().map(|(of, what)| self.profile(n, of, *what)))
                .collect(),
            topics: (0..6)
                .filter(|bit| raw.topics >> bit & 1 > 0)
                .map(|topic| self::id(TOPICS[topic]))
                .take(2)
                .collect(),
            near: match usize::from(raw.circle) {
                both if both == CIRCLES.len() => &CIRCLES[..2],
                one => CIRCLES.get(one..=one).unwrap_or_default(),
            }
            .iter()
            .map(|&(lat, lon, km)| GeoCircle { lat, lon, km })
            .collect(),
            everyone: raw.everyone,
            except: (0..8)
                .filter(|person| raw.except >> person & 1 > 0)
                .map(|person| name("r", person))
                .collect(),
        };
        let tenant = self.tenant_of_event(raw.again < 8);
        let deliver = raw.deliver.map(|gap| after(gap, self.now.plus_ms(-MINUTE_MS)));
        let how = raw.object % 3;
        let event = Event {
            tenant,
            id,
            event_type: self::id(&kind),
            actor: (raw.actor < RECIPIENTS).then(|| Object::bare(name("r", raw.actor))),
            object: object(raw.object),
            // A title is put over what is known of it; a retraction of it stays.
            target: (raw.key > 3).then(|| Object {
                title: Some("A place".into()),
                data: data(raw.key).map(Data::from),
                ..object((raw.object + 1) % OBJECTS)
            }),
            // Rows and headers hold a score; no message depends on it.
            score: Score::new(f64::from(raw.object) - 1.5).unwrap_or_default(),
            data: data(raw.again),
            body: body(raw.again),
            to,
            channels,
            occurred_at: None,
            deliver_at: deliver.filter(|_| how == 0),
            delay_ms: deliver.filter(|_| how == 1).and_then(|at| {
                let wait_ms = at.0 - self.now.0;
                (wait_ms > 0).then_some(wait_ms)
            }),
            deliver_local: deliver.filter(|_| how == 2).and_then(|at| {
                let text = at.to_string();
                WallTime::parse(text.get(..16)?)
            }),
            expires_at: raw.expires.map(|gap| after(gap, self.now)),
            cancellation_key: (raw.key < 2).then(|| name("k", raw.key)),
            trace: None,
        };
        self.say(Command::Publish(Box::new(event)));
    }

    fn new_event(&mut self) -> Id {
        self.events += 1;
        id(&format!("e{}", self.events))
    }

    /// One of the last few events, or one that is not known.
    fn some_event(&self, which: u8) -> Id {
        let number = self.events.saturating_sub(usize::from(which % 6));
        id(&format!("e{number}"))
    }
}

/// An address of a recipient, of which each has two.
pub(super) fn email(number: u8, other: bool) -> String {
    format!("r{number}@{}example.org", if other { "b." } else { "" })
}

/// A profile, or a part of one.
pub(super) fn profile(number: u8, raw: &RawPerson, what: u8) -> RecipientChange {
    let place = PLACES.get(usize::from(raw.place));
    let address = || raw.email.then(|| email(number, false).into());
    let address = (what & 1 > 0).then(|| (EMAIL_NO, address().into_iter().collect()));
    RecipientChange {
        tenants: None,
        id: name("r", number),
        name: None,
        addresses: address.into_iter().collect(),
        tz: (what & 2 > 0).then(|| ZONES[usize::from(raw.zone)].map(str::to_owned)),
        locale: None,
        data: (what & 3 > 0).then(|| data(raw.zone).map(Data::from)),
        lat: (what & 4 > 0).then(|| place.map(|place| place.0)),
        lon: (what & 4 > 0).then(|| place.map(|place| place.1)),
        state: (what & 8 > 0).then_some(match raw.state {
            0 => RecipientState::Active,
            1 => RecipientState::Unconfirmed,
            _ => RecipientState::Disabled,
        }),
        quiet_hours: (what & 16 > 0).then(|| own_hours(raw.quiet)),
    }
}

/// The mute of a topic or an object on a channel or on each, or its end.
fn mute(subject: u8, inbox: bool, mode: u8) -> Choice {
    let scope = match TOPICS.get(usize::from(subject)) {
        Some(topic) => PreferenceScope::Topic(id(topic)),
        None => PreferenceScope::Object(name("o", subject % OBJECTS)),
    };
    let channel = match (mode % 3, inbox) {
        (0, _) => EACH_CHANNEL,
        (_, true) => INBOX,
        (_, false) => EMAIL,
    };
    Choice {
        tenant: None,
        scope,
        channel: channel.to_owned(),
        mode: match mode % 5 {
            0..3 => Mode::Never,
            _ => Mode::Default,
        },
    }
}

fn object(number: u8) -> Object {
    Object::bare(name("o", number))
}

pub(super) fn name(letter: &str, number: u8) -> Id {
    id(&format!("{letter}{number}"))
}

fn id(text: &str) -> Id {
    Id::new(text).expect("the alphabet has only valid ids")
}
