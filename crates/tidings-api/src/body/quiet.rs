//! Quiet hours in a profile: own hours, none, or those of the channel.

use std::fmt::{self, Display};

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use tidings_config::clock_minute;
use tidings_config::wording::{one_of, quoted};
use tidings_core::model::{CHANNELS, ChannelNo, OwnHours, sending_channels};
use tidings_core::rules::QuietHours;
use utoipa::ToSchema;

use super::fault::Fault;
use super::known_channel;
use super::text::{FromText, Text};

/// Hours of the wall clock in which only urgent notifications are sent.
#[derive(Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = QuietHours, example = json!({"from": "22:00", "to": "07:00"}))]
pub struct Hours {
    /// The time at which they begin, HH:MM.
    #[schema(value_type = String, pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$")]
    from: Text<MinuteOfDay>,
    /// The time at which they end, different from `from`; on the next day if it is earlier.
    #[schema(value_type = String, pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$")]
    to: Text<MinuteOfDay>,
    /// The weekdays on which they begin; all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 1)]
    days: Option<Vec<Weekday>>,
    /// The channels to which they apply; all if absent. The others keep those of the channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 1)]
    channels: Option<Vec<String>>,
}

/// A weekday.
#[derive(Clone, Copy, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Weekday {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

const WEEK: [Weekday; 7] = [
    Weekday::Mon,
    Weekday::Tue,
    Weekday::Wed,
    Weekday::Thu,
    Weekday::Fri,
    Weekday::Sat,
    Weekday::Sun,
];

/// A minute of the day, written HH:MM.
struct MinuteOfDay(u16);

/// Quiet hours as a profile shows them; null = none.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = QuietHoursChoice)]
#[expect(missing_docs, reason = "a text of a variant would be one of the API's document")]
pub enum QuietHoursShown {
    Hours(Hours),
    Word(AsChannel),
}

/// The value for the hours of each channel.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = QuietHoursOfChannel)]
#[expect(missing_docs, reason = "a text of a variant would be one of the API's document")]
pub enum AsChannel {
    Default,
}

/// Quiet hours in a change.
pub enum QuietHoursChange {
    /// These hours.
    Hours(Hours),
    /// None at all.
    Never,
    /// Those of each channel.
    Default,
}

impl FromText for MinuteOfDay {
    fn from_text(text: &str) -> Result<Self, Fault> {
        clock_minute(text).map(Self).ok_or_else(|| {
            let reason = format!("must be a time of day, got {}", quoted(text));
            Fault::new(reason, "write hours and minutes, such as `22:00`")
        })
    }
}

impl Display for MinuteOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

impl QuietHoursChange {
    /// The choice for the core.
    ///
    /// # Errors
    /// Hours of no length, on no day, on no channel, or on an unknown channel.
    pub(super) fn choice(self) -> Result<Option<Box<OwnHours>>, Fault> {
        let hours = match self {
            Self::Default => return Ok(None),
            Self::Never => {
                let (hours, channels) = (None, None);
                return Ok(Some(Box::new(OwnHours { hours, channels })));
            }
            Self::Hours(hours) => hours,
        };
        let (Text(MinuteOfDay(from_minute)), Text(MinuteOfDay(to_minute))) = (hours.from, hours.to);
        if from_minute == to_minute {
            let reason = "`quiet_hours` begin and end at the same time";
            return Err(Fault::new(reason, "write another `to`, or null for no hours"));
        }
        let empty = |name: &str| {
            let reason = format!("`quiet_hours.{name}` is empty");
            Fault::new(reason, format!("leave it out for all {name}"))
        };
        let days = match hours.days {
            None => QuietHours::EVERY_DAY,
            Some(days) if days.is_empty() => return Err(empty("days")),
            Some(days) => days.iter().fold(0, |all, day| all | 1 << (*day as u8)),
        };
        let channels = match hours.channels {
            Some(names) if names.is_empty() => return Err(empty("channels")),
            names => names.map(|names| names.iter().map(|name| number_of(name)).collect()),
        };
        let hours = Some(QuietHours { from_minute, to_minute, days });
        let channels = channels.transpose()?;
        Ok(Some(Box::new(OwnHours { hours, channels })))
    }
}

fn number_of(name: &str) -> Result<ChannelNo, Fault> {
    known_channel(name)?;
    let mut sending = sending_channels();
    let found = sending.find(|channel| channel.name == name);
    found.map(|channel| channel.number).ok_or_else(|| {
        let sending: Vec<&str> = sending_channels().map(|channel| channel.name).collect();
        let reason = format!("`quiet_hours.channels` cannot hold {}", quoted(name));
        Fault::new(reason, format!("write {}", one_of(&sending)))
    })
}

impl Hours {
    /// Hours as they are shown, on every channel.
    #[must_use]
    pub fn of(hours: &QuietHours) -> Self {
        let begins = |day: &&Weekday| hours.begin_on(**day as u8 + 1);
        let days = (hours.days != QuietHours::EVERY_DAY)
            .then(|| WEEK.iter().filter(begins).copied().collect());
        let (from, to) = (MinuteOfDay(hours.from_minute), MinuteOfDay(hours.to_minute));
        Self { from: Text(from), to: Text(to), days, channels: None }
    }
}

impl QuietHoursShown {
    /// The hours of a profile; `None` = none at all.
    #[must_use]
    pub fn of(chosen: Option<&OwnHours>) -> Option<Self> {
        let Some(chosen) = chosen else {
            return Some(Self::Word(AsChannel::Default));
        };
        let channels = chosen.channels.as_ref().map(|numbers| {
            let name = |number: &ChannelNo| CHANNELS.get(usize::from(*number));
            numbers.iter().filter_map(name).map(|name| (*name).to_owned()).collect()
        });
        Some(Self::Hours(Hours { channels, ..Hours::of(&chosen.hours?) }))
    }
}

/// Reads quiet hours that are given.
pub(super) fn given<'de, D: Deserializer<'de>>(
    value: D,
) -> Result<Option<QuietHoursChange>, D::Error> {
    value.deserialize_any(QuietHoursVisitor).map(Some)
}

struct QuietHoursVisitor;

impl<'de> Visitor<'de> for QuietHoursVisitor {
    type Value = QuietHoursChange;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object, null or `default`")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<QuietHoursChange, E> {
        Ok(QuietHoursChange::Never)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<QuietHoursChange, E> {
        match text {
            "default" => Ok(QuietHoursChange::Default),
            other => Err(E::custom(Fault::new(
                format!("cannot be {}", quoted(other)),
                "write `default`, null, or an object such as `{\"from\": \"22:00\", \"to\": \"07:00\"}`",
            ))),
        }
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<QuietHoursChange, M::Error> {
        let hours = Hours::deserialize(MapAccessDeserializer::new(map));
        hours.map(QuietHoursChange::Hours)
    }
}
