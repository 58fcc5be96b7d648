//! CloudEvents 1.0: the envelope of an event, whose `type`, `id`, `time` and `data` make the body of a publish, with the
//! extension `traceparent` of distributed tracing.
//!
//! `source`, `subject` and other extensions are for routers: they are checked and ignored.

use std::borrow::Cow;

use tidings_config::wording::quoted;

use super::fault::Fault;
use super::json::{Json, JsonObject};

/// The supported version.
const VERSION: &str = "1.0";

/// The attributes that are texts, required or not.
const TEXTS: [(&str, bool); 8] = [
    ("specversion", true),
    ("id", true),
    ("source", true),
    ("type", true),
    ("datacontenttype", false),
    ("subject", false),
    ("time", false),
    ("traceparent", false),
];

/// The fields of a publish that an event in structured mode holds.
///
/// # Errors
/// It is no CloudEvent, or its `data` is no body of a publish.
pub fn structured(mut event: JsonObject<'_>) -> Result<JsonObject<'_>, Fault> {
    for (name, value) in &event {
        if name == "data_base64" {
            let hint = "send `data` as a JSON object";
            return Err(Fault::new("`data_base64` can't be read", hint));
        }
        let is_name = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if !is_name || name.is_empty() {
            let reason = format!("{} is no name of an attribute of CloudEvents", quoted(name));
            let hint = "names are small letters and digits; what is published stands in `data`";
            return Err(Fault::new(reason, hint));
        }
        let is_text = name != "data" && TEXTS.iter().any(|(known, _)| known == name);
        if is_text && !matches!(value, Json::Text(_)) {
            let reason = format!("`{name}` must be a string, got {}", value.kind());
            return Err(Fault::new(reason, "write it in quotes"));
        }
    }
    let mut take = |name: &str| {
        let at = event.iter().position(|(key, _)| key == name)?;
        Some(event.swap_remove(at).1)
    };
    let mut text = |name: &str| match take(name) {
        Some(Json::Text(text)) => Some(text),
        _ => None,
    };
    let attributes = CloudEventAttributes {
        version: text("specversion"),
        id: text("id"),
        source: text("source"),
        event_type: text("type"),
        time: text("time"),
        trace: text("traceparent"),
    };
    if let Some(content) = text("datacontenttype")
        && !is_json(&content)
    {
        let reason = format!("`datacontenttype` is {}, which can't be read", quoted(&content));
        return Err(Fault::new(reason, "send `application/json`, or leave it out"));
    }
    let data = take("data");
    attributes.with(data, |name| format!("`{name}`"))
}

/// The attributes of an event that are read.
#[derive(Clone)]
pub struct CloudEventAttributes<'a> {
    /// `specversion`.
    pub version: Option<Cow<'a, str>>,
    /// `id`.
    pub id: Option<Cow<'a, str>>,
    /// `source`.
    pub source: Option<Cow<'a, str>>,
    /// `type`.
    pub event_type: Option<Cow<'a, str>>,
    /// `time`.
    pub time: Option<Cow<'a, str>>,
    /// The extension `traceparent`.
    pub trace: Option<Cow<'a, str>>,
}

impl<'a> CloudEventAttributes<'a> {
    /// The fields of a publish: the attributes and `data`; `shown` is how an attribute is named in faults.
    ///
    /// # Errors
    /// An attribute is missing or of another version, or `data` is no body of a publish.
    pub fn with(
        self,
        data: Option<Json<'a>>,
        shown: impl Fn(&str) -> String,
    ) -> Result<JsonObject<'a>, Fault> {
        let missing = |name: &str| {
            let hint = format!("add {}, as CloudEvents 1.0 requires", shown(name));
            Fault::new(format!("{} is missing", shown(name)), hint)
        };
        let version = self.version.ok_or_else(|| missing("specversion"))?;
        if version != VERSION {
            let reason =
                format!("{} must be `{VERSION}`, got {}", shown("specversion"), quoted(&version));
            return Err(Fault::new(reason, "send CloudEvents 1.0"));
        }
        let source = self.source.filter(|source| !source.is_empty());
        source.ok_or_else(|| missing("source"))?;
        let id = self.id.ok_or_else(|| missing("id"))?;
        let event_type = self.event_type.ok_or_else(|| missing("type"))?;
        let mut fields = match data {
            Some(Json::Table(fields)) => fields,
            Some(other) => {
                let reason = format!("`data` must be an object, got {}", other.kind());
                return Err(Fault::new(reason, EXAMPLE));
            }
            None => return Err(Fault::new("`data` is missing", EXAMPLE)),
        };
        for name in ["id", "type"] {
            if fields.iter().any(|(key, _)| key == name) {
                let reason = format!("`data` has `{name}`, and so has the event around it");
                let hint = format!("leave it out of `data`: {} is taken", shown(name));
                return Err(Fault::new(reason, hint));
            }
        }
        // What `data` says itself is nearer.
        for (name, value) in [("occurred_at", self.time), ("trace", self.trace)] {
            let is_there = fields.iter().any(|(key, _)| key == name);
            let value = value.filter(|_| !is_there);
            fields.extend(value.map(|value| (Cow::Borrowed(name), Json::Text(value))));
        }
        fields.push((Cow::Borrowed("id"), Json::Text(id)));
        fields.push((Cow::Borrowed("type"), Json::Text(event_type)));
        Ok(fields)
    }
}

const EXAMPLE: &str =
    "Example: {\"object\": {\"id\": \"works/1\"}, \"to\": {\"recipients\": [\"ada\"]}}";

/// Returns true if a content type is JSON (JSON format 1.0.2, section 3.1.1).
#[must_use]
pub fn is_json(content: &str) -> bool {
    let kind = content.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind.split_once('/').is_some_and(|(_, subtype)| subtype == "json" || subtype.ends_with("+json"))
}
