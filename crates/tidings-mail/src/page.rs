//! What a mail shows, in words: everything that templates need and nothing that they would have to
//! work out.

use serde::Serialize;
use tidings_core::Batch;
use tidings_core::batch::{Group, Line, Pivot};

use crate::names::Names;
use crate::wording::{self, Calendar};
use crate::{LINES_SHOWN_MAX, Sender, link, pick, text, why};

/// The heading of lines that share nothing, where other groups have headings.
const ALSO: &str = "Also new";

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
    /// What the lines share; `None` where no group of the section has a heading.
    pub(crate) heading: Option<String>,
    /// "5 new", or "5 new from A and B"; `None` where there is one line or no heading.
    pub(crate) tally: Option<String>,
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
            why: why::told(&lines),
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
        let mut categories: Vec<(String, Vec<(&Group, usize)>)> = Vec::new();
        for (group, shown) in batch
            .groups
            .iter()
            .zip(&shown)
            .filter(|(_, shown)| **shown > 0)
        {
            let title = text::clean(&group.category);
            match categories.iter_mut().find(|(known, _)| *known == title) {
                Some((_, groups)) => groups.push((group, *shown)),
                None => categories.push((title, vec![(group, *shown)])),
            }
        }
        let sections = categories
            .into_iter()
            .map(|(title, groups)| Section {
                title,
                groups: self.groups(&groups),
            })
            .collect();
        let hidden = lines.len() - shown.iter().sum::<usize>();
        Many {
            count: wording::number(lines.len()),
            rest: wording::number(lines.len() - 1),
            first_title: lines.first().map(|line| title_of(line)).unwrap_or_default(),
            sections,
            more: (hidden > 0).then(|| wording::number(hidden)),
        }
    }

    /// The groups of a section. Where one has a heading all have, or a line would seem to belong under
    /// the heading before it.
    fn groups(&self, groups: &[(&Group, usize)]) -> Vec<GroupView> {
        let have_headings = groups
            .iter()
            .any(|(group, _)| group.lines.len() > 1 && self.shared_name(group).is_some());
        groups
            .iter()
            .map(|(group, shown)| {
                let heading = have_headings.then(|| self.shared_name(group));
                let under = heading.clone().flatten();
                GroupView {
                    heading: heading.map(|name| name.unwrap_or_else(|| ALSO.to_owned())),
                    tally: under.as_ref().and_then(|_| self.tally(group)),
                    lines: self.lines(group, *shown, under.as_deref()),
                }
            })
            .collect()
    }

    /// What to call the thing that the lines of a group share, if it is not the object itself.
    fn shared_name(&self, group: &Group) -> Option<String> {
        let key = group.key.as_ref()?;
        match group.pivot {
            Pivot::Object => None,
            Pivot::Actor => Some(self.names.actor(key)),
            Pivot::Target => Some(self.names.target(key)),
        }
    }

    fn tally(&self, group: &Group) -> Option<String> {
        let count = (group.lines.len() > 1).then(|| wording::number(group.lines.len()))?;
        let from = match group.pivot {
            Pivot::Target if !group.actors.is_empty() => self.names.actors(&group.actors),
            Pivot::Actor | Pivot::Object | Pivot::Target => return Some(format!("{count} new")),
        };
        Some(format!("{count} new from {from}"))
    }

    fn lines(&self, group: &Group, shown: usize, under: Option<&str>) -> Vec<LineView> {
        let lines = group.lines.iter().take(shown);
        let pivot = under.map(|_| group.pivot);
        lines
            .map(|line| {
                let mut about = self.who_and_where(line, pivot);
                if self.reasons_differ {
                    let said: Vec<&str> = about.iter().map(String::as_str).chain(under).collect();
                    let notes = why::notes(line, &said);
                    about.extend(notes);
                }
                about.push(self.calendar.day(line.t));
                view(group, line, &about)
            })
            .collect()
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
