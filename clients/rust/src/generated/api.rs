// Written from docs/openapi.json and docs/errors.md by the code in `generate`: change these, and run
// `TIDINGS_BLESS=1 cargo test --test generated`.

use bytes::Bytes;
use futures_util::Stream;
use http::Method;
use serde_json::Value;

use crate::client::Client;
use crate::import::Import;
use crate::live::LiveEvent;
use crate::request::Request;
use crate::stream::ItemStream;
use crate::transport::{Query, segment};
#[allow(clippy::wildcard_imports, reason = "all that calls take and give")]
use crate::types::*;

/// Health, metrics, this document, and the pages of errors
#[derive(Clone, Copy, Debug)]
pub struct ServerCalls<'c>(&'c Client);

impl ServerCalls<'_> {
    /// Get the page of an error.
    ///
    /// Returns the section of `docs/errors.md` on one code: the title, the status, whether to retry, and how to
    /// fix the fault. The `type` of a problem is the path of this call. Needs no key.
    ///
    /// `GET /errors/{code}`
    pub fn error(&self, code: &str) -> Request<String> {
        self.0.call(Method::GET, format!("/errors/{}", segment(code))).text()
    }

    /// Check whether the process is alive.
    ///
    /// Returns 200 as long as the process runs, also while it starts. Needs no key.
    ///
    /// `GET /healthz`
    pub fn health(&self) -> Request<String> {
        self.0.call(Method::GET, "/healthz".to_owned()).text()
    }

    /// Get a guide for language models.
    ///
    /// Returns a short text in Markdown (llmstxt.org): an introduction, the first calls, the pages and all calls of this
    /// server. Needs no key.
    ///
    /// `GET /llms.txt`
    pub fn get_llms_txt(&self) -> Request<String> {
        self.0.call(Method::GET, "/llms.txt".to_owned()).text()
    }

    /// Get the metrics.
    ///
    /// Returns the metrics in Prometheus's text format. Also answers while the store can't be used, with the metrics that
    /// are available then.
    ///
    /// `GET /metrics`
    pub fn metrics(&self) -> Request<String> {
        self.0.call(Method::GET, "/metrics".to_owned()).text()
    }

    /// Check whether the server is ready.
    ///
    /// Returns 503 while the server starts, while the store can't be used or read, and while it stops. A feed that can't be
    /// read is named in an answer of 200, since the server serves. Needs no key.
    ///
    /// `GET /readyz`
    pub fn ready(&self) -> Request<String> {
        self.0.call(Method::GET, "/readyz".to_owned()).text()
    }

    /// List the nodes.
    ///
    /// Returns the nodes that share the store, as of their last heartbeat, sorted by name; an empty list from a server with
    /// a data directory of its own.
    ///
    /// `GET /v1/nodes`
    pub fn nodes(&self) -> Request<Vec<NodeShown>> {
        self.0.call(Method::GET, "/v1/nodes".to_owned()).answer()
    }

    /// Get this document.
    ///
    /// Returns the OpenAPI document of this server. The same text is `docs/openapi.json` of the release. Needs no key.
    ///
    /// `GET /v1/openapi.json`
    pub fn openapi(&self) -> Request<Value> {
        self.0.call(Method::GET, "/v1/openapi.json".to_owned()).answer()
    }

    /// Search by id or address.
    ///
    /// Returns what has this very id; the message whose tag stands in its mail's `X-Tidings-Message`; events with this
    /// cancellation key; and recipients with this address on any channel, as suppressions compare addresses, also those who
    /// had it within `keep`. Without a hit the answer has ids that are spelled alike.
    ///
    /// `POST /v1/search`
    pub fn search(&self, body: &Search) -> Request<SearchResult> {
        self.0.call(Method::POST, "/v1/search".to_owned()).json(body).answer()
    }
}

/// The query of `GET /v1/admin/due`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DueQuery {
    /// Number of scheduled events to list; 100 if absent.
    pub scheduled: Option<u64>,
}

impl DueQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of scheduled events to list; 100 if absent.
    #[must_use]
    pub fn scheduled(mut self, scheduled: u64) -> Self {
        self.scheduled = Some(scheduled);
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.scheduled {
            query.add("scheduled", one);
        }
        query
    }
}

/// The query of `GET /v1/admin/figures`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FiguresQuery {
    /// First day in UTC; 27 days before today if absent.
    pub from: Option<String>,
    /// The day after the last; tomorrow if absent.
    pub to: Option<String>,
    /// Parts by which rows are told apart, with commas: `type`, `category`, `channel`, `tenant`, and one of `hour` and
    /// `day`. One row of all if absent. Hours are kept for 7 days. `tenant` can't be combined with `type`, `category` or
    /// `hour`.
    pub by: Option<String>,
    /// Only this channel.
    pub channel: Option<String>,
    /// Only this type.
    pub type_: Option<String>,
    /// Only this tenant.
    pub tenant: Option<String>,
    /// Measures, with commas; all if absent.
    pub measure: Option<String>,
}

impl FiguresQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// First day in UTC; 27 days before today if absent.
    #[must_use]
    pub fn from(mut self, from: impl Into<String>) -> Self {
        self.from = Some(from.into());
        self
    }

    /// The day after the last; tomorrow if absent.
    #[must_use]
    pub fn to(mut self, to: impl Into<String>) -> Self {
        self.to = Some(to.into());
        self
    }

    /// Parts by which rows are told apart, with commas: `type`, `category`, `channel`, `tenant`, and one of `hour` and
    /// `day`. One row of all if absent. Hours are kept for 7 days. `tenant` can't be combined with `type`, `category` or
    /// `hour`.
    #[must_use]
    pub fn by(mut self, by: impl Into<String>) -> Self {
        self.by = Some(by.into());
        self
    }

    /// Only this channel.
    #[must_use]
    pub fn channel(mut self, channel: impl Into<String>) -> Self {
        self.channel = Some(channel.into());
        self
    }

    /// Only this type.
    #[must_use]
    pub fn type_(mut self, type_: impl Into<String>) -> Self {
        self.type_ = Some(type_.into());
        self
    }

    /// Only this tenant.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// Measures, with commas; all if absent.
    #[must_use]
    pub fn measure(mut self, measure: impl Into<String>) -> Self {
        self.measure = Some(measure.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.from {
            query.add("from", one);
        }
        if let Some(one) = &self.to {
            query.add("to", one);
        }
        if let Some(one) = &self.by {
            query.add("by", one);
        }
        if let Some(one) = &self.channel {
            query.add("channel", one);
        }
        if let Some(one) = &self.type_ {
            query.add("type", one);
        }
        if let Some(one) = &self.tenant {
            query.add("tenant", one);
        }
        if let Some(one) = &self.measure {
            query.add("measure", one);
        }
        query
    }
}

/// The query of `GET /v1/admin/jobs`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListJobsQuery {
    /// Maximum number of rows; 50 if absent.
    pub limit: Option<u64>,
    /// Start of the page: `next` of the previous page of this list with this filter.
    pub cursor: Option<String>,
}

impl ListJobsQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Maximum number of rows; 50 if absent.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Start of the page: `next` of the previous page of this list with this filter.
    #[must_use]
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = Some(cursor.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.limit {
            query.add("limit", one);
        }
        if let Some(one) = &self.cursor {
            query.add("cursor", one);
        }
        query
    }
}

/// The query of `GET /v1/admin/log`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListLogQuery {
    /// Only changes of this author: `KIND:ID`, such as `key:k1` or `user:ada`.
    pub by: Option<String>,
    /// Only changes of this action: the name of a call, or one of the actions that are no calls.
    pub action: Option<String>,
    /// Only changes of this subject: `KIND:ID`, such as `recipient:ada` or `channel:email`.
    pub subject: Option<String>,
    /// Only changes of this tenant.
    pub tenant: Option<String>,
    /// Only changes of this time or later.
    pub from: Option<String>,
    /// Only changes before this time.
    pub to: Option<String>,
    /// Maximum number of rows; 50 if absent.
    pub limit: Option<u64>,
    /// Start of the page: `next` of the previous page of this list with this filter.
    pub cursor: Option<String>,
}

impl ListLogQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only changes of this author: `KIND:ID`, such as `key:k1` or `user:ada`.
    #[must_use]
    pub fn by(mut self, by: impl Into<String>) -> Self {
        self.by = Some(by.into());
        self
    }

    /// Only changes of this action: the name of a call, or one of the actions that are no calls.
    #[must_use]
    pub fn action(mut self, action: impl Into<String>) -> Self {
        self.action = Some(action.into());
        self
    }

    /// Only changes of this subject: `KIND:ID`, such as `recipient:ada` or `channel:email`.
    #[must_use]
    pub fn subject(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// Only changes of this tenant.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// Only changes of this time or later.
    #[must_use]
    pub fn from(mut self, from: impl Into<String>) -> Self {
        self.from = Some(from.into());
        self
    }

    /// Only changes before this time.
    #[must_use]
    pub fn to(mut self, to: impl Into<String>) -> Self {
        self.to = Some(to.into());
        self
    }

    /// Maximum number of rows; 50 if absent.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Start of the page: `next` of the previous page of this list with this filter.
    #[must_use]
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = Some(cursor.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.by {
            query.add("by", one);
        }
        if let Some(one) = &self.action {
            query.add("action", one);
        }
        if let Some(one) = &self.subject {
            query.add("subject", one);
        }
        if let Some(one) = &self.tenant {
            query.add("tenant", one);
        }
        if let Some(one) = &self.from {
            query.add("from", one);
        }
        if let Some(one) = &self.to {
            query.add("to", one);
        }
        if let Some(one) = &self.limit {
            query.add("limit", one);
        }
        if let Some(one) = &self.cursor {
            query.add("cursor", one);
        }
        query
    }
}

/// The query of `GET /v1/admin/sessions`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListSessionsQuery {
    /// Maximum number of rows; 50 if absent.
    pub limit: Option<u64>,
    /// Start of the page: `next` of the previous page of this list with this filter.
    pub cursor: Option<String>,
}

impl ListSessionsQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Maximum number of rows; 50 if absent.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Start of the page: `next` of the previous page of this list with this filter.
    #[must_use]
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = Some(cursor.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.limit {
            query.add("limit", one);
        }
        if let Some(one) = &self.cursor {
            query.add("cursor", one);
        }
        query
    }
}

/// The query of `GET /v1/export`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportQuery {
    /// Days, today included; 7 if absent
    pub days: Option<u64>,
    /// Only data of this tenant
    pub tenant: Option<String>,
}

impl ExportQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Days, today included; 7 if absent
    #[must_use]
    pub fn days(mut self, days: u64) -> Self {
        self.days = Some(days);
        self
    }

    /// Only data of this tenant
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.days {
            query.add("days", one);
        }
        if let Some(one) = &self.tenant {
            query.add("tenant", one);
        }
        query
    }
}

/// Status and actions for operators
#[derive(Clone, Copy, Debug)]
pub struct AdminCalls<'c>(&'c Client);

