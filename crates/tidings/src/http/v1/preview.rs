//! A preview of the mail that a recipient gets next.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use tidings_core::batch_key::BatchKey;
use tidings_core::channel::EMAIL_NO;
use tidings_core::engine::Presenter;
use tidings_core::{Batch, Id};
use tidings_mail::{Design, RenderError};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::waiting::ScheduledCount;
use crate::http::call::Calls;
use crate::http::error::{Code, Problem};
use crate::http::request::InPath;
use crate::http::request::query::{FromQuery, InQuery, Parameters};
use crate::http::{Answer, Service};

/// The call that previews.
pub(super) fn calls(calls: Calls) -> Calls {
    calls.add("preview", routes!(preview))
}

/// A preview of the mail that a recipient gets next.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"mail": {"at": "2024-03-11T13:00:00Z", "lane": "digest:weekly", "entries": 1, "subject": "New works: Marilyn", "text": "Marilyn\n", "html": "<!DOCTYPE html>…", "source": "Date: …"}, "scheduled": null}))]
struct Preview {
    /// The mail; null = no open lane will become one.
    mail: Option<NextMail>,
    /// The scheduled entries, which are in no lane yet; null = none.
    scheduled: Option<ScheduledCount>,
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
    /// The whole mail, without a signature. Its ids and links differ from those of the mail that will be sent.
    source: String,
}

/// The query of a preview.
struct PreviewQuery {
    lane: Option<String>,
}

impl FromQuery for PreviewQuery {
    const KNOWN: &'static [&'static str] = &["lane"];

    fn read(query: &Parameters) -> Result<Self, Problem> {
        let lane = query.text("lane").map(str::to_owned);
        Ok(Self { lane })
    }
}

impl NextMail {
    fn of(batch: Batch, design: &Design) -> Result<Self, RenderError> {
        let (subject, bodies) = tidings_mail::content(&batch, design)?;
        let mail = tidings_mail::render(&batch, design)?;
        Ok(Self {
            at: batch.at.to_string(),
            lane: batch.lane,
            key: batch.key,
            entries: batch.entries,
            subject,
            text: bodies.text,
            html: bodies.html,
            source: String::from_utf8_lossy(&mail.bytes).into_owned(),
        })
    }
}

/// Preview the mail that a recipient gets next
///
/// Builds the mail of the lane that is due first, or of the named lane, with its pending entries and the configuration
/// in force. Scheduled entries are in no lane yet, and are counted separately. Nothing is sent or recorded.
#[utoipa::path(
    get, path = "/v1/recipients/{id}/preview", tag = "messages",
    params(
        ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
        ("lane" = Option<String>, Query, description = "Name of a lane, as `pending` lists it"),
    ),
    responses((status = 200, description = "The mail", body = Preview))
)]
async fn preview(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
    InQuery(PreviewQuery { lane }): InQuery<PreviewQuery>,
) -> Result<Answer, Problem> {
    let (design, now) = (service.design(), service.now());
    let preview = service
        .look(move |node| -> Result<_, Problem> {
            let (engine, view) = (node.engine(), node.view());
            let scheduled = ScheduledCount::of(&engine.reader(view).scheduled(&id)?);
            let next = engine.reader(view).next_message(&id, EMAIL_NO, now, lane.as_deref())?;
            let Some((plan, planned)) = next else {
                let mail = None;
                return Ok(Preview { mail, scheduled });
            };
            let batch = Presenter::new(engine, view).batch(&plan, &planned)?;
            let mail = batch
                .map(|batch| NextMail::of(batch, &design))
                .transpose()
                .map_err(|fault| Problem::new(Code::Internal, fault.to_string()))?;
            Ok(Preview { mail, scheduled })
        })
        .await??;
    Answer::json(StatusCode::OK, &preview)
}
