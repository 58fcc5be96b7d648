//! Checks that what the pages say is so: paths and links lead somewhere, the map names every crate, the
//! first pages stay short, the numbers of decisions are not given twice.

use std::collections::BTreeSet;
use std::path::Path;

use crate::Failure;
use crate::source::{entries, files, named, read};

/// Beginnings of quoted paths.
const TOPS: [&str; 5] = ["crates/", "docs/", "examples/", "xtask/", ".ci/"];

/// Sections of every decision.
const SECTIONS: [&str; 3] = ["\n## Context\n", "\n## Decision\n", "\n## Consequences\n"];

/// Bytes of the pages that everybody reads: what is more stands elsewhere, under `docs`.
const BYTES_MAX: [(&str, usize); 3] =
    [("README.md", 9_000), ("ARCHITECTURE.md", 18_000), ("CHANGELOG.md", 4_000)];

/// Lines of a page for users: what is longer is searched and not read.
const PAGE_LINES_MAX: usize = 250;

/// Pages that are looked up and not read: the table of errors is generated, measurements are kept whole.
const LOOKED_UP: [&str; 2] = ["docs/benchmarks.md", "docs/errors.md"];

/// Lines of a decision: what fits on a page.
const DECISION_LINES_MAX: usize = 70;

pub(super) fn check(root: &Path) -> Result<Vec<String>, Failure> {
    let mut faults = Vec::new();
    let mut pages = files(&root.join("docs"), ".md")?;
    pages.extend(
        entries(root)?.into_iter().filter(|path| path.extension().is_some_and(|e| e == "md")),
    );
    for page in &pages {
        let text = read(page)?;
        let name = named(root, page);
        for path in quoted_paths(&text) {
            if !root.join(path).exists() {
                faults.push(format!("pages: {name} names {path}, which does not exist"));
            }
        }
        faults.extend(too_long(&name, &text));
        for link in links(&text) {
            if !page.parent().unwrap_or(root).join(link).exists() {
                faults.push(format!("pages: {name} links to {link}, which does not exist"));
            }
        }
    }
    faults.extend(of_first_pages(root)?);
    faults.extend(decisions(root)?);
    Ok(faults)
}

/// The fault of a page for users that is too long; other folders of `docs` have pages of other kinds.
fn too_long(name: &str, text: &str) -> Option<String> {
    let is_for_users = name.starts_with("docs/") && name.matches('/').count() == 1;
    let lines = text.lines().count();
    (is_for_users && !LOOKED_UP.contains(&name) && lines > PAGE_LINES_MAX)
        .then(|| format!("pages: {name} has {lines} lines, more than {PAGE_LINES_MAX}"))
}

/// Paths of the workspace that stand between backticks, code blocks apart.
fn quoted_paths(text: &str) -> Vec<&str> {
    let parts = prose(text).flat_map(|line| line.split('`').skip(1).step_by(2));
    let is_path = |part: &&str| {
        TOPS.iter().any(|top| part.starts_with(top))
            && !part.contains(|c: char| c.is_whitespace() || c == '*' || c == '{')
            && !part.contains("NNN")
    };
    parts.filter(is_path).collect()
}

/// Relative links, without what follows a `#`.
pub(crate) fn links(text: &str) -> Vec<&str> {
    let links = prose(text)
        .flat_map(|line| line.split("](").skip(1))
        .filter_map(|rest| rest.split(')').next())
        .filter(|link| !link.contains(':') && !link.starts_with('#'));
    links.filter_map(|link| link.split('#').next()).collect()
}

/// The lines outside of code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// Crates that the map does not name, and pages that have grown.
fn of_first_pages(root: &Path) -> Result<Vec<String>, Failure> {
    let mut faults = Vec::new();
    let map = read(&root.join("ARCHITECTURE.md"))?;
    for folder in entries(&root.join("crates"))? {
        let name = named(root, &folder);
        if folder.is_dir() && !map.contains(&format!("`{name}`")) {
            faults.push(format!("pages: ARCHITECTURE.md does not name {name}"));
        }
    }
    for (page, most) in BYTES_MAX {
        let bytes = read(&root.join(page))?.len();
        if bytes > most {
            faults.push(format!("pages: {page} has {bytes} bytes, more than {most}"));
        }
    }
    Ok(faults)
}

fn decisions(root: &Path) -> Result<Vec<String>, Failure> {
    let mut faults = Vec::new();
    let mut numbers = BTreeSet::new();
    for page in entries(&root.join("docs/decisions"))? {
        let name = named(root, &page);
        let number = number_of(&name);
        if !numbers.insert(number.to_owned()) {
            faults.push(format!("pages: two decisions have the number {number}"));
        }
        faults.extend(decision(&name, &read(&page)?));
    }
    Ok(faults)
}

/// The number of a decision: the start of its file's name.
fn number_of(name: &str) -> &str {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.split('-').next().unwrap_or(file)
}

fn decision(name: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let number = number_of(name);
    if number.len() != 3 || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        faults.push(format!("pages: {name} is not named `NNN-title.md`"));
    }
    if !text.starts_with(&format!("# {number}. ")) {
        faults.push(format!("pages: {name} does not begin with `# {number}. Title`"));
    }
    for section in SECTIONS.iter().filter(|section| !text.contains(**section)) {
        faults.push(format!("pages: {name} lacks the section `{}`", section.trim()));
    }
    if text.lines().count() > DECISION_LINES_MAX {
        faults.push(format!("pages: {name} is longer than a page"));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_for_users_has_a_bound_and_a_table_of_errors_none() {
        let long = "line\n".repeat(PAGE_LINES_MAX + 1);
        assert!(too_long("docs/running.md", &long).is_some());
        assert!(too_long("docs/running.md", &long[5..]).is_none());
        for other in ["docs/errors.md", "docs/research/billion.md", "README.md"] {
            assert!(too_long(other, &long).is_none(), "{other}");
        }
    }

    #[test]
    fn paths_and_links_are_found_in_prose() {
        let text = "See `crates/a/src/b.rs`, `x` and `crates/*/c`, [d](docs/d.md#e) and\n\
            [f](https://example.org).\n```\n`docs/g.md` [h](i)\n```\n";
        assert_eq!(quoted_paths(text), ["crates/a/src/b.rs"]);
        assert_eq!(links(text), ["docs/d.md"]);
    }

    #[test]
    fn decisions_are_numbered_and_whole() {
        let text = "# 001. Title\n\n## Context\n\n## Decision\n\n## Consequences\n";
        assert!(decision("docs/decisions/001-title.md", text).is_empty());
        assert_eq!(decision("docs/decisions/002-title.md", text).len(), 1);
        assert_eq!(decision("docs/decisions/title.md", text).len(), 2);
        assert_eq!(decision("docs/decisions/001-title.md", "# 001. Title\n").len(), 3);
        assert_eq!(
            decision("docs/decisions/001-t.md", &text.replace('\n', &"\n".repeat(30))).len(),
            1
        );
    }
}
