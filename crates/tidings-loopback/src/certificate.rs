//! Certificates of an authority that nobody believes yet.

use std::path::Path;

use crate::{ServerUser, run};

/// Makes an authority in a directory (`ca.pem`, `ca.key`), and by it the certificate of a server at `localhost`
/// (`cert.pem`, `key.pem`).
///
/// # Errors
/// The reason, in words; `openssl` has to be installed.
pub fn certify(directory: &Path) -> Result<(), String> {
    certify_as(&ServerUser::Self_, directory)
}

/// The same, with files that belong to a user.
pub(crate) fn certify_as(user: &ServerUser, directory: &Path) -> Result<(), String> {
    for arguments in [
        "-keyout ca.key -out ca.pem -subj /CN=Authority -addext basicConstraints=critical,CA:TRUE",
        "-keyout key.pem -out cert.pem -subj /CN=localhost -CA ca.pem -CAkey ca.key \
         -addext basicConstraints=critical,CA:FALSE -addext subjectAltName=DNS:localhost",
    ] {
        let mut make = user.command("openssl");
        make.current_dir(directory)
            .args("req -x509 -newkey rsa:2048 -nodes -days 2".split(' '))
            .args(arguments.split_whitespace());
        run(make)?;
    }
    Ok(())
}
