//! Explanations: why a recipient got an event, or did not.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use tidings_core::engine::{Subject, Unexplained};
use utoipa_axum::routes;

use super::tenants;
use crate::body::explain::ExplainBody;
use crate::explained::Explained;
use crate::http::call::Calls;
use crate::http::error::{Code, Problem};
use crate::http::{Answer, Change, Service};

/// Maximum number of bytes of a body: an event of the largest size, written with escapes.
const BODY_BYTES_MAX: usize = 512 << 10;

/// The call that explains.
pub(super) fn calls(calls: Calls) -> Calls {
    calls.add("explain", routes!(explain))
}

impl From<Unexplained> for Problem {
    fn from(why: Unexplained) -> Self {
        let code = match why {
            Unexplained::Unreadable(fault) => return fault.into(),
            Unexplained::UnknownEvent(_) => Code::EventNotFound,
            Unexplained::UnknownRecipient(_) => Code::RecipientNotFound,
            Unexplained::UnknownTenant(_) => Code::UnknownTenant,
        };
        Self::new(code, why.to_string())
    }
}

/// Explain why a recipient got an event, or did not
///
/// Returns the rules in their order, each with its inputs and its result, up to the message that carried the event or
/// the rule that ended it, as long as the day of the event's arrival is kept. Facts that are not stored, such as the
/// audience of that time, are shown as they are now, and marked so. An event in place of an id is hypothetical: the
/// answer shows its result if it were published now, and nothing is published. The body has at most 512 KiB.
#[utoipa::path(
    post, path = "/v1/explain", tag = "events",
    request_body(content = ExplainBody, examples(
        ("published" = (value = json!({"event": "e-1", "recipient": "ada"}))),
        ("supposed" = (value = json!({"event": {"type": "comment", "object": {"id": "works/1"}, "to": {"recipients": ["ada"]}}, "recipient": "ada"}))),
    )),
    responses((status = 200, description = "The rules in their order", body = Explained))
)]
async fn explain(State(service): State<Arc<Service>>, request: Request) -> Result<Answer, Problem> {
    let (parts, body) = request.into_parts();
    let change = Change::read_within(&parts, body, &service, BODY_BYTES_MAX).await?;
    let body: ExplainBody = change.parse()?;
    let (subject, recipient) = body.question(&service.rules())?;
    if let Subject::Supposed(event) = &subject {
        tenants::known_if_named(&service, event.tenant.as_ref()).await?;
    }
    let home = service.at_home(&recipient);
    home.map_err(|problem| problem.with_body(&change.body))?;
    let now = service.now();
    let explanation = service
        .look(move |node| -> Result<_, Problem> {
            Ok(node.engine().reader(node.view()).explain(subject, &recipient, now)?)
        })
        .await??;
    Answer::json(StatusCode::OK, &Explained::from(explanation))
}
