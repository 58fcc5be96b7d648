//! The items of a mail: their sections and headings, and the words of each.

use std::collections::BTreeSet;

use tidings_core::Id;
use tidings_core::content::{Batch, Group, Line};
use tidings_core::model::Pivot;
use tidings_core::rules::capitalised;

use crate::link;
use crate::page::Section;
use crate::page::arrange::{CARD, align, arrange};
use crate::page::block::BlockView;
use crate::page::design::Design;
use crate::page::item::{Frame, ItemImage, MailItem};
use crate::page::lines::{self, entries, group_sentence, own_title, said, types_of};
use crate::page::single::{PersonPicture, SingleItemDetails, linked};
use crate::page::written::{first_lines, paragraphs};
use crate::templates::template::Block;
use crate::words::direction::without_direction_controls;
use crate::words::format::Calendar;
use crate::words::locale::Language;
use crate::words::names::{self, Topics};
use crate::words::sentence::{Sentence, SentenceStretch};
use crate::words::{self, Words};
use crate::words::{text, why};

/// The places of pictures: beside a line, of the first item of several, of the only one.
const THUMBNAIL: Frame = Frame { width: 72, height_max: 108 };
const LEAD: Frame = Frame { width: 560, height_max: 560 };
const SINGLE: Frame = Frame { width: 560, height_max: 1_120 };
/// Number of characters of a body among other items: about three lines.
const BODY_CHARS_MAX: usize = 180;

/// Groups with those of their lines that are shown.
type ShownGroups<'g> = Vec<(&'g Group, Vec<&'g Line>)>;

/// The lines of a group that are shown.
pub(crate) fn lines_shown<'g>(group: &'g Group, shown: &Vec<bool>) -> Vec<&'g Line> {
    group.lines.iter().zip(shown).filter(|(_, shown)| **shown).map(|(line, _)| line).collect()
}

/// The heading of a section.
#[derive(PartialEq, Eq)]
struct SectionHeading {
    title: String,
    /// True if it describes the event.
    names_kind: bool,
}

/// The facts shown above lines, which lines need not repeat.
#[derive(Clone, Copy, Default)]
struct FactsAbove<'a> {
    /// The name of what they have in common.
    heading: Option<(&'a str, Pivot)>,
    /// True if the heading leads to its page.
    has_link: bool,
    /// True if one sentence is true of all of them.
    is_in_heading: bool,
    /// Names of the actors of what the tally counts.
    actors: Option<&'a str>,
    /// True if the event is described.
    kind: bool,
    /// The type whose lines are a talk about what they have in common.
    talk: Option<&'a Id>,
}

/// Writes the items of a batch.
pub(crate) struct ItemWriter<'a> {
    design: &'a Design,
    language: &'a Language,
    words: &'a Words,
    pub(crate) topics: Topics,
    pub(crate) calendar: Calendar,
    /// True if lines must have their reason, since the mail's sentence is not true of each.
    reasons_differ: bool,
    /// The day of all shown lines; `None` if each has its own.
    pub(crate) common_day: Option<String>,
}

impl<'a> ItemWriter<'a> {
    pub(crate) fn new(
        batch: &Batch,
        design: &'a Design,
        language: &'a Language,
        shown: &[&Line],
    ) -> Self {
        let words = &*language.words;
        let calendar = Calendar::new(batch.at, language);
        let days: BTreeSet<String> = shown.iter().map(|line| calendar.full_day(line.t)).collect();
        let mut lines = batch.groups.iter().flat_map(|group| &group.lines);
        let first = lines.next();
        Self {
            design,
            language,
            words,
            topics: Topics::of(&batch.topics, words),
            calendar,
            reasons_differ: lines.any(|line| Some(&line.reasons) != first.map(|of| &of.reasons)),
            common_day: days.first().filter(|_| days.len() == 1).cloned(),
        }
    }

