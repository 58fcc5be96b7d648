//! The handing over of one message, up to and beyond the point of no return.

use std::sync::Arc;

use tidings_core::Instant;

use crate::channel::{HandOverPass, Outcome as Answer, ProviderReplies};
use crate::delivery::send_job::SendJob;
use crate::telemetry::spans::Span;

/// The question whether this node may hand over messages now.
pub type MaySend = Arc<dyn Fn() -> bool + Send + Sync>;

/// The point of no return of a message that nothing stops.
pub(super) const GO: &dyn Fn() -> bool = &|| true;

/// Renders a message unless it is rendered, and hands it over, if `go` agrees at the point of no return. A provider
/// that panics over one message must not affect the others.
pub(super) fn send(
    pass: Option<HandOverPass>,
    job: &SendJob,
    clock: &dyn Fn() -> Instant,
    go: &dyn Fn() -> bool,
) -> ProviderReplies {
    let Some(pass) = pass else {
        let fault = Answer::Failed {
            why: format!("the channel `{}` has no provider", job.head.channel),
            suppress: None,
        };
        return fault.into();
    };
    if job.is_too_late(clock()) {
        return too_late().into();
    }
    let mut span = Span::attempt(&job.head.traces);
    let rendered = {
        let _span = span.child("render");
        job.rendered(pass.renderer())
    };
    let reply: ProviderReplies = match rendered {
        Ok(message) => pass.send(&message, clock, go),
        Err(fault) => Answer::from(fault).into(),
    };
    describe(&mut span, job, &reply);
    reply
}

/// Records in the span of an attempt the message and its outcome.
fn describe(span: &mut Span, job: &SendJob, reply: &ProviderReplies) {
    let head = &job.head;
    span.set("tidings.batch", head.id.clone());
    span.set("tidings.channel", head.channel.clone());
    span.set("tidings.lane", head.lane.clone());
    span.set("tidings.entries", i64::try_from(head.entries).unwrap_or(i64::MAX));
    span.set("tidings.attempt", i64::from(job.attempts) + 1);
    if !matches!(reply.outcome, Answer::Sent(_)) {
        span.fail(reply.outcome.words().unwrap_or_default().to_owned());
    }
}

/// The answer to a message whose time was over before it could be handed over.
fn too_late() -> Answer {
    Answer::Retry { why: "its `give_up_after` was over".to_owned(), after_ms: None }
}
