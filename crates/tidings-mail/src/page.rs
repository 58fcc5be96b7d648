//! The page of a mail: all texts that templates need, ready to be shown.

pub(super) mod arrange;
pub(super) mod block;
pub(super) mod brand;
pub(super) mod columns;
pub(super) mod design;
pub(super) mod item;
pub(super) mod lines;
pub(super) mod pick;
pub(super) mod row_text;
pub(super) mod short;
pub(super) mod single;
pub(super) mod site;
pub(super) mod slots;
pub(super) mod subject;
pub(super) mod tenant;
pub(super) mod writer;
pub(super) mod written;

use std::collections::BTreeSet;

use serde::Serialize;
use tidings_core::content::{Batch, Group, Line};
use tidings_core::model::Pivot;

use crate::message::list;
use crate::message::token::Rest;
use crate::page::block::BlockView;
use crate::page::brand::BrandView;
use crate::page::design::Design;
use crate::page::item::MailItem;
use crate::page::lines::entries;
use crate::page::single::SingleItemDetails;
use crate::page::writer::{ItemWriter, lines_shown};
use crate::words::locale::Language;
use crate::words::localised::Tags;
use crate::words::{Words, text, why};

/// Number of characters of a preview: most lists of mails show no more beside the subject.
const PREVIEW_CHARS_MAX: usize = 140;
/// Number of items that a preview names, and of characters of each.
const NAMED_MAX: usize = 3;
const NAMED_CHARS_MAX: usize = 60;
/// Number of items that a mail needs before the first one stands large above the others.
const LEAD_AMONG_MIN: usize = 3;

/// A mail's contents.
#[derive(Debug, Serialize)]
pub(crate) struct MailPage<'d> {
    pub(crate) mail: MailTexts,
    pub(crate) brand: &'d BrandView,
    /// The only item.
    pub(crate) item: Option<MailItem>,
    /// The first of several items, where it has a picture to be shown large; it stands in no section.
    pub(crate) lead: Option<MailItem>,
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
pub(crate) struct MailTexts {
    pub(crate) subject: String,
    /// The heading and the window's title.
    pub(crate) title: String,
    /// The page of what the mail is about, where all of several items are about one thing and its name is the title.
    pub(crate) title_url: Option<String>,
    /// "7 comments · A, B and 3 others", where the title is the name of what they are about.
    pub(crate) tally: Option<String>,
    /// The label and the address of the button, where all of several items are about one thing.
    pub(crate) action: Option<String>,
    pub(crate) action_url: Option<String>,
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
    pub(crate) unsubscribe_text: String,
    /// The day of the mail.
    pub(crate) day: String,
    /// The day of all items; `None` if each has its own.
    pub(crate) when: Option<String>,
    /// The sender, and the time.
    pub(crate) sent: String,
    /// The reason why the recipient gets the mail.
    pub(crate) why: Option<String>,
    /// The words on a button.
    pub(crate) look: String,
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
    /// `None` if the mail's title has it.
    pub(crate) title: Option<String>,
    pub(crate) blocks: Vec<BlockView>,
}

impl<'d> MailPage<'d> {
    /// The page of a batch, with a maximum number of items; `None` if the batch has no line.
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
        let language = design.language(batch);
        let translated = Tags::of([&language], &design.usual).batch(batch);
        let batch = &*translated;
        let lines: Vec<&Line> = batch.groups.iter().flat_map(|group| &group.lines).collect();
        let first = *lines.first()?;
        let words = language.words.clone();
        let words = &*words;
        let shown_lines: Vec<&Line> = batch
            .groups
            .iter()
            .zip(shown)
            .flat_map(|(group, shown)| lines_shown(group, shown))
            .collect();
        let is_single = lines.len() == 1 && !in_sections;
        let writer = ItemWriter::new(batch, design, &language, &shown_lines);
        let when = writer.common_day.clone().filter(|_| !is_single);
        let mut item = None;
        let mut lead = None;
        let mut sections = Vec::new();
        if is_single {
            let mut groups = batch.groups.iter();
            let group = groups.find(|group| !group.lines.is_empty())?;
            item = Some(writer.single(group, first));
        } else {
            let may_lead = !in_sections && shown_lines.len() >= LEAD_AMONG_MIN;
            lead = may_lead.then(|| writer.lead(&batch.groups, shown)).flatten();
            sections =
                writer.sections(&batch.groups, shown, lead.as_ref().map(|(order, _)| *order));
        }
        let lead = lead.map(|(_, item)| item);
        // Templates of the host's own may take anything from the mail around.
        if !in_sections && !design.templates.are_own() {
            render(&mut sections, design);
        }
        let all = entries(lines.iter().copied());
        let hidden = all - entries(shown_lines.iter().copied());
        let orders: BTreeSet<usize> = shown_lines.iter().map(|line| line.order).collect();
        let shown = orders.len();
        let subject = subject::text(batch, design, &language);
        let title = match &item {
            Some(item) => item.headline().to_owned(),
            None => subject::counts(batch, design, &language)
                .or_else(|| writer.only_category(&batch.groups))
                .unwrap_or_else(|| words.counted(&words.new_for_you, all)),
        };
        let mut title = text::cut(&title, 150);
        let mut of_one_thing = OneThing::default();
        // The title of the mail says what its only section would say.
        if let [section] = &mut sections[..]
            && !in_sections
        {
            section.title = None;
            if let [block] = &mut section.blocks[..] {
                block.tally.take_if(|tally| *tally == title);
                if let [group] = &batch.groups[..]
                    && lead.is_none()
                    && block.pivot == Some(Pivot::Target)
                {
                    of_one_thing = OneThing::taken_from(block);
                    title = of_one_thing.title.take().unwrap_or(title);
                    let has_button = of_one_thing.url.is_some();
                    of_one_thing.action = has_button.then(|| writer.action(group, &block.items));
                }
            }
        }
        let why = why::explanation(&lines, &writer.topics, words);
        let about = MailTexts {
            preview: match &item {
                Some(item) => preview_of_one(item, &subject, why.as_deref()),
                None => preview_of_many(lead.as_ref(), &sections, &subject, words),
            },
            subject,
            title,
            title_url: of_one_thing.url.clone(),
            tally: of_one_thing.tally,
            action: of_one_thing.action,
            action_url: of_one_thing.url,
            count: all,
            more: (hidden > 0).then(|| words.counted(&words.more, hidden)),
            more_url: (hidden > 0).then(|| rest_link(batch, design, orders)).flatten(),
            unsubscribe: list::unsubscribe_link(batch, design),
            unsubscribe_text: words.unsubscribe.clone(),
            day: writer.calendar.full_day(batch.at),
            when,
            sent: writer.sent(batch),
            why,
            look: words.take_a_look.clone(),
            language: language.tag(),
            direction: language.words.direction(),
            locale: batch.locale.clone(),
            recipient: batch
                .recipient
                .name
                .as_deref()
                .map(|name| words.isolated(text::clean(name))),
        };
        Some(Self { mail: about, brand: &design.brand, item, lead, sections, shown, language })
    }
}

