//! Formatting of dates, times, numbers and money for a locale, by CLDR.
//!
//! ICU4X formats dates and numbers; patterns and symbols of currencies are a table.

mod dates;
mod money;
mod numbers;

use icu_locale_core::Locale;
use jiff::tz::TimeZone;

pub(crate) use dates::{Calendar, clock_times, slot_days, zone_name};
pub(crate) use numbers::count;

use crate::words::tag;

/// The locale and the time zone of the reader of a message.
#[derive(Clone, Debug)]
pub(crate) struct ReaderLocale {
    locale: Locale,
    zone: TimeZone,
}

impl ReaderLocale {
    /// A reader with a locale and a time zone; an unknown zone is UTC.
    pub(crate) fn new(locale: &str, zone: &str) -> Self {
        let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
        Self { locale: tag::parsed(locale), zone }
    }

    /// The locale for values in a text: the reader's if the text is in their language, else the text's.
    pub(crate) fn locale_in<'l>(&'l self, text: &'l Locale) -> &'l Locale {
        let (own, other) = (&self.locale.id, &text.id);
        // A tag names its script where that is not the usual one of the language: `sr-Latn` beside `sr`.
        let is_own = own.language == other.language && own.script == other.script;
        if is_own { &self.locale } else { text }
    }
}

/// The format of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Date,
    Time,
    DateTime,
    Number,
    /// Money, with the path of its currency in `data`.
    Money(Vec<String>),
}

impl Format {
    /// Parses the format after the bar of a place; `path` parses a path in `data`.
    pub(crate) fn parse(name: &str, path: impl Fn(&str) -> Option<Vec<String>>) -> Option<Self> {
        Some(match name {
            "date" => Self::Date,
            "time" => Self::Time,
            "datetime" => Self::DateTime,
            "number" => Self::Number,
            _ => {
                let currency = name.strip_prefix("money(")?.strip_suffix(')')?;
                Self::Money(path(currency)?)
            }
        })
    }

    /// Formats a value for a locale; `None` if it is of another kind, or lacks a part that the format shows.
    pub(crate) fn apply(
        &self,
        value: &str,
        currency: Option<&str>,
        locale: &Locale,
        reader: &ReaderLocale,
    ) -> Option<String> {
        match self {
            Self::Date => dates::date(value, &reader.zone, locale),
            Self::Time => dates::time(value, &reader.zone, locale),
            Self::DateTime => dates::date_and_time(value, &reader.zone, locale),
            Self::Number => numbers::number(value, locale),
            Self::Money(_) => money::money(value, currency?, locale),
        }
    }
}

#[cfg(test)]
mod tests;
