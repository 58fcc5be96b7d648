//! Limits of every engine: the bounds are those of the narrowest engine, and all engines refuse the same
//! commits, so that what runs in simulation runs on disk.

use crate::{Error, Write};

/// Maximum length of a key, in bytes; the minimum is 1. (A row of an index of PostgreSQL holds 2.7 kB.)
pub const KEY_BYTES_MAX: usize = 1024;

/// Maximum length of a value, in bytes: the size of a single conditional write of Cassandra, and a bound
/// on the memory that one row costs a reader.
pub const VALUE_BYTES_MAX: usize = 1 << 20;

fn validate_key(length: usize) -> Result<(), Error> {
    if (1..=KEY_BYTES_MAX).contains(&length) {
        return Ok(());
    }
    Err(Error::Invalid(format!("a key of {length} bytes; 1 to {KEY_BYTES_MAX} are possible")))
}

/// Refuses writes that an engine could not store, before anything is touched.
pub(crate) fn validate_writes(writes: &[Write]) -> Result<(), Error> {
    writes.iter().map(|write| write.key.len()).try_for_each(validate_key)?;
    validate_values(writes, VALUE_BYTES_MAX)
}

/// Refuses writes with a value of more bytes than this.
pub(crate) fn validate_values(writes: &[Write], most: usize) -> Result<(), Error> {
    let values = writes.iter().filter_map(|write| write.value.as_ref());
    match values.map(Vec::len).find(|length| *length > most) {
        None => Ok(()),
        Some(length) => {
            Err(Error::Invalid(format!("a value of {length} bytes; at most {most} are possible")))
        }
    }
}
