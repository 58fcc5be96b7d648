//! The last 28 days of a type: one number a day, for its lines.

use jiff::civil::Date;
use serde_json::Value;

/// The figures of some days, by day.
pub(super) struct DayCounts<'f> {
    figures: &'f Value,
    days: Vec<String>,
}

impl<'f> DayCounts<'f> {
    /// The days of an answer of figures by day.
    pub(super) fn of(figures: &'f Value) -> Self {
        let date = |name: &str| figures[name].as_str().and_then(|day| day.parse::<Date>().ok());
        let mut days = Vec::new();
        if let (Some(mut day), Some(to)) = (date("from"), date("to")) {
            while day < to && days.len() < 400 {
                days.push(day.to_string());
                let Ok(next) = day.tomorrow() else { break };
                day = next;
            }
        }
        Self { figures, days }
    }

    /// A measure, named by the path to it, of each day; nothing where the day isn't known. Rows are those of a type, if
    /// the answer is by type as well.
    pub(super) fn of_measure(&self, kind: Option<&str>, measure: &[&str]) -> Vec<Option<u64>> {
        let without = &self.figures["days_without"];
        let is_unknown =
            |day: &str| without.as_array().into_iter().flatten().any(|unknown| unknown == day);
        self.days
            .iter()
            .map(|day| {
                if is_unknown(day) {
                    return None;
                }
                let rows = self.figures["rows"].as_array().into_iter().flatten();
                let row = rows
                    .filter(|row| row["day"] == day.as_str())
                    .find(|row| kind.is_none_or(|kind| row["type"] == kind));
                let number = row
                    .and_then(|row| measure.iter().fold(row, |value, name| &value[*name]).as_u64());
                // Days without anything have no row.
                Some(number.unwrap_or_default())
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn days_without_a_row_are_zero_and_unknown_days_are_gaps() {
        let figures = json!({
            "from": "2026-11-25", "to": "2026-11-29", "days_without": ["2026-11-25"],
            "rows": [
                {"day": "2026-11-27", "type": "a", "messages": {"sent": 4}},
                {"day": "2026-11-27", "type": "b", "messages": {"sent": 5}},
            ],
        });
        let days = DayCounts::of(&figures);
        assert_eq!(
            days.of_measure(Some("b"), &["messages", "sent"]),
            [None, Some(0), Some(5), Some(0)]
        );
        assert_eq!(
            days.of_measure(Some("c"), &["messages", "sent"]),
            [None, Some(0), Some(0), Some(0)]
        );
    }
}
