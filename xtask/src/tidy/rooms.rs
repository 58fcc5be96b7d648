//! Rooms and what connects them: how many files a folder has, how many methods and functions a type, and which files
//! import each other in a circle.
//!
//! The sources are scanned line by line, not parsed, which is enough for code that `rustfmt` has laid out. A method is
//! a `fn` right inside an `impl Type` block that is no trait's; types of one name in a crate count as one. A free
//! function whose first parameter is a reference to a type counts with the type's methods: it is one by another
//! spelling. An import is a path that begins with `crate`, `super` or `self`, or a `use` of a child; it leads to the
//! file of the longest module that it names, or to where that re-exports the next name from. A re-export is a signpost,
//! and no import. Methods that a file calls without naming their type are not seen, nor is what macros make. Tests do
//! not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::Failure;
use crate::source::{entries, files, is_test, named, read};

/// Files that a folder may have beside its `mod.rs`, `lib.rs` or `main.rs`.
const FILES_MAX: usize = 20;
/// Methods that a type may have, with the free functions whose first parameter is a reference to it.
const METHODS_MAX: usize = 60;
/// Files that may import each other in a circle: a type and the file that completes it.
const CIRCLE_MAX: usize = 2;

/// Known exceptions with their sizes: each may shrink, and leaves the list once it fits.
const LARGER: [(&str, usize); 6] = [
    ("methods and functions of `Bucket` in crates/tidings-core", 67),
    ("methods and functions of `Model` in crates/tidings-sim", 91),
    ("methods and functions of `Node` in crates/tidings-node", 69),
    ("methods and functions of `Service` in crates/tidings-http", 91),
    ("methods and functions of `Shard` in crates/tidings-core", 63),
    ("methods and functions of `ConfigReader` in crates/tidings-config", 123),
];

/// A module's place in its crate.
pub(super) type Module = Vec<String>;

pub(super) fn check(root: &Path) -> Result<Vec<String>, Failure> {
    let mut sizes: Vec<(String, usize, usize)> = Vec::new();
    let mut faults = Vec::new();
    let mut crates = entries(&root.join("crates"))?;
    crates.push(root.join("xtask"));
    for folder in crates {
        let source = folder.join("src");
        let mut by_folder: BTreeMap<String, usize> = BTreeMap::new();
        let mut methods: BTreeMap<String, usize> = BTreeMap::new();
        let mut functions: BTreeMap<String, usize> = BTreeMap::new();
        let mut modules: BTreeMap<Module, (String, String)> = BTreeMap::new();
        for path in files(&source, ".rs")? {
            let name = named(root, &path);
            if is_test(&name) {
                continue;
            }
            let (parent, file) = name.rsplit_once('/').unwrap_or(("", &name));
            if !["mod.rs", "lib.rs", "main.rs"].contains(&file) {
                *by_folder.entry(parent.to_owned()).or_default() += 1;
            }
            let text = without_tests(&read(&path)?);
            count_methods(&text, &mut methods);
            count_functions(&text, &mut functions);
            let inner = name.split("/src/").nth(1).unwrap_or(&name);
            modules.insert(module_of(inner), (name.clone(), text));
        }
        let crate_name = named(root, &folder);
        let types = methods.into_iter().map(|(of, count)| {
            let what = format!("methods and functions of `{of}` in {crate_name}");
            (what, count + functions.get(&of).copied().unwrap_or(0), METHODS_MAX)
        });
        sizes.extend(types);
        let folders = by_folder.into_iter();
        sizes.extend(folders.map(|(name, count)| (format!("files in {name}"), count, FILES_MAX)));
        let circles = circles(&imports(&modules));
        let largest = circles.iter().map(BTreeSet::len).max().unwrap_or(0);
        let what = format!("files of a circle of imports in {crate_name}");
        let is_listed = LARGER.iter().any(|(known, _)| *known == what);
        if is_listed {
            sizes.push((what, largest, CIRCLE_MAX));
        }
        for circle in circles.iter().filter(|_| !is_listed) {
            if circle.len() > CIRCLE_MAX {
                let names: Vec<&str> = circle
                    .iter()
                    .filter_map(|module| modules.get(module))
                    .map(|(name, _)| name.as_str())
                    .collect();
                faults.push(format!("rooms: a circle of imports: {}", names.join(", ")));
            }
        }
    }
    faults.extend(faults_of(&sizes, &LARGER));
    Ok(faults)
}

