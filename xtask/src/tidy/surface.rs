//! The surface of the core: few modules, which an engineer who has not seen it can guess.
//!
//! Each room shows its items flat and keeps the modules within to itself. The sources are scanned, not parsed: a module
//! counts once for each public path by which it is declared or re-exported.

use std::collections::BTreeMap;
use std::path::Path;

use super::rooms::{Module, absolute, expand, module_of, without_tests};
use crate::Failure;
use crate::source::{files, is_test, named, read};

const CORE: &str = "crates/tidings-core";
/// Public modules that other crates can reach in the core, nested ones included.
const MODULES_MAX: usize = 12;

pub(super) fn check(root: &Path) -> Result<Vec<String>, Failure> {
    let source = root.join(CORE).join("src");
    let mut modules: BTreeMap<Module, (String, String)> = BTreeMap::new();
    for path in files(&source, ".rs")? {
        let name = named(root, &path);
        if !is_test(&name) {
            let text = without_tests(&read(&path)?);
            let inner = name.split("/src/").nth(1).unwrap_or(&name);
            modules.insert(module_of(inner), (name.clone(), text));
        }
    }
    Ok(Vec::from_iter(fault_of(&shown(&Module::new(), "", &modules))))
}

fn fault_of(shown: &[String]) -> Option<String> {
    let count = shown.len();
    let names = || shown.join(", ");
    (count > MODULES_MAX).then(|| {
        format!("surface: {CORE} shows {count} modules, more than {MODULES_MAX}: {}", names())
    })
}

/// The public paths of the modules that a module shows; `path` = its own.
fn shown(module: &Module, path: &str, modules: &BTreeMap<Module, (String, String)>) -> Vec<String> {
    let Some((_, text)) = modules.get(module) else {
        return Vec::new();
    };
    let declared = text.lines().filter_map(|line| {
        let name = line.strip_prefix("pub mod ")?.split([';', ' ']).next()?;
        Some([module.as_slice(), &[name.to_owned()]].concat())
    });
    let exports = text.split("\npub use ").skip(1).filter_map(|rest| rest.split(';').next());
    let exported = exports.flat_map(expand);
    let exported = exported.filter_map(|path| absolute(module, path.trim(), modules));
    let children = declared.chain(exported.filter(|of| modules.contains_key(of)));
    let mut paths = Vec::new();
    for child in children {
        let name = child.last().map_or("", String::as_str);
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") };
        let within = shown(&child, &path, modules);
        paths.push(path);
        paths.extend(within);
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown_of(files: &[(&str, &str)]) -> Vec<String> {
        let module = |(name, text): &(&str, &str)| {
            (module_of(name), ((*name).to_owned(), without_tests(text)))
        };
        shown(&Module::new(), "", &files.iter().map(module).collect())
    }

    #[test]
    fn a_module_is_shown_where_it_is_declared_or_re_exported() {
        let lib = "mod a;\npub mod b;\npub(crate) mod e;\n\npub use a::{A,\n    c};\npub(crate) use a::d;\n";
        let a = ("a/mod.rs", "pub mod c;\npub mod d;\n");
        let b = ("b.rs", "pub mod f;\n#[cfg(test)]\nmod tests {\n    pub mod g;\n}\n");
        let rest = [("a/c.rs", ""), ("a/d.rs", ""), ("b/f.rs", ""), ("e.rs", "")];
        let files = [&[("lib.rs", lib), a, b][..], &rest].concat();
        assert_eq!(shown_of(&files), ["b", "b::f", "c"]);
    }

    #[test]
    fn more_modules_than_may_be_are_a_fault() {
        let names = |count: usize| vec!["a".to_owned(); count];
        assert_eq!(fault_of(&names(MODULES_MAX)), None);
        assert!(fault_of(&names(MODULES_MAX + 1)).is_some());
    }
}
