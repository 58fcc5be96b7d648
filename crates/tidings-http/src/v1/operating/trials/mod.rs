//! Changes of the configuration that operators try before they make them: checks of edits, and comparisons.

pub(in crate::v1) mod logged;
mod run;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::uri::PathAndQuery;
use serde::Serialize;
use serde_json::Value;
use tidings_api::body::edits::{CompareBody, CompareQuestion, EditsBody};
use tidings_config::edit::unified;
use tidings_config::{CheckedConfig, ConfigSource};
use tidings_core::Day;
use tidings_trial::compare::NamedRules;
use tokio::runtime::Handle;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::call::Calls;
use crate::change::origin::origin;
use crate::error::{Code, Problem};
use crate::request::gather::{Gathered, OtherShards};
use crate::request::query::{InQuery, NoParameters};
use crate::trials::EditedConfig;
use crate::trials::comparison::ComparisonEnd;
use crate::{Answer, Change, Service};
use run::{ComparisonRun, LastDays};

/// Maximum number of bytes of a body.
const BODY_BYTES_MAX: usize = 256 << 10;

/// The name of the file in a diff where its own has signs that diffs escape.
const PLAIN_NAME: &str = "tidings.toml";

/// The calls that try edits.
pub(super) fn calls(calls: Calls) -> Calls {
    calls.add("check", routes!(check)).add("compare", routes!(compare))
}

/// The result of a check of edits.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"faults": [], "diff": "--- a/tidings.toml\n+++ b/tidings.toml\n@@ -12 +12 @@\n-quiet = \"4m\"\n+quiet = \"10m\"\n"}))]
struct EditsChecked {
    /// The faults of the configuration with the edits, as `tidings check --json` prints them; none = it may be put in
    /// force.
    #[schema(value_type = Vec<ConfigFault>)]
    faults: Value,
    /// The edits as a unified diff of the file without context, for `git apply --unidiff-zero` or `patch`; empty = they
    /// change nothing.
    diff: String,
}

/// A fault of a configuration.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the schema of what the configuration's faults write")]
struct ConfigFault {
    /// The file.
    file: String,
    /// The line, counted from 1; null = the file as a whole.
    #[schema(required)]
    line: Option<u64>,
    /// The column in characters, counted from 1; null = the file as a whole.
    #[schema(required)]
    column: Option<u64>,
    /// The fault in words.
    reason: String,
    /// A way to fix it.
    hint: String,
}

/// Check edits of the configuration
///
/// Says which faults the configuration that is in force would have with these edits, and shows them as a diff of its
/// file. Comments and layout stay. Nothing is put in force, and the server never writes the file: apply the diff, and
/// reload the configuration. Files beside the configuration (templates, books of words) are read as they are now.
#[utoipa::path(
    post, path = "/v1/admin/check", tag = "admin",
    request_body = EditsBody,
    responses((status = 200, description = "The faults and the diff", body = EditsChecked))
)]
async fn check(
    State(service): State<Arc<Service>>,
    _: InQuery<NoParameters>,
    request: Request,
) -> Result<Answer, Problem> {
    let (parts, body) = request.into_parts();
    let change = Change::read_within(&parts, body, &service, BODY_BYTES_MAX).await?;
    let edits = change.parse::<EditsBody>()?.edits()?;
    let own = Arc::clone(&service);
    // Templates are read from the disk and tried, so it has a thread of its own.
    let checked = service.look(move |_| -> Result<_, Problem> {
        let config = own.trials.edited(&edits)?;
        let file_name = plain_name(&config.proposed.file);
        let diff = unified(file_name, &config.current.text, &config.proposed.text);
        let faults = match config.proposed.check() {
            Ok(_) => Value::Array(Vec::new()),
            Err(faults) => faults.to_json(),
        };
        Ok(EditsChecked { faults, diff })
    });
    Answer::json(StatusCode::OK, &checked.await??)
}

/// A comparison that was begun.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"job": "compare-1709798580000"}))]
struct ComparisonBegun {
    /// Id of its job.
    job: String,
}

