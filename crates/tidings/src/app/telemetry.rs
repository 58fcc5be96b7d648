//! Spans of the server, sent to a collector over OTLP (`[telemetry]`).
//!
//! The exporter and the batches are OpenTelemetry's; this has the client that it calls with, and the rule which spans
//! are recorded.

use std::time::Duration;

use async_trait::async_trait;
use opentelemetry::trace::{Link, SpanKind, TraceContextExt as _, TraceId, TracerProvider as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{
    ExporterBuildError, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SamplingResult, SdkTracerProvider, ShouldSample};
use tidings_core::rules::TelemetryRules;

/// The time that a collector has to take a batch.
const PATIENCE: Duration = Duration::from_secs(10);

/// The largest answer of a collector that is read, in bytes.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// The spans of a process on their way to a collector; those that are left are sent at the end.
pub struct Telemetry(SdkTracerProvider);

impl Telemetry {
    /// Sends the spans of this process as these rules say. A reload does not change it.
    ///
    /// # Errors
    /// The address can't be used.
    pub fn start(rules: &TelemetryRules) -> Result<Self, ExporterBuildError> {
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(CollectorClient::new(&rules.otlp))
            .with_endpoint(&rules.otlp)
            .with_timeout(PATIENCE)
            .build()?;
        let resource = Resource::builder()
            .with_service_name("tidings")
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource.build())
            .with_sampler(SpanSampler { others: Sampler::TraceIdRatioBased(rules.ratio) })
            .build();
        tidings_node::record_spans(opentelemetry::global::BoxedTracer::new(Box::new(
            provider.tracer("tidings"),
        )));
        Ok(Self(provider))
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        if let Err(fault) = self.0.shutdown() {
            tracing::warn!(error = %fault, "the last spans did not reach the collector");
        }
    }
}

/// The rule which spans are recorded: one below another, or linked to others, as those are; the rest by a ratio.
#[derive(Clone, Debug)]
struct SpanSampler {
    others: Sampler,
}

impl ShouldSample for SpanSampler {
    fn should_sample(
        &self,
        parent: Option<&Context>,
        trace_id: TraceId,
        name: &str,
        kind: &SpanKind,
        attributes: &[KeyValue],
        links: &[Link],
    ) -> SamplingResult {
        let has_parent = parent.is_some_and(|parent| parent.span().span_context().is_valid());
        let is_linked = links.iter().any(|link| link.span_context.is_sampled());
        let sampler = if has_parent {
            Sampler::ParentBased(Box::new(Sampler::AlwaysOff))
        } else if is_linked {
            Sampler::AlwaysOn
        } else {
            self.others.clone()
        };
        sampler.should_sample(parent, trace_id, name, kind, attributes, links)
    }
}

/// The client of the collector.
#[derive(Debug)]
struct CollectorClient(ureq::Agent);

impl CollectorClient {
    fn new(collector: &str) -> Self {
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .max_redirects(0)
            .tls_config(tidings_tls::http_client())
            .proxy(tidings_tls::Proxies::to(collector))
            .http_status_as_error(false)
            .build()
            .new_agent();
        Self(agent)
    }
}

#[async_trait]
impl HttpClient for CollectorClient {
    /// Blocks: batches have a thread of their own.
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let answer = self.0.run(Request::from_parts(parts, body.to_vec()))?;
        let (parts, mut body) = answer.into_parts();
        let body = body.with_config().limit(ANSWER_BYTES_MAX).read_to_vec()?;
        Ok(Response::from_parts(parts, Bytes::from(body)))
    }
}
