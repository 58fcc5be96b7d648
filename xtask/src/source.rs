//! The files of the workspace, as the rules see them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Failure;

/// The text of a file.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|fault| format!("cannot read {}: {fault}", path.display()))
}

/// Lists what a folder holds, by name. Nothing where there is no such folder.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let fault = |fault| format!("cannot list {}: {fault}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(fault)? {
        found.push(entry.map_err(fault)?.path());
    }
    found.sort();
    Ok(found)
}

/// All files below a folder whose names end so.
pub(crate) fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for path in entries(folder)? {
        if path.is_dir() {
            found.extend(files(&path, ending)?);
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    Ok(found)
}

/// A path as it is written in documents: from the workspace's folder, with slashes.
pub(crate) fn named(root: &Path, path: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    path.iter().map(|part| part.to_string_lossy().into_owned()).collect::<Vec<_>>().join("/")
}

/// Returns true if a source file holds nothing but tests.
pub(crate) fn is_test(name: &str) -> bool {
    name.ends_with("/tests.rs") || name.contains("/tests/")
}
