//! The templates of pages.

use minijinja::{Error, Value, context};
use tidings_api::html::{self, Template};
use tidings_core::Rules;
use tidings_core::rules::{CONSOLE_PATH, ConsoleRules};

const TEMPLATES: [Template; 10] = [
    ("bar", include_str!("bar.html")),
    ("layout", include_str!("mailbox/layout.html")),
    ("list", include_str!("mailbox/list.html")),
    ("message", include_str!("mailbox/message.html")),
    ("icon", include_str!("mailbox/icon.html")),
    ("frame", include_str!("start/frame.html")),
    ("start", include_str!("start/start.html")),
    ("plain", include_str!("start/plain.html")),
    ("docs", include_str!("start/docs.html")),
    ("dev_inbox", include_str!("dev_inbox/page.html")),
];

/// Fills the template of this name.
///
/// # Errors
/// A template of this program that is not one, or reads what it is not given.
pub(crate) fn fill(name: &str, values: Value) -> Result<String, Error> {
    html::fill(&TEMPLATES, name, values)
}

/// Fills the template of a developer's page, `here` in the bar, in the look of the console.
///
/// # Errors
/// As [`fill`].
pub(crate) fn fill_with_bar(
    name: &str,
    here: &str,
    rules: &Rules,
    values: Value,
) -> Result<String, Error> {
    fill(name, context! { here, console => console_path(rules), ..values })
}

/// The path of the console on a developer's server.
pub(crate) fn console_path(rules: &Rules) -> &str {
    rules.console.as_ref().map_or(CONSOLE_PATH, ConsoleRules::path)
}
