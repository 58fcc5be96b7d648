//! The page of a mail: all texts that templates need, ready to be shown.

pub(super) mod brand;
pub(super) mod columns;
pub(super) mod design;
pub(super) mod item;
pub(super) mod lines;
pub(super) mod pick;
pub(super) mod short;
pub(super) mod site;
pub(super) mod subject;

use std::collections::BTreeSet;

use serde::{Serialize, Serializer};
use tidings_core::Batch;
use tidings_core::batch::{Group, Line};
use tidings_core::event::Pivot;
use tidings_core::rules::capitalised;

use crate::link;
use crate::message::list;
use crate::message::token::Rest;
use crate::page::brand::BrandView;
use crate::page::design::Design;
use crate::page::item::{Image, Item};
use crate::page::lines::{entries, group_sentence, own_title, said, types_of};
use crate::templates::template::Block;
use crate::words::locale::Language;
use crate::words::names::{self, Topics};
use crate::words::sentence::Stretch;
use crate::words::wording::{self, Calendar};
use crate::words::{self, Words};
use crate::words::{text, why};

/// Width of a card's picture in pixels: two fit beside each other.
const CARD_WIDTH: u16 = 270;
/// Widths of the picture beside a line, and of that of the only item.
const THUMBNAIL_WIDTH: u16 = 72;
const SINGLE_WIDTH: u16 = 560;
/// About how high the words of a card are.
const CARD_WORDS_HEIGHT: u32 = 70;

/// A mail's contents.
#[derive(Debug, Serialize)]
pub(crate) struct Page<'d> {
    pub(crate) mail: About,
    pub(crate) brand: &'d BrandView,
    /// The only item.
    pub(crate) item: Option<Item>,
    /// The sections, where there are several items.
    pub(crate) sections: Vec<Section>,
    /// Number of items that are shown.
    #[serde(skip)]
    pub(crate) shown: usize,
    #[serde(skip)]
    pub(crate) language: Language,
}

/// The texts around the items.
#[derive(Debug, Serialize)]
pub(crate) struct About {
    pub(crate) subject: String,
    /// The heading and the window's title.
    pub(crate) title: String,
    /// The preview that lists of mails show beside the subject.
    pub(crate) preview: String,
    /// Number of notifications, shown or not.
    pub(crate) count: usize,
    /// "and 4,916 more"; `None` if all are shown.
    pub(crate) more: Option<String>,
    /// The address of the rest.
    pub(crate) more_url: Option<String>,
    /// The address of the page that unsubscribes; `None` where there is nothing that one could leave.
    pub(crate) unsubscribe: Option<String>,
    /// The words of that link.
    pub(crate) unsubscribe_text: &'static str,
    /// The day of the mail.
    pub(crate) day: String,
    /// The sender, and the time.
    pub(crate) sent: String,
    /// The reason why the recipient gets the mail.
    pub(crate) why: Option<String>,
    /// The words on a button.
    pub(crate) look: &'static str,
    /// The language of the mail.
    pub(crate) language: String,
    /// `ltr` or `rtl`.
    pub(crate) direction: &'static str,
    /// The recipient's locale.
    pub(crate) locale: String,
    /// The recipient's name.
    pub(crate) recipient: Option<String>,
}

/// The groups under one heading.
#[derive(Debug, Serialize)]
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) blocks: Vec<BlockView>,
}

/// Items that belong together.
#[derive(Debug, Serialize)]
pub(crate) struct BlockView {
    /// The name of what they share; `None` if they stand for themselves.
    pub(crate) heading: Option<String>,
    /// "5 new: comment", or "5 new: comment · A and B"; `None` where there is one or the heading says it.
    pub(crate) tally: Option<String>,
    #[serde(serialize_with = "as_shown")]
    pub(crate) items: Vec<Item>,
    /// Indices of items by column, where they are shown as cards.
    pub(crate) columns: Vec<Vec<usize>>,
}

/// An item as the layout sees it.
#[derive(Serialize)]
#[serde(untagged)]
enum Shown<'a> {
    /// One that is rendered already, of which nothing else is asked.
    Rendered {
        /// Its blocks.
        rendered: Markup<'a>,
    },
    /// Any other.
    Item(&'a Item),
}

/// The bodies of an item, of which the HTML is escaped already.
#[derive(Serialize)]
struct Markup<'a> {
    text: &'a str,
    html: minijinja::Value,
}

fn as_shown<S: Serializer>(items: &[Item], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(items.iter().map(|item| match &item.rendered {
        Some(rendered) => Shown::Rendered {
            rendered: Markup {
                text: &rendered.text,
                html: minijinja::Value::from_safe_string(rendered.html.clone()),
            },
        },
        None => Shown::Item(item),
    }))
}