/// The new exceptions, and those of the list that fit by now.
fn faults_of(sizes: &[(String, usize, usize)], larger: &[(&str, usize)]) -> Vec<String> {
    let mut faults = Vec::new();
    for (what, size, most) in sizes {
        let known = larger.iter().find(|(known, _)| known == what);
        match known {
            Some((_, allowed)) if size > allowed => {
                faults.push(format!("rooms: {size} {what}, more than the {allowed} that it had"));
            }
            None if size > most => faults.push(format!("rooms: {size} {what}, more than {most}")),
            _ => {}
        }
    }
    for (known, _) in larger {
        let is_larger = |(what, size, most): &(String, usize, usize)| what == known && size > most;
        if !sizes.iter().any(is_larger) {
            faults.push(format!("rooms: `{known}` need not be on the list"));
        }
    }
    faults
}

/// The text without comments, and without the module of tests at its end.
pub(super) fn without_tests(text: &str) -> String {
    let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let lines = code.lines().map(|line| match line.trim_start() {
        trimmed if trimmed.starts_with("//") => "",
        _ => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Counts the methods of the types of a file.
fn count_methods(text: &str, methods: &mut BTreeMap<String, usize>) {
    let mut of: Option<String> = None;
    for line in text.lines() {
        if line == "}" {
            of = None;
        } else if let Some(head) = line.strip_prefix("impl") {
            of = type_of(head);
        } else if let Some(name) = &of {
            let Some(inner) = line.strip_prefix("    ") else {
                continue;
            };
            if is_fn(inner) {
                *methods.entry(name.clone()).or_default() += 1;
            }
        }
    }
}

/// Counts the free functions of a file by the type to which their first parameter is a reference.
fn count_functions(text: &str, functions: &mut BTreeMap<String, usize>) {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if is_fn(line)
            && let Some((_, function)) = text[start..].split_once("fn ")
            && let Some(of) = first_reference(function)
        {
            *functions.entry(of).or_default() += 1;
        }
        start += line.len();
    }
}

/// The type to which the first parameter of a function, from its name on, is a reference.
fn first_reference(function: &str) -> Option<String> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let name = function.trim_start_matches(is_word);
    let parameters = after_generics(name)?.strip_prefix('(')?;
    let of = parameters.trim_start().trim_start_matches(is_word).strip_prefix(": &")?;
    let of = match of.strip_prefix('\'') {
        Some(lifetime) => lifetime.trim_start_matches(is_word).trim_start(),
        None => of,
    };
    let path = of.strip_prefix("mut ").unwrap_or(of);
    let path = path.split(|letter| !is_word(letter) && letter != ':').next()?;
    let name = path.rsplit("::").next()?;
    name.starts_with(|letter: char| letter.is_ascii_uppercase()).then(|| name.to_owned())
}

/// The text behind the generic parameters that it may begin with.
fn after_generics(text: &str) -> Option<&str> {
    if !text.starts_with('<') {
        return Some(text);
    }
    let (mut depth, mut before) = (0_usize, ' ');
    let end = text.find(|letter| {
        match letter {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        before = letter;
        depth == 0
    })?;
    Some(&text[end + 1..])
}

/// The type of an `impl` block; `None` where it is of a trait.
fn type_of(head: &str) -> Option<String> {
    let rest = after_generics(head)?;
    let is_of_trait = rest.contains(" for ");
    let path = rest.trim_start().split(['<', ' ', '{']).next()?;
    let name = path.rsplit("::").next()?;
    (!is_of_trait && !name.is_empty()).then(|| name.to_owned())
}

fn is_fn(line: &str) -> bool {
    let mut rest = line;
    if let Some(after) = rest.strip_prefix("pub") {
        rest = match after.strip_prefix('(') {
            Some(within) => within.split_once(") ").map_or("", |(_, rest)| rest),
            None => after.trim_start(),
        };
    }
    for word in ["const ", "async "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    rest.starts_with("fn ")
}

/// The module of a file, by its path below `src`.
pub(super) fn module_of(inner: &str) -> Module {
    let path = inner.trim_end_matches(".rs");
    let mut module: Module = path.split('/').map(str::to_owned).collect();
    let last = module.last().map(String::as_str);
    if matches!(last, Some("mod" | "lib" | "main")) {
        module.pop();
    }
    module
}

/// By module, the modules of the files that it imports.
pub(super) fn imports(
    modules: &BTreeMap<Module, (String, String)>,
) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut paths: BTreeMap<&Module, Vec<Module>> = BTreeMap::new();
    let mut exports: BTreeMap<(Module, String), Module> = BTreeMap::new();
    for (module, (_, text)) in modules {
        let (uses, rest) = uses(text);
        for (is_export, tree) in uses {
            for path in expand(&tree) {
                let Some(path) = absolute(module, &path, modules) else {
                    continue;
                };
                match path.last() {
                    Some(name) if is_export => {
                        exports.insert((module.clone(), name.clone()), path);
                    }
                    _ => paths.entry(module).or_default().push(path),
                }
            }
        }
        let inline = inline(&rest);
        let inline = inline.iter().filter_map(|path| absolute(module, path, modules));
        paths.entry(module).or_default().extend(inline);
    }
    let mut imports: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (module, paths) in paths {
        let to = paths.iter().map(|path| file_of(path, modules, &exports));
        let to = to.filter(|to| to != module).collect();
        imports.insert(module.clone(), to);
    }
    imports
}

/// The `use` items of a file, each with whether it re-exports, and the rest of the text.
fn uses(text: &str) -> (Vec<(bool, String)>, String) {
    let (mut found, mut rest) = (Vec::new(), String::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let trimmed = line.trim_start();
        let item = trimmed.strip_prefix("use ").map(|item| (false, item));
        let item = item.or_else(|| {
            let (visibility, item) = trimmed.split_once("use ")?;
            let is_pub = visibility.starts_with("pub") && visibility.ends_with([' ', ')']);
            is_pub.then_some((true, item))
        });
        let Some((is_export, item)) = item else {
            rest.push_str(line);
            rest.push('\n');
            continue;
        };
        let mut tree = item.to_owned();
        while !tree.contains(';') {
            let Some(line) = lines.next() else { break };
            tree.push_str(line.trim());
        }
        let tree = tree.split(';').next().unwrap_or_default().to_owned();
        found.push((is_export, tree));
    }
    (found, rest)
}

/// The paths of a `use` item.
pub(super) fn expand(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        let path = tree.split(" as ").next().unwrap_or(tree);
        return Vec::from_iter((!path.is_empty()).then(|| path.to_owned()));
    };
    let close = tree.rfind('}').unwrap_or(tree.len());
    let (mut paths, mut depth, mut from) = (Vec::new(), 0_usize, open + 1);
    let mut parts = Vec::new();
    for (at, letter) in tree[..close].char_indices().skip_while(|(at, _)| *at <= open) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&tree[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&tree[from..close]);
    for part in parts {
        let ends = expand(part).into_iter();
        paths.extend(ends.map(|end| format!("{}{end}", &tree[..open])));
    }
    paths
}

/// The paths in code that begin with `crate`, `super` or `self`.
fn inline(text: &str) -> Vec<String> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut found = Vec::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in text.match_indices(start) {
            let before = &text[..at];
            if before.ends_with(|letter| is_word(letter) || letter == ':')
                || before.ends_with("in ")
            {
                continue;
            }
            let rest = &text[at..];
            let end = rest.find(|letter| !is_word(letter) && letter != ':');
            found.push(rest[..end.unwrap_or(rest.len())].trim_end_matches(':').to_owned());
        }
    }
    found
}