impl AdminCalls<'_> {
    /// Back up everything.
    ///
    /// Streams the content of the store at one moment; the server continues meanwhile. `tidings restore` creates a store
    /// from it and refuses an incomplete backup. The stream ends if its reader accepts no data for 30 seconds, or less than
    /// 64 KiB a second over a minute. Two backups may run at once. Days that are deleted meanwhile keep their disk space
    /// until the backup ends.
    ///
    /// `GET /v1/admin/backup`
    pub fn backup(&self) -> ItemStream<Bytes> {
        self.0.call(Method::GET, "/v1/admin/backup".to_owned()).bytes()
    }

    /// Check edits of the configuration.
    ///
    /// Says which faults the configuration that is in force would have with these edits, and shows them as a diff of its
    /// file. Comments and layout stay. Nothing is put in force, and the server never writes the file: apply the diff, and
    /// reload the configuration. Files beside the configuration (templates, books of words) are read as they are now.
    ///
    /// `POST /v1/admin/check`
    pub fn check(&self, body: &Edits) -> Request<EditsChecked> {
        self.0.call(Method::POST, "/v1/admin/check".to_owned()).json(body).answer()
    }

    /// Compare the configuration with itself under edits.
    ///
    /// Begins a job that plays the last days under the configuration that is in force and under the same with these edits,
    /// and counts messages, delays and what is left out: `result` of `GET /v1/admin/jobs/{id}`. Events are played with the
    /// recipients, subscriptions and preferences of now. Nothing is sent, and nothing is put in force. One comparison runs at
    /// a time, on one processor; it is stopped by a restart, and by `DELETE`.
    ///
    /// `POST /v1/admin/compare`
    pub fn compare(&self, body: &Comparison) -> Request<ComparisonBegun> {
        self.0.call(Method::POST, "/v1/admin/compare".to_owned()).json(body).answer()
    }

    /// List due lanes, messages and events.
    ///
    /// Returns the number of open lanes by the hour in which they are due, the messages that are being sent or wait for a
    /// retry, and the scheduled events. A lane with only cancelled entries counts too; it sends nothing.
    ///
    /// `GET /v1/admin/due`
    pub fn due(&self, query: &DueQuery) -> Request<DueAnswer> {
        self.0.call(Method::GET, "/v1/admin/due".to_owned()).query(query.query()).answer()
    }

    /// Get figures.
    ///
    /// Returns what was published, told, seen and muted, by day or hour in UTC. Figures outlive the days themselves: they are
    /// kept for `[figures] keep`. With `Accept: text/csv` the rows are a table. There are at most 100,000 rows.
    ///
    /// `GET /v1/admin/figures`
    pub fn figures(&self, query: &FiguresQuery) -> Request<Figures> {
        self.0.call(Method::GET, "/v1/admin/figures".to_owned()).query(query.query()).answer()
    }

    /// Delete old days.
    ///
    /// Permanently deletes all data of the days before a date. Notifications that were not sent end as `expired`. Today is
    /// always kept.
    ///
    /// `POST /v1/admin/forget`
    pub fn forget(&self, body: &ForgetDays) -> Request<DroppedDays> {
        self.0.call(Method::POST, "/v1/admin/forget".to_owned()).json(body).once().answer()
    }

    /// List jobs, page after page as they are reached.
    ///
    /// Returns the jobs, newest first, as long as the day on which they were made is kept. Comparisons are among them.
    ///
    /// `GET /v1/admin/jobs`
    pub fn list_jobs(&self, query: &ListJobsQuery) -> ItemStream<JobShown> {
        self.0.pages("/v1/admin/jobs".to_owned(), query.query(), |page: JobPage| {
            (page.jobs, page.next)
        })
    }

    /// List jobs: one page.
    ///
    /// Returns the jobs, newest first, as long as the day on which they were made is kept. Comparisons are among them.
    ///
    /// `GET /v1/admin/jobs`
    pub fn list_jobs_page(&self, query: &ListJobsQuery) -> Request<JobPage> {
        self.0.call(Method::GET, "/v1/admin/jobs".to_owned()).query(query.query()).answer()
    }

    /// Get a job.
    ///
    /// Returns a job, and how far it has come.
    ///
    /// `GET /v1/admin/jobs/{id}`
    pub fn get_job(&self, id: &str) -> Request<JobShown> {
        self.0.call(Method::GET, format!("/v1/admin/jobs/{}", segment(id))).answer()
    }

    /// Stop a job.
    ///
    /// Stops a job: what it did stays done. One that is done stays as it is.
    ///
    /// `DELETE /v1/admin/jobs/{id}`
    pub fn stop_job(&self, id: &str) -> Request<JobShown> {
        self.0.call(Method::DELETE, format!("/v1/admin/jobs/{}", segment(id))).once().answer()
    }

    /// List the API keys.
    ///
    /// Lists the accepted keys by id and name. The keys themselves are not stored.
    ///
    /// `GET /v1/admin/keys`
    pub fn list_keys(&self) -> Request<KeysAnswer> {
        self.0.call(Method::GET, "/v1/admin/keys".to_owned()).answer()
    }

    /// Make an API key.
    ///
    /// The key is accepted at once, and shown in this answer only. A request that is sent again with the same
    /// `Idempotency-Key` makes no second key; its answer has everything but the key.
    ///
    /// `POST /v1/admin/keys`
    pub fn make_key(&self, body: &KeyToMake) -> Request<KeyMade> {
        self.0.call(Method::POST, "/v1/admin/keys".to_owned()).json(body).once().answer()
    }

    /// Revoke an API key.
    ///
    /// Requests with the key are refused from now on.
    ///
    /// `DELETE /v1/admin/keys/{id}`
    pub fn revoke_key(&self, id: &str) -> Request<()> {
        self.0.call(Method::DELETE, format!("/v1/admin/keys/{}", segment(id))).once().nothing()
    }

    /// List the log of changes, page after page as they are reached.
    ///
    /// Returns who changed what, newest first. A line is written in the commit of its change. It has no name, address,
    /// data or text. Events, objects, subscriptions and marks are not in the log.
    ///
    /// `GET /v1/admin/log`
    pub fn list_log(&self, query: &ListLogQuery) -> ItemStream<LoggedChange> {
        self.0
            .pages("/v1/admin/log".to_owned(), query.query(), |page: LogPage| (page.log, page.next))
    }

    /// List the log of changes: one page.
    ///
    /// Returns who changed what, newest first. A line is written in the commit of its change. It has no name, address,
    /// data or text. Events, objects, subscriptions and marks are not in the log.
    ///
    /// `GET /v1/admin/log`
    pub fn list_log_page(&self, query: &ListLogQuery) -> Request<LogPage> {
        self.0.call(Method::GET, "/v1/admin/log".to_owned()).query(query.query()).answer()
    }

    /// List sessions, page after page as they are reached.
    ///
    /// Returns who is signed in to the console, newest first. Sessions that have ended are not listed.
    ///
    /// `GET /v1/admin/sessions`
    pub fn list_sessions(&self, query: &ListSessionsQuery) -> ItemStream<Session> {
        self.0.pages("/v1/admin/sessions".to_owned(), query.query(), |page: SessionPage| {
            (page.sessions, page.next)
        })
    }

    /// List sessions: one page.
    ///
    /// Returns who is signed in to the console, newest first. Sessions that have ended are not listed.
    ///
    /// `GET /v1/admin/sessions`
    pub fn list_sessions_page(&self, query: &ListSessionsQuery) -> Request<SessionPage> {
        self.0.call(Method::GET, "/v1/admin/sessions".to_owned()).query(query.query()).answer()
    }

    /// End a session.
    ///
    /// Whoever is signed in by it has to sign in again.
    ///
    /// `DELETE /v1/admin/sessions/{id}`
    pub fn end_session(&self, id: &str) -> Request<()> {
        self.0.call(Method::DELETE, format!("/v1/admin/sessions/{}", segment(id))).once().nothing()
    }

    /// List the signing keys.
    ///
    /// Lists the keys by which tokens of end users are checked, without their secrets.
    ///
    /// `GET /v1/admin/signing-keys`
    pub fn list_signing_keys(&self) -> Request<SigningKeysAnswer> {
        self.0.call(Method::GET, "/v1/admin/signing-keys".to_owned()).answer()
    }

    /// Make a signing key.
    ///
    /// Tokens that are signed by it are accepted at once. A secret is shown in this answer only, and opens nothing by
    /// itself. A request that is sent again with the same `Idempotency-Key` makes no second key; its answer has everything
    /// but the secret.
    ///
    /// `POST /v1/admin/signing-keys`
    pub fn make_signing_key(&self, body: &SigningKeyToMake) -> Request<SigningKeyMade> {
        self.0.call(Method::POST, "/v1/admin/signing-keys".to_owned()).json(body).once().answer()
    }

    /// Revoke a signing key.
    ///
    /// Tokens that were signed by it are refused from now on.
    ///
    /// `DELETE /v1/admin/signing-keys/{id}`
    pub fn revoke_signing_key(&self, id: &str) -> Request<()> {
        self.0
            .call(Method::DELETE, format!("/v1/admin/signing-keys/{}", segment(id)))
            .once()
            .nothing()
    }

    /// Get the status of the server.
    ///
    /// Returns the counts of recipients and of entries by outcome, and the paused types and channels.
    ///
    /// `GET /v1/admin/status`
    pub fn status(&self) -> Request<StatusAnswer> {
        self.0.call(Method::GET, "/v1/admin/status".to_owned()).answer()
    }

    /// Sign a token for development.
    ///
    /// Signs with the key named `development`, which is made where there is none. An application signs tokens itself, with
    /// a signing key of its own, and asks nobody. Nothing of this answer is stored.
    ///
    /// `POST /v1/admin/tokens`
    pub fn sign_token(&self, body: &TokenToSign) -> Request<TokenSigned> {
        self.0.call(Method::POST, "/v1/admin/tokens".to_owned()).json(body).answer()
    }

    /// Export the last days as a timeline.
    ///
    /// Streams lines that `tidings simulate` plays: first all tenants, recipients, memberships, subscriptions and
    /// preferences as they are now, then the events of the last days as they were accepted, today included, and last the
    /// disabled tenants. Scheduled events, changes of objects, marks and cancels are not included, nor are events of
    /// deleted tenants. The export of one tenant has its members by name, and its events. Two exports may run at once, one
    /// for each API key. The stream ends if its reader takes less than 64 KiB a second over a minute.
    ///
    /// `GET /v1/export`
    pub fn export(&self, query: &ExportQuery) -> ItemStream<Value> {
        self.0.call(Method::GET, "/v1/export".to_owned()).query(query.query()).lines()
    }
}

/// The query of `GET /v1/events`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListEventsQuery {
    /// Only events of this type.
    pub type_: Option<String>,
    /// Only events with this actor.
    pub actor: Option<String>,
    /// Only events with this object.
    pub object: Option<String>,
    /// Only events with this target.
    pub target: Option<String>,
    /// Only events of this tenant.
    pub tenant: Option<String>,
    /// Only events in whose audience this recipient was, with `channels`.
    pub recipient: Option<String>,
    /// Only events that arrived at this time or later.
    pub from: Option<String>,
    /// Only events that arrived before this time.
    pub to: Option<String>,
    /// Maximum number of rows; 50 if absent.
    pub limit: Option<u64>,
    /// Start of the page: `next` of the previous page of this list with this filter.
    pub cursor: Option<String>,
}

impl ListEventsQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only events of this type.
    #[must_use]
    pub fn type_(mut self, type_: impl Into<String>) -> Self {
        self.type_ = Some(type_.into());
        self
    }

    /// Only events with this actor.
    #[must_use]
    pub fn actor(mut self, actor: impl Into<String>) -> Self {
        self.actor = Some(actor.into());
        self
    }

    /// Only events with this object.
    #[must_use]
    pub fn object(mut self, object: impl Into<String>) -> Self {
        self.object = Some(object.into());
        self
    }

    /// Only events with this target.
    #[must_use]
    pub fn target(mut self, target: impl Into<String>) -> Self {
        self.target = Some(target.into());
        self
    }

    /// Only events of this tenant.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// Only events in whose audience this recipient was, with `channels`.
    #[must_use]
    pub fn recipient(mut self, recipient: impl Into<String>) -> Self {
        self.recipient = Some(recipient.into());
        self
    }

    /// Only events that arrived at this time or later.
    #[must_use]
    pub fn from(mut self, from: impl Into<String>) -> Self {
        self.from = Some(from.into());
        self
    }

    /// Only events that arrived before this time.
    #[must_use]
    pub fn to(mut self, to: impl Into<String>) -> Self {
        self.to = Some(to.into());
        self
    }

    /// Maximum number of rows; 50 if absent.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Start of the page: `next` of the previous page of this list with this filter.
    #[must_use]
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = Some(cursor.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.type_ {
            query.add("type", one);
        }
        if let Some(one) = &self.actor {
            query.add("actor", one);
        }
        if let Some(one) = &self.object {
            query.add("object", one);
        }
        if let Some(one) = &self.target {
            query.add("target", one);
        }
        if let Some(one) = &self.tenant {
            query.add("tenant", one);
        }
        if let Some(one) = &self.recipient {
            query.add("recipient", one);
        }
        if let Some(one) = &self.from {
            query.add("from", one);
        }
        if let Some(one) = &self.to {
            query.add("to", one);
        }
        if let Some(one) = &self.limit {
            query.add("limit", one);
        }
        if let Some(one) = &self.cursor {
            query.add("cursor", one);
        }
        query
    }
}

/// The query of `GET /v1/events/{id}/recipients`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListEventRecipientsQuery {
    /// Only this channel counts for `outcome` and `reason`.
    pub channel: Option<String>,
    /// Only recipients with a notification in this state: `scheduled`, `pending`, `sending`, `delivered`, `cancelled`,
    /// `skipped`, `expired`, `failed`, `unknown` or `left_out`.
    pub outcome: Option<String>,
    /// Only recipients with a notification with this reason; with `outcome` the same one.
    pub reason: Option<String>,
    /// Maximum number of rows; 50 if absent.
    pub limit: Option<u64>,
    /// Start of the page: `next` of the previous page of this list with this filter.
    pub cursor: Option<String>,
}

impl ListEventRecipientsQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only this channel counts for `outcome` and `reason`.
    #[must_use]
    pub fn channel(mut self, channel: impl Into<String>) -> Self {
        self.channel = Some(channel.into());
        self
    }

    /// Only recipients with a notification in this state: `scheduled`, `pending`, `sending`, `delivered`, `cancelled`,
    /// `skipped`, `expired`, `failed`, `unknown` or `left_out`.
    #[must_use]
    pub fn outcome(mut self, outcome: impl Into<String>) -> Self {
        self.outcome = Some(outcome.into());
        self
    }

    /// Only recipients with a notification with this reason; with `outcome` the same one.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Maximum number of rows; 50 if absent.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Start of the page: `next` of the previous page of this list with this filter.
    #[must_use]
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = Some(cursor.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.channel {
            query.add("channel", one);
        }
        if let Some(one) = &self.outcome {
            query.add("outcome", one);
        }
        if let Some(one) = &self.reason {
            query.add("reason", one);
        }
        if let Some(one) = &self.limit {
            query.add("limit", one);
        }
        if let Some(one) = &self.cursor {
            query.add("cursor", one);
        }
        query
    }
}

/// Publish events, get their outcome, cancel them
#[derive(Clone, Copy, Debug)]
pub struct EventsCalls<'c>(&'c Client);

