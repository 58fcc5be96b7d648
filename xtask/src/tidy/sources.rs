//! Checks of what every source file owes its readers: a head that says why it exists, a bearable length, a name
//! that says something.

use std::path::{Path, PathBuf};

use crate::Failure;
use crate::source::{files, is_test, named, read};

/// Lines that a file may have, tests apart.
const LINES_MAX: usize = 600;

/// Files that may be longer, each with its reason.
const LONGER: [(&str, &str); 0] = [];

/// Names that say nothing of what is in a file.
const EMPTY_NAMES: [&str; 8] =
    ["utils", "util", "helpers", "helper", "manager", "common", "misc", "types_common"];

pub(super) fn check(root: &Path) -> Result<Vec<String>, Failure> {
    let mut sources: Vec<PathBuf> = files(&root.join("crates"), ".rs")?;
    sources.extend(files(&root.join("xtask"), ".rs")?);
    let mut faults = Vec::new();
    let mut long = Vec::new();
    for path in sources {
        let name = named(root, &path);
        let text = read(&path)?;
        faults.extend(faults_of(&name, &text));
        if !is_test(&name) && lines(&text) > LINES_MAX {
            long.push((name, lines(&text)));
        }
    }
    faults.extend(faults_of_length(&long, &LONGER));
    Ok(faults)
}

fn faults_of(name: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let is_head = |line: &&str| !line.is_empty() && !line.starts_with("#!");
    let head = text.lines().find(is_head).unwrap_or_default();
    if !is_test(name) && !head.starts_with("//!") {
        faults.push(format!("sources: {name} does not begin with why it exists (`//!`)"));
    }
    let stem = name.rsplit('/').next().unwrap_or(name).trim_end_matches(".rs");
    if EMPTY_NAMES.contains(&stem) {
        faults.push(format!("sources: the name {name} does not say what is in it"));
    }
    faults
}

fn faults_of_length(long: &[(String, usize)], allowed: &[(&str, &str)]) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, lines) in long {
        if !allowed.iter().any(|(known, _)| known == name) {
            faults.push(format!("sources: {name} has {lines} lines, more than {LINES_MAX}"));
        }
    }
    for (known, _) in allowed {
        if !long.iter().any(|(name, _)| name == known) {
            faults.push(format!("sources: {known} need not be on the list of long files"));
        }
    }
    faults
}

/// Lines of a file without the tests at its end.
fn lines(text: &str) -> usize {
    let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    code.lines().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_and_names_are_looked_at() {
        assert!(faults_of("crates/a/src/lane.rs", "//! Lanes.\n").is_empty());
        assert!(faults_of("crates/a/src/main.rs", "#!/bin/x\n\n//! Lanes.\n").is_empty());
        assert_eq!(faults_of("crates/a/src/lane.rs", "use std::fs;\n").len(), 1);
        assert!(faults_of("crates/a/src/lane/tests.rs", "use super::*;\n").is_empty());
        assert_eq!(faults_of("crates/a/src/utils.rs", "//! All sorts.\n").len(), 1);
    }

    #[test]
    fn tests_do_not_count_as_length() {
        assert_eq!(lines("a\nb\n#[cfg(test)]\nmod tests {\nc\n}\n"), 2);
        assert_eq!(lines("a\n#[cfg(test)]\nmod tests;\nb\n"), 4);
    }

    #[test]
    fn the_list_of_long_files_stays_true() {
        let long = [("a.rs".to_owned(), 700)];
        assert!(faults_of_length(&long, &[("a.rs", "a table")]).is_empty());
        assert_eq!(faults_of_length(&long, &[]).len(), 1);
        assert_eq!(faults_of_length(&[], &[("a.rs", "a table")]).len(), 1);
    }
}
