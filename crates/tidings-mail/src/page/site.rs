//! The pages to which mails lead: what one gets can be chosen there, and the rest of a message is shown.
//!
//! They have no script, ask for nothing from elsewhere but the host's pictures, and speak the recipient's language.

use std::collections::BTreeSet;

use serde::Serialize;
use tidings_core::Id;
use tidings_core::content::Batch;
use tidings_core::model::HostText;
use tidings_core::rules::{Every, capitalised, in_words};

use crate::error::RenderError;
use crate::page::brand::BrandView;
use crate::page::design::Design;
use crate::page::lines::entries;
use crate::page::slots::{DigestSlot, SlotView};
use crate::page::{MailPage, Section};
use crate::words::format::Calendar;
use crate::words::locale::{Language, first_whole};
use crate::words::localised::Tags;
use crate::words::names::cut_name;
use crate::words::text;
use crate::words::{self, SiteWords, Words};

/// The most lines on a page of the rest.
pub const REST_LINES_MAX: usize = 50;

/// A page with the reason why there is nothing to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticePage {
    /// The link is none of ours, or leads to nothing any more.
    NoLink,
    /// The message is no longer kept.
    Forgotten,
    /// The server has no time now.
    Busy,
}

/// The things that a recipient may choose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// The change that takes back what was just chosen.
    pub undo: Option<String>,
    /// The last change, if a sentence describes it.
    pub done: Option<AppliedChoice>,
    /// The topics of the message, and its objects that others spoke about.
    pub subjects: Vec<PreferenceRow>,
    /// The types.
    pub types: Vec<PreferenceRow>,
    /// The categories, where there are several.
    pub categories: Vec<PreferenceRow>,
    /// The digests whose times may be chosen.
    pub slots: Vec<DigestSlot>,
    /// The channel as a whole, and all channels.
    pub everything: Vec<PreferenceRow>,
    /// True if some types can't be turned off.
    pub has_required: bool,
}

/// A change that was just made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppliedChoice {
    /// Something comes at another pace.
    Pace {
        /// Its name.
        name: ChoiceName,
        /// The pace at which it comes now.
        pace: SendingTime,
    },
    /// The digest of this name comes at other times.
    Times(String),
}

/// A thing that is on or off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreferenceRow {
    /// Its name.
    pub name: ChoiceName,
    /// The pace at which it comes now.
    pub pace: Option<SendingTime>,
    /// The changes on offer.
    pub offers: Vec<OfferedChange>,
}

/// The name of what can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChoiceName {
    /// A title that the host gave.
    Title(HostText),
    /// A type.
    Type(Id),
    /// A category.
    Category(String),
    /// All mails.
    AllMail,
    /// Everything, on every channel.
    All,
}

/// The time at which messages of a kind are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendingTime {
    /// It doesn't.
    Off,
    /// At once.
    AtOnce,
    /// With a digest.
    Digest(Every),
}

/// A change on offer, with what the page sends for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedChange {
    /// The pace that it leads to; [`SendingTime::AtOnce`] stands for whatever is usual.
    pub to: SendingTime,
    /// The value that is sent.
    pub set: String,
}

/// The names of what can be chosen, each in the first of some locales that has it, else in the default one.
#[derive(Debug)]
pub struct ChoiceTitles<'d> {
    design: &'d Design,
    /// The first choice first.
    languages: Vec<Language>,
}

