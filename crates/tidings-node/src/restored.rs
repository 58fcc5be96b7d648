//! Restored stores: the original may still send, so nothing is sent before an operator resumes it.

use tidings_core::channel::{self, ChannelKind};
use tidings_core::command::Pausable;
use tidings_core::engine::{Engine, Options, Reach};
use tidings_core::{Command, Instant};
use tidings_store::Store;

use crate::commit::view::StoreView;
use crate::error::Error;

/// Pauses every channel that sends messages, including those that are configured later. The inbox is not
/// paused: it only is read. The store's own instant stays; `now` is used if it has none yet.
///
/// # Errors
/// [`Error`] where the store can't be read or written.
pub fn pause_restored(store: &dyn Store, now: Instant) -> Result<(), Error> {
    let view = StoreView::of(store)?;
    let mut engine = Engine::open(&view, &store.days()?, Options::default())?;
    let pause = |kind: &ChannelKind| Command::Pause(Pausable::Channel(kind.name.to_owned()));
    let commands: Vec<Command> = channel::sending().map(pause).collect();
    let at = match engine.rules() {
        Some(_) => engine.now(),
        None => now,
    };
    let step = engine.take_in(&view, &Reach::new(), at, &commands)?;
    drop(view);
    store.commit(step.writes.into())?;
    Ok(())
}