/// Renders the items of sections, which are the same in every mail that has them.
fn render(sections: &mut [Section], design: &Design) {
    let blocks = sections.iter_mut().flat_map(|section| &mut section.blocks);
    for item in blocks.flat_map(|block| &mut block.items) {
        item.rendered = design.rendered.of(item, &design.templates, &design.brand);
    }
}

/// The head of a mail whose items are all about one thing.
#[derive(Default)]
struct OneThing {
    title: Option<String>,
    url: Option<String>,
    tally: Option<String>,
    action: Option<String>,
}

impl OneThing {
    /// Takes the heading from the only block.
    fn taken_from(block: &mut BlockView) -> Self {
        let BlockView { heading, url, tally, .. } = block;
        Self { title: heading.take(), url: url.take(), tally: tally.take(), action: None }
    }
}

/// The address of the page with the lines that a mail does not show.
fn rest_link(batch: &Batch, design: &Design, shown: BTreeSet<usize>) -> Option<String> {
    let links = design.links.as_ref()?;
    let rest = Rest { message: batch.message, day: batch.at.day(), shown };
    Some(format!("{}/more/{}", links.base, rest.seal(&links.key)))
}

/// The text that lists of mails show beside the subject of a mail about one item: what a person wrote, else what the
/// subject does not say of the item, else why the mail came; never the time, which they show themselves.
fn preview_of_one(item: &MailItem, subject: &str, why: Option<&str>) -> String {
    let single = item.single.as_ref();
    let is_new = |text: &String| !text.is_empty() && !subject.contains(text.as_str());
    let circumstances = single.into_iter().flat_map(|single| &single.circumstances);
    let circumstances: Vec<&str> =
        circumstances.filter(|text| is_new(text)).map(String::as_str).collect();
    let candidates = [
        single.map(|single| single.paragraphs.join(" ")).unwrap_or_default(),
        single.map(SingleItemDetails::notice_as_text).unwrap_or_default(),
        item.title.clone(),
        circumstances.join(" · "),
        why.unwrap_or_default().to_owned(),
    ];
    let candidates = candidates.into_iter().find(is_new).unwrap_or_default();
    text::cut(&candidates, PREVIEW_CHARS_MAX)
}

/// The text that lists of mails show beside the subject of a mail about several items; empty if the subject has
/// everything.
fn preview_of_many(
    lead: Option<&MailItem>,
    sections: &[Section],
    subject: &str,
    words: &Words,
) -> String {
    let preview = named(lead, sections, subject, words);
    if preview.eq_ignore_ascii_case(subject) {
        return String::new();
    }
    text::cut(&preview, PREVIEW_CHARS_MAX)
}

/// The first few of several items in a few words each, as far as the subject does not name them.
pub(crate) fn named(
    lead: Option<&MailItem>,
    sections: &[Section],
    subject: &str,
    words: &Words,
) -> String {
    let in_sections =
        sections.iter().flat_map(|section| &section.blocks).flat_map(BlockView::newest_first);
    let names: Vec<String> = lead
        .into_iter()
        .chain(in_sections)
        .filter_map(|item| item.in_a_few_words(subject, words))
        .take(NAMED_MAX)
        .map(|text| text::cut(&text, NAMED_CHARS_MAX))
        .collect();
    names.join(" · ")
}
