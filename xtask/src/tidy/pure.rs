//! The purity of the core: it has no way to files, sockets, processes, threads, clocks or chance.
//!
//! Its sources may name the modules of the standard library that are listed here and no others. What
//! can't be told from a name, clippy bars: `crates/tidings-core/clippy.toml`.

use std::path::Path;

use crate::Failure;
use crate::source::{files, is_test, named, read};

const CORE: &str = "crates/tidings-core";

/// The modules of the standard library that compute and do nothing else.
const MODULES: [&str; 17] = [
    "borrow",
    "cell",
    "cmp",
    "collections",
    "convert",
    "fmt",
    "hash",
    "hint",
    "iter",
    "mem",
    "num",
    "ops",
    "option",
    "ptr",
    "slice",
    "str",
    "sync",
];

/// Other ways to the standard library, or to state that is not the engine's.
const BARRED: [&str; 4] = ["extern crate", "thread_local!", "use std as", "use std;"];

pub(super) fn check(root: &Path) -> Result<Vec<String>, Failure> {
    let mut faults = Vec::new();
    for path in files(&root.join(CORE).join("src"), ".rs")? {
        let name = named(root, &path);
        if !is_test(&name) {
            faults.extend(faults_of(&name, &read(&path)?));
        }
    }
    let of_all = read(&root.join("clippy.toml"))?;
    let of_core = read(&root.join(CORE).join("clippy.toml"))?;
    faults.extend(lints_left_out(&of_all, &of_core));
    Ok(faults)
}

/// The impure names in a source file of the core, tests apart.
fn faults_of(name: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut lines = (1..).zip(text.lines());
    while let Some((number, line)) = lines.next() {
        if line == "#[cfg(test)]" {
            // The item behind it is one line, or ends with a brace of its own.
            if lines.next().is_some_and(|(_, item)| !item.ends_with(';')) {
                lines.find(|(_, line)| *line == "}");
            }
            continue;
        }
        let line = line.split("//").next().unwrap_or(line);
        let mut fault = |what: &str| {
            faults.push(format!("pure: {name}:{number} names {what}: the core does no I/O, and has no clock, thread or random number"));
        };
        for (at, _) in line.match_indices("std::") {
            let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
            if line[..at].ends_with(is_word) {
                continue;
            }
            let rest = &line[at + "std::".len()..];
            let module = rest.split(|letter| !is_word(letter)).next().unwrap_or_default();
            if !MODULES.contains(&module) {
                fault(&format!("std::{module}"));
            }
        }
        for barred in BARRED.iter().filter(|barred| line.contains(**barred)) {
            fault(&format!("`{barred}`"));
        }
    }
    faults
}

/// Clippy reads one file a crate: the core's has to repeat the workspace's.
fn lints_left_out(of_all: &str, of_core: &str) -> Vec<String> {
    let missing = of_all.lines().filter(|line| !of_core.lines().any(|known| known == *line));
    missing
        .map(|line| format!("pure: {CORE}/clippy.toml lacks a line of clippy.toml: {line}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> usize {
        faults_of("crates/tidings-core/src/a.rs", text).len()
    }

    #[test]
    fn what_only_computes_is_allowed() {
        assert_eq!(count("use std::collections::BTreeMap;\nstd::mem::take(x)\n"), 0);
        assert_eq!(count("// std::fs::read\nlet my_std::fs = 1;\n"), 0);
        assert_eq!(count("#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n"), 0);
        assert_eq!(count("#[cfg(test)]\nmod tests;\n"), 0);
    }

    #[test]
    fn io_clocks_threads_and_chance_are_faults() {
        for module in ["fs", "net", "env", "thread", "process", "time", "io", "os", "{fs, io}"] {
            assert_eq!(count(&format!("use std::{module};\n")), 1, "{module}");
            assert_eq!(count(&format!("let x = ::std::{module}::y();\n")), 1, "{module}");
        }
        assert_eq!(count("extern crate std as s;\n"), 1);
        assert_eq!(count("use std as s;\n"), 1);
        assert_eq!(count("thread_local! {\n}\n"), 1);
        assert_eq!(count("#[cfg(test)]\nuse std::fs;\nuse std::fs;\n"), 1);
    }

    #[test]
    fn the_core_keeps_the_lints_of_all() {
        assert!(lints_left_out("a = 1\n", "b = 2\na = 1\n").is_empty());
        assert_eq!(lints_left_out("a = 1\n", "a = 2\n").len(), 1);
    }
}
