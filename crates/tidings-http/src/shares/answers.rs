//! Answers that their readers have not accepted yet: their bytes are counted by caller.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use hyper::body::{Frame, SizeHint};
use tidings_node::CallerId;

use super::bytes::{ByteReservation, ByteRoom};
use super::patience::AnswerWriter;
use super::{CALLER, over_share};

/// The largest piece of an answer that is handed over to be written.
const PIECE_BYTES_MAX: usize = 16 << 10;

/// The refusal for a caller whose answers fill this room.
const ANSWERS: &str = "the memory for answers that are not read yet: read them, then retry";

/// Refuses a call of a caller whose answers are not read.
pub(crate) fn refused(answers: &ByteRoom, caller: &CallerId) -> Option<Response> {
    answers.is_over(caller).then(|| over_share(ANSWERS).into_response())
}

/// The answer to a call, counted until its reader has accepted it. One that changes nothing is refused where the caller's
/// share has no room for it.
pub(crate) fn counted(
    answers: &ByteRoom,
    caller: &CallerId,
    changes: bool,
    response: Response,
) -> Response {
    let (mut parts, body) = response.into_parts();
    let bytes = body.size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok());
    if bytes == Some(0) {
        return Response::from_parts(parts, body);
    }
    let mut room = answers.of(caller.clone());
    let whole = bytes.unwrap_or_default();
    if changes {
        room.hold_anyway(whole);
    } else if !room.hold_first(whole) {
        let problem = over_share(ANSWERS).into_response();
        let (refusal, body) = problem.into_parts();
        // What else is known of the call stays.
        parts.status = refusal.status;
        parts.headers = refusal.headers;
        return Response::from_parts(parts, body);
    }
    let kind = parts.headers.get(header::CONTENT_TYPE);
    // A frame of a live stream is bounded, and those who write it take it whole.
    let is_live = kind == Some(&HeaderValue::from_static("text/event-stream"));
    let writer = AnswerWriter::current();
    writer.iter().for_each(|writer| writer.begin());
    let counted = CountedBody {
        body,
        caller: caller.clone(),
        writer,
        left: Bytes::new(),
        room,
        is_whole: bytes.is_some(),
        piece_max: if is_live { usize::MAX } else { PIECE_BYTES_MAX },
    };
    Response::from_parts(parts, Body::new(counted))
}

/// A body whose bytes are counted until they are accepted.
struct CountedBody {
    body: Body,
    caller: CallerId,
    /// The clock of the task that writes it.
    writer: Option<Arc<AnswerWriter>>,
    /// Bytes that are built, and not handed over to be written yet.
    left: Bytes,
    room: ByteReservation,
    /// True if all of it was built before the first piece is written.
    is_whole: bool,
    /// Bytes of the largest piece that is handed over.
    piece_max: usize,
}

impl CountedBody {
    /// Hands over the next piece.
    fn piece(&mut self) -> Bytes {
        let piece = self.left.split_to(self.left.len().min(self.piece_max));
        if let Some(writer) = &self.writer {
            writer.begin();
        }
        piece
    }
}

impl Drop for CountedBody {
    fn drop(&mut self) {
        // The writer may have more answers to write.
        if let Some(writer) = &self.writer {
            writer.accepted();
        }
    }
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        // A reader that asks for more has accepted the piece before.
        if let Some(writer) = &this.writer {
            writer.accepted();
        }
        if !this.left.is_empty() {
            let piece = this.piece();
            this.room.shrink_to(this.left.len() + piece.len());
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        if this.is_whole {
            // What is left of it is in the body.
            let hint = usize::try_from(this.body.size_hint().lower()).unwrap_or(usize::MAX);
            this.room.shrink_to(hint);
        } else {
            this.room.shrink_to(0);
        }
        let (body, caller) = (&mut this.body, &this.caller);
        let next = CALLER.sync_scope(caller.clone(), || Pin::new(body).poll_frame(context));
        let Poll::Ready(Some(Ok(frame))) = next else { return next };
        match frame.into_data() {
            Ok(data) => {
                if !this.is_whole {
                    this.room.hold_anyway(data.len());
                }
                this.left = data;
                Poll::Ready(Some(Ok(Frame::data(this.piece()))))
            }
            Err(frame) => Poll::Ready(Some(Ok(frame))),
        }
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = self.body.size_hint();
        let left = self.left.len() as u64;
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + left);
        }
        hint.set_lower(hint.lower() + left);
        hint
    }
}
