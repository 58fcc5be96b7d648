//! The metrics that dashboards, alerts and the page of metrics name: each is one that the server has.
//!
//! A metric that was renamed leaves an alert that never fires.

use std::collections::BTreeSet;
use std::path::Path;

use crate::Failure;
use crate::source::{files, is_test, named, read};

const SERVER: &str = "crates/tidings-http/src";
const GUIDE: &str = "docs/monitoring.md";
const PREFIX: &str = "tidings_";

/// The suffixes of the metrics of a histogram.
const ENDS: [&str; 3] = ["_bucket", "_sum", "_count"];

pub(super) fn check(root: &Path) -> Result<Vec<String>, Failure> {
    let mut served = BTreeSet::new();
    for path in files(&root.join(SERVER), ".rs")? {
        if !is_test(&named(root, &path)) {
            served.extend(literals(&read(&path)?));
        }
    }
    let guide = read(&root.join(GUIDE))?;
    let described = names(&guide);
    let mut faults: Vec<String> = served
        .difference(&described)
        .map(|name| format!("metrics: {GUIDE} lacks {name}"))
        .collect();
    let packaging = root.join("packaging");
    let mut users = files(&packaging, ".json")?;
    users.extend(files(&packaging, ".yml")?);
    users.push(root.join(GUIDE));
    for path in users {
        let used = names(&read(&path)?);
        for name in used.difference(&served) {
            faults.push(format!(
                "metrics: {} names {name}, which the server does not have",
                named(root, &path)
            ));
        }
    }
    Ok(faults)
}

/// The metrics that a source writes as whole texts.
fn literals(text: &str) -> BTreeSet<String> {
    let quoted = text.split('"').skip(1).step_by(2);
    quoted.filter(|quoted| names(quoted).contains(*quoted)).map(str::to_owned).collect()
}

/// The metrics that a text names.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    let metrics = words.filter(|word| word.starts_with(PREFIX) && !OTHERS.contains(word));
    let base = |word: &str| {
        let base = ENDS.iter().find_map(|end| word.strip_suffix(end));
        base.unwrap_or(word).to_owned()
    };
    metrics.map(base).collect()
}

/// Words that begin as metrics do and are others: crates, tables, and what API keys and headers of mails begin with.
const OTHERS: [&str; 9] = [
    "tidings_",
    "tidings_core",
    "tidings_format",
    "tidings_mail",
    "tidings_message",
    "tidings_node",
    "tidings_outbox",
    "tidings_store",
    "tidings_tls",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_metrics_and_without_what_a_histogram_adds() {
        let text = r#"rate(tidings_step_duration_seconds_bucket{job=~"$job"}) > tidings_up"#;
        let found: Vec<String> = names(text).into_iter().collect();
        assert_eq!(found, ["tidings_step_duration_seconds", "tidings_up"]);
        assert!(names("use tidings_core::Id;").is_empty());
        assert_eq!(literals(r#"head("tidings_up", "of tidings_x")"#).len(), 1);
    }
}
