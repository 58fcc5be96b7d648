//! Pages: a template, its values, and the frame around it.

mod filters;
mod link;

use std::sync::LazyLock;

use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value, context};

use crate::console::Console;
use crate::problem::CallProblem;
use crate::viewer::Viewer;

pub(crate) use filters::{grouped, spanned};
pub(crate) use link::link;

/// A section of the bar at the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarSection {
    Now,
    People,
    Events,
    Messages,
    Types,
    Figures,
    System,
    /// A page of no section.
    Other,
}

impl BarSection {
    const fn name(self) -> &'static str {
        match self {
            Self::Now => "now",
            Self::People => "people",
            Self::Events => "events",
            Self::Messages => "messages",
            Self::Types => "types",
            Self::Figures => "figures",
            Self::System => "system",
            Self::Other => "",
        }
    }
}

/// A page before it is written.
pub(crate) struct Page {
    pub(crate) status: StatusCode,
    pub(crate) section: BarSection,
    /// The title of the window. It has ids at most, and never a name or an address.
    pub(crate) title: String,
    /// The name of the template.
    pub(crate) template: &'static str,
    /// The values of the template, under `page`.
    pub(crate) values: Value,
}

impl Page {
    /// A page that was found.
    pub(crate) fn new(
        section: BarSection,
        title: impl Into<String>,
        template: &'static str,
    ) -> Self {
        let (status, title, values) = (StatusCode::OK, title.into(), Value::UNDEFINED);
        Self { status, section, title, template, values }
    }

    /// The same with the values of its template.
    pub(crate) fn with(self, values: Value) -> Self {
        Self { values, ..self }
    }

    /// The page of a refusal: what is wrong, and how to mend it.
    pub(crate) fn of_problem(problem: &CallProblem) -> Self {
        let hint = problem.text("hint");
        let values = context! {
            code => problem.code(), headline => problem.text("title"),
            detail => problem.text("detail"), hint,
        };
        Self {
            status: problem.status,
            section: BarSection::Other,
            title: problem.text("title").to_owned(),
            template: "problem.html",
            values,
        }
    }

    /// Writes the page for a viewer.
    pub(crate) fn write(self, console: &Console, viewer: &Viewer) -> Response {
        let now = console.api().now();
        let values = context! {
            base => console.base(),
            section => self.section.name(),
            title => &self.title,
            zone => viewer.zone.iana_name().unwrap_or("UTC"),
            now => now.to_string(),
            viewer => context! {
                id => &viewer.caller.id, role => viewer.caller.role,
                is_dev => console.api().is_dev(),
            },
            page => &self.values,
        };
        written(&self, values)
    }
}

/// Writes a page for somebody who is not signed in: it is without the bar.
pub(crate) fn frameless(page: &Page, console: &Console) -> Response {
    let values = context! {
        base => console.base(), title => &page.title, page => &page.values, section => "",
        zone => "UTC", now => console.api().now().to_string(),
    };
    written(page, values)
}

fn written(page: &Page, values: Value) -> Response {
    match TEMPLATES.get_template(page.template).and_then(|template| template.render(values)) {
        Ok(text) => (page.status, Html(text)).into_response(),
        Err(fault) => {
            // A defect of a template. Its text may quote values, so the page has none of it.
            let plain = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
            debug_assert!(false, "{fault:?}");
            let text = format!("the page {} can't be written", page.template);
            (StatusCode::INTERNAL_SERVER_ERROR, plain, text).into_response()
        }
    }
}

/// Collects the files of templates, by name.
macro_rules! templates {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("templates/", $name)))),*]
    };
}

/// The files of the templates, by name.
const FILES: &[(&str, &str)] = &templates![
    "bulk.html",
    "change.html",
    "figures.html",
    "events/event.html",
    "events/list.html",
    "job.html",
    "jobs.html",
    "layout.html",
    "macros.html",
    "message.html",
    "messages.html",
    "now.html",
    "pausing.html",
    "people.html",
    "person/addresses.html",
    "person/frame.html",
    "person/inbox.html",
    "person/messages.html",
    "person/next.html",
    "person/preferences.html",
    "person/topics.html",
    "person/overview.html",
    "pieces.html",
    "problem.html",
    "search.html",
    "sign-in.html",
    "suppose.html",
    "system-list.html",
    "system.html",
    "try.html",
    "type.html",
    "types.html",
    "unknown.html",
    "why.html",
];

static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    filters::add(&mut environment);
    for (name, source) in FILES {
        environment.add_template(name, source).expect("a template of this binary, as tests know");
    }
    environment
});
