//! Hooks: services of the host that are called about occurrences.
//!
//! Occurrences are rows of the store ([`tidings_core::engine::Reader::occurrences_from`]). A hook has a position among the rows of
//! each owner, and a bounded set of open occurrences: about to be sent, or failed so far. There is no other queue, so a
//! hook that is away for a day costs a position. Its progress is written once a second; after a stop later occurrences
//! are sent again, under the same ids (decision 081).
//!
//! Each of several nodes calls about its own shards, and the one with the intake about the intake too. The state of a
//! hook for all nodes is a row of the intake (`HookState`), which each node reads.

mod answer;
mod body;
mod hook;
mod lines;
mod parked;
mod progress;
mod vitals;

use std::collections::BTreeMap;
use std::sync::Arc;

use tidings_core::Instant;
use tidings_core::engine::{Engine, hook_state};
use tidings_core::journal::{ReadView, Unreadable, Write};
use tidings_core::model::{OccurrenceOwner, OccurrencePlace, OccurrenceRow, SECOND_MS};

pub(crate) use self::answer::HookAnswer;
use self::hook::Hook;
pub use self::vitals::{HookVitals, HooksVitals};
use crate::commit::view::StoreView;
use crate::delivery::send_job::{HookNo, SendJob};
use crate::error::Error;
use crate::node::Node;
use crate::telemetry::vitals::Vitals;

/// The time between two looks at what another node may say of hooks.
const LOOK_MS: i64 = SECOND_MS / 2;
/// The time between two writes of the progress of hooks.
const SAVE_MS: i64 = SECOND_MS;

/// The status of an engine's hooks by its store, without a loop that calls them.
///
/// # Errors
/// [`Unreadable`] where the store can't be read or makes no sense.
pub fn hooks_stored(
    engine: &Engine,
    view: &dyn ReadView,
) -> Result<BTreeMap<String, HookVitals>, Unreadable> {
    let now = engine.newest_step();
    let durable = engine.reader(view).occurrence_owners()?;
    let mut all = BTreeMap::new();
    for rules in engine.rules().into_iter().flat_map(|rules| &rules.hooks) {
        let Some(state) = hook_state(view, &rules.name)? else {
            continue;
        };
        let mut hook =
            Hook::load(view, HookNo::default(), rules, state, durable.keys().copied(), now)?;
        while hook.counts(&durable) {
            hook.count(engine, view, &durable)?;
        }
        all.insert(rules.name.clone(), hook.shown());
    }
    Ok(all)
}

/// All hooks of a node.
pub(crate) struct Hooks {
    /// The calls that are to be made.
    calls: Vec<SendJob>,
    /// The number of the newest hook.
    newest: u64,
    all: Vec<Hook>,
    /// By owner the first row that may not be durable yet.
    durable: BTreeMap<OccurrenceOwner, OccurrenceRow>,
    /// True if the state of hooks may have changed.
    is_stale: bool,
    look_at: Instant,
    save_at: Instant,
    /// True if this node has the intake, so that no other node changes the state of hooks.
    holds_intake: bool,
    vitals: Arc<Vitals>,
}

impl Hooks {
    pub(crate) fn new() -> Self {
        Self {
            calls: Vec::new(),
            newest: 0,
            all: Vec::new(),
            durable: BTreeMap::new(),
            is_stale: true,
            look_at: Instant::MIN,
            save_at: Instant::MIN,
            holds_intake: true,
            vitals: Arc::default(),
        }
    }

    /// Sets the measurements.
    pub(crate) fn measure(&mut self, vitals: &Arc<Vitals>) {
        self.vitals = Arc::clone(vitals);
    }

    /// Takes the calls that are to be made; pass the answer to each to [`Hooks::answered`].
    pub(crate) fn take_calls(&mut self) -> Vec<SendJob> {
        std::mem::take(&mut self.calls)
    }

    /// Begins anew with a node that was just opened, of which everything is durable.
    ///
    /// # Errors
    /// [`Error`] where the store can't be read.
    pub(crate) fn open(&mut self, node: &Node) -> Result<(), Error> {
        self.calls.clear();
        self.all.clear();
        self.durable = node.engine().reader(&node.view()?).occurrence_owners()?;
        self.holds_intake = node.engine().replica().holds_intake();
        self.is_stale = true;
        Ok(())
    }

    /// Notes that the state of hooks may have changed.
    pub(crate) fn look_again(&mut self) {
        self.is_stale = true;
    }

