//! A store that was just restored: the original may still send, so nothing leaves before an operator
//! says so.

use tidings_core::command::Pausable;
use tidings_core::engine::{Engine, Options};
use tidings_core::rules::{CHANNELS, INBOX};
use tidings_core::{Command, Instant};
use tidings_store::{Commit, Store};

use crate::Error;
use crate::shelf::StoreShelf;

/// Pauses every channel by which messages leave, those that are configured later included. The inbox is
/// not paused: it is read, nothing leaves by it. The store's own instant stays as it was; `now` is that of
/// a store which has none yet.
///
/// # Errors
/// [`Error`] where the store can't be read or written.
pub fn pause_restored(store: &dyn Store, now: Instant) -> Result<(), Error> {
    let shelf = StoreShelf::of(store)?;
    let mut engine = Engine::open(&shelf, &store.days()?, Options::default())?;
    let leaving = CHANNELS.iter().filter(|channel| **channel != INBOX);
    let pause = |channel: &&str| Command::Pause(Pausable::Channel((*channel).to_owned()));
    let commands: Vec<Command> = leaving.map(pause).collect();
    let at = match engine.rules() {
        Some(_) => engine.now(),
        None => now,
    };
    let step = engine.take_in(&shelf, at, &commands)?;
    drop(shelf);
    store.commit(Commit {
        writes: step.writes,
        ..Commit::default()
    })?;
    Ok(())
}
