//! Memory for bodies of requests and for answers that are not read yet: a bound on all of one kind, and one on those of a
//! caller.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tidings_node::CallerId;

use super::over_share;
use crate::error::{Code, Problem};

/// Bytes of a body for which there is room while the caller's share has some: many small ones don't keep others out.
pub(crate) const SMALL_BYTES: usize = 16 << 10;

/// The bounds of a kind of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteBounds {
    /// Bytes of all callers together.
    pub(crate) all_max: usize,
    /// Bytes of a recipient, or an address of another machine.
    pub(crate) of_one_max: usize,
    /// Time limit of the arrival of a body.
    pub(crate) patience: Duration,
}

/// The memory for one kind of bytes.
#[derive(Clone, Debug)]
pub(crate) struct ByteRoom(Arc<ByteRoomState>);

#[derive(Debug)]
struct ByteRoomState {
    bounds: ByteBounds,
    taken: Mutex<HeldBytes>,
}

/// The bytes that are held.
#[derive(Debug, Default)]
struct HeldBytes {
    /// Bytes of all callers, without small bodies.
    all: usize,
    callers: HashMap<CallerId, usize>,
}

impl HeldBytes {
    fn of(&self, caller: &CallerId) -> usize {
        self.callers.get(caller).copied().unwrap_or_default()
    }
}

impl ByteRoom {
    /// Room within these bounds.
    pub(crate) fn new(bounds: ByteBounds) -> Self {
        Self(Arc::new(ByteRoomState { bounds, taken: Mutex::default() }))
    }

    /// Room of a caller that holds nothing yet.
    pub(crate) fn of(&self, caller: CallerId) -> ByteReservation {
        ByteReservation { of: self.clone(), caller, bytes: 0 }
    }

    /// Time limit of the arrival of a body.
    pub(crate) fn patience(&self) -> Duration {
        self.0.bounds.patience
    }

    /// Returns true if a caller holds its share or more.
    pub(crate) fn is_over(&self, caller: &CallerId) -> bool {
        self.taken().of(caller) >= self.share(caller)
    }

    /// The bytes that all callers hold.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.taken().all
    }

    /// The share of a caller. Whoever is on this machine may speak for many clients, and a key often is the only one.
    fn share(&self, caller: &CallerId) -> usize {
        let ByteBounds { all_max, of_one_max, .. } = self.0.bounds;
        match caller {
            CallerId::Host => usize::MAX,
            CallerId::Address(address) if address.is_loopback() => usize::MAX,
            CallerId::Key(_) => caller.most_of(all_max),
            CallerId::Address(_) | CallerId::Recipient(_) => of_one_max,
        }
    }

    fn taken(&self) -> MutexGuard<'_, HeldBytes> {
        self.0.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The part of a body's bytes that counts to those of all callers.
fn in_all(bytes: usize) -> usize {
    if bytes > SMALL_BYTES { bytes } else { 0 }
}

/// The room of one body or answer, until it is dropped.
#[derive(Debug)]
pub(crate) struct ByteReservation {
    of: ByteRoom,
    caller: CallerId,
    bytes: usize,
}

impl ByteReservation {
    /// Checks that there is room for this many bytes at present, without holding it.
    ///
    /// # Errors
    /// As [`ByteReservation::hold`].
    pub(crate) fn expect(&self, bytes: usize) -> Result<(), Problem> {
        self.fits(&self.of.taken(), bytes)
    }

    fn fits(&self, taken: &HeldBytes, bytes: usize) -> Result<(), Problem> {
        let more = bytes.saturating_sub(self.bytes);
        let of_all = taken.all - in_all(self.bytes);
        // Small bodies fit while the caller's share has room: large ones of others must not keep them out.
        if bytes > SMALL_BYTES && of_all + bytes > self.of.0.bounds.all_max {
            let detail = "the bodies of requests in progress use all the memory reserved for them";
            return Err(Problem::new(Code::TooBusy, detail));
        }
        if taken.of(&self.caller) + more > self.of.share(&self.caller) {
            return Err(over_share("the memory for bodies of requests in progress"));
        }
        Ok(())
    }

