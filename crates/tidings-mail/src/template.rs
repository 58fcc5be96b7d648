//! The templates: pages in, two bodies out. All are parsed when the configuration is read.
//!
//! A host may put templates of its own in place of the compiled-in ones. They are data from outside: what they
//! print is escaped, they reach no files, and how long they run is bounded.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value, escape_formatter};
use serde::Serialize;
use tidings_core::presentation::for_locale;

use crate::direction;
use crate::error::{DesignError, RenderError};

/// The compiled-in templates.
pub const DEFAULT_TEMPLATES: [(&str, &str); 5] = [
    (
        "email/layout.html",
        include_str!("../templates/layout.html"),
    ),
    ("email/layout.txt", include_str!("../templates/layout.txt")),
    ("email/item.html", include_str!("../templates/item.html")),
    ("email/card.html", include_str!("../templates/card.html")),
    ("email/item.txt", include_str!("../templates/item.txt")),
];

/// The templates of the pages to which mails lead, which hosts can't replace.
const SITE_TEMPLATES: [(&str, &str); 4] = [
    (
        "site/layout.html",
        include_str!("../templates/site/layout.html"),
    ),
    (
        "site/notice.html",
        include_str!("../templates/site/notice.html"),
    ),
    (
        "site/choices.html",
        include_str!("../templates/site/choices.html"),
    ),
    (
        "site/rest.html",
        include_str!("../templates/site/rest.html"),
    ),
];

/// The templates of a design.
#[derive(Clone, Debug)]
pub(crate) struct Templates {
    environment: Environment<'static>,
    /// Names of the host's own, in lower case.
    own: BTreeSet<String>,
}

/// Instructions that one body may take: some hundred times those of a large digest.
const FUEL: u64 = 5_000_000;
/// Maximum number of bytes of a body.
const BODY_BYTES_MAX: usize = 1 << 20;

/// The two alternatives of a mail.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Bodies {
    /// Plain text.
    pub text: String,
    /// HTML.
    pub html: String,
}

/// The templates that show an item.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct Block {
    html: Cow<'static, str>,
    text: Cow<'static, str>,
}

const ROW: Cow<'static, str> = Cow::Borrowed("email/item.html");
const CARD: Cow<'static, str> = Cow::Borrowed("email/card.html");
const TEXT: Cow<'static, str> = Cow::Borrowed("email/item.txt");

impl Default for Block {
    /// The templates that show what has none of its own.
    fn default() -> Self {
        Self {
            html: ROW,
            text: TEXT,
        }
    }
}

impl Block {
    /// Shows the item as a card, unless the host has a template for it.
    pub(crate) fn make_card(&mut self) {
        if self.html == ROW {
            self.html = CARD;
        }
    }
}

impl Templates {
    /// The compiled-in templates, and the host's own by their names.
    pub(crate) fn new(own: &BTreeMap<String, String>) -> Result<Self, DesignError> {
        let mut environment = environment();
        let mut names = BTreeSet::new();
        for (name, source) in own {
            let lower = name.to_ascii_lowercase();
            let added = environment.add_template_owned(lower.clone(), source.clone());
            added.map_err(|fault| DesignError::Template {
                name: name.clone(),
                reason: reason_of(&fault),
            })?;
            names.insert(lower);
        }
        Ok(Self {
            environment,
            own: names,
        })
    }

    /// The templates for items of a type.
    pub(crate) fn block(&self, event_type: &str, locale: &str, usual: &str) -> Block {
        let own = |end: &str| {
            self.are_own()
                .then(|| self.own(event_type, locale, usual, end))
                .flatten()
        };
        Block {
            html: own("html").map_or(ROW, Cow::Owned),
            text: own("txt").map_or(TEXT, Cow::Owned),
        }
    }

    /// The host's own template of a name for a locale.
    fn own(&self, name: &str, locale: &str, usual: &str, end: &str) -> Option<String> {
        let name = name.to_ascii_lowercase();
        for_locale(locale, usual, |tag| {
            let file = match tag {
                "" => format!("email/{name}.{end}"),
                tag => format!("email/{name}.{tag}.{end}"),
            };
            self.own.get(&file).cloned()
        })
    }

