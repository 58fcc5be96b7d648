//! The profiles of the build. What they name must be there, and what `release` optimises less to build sooner, `dist`
//! optimises again; the tests and the first command of the README build the same units.

use std::path::Path;

use crate::Failure;
use crate::source::read;

/// Lines of manifests without which `cargo test` compiles again what `cargo run` has compiled, each with the reason.
const SHARED: [(&str, &str, &str); 2] = [
    (
        "crates/tidings-core/Cargo.toml",
        "num-traits.workspace = true",
        "proptest turns on `num-traits/std`, so the core has to",
    ),
    (
        "crates/tidings/Cargo.toml",
        "\"tidings-store/default\"",
        "the store's own tests build it with its default features, so the program has to",
    ),
];

pub(super) fn check(root: &Path) -> Result<Vec<String>, Failure> {
    let mut faults =
        of_profiles(&read(&root.join("Cargo.toml"))?, &read(&root.join("Cargo.lock"))?);
    for (manifest, line, reason) in SHARED {
        if !read(&root.join(manifest))?.contains(line) {
            faults.push(format!("profiles: {manifest} lacks `{line}`: {reason}"));
        }
    }
    Ok(faults)
}

fn of_profiles(manifest: &str, lock: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let [dev, release, dist] = ["dev", "release", "dist"].map(|name| packages(manifest, name));
    for name in dev.iter().chain(&release).chain(&dist) {
        if !lock.contains(&format!("name = \"{name}\"\n")) {
            faults.push(format!("profiles: {name} is no dependency: take it out of the profiles"));
        }
    }
    for name in &release {
        if !dist.contains(name) {
            faults
                .push(format!("profiles: `dist` must optimise {name}, which `release` does less"));
        }
    }
    for name in &dist {
        if !release.contains(name) {
            faults.push(format!("profiles: `dist` names {name}, which `release` optimises anyway"));
        }
    }
    faults
}

/// The packages that `[profile.NAME.package]` names.
fn packages<'m>(manifest: &'m str, profile: &str) -> Vec<&'m str> {
    let section = format!("[profile.{profile}.package]");
    let lines = manifest.lines().skip_while(|line| **line != section).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    lines.filter_map(|line| Some(line.split_once(" = ")?.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_less_is_named_in_both_profiles_and_there() {
        let lock = "name = \"a\"\nname = \"b\"\n";
        let manifest = |release: &str, dist: &str| {
            format!("[profile.release.package]\n{release}\n\n[profile.dist.package]\n{dist}\n")
        };
        let (low, high) = ("a = { opt-level = 1 }", "a = { opt-level = 3 }");
        assert_eq!(of_profiles(&manifest(low, high), lock), [""; 0]);
        assert_eq!(of_profiles(&manifest(low, ""), lock).len(), 1, "it ships as it is built");
        assert_eq!(of_profiles(&manifest("", high), lock).len(), 1, "it is listed for nothing");
        let gone = manifest("c = { opt-level = 1 }", "c = { opt-level = 3 }");
        assert_eq!(of_profiles(&gone, lock).len(), 2, "it is no dependency");
    }
}