impl<'d> Page<'d> {
    /// The page of a batch that shows at most so many items; `None` where the batch has no line.
    pub(crate) fn of(batch: &Batch, design: &'d Design, most: usize) -> Option<Self> {
        let shown = pick::shown(&batch.groups, &design.quota(batch), most);
        Self::showing(batch, design, &shown, false)
    }

    /// The page that shows the lines of these orders, in sections however few they are.
    pub(crate) fn of_lines(
        batch: &Batch,
        design: &'d Design,
        orders: &BTreeSet<usize>,
    ) -> Option<Self> {
        let of_group =
            |group: &Group| group.lines.iter().map(|line| orders.contains(&line.order)).collect();
        let shown: Vec<Vec<bool>> = batch.groups.iter().map(of_group).collect();
        Self::showing(batch, design, &shown, true)
    }

    fn showing(
        batch: &Batch,
        design: &'d Design,
        shown: &[Vec<bool>],
        in_sections: bool,
    ) -> Option<Self> {
        let lines: Vec<&Line> = batch.groups.iter().flat_map(|group| &group.lines).collect();
        let first = *lines.first()?;
        let language = design.language(batch);
        let words = language.words;
        let writer = Writer {
            design,
            language: &language,
            words,
            topics: Topics::of(&batch.topics, words),
            calendar: Calendar::new(&batch.tz, batch.at, words),
            reasons_differ: lines.iter().any(|line| line.reasons != first.reasons),
        };
        let is_single = lines.len() == 1 && !in_sections;
        let mut sections =
            if is_single { Vec::new() } else { writer.sections(&batch.groups, shown) };
        // Templates of the host's own may take anything from the mail around.
        if !in_sections && !design.templates.are_own() {
            for item in sections
                .iter_mut()
                .flat_map(|section| &mut section.blocks)
                .flat_map(|block| &mut block.items)
            {
                item.rendered = design.rendered.of(item, &design.templates, &design.brand);
            }
        }
        let item = if is_single {
            let mut groups = batch.groups.iter();
            let group = groups.find(|group| !group.lines.is_empty())?;
            Some(writer.single(group, first))
        } else {
            None
        };
        let all = entries(lines.iter().copied());
        let told = batch.groups.iter().zip(shown).flat_map(lines_shown);
        let hidden = all - entries(told.clone());
        let orders: BTreeSet<usize> = told.map(|line| line.order).collect();
        let shown = orders.len();
        let title = match &item {
            Some(item) => item.title.clone(),
            None => subject::counts(batch, design, &language)
                .unwrap_or_else(|| words.counted(words.new_for_you, all)),
        };
        let about = About {
            subject: subject::text(batch, design, &language),
            title: text::cut(&title, 150),
            preview: preview_of(item.as_ref(), &sections),
            count: all,
            more: (hidden > 0).then(|| words.counted(words.more, hidden)),
            more_url: (hidden > 0).then(|| rest_link(batch, design, orders)).flatten(),
            unsubscribe: list::unsubscribe_link(batch, design),
            unsubscribe_text: words.unsubscribe,
            day: writer.calendar.full_day(batch.at),
            sent: writer.sent(batch),
            why: why::told(&lines, &writer.topics, words),
            look: words.take_a_look,
            language: language.tag(),
            direction: language.words.direction(),
            locale: batch.locale.clone(),
            recipient: batch
                .recipient
                .name
                .as_deref()
                .map(|name| words.isolated(text::clean(name))),
        };
        Some(Self { mail: about, brand: &design.brand, item, sections, shown, language })
    }
}

/// The address of the page with the lines that a mail does not show.
fn rest_link(batch: &Batch, design: &Design, shown: BTreeSet<usize>) -> Option<String> {
    let links = design.links.as_ref()?;
    let rest = Rest { message: batch.message, day: batch.at.day(), shown };
    Some(format!("{}/more/{}", links.base, rest.seal(&links.key)))
}

/// The lines of a group that are shown.
fn lines_shown<'g>((group, shown): (&'g Group, &Vec<bool>)) -> Vec<&'g Line> {
    group.lines.iter().zip(shown).filter(|(_, shown)| **shown).map(|(line, _)| line).collect()
}

/// The first few titles, cut as lists of mails would cut them, or what is said of the only item.
fn preview_of(item: Option<&Item>, sections: &[Section]) -> String {
    if let Some(item) = item {
        return match &item.sentence[..] {
            [] => item.about.clone(),
            stretches => stretches.iter().map(|part| part.text.as_str()).collect(),
        };
    }
    let titles: Vec<String> = sections
        .iter()
        .flat_map(|section| &section.blocks)
        .flat_map(|block| &block.items)
        .take(3)
        .map(|item| text::cut(&item.title, 40))
        .collect();
    titles.join(" · ")
}

