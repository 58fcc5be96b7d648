//! The signer of mails, made from the file of its key.

use std::fs::File;
use std::io::{self, Read as _};

use tidings_core::rules::DkimRules;
use tidings_mail::{Dkim, DkimError};

/// The most bytes of a key's file.
const KEY_BYTES_MAX: u64 = 64 << 10;

/// The reason why mails can't be signed.
#[derive(Debug, thiserror::Error)]
pub enum SignerError {
    /// The file can't be read.
    #[error("{file}: {source}")]
    File {
        /// Its path.
        file: String,
        /// The system's fault.
        source: io::Error,
    },
    /// The key can't be used.
    #[error("{file}: {source}")]
    Key {
        /// The path of its file.
        file: String,
        /// The fault.
        source: DkimError,
    },
}

impl SignerError {
    /// The advice on how to mend it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Key { source: DkimError::NoKey, .. } => {
                "make one with `openssl genpkey -algorithm ed25519`, or `-algorithm rsa -pkeyopt rsa_keygen_bits:2048`"
            }
            Self::Key { .. } | Self::File { .. } => {
                "name a file with a private key in PEM, Ed25519 or RSA"
            }
        }
    }
}

/// The signer that a configuration asks for.
///
/// # Errors
/// [`SignerError`], with the key's file.
pub fn signer(dkim: &DkimRules) -> Result<Dkim, SignerError> {
    let unreadable = |source| SignerError::File { file: dkim.key_file.clone(), source };
    let file = File::open(&dkim.key_file).map_err(unreadable)?;
    let mut pem = Vec::new();
    let mut file = file.take(KEY_BYTES_MAX);
    file.read_to_end(&mut pem).map_err(unreadable)?;
    Dkim::new(&dkim.domain, &dkim.selector, &pem)
        .map_err(|source| SignerError::Key { file: dkim.key_file.clone(), source })
}
