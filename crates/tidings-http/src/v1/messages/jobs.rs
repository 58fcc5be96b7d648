//! Jobs: one change of all messages of a filter, in the background.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use tidings_api::body::Fault;
use tidings_core::engine::{
    BulkMessages, CommandConcerns, JobReport, JobReports, ListPage, MessageFilter, NewestFirst,
    Positioned, Refused, Reply,
};
use tidings_core::model::{Author, JobNo, JobState, MessageAct, MessageSet, NewJob};
use tidings_core::{Command, Id, Instant};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::MessagesQuery;
use crate::call::Calls;
use crate::change::before::{Before, Concerned};
use crate::change::origin::origin;
use crate::cluster::SHARDS;
use crate::error::{Code, Problem};
use crate::request::InPath;
use crate::request::gather::{Gathered, OtherShards, add};
use crate::request::list::{ListFilter as _, ListPageQuery, ListQuery, PageBounds, page_body};
use crate::request::query::{BeforeAlone, InQuery, Parameters};
use crate::trials::comparison::{COMPARE, Comparison, ComparisonEnd, is_comparison};
use crate::v1::operating::trials::logged;
use crate::v1::tenants;
use crate::{Answer, Change, Service, only};

/// The most messages of a job.
const MESSAGES_MAX: u64 = 1_000_000;

/// The time that another node has to find the messages of its shards.
const PART_PATIENCE: Duration = Duration::from_secs(20);

/// The calls of jobs.
pub(in crate::v1) fn calls(calls: Calls) -> Calls {
    calls
        .add("retry_messages", routes!(retry_messages))
        .add("cancel_messages", routes!(cancel_messages))
        .add("resend_messages", routes!(resend_messages))
        .add("list_jobs", routes!(list_jobs))
        .add("get_job", routes!(get_job))
        .add("stop_job", routes!(stop_job))
}

/// A change of all messages of a filter.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"filter": {"state": "failed", "from": "2024-03-07T08:00:00Z"}, "expect": 120}))]
struct BulkChange {
    /// The choice of messages: one parameter of `GET /v1/messages` or more, but `limit` and `cursor`. `state` and
    /// `type` may be lists.
    #[schema(value_type = Object)]
    filter: BTreeMap<String, FilterValue>,
    /// The most recipients that it may touch: with more it is refused. Required without `dry`.
    #[schema(format = "uint64")]
    expect: Option<u64>,
    /// True = it begins at once; else after ten seconds.
    now: Option<bool>,
}

/// The value of a parameter of a filter.
#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum FilterValue {
    One(String),
    Several(Vec<String>),
}

/// A job that was made.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"job": "1709798580000", "of": 120}))]
struct JobMade {
    /// Its id.
    job: String,
    /// Number of its messages.
    of: u64,
}

/// The result of a bulk change that was not made.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"of": 120, "left_out": {"message_state": 2}, "dry": true, "concerns": {"people": 110, "entries": 190, "messages": 118}}))]
struct BulkForeseen {
    /// Number of messages of the filter.
    of: u64,
    /// Messages that would stay as they are, by the status or the code that the call for each answers.
    left_out: BTreeMap<String, u64>,
    /// Always true: nothing was done.
    dry: bool,
    /// The people, entries and messages that it would touch.
    concerns: Concerned,
}

/// The messages of a node's shards, as it answers another node.
#[derive(Default, Serialize, Deserialize)]
struct BulkPart {
    messages: MessageSet,
    left_out: BTreeMap<String, u64>,
    people: u64,
    entries: u64,
    changed: u64,
}

impl From<BulkMessages> for BulkPart {
    fn from(found: BulkMessages) -> Self {
        let BulkMessages { messages, left_out, people, entries, changed } = found;
        let left_out = left_out.into_iter().map(|(why, count)| (why.word().to_owned(), count));
        Self { messages, left_out: left_out.collect(), people, entries, changed }
    }
}

impl BulkPart {
    /// Adds the messages of another node, which has other buckets.
    fn add(&mut self, other: Self) {
        let MessageSet(messages) = other.messages;
        self.messages.0.extend(messages);
        add(&mut self.left_out, other.left_out);
        self.people += other.people;
        self.entries += other.entries;
        self.changed += other.changed;
    }
}

