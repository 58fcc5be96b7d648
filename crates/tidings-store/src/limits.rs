//! What every engine can carry: the bounds are those of the narrowest engine, and all of them refuse
//! the same commits, so that what runs in simulation runs on disk.

use crate::{Commit, Error};

/// The longest key, in bytes; the shortest has 1. (A row of an index of PostgreSQL holds 2.7 kB.)
pub const KEY_BYTES_MAX: usize = 1024;

/// The longest value, in bytes: what a single conditional write of Cassandra carries, and a bound on what one
/// row may cost a reader's memory.
pub const VALUE_BYTES_MAX: usize = 1 << 20;

/// Refuses what an engine could not carry, before anything is touched.
pub(crate) fn validate(commit: &Commit) -> Result<(), Error> {
    let keys = commit
        .preconditions
        .iter()
        .map(|precondition| precondition.key.len())
        .chain(commit.writes.iter().map(|write| write.key.len()));
    for length in keys {
        if !(1..=KEY_BYTES_MAX).contains(&length) {
            return Err(Error::Invalid(format!(
                "a key of {length} bytes; 1 to {KEY_BYTES_MAX} are possible"
            )));
        }
    }
    for value in commit
        .writes
        .iter()
        .filter_map(|write| write.value.as_ref())
    {
        if value.len() > VALUE_BYTES_MAX {
            return Err(Error::Invalid(format!(
                "a value of {} bytes; at most {VALUE_BYTES_MAX} are possible",
                value.len()
            )));
        }
    }
    Ok(())
}
