//! Lists of messages: under every filter they are what a walk over all rows finds, in their order, page by page.

use std::collections::BTreeSet;

use crate::engine::tests::*;
use crate::journal::table::{REST, seq_at, u16_at, u32_at};
use crate::model::channel::{EMAIL_NO, channel_no};
use crate::model::command::Cancelled;
use crate::model::messages::{Answered, Attempt, MessageAct, MessageName, MessageState};
use crate::model::number::{ClosingId, RecipientNo};
use crate::model::reason::{Ending, Reason};
use crate::model::tenant::TenantChange;
use crate::model::time::DAY_MS;
use crate::rules::TenantRules;

const RECIPIENTS: usize = 12;
const TYPES: [&str; 3] = ["told", "liked", "bought"];
const PROVIDERS: [&str; 2] = ["smtp://one", "smtp://two"];

/// A small generator, the same on each run.
struct Draws(u64);

impl Draws {
    fn draw(&mut self, below: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    fn index(&mut self, below: usize) -> usize {
        usize::try_from(self.draw(below as u64)).unwrap()
    }
}

struct World {
    stored: Stored,
    engine: Engine,
    options: Options,
    now: Instant,
    draws: Draws,
    events: usize,
}

/// A message with all that a filter may ask for, found without the index.
#[derive(Debug)]
struct Known {
    summary: MessageSummary,
    events: BTreeSet<Id>,
    types: BTreeSet<Id>,
    provider: Option<String>,
}

fn options(shards: u16) -> Options {
    Options {
        buckets: 12,
        shards,
        index_after: Some(0),
        checkpoint_after: 0,
        slice_bytes: 1,
        row_bytes: 1 << 20,
        fresh_key: [0; 16],
    }
}

fn rules_with_mail() -> Rules {
    let mut rules = rules();
    let quiet = Policy::Cooldown { quiet_ms: 1_000, max_wait_ms: Some(10_000) };
    for (at, name) in TYPES.into_iter().enumerate() {
        let mut kind = rules.types["told"].clone();
        let policy = if at == 2 { Policy::Now } else { quiet.clone() };
        kind.channels.insert("email".to_owned(), Route::of(policy.clone()));
        kind.channels.insert("sms".to_owned(), Route::of(policy));
        rules.types.insert(name.to_owned(), kind);
    }
    rules.tenants = Some(TenantRules::default());
    rules
}

impl World {
    fn new(seed: u64) -> Self {
        let options = options(3);
        let mut stored = Stored::default();
        let mut engine = Engine::open(&stored, &[], options).unwrap();
        let step = engine.set_rules(&stored, &Reach::new(), Instant(0), rules_with_mail()).unwrap();
        stored.commit(step.writes);
        let mut world =
            Self { stored, engine, options, now: Instant(0), draws: Draws(seed), events: 0 };
        let mut commands =
            vec![Command::Tenant { tenant: id("acme"), change: Box::new(TenantChange::default()) }];
        for number in 0..RECIPIENTS {
            let mut change = RecipientChange::nothing(id(&format!("r{number}")));
            change.addresses = [
                (EMAIL_NO, vec![format!("r{number}@example.org").into()]),
                (channel_no("sms").unwrap(), vec![format!("+3460000000{number}").into()]),
            ]
            .into();
            // Whoever has no address is left out at the check.
            if number % 4 == 3 {
                change.addresses.remove(&EMAIL_NO);
            }
            commands.push(Command::Recipient(Box::new(change)));
        }
        world.step(&commands, &Reach::new());
        world
    }

    fn step(&mut self, commands: &[Command], reach: &Reach) {
        let step = self.engine.step(&self.stored, reach, self.now, commands).unwrap();
        self.stored.commit(step.writes);
    }

