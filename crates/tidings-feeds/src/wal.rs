//! The reader of the log of a database: logical replication.
//!
//! The log tells which rows were committed, in which order, and has the messages that are in no table. The table tells
//! which of the rows still wait, and has their payloads: a row that the log tells again after a crash is not given again,
//! and a row that it never told, being older than the slot, is found.

mod decode;
mod link;
mod points;
mod queue;
mod slot;
mod take;

use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_postgres::types::{PgLsn, Type};
use tokio_postgres::{Client, Row};

use crate::outbox::Outbox;
use crate::poll::{self, CHORES_EVERY, Look, within};
use crate::status::State;
use crate::{Context, Fault, OnRefusal};
use decode::{Decoder, Told};
use link::Link;
use points::Points;
use queue::Queue;
use slot::{Place, Slot};

/// Time after which those who look are told that a slot takes long to come about.
const SLOT_PATIENCE: Duration = Duration::from_secs(5);

/// Time between two signs of life while rows are taken: a server drops a reader that is silent for a minute.
const ALIVE_EVERY: Duration = Duration::from_secs(5);

/// Time between two looks at what the server retains while that is much.
const HURRIES_EVERY: Duration = Duration::from_millis(200);

/// The longest silence of a server that is asked each second: it answers nobody while it reads a large transaction. A
/// network that is cut is noticed on the other connection.
const SILENCE_MAX: Duration = Duration::from_secs(600);

/// Age of a row that waits from which on it is looked up whether the log has told it.
const STALE_MS: u64 = 10_000;

/// Bytes of the log without a row of ours, after which the place is written down. It bounds what an idle outbox retains.
const IDLE_BYTES: u64 = 1 << 20;

/// Time after which the place is written down while the server retains more than that: it lets go at points of its own,
/// which it writes each 15 seconds.
const IDLE_EVERY: Duration = Duration::from_secs(5);

/// Reads until something is wrong. Dropped at any wait it loses nothing.
pub(crate) async fn read(context: &Context) -> Result<Infallible, Fault> {
    let client = poll::open(context, &std::sync::Arc::default()).await?;
    let outbox = Outbox::of(&context.settings, &client);
    let slot = Slot::of(&context.settings, &client);
    let (place, is_new) = opened(context, &slot).await?;
    if context.status.get().newest.is_none() {
        let newest = within(poll::newest(&client, &outbox)).await?;
        context.status.set(|status| status.newest = newest);
    }
    if is_new {
        // What was committed before the slot.
        while matches!(poll::look(context, &client, &outbox).await?, Look::Full) {}
    }
    let table = within(number(&client, outbox.table())).await?;
    let name = slot.name();
    let mut link =
        Link::start(&context.settings.database, name, name, PgLsn::from(place.to)).await?;
    let reader = Reader {
        context,
        client: &client,
        outbox,
        slot,
        decoder: Decoder::of(table),
        queue: Queue::from(place),
        place,
        idle_to: place.to,
        heard: Instant::now(),
        advanced: Instant::now(),
        points: Points::new(),
        stale: None,
        bar: None,
    };
    reader.run(&mut link).await
}

/// Opens the slot. A new one waits for the transactions that run, as long as they take.
async fn opened(context: &Context, slot: &Slot<'_>) -> Result<(Place, bool), Fault> {
    let mut opening = pin!(slot.open());
    if let Ok(opened) = timeout(SLOT_PATIENCE, &mut opening).await {
        return opened;
    }
    let why = "the slot waits for transactions of the database that began before it";
    context.status.set(|status| status.fault = Some(why.to_owned()));
    opening.await
}

/// The number by which the log names a table.
async fn number(client: &Client, table: &str) -> Result<u32, Fault> {
    let sql = "SELECT $1::regclass::oid";
    let row: Row = client.query_typed_one(sql, &[(&table, Type::TEXT)]).await?;
    Ok(row.get(0))
}

/// Notes what the server retains for a feed, also while it is not read; returns that and where the log ends.
pub(crate) async fn gauge(context: &Context, client: &Client) -> Result<(u64, u64), Fault> {
    let retained = within(Slot::of(&context.settings, client).retained()).await?;
    context.status.set(|status| status.retained_bytes = retained.map(|(bytes, _)| bytes));
    Ok(retained.unwrap_or_default())
}

/// A reader whose slot is open.
struct Reader<'r> {
    context: &'r Context,
    client: &'r Client,
    outbox: Outbox<'r>,
    slot: Slot<'r>,
    decoder: Decoder,
    queue: Queue,
    /// The place that is written down: all that the server may be told.
    place: Place,
    /// The place up to which the log has nothing of ours beyond what the queue has.
    idle_to: u64,
    /// The instant at which the server last sent something.
    heard: Instant,
    /// The instant at which the place was last moved without a row of ours.
    advanced: Instant,
    points: Points,
    /// The end of the log when a row was first seen to wait for long.
    stale: Option<u64>,
    /// The parked row before which the feed has stopped.
    bar: Option<i64>,
}