/// Compare the configuration with itself under edits
///
/// Begins a job that plays the last days under the configuration that is in force and under the same with these edits,
/// and counts messages, delays and what is left out: `result` of `GET /v1/admin/jobs/{id}`. Events are played with the
/// recipients, subscriptions and preferences of now. Nothing is sent, and nothing is put in force. One comparison runs at
/// a time, on one processor; it is stopped by a restart, and by `DELETE`.
#[utoipa::path(
    post, path = "/v1/admin/compare", tag = "admin",
    request_body = CompareBody,
    responses((status = 202, description = "The comparison is begun", body = ComparisonBegun))
)]
async fn compare(
    State(service): State<Arc<Service>>,
    _: InQuery<NoParameters>,
    others: OtherShards,
    request: Request,
) -> Result<Answer, Problem> {
    let (parts, body) = request.into_parts();
    let change = Change::read_within(&parts, body, &service, BODY_BYTES_MAX).await?;
    let question = change.parse::<CompareBody>()?.question()?;
    let CompareQuestion { edits, days, channel } = question;
    let comparisons = &service.trials.comparisons;
    logged::know_earlier(&service).await?;
    let own = Arc::clone(&service);
    let read = service.look(move |node| -> Result<_, Problem> {
        let EditedConfig { current, proposed } = own.trials.edited(&edits)?;
        let configs = [(CURRENT, (*current).clone()), (PROPOSED, proposed)];
        let configs = configs.into_iter().map(|(name, source)| rules_of(name, source));
        Ok((configs.collect::<Result<Vec<_>, _>>()?, node.life()))
    });
    let (configs, life) = read.await??;
    let place = comparisons.enter()?;
    let export = PathAndQuery::try_from(format!("/v1/export?days={days}"))
        .map_err(|fault| Problem::new(Code::Internal, fault.to_string()))?;
    let Gathered { found: others, missing } = others.streams_of(export).await;
    if let Some(missing) = missing.first() {
        let detail = format!("no answer from `{missing}`, whose recipients would be left out");
        return Err(Problem::new(Code::NoHolder, detail));
    }
    let Day(today) = service.now().day();
    let durable = service.handle.durable()?;
    let by = origin().map(|origin| origin.by.clone());
    let comparison = comparisons.make(by, service.now())?;
    logged::log(&service, comparison.begun(), origin()).await?;
    comparisons.add(&comparison);
    let job = comparison.id.to_string();
    let run = ComparisonRun {
        comparison: Arc::clone(&comparison),
        place,
        configs,
        channel,
        timeline: LastDays {
            durable,
            life,
            from: Day(today - i32::from(days) + 1),
            others,
            tokio: Handle::current(),
        },
        origin: origin(),
        service: Arc::downgrade(&service),
        #[cfg(test)]
        gate: Arc::clone(&comparisons.gate),
    };
    run.spawn().map_err(|fault| {
        comparison.end_with(ComparisonEnd::stopped(service.now()));
        Problem::new(Code::Internal, fault.to_string())
    })?;
    Answer::json(StatusCode::ACCEPTED, &ComparisonBegun { job })
}

/// The names of the two configurations of a comparison.
const CURRENT: &str = "current";
const PROPOSED: &str = "proposed";

/// The rules of a configuration that is compared.
fn rules_of(name: &str, source: ConfigSource) -> Result<NamedRules, Problem> {
    match source.check() {
        Ok(CheckedConfig { rules, .. }) => {
            Ok(NamedRules { name: name.to_owned(), title: name.to_owned(), rules })
        }
        Err(faults) => {
            let first = faults.list.first().map(|fault| fault.reason.as_str()).unwrap_or_default();
            let detail = format!("the {name} configuration has faults, such as: {first}");
            Err(Problem::new(Code::ConfigFaults, detail))
        }
    }
}

/// The name of a file for a diff.
fn plain_name(file: &Path) -> &str {
    let name = file.file_name().and_then(|name| name.to_str());
    let is_odd = |letter: char| letter.is_control() || matches!(letter, '"' | '\\');
    name.filter(|name| !name.contains(is_odd)).unwrap_or(PLAIN_NAME)
}
