//! All mails in one file: a directory of as many files takes minutes to delete.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A file of mails, one after the other.
pub(crate) struct Spool {
    path: PathBuf,
    written: Mutex<Written>,
}

struct Written {
    file: BufWriter<File>,
    end: u64,
    /// Begin and length of each mail, by its number.
    places: HashMap<u128, (u64, u64)>,
}

impl Spool {
    /// A new file.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let file = BufWriter::with_capacity(1 << 20, File::create_new(path)?);
        let written = Mutex::new(Written { file, end: 0, places: HashMap::new() });
        Ok(Self { path: path.to_owned(), written })
    }

    /// Adds a mail.
    pub(crate) fn add(&self, number: u128, mail: &[u8]) -> io::Result<()> {
        let mut written = self.written();
        written.file.write_all(mail)?;
        let (begin, length) = (written.end, mail.len() as u64);
        written.end += length;
        written.places.insert(number, (begin, length));
        Ok(())
    }

    /// Reads a mail, up to a number of bytes.
    pub(crate) fn read(&self, number: u128, most: u64) -> io::Result<Vec<u8>> {
        let (begin, length) = {
            let mut written = self.written();
            written.file.flush()?;
            *written.places.get(&number).ok_or(io::ErrorKind::NotFound)?
        };
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(begin))?;
        let mut mail = Vec::new();
        file.take(length.min(most)).read_to_end(&mut mail)?;
        Ok(mail)
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mails_are_read_as_they_were_written() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::create(&dir.path().join("mails")).unwrap();
        for (number, mail) in [(1, "First"), (2, ""), (3, "The third")] {
            spool.add(number, mail.as_bytes()).unwrap();
        }
        assert_eq!(spool.read(3, u64::MAX).unwrap(), b"The third");
        assert_eq!(spool.read(1, 2).unwrap(), b"Fi");
        assert!(spool.read(2, 9).unwrap().is_empty());
        assert!(spool.read(4, 9).is_err());
    }
}