/// A path from the root of its crate; `None` where it leads out of it.
pub(super) fn absolute(
    module: &Module,
    path: &str,
    modules: &BTreeMap<Module, (String, String)>,
) -> Option<Module> {
    let mut names = path.split("::").filter(|name| *name != "*").peekable();
    let mut base = module.clone();
    match names.peek()? {
        &"crate" => {
            names.next();
            base.clear();
        }
        &"super" | &"self" => {
            while let Some(name) = names.next_if(|name| ["super", "self"].contains(name)) {
                if name == "super" {
                    base.pop();
                }
            }
        }
        child => {
            base.push((*child).to_owned());
            modules.get(&base)?;
            base.pop();
        }
    }
    base.extend(names.filter(|name| *name != "self").map(str::to_owned));
    Some(base)
}

/// The module of the file to which a path leads.
fn file_of(
    path: &Module,
    modules: &BTreeMap<Module, (String, String)>,
    exports: &BTreeMap<(Module, String), Module>,
) -> Module {
    let mut path = path.clone();
    // A re-export of a re-export goes on; more than some are a circle of their own.
    for _ in 0..8 {
        let known = (0..=path.len()).rev().map(|end| path[..end].to_vec());
        let module = known.into_iter().find(|module| modules.contains_key(module));
        let module = module.unwrap_or_default();
        let next = path.get(module.len()).cloned();
        let exported = next.and_then(|name| exports.get(&(module.clone(), name)));
        match exported {
            Some(to) if *to != path => {
                let rest = path[module.len() + 1..].to_vec();
                path = to.iter().cloned().chain(rest).collect();
            }
            _ => return module,
        }
    }
    path
}

