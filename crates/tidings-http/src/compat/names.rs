//! Names and paths of the calls that are taken for other products, and what to use in place of their other calls.

use tidings_core::rules::CompatCallRules;

use crate::error::{Code, Problem};

/// The names of the calls, for measurements.
pub(crate) const COMPAT: [&str; 2] = ["knock_trigger", "novu_trigger"];

/// The path of Novu's trigger. An event of this id has it too.
pub(crate) const NOVU_PATH: &str = "/v1/events/trigger";

/// Beginnings of Novu's other paths, each with the call that does the same here.
const NOVU_OTHERS: [(&str, &str); 9] = [
    ("/v1/events/trigger/bulk", "`POST /v1/events`, which takes many as well"),
    ("/v1/events/trigger/broadcast", "`POST /v1/events` with `\"to\": {\"everyone\": true}`"),
    ("/v1/events/trigger/", "`POST /v1/events/{id}/cancel`"),
    ("/v1/subscribers", "`/v1/recipients` and what is below it"),
    ("/v2/subscribers", "`/v1/recipients` and what is below it"),
    ("/v1/topics", "`PUT /v1/recipients/{id}/subscriptions/{topic}`"),
    ("/v2/topics", "`PUT /v1/recipients/{id}/subscriptions/{topic}`"),
    ("/v1/notifications", "`GET /v1/messages`"),
    ("/v1/messages", "`GET /v1/messages` with `Authorization: Bearer KEY`"),
];

/// The same of Knock's.
const KNOCK_OTHERS: [(&str, &str); 6] = [
    ("/v1/workflows/", "`POST /v1/cancel` with the `cancellation_key`"),
    ("/v1/users", "`/v1/recipients` and what is below it"),
    ("/v1/objects/", "`PUT /v1/recipients/{id}/subscriptions/{topic}` for its subscribers"),
    ("/v1/schedules", "`POST /v1/events` with `deliver_at` or `deliver_local`"),
    ("/v1/audiences", "`PUT /v1/recipients/{id}/subscriptions/{topic}`"),
    ("/v1/broadcasts", "`POST /v1/events` with `\"to\": {\"everyone\": true}`"),
];

/// The refusal of another call of Novu, whose clients name its scheme; `None` = Novu's calls are off, or it is the one
/// that is taken.
pub(crate) fn not_taken_of_novu(rules: CompatCallRules, path: &str) -> Option<Problem> {
    (rules.novu && path != NOVU_PATH).then(|| {
        let call = instead(&NOVU_OTHERS, path).unwrap_or("a call of `/v1/openapi.json`");
        not_taken("Novu", "`POST /v1/events/trigger`", call)
    })
}

/// The refusal of a path that is none of ours; `None` = it is no other product's that is on.
pub(crate) fn not_taken_path(rules: CompatCallRules, path: &str) -> Option<Problem> {
    let of_novu = || {
        let call = instead(&NOVU_OTHERS, path).filter(|_| rules.novu)?;
        Some(not_taken("Novu", "`POST /v1/events/trigger`", call))
    };
    let of_knock = || {
        let call = instead(&KNOCK_OTHERS, path).filter(|_| rules.knock)?;
        Some(not_taken("Knock", "`POST /v1/workflows/{key}/trigger`", call))
    };
    of_novu().or_else(of_knock)
}

fn instead(others: &[(&str, &'static str)], path: &str) -> Option<&'static str> {
    let mut all = others.iter();
    all.find(|(begin, _)| path.starts_with(begin)).map(|(_, call)| *call)
}

fn not_taken(product: &str, taken: &str, call: &str) -> Problem {
    let detail = format!("Of {product}'s calls only {taken} is taken.");
    Problem::new(Code::NotFound, detail).hint(format!("Use {call}."))
}
