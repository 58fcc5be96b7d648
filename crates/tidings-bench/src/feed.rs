//! `feed`: the first page of an inbox and its badge, out of a month that nobody has read.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tidings_core::engine::{InboxPage, InboxQuery, Options};
use tidings_core::model::{DAY_MS, HOUR_MS};
use tidings_core::{Command, Instant, Rules};
use tidings_node::Node;
use tidings_store::Store as _;

use super::stopwatch::{Stopwatch, ms};
use super::world::{self, BEGIN, OnDisk, StoreLocation};
use super::{BenchFault, Measurement};

/// Arguments of `feed`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FeedParams {
    /// Number of recipients in the readers' bucket; by default a sixteenth of a million
    #[arg(long, default_value_t = 62_500)]
    pub(crate) recipients: u32,
    /// Number of events a day that reach somebody of the bucket, about 1.2 % of it each
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(50..))]
    pub(crate) events: u32,
    /// Number of days
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=35))]
    pub(crate) days: u32,
    /// Number of groups on a page
    #[arg(long, default_value_t = 20)]
    pub(crate) groups: usize,
    /// Number of readers of each sort
    #[arg(long, default_value_t = 500)]
    pub(crate) runs: u32,
    /// Directory of the store, which is deleted when the benchmark ends
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Measure a store in this PostgreSQL database instead, which has to be without one and keeps what was written
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
}

/// A sort of reader, by how much they follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    /// One topic.
    Quiet,
    /// A dozen, and one that is heard of on two days of five.
    Usual,
    /// Half of all.
    Heavy,
}

/// Of so many neighbours one is quiet and one is heavy.
const NEIGHBOURS: u32 = 125;

/// Number of topics with daily events that the usual reader follows.
const FOLLOWED: u32 = 12;

impl Sort {
    fn of(recipient: u32) -> Self {
        match recipient % NEIGHBOURS {
            0 => Self::Quiet,
            1 => Self::Heavy,
            _ => Self::Usual,
        }
    }

    /// Counts the entries of such a reader.
    fn entries(self, params: &FeedParams) -> u64 {
        let rare = (0..params.days).filter(|day| is_rare(*day)).count() as u64;
        u64::from(params.days) * u64::from(self.topics(params))
            + rare * u64::from(self.follows_rare())
    }

    /// Counts the topics with daily events that they follow.
    fn topics(self, params: &FeedParams) -> u32 {
        match self {
            Self::Quiet => 1,
            Self::Usual => FOLLOWED,
            Self::Heavy => params.events / 2,
        }
    }

    fn follows_rare(self) -> bool {
        self == Self::Usual
    }
}

/// Returns true if the rare topic has events on a day.
fn is_rare(day: u32) -> bool {
    day % 5 < 2
}

/// Objects that were withdrawn, none of them of the readers' events: each entry is held against them.
const WITHDRAWN: u32 = 10_000;

const RARE: &str = "topic/rare";

fn topic(number: u32) -> String {
    format!("topic/{number}")
}

/// Runs it.
pub(crate) fn run(params: &FeedParams, rules: Rules) -> Result<Vec<Measurement>, BenchFault> {
    let readers = params.recipients / NEIGHBOURS;
    if readers < params.runs {
        return Err(BenchFault::Wrong(format!(
            "of {} recipients {readers} are of each sort: fewer than {} runs",
            params.recipients, params.runs
        )));
    }
    let directory = world::directory(&params.dir)?;
    let at = StoreLocation { directory: directory.path(), database: params.store.as_deref() };
    fill(params, rules, at.ensure_new()?)?;
    let named = BTreeMap::from([
        ("recipients", u64::from(params.recipients)),
        ("events_per_day", u64::from(params.events)),
        ("days", u64::from(params.days)),
        ("groups", params.groups as u64),
    ]);
    let mut measured = Vec::new();
    for sort in [Sort::Quiet, Sort::Usual, Sort::Heavy] {
        let mut of_sort = named.clone();
        of_sort.insert("entries", sort.entries(params));
        // Without memory for blocks, each page is read as if nobody had read before.
        let cold = pages(params, at, sort, 0)?;
        let hot = pages(params, at, sort, 64 << 20)?;
        let of =
            |metric, samples: &[f64]| Measurement::of("feed", &of_sort, (metric, "ms"), samples);
        measured.push(of("page_cold", &cold.first));
        measured.push(of("page_hot", &hot.second));
    }
    Ok(measured)
}