impl EventsCalls<'_> {
    /// Cancel all events of a key.
    ///
    /// Cancels all events published with this `cancellation_key` so far. The counts are sums over all of them.
    ///
    /// `POST /v1/cancel`
    pub fn cancel_all(&self, body: &CancelKey) -> Request<CancelAnswer> {
        self.0.call(Method::POST, "/v1/cancel".to_owned()).json(body).once().answer()
    }

    /// List events, page after page as they are reached.
    ///
    /// Returns events, newest first by their arrival, as long as the day of their arrival is kept. With `recipient`, those in
    /// whose audience the recipient was, with what became of their notifications.
    ///
    /// `GET /v1/events`
    pub fn list(&self, query: &ListEventsQuery) -> ItemStream<ListedEvent> {
        self.0.pages("/v1/events".to_owned(), query.query(), |page: EventsPage| {
            (page.events, page.next)
        })
    }

    /// List events: one page.
    ///
    /// Returns events, newest first by their arrival, as long as the day of their arrival is kept. With `recipient`, those in
    /// whose audience the recipient was, with what became of their notifications.
    ///
    /// `GET /v1/events`
    pub fn page(&self, query: &ListEventsQuery) -> Request<EventsPage> {
        self.0.call(Method::GET, "/v1/events".to_owned()).query(query.query()).answer()
    }

    /// Publish events: one.
    ///
    /// Takes one event as an object, many as an array (`application/json`), or a stream of any length with one event per
    /// line (`application/x-ndjson`). Events are answered in order, once they are durable.
    ///
    /// An event with a known id is a `duplicate`: nothing happens. An event without an id gets one. (With shards on several
    /// nodes it derives from an `Idempotency-Key` and the request.) An invalid event of an array is `rejected` with its
    /// problem, and the others are accepted.
    ///
    /// In a cluster the answer waits up to a second until all shards have applied the event, and `applied` says whether
    /// they have. With `Prefer: respond-async` it does not wait.
    ///
    /// A stream is read as fast as it becomes durable, and each line is answered like an item of an array. Read the answers
    /// while you write. A problem of the server (status 429 or 503) ends the stream: send the lines without an answer
    /// again, with the same ids. With an `Idempotency-Key`, an event without an id gets one that derives from the key, the
    /// line number and the line's content, so that it is a duplicate when sent again.
    ///
    /// CloudEvents 1.0 (the schema `CloudEvent`) are accepted in structured mode (`application/cloudevents+json`), as a
    /// batch (`application/cloudevents-batch+json`), and in binary mode (any JSON with the headers `ce-specversion`,
    /// `ce-id`, `ce-source` and `ce-type`). Their `type` and `id` are those of the event, their `data` is the body without
    /// the two. `time` becomes `occurred_at`, `traceparent` becomes `trace`. A batch is answered like an array.
    ///
    /// `POST /v1/events`
    pub fn publish(&self, event: &Event) -> Request<PublishedEvent> {
        self.0.call(Method::POST, "/v1/events".to_owned()).json(event).once().answer()
    }

    /// Publish events: several at once.
    ///
    /// Takes one event as an object, many as an array (`application/json`), or a stream of any length with one event per
    /// line (`application/x-ndjson`). Events are answered in order, once they are durable.
    ///
    /// An event with a known id is a `duplicate`: nothing happens. An event without an id gets one. (With shards on several
    /// nodes it derives from an `Idempotency-Key` and the request.) An invalid event of an array is `rejected` with its
    /// problem, and the others are accepted.
    ///
    /// In a cluster the answer waits up to a second until all shards have applied the event, and `applied` says whether
    /// they have. With `Prefer: respond-async` it does not wait.
    ///
    /// A stream is read as fast as it becomes durable, and each line is answered like an item of an array. Read the answers
    /// while you write. A problem of the server (status 429 or 503) ends the stream: send the lines without an answer
    /// again, with the same ids. With an `Idempotency-Key`, an event without an id gets one that derives from the key, the
    /// line number and the line's content, so that it is a duplicate when sent again.
    ///
    /// CloudEvents 1.0 (the schema `CloudEvent`) are accepted in structured mode (`application/cloudevents+json`), as a
    /// batch (`application/cloudevents-batch+json`), and in binary mode (any JSON with the headers `ce-specversion`,
    /// `ce-id`, `ce-source` and `ce-type`). Their `type` and `id` are those of the event, their `data` is the body without
    /// the two. `time` becomes `occurred_at`, `traceparent` becomes `trace`. A batch is answered like an array.
    ///
    /// `POST /v1/events`
    pub fn publish_many(&self, events: &[Event]) -> Request<Vec<EventOutcome>> {
        self.0.call(Method::POST, "/v1/events".to_owned()).json(events).once().answer()
    }

    /// Publish events: any number, sent in parts.
    ///
    /// Takes one event as an object, many as an array (`application/json`), or a stream of any length with one event per
    /// line (`application/x-ndjson`). Events are answered in order, once they are durable.
    ///
    /// An event with a known id is a `duplicate`: nothing happens. An event without an id gets one. (With shards on several
    /// nodes it derives from an `Idempotency-Key` and the request.) An invalid event of an array is `rejected` with its
    /// problem, and the others are accepted.
    ///
    /// In a cluster the answer waits up to a second until all shards have applied the event, and `applied` says whether
    /// they have. With `Prefer: respond-async` it does not wait.
    ///
    /// A stream is read as fast as it becomes durable, and each line is answered like an item of an array. Read the answers
    /// while you write. A problem of the server (status 429 or 503) ends the stream: send the lines without an answer
    /// again, with the same ids. With an `Idempotency-Key`, an event without an id gets one that derives from the key, the
    /// line number and the line's content, so that it is a duplicate when sent again.
    ///
    /// CloudEvents 1.0 (the schema `CloudEvent`) are accepted in structured mode (`application/cloudevents+json`), as a
    /// batch (`application/cloudevents-batch+json`), and in binary mode (any JSON with the headers `ce-specversion`,
    /// `ce-id`, `ce-source` and `ce-type`). Their `type` and `id` are those of the event, their `data` is the body without
    /// the two. `time` becomes `occurred_at`, `traceparent` becomes `trace`. A batch is answered like an array.
    ///
    /// `POST /v1/events`
    pub fn import<L>(&self, lines: L) -> Import<EventLineAnswer>
    where
        L: IntoIterator<Item = Event>,
        L::IntoIter: Send + 'static,
    {
        Import::new(self.0, "/v1/events".to_owned(), futures_util::stream::iter(lines))
    }

    /// Publish events: any number as they come, sent in parts.
    ///
    /// Takes one event as an object, many as an array (`application/json`), or a stream of any length with one event per
    /// line (`application/x-ndjson`). Events are answered in order, once they are durable.
    ///
    /// An event with a known id is a `duplicate`: nothing happens. An event without an id gets one. (With shards on several
    /// nodes it derives from an `Idempotency-Key` and the request.) An invalid event of an array is `rejected` with its
    /// problem, and the others are accepted.
    ///
    /// In a cluster the answer waits up to a second until all shards have applied the event, and `applied` says whether
    /// they have. With `Prefer: respond-async` it does not wait.
    ///
    /// A stream is read as fast as it becomes durable, and each line is answered like an item of an array. Read the answers
    /// while you write. A problem of the server (status 429 or 503) ends the stream: send the lines without an answer
    /// again, with the same ids. With an `Idempotency-Key`, an event without an id gets one that derives from the key, the
    /// line number and the line's content, so that it is a duplicate when sent again.
    ///
    /// CloudEvents 1.0 (the schema `CloudEvent`) are accepted in structured mode (`application/cloudevents+json`), as a
    /// batch (`application/cloudevents-batch+json`), and in binary mode (any JSON with the headers `ce-specversion`,
    /// `ce-id`, `ce-source` and `ce-type`). Their `type` and `id` are those of the event, their `data` is the body without
    /// the two. `time` becomes `occurred_at`, `traceparent` becomes `trace`. A batch is answered like an array.
    ///
    /// `POST /v1/events`
    pub fn import_stream(
        &self,
        lines: impl Stream<Item = Event> + Send + 'static,
    ) -> Import<EventLineAnswer> {
        Import::new(self.0, "/v1/events".to_owned(), lines)
    }

    /// Get an event and its outcome.
    ///
    /// Returns the event, and the number of its entries by channel, outcome and reason, as long as the day of its arrival
    /// is kept.
    ///
    /// `GET /v1/events/{id}`
    pub fn get(&self, id: &str) -> Request<EventWithOutcome> {
        self.0.call(Method::GET, format!("/v1/events/{}", segment(id))).answer()
    }

    /// Cancel an event.
    ///
    /// Cancels pending notifications at once, and removes them from messages that are built and not handed over yet.
    /// `status` is the extent of the cancel. An unknown event is not an error: the status is `remembered`, and the event is
    /// cancelled if it arrives within 24 hours.
    ///
    /// `POST /v1/events/{id}/cancel`
    pub fn cancel(&self, id: &str, body: &OfTenant) -> Request<CancelAnswer> {
        self.0
            .call(Method::POST, format!("/v1/events/{}/cancel", segment(id)))
            .json(body)
            .once()
            .answer()
    }

    /// List the recipients of an event, page after page as they are reached.
    ///
    /// Returns all whom the audience of the event reached, whether they got a notification or not, sorted by the bytes of
    /// their ids, as long as the day of its arrival is kept.
    ///
    /// `GET /v1/events/{id}/recipients`
    pub fn recipients(
        &self,
        id: &str,
        query: &ListEventRecipientsQuery,
    ) -> ItemStream<EventRecipient> {
        self.0.pages(
            format!("/v1/events/{}/recipients", segment(id)),
            query.query(),
            |page: EventRecipientsPage| (page.recipients, page.next),
        )
    }

    /// List the recipients of an event: one page.
    ///
    /// Returns all whom the audience of the event reached, whether they got a notification or not, sorted by the bytes of
    /// their ids, as long as the day of its arrival is kept.
    ///
    /// `GET /v1/events/{id}/recipients`
    pub fn recipients_page(
        &self,
        id: &str,
        query: &ListEventRecipientsQuery,
    ) -> Request<EventRecipientsPage> {
        self.0
            .call(Method::GET, format!("/v1/events/{}/recipients", segment(id)))
            .query(query.query())
            .answer()
    }

    /// Withdraw an event.
    ///
    /// Cancels the event as `cancel` does, and removes it from inboxes. Removed entries still count as delivered.
    ///
    /// `POST /v1/events/{id}/withdraw`
    pub fn withdraw(&self, id: &str, body: &OfTenant) -> Request<CancelAnswer> {
        self.0
            .call(Method::POST, format!("/v1/events/{}/withdraw", segment(id)))
            .json(body)
            .once()
            .answer()
    }

    /// Explain why recipients got an event, or did not.
    ///
    /// Returns the rules in their order, each with its inputs and its result, up to the message that carried the event or
    /// the rule that ended it, as long as the day of the event's arrival is kept. Facts that are not stored, such as the
    /// audience of that time, are shown as they are now, and marked so. An event in place of an id is hypothetical: the
    /// answer shows its result if it were published now, and nothing is published. The body has at most 512 KiB.
    ///
    /// Without a recipient the answer counts the whole audience by channel, outcome and reason. A hypothetical event is told
    /// as at the end of the instant of its arrival: what would be sent is pending.
    ///
    /// `POST /v1/explain`
    pub fn explain(&self, body: &Explain) -> Request<Explanation> {
        self.0.call(Method::POST, "/v1/explain".to_owned()).json(body).answer()
    }

    /// Withdraw an event, or all events of a key.
    ///
    /// Withdraws one event, or all events published with this `cancellation_key` so far. The counts are sums over all of
    /// them.
    ///
    /// `POST /v1/withdraw`
    pub fn withdraw_all(&self, body: &CancelKey) -> Request<CancelAnswer> {
        self.0.call(Method::POST, "/v1/withdraw".to_owned()).json(body).once().answer()
    }
}

/// List, pause and resume types and channels
#[derive(Clone, Copy, Debug)]
pub struct ConfigurationCalls<'c>(&'c Client);

impl ConfigurationCalls<'_> {
    /// Pause a channel.
    ///
    /// Closes no lane of the channel and sends no message on it, retries included, until it is resumed. A paused inbox does
    /// not show new notifications.
    ///
    /// `POST /v1/channels/{channel}/pause`
    pub fn pause_channel(&self, channel: &str) -> Request<()> {
        self.0
            .call(Method::POST, format!("/v1/channels/{}/pause", segment(channel)))
            .once()
            .nothing()
    }

    /// Resume a channel.
    ///
    /// Sends due lanes at once, one message per lane.
    ///
    /// `POST /v1/channels/{channel}/resume`
    pub fn resume_channel(&self, channel: &str) -> Request<()> {
        self.0
            .call(Method::POST, format!("/v1/channels/{}/resume", segment(channel)))
            .once()
            .nothing()
    }

    /// List types, categories, digests and channels.
    ///
    /// Returns the configuration in force, as a host needs it to publish and to show a preference page.
    ///
    /// `GET /v1/types`
    pub fn types(&self) -> Request<TypesAnswer> {
        self.0.call(Method::GET, "/v1/types".to_owned()).answer()
    }

    /// Pause a type.
    ///
    /// Holds the notifications of the type in a lane of their own, pending ones included. Other types are sent as before. A
    /// message that is already built and includes the type waits too.
    ///
    /// `POST /v1/types/{type}/pause`
    pub fn pause_type(&self, type_: &str) -> Request<()> {
        self.0.call(Method::POST, format!("/v1/types/{}/pause", segment(type_))).once().nothing()
    }

    /// Resume a type.
    ///
    /// Returns waiting notifications to the lanes that apply now, by their time: overdue ones are sent at once, a digest
    /// sends them at its next slot.
    ///
    /// `POST /v1/types/{type}/resume`
    pub fn resume_type(&self, type_: &str) -> Request<()> {
        self.0.call(Method::POST, format!("/v1/types/{}/resume", segment(type_))).once().nothing()
    }
}

/// The query of `GET /v1/feeds/{name}/parked`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListParkedQuery {
    /// Maximum number of rows; 50 if absent.
    pub limit: Option<u64>,
    /// Start of the page: `next` of the previous page of this list with this filter.
    pub cursor: Option<String>,
}

impl ListParkedQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Maximum number of rows; 50 if absent.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Start of the page: `next` of the previous page of this list with this filter.
    #[must_use]
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = Some(cursor.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.limit {
            query.add("limit", one);
        }
        if let Some(one) = &self.cursor {
            query.add("cursor", one);
        }
        query
    }
}

/// Databases from which events are read
#[derive(Clone, Copy, Debug)]
pub struct FeedsCalls<'c>(&'c Client);

impl FeedsCalls<'_> {
    /// List the feeds.
    ///
    /// Returns the feeds of the configuration, by name, with their present state.
    ///
    /// `GET /v1/feeds`
    pub fn list(&self) -> Request<Vec<Feed>> {
        self.0.call(Method::GET, "/v1/feeds".to_owned()).answer()
    }

    /// List the parked rows of a feed, page after page as they are reached.
    ///
    /// Returns the rows that were refused, newest first by the time when the host wrote them, each with its problem.
    ///
    /// `GET /v1/feeds/{name}/parked`
    pub fn parked(&self, name: &str, query: &ListParkedQuery) -> ItemStream<ParkedRow> {
        self.0.pages(
            format!("/v1/feeds/{}/parked", segment(name)),
            query.query(),
            |page: ParkedPage| (page.parked, page.next),
        )
    }

    /// List the parked rows of a feed: one page.
    ///
    /// Returns the rows that were refused, newest first by the time when the host wrote them, each with its problem.
    ///
    /// `GET /v1/feeds/{name}/parked`
    pub fn parked_page(&self, name: &str, query: &ListParkedQuery) -> Request<ParkedPage> {
        self.0
            .call(Method::GET, format!("/v1/feeds/{}/parked", segment(name)))
            .query(query.query())
            .answer()
    }

    /// Pause a feed.
    ///
    /// Stops reading from the database until the feed is resumed, also after a restart. Rows wait in the table.
    ///
    /// `POST /v1/feeds/{name}/pause`
    pub fn pause(&self, name: &str) -> Request<()> {
        self.0.call(Method::POST, format!("/v1/feeds/{}/pause", segment(name))).once().nothing()
    }

    /// Resume a feed.
    ///
    /// Reads a feed again that was paused, or that stopped by itself.
    ///
    /// `POST /v1/feeds/{name}/resume`
    pub fn resume(&self, name: &str) -> Request<()> {
        self.0.call(Method::POST, format!("/v1/feeds/{}/resume", segment(name))).once().nothing()
    }
}

/// Services of the host that are called about messages, preferences and addresses
#[derive(Clone, Copy, Debug)]
pub struct HooksCalls<'c>(&'c Client);

impl HooksCalls<'_> {
    /// List the hooks.
    ///
    /// Returns the services of the host that receive occurrences of messages, preferences and addresses, in the order of
    /// the configuration. In a cluster each node calls them about its own shards: the counts are sums over the nodes that
    /// answered.
    ///
    /// `GET /v1/hooks`
    pub fn list(&self) -> Request<Vec<Hook>> {
        self.0.call(Method::GET, "/v1/hooks".to_owned()).answer()
    }

    /// Replay a hook.
    ///
    /// Sends the occurrences since an instant again, of the kinds that the hook wants, under the same ids. Nothing is sent
    /// of deleted days, nor of times at which no hook wanted such occurrences.
    ///
    /// `POST /v1/hooks/{name}/replay`
    pub fn replay(&self, name: &str, body: &Replay) -> Request<()> {
        self.0
            .call(Method::POST, format!("/v1/hooks/{}/replay", segment(name)))
            .json(body)
            .once()
            .nothing()
    }

    /// Resume a hook.
    ///
    /// Turns a hook on that answered 410 and is off, which a restart does not change. Occurrences that it missed are sent.
    ///
    /// `POST /v1/hooks/{name}/resume`
    pub fn resume(&self, name: &str) -> Request<()> {
        self.0.call(Method::POST, format!("/v1/hooks/{}/resume", segment(name))).once().nothing()
    }
}

/// The query of `POST /v1/me/flush`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlushMineQuery {
    /// Only entries of this tenant and those without a tenant, as with a token with this claim
    pub tenant: Option<String>,
}

impl FlushMineQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only entries of this tenant and those without a tenant, as with a token with this claim
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.tenant {
            query.add("tenant", one);
        }
        query
    }
}

/// The query of `GET /v1/me/inbox`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MyInboxQuery {
    /// Maximum number of groups; 20 if absent.
    pub limit: Option<u64>,
    /// Start of the page: `next` of the previous page.
    pub cursor: Option<String>,
    /// The groups to list: `active` (the default), `unseen`, `unread`, `archived`, `snoozed` or `all`.
    pub state: Option<String>,
    /// Only items of this category; may be given several times.
    pub category: Vec<String>,
    /// Only items of this type; may be given several times.
    pub type_: Vec<String>,
    /// False = each item is a group.
    pub grouped: Option<bool>,
    /// A revision to wait for: the answer comes once `rev` is higher, or is 304 after `wait`.
    pub since: Option<u64>,
    /// Time to wait with `since`, such as `25s`, at most `60s`; `0s` if absent. A recipient may have 8 calls that wait.
    pub wait: Option<String>,
    /// Only items of this tenant and those without a tenant; implied by a token with the claim `tenant`.
    pub tenant: Option<String>,
}

