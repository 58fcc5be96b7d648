//! The reader that asks the table.
//!
//! Each look lists the first rows that wait, in the order of their ids, whatever was taken before: a row that was
//! committed late is found with its low id. A batch is locked, given to the sink, marked and committed in one
//! transaction of the host's database, which needs no state of a session.

use std::collections::HashSet;
use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, Connection, Socket};

use tidings_tls::postgres::Encrypted;

use crate::outbox::Outbox;
use crate::sink::{OutboxRow, Verdict};
use crate::status::{FeedState, Snapshot};
use crate::{Context, FeedFault, OnRefusal, connect, sql};

/// The most rows of a batch.
const ROWS_MAX: usize = 1_000;

/// The most bytes of a batch; one row always fits.
const BYTES_MAX: i64 = 4 << 20;

/// The most bytes of a payload as text, several times those of the largest event. A longer one is parked without being
/// read: what compresses well takes little room in the table, and much here.
const PAYLOAD_BYTES_MAX: i64 = 1 << 20;

/// Maximum time of a statement: a cut network is silent.
const PATIENCE: Duration = Duration::from_secs(30);

/// The shortest time between two looks at what waits and what may be deleted.
pub(crate) const CHORES_EVERY: Duration = Duration::from_secs(1);

/// Time that the test of a pooler may take.
const PROBE_PATIENCE: Duration = Duration::from_secs(2);

/// Begins a transaction. A mark that is answered must last, or a row would come again long after.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED; \
     SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'";

/// Locks a table, by its name, against other readers until the transaction ends.
const ALONE: &str = "SELECT pg_try_advisory_xact_lock(hashtextextended('tidings ' || $1, 0))";

/// The fault of a table that has another reader.
const NOT_ALONE: &str = "another reader is at the table; a table is of one feed";

/// A row that waits, without its payload.
struct WaitingRow {
    id: i64,
    key: Option<String>,
    /// Bytes of its payload as text.
    bytes: i64,
}

impl WaitingRow {
    fn is_too_long(&self) -> bool {
        self.bytes > PAYLOAD_BYTES_MAX
    }

    /// The row and the problem for which it is parked unread.
    fn parked(&self) -> (OutboxRow, Verdict) {
        let detail = format!(
            "the payload has {} bytes as text, more than {PAYLOAD_BYTES_MAX}; it was not read",
            self.bytes
        );
        let problem = serde_json::json!({
            "type": "/errors/body_too_large",
            "title": "The body is too large",
            "status": 413,
            "code": "body_too_large",
            "detail": detail,
            "hint": "shorten `data`, or keep it elsewhere and link to it",
        });
        let given = OutboxRow { id: self.id, payload: String::new() };
        (given, Verdict::Refused(problem.to_string()))
    }
}

/// The end of a look.
enum OutboxPollEnd {
    /// There may be more.
    Full,
    /// All rows that were there are taken.
    Empty,
    /// Nothing may be taken, for this reason.
    Barred(String),
}

/// Reads until something is wrong. Dropped at any wait it loses nothing.
pub(crate) async fn read(context: &Context) -> Result<Infallible, FeedFault> {
    let Context { settings, status, .. } = context;
    let woken = Arc::<Notify>::default();
    let client = open(context, &woken).await?;
    let outbox = Outbox::of(settings, &client);
    if status.get().newest.is_none() {
        let newest = within(newest(&client, &outbox)).await?;
        status.set(|status| status.newest = newest);
    }
    // Behind a pooler `LISTEN` would stay with a session that others get next.
    if !is_pooled(context, &client).await? {
        within(run(&client, &format!("LISTEN {}", sql::CHANNEL))).await?;
    }
    let mut chores = Instant::now();
    loop {
        let look = look(context, &client, &outbox).await?;
        context.status.set(|status| match &look {
            OutboxPollEnd::Full | OutboxPollEnd::Empty => {
                (status.state, status.fault) = (FeedState::Running, None);
            }
            OutboxPollEnd::Barred(why) => status.fault = Some(why.clone()),
        });
        if Instant::now() >= chores {
            gauge(context, &outbox).await?;
            let has_more = within(outbox.sweep()).await?;
            let rest = if has_more { Duration::ZERO } else { settings.every.max(CHORES_EVERY) };
            chores = Instant::now() + rest;
        }
        if matches!(look, OutboxPollEnd::Full) {
            continue;
        }
        tokio::select! {
            () = woken.notified() => {}
            () = sleep(settings.every) => {}
        }
    }
}

