//! A preview of the message that a recipient gets next on a channel.

use std::sync::Arc;

use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::Serialize;
use tidings_core::Id;
use tidings_core::content::Batch;
use tidings_core::engine::Presenter;
use tidings_core::model::{BatchKey, ChannelNo, EMAIL_NO};
use tidings_mail::{Design, RenderError};
use tidings_node::channel::preview as shown;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::call::Calls;
use crate::error::{Code, Problem};
use crate::request::InPath;
use crate::request::masked_values::{BatchMask, IsMasked};
use crate::request::query::Parameters;
use crate::v1::messages::content::{MessageContent, design_of};
use crate::v1::waiting::ScheduledCount;
use crate::{Answer, Service};

/// The call that previews.
pub(super) fn calls(calls: Calls) -> Calls {
    calls.add("preview", routes!(preview))
}

/// A preview of what a recipient gets next.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"mail": {"at": "2024-03-11T13:00:00Z", "lane": "digest:weekly", "entries": 1, "subject": "New works: Marilyn", "text": "Marilyn\n", "html": "<!DOCTYPE html>…", "source": "Date: …"}, "scheduled": null}))]
struct Preview {
    /// The mail; null = no open lane will become one. Absent where a channel is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<NextMail>)]
    mail: Option<Option<NextMail>>,
    /// The message of the channel that is named; null = no open lane will become one. Absent where none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<NextMessage>)]
    message: Option<Option<NextMessage>>,
    /// The scheduled entries, which are in no lane yet; null = none.
    scheduled: Option<ScheduledCount>,
}

/// A message as a channel would send it if nothing else happened.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"at": "2024-03-07T08:07:00Z", "channel": "sms", "lane": "cooldown", "entries": 1, "text": "Ben commented on Marilyn", "parts": 1}))]
struct NextMessage {
    /// Due time, or now if that has passed.
    #[schema(format = "date-time")]
    at: String,
    /// The channel.
    channel: String,
    /// Name of the lane.
    lane: String,
    /// Batch key of the lane; left out where it is empty.
    #[serde(skip_serializing_if = "BatchKey::is_empty")]
    #[schema(value_type = Option<String>)]
    key: BatchKey,
    /// Tenant of the notifications; left out where they are of none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    tenant: Option<Id>,
    /// Number of notifications in the message.
    entries: usize,
    #[serde(flatten)]
    content: MessageContent,
    /// The page that it opens, where its text doesn't have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    url: Option<String>,
    /// The whole mail, without a signature. Its ids and links differ from those of the mail that will be sent. Left out
    /// of other messages, and where the recipient has no address that mail can be sent to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    source: Option<String>,
}

/// A mail as it would be sent if nothing else happened.
#[derive(Serialize, ToSchema)]
struct NextMail {
    /// Due time, or now if that has passed.
    #[schema(format = "date-time")]
    at: String,
    /// Name of the lane.
    lane: String,
    /// Batch key of the lane; left out where it is empty.
    #[serde(skip_serializing_if = "BatchKey::is_empty")]
    #[schema(value_type = Option<String>)]
    key: BatchKey,
    /// Number of notifications in the mail.
    entries: usize,
    /// The subject.
    subject: String,
    /// The plain text.
    text: String,
    /// The HTML.
    html: String,
    /// The whole mail, without a signature. Its ids and links differ from those of the mail that will be sent. Left out
    /// where the recipient has no address that mail can be sent to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    source: Option<String>,
}

/// The query of a preview.
struct PreviewQuery {
    channel: Option<ChannelNo>,
    lane: Option<String>,
}

impl FromRequestParts<Arc<Service>> for PreviewQuery {
    type Rejection = Problem;

    async fn from_request_parts(
        parts: &mut Parts,
        service: &Arc<Service>,
    ) -> Result<Self, Problem> {
        let query = Parameters::of(parts, service).await?;
        query.only(&["channel", "lane"], &[])?;
        let channel = query.sending_channel("channel", &service.rules())?;
        let lane = query.text("lane").map(str::to_owned);
        Ok(Self { channel, lane })
    }
}