impl MyInboxQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Maximum number of groups; 20 if absent.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Start of the page: `next` of the previous page.
    #[must_use]
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = Some(cursor.into());
        self
    }

    /// The groups to list: `active` (the default), `unseen`, `unread`, `archived`, `snoozed` or `all`.
    #[must_use]
    pub fn state(mut self, state: impl Into<String>) -> Self {
        self.state = Some(state.into());
        self
    }

    /// Only items of this category; may be given several times.
    #[must_use]
    pub fn category(mut self, category: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.category = category.into_iter().map(Into::into).collect();
        self
    }

    /// Only items of this type; may be given several times.
    #[must_use]
    pub fn type_(mut self, type_: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.type_ = type_.into_iter().map(Into::into).collect();
        self
    }

    /// False = each item is a group.
    #[must_use]
    pub fn grouped(mut self, grouped: bool) -> Self {
        self.grouped = Some(grouped);
        self
    }

    /// A revision to wait for: the answer comes once `rev` is higher, or is 304 after `wait`.
    #[must_use]
    pub fn since(mut self, since: u64) -> Self {
        self.since = Some(since);
        self
    }

    /// Time to wait with `since`, such as `25s`, at most `60s`; `0s` if absent. A recipient may have 8 calls that wait.
    #[must_use]
    pub fn wait(mut self, wait: impl Into<String>) -> Self {
        self.wait = Some(wait.into());
        self
    }

    /// Only items of this tenant and those without a tenant; implied by a token with the claim `tenant`.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.limit {
            query.add("limit", one);
        }
        if let Some(one) = &self.cursor {
            query.add("cursor", one);
        }
        if let Some(one) = &self.state {
            query.add("state", one);
        }
        for one in &self.category {
            query.add("category", one);
        }
        for one in &self.type_ {
            query.add("type", one);
        }
        if let Some(one) = &self.grouped {
            query.add("grouped", one);
        }
        if let Some(one) = &self.since {
            query.add("since", one);
        }
        if let Some(one) = &self.wait {
            query.add("wait", one);
        }
        if let Some(one) = &self.tenant {
            query.add("tenant", one);
        }
        query
    }
}

/// The query of `GET /v1/me/inbox/counts`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MyInboxCountsQuery {
    /// Only items of this tenant and those without a tenant, as with a token with this claim
    pub tenant: Option<String>,
}

impl MyInboxCountsQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only items of this tenant and those without a tenant, as with a token with this claim
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.tenant {
            query.add("tenant", one);
        }
        query
    }
}

/// The query of `GET /v1/me/live`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MyLiveQuery {
    /// Only items of this tenant and those without a tenant, as with a token with this claim
    pub tenant: Option<String>,
}

impl MyLiveQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only items of this tenant and those without a tenant, as with a token with this claim
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.tenant {
            query.add("tenant", one);
        }
        query
    }
}

/// The query of `GET /v1/me/pending`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MyPendingQuery {
    /// Only entries of this tenant and those without a tenant, as with a token with this claim
    pub tenant: Option<String>,
}

impl MyPendingQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only entries of this tenant and those without a tenant, as with a token with this claim
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.tenant {
            query.add("tenant", one);
        }
        query
    }
}

/// The query of `PUT /v1/me/push`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JoinMyPushQuery {
    /// Subscribe to messages of this tenant and those without a tenant, as with a token with this claim
    pub tenant: Option<String>,
}

impl JoinMyPushQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Subscribe to messages of this tenant and those without a tenant, as with a token with this claim
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.tenant {
            query.add("tenant", one);
        }
        query
    }
}

/// The query of `DELETE /v1/me/push`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeaveMyPushQuery {
    /// Only the subscription for this tenant, as with a token with this claim
    pub tenant: Option<String>,
}

impl LeaveMyPushQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only the subscription for this tenant, as with a token with this claim
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.tenant {
            query.add("tenant", one);
        }
        query
    }
}

/// Calls of end users, with a token that the application signs
#[derive(Clone, Copy, Debug)]
pub struct MeCalls<'c>(&'c Client);

impl MeCalls<'_> {
    /// Send a recipient's pending notifications now.
    ///
    /// Makes all open lanes of the recipient due at once, except the inbox. Lanes of a paused channel are sent when the
    /// channel is resumed; notifications of a paused type and scheduled ones stay. The body is optional.
    ///
    /// `POST /v1/me/flush`
    pub fn flush(&self, query: &FlushMineQuery, body: &FlushLimits) -> Request<Flushed> {
        self.0
            .call(Method::POST, "/v1/me/flush".to_owned())
            .query(query.query())
            .json(body)
            .once()
            .answer()
    }

    /// Get a page of an inbox, page after page as they are reached.
    ///
    /// Returns groups, newest first, with up to 25 items each, and the counts of the whole inbox. Follow `next` for older
    /// groups; new arrivals do not shift the pages. A token with the claim `tenant` shows the items of that tenant and of
    /// none, here and in counts and streams. The answer with the higher `rev` is newer; with `since` and `wait` the answer
    /// comes once there is a newer one (long poll).
    ///
    /// `GET /v1/me/inbox`
    pub fn inbox(&self, query: &MyInboxQuery) -> ItemStream<Group> {
        self.0
            .pages("/v1/me/inbox".to_owned(), query.query(), |page: Page| (page.groups, page.next))
    }

    /// Get a page of an inbox: one page.
    ///
    /// Returns groups, newest first, with up to 25 items each, and the counts of the whole inbox. Follow `next` for older
    /// groups; new arrivals do not shift the pages. A token with the claim `tenant` shows the items of that tenant and of
    /// none, here and in counts and streams. The answer with the higher `rev` is newer; with `since` and `wait` the answer
    /// comes once there is a newer one (long poll).
    ///
    /// `GET /v1/me/inbox`
    pub fn inbox_page(&self, query: &MyInboxQuery) -> Request<Page> {
        self.0
            .call(Method::GET, "/v1/me/inbox".to_owned())
            .query(query.query())
            .waits(query.wait.as_deref())
            .answer()
    }

    /// Get a page of an inbox: a page, or `None` where nothing is newer than `since`.
    ///
    /// Returns groups, newest first, with up to 25 items each, and the counts of the whole inbox. Follow `next` for older
    /// groups; new arrivals do not shift the pages. A token with the claim `tenant` shows the items of that tenant and of
    /// none, here and in counts and streams. The answer with the higher `rev` is newer; with `since` and `wait` the answer
    /// comes once there is a newer one (long poll).
    ///
    /// `GET /v1/me/inbox`
    pub fn inbox_newer(&self, query: &MyInboxQuery) -> Request<Option<Page>> {
        self.0
            .call(Method::GET, "/v1/me/inbox".to_owned())
            .query(query.query())
            .waits(query.wait.as_deref())
            .maybe()
    }

    /// Archive items.
    ///
    /// Removes items from pages and counts, except with `state=archived` and `all`. They count as seen for other channels.
    /// Returns the counts afterwards, also if no item matches. An event or a group is archived wherever it is, other items
    /// only in the inbox.
    ///
    /// `POST /v1/me/inbox/archive`
    pub fn archive(&self, body: &Items) -> Request<InboxCounts> {
        self.0.call(Method::POST, "/v1/me/inbox/archive".to_owned()).json(body).once().answer()
    }

    /// Get the counts of an inbox.
    ///
    /// Returns the number of groups with an unseen and with an unread item, in the whole inbox and in each category.
    ///
    /// `GET /v1/me/inbox/counts`
    pub fn counts(&self, query: &MyInboxCountsQuery) -> Request<InboxCounts> {
        self.0.call(Method::GET, "/v1/me/inbox/counts".to_owned()).query(query.query()).answer()
    }

    /// Delete items from an inbox.
    ///
    /// Removes items for ever; statistics stay. They count as seen for other channels. Returns the counts afterwards, also
    /// if no item matches. An event or a group is deleted wherever it is, other items only in the inbox.
    ///
    /// `POST /v1/me/inbox/delete`
    pub fn delete(&self, body: &Items) -> Request<InboxCounts> {
        self.0.call(Method::POST, "/v1/me/inbox/delete".to_owned()).json(body).once().answer()
    }

    /// Mark items as read.
    ///
    /// Marks items as read, and hence as seen. Returns the counts afterwards, also if no item matches. An event or a group
    /// is marked wherever it is, other items only in the inbox.
    ///
    /// `POST /v1/me/inbox/read`
    pub fn mark_read(&self, body: &Items) -> Request<InboxCounts> {
        self.0.call(Method::POST, "/v1/me/inbox/read".to_owned()).json(body).once().answer()
    }

    /// Mark items as seen.
    ///
    /// Lowers `unseen`, not `unread`. Returns the counts afterwards, also if no item matches. An event or a group is marked
    /// wherever it is, other items only in the inbox.
    ///
    /// `POST /v1/me/inbox/seen`
    pub fn mark_seen(&self, body: &Items) -> Request<InboxCounts> {
        self.0.call(Method::POST, "/v1/me/inbox/seen".to_owned()).json(body).once().answer()
    }

    /// Snooze items.
    ///
    /// Removes items from the inbox until an instant (`until`) or for a duration (`for`). They then return, unseen and
    /// unread, at the position of that instant. Returns the counts afterwards.
    ///
    /// `POST /v1/me/inbox/snooze`
    pub fn snooze(&self, body: &Items) -> Request<InboxCounts> {
        self.0.call(Method::POST, "/v1/me/inbox/snooze".to_owned()).json(body).once().answer()
    }

    /// Take items out of the archive.
    ///
    /// Brings archived items back as they were. Returns the counts afterwards, also if no item matches. An event or a group
    /// is brought back wherever it is, other items only if that puts them into the inbox.
    ///
    /// `POST /v1/me/inbox/unarchive`
    pub fn unarchive(&self, body: &Items) -> Request<InboxCounts> {
        self.0.call(Method::POST, "/v1/me/inbox/unarchive".to_owned()).json(body).once().answer()
    }

    /// Mark items as unread.
    ///
    /// Raises `unread`; seen items stay seen. Returns the counts afterwards, also if no item matches. An event or a group
    /// is marked wherever it is, other items only in the inbox.
    ///
    /// `POST /v1/me/inbox/unread`
    pub fn mark_unread(&self, body: &Items) -> Request<InboxCounts> {
        self.0.call(Method::POST, "/v1/me/inbox/unread".to_owned()).json(body).once().answer()
    }

    /// End the snooze of items.
    ///
    /// Brings snoozed items back as they were, to their old position. Returns the counts afterwards, also if no item
    /// matches. An event or a group is brought back wherever it is, other items only if that puts them into the inbox.
    ///
    /// `POST /v1/me/inbox/unsnooze`
    pub fn unsnooze(&self, body: &Items) -> Request<InboxCounts> {
        self.0.call(Method::POST, "/v1/me/inbox/unsnooze".to_owned()).json(body).once().answer()
    }

    /// Follow an inbox.
    ///
    /// Streams server-sent events. The first is `hello`, with the counts; then each change of the inbox is an event
    /// `inbox`, within 100 ms: the counts, the new and changed groups (`changed`), and the keys of groups that are gone
    /// (`gone`). Changes close together may be one event. Its `id` is a cursor: with `Last-Event-ID` the stream goes on
    /// from there, or `hello` has `"reset": true`, and the page has to be read again. A comment comes every 15 s. `end`
    /// comes before the server closes the stream, with a `code`: `restart` (open it again after `retry_ms`), `replaced`
    /// (the recipient opened more than 8 streams of that view, or 32 with long polls), or the reason for the end of the
    /// token (`token_expired`, `token_revoked`, `token_key`).
    ///
    /// `GET /v1/me/live`
    pub fn live(&self, query: &MyLiveQuery) -> ItemStream<LiveEvent> {
        self.0.call(Method::GET, "/v1/me/live".to_owned()).query(query.query()).live()
    }

    /// List a recipient's pending notifications.
    ///
    /// Returns open lanes with their deadlines and notifications, messages that wait for a retry, and scheduled events, in
    /// the reader's view.
    ///
    /// `GET /v1/me/pending`
    pub fn pending(&self, query: &MyPendingQuery) -> Request<Pending> {
        self.0.call(Method::GET, "/v1/me/pending".to_owned()).query(query.query()).answer()
    }

    /// List the preferences of a recipient.
    ///
    /// Returns the preferences for types, categories and digests that are configured now, and mutes. A preference that is
    /// the same on each channel is one item, on `*`. Without a preference the policy of the type applies. With
    /// `choices=true`, and for end users, the list is `preferences` of an object that has everything for a page of
    /// preferences: for each category and type the modes that may be chosen, the mode in force and its source; mutes, quiet
    /// hours with those in force and their time zone, and the key of Web Push.
    ///
    /// `GET /v1/me/preferences`
    pub fn preferences(&self) -> Request<AllPreferences> {
        self.0.call(Method::GET, "/v1/me/preferences".to_owned()).answer()
    }

    /// Set some preferences of a recipient.
    ///
    /// Sets the preferences in the list; the others stay as they are. `default` removes a preference. Either the whole list
    /// is accepted or nothing. Pending notifications move to the lane that applies now; `never` cancels them. The body may
    /// also be an object with the list as `preferences` and with `quiet_hours` like those of a profile, both optional.
    ///
    /// `PATCH /v1/me/preferences`
    pub fn patch_preferences(&self, body: impl Into<PreferenceChange>) -> Request<Option<Warned>> {
        self.0
            .call(Method::PATCH, "/v1/me/preferences".to_owned())
            .json(&body.into())
            .once()
            .maybe()
    }

    /// Add a browser of a recipient.
    ///
    /// Adds the browser's Web Push subscription, the result of `JSON.stringify(subscription)`, to the recipient's addresses
    /// of the channel `webpush`. With a token of a tenant it gets the messages of that tenant and those without one, else
    /// all messages. Replaces a subscription with the same endpoint and tenant. Beyond 20 browsers for a tenant, or for all
    /// tenants, the oldest of them is removed, and beyond 40 in all the recipient's oldest.
    ///
    /// `PUT /v1/me/push`
    pub fn add_push(&self, query: &JoinMyPushQuery, body: &PushSubscription) -> Request<()> {
        self.0
            .call(Method::PUT, "/v1/me/push".to_owned())
            .query(query.query())
            .json(body)
            .once()
            .nothing()
    }

    /// Remove a browser of a recipient.
    ///
    /// Removes the browser's Web Push subscription, of which `endpoint` is enough. A subscription for another tenant than
    /// that of the token, or for all tenants, stays; a token without a tenant removes it for all. An unknown subscription
    /// is not an error.
    ///
    /// `DELETE /v1/me/push`
    pub fn remove_push(
        &self,
        query: &LeaveMyPushQuery,
        body: &GonePushSubscription,
    ) -> Request<()> {
        self.0
            .call(Method::DELETE, "/v1/me/push".to_owned())
            .query(query.query())
            .json(body)
            .once()
            .nothing()
    }

    /// List a recipient's subscriptions.
    ///
    /// Returns all topics, sorted by bytes.
    ///
    /// `GET /v1/me/subscriptions`
    pub fn subscriptions(&self) -> Request<Subscriptions> {
        self.0.call(Method::GET, "/v1/me/subscriptions".to_owned()).answer()
    }

    /// Follow a topic.
    ///
    /// Subscribes the recipient to the topic and everything below it: a follower of `artist` is notified of events to
    /// `artist/42`. Slashes in the path may be encoded or not.
    ///
    /// `PUT /v1/me/subscriptions/{topic}`
    pub fn follow(&self, topic: &str) -> Request<()> {
        self.0
            .call(Method::PUT, format!("/v1/me/subscriptions/{}", segment(topic)))
            .once()
            .nothing()
    }

    /// Unfollow a topic.
    ///
    /// Removes the subscription. Earlier events are not cancelled. A topic that the recipient does not follow is not an
    /// error.
    ///
    /// `DELETE /v1/me/subscriptions/{topic}`
    pub fn unfollow(&self, topic: &str) -> Request<()> {
        self.0
            .call(Method::DELETE, format!("/v1/me/subscriptions/{}", segment(topic)))
            .once()
            .nothing()
    }
}