    fn publish(&mut self) {
        let mut commands = Vec::new();
        for _ in 0..=self.draws.draw(3) {
            self.events += 1;
            let mut to = Audience::default();
            match self.draws.draw(4) {
                0 => to.everyone = true,
                _ => {
                    for _ in 0..=self.draws.draw(2) {
                        let number = self.draws.index(RECIPIENTS);
                        to.recipients.push(id(&format!("r{number}")));
                    }
                }
            }
            let kind = TYPES[self.draws.index(TYPES.len())];
            let name = id(&format!("e{}", self.events));
            let mut event = Event::new(name, id(kind), Object::bare(id("o")), to);
            let is_of_tenant = !event.to.everyone && self.draws.draw(3) == 0;
            event.tenant = is_of_tenant.then(|| id("acme"));
            commands.push(Command::Publish(Box::new(event)));
        }
        self.step(&commands, &Reach::new());
    }

    fn make(&mut self) {
        for closing in self.engine.open_closings().unmade() {
            if self.draws.draw(3) == 0 {
                continue;
            }
            let most = 1 + self.draws.index(4);
            let plan = self.engine.planner(&self.stored).plan(closing, most).unwrap();
            if let Some(plan) = plan {
                let step = self.engine.made(&self.stored, self.now, &[plan]).unwrap();
                self.stored.commit(step.writes);
            }
        }
    }

    fn answer(&mut self) {
        for plan in self.engine.planner(&self.stored).unsettled().unwrap() {
            let mut settled = ClosingResults { closing: plan.closing, ..ClosingResults::default() };
            for planned in &plan.messages {
                let provider = PROVIDERS[self.draws.index(2)].to_owned();
                let (answer, ending) = match self.draws.draw(6) {
                    0 => continue,
                    1 => (Answered::Failed, Some(Ending::Refused)),
                    2 => (Answered::Retry, None),
                    3 => (Answered::Unknown, Some(Ending::Unknown)),
                    _ => (Answered::Sent, Some(Ending::Delivered)),
                };
                let (number, at) = (planned.number, self.now);
                let attempt = Attempt { at, provider, answer, reply: String::new() };
                settled.attempts.push(AttemptedMessage { number, attempt });
                match ending {
                    Some(ending) => {
                        let seqs = plan.seqs(planned);
                        settled.sent.push(Sent { number, seqs, ending, resent: 0 });
                    }
                    None => settled.tried.push(RetriedAttempt {
                        number,
                        attempts: crate::journal::record::Attempts {
                            count: 1,
                            until: self.now.plus_ms(60_000),
                            in_doubt: false,
                            resent: 0,
                            delivered: false,
                            again: false,
                        },
                    }),
                }
            }
            let step = self.engine.outcome(&self.stored, self.now, &[settled]).unwrap();
            self.stored.commit(step.writes);
        }
    }

    /// Has operators, hosts and recipients change messages that are kept back.
    fn change(&mut self) {
        let all = self.all();
        let mut reach = Reach::new();
        for known in &all {
            reach.insert(known.summary.name.id, KeptBackState::KeptBack);
        }
        let mut commands = Vec::new();
        for known in &all {
            let act = match self.draws.draw(12) {
                0 => MessageAct::Retry,
                1 => MessageAct::Cancel,
                2 => MessageAct::Resend,
                _ => continue,
            };
            commands.push(Command::Message { message: known.summary.name, act });
        }
        if self.draws.draw(3) == 0 && self.events > 0 {
            let event = id(&format!("e{}", 1 + self.draws.index(self.events)));
            commands.push(Command::Cancel { what: Cancelled::Event(event), tenant: None });
        }
        if self.draws.draw(9) == 0 {
            let recipient = id(&format!("r{}", self.draws.index(RECIPIENTS)));
            commands.push(Command::Erase { recipient });
        }
        self.step(&commands, &reach);
    }

    /// Does some of what a node does in a while.
    fn live(&mut self) {
        match self.draws.draw(8) {
            0..3 => self.publish(),
            3 => self.make(),
            4 => self.answer(),
            5 => self.change(),
            6 => {
                while let Some(writes) = self.engine.chore(&self.stored).unwrap() {
                    self.stored.commit(writes);
                }
            }
            _ => self.reopen(),
        }
        let on = [0, 1, 700, 1_000, 5_000, DAY_MS / 2][self.draws.index(6)];
        self.now = self.now.plus_ms(on);
        while let Some(due) = self.engine.next_due().filter(|due| *due <= self.now) {
            let step = self.engine.fall_due(&self.stored, due).unwrap();
            self.stored.commit(step.writes);
        }
    }

