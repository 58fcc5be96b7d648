//! The body of an explanation: an event that was published, or a hypothetical one, and a recipient or none.

use serde::{Deserialize, Deserializer, Serialize};
use tidings_core::engine::ExplainSubject;
use tidings_core::{Id, Rules};
use utoipa::ToSchema;

use super::event::{BareId, EventBody, IdOr, id_or};
use super::fault::Fault;
use super::text::Text;

/// The event and the recipient of an explanation; without a recipient it is about the whole audience.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Explain, example = json!({"event": "e-1", "recipient": "ada"}))]
pub struct ExplainBody {
    /// Id of an event, or a hypothetical event in the form of a publish.
    event: EventInQuestion,
    /// Id of the recipient; absent = the whole audience.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false, min_length = 1, max_length = 256)]
    recipient: Option<Text<Id>>,
}

/// Id of an event, or an event that is not published.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
enum EventInQuestion {
    Id(BareId),
    Supposed(Box<EventBody>),
}

impl<'de> Deserialize<'de> for EventInQuestion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "the id of an event, or an event as it would be published";
        Ok(match id_or(deserializer, expected)? {
            IdOr::Id(id) => Self::Id(BareId(id)),
            IdOr::Object(event) => Self::Supposed(Box::new(event)),
        })
    }
}

impl ExplainBody {
    /// The event, and the recipient if it names one.
    ///
    /// # Errors
    /// As for a publish of a hypothetical event.
    pub fn question(self, rules: &Rules) -> Result<(ExplainSubject, Option<Id>), Fault> {
        let nameless = || Id::new("supposed").expect("a plain word is an id");
        let subject = match self.event {
            EventInQuestion::Id(BareId(id)) => ExplainSubject::Event(id),
            EventInQuestion::Supposed(event) => {
                ExplainSubject::Supposed(Box::new(event.event(rules, nameless)?))
            }
        };
        Ok((subject, self.recipient.map(|Text(id)| id)))
    }
}
