//! The last 24 hours by hour: did anything fail, and when.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use minijinja::{Value as Shown, context};
use serde_json::Value;

use crate::call::Call;
use crate::page::{grouped, link};
use crate::plot::{Bar, Bars, Key, Tone};

const HOURS: i64 = 24;

/// The states that are drawn, with their words and colours, from the ground up.
const STATES: [(&str, &str, Tone); 4] = [
    ("sent", "sent", Tone::Ok),
    ("suppressed", "suppressed", Tone::Off),
    ("unknown", "unknown", Tone::Wait),
    ("failed", "failed", Tone::Failed),
];

/// The call for the figures of the last 24 hours.
pub(super) fn call(now: Timestamp) -> Call {
    let date = |at: Timestamp| at.strftime("%Y-%m-%d").to_string();
    Call::get(&["admin", "figures"])
        .with("from", &date(first_hour(now)))
        .with("to", &date(now + SignedDuration::from_hours(HOURS)))
        .with("by", "channel,hour")
        .with("measure", "messages")
}

/// The begin of the first of the hours: the present one is the last.
fn first_hour(now: Timestamp) -> Timestamp {
    let hour = now.as_second().div_euclid(3_600) - (HOURS - 1);
    Timestamp::from_second(hour * 3_600).unwrap_or(now)
}

/// StateCounts of the states, in their order.
type StateCounts = [u64; STATES.len()];

/// The plot, the sums, and the sums by channel.
pub(super) fn shown(figures: &Value, now: Timestamp, base: &str) -> Shown {
    let first = first_hour(now);
    let mut hours: BTreeMap<Timestamp, StateCounts> = BTreeMap::new();
    let mut channels: BTreeMap<&str, StateCounts> = BTreeMap::new();
    for row in figures["rows"].as_array().into_iter().flatten() {
        let hour = row["hour"].as_str().and_then(|hour| hour.parse::<Timestamp>().ok());
        let Some(hour) = hour.filter(|hour| *hour >= first) else { continue };
        let counts = STATES.map(|(state, ..)| row["messages"][state].as_u64().unwrap_or(0));
        add(hours.entry(hour).or_default(), counts);
        add(channels.entry(row["channel"].as_str().unwrap_or_default()).or_default(), counts);
    }
    let mut sums = StateCounts::default();
    hours.values().for_each(|counts| add(&mut sums, *counts));
    let bars = (0..HOURS).map(|index| {
        let from = first + SignedDuration::from_hours(index);
        let to = from + SignedDuration::from_hours(1);
        let href = link(base, "/messages", &[("from", &from.to_string()), ("to", &to.to_string())]);
        let values = hours.get(&from).copied().unwrap_or_default();
        Bar { label: from.to_string(), values: Some(values.to_vec()), href: Some(href) }
    });
    let plot = Bars {
        title: "Last 24 hours".to_owned(),
        sentence: sentence(&sums, &hours),
        head: "Hour",
        keys: STATES.iter().map(|(_, word, tone)| Key::new(*word, *tone)).collect(),
        bars: bars.collect(),
        ticks: (0..=4)
            .map(|quarter| (first + SignedDuration::from_hours(quarter * 6)).to_string())
            .collect(),
    };
    let (from, to) = (first.to_string(), (first + SignedDuration::from_hours(HOURS)).to_string());
    let cells = |counts: &StateCounts, channel: Option<&str>| -> Vec<Shown> {
        let cell = |(count, (state, word, tone)): (&u64, &(&str, &str, Tone))| {
            let mut filter = vec![("state", *state), ("from", &from), ("to", &to)];
            filter.extend(channel.map(|channel| ("channel", channel)));
            context! { count, word => *word, tone => tone.name(), href => link(base, "/messages", &filter) }
        };
        counts.iter().zip(&STATES).map(cell).collect()
    };
    let channels = channels.iter().filter(|(_, counts)| counts.iter().sum::<u64>() > 0);
    let rows = channels
        .map(|(name, counts)| context! { name => *name, cells => cells(counts, Some(name)) });
    context! {
        plot => plot.plot().value(),
        sums => cells(&sums, None),
        channels => rows.collect::<Vec<_>>(),
        is_empty => sums.iter().sum::<u64>() == 0,
    }
}

fn add(sum: &mut StateCounts, more: StateCounts) {
    sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

/// The answer to the question of the plot.
fn sentence(sums: &StateCounts, hours: &BTreeMap<Timestamp, StateCounts>) -> String {
    let [.., failed] = *sums;
    let all: u64 = sums.iter().sum();
    if all == 0 {
        return "No message was due.".to_owned();
    }
    if failed == 0 {
        return "Nothing failed.".to_owned();
    }
    let bad = hours.values().filter(|counts| counts[STATES.len() - 1] > 0).count();
    let number = grouped(i64::try_from(failed).unwrap_or(i64::MAX));
    let hours = if bad == 1 { "one hour".to_owned() } else { format!("{bad} of the hours") };
    format!("{number} failed ({}), in {hours}.", share(failed, all))
}

/// A part of a whole in per cent, with a digit where it is little.
fn share(part: u64, whole: u64) -> String {
    let tenths = (part * 1_000 + whole / 2) / whole.max(1);
    match tenths {
        0 => "less than 0.1\u{202f}%".to_owned(),
        1..100 => format!("{}.{}\u{202f}%", tenths / 10, tenths % 10),
        _ => format!("{}\u{202f}%", (tenths + 5) / 10),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn now() -> Timestamp {
        "2026-11-28T21:49:28Z".parse().unwrap()
    }

    #[test]
    fn the_window_is_of_24_hours_and_the_present_one_is_the_last() {
        assert_eq!(first_hour(now()).to_string(), "2026-11-27T22:00:00Z");
        let call = call(now()).target();
        assert!(call.contains("from=2026-11-27&to=2026-11-29&by=channel%2Chour"), "{call}");
    }

    #[test]
    fn hours_before_the_window_are_left_out_and_channels_are_added_up() {
        let figures = json!({"rows": [
            {"channel": "email", "hour": "2026-11-27T21:00:00Z", "messages": {"sent": 1000, "failed": 9}},
            {"channel": "email", "hour": "2026-11-27T22:00:00Z", "messages": {"sent": 90, "failed": 3}},
            {"channel": "sms", "hour": "2026-11-27T22:00:00Z", "messages": {"sent": 7, "suppressed": 0}},
        ]});
        let shown = shown(&figures, now(), "/console");
        let sums = shown.get_attr("sums").unwrap();
        let count =
            |index| sums.get_item_by_index(index).unwrap().get_attr("count").unwrap().to_string();
        assert_eq!((count(0).as_str(), count(3).as_str()), ("97", "3"));
        let plot = shown.get_attr("plot").unwrap();
        assert_eq!(
            plot.get_attr("sentence").unwrap().to_string(),
            "3 failed (3.0\u{202f}%), in one hour."
        );
        assert_eq!(shown.get_attr("channels").unwrap().len(), Some(2));
    }

    #[test]
    fn shares_are_never_rounded_to_nothing() {
        for (part, whole, text) in [
            (1, 1_000_000, "less than 0.1\u{202f}%"),
            (8, 1_000, "0.8\u{202f}%"),
            (1, 3, "33\u{202f}%"),
            (5, 5, "100\u{202f}%"),
        ] {
            assert_eq!(share(part, whole), text);
        }
    }
}
