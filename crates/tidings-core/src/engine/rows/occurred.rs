//! Rows of occurrences, and the intake's state of hooks.
//!
//! A row has the occurrences of an owner in one step; it is written in the commit of that step, and only if a hook
//! wants that kind. A hook goes on from its stored position, so only the rows that are about to be sent are in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::draft::Draft;
use crate::engine::intake::state::Intake;
use crate::engine::read::reader::Reader;
use crate::engine::replies::refused::{Refused, StepError};
use crate::journal::chunks;
use crate::journal::stored::{ReadView, Unreadable, decode, encode};
use crate::journal::table::{Key, Partition, REST, Table, after_prefix, i64_at, u32_at};
use crate::model::occurrence::{
    HookChange, Occurrence, OccurrenceKind, OccurrenceOwner, OccurrencePlace, OccurrenceRow,
};
use crate::model::time::{Day, Instant};
use crate::rules::Rules;

/// The state of a hook for everybody, as the intake keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookState {
    /// The instant from which on occurrences are sent to the hook.
    pub since: Instant,
    /// The number of times that it was turned on: a 410 turns off the one that it answers, and none that came later.
    pub turn: u64,
    /// The replays that were requested.
    pub replays: HookReplays,
    /// True if it is not configured any more.
    pub is_gone: bool,
}

/// The replays of a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookReplays {
    /// Their number.
    pub count: u64,
    /// The instant from which the newest one replays.
    pub newest: Instant,
}

/// Returns true if a hook of the rules wants a kind of occurrence.
pub(crate) fn wants(rules: Option<&Rules>, kind: OccurrenceKind) -> bool {
    rules.is_some_and(|rules| rules.hooks.iter().any(|hook| hook.of.contains(&kind)))
}

fn row_key(owner: OccurrenceOwner, row: OccurrenceRow) -> Vec<u8> {
    instant_key(owner, row.at).u32(row.number).done()
}

fn instant_key(owner: OccurrenceOwner, at: Instant) -> Key {
    Key::of(owner.of_rows(), Table::Occurrences).i64(at.0)
}

/// The row of a key.
fn row_of(key: &[u8]) -> Result<OccurrenceRow, Unreadable> {
    let row = i64_at(key, REST).zip(u32_at(key, REST + 8));
    let (at, number) = row.ok_or_else(|| Unreadable("a key of occurrences is odd".to_owned()))?;
    Ok(OccurrenceRow { at: Instant(at), number })
}

/// Writes the row of what occurred to an owner in a step at an instant.
pub(crate) fn write_row(
    draft: &mut Draft<'_>,
    owner: OccurrenceOwner,
    at: Instant,
    occurrences: &[Occurrence],
) -> Result<OccurrenceRow, Unreadable> {
    let row = OccurrenceRow { at, number: next_number(draft.view, owner, at)? };
    draft.put_chunked(Partition::Day(at.day()), row_key(owner, row), &encode(&occurrences));
    Ok(row)
}

/// The number of an owner's next row of an instant, of which a step before may have written some.
fn next_number(
    view: &dyn ReadView,
    owner: OccurrenceOwner,
    at: Instant,
) -> Result<u32, Unreadable> {
    let prefix = instant_key(owner, at).done();
    let mut last = Ok(None);
    view.scan(
        Partition::Day(at.day()),
        &prefix,
        after_prefix(&prefix).as_deref(),
        &mut |key, _| {
            last = row_of(key).map(Some);
            if last.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        },
    )?;
    Ok(last?.map_or(0, |row| row.number.saturating_add(1)))
}

