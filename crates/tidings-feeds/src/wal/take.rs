//! Takes what the log has told: a step gives it to the sink, and marks it in one transaction of the host's database in
//! which the place changes too.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use tokio::time::sleep;
use tokio_postgres::types::Type;

use super::Reader;
use super::queue::{What, is_hidden, place_after};
use super::slot::Place;
use crate::poll::{self, told, within};
use crate::sink::{Given, RowNo, Verdict};
use crate::{Fault, OnRefusal};

/// The first and the longest wait for a commit that is not visible yet.
const HIDDEN_REST: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(100));

/// The marks of a step.
#[derive(Default)]
struct Marks {
    taken: Vec<i64>,
    parked: Vec<i64>,
    problems: Vec<String>,
    /// Messages that were refused: payload and problem.
    messages: Vec<(String, String)>,
    newest: Option<RowNo>,
    /// Number of rows and messages that were taken.
    count: u64,
}

impl Reader<'_> {
    /// Takes what waits, up to a row before which the feed stops.
    pub(super) async fn take(&mut self) -> Result<(), Fault> {
        let client = self.client;
        within(poll::run(client, poll::BEGIN)).await?;
        self.until_visible().await?;
        let (given, places) = self.given().await?;
        let (marks, count) = if given.is_empty() {
            (Marks::default(), self.queue.items().len())
        } else {
            let stops = self.context.settings.refused == OnRefusal::Stop;
            let (sink, name) = (&self.context.sink, &self.context.settings.name);
            let accepted = sink.accept(name, given.clone(), stops).await;
            let verdicts = accepted.map_err(|fault| Fault::Passing(fault.to_string()))?;
            let all = self.queue.items().len();
            let count = if verdicts.len() < given.len() {
                let last = verdicts.len().checked_sub(1).and_then(|last| places.get(last));
                last.map_or(0, |place| place + 1)
            } else {
                all
            };
            (self.marks(given, verdicts), count)
        };
        let place = place_after(self.base(), self.queue.items().iter().take(count));
        within(self.outbox.mark(&marks.taken)).await?;
        within(self.outbox.park(&marks.parked, &marks.problems)).await?;
        for (payload, problem) in &marks.messages {
            within(self.outbox.park_message(payload, problem)).await?;
        }
        if place != self.place {
            within(self.slot.advance(place)).await?;
        }
        within(poll::run(client, "COMMIT")).await?;
        self.place = place;
        self.idle_to = self.idle_to.max(place.to);
        self.queue.remove(count);
        self.note(&marks);
        Ok(())
    }

    /// The place before what waits: further than the one that is written down where the log had nothing of ours since.
    fn base(&self) -> Place {
        let part = self.place.part.filter(|(of, _)| *of >= self.idle_to);
        Place { to: self.idle_to, part }
    }

    /// Waits until the commits of what waits are visible here: what nobody else sees yet may be lost with the server,
    /// and could not be marked.
    async fn until_visible(&self) -> Result<(), Fault> {
        let origins = self.queue.items().iter().filter_map(|item| item.origin);
        let mut hidden: HashSet<u32> = origins.map(|origin| origin.xid).collect();
        let table = self.outbox.table();
        let row = within(async {
            Ok(self.client.query_typed_one(poll::ALONE, &[(&table, Type::TEXT)]).await?)
        });
        if !row.await?.get::<_, bool>(0) {
            return Err(Fault::Passing(poll::NOT_ALONE.to_owned()));
        }
        let (mut rest, longest) = HIDDEN_REST;
        loop {
            let sql = "SELECT pg_current_snapshot()::text";
            let row = within(async { Ok(self.client.query_typed_one(sql, &[]).await?) }).await?;
            let snapshot: &str = row.get(0);
            hidden.retain(|xid| is_hidden(snapshot, *xid));
            if hidden.is_empty() {
                return Ok(());
            }
            sleep(rest).await;
            rest = (rest * 2).min(longest);
        }
    }

    /// What is to be given, each with its place in the queue: messages, and rows that still wait.
    async fn given(&self) -> Result<(Vec<Given>, Vec<usize>), Fault> {
        let items = self.queue.items();
        let ids = items.iter().filter_map(|item| match item.what {
            What::Row(id) => Some(id),
            What::Message { .. } | What::End(_) => None,
        });
        let ids: Vec<i64> = ids.collect();
        let mut waiting = HashMap::new();
        if !ids.is_empty() {
            let sql = format!(
                "SELECT id, payload::text FROM {} \
                 WHERE id = ANY ($1) AND taken_at IS NULL AND refused IS NULL",
                self.outbox.table()
            );
            let asked =
                async { Ok(self.client.query_typed(&sql, &[(&ids, Type::INT8_ARRAY)]).await?) };
            let rows = within(asked).await?;
            waiting.extend(rows.iter().map(|row| (row.get::<_, i64>(0), row.get::<_, String>(1))));
        }
        let (mut given, mut places) = (Vec::new(), Vec::new());
        for (place, item) in items.iter().enumerate() {
            let (no, payload) = match &item.what {
                // A row that comes twice waits once.
                What::Row(id) => (RowNo::Row(*id), waiting.remove(id)),
                What::Message { place, payload } => (RowNo::Message(*place), Some(payload.clone())),
                What::End(_) => continue,
            };
            if let Some(payload) = payload {
                given.push(Given { no, payload });
                places.push(place);
            }
        }
        Ok((given, places))
    }

    fn marks(&self, given: Vec<Given>, verdicts: Vec<Verdict>) -> Marks {
        let mut marks = Marks::default();
        for (Given { no, payload }, verdict) in given.into_iter().zip(verdicts) {
            match (verdict, no) {
                (Verdict::Taken, no) => {
                    if let RowNo::Row(id) = no {
                        marks.taken.push(id);
                    }
                    marks.newest = Some(no);
                    marks.count += 1;
                }
                (Verdict::Refused(problem), no) => {
                    let feed = &self.context.settings.name;
                    tracing::warn!(%feed, row = %no, problem = %told(&problem), "a row is refused");
                    match no {
                        RowNo::Row(id) => {
                            marks.parked.push(id);
                            marks.problems.push(problem);
                        }
                        RowNo::Message(_) => marks.messages.push((payload, problem)),
                    }
                }
            }
        }
        marks
    }

    fn note(&self, marks: &Marks) {
        let refused = marks.parked.len() + marks.messages.len();
        let refused = u64::try_from(refused).unwrap_or(u64::MAX);
        self.context.status.set(|status| {
            status.taken += marks.count;
            status.refused += refused;
            status.parked += refused;
            if let Some(newest) = marks.newest {
                status.newest = Some(newest.to_string());
            }
        });
    }
}
