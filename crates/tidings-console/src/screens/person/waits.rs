//! Open lanes of a person: a line for each, from its first notification to its deadline.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use minijinja::value::Serde;
use minijinja::{Value as Shown, context};
use serde_json::Value;

use crate::call::encoded;
use crate::page::grouped;
use crate::plot::{Course, Key, Tone};
use crate::query::Query;
use crate::words::counted;

/// The most notifications that a line draws and lists.
const LISTED: usize = 100;

/// The open lanes for a template, the next first and what is held last.
pub(super) fn lanes(
    id: &str,
    pending: &Value,
    now: Timestamp,
    zone: &TimeZone,
    may_flush: bool,
) -> Vec<Shown> {
    let mut lanes: Vec<&Value> = pending["lanes"].as_array().into_iter().flatten().collect();
    lanes.sort_by_key(|lane| (lane["due"].is_null(), lane["due"].as_str()));
    lanes.into_iter().map(|lane| shown(id, lane, now, zone, may_flush)).collect()
}

fn shown(id: &str, lane: &Value, now: Timestamp, zone: &TimeZone, may_flush: bool) -> Shown {
    let entries = lane["entries"].as_array().map(Vec::as_slice).unwrap_or_default();
    let count = counted(entries.len() as u64, "notification", "notifications");
    let text = |name: &str| lane[name].as_str().unwrap_or_default();
    let flush = Query::default().with("channel", text("channel")).with("lane", text("lane"));
    let flush = match lane["tenant"].as_str() {
        Some(tenant) => flush.with("tenant", tenant),
        None => flush,
    };
    let is_held = lane["held_by"].is_string();
    let due = lane["due"].as_str().and_then(|due| due.parse::<Timestamp>().ok());
    let line = due.map(|due| course(entries, due, now, zone));
    let listed = &entries[..entries.len().min(LISTED)];
    context! {
        lane => Serde(lane), count, line, is_due => due.is_some_and(|due| due <= now),
        entries => Serde(listed), more => grouped((entries.len() - listed.len()) as i64),
        has_more => listed.len() < entries.len(), is_held,
        flush => (may_flush && !is_held)
            .then(|| flush.url(&format!("/people/{}/flush", encoded(id)))),
    }
}

fn course(entries: &[Value], due: Timestamp, now: Timestamp, zone: &TimeZone) -> Shown {
    let written =
        |at: Timestamp| at.to_zoned_datetime(zone.clone()).strftime("%a %-d %b %H:%M").to_string();
    let arrivals: Vec<(Timestamp, String)> = entries
        .iter()
        .take(LISTED)
        .filter_map(|entry| {
            let at: Timestamp = entry["t"].as_str()?.parse().ok()?;
            let (event, of_type) = (entry["event"].as_str()?, entry["type"].as_str()?);
            Some((at, format!("{event} ({of_type}), {}", written(at))))
        })
        .collect();
    let first = arrivals.iter().map(|(at, _)| *at).chain([now]).min().unwrap_or(now);
    let course = Course {
        title: "Until it is due".to_owned(),
        sentence: String::new(),
        now,
        due,
        arrivals,
        ticks: vec![written(first), written(due.max(now))],
    };
    let mut plot = course.plot();
    // The page lists them with their links.
    plot.rows.clear();
    plot.keys = vec![Key::new("arrived", Tone::Ok), Key::new("due", Tone::Wait)];
    plot.value()
}
