//! Rows of feeds, as they are taken: read by the same rules as `POST /v1/events` and lines of a timeline.
//!
//! An event is known by its id if it comes again, any other operation by its feed, number and payload, for a day. Rows
//! take effect in their order: commands of this node are one step, and nothing is handed in before what precedes it
//! is durable.

use std::sync::{Arc, Weak};

use ring::digest::{Context, SHA256};
use tidings_api::timeline;
use tidings_config::wording::quoted;
use tidings_core::engine::{PublishedAs, Reply, Warning};
use tidings_core::model::{Author, AuthorKind, Origin, Via};
use tidings_core::{Command, Id, Rules};
use tidings_feeds::{Answering, FeedSettings, OutboxRow, Sink, Unavailable, Verdict};
use tidings_node::Once;
use tokio::sync::oneshot;

use crate::change::origin::with_origin;
use crate::error::{Code, Problem, RetryAdvice};
use crate::{Answer, Change, Service, only};

/// Begins to read these feeds.
pub fn begin(
    service: &Arc<Service>,
    runtime: &tokio::runtime::Handle,
    settings: Vec<FeedSettings>,
) {
    service.feeds.run_on(runtime);
    configure(service, settings);
}

/// Puts other settings in force, if feeds are read here.
pub fn configure(service: &Arc<Service>, settings: Vec<FeedSettings>) {
    let is_paused = |name: &str| service.handle.is_feed_paused(name);
    let sink = || Arc::new(HostRows::new(service)) as Arc<dyn Sink>;
    service.feeds.put(settings, &is_paused, &sink);
}

/// The way of rows into a service, while that is there.
pub(super) struct HostRows(Weak<Service>);

impl HostRows {
    pub(super) fn new(service: &Arc<Service>) -> Self {
        Self(Arc::downgrade(service))
    }
}

/// The origin of the rows of a feed, which have an action each.
fn of_feed(name: &str) -> Option<Arc<Origin>> {
    let (by, via) = (Author::new(AuthorKind::Feed, name), Via::Api);
    Some(Arc::new(Origin { by, via, action: None, is_counted: false, request: None }))
}

impl Sink for HostRows {
    fn accept<'s>(&'s self, feed: &'s str, rows: Vec<OutboxRow>, stops: bool) -> Answering<'s> {
        Box::pin(async move {
            let service =
                self.0.upgrade().ok_or_else(|| Unavailable("the server ends".to_owned()))?;
            with_origin(of_feed(feed), accept(&service, feed, rows, stops)).await
        })
    }
}

/// A row that was read.
struct ReadRow {
    /// Its index among those that were given.
    index: usize,
    command: Command,
    /// The identity of an operation that is not known by an id of its own.
    once: Option<Once>,
    /// The id that an event was given, because it has none.
    given: Option<Id>,
}

async fn accept(
    service: &Service,
    feed: &str,
    rows: Vec<OutboxRow>,
    stops: bool,
) -> Result<Vec<Verdict>, Unavailable> {
    let rules = service.rules();
    let mut verdicts: Vec<Option<Verdict>> = Vec::with_capacity(rows.len());
    let mut read = Vec::with_capacity(rows.len());
    for (index, row) in rows.iter().enumerate() {
        match read_row(&rules, feed, index, row) {
            Ok(row) => {
                read.push(row);
                verdicts.push(None);
            }
            Err(problem) => {
                verdicts.push(Some(Verdict::Refused(problem.to_json())));
                if stops {
                    break;
                }
            }
        }
    }
    for run in runs(service, read, stops) {
        let indexes: Vec<_> = run.iter().map(|row| (row.index, row.given.clone())).collect();
        let replies = submit(service, run).await.map_err(|problem| unavailable(&problem))?;
        for ((index, given), reply) in indexes.into_iter().zip(replies) {
            let verdict = match reply.and_then(|reply| checked(&reply, given)) {
                Ok(()) => Verdict::Taken,
                Err(problem) if problem.code.row().again == RetryAdvice::No => {
                    Verdict::Refused(problem.to_json())
                }
                // May succeed later: the batch is handed over again, and rows that were taken are known by
                // what they are.
                Err(problem) => return Err(unavailable(&problem)),
            };
            let is_refused = matches!(verdict, Verdict::Refused(_));
            if let Some(place) = verdicts.get_mut(index) {
                *place = Some(verdict);
            }
            if stops && is_refused {
                verdicts.truncate(index + 1);
                return Ok(verdicts.into_iter().flatten().collect());
            }
        }
    }
    Ok(verdicts.into_iter().flatten().collect())
}

