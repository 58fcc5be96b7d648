//! Values in the way of a locale: its dates, times, numbers and money, by CLDR.
//!
//! ICU4X has the patterns, names, calendars and digits of dates and numbers; those of money are a table.

mod dates;
mod money;
mod numbers;

use icu_locale_core::Locale;
use jiff::tz::TimeZone;

pub(crate) use dates::Calendar;
pub(crate) use numbers::count;

use crate::words::tag;

/// The one who reads a message, as far as values are told to them.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    locale: Locale,
    zone: TimeZone,
}

impl Reader {
    /// A reader of a locale in a time zone; an unknown zone counts as UTC.
    pub(crate) fn new(locale: &str, zone: &str) -> Self {
        let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
        Self { locale: tag::parsed(locale), zone }
    }

    /// The locale in which a text tells its values: the reader's if the text is in their language, else the text's.
    pub(crate) fn locale_in<'l>(&'l self, text: &'l Locale) -> &'l Locale {
        let (own, other) = (&self.locale.id, &text.id);
        // A tag names its script where that is not the usual one of the language: `sr-Latn` beside `sr`.
        let is_own = own.language == other.language && own.script == other.script;
        if is_own { &self.locale } else { text }
    }
}

/// A way of showing a value.
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
    /// The format that a sentence names after the bar; `path` reads a path in `data`.
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

    /// A value in the way of a locale; `None` if it is not of this kind, or lacks what is shown of it.
    pub(crate) fn told(
        &self,
        value: &str,
        currency: Option<&str>,
        locale: &Locale,
        reader: &Reader,
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
