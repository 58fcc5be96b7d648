//! The site of the demo's page: templates filled from what was played.

use std::sync::Arc;

use minijinja::value::Serde;
use minijinja::{Environment, Value, context};

use super::text;
use super::view::{InboxGroup, ListSlice, MailQuery};
use crate::shown::Shown;
use crate::{museum, world};

/// Number of rows on a page of a list.
const ROWS: usize = 40;
/// Number of inbox groups on a page.
const GROUPS: usize = 20;
/// Height of a mail's frame in pixels: what surrounds the lines, one line, and the most.
const FRAME_BASE: usize = 460;
const FRAME_LINE: usize = 34;
const FRAME_MAX: usize = 1500;

/// An answer of the site.
#[derive(Debug)]
pub(crate) enum SiteAnswer {
    /// A page of ours.
    Page(String),
    /// The page for a path without content.
    Absent(String),
    /// A template failed: a defect of ours.
    Broken(String),
    /// A mail's HTML part, for the sandbox.
    MailHtml(String),
    /// A mail as it was sent.
    MailRaw(Vec<u8>),
    /// A work's picture.
    Picture(String),
    /// The style sheet.
    Style(&'static str),
}

/// The site over what was played.
pub(crate) struct DemoSite {
    shown: Arc<Shown>,
    templates: Environment<'static>,
}

/// The templates, compiled in; the ending decides that what is filled in is escaped.
const TEMPLATES: [(&str, &str); 8] = [
    ("layout.html", include_str!("templates/layout.html")),
    ("front.html", include_str!("templates/front.html")),
    ("mails.html", include_str!("templates/mails.html")),
    ("mail.html", include_str!("templates/mail.html")),
    ("people.html", include_str!("templates/people.html")),
    ("person.html", include_str!("templates/person.html")),
    ("choices.html", include_str!("templates/choices.html")),
    ("absent.html", include_str!("templates/absent.html")),
];

impl DemoSite {
    /// The site over what was played.
    pub(crate) fn new(shown: Arc<Shown>) -> Self {
        let mut templates = Environment::new();
        for (name, source) in TEMPLATES {
            templates
                .add_template(name, source)
                .expect("the compiled-in templates are well-formed");
        }
        templates.add_filter("number", text::number);
        templates.add_filter("milliseconds", text::milliseconds);
        templates.add_filter("instant", |ms: i64, zone: String| text::instant(ms, &zone));
        templates.add_filter("date", |ms: i64, zone: String| text::date(ms, &zone));
        templates.add_filter("machine", text::machine);
        templates.add_filter("lane", |name: String| text::lane(&name).to_owned());
        let names = Arc::new(museum::artist_names());
        let known = names.clone();
        templates.add_filter("reason", move |word: String| text::reason(&word, &known));
        templates.add_filter("topic", move |topic: String| text::topic_name(&topic, &names));
        templates.add_filter("in_words", text::in_words);
        templates.add_filter("is_web", |url: String| text::is_web(&url));
        templates.add_filter("path", |part: String| encoded(&part));
        Self { shown, templates }
    }

    /// The story in numbers.
    pub(crate) fn front(&self) -> SiteAnswer {
        let summary = self.shown.summary();
        let books = &summary.books;
        let outcomes = [
            ("delivered", books.delivered, "told in a message"),
            ("cancelled", books.cancelled, "taken back, or no longer wanted"),
            ("skipped", books.skipped, "not worth telling any more when the message was made"),
            ("expired", books.expired, "too late, or forgotten with its day"),
            ("failed", books.failed, "refused for good"),
            ("unknown", books.unknown, "nobody knows"),
            ("pending", books.pending, "still waiting"),
        ];
        let sum: u64 = outcomes.iter().map(|(_, n, _)| n).sum();
        let most_mails = summary.weeks.iter().map(|week| week.mails).max().unwrap_or(0).max(1);
        let weeks: Vec<Value> = summary
            .weeks
            .iter()
            .map(|line| {
                let monday = line.week.monday.start().0;
                // In thousandths of the widest bar.
                let bar = line.mails * 1000 / most_mails;
                context! { line => value(line), monday, bar }
            })
            .collect();
        let body = context! {
            summary => value(summary), weeks, sum,
            balanced => sum == books.entries && books.lost == 0 && books.duplicates == 0,
            outcomes => outcomes.map(|(name, n, meaning)| context! { name, n, meaning }),
        };
        self.page("front.html", "The story", "story", body)
    }

    /// A page of the list of mails.
    pub(crate) fn mails(&self, which: &MailQuery, page: usize) -> SiteAnswer {
        let listing = self.shown.mails(which, slice(page, ROWS));
        let lanes: Vec<Value> = self
            .shown
            .summary()
            .lanes
            .iter()
            .map(|lane| context! { lane, chosen => which.lane.as_ref() == Some(lane) })
            .collect();
        let mut query = String::new();
        for (key, value) in [("recipient", &which.recipient), ("lane", &which.lane)] {
            if let Some(value) = value {
                query.push_str(&format!("{key}={}&", encoded(value)));
            }
        }
        let body = context! {
            listing => value(&listing), which => value(which), lanes, pages => pages(page, ROWS, listing.total, &query),
        };
        self.page("mails.html", "Mails", "mails", body)
    }

