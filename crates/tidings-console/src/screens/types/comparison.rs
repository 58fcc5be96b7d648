//! The result of a comparison: the numbers now and proposed, in a sentence, as rows, and as bars.

use minijinja::{Value as Shown, context};
use serde_json::Value;

use crate::page::{grouped, spanned};
use crate::plot::{Pair, Pairs};

/// The rows of a comparison: their words, the paths to their numbers, and whether these are spans.
const ROWS: [(&str, &[&str], bool); 12] = [
    ("Messages", &["messages"], false),
    ("People with a message", &["recipients"], false),
    ("Messages a person and day, mean", &["messages_per_day", "mean"], false),
    ("… 95 of 100 days at most", &["messages_per_day", "p95"], false),
    ("… most", &["messages_per_day", "max"], false),
    ("Delay from event to message, mean", &["delay_ms", "mean"], true),
    ("… of 50 of 100", &["delay_ms", "p50"], true),
    ("… of 95 of 100", &["delay_ms", "p95"], true),
    ("… longest", &["delay_ms", "max"], true),
    ("Items a message, mean", &["items_per_message", "mean"], false),
    ("Left out", &["left_out"], false),
    ("Still waiting at the end", &["pending"], false),
];

/// The two lines of a result, as `tidings simulate --compare --json` prints them.
pub(crate) struct Comparison<'c> {
    current: &'c Value,
    proposed: &'c Value,
}

impl<'c> Comparison<'c> {
    /// The comparison of a job that is done.
    pub(crate) fn of(job: &'c Value) -> Option<Self> {
        let [current, proposed] = job["result"].as_array()?.as_slice() else { return None };
        Some(Self { current, proposed })
    }

    fn both(&self, path: &[&str]) -> [Option<f64>; 2] {
        [number(self.current, path), number(self.proposed, path)]
    }

    /// The difference in a sentence or two.
    pub(crate) fn verdict(&self) -> String {
        let [now, then] = self.both(&["messages"]);
        let (now, then) = (now.unwrap_or_default(), then.unwrap_or_default());
        let counts = match change(now, then) {
            Some(change) => {
                format!("{} messages instead of {} ({change})", count(then), count(now))
            }
            None if now.total_cmp(&then).is_eq() => {
                format!("{} messages, as many as now", count(then))
            }
            None => format!("{} messages instead of {}", count(then), count(now)),
        };
        let delays = match self.both(&["delay_ms", "p95"]) {
            [Some(now), Some(then)] if now.total_cmp(&then).is_eq() => {
                format!("; 95 of 100 events wait {} at most, as now", span(then))
            }
            [Some(now), Some(then)] => {
                format!("; 95 of 100 events wait {} at most instead of {}", span(then), span(now))
            }
            _ => String::new(),
        };
        format!("{counts}{delays}.")
    }

    /// The promise that holds for everybody: how many anybody gets on a day.
    pub(crate) fn most(&self) -> Option<String> {
        let [Some(now), Some(then)] = self.both(&["messages_per_day", "max"]) else { return None };
        Some(format!(
            "Nobody gets more than {} a day with the change; now nobody gets more than {}.",
            count(then),
            count(now)
        ))
    }

    /// The numbers, row by row.
    pub(super) fn rows(&self) -> Vec<Shown> {
        let rows = ROWS.iter().map(|(word, path, is_span)| {
            let [now, then] = self.both(path);
            let shown = |number: Option<f64>| match number {
                None => "–".to_owned(),
                Some(number) if *is_span => span(number),
                Some(number) => count(number),
            };
            let change = now.zip(then).and_then(|(now, then)| change(now, then));
            context! { word => *word, now => shown(now), then => shown(then), change }
        });
        rows.collect()
    }

    /// The bars: messages, messages a day, and delays in minutes.
    pub(super) fn plots(&self) -> Vec<Shown> {
        let pair = |label: &str, path: &[&str], unit: f64| {
            let values = self.both(path).map(|number| whole(number.unwrap_or_default() / unit));
            Pair { label: label.to_owned(), values }
        };
        let plot = |title: &str, head: &str, pairs: Vec<Pair>| {
            let ticks = pairs.iter().map(|pair| pair.label.clone()).collect();
            let plot = Pairs {
                title: title.to_owned(),
                sentence: String::new(),
                head: head.to_owned(),
                words: ["now".to_owned(), "proposed".to_owned()],
                pairs,
                ticks,
            };
            plot.plot().low().value()
        };
        vec![
            plot("Messages", "What", vec![pair("all", &["messages"], 1.0)]),
            plot(
                "Messages a person and day",
                "Of days",
                vec![
                    pair("half", &["messages_per_day", "p50"], 1.0),
                    pair("95 of 100", &["messages_per_day", "p95"], 1.0),
                    pair("most", &["messages_per_day", "max"], 1.0),
                ],
            ),
            plot(
                "Delay in minutes",
                "Of events",
                vec![
                    pair("half", &["delay_ms", "p50"], 60_000.0),
                    pair("95 of 100", &["delay_ms", "p95"], 60_000.0),
                    pair("longest", &["delay_ms", "max"], 60_000.0),
                ],
            ),
        ]
    }
}

