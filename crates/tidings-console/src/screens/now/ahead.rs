//! The next 24 hours by hour: what is about to be sent.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use minijinja::{Value as Shown, context};
use serde_json::Value;

use crate::page::{grouped, link};
use crate::plot::{Bar, Bars, Key, Tone};

const HOURS: i64 = 24;

/// The kinds of lanes, from the ground up.
const KINDS: [(&str, Tone); 3] =
    [("digest", Tone::Other(0)), ("cool-down", Tone::Other(2)), ("other", Tone::Off)];

type KindCounts = [u64; KINDS.len()];

/// The plot, and what is due later.
pub(super) fn shown(due: &Value, now: Timestamp, base: &str) -> Shown {
    let first = Timestamp::from_second(now.as_second().div_euclid(3_600) * 3_600).unwrap_or(now);
    let end = first + SignedDuration::from_hours(HOURS);
    let mut hours: BTreeMap<Timestamp, KindCounts> = BTreeMap::new();
    let (mut later, mut next) = (0, None::<Timestamp>);
    for lane in due["lanes"].as_array().into_iter().flatten() {
        let hour = lane["hour"].as_str().and_then(|hour| hour.parse::<Timestamp>().ok());
        // Lanes that are never due wait for somebody who resumes them: another box has them.
        let Some(hour) = hour else { continue };
        let people = lane["recipients"].as_u64().unwrap_or(0);
        if hour >= end {
            later += people;
            next = Some(next.map_or(hour, |next| next.min(hour)));
            continue;
        }
        let kind = kind(lane["lane"].as_str().unwrap_or_default());
        // What is overdue goes with the present hour.
        hours.entry(hour.max(first)).or_default()[kind] += people;
    }
    let bars = (0..HOURS).map(|index| {
        let from = first + SignedDuration::from_hours(index);
        let to = from + SignedDuration::from_hours(1);
        let filter = [("state", "planned"), ("from", &from.to_string()), ("to", &to.to_string())];
        let values = hours.get(&from).copied().unwrap_or_default();
        let href = link(base, "/messages", &filter);
        Bar { label: from.to_string(), values: Some(values.to_vec()), href: Some(href) }
    });
    let plot = Bars {
        title: "Due in the next 24 hours".to_owned(),
        sentence: sentence(&hours),
        head: "Hour",
        keys: KINDS.iter().map(|(word, tone)| Key::new(*word, *tone)).collect(),
        bars: bars.collect(),
        ticks: (0..=4)
            .map(|quarter| (first + SignedDuration::from_hours(quarter * 6)).to_string())
            .collect(),
    };
    let filter = [("state", "planned"), ("from", &end.to_string())];
    context! {
        plot => plot.plot().low().value(), later, next => next.map(|next| next.to_string()),
        later_href => link(base, "/messages", &filter),
    }
}

/// The kind of a lane, by its name.
fn kind(lane: &str) -> usize {
    match lane {
        lane if lane.starts_with("digest") => 0,
        "cooldown" => 1,
        _ => 2,
    }
}

fn sentence(hours: &BTreeMap<Timestamp, KindCounts>) -> String {
    let all: u64 = hours.values().flatten().sum();
    let shown = |count: u64| grouped(i64::try_from(count).unwrap_or(i64::MAX));
    match all {
        0 => "No message is due in these hours.".to_owned(),
        1 => "One message to one person.".to_owned(),
        all => format!("{} messages are being gathered.", shown(all)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lanes_stand_in_their_hour_and_later_ones_are_counted_apart() {
        let due = json!({"lanes": [
            {"hour": "2026-11-28T21:00:00Z", "lane": "cooldown", "recipients": 3},
            {"hour": "2026-11-29T08:00:00Z", "lane": "digest:weekly", "recipients": 5},
            {"hour": "2026-11-30T08:00:00Z", "lane": "digest:weekly", "recipients": 12},
            {"hour": null, "lane": "paused", "recipients": 40},
        ]});
        let shown = shown(&due, "2026-11-28T22:10:00Z".parse().unwrap(), "");
        let text = |name| shown.get_attr(name).unwrap().to_string();
        assert_eq!((text("later").as_str(), text("next").as_str()), ("12", "2026-11-30T08:00:00Z"));
        let plot = shown.get_attr("plot").unwrap();
        assert_eq!(
            plot.get_attr("sentence").unwrap().to_string(),
            "8 messages are being gathered."
        );
        let rows = plot.get_attr("rows").unwrap();
        let first = rows.get_item_by_index(0).unwrap().get_attr("cells").unwrap().to_string();
        assert_eq!(first, "['0', '3', '0']");
    }
}