/// The query of `GET /v1/messages`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListMessagesQuery {
    /// Only messages to this recipient.
    pub recipient: Option<String>,
    /// Only messages with a notification of this event, whether they tell it or left it out.
    pub event: Option<String>,
    /// Only messages on this channel.
    pub channel: Option<String>,
    /// Only messages of which this provider answered the last attempt, as `attempts` names it.
    pub provider: Option<String>,
    /// Only messages with a notification of this type, whether they tell it or left it out. May be repeated.
    pub type_: Vec<String>,
    /// Only messages of this tenant.
    pub tenant: Option<String>,
    /// Only messages in this state: `planned`, `sending`, `retrying`, `sent`, `failed`, `unknown`, `suppressed` or
    /// `cancelled`. May be repeated.
    pub state: Vec<String>,
    /// Only messages that were not handed over for this reason.
    pub reason: Option<String>,
    /// Only messages of this job.
    pub job: Option<String>,
    /// Only messages that were due at this time or later.
    pub from: Option<String>,
    /// Only messages that were due before this time.
    pub to: Option<String>,
    /// Only messages that were due on this UTC date; not beside `from` and `to`.
    pub day: Option<String>,
    /// Maximum number of rows; 50 if absent.
    pub limit: Option<u64>,
    /// Start of the page: `next` of the previous page of this list with this filter.
    pub cursor: Option<String>,
}

impl ListMessagesQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only messages to this recipient.
    #[must_use]
    pub fn recipient(mut self, recipient: impl Into<String>) -> Self {
        self.recipient = Some(recipient.into());
        self
    }

    /// Only messages with a notification of this event, whether they tell it or left it out.
    #[must_use]
    pub fn event(mut self, event: impl Into<String>) -> Self {
        self.event = Some(event.into());
        self
    }

    /// Only messages on this channel.
    #[must_use]
    pub fn channel(mut self, channel: impl Into<String>) -> Self {
        self.channel = Some(channel.into());
        self
    }

    /// Only messages of which this provider answered the last attempt, as `attempts` names it.
    #[must_use]
    pub fn provider(mut self, provider: impl Into<String>) -> Self {
        self.provider = Some(provider.into());
        self
    }

    /// Only messages with a notification of this type, whether they tell it or left it out. May be repeated.
    #[must_use]
    pub fn type_(mut self, type_: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.type_ = type_.into_iter().map(Into::into).collect();
        self
    }

    /// Only messages of this tenant.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// Only messages in this state: `planned`, `sending`, `retrying`, `sent`, `failed`, `unknown`, `suppressed` or
    /// `cancelled`. May be repeated.
    #[must_use]
    pub fn state(mut self, state: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.state = state.into_iter().map(Into::into).collect();
        self
    }

    /// Only messages that were not handed over for this reason.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Only messages of this job.
    #[must_use]
    pub fn job(mut self, job: impl Into<String>) -> Self {
        self.job = Some(job.into());
        self
    }

    /// Only messages that were due at this time or later.
    #[must_use]
    pub fn from(mut self, from: impl Into<String>) -> Self {
        self.from = Some(from.into());
        self
    }

    /// Only messages that were due before this time.
    #[must_use]
    pub fn to(mut self, to: impl Into<String>) -> Self {
        self.to = Some(to.into());
        self
    }

    /// Only messages that were due on this UTC date; not beside `from` and `to`.
    #[must_use]
    pub fn day(mut self, day: impl Into<String>) -> Self {
        self.day = Some(day.into());
        self
    }

    /// Maximum number of rows; 50 if absent.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Start of the page: `next` of the previous page of this list with this filter.
    #[must_use]
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = Some(cursor.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.recipient {
            query.add("recipient", one);
        }
        if let Some(one) = &self.event {
            query.add("event", one);
        }
        if let Some(one) = &self.channel {
            query.add("channel", one);
        }
        if let Some(one) = &self.provider {
            query.add("provider", one);
        }
        for one in &self.type_ {
            query.add("type", one);
        }
        if let Some(one) = &self.tenant {
            query.add("tenant", one);
        }
        for one in &self.state {
            query.add("state", one);
        }
        if let Some(one) = &self.reason {
            query.add("reason", one);
        }
        if let Some(one) = &self.job {
            query.add("job", one);
        }
        if let Some(one) = &self.from {
            query.add("from", one);
        }
        if let Some(one) = &self.to {
            query.add("to", one);
        }
        if let Some(one) = &self.day {
            query.add("day", one);
        }
        if let Some(one) = &self.limit {
            query.add("limit", one);
        }
        if let Some(one) = &self.cursor {
            query.add("cursor", one);
        }
        query
    }
}

/// The query of `GET /v1/recipients/{id}/preview`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PreviewQuery {
    /// A channel of the configuration other than `inbox`
    pub channel: Option<String>,
    /// Name of a lane, as `pending` lists it
    pub lane: Option<String>,
}

impl PreviewQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A channel of the configuration other than `inbox`
    #[must_use]
    pub fn channel(mut self, channel: impl Into<String>) -> Self {
        self.channel = Some(channel.into());
        self
    }

    /// Name of a lane, as `pending` lists it
    #[must_use]
    pub fn lane(mut self, lane: impl Into<String>) -> Self {
        self.lane = Some(lane.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.channel {
            query.add("channel", one);
        }
        if let Some(one) = &self.lane {
            query.add("lane", one);
        }
        query
    }
}

/// Messages of channels: history, retry, cancel and resend
#[derive(Clone, Copy, Debug)]
pub struct MessagesCalls<'c>(&'c Client);

impl MessagesCalls<'_> {
    /// List messages, page after page as they are reached.
    ///
    /// Returns messages of all channels but the inbox, newest first by `due`, as long as the day on which they were due is
    /// kept. `GET /v1/messages/{id}` returns their content.
    ///
    /// `GET /v1/messages`
    pub fn list(&self, query: &ListMessagesQuery) -> ItemStream<MessageShown> {
        self.0.pages("/v1/messages".to_owned(), query.query(), |page: MessagePage| {
            (page.messages, page.next)
        })
    }

    /// List messages: one page.
    ///
    /// Returns messages of all channels but the inbox, newest first by `due`, as long as the day on which they were due is
    /// kept. `GET /v1/messages/{id}` returns their content.
    ///
    /// `GET /v1/messages`
    pub fn page(&self, query: &ListMessagesQuery) -> Request<MessagePage> {
        self.0.call(Method::GET, "/v1/messages".to_owned()).query(query.query()).answer()
    }

    /// Cancel all messages of a filter.
    ///
    /// Makes a job that does with each message what `POST /v1/messages/{id}/cancel` does, as `retry` of a filter.
    ///
    /// `POST /v1/messages/cancel`
    pub fn cancel_many(&self, body: &BulkChange) -> Request<JobMade> {
        self.0.call(Method::POST, "/v1/messages/cancel".to_owned()).json(body).once().answer()
    }

    /// Resend all messages of a filter.
    ///
    /// Makes a job that does with each message what `POST /v1/messages/{id}/resend` does, as `retry` of a filter.
    ///
    /// `POST /v1/messages/resend`
    pub fn resend_many(&self, body: &BulkChange) -> Request<JobMade> {
        self.0.call(Method::POST, "/v1/messages/resend".to_owned()).json(body).once().answer()
    }

    /// Retry all messages of a filter.
    ///
    /// Makes a job that does with each message what `POST /v1/messages/{id}/retry` does: 1,000 a second at most, each once,
    /// also if the server stops meanwhile. It begins after ten seconds, so that it can be stopped before. With `dry` the
    /// answer is 200 and says what it would do.
    ///
    /// `POST /v1/messages/retry`
    pub fn retry_many(&self, body: &BulkChange) -> Request<JobMade> {
        self.0.call(Method::POST, "/v1/messages/retry".to_owned()).json(body).once().answer()
    }

    /// Get a message.
    ///
    /// Returns a message with its notifications, its attempts, and its history: the entries of its lane, the rules that
    /// decided its time, the answers of providers.
    ///
    /// `GET /v1/messages/{id}`
    pub fn get(&self, id: &str) -> Request<MessageDetails> {
        self.0.call(Method::GET, format!("/v1/messages/{}", segment(id))).answer()
    }

    /// Cancel a message.
    ///
    /// Removes all notifications from a message that is surely not handed over; they end as `cancelled`, with the reason
    /// `message`. `status` is the extent of the cancel.
    ///
    /// `POST /v1/messages/{id}/cancel`
    pub fn cancel(&self, id: &str) -> Request<OperatedAnswer> {
        self.0.call(Method::POST, format!("/v1/messages/{}/cancel", segment(id))).once().answer()
    }

    /// Preview a message.
    ///
    /// Builds a message again from its notifications, as it looks now: with the objects, the recipient's name, locale and
    /// zone, and the configuration of today. Of a message that is not built yet it is what would be built now. One without
    /// notifications has only a channel. Nothing is sent or recorded.
    ///
    /// `GET /v1/messages/{id}/preview`
    pub fn preview_message(&self, id: &str) -> Request<MessagePreview> {
        self.0.call(Method::GET, format!("/v1/messages/{}/preview", segment(id))).answer()
    }

    /// Resend a message.
    ///
    /// Sends a `sent`, `unknown` or `failed` message again: the recipient may get it twice. It counts as `resent`;
    /// delivered notifications stay delivered, whatever the outcome of the copy.
    ///
    /// `POST /v1/messages/{id}/resend`
    pub fn resend(&self, id: &str) -> Request<OperatedAnswer> {
        self.0.call(Method::POST, format!("/v1/messages/{}/resend", segment(id))).once().answer()
    }

    /// Retry a message.
    ///
    /// Sends a `failed` message again, as it was built; a `retrying` message is tried at once. Notifications that the
    /// recipient has set to `never` or muted since are left out.
    ///
    /// `POST /v1/messages/{id}/retry`
    pub fn retry(&self, id: &str) -> Request<OperatedAnswer> {
        self.0.call(Method::POST, format!("/v1/messages/{}/retry", segment(id))).once().answer()
    }

    /// Preview what a recipient gets next.
    ///
    /// Builds the message of a channel whose lane is due first, or of the named lane, with its pending entries and the
    /// configuration in force. Without `channel` it is the mail, as `mail`. Scheduled entries are in no lane yet, and are
    /// counted separately. Nothing is sent or recorded.
    ///
    /// `GET /v1/recipients/{id}/preview`
    pub fn preview(&self, id: &str, query: &PreviewQuery) -> Request<Preview> {
        self.0
            .call(Method::GET, format!("/v1/recipients/{}/preview", segment(id)))
            .query(query.query())
            .answer()
    }
}

/// The things that events are about
#[derive(Clone, Copy, Debug)]
pub struct ObjectsCalls<'c>(&'c Client);

impl ObjectsCalls<'_> {
    /// Create or change many objects.
    ///
    /// Takes an array of at most 10,000 objects, or a stream of any length with one per line. Changes the given fields
    /// only. Each item is accepted or rejected by itself; the answers are in order.
    ///
    /// `POST /v1/objects`
    pub fn upsert_many(&self, body: &[NamedObject]) -> Request<Vec<ItemAnswer>> {
        self.0.call(Method::POST, "/v1/objects".to_owned()).json(body).once().answer()
    }

    /// Create or change many objects: any number, sent in parts.
    ///
    /// Takes an array of at most 10,000 objects, or a stream of any length with one per line. Changes the given fields
    /// only. Each item is accepted or rejected by itself; the answers are in order.
    ///
    /// `POST /v1/objects`
    pub fn import<L>(&self, lines: L) -> Import<LineAnswer>
    where
        L: IntoIterator<Item = NamedObject>,
        L::IntoIter: Send + 'static,
    {
        Import::new(self.0, "/v1/objects".to_owned(), futures_util::stream::iter(lines))
    }

    /// Create or change many objects: any number as they come, sent in parts.
    ///
    /// Takes an array of at most 10,000 objects, or a stream of any length with one per line. Changes the given fields
    /// only. Each item is accepted or rejected by itself; the answers are in order.
    ///
    /// `POST /v1/objects`
    pub fn import_stream(
        &self,
        lines: impl Stream<Item = NamedObject> + Send + 'static,
    ) -> Import<LineAnswer> {
        Import::new(self.0, "/v1/objects".to_owned(), lines)
    }

    /// Create or change an object.
    ///
    /// Changes the given fields only; null counts as not given. Lifts a retraction. The values are kept until they are
    /// changed or the object is deleted, even if no event names the object; `[limits] objects` bounds the number of such
    /// objects.
    ///
    /// `PUT /v1/objects/{id}`
    pub fn upsert(&self, id: &str, body: &ObjectChange) -> Request<()> {
        self.0.call(Method::PUT, format!("/v1/objects/{}", segment(id))).json(body).once().nothing()
    }

    /// Retract an object.
    ///
    /// Skips pending notifications about the object when their message is built. A later publish or change of the object
    /// lifts the retraction. The object is then kept only as long as a kept day names it.
    ///
    /// `DELETE /v1/objects/{id}`
    pub fn retract(&self, id: &str) -> Request<()> {
        self.0.call(Method::DELETE, format!("/v1/objects/{}", segment(id))).once().nothing()
    }
}

/// The query of `GET /v1/recipients`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListRecipientsQuery {
    /// Only recipients whose id begins so.
    pub id_prefix: Option<String>,
    /// Only members of this tenant.
    pub tenant: Option<String>,
    /// Only recipients in this state.
    pub state: Option<String>,
    /// Maximum number of rows; 50 if absent.
    pub limit: Option<u64>,
    /// Start of the page: `next` of the previous page of this list with this filter.
    pub cursor: Option<String>,
}

impl ListRecipientsQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only recipients whose id begins so.
    #[must_use]
    pub fn id_prefix(mut self, id_prefix: impl Into<String>) -> Self {
        self.id_prefix = Some(id_prefix.into());
        self
    }

    /// Only members of this tenant.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// Only recipients in this state.
    #[must_use]
    pub fn state(mut self, state: impl Into<String>) -> Self {
        self.state = Some(state.into());
        self
    }

    /// Maximum number of rows; 50 if absent.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Start of the page: `next` of the previous page of this list with this filter.
    #[must_use]
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = Some(cursor.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.id_prefix {
            query.add("id_prefix", one);
        }
        if let Some(one) = &self.tenant {
            query.add("tenant", one);
        }
        if let Some(one) = &self.state {
            query.add("state", one);
        }
        if let Some(one) = &self.limit {
            query.add("limit", one);
        }
        if let Some(one) = &self.cursor {
            query.add("cursor", one);
        }
        query
    }
}

