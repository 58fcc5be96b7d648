//! Places for reads: a bounded number is at work, and callers get the next free place in turn.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;

use tidings_node::{CallerId, FairQueue, RuntimeError};
use tokio::sync::oneshot;

/// Maximum number of places at work of a recipient or an address, where there are processors for more.
const AT_WORK_MAX: usize = 2;

/// The places of a kind of work.
#[derive(Clone)]
pub(crate) struct Places(Arc<Mutex<PlacesState>>);

struct PlacesState {
    /// Places at work that are free.
    free: usize,
    /// Maximum number of places at work of an API key.
    of_key_max: usize,
    /// The same of a recipient or an address.
    of_one_max: usize,
    /// Maximum number of callers' places, at work or waiting.
    all_max: usize,
    all: usize,
    /// True if a caller has no more than one place.
    is_one_each: bool,
    callers: HashMap<CallerId, TakenPlaces>,
    queue: FairQueue<CallerId, Ticket>,
    tickets: u64,
}

/// The places that a caller has.
#[derive(Default)]
struct TakenPlaces {
    at_work: usize,
    all: usize,
}

struct Ticket {
    no: u64,
    turn: oneshot::Sender<WorkPlaceGuard>,
}

impl Places {
    /// The number of places at work, and the number with those that wait.
    pub(crate) fn new(at_work_max: usize, all_max: usize) -> Self {
        let processors = available_parallelism().map_or(2, usize::from);
        Self::on(processors, at_work_max, all_max)
    }

    /// The same on a machine with this many processors: more reads at once would only slow down those of others.
    fn on(processors: usize, at_work_max: usize, all_max: usize) -> Self {
        Self(Arc::new(Mutex::new(PlacesState {
            free: at_work_max,
            of_key_max: processors.clamp(2, at_work_max.saturating_sub(1).max(2)),
            // One of them is left to others.
            of_one_max: processors.saturating_sub(1).clamp(1, AT_WORK_MAX),
            all_max,
            all: 0,
            is_one_each: false,
            callers: HashMap::new(),
            queue: FairQueue::default(),
            tickets: 0,
        })))
    }

    fn state(&self) -> MutexGuard<'_, PlacesState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place of a caller, at work or waiting, until it is dropped.
    ///
    /// # Errors
    /// [`RuntimeError::OverShare`], [`RuntimeError::Busy`].
    pub(crate) fn enter(&self, caller: CallerId) -> Result<CallerPlace, RuntimeError> {
        let mut state = self.state();
        let most = state.all_max;
        let of_caller = state.callers.get(&caller).map_or(0, |taken| taken.all);
        let is_over = of_caller >= caller.places(most) && caller != CallerId::Host;
        if is_over || state.is_one_each && of_caller > 0 {
            return Err(RuntimeError::OverShare);
        }
        if state.all >= most {
            return Err(RuntimeError::Busy);
        }
        state.all += 1;
        state.callers.entry(caller.clone()).or_default().all += 1;
        drop(state);
        Ok(CallerPlace { places: self.clone(), caller, ticket: None })
    }

    /// The same, of which a caller has no more than one.
    pub(crate) fn one_each(self) -> Self {
        self.state().is_one_each = true;
        self
    }

    /// Takes all the room there is.
    #[cfg(test)]
    pub(crate) fn fill(&self) {
        let mut state = self.state();
        state.all += state.all_max;
    }

    /// Leaves no place at work free.
    #[cfg(test)]
    pub(crate) fn halt(&self) {
        self.state().free = 0;
    }
}

impl PlacesState {
    fn may_work(&self, caller: &CallerId) -> bool {
        let most = match caller {
            CallerId::Host => usize::MAX,
            CallerId::Key(_) => self.of_key_max,
            CallerId::Address(_) | CallerId::Recipient(_) => self.of_one_max,
        };
        self.free > 0 && self.callers.get(caller).is_none_or(|taken| taken.at_work < most)
    }

    fn begin(&mut self, caller: &CallerId) {
        self.free -= 1;
        self.callers.entry(caller.clone()).or_default().at_work += 1;
    }

    fn drop_idle(&mut self, caller: &CallerId) {
        if self.callers.get(caller).is_some_and(|taken| taken.all == 0 && taken.at_work == 0) {
            self.callers.remove(caller);
        }
    }
}

/// The place of a caller in a room.
pub(crate) struct CallerPlace {
    places: Places,
    caller: CallerId,
    /// Its number in the queue, while it waits.
    ticket: Option<u64>,
}

