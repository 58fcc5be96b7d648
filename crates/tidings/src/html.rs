//! Pages of HTML: templates in files, filled by the engine that fills mails. It escapes every value.

use minijinja::{AutoEscape, Environment, Error, Value};

/// The templates, by name.
const TEMPLATES: [(&str, &str); 12] = [
    ("compare", include_str!("compare/page/page.html")),
    ("plot", include_str!("compare/page/plot.html")),
    ("layout", include_str!("http/mailbox/layout.html")),
    ("list", include_str!("http/mailbox/list.html")),
    ("message", include_str!("http/mailbox/message.html")),
    ("icon", include_str!("http/mailbox/icon.html")),
    ("side_by_side", include_str!("preview/page.html")),
    ("frame", include_str!("http/start/frame.html")),
    ("start", include_str!("http/start/start.html")),
    ("plain", include_str!("http/start/plain.html")),
    ("docs", include_str!("http/start/docs.html")),
    ("dev_inbox", include_str!("http/dev_inbox/page.html")),
];

/// Fills the template of this name.
///
/// # Errors
/// A template of this program that is not one, or reads what it is not given.
pub(crate) fn fill(name: &str, values: Value) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_formatter(tidings_mail::write_value);
    for (name, source) in TEMPLATES {
        environment.add_template(name, source)?;
    }
    environment.get_template(name)?.render(values)
}
