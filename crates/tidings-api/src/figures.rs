//! Figures as they are shown: the same rows over HTTP and from `simulate`, and as CSV.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;
use serde_json::Value;
use tidings_core::engine::{
    Delays, FigureRow, FigureValues, FiguresQuery, FiguresReport, GroupBy, Measure,
};
use utoipa::ToSchema;

/// A part of a row's name: absent = it was not asked for, null = there is none.
type RowNamePart = Option<Option<String>>;

/// Figures of some days.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"from": "2026-11-01", "to": "2026-11-29", "zone": "UTC", "complete_to": "2026-11-28T14:00:00Z", "days_without": [], "rows": [{"day": "2026-11-01", "type": "comment", "items": 3120, "messages": {"sent": 2904, "failed": 9, "unknown": 0, "suppressed": 17, "cancelled": 2}, "delay": {"n": 3120, "p50_ms": 281000, "p95_ms": 812000}}]}))]
pub struct Figures {
    /// First day.
    #[schema(format = Date)]
    from: String,
    /// The day after the last.
    #[schema(format = Date)]
    to: String,
    /// The zone of days and hours.
    zone: &'static str,
    /// Time up to which all shards have counted; null = nothing has happened yet.
    #[schema(format = "date-time")]
    complete_to: Option<String>,
    /// Days whose rows are not kept, or on which counting had not begun.
    days_without: Vec<String>,
    /// The rows, in the order of `by`, without those of zeros.
    pub rows: Vec<FiguresRow>,
}

/// A row of figures: the parts of its name that `by` gives, and the measures that were asked for.
#[derive(Default, Serialize, ToSchema)]
pub struct FiguresRow {
    /// Day in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = Date, nullable = false)]
    day: RowNamePart,
    /// Hour in UTC, by its beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = "date-time", nullable = false)]
    hour: RowNamePart,
    /// Type.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    r#type: RowNamePart,
    /// Category of the type as it is configured now; null = the type is not configured any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    category: RowNamePart,
    /// Channel; null = what is counted once an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    channel: RowNamePart,
    /// Tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    tenant: RowNamePart,
    /// Accepted events, on the day of their arrival; null = a channel is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    events: Option<Option<u64>>,
    /// Pairs of an event and a recipient with an entry, on the day of the event's arrival; null = a channel is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    notifications: Option<Option<u64>>,
    /// Entries (a notification on a channel), on the day on which they entered their lane.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    entries: Option<u64>,
    /// Of these entries, those that ended, by outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    ended: Option<BTreeMap<&'static str, u64>>,
    /// Of these entries, those that were not delivered, by reason; reasons without one are absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reasons: Option<BTreeMap<&'static str, u64>>,
    /// Messages by final state, on the day on which they were due, for the type of their first entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    messages: Option<BTreeMap<&'static str, u64>>,
    /// Entries that messages told, on the day on which the message was due.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    items: Option<u64>,
    /// Messages that were sent again after an unknown outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    resent: Option<u64>,
    /// Messages of which providers reported something later, once each.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reported: Option<BTreeMap<&'static str, u64>>,
    /// Times that a user, or a link, set `never` and it reached the type, on the day of the choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    muted: Option<u64>,
    /// Inbox items that were seen, on the day of their entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    seen: Option<u64>,
    /// Inbox items that were read, on the day of their entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    read: Option<u64>,
    /// Time from an entry's `t` to being sent, of told items.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    delay: Option<Durations>,
    /// Time from being told to being seen first, of inbox items.
    #[serde(rename = "told_to_seen", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    time_to_seen: Option<Durations>,
}

/// Durations, each within 5 %.
#[derive(Serialize, ToSchema)]
struct Durations {
    /// Number of them.
    n: u64,
    /// The median, in milliseconds; null = there are none.
    p50_ms: Option<i64>,
    /// The 95th percentile, in milliseconds; null = there are none.
    p95_ms: Option<i64>,
}

impl From<Delays> for Durations {
    fn from(Delays { n, p50_ms, p95_ms }: Delays) -> Self {
        Self { n, p50_ms, p95_ms }
    }
}

impl Figures {
    /// The answer to a query.
    #[must_use]
    pub fn of(query: &FiguresQuery, report: FiguresReport) -> Self {
        let days = report.days_without.iter();
        Self {
            from: query.days.start.to_string(),
            to: query.days.end.to_string(),
            zone: "UTC",
            complete_to: report.complete_to.map(|instant| instant.to_string()),
            days_without: days.map(ToString::to_string).collect(),
            rows: FiguresRow::all(&query.by, report.rows),
        }
    }
}

impl FiguresRow {
    /// Rows whose names have these parts.
    #[must_use]
    pub fn all(by: &[GroupBy], rows: Vec<FigureRow>) -> Vec<Self> {
        rows.into_iter().map(|row| Self::of(by, row)).collect()
    }

    fn of(by: &[GroupBy], row: FigureRow) -> Self {
        let mut shown = Self::default();
        for (by, value) in by.iter().zip(row.of) {
            let part = match by {
                GroupBy::Day => &mut shown.day,
                GroupBy::Hour => &mut shown.hour,
                GroupBy::Type => &mut shown.r#type,
                GroupBy::Category => &mut shown.category,
                GroupBy::Channel => &mut shown.channel,
                GroupBy::Tenant => &mut shown.tenant,
            };
            *part = Some(value);
        }
        for (measure, value) in row.values {
            shown.set(measure, value);
        }
        shown
    }

