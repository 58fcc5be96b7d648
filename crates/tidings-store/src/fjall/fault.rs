//! Translation of the engine's errors (and panics) into those of the store.

use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use fjall::LsmError;

use crate::Error;

/// Translates an error while the store is in use: unreadable data is damage, everything else ends the
/// engine.
pub(super) fn in_use(fault: &fjall::Error) -> Error {
    match fault {
        fjall::Error::Storage(LsmError::Io(io)) | fjall::Error::Io(io) if !is_damage(io) => {
            Error::Unavailable(io.to_string())
        }
        fjall::Error::Poisoned => {
            Error::Unavailable("the engine stopped after an earlier fault".to_owned())
        }
        fjall::Error::KeyspaceDeleted => Error::Unavailable("the day is being deleted".to_owned()),
        other => Error::Corrupt(other.to_string()),
    }
}

/// Translates an error while the store is opened.
pub(super) fn at_open(path: &Path, fault: &fjall::Error) -> Error {
    let place = path.display();
    match fault {
        fjall::Error::Locked => Error::Locked(format!(
            "{place} is open, or a snapshot of it is still held in this process"
        )),
        fjall::Error::Storage(LsmError::Io(io)) | fjall::Error::Io(io) if !is_damage(io) => {
            Error::Unusable(format!("{place}: {io}"))
        }
        other => Error::Corrupt(format!("{place}: {other}; restore it from a backup")),
    }
}

/// Returns true if the bytes are wrong or missing, although the system worked.
fn is_damage(fault: &std::io::Error) -> bool {
    matches!(
        fault.kind(),
        ErrorKind::UnexpectedEof
            | ErrorKind::InvalidData
            | ErrorKind::InvalidInput
            | ErrorKind::NotFound
            | ErrorKind::Other
    )
}

/// Calls the engine and turns a panic over damaged bytes into damage.
pub(super) fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(call))
        .map_err(|_| Error::Corrupt("the engine broke down over what it read".to_owned()))
}