    /// "Sent by Art on Monday 4 March 2024, 09:00 (Paris time)."
    pub(crate) fn sent(&self, batch: &Batch) -> String {
        let sent = words::fill(&self.words.sent, "{when}", &self.calendar.minute(batch.at));
        let sent = words::fill(&sent, "{zone}", &self.calendar.zone_name());
        let name = self.words.isolated(self.design.brand.name.clone());
        words::fill(&sent, "{name}", &name)
    }

    /// The title of the only category; `None` where there are several.
    pub(crate) fn only_category(&self, groups: &[Group]) -> Option<String> {
        let first = groups.first()?;
        let is_only = groups.iter().all(|group| group.category == first.category);
        is_only.then(|| self.category(first))
    }

    /// The item of a mail that has no other.
    pub(crate) fn single(&self, group: &Group, line: &Line) -> MailItem {
        let event_type = line.types.first().unwrap_or(&group.event_type);
        let is_required = self.design.is_required(event_type.as_str());
        let sentence = self.sentence(line);
        let headline: String = sentence.iter().map(|part| part.text.as_str()).collect();
        let mut about = if sentence.is_empty() {
            self.details(line, FactsAbove::default())
        } else {
            let target = self.target(line);
            target.into_iter().filter(|target| !headline.contains(target.as_str())).collect()
        };
        let circumstances = about.clone();
        let mut minute = self.calendar.minute(line.t);
        if is_required {
            minute = format!("{minute} ({})", self.calendar.zone_name());
        }
        about.push(minute);
        let of_one = self.item(group, line, &about, SINGLE);
        let headline = if headline.is_empty() { of_one.title.clone() } else { headline };
        let face = self.face(line).filter(|_| line.actors.len() == 1);
        let paragraphs =
            self.body(line).map(|body| paragraphs(&body, self.words)).unwrap_or_default();
        let usual = if is_required { &self.words.details } else { &self.words.take_a_look };
        let own = |text: Option<&Sentence>| text.and_then(|text| self.filled(line, text));
        let single = SingleItemDetails {
            // What somebody wrote says more than the title of a comment, and the button leads to it.
            object: (of_one.url.is_some()
                && paragraphs.is_empty()
                && !headline.contains(&of_one.title))
            .then(|| of_one.title.clone()),
            headline,
            paragraphs,
            action: own(self.design.action(event_type, self.language))
                .unwrap_or_else(|| usual.to_owned()),
            notice: own(self.design.notice_of(event_type, self.language))
                .map(|notice| linked(&notice))
                .unwrap_or_default(),
            circumstances,
        };
        MailItem { sentence, face, single: Some(single), lines: Vec::new(), ..of_one }
    }

    /// The first of several items with its order, where it has a picture of known size to be shown large.
    pub(crate) fn lead(&self, groups: &[Group], shown: &[Vec<bool>]) -> Option<(usize, MailItem)> {
        let shown_groups = groups.iter().zip(shown);
        let mut all = shown_groups.flat_map(|(group, shown)| {
            lines_shown(group, shown).into_iter().map(move |line| (group, line))
        });
        let (group, line) = all.find(|(_, line)| line.order == 0)?;
        line.object.image_size?;
        let sentence = self.sentence(line);
        // The mail's title counts what is all of one type.
        let types: BTreeSet<&Id> =
            groups.iter().flat_map(|group| &group.lines).flat_map(|line| &line.types).collect();
        let kind = types.len() == 1
            && types.iter().all(|of| self.design.plural_title(of, self.language).is_some());
        let mut about = if sentence.is_empty() {
            self.details(line, FactsAbove { kind, ..FactsAbove::default() })
        } else {
            Vec::new()
        };
        about.extend(self.notes(line, &about, None));
        about.extend(self.common_day.is_none().then(|| self.calendar.day(line.t)));
        let mut item = MailItem { sentence, ..self.item(group, line, &about, LEAD) };
        item.image.as_ref()?;
        // Of small pictures nothing is gained.
        let is_small = line.object.image_size.is_some_and(|size| size.width < CARD.width);
        item.block.make_card();
        (!is_small).then_some((line.order, item))
    }

