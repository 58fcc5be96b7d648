//! All that is counted, fact by fact, and their sums by the parts of a question.

use std::collections::{BTreeMap, BTreeSet};

use tidings_core::engine::GroupBy;
use tidings_core::model::{DAY_MS, HOUR_MS, INBOX, Outcome, Reason};
use tidings_core::{Day, Instant};

use super::log::{MutedType, SuppressedMessage};
use crate::figures::{Cell, Figures};
use crate::model::{Model, ModelEntryState};

/// The durations of facts by their word; `None` for a fact that is none.
type FactDurations = BTreeMap<String, Vec<Option<i64>>>;

/// One thing that is counted.
struct CountedFact<'a> {
    at: Instant,
    event_type: &'a str,
    channel: Option<&'a str>,
    tenant: Option<usize>,
    word: String,
    /// A duration, if it is one.
    ms: Option<i64>,
}

impl Model {
    /// The figures by these parts, of the days that are kept.
    #[must_use]
    pub fn figures(&self, by: &[GroupBy]) -> Figures {
        let today = self.now.day();
        let rules = self.current().figures;
        let of_tenants = by.contains(&GroupBy::Tenant);
        let kept_ms = if of_tenants { rules.tenants_ms.min(rules.keep_ms) } else { rules.keep_ms };
        let mut first = today.start().plus_ms(-kept_ms).day();
        first = first.max(self.figures_log.began.map_or(Day(i32::MAX), Instant::day));
        if by.contains(&GroupBy::Hour) {
            first = first.max(Day(today.0 - 6));
        }
        let mut rows: BTreeMap<Vec<Option<String>>, FactDurations> = BTreeMap::new();
        for fact in AllFacts(self).all() {
            let is_of_none = by.contains(&GroupBy::Channel) && fact.channel.is_none();
            if fact.at.day() < first || is_of_none || of_tenants && fact.tenant.is_none() {
                continue;
            }
            let of = by.iter().map(|by| match by {
                GroupBy::Type => Some(fact.event_type.to_owned()),
                GroupBy::Category => {
                    let rules = self.current().types.get(fact.event_type);
                    rules.map(|rules| rules.category.clone())
                }
                GroupBy::Channel => fact.channel.map(str::to_owned),
                GroupBy::Tenant => self.tenants.id_of(fact.tenant).map(|id| id.to_string()),
                GroupBy::Hour => Some(Instant(fact.at.0.div_euclid(HOUR_MS) * HOUR_MS).to_string()),
                GroupBy::Day => {
                    Some(Day(i32::try_from(fact.at.0.div_euclid(DAY_MS)).unwrap_or(0)).to_string())
                }
            });
            let row = rows.entry(of.collect()).or_default();
            row.entry(fact.word).or_default().push(fact.ms);
        }
        let cell = |facts: Vec<Option<i64>>| {
            let mut durations: Vec<i64> = facts.iter().flatten().copied().collect();
            durations.sort_unstable();
            let at = |percent: usize| {
                let rank = (durations.len() * percent).div_ceil(100);
                durations.get(rank.saturating_sub(1)).copied()
            };
            Cell { n: facts.len() as u64, p50_ms: at(50), p95_ms: at(95) }
        };
        let rows = rows.into_iter().map(|(of, row)| {
            (of, row.into_iter().map(|(word, facts)| (word, cell(facts))).collect())
        });
        rows.collect()
    }
}

/// All that a world counted, one by one.
struct AllFacts<'m>(&'m Model);

impl<'m> AllFacts<'m> {
    fn all(&self) -> Vec<CountedFact<'m>> {
        let model = self.0;
        let mut facts = Vec::new();
        for published in &model.events {
            let of = CountedFact {
                at: published.arrived,
                event_type: published.event.event_type.as_str(),
                channel: None,
                tenant: published.tenant,
                word: "events".to_owned(),
                ms: None,
            };
            let people: BTreeSet<usize> =
                published.entries.iter().map(|entry| model.entries[*entry].person).collect();
            facts.extend(
                people.iter().map(|_| CountedFact { word: "notifications".to_owned(), ..of }),
            );
            facts.push(of);
        }
        self.add_entries(&mut facts);
        self.add_messages(&mut facts);
        for MutedType { at, tenant, event_type, channel } in &model.figures_log.muted {
            facts.push(CountedFact {
                at: *at,
                event_type,
                channel: Some(channel),
                tenant: *tenant,
                word: "muted".to_owned(),
                ms: None,
            });
        }
        facts
    }

    fn add_entries(&self, facts: &mut Vec<CountedFact<'m>>) {
        let model = self.0;
        for entry in &model.entries {
            let published = &model.events[entry.event];
            let fact = |word: String, ms| CountedFact {
                at: entry.entered,
                event_type: published.event.event_type.as_str(),
                channel: Some(&entry.channel),
                tenant: published.tenant,
                word,
                ms,
            };
            match entry.state {
                // It counts once it enters a lane or ends.
                ModelEntryState::Scheduled => continue,
                ModelEntryState::Waiting { .. } => {}
                ModelEntryState::Ended(why) => {
                    let outcome = why.map_or(Outcome::Delivered, Reason::outcome);
                    facts.push(fact(format!("ended.{}", outcome.word()), None));
                    facts.extend(why.map(|why| fact(format!("reasons.{}", why.word()), None)));
                }
            }
            facts.push(fact("entries".to_owned(), None));
            if let Some(seen) = entry.first.seen {
                let delivered = entry.delivered.unwrap_or(seen);
                facts.push(fact("seen".to_owned(), None));
                facts.push(fact("told_to_seen".to_owned(), Some(seen.0 - delivered.0)));
            }
            if entry.first.read.is_some() {
                facts.push(fact("read".to_owned(), None));
            }
        }
    }

    fn add_messages(&self, facts: &mut Vec<CountedFact<'m>>) {
        let model = self.0;
        for message in &model.messages {
            let tenant = model.events.iter().find_map(|published| {
                (published.event.tenant == message.tenant).then_some(published.tenant)
            });
            let fact = |event_type: &'m str, word: &str, ms| CountedFact {
                at: message.at,
                event_type,
                channel: Some(&message.channel),
                tenant: tenant.flatten(),
                word: word.to_owned(),
                ms,
            };
            if let Some(first) = message.items.first() {
                facts.push(fact(first.event_type.as_str(), "messages.sent", None));
            }
            for item in &message.items {
                facts.push(fact(item.event_type.as_str(), "items", None));
                let ms = message.at.0 - item.t.0;
                facts.push(fact(item.event_type.as_str(), "delay", Some(ms)));
            }
        }
        for SuppressedMessage { at, event, channel } in &model.figures_log.suppressed {
            debug_assert_ne!(channel, INBOX);
            let published = &model.events[*event];
            facts.push(CountedFact {
                at: *at,
                event_type: published.event.event_type.as_str(),
                channel: Some(channel),
                tenant: published.tenant,
                word: "messages.suppressed".to_owned(),
                ms: None,
            });
        }
    }
}