pub(crate) async fn gauge(context: &Context, outbox: &Outbox<'_>) -> Result<(), FeedFault> {
    let gauge = within(outbox.gauge()).await?;
    context.status.set(|status| {
        (status.lag_ms, status.parked) = (gauge.lag_ms, gauge.parked);
    });
    Ok(())
}

/// Connects, and notes each time that the database wakes the reader.
pub(crate) async fn open(context: &Context, woken: &Arc<Notify>) -> Result<Client, FeedFault> {
    let (client, connection) = connect(&context.settings.database).await?;
    // It ends with the client.
    tokio::spawn(drive(connection, Arc::clone(woken)));
    Ok(client)
}

pub(crate) async fn drive(mut connection: Connection<Socket, Encrypted>, woken: Arc<Notify>) {
    loop {
        match poll_fn(|context| connection.poll_message(context)).await {
            Some(Ok(AsyncMessage::Notification(_))) => woken.notify_one(),
            Some(Ok(_)) => {}
            // The client gets the reason of the break.
            Some(Err(_)) | None => return,
        }
    }
}

/// The id of the row that was taken last.
async fn newest(client: &Client, outbox: &Outbox<'_>) -> Result<Option<String>, FeedFault> {
    let sql = format!(
        "SELECT id FROM {} WHERE taken_at IS NOT NULL ORDER BY taken_at DESC LIMIT 1",
        outbox.table()
    );
    let row = client.query_typed_opt(&sql, &[]).await?;
    Ok(row.map(|row| row.get::<_, i64>(0).to_string()))
}

