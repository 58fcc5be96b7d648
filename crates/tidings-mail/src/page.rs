//! What a mail shows, in words: everything that templates need and nothing that they would have to
//! work out.

use serde::Serialize;
use tidings_core::Batch;
use tidings_core::batch::{Group, Line, Pivot};

use crate::names::Names;
use crate::wording::{self, Calendar};
use crate::{LINES_SHOWN_MAX, Sender, link, pick, text, why};

/// A mail's contents.
#[derive(Debug, Serialize)]
pub(crate) struct Page {
    /// Stands in the window's title.
    pub(crate) title: String,
    /// What lists of mails show beside the subject.
    pub(crate) preview: String,
    /// The sender's name.
    pub(crate) sender: String,
    /// The day of the mail.
    pub(crate) day: String,
    /// The minute of the mail, with the zone.
    pub(crate) sent: String,
    /// Why the recipient is told.
    pub(crate) why: Option<String>,
    /// One line or several.
    pub(crate) content: Content,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Content {
    Single(LineView),
    Many(Many),
}

#[derive(Debug, Serialize)]
pub(crate) struct Many {
    /// How many lines there are, shown or not.
    pub(crate) count: String,
    /// How many follow the first.
    pub(crate) rest: String,
    pub(crate) first_title: String,
    pub(crate) sections: Vec<Section>,
    /// How many lines are not shown; `None` where all are.
    pub(crate) more: Option<String>,
}

/// The groups of one category.
#[derive(Debug, Serialize)]
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) groups: Vec<GroupView>,
}

#[derive(Debug, Serialize)]
pub(crate) struct GroupView {
    /// What the lines share; `None` where a heading would only repeat the line.
    pub(crate) heading: Option<String>,
    /// "5 new", or "5 new from A and B".
    pub(crate) tally: String,
    pub(crate) lines: Vec<LineView>,
}

#[derive(Debug, Serialize)]
pub(crate) struct LineView {
    pub(crate) title: String,
    pub(crate) href: Option<String>,
    pub(crate) image: Option<String>,
    /// Title of the category.
    pub(crate) category: String,
    /// Who, where, when and why, as far as the surroundings don't tell.
    pub(crate) about: String,
}

impl Page {
    /// The page of a batch; `None` where the batch has no line.
    pub(crate) fn of(batch: &Batch, sender: &Sender) -> Option<Self> {
        let lines: Vec<&Line> = batch.groups.iter().flat_map(|group| &group.lines).collect();
        let first = *lines.first()?;
        let writer = Writer {
            names: Names::of(&lines),
            calendar: Calendar::new(&batch.tz, batch.at),
            reasons_differ: lines.iter().any(|line| line.reasons != first.reasons),
        };
        let content = if lines.len() == 1 {
            let group = batch.groups.iter().find(|group| !group.lines.is_empty())?;
            Content::Single(writer.single(group, first))
        } else {
            Content::Many(writer.many(batch, &lines))
        };
        let (title, preview) = match &content {
            Content::Single(line) => (line.title.clone(), line.about.clone()),
            Content::Many(many) => (
                format!("{} new for you", many.count),
                preview_of(&many.sections),
            ),
        };
        let calendar = &writer.calendar;
        Some(Self {
            title: text::cut(&title, 150),
            preview,
            sender: sender.name().to_owned(),
            day: calendar.full_day(batch.at),
            sent: format!("{} ({})", calendar.minute(batch.at), calendar.zone_name()),
            why: why::sentence(&lines),
            content,
        })
    }
}

/// The first few titles, cut as lists of mails would cut them.
fn preview_of(sections: &[Section]) -> String {
    let titles: Vec<String> = sections
        .iter()
        .flat_map(|section| &section.groups)
        .flat_map(|group| &group.lines)
        .take(3)
        .map(|line| text::cut(&line.title, 40))
        .collect();
    titles.join(" · ")
}