/// The sets of modules each of which imports all others of its set, directly or not.
fn circles(imports: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<BTreeSet<Module>> {
    let reach = |from: &Module| {
        let (mut reached, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(module) = open.pop() {
            for to in imports.get(&module).into_iter().flatten() {
                if reached.insert(to.clone()) {
                    open.push(to.clone());
                }
            }
        }
        reached
    };
    let reached: BTreeMap<&Module, BTreeSet<Module>> =
        imports.keys().map(|module| (module, reach(module))).collect();
    let mut circles: Vec<BTreeSet<Module>> = Vec::new();
    for (module, theirs) in &reached {
        if !theirs.contains(*module) || circles.iter().any(|circle| circle.contains(*module)) {
            continue;
        }
        let back = |other: &&Module| reached.get(other).is_some_and(|of| of.contains(*module));
        circles.push(theirs.iter().filter(back).cloned().collect());
    }
    circles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules(sources: &[(&str, &str)]) -> BTreeMap<Module, (String, String)> {
        let each = sources.iter();
        each.map(|(path, text)| {
            let text = without_tests(text);
            (module_of(path), ((*path).to_owned(), text))
        })
        .collect()
    }

    fn largest(sources: &[(&str, &str)]) -> usize {
        let circles = circles(&imports(&modules(sources)));
        circles.iter().map(BTreeSet::len).max().unwrap_or(0)
    }

    #[test]
    fn methods_are_those_of_impl_blocks_of_types() {
        let text = "impl<'a, T: Into<u8>> Lane<'a> {\n    pub(in crate::x) const fn a() {\n    }\n    fn b(&self) {\n        fn inner() {}\n    }\n}\n\
            impl Clone for Lane {\n    fn clone(&self) {}\n}\nfn c() {}\nimpl super::Lane {\n    pub fn d() {}\n}\n";
        let mut methods = BTreeMap::new();
        count_methods(text, &mut methods);
        assert_eq!(methods, BTreeMap::from([("Lane".to_owned(), 3)]));
    }

    #[test]
    fn functions_are_free_ones_that_begin_with_a_reference() {
        let text = "fn a(lane: &mut Lane, at: u8) {\n}\npub(crate) const fn b<F: Fn(u8) -> Vec<u8>>(\n    lane: &'a super::Lane<'_>,\n) {}\n\
            fn c(lane: Lane) {}\nfn d(name: &str) {}\nfn e() {}\nimpl Lane {\n    fn f(lane: &Lane) {}\n}\n";
        let mut functions = BTreeMap::new();
        count_functions(text, &mut functions);
        assert_eq!(functions, BTreeMap::from([("Lane".to_owned(), 2)]));
    }

    #[test]
    fn circles_are_found_through_every_kind_of_path() {
        let a = ("a.rs", "use crate::b::{B, C};\n");
        let b = ("b/mod.rs", "pub use c::C;\npub struct B;\nuse super::d;\n");
        let c = ("b/c.rs", "use crate::\n    e::E;\n");
        let d = ("d.rs", "fn f() { crate::a::g() }\n");
        let lib = ("lib.rs", "mod a;\nmod b;\nmod d;\n");
        assert_eq!(largest(&[lib, a, b, c, d]), 3);
        // Through what `b` re-exports, `a` imports `c` and no more.
        let a = ("a.rs", "use crate::b::C;\n");
        assert_eq!(largest(&[lib, a, b, c, d]), 0);
        let c = ("b/c.rs", "use super::super::a::A;\n");
        assert_eq!(largest(&[lib, a, b, c, d]), 2);
    }

    #[test]
    fn visibility_comments_and_tests_are_no_imports() {
        let a = ("a.rs", "use crate::b::B;\n");
        let b = "// crate::a::x\npub(in crate::a) fn f() {}\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n";
        assert_eq!(largest(&[a, ("b.rs", b)]), 0);
    }

    #[test]
    fn the_list_of_larger_ones_shrinks() {
        let sizes = [("x".to_owned(), 30, 20), ("y".to_owned(), 20, 20)];
        assert!(faults_of(&sizes, &[("x", 30)]).is_empty());
        assert!(faults_of(&sizes, &[("x", 31)]).is_empty());
        assert_eq!(faults_of(&sizes, &[]).len(), 1);
        assert_eq!(faults_of(&sizes, &[("x", 29)]).len(), 1);
        assert_eq!(faults_of(&sizes, &[("x", 30), ("y", 25)]).len(), 1);
    }
}
