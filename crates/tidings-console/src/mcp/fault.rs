//! Errors of the protocol: what is wrong with a message itself, in the form of JSON-RPC.
//!
//! What a call of the API refuses is none of these: a tool answers it, so that the model reads it and mends its call.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use super::version::ProtocolVersion;

/// An error of the protocol.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ProtocolFault {
    pub(super) status: StatusCode,
    pub(super) code: i64,
    pub(super) message: String,
    pub(super) data: Option<Box<Value>>,
}

impl ProtocolFault {
    fn new(status: StatusCode, code: i64, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), data: None }
    }

    /// The body is no JSON.
    pub(super) fn no_json(fault: &serde_json::Error) -> Self {
        Self::new(StatusCode::BAD_REQUEST, -32700, format!("The body is no JSON: {fault}"))
    }

    /// The body is no message of the protocol.
    pub(super) fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, -32600, message)
    }

    /// There is no such method.
    pub(super) fn unknown_method(version: ProtocolVersion, method: &str) -> Self {
        // Clients of a handshake take any status but 200 for a broken connection.
        let status = match version.is_stateless() {
            true => StatusCode::NOT_FOUND,
            false => StatusCode::OK,
        };
        Self::new(status, -32601, format!("Unknown method: {}", shortened(method)))
    }

    /// The parameters are not those of the method.
    pub(super) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(StatusCode::OK, -32602, message)
    }

    /// The request lacks what each of its version has in `_meta`.
    pub(super) fn incomplete_meta(field: &str) -> Self {
        let message = format!("`params._meta` lacks `{field}`");
        Self { status: StatusCode::BAD_REQUEST, ..Self::invalid_params(message) }
    }

    /// A header is not that of the body.
    pub(super) fn header_mismatch(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, -32020, message)
    }

    /// The version is not spoken here.
    pub(super) fn unsupported_version(requested: &str) -> Self {
        let data =
            json!({"supported": ProtocolVersion::names(), "requested": shortened(requested)});
        let message = "Unsupported protocol version";
        let fault = Self::new(StatusCode::BAD_REQUEST, -32022, message);
        Self { data: Some(Box::new(data)), ..fault }
    }

    /// A refusal by the status of HTTP, before or beside the protocol: its code is that status.
    pub(super) fn refused(status: StatusCode, message: impl Into<String>) -> Self {
        Self::new(status, i64::from(status.as_u16()), message)
    }

    /// The body of the answer; without an id where it could not be read.
    pub(super) fn body(&self, id: Option<&Value>) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(data) = &self.data {
            error["data"] = Value::clone(data);
        }
        let mut body = json!({"jsonrpc": "2.0", "error": error});
        if let Some(id) = id {
            body["id"] = id.clone();
        }
        body
    }
}

/// The answer with a body, or without one, and the headers that go with its status.
pub(super) fn response(status: StatusCode, body: Option<Value>) -> Response {
    let mut response = match body {
        Some(body) => (status, axum::Json(body)).into_response(),
        None => status.into_response(),
    };
    let headers = response.headers_mut();
    match status {
        StatusCode::UNAUTHORIZED => {
            let bearer = HeaderValue::from_static("Bearer realm=\"tidings\"");
            headers.insert(header::WWW_AUTHENTICATE, bearer);
        }
        StatusCode::METHOD_NOT_ALLOWED => {
            headers.insert(header::ALLOW, HeaderValue::from_static("POST"));
        }
        StatusCode::TOO_MANY_REQUESTS => {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
        }
        _ => {}
    }
    response
}

/// A text of a request, as an error repeats it: its beginning, without what could mislead a reader.
fn shortened(text: &str) -> String {
    super::untrusted::cleaned(text).chars().take(100).collect()
}
