//! Explanations: why a recipient got an event, or did not; and how many of its audience did, by rule.

mod audience;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use serde::Serialize;
use tidings_api::body::explain::ExplainBody;
use tidings_api::explained::Explained;
use tidings_core::engine::{ExplainError, ExplainSubject};
use utoipa::ToSchema;
use utoipa_axum::routes;

use self::audience::ExplainedAudience;
use crate::call::Calls;
use crate::error::{Code, Problem};
use crate::request::gather::OtherShards;
use crate::v1::tenants;
use crate::{Answer, Change, Service};

/// Maximum number of bytes of a body: an event of the largest size, written with escapes.
const BODY_BYTES_MAX: usize = 512 << 10;

/// An explanation for one recipient, or for the whole audience.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "describes what `explain` answers")]
enum Explanation {
    OfOne(Explained),
    OfAll(ExplainedAudience),
}

/// The call that explains.
pub(super) fn calls(calls: Calls) -> Calls {
    calls.add("explain", routes!(explain))
}

impl From<ExplainError> for Problem {
    fn from(why: ExplainError) -> Self {
        let code = match why {
            ExplainError::Unreadable(fault) => return fault.into(),
            ExplainError::Refused(refused) => return refused.into(),
            ExplainError::UnknownEvent(_) => Code::EventNotFound,
            ExplainError::UnknownRecipient(_) => Code::RecipientNotFound,
            ExplainError::UnknownTenant(_) => Code::UnknownTenant,
        };
        Self::new(code, why.to_string())
    }
}

/// Explain why recipients got an event, or did not
///
/// Returns the rules in their order, each with its inputs and its result, up to the message that carried the event or
/// the rule that ended it, as long as the day of the event's arrival is kept. Facts that are not stored, such as the
/// audience of that time, are shown as they are now, and marked so. An event in place of an id is hypothetical: the
/// answer shows its result if it were published now, and nothing is published. The body has at most 512 KiB.
///
/// Without a recipient the answer counts the whole audience by channel, outcome and reason. A hypothetical event is told
/// as at the end of the instant of its arrival: what would be sent is pending.
#[utoipa::path(
    post, path = "/v1/explain", tag = "events",
    request_body(content = ExplainBody, examples(
        ("published" = (value = json!({"event": "e-1", "recipient": "ada"}))),
        ("audience" = (value = json!({"event": "e-1"}))),
        ("supposed" = (value = json!({"event": {"type": "comment", "object": {"id": "works/1"}, "to": {"recipients": ["ada"]}}, "recipient": "ada"}))),
    )),
    responses((
        status = 200, description = "The rules in their order, or counts of the audience", body = Explanation,
        example = json!({"event": "e-1", "type": "comment", "supposed": false, "as_of": "2024-03-07T08:10:00Z", "concerned": 12, "notifications": 11, "channels": {"email": {"entries": 9, "pending": 9, "outcomes": {}, "reasons": {}, "left_out": {"preference": 3}}}})
    ))
)]
async fn explain(
    State(service): State<Arc<Service>>,
    others: OtherShards,
    request: Request,
) -> Result<Answer, Problem> {
    let (parts, body) = request.into_parts();
    let change = Change::read_within(&parts, body, &service, BODY_BYTES_MAX).await?;
    let body: ExplainBody = change.parse()?;
    let (subject, recipient) = body.question(&service.rules())?;
    if let ExplainSubject::Supposed(event) = &subject {
        tenants::known_if_named(&service, event.tenant.as_ref()).await?;
    }
    let Some(recipient) = recipient else {
        return audience::explain(&service, subject, &others, &change.body).await;
    };
    let home = service.shards.at_home(&recipient);
    home.map_err(|problem| problem.with_body(&change.body))?;
    let now = service.now();
    let explanation = service
        .look(move |node| -> Result<_, Problem> {
            Ok(node.engine().reader(node.view()).explain(subject, &recipient, now)?)
        })
        .await??;
    Answer::json(StatusCode::OK, &Explained::from(explanation))
}
