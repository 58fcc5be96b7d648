//! The templates: pages in, two bodies out. All are parsed when the configuration is read.
//!
//! A host may put templates of its own in place of the compiled-in ones. They are data from outside: what they
//! print is escaped, they reach no files, and how long they run is bounded.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use minijinja::value::Serde;
use minijinja::{Environment, ErrorKind, UndefinedBehavior, Value};
use serde::Serialize;

use crate::error::{DesignError, RenderError};
use crate::templates::language::{self, BODY_BYTES_MAX, BodyText, ForbiddenSyntax};
use crate::words::locale::Language;
use crate::words::tag::canonical_locale;

/// The compiled-in templates.
pub const DEFAULT_TEMPLATES: [(&str, &str); 5] = [
    ("email/layout.html", include_str!("../../templates/layout.html")),
    ("email/layout.txt", include_str!("../../templates/layout.txt")),
    ("email/item.html", include_str!("../../templates/item.html")),
    ("email/card.html", include_str!("../../templates/card.html")),
    ("email/item.txt", include_str!("../../templates/item.txt")),
];

/// The templates of the pages to which mails lead, which hosts can't replace.
const SITE_TEMPLATES: [(&str, &str); 4] = [
    ("site/layout.html", include_str!("../../templates/site/layout.html")),
    ("site/notice.html", include_str!("../../templates/site/notice.html")),
    ("site/choices.html", include_str!("../../templates/site/choices.html")),
    ("site/rest.html", include_str!("../../templates/site/rest.html")),
];