impl ChoiceTitles<'_> {
    /// The title of a category, or its name in words.
    #[must_use]
    pub fn category(&self, name: &str) -> String {
        let language = self.first(|language| self.design.has_category(name, language));
        self.design.category(name, language)
    }

    /// The first language with a title, or the default one.
    fn first(&self, has_title: impl Fn(&Language) -> bool) -> &Language {
        let found = self.languages.iter().find(|language| has_title(language));
        found.unwrap_or(&self.design.usual)
    }

    /// The title of a type, or its name in words.
    #[must_use]
    pub fn event_type(&self, name: &Id) -> String {
        let language = self.first(|language| self.design.has_titles([name], language));
        self.design.type_name(name, language)
    }

    /// The title of an object.
    #[must_use]
    pub fn localised<'t>(&self, title: &'t HostText) -> &'t str {
        Tags::of(&self.languages, &self.design.usual).find(title)
    }

    /// The title of a digest, or words such as "once a week"; `None` if no language has them.
    #[must_use]
    pub fn digest(&self, name: &str, every: Every) -> Option<String> {
        let language = self.first(|language| self.design.has_digest(name, language));
        if let Some(title) = self.design.digest(name, language) {
            return Some(title);
        }
        let spoken = self.languages.iter().find(|language| language.has_words)?;
        Some(capitalised(&spoken.words.site.often(every, &spoken.words)))
    }
}

#[derive(Serialize)]
struct SiteTexts {
    title: String,
    language: String,
    direction: &'static str,
}

impl SiteTexts {
    fn new(title: String, language: &Language) -> Self {
        Self { title, language: language.tag(), direction: language.words.direction() }
    }
}

#[derive(Serialize)]
struct NoticeView<'a> {
    site: SiteTexts,
    brand: &'a BrandView,
    text: &'a str,
}

#[derive(Serialize)]
struct ChoicesView<'a> {
    site: SiteTexts,
    brand: &'a BrandView,
    words: ChoiceWords<'a>,
    undo: Option<&'a str>,
    sections: Vec<SectionView<'a>>,
    has_required: bool,
}

#[derive(Serialize)]
struct ChoiceWords<'a> {
    lead: &'a str,
    saved: String,
    undo: &'a str,
    save: &'a str,
    required: &'a str,
}

#[derive(Serialize)]
struct SectionView<'a> {
    title: &'a str,
    rows: Vec<RowView<'a>>,
    slots: Vec<SlotView<'a>>,
}

#[derive(Serialize)]
struct RowView<'a> {
    title: String,
    state: Option<String>,
    buttons: Vec<ButtonView<'a>>,
}

#[derive(Serialize)]
struct ButtonView<'a> {
    label: String,
    set: &'a str,
}

#[derive(Serialize)]
struct RestView<'a> {
    site: SiteTexts,
    brand: &'a BrandView,
    /// The templates of items know it.
    mail: &'a crate::page::MailTexts,
    words: PagingWords<'a>,
    of: &'a str,
    note: Option<&'a str>,
    sections: Vec<Section>,
    next: Option<String>,
    previous: Option<String>,
}

#[derive(Serialize)]
struct PagingWords<'a> {
    next: &'a str,
    previous: &'a str,
}

impl Design {
    /// The page with the reason why there is nothing to show, in the first of some locales that has the words.
    ///
    /// # Errors
    /// [`RenderError::Template`].
    pub fn notice(&self, locales: &[&str], notice: NoticePage) -> Result<String, RenderError> {
        let language =
            first_whole(locales.iter().copied(), &self.usual, |language| language.has_words);
        let words = &*language.words;
        let (title, text) = match notice {
            NoticePage::NoLink => (&words.site.no_link, &words.site.no_link_why),
            NoticePage::Forgotten => (&words.site.forgotten, &words.site.forgotten_why),
            NoticePage::Busy => (&words.site.busy, &words.site.busy_why),
        };
        self.templates.site(
            "site/notice.html",
            &NoticeView {
                site: SiteTexts::new(title.to_owned(), &language),
                brand: &self.brand,
                text,
            },
        )
    }

