//! The forms of events in one body: our own, and those of CloudEvents 1.0 over HTTP.

use std::borrow::Cow;

use axum::http::{HeaderMap, HeaderName};
use percent_encoding::percent_decode_str;
use serde::Serialize;
use serde_json::{Map, Value};
use tidings_api::body::Fields;
use tidings_api::body::cloud_event::{CloudEventAttributes, is_json, structured};
use tidings_config::wording::quoted;
use utoipa::ToSchema;

use crate::error::{Code, Problem};
use crate::request::content_type;

/// The content type of an event in structured mode.
pub(super) const STRUCTURED: &str = "application/cloudevents+json";
/// The content type of a batch.
pub(super) const BATCH: &str = "application/cloudevents-batch+json";

/// The headers of binary mode that are read.
const HEADERS: [&str; 6] =
    ["ce-specversion", "ce-id", "ce-source", "ce-type", "ce-time", "ce-traceparent"];

/// An event as a CloudEvent 1.0 in structured mode. Other attributes are ignored.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"specversion": "1.0", "id": "c-7", "source": "/reviews", "type": "comment", "data": {"actor": "ben", "object": {"id": "works/1", "title": "Water Lilies"}, "to": {"recipients": ["ada"]}}}))]
pub(crate) struct CloudEvent {
    /// The version of CloudEvents.
    #[schema(pattern = "^1\\.0$", example = "1.0")]
    specversion: String,
    /// Id of the event: the same id is the same event, whatever its `source`.
    #[schema(min_length = 1, max_length = 256)]
    id: String,
    /// The context in which it happened.
    #[schema(min_length = 1)]
    source: String,
    /// A type of the configuration.
    #[schema(min_length = 1, max_length = 256)]
    r#type: String,
    /// Time of the event: its `occurred_at`, unless `data` has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = "date-time")]
    time: Option<String>,
    /// The span that published it: its `trace`, unless `data` has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    traceparent: Option<String>,
    /// The body of a publish without `id` and `type`.
    data: Map<String, Value>,
}

/// The form of a body.
pub(super) enum BodyForm {
    /// An event, or an array of events.
    Own,
    /// An event in structured mode.
    Structured,
    /// An array of events in structured mode.
    Batch,
    /// The `data` of an event, whose attributes are headers.
    Binary {
        /// Its attributes.
        attributes: Box<CloudEventAttributes<'static>>,
        /// The content type of `data`: one of JSON, if it is given.
        content: Option<String>,
    },
}

impl BodyForm {
    /// The form of a request, by its headers.
    ///
    /// # Errors
    /// [`Code::UnsupportedMediaType`], [`Code::InvalidHeader`].
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, Problem> {
        let kind = content_type(headers)?;
        match kind.as_deref() {
            Some(STRUCTURED) => Ok(Self::Structured),
            Some(BATCH) => Ok(Self::Batch),
            Some(other) if other.starts_with("application/cloudevents") => {
                let detail = format!("CloudEvents are not read as {}", quoted(other));
                let hint = format!("Send `{STRUCTURED}`, or `{BATCH}` for an array.");
                Err(Problem::new(Code::UnsupportedMediaType, detail).hint(hint))
            }
            _ if HEADERS.iter().any(|name| headers.contains_key(*name)) => {
                let [version, id, source, event_type, time, trace] =
                    HEADERS.map(|name| header(headers, name));
                let attributes = Box::new(CloudEventAttributes {
                    version: version?,
                    id: id?,
                    source: source?,
                    event_type: event_type?,
                    time: time?,
                    trace: trace?,
                });
                let content = kind.filter(|kind| is_json(kind));
                Ok(Self::Binary { attributes, content })
            }
            _ => Ok(Self::Own),
        }
    }

    /// The content types of its body.
    pub(super) fn media(&self) -> Vec<&str> {
        match self {
            Self::Own => vec!["application/json"],
            Self::Binary { content, .. } => {
                let own = content.as_deref();
                own.into_iter().chain(["application/json"]).collect()
            }
            Self::Structured => vec![STRUCTURED],
            Self::Batch => vec![BATCH],
        }
    }

    /// Returns true if its body may be an object.
    pub(super) fn takes_one(&self) -> bool {
        !matches!(self, Self::Batch)
    }

    /// Returns true if its body may be an array.
    pub(super) fn takes_many(&self) -> bool {
        matches!(self, Self::Own | Self::Batch)
    }

    /// The body in words.
    pub(super) fn wanted(&self) -> &'static str {
        match self {
            Self::Own => "an object or an array of objects",
            Self::Structured | Self::Binary { .. } => "an object",
            Self::Batch => "an array of objects",
        }
    }

    /// The attributes that are not in the body, for the identity of the request.
    pub(super) fn bytes_of_attributes(&self) -> String {
        let Self::Binary { attributes, .. } = self else {
            return String::new();
        };
        let text = |value: &Option<Cow<'static, str>>| value.as_deref().map(str::to_owned);
        // No header has a line break.
        let named = [&attributes.id, &attributes.event_type]
            .map(|value| format!("\n{}", text(value).unwrap_or_default()))
            .concat();
        match text(&attributes.time) {
            Some(time) => format!("{named}\n{time}"),
            None => named,
        }
    }

    /// The fields of a publish that an event of this form holds.
    ///
    /// # Errors
    /// [`Code::InvalidBody`].
    pub(super) fn fields<'f>(&self, fields: Fields<'f>) -> Result<Fields<'f>, Problem> {
        let table = match self {
            Self::Own => return Ok(fields),
            Self::Structured | Self::Batch => structured(fields.into_table())?,
            Self::Binary { attributes, .. } => {
                let data = tidings_api::body::json::Json::Table(fields.into_table());
                let attributes = CloudEventAttributes::clone(attributes);
                attributes.with(Some(data), |name| format!("the header `ce-{name}`"))?
            }
        };
        Ok(Fields::new(table))
    }
}

/// The value of a header of binary mode: percent-encoded UTF-8.
fn header(headers: &HeaderMap, name: &'static str) -> Result<Option<Cow<'static, str>>, Problem> {
    let wrong = |what: &str| {
        let hint = "Write what is not ASCII percent-encoded, as UTF-8.";
        Problem::new(Code::InvalidHeader, format!("the header `{name}` {what}")).hint(hint)
    };
    let mut values = headers.get_all(HeaderName::from_static(name)).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(wrong("stands twice"));
    }
    let text = value.to_str().map_err(|_| wrong("is not ASCII"))?;
    let text = percent_decode_str(text).decode_utf8().map_err(|_| wrong("is not UTF-8"))?;
    Ok(Some(Cow::Owned(text.into_owned())))
}
