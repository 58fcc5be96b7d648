//! A few events under a policy, for its picture.

use serde_json::Value;

use super::policy::duration_ms;
use crate::plot::Example;

/// The instant at which the picture of a policy begins.
const BEGIN: f64 = 0.04;

/// The width that a longest wait takes.
const WIDE: f64 = 0.86;

/// The example of a policy.
pub(super) fn example(policy: &Value) -> Example {
    let ms = |name: &str| policy[name].as_str().and_then(duration_ms);
    match policy["policy"].as_str().unwrap_or_default() {
        "now" => {
            let arrivals = vec![0.1, 0.4, 0.55];
            Example { messages: arrivals.clone(), waits: Vec::new(), arrivals }
        }
        "first_event" => waiting(vec![BEGIN, 0.3, 0.45], 0.75),
        "cooldown" => cooldown(ms("quiet").unwrap_or(1), ms("max_wait")),
        "leading" => Example {
            arrivals: vec![BEGIN, 0.25, 0.4],
            waits: vec![(0.25, 0.75)],
            messages: vec![BEGIN, 0.75],
        },
        "digest" => waiting(vec![0.1, 0.35, 0.6], 0.94),
        _ => Example { arrivals: vec![0.1, 0.4, 0.55], ..Example::default() },
    }
}

/// Events that wait from the first on for one message.
fn waiting(arrivals: Vec<f64>, message: f64) -> Example {
    let first = arrivals.first().copied().unwrap_or(message);
    Example { arrivals, waits: vec![(first, message)], messages: vec![message] }
}

/// Three events, each within the quiet time of the one before: the message goes when it was quiet, or after the longest
/// wait. The picture has their true proportion.
#[expect(clippy::cast_precision_loss, reason = "a picture has some hundreds of pixels")]
fn cooldown(quiet: u64, max_wait: Option<u64>) -> Example {
    let (quiet, most) = (quiet.max(1) as f64, max_wait.map(|most| most as f64));
    let whole = most.unwrap_or(3.0 * quiet).max(quiet);
    let place = |ms: f64| BEGIN + WIDE * ms / whole;
    let steps = [0.0, 0.5 * quiet, 1.25 * quiet];
    let due = (2.25 * quiet).min(most.unwrap_or(f64::INFINITY));
    let arrivals: Vec<f64> = steps.into_iter().filter(|at| *at < due).map(place).collect();
    waiting(arrivals, place(due))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_cooldown_goes_out_when_it_was_quiet_or_after_its_longest_wait() {
        let long = example(&json!({"policy": "cooldown", "quiet": "4m", "max_wait": "40m"}));
        assert_eq!(long.arrivals.len(), 3);
        assert!((long.messages[0] - (BEGIN + WIDE * 9.0 / 40.0)).abs() < 1e-9, "{long:?}");
        let short = example(&json!({"policy": "cooldown", "quiet": "4m", "max_wait": "4m"}));
        assert_eq!((short.arrivals.len(), short.messages.len()), (2, 1));
        assert!((short.messages[0] - (BEGIN + WIDE)).abs() < 1e-9, "{short:?}");
    }

    #[test]
    fn what_is_never_sent_has_no_message() {
        assert!(example(&json!({"policy": "never"})).messages.is_empty());
    }
}
