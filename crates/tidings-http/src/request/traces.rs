//! Spans of requests, and the context that events keep of the request that published them.

use axum::extract::{MatchedPath, Request};
use axum::http::{Extensions, HeaderMap};
use axum::response::Response;
use tidings_core::Command;
use tidings_core::model::Trace;
use tidings_node::Span;

/// The context of a request: of its span, or else of its caller's.
#[derive(Clone, Copy)]
struct RequestTrace(Trace);

/// Begins the span of a request.
pub(crate) fn begin(request: &mut Request) -> Span {
    let caller = caller(request.headers());
    let path = request.extensions().get::<MatchedPath>();
    let name = || {
        let path = path.map_or("", MatchedPath::as_str);
        format!("{} {path}", request.method()).trim_end().to_owned()
    };
    let span = Span::request(name, caller);
    if let Some(trace) = span.trace().or(caller) {
        request.extensions_mut().insert(RequestTrace(trace));
    }
    span
}

/// Says in the span of a request what was called, and what the answer is.
pub(crate) fn end(span: &mut Span, call: &'static str, response: &Response) {
    let status = response.status();
    span.set("tidings.call", call);
    span.set("http.response.status_code", i64::from(status.as_u16()));
    if status.is_server_error() {
        span.fail(status.canonical_reason().unwrap_or_default());
    }
}

/// The caller's span (`traceparent`). An invalid one is ignored, as the standard requires.
fn caller(headers: &HeaderMap) -> Option<Trace> {
    headers.get("traceparent")?.to_str().ok()?.parse().ok()
}

/// The context of a request, if it or its caller is recorded.
pub(crate) fn context(extensions: &Extensions) -> Option<Trace> {
    extensions.get::<RequestTrace>().map(|of| of.0)
}

/// Gives an event the context of the request that publishes it, unless it has one of its own.
pub(crate) fn traced(mut command: Command, trace: Option<Trace>) -> Command {
    if let Command::Publish(event) = &mut command {
        event.trace = event.trace.or(trace);
    }
    command
}
