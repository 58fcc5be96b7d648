//! The files by which a running server is found from its data directory: `address`, where it listens, and
//! `token`, which lets in whoever may read it.
//!
//! A reader of the token may do what the owner of the directory may, who could stop the server and open the
//! store. So the first API key can be made while the server runs. Both files are believed only while the
//! directory is locked: after a kill they stay, and say nothing.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tidings_api::keys::Secret;

const ADDRESS: &str = "address";
const TOKEN: &str = "token";

/// A file of a server in its data directory, for as long as the server lives.
#[derive(Debug)]
pub struct ServerFile(PathBuf);

impl ServerFile {
    /// Writes where the server listens.
    ///
    /// # Errors
    /// The system's.
    pub fn address(data: &Path, url: &str) -> io::Result<Self> {
        Self::put(data, ADDRESS, url)
    }

    /// Writes the token of this start, in place of the one before.
    ///
    /// # Errors
    /// The system's.
    pub fn token(data: &Path, token: &Secret) -> io::Result<Self> {
        Self::put(data, TOKEN, token.text())
    }

    /// Writes a line into a file, which is there as a whole or not at all. A token is for its owner alone.
    fn put(data: &Path, name: &str, line: &str) -> io::Result<Self> {
        let (path, new) = (data.join(name), data.join(format!("{name}.new")));
        // What a crash left there may have other permissions.
        match fs::remove_file(&new) {
            Err(fault) if fault.kind() != io::ErrorKind::NotFound => return Err(fault),
            _ => {}
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if name == TOKEN {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        writeln!(options.open(&new)?, "{line}")?;
        fs::rename(&new, &path)?;
        Ok(Self(path))
    }
}

impl Drop for ServerFile {
    fn drop(&mut self) {
        // Where it can't be removed it is passed over: the lock is free.
        let _ = fs::remove_file(&self.0);
    }
}

/// The address of the server that has a directory open.
#[must_use]
pub fn address_of(data: &Path) -> Option<String> {
    line(data, ADDRESS)
}

/// The token of the server that has a directory open, where this user may read it.
#[must_use]
pub fn token_of(data: &Path) -> Option<String> {
    line(data, TOKEN)
}

fn line(data: &Path, name: &str) -> Option<String> {
    let text = fs::read_to_string(data.join(name)).ok()?;
    let line = text.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_found_as_long_as_it_lives() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path();
        assert_eq!((address_of(data), token_of(data)), (None, None));
        let (first, second) = (Secret::random().unwrap(), Secret::random().unwrap());
        let address = ServerFile::address(data, "http://127.0.0.1:1").unwrap();
        // Left over from a kill.
        fs::write(data.join(TOKEN), first.text()).unwrap();
        fs::write(data.join("token.new"), "torn").unwrap();
        let token = ServerFile::token(data, &second).unwrap();
        assert_eq!(address_of(data).as_deref(), Some("http://127.0.0.1:1"));
        assert_eq!(token_of(data).as_deref(), Some(second.text()));
        drop((address, token));
        assert_eq!(fs::read_dir(data).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_token_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("token.new"), "torn").unwrap();
        let _token = ServerFile::token(dir.path(), &Secret::random().unwrap()).unwrap();
        let metadata = fs::metadata(dir.path().join(TOKEN)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    }
}