/// The query of `PUT /v1/recipients/{id}/push`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JoinPushQuery {
    /// Subscribe to messages of this tenant and those without a tenant, as with a token with this claim
    pub tenant: Option<String>,
}

impl JoinPushQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Subscribe to messages of this tenant and those without a tenant, as with a token with this claim
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.tenant {
            query.add("tenant", one);
        }
        query
    }
}

/// The query of `DELETE /v1/recipients/{id}/push`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeavePushQuery {
    /// Only the subscription for this tenant, as with a token with this claim
    pub tenant: Option<String>,
}

impl LeavePushQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only the subscription for this tenant, as with a token with this claim
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.tenant {
            query.add("tenant", one);
        }
        query
    }
}

/// Profiles of the people who can be notified
#[derive(Clone, Copy, Debug)]
pub struct RecipientsCalls<'c>(&'c Client);

impl RecipientsCalls<'_> {
    /// List recipients, page after page as they are reached.
    ///
    /// Returns recipients, sorted by the bytes of their ids.
    ///
    /// `GET /v1/recipients`
    pub fn list(&self, query: &ListRecipientsQuery) -> ItemStream<ListedRecipient> {
        self.0.pages("/v1/recipients".to_owned(), query.query(), |page: RecipientsPage| {
            (page.recipients, page.next)
        })
    }

    /// List recipients: one page.
    ///
    /// Returns recipients, sorted by the bytes of their ids.
    ///
    /// `GET /v1/recipients`
    pub fn page(&self, query: &ListRecipientsQuery) -> Request<RecipientsPage> {
        self.0.call(Method::GET, "/v1/recipients".to_owned()).query(query.query()).answer()
    }

    /// Create or change many recipients.
    ///
    /// Takes an array of at most 10,000 profiles, or a stream of any length with one per line. Creates unknown recipients,
    /// and changes the given fields only. Each item is accepted or rejected by itself; the answers are in order.
    ///
    /// `POST /v1/recipients`
    pub fn patch_many(&self, body: &[NamedRecipient]) -> Request<Vec<ItemAnswer>> {
        self.0.call(Method::POST, "/v1/recipients".to_owned()).json(body).once().answer()
    }

    /// Create or change many recipients: any number, sent in parts.
    ///
    /// Takes an array of at most 10,000 profiles, or a stream of any length with one per line. Creates unknown recipients,
    /// and changes the given fields only. Each item is accepted or rejected by itself; the answers are in order.
    ///
    /// `POST /v1/recipients`
    pub fn import<L>(&self, lines: L) -> Import<LineAnswer>
    where
        L: IntoIterator<Item = NamedRecipient>,
        L::IntoIter: Send + 'static,
    {
        Import::new(self.0, "/v1/recipients".to_owned(), futures_util::stream::iter(lines))
    }

    /// Create or change many recipients: any number as they come, sent in parts.
    ///
    /// Takes an array of at most 10,000 profiles, or a stream of any length with one per line. Creates unknown recipients,
    /// and changes the given fields only. Each item is accepted or rejected by itself; the answers are in order.
    ///
    /// `POST /v1/recipients`
    pub fn import_stream(
        &self,
        lines: impl Stream<Item = NamedRecipient> + Send + 'static,
    ) -> Import<LineAnswer> {
        Import::new(self.0, "/v1/recipients".to_owned(), lines)
    }

    /// Get a recipient's profile.
    ///
    /// Returns the profile. Every field but `tenants` is present; null = the default of the configuration applies.
    ///
    /// `GET /v1/recipients/{id}`
    pub fn get(&self, id: &str) -> Request<RecipientProfile> {
        self.0.call(Method::GET, format!("/v1/recipients/{}", segment(id))).answer()
    }

    /// Put a recipient's whole profile.
    ///
    /// Creates or replaces the recipient. Absent fields get their default. A profile from `GET` can be put back unchanged.
    ///
    /// `PUT /v1/recipients/{id}`
    pub fn upsert(&self, id: &str, body: &RecipientChange) -> Request<()> {
        self.0
            .call(Method::PUT, format!("/v1/recipients/{}", segment(id)))
            .json(body)
            .once()
            .nothing()
    }

    /// Change a recipient's profile.
    ///
    /// Creates the recipient if it is unknown. Changes the given fields only; null removes a value.
    ///
    /// `PATCH /v1/recipients/{id}`
    pub fn patch(&self, id: &str, body: &RecipientChange) -> Request<()> {
        self.0
            .call(Method::PATCH, format!("/v1/recipients/{}", segment(id)))
            .json(body)
            .once()
            .nothing()
    }

    /// Erase a recipient.
    ///
    /// Deletes profile, preferences, subscriptions and marks at once, and puts a keyed hash in the place of the id in the log
    /// of changes. Pending notifications end as `cancelled` when they are due. Messages that are already built are not sent
    /// any more. Of somebody who is not there `erased` is empty and `receipt` null.
    ///
    /// `DELETE /v1/recipients/{id}`
    pub fn erase(&self, id: &str) -> Request<RecipientErased> {
        self.0.call(Method::DELETE, format!("/v1/recipients/{}", segment(id))).once().answer()
    }

    /// Export a recipient's data.
    ///
    /// Streams everything that is known about the recipient at one moment: profile, preferences, subscriptions, memberships,
    /// the inbox in all its states, messages with their notifications, suppressed addresses, and the lines of the log of
    /// changes. There is no limit of rows. The export itself has a line in that log. Two exports may run at once, one for
    /// each API key. The stream ends if its reader takes less than 64 KiB a second over a minute.
    ///
    /// `GET /v1/recipients/{id}/export`
    pub fn export(&self, id: &str) -> Request<RecipientExport> {
        self.0.call(Method::GET, format!("/v1/recipients/{}/export", segment(id))).answer()
    }

    /// Add a browser of a recipient.
    ///
    /// Adds the browser's Web Push subscription, the result of `JSON.stringify(subscription)`, to the recipient's addresses
    /// of the channel `webpush`. With a token of a tenant it gets the messages of that tenant and those without one, else
    /// all messages. Replaces a subscription with the same endpoint and tenant. Beyond 20 browsers for a tenant, or for all
    /// tenants, the oldest of them is removed, and beyond 40 in all the recipient's oldest.
    ///
    /// `PUT /v1/recipients/{id}/push`
    pub fn add_push(
        &self,
        id: &str,
        query: &JoinPushQuery,
        body: &PushSubscription,
    ) -> Request<()> {
        self.0
            .call(Method::PUT, format!("/v1/recipients/{}/push", segment(id)))
            .query(query.query())
            .json(body)
            .once()
            .nothing()
    }

    /// Remove a browser of a recipient.
    ///
    /// Removes the browser's Web Push subscription, of which `endpoint` is enough. A subscription for another tenant than
    /// that of the token, or for all tenants, stays; a token without a tenant removes it for all. An unknown subscription
    /// is not an error.
    ///
    /// `DELETE /v1/recipients/{id}/push`
    pub fn remove_push(
        &self,
        id: &str,
        query: &LeavePushQuery,
        body: &GonePushSubscription,
    ) -> Request<()> {
        self.0
            .call(Method::DELETE, format!("/v1/recipients/{}/push", segment(id)))
            .query(query.query())
            .json(body)
            .once()
            .nothing()
    }

    /// Revoke a recipient's tokens.
    ///
    /// Refuses the tokens of end users that were issued for the recipient so far, whether the recipient is there or not.
    /// Tokens that are issued later are accepted. Erasing a recipient revokes as well. The body may be left out.
    ///
    /// `POST /v1/recipients/{id}/tokens/revoke`
    pub fn revoke_tokens(&self, id: &str, body: &TokensToRevoke) -> Request<TokensRevoked> {
        self.0
            .call(Method::POST, format!("/v1/recipients/{}/tokens/revoke", segment(id)))
            .json(body)
            .once()
            .answer()
    }
}

/// The query of `POST /v1/recipients/{id}/flush`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlushQuery {
    /// Only entries of this tenant and those without a tenant, as with a token with this claim
    pub tenant: Option<String>,
}

impl FlushQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only entries of this tenant and those without a tenant, as with a token with this claim
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.tenant {
            query.add("tenant", one);
        }
        query
    }
}

/// The query of `GET /v1/recipients/{id}/pending`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PendingQuery {
    /// Only entries of this tenant and those without a tenant, as with a token with this claim
    pub tenant: Option<String>,
}

impl PendingQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only entries of this tenant and those without a tenant, as with a token with this claim
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.tenant {
            query.add("tenant", one);
        }
        query
    }
}

/// Pending notifications, and sending them now
#[derive(Clone, Copy, Debug)]
pub struct PendingCalls<'c>(&'c Client);

impl PendingCalls<'_> {
    /// Send a recipient's pending notifications now.
    ///
    /// Makes all open lanes of the recipient due at once, except the inbox. Lanes of a paused channel are sent when the
    /// channel is resumed; notifications of a paused type and scheduled ones stay. The body is optional.
    ///
    /// `POST /v1/recipients/{id}/flush`
    pub fn flush(&self, id: &str, query: &FlushQuery, body: &FlushLimits) -> Request<Flushed> {
        self.0
            .call(Method::POST, format!("/v1/recipients/{}/flush", segment(id)))
            .query(query.query())
            .json(body)
            .once()
            .answer()
    }

    /// List a recipient's pending notifications.
    ///
    /// Returns open lanes with their deadlines and notifications, messages that wait for a retry, and scheduled events, in
    /// the reader's view.
    ///
    /// `GET /v1/recipients/{id}/pending`
    pub fn list(&self, id: &str, query: &PendingQuery) -> Request<Pending> {
        self.0
            .call(Method::GET, format!("/v1/recipients/{}/pending", segment(id)))
            .query(query.query())
            .answer()
    }
}

/// The query of `GET /v1/recipients/{id}/inbox`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InboxQuery {
    /// Maximum number of groups; 20 if absent.
    pub limit: Option<u64>,
    /// Start of the page: `next` of the previous page.
    pub cursor: Option<String>,
    /// The groups to list: `active` (the default), `unseen`, `unread`, `archived`, `snoozed` or `all`.
    pub state: Option<String>,
    /// Only items of this category; may be given several times.
    pub category: Vec<String>,
    /// Only items of this type; may be given several times.
    pub type_: Vec<String>,
    /// False = each item is a group.
    pub grouped: Option<bool>,
    /// A revision to wait for: the answer comes once `rev` is higher, or is 304 after `wait`.
    pub since: Option<u64>,
    /// Time to wait with `since`, such as `25s`, at most `60s`; `0s` if absent. A recipient may have 8 calls that wait.
    pub wait: Option<String>,
    /// Only items of this tenant and those without a tenant; implied by a token with the claim `tenant`.
    pub tenant: Option<String>,
}

impl InboxQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Maximum number of groups; 20 if absent.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Start of the page: `next` of the previous page.
    #[must_use]
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = Some(cursor.into());
        self
    }

    /// The groups to list: `active` (the default), `unseen`, `unread`, `archived`, `snoozed` or `all`.
    #[must_use]
    pub fn state(mut self, state: impl Into<String>) -> Self {
        self.state = Some(state.into());
        self
    }

    /// Only items of this category; may be given several times.
    #[must_use]
    pub fn category(mut self, category: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.category = category.into_iter().map(Into::into).collect();
        self
    }

    /// Only items of this type; may be given several times.
    #[must_use]
    pub fn type_(mut self, type_: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.type_ = type_.into_iter().map(Into::into).collect();
        self
    }

    /// False = each item is a group.
    #[must_use]
    pub fn grouped(mut self, grouped: bool) -> Self {
        self.grouped = Some(grouped);
        self
    }

    /// A revision to wait for: the answer comes once `rev` is higher, or is 304 after `wait`.
    #[must_use]
    pub fn since(mut self, since: u64) -> Self {
        self.since = Some(since);
        self
    }

    /// Time to wait with `since`, such as `25s`, at most `60s`; `0s` if absent. A recipient may have 8 calls that wait.
    #[must_use]
    pub fn wait(mut self, wait: impl Into<String>) -> Self {
        self.wait = Some(wait.into());
        self
    }

    /// Only items of this tenant and those without a tenant; implied by a token with the claim `tenant`.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.limit {
            query.add("limit", one);
        }
        if let Some(one) = &self.cursor {
            query.add("cursor", one);
        }
        if let Some(one) = &self.state {
            query.add("state", one);
        }
        for one in &self.category {
            query.add("category", one);
        }
        for one in &self.type_ {
            query.add("type", one);
        }
        if let Some(one) = &self.grouped {
            query.add("grouped", one);
        }
        if let Some(one) = &self.since {
            query.add("since", one);
        }
        if let Some(one) = &self.wait {
            query.add("wait", one);
        }
        if let Some(one) = &self.tenant {
            query.add("tenant", one);
        }
        query
    }
}

/// The query of `GET /v1/recipients/{id}/inbox/counts`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CountsQuery {
    /// Only items of this tenant and those without a tenant, as with a token with this claim
    pub tenant: Option<String>,
}

impl CountsQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only items of this tenant and those without a tenant, as with a token with this claim
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.tenant {
            query.add("tenant", one);
        }
        query
    }
}

/// The query of `GET /v1/recipients/{id}/live`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveQuery {
    /// Only items of this tenant and those without a tenant, as with a token with this claim
    pub tenant: Option<String>,
}

impl LiveQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only items of this tenant and those without a tenant, as with a token with this claim
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.tenant {
            query.add("tenant", one);
        }
        query
    }
}

/// Inboxes, and seen and read marks
#[derive(Clone, Copy, Debug)]
pub struct InboxCalls<'c>(&'c Client);