impl Reader<'_> {
    /// The writers of occurrences that an engine has, each with the row that it writes next or one before that.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read or makes no sense.
    pub fn occurrence_owners(
        &self,
    ) -> Result<BTreeMap<OccurrenceOwner, OccurrenceRow>, Unreadable> {
        let Self { engine, view } = *self;
        let at = engine.intake.now;
        let intake = engine.holds_intake.then_some(OccurrenceOwner::Intake);
        let buckets = engine.shards.buckets().map(|bucket| OccurrenceOwner::Bucket(bucket.no));
        let next = |owner| Ok((owner, OccurrenceRow { at, number: next_number(view, owner, at)? }));
        intake.into_iter().chain(buckets).map(next).collect()
    }

    /// Visits the rows of an owner from one on, in their order, until the visitor breaks.
    ///
    /// # Errors
    /// [`Unreadable`] where the store can't be read or makes no sense.
    pub fn occurrences_from(
        &self,
        owner: OccurrenceOwner,
        from: OccurrenceRow,
        mut visit: impl FnMut(OccurrenceRow, Vec<Occurrence>) -> ControlFlow<()>,
    ) -> Result<(), Unreadable> {
        let Self { engine, view } = *self;
        let prefix = Key::of(owner.of_rows(), Table::Occurrences).done();
        let until = after_prefix(&prefix);
        let first = row_key(owner, from);
        let days: BTreeSet<Day> = match owner {
            OccurrenceOwner::Intake => {
                engine.intake.id_days.range(from.at.day()..).copied().collect()
            }
            OccurrenceOwner::Bucket(no) => {
                engine.shards.days_of(no).range(from.at.day()..).copied().collect()
            }
        };
        for day in days {
            let partition = Partition::Day(day);
            let mut done = Ok(ControlFlow::Continue(()));
            view.scan(partition, &first, until.as_deref(), &mut |key, value| {
                let read = row_of(key)
                    .and_then(|row| Ok((row, read_row(view, partition, key, value)?)))
                    .map(|(row, all)| visit(row, all));
                let flow = *read.as_ref().unwrap_or(&ControlFlow::Break(()));
                done = read;
                flow
            })?;
            if done?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn read_row(
    view: &dyn ReadView,
    partition: Partition,
    key: &[u8],
    value: &[u8],
) -> Result<Vec<Occurrence>, Unreadable> {
    let bytes = chunks::whole(key, value, |key| view.get(partition, key))?;
    decode("occurrences", &bytes)
}

/// The occurrence at a place; `None` = its day was deleted.
///
/// # Errors
/// [`Unreadable`] where the store can't be read or makes no sense.
pub fn occurrence_at(
    view: &dyn ReadView,
    place: OccurrencePlace,
) -> Result<Option<Occurrence>, Unreadable> {
    let partition = Partition::Day(place.row.at.day());
    let key = row_key(place.owner, place.row);
    let Some(value) = view.get(partition, &key)? else {
        return Ok(None);
    };
    let all = read_row(view, partition, &key, &value)?;
    Ok(usize::try_from(place.index).ok().and_then(|index| all.into_iter().nth(index)))
}

fn state_key(name: &str) -> Vec<u8> {
    Key::of(OccurrenceOwner::Intake.of_rows(), Table::Hooks).bytes(name.as_bytes()).done()
}

/// The intake's state of a hook; `None` = it was never configured.
///
/// # Errors
/// [`Unreadable`] where the store can't be read or makes no sense.
pub fn hook_state(view: &dyn ReadView, name: &str) -> Result<Option<HookState>, Unreadable> {
    let row = view.get(Partition::Base, &state_key(name))?;
    row.map(|row| decode("a hook", &row)).transpose()
}

fn drafted_state(draft: &Draft<'_>, name: &str) -> Result<Option<HookState>, Unreadable> {
    let row = draft.get(Partition::Base, &state_key(name))?;
    row.map(|row| decode("a hook", &row)).transpose()
}

/// Notes which hooks begin and end with new rules.
pub(crate) fn note_hooks(
    intake: &Intake,
    draft: &mut Draft<'_>,
    rules: &Rules,
) -> Result<(), Unreadable> {
    for hook in &rules.hooks {
        let known = drafted_state(draft, &hook.name)?;
        if known.is_some_and(|known| !known.is_gone) {
            continue;
        }
        let state = HookState {
            since: intake.now,
            turn: known.map_or(0, |known| known.turn + 1),
            replays: known
                .map_or(HookReplays { count: 0, newest: intake.now }, |known| known.replays),
            is_gone: false,
        };
        draft.put(Partition::Base, state_key(&hook.name), encode(&state));
    }
    let before = intake.rules().into_iter().flat_map(|rules| &rules.hooks);
    for hook in before.filter(|hook| rules.hooks.iter().all(|new| new.name != hook.name)) {
        if let Some(known) = drafted_state(draft, &hook.name)? {
            let state = HookState { is_gone: true, ..known };
            draft.put(Partition::Base, state_key(&hook.name), encode(&state));
        }
    }
    Ok(())
}

/// Changes a hook.
///
/// # Errors
/// [`Refused::UnknownHook`].
pub(crate) fn change_hook(
    intake: &Intake,
    draft: &mut Draft<'_>,
    name: &str,
    change: HookChange,
) -> Result<(), StepError> {
    let unknown = || Refused::UnknownHook(name.to_owned());
    let is_known =
        intake.rules().is_some_and(|rules| rules.hooks.iter().any(|hook| hook.name == name));
    let known = drafted_state(draft, name)?.filter(|_| is_known).ok_or_else(unknown)?;
    let state = match change {
        HookChange::Resume => HookState { turn: known.turn + 1, ..known },
        HookChange::Replay(since) => HookState {
            replays: HookReplays { count: known.replays.count + 1, newest: since },
            ..known
        },
    };
    draft.put(Partition::Base, state_key(name), encode(&state));
    Ok(())
}
