//! The section `[telemetry]`: where spans are sent, and how many.

use tidings_core::rules::TelemetryRules;

use super::resolver::http_url;
use crate::walk::{ConfigReader, Section};

pub(crate) fn telemetry(walk: &mut ConfigReader, root: &Section<'_>) -> Option<TelemetryRules> {
    if !root.has("telemetry") {
        return None;
    }
    let section = walk.section(root, "telemetry", "write `[telemetry]`")?;
    walk.only(&section, &["otlp", "ratio"]);
    let hint = "write the address of a collector, such as `http://localhost:4318`";
    if !section.has("otlp") {
        walk.missing(&section, "otlp", "add `otlp = \"http://localhost:4318\"`");
    }
    let url = http_url(walk, &section, "telemetry", "otlp", hint);
    let ratio = ratio(walk, &section).unwrap_or(1.0);
    Some(TelemetryRules { otlp: of_traces(&url?), ratio })
}

/// The address of a collector's traces. What has a path is taken as it is.
fn of_traces(url: &str) -> String {
    let root = url.strip_suffix('/').unwrap_or(url);
    let has_path = root.split_once("://").is_some_and(|(_, rest)| rest.contains(['/', '?']));
    if has_path { url.to_owned() } else { format!("{root}/v1/traces") }
}

fn ratio(walk: &mut ConfigReader, section: &Section<'_>) -> Option<f64> {
    let hint = "write a number from 0 to 1, such as `ratio = 0.1`";
    let found = walk.number(section, "ratio", hint)?;
    if (0.0..=1.0).contains(&found.value) {
        return Some(found.value);
    }
    walk.bad(&found.span, "`telemetry.ratio` must be 0 to 1", hint);
    None
}