/// A job.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"id": "1709798580000", "verb": "retry", "filter": {"state": "failed"}, "by": {"kind": "key", "id": "5c0f3d1a9b7e"}, "state": "done", "of": 120, "done": 118, "left_out": {"message_state": 2}, "at": "2024-03-07T08:03:00Z", "began": "2024-03-07T08:03:10Z", "ended": "2024-03-07T08:03:11Z"}))]
struct JobShown {
    /// Its id.
    #[schema(value_type = String)]
    id: Id,
    /// The change: `retry`, `cancel` or `resend`; or `compare`.
    verb: String,
    /// The filter that chose its messages; absent = it is none of messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>, nullable = false)]
    filter: Option<serde_json::Value>,
    /// Its author; absent = unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    by: Option<JobMaker>,
    /// `waiting`, `running`, `done` or `stopped`.
    state: String,
    /// Number of its messages; of a comparison the number of lines that are played, 0 while they are gathered.
    of: u64,
    /// Number of messages that were changed, or of lines that were played.
    done: u64,
    /// Messages that stayed as they were, by the status or the code that the call for each answers. With `done` they
    /// add up to `of` in the end.
    left_out: BTreeMap<String, u64>,
    /// Time at which it was made.
    #[schema(format = "date-time")]
    at: String,
    /// Time at which it began; absent = not yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = "date-time", nullable = false)]
    began: Option<String>,
    /// Time at which it ended; absent = not yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = "date-time", nullable = false)]
    ended: Option<String>,
    /// The figures of both configurations of a comparison, `current` and `proposed`, as `tidings simulate --compare --json`
    /// prints them; absent = it is none, or has none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>, nullable = false)]
    result: Option<serde_json::Value>,
    /// The reason why a comparison that nobody stopped has no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    problem: Option<String>,
}

/// The maker of a job.
#[derive(Serialize, Deserialize, ToSchema)]
struct JobMaker {
    /// As in the log of changes, such as `key`.
    kind: String,
    /// The id, such as that of the key; `dev` of the key of `serve --dev`.
    id: String,
    /// The role of the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    role: Option<String>,
}

impl From<Author> for JobMaker {
    fn from(Author { kind, id, role }: Author) -> Self {
        Self { kind: kind.word().to_owned(), id, role: role.map(Cow::into_owned) }
    }
}

page_body! {
    /// A page of jobs, newest first.
    #[schema(example = json!({"jobs": [], "next": null}))]
    JobPage {
        /// The jobs.
        jobs: JobShown
    }
}

impl Positioned for JobShown {
    type Position = NewestFirst;

    fn position(&self) -> NewestFirst {
        // It was written from an instant.
        let at = Instant::parse(&self.at).unwrap_or(Instant::MIN);
        NewestFirst { at, id: self.id.clone() }
    }
}

impl JobShown {
    fn of(job: &JobReport, now: Instant) -> Self {
        let left_out = job.left_out.iter();
        Self {
            id: job.position().id,
            verb: job.act.word().to_owned(),
            filter: Some(serde_json::from_str(&job.filter).unwrap_or_default()),
            by: job.by.clone().map(JobMaker::from),
            state: job.state(now).word().to_owned(),
            of: job.of,
            done: job.done,
            left_out: left_out.map(|(why, count)| (why.word().to_owned(), *count)).collect(),
            at: job.at.to_string(),
            began: job.began.map(|at| at.to_string()),
            ended: job.ended().map(|at| at.to_string()),
            result: None,
            problem: None,
        }
    }
}

impl From<&Comparison> for JobShown {
    fn from(comparison: &Comparison) -> Self {
        let end = comparison.end();
        let state = end.as_ref().map_or(JobState::Running, |end| end.state);
        Self {
            id: comparison.id.clone(),
            verb: COMPARE.to_owned(),
            filter: None,
            by: comparison.by.clone().map(JobMaker::from),
            state: state.word().to_owned(),
            of: comparison.of(),
            done: comparison.played.load(Ordering::Relaxed),
            left_out: BTreeMap::new(),
            at: comparison.at.to_string(),
            began: Some(comparison.at.to_string()),
            ended: end.as_ref().and_then(|end| Some(end.at?.to_string())),
            result: end.as_ref().and_then(|end| end.result.clone()),
            problem: end.and_then(|end| end.problem),
        }
    }
}

/// A job of this server's memory, or one of the store.
enum FoundJob {
    Comparison(Arc<Comparison>),
    OfMessages(JobNo),
}

/// The job of an id.
async fn found(service: &Arc<Service>, id: &Id) -> Result<FoundJob, Problem> {
    if !is_comparison(id.as_str()) {
        return named(id).map(FoundJob::OfMessages);
    }
    logged::know_earlier(service).await?;
    service.trials.comparisons.get(id).map(FoundJob::Comparison).ok_or_else(|| unknown(id))
}

fn unknown(id: &Id) -> Problem {
    let detail = format!("unknown job {}", tidings_config::wording::quoted(id.as_str()));
    Problem::new(Code::JobNotFound, detail)
}

/// The number that a path names.
fn named(id: &Id) -> Result<JobNo, Problem> {
    id.as_str().parse().map_err(|_| unknown(id))
}

