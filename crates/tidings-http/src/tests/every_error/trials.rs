//! Errors of calls that try a change of the configuration.

use super::{Answered, Call, open};

/// The answers of calls to this error, where the server has to be in a state of its own for it.
pub(super) fn answers(code: &str, calls: &[&Call]) -> Option<Vec<Answered>> {
    if code != "config_unknown" {
        return None;
    }
    let (rig, _) = open();
    rig.service.trials.set_source(None);
    Some(calls.iter().map(|call| call.send(&rig)).collect())
}

/// The call, so changed that a server that is well answers this error.
pub(super) fn wrong(code: &str, call: &Call) -> Option<Call> {
    let with = |from: &str, to: &str| Some(call.with_body(&call.body.replace(from, to)));
    match code {
        "config_faults" => with("true", "7"),
        "key_not_editable" => with("types.note.urgent", "store.keep"),
        "unknown_channel" if call.path == "/v1/admin/compare" => {
            with("\"days\"", "\"channel\":\"none\",\"days\"")
        }
        _ => None,
    }
}