    fn reopen(&mut self) {
        // Another number of shards divides the buckets anew.
        self.options = options(1 + u16::try_from(self.draws.draw(4)).unwrap());
        let days: BTreeSet<Day> = self
            .stored
            .0
            .keys()
            .filter_map(|(partition, _)| match partition {
                Partition::Base => None,
                Partition::Day(day) => Some(*day),
            })
            .collect();
        let days: Vec<Day> = days.into_iter().collect();
        self.engine = Engine::open(&self.stored, &days, self.options).unwrap();
    }

    /// Takes the store back to what a version before lists wrote, and indexes it, with restarts meanwhile.
    fn upgrade(&mut self) {
        let tables = [
            Table::DueClosings,
            Table::Unsent,
            Table::MessageFacets,
            Table::FiguresSince,
            Table::OldIndexed,
        ];
        self.stored.0.retain(|(_, key), _| !tables.iter().any(|table| key[2] == *table as u8));
        self.reopen();
        if !self.all().is_empty() {
            let everything = MessageFilter::default();
            assert!(self.listed(&everything, 500).is_empty(), "the index is gone");
        }
        while let Some(writes) = self.engine.chore(&self.stored).unwrap() {
            self.stored.commit(writes);
            if self.draws.draw(3) == 0 {
                self.reopen();
            }
        }
    }

    /// Forgets the days before today, but for one.
    fn forget(&mut self) {
        let before = Day(self.now.day().0 - 1);
        let reach =
            self.all().iter().map(|of| (of.summary.name.id, KeptBackState::KeptBack)).collect();
        let step = self.engine.forget_before(&self.stored, &reach, self.now, before).unwrap();
        self.stored.commit(step.writes);
        self.stored.0.retain(|(partition, _), _| match partition {
            Partition::Base => true,
            Partition::Day(day) => *day >= before,
        });
    }

    /// All messages that were due on days that are kept, by the rows of messages and the closings in memory.
    fn all(&self) -> Vec<Known> {
        let mut names = BTreeSet::new();
        for (partition, key) in self.stored.0.keys() {
            if let Partition::Day(_) = partition
                && key[2] == Table::Messages as u8
                && key.len() == REST + 12
            {
                let closing = ClosingId {
                    bucket: BucketNo(u16_at(key, 0).unwrap()),
                    seq: seq_at(key, REST + 4).unwrap(),
                };
                names.insert(closing.message(RecipientNo(u32_at(key, REST).unwrap())));
            }
        }
        for bucket in self.engine.shards.buckets() {
            for (seq, open) in &bucket.closings {
                let closing = bucket.closing_id(*seq);
                names
                    .extend(open.unmade.keys().map(|number| closing.message(RecipientNo(*number))));
            }
        }
        let reader = self.engine.reader(&self.stored);
        let first = self.engine.forgotten_before().unwrap_or(Day(0)).0;
        let mut all = Vec::new();
        for id in names {
            let of_day = |day| {
                let name = MessageName { due: Day(day), id };
                reader.message_report(name).unwrap()
            };
            let Some(report) = (first..=self.now.day().0).find_map(of_day) else {
                continue;
            };
            let told = report.items.iter().map(|item| &item.event);
            let events: BTreeSet<Id> =
                told.chain(report.left_out.iter().map(|left| &left.event)).cloned().collect();
            let types = events.iter().map(|event| {
                let trace = reader.trace(event).unwrap().unwrap();
                trace.report(&self.stored).unwrap().event.event_type
            });
            let mut newest_first = report.attempts.iter().rev();
            let last = newest_first.find(|run| Answered::TO_ATTEMPTS.contains(&run.answer));
            all.push(Known {
                provider: last.map(|run| run.provider.clone()),
                types: types.collect(),
                events,
                summary: report.summary,
            });
        }
        all.sort_by(|a, b| {
            let id = |known: &Known| known.summary.name.to_string();
            b.summary.due.cmp(&a.summary.due).then_with(|| id(a).cmp(&id(b)))
        });
        all
    }