    /// The page on which a recipient chooses, in the first of some locales that has the words.
    ///
    /// # Errors
    /// [`RenderError::Template`].
    pub fn choices(&self, locales: &[&str], choices: &Choices) -> Result<String, RenderError> {
        let types = choices.types.iter().filter_map(|row| match &row.name {
            ChoiceName::Type(event_type) => Some(event_type),
            _ => None,
        });
        let categories = || {
            choices.categories.iter().filter_map(|row| match &row.name {
                ChoiceName::Category(category) => Some(category),
                _ => None,
            })
        };
        let language = first_whole(locales.iter().copied(), &self.usual, |language| {
            language.has_words
                && self.has_titles(types.clone(), language)
                && categories().all(|name| self.has_category(name, language))
        });
        let words = &*language.words;
        let site = &words.site;
        let sections = [
            (&site.in_message, &*choices.subjects, [].as_slice()),
            (&site.types, &choices.types, &[]),
            (&site.categories, &choices.categories, &[]),
            (&site.times, &[], &choices.slots),
            (&site.everything, &choices.everything, &[]),
        ];
        let sections =
            sections.into_iter().filter(|(_, rows, slots)| !rows.is_empty() || !slots.is_empty());
        let name = words.isolated(self.brand.name.clone());
        let title = words::fill(&site.title, "{name}", &name);
        self.templates.site(
            "site/choices.html",
            &ChoicesView {
                site: SiteTexts::new(title, &language),
                brand: &self.brand,
                words: ChoiceWords {
                    lead: &site.lead,
                    saved: self.done(choices, &language),
                    undo: &site.undo,
                    save: &site.save,
                    required: &site.required,
                },
                undo: choices.undo.as_deref(),
                sections: sections
                    .map(|(title, rows, slots)| SectionView {
                        title,
                        rows: rows.iter().map(|row| self.row(row, &language)).collect(),
                        slots: slots.iter().map(|slot| self.slot(slot, &language)).collect(),
                    })
                    .collect(),
                has_required: choices.has_required,
            },
        )
    }

    /// The name of a type among others: its title, or its name in words.
    fn type_name(&self, event_type: &Id, language: &Language) -> String {
        let title = self
            .plural_title(event_type, language)
            .unwrap_or_else(|| text::clean(&in_words(event_type.as_str())));
        capitalised(&title)
    }

