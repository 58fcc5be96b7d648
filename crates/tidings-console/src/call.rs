//! Calls of the API as the console writes them: segments of paths are encoded here, so an id can't change the path.

use axum::http::Method;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

/// The bytes that a segment of a path has as they are.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A call of the API.
#[derive(Clone, Debug)]
pub struct Call {
    /// The method.
    pub method: Method,
    /// The path, encoded, from `/v1` on.
    pub path: String,
    /// The query, encoded; empty for none.
    pub query: String,
    /// The body of JSON.
    pub body: Option<Value>,
    /// The recipient whom it is about.
    recipient: Option<String>,
    /// True if a message is built with masked values.
    masks_values: bool,
}

impl Call {
    /// A call that changes nothing. The path is below `/v1`, one text a segment.
    #[must_use]
    pub fn get(path: &[&str]) -> Self {
        Self::new(Method::GET, path)
    }

    /// A call with a body.
    #[must_use]
    pub fn post(path: &[&str], body: Value) -> Self {
        Self { body: Some(body), ..Self::new(Method::POST, path) }
    }

    /// A call that changes something and has no body.
    #[must_use]
    pub fn act(path: &[&str]) -> Self {
        Self::new(Method::POST, path)
    }

    /// A call that takes something away.
    #[must_use]
    pub fn delete(path: &[&str]) -> Self {
        Self::new(Method::DELETE, path)
    }

    fn new(method: Method, segments: &[&str]) -> Self {
        let mut path = String::from("/v1");
        for segment in segments {
            path.push('/');
            path.push_str(&encoded(segment));
        }
        let recipient = match segments {
            ["recipients", id, ..] => Some((*id).to_owned()),
            _ => None,
        };
        Self { method, path, query: String::new(), body: None, recipient, masks_values: false }
    }

    /// The same with a parameter of the query.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        if !self.query.is_empty() {
            self.query.push('&');
        }
        self.query.extend(form_urlencoded::byte_serialize(name.as_bytes()));
        self.query.push('=');
        self.query.extend(form_urlencoded::byte_serialize(value.as_bytes()));
        self
    }

    /// The same with a parameter that has a value.
    #[must_use]
    pub fn with_some(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// The same about a recipient whom its path doesn't name: it is not masked for who has opened them.
    #[must_use]
    pub fn about(mut self, recipient: &str) -> Self {
        self.recipient = Some(recipient.to_owned());
        self
    }

    /// The same, which changes nothing and answers what it would do.
    #[must_use]
    pub fn dry(self) -> Self {
        self.with("dry", "true")
    }

    /// The same, refused if it concerns more people than this.
    #[must_use]
    pub fn expecting(self, people: u64) -> Self {
        self.with("expect", &people.to_string())
    }

    /// Returns true if it builds a message, so that texts of its answer have a recipient's values within them.
    pub(crate) fn builds_message(&self) -> bool {
        self.path.ends_with("/preview")
    }

    /// The same, which builds its message with masked values.
    #[must_use]
    pub(crate) fn with_masked_values(self) -> Self {
        Self { masks_values: true, ..self }
    }

    /// Returns true if the message that it builds has masked values ([`ValueMask`](crate::ValueMask)). Its answer has
    /// [`MASKED`](crate::MASKED) then, and without it its texts are hidden.
    #[must_use]
    pub fn masks_values(&self) -> bool {
        self.masks_values
    }

    /// The path with its query.
    #[must_use]
    pub fn target(&self) -> String {
        if self.query.is_empty() {
            return self.path.clone();
        }
        format!("{}?{}", self.path, self.query)
    }

    /// The recipient whom it is about, if it is about one.
    pub(crate) fn recipient(&self) -> Option<String> {
        self.recipient.clone()
    }

    /// The resource of the call: the first segment below `/v1`.
    #[must_use]
    pub fn resource(&self) -> &str {
        self.path.split('/').nth(2).unwrap_or_default()
    }
}

/// A text as one segment of a path. `.` and `..` would be read as steps, so their dots are encoded as well.
pub(crate) fn encoded(segment: &str) -> String {
    if segment.bytes().all(|byte| byte == b'.') {
        return segment.replace('.', "%2E");
    }
    utf8_percent_encode(segment, SEGMENT).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_stays_within_its_segment() {
        let call = Call::get(&["recipients", "a/../b?x=1#y", "pending"]).with("tenant", "a&b=c d");
        assert_eq!(
            call.target(),
            "/v1/recipients/a%2F..%2Fb%3Fx%3D1%23y/pending?tenant=a%26b%3Dc+d"
        );
        assert_eq!(Call::get(&["events", ".."]).path, "/v1/events/%2E%2E");
        assert_eq!(call.resource(), "recipients");
    }
}