impl Reader<'_> {
    async fn run(mut self, link: &mut Link) -> Result<Infallible, Fault> {
        let mut due = Instant::now();
        loop {
            if Instant::now() >= due {
                due = Instant::now() + self.chores(link).await?;
            }
            let frame = if self.queue.is_full() {
                None
            } else if self.queue.has_work() {
                link.frame_here().await?
            } else {
                tokio::select! {
                    frame = link.frame() => Some(frame?),
                    () = sleep_until(due) => continue,
                }
            };
            if let Some(frame) = frame {
                self.heard = Instant::now();
                let told = self.decoder.read(&frame).map_err(|why| {
                    let hint = slot::PUBLISHED;
                    Fault::Passing(format!("{why}{hint}"))
                })?;
                let asks = matches!(told, Told::Alive { asks: true, .. });
                self.hear(told);
                if asks {
                    link.confirm(PgLsn::from(self.place.to)).await?;
                }
                continue;
            }
            if self.stops_before(link).await? {
                continue;
            }
            let place = PgLsn::from(self.place.to);
            beside(link, place, self.take()).await??;
            self.runs();
            link.confirm(PgLsn::from(self.place.to)).await?;
        }
    }

    fn hear(&mut self, told: Told) {
        match told {
            Told::Alive { end, .. } if self.queue.is_idle() => {
                self.idle_to = self.idle_to.max(end);
            }
            Told::Alive { .. } => {}
            told => {
                if let Some(end) = self.queue.push(told, Instant::now()) {
                    self.idle_to = self.idle_to.max(end);
                }
            }
        }
    }

    fn runs(&self) {
        self.context.status.set(|status| (status.state, status.fault) = (State::Running, None));
    }

    /// Waits a while if a parked row stops the feed; returns true if it has.
    async fn stops_before(&mut self, link: &mut Link) -> Result<bool, Fault> {
        if self.context.settings.refused != OnRefusal::Stop {
            return Ok(false);
        }
        let Some((id, why)) = poll::barred(self.context, &self.outbox).await? else {
            if let Some(id) = self.bar.take() {
                // Mended or deleted, it comes before what has waited for it.
                self.queue.push_front(id);
            }
            return Ok(false);
        };
        self.bar = Some(id);
        self.context.status.set(|status| status.fault = Some(why));
        link.confirm(PgLsn::from(self.place.to)).await?;
        sleep(self.context.settings.every.min(CHORES_EVERY)).await;
        Ok(true)
    }

    /// What is done each second: others see how it goes, and the server hears how far it went. Returns the time until the
    /// next.
    async fn chores(&mut self, link: &mut Link) -> Result<Duration, Fault> {
        if self.heard.elapsed() >= SILENCE_MAX && !self.queue.has_work() {
            return Err(Fault::Passing("the server sends nothing of its log".to_owned()));
        }
        poll::gauge(self.context, &self.outbox).await?;
        let (retained, end) = gauge(self.context, self.client).await?;
        let has_more = within(self.outbox.sweep()).await?;
        self.advance_idle(retained).await?;
        let restart = end.saturating_sub(retained);
        let hurries = self.points.ask(&self.context.settings, restart, self.place.to);
        let waited = self.queue.waits_since().map_or(0, |since| since.elapsed().as_millis());
        let waited = u64::try_from(waited).unwrap_or(u64::MAX);
        let mut lag_ms = 0;
        self.context.status.set(|status| {
            status.lag_ms = status.lag_ms.max(waited);
            lag_ms = status.lag_ms;
        });
        if !self.stops_before(link).await? {
            self.find_untold(lag_ms, end).await?;
            self.runs();
            link.confirm(PgLsn::from(self.place.to)).await?;
        }
        Ok(match (has_more, hurries) {
            (true, _) => Duration::ZERO,
            (false, true) => HURRIES_EVERY,
            (false, false) => CHORES_EVERY,
        })
    }

    /// Writes down a place behind a part of the log that has nothing of ours.
    async fn advance_idle(&mut self, retained: u64) -> Result<(), Fault> {
        let behind = self.idle_to.saturating_sub(self.place.to);
        let is_due = retained >= IDLE_BYTES && self.advanced.elapsed() >= IDLE_EVERY;
        if !self.queue.is_idle() || behind == 0 || (behind < IDLE_BYTES && !is_due) {
            return Ok(());
        }
        self.advanced = Instant::now();
        let place = Place { to: self.idle_to, part: None };
        within(poll::run(self.client, poll::BEGIN)).await?;
        within(self.slot.advance(place)).await?;
        within(poll::run(self.client, "COMMIT")).await?;
        self.place = place;
        Ok(())
    }

    /// Takes rows that have waited for long although the log was read beyond them: it has not told them. They are older
    /// than the slot, or somebody has changed the publication.
    async fn find_untold(&mut self, lag_ms: u64, end: u64) -> Result<(), Fault> {
        if lag_ms < STALE_MS {
            self.stale = None;
            return Ok(());
        }
        match self.stale {
            None => self.stale = Some(end),
            Some(stale) if self.queue.is_idle() && self.idle_to >= stale => {
                self.stale = None;
                while matches!(
                    poll::look(self.context, self.client, &self.outbox).await?,
                    Look::Full
                ) {}
            }
            Some(_) => {}
        }
        Ok(())
    }
}

/// Awaits work, with signs of life to the server meanwhile.
async fn beside<T>(
    link: &mut Link,
    place: PgLsn,
    work: impl Future<Output = T>,
) -> Result<T, Fault> {
    let mut work = pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return Ok(done),
            () = sleep(ALIVE_EVERY) => link.confirm(place).await?,
        }
    }
}
