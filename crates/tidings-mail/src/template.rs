//! The compiled-in templates: pages in, two bodies out.

use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value, escape_formatter};

use crate::RenderError;
use crate::page::{Content, Page};

const SOURCES: [(&str, &str); 6] = [
    ("base.html", include_str!("../templates/base.html")),
    ("single.html", include_str!("../templates/single.html")),
    ("many.html", include_str!("../templates/many.html")),
    ("base.txt", include_str!("../templates/base.txt")),
    ("single.txt", include_str!("../templates/single.txt")),
    ("many.txt", include_str!("../templates/many.txt")),
];

static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(environment);

/// The two alternatives of a mail.
pub(crate) struct Bodies {
    pub(crate) text: String,
    pub(crate) html: String,
}

/// Renders both alternatives of a page.
pub(crate) fn render(page: &Page) -> Result<Bodies, RenderError> {
    let name = match page.content {
        Content::Single(_) => "single",
        Content::Many(_) => "many",
    };
    let context = Value::from(Serde(page));
    let body = |name: String| {
        TEMPLATES
            .get_template(&name)
            .and_then(|template| template.render(context.clone()))
            .map_err(|error| RenderError::Template(error.to_string()))
    };
    Ok(Bodies {
        text: body(format!("{name}.txt"))?,
        html: body(format!("{name}.html"))?,
    })
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()
        .expect("the delimiters are the usual ones");
    environment.set_syntax(syntax);
    // A variable that a template misspells is an error, never a gap in a mail.
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if *state.auto_escape() == AutoEscape::Html && !value.is_safe() => {
            write_escaped(out, text).map_err(minijinja::Error::from)
        }
        _ => escape_formatter(out, state, value),
    });
    for (name, source) in SOURCES {
        environment
            .add_template(name, source)
            .expect("the compiled-in templates parse");
    }
    environment
}

/// Escapes text for elements and quoted attributes. The library's own way also writes every slash as
/// an entity, which makes links unreadable in a message's source and five bytes a slash longer.
fn write_escaped(out: &mut minijinja::Output<'_>, text: &str) -> std::fmt::Result {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
        out.write_str(&rest[..at])?;
        out.write_str(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            _ => "&#39;",
        })?;
        rest = &rest[at + 1..];
    }
    out.write_str(rest)
}