impl InboxCalls<'_> {
    /// Get a page of an inbox, page after page as they are reached.
    ///
    /// Returns groups, newest first, with up to 25 items each, and the counts of the whole inbox. Follow `next` for older
    /// groups; new arrivals do not shift the pages. A token with the claim `tenant` shows the items of that tenant and of
    /// none, here and in counts and streams. The answer with the higher `rev` is newer; with `since` and `wait` the answer
    /// comes once there is a newer one (long poll).
    ///
    /// `GET /v1/recipients/{id}/inbox`
    pub fn list(&self, id: &str, query: &InboxQuery) -> ItemStream<Group> {
        self.0.pages(
            format!("/v1/recipients/{}/inbox", segment(id)),
            query.query(),
            |page: Page| (page.groups, page.next),
        )
    }

    /// Get a page of an inbox: one page.
    ///
    /// Returns groups, newest first, with up to 25 items each, and the counts of the whole inbox. Follow `next` for older
    /// groups; new arrivals do not shift the pages. A token with the claim `tenant` shows the items of that tenant and of
    /// none, here and in counts and streams. The answer with the higher `rev` is newer; with `since` and `wait` the answer
    /// comes once there is a newer one (long poll).
    ///
    /// `GET /v1/recipients/{id}/inbox`
    pub fn page(&self, id: &str, query: &InboxQuery) -> Request<Page> {
        self.0
            .call(Method::GET, format!("/v1/recipients/{}/inbox", segment(id)))
            .query(query.query())
            .waits(query.wait.as_deref())
            .answer()
    }

    /// Get a page of an inbox: a page, or `None` where nothing is newer than `since`.
    ///
    /// Returns groups, newest first, with up to 25 items each, and the counts of the whole inbox. Follow `next` for older
    /// groups; new arrivals do not shift the pages. A token with the claim `tenant` shows the items of that tenant and of
    /// none, here and in counts and streams. The answer with the higher `rev` is newer; with `since` and `wait` the answer
    /// comes once there is a newer one (long poll).
    ///
    /// `GET /v1/recipients/{id}/inbox`
    pub fn newer(&self, id: &str, query: &InboxQuery) -> Request<Option<Page>> {
        self.0
            .call(Method::GET, format!("/v1/recipients/{}/inbox", segment(id)))
            .query(query.query())
            .waits(query.wait.as_deref())
            .maybe()
    }

    /// Archive items.
    ///
    /// Removes items from pages and counts, except with `state=archived` and `all`. They count as seen for other channels.
    /// Returns the counts afterwards, also if no item matches. An event or a group is archived wherever it is, other items
    /// only in the inbox.
    ///
    /// `POST /v1/recipients/{id}/inbox/archive`
    pub fn archive(&self, id: &str, body: &Items) -> Request<InboxCounts> {
        self.0
            .call(Method::POST, format!("/v1/recipients/{}/inbox/archive", segment(id)))
            .json(body)
            .once()
            .answer()
    }

    /// Get the counts of an inbox.
    ///
    /// Returns the number of groups with an unseen and with an unread item, in the whole inbox and in each category.
    ///
    /// `GET /v1/recipients/{id}/inbox/counts`
    pub fn counts(&self, id: &str, query: &CountsQuery) -> Request<InboxCounts> {
        self.0
            .call(Method::GET, format!("/v1/recipients/{}/inbox/counts", segment(id)))
            .query(query.query())
            .answer()
    }

    /// Delete items from an inbox.
    ///
    /// Removes items for ever; statistics stay. They count as seen for other channels. Returns the counts afterwards, also
    /// if no item matches. An event or a group is deleted wherever it is, other items only in the inbox.
    ///
    /// `POST /v1/recipients/{id}/inbox/delete`
    pub fn delete(&self, id: &str, body: &Items) -> Request<InboxCounts> {
        self.0
            .call(Method::POST, format!("/v1/recipients/{}/inbox/delete", segment(id)))
            .json(body)
            .once()
            .answer()
    }

    /// Mark items as read.
    ///
    /// Marks items as read, and hence as seen. Returns the counts afterwards, also if no item matches. An event or a group
    /// is marked wherever it is, other items only in the inbox.
    ///
    /// `POST /v1/recipients/{id}/inbox/read`
    pub fn mark_read(&self, id: &str, body: &Items) -> Request<InboxCounts> {
        self.0
            .call(Method::POST, format!("/v1/recipients/{}/inbox/read", segment(id)))
            .json(body)
            .once()
            .answer()
    }

    /// Mark items as seen.
    ///
    /// Lowers `unseen`, not `unread`. Returns the counts afterwards, also if no item matches. An event or a group is marked
    /// wherever it is, other items only in the inbox.
    ///
    /// `POST /v1/recipients/{id}/inbox/seen`
    pub fn mark_seen(&self, id: &str, body: &Items) -> Request<InboxCounts> {
        self.0
            .call(Method::POST, format!("/v1/recipients/{}/inbox/seen", segment(id)))
            .json(body)
            .once()
            .answer()
    }

    /// Snooze items.
    ///
    /// Removes items from the inbox until an instant (`until`) or for a duration (`for`). They then return, unseen and
    /// unread, at the position of that instant. Returns the counts afterwards.
    ///
    /// `POST /v1/recipients/{id}/inbox/snooze`
    pub fn snooze(&self, id: &str, body: &Items) -> Request<InboxCounts> {
        self.0
            .call(Method::POST, format!("/v1/recipients/{}/inbox/snooze", segment(id)))
            .json(body)
            .once()
            .answer()
    }

    /// Take items out of the archive.
    ///
    /// Brings archived items back as they were. Returns the counts afterwards, also if no item matches. An event or a group
    /// is brought back wherever it is, other items only if that puts them into the inbox.
    ///
    /// `POST /v1/recipients/{id}/inbox/unarchive`
    pub fn unarchive(&self, id: &str, body: &Items) -> Request<InboxCounts> {
        self.0
            .call(Method::POST, format!("/v1/recipients/{}/inbox/unarchive", segment(id)))
            .json(body)
            .once()
            .answer()
    }

    /// Mark items as unread.
    ///
    /// Raises `unread`; seen items stay seen. Returns the counts afterwards, also if no item matches. An event or a group
    /// is marked wherever it is, other items only in the inbox.
    ///
    /// `POST /v1/recipients/{id}/inbox/unread`
    pub fn mark_unread(&self, id: &str, body: &Items) -> Request<InboxCounts> {
        self.0
            .call(Method::POST, format!("/v1/recipients/{}/inbox/unread", segment(id)))
            .json(body)
            .once()
            .answer()
    }

    /// End the snooze of items.
    ///
    /// Brings snoozed items back as they were, to their old position. Returns the counts afterwards, also if no item
    /// matches. An event or a group is brought back wherever it is, other items only if that puts them into the inbox.
    ///
    /// `POST /v1/recipients/{id}/inbox/unsnooze`
    pub fn unsnooze(&self, id: &str, body: &Items) -> Request<InboxCounts> {
        self.0
            .call(Method::POST, format!("/v1/recipients/{}/inbox/unsnooze", segment(id)))
            .json(body)
            .once()
            .answer()
    }

    /// Follow an inbox.
    ///
    /// Streams server-sent events. The first is `hello`, with the counts; then each change of the inbox is an event
    /// `inbox`, within 100 ms: the counts, the new and changed groups (`changed`), and the keys of groups that are gone
    /// (`gone`). Changes close together may be one event. Its `id` is a cursor: with `Last-Event-ID` the stream goes on
    /// from there, or `hello` has `"reset": true`, and the page has to be read again. A comment comes every 15 s. `end`
    /// comes before the server closes the stream, with a `code`: `restart` (open it again after `retry_ms`), `replaced`
    /// (the recipient opened more than 8 streams of that view, or 32 with long polls), or the reason for the end of the
    /// token (`token_expired`, `token_revoked`, `token_key`).
    ///
    /// `GET /v1/recipients/{id}/live`
    pub fn live(&self, id: &str, query: &LiveQuery) -> ItemStream<LiveEvent> {
        self.0
            .call(Method::GET, format!("/v1/recipients/{}/live", segment(id)))
            .query(query.query())
            .live()
    }
}

/// Choices of recipients by type, category and channel, and their quiet hours
#[derive(Clone, Copy, Debug)]
pub struct PreferencesCalls<'c>(&'c Client);

impl PreferencesCalls<'_> {
    /// List the preferences of a recipient.
    ///
    /// Returns the preferences for types, categories and digests that are configured now, and mutes. A preference that is
    /// the same on each channel is one item, on `*`. Without a preference the policy of the type applies. With
    /// `choices=true`, and for end users, the list is `preferences` of an object that has everything for a page of
    /// preferences: for each category and type the modes that may be chosen, the mode in force and its source; mutes, quiet
    /// hours with those in force and their time zone, and the key of Web Push.
    ///
    /// `GET /v1/recipients/{id}/preferences`
    pub fn get(&self, id: &str) -> Request<Vec<PreferenceOut>> {
        self.0.call(Method::GET, format!("/v1/recipients/{}/preferences", segment(id))).answer()
    }

    /// List the preferences of a recipient, with all that may be chosen.
    ///
    /// Returns the preferences for types, categories and digests that are configured now, and mutes. A preference that is
    /// the same on each channel is one item, on `*`. Without a preference the policy of the type applies. With
    /// `choices=true`, and for end users, the list is `preferences` of an object that has everything for a page of
    /// preferences: for each category and type the modes that may be chosen, the mode in force and its source; mutes, quiet
    /// hours with those in force and their time zone, and the key of Web Push.
    ///
    /// `GET /v1/recipients/{id}/preferences`
    pub fn choices(&self, id: &str) -> Request<AllPreferences> {
        self.0
            .call(Method::GET, format!("/v1/recipients/{}/preferences", segment(id)))
            .query(Query::of("choices", "true"))
            .answer()
    }

    /// Replace all preferences of a recipient.
    ///
    /// Resets preferences that are not in the list to their default, but keeps a `never` for a type or category that is not
    /// configured now. Lifts mutes that are not in the list. Either the whole list is accepted or nothing. Pending
    /// notifications move to the lane that applies now; `never` cancels them. With `tenant` in the query the list is that
    /// of the tenant; preferences with another tenant or without one stay.
    ///
    /// `PUT /v1/recipients/{id}/preferences`
    pub fn replace(&self, id: &str, body: &[Preference]) -> Request<Option<Warned>> {
        self.0
            .call(Method::PUT, format!("/v1/recipients/{}/preferences", segment(id)))
            .json(body)
            .once()
            .maybe()
    }

    /// Set some preferences of a recipient.
    ///
    /// Sets the preferences in the list; the others stay as they are. `default` removes a preference. Either the whole list
    /// is accepted or nothing. Pending notifications move to the lane that applies now; `never` cancels them. The body may
    /// also be an object with the list as `preferences` and with `quiet_hours` like those of a profile, both optional.
    ///
    /// `PATCH /v1/recipients/{id}/preferences`
    pub fn patch(&self, id: &str, body: impl Into<PreferenceChange>) -> Request<Option<Warned>> {
        self.0
            .call(Method::PATCH, format!("/v1/recipients/{}/preferences", segment(id)))
            .json(&body.into())
            .once()
            .maybe()
    }
}

/// The query of `GET /v1/topics/{topic}/followers`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListFollowersQuery {
    /// The followers of this tenant's topic; if absent, those of the topic without a tenant.
    pub tenant: Option<String>,
    /// Maximum number of rows; 50 if absent.
    pub limit: Option<u64>,
    /// Start of the page: `next` of the previous page of this list with this filter.
    pub cursor: Option<String>,
}

impl ListFollowersQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The followers of this tenant's topic; if absent, those of the topic without a tenant.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// Maximum number of rows; 50 if absent.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Start of the page: `next` of the previous page of this list with this filter.
    #[must_use]
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = Some(cursor.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.tenant {
            query.add("tenant", one);
        }
        if let Some(one) = &self.limit {
            query.add("limit", one);
        }
        if let Some(one) = &self.cursor {
            query.add("cursor", one);
        }
        query
    }
}

/// Topics that recipients follow
#[derive(Clone, Copy, Debug)]
pub struct SubscriptionsCalls<'c>(&'c Client);

impl SubscriptionsCalls<'_> {
    /// List a recipient's subscriptions.
    ///
    /// Returns all topics, sorted by bytes.
    ///
    /// `GET /v1/recipients/{id}/subscriptions`
    pub fn list(&self, id: &str) -> Request<Subscriptions> {
        self.0.call(Method::GET, format!("/v1/recipients/{}/subscriptions", segment(id))).answer()
    }

    /// Follow a topic.
    ///
    /// Subscribes the recipient to the topic and everything below it: a follower of `artist` is notified of events to
    /// `artist/42`. Slashes in the path may be encoded or not.
    ///
    /// `PUT /v1/recipients/{id}/subscriptions/{topic}`
    pub fn follow(&self, id: &str, topic: &str) -> Request<()> {
        self.0
            .call(
                Method::PUT,
                format!("/v1/recipients/{}/subscriptions/{}", segment(id), segment(topic)),
            )
            .once()
            .nothing()
    }

    /// Unfollow a topic.
    ///
    /// Removes the subscription. Earlier events are not cancelled. A topic that the recipient does not follow is not an
    /// error.
    ///
    /// `DELETE /v1/recipients/{id}/subscriptions/{topic}`
    pub fn unfollow(&self, id: &str, topic: &str) -> Request<()> {
        self.0
            .call(
                Method::DELETE,
                format!("/v1/recipients/{}/subscriptions/{}", segment(id), segment(topic)),
            )
            .once()
            .nothing()
    }

    /// Follow and unfollow many topics.
    ///
    /// Takes an array of at most 10,000 subscriptions, or a stream of any length with one per line; `unsubscribe`
    /// removes one. Each item is accepted or rejected by itself; the answers are in order.
    ///
    /// `POST /v1/subscriptions`
    pub fn follow_many(&self, body: &[Subscription]) -> Request<Vec<ItemAnswer>> {
        self.0.call(Method::POST, "/v1/subscriptions".to_owned()).json(body).once().answer()
    }

    /// Follow and unfollow many topics: any number, sent in parts.
    ///
    /// Takes an array of at most 10,000 subscriptions, or a stream of any length with one per line; `unsubscribe`
    /// removes one. Each item is accepted or rejected by itself; the answers are in order.
    ///
    /// `POST /v1/subscriptions`
    pub fn import<L>(&self, lines: L) -> Import<LineAnswer>
    where
        L: IntoIterator<Item = Subscription>,
        L::IntoIter: Send + 'static,
    {
        Import::new(self.0, "/v1/subscriptions".to_owned(), futures_util::stream::iter(lines))
    }

    /// Follow and unfollow many topics: any number as they come, sent in parts.
    ///
    /// Takes an array of at most 10,000 subscriptions, or a stream of any length with one per line; `unsubscribe`
    /// removes one. Each item is accepted or rejected by itself; the answers are in order.
    ///
    /// `POST /v1/subscriptions`
    pub fn import_stream(
        &self,
        lines: impl Stream<Item = Subscription> + Send + 'static,
    ) -> Import<LineAnswer> {
        Import::new(self.0, "/v1/subscriptions".to_owned(), lines)
    }

    /// List the followers of a topic, page after page as they are reached.
    ///
    /// Returns the recipients who follow this very topic, not those of topics above or below it, sorted by the bytes of
    /// their ids. A topic that nobody follows has none.
    ///
    /// `GET /v1/topics/{topic}/followers`
    pub fn followers(&self, topic: &str, query: &ListFollowersQuery) -> ItemStream<Follower> {
        self.0.pages(
            format!("/v1/topics/{}/followers", segment(topic)),
            query.query(),
            |page: FollowersBody| (page.followers, page.next),
        )
    }

    /// List the followers of a topic: one page.
    ///
    /// Returns the recipients who follow this very topic, not those of topics above or below it, sorted by the bytes of
    /// their ids. A topic that nobody follows has none.
    ///
    /// `GET /v1/topics/{topic}/followers`
    pub fn followers_page(
        &self,
        topic: &str,
        query: &ListFollowersQuery,
    ) -> Request<FollowersBody> {
        self.0
            .call(Method::GET, format!("/v1/topics/{}/followers", segment(topic)))
            .query(query.query())
            .answer()
    }
}

/// The query of `GET /v1/suppressions`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListSuppressionsQuery {
    /// Only addresses of this channel.
    pub channel: Option<String>,
    /// Only addresses that this recipient has now.
    pub recipient: Option<String>,
    /// Only addresses that are suppressed for this reason.
    pub reason: Option<String>,
    /// Only addresses that are suppressed since this time or a later one.
    pub since: Option<String>,
    /// Maximum number of rows; 50 if absent.
    pub limit: Option<u64>,
    /// Start of the page: `next` of the previous page of this list with this filter.
    pub cursor: Option<String>,
}