fn read_row(rules: &Rules, feed: &str, index: usize, row: &OutboxRow) -> Result<ReadRow, Problem> {
    let mut given = None;
    let command = timeline::read_operation(rules, row.payload.as_bytes(), || {
        let id = Id::new(&format!("{feed}:{}", row.id))
            .expect("the name of a feed and a number are an id");
        given.insert(id).clone()
    })?;
    let once = match &command {
        Command::Publish(..) => None,
        _ => Some(identity(feed, row)),
    };
    Ok(ReadRow { index, command, once, given })
}

/// The identity of a row, apart from those of requests: no `Idempotency-Key` has a control character.
fn identity(feed: &str, row: &OutboxRow) -> Once {
    let mut context = Context::new(&SHA256);
    context.update(format!("\nfeed\n{feed}\n{}\n", row.id).as_bytes());
    context.update(row.payload.as_bytes());
    let hash = context.finish();
    let mut key = [0; 16];
    key.copy_from_slice(&hash.as_ref()[..16]);
    Once { key, request: key }
}

/// Divides rows into what is handed in at once: consecutive commands of this node together, each of another node alone.
/// Where the first refusal stops the rest, every row is alone.
fn runs(service: &Service, rows: Vec<ReadRow>, stops: bool) -> Vec<Vec<ReadRow>> {
    let owners = service.shards.cluster_view().map(|(owners, _)| owners);
    let is_here =
        |row: &ReadRow| owners.is_none_or(|owners| owners.has(owners.of_command(&row.command)));
    let mut runs: Vec<Vec<ReadRow>> = Vec::new();
    let mut joins = false;
    for row in rows {
        let is_joined = !stops && is_here(&row);
        match runs.last_mut() {
            Some(run) if joins && is_joined => run.push(row),
            _ => runs.push(vec![row]),
        }
        joins = is_joined;
    }
    runs
}

/// Submits the commands of a run; the answers come when they are durable.
async fn submit(
    service: &Service,
    mut run: Vec<ReadRow>,
) -> Result<Vec<Result<Reply, Problem>>, Problem> {
    let owners = service.shards.cluster_view().map(|(owners, _)| owners);
    let is_elsewhere =
        |row: &ReadRow| owners.is_some_and(|owners| !owners.has(owners.of_command(&row.command)));
    if let [row] = &*run
        && is_elsewhere(row)
        && let Some(row) = run.pop()
    {
        let change = Change::of_feed(row.once);
        let done = |replies| only(replies).map(|_| Answer::done());
        return Ok(match service.change(&change, vec![row.command], done).await {
            Ok(_) => vec![Ok(Reply::Done)],
            Err(problem) => vec![Err(problem)],
        });
    }
    let (answer, answered) = oneshot::channel();
    let commands = run.into_iter().map(|row| (row.command, row.once)).collect();
    let own = |reply: Result<Reply, _>| reply.map_err(Problem::from);
    service.handle_for(false).submit_each_once(commands, move |replies| {
        let replies = replies.map(|all| all.into_iter().map(own).collect());
        // The receiver may have given up.
        let _ = answer.send(replies.map_err(Problem::from));
    })?;
    service.answered(answered).await
}

/// Refuses an event whose number was another event's: a recreated table assigns its ids again, and its rows must not
/// pass for old events.
fn checked(reply: &Reply, given: Option<Id>) -> Result<(), Problem> {
    let (Reply::Published(published), Some(id)) = (reply, given) else {
        return Ok(());
    };
    let is_other = published.status == PublishedAs::Duplicate
        && published.warnings.contains(&Warning::Differs);
    if !is_other {
        return Ok(());
    }
    let detail = format!("another event has had the id {}", quoted(id.as_str()));
    let hint = "the table gives ids again that it has given before: give events an `id` of their own, or let its ids \
                begin above the greatest that it has had";
    Err(Problem::new(Code::InvalidBody, detail).hint(hint))
}

fn unavailable(problem: &Problem) -> Unavailable {
    Unavailable(format!("this server can't take rows now: {}", problem.detail))
}