/// Groups with those of their lines that are shown.
type WithShown<'g> = Vec<(&'g Group, Vec<&'g Line>)>;

/// The heading of a section.
#[derive(PartialEq, Eq)]
struct Heading {
    title: String,
    /// True if it says what happened.
    tells_kind: bool,
}

/// The facts shown above lines, which lines need not repeat.
#[derive(Clone, Copy, Default)]
struct Above<'a> {
    /// The name of what they have in common.
    heading: Option<(&'a str, Pivot)>,
    /// True if a sentence tells all of them.
    is_told: bool,
    /// Names of the actors of what the tally counts.
    actors: Option<&'a str>,
    /// True if it is said what happened.
    kind: bool,
}

struct Writer<'a> {
    design: &'a Design,
    language: &'a Language,
    words: &'static Words,
    topics: Topics,
    calendar: Calendar,
    /// True if lines must tell their reason, since the mail's sentence is not true of each.
    reasons_differ: bool,
}

impl Writer<'_> {
    /// "Sent by Art on Monday 4 March 2024, 09:00 (Paris time)."
    fn sent(&self, batch: &Batch) -> String {
        let sent = words::fill(self.words.sent, "{when}", &self.calendar.minute(batch.at));
        let sent = words::fill(&sent, "{zone}", &self.calendar.zone_name());
        let name = self.words.isolated(self.design.brand.name.clone());
        words::fill(&sent, "{name}", &name)
    }

    fn single(&self, group: &Group, line: &Line) -> Item {
        let sentence = self.sentence(line);
        let mut about = if sentence.is_empty() {
            self.what_who_and_where(line, Above::default())
        } else {
            Vec::new()
        };
        about.push(self.calendar.minute(line.t));
        Item { sentence, ..self.item(group, line, &about, SINGLE_WIDTH) }
    }

    fn sections(&self, groups: &[Group], shown: &[Vec<bool>]) -> Vec<Section> {
        let mut sections: Vec<(Heading, WithShown<'_>)> = Vec::new();
        for (group, shown) in groups.iter().zip(shown) {
            let lines = lines_shown((group, shown));
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
            .into_iter()
            .map(|(heading, groups)| Section {
                blocks: self.blocks(&groups, heading.tells_kind),
                title: heading.title,
            })
            .collect()
    }

    /// The title of a group's category.
    fn category(&self, group: &Group) -> String {
        let title = self.design.category(&group.category, self.language);
        self.words.isolated(title)
    }

    /// The title of the type, in its form for many; else of the category.
    fn heading_of(&self, group: &Group) -> Heading {
        let title = self.design.plural_title(&group.event_type, self.language);
        match title {
            Some(title) => {
                Heading { title: self.words.isolated(capitalised(&title)), tells_kind: true }
            }
            None => Heading { title: self.category(group), tells_kind: false },
        }
    }

    /// The blocks of a section. Lines that share nothing with others stand together; after a block with a
    /// heading they have one, too, or they would seem to belong under it.
    fn blocks(&self, groups: &[(&Group, Vec<&Line>)], tells_kind: bool) -> Vec<BlockView> {
        let mut blocks: Vec<BlockView> = Vec::new();
        let mut is_open = false;
        for (group, lines) in groups {
            let tells_kind = tells_kind && types_of(group).len() == 1;
            if let Some(name) = self.heading(group).filter(|_| group.lines.len() > 1) {
                is_open = false;
                blocks.push(self.block(group, lines, name, tells_kind));
                continue;
            }
            let above = Above { kind: tells_kind, ..Above::default() };
            let items = self.lines(group, lines, above);
            let has_heading = !blocks.is_empty();
            match blocks.last_mut().filter(|_| is_open) {
                Some(block) => block.items.extend(items),
                None => blocks.push(BlockView {
                    heading: has_heading.then(|| self.words.also_new.to_owned()),
                    tally: None,
                    items,
                    columns: Vec::new(),
                }),
            }
            is_open = true;
        }
        for block in &mut blocks {
            arrange(block);
        }
        blocks
    }

    /// The block of several lines that share something.
    fn block(&self, group: &Group, lines: &[&Line], name: String, tells_kind: bool) -> BlockView {
        let sentence = group_sentence(group, self.design, self.language);
        let types = types_of(group);
        let is_told = sentence.is_some();
        let actors = lines::actors(&group.lines, &group.actors, self.words)
            .filter(|_| group.pivot == Pivot::Target || is_told);
        let above = Above {
            heading: Some((&name, group.pivot)),
            is_told,
            actors: actors.as_deref(),
            kind: types.len() == 1,
        };
        let items = self.lines(group, lines, above);
        let count = entries(&group.lines);
        let happened = if tells_kind {
            self.words.counted(self.words.new, count)
        } else {
            self.words.happened(&wording::types_in_words(&types), count)
        };
        let by = above.actors.map(|actors| format!(" · {actors}"));
        let tally = happened + by.as_deref().unwrap_or_default();
        BlockView {
            tally: (!is_told).then_some(tally),
            items,
            columns: Vec::new(),
            heading: Some(sentence.unwrap_or(name)),
        }
    }

    fn lines(&self, group: &Group, lines: &[&Line], above: Above<'_>) -> Vec<Item> {
        let item = |line: &&Line| {
            // What no sentence says of all, each says for itself.
            let sentence = if above.is_told { Vec::new() } else { self.sentence(line) };
            let mut about =
                if sentence.is_empty() { self.what_who_and_where(line, above) } else { Vec::new() };
            if self.reasons_differ {
                let heading = above.heading.map(|(name, _)| name);
                let known: Vec<&str> = about.iter().map(String::as_str).chain(heading).collect();
                let notes = why::notes(line, &self.topics, &known, self.words);
                about.extend(notes);
            }
            about.push(self.calendar.day(line.t));
            Item { sentence, ..self.item(group, line, &about, THUMBNAIL_WIDTH) }
        };
        lines.iter().map(item).collect()
    }

    /// The sentence of the only type of a line.
    fn sentence(&self, line: &Line) -> Vec<Stretch> {
        let [event_type] = &line.types[..] else {
            return Vec::new();
        };
        let sentence = self.design.sentence(event_type, self.language);
        let stretches = sentence.and_then(|sentence| {
            sentence.stretches(&said(&[line], &line.actors, sentence), self.words)
        });
        stretches.unwrap_or_default()
    }

    fn item(&self, group: &Group, line: &Line, about: &[String], width: u16) -> Item {
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
        Item {
            r#type: event_type.as_str().to_owned(),
            category: self.category(group),
            title,
            sentence: Vec::new(),
            about: about.join(" · "),
            url: line.object.url.as_deref().and_then(|url| link::page(url, base)),
            image: Image::of(&line.object, width, base),
            actor: lines::actors([line], &line.actors, self.words),
            target: self.target(line),
            date: self.calendar.day(line.t),
            count: line.entries,
            data: templates.are_own().then(|| line.data.as_deref().cloned().unwrap_or_default()),
            block,
            rendered: None,
        }
    }

    /// "New work", "5 new comments"; without a title "Comment", "5 new: comment".
    fn happened(&self, line: &Line) -> String {
        let types = wording::types_in_words(&line.types);
        let [event_type] = &line.types[..] else {
            return self.words.happened(&types, line.entries);
        };
        let title = self.design.title(event_type, self.language, line.entries);
        match (title, line.entries) {
            (Some(title), 1) => self.words.isolated(capitalised(&title)),
            (Some(title), count) => self.words.count_of(&title, count),
            (None, count) => self.words.happened(&types, count),
        }
    }

    /// Facts of a line (what happened, who did it and where), less what stands above it or in its title.
    fn what_who_and_where(&self, line: &Line, above: Above<'_>) -> Vec<String> {
        let title = own_title(line, self.words);
        let mut about = Vec::new();
        match (&title, above.kind) {
            (None, _) => {}
            (Some(_), false) => about.push(self.happened(line)),
            (Some(_), true) if line.entries > 1 => {
                about.push(self.words.counted(self.words.new, line.entries));
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
        let name = names::name_of(key, self.words)?;
        let is_own = |line: &Line| own_title(line, self.words).as_ref() == Some(&name);
        (!group.lines.iter().all(is_own)).then_some(name)
    }

    fn target(&self, line: &Line) -> Option<String> {
        names::name_of(line.target.as_deref()?, self.words)
    }
}

/// Makes cards of the items of a block where most have pictures.
fn arrange(block: &mut BlockView) {
    let pictures = block.items.iter().filter(|item| item.image.is_some()).count();
    if pictures < 2 || pictures * 2 < block.items.len() {
        return;
    }
    for item in &mut block.items {
        if let Some(image) = &mut item.image {
            image.height = image.height * u32::from(CARD_WIDTH) / u32::from(image.width.max(1));
            image.width = CARD_WIDTH;
        }
        item.block.make_card();
    }
    let height =
        |item: &Item| item.image.as_ref().map_or(0, |image| image.height) + CARD_WORDS_HEIGHT;
    block.columns = columns::columns(block.items.iter().map(height)).to_vec();
}