    fn filter(&mut self, all: &[Known]) -> MessageFilter {
        let mut filter = MessageFilter::default();
        for _ in 0..=self.draws.draw(3) {
            match self.draws.draw(10) {
                0 => filter.recipient = Some(id(&format!("r{}", self.draws.index(RECIPIENTS + 1)))),
                1 => filter.event = Some(id(&format!("e{}", self.draws.index(self.events + 1)))),
                2 => filter.channel = channel_no(["email", "sms"][self.draws.index(2)]),
                3 => filter.provider = Some(PROVIDERS[self.draws.index(2)].to_owned()),
                4 => filter.types.push(id(TYPES[self.draws.index(TYPES.len())])),
                5 => filter.tenant = Some(id("acme")),
                6 | 7 => filter.states.push(MessageState::ALL[self.draws.index(8)]),
                8 => {
                    let reasons =
                        [Reason::Refused, Reason::NoAddress, Reason::Event, Reason::Message];
                    filter.reason = Some(reasons[self.draws.index(4)]);
                }
                _ if !all.is_empty() => {
                    filter.from = Some(all[self.draws.index(all.len())].summary.due);
                    filter.to = Some(all[self.draws.index(all.len())].summary.due);
                }
                _ => {}
            }
        }
        filter
    }

    /// The names that a filter leaves, without the index.
    fn expected(&self, all: &[Known], filter: &MessageFilter) -> Vec<String> {
        let is_there = |recipient: &Id| self.engine.find(recipient).is_ok();
        let wanted = all.iter().filter(|Known { summary, events, types, provider }| {
            filter
                .recipient
                .as_ref()
                .is_none_or(|of| is_there(of) && summary.recipient.as_ref() == Some(of))
                && filter.event.as_ref().is_none_or(|of| events.contains(of))
                && filter.channel.is_none_or(|of| of.name() == summary.channel)
                && filter.provider.as_ref().is_none_or(|of| provider.as_ref() == Some(of))
                && (filter.types.is_empty() || filter.types.iter().any(|of| types.contains(of)))
                && filter.tenant.as_ref().is_none_or(|of| summary.tenant.as_ref() == Some(of))
                && (filter.states.is_empty() || filter.states.contains(&summary.state))
                && filter.reason.is_none_or(|of| summary.reason == Some(of))
                && filter.from.is_none_or(|from| summary.due >= from)
                && filter.to.is_none_or(|to| summary.due < to)
        });
        wanted.map(|known| known.summary.name.to_string()).collect()
    }

    /// The names that pages of a filter list, one after the other.
    fn listed(&self, filter: &MessageFilter, most: usize) -> Vec<String> {
        let (mut names, mut after) = (Vec::new(), None);
        loop {
            let reader = self.engine.reader(&self.stored);
            let page = reader.messages(filter, after.as_ref(), most).unwrap();
            assert!(page.rows.len() <= most);
            names.extend(page.rows.into_iter().map(|of| of.name.to_string()));
            match page.next {
                Some(next) => after = Some(next),
                None => return names,
            }
        }
    }

    fn compare(&mut self) {
        let all = self.all();
        for _ in 0..12 {
            let filter = self.filter(&all);
            let expected = self.expected(&all, &filter);
            let most = [1, 2, 7, 500][self.draws.index(4)];
            assert_eq!(self.listed(&filter, most), expected, "{filter:?}");
        }
        let everything = MessageFilter::default();
        assert_eq!(self.listed(&everything, 3), self.expected(&all, &everything));
    }
}

#[test]
fn a_list_is_what_a_walk_over_all_rows_finds() {
    for seed in 0..6 {
        let mut world = World::new(seed);
        for turn in 0..60 {
            world.live();
            if turn % 6 == 5 {
                world.compare();
            }
            if turn == 40 {
                world.forget();
            }
        }
    }
}

#[test]
fn messages_of_an_earlier_version_are_listed_once_they_are_indexed() {
    for seed in 10..14 {
        let mut world = World::new(seed);
        for turn in 0..60 {
            world.live();
            if turn % 15 == 14 {
                world.upgrade();
                world.compare();
            }
            if turn == 40 {
                world.forget();
            }
        }
    }
}
