//! The templates of pages.

use minijinja::{Error, Value};
use tidings_api::html::{self, Template};

const TEMPLATES: [Template; 9] = [
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
