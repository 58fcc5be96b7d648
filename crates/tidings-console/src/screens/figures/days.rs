//! Figures by day: a line a row, and the bars of all.

use std::collections::BTreeMap;

use jiff::civil::Date;
use minijinja::Value as Shown;
use serde_json::Value;

use super::key;
use super::period::Period;
use crate::page::{grouped, link};
use crate::plot::{Bar, Bars, Key, Tone};
use crate::query::Query;

/// From this number of days on a picture would be of hair lines.
const DAYS_MAX: usize = 120;

fn count(row: &Value, state: &str) -> u64 {
    row["messages"][state].as_u64().unwrap_or(0)
}

fn without(answer: &Value) -> Vec<Date> {
    let days = answer["days_without"].as_array().into_iter().flatten();
    days.filter_map(|day| day.as_str()?.parse().ok()).collect()
}

/// Messages sent by day, a line for each row of the table, by its keys.
pub(super) fn lines(daily: &Value, by: &str) -> BTreeMap<String, Vec<Option<u64>>> {
    let Some(period) = Period::of(daily) else { return BTreeMap::new() };
    let (days, without) = (period.days(), without(daily));
    let empty: Vec<Option<u64>> =
        days.iter().map(|day| (!without.contains(day)).then_some(0)).collect();
    let mut lines: BTreeMap<String, Vec<Option<u64>>> = BTreeMap::new();
    for row in daily["rows"].as_array().into_iter().flatten() {
        let day = row["day"].as_str().and_then(|day| day.parse::<Date>().ok());
        let Some(index) = day.and_then(|day| days.binary_search(&day).ok()) else { continue };
        let line = lines.entry(key(row, by)).or_insert_with(|| empty.clone());
        line[index] = Some(count(row, "sent"));
    }
    lines
}

/// The messages of all rows by day, or nothing where they are not by day.
pub(super) fn plot(
    answer: &Value,
    period: Option<&Period>,
    base: &str,
    query: &Query,
) -> Option<Shown> {
    let days = period?.days();
    if days.len() < 2 || days.len() > DAYS_MAX {
        return None;
    }
    let mut sums: BTreeMap<Date, [u64; 2]> = BTreeMap::new();
    for row in answer["rows"].as_array().into_iter().flatten() {
        let day = row["day"].as_str()?.parse::<Date>().ok()?;
        let sum = sums.entry(day).or_default();
        sum[0] += count(row, "sent");
        sum[1] += count(row, "failed");
    }
    let without = without(answer);
    let bars = days.iter().map(|day| {
        let next = day.tomorrow().unwrap_or(*day);
        let (from, to) = (format!("{day}T00:00:00Z"), format!("{next}T00:00:00Z"));
        let mut filter = vec![("from", from.as_str()), ("to", to.as_str())];
        filter
            .extend(query.pairs().filter(|(name, _)| ["channel", "type", "tenant"].contains(name)));
        let is_known = !without.contains(day);
        Bar {
            label: day.strftime("%-d %b").to_string(),
            values: is_known.then(|| sums.get(day).copied().unwrap_or_default().to_vec()),
            href: is_known.then(|| link(base, "/messages", &filter)),
        }
    });
    let plot = Bars {
        title: "Messages by day".to_owned(),
        sentence: sentence(&sums),
        head: "Day (UTC)",
        keys: vec![Key::new("sent", Tone::Ok), Key::new("failed", Tone::Failed)],
        bars: bars.collect(),
        ticks: [days.first(), days.get(days.len() / 2), days.last()]
            .into_iter()
            .flatten()
            .map(|day| day.strftime("%-d %b").to_string())
            .collect(),
    };
    Some(plot.plot().value())
}

fn sentence(sums: &BTreeMap<Date, [u64; 2]>) -> String {
    let most = sums.iter().max_by_key(|(_, sum)| sum[0]).filter(|(_, sum)| sum[0] > 0);
    let worst = sums.iter().max_by_key(|(_, sum)| sum[1]).filter(|(_, sum)| sum[1] > 0);
    let shown = |count: u64| grouped(i64::try_from(count).unwrap_or(i64::MAX));
    let said =
        |(day, count): (&Date, u64)| format!("{} on {}", shown(count), day.strftime("%-d %b"));
    match (most, worst) {
        (None, None) => "No message was due.".to_owned(),
        (Some((day, sum)), None) => format!("At most {}; none failed.", said((day, sum[0]))),
        (None, Some((day, sum))) => {
            format!("None was sent; at most {} failed.", said((day, sum[1])))
        }
        (Some((day, sum)), Some((bad, failed))) => {
            format!("At most {}; at most {} failed.", said((day, sum[0])), said((bad, failed[1])))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_day_without_figures_is_a_gap_and_a_day_without_rows_is_zero() {
        let daily = json!({
            "from": "2026-11-01", "to": "2026-11-05", "days_without": ["2026-11-01"],
            "rows": [
                {"type": "a", "day": "2026-11-02", "messages": {"sent": 5}},
                {"type": "a", "day": "2026-11-04", "messages": {"sent": 7}},
            ],
        });
        assert_eq!(lines(&daily, "type")["a"], [None, Some(5), Some(0), Some(7)]);
    }

    #[test]
    fn the_sentence_names_the_fullest_and_the_worst_day() {
        let day = |text: &str| text.parse::<Date>().unwrap();
        let sums = BTreeMap::from([(day("2026-11-02"), [50, 0]), (day("2026-11-03"), [20, 4])]);
        assert_eq!(sentence(&sums), "At most 50 on 2 Nov; at most 4 on 3 Nov failed.");
        assert_eq!(sentence(&BTreeMap::new()), "No message was due.");
    }
}
