//! The shape of the whole: which crate may know which, kept by name.

use std::path::Path;

use crate::Failure;
use crate::source::{entries, read};

/// Each crate with those of ours that it may depend on. A crate that is not here is a fault: decide
/// first what it may know.
const MAY_KNOW: [(&str, &[&str]); 17] = [
    ("tidings-core", &[]),
    ("tidings-tls", &["tidings-loopback"]),
    ("tidings-store", &["tidings-core", "tidings-tls", "tidings-loopback"]),
    ("tidings-feeds", &["tidings-tls", "tidings-loopback"]),
    ("tidings-loopback", &[]),
    ("tidings-mail", &["tidings-core"]),
    ("tidings-node", &["tidings-core", "tidings-store", "tidings-mail", "tidings-tls"]),
    ("tidings-config", &["tidings-core", "tidings-mail", "tidings-node"]),
    (
        "tidings-api",
        &["tidings-config", "tidings-core", "tidings-mail", "tidings-node", "tidings-store"],
    ),
    (
        "tidings-trial",
        &[
            "tidings-api",
            "tidings-config",
            "tidings-core",
            "tidings-mail",
            "tidings-node",
            "tidings-store",
        ],
    ),
    // It calls the API and nothing else.
    ("tidings-console", &[]),
    (
        "tidings-http",
        &[
            "tidings-api",
            "tidings-config",
            "tidings-console",
            "tidings-core",
            "tidings-store",
            "tidings-mail",
            "tidings-node",
            "tidings-trial",
            "tidings-tls",
            "tidings-feeds",
            "tidings-loopback",
        ],
    ),
    ("tidings-sim", &["tidings-core", "tidings-store", "tidings-node"]),
    ("tidings-demo", &["tidings-core", "tidings-store", "tidings-mail", "tidings-node"]),
    // Its tests take the API of the program.
    (
        "tidings-bench",
        &[
            "tidings",
            "tidings-config",
            "tidings-core",
            "tidings-store",
            "tidings-node",
            "tidings-http",
            "tidings-trial",
            "tidings-loopback",
        ],
    ),
    (
        "tidings",
        &[
            "tidings-api",
            "tidings-config",
            "tidings-core",
            "tidings-store",
            "tidings-mail",
            "tidings-node",
            "tidings-http",
            "tidings-trial",
            "tidings-demo",
            "tidings-bench",
            "tidings-loopback",
            "tidings-tls",
            "tidings-feeds",
        ],
    ),
    ("xtask", &[]),
];

/// The crates that the core may build on: they compute and do nothing else. It decides, and others act.
const IN_CORE: [&str; 16] = [
    "crc32fast",
    "h3o",
    "idna",
    "idna_adapter",
    "indexmap",
    "jiff",
    "num-traits",
    "postcard",
    "quick_cache",
    "roaring",
    "rustc-hash",
    "serde",
    "serde_json",
    "siphasher",
    "thiserror",
    "xxhash-rust",
];

pub(super) fn check(root: &Path) -> Result<Vec<String>, Failure> {
    let mut faults = Vec::new();
    let mut folders = entries(&root.join("crates"))?;
    folders.push(root.join("xtask"));
    for folder in folders {
        let manifest = folder.join("Cargo.toml");
        if !manifest.is_file() {
            continue;
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        faults.extend(faults_of(&name, &read(&manifest)?));
    }
    Ok(faults)
}

fn faults_of(name: &str, manifest: &str) -> Vec<String> {
    let Some((_, may_know)) = MAY_KNOW.iter().find(|(known, _)| *known == name) else {
        return vec![format!("crates: {name} is new; say in xtask what it may depend on")];
    };
    let mut faults = Vec::new();
    for (section, dependency) in dependencies(manifest) {
        let ours = MAY_KNOW.iter().any(|(known, _)| *known == dependency);
        if ours && !may_know.contains(&dependency) {
            faults.push(format!("crates: {name} must not know {dependency} ([{section}])"));
        }
        let core = name == "tidings-core" && !section.starts_with("dev-");
        if core && !ours && !IN_CORE.contains(&dependency) {
            faults.push(format!(
                "crates: {name} must not know {dependency}, unless it does no I/O: say so in xtask"
            ));
        }
        if name == "xtask" {
            faults.push(format!("crates: xtask must not know {dependency}: it is std only"));
        }
    }
    if !manifest.contains("[lints]\nworkspace = true") {
        faults.push(format!("crates: {name} does not take over the workspace's lints"));
    }
    faults
}

/// The dependencies of a manifest, each with its section.
fn dependencies(manifest: &str) -> Vec<(&str, &str)> {
    let mut section = "";
    let mut found = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_matches(['[', ']']);
            // [dependencies.NAME]
            if let Some((before, name)) = section.rsplit_once('.')
                && before.ends_with("dependencies")
            {
                found.push((section, name));
            }
        } else if section.ends_with("dependencies") && !line.is_empty() && !line.starts_with('#') {
            let end = line.find(['.', '=', ' ']).unwrap_or(line.len());
            found.push((section, line[..end].trim_matches('"')));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(name: &str, dependencies: &str) -> Vec<String> {
        faults_of(name, &format!("[lints]\nworkspace = true\n{dependencies}"))
    }

    #[test]
    fn dependencies_are_found_in_every_section() {
        let manifest = "[dependencies]\na.workspace = true\nb = { path = \"x\" }\n# c = 1\n\
            [target.'cfg(unix)'.dependencies]\nd = \"1\"\n[dev-dependencies.e]\nversion = \"1\"\n\
            [features]\nf = []\n";
        let names: Vec<_> = dependencies(manifest).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["a", "b", "d", "e"]);
    }

    #[test]
    fn wrong_edges_are_faults() {
        assert!(
            faults("tidings-store", "[dependencies]\ntidings-core.workspace = true").is_empty()
        );
        assert_eq!(
            faults("tidings-core", "[dependencies]\ntidings-store.workspace = true").len(),
            1
        );
        assert_eq!(faults("tidings-mail", "[dev-dependencies]\ntidings-node = \"1\"").len(), 1);
        assert_eq!(faults("tidings-core", "[dependencies]\ntokio = \"1\"").len(), 1);
        assert_eq!(faults("xtask", "[dependencies]\nserde = \"1\"").len(), 1);
        assert_eq!(faults("tidings-new", "").len(), 1);
        assert_eq!(faults_of("tidings-core", "[dependencies]").len(), 1);
    }
}