    /// The names of what can be chosen, for a reader's locales, the first choice first.
    #[must_use]
    pub fn titles(&self, locales: &[&str]) -> ChoiceTitles<'_> {
        let languages = locales.iter().map(|locale| self.usual.with_locale(locale)).collect();
        ChoiceTitles { design: self, languages }
    }

    /// The sentence about the last choice: "No more e-mail about “Plan”.", "New comments: once a day", "Saved."
    fn done(&self, choices: &Choices, language: &Language) -> String {
        let words = &*language.words;
        let (name, pace) = match &choices.done {
            Some(AppliedChoice::Pace { name, pace }) => (name, pace),
            Some(AppliedChoice::Times(digest)) => {
                let slot = choices.slots.iter().find(|slot| slot.digest == *digest);
                let sentence = slot.map(|slot| self.chosen_slot(slot, language));
                return sentence.unwrap_or_else(|| words.site.saved.clone());
            }
            None => return words.site.saved.clone(),
        };
        let title = self.title_of(name, language);
        match (pace, name) {
            (
                SendingTime::Off,
                ChoiceName::Title(_) | ChoiceName::Type(_) | ChoiceName::Category(_),
            ) => words::fill(&words.site.no_more, "{name}", &title),
            _ => format!("{title}{}{}", words.colon, words.site.pace(*pace, words)),
        }
    }

    fn title_of(&self, name: &ChoiceName, language: &Language) -> String {
        let words = &*language.words;
        match name {
            ChoiceName::Title(title) => {
                cut_name(Tags::of([language], &self.usual).find(title), words)
            }
            ChoiceName::Type(event_type) => words.isolated(self.type_name(event_type, language)),
            ChoiceName::Category(category) => words.isolated(self.category(category, language)),
            ChoiceName::AllMail => words.site.all_mail.clone(),
            ChoiceName::All => words.site.all.clone(),
        }
    }

    fn row<'r>(&self, row: &'r PreferenceRow, language: &Language) -> RowView<'r> {
        let words = &*language.words;
        let site = &words.site;
        let label = |to: SendingTime| match to {
            SendingTime::Off => site.stop.clone(),
            SendingTime::AtOnce => site.turn_on.clone(),
            SendingTime::Digest(every) => {
                let often = site.often(every, words);
                capitalised(&words::fill(&site.instead, "{often}", &often))
            }
        };
        let offers = row.offers.iter();
        RowView {
            title: self.title_of(&row.name, language),
            state: row.pace.map(|pace| site.pace(pace, words)),
            buttons: offers
                .map(|offer| ButtonView { label: label(offer.to), set: &offer.set })
                .collect(),
        }
    }

    /// A page with lines of a message that were not shown, from the one with this number on; `None` if there is none.
    /// Without `is_whole` some entries are gone and the shown lines are unknown: all lines are returned.
    ///
    /// # Errors
    /// [`RenderError::Template`].
    pub fn rest(
        &self,
        batch: &Batch,
        shown: Option<&BTreeSet<usize>>,
        from: usize,
    ) -> Result<Option<String>, RenderError> {
        if let Some(of_tenant) = self.of_batch(batch) {
            return of_tenant.rest_in(batch, shown, from);
        }
        self.rest_in(batch, shown, from)
    }

    fn rest_in(
        &self,
        batch: &Batch,
        shown: Option<&BTreeSet<usize>>,
        from: usize,
    ) -> Result<Option<String>, RenderError> {
        let language = self.language(batch);
        let words = &*language.words;
        let lines = || batch.groups.iter().flat_map(|group| &group.lines);
        let is_shown = |order: usize| shown.is_some_and(|shown| shown.contains(&order));
        // Objects that the host has taken back since are not shown.
        let rest =
            lines().filter(|line| !is_shown(line.order) && line.object.notifiable != Some(false));
        let count = entries(rest.clone());
        let mut orders: Vec<usize> = rest.map(|line| line.order).collect();
        orders.sort_unstable();
        let here: BTreeSet<usize> =
            orders.iter().copied().skip(from).take(REST_LINES_MAX).collect();
        if here.is_empty() {
            return Ok(None);
        }
        let Some(page) = MailPage::of_lines(batch, self, &here) else {
            return Ok(None);
        };
        let day = Calendar::new(batch.at, &language).full_day(batch.at);
        let of = words::fill(&words.site.rest_of, "{day}", &day);
        let after = from + here.len();
        let at = |from: usize| format!("?from={from}");
        let title = words.counted(&words.site.rest, count);
        let html = self.templates.site(
            "site/rest.html",
            &RestView {
                site: SiteTexts::new(title, &language),
                brand: &self.brand,
                mail: &page.mail,
                words: PagingWords { next: &words.site.next, previous: &words.site.previous },
                of: &of,
                note: shown.is_none().then_some(words.site.partly.as_str()),
                sections: page.sections,
                next: (after < orders.len()).then(|| at(after)),
                previous: (from > 0).then(|| at(from.saturating_sub(REST_LINES_MAX))),
            },
        )?;
        Ok(Some(html))
    }
}

impl SiteWords {
    /// "off", "as it happens", "once a week".
    fn pace(&self, pace: SendingTime, words: &Words) -> String {
        match pace {
            SendingTime::Off => self.off.clone(),
            SendingTime::AtOnce => self.at_once.clone(),
            SendingTime::Digest(every) => self.often(every, words),
        }
    }

    /// "once a week".
    pub(super) fn often(&self, every: Every, words: &Words) -> String {
        match every {
            Every::Day => self.daily.clone(),
            Every::Weekday => self.weekdays.clone(),
            Every::Week(_) => self.weekly.clone(),
            Every::Month(_) => self.monthly.clone(),
            Every::Hours(1) => self.hourly.clone(),
            Every::Hours(hours) => words.counted(&self.hours, usize::from(hours)),
        }
    }
}
