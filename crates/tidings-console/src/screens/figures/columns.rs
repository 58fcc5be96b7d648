//! The columns of the table: what each shows of a row, and which list has what it counts.

use minijinja::{Value as Shown, context};
use serde_json::Value;

use super::period::Period;
use crate::page::{grouped, link, spanned};

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Events,
    Notifications,
    Told,
    Sent,
    Failed,
    Suppressed,
    Bounced,
    Complained,
    Noise,
    Seen,
    Delay,
    DelayOfMost,
    ToldToSeen,
}

/// All columns, with their heads, what they mean, and the measure that they need.
const COLUMNS: [(Column, &str, &str, &str); 13] = [
    (Column::Events, "Events", "by the day of their arrival", "events"),
    (
        Column::Notifications,
        "Notified",
        "notifications, by the day of their event",
        "notifications",
    ),
    (Column::Told, "Told", "entries that reached somebody", "ended"),
    (Column::Sent, "Sent", "messages, by the day they were due", "messages"),
    (Column::Failed, "Failed", "messages that nobody got", "messages"),
    (
        Column::Suppressed,
        "Suppressed",
        "messages without an address, or with one that must not be used",
        "messages",
    ),
    (Column::Bounced, "Bounced", "as providers report", "reported"),
    (Column::Complained, "Complained", "as providers report", "reported"),
    (Column::Noise, "Noise", "muted or unsubscribed, of 1,000 told", "muted"),
    (Column::Seen, "Seen", "in the inbox", "seen"),
    (Column::Delay, "Delay p50", "from the event to the message, half are faster", "delay"),
    (Column::DelayOfMost, "p95", "from the event to the message, 95 of 100 are faster", "delay"),
    (
        Column::ToldToSeen,
        "Seen after",
        "from told to seen in the inbox, half are faster",
        "told_to_seen",
    ),
];

/// The heads of the columns that rows have.
pub(super) fn heads(rows: &Value) -> Vec<Shown> {
    let shown: Vec<Column> = Column::of(rows).collect();
    let heads = COLUMNS.iter().filter(|(column, ..)| shown.contains(column));
    heads.map(|(_, head, meaning, _)| context! { head => *head, meaning => *meaning }).collect()
}

impl Column {
    /// The columns that rows have: a page may ask for some measures alone.
    pub(super) fn of(rows: &Value) -> impl Iterator<Item = Self> {
        let first = rows.get(0).cloned().unwrap_or_default();
        let is_there = move |measure: &str| !first[measure].is_null();
        COLUMNS
            .iter()
            .filter(move |(column, _, _, measure)| match column {
                Self::Noise => is_there("muted") && is_there("ended"),
                _ => is_there(measure),
            })
            .map(|(column, ..)| *column)
    }

    /// The count in a row.
    fn count(self, row: &Value) -> Option<u64> {
        match self {
            Self::Events => row["events"].as_u64(),
            Self::Notifications => row["notifications"].as_u64(),
            Self::Told => row["ended"]["delivered"].as_u64(),
            Self::Sent => row["messages"]["sent"].as_u64(),
            Self::Failed => row["messages"]["failed"].as_u64(),
            Self::Suppressed => row["messages"]["suppressed"].as_u64(),
            Self::Bounced => row["reported"]["bounced"].as_u64(),
            Self::Complained => row["reported"]["complained"].as_u64(),
            Self::Seen => row["seen"].as_u64(),
            Self::Delay => row["delay"]["p50_ms"].as_u64(),
            Self::DelayOfMost => row["delay"]["p95_ms"].as_u64(),
            Self::ToldToSeen => row["told_to_seen"]["p50_ms"].as_u64(),
            Self::Noise => None,
        }
    }

    /// The text of a row.
    fn text(self, row: &Value) -> Option<String> {
        match self {
            Self::Noise => noise(row).map(tenths),
            Self::Delay | Self::DelayOfMost | Self::ToldToSeen => {
                self.count(row).map(|ms| spanned(i64::try_from(ms).unwrap_or(i64::MAX)))
            }
            _ => self.count(row).map(|count| grouped(i64::try_from(count).unwrap_or(i64::MAX))),
        }
    }

    /// The list of what it counts, for the filter of the row.
    fn href(self, filter: &[(String, String)], base: &str) -> Option<String> {
        let (path, state) = match self {
            Self::Events => ("/events", None),
            Self::Sent => ("/messages", Some("sent")),
            Self::Failed => ("/messages", Some("failed")),
            Self::Suppressed => ("/messages", Some("suppressed")),
            _ => return None,
        };
        // Events are of no channel.
        let fits = |name: &str| path != "/events" || name != "channel";
        let mut pairs: Vec<(&str, &str)> = filter
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .filter(|(name, _)| fits(name))
            .collect();
        pairs.extend(state.map(|state| ("state", state)));
        Some(link(base, path, &pairs))
    }

    /// A cell: its text, its list, how it has changed, and whether it stands out.
    pub(super) fn cell(
        self,
        row: &Value,
        former: Option<&Value>,
        is_compared: bool,
        filter: Option<&[(String, String)]>,
        base: &str,
        median: Option<f64>,
    ) -> Shown {
        let text = self.text(row);
        let is_zero = self.count(row) == Some(0);
        let href = filter.filter(|_| !is_zero).and_then(|filter| self.href(filter, base));
        let is_loud = self == Self::Noise
            && noise(row).zip(median).is_some_and(|(noise, median)| is_loud(noise, median));
        let change = match (is_compared, self) {
            (false, _) | (true, Self::Noise) => None,
            (true, _) => change(self.count(row), former.and_then(|former| self.count(former))),
        };
        let tone = match self {
            Self::Failed if !is_zero && text.is_some() => "failed",
            Self::Noise if is_loud => "wait",
            _ => "",
        };
        context! { text, href, is_zero, tone, change }
    }
}