    /// The variables that each of the host's own templates takes from outside, by its name.
    pub(crate) fn variables(&self) -> Vec<(String, Vec<String>)> {
        let of = |name: &String| {
            let template = self.environment.get_template(name).ok()?;
            let mut variables: Vec<String> =
                template.undeclared_variables(true).into_iter().collect();
            variables.sort_unstable();
            Some((name.clone(), variables))
        };
        self.own.iter().filter_map(of).collect()
    }

    /// Tells whether there is any template of the host's own.
    pub(crate) fn are_own(&self) -> bool {
        !self.own.is_empty()
    }

    /// Tells whether a type has a template of its own, for any locale.
    pub(crate) fn has_own(&self, event_type: &str) -> bool {
        let begin = format!("email/{}.", event_type.to_ascii_lowercase());
        self.own.iter().any(|name| name.starts_with(&begin))
    }

    /// The parts of templates' names that may be locales.
    pub(crate) fn locales(&self) -> BTreeSet<String> {
        let of = |name: &String| {
            let (name, _) = name.rsplit_once('.')?;
            let (_, locale) = name.rsplit_once('.')?;
            Some(locale.to_owned())
        };
        self.own.iter().filter_map(of).collect()
    }

    /// Renders the templates that show an item.
    pub(crate) fn blocks(&self, block: &Block, item: &impl Serialize) -> Option<Bodies> {
        let context = Value::from(Serde(item));
        let body = |name: &str| {
            let template = self.environment.get_template(name);
            template.and_then(|template| template.render(&context)).ok()
        };
        Some(Bodies {
            text: body(&block.text)?,
            html: body(&block.html)?,
        })
    }

    /// Renders a page of the site.
    pub(crate) fn site(&self, name: &str, page: &impl Serialize) -> Result<String, RenderError> {
        let template = self.environment.get_template(name);
        let page = template.and_then(|template| template.render(Value::from(Serde(page))));
        page.map_err(|fault| RenderError::Template(reason_of(&fault)))
    }

    /// Renders both alternatives of a page in a locale.
    pub(crate) fn render(
        &self,
        page: &impl Serialize,
        locale: &str,
        usual: &str,
    ) -> Result<Bodies, RenderError> {
        let context = Value::from(Serde(page));
        let body = |end: &str| {
            let own = self.own("layout", locale, usual, end);
            let name = own.unwrap_or_else(|| format!("email/layout.{end}"));
            let template = self.environment.get_template(&name);
            let body = template.and_then(|template| template.render(context.clone()));
            let body = body.map_err(|fault| RenderError::Template(reason_of(&fault)))?;
            match body.len() {
                ..=BODY_BYTES_MAX => Ok(body),
                bytes => Err(RenderError::Template(format!(
                    "{name} makes a body of {bytes} bytes, more than {BODY_BYTES_MAX}"
                ))),
            }
        };
        Ok(Bodies {
            text: body("txt")?,
            html: body("html")?,
        })
    }
}

/// The fault of a template with what led to it, in one line.
fn reason_of(fault: &minijinja::Error) -> String {
    let mut reason = fault.to_string();
    let mut cause = std::error::Error::source(fault);
    while let Some(inner) = cause {
        reason = format!("{reason}: {inner}");
        cause = inner.source();
    }
    reason
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
    environment.set_fuel(Some(FUEL));
    environment.add_filter("bdi", |text: &str| {
        let mut escaped = String::with_capacity(text.len());
        write_escaped(&mut escaped, text)?;
        Ok::<_, minijinja::Error>(Value::from_safe_string(direction::in_elements(&escaped)))
    });
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if *state.auto_escape() == AutoEscape::Html && !value.is_safe() => {
            write_escaped(out, text).map_err(minijinja::Error::from)
        }
        _ => escape_formatter(out, state, value),
    });
    for (name, source) in DEFAULT_TEMPLATES.into_iter().chain(SITE_TEMPLATES) {
        environment
            .add_template(name, source)
            .expect("the compiled-in templates parse");
    }
    environment
}

/// Escapes text for elements and quoted attributes. The library's own way also writes every slash as
/// an entity, which makes links unreadable in a message's source and five bytes a slash longer.
fn write_escaped(out: &mut dyn std::fmt::Write, text: &str) -> std::fmt::Result {
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