/// Makes a job, or says what it would do.
async fn bulk(
    service: &Arc<Service>,
    change: &Change,
    act: MessageAct,
    (others, is_part): (&OtherShards, bool),
) -> Result<Answer, Problem> {
    let BulkChange { filter: given, expect, now } = change.parse()?;
    let Before { dry, expect: most } = change.before;
    let expect = expect.into_iter().chain(most).min();
    if given.is_empty() {
        let hint = "Example: `{\"filter\": {\"state\": \"failed\"}, \"expect\": 100}`";
        return Err(Fault::new("`filter` names no parameter", hint).into());
    }
    if expect.is_none() && !dry && !is_part {
        let hint = "ask with `?dry=true` first: `expect` is the number of people that it may touch";
        return Err(Fault::new("`expect` is missing", hint).into());
    }
    let filter = serde_json::to_string(&given)
        .map_err(|fault| Problem::new(Code::Internal, fault.to_string()))?;
    let pairs = given.into_iter().flat_map(|(name, value)| {
        let values = match value {
            FilterValue::One(value) => vec![value],
            FilterValue::Several(values) => values,
        };
        values.into_iter().map(move |value| (name.clone(), value))
    });
    let known = [MessagesQuery::KNOWN, MessagesQuery::REPEATED];
    let query = Parameters::of_pairs(pairs.collect(), known[0], known[1])?;
    let query = MessagesQuery::read(&query, &service.rules())?;
    tenants::known_if_named(service, query.tenant()).await?;
    let wanted = MessageFilter::from(query);
    let own = service.look(move |node| {
        BulkMessages::find(node.engine().reader(node.view()), &wanted, act, MESSAGES_MAX)
    });
    let own = own.await??.ok_or_else(too_many)?;
    let mut all = BulkPart::from(own);
    if is_part {
        return Answer::json(StatusCode::OK, &all);
    }
    let Gathered { found, missing } =
        others.gather_within::<BulkPart>(PART_PATIENCE, change.body.to_vec()).await;
    if let Some(missing) = missing.first() {
        let detail = format!("{missing} did not answer: its messages would be left out");
        return Err(Problem::new(Code::NoHolder, detail));
    }
    found.into_iter().for_each(|part| all.add(part));
    let of = all.messages.len();
    if of > MESSAGES_MAX {
        return Err(too_many());
    }
    let concerns =
        CommandConcerns { people: all.people, entries: all.entries, messages: all.changed };
    if expect.is_some_and(|expect| concerns.people > expect) {
        return Err(Problem::grew(concerns));
    }
    if dry {
        let (left_out, concerns) = (all.left_out, concerns.into());
        let foreseen = BulkForeseen { of, left_out, dry: true, concerns };
        return Answer::json(StatusCode::OK, &foreseen);
    }
    let origin = origin().map(|origin| (*origin).clone());
    let at_once = now.unwrap_or_default();
    let new = NewJob { act, filter, origin, at_once, messages: all.messages };
    let made = |replies| match only(replies)? {
        Reply::JobMade { job, of } => {
            Answer::json(StatusCode::ACCEPTED, &JobMade { job: job.to_string(), of })
        }
        _ => Err(Problem::new(Code::Internal, "the node gave an answer of the wrong kind")),
    };
    service.change(change, vec![Command::BeginJob(Box::new(new))], made).await
}

fn too_many() -> Problem {
    let detail = format!("the filter has more than {MESSAGES_MAX} messages");
    Problem::new(Code::TooMany, detail)
}

/// Retry all messages of a filter
///
/// Makes a job that does with each message what `POST /v1/messages/{id}/retry` does: 1,000 a second at most, each once,
/// also if the server stops meanwhile. It begins after ten seconds, so that it can be stopped before. With `dry` the
/// answer is 200 and says what it would do.
#[utoipa::path(
    post, path = "/v1/messages/retry", tag = "messages",
    request_body = BulkChange,
    responses(
        (status = 202, description = "The job is made", body = JobMade),
        (status = 200, description = "What it would do", body = BulkForeseen),
    )
)]
async fn retry_messages(
    State(service): State<Arc<Service>>,
    _: InQuery<BeforeAlone>,
    headers: HeaderMap,
    others: OtherShards,
    change: Change,
) -> Result<Answer, Problem> {
    let is_part = headers.contains_key(&SHARDS);
    bulk(&service, &change, MessageAct::Retry, (&others, is_part)).await
}

