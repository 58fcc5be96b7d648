//! What is known of a person at once: the calls behind the first sentences about them.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::verdict::{Facts, verdict};
use crate::call::Call;
use crate::console::Console;
use crate::problem::CallProblem;
use crate::sentence::Sentence;
use crate::viewer::Viewer;

/// The number of last events.
const EVENTS: &str = "20";

/// The answers of the calls about a person, beside their profile.
pub(crate) struct PersonFacts {
    /// What waits for them.
    pub(crate) pending: Value,
    /// Their preferences with the choices that they have.
    choices: Value,
    /// Their suppressed addresses.
    pub(crate) suppressions: Value,
    /// The messages that are due and not handed over yet.
    pub(crate) leaving: Value,
    /// Their last events.
    pub(crate) events: Value,
}

impl PersonFacts {
    /// Makes the calls about the person of a profile.
    ///
    /// # Errors
    /// The refusal of one of them.
    pub(crate) async fn read(
        console: &Console,
        viewer: &Viewer,
        profile: &Value,
    ) -> Result<Self, CallProblem> {
        let id = profile["id"].as_str().unwrap_or_default();
        let call = async |call: Call| console.call(viewer, call.about(id)).await;
        let choices = Call::get(&["recipients", id, "preferences"]).with("choices", "true");
        let leaving = Call::get(&["messages"])
            .with("recipient", id)
            .with("state", "planned")
            .with("state", "sending");
        let events = Call::get(&["events"]).with("recipient", id).with("limit", EVENTS);
        Ok(Self {
            pending: call(Call::get(&["recipients", id, "pending"])).await?,
            choices: call(choices).await?,
            suppressions: call(Call::get(&["suppressions"]).with("recipient", id)).await?,
            leaving: call(leaving).await?,
            events: call(events).await?,
        })
    }

    /// The sentences about what waits for a person, where nothing else of them is known.
    pub(crate) fn waiting(pending: &Value, now: Timestamp) -> Vec<Sentence> {
        let unknown = &Value::Null;
        verdict(&Facts {
            profile: unknown,
            choices: unknown,
            suppressions: unknown,
            pending,
            leaving: unknown,
            now,
            zone: None,
        })
    }

    /// The sentences about the person, the most important first. `zone` is theirs, if it is not the viewer's.
    pub(crate) fn sentences(
        &self,
        profile: &Value,
        now: Timestamp,
        zone: Option<&TimeZone>,
    ) -> Vec<Sentence> {
        verdict(&Facts {
            profile,
            choices: &self.choices["choices"],
            suppressions: &self.suppressions["suppressions"],
            pending: &self.pending,
            leaving: &self.leaving,
            now,
            zone,
        })
    }
}