/// The title of a line's object, or its id where it has none that can be shown.
fn title_of(line: &Line) -> String {
    let title = line
        .object
        .title
        .as_deref()
        .map(text::clean)
        .filter(|title| !title.is_empty());
    title.unwrap_or_else(|| text::clean(line.object.id.as_str()))
}

struct Writer {
    names: Names,
    calendar: Calendar,
    /// Whether lines must tell their reason, since the mail's sentence is not true of each.
    reasons_differ: bool,
}

impl Writer {
    fn single(&self, group: &Group, line: &Line) -> LineView {
        let mut about = self.who_and_where(line, None);
        about.push(self.calendar.minute(line.t));
        view(group, line, &about)
    }

    fn many(&self, batch: &Batch, lines: &[&Line]) -> Many {
        let lens: Vec<usize> = batch.groups.iter().map(|group| group.lines.len()).collect();
        let shown = pick::lines_shown(&lens, LINES_SHOWN_MAX);
        let mut sections: Vec<Section> = Vec::new();
        for (group, shown) in batch.groups.iter().zip(&shown) {
            if *shown == 0 {
                continue;
            }
            let title = text::clean(&group.category);
            let view = self.group(group, *shown);
            match sections.iter_mut().find(|section| section.title == title) {
                Some(section) => section.groups.push(view),
                None => sections.push(Section {
                    title,
                    groups: vec![view],
                }),
            }
        }
        let hidden = lines.len() - shown.iter().sum::<usize>();
        Many {
            count: wording::number(lines.len()),
            rest: wording::number(lines.len() - 1),
            first_title: lines.first().map(|line| title_of(line)).unwrap_or_default(),
            sections,
            more: (hidden > 0).then(|| wording::number(hidden)),
        }
    }

    fn group(&self, group: &Group, shown: usize) -> GroupView {
        let heading = group
            .key
            .as_ref()
            .filter(|_| group.lines.len() > 1)
            .and_then(|key| match group.pivot {
                Pivot::Object => None,
                Pivot::Actor => Some(self.names.actor(key)),
                Pivot::Target => Some(self.names.target(key)),
            });
        let count = wording::number(group.lines.len());
        let tally = match group.pivot {
            Pivot::Target if !group.actors.is_empty() => {
                format!("{count} new from {}", self.names.actors(&group.actors))
            }
            Pivot::Actor | Pivot::Object | Pivot::Target => format!("{count} new"),
        };
        let lines = group.lines[..shown.min(group.lines.len())]
            .iter()
            .map(|line| {
                let under = heading
                    .as_ref()
                    .map(|heading| (group.pivot, heading.as_str()));
                let mut about = self.who_and_where(line, under.map(|(pivot, _)| pivot));
                if self.reasons_differ {
                    let said: Vec<&str> = about
                        .iter()
                        .map(String::as_str)
                        .chain(under.map(|(_, name)| name))
                        .collect();
                    let notes = why::notes(line, &said);
                    about.extend(notes);
                }
                about.push(self.calendar.day(line.t));
                view(group, line, &about)
            })
            .collect();
        GroupView {
            heading,
            tally,
            lines,
        }
    }

    /// Actors and target of a line, less the one that stands above it as a heading.
    fn who_and_where(&self, line: &Line, under: Option<Pivot>) -> Vec<String> {
        let mut about = Vec::new();
        if under != Some(Pivot::Actor) && !line.actors.is_empty() {
            about.push(self.names.actors(&line.actors));
        }
        if let (false, Some(target)) = (under == Some(Pivot::Target), &line.target) {
            let name = self.names.target(target);
            if !about.contains(&name) {
                about.push(name);
            }
        }
        about
    }
}

fn view(group: &Group, line: &Line, about: &[String]) -> LineView {
    LineView {
        title: title_of(line),
        href: line.object.url.as_deref().and_then(link::web),
        image: line.object.image.as_deref().and_then(link::picture),
        category: text::clean(&group.category),
        about: about.join(" · "),
    }
}
