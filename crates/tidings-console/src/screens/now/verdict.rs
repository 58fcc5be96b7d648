//! The answer of the page: whether anybody waits too long, and why.

use minijinja::{Value as Shown, context};
use serde_json::Value;

use crate::page::spanned;
use crate::words::counted;

/// From this age on, in seconds, a message that is due waits too long.
const TOO_LONG: u64 = 60;

/// The answer, for its template.
pub(super) fn verdict(status: &Value, due: &Value) -> Shown {
    let overdue = due["sending"].as_u64().unwrap_or(0) + due["unmade"].as_u64().unwrap_or(0);
    let headline = Headline::of(status);
    context! {
        state => headline.state(), sentence => headline.sentence(), overdue,
        behind_ms => status["clock_behind_seconds"].as_u64().map(|behind| behind * 1_000),
    }
}

/// The first sentence of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Headline {
    /// Somebody waits too long. The age of the oldest message is in seconds.
    Waits { age: u64 },
    /// Nobody does yet, but so many providers are away.
    Away { providers: u64 },
    /// Nobody waits too long.
    Nobody { age: u64 },
    /// Nothing is due.
    Nothing,
}

impl Headline {
    /// The headline of a status.
    pub(crate) fn of(status: &Value) -> Self {
        let age = status["oldest_due_age_seconds"].as_u64();
        let providers = status["away"].as_array().map_or(0, |away| away.len() as u64);
        match age {
            Some(age) if age >= TOO_LONG => Self::Waits { age },
            _ if providers > 0 => Self::Away { providers },
            Some(age) => Self::Nobody { age },
            None => Self::Nothing,
        }
    }

    /// The word of its colour.
    const fn state(self) -> &'static str {
        match self {
            Self::Waits { .. } => "failed",
            Self::Away { .. } => "wait",
            Self::Nobody { .. } | Self::Nothing => "ok",
        }
    }

    /// The sentence.
    pub(crate) fn sentence(self) -> String {
        let ago = |age: u64| spanned(i64::try_from(age.saturating_mul(1_000)).unwrap_or(i64::MAX));
        match self {
            Self::Waits { age } => {
                format!("Somebody waits too long: the oldest message was due {} ago.", ago(age))
            }
            Self::Away { providers } => {
                let away = counted(providers, "provider is", "providers are");
                format!("Nobody waits too long yet, but {away} away.")
            }
            Self::Nobody { age } => {
                format!("Nobody waits too long. The oldest message was due {} ago.", ago(age))
            }
            Self::Nothing => "Nobody waits too long. Nothing is overdue.".to_owned(),
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
        for (age, away, state, sentence) in [
            (json!(null), json!([]), "ok", "Nobody waits too long. Nothing is overdue."),
            (
                json!(59),
                json!([]),
                "ok",
                "Nobody waits too long. The oldest message was due 59 s ago.",
            ),
            (
                json!(60),
                json!([]),
                "failed",
                "Somebody waits too long: the oldest message was due 1 min ago.",
            ),
            (json!(4), away.clone(), "wait", "Nobody waits too long yet, but 1 provider is away."),
            (
                json!(900),
                away,
                "failed",
                "Somebody waits too long: the oldest message was due 15 min ago.",
            ),
        ] {
            let status = json!({"oldest_due_age_seconds": age, "away": away});
            let shown = verdict(&status, &json!({"sending": 3, "unmade": 4}));
            let text = |name| shown.get_attr(name).unwrap().to_string();
            assert_eq!((text("state").as_str(), text("sentence").as_str()), (state, sentence));
            assert_eq!(text("overdue"), "7");
        }
    }
}
