//! Digests: calendars at which entries go out together, and what recipients may choose of them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::model::preference::{Mode, OwnTimes, PreferenceScope, SlotDay};

/// A digest: a wall-clock rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// The dates.
    pub every: Every,
    /// Minutes after local midnight, 0 to 1439.
    pub at_minute: u16,
    /// A fixed IANA zone; the recipient's where `None`.
    pub tz: Option<String>,
    /// Minutes over which the recipients' slots are spread; 0 = none.
    pub spread_minutes: u16,
    /// The number of entries below which a slot is passed over, once; 0 = none.
    pub min_items: u32,
    /// The times that recipients may choose for themselves.
    #[serde(default)]
    pub choose: ChoosableTimes,
}

/// The times of a digest that recipients may choose for themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChoosableTimes {
    /// True if they may choose the day of the week or month.
    pub day: bool,
    /// True if they may choose the time of day.
    pub minute: bool,
}

impl ChoosableTimes {
    /// The words of the configuration for them: `on`, `at` or both.
    #[must_use]
    pub fn words(self) -> Vec<&'static str> {
        let words = [("on", self.day), ("at", self.minute)];
        words.into_iter().filter(|(_, is_open)| *is_open).map(|(word, _)| word).collect()
    }
}

/// The step of the times of day that may be chosen, in minutes.
pub const QUARTER_MINUTES: u16 = 15;

impl Digest {
    /// A digest at these dates and this minute, by each recipient's zone.
    #[must_use]
    pub fn new(every: Every, at_minute: u16) -> Self {
        let choose = ChoosableTimes::default();
        Self { every, at_minute, tz: None, spread_minutes: 0, min_items: 0, choose }
    }

    /// Returns true if a mode may be chosen for a scope of this digest (contract, section 6, "Own times").
    #[must_use]
    pub fn lets_choose(&self, scope: &PreferenceScope, mode: &Mode) -> bool {
        match (scope, mode) {
            (PreferenceScope::DigestDay(_) | PreferenceScope::DigestTime(_), Mode::Default) => true,
            (PreferenceScope::DigestDay(_), Mode::Day(day)) => {
                let fits = matches!(
                    (self.every, day),
                    (Every::Week(_), SlotDay::Week(1..=7))
                        | (Every::Month(_), SlotDay::Month(1..=31))
                );
                self.choose.day && fits
            }
            (PreferenceScope::DigestTime(_), Mode::Time(minute)) => {
                let is_time = *minute < 24 * 60 && minute.is_multiple_of(QUARTER_MINUTES);
                self.choose.minute && is_time && !matches!(self.every, Every::Hours(_))
            }
            _ => false,
        }
    }

    /// The digest at the times that a recipient chose, as far as it lets them.
    #[must_use]
    pub(crate) fn at_own_times(&self, own: OwnTimes) -> Cow<'_, Self> {
        if own.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut digest = self.clone();
        match (&mut digest.every, own.day.filter(|_| self.choose.day)) {
            (Every::Week(day), Some(SlotDay::Week(own)))
            | (Every::Month(day), Some(SlotDay::Month(own))) => *day = own,
            _ => {}
        }
        let has_time = self.choose.minute && !matches!(self.every, Every::Hours(_));
        if let Some(minute) = own.minute.filter(|_| has_time) {
            digest.at_minute = minute;
        }
        Cow::Owned(digest)
    }
}

/// The numbers of hours of [`Every::Hours`]: those that divide a day.
pub const HOURS: [u8; 7] = [1, 2, 3, 4, 6, 8, 12];

/// The dates of a digest, or its hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Every {
    /// Each day.
    Day,
    /// Monday to Friday.
    Weekday,
    /// One day a week, 1 = Monday to 7 = Sunday.
    Week(u8),
    /// One day a month, 1 to 31; a day that a month lacks is its last.
    Month(u8),
    /// Every one of [`HOURS`] from the digest's minute on, round the day.
    Hours(u8),
}
