//! Restored stores: the original may still send, so nothing is sent before an operator resumes it.

use tidings_core::engine::{Engine, LoggedChange, Options, Reach};
use tidings_core::model::{
    Author, AuthorKind, ChangeSubject, ChannelKind, Origin, PauseSubject, SubjectKind, Via,
    sending_channels,
};
use tidings_core::{Command, Instant};
use tidings_store::Store;

use crate::commit::view::StoreView;
use crate::error::Error;

/// Pauses every channel that sends messages, including those that are configured later. The inbox is not
/// paused: it only is read. The store's own instant stays; `now` is used if it has none yet. It is logged as one change.
///
/// # Errors
/// [`Error`] where the store can't be read or written.
pub fn pause_restored(store: &dyn Store, now: Instant) -> Result<(), Error> {
    let view = StoreView::of(store)?;
    let mut engine = Engine::open(&view, &store.days()?, Options::default())?;
    let pause = |kind: &ChannelKind| Command::Pause(PauseSubject::Channel(kind.name.to_owned()));
    let commands: Vec<Command> = sending_channels().map(pause).collect();
    let at = match engine.rules() {
        Some(_) => engine.now(),
        None => now,
    };
    let mut writes = engine.take_in(&view, &Reach::new(), at, &commands)?.writes;
    let origin = Origin {
        by: Author::new(AuthorKind::Command, "restore"),
        via: Via::Cli,
        action: Some("store.restored".into()),
        is_counted: false,
        request: None,
    };
    let subject = ChangeSubject::all(SubjectKind::Store);
    let restored = LoggedChange { subject, fields: Vec::new() };
    writes.extend(restored.write(&mut engine, &view, now, &origin)?);
    drop(view);
    store.commit(writes.into())?;
    Ok(())
}
