//! The answer of the page: whether anybody waits too long, and why.

use minijinja::{Value as Shown, context};
use serde_json::Value;

/// From this age on, in seconds, a message that is due waits too long.
const TOO_LONG: u64 = 60;

/// The answer, for its template.
pub(super) fn verdict(status: &Value, due: &Value) -> Shown {
    let age = status["oldest_due_age_seconds"].as_u64();
    let away = status["away"].as_array().map_or(0, Vec::len);
    let overdue = due["sending"].as_u64().unwrap_or(0) + due["unmade"].as_u64().unwrap_or(0);
    let (state, headline) = match age {
        Some(age) if age >= TOO_LONG => ("failed", Headline::Waits),
        _ if away > 0 => ("wait", Headline::Away),
        Some(_) => ("ok", Headline::Nobody),
        None => ("ok", Headline::Nothing),
    };
    context! {
        state, headline => headline.name(), age_ms => age.map(|age| age * 1_000), away, overdue,
        behind_ms => status["clock_behind_seconds"].as_u64().map(|behind| behind * 1_000),
    }
}

/// The sentence.
#[derive(Clone, Copy)]
enum Headline {
    /// Somebody waits too long.
    Waits,
    /// Nobody does yet, but a provider is away.
    Away,
    /// Nobody waits too long.
    Nobody,
    /// Nothing is due.
    Nothing,
}

impl Headline {
    fn name(self) -> &'static str {
        match self {
            Self::Waits => "waits",
            Self::Away => "away",
            Self::Nobody => "nobody",
            Self::Nothing => "nothing",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_answer_is_no_until_a_message_is_a_minute_late() {
        let away = json!([{"channel": "email"}]);
        for (age, away, state, headline) in [
            (json!(null), json!([]), "ok", "nothing"),
            (json!(59), json!([]), "ok", "nobody"),
            (json!(60), json!([]), "failed", "waits"),
            (json!(4), away.clone(), "wait", "away"),
            (json!(900), away, "failed", "waits"),
        ] {
            let status = json!({"oldest_due_age_seconds": age, "away": away});
            let shown = verdict(&status, &json!({"sending": 3, "unmade": 4}));
            let text = |name| shown.get_attr(name).unwrap().to_string();
            assert_eq!((text("state").as_str(), text("headline").as_str()), (state, headline));
            assert_eq!(text("overdue"), "7");
        }
    }
}
