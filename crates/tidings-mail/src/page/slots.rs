//! Forms in which a recipient chooses the day and the time of a digest. They work without script.

use serde::Serialize;
use tidings_core::model::SlotDay;
use tidings_core::rules::{Every, QUARTER_MINUTES, capitalised};

use crate::page::design::Design;
use crate::words::Words;
use crate::words::format::{self, ReaderLocale};
use crate::words::locale::Language;

/// The word that takes a choice back.
const DEFAULT: &str = "default";

/// A digest of which a recipient may choose the day, the time or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigestSlot {
    /// The name of the digest.
    pub digest: String,
    /// Its dates.
    pub every: Every,
    /// The day; `None` = it can't be chosen.
    pub day: Option<OwnTime<SlotDay>>,
    /// The minutes after midnight; `None` = they can't be chosen.
    pub minute: Option<OwnTime<u16>>,
    /// The IANA zone of its times.
    pub zone: String,
}

/// A day or a time that a recipient may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnTime<T> {
    /// The one in force.
    pub now: T,
    /// The one in force once the choice is taken back.
    pub default: T,
}

#[derive(Serialize)]
pub(super) struct SlotView<'a> {
    digest: &'a str,
    title: String,
    zone: String,
    fields: Vec<FieldView<'a>>,
}

/// A list of days or times.
#[derive(Serialize)]
struct FieldView<'a> {
    name: &'static str,
    label: &'a str,
    options: Vec<OptionView>,
}

#[derive(Serialize)]
struct OptionView {
    value: String,
    label: String,
    is_now: bool,
}

impl Design {
    /// The form of a digest.
    pub(super) fn slot<'a>(&self, slot: &'a DigestSlot, language: &'a Language) -> SlotView<'a> {
        let words = &*language.words;
        let locale = language.reader.locale_in(&words.numbers);
        let day = slot.day.map(|time| {
            let days = days(time.default);
            let values = days.iter().map(SlotDay::to_string);
            let names = format::slot_days(&days, locale);
            FieldView {
                name: "on",
                label: &words.site.day,
                options: options(&days, values.zip(names), time, words),
            }
        });
        let minute = slot.minute.map(|time| {
            let minutes = minutes(time);
            let value = |minute: &u16| format!("{:02}:{:02}", minute / 60, minute % 60);
            let names = format::clock_times(&minutes, locale);
            FieldView {
                name: "at",
                label: &words.site.time,
                options: options(&minutes, minutes.iter().map(value).zip(names), time, words),
            }
        });
        SlotView {
            digest: &slot.digest,
            title: self.slot_title(slot, language),
            zone: format::zone_name(&ReaderLocale::new("", &slot.zone), words),
            fields: day.into_iter().chain(minute).collect(),
        }
    }

    /// "Once a week: Friday, 5:15 PM".
    pub(super) fn chosen_slot(&self, slot: &DigestSlot, language: &Language) -> String {
        let words = &*language.words;
        let locale = language.reader.locale_in(&words.numbers);
        let day = slot.day.map(|day| format::slot_days(&[day.now], locale));
        let time = slot.minute.map(|minute| format::clock_times(&[minute.now], locale));
        let times: Vec<String> = day.into_iter().chain(time).flatten().collect();
        let title = words.isolated(self.slot_title(slot, language));
        format!("{title}{}{}", words.colon, times.join(&words.comma))
    }

    fn slot_title(&self, slot: &DigestSlot, language: &Language) -> String {
        let words = &*language.words;
        let title = self.digest(&slot.digest, language);
        title.unwrap_or_else(|| capitalised(&words.site.often(slot.every, words)))
    }
}

/// The options of a list. The default one takes the choice back, and says that it is the default.
fn options<T: Copy + PartialEq>(
    all: &[T],
    shown: impl Iterator<Item = (String, String)>,
    time: OwnTime<T>,
    words: &Words,
) -> Vec<OptionView> {
    let option = |(of, (value, label)): (&T, (String, String))| {
        let is_now = *of == time.now;
        if *of != time.default {
            return OptionView { value, label, is_now };
        }
        let label = format!("{label} · {}", words.site.standard);
        OptionView { value: DEFAULT.to_owned(), label, is_now }
    };
    all.iter().zip(shown).map(option).collect()
}

/// The days from which one like this is chosen.
fn days(like: SlotDay) -> Vec<SlotDay> {
    match like {
        SlotDay::Week(_) => (1..=7).map(SlotDay::Week).collect(),
        SlotDay::Month(_) => (1..=31).map(SlotDay::Month).collect(),
    }
}

/// The quarters of the hours of a day, and the times of the digest among them.
fn minutes(time: OwnTime<u16>) -> Vec<u16> {
    let mut minutes: Vec<u16> = (0..24 * 60).step_by(usize::from(QUARTER_MINUTES)).collect();
    minutes.extend([time.now, time.default]);
    minutes.sort_unstable();
    minutes.dedup();
    minutes
}
