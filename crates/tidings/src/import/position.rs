//! The position of an import, kept beside its input, so that an interrupted import continues.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// A position in an input, after a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The number of the row's last line; 0 before the first.
    pub line: u64,
    /// Bytes up to its end.
    pub bytes: u64,
}

/// Length of the beginning that tells an input from others.
const HEAD_BYTES: u64 = 1 << 16;

/// The identity of an import. Another input, or another target, begins from the start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    /// The target, and the kind of the rows.
    target: String,
    /// Of how many bytes of its beginning `head` is.
    head_bytes: u64,
    /// xxh3 of its beginning.
    head: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    of: Identity,
    mark: Mark,
}

/// The file that keeps a mark: `FILE.position` beside the input.
#[derive(Debug)]
pub struct Position {
    path: PathBuf,
    of: Identity,
}

impl Position {
    /// The position of an input that is brought to `target`, and the mark that an earlier run has
    /// left of the same.
    ///
    /// # Errors
    /// The input can't be read. A position that can't be read counts as none.
    pub fn of(input: &Path, target: String) -> io::Result<(Self, Option<Mark>)> {
        let mut file = File::open(input)?;
        let length = file.metadata()?.len();
        let mut name = input.as_os_str().to_owned();
        name.push(".position");
        let path = PathBuf::from(name);
        let kept: Option<Kept> = fs::read(&path)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        // What was appended since makes no other input of it.
        let head_bytes = match &kept {
            Some(kept) => kept.of.head_bytes.min(HEAD_BYTES),
            None => length.min(HEAD_BYTES),
        };
        let mut head = Vec::new();
        file.by_ref().take(head_bytes).read_to_end(&mut head)?;
        let of = Identity {
            target,
            head_bytes,
            head: xxh3_64(&head),
        };
        let mark = kept
            .filter(|kept| kept.of == of && kept.mark.bytes <= length)
            .map(|kept| kept.mark);
        Ok((Self { path, of }, mark))
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Notes that everything up to here is in. Not synced: after a power failure an import goes on
    /// from an earlier mark, and doing a row twice changes nothing.
    ///
    /// # Errors
    /// The system's.
    pub fn note(&self, mark: Mark) -> io::Result<()> {
        let kept = Kept {
            of: self.of.clone(),
            mark,
        };
        let mut new = self.path.as_os_str().to_owned();
        new.push(".new");
        fs::write(&new, serde_json::to_vec(&kept)?)?;
        fs::rename(&new, &self.path)
    }

    /// Forgets the mark: all is in.
    ///
    /// # Errors
    /// The system's; that there is none is no fault.
    pub fn forget(&self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(fault) if fault.kind() != io::ErrorKind::NotFound => Err(fault),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: Mark = Mark { line: 1, bytes: 3 };

    #[test]
    fn a_mark_belongs_to_its_input_and_its_target() {
        let dir = tempfile::tempdir().unwrap();
        let input = dir.path().join("people.ndjson");
        fs::write(&input, "{}\n{}\n").unwrap();
        let of = |target: &str| Position::of(&input, target.to_owned()).unwrap();
        let (position, mark) = of("here");
        assert_eq!(mark, None);
        position.note(MARK).unwrap();
        assert_eq!(of("here").1, Some(MARK));
        assert_eq!(of("there").1, None);
        fs::write(&input, "{}\n{}\n{}\n").unwrap();
        assert_eq!(of("here").1, Some(MARK), "it has only grown");
        fs::write(&input, "[]\n{}\n").unwrap();
        assert_eq!(of("here").1, None, "it is another");
        fs::write(&input, "{}").unwrap();
        assert_eq!(of("here").1, None, "it is shorter than what was read");
        position.forget().unwrap();
        position.forget().unwrap();
        assert!(!position.path().exists());
    }
}
