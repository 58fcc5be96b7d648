//! The name of each request (`X-Request-Id`): its answer has it, and so have the lines of the log that are about it.
//!
//! It is given at the socket, so that no answer is without one. Another node gets it with the request that is passed on.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use tracing::{Instrument as _, Span};
use uuid::Uuid;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const VERSION: HeaderName = HeaderName::from_static("x-tidings-version");
const THIS_VERSION: HeaderValue = HeaderValue::from_static(env!("CARGO_PKG_VERSION"));

/// The longest name that a caller may give.
const BYTES_MAX: usize = 255;

/// A name and what the log has about it.
pub(super) struct RequestIdentity {
    id: HeaderValue,
    span: Span,
}

impl RequestIdentity {
    /// Names a request: as its caller does, or anew where that is no short visible text.
    pub(super) fn of(headers: &mut HeaderMap) -> Self {
        let given = headers.get(REQUEST_ID).filter(|id| is_name(id.as_bytes())).cloned();
        let id = given.unwrap_or_else(new);
        headers.insert(REQUEST_ID, id.clone());
        let span = tracing::info_span!("request", id = %id.to_str().unwrap_or_default());
        Self { id, span }
    }

    /// Answers the request, and names it in the answer.
    pub(super) async fn answer<E>(
        self,
        answer: impl Future<Output = Result<Response, E>>,
    ) -> Result<Response, E> {
        let mut answer = answer.instrument(self.span.clone()).await?;
        let headers = answer.headers_mut();
        headers.insert(REQUEST_ID, self.id);
        headers.insert(VERSION, THIS_VERSION);
        let kind = headers.get(header::CONTENT_TYPE);
        if kind == Some(&HeaderValue::from_static("application/x-ndjson")) {
            let span = self.span;
            return Ok(answer.map(|body| Body::new(SpannedBody { body, span })));
        }
        Ok(answer)
    }
}

/// The lines of a head that name a request that nobody has read.
pub(super) fn lines_of_a_head() -> String {
    let id = Uuid::now_v7().simple();
    format!("{REQUEST_ID}: {id}\r\n{VERSION}: {}\r\n", env!("CARGO_PKG_VERSION"))
}

fn is_name(id: &[u8]) -> bool {
    (1..=BYTES_MAX).contains(&id.len()) && id.iter().all(u8::is_ascii_graphic)
}

fn new() -> HeaderValue {
    let mut text = Uuid::encode_buffer();
    let text = Uuid::now_v7().simple().encode_lower(&mut text);
    HeaderValue::from_str(text).expect("32 letters and digits are a header's value")
}

/// The body of an answer that is made while it is sent.
struct SpannedBody {
    body: Body,
    span: Span,
}

impl HttpBody for SpannedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        let _entered = this.span.enter();
        Pin::new(&mut this.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::convert::Infallible;
    use std::io;
    use std::sync::{Arc, Mutex};

    use futures_util::StreamExt as _;
    use http_body_util::BodyExt as _;
    use tracing_subscriber::fmt::MakeWriter;

    fn named(given: &[&str]) -> RequestIdentity {
        let mut headers = HeaderMap::new();
        for id in given {
            headers.append(REQUEST_ID, HeaderValue::from_bytes(id.as_bytes()).unwrap());
        }
        let named = RequestIdentity::of(&mut headers);
        assert_eq!(headers.get_all(REQUEST_ID).iter().collect::<Vec<_>>(), [&named.id]);
        named
    }

    #[test]
    fn a_request_has_its_callers_name_or_one_of_its_own() {
        let long = "x".repeat(256);
        for id in ["r-1", &long[1..], "4bf92f3577b34da6/~!\""] {
            assert_eq!(named(&[id]).id, id);
        }
        assert_eq!(named(&["a", "b"]).id, "a");
        for id in ["", "a b", "a\tb", "é", &long] {
            assert_eq!(named(&[id]).id.len(), 32, "{id}");
        }
        assert_ne!(named(&[]).id, named(&[]).id);
    }

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl<'w> MakeWriter<'w> for Log {
        type Writer = Self;

        fn make_writer(&'w self) -> Self {
            self.clone()
        }
    }

    #[tokio::test(flavor = "current_thread")]
    async fn the_log_names_the_request_that_a_line_is_about() {
        let log = Log::default();
        let writer = tracing_subscriber::fmt().with_ansi(false).with_writer(log.clone()).finish();
        let _set = tracing::subscriber::set_default(writer);
        let answer = named(&["r-7"]).answer(async {
            tracing::warn!("while it is answered");
            let lines = futures_util::stream::iter([1]).map(|_| {
                tracing::warn!("while it is sent");
                Ok::<_, Infallible>("{}\n")
            });
            let head = [(header::CONTENT_TYPE, "application/x-ndjson")];
            let body = Body::from_stream(lines);
            Ok::<_, Infallible>(axum::response::IntoResponse::into_response((head, body)))
        });
        let answer = answer.await.unwrap();
        assert_eq!(answer.headers()[REQUEST_ID], "r-7");
        assert_eq!(answer.headers()[VERSION], env!("CARGO_PKG_VERSION"));
        answer.into_body().collect().await.unwrap();
        let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        assert_eq!(log.lines().count(), 2);
        for (line, about) in log.lines().zip(["while it is answered", "while it is sent"]) {
            assert!(line.contains("request{id=r-7}") && line.ends_with(about), "{line}");
        }
    }
}