    fn set(&mut self, measure: Measure, value: Option<FigureValues>) {
        match (measure, value) {
            (Measure::Events, value) => self.events = Some(value.as_ref().and_then(count)),
            (Measure::Notifications, value) => {
                self.notifications = Some(value.as_ref().and_then(count));
            }
            (_, None) => {}
            (Measure::Ended, Some(FigureValues::Counts(counts))) => {
                self.ended = Some(counts.into_iter().collect());
            }
            (Measure::Reasons, Some(FigureValues::Counts(counts))) => {
                let some = counts.into_iter().filter(|(_, count)| *count > 0);
                self.reasons = Some(some.collect());
            }
            (Measure::Messages, Some(FigureValues::Counts(counts))) => {
                self.messages = Some(counts.into_iter().collect());
            }
            (Measure::Reported, Some(FigureValues::Counts(counts))) => {
                self.reported = Some(counts.into_iter().collect());
            }
            (Measure::Delay, Some(FigureValues::Delays(delays))) => {
                self.delay = Some(delays.into());
            }
            (Measure::TimeToSeen, Some(FigureValues::Delays(delays))) => {
                self.time_to_seen = Some(delays.into());
            }
            (Measure::Entries, Some(value)) => self.entries = count(&value),
            (Measure::Items, Some(value)) => self.items = count(&value),
            (Measure::Resent, Some(value)) => self.resent = count(&value),
            (Measure::Muted, Some(value)) => self.muted = count(&value),
            (Measure::Seen, Some(value)) => self.seen = count(&value),
            (Measure::Read, Some(value)) => self.read = count(&value),
            (_, Some(_)) => {}
        }
    }
}

fn count(value: &FigureValues) -> Option<u64> {
    match value {
        FigureValues::Count(count) => Some(*count),
        FigureValues::Counts(_) | FigureValues::Delays(_) => None,
    }
}

/// Rows, as they are in an answer, as CSV (RFC 4180), after a header: a column for each part of their names, and for each
/// number.
///
/// # Errors
/// [`io::Error`]: never while a buffer is written.
pub fn csv(by: &[GroupBy], measures: &[Measure], rows: &[Value]) -> io::Result<Vec<u8>> {
    let mut writer =
        csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    let columns = columns(measures);
    let parts = by.iter().map(|by| by.word());
    writer.write_record(parts.chain(columns.iter().map(String::as_str)))?;
    for row in rows {
        let parts = by.iter().map(|by| text(row[by.word()].as_str().unwrap_or_default()));
        writer.write_record(parts.chain(columns.iter().map(|column| number(row, column))))?;
    }
    writer.into_inner().map_err(|fault| io::Error::other(fault.to_string()))
}

/// The titles of the columns of measures, such as `messages.sent`.
#[must_use]
pub fn columns(measures: &[Measure]) -> Vec<String> {
    let of = |measure: &Measure| {
        let word = measure.word();
        let below = |of: &str| format!("{word}.{of}");
        match measure.of_nothing() {
            FigureValues::Count(_) => vec![word.to_owned()],
            FigureValues::Counts(counts) => counts.iter().map(|(of, _)| below(of)).collect(),
            FigureValues::Delays(_) => ["n", "p50_ms", "p95_ms"].map(below).into(),
        }
    };
    measures.iter().flat_map(of).collect()
}

/// The number of a column in a row of an answer; empty for null.
#[must_use]
pub fn number(row: &Value, column: &str) -> String {
    let number = match column.split_once('.') {
        // A word that is not there was not counted.
        Some((measure, word)) => row[measure].get(word).map_or(Value::from(0), Clone::clone),
        None => row[column].clone(),
    };
    if number.is_null() { String::new() } else { number.to_string() }
}

/// A text that no program for tables takes for a formula.
fn text(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_table_has_a_header_its_own_line_ends_and_no_formulas() {
        let rows = json!([
            {"type": "=1+1", "category": null, "events": null, "items": 3, "reasons": {"stale": 2},
             "delay": {"n": 0, "p50_ms": null, "p95_ms": null}},
            {"type": "a,\"b\"", "category": "-x", "events": 4, "items": 3, "reasons": {},
             "delay": {"n": 1, "p50_ms": 5, "p95_ms": 6}},
            {"type": "c\nd", "category": "e", "events": 0, "items": 0, "reasons": {},
             "delay": {"n": 0, "p50_ms": null, "p95_ms": null}},
        ]);
        let by = [GroupBy::Type, GroupBy::Category];
        let measures = [Measure::Events, Measure::Items, Measure::Delay];
        let table = csv(&by, &measures, rows.as_array().unwrap()).unwrap();
        assert_eq!(
            String::from_utf8(table).unwrap(),
            "type,category,events,items,delay.n,delay.p50_ms,delay.p95_ms\r\n\
             '=1+1,,,3,0,,\r\n\
             \"a,\"\"b\"\"\",'-x,4,3,1,5,6\r\n\
             \"c\nd\",e,0,0,0,,\r\n"
        );
        assert_eq!(number(&rows[0], "reasons.stale"), "2");
        assert_eq!(number(&rows[1], "reasons.stale"), "0");
    }

    #[test]
    fn a_row_has_what_was_asked_for() {
        let row = FigureRow {
            of: vec![Some("2026-11-01".to_owned()), None],
            values: vec![
                (Measure::Events, None),
                (Measure::Seen, Some(FigureValues::Count(0))),
                (Measure::Reasons, Some(FigureValues::Counts(vec![("stale", 2), ("seen", 0)]))),
            ],
        };
        let row = FiguresRow::of(&[GroupBy::Day, GroupBy::Category], row);
        let shown = serde_json::to_string(&row).unwrap();
        let expected =
            r#"{"day":"2026-11-01","category":null,"events":null,"reasons":{"stale":2},"seen":0}"#;
        assert_eq!(shown, expected);
    }
}