/// A number of a line; what is left out is added up over its reasons.
fn number(line: &Value, path: &[&str]) -> Option<f64> {
    let value = path.iter().fold(line, |value, name| &value[*name]);
    if let Some(reasons) = value.as_object() {
        return Some(reasons.values().filter_map(Value::as_f64).sum());
    }
    value.as_f64()
}

/// The change in parts of a hundred; nothing where there is none, or nothing to compare with.
fn change(now: f64, then: f64) -> Option<String> {
    if now <= 0.0 || (then - now).abs() < f64::EPSILON {
        return None;
    }
    let percent = (then - now) / now * 100.0;
    let sign = if percent < 0.0 { "\u{2212}" } else { "+" };
    let digits = usize::from(percent.abs() < 10.0);
    Some(format!("{sign}{:.digits$} %", percent.abs()))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn whole(number: f64) -> u64 {
    number.round() as u64
}

/// A count or a mean.
fn count(number: f64) -> String {
    if (number - number.round()).abs() < 1e-9 || number.abs() >= 1_000.0 {
        return grouped(i64::try_from(whole(number)).unwrap_or(i64::MAX));
    }
    format!("{number:.2}")
}

fn span(ms: f64) -> String {
    spanned(i64::try_from(whole(ms)).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Two lines of `tidings simulate --compare --json`.
    fn job() -> Value {
        let line = |config: &str, messages: u64, p95: u64, most: u64| {
            json!({"config": config, "messages": messages, "recipients": 40, "recipient_days": 80,
                   "messages_per_day": {"mean": 0.667, "p50": 1, "p95": 3, "max": most},
                   "delay_ms": {"mean": 171_820_000.0, "p50": 420_000, "p95": p95, "max": 900_000},
                   "items_per_message": {"mean": 1.5, "p50": 1, "p95": 2, "max": 2},
                   "pending": 0, "suppressed": 0, "left_out": {"not_applicable": 1, "seen": 2}})
        };
        json!({"state": "done", "result": [line("current", 12_384, 780_000, 12), line("proposed", 8_911, 1_740_000, 8)]})
    }

    #[test]
    fn a_comparison_says_what_would_change() {
        let job = job();
        let comparison = Comparison::of(&job).unwrap();
        assert_eq!(
            comparison.verdict(),
            "8,911 messages instead of 12,384 (\u{2212}28 %); 95 of 100 events wait 29 min at most instead of 13 min."
        );
        assert_eq!(
            comparison.most().unwrap(),
            "Nobody gets more than 8 a day with the change; now nobody gets more than 12."
        );
        assert_eq!(number(&job["result"][0], &["left_out"]), Some(3.0));
        assert_eq!(comparison.rows().len(), ROWS.len());
    }

    #[test]
    fn a_change_that_changes_nothing_says_so() {
        let side = json!({"messages": 1_120, "delay_ms": {"p95": 780_000}});
        let job = json!({"state": "done", "result": [side, side]});
        assert_eq!(
            Comparison::of(&job).unwrap().verdict(),
            "1,120 messages, as many as now; 95 of 100 events wait 13 min at most, as now."
        );
    }

    #[test]
    fn a_job_without_a_result_is_none() {
        assert!(Comparison::of(&json!({"state": "running"})).is_none());
        assert!(Comparison::of(&json!({"result": [{}]})).is_none());
    }

    #[test]
    fn changes_have_a_sign_and_none_is_not_said() {
        assert_eq!(change(100.0, 102.5).unwrap(), "+2.5 %");
        assert_eq!(change(100.0, 50.0).unwrap(), "\u{2212}50 %");
        assert_eq!(change(100.0, 100.0), None);
        assert_eq!(change(0.0, 5.0), None);
    }
}