    /// The sections of the lines that are shown, but for the one that leads. Where each would have one line, all stand
    /// in one without a title, which would say what the line says.
    pub(crate) fn sections(
        &self,
        groups: &[Group],
        shown: &[Vec<bool>],
        lead: Option<usize>,
    ) -> Vec<Section> {
        let mut sections = self.by_heading(groups, shown, lead);
        let is_of_one = |(_, groups): &(SectionHeading, ShownGroups<'_>)| {
            groups.iter().map(|(_, lines)| lines.len()).sum::<usize>() == 1
        };
        if sections.len() > 1 && sections.iter().all(is_of_one) {
            let all: ShownGroups<'_> = sections.drain(..).flat_map(|(_, groups)| groups).collect();
            return vec![Section { blocks: self.blocks(&all, false), title: None }];
        }
        sections
            .into_iter()
            .map(|(heading, groups)| Section {
                blocks: self.blocks(&groups, heading.names_kind),
                title: Some(heading.title),
            })
            .collect()
    }

    /// The groups of the lines that are shown by what stands above them, but for the line that leads.
    fn by_heading<'g>(
        &self,
        groups: &'g [Group],
        shown: &[Vec<bool>],
        lead: Option<usize>,
    ) -> Vec<(SectionHeading, ShownGroups<'g>)> {
        let mut sections: Vec<(SectionHeading, ShownGroups<'_>)> = Vec::new();
        for (group, shown) in groups.iter().zip(shown) {
            let mut lines = lines_shown(group, shown);
            lines.retain(|line| Some(line.order) != lead);
            if lines.is_empty() {
                continue;
            }
            let heading = self.heading_of(group);
            match sections.iter_mut().find(|(known, _)| *known == heading) {
                Some((_, groups)) => groups.push((group, lines)),
                None => sections.push((heading, vec![(group, lines)])),
            }
        }
        sections
    }

    /// The title of a group's category.
    fn category(&self, group: &Group) -> String {
        let title = self.design.category(&group.category, self.language);
        self.words.isolated(title)
    }

    /// The title of the type, in its form for many; else of the category.
    fn heading_of(&self, group: &Group) -> SectionHeading {
        let title = self.design.plural_title(&group.event_type, self.language);
        let mut first_types = group.lines.iter().filter_map(|line| line.types.first());
        let is_of_one = first_types.all(|first| *first == group.event_type);
        match title.filter(|_| is_of_one) {
            Some(title) => {
                SectionHeading { title: self.words.isolated(capitalised(&title)), names_kind: true }
            }
            None => SectionHeading { title: self.category(group), names_kind: false },
        }
    }

    /// The blocks of a section: one for each group with a name of which several lines are shown, and one for all other
    /// lines, which share nothing.
    fn blocks(&self, groups: &[(&Group, Vec<&Line>)], names_kind: bool) -> Vec<BlockView> {
        let mut blocks: Vec<BlockView> = Vec::new();
        let mut apart: Vec<MailItem> = Vec::new();
        for (group, lines) in groups {
            let names_kind = names_kind && types_of(group).len() == 1;
            let lines = in_reading_order(group, lines);
            match self.heading(group).filter(|_| lines.len() > 1) {
                Some(name) => blocks.push(self.block(group, &lines, name, names_kind)),
                None => {
                    let above = FactsAbove { kind: names_kind, ..FactsAbove::default() };
                    apart.extend(self.lines(group, &lines, above));
                }
            }
        }
        if !apart.is_empty() {
            blocks.push(BlockView {
                heading: None,
                url: None,
                face: None,
                pivot: None,
                tally: None,
                is_apart: !blocks.is_empty(),
                items: apart,
                columns: Vec::new(),
            });
        }
        for block in &mut blocks {
            arrange(block);
            align(block);
        }
        blocks
    }

    /// The block of several lines that share something.
    fn block(&self, group: &Group, lines: &[&Line], name: String, names_kind: bool) -> BlockView {
        // A sentence that is true of all lines of an actor would repeat the actor in each of them.
        let is_in_heading = group.pivot == Pivot::Actor
            && group_sentence(group, self.design, self.language).is_some();
        let types = types_of(group);
        let actors = lines::actors(&group.lines, &group.actors, self.words)
            .filter(|_| group.pivot == Pivot::Target);
        let base = self.design.brand.url.as_deref();
        let url = group.key.as_ref().and_then(|key| link::page(key.url.as_deref()?, base));
        let above = FactsAbove {
            heading: Some((&name, group.pivot)),
            has_link: url.is_some(),
            is_in_heading,
            actors: actors.as_deref(),
            kind: types.len() == 1,
            talk: talk_of(group),
        };
        let items = self.lines(group, lines, above);
        let count = entries(&group.lines);
        let happened = match self.counts(&group.lines) {
            Some(counts) => counts,
            None if names_kind => self.words.counted(&self.words.new, count),
            None => self.words.happened(&lines::kinds(&types, self.design, self.language), count),
        };
        let by = above.actors.map(|actors| format!(" · {actors}"));
        let tally = happened + by.as_deref().unwrap_or_default();
        BlockView {
            tally: Some(tally),
            items,
            columns: Vec::new(),
            heading: Some(name),
            url,
            face: group.key.as_ref().and_then(|key| PersonPicture::of(key, base)),
            pivot: Some(group.pivot),
            is_apart: false,
        }
    }

    fn lines(&self, group: &Group, lines: &[&Line], above: FactsAbove<'_>) -> Vec<MailItem> {
        let item = |line: &&Line| {
            // What no sentence says of all, each says for itself.
            let sentence = if above.is_in_heading { Vec::new() } else { self.sentence(line) };
            let is_talk = self.is_talk(line, above);
            let mut about = if sentence.is_empty() && !is_talk {
                self.details(line, above)
            } else {
                Vec::new()
            };
            about.extend(self.notes(line, &about, above.heading.map(|(name, _)| name)));
            let time = self.body(line).is_some().then(|| self.time(line));
            if time.is_none() && self.common_day.is_none() {
                about.push(self.calendar.day(line.t));
            }
            let has_face = is_talk || !sentence.is_empty();
            let face = has_face.then(|| self.face(line)).flatten();
            let is_linked_above = is_talk && above.has_link;
            let item = self.item(group, line, &about, THUMBNAIL);
            MailItem { sentence, time, is_talk, is_linked_above, face, ..item }
        };
        lines.iter().map(item).collect()
    }

    /// Returns true if a line under its heading has only an author and a text.
    fn is_talk(&self, line: &Line, above: FactsAbove<'_>) -> bool {
        let is_of_target = above.heading.is_some_and(|(_, pivot)| pivot == Pivot::Target);
        let [event_type] = &line.types[..] else {
            return false;
        };
        let says_no_more = || match self.design.sentence(event_type, self.language) {
            Some(sentence) => sentence.names_only_people_and_places(),
            None => own_title(line, self.words).is_none(),
        };
        is_of_target
            && above.talk == Some(event_type)
            && line.entries == 1
            && says_no_more()
            && lines::actors([line], &line.actors, self.words).is_some()
            && self.body(line).is_some_and(|body| !text::clean(&body).is_empty())
    }

    /// The time of a line, with its day where days differ.
    fn time(&self, line: &Line) -> String {
        let time = match self.common_day {
            Some(_) => self.calendar.time(line.t),
            None => self.calendar.day_and_time(line.t),
        };
        // It stands at the end of a line, and goes to the next one as a whole.
        time.replace(' ', "\u{a0}")
    }

    /// The face of the newest actor of a line of which the sentence begins with the actors, or that has none.
    fn face(&self, line: &Line) -> Option<PersonPicture> {
        let [event_type] = &line.types[..] else {
            return None;
        };
        let sentence = self.design.sentence(event_type, self.language);
        let begins_with_actor = sentence.is_none_or(Sentence::begins_with_actor);
        let actor = line.actors.first().filter(|_| begins_with_actor && !line.lacks_actor)?;
        PersonPicture::of(actor, self.design.brand.url.as_deref())
    }

    /// The label of the button that leads to what all items are about: that of their type, where they are what people
    /// wrote there.
    pub(crate) fn action(&self, group: &Group, items: &[MailItem]) -> String {
        let event_type = &group.event_type;
        let is_talk = items.iter().all(|item| item.is_talk);
        let own = self.design.action(event_type, self.language);
        let own = own.filter(|_| is_talk && self.design.has_action(event_type, self.language));
        let own = own.zip(group.lines.first()).and_then(|(own, line)| self.filled(line, own));
        own.unwrap_or_else(|| self.words.take_a_look.clone())
    }

    /// The reason of a line where reasons differ.
    fn notes(&self, line: &Line, about: &[String], heading: Option<&str>) -> Vec<String> {
        if !self.reasons_differ {
            return Vec::new();
        }
        let known: Vec<&str> = about.iter().map(String::as_str).chain(heading).collect();
        why::notes(line, &self.topics, &known, self.words)
    }

    /// The sentence of the only type of a line.
    fn sentence(&self, line: &Line) -> Vec<SentenceStretch> {
        let [event_type] = &line.types[..] else {
            return Vec::new();
        };
        let sentence = self.design.sentence(event_type, self.language);
        let stretches = sentence.and_then(|sentence| {
            let said = said(&[line], &line.actors, sentence, self.design.tenant());
            sentence.stretches(&said, self.language)
        });
        stretches.unwrap_or_default()
    }

    /// A text of the configuration with the values of a line.
    fn filled(&self, line: &Line, sentence: &Sentence) -> Option<String> {
        let said = said(&[line], &line.actors, sentence, self.design.tenant());
        let text = sentence.text(&said, self.language)?;
        (!text.is_empty()).then_some(text)
    }

    /// The text that a person wrote: the event's body, else the `body` of its type.
    fn body(&self, line: &Line) -> Option<String> {
        if let Some(body) = &line.body {
            return Some(body.first().to_owned());
        }
        let [event_type] = &line.types[..] else {
            return None;
        };
        self.filled(line, self.design.body(event_type, self.language)?)
    }

    fn item(&self, group: &Group, line: &Line, about: &[String], frame: Frame) -> MailItem {
        let event_type = line.types.first().unwrap_or(&group.event_type);
        let title = own_title(line, self.words)
            .unwrap_or_else(|| lines::untitled(line, self.design, self.language));
        let templates = &self.design.templates;
        let block = match &line.types[..] {
            [event_type] => {
                let usual = &self.design.usual;
                templates.block(event_type.as_str(), self.language, usual)
            }
            // A type's template would put its words into the mouths of the others.
            _ => Block::default(),
        };
        let base = self.design.brand.url.as_deref();
        let written = self.body(line);
        let lines = written.as_deref().map(|body| first_lines(body, self.words));
        let body = written.map(|body| text::cut(&text::clean(&body), BODY_CHARS_MAX));
        MailItem {
            r#type: event_type.as_str().to_owned(),
            category: self.category(group),
            title,
            sentence: Vec::new(),
            body: body.filter(|body| !body.is_empty()).map(|body| self.words.isolated(body)),
            lines: lines.unwrap_or_default(),
            time: None,
            is_talk: false,
            is_linked_above: false,
            face: None,
            about: about.join(" · "),
            url: line.object.url.as_deref().and_then(|url| link::page(url, base)),
            image: ItemImage::of(&line.object, frame, base),
            actor: lines::actors([line], &line.actors, self.words),
            target: self.target(line),
            date: self.calendar.day(line.t),
            count: line.entries,
            single: None,
            data: templates.are_own().then(|| {
                let data = line.data.as_deref().cloned().unwrap_or_default();
                data.into_iter()
                    .map(|(name, value)| (name, without_direction_controls(value)))
                    .collect()
            }),
            block,
            rendered: None,
        }
    }

    /// "New work", "5 new comments"; without a title "Comment", "5 new: comment".
    fn happened(&self, line: &Line) -> String {
        if let ([event_type], 1) = (&line.types[..], line.entries)
            && let Some(title) = self.design.title(event_type, self.language, 1)
        {
            return self.words.isolated(capitalised(&title));
        }
        if let Some(counts) = self.counts([line]) {
            return counts;
        }
        let types = lines::kinds(&line.types, self.design, self.language);
        self.words.happened(&types, line.entries)
    }

    /// "1 new comment, 1 new mention"; `None` if a type has no title, or the numbers are unknown.
    fn counts<'l>(&self, all: impl IntoIterator<Item = &'l Line>) -> Option<String> {
        let (phrases, rest) = lines::counts(all, self.design, self.language, usize::MAX);
        (rest == 0).then(|| phrases.join(&self.words.comma))
    }

    /// Facts of a line (what happened, who did it and where), less what stands above it or in its title.
    fn details(&self, line: &Line, above: FactsAbove<'_>) -> Vec<String> {
        let title = own_title(line, self.words);
        let mut about = Vec::new();
        match (&title, above.kind) {
            (None, _) => {}
            (Some(_), false) => about.push(self.happened(line)),
            (Some(_), true) if line.entries > 1 => {
                about.push(self.words.counted(&self.words.new, line.entries));
            }
            (Some(_), true) => {}
        }
        let under = above.heading.map(|(_, pivot)| pivot);
        let actors =
            lines::actors([line], &line.actors, self.words).filter(|_| under != Some(Pivot::Actor));
        let target = self.target(line).filter(|_| under != Some(Pivot::Target));
        for name in actors.into_iter().chain(target) {
            let is_said = title.as_ref() == Some(&name) || above.actors == Some(name.as_str());
            if !is_said && !about.contains(&name) {
                about.push(name);
            }
        }
        about
    }

    /// The name of what the lines of a group share; none where it is the object of one of them: nothing is
    /// its own heading.
    fn heading(&self, group: &Group) -> Option<String> {
        let key = group.key.as_ref()?;
        if group.pivot == Pivot::Object || group.lines.iter().any(|line| line.object.id == key.id) {
            return None;
        }
        // Each says its values in its own sentence, which begins with the actor again.
        let shows_data = |line: &Line| {
            let [event_type] = &line.types[..] else { return false };
            let sentence = self.design.sentence(event_type, self.language);
            sentence.is_some_and(Sentence::shows_data) && !self.sentence(line).is_empty()
        };
        if group.pivot == Pivot::Actor && group.lines.iter().any(shows_data) {
            return None;
        }
        let name = names::name_of(key, self.words)?;
        let is_own = |line: &Line| own_title(line, self.words).as_ref() == Some(&name);
        (!group.lines.iter().all(is_own)).then_some(name)
    }

    fn target(&self, line: &Line) -> Option<String> {
        names::name_of(line.target.as_deref()?, self.words)
    }
}

/// The type of most of a group's lines that have one type: a mention among comments says that it is one. Of types with as
/// many lines the one that was told first.
fn talk_of(group: &Group) -> Option<&Id> {
    let mut counts: Vec<(&Id, usize)> = Vec::new();
    for line in in_reading_order(group, &group.lines.iter().collect::<Vec<_>>()) {
        let [event_type] = &line.types[..] else {
            continue;
        };
        match counts.iter_mut().find(|(known, _)| *known == event_type) {
            Some((_, count)) => *count += 1,
            None => counts.push((event_type, 1)),
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max();
    counts.into_iter().find(|(_, count)| Some(*count) == most).map(|(event_type, _)| event_type)
}

/// The lines of a group in reading order: texts about one thing with the oldest first, as a talk.
fn in_reading_order<'g>(group: &Group, lines: &[&'g Line]) -> Vec<&'g Line> {
    let mut lines = lines.to_vec();
    if group.pivot == Pivot::Target && group.key.is_some() {
        lines.sort_by_key(|line| line.t);
    }
    lines
}
