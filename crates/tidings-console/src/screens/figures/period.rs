//! The days of a page, in words, and those before them.

use jiff::ToSpan as _;
use jiff::civil::Date;
use serde_json::Value;

/// Days from one, to one that is not of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Period {
    pub(super) from: Date,
    pub(super) to: Date,
}

impl Period {
    /// The period that an answer says.
    pub(super) fn of(answer: &Value) -> Option<Self> {
        let date = |name: &str| answer[name].as_str()?.parse::<Date>().ok();
        let (from, to) = (date("from")?, date("to")?);
        (from < to).then_some(Self { from, to })
    }

    /// As many days right before it.
    pub(super) fn previous(&self) -> Option<Self> {
        let days = self.from.until(self.to).ok()?.get_days();
        Some(Self { from: self.from.checked_sub(days.days()).ok()?, to: self.from })
    }

    /// Its days in order.
    pub(super) fn days(&self) -> Vec<Date> {
        let mut days = Vec::new();
        let mut day = self.from;
        while day < self.to && days.len() < 4_000 {
            days.push(day);
            let Ok(next) = day.tomorrow() else { break };
            day = next;
        }
        days
    }

    /// "1 to 28 Nov 2026".
    pub(super) fn words(&self) -> String {
        let last = self.to.yesterday().unwrap_or(self.to);
        words(self.from, last)
    }
}

fn words(first: Date, last: Date) -> String {
    let end = last.strftime("%-d %b %Y").to_string();
    if first == last {
        return end;
    }
    let form = match (first.year() == last.year(), first.month() == last.month()) {
        (true, true) => "%-d",
        (true, false) => "%-d %b",
        _ => "%-d %b %Y",
    };
    format!("{} to {end}", first.strftime(form))
}

/// Days as ranges in words.
pub(super) fn ranges(days: &Value) -> Vec<String> {
    let days = days.as_array().into_iter().flatten();
    let mut ranges: Vec<(Date, Date)> = Vec::new();
    for day in days.filter_map(|day| day.as_str()?.parse::<Date>().ok()) {
        match ranges.last_mut() {
            Some((_, last)) if last.tomorrow().is_ok_and(|next| next == day) => *last = day,
            _ => ranges.push((day, day)),
        }
    }
    ranges.into_iter().map(|(first, last)| words(first, last)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn period(from: &str, to: &str) -> Period {
        Period::of(&json!({"from": from, "to": to})).unwrap()
    }

    #[test]
    fn a_period_is_said_without_repeating_itself() {
        for (from, to, words) in [
            ("2026-11-01", "2026-11-29", "1 to 28 Nov 2026"),
            ("2026-10-20", "2026-11-02", "20 Oct to 1 Nov 2026"),
            ("2025-12-30", "2026-01-03", "30 Dec 2025 to 2 Jan 2026"),
            ("2026-02-28", "2026-03-01", "28 Feb 2026"),
        ] {
            assert_eq!(period(from, to).words(), words);
        }
    }

    #[test]
    fn the_previous_period_has_as_many_days_and_ends_where_this_begins() {
        let previous = period("2026-03-01", "2026-03-29").previous().unwrap();
        assert_eq!(previous, period("2026-02-01", "2026-03-01"));
        assert_eq!(period("2026-11-28", "2026-11-29").days().len(), 1);
        assert_eq!(Period::of(&json!({"from": "2026-01-02", "to": "2026-01-02"})), None);
    }

    #[test]
    fn days_without_figures_are_ranges() {
        let days = json!(["2026-10-31", "2026-11-01", "2026-11-04"]);
        assert_eq!(ranges(&days), ["31 Oct to 1 Nov 2026", "4 Nov 2026"]);
        assert!(ranges(&Value::Null).is_empty());
    }
}
