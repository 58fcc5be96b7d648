//! Streams of another node, passed on frame by frame as they come.
//!
//! The reader is at this node: when it stops, or the other one no longer has the recipient, the stream ends here.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderMap, HeaderValue, header};
use hyper::body::Frame;

use crate::live::{RETRY_MS_MAX, StreamEnd, end};

/// Returns true if an answer is a stream of events.
pub(super) fn is_stream(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE) == Some(&HeaderValue::from_static("text/event-stream"))
}

/// A stream that ends with `over`, or with the other node.
pub(super) struct ForwardedStream<F> {
    body: Body,
    over: Pin<Box<F>>,
    /// True between two events.
    is_between: bool,
    is_over: bool,
}

impl<F: Future> ForwardedStream<F> {
    pub(super) fn new(body: Body, over: F) -> Self {
        Self { body, over: Box::pin(over), is_between: true, is_over: false }
    }

    /// The last event. In the middle of another one the connection breaks instead, with the same effect.
    fn last(&mut self) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.is_over = true;
        if !self.is_between {
            return Poll::Ready(Some(Err(axum::Error::new("the node of the stream is gone"))));
        }
        let retry_ms = jitter(STREAMS.fetch_add(1, Ordering::Relaxed));
        Poll::Ready(Some(Ok(Frame::data(end(StreamEnd::Restart { retry_ms })))))
    }
}

/// The number of streams that have ended here so far.
static STREAMS: AtomicU64 = AtomicU64::new(0);

/// The wait of one after the other of an unknown number of streams: each falls into the largest gap (the golden ratio).
fn jitter(stream: u64) -> u64 {
    stream.wrapping_mul(6_181) % (RETRY_MS_MAX + 1)
}

impl<F: Future> HttpBody for ForwardedStream<F> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(bytes) = frame.data_ref() {
                    self.is_between = bytes.ends_with(b"\n\n");
                }
                return Poll::Ready(Some(Ok(frame)));
            }
            Poll::Ready(Some(Err(_))) => return self.last(),
            Poll::Ready(None) => {
                self.is_over = true;
                return Poll::Ready(None);
            }
            Poll::Pending => {}
        }
        match self.over.as_mut().poll(context) {
            Poll::Ready(_) => self.last(),
            Poll::Pending => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use futures_util::StreamExt as _;
    use futures_util::stream;
    use http_body_util::BodyExt as _;

    async fn passed(parts: &[Option<&'static str>], over: bool) -> Result<String, axum::Error> {
        let parts: Vec<_> = parts
            .iter()
            .map(|part| part.ok_or_else(|| std::io::Error::other("broken")).map(Bytes::from))
            .collect();
        let body = Body::from_stream(stream::iter(parts).chain(stream::pending()));
        let over = async move {
            if !over {
                std::future::pending::<()>().await;
            }
        };
        let body = ForwardedStream::new(body, over).collect().await?;
        Ok(String::from_utf8(body.to_bytes().to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_stream_of_another_node_ends_between_two_events() {
        let expected =
            "event: hello\ndata: {}\n\nevent: end\ndata: {\"code\":\"restart\",\"retry_ms\":";
        let hello = Some("event: hello\ndata: {}\n\n");
        for (parts, over) in [(&[hello][..], true), (&[hello, None][..], false)] {
            let passed = passed(parts, over).await.unwrap();
            assert!(passed.starts_with(expected), "{passed}");
        }
        let half = Some("event: inbox\ndata: {");
        assert!(passed(&[hello, half], true).await.is_err());
        assert!(passed(&[hello, half, None], false).await.is_err());
    }

    #[test]
    fn waits_are_spread_evenly_however_many_there_are() {
        for count in [10, 100, 1_000] {
            let mut waits: Vec<u64> = (0..count).map(jitter).collect();
            waits.sort_unstable();
            let gaps = waits.windows(2).map(|pair| pair[1] - pair[0]);
            assert!(gaps.max().unwrap() <= 3 * RETRY_MS_MAX / count, "{count}");
        }
    }
}