impl ListSuppressionsQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only addresses of this channel.
    #[must_use]
    pub fn channel(mut self, channel: impl Into<String>) -> Self {
        self.channel = Some(channel.into());
        self
    }

    /// Only addresses that this recipient has now.
    #[must_use]
    pub fn recipient(mut self, recipient: impl Into<String>) -> Self {
        self.recipient = Some(recipient.into());
        self
    }

    /// Only addresses that are suppressed for this reason.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Only addresses that are suppressed since this time or a later one.
    #[must_use]
    pub fn since(mut self, since: impl Into<String>) -> Self {
        self.since = Some(since.into());
        self
    }

    /// Maximum number of rows; 50 if absent.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Start of the page: `next` of the previous page of this list with this filter.
    #[must_use]
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = Some(cursor.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.channel {
            query.add("channel", one);
        }
        if let Some(one) = &self.recipient {
            query.add("recipient", one);
        }
        if let Some(one) = &self.reason {
            query.add("reason", one);
        }
        if let Some(one) = &self.since {
            query.add("since", one);
        }
        if let Some(one) = &self.limit {
            query.add("limit", one);
        }
        if let Some(one) = &self.cursor {
            query.add("cursor", one);
        }
        query
    }
}

/// Addresses to which nothing is sent
#[derive(Clone, Copy, Debug)]
pub struct SuppressionsCalls<'c>(&'c Client);

impl SuppressionsCalls<'_> {
    /// List suppressed addresses, page after page as they are reached.
    ///
    /// Returns the suppressed addresses, sorted by channel and address, without those whose suppression has expired.
    ///
    /// `GET /v1/suppressions`
    pub fn list(&self, query: &ListSuppressionsQuery) -> ItemStream<SuppressedAddress> {
        self.0.pages("/v1/suppressions".to_owned(), query.query(), |page: SuppressionPage| {
            (page.suppressions, page.next)
        })
    }

    /// List suppressed addresses: one page.
    ///
    /// Returns the suppressed addresses, sorted by channel and address, without those whose suppression has expired.
    ///
    /// `GET /v1/suppressions`
    pub fn page(&self, query: &ListSuppressionsQuery) -> Request<SuppressionPage> {
        self.0.call(Method::GET, "/v1/suppressions".to_owned()).query(query.query()).answer()
    }

    /// Get a suppressed address.
    ///
    /// Returns the reason, the beginning and the end of a suppression.
    ///
    /// `GET /v1/suppressions/{channel}/{address}`
    pub fn get(&self, channel: &str, address: &str) -> Request<SuppressedAddress> {
        self.0
            .call(
                Method::GET,
                format!("/v1/suppressions/{}/{}", segment(channel), segment(address)),
            )
            .answer()
    }

    /// Suppress an address.
    ///
    /// Stops all messages to the address on this channel, whichever recipient has it: due notifications end as `skipped`,
    /// with the reason `suppressed`. Replaces an earlier suppression of the address. The body is optional.
    ///
    /// `PUT /v1/suppressions/{channel}/{address}`
    pub fn add(&self, channel: &str, address: &str, body: &Suppression) -> Request<()> {
        self.0
            .call(
                Method::PUT,
                format!("/v1/suppressions/{}/{}", segment(channel), segment(address)),
            )
            .json(body)
            .once()
            .nothing()
    }

    /// Lift the suppression of an address.
    ///
    /// Allows messages to the address again. Skipped notifications do not come back. An address that is not suppressed is
    /// not an error.
    ///
    /// `DELETE /v1/suppressions/{channel}/{address}`
    pub fn remove(&self, channel: &str, address: &str) -> Request<()> {
        self.0
            .call(
                Method::DELETE,
                format!("/v1/suppressions/{}/{}", segment(channel), segment(address)),
            )
            .once()
            .nothing()
    }
}

/// The query of `GET /v1/tenants`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListTenantsQuery {
    /// Maximum number of rows; 50 if absent.
    pub limit: Option<u64>,
    /// Start of the page: `next` of the previous page of this list with this filter.
    pub cursor: Option<String>,
}

impl ListTenantsQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Maximum number of rows; 50 if absent.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Start of the page: `next` of the previous page of this list with this filter.
    #[must_use]
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = Some(cursor.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.limit {
            query.add("limit", one);
        }
        if let Some(one) = &self.cursor {
            query.add("cursor", one);
        }
        query
    }
}

/// The query of `GET /v1/tenants/{id}/members`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListMembersQuery {
    /// Maximum number of rows; 50 if absent.
    pub limit: Option<u64>,
    /// Start of the page: `next` of the previous page of this list with this filter.
    pub cursor: Option<String>,
}

impl ListMembersQuery {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Maximum number of rows; 50 if absent.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Start of the page: `next` of the previous page of this list with this filter.
    #[must_use]
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = Some(cursor.into());
        self
    }

    fn query(&self) -> Query {
        let mut query = Query::default();
        if let Some(one) = &self.limit {
            query.add("limit", one);
        }
        if let Some(one) = &self.cursor {
            query.add("cursor", one);
        }
        query
    }
}

/// Organisations with members, defaults and a look of their own
#[derive(Clone, Copy, Debug)]
pub struct TenantsCalls<'c>(&'c Client);

impl TenantsCalls<'_> {
    /// List tenants, page after page as they are reached.
    ///
    /// Returns tenants, sorted by the bytes of their ids.
    ///
    /// `GET /v1/tenants`
    pub fn list(&self, query: &ListTenantsQuery) -> ItemStream<Tenant> {
        self.0.pages("/v1/tenants".to_owned(), query.query(), |page: TenantsPage| {
            (page.tenants, page.next)
        })
    }

    /// List tenants: one page.
    ///
    /// Returns tenants, sorted by the bytes of their ids.
    ///
    /// `GET /v1/tenants`
    pub fn page(&self, query: &ListTenantsQuery) -> Request<TenantsPage> {
        self.0.call(Method::GET, "/v1/tenants".to_owned()).query(query.query()).answer()
    }

    /// Create or change many tenants.
    ///
    /// Takes an array of at most 10,000 tenants, or a stream of any length with one per line. Creates unknown tenants; of others
    /// the given fields change. Each item is accepted or rejected by itself; the answers are in order.
    ///
    /// `POST /v1/tenants`
    pub fn patch_many(&self, body: &[NamedTenant]) -> Request<Vec<ItemAnswer>> {
        self.0.call(Method::POST, "/v1/tenants".to_owned()).json(body).once().answer()
    }

    /// Create or change many tenants: any number, sent in parts.
    ///
    /// Takes an array of at most 10,000 tenants, or a stream of any length with one per line. Creates unknown tenants; of others
    /// the given fields change. Each item is accepted or rejected by itself; the answers are in order.
    ///
    /// `POST /v1/tenants`
    pub fn import<L>(&self, lines: L) -> Import<LineAnswer>
    where
        L: IntoIterator<Item = NamedTenant>,
        L::IntoIter: Send + 'static,
    {
        Import::new(self.0, "/v1/tenants".to_owned(), futures_util::stream::iter(lines))
    }

    /// Create or change many tenants: any number as they come, sent in parts.
    ///
    /// Takes an array of at most 10,000 tenants, or a stream of any length with one per line. Creates unknown tenants; of others
    /// the given fields change. Each item is accepted or rejected by itself; the answers are in order.
    ///
    /// `POST /v1/tenants`
    pub fn import_stream(
        &self,
        lines: impl Stream<Item = NamedTenant> + Send + 'static,
    ) -> Import<LineAnswer> {
        Import::new(self.0, "/v1/tenants".to_owned(), lines)
    }

    /// Get a tenant.
    ///
    /// Returns the tenant. Every field is present; null = the default of the configuration applies.
    ///
    /// `GET /v1/tenants/{id}`
    pub fn get(&self, id: &str) -> Request<Tenant> {
        self.0.call(Method::GET, format!("/v1/tenants/{}", segment(id))).answer()
    }

    /// Put a whole tenant.
    ///
    /// Creates or replaces the tenant. Absent fields get their defaults. A tenant from `GET` can be put back unchanged.
    ///
    /// `PUT /v1/tenants/{id}`
    pub fn upsert(&self, id: &str, body: &TenantChange) -> Request<()> {
        self.0.call(Method::PUT, format!("/v1/tenants/{}", segment(id))).json(body).once().nothing()
    }

    /// Change a tenant.
    ///
    /// Changes the given fields, and of `brand` the given keys; null removes a value. Pending notifications use
    /// the new values.
    ///
    /// `PATCH /v1/tenants/{id}`
    pub fn patch(&self, id: &str, body: &TenantChange) -> Request<()> {
        self.0
            .call(Method::PATCH, format!("/v1/tenants/{}", segment(id)))
            .json(body)
            .once()
            .nothing()
    }

    /// Delete a tenant.
    ///
    /// Cancels pending notifications immediately, and removes the tenant's notifications from inboxes. Deletes its members,
    /// subscriptions, preferences and tokens. A new tenant with the same id inherits nothing.
    ///
    /// `DELETE /v1/tenants/{id}`
    pub fn delete(&self, id: &str) -> Request<()> {
        self.0.call(Method::DELETE, format!("/v1/tenants/{}", segment(id))).once().nothing()
    }

    /// List the members of a tenant, page after page as they are reached.
    ///
    /// Returns members, sorted by the bytes of their ids.
    ///
    /// `GET /v1/tenants/{id}/members`
    pub fn members(&self, id: &str, query: &ListMembersQuery) -> ItemStream<Member> {
        self.0.pages(
            format!("/v1/tenants/{}/members", segment(id)),
            query.query(),
            |page: MembersPage| (page.members, page.next),
        )
    }

    /// List the members of a tenant: one page.
    ///
    /// Returns members, sorted by the bytes of their ids.
    ///
    /// `GET /v1/tenants/{id}/members`
    pub fn members_page(&self, id: &str, query: &ListMembersQuery) -> Request<MembersPage> {
        self.0
            .call(Method::GET, format!("/v1/tenants/{}/members", segment(id)))
            .query(query.query())
            .answer()
    }

    /// Add and remove many members.
    ///
    /// Takes an array of at most 10,000 members, or a stream of any length with one per line; `remove` removes a member.
    /// Each item is accepted or rejected by itself; the answers are in order.
    ///
    /// `POST /v1/tenants/{id}/members`
    pub fn change_members(&self, id: &str, body: &[MemberChange]) -> Request<Vec<ItemAnswer>> {
        self.0
            .call(Method::POST, format!("/v1/tenants/{}/members", segment(id)))
            .json(body)
            .once()
            .answer()
    }

    /// Add and remove many members: any number, sent in parts.
    ///
    /// Takes an array of at most 10,000 members, or a stream of any length with one per line; `remove` removes a member.
    /// Each item is accepted or rejected by itself; the answers are in order.
    ///
    /// `POST /v1/tenants/{id}/members`
    pub fn import_members<L>(&self, id: &str, lines: L) -> Import<LineAnswer>
    where
        L: IntoIterator<Item = MemberChange>,
        L::IntoIter: Send + 'static,
    {
        Import::new(
            self.0,
            format!("/v1/tenants/{}/members", segment(id)),
            futures_util::stream::iter(lines),
        )
    }

    /// Add and remove many members: any number as they come, sent in parts.
    ///
    /// Takes an array of at most 10,000 members, or a stream of any length with one per line; `remove` removes a member.
    /// Each item is accepted or rejected by itself; the answers are in order.
    ///
    /// `POST /v1/tenants/{id}/members`
    pub fn import_members_stream(
        &self,
        id: &str,
        lines: impl Stream<Item = MemberChange> + Send + 'static,
    ) -> Import<LineAnswer> {
        Import::new(self.0, format!("/v1/tenants/{}/members", segment(id)), lines)
    }

    /// Make a recipient a member.
    ///
    /// Adds the recipient to the members. A recipient may be a member of many tenants.
    ///
    /// `PUT /v1/tenants/{id}/members/{recipient}`
    pub fn add_member(&self, id: &str, recipient: &str) -> Request<()> {
        self.0
            .call(
                Method::PUT,
                format!("/v1/tenants/{}/members/{}", segment(id), segment(recipient)),
            )
            .once()
            .nothing()
    }

    /// Remove a member.
    ///
    /// Removes the membership and the recipient's subscriptions of the tenant. Notifications and preferences stay.
    ///
    /// `DELETE /v1/tenants/{id}/members/{recipient}`
    pub fn remove_member(&self, id: &str, recipient: &str) -> Request<()> {
        self.0
            .call(
                Method::DELETE,
                format!("/v1/tenants/{}/members/{}", segment(id), segment(recipient)),
            )
            .once()
            .nothing()
    }
}

impl Client {
    /// Health, metrics, this document, and the pages of errors
    #[must_use]
    pub fn server(&self) -> ServerCalls<'_> {
        ServerCalls(self)
    }

    /// Status and actions for operators
    #[must_use]
    pub fn admin(&self) -> AdminCalls<'_> {
        AdminCalls(self)
    }

    /// Publish events, get their outcome, cancel them
    #[must_use]
    pub fn events(&self) -> EventsCalls<'_> {
        EventsCalls(self)
    }

    /// List, pause and resume types and channels
    #[must_use]
    pub fn configuration(&self) -> ConfigurationCalls<'_> {
        ConfigurationCalls(self)
    }

    /// Databases from which events are read
    #[must_use]
    pub fn feeds(&self) -> FeedsCalls<'_> {
        FeedsCalls(self)
    }

    /// Services of the host that are called about messages, preferences and addresses
    #[must_use]
    pub fn hooks(&self) -> HooksCalls<'_> {
        HooksCalls(self)
    }

    /// Calls of end users, with a token that the application signs
    #[must_use]
    pub fn me(&self) -> MeCalls<'_> {
        MeCalls(self)
    }

    /// Messages of channels: history, retry, cancel and resend
    #[must_use]
    pub fn messages(&self) -> MessagesCalls<'_> {
        MessagesCalls(self)
    }

    /// The things that events are about
    #[must_use]
    pub fn objects(&self) -> ObjectsCalls<'_> {
        ObjectsCalls(self)
    }

    /// Profiles of the people who can be notified
    #[must_use]
    pub fn recipients(&self) -> RecipientsCalls<'_> {
        RecipientsCalls(self)
    }

    /// Pending notifications, and sending them now
    #[must_use]
    pub fn pending(&self) -> PendingCalls<'_> {
        PendingCalls(self)
    }

    /// Inboxes, and seen and read marks
    #[must_use]
    pub fn inbox(&self) -> InboxCalls<'_> {
        InboxCalls(self)
    }

    /// Choices of recipients by type, category and channel, and their quiet hours
    #[must_use]
    pub fn preferences(&self) -> PreferencesCalls<'_> {
        PreferencesCalls(self)
    }

    /// Topics that recipients follow
    #[must_use]
    pub fn subscriptions(&self) -> SubscriptionsCalls<'_> {
        SubscriptionsCalls(self)
    }

    /// Addresses to which nothing is sent
    #[must_use]
    pub fn suppressions(&self) -> SuppressionsCalls<'_> {
        SuppressionsCalls(self)
    }

    /// Organisations with members, defaults and a look of their own
    #[must_use]
    pub fn tenants(&self) -> TenantsCalls<'_> {
        TenantsCalls(self)
    }
}