/// The templates of a design.
#[derive(Clone, Debug)]
pub(crate) struct Templates {
    environment: Environment<'static>,
    /// Names of the host's own, in lower case.
    own: BTreeSet<String>,
}

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
        Self { html: ROW, text: TEXT }
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
        let (templates, faults) = Self::with_faults(own);
        match faults.into_iter().next() {
            None => Ok(templates),
            Some(fault) => Err(fault),
        }
    }

    /// The same, with the faults that show when templates are parsed. A faulty one is empty.
    pub(crate) fn with_faults(own: &BTreeMap<String, String>) -> (Self, Vec<DesignError>) {
        let mut environment = language::environment();
        for (name, source) in DEFAULT_TEMPLATES.into_iter().chain(SITE_TEMPLATES) {
            environment.add_template(name, source).expect("the compiled-in templates parse");
        }
        let mut names = BTreeSet::new();
        let mut faults = Vec::new();
        for (name, source) in own {
            let lower = name.to_ascii_lowercase();
            let (unread, parsed) = match language::too_deep(source) {
                Some(deep) => (vec![deep], String::new()),
                None => language::growing(source),
            };
            let found = match environment.add_template_owned(lower.clone(), parsed) {
                Err(fault) => vec![DesignError::Template {
                    name: name.clone(),
                    reason: reason_of(&fault),
                    hint: "mend what stands at that line: `{{ … }}` prints, `{% … %}` is a statement, and `{% if %}` and \
                           `{% for %}` end with `{% endif %}` and `{% endfor %}`"
                        .to_owned(),
                }],
                Ok(()) => forbidden(&environment, name, &lower, unread),
            };
            if !found.is_empty() {
                let emptied = environment.add_template_owned(lower.clone(), String::new());
                emptied.expect("an empty template parses");
            }
            faults.extend(found);
            names.insert(lower);
        }
        let templates = Self { environment, own: names };
        (templates, faults)
    }

    /// The same with another way of taking what is undefined, for trials.
    pub(crate) fn taking_undefined(&self, behavior: UndefinedBehavior) -> Self {
        let mut templates = self.clone();
        templates.environment.set_undefined_behavior(behavior);
        templates
    }

    /// The templates that show a page's mail in a language, its items aside: HTML, then text.
    pub(crate) fn layouts(&self, mail: &Language, usual: &Language) -> [String; 2] {
        ["html", "txt"].map(|end| {
            let own = self.own("layout", mail, usual, end);
            own.unwrap_or_else(|| format!("email/layout.{end}"))
        })
    }

    /// The line of one of the host's own templates at which a text first stands.
    pub(crate) fn line_of(&self, name: &str, text: &str) -> Option<usize> {
        let template = self.environment.get_template(name).ok()?;
        let at = template.source().find(text)?;
        Some(template.source()[..at].matches('\n').count() + 1)
    }

    /// The templates for items of a type.
    pub(crate) fn block(&self, event_type: &str, mail: &Language, usual: &Language) -> Block {
        let own =
            |end: &str| self.are_own().then(|| self.own(event_type, mail, usual, end)).flatten();
        Block {
            html: own("html").map_or(ROW, Cow::Owned),
            text: own("txt").map_or(TEXT, Cow::Owned),
        }
    }

    /// The host's own template of a name: for the language of a mail, for all, or for the default locale.
    fn own(&self, name: &str, mail: &Language, usual: &Language, end: &str) -> Option<String> {
        let for_all = || {
            let file = format!("email/{}.{end}", name.to_ascii_lowercase());
            self.own.get(&file)
        };
        let found = self
            .of_language(name, mail, end)
            .or_else(for_all)
            .or_else(|| self.of_language(name, usual, end));
        found.cloned()
    }

    /// The host's own template of a name for a language.
    fn of_language(&self, name: &str, language: &Language, end: &str) -> Option<&String> {
        let begin = format!("email/{}.", name.to_ascii_lowercase());
        let locale_of = |file: &str| {
            let locale = file.strip_prefix(&begin)?.strip_suffix(end)?;
            Some(canonical_locale(locale.strip_suffix('.')?))
        };
        let files = || self.own.range(begin.clone()..).take_while(|file| file.starts_with(&begin));
        let mut tags = language.tags.iter();
        tags.find_map(|tag| files().find(|file| locale_of(file).as_ref() == Some(tag)))
    }

    /// Returns true if the host has a layout of its own for a language.
    pub(crate) fn have_layout(&self, language: &Language) -> bool {
        let mut ends = ["html", "txt"].into_iter();
        ends.any(|end| self.of_language("layout", language, end).is_some())
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

    /// Returns true if there is any template of the host's own.
    pub(crate) fn are_own(&self) -> bool {
        !self.own.is_empty()
    }

    /// Returns true if a type has a template of its own, for any locale.
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
        Some(Bodies {
            text: self.body(&block.text, &context).ok()?,
            html: self.body(&block.html, &context).ok()?,
        })
    }

    /// Renders a page of the site.
    pub(crate) fn site(&self, name: &str, page: &impl Serialize) -> Result<String, RenderError> {
        let page = self.body(name, &Value::from(Serde(page)));
        page.map_err(|fault| RenderError::Template(reason_of(&fault)))
    }

    /// Renders both alternatives of a page in a language.
    pub(crate) fn render(
        &self,
        page: &impl Serialize,
        mail: &Language,
        usual: &Language,
    ) -> Result<Bodies, RenderError> {
        let context = if self.are_own() {
            // Whatever a host's template does with a value that is absent, it must not show as a word.

            let page = serde_json::to_value(page)
                .map_err(|fault| RenderError::Template(fault.to_string()))?;
            Value::from(Serde(without_nulls(page)))
        } else {
            Value::from(Serde(page))
        };
        let [html, text] = self.layouts(mail, usual);
        let body = |name: &str| {
            let body = self.body(name, &context);
            body.map_err(|fault| RenderError::Template(reason_of(&fault)))
        };
        Ok(Bodies { text: body(&text)?, html: body(&html)? })
    }

    /// Renders a template.
    pub(crate) fn body(&self, name: &str, page: &Value) -> Result<String, minijinja::Error> {
        let mut body = BodyText::default();
        let template = self.environment.get_template(name)?;
        template.render_captured_to(page.clone(), &mut body).map_err(|fault| {
            match fault.kind() {
                // The library's own fault of a writer names no template.
                ErrorKind::WriteFailure => minijinja::Error::new(
                    ErrorKind::WriteFailure,
                    format!("{name} makes a body of more than {BODY_BYTES_MAX} bytes"),
                ),
                _ => fault,
            }
        })?;
        Ok(body.into_text())
    }
}

/// The value without what is null in it.
pub(crate) fn without_nulls(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value as Json;
    match value {
        Json::Object(fields) => fields
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name, without_nulls(value)))
            .collect(),
        Json::Array(values) => {
            values.into_iter().filter(|value| !value.is_null()).map(without_nulls).collect()
        }
        value => value,
    }
}

/// Constructs of a host's template that the language does not have; some are found before it is parsed.
fn forbidden(
    environment: &Environment<'_>,
    name: &str,
    lower: &str,
    mut found: Vec<ForbiddenSyntax>,
) -> Vec<DesignError> {
    let template = environment.get_template(lower).expect("the template was added");
    found.extend(language::forbidden(environment, &template));
    found.sort_by_key(|one| one.line);
    found.dedup();
    found.iter().map(|one| one.fault(name)).collect()
}

impl ForbiddenSyntax {
    /// The message to the host.
    fn fault(&self, name: &str) -> DesignError {
        DesignError::Template {
            name: name.to_owned(),
            reason: format!("line {}: templates have no {}", self.line, self.what),
            hint: self.hint.to_owned(),
        }
    }
}

/// The fault of a template with what led to it, in one line.
pub(crate) fn reason_of(fault: &minijinja::Error) -> String {
    let mut reason = fault.to_string();
    let mut cause = std::error::Error::source(fault);
    while let Some(inner) = cause {
        reason = format!("{reason}: {inner}");
        cause = inner.source();
    }
    reason
}