/// The change of a count against the period before.
fn change(now: Option<u64>, before: Option<u64>) -> Option<String> {
    match (now?, before.unwrap_or(0)) {
        (0, 0) => Some("=".to_owned()),
        (_, 0) => Some("new".to_owned()),
        (now, before) => {
            let (now, before) = (i128::from(now), i128::from(before));
            let percent = ((now - before) * 100
                + before.signum() * (now - before).signum() * before / 2)
                / before;
            Some(match percent {
                0 => "=".to_owned(),
                percent if percent > 0 => format!("+{percent}\u{202f}%"),
                percent => format!("\u{2212}{}\u{202f}%", -percent),
            })
        }
    }
}

/// Mutes and unsubscribes of 1,000 notifications: the noise of a type.
pub(super) fn noise(row: &Value) -> Option<f64> {
    let reached = row["ended"]["delivered"].as_u64().filter(|reached| *reached > 0)?;
    let muted = row["muted"].as_u64()?;
    #[expect(clippy::cast_precision_loss, reason = "one digit of it is shown")]
    Some(muted as f64 * 1_000.0 / reached as f64)
}

/// A number with one digit behind the point.
pub(super) fn tenths(value: f64) -> String {
    format!("{value:.1}")
}

/// The noise of the row in the middle.
pub(super) fn median_noise(rows: &Value) -> Option<f64> {
    let mut all: Vec<f64> = rows.as_array()?.iter().filter_map(noise).collect();
    all.sort_by(f64::total_cmp);
    // Of one row nobody can say that it is louder than others.
    if all.len() < 2 { None } else { all.get((all.len() - 1) / 2).copied() }
}

/// Returns true for a noise that is far above the rest.
pub(super) fn is_loud(noise: f64, median: f64) -> bool {
    noise >= 1.0 && noise >= 3.0 * median
}

/// The filter of lists for a row, or nothing where lists can't be filtered by its keys.
pub(super) fn filter(row: &Value, by: &str, answer: &Value) -> Option<Vec<(String, String)>> {
    let mut filter = Vec::new();
    let mut days = Period::of(answer).map(|period| (period.from, period.to))?;
    for key in by.split(',') {
        let value = row[key].as_str()?;
        match key {
            "type" | "channel" | "tenant" => filter.push((key.to_owned(), value.to_owned())),
            "day" => {
                let day: jiff::civil::Date = value.parse().ok()?;
                days = (day, day.tomorrow().ok()?);
            }
            _ => return None,
        }
    }
    filter.push(("from".to_owned(), format!("{}T00:00:00Z", days.0)));
    filter.push(("to".to_owned(), format!("{}T00:00:00Z", days.1)));
    Some(filter)
}

/// The sums of what may be added up.
pub(super) fn totals(rows: &Value) -> Shown {
    let sum = |column: Column| -> u64 {
        rows.as_array().into_iter().flatten().filter_map(|row| column.count(row)).sum()
    };
    context! { sent => sum(Column::Sent), failed => sum(Column::Failed) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn noise_is_of_a_thousand_told_and_loud_far_above_the_rest() {
        let row =
            |reached: u64, muted: u64| json!({"ended": {"delivered": reached}, "muted": muted});
        let rows = json!([row(10_000, 3), row(10_000, 29), row(10_000, 4), row(0, 0)]);
        assert_eq!(noise(&rows[1]).map(tenths).as_deref(), Some("2.9"));
        assert_eq!(noise(&rows[3]), None);
        let median = median_noise(&rows).unwrap();
        assert!(is_loud(2.9, median) && !is_loud(0.4, median) && !is_loud(0.9, 0.1));
        assert_eq!(median_noise(&json!([row(10, 9)])), None);
    }

    #[test]
    fn changes_are_in_per_cent_of_the_former() {
        for (now, before, text) in [
            (Some(150), Some(100), Some("+50\u{202f}%")),
            (Some(72), Some(100), Some("\u{2212}28\u{202f}%")),
            (Some(100), Some(100), Some("=")),
            (Some(3), Some(0), Some("new")),
            (Some(0), None, Some("=")),
            (Some(2), Some(3), Some("\u{2212}33\u{202f}%")),
            (None, Some(3), None),
        ] {
            assert_eq!(change(now, before).as_deref(), text, "{now:?} {before:?}");
        }
    }

    #[test]
    fn a_number_leads_to_the_list_of_what_it_counts() {
        let answer = json!({"from": "2026-11-01", "to": "2026-11-29"});
        let row =
            json!({"type": "a&b", "channel": "email", "day": "2026-11-07", "category": "work"});
        let filter_of = |by| filter(&row, by, &answer);
        let href = Column::Failed.href(&filter_of("type,channel").unwrap(), "/console").unwrap();
        assert_eq!(
            href,
            "/console/messages?type=a%26b&channel=email&from=2026-11-01T00%3A00%3A00Z&to=2026-11-29T00%3A00%3A00Z&state=failed"
        );
        let href = Column::Events.href(&filter_of("channel,day").unwrap(), "").unwrap();
        assert_eq!(href, "/events?from=2026-11-07T00%3A00%3A00Z&to=2026-11-08T00%3A00%3A00Z");
        assert_eq!(filter_of("category"), None);
        assert_eq!(Column::Noise.href(&[], ""), None);
    }

    #[test]
    fn a_page_of_some_measures_has_their_columns_alone() {
        let rows = json!([{"type": "a", "messages": {"sent": 1}, "muted": 0}]);
        let columns: Vec<Column> = Column::of(&rows).collect();
        assert_eq!(columns, [Column::Sent, Column::Failed, Column::Suppressed]);
    }
}
