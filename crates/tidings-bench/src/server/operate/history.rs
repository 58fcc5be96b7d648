//! The figures of many days, types and channels.

use std::path::Path;

use tidings_core::engine::{FiguresQuery, GroupBy, Options};
use tidings_core::model::{Audience, DAY_MS};
use tidings_core::{Command, Day, Rules};

use crate::BenchFault;
use crate::stopwatch::{Stopwatch, ms};
use crate::world::{self, BEGIN, OnDisk};

/// The channels of each type: the inbox, and digests on the others.
const CHANNELS: [&str; 6] = ["inbox", "email", "sms", "webpush", "slack", "discord"];

/// Number of days that the store keeps; figures of older ones are compact.
const KEPT_DAYS: i32 = 90;

#[derive(Clone, Copy)]
pub(super) struct HistoryParams {
    pub(super) days: u32,
    pub(super) types: u32,
    pub(super) runs: u32,
}

/// The name of a type.
fn type_name(number: u32) -> String {
    format!("type-{number:03}")
}

/// Types on all channels, of which nothing goes while days pass.
fn with_types(mut rules: Rules, types: u32) -> Result<Rules, BenchFault> {
    let missing = || BenchFault::Unknown("the type `gathered` of its rules");
    let model = rules.types.get("gathered").ok_or_else(missing)?.clone();
    let digest = model.channels.get("email").ok_or_else(missing)?.clone();
    for number in 0..types {
        let mut added = model.clone();
        for channel in &CHANNELS[1..] {
            added.channels.insert((*channel).to_owned(), digest.clone());
        }
        rules.types.insert(type_name(number), added);
    }
    Ok(rules)
}

/// The times of reading them by day, and by type and channel, in milliseconds.
pub(super) fn measure(
    place: &Path,
    rules: Rules,
    params: HistoryParams,
) -> Result<[(&'static str, Vec<f64>); 2], BenchFault> {
    let directory = world::directory(place)?;
    let mut disk = OnDisk::open(directory.path(), Options::default())?;
    disk.node.set_rules(BEGIN, with_types(rules, params.types)?)?;
    disk.fill(BEGIN, [world::make(0)].into_iter())?;
    for day in 0..params.days {
        let now = BEGIN.plus_ms(i64::from(day) * DAY_MS);
        let event = |number: u32| {
            let to = Audience { recipients: [world::recipient(0)].into(), ..Audience::default() };
            let name = u64::from(day) * u64::from(params.types) + u64::from(number);
            world::event_to(name, &type_name(number), to)
        };
        disk.fill(now, (0..params.types).map(event))?;
        let before = Day(now.day().0.saturating_sub(KEPT_DAYS));
        world::accepted(disk.node.step(now, &[Command::Forget { before }])?.replies)?;
        disk.node.chores()?;
    }
    let first = BEGIN.day();
    let end = Day(first.0 + i32::try_from(params.days).unwrap_or(i32::MAX));
    let today = Day(end.0 - 1);
    let by_type = [GroupBy::Type, GroupBy::Channel];
    let mut measured =
        [("figures_by_day", Vec::new()), ("figures_by_type_and_channel", Vec::new())];
    let groups = [(vec![GroupBy::Day], params.days), (by_type.to_vec(), params.types)];
    for _ in 0..params.runs {
        for ((_, times), (by, rows_min)) in measured.iter_mut().zip(&groups) {
            let query = FiguresQuery { by: by.clone(), ..FiguresQuery::of_days(first..end) };
            let view = disk.node.view()?;
            let watch = Stopwatch::start();
            let report = disk.node.engine().reader(&view).figures(&query, today)?;
            times.push(ms(watch.elapsed()));
            if report.rows.len() < *rows_min as usize {
                return Err(BenchFault::Wrong(format!("{} rows of figures", report.rows.len())));
            }
        }
    }
    Ok(measured)
}