    /// Holds room for at least this many bytes from now on.
    ///
    /// # Errors
    /// [`Code::TooBusy`] where all of the room is taken, [`Code::Busy`] where the caller's share is.
    pub(crate) fn hold(&mut self, bytes: usize) -> Result<(), Problem> {
        let room = self.of.clone();
        let mut taken = room.taken();
        self.fits(&taken, bytes)?;
        self.grow(&mut taken, bytes.saturating_sub(self.bytes));
        Ok(())
    }

    /// Holds this many bytes, which are there already.
    pub(crate) fn hold_anyway(&mut self, bytes: usize) {
        let room = self.of.clone();
        self.grow(&mut room.taken(), bytes.saturating_sub(self.bytes));
    }

    /// Holds this many bytes if there is room for them, or if the caller holds nothing else. Returns true if it does.
    pub(crate) fn hold_first(&mut self, bytes: usize) -> bool {
        let room = self.of.clone();
        let mut taken = room.taken();
        let of_caller = taken.of(&self.caller);
        let is_full = taken.all + bytes > room.0.bounds.all_max;
        let fits = of_caller == 0 || !is_full && of_caller + bytes <= room.share(&self.caller);
        if fits {
            self.grow(&mut taken, bytes);
        }
        fits
    }

    /// Gives back what is held beyond this many bytes.
    pub(crate) fn shrink_to(&mut self, bytes: usize) {
        let less = self.bytes.saturating_sub(bytes);
        if less == 0 {
            return;
        }
        let room = self.of.clone();
        let mut taken = room.taken();
        let before = in_all(self.bytes);
        self.bytes -= less;
        taken.all = taken.all - before + in_all(self.bytes);
        if let Some(of_caller) = taken.callers.get_mut(&self.caller) {
            *of_caller -= less;
            if *of_caller == 0 {
                taken.callers.remove(&self.caller);
            }
        }
    }

    fn grow(&mut self, taken: &mut HeldBytes, more: usize) {
        if more > 0 {
            let before = in_all(self.bytes);
            self.bytes += more;
            taken.all = taken.all - before + in_all(self.bytes);
            *taken.callers.entry(self.caller.clone()).or_default() += more;
        }
    }
}

impl Drop for ByteReservation {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

#[cfg(test)]
mod tests {
    use tidings_core::Id;

    use super::*;

    #[test]
    fn each_caller_has_a_share_and_no_key_has_all() {
        let bounds = ByteBounds { all_max: 800_000, of_one_max: 100_000, patience: Duration::ZERO };
        let room = ByteRoom::new(bounds);
        let code = |held: Result<(), Problem>| held.unwrap_err().code;
        let ana = CallerId::Recipient(Id::new("ana").unwrap());
        let mut anas = [room.of(ana.clone()), room.of(ana.clone())];
        anas[0].hold(90_000).unwrap();
        // Her share is over, for small bodies as well.
        assert_eq!(code(anas[1].hold(11_000)), Code::Busy);
        let key = |id: &str| room.of(CallerId::Key(id.into()));
        let (mut a, mut b) = (key("a"), key("b"));
        assert_eq!(code(a.hold(710_000)), Code::Busy);
        a.hold(700_000).unwrap();
        assert_eq!(code(b.hold(20_000)), Code::TooBusy);
        // A small one passes all the same.
        b.hold(16_000).unwrap();
        a.shrink_to(10);
        b.hold(500_000).unwrap();
        assert!(!room.is_over(&ana));
        anas[1].hold_anyway(20_000);
        assert!(room.is_over(&ana) && !anas[1].hold_first(1));
        drop((a, b, anas));
        assert_eq!((room.held(), room.taken().callers.len()), (0, 0));
        // An answer that is larger than the share is given to whoever has no other.
        assert!(room.of(ana).hold_first(200_000));
    }
}