    /// One mail with its headers around its frame.
    pub(crate) fn mail(&self, id: &str) -> SiteAnswer {
        let Some(mail) = self.shown.mail(id) else {
            return self.absent();
        };
        let height = (FRAME_BASE + FRAME_LINE * mail.line.entries.min(50)).min(FRAME_MAX);
        let subject = mail.line.subject.clone();
        self.page("mail.html", &subject, "mails", context! { mail => value(&mail), height })
    }

    /// The HTML part of a mail, or its text where it has none.
    pub(crate) fn mail_html(&self, id: &str) -> SiteAnswer {
        match self.shown.mail(id) {
            None => self.absent(),
            Some(mail) => match mail.html {
                Some(html) => SiteAnswer::MailHtml(html),
                None => SiteAnswer::MailRaw(mail.text.into_bytes()),
            },
        }
    }

    /// A mail as it was sent.
    pub(crate) fn mail_raw(&self, id: &str) -> SiteAnswer {
        self.shown.mail(id).map_or_else(|| self.absent(), |mail| SiteAnswer::MailRaw(mail.raw))
    }

    /// A page of the list of recipients.
    pub(crate) fn people(&self, search: &str, page: usize) -> SiteAnswer {
        let listing = self.shown.people(search, slice(page, ROWS));
        let query =
            if search.is_empty() { String::new() } else { format!("q={}&", encoded(search)) };
        let pages = pages(page, ROWS, listing.total, &query);
        self.page(
            "people.html",
            "Inboxes",
            "people",
            context! { listing => value(&listing), search, pages },
        )
    }

    /// One recipient's inbox and what is known of them.
    pub(crate) fn person(&self, id: &str, page: usize) -> SiteAnswer {
        let Some(person) = self.shown.person(id, slice(page, GROUPS)) else {
            return self.absent();
        };
        let mails = self.shown.mails(
            &MailQuery { recipient: Some(id.to_owned()), lane: None },
            ListSlice { skip: 0, take: 8 },
        );
        let pages = pages(page, GROUPS, person.inbox.total, "");
        let groups: Vec<Value> = person
            .inbox
            .rows
            .iter()
            .map(|group| context! { group => value(group), why => why_of_all(group) })
            .collect();
        let title = format!("Inbox of {id}");
        self.page(
            "person.html",
            &title,
            "people",
            context! { person => value(&person), mails => value(&mails), groups, pages },
        )
    }

    /// A work's picture, by the name of its file.
    pub(crate) fn picture(&self, file: &str) -> SiteAnswer {
        let number = file.strip_suffix(".svg").and_then(|number| number.parse().ok());
        let drawn = number.and_then(|work| self.shown.picture(work));
        drawn.map_or_else(|| self.absent(), SiteAnswer::Picture)
    }

    /// A page of what a mail counted and did not show.
    pub(crate) fn rest(&self, token: &str, from: usize) -> SiteAnswer {
        let page = self.shown.rest(token, from);
        page.map_or_else(|| self.absent(), SiteAnswer::MailHtml)
    }

    /// Answers with the page to which a mail's foot leads, as a server shows it.
    pub(crate) fn choices(&self) -> SiteAnswer {
        self.page("choices.html", "What you hear of", "", context! {})
    }

    /// Nothing is here.
    pub(crate) fn absent(&self) -> SiteAnswer {
        match self.page("absent.html", "Not here", "", context! {}) {
            SiteAnswer::Page(html) => SiteAnswer::Absent(html),
            other => other,
        }
    }

    fn page(&self, template: &str, title: &str, here: &str, body: Value) -> SiteAnswer {
        let fill = || -> Result<String, minijinja::Error> {
            let body = self.templates.get_template(template)?.render(body)?;
            self.templates.get_template("layout.html")?.render(context! {
                title, here, body => Value::from_safe_string(body),
                recipients => world::RECIPIENTS,
            })
        };
        match fill() {
            Ok(html) => SiteAnswer::Page(html),
            Err(why) => SiteAnswer::Broken(format!("{why:#}")),
        }
    }
}

/// The reasons that all shown items of a group share, which are shown once.
fn why_of_all(group: &InboxGroup) -> Option<Vec<String>> {
    let first = group.items.first()?;
    let shared = group.items.iter().all(|item| item.reasons == first.reasons);
    shared.then(|| first.reasons.clone())
}

/// Turns a value of [`super::view`] into one that templates read.
fn value(what: &impl serde::Serialize) -> Value {
    Value::from(Serde(what))
}

/// The part of a list that page `page` (from 1) shows.
fn slice(page: usize, rows: usize) -> ListSlice {
    ListSlice { skip: (page.max(1) - 1).saturating_mul(rows), take: rows }
}

/// Links to the pages before and after this one.
fn pages(page: usize, rows: usize, total: usize, query: &str) -> Value {
    let last = total.div_ceil(rows).max(1);
    let link = |to: usize| format!("?{query}page={to}");
    context! {
        page, last, total,
        before => (page > 1).then(|| link((page - 1).min(last))),
        after => (page < last).then(|| link(page + 1)),
    }
}

/// A part of a link: everything but letters, digits and `-._~` as percent and two digits.
fn encoded(part: &str) -> String {
    let mut text = String::new();
    for byte in part.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                text.push(char::from(byte));
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}
