//! Floors of a crate: its rooms stand above each other, and import only from below.
//!
//! A room is a module of the crate's root with all that is in it. The root itself assembles them, and counts as no room.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::rooms::{Module, imports, module_of, without_tests};
use crate::Failure;
use crate::source::{files, is_test, named, read};

const HTTP: &str = "crates/tidings-http";

/// The rooms of [`HTTP`], from the lowest on.
const FLOORS: [&str; 37] = [
    "html",
    "settings",
    "owners",
    "counters",
    "streaming",
    "chosen",
    "error",
    "answer",
    "shares",
    "users",
    "reports",
    "change",
    "trials",
    "site_state",
    "live",
    "cluster",
    "feeds",
    "service",
    "request",
    "outbox_rows",
    "call",
    "feedback",
    "nodes",
    "v1",
    "compat",
    "access",
    "site",
    "mailbox",
    "dev_inbox",
    "pages",
    "ui",
    "me",
    "console",
    "metrics",
    "openapi",
    "start",
    "listen",
];

pub(super) fn check(root: &Path) -> Result<Vec<String>, Failure> {
    let mut modules: BTreeMap<Module, (String, String)> = BTreeMap::new();
    for path in files(&root.join(HTTP).join("src"), ".rs")? {
        let name = named(root, &path);
        if !is_test(&name) {
            let inner = name.split("/src/").nth(1).unwrap_or(&name);
            let module = module_of(inner);
            modules.insert(module, (name.clone(), without_tests(&read(&path)?)));
        }
    }
    let mut faults = faults_of(&modules, &FLOORS);
    for floor in FLOORS {
        if !modules.contains_key(&vec![floor.to_owned()]) {
            faults.push(format!("floors: {HTTP} has no room `{floor}`"));
        }
    }
    Ok(faults)
}

/// The imports that lead up, each with its file, and the rooms that have no floor.
fn faults_of(modules: &BTreeMap<Module, (String, String)>, floors: &[&str]) -> Vec<String> {
    let floor = |module: &Module| {
        let room = module.first()?;
        floors.iter().position(|floor| floor == room)
    };
    let rooms: BTreeSet<&String> = modules.keys().filter_map(|module| module.first()).collect();
    let has_none = |room: &&&String| !floors.contains(&room.as_str());
    let mut faults: Vec<String> = rooms
        .iter()
        .filter(has_none)
        .map(|room| format!("floors: the room `{room}` of {HTTP} has no floor"))
        .collect();
    for (module, imported) in imports(modules) {
        let Some(own) = floor(&module) else { continue };
        for to in imported {
            if floor(&to).is_some_and(|other| other > own) {
                let (file, _) = &modules[&module];
                let (own, to) = (floors[own], to.join("::"));
                faults.push(format!("floors: {file} imports `{to}`, which is above `{own}`"));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(sources: &[(&str, &str)]) -> Vec<String> {
        let each = sources.iter();
        let modules =
            each.map(|(path, text)| (module_of(path), ((*path).to_owned(), without_tests(text))));
        faults_of(&modules.collect(), &["low", "high"])
    }

    #[test]
    fn rooms_import_from_below_alone() {
        let lib = ("lib.rs", "mod low;\nmod high;\npub use high::C;\n");
        let high = ("high.rs", "use crate::low::part::A;\n");
        let part = ("low/part.rs", "use super::B;\nuse crate::Other;\n");
        assert!(faults(&[lib, high, ("low/mod.rs", "mod part;\n"), part]).is_empty());
        for up in
            ["use crate::high::C;\n", "use crate::C;\n", "fn f() { super::super::high::f() }\n"]
        {
            let found = faults(&[lib, high, ("low/mod.rs", "mod part;\n"), ("low/part.rs", up)]);
            assert_eq!(found, ["floors: low/part.rs imports `high`, which is above `low`"], "{up}");
        }
    }

    #[test]
    fn every_room_has_a_floor() {
        let found = faults(&[("lib.rs", ""), ("new.rs", "")]);
        assert_eq!(found, ["floors: the room `new` of crates/tidings-http has no floor"]);
    }
}