/// Cancel all messages of a filter
///
/// Makes a job that does with each message what `POST /v1/messages/{id}/cancel` does, as `retry` of a filter.
#[utoipa::path(
    post, path = "/v1/messages/cancel", tag = "messages",
    request_body = BulkChange,
    responses(
        (status = 202, description = "The job is made", body = JobMade),
        (status = 200, description = "What it would do", body = BulkForeseen),
    )
)]
async fn cancel_messages(
    State(service): State<Arc<Service>>,
    _: InQuery<BeforeAlone>,
    headers: HeaderMap,
    others: OtherShards,
    change: Change,
) -> Result<Answer, Problem> {
    let is_part = headers.contains_key(&SHARDS);
    bulk(&service, &change, MessageAct::Cancel, (&others, is_part)).await
}

/// Resend all messages of a filter
///
/// Makes a job that does with each message what `POST /v1/messages/{id}/resend` does, as `retry` of a filter.
#[utoipa::path(
    post, path = "/v1/messages/resend", tag = "messages",
    request_body = BulkChange,
    responses(
        (status = 202, description = "The job is made", body = JobMade),
        (status = 200, description = "What it would do", body = BulkForeseen),
    )
)]
async fn resend_messages(
    State(service): State<Arc<Service>>,
    _: InQuery<BeforeAlone>,
    headers: HeaderMap,
    others: OtherShards,
    change: Change,
) -> Result<Answer, Problem> {
    let is_part = headers.contains_key(&SHARDS);
    bulk(&service, &change, MessageAct::Resend, (&others, is_part)).await
}

/// List jobs
///
/// Returns the jobs, newest first, as long as the day on which they were made is kept. Comparisons are among them.
#[utoipa::path(
    get, path = "/v1/admin/jobs", tag = "admin",
    params(ListQuery),
    responses((status = 200, description = "A page of jobs", body = JobPage))
)]
async fn list_jobs(
    State(service): State<Arc<Service>>,
    ListPageQuery { pages, .. }: ListPageQuery<(), NewestFirst>,
) -> Result<Answer, Problem> {
    let PageBounds { after, most, .. } = pages.clone();
    let now = service.now();
    logged::know_earlier(&service).await?;
    let comparisons = &service.trials.comparisons;
    let begins = after.clone();
    let page = service.look(move |node| {
        JobReports::of(node.engine().reader(node.view())).page(begins.as_ref(), most)
    });
    let page = page.await??.map(|job| JobShown::of(&job, now));
    let kept_from = now.plus_ms(-service.rules().store.keep_ms);
    let rows = comparisons.since(kept_from).into_iter();
    let rows = rows.filter(|of| after.as_ref().is_none_or(|after| of.position() > *after));
    let rows = ListPage { rows: rows.map(|of| JobShown::from(&*of)).collect(), next: None };
    pages.answer::<JobPage>(ListPage::merged(vec![page, rows], most))
}

/// Get a job
///
/// Returns a job, and how far it has come.
#[utoipa::path(
    get, path = "/v1/admin/jobs/{id}", tag = "admin",
    params(("id" = String, Path, description = "Job id", example = "1709798580000", min_length = 1, max_length = 256)),
    responses((status = 200, description = "The job", body = JobShown))
)]
async fn get_job(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
) -> Result<Answer, Problem> {
    let shown = match found(&service, &id).await? {
        FoundJob::Comparison(comparison) => JobShown::from(&*comparison),
        FoundJob::OfMessages(no) => shown(&service, no).await?,
    };
    Answer::json(StatusCode::OK, &shown)
}

async fn shown(service: &Service, no: JobNo) -> Result<JobShown, Problem> {
    let now = service.now();
    let job = service.look(move |node| JobReports::of(node.engine().reader(node.view())).get(no));
    let job = job.await??.ok_or(Refused::UnknownJob(no))?;
    Ok(JobShown::of(&job, now))
}

/// Stop a job
///
/// Stops a job: what it did stays done. One that is done stays as it is.
#[utoipa::path(
    delete, path = "/v1/admin/jobs/{id}", tag = "admin",
    params(("id" = String, Path, description = "Job id", example = "1709798580000", min_length = 1, max_length = 256)),
    responses((status = 200, description = "The job", body = JobShown))
)]
async fn stop_job(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    let no = match found(&service, &id).await? {
        FoundJob::Comparison(comparison) => {
            if comparison.end_with(ComparisonEnd::stopped(service.now())) {
                let ended = comparison.ended(JobState::Stopped);
                logged::log(&service, ended, origin()).await?;
            }
            return Answer::json(StatusCode::OK, &JobShown::from(&*comparison));
        }
        FoundJob::OfMessages(no) => no,
    };
    let stopped = |replies| only(replies).map(|_| Answer::done());
    service.change(&change, vec![Command::StopJob { job: no }], stopped).await?;
    Answer::json(StatusCode::OK, &shown(&service, no).await?)
}