impl NextMail {
    fn of(batch: Batch, design: &Design) -> Result<Self, RenderError> {
        let (subject, bodies) = tidings_mail::content(&batch, design)?;
        let source = mail_source(&batch, design)?;
        Ok(Self {
            at: batch.at.to_string(),
            lane: batch.lane,
            key: batch.key,
            entries: batch.entries,
            subject,
            text: bodies.text,
            html: bodies.html,
            source,
        })
    }
}

/// The whole mail; `None` = the recipient has no address that mail can be sent to.
fn mail_source(batch: &Batch, design: &Design) -> Result<Option<String>, RenderError> {
    match tidings_mail::render(batch, design) {
        Ok(mail) => Ok(Some(String::from_utf8_lossy(&mail.bytes).into_owned())),
        Err(RenderError::NoAddress | RenderError::Address) => Ok(None),
        Err(fault) => Err(fault),
    }
}

impl NextMessage {
    fn of(batch: &Batch, design: &Design) -> Result<Self, Problem> {
        let fault = |why: String| Problem::new(Code::Internal, why);
        let next = shown(batch, design).map_err(|unrenderable| fault(unrenderable.why))?;
        let is_mail = next.html.is_some();
        let source = if is_mail { mail_source(batch, design) } else { Ok(None) };
        let source = source.map_err(|unrenderable| fault(unrenderable.to_string()))?;
        Ok(Self {
            at: batch.at.to_string(),
            channel: batch.channel.clone(),
            lane: batch.lane.clone(),
            key: batch.key.clone(),
            tenant: batch.tenant.as_ref().map(|tenant| tenant.id.clone()),
            entries: batch.entries,
            url: next.url.clone(),
            content: next.into(),
            source,
        })
    }
}

/// Preview what a recipient gets next
///
/// Builds the message of a channel whose lane is due first, or of the named lane, with its pending entries and the
/// configuration in force. Without `channel` it is the mail, as `mail`. Scheduled entries are in no lane yet, and are
/// counted separately. Nothing is sent or recorded.
#[utoipa::path(
    get, path = "/v1/recipients/{id}/preview", tag = "messages",
    params(
        ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
        ("channel" = Option<String>, Query, description = "A channel of the configuration other than `inbox`"),
        ("lane" = Option<String>, Query, description = "Name of a lane, as `pending` lists it"),
    ),
    responses((status = 200, description = "The message", body = Preview))
)]
async fn preview(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
    PreviewQuery { channel, lane }: PreviewQuery,
    IsMasked(is_masked): IsMasked,
) -> Result<Answer, Problem> {
    let number = channel.unwrap_or(EMAIL_NO);
    let (of_node, now) = (Arc::clone(&service), service.now());
    let preview = service
        .look(move |node| -> Result<_, Problem> {
            let (engine, view) = (node.engine(), node.view());
            let scheduled = ScheduledCount::of(&engine.reader(view).scheduled(&id)?);
            let next = engine.reader(view).next_message(&id, number, now, lane.as_deref())?;
            let mut batch = match next {
                Some((plan, planned)) => Presenter::new(engine, view).batch(&plan, &planned)?,
                None => None,
            };
            let mut design = design_of(&of_node, number.name())?;
            if is_masked {
                let mask = BatchMask::of(&of_node.rules());
                design = design.unlinked();
                batch = batch.map(|batch| mask.masked(batch));
            }
            if channel.is_some() {
                let message = batch.map(|batch| NextMessage::of(&batch, &design)).transpose()?;
                return Ok(Preview { mail: None, message: Some(message), scheduled });
            }
            let mail = batch
                .map(|batch| NextMail::of(batch, &design))
                .transpose()
                .map_err(|fault| Problem::new(Code::Internal, fault.to_string()))?;
            Ok(Preview { mail: Some(mail), message: None, scheduled })
        })
        .await??;
    Answer::json(StatusCode::OK, &preview)
}