/// Makes the month, each day of it at rest.
fn fill(params: &FeedParams, rules: Rules, location: StoreLocation<'_>) -> Result<(), BenchFault> {
    let options = Options { buckets: 1, ..Options::default() };
    let mut disk = OnDisk::open(location, options)?;
    disk.node.set_rules(BEGIN, rules)?;
    disk.fill(BEGIN, (0..params.recipients).map(world::make))?;
    let daily = params.events - 1;
    let follows = (0..params.recipients).flat_map(|recipient| {
        let sort = Sort::of(recipient);
        let topics = sort.topics(params);
        // A stride that shares no factor with most numbers spreads what is followed evenly.
        let mut followed: Vec<u32> = (0..topics)
            .map(move |location| (recipient.wrapping_mul(7919) + location * 61) % daily)
            .collect();
        followed.sort_unstable();
        followed.dedup();
        let mut next = 0;
        while followed.len() < topics as usize {
            if let Err(place) = followed.binary_search(&next) {
                followed.insert(place, next);
            }
            next += 1;
        }
        let daily = followed.into_iter().map(topic);
        let rare = sort.follows_rare().then(|| RARE.to_owned());
        daily.chain(rare).map(move |topic| world::follow(recipient, &topic)).collect::<Vec<_>>()
    });
    disk.fill(BEGIN, follows)?;
    disk.fill(BEGIN, (0..WITHDRAWN).map(world::withdraw))?;
    for day in 0..params.days {
        let begin = BEGIN.plus_ms(i64::from(day) * DAY_MS);
        let events: Vec<Command> = (0..params.events)
            .map(|location| {
                let name = u64::from(day) * u64::from(params.events) + u64::from(location);
                let topic = match location.checked_sub(daily) {
                    Some(_) if is_rare(day) => RARE.to_owned(),
                    Some(_) => "topic/nobody".to_owned(),
                    None => topic(location),
                };
                world::event(name, "shown", Some(&topic))
            })
            .collect();
        for (location, events) in (0_i64..).zip(events.chunks(params.events.div_ceil(10) as usize))
        {
            let accepted = disk.node.step(begin.plus_ms(location * HOUR_MS), events)?;
            world::accepted(accepted.replies)?;
            disk.node.chores()?;
        }
    }
    disk.node.step(end(params), &[])?;
    disk.node.chores()?;
    if let Some(files) = &disk.files {
        for (day, _) in files.day_bytes()? {
            files.compact(day)?;
        }
    }
    Ok(())
}

fn end(params: &FeedParams) -> Instant {
    BEGIN.plus_ms(i64::from(params.days) * DAY_MS)
}

/// Times of the pages of some readers, each read for the first time and for the second.
#[derive(Default)]
struct Pages {
    first: Vec<f64>,
    second: Vec<f64>,
}

fn pages(
    params: &FeedParams,
    location: StoreLocation<'_>,
    sort: Sort,
    cache_bytes: u64,
) -> Result<Pages, BenchFault> {
    let options = tidings_store::Options { cache_bytes, ..tidings_store::Options::default() };
    let (store, _) = location.open(options)?;
    let node = Node::open(store, Options::default())?;
    let mut pages = Pages::default();
    for reader in (0..params.recipients)
        .filter(|recipient| Sort::of(*recipient) == sort)
        .take(params.runs as usize)
    {
        for samples in [&mut pages.first, &mut pages.second] {
            let id = world::recipient(reader);
            let watch = Stopwatch::start();
            let page = node
                .engine()
                .reader(&node.view()?)
                .inbox(&id, &InboxQuery::newest(params.groups))?;
            samples.push(ms(watch.elapsed()));
            verify(params, sort, &page)?;
        }
    }
    Ok(pages)
}

/// A page that is quick and wrong is worth nothing.
fn verify(params: &FeedParams, sort: Sort, page: &InboxPage) -> Result<(), BenchFault> {
    let entries = sort.entries(params);
    let shown = params.groups.min(usize::try_from(entries).unwrap_or(usize::MAX));
    let listed: usize = page.groups.iter().map(|group| group.items.len()).sum();
    if (page.groups.len(), listed, page.counts.unseen, page.counts.unread)
        == (shown, shown, entries, entries)
    {
        return Ok(());
    }
    Err(BenchFault::Wrong(format!(
        "a page has {} groups of {listed} items, {} unseen, {} unread; {shown} and {entries} were expected",
        page.groups.len(),
        page.counts.unseen,
        page.counts.unread
    )))
}
