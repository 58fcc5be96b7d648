//! The content of messages as their readers see it, built again now.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use tidings_core::Id;
use tidings_core::content::Batch;
use tidings_core::engine::{BuiltContent, BuiltMessage, Refused};
use tidings_core::model::EMAIL;
use tidings_mail::Design;
use tidings_node::channel::{MessagePreview, preview};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::named;
use crate::call::Calls;
use crate::error::{Code, Problem};
use crate::request::InPath;
use crate::request::masked_values::{BatchMask, IsMasked};
use crate::{Answer, Service};

/// The call that builds a message again.
pub(in crate::v1) fn calls(calls: Calls) -> Calls {
    calls.add("preview_message", routes!(preview_message))
}

/// The content of a message as its reader sees it. Each channel has some of the fields.
#[derive(Default, Serialize, ToSchema)]
pub(in crate::v1) struct MessageContent {
    /// Subject of a mail; title of a push message, or of a card in Teams.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    subject: Option<String>,
    /// HTML of a mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    html: Option<String>,
    /// The words: the plain text of a mail, all of a text message with its link, the body of a webhook's request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    text: Option<String>,
    /// Number of parts of a text message that are paid for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    parts: Option<usize>,
}

impl From<MessagePreview> for MessageContent {
    fn from(preview: MessagePreview) -> Self {
        let MessagePreview { subject, html, text, parts, .. } = preview;
        Self { subject, html, text: Some(text), parts }
    }
}

/// A message as it looks, built again now.
#[derive(Serialize, ToSchema)]
#[schema(as = MessagePreview, example = json!({"channel": "sms", "text": "Ben commented on Marilyn\nhttps://art.example.org/works/1", "parts": 1, "same": true}))]
struct PreviewShown {
    /// Its channel.
    channel: &'static str,
    #[serde(flatten)]
    content: MessageContent,
    /// False if what was sent looked different: an object, the recipient or the configuration has changed since. Null
    /// if there is nothing to compare: the message is not built, has no notifications left, was not handed to a
    /// provider yet, or was by a version that kept no hash of its content.
    #[schema(required)]
    same: Option<bool>,
}

/// The design of a channel's messages.
pub(in crate::v1) fn design_of(service: &Service, channel: &str) -> Result<Design, Problem> {
    if channel == EMAIL {
        return Ok(service.design());
    }
    let design = Design::short(channel, &service.rules())
        .map_err(|fault| Problem::new(Code::Internal, fault.to_string()))?;
    Ok(match service.tokens() {
        Some(key) => design.linked(key.clone()),
        None => design,
    })
}

impl PreviewShown {
    fn of(built: BuiltMessage, service: &Service, is_masked: bool) -> Result<Self, Problem> {
        let BuiltMessage { channel, content, tried } = built;
        let gone = |why: &str| {
            let detail = format!("the message can't be built again: {why}");
            Problem::new(Code::MessageState, detail)
        };
        let batch = match content {
            BuiltContent::Batch(batch) => batch,
            BuiltContent::Empty => {
                return Ok(Self { channel, content: MessageContent::default(), same: None });
            }
            BuiltContent::Gone(why) => return Err(gone(why)),
        };
        let design = design_of(service, channel)?;
        let shown = |batch: &Batch, design: &Design| {
            preview(batch, design).map_err(|fault| gone(&fault.why))
        };
        let mut content = shown(&batch, &design)?;
        let same = tried.map(|tried| tried.hash == content.content);
        if is_masked {
            let masked = BatchMask::of(&service.rules()).masked(*batch);
            content = shown(&masked, &design.unlinked())?;
        }
        Ok(Self { channel, content: content.into(), same })
    }
}

/// Preview a message
///
/// Builds a message again from its notifications, as it looks now: with the objects, the recipient's name, locale and
/// zone, and the configuration of today. Of a message that is not built yet it is what would be built now. One without
/// notifications has only a channel. Nothing is sent or recorded.
#[utoipa::path(
    get, path = "/v1/messages/{id}/preview", tag = "messages",
    params(("id" = String, Path, description = "Message id", example = "2024-03-07.3.12.77", min_length = 1, max_length = 256)),
    responses((status = 200, description = "The message", body = PreviewShown))
)]
async fn preview_message(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
    IsMasked(is_masked): IsMasked,
) -> Result<Answer, Problem> {
    let name = named(&id)?;
    let of_node = Arc::clone(&service);
    let shown = service.look(move |node| -> Result<_, Problem> {
        let built = node.engine().reader(node.view()).built_again(name)?;
        PreviewShown::of(built.ok_or(Refused::UnknownMessage(name))?, &of_node, is_masked)
    });
    Answer::json(StatusCode::OK, &shown.await??)
}
