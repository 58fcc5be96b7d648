//! Spans (OpenTelemetry): the work of a server by cause, and its time.
//!
//! A message has many events, and so no parent: its span links to the spans that published them, as far as they were
//! recorded. Without a tracer nothing is built.

use std::borrow::Cow;
use std::sync::OnceLock;

use opentelemetry::global::{BoxedSpan, BoxedTracer};
use opentelemetry::trace::{
    Link, Span as _, SpanBuilder, SpanContext, SpanId, SpanKind, Status, TraceContextExt as _,
    TraceFlags, TraceId, TraceState, Tracer as _,
};
use opentelemetry::{Context, KeyValue, Value};
use tidings_core::Command;
use tidings_core::content::TRACES_MAX;
use tidings_core::model::Trace;

/// The tracer of the process. A span may be recorded anywhere, and there is one collector.
static TRACER: OnceLock<BoxedTracer> = OnceLock::new();

/// Records the spans of this process with a tracer. Only the first one counts.
pub fn record_spans(tracer: BoxedTracer) {
    // A second server in one process has the tracer of the first.
    let _ = TRACER.set(tracer);
}

/// A span, which ends when it is dropped; nothing without a tracer.
#[derive(Debug)]
pub struct Span(Option<BoxedSpan>);

impl Span {
    /// Begins the span of a request, below that of its caller.
    #[must_use]
    pub fn request(name: impl FnOnce() -> String, caller: Option<Trace>) -> Self {
        let parent = caller.map(context).unwrap_or_default();
        let kind = SpanKind::Server;
        Self::begin(&parent, |_| SpanBuilder::from_name(name()).with_kind(kind))
    }

    /// Begins the span of a step over these commands, linked to the requests that published events.
    pub(crate) fn step(commands: &[Command]) -> Self {
        let traces = commands.iter().filter_map(|command| match command {
            Command::Publish(event) => event.trace,
            _ => None,
        });
        Self::linked("step", SpanKind::Internal, traces)
    }

    /// Begins the span of planning.
    pub(crate) fn plan() -> Self {
        Self::linked("plan", SpanKind::Internal, [])
    }

    /// Begins the span of an attempt to send a message, linked to the spans that published its events.
    pub(crate) fn attempt(traces: &[Trace]) -> Self {
        Self::linked("send", SpanKind::Producer, traces.iter().copied())
    }

    /// Begins a span below this one.
    #[must_use]
    pub(crate) fn child(&self, name: &'static str) -> Self {
        match &self.0 {
            None => Self(None),
            Some(span) => {
                let parent = Context::new().with_remote_span_context(span.span_context().clone());
                Self::begin(&parent, |_| SpanBuilder::from_name(name))
            }
        }
    }

    fn linked(name: &'static str, kind: SpanKind, traces: impl IntoIterator<Item = Trace>) -> Self {
        Self::begin(&Context::new(), |_| {
            let traces = traces.into_iter().take(TRACES_MAX);
            let links = traces.map(|trace| Link::new(span_context(trace), Vec::new(), 0)).collect();
            SpanBuilder::from_name(name).with_kind(kind).with_links(links)
        })
    }

    fn begin(parent: &Context, build: impl FnOnce(&BoxedTracer) -> SpanBuilder) -> Self {
        Self(TRACER.get().map(|tracer| tracer.build_with_context(build(tracer), parent)))
    }

    /// Adds an attribute.
    pub fn set(&mut self, key: &'static str, value: impl Into<Value>) {
        if let Some(span) = &mut self.0
            && span.is_recording()
        {
            span.set_attribute(KeyValue::new(key, value));
        }
    }

    /// Marks the span as failed.
    pub fn fail(&mut self, why: impl Into<Cow<'static, str>>) {
        if let Some(span) = &mut self.0
            && span.is_recording()
        {
            span.set_status(Status::error(why));
        }
    }

    /// The context of the span, if it is recorded.
    #[must_use]
    pub fn trace(&self) -> Option<Trace> {
        let context = self.0.as_ref()?.span_context();
        context.is_sampled().then(|| Trace {
            trace_id: u128::from_be_bytes(context.trace_id().to_bytes()),
            span_id: u64::from_be_bytes(context.span_id().to_bytes()),
            flags: context.trace_flags().to_u8(),
        })
    }
}

fn context(trace: Trace) -> Context {
    Context::new().with_remote_span_context(span_context(trace))
}

fn span_context(trace: Trace) -> SpanContext {
    SpanContext::new(
        TraceId::from_bytes(trace.trace_id.to_be_bytes()),
        SpanId::from_bytes(trace.span_id.to_be_bytes()),
        TraceFlags::new(trace.flags),
        true,
        TraceState::default(),
    )
}
