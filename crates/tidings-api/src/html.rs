//! Pages of HTML: templates in files, filled by the engine that fills mails. It escapes every value.

use minijinja::{AutoEscape, Environment, Error, Value};

/// A template: its name, and its text.
pub type Template = (&'static str, &'static str);

/// Fills the template of this name; it may take in the others.
///
/// # Errors
/// A template of this program that is not one, or reads what it is not given.
pub fn fill(templates: &[Template], name: &str, values: Value) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_formatter(tidings_mail::write_value);
    for (name, source) in templates {
        environment.add_template(name, source)?;
    }
    environment.get_template(name)?.render(values)
}
