//! Forms that pages send: `application/x-www-form-urlencoded`, and nothing else.

use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};

/// The most bytes of a form.
const FORM_BYTES_MAX: usize = 64 << 10;

/// The fields of a form, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PostedForm(Vec<(String, String)>);

impl PostedForm {
    /// The first field of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.fields().find(|(of, _)| *of == name).map(|(_, value)| value)
    }

    /// All fields.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Reads the bytes of a form.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        Self(form_urlencoded::parse(bytes).into_owned().collect())
    }
}

impl<S: Send + Sync> FromRequest<S> for PostedForm {
    type Rejection = Response;

    async fn from_request(request: Request, _: &S) -> Result<Self, Response> {
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            let text = "the body is no form";
            return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, text).into_response());
        }
        match to_bytes(request.into_body(), FORM_BYTES_MAX).await {
            Ok(bytes) => Ok(Self::read(&bytes)),
            Err(_) => Err(StatusCode::PAYLOAD_TOO_LARGE.into_response()),
        }
    }
}