    /// Takes over that rows of occurrences are durable.
    pub(crate) fn occurred(
        &mut self,
        rows: impl IntoIterator<Item = (OccurrenceOwner, OccurrenceRow)>,
    ) {
        for (owner, row) in rows {
            let until = self.durable.entry(owner).or_insert(row);
            *until = row.next().max(*until);
        }
    }

    /// Takes an answer.
    pub(crate) fn answered(
        &mut self,
        (no, place): (HookNo, OccurrencePlace),
        id: &str,
        answer: &HookAnswer,
        now: Instant,
    ) {
        if let Some(hook) = self.all.iter_mut().find(|hook| hook.no == no) {
            hook.answered(place, id, answer, now);
        }
    }

    /// Adapts to a clock that was put back by a number of milliseconds.
    pub(crate) fn put_back(&mut self, by_ms: i64) {
        self.all.iter_mut().for_each(|hook| hook.put_back(by_ms));
        for at in [&mut self.look_at, &mut self.save_at] {
            *at = at.plus_ms(-by_ms);
        }
    }

    /// The instant at which there is something to do; an instant that has come = at once.
    pub(crate) fn next(&self, sends: bool) -> Option<Instant> {
        if self.is_stale {
            return Some(Instant::MIN);
        }
        let looks = !self.holds_intake && !self.all.is_empty();
        let saves = self.all.iter().any(Hook::is_dirty);
        let each = self.all.iter().filter_map(|hook| hook.next(&self.durable, sends));
        each.chain(looks.then_some(self.look_at)).chain(saves.then_some(self.save_at)).min()
    }

    /// Runs due work: reads occurrences, calls hooks, and writes their progress.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then.
    pub(crate) fn turn(&mut self, node: &mut Node, now: Instant, sends: bool) -> Result<(), Error> {
        if self.is_stale || (!self.holds_intake && self.look_at <= now) {
            self.look(node, now)?;
        }
        if self.all.is_empty() {
            return Ok(());
        }
        if self.all.iter().any(|hook| hook.has_work(&self.durable, now, sends)) {
            // The view has durable rows alone: hooks must not learn of what a crash takes back.
            let view = StoreView::of(&**node.store())?;
            for hook in &mut self.all {
                if sends {
                    hook.read(node.engine(), &view, &self.durable, now)?;
                    hook.call(&view, &mut self.calls, now)?;
                }
                hook.count(node.engine(), &view, &self.durable)?;
            }
        }
        self.show();
        let is_urgent = self.all.iter().any(|hook| hook.is_urgent);
        if is_urgent || (self.save_at <= now && self.all.iter().any(Hook::is_dirty)) {
            self.save_at = now.plus_ms(SAVE_MS);
            self.save(node)?;
        }
        Ok(())
    }

    /// Writes the progress of hooks.
    ///
    /// # Errors
    /// [`Error`]; the node is poisoned then.
    pub(crate) fn save(&mut self, node: &mut Node) -> Result<(), Error> {
        let writes: Vec<Write> = self.all.iter_mut().flat_map(Hook::take_rows).collect();
        if writes.is_empty() { Ok(()) } else { node.write(writes) }
    }

    /// Reads the configured hooks, and the state of each.
    fn look(&mut self, node: &Node, now: Instant) -> Result<(), Error> {
        self.look_at = now.plus_ms(LOOK_MS);
        self.is_stale = false;
        let rules = node.engine().rules().map_or(&[][..], |rules| &rules.hooks);
        if rules.is_empty() && self.all.is_empty() {
            return Ok(());
        }
        let view = node.view()?;
        let mut before = std::mem::take(&mut self.all);
        for rules in rules {
            let Some(state) = hook_state(&view, &rules.name)? else {
                continue;
            };
            let same = before.iter().position(|hook| *hook.name == *rules.name);
            let hook = match same.map(|at| before.swap_remove(at)) {
                Some(mut hook) if hook.state.since == state.since => {
                    hook.apply_rules(rules, state, now);
                    hook
                }
                _ => {
                    self.newest += 1;
                    let owners = self.durable.keys().copied();
                    Hook::load(&view, HookNo(self.newest), rules, state, owners, now)?
                }
            };
            self.all.push(hook);
        }
        self.show();
        Ok(())
    }

    fn show(&self) {
        let shown = self.all.iter().map(|hook| (hook.name.to_string(), hook.shown()));
        self.vitals.hooks.replace(shown.collect());
    }
}