impl CallerPlace {
    /// Waits for its turn.
    pub(crate) async fn turn(&mut self) -> Option<WorkPlaceGuard> {
        let waiting = {
            let mut state = self.places.state();
            // A caller with requests that wait takes a turn behind them, even if a place is free.
            if state.may_work(&self.caller) && state.queue.len_of(&self.caller) == 0 {
                state.begin(&self.caller);
                return Some(self.at_work());
            }
            let (turn, waiting) = oneshot::channel();
            let no = state.tickets;
            state.tickets += 1;
            state.queue.push(self.caller.clone(), Ticket { no, turn });
            self.ticket = Some(no);
            waiting
        };
        waiting.await.ok()
    }

    fn at_work(&self) -> WorkPlaceGuard {
        WorkPlaceGuard { places: self.places.clone(), caller: self.caller.clone() }
    }
}

impl Drop for CallerPlace {
    fn drop(&mut self) {
        let mut state = self.places.state();
        state.all -= 1;
        if let Some(taken) = state.callers.get_mut(&self.caller) {
            taken.all -= 1;
        }
        let left = self.ticket.and_then(|no| state.queue.remove(&self.caller, |one| one.no == no));
        state.drop_idle(&self.caller);
        drop(state);
        drop(left);
    }
}

/// A place at work, until it is dropped: then it is the next caller's.
pub(crate) struct WorkPlaceGuard {
    places: Places,
    caller: CallerId,
}

impl Drop for WorkPlaceGuard {
    fn drop(&mut self) {
        let mut next = Vec::new();
        let mut state = self.places.state();
        state.free += 1;
        if let Some(taken) = state.callers.get_mut(&self.caller) {
            taken.at_work -= 1;
        }
        state.drop_idle(&self.caller);
        loop {
            let PlacesState { queue, .. } = &mut *state;
            let mut waiting = std::mem::take(queue);
            let found = waiting.pop(|caller| state.may_work(caller));
            state.queue = waiting;
            let Some((caller, ticket)) = found else { break };
            state.begin(&caller);
            next.push((ticket, WorkPlaceGuard { places: self.places.clone(), caller }));
        }
        // Without the lock: a receiver that is gone drops its place here, which takes the lock again.
        drop(state);
        for (ticket, place) in next {
            let _ = ticket.turn.send(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use tidings_core::Id;

    use super::*;

    fn recipient(id: &str) -> CallerId {
        CallerId::Recipient(Id::new(id).unwrap())
    }

    #[test]
    fn a_place_that_is_free_again_is_the_next_callers() {
        let places = Places::on(4, 3, 100);
        let enter = |id: &str| places.enter(recipient(id)).unwrap();
        let mut anas: Vec<_> = (0..4).map(|_| enter("ana")).collect();
        let (mut ben, mut eve) = (enter("ben"), enter("eve"));
        let mut first = anas[0].turn().now_or_never().flatten();
        let second = anas[1].turn().now_or_never().flatten();
        assert!(first.is_some() && second.is_some());
        // Hers is the share, so the third place is there for another.
        let mut anas = anas.split_off(2);
        let (one, two) = anas.split_at_mut(1);
        let (mut third, mut fourth) = (Box::pin(one[0].turn()), Box::pin(two[0].turn()));
        assert!((&mut third).now_or_never().is_none() && (&mut fourth).now_or_never().is_none());
        let bens = ben.turn().now_or_never().flatten();
        assert!(bens.is_some());
        let mut eves = Box::pin(eve.turn());
        assert!((&mut eves).now_or_never().is_none());
        // Ana asked before Eve; after that it is Eve's turn, and not Ana's again.
        first.take();
        let third = (&mut third).now_or_never().flatten();
        assert!(third.is_some());
        drop(bens);
        assert!((&mut eves).now_or_never().flatten().is_some());
        assert!((&mut fourth).now_or_never().is_none());
    }

    #[test]
    fn who_goes_leaves_the_queue_and_the_room() {
        let places = Places::on(4, 2, 16);
        let mut all: Vec<_> = (0..14).map(|_| places.enter(recipient("ana")).unwrap()).collect();
        assert!(matches!(places.enter(recipient("ana")), Err(RuntimeError::OverShare)));
        let ben = [(); 2].map(|()| places.enter(recipient("ben")).unwrap());
        assert!(matches!(places.enter(recipient("ben")), Err(RuntimeError::Busy)));
        let at_work: Vec<_> =
            all.iter_mut().filter_map(|one| one.turn().now_or_never().flatten()).collect();
        assert_eq!((at_work.len(), places.state().queue.len()), (2, 12));
        drop((all, ben));
        assert!(places.state().queue.is_empty());
        let left = |places: &Places| {
            let state = places.state();
            (state.all, state.callers.len())
        };
        assert_eq!(left(&places), (0, 1));
        drop(at_work);
        assert_eq!(left(&places), (0, 0));
    }
}
