//! The page of a mail: all texts that templates need, ready to be shown.

use serde::Serialize;
use tidings_core::batch::{Group, Line};
use tidings_core::rules::Pivot;
use tidings_core::{Batch, Id};

use crate::names::{self, Topics};
use crate::wording::{self, Calendar};
use crate::{LINES_SHOWN_MAX, Sender, link, pick, text, why};

/// The heading of lines that share nothing, where other groups have headings.
const ALSO: &str = "Also new";

/// A mail's contents.
#[derive(Debug, Serialize)]
pub(crate) struct Page {
    /// The window's title.
    pub(crate) title: String,
    /// The preview that lists of mails show beside the subject.
    pub(crate) preview: String,
    /// The sender's name.
    pub(crate) sender: String,
    /// The day of the mail.
    pub(crate) day: String,
    /// The minute of the mail, with the zone.
    pub(crate) sent: String,
    /// The reason why the recipient gets the mail.
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
    /// Number of notifications, shown or not.
    pub(crate) count: String,
    pub(crate) sections: Vec<Section>,
    /// Number of those not shown; `None` if all are.
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
    /// The heading; `None` if no group of the section has one.
    pub(crate) heading: Option<String>,
    /// "5 new: comment", or "5 new: comment · A and B"; `None` where there is one line or no heading.
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
    /// The event, its actor, place, time and reason, as far as the surroundings don't show them.
    pub(crate) about: String,
}

impl Page {
    /// The page of a batch; `None` where the batch has no line.
    pub(crate) fn of(batch: &Batch, sender: &Sender) -> Option<Self> {
        let lines: Vec<&Line> = batch.groups.iter().flat_map(|group| &group.lines).collect();
        let first = *lines.first()?;
        let writer = Writer {
            topics: Topics::of(&batch.topics),
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
            why: why::told(&lines, &writer.topics),
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

/// The title of a line's object; `None` where it has none that can be shown.
pub(crate) fn own_title(line: &Line) -> Option<String> {
    let title = line.object.title.as_deref().map(text::clean);
    title.filter(|title| !title.is_empty())
}

/// The title of a line: its object's title, or what happened.
fn title_of(line: &Line) -> String {
    own_title(line).unwrap_or_else(|| wording::untitled(&line.kinds, line.entries))
}

/// The notifications of some lines.
fn entries<'l>(lines: impl IntoIterator<Item = &'l Line>) -> usize {
    lines.into_iter().map(|line| line.entries).sum()
}

/// The facts shown above lines, which lines need not repeat.
#[derive(Clone, Copy, Default)]
struct Said<'a> {
    /// The name of what they have in common.
    heading: Option<(&'a str, Pivot)>,
    /// Names of the actors of what the tally counts.
    actors: Option<&'a str>,
    /// True if it is said what happened.
    kind: bool,
}

struct Writer {
    topics: Topics,
    calendar: Calendar,
    /// True if lines must tell their reason, since the mail's sentence is not true of each.
    reasons_differ: bool,
}

impl Writer {
    fn single(&self, group: &Group, line: &Line) -> LineView {
        let mut about = what_who_and_where(line, Said::default());
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
        let all = entries(lines.iter().copied());
        let told = batch.groups.iter().zip(&shown);
        let hidden = all - entries(told.flat_map(|(group, shown)| group.lines.iter().take(*shown)));
        Many {
            count: wording::number(all),
            sections,
            more: (hidden > 0).then(|| wording::number(hidden)),
        }
    }

    /// The groups of a section. Where one has a heading all have, or a line would seem to belong under
    /// the heading before it.
    fn groups(&self, groups: &[(&Group, usize)]) -> Vec<GroupView> {
        let have_headings = groups
            .iter()
            .any(|(group, _)| group.lines.len() > 1 && heading(group).is_some());
        let mut is_under_also = false;
        let view = |(group, shown): &(&Group, usize)| {
            let name = heading(group).filter(|_| have_headings);
            let above = match &name {
                Some(name) => Some(name.clone()),
                None => (have_headings && !is_under_also).then(|| ALSO.to_owned()),
            };
            is_under_also = name.is_none();
            let has_tally = name.is_some() && group.lines.len() > 1;
            let kinds = kinds_of(group);
            let actors =
                names::named(&group.actors).filter(|_| has_tally && group.pivot == Pivot::Target);
            let said = Said {
                actors: actors.as_deref(),
                heading: name.as_deref().map(|name| (name, group.pivot)),
                kind: has_tally && kinds.len() == 1,
            };
            GroupView {
                heading: above,
                tally: has_tally.then(|| tally(group, &kinds, said.actors)),
                lines: self.lines(group, *shown, said),
            }
        };
        groups.iter().map(view).collect()
    }

    fn lines(&self, group: &Group, shown: usize, said: Said<'_>) -> Vec<LineView> {
        let lines = group.lines.iter().take(shown);
        lines
            .map(|line| {
                let mut about = what_who_and_where(line, said);
                if self.reasons_differ {
                    let heading = said.heading.map(|(name, _)| name);
                    let known: Vec<&str> =
                        about.iter().map(String::as_str).chain(heading).collect();
                    let notes = why::notes(line, &self.topics, &known);
                    about.extend(notes);
                }
                about.push(self.calendar.day(line.t));
                view(group, line, &about)
            })
            .collect()
    }
}

/// The name of what the lines of a group share; none where it is the object of one of them: nothing is
/// its own heading.
fn heading(group: &Group) -> Option<String> {
    let key = group.key.as_ref()?;
    if group.pivot == Pivot::Object || group.lines.iter().any(|line| line.object.id == key.id) {
        return None;
    }
    let name = names::name_of(key)?;
    let is_own = |line: &Line| own_title(line).as_ref() == Some(&name);
    (!group.lines.iter().all(is_own)).then_some(name)
}

/// The types that a group's lines tell, each once.
fn kinds_of(group: &Group) -> Vec<Id> {
    let mut kinds: Vec<Id> = Vec::new();
    for kind in group.lines.iter().flat_map(|line| &line.kinds) {
        if !kinds.contains(kind) {
            kinds.push(kind.clone());
        }
    }
    kinds
}

fn tally(group: &Group, kinds: &[Id], actors: Option<&str>) -> String {
    let happened = wording::happened(kinds, entries(&group.lines));
    match actors {
        Some(actors) => format!("{happened} · {actors}"),
        None => happened,
    }
}

/// Facts of a line (what happened, who did it and where), less what stands above it or in its title.
fn what_who_and_where(line: &Line, said: Said<'_>) -> Vec<String> {
    let title = own_title(line);
    let mut about = Vec::new();
    match (&title, said.kind) {
        (None, _) => {}
        (Some(_), false) => about.push(wording::happened(&line.kinds, line.entries)),
        (Some(_), true) if line.entries > 1 => {
            about.push(format!("{} new", wording::number(line.entries)));
        }
        (Some(_), true) => {}
    }
    let under = said.heading.map(|(_, pivot)| pivot);
    let actors = names::named(&line.actors).filter(|_| under != Some(Pivot::Actor));
    let target = line.target.as_deref().and_then(names::name_of);
    let target = target.filter(|_| under != Some(Pivot::Target));
    for name in actors.into_iter().chain(target) {
        let is_said = title.as_ref() == Some(&name) || said.actors == Some(name.as_str());
        if !is_said && !about.contains(&name) {
            about.push(name);
        }
    }
    about
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