/// Returns true if a pooler gives statements of one connection to several sessions of the server: what is listened to
/// there would wake others.
///
/// While one connection is in a transaction another gets another session; afterwards a pooler gives it the first one's.
async fn is_pooled(context: &Context, client: &Client) -> Result<bool, FeedFault> {
    let (other, connection) = connect(&context.settings.database).await?;
    tokio::spawn(drive(connection, Arc::default()));
    within(run(&other, "BEGIN")).await?;
    let held = within(backend(&other)).await?;
    // A pool of one session gives no answer while the other connection holds that.
    let Ok(first) = timeout(PROBE_PATIENCE, backend(client)).await else {
        return Ok(true);
    };
    let first = first?;
    within(run(&other, "COMMIT")).await?;
    for _ in 0..3 {
        let next = within(backend(client)).await?;
        if next != first || next == held {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The process of the server that has a statement done.
async fn backend(client: &Client) -> Result<i32, FeedFault> {
    let row = client.query_typed_one("SELECT pg_backend_pid()", &[]).await?;
    Ok(row.get(0))
}

async fn run(client: &Client, statement: &str) -> Result<(), FeedFault> {
    Ok(client.batch_execute(statement).await?)
}

pub(crate) async fn within<T>(
    query: impl Future<Output = Result<T, FeedFault>>,
) -> Result<T, FeedFault> {
    match timeout(PATIENCE, query).await {
        Ok(answer) => answer,
        Err(_) => {
            let seconds = PATIENCE.as_secs();
            Err(FeedFault::Passing(format!("PostgreSQL: no answer within {seconds} s")))
        }
    }
}

/// Takes a batch of what waits.
async fn look(
    context: &Context,
    client: &Client,
    outbox: &Outbox<'_>,
) -> Result<OutboxPollEnd, FeedFault> {
    let stops = context.settings.refused == OnRefusal::Stop;
    if stops && let Some((_, why)) = barred(context, outbox).await? {
        return Ok(OutboxPollEnd::Barred(why));
    }
    // A plain look needs no transaction, and finds nothing most of the time.
    let mut listed = within(list(client, outbox)).await?;
    if listed.is_empty() {
        return Ok(OutboxPollEnd::Empty);
    }
    if stops && let Some(first) = listed.iter().position(WaitingRow::is_too_long) {
        // What comes before it is taken; the feed stops at it in the next look.
        listed.truncate(first.max(1));
    }
    let (too_long, listed): (Vec<_>, Vec<_>) =
        listed.into_iter().partition(WaitingRow::is_too_long);
    let ids: Vec<i64> = listed.iter().map(|row| row.id).collect();
    let Some(locked) = within(lock(client, outbox, &ids)).await? else {
        return Ok(OutboxPollEnd::Barred(NOT_ALONE.to_owned()));
    };
    let rows = in_order(&listed, locked);
    let count = rows.len() + too_long.len();
    if !rows.is_empty() {
        // Rows are marked after the sink has them: a crash in between hands them over again, and the sink
        // knows them.
        let accepted = context.sink.accept(&context.settings.name, rows.clone(), stops).await;
        let verdicts = accepted.map_err(|fault| FeedFault::Passing(fault.to_string()))?;
        mark(context, outbox, &rows, verdicts).await?;
    }
    if !too_long.is_empty() {
        let (rows, verdicts): (Vec<_>, Vec<_>) = too_long.iter().map(WaitingRow::parked).unzip();
        mark(context, outbox, &rows, verdicts).await?;
    }
    within(run(client, "COMMIT")).await?;
    Ok(if count > 0 { OutboxPollEnd::Full } else { OutboxPollEnd::Empty })
}

/// The parked row before which a feed stops, and why it is refused.
async fn barred(
    context: &Context,
    outbox: &Outbox<'_>,
) -> Result<Option<(i64, String)>, FeedFault> {
    let Some((id, problem)) = within(outbox.first_parked()).await? else {
        return Ok(None);
    };
    context.status.set(|status| status.state = FeedState::Stopped);
    Ok(Some((id, format!("row {id} is refused: {}", sentence(&problem)))))
}

/// The first rows that wait.
async fn list(client: &Client, outbox: &Outbox<'_>) -> Result<Vec<WaitingRow>, FeedFault> {
    let sql = format!(
        "SELECT id, key, pg_column_size(payload)::bigint FROM {} \
         WHERE taken_at IS NULL AND refused IS NULL ORDER BY id LIMIT {ROWS_MAX}",
        outbox.table()
    );
    let rows = client.query_typed(&sql, &[]).await?;
    let stored = rows.iter().map(|row| row.get(2));
    let ids: Vec<i64> = rows.iter().take(fitting(stored)).map(|row| row.get(0)).collect();
    // The length as text needs the value unpacked, so it is asked of those alone that fit as they are stored.
    let sql = format!(
        "SELECT id, key, octet_length(payload::text)::bigint FROM {} \
         WHERE id = ANY ($1) AND taken_at IS NULL AND refused IS NULL ORDER BY id",
        outbox.table()
    );
    let rows = client.query_typed(&sql, &[(&ids, Type::INT8_ARRAY)]).await?;
    let of = |row: &tokio_postgres::Row| WaitingRow {
        id: row.get(0),
        key: row.get(1),
        bytes: row.get(2),
    };
    let mut listed: Vec<WaitingRow> = rows.iter().map(of).collect();
    // One that is parked unread takes no room.
    let read = listed.iter().map(|row| if row.is_too_long() { 0 } else { row.bytes });
    listed.truncate(fitting(read));
    Ok(listed)
}

/// The number of rows of a batch, by their bytes.
fn fitting(bytes: impl Iterator<Item = i64>) -> usize {
    let mut sum = 0_i64;
    let fits = |bytes: &i64| {
        sum = sum.saturating_add(*bytes);
        sum <= BYTES_MAX
    };
    let mut bytes = bytes.peekable();
    let least = usize::from(bytes.peek().is_some());
    bytes.take_while(fits).count().max(least)
}

/// Begins a transaction and locks the rows that still wait and are not locked; `None` if another reader has the table.
async fn lock(
    client: &Client,
    outbox: &Outbox<'_>,
    ids: &[i64],
) -> Result<Option<Vec<OutboxRow>>, FeedFault> {
    let table = outbox.table();
    let rows = format!(
        "SELECT id, payload::text FROM {table} \
         WHERE id = ANY ($1) AND taken_at IS NULL AND refused IS NULL \
         AND octet_length(payload::text) <= {PAYLOAD_BYTES_MAX} ORDER BY id FOR UPDATE SKIP LOCKED"
    );
    run(client, BEGIN).await?;
    // Ends with the transaction: a lock of the session would stay behind in a pooler.
    let is_alone = client.query_typed_one(ALONE, &[(&table, Type::TEXT)]).await?;
    if !is_alone.get::<_, bool>(0) {
        run(client, "ROLLBACK").await?;
        return Ok(None);
    }
    let parameters: [(&(dyn ToSql + Sync), Type); 1] = [(&ids, Type::INT8_ARRAY)];
    let rows = client.query_typed(&rows, &parameters).await?;
    let given = |row: &tokio_postgres::Row| OutboxRow { id: row.get(0), payload: row.get(1) };
    Ok(Some(rows.iter().map(given).collect()))
}

/// The locked rows without those that come after one of their key that could not be locked.
fn in_order(listed: &[WaitingRow], locked: Vec<OutboxRow>) -> Vec<OutboxRow> {
    let mut held = HashSet::new();
    let mut locked = locked.into_iter().peekable();
    let mut rows = Vec::with_capacity(listed.len());
    for WaitingRow { id, key, .. } in listed {
        let key = key.as_deref();
        match locked.next_if(|row| row.id == *id) {
            Some(row) if key.is_none_or(|key| !held.contains(key)) => rows.push(row),
            Some(_) => {}
            // A row that is locked is being changed by the host: later ones of its key must not overtake
            // it.
            None => held.extend(key),
        }
    }
    rows
}

/// Marks rows by the answers of the sink, which may have stopped early.
async fn mark(
    context: &Context,
    outbox: &Outbox<'_>,
    rows: &[OutboxRow],
    verdicts: Vec<Verdict>,
) -> Result<(), FeedFault> {
    let (mut taken, mut parked, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    for (row, verdict) in rows.iter().zip(verdicts) {
        let id = row.id;
        match verdict {
            Verdict::Taken => taken.push(id),
            Verdict::Refused(problem) => {
                tracing::warn!(feed = %context.settings.name, row = id, problem = %sentence(&problem), "a row is refused");
                parked.push(id);
                problems.push(problem);
            }
        }
    }
    within(outbox.mark(&taken)).await?;
    within(outbox.park(&parked, &problems)).await?;
    let newest = taken.last().map(i64::to_string);
    context.status.set(|status| {
        let count = |ids: &[i64]| u64::try_from(ids.len()).unwrap_or(u64::MAX);
        let Snapshot { taken: all_taken, parked: all_parked, refused, newest: last, .. } = status;
        *all_taken += count(&taken);
        *all_parked += count(&parked);
        *refused += count(&parked);
        if newest.is_some() {
            *last = newest;
        }
    });
    Ok(())
}

/// The detail of a problem, or all of it.
fn sentence(problem: &str) -> String {
    let read = serde_json::from_str::<serde_json::Value>(problem).ok();
    let detail = read.as_ref().and_then(|problem| problem.get("detail")?.as_str());
    detail.unwrap_or(problem).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locked_row_holds_its_key_and_no_other() {
        let listed =
            |id, key: Option<&str>| WaitingRow { id, key: key.map(str::to_owned), bytes: 9 };
        let listed = [
            listed(1, Some("a")),
            listed(2, Some("b")),
            listed(3, None),
            listed(4, Some("a")),
            listed(5, None),
            listed(6, Some("b")),
        ];
        let given = |id| OutboxRow { id, payload: String::new() };
        let rows = in_order(&listed, [2, 4, 5, 6].map(given).into());
        assert_eq!(rows, [2, 5, 6].map(given));
    }

    #[test]
    fn a_batch_has_as_many_bytes_as_fit_and_one_row_at_least() {
        let half = BYTES_MAX / 2;
        assert_eq!(fitting([half, half, 1].into_iter()), 2);
        assert_eq!(fitting([0, 3 * half, 1].into_iter()), 1);
        assert_eq!(fitting([3 * half, 1].into_iter()), 1);
        assert_eq!(fitting(std::iter::empty()), 0);
    }
}
