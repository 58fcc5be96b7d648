//! Sessions of the console, by the handle. They begin and end by [`Handle::change_keys`].

use tidings_core::Instant;
use tidings_core::engine::LoggedChange;
use tidings_core::model::{ChangeSubject, Origin, SubjectKind};

use super::Handle;
use crate::error::RuntimeError;
use crate::keys::{KeyChange, KeyHash, Session};

impl Handle {
    /// The sessions that have not ended, newest first, and by id where they began at one instant.
    #[must_use]
    pub fn sessions(&self, now: Instant) -> Vec<Session> {
        self.shared.keys.sessions().list(now)
    }

    /// The session of a secret, by its hash; `None` = there is none, or it has ended.
    #[must_use]
    pub fn session(&self, hash: &KeyHash, now: Instant) -> Option<Session> {
        self.shared.keys.sessions().get(hash, now).cloned()
    }

    /// Notes that a session is used, and returns it; `None` = there is none, or it has ended. The node that has the
    /// intake makes it durable, once a minute: the others know such a use until they stop.
    #[must_use]
    pub fn use_session(&self, hash: &KeyHash, now: Instant) -> Option<Session> {
        let mut sessions = self.shared.keys.sessions();
        let to_write = sessions.note_use(hash, now);
        let session = sessions.get(hash, now).cloned();
        drop(sessions);
        if let Some(used) = to_write {
            // If there is no room for it now, there is in a minute.
            let noted = KeyChange::UseSession(used);
            let _ = self.with_origin(None).change_keys(now, noted, None, drop);
        }
        session
    }

    /// Logs that a sign-in was refused, as `session.refused` of the handle's origin: a line a minute for each caller of a
    /// handle ([`Handle::of`]). Nobody waits for it.
    ///
    /// # Errors
    /// [`RuntimeError::Busy`] or [`RuntimeError::Stopped`].
    pub fn log_refused_session(&self, now: Instant) -> Result<(), RuntimeError> {
        let Some(origin) = &self.origin else {
            return Ok(());
        };
        if !self.shared.keys.refused_peers().is_to_log(&self.caller, now) {
            return Ok(());
        }
        let origin = Origin { action: Some("session.refused".into()), ..Origin::clone(origin) };
        let change =
            LoggedChange { subject: ChangeSubject::all(SubjectKind::Session), fields: Vec::new() };
        self.with_origin(Some(origin.into())).log(change, drop)
    }
}
