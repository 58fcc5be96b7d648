//! MJML with Handlebars on Node, the way in which many teams write their mails.
//!
//! It gets the items of mails as JSON, and makes the HTML alone: no text, no headers, no plan.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::Rival;
use crate::BenchFault;

/// The settings under which it is run.
pub(super) const SETTINGS: &str = "mjml: node, mjml and handlebars as installed; the template is compiled once, each mail \
                                   is rendered to MJML and then to HTML; HTML alone, without validation";

/// The number of mails that it renders in a second.
pub(crate) fn rendered_rate(modules: &Path, mails: &[Value]) -> Result<f64, BenchFault> {
    let fault = |why: String| Rival::Mjml.fault(why);
    let mut node = Command::new("node")
        .args(["--input-type=module", "-e", include_str!("mjml.js")])
        .current_dir(modules)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| fault(format!("node: {error}")))?;
    if let Some(mut input) = node.stdin.take() {
        let written = serde_json::to_vec(mails).map_err(|error| fault(error.to_string()))?;
        // Where node has ended already, its own words say why.
        let _ = input.write_all(&written);
    }
    let output = node.wait_with_output().map_err(|error| fault(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let rate = text.trim().parse::<f64>().ok();
    let rate = rate.filter(|rate| output.status.success() && *rate > 0.0);
    rate.ok_or_else(|| {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().find(|line| line.contains("Error"));
        let said = said.unwrap_or("node said nothing");
        fault(format!(
            "{said}; `npm install mjml handlebars` in the directory that --modules names"
        ))
    })
}
