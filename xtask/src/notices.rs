//! The licences of the crates that are linked into the binary: most of them ask that their text
//! goes along.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::{Failure, cargo, output, source};

/// Beginnings of the names of files with a licence or a notice, in capitals.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// A crate as it is written here, "name 1.2.3", with its licence.
type Licences = BTreeMap<String, String>;

/// The list of crates, and each text once with the crates that it is from.
pub(crate) fn third_party() -> Result<String, Failure> {
    let tree = [
        "tree",
        "--locked",
        "--package",
        "tidings",
        "--no-default-features",
        "--features",
        "demo,postgres",
        "--prefix",
        "none",
    ];
    let linked = ["--edges", "normal,no-proc-macro", "--format", "{p}|{l}"];
    let licences = licences(&output(cargo().args(tree).args(linked))?);
    let metadata = ["metadata", "--locked", "--format-version", "1"];
    let folders = folders(&output(cargo().args(metadata))?);
    let mut texts = BTreeMap::<String, (String, BTreeSet<&str>)>::new();
    for name in licences.keys() {
        let folder = folders
            .get(&name.replace(' ', "-"))
            .ok_or_else(|| format!("cannot find the source of {name}"))?;
        for file in source::files(folder, "")?.iter().filter(|file| is_notice(file)) {
            let bytes = fs::read(file).map_err(|fault| format!("{}: {fault}", file.display()))?;
            let text = String::from_utf8_lossy(&bytes);
            let words: Vec<&str> = text.split_whitespace().collect();
            let entry = texts.entry(words.join(" "));
            let (_, names) = entry.or_insert_with(|| (text.trim().to_owned(), BTreeSet::new()));
            names.insert(name);
        }
    }
    Ok(printed(&licences, texts.into_values()))
}

/// The crates of `cargo tree`, those of this workspace apart.
fn licences(tree: &str) -> Licences {
    let crates = tree.lines().filter_map(|line| {
        let (package, licence) = line.trim_end_matches(" (*)").split_once('|')?;
        let (name, version) = package.split_once(" v")?;
        let foreign = !version.contains(' ');
        foreign.then(|| (format!("{name} {version}"), licence.to_owned()))
    });
    crates.collect()
}

/// The folders of all packages that `cargo metadata` names, by their last part: `name-1.2.3`.
fn folders(metadata: &str) -> BTreeMap<String, PathBuf> {
    let manifests = metadata.split("\"manifest_path\":\"").skip(1);
    let folders = manifests.filter_map(|rest| {
        let folder = Path::new(rest.split('"').next()?).parent()?;
        let name = folder.file_name()?.to_string_lossy().into_owned();
        Some((name, folder.to_path_buf()))
    });
    folders.collect()
}

/// Returns true if a file of a crate holds a licence or a notice.
fn is_notice(file: &Path) -> bool {
    let upper = |part: Option<&std::ffi::OsStr>| {
        part.unwrap_or_default().to_string_lossy().to_ascii_uppercase()
    };
    let in_folder = upper(file.parent().and_then(Path::file_name)) == "LICENSES";
    let named = NAMES.iter().any(|name| upper(file.file_name()).starts_with(name));
    (in_folder || named) && upper(file.extension()) != "RS"
}

fn printed<'a>(
    licences: &Licences,
    texts: impl Iterator<Item = (String, BTreeSet<&'a str>)>,
) -> String {
    let mut out = "tidings is linked with the crates below and with the standard library of Rust \
        (MIT OR Apache-2.0).\nA crate that brings no text of its licence is in the list alone.\n\n"
        .to_owned();
    for (name, licence) in licences {
        out += &format!("{name}: {licence}\n");
    }
    for (text, names) in texts {
        let names: Vec<&str> = names.into_iter().collect();
        out += &format!("\n{}\n{}\n\n{text}\n", "=".repeat(80), names.join(", "));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_of_others_are_listed_once() {
        let tree =
            "tidings v0.1.0 (/x/tidings)|MIT\na v1.2.3|MIT\nb v2.0.0|ISC\na v1.2.3|MIT (*)\n";
        let listed: Vec<_> = licences(tree).into_iter().collect();
        let pair = |name: &str, licence: &str| (name.to_owned(), licence.to_owned());
        assert_eq!(listed, [pair("a 1.2.3", "MIT"), pair("b 2.0.0", "ISC")]);
    }

    #[test]
    fn folders_are_found_by_name_and_version() {
        let metadata =
            r#"{"manifest_path":"/r/a-1.2.3/Cargo.toml"},{"manifest_path":"/w/Cargo.toml"}"#;
        assert_eq!(folders(metadata)["a-1.2.3"], Path::new("/r/a-1.2.3"));
    }

    #[test]
    fn notices_are_known_by_their_names() {
        for file in [
            "a/LICENSE",
            "a/license-mit",
            "a/LICENSE.md",
            "a/LICENSES/MIT.txt",
            "a/c/COPYING",
            "a/LICENSE.other",
        ] {
            assert!(is_notice(Path::new(file)), "{file}");
        }
        for file in ["a/README.md", "a/src/license.rs", "a/mit.txt"] {
            assert!(!is_notice(Path::new(file)), "{file}");
        }
    }
}
