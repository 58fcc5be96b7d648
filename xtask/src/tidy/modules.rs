//! The list of modules, `docs/modules.md`: each source file with the first sentence of its head. It is generated, so
//! that it stays true when files move.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::Failure;
use crate::source::{entries, files, is_test, named, read};

/// The page, from the workspace's folder.
const PAGE: &str = "docs/modules.md";

/// The variable with which the page is written in place of being checked.
const BLESS: &str = "TIDINGS_BLESS";

const HEAD: &str = "# Modules

Generated from the first sentence of each file's head by `TIDINGS_BLESS=1 cargo xtask tidy`; `cargo xtask tidy` checks
it. [ARCHITECTURE.md](../ARCHITECTURE.md) is the map.
";

/// Checks the page, or writes it.
pub(super) fn check(root: &Path) -> Result<Vec<String>, Failure> {
    let page = root.join(PAGE);
    let wanted = written(root)?;
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(&page, wanted).map_err(|fault| format!("cannot write {PAGE}: {fault}"))?;
        return Ok(Vec::new());
    }
    let is_there = page.exists() && read(&page)? == wanted;
    let fault = format!("modules: {PAGE} is out of date; `{BLESS}=1 cargo xtask tidy` writes it");
    Ok(if is_there { Vec::new() } else { vec![fault] })
}

/// The text of the page: a section for each crate, a list for each folder.
fn written(root: &Path) -> Result<String, Failure> {
    let mut text = HEAD.to_owned();
    let mut crates = entries(&root.join("crates"))?;
    crates.push(root.join("xtask"));
    for folder in crates.iter().filter(|folder| folder.is_dir()) {
        let name = named(root, folder);
        let _ = write!(text, "\n## `{name}`\n");
        let source = folder.join("src");
        let mut folders: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
        for file in files(&source, ".rs")? {
            let path = named(&source, &file);
            if is_test(&format!("/{path}")) {
                continue;
            }
            let (folder, file_name) = path.rsplit_once('/').unwrap_or(("", &path));
            let row = (file_name.to_owned(), first_sentence(&read(&file)?));
            folders.entry(folder.to_owned()).or_default().push(row);
        }
        for (folder, rows) in folders {
            if folder.is_empty() {
                text.push('\n');
            } else {
                let _ = write!(text, "\n### {folder}\n\n");
            }
            for (file, sentence) in rows {
                let _ = writeln!(text, "- `{file}`: {sentence}");
            }
        }
    }
    Ok(text)
}

/// The first sentence of a file's head (`//!`), on one line and without links within the code.
fn first_sentence(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    let paragraph: Vec<&str> = lines.map(str::trim).take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    let end = paragraph.find(". ").map_or(paragraph.len(), |at| at + 1);
    paragraph[..end].replace("[`", "`").replace("`]", "`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_of_a_head_is_one_line() {
        let text = "//! A lane: where\n//! entries of [`X`] wait. And more.\n//!\n//! Even more.\nuse x;\n";
        assert_eq!(first_sentence(text), "A lane: where entries of `X` wait.");
        assert_eq!(first_sentence("//! Lanes.\n"), "Lanes.");
        assert_eq!(first_sentence("use x;\n"), "");
    }
}
