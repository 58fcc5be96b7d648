//! The files and words that the commands of keys and tokens read.

use std::fs;

use tidings_api::keys::fault_of_name;
use tidings_api::token::Scope;

/// Reads the name of a key.
pub(super) fn name(text: &str) -> Result<String, String> {
    fault_of_name(text).map_or_else(|| Ok(text.to_owned()), Err)
}

/// Reads the scope of a key or a token.
pub(super) fn scope(text: &str) -> Result<String, String> {
    match Scope::check(text) {
        Ok(()) => Ok(text.to_owned()),
        Err(fault) => Err(format!("{}; {}", fault.reason, fault.hint)),
    }
}

/// The most bytes of a file with a public key.
const PEM_BYTES_MAX: u64 = 16 << 10;

/// Reads the file with a public key.
pub(super) fn pem(path: &str) -> Result<String, String> {
    let length = fs::metadata(path).map(|file| file.len());
    match length.and_then(|length| Ok((length, fs::read_to_string(path)?))) {
        Ok((length, _)) if length > PEM_BYTES_MAX => {
            Err("the file is too large for a public key".to_owned())
        }
        Ok((_, text)) => Ok(text),
        Err(fault) => Err(format!("can't read it: {fault}")),
    }
}
