//! The times of digests that a recipient may choose, and those in force.

use serde::Serialize;
use tidings_api::body::preference::Word;
use tidings_core::model::{Choice, Mode};
use tidings_core::rules::{ChoosableTimes, Digest, Every};
use tidings_core::{Id, Rules};
use utoipa::ToSchema;

use crate::chosen::{SlotTimes, TimeFrom};

/// The times of a digest for a recipient.
#[derive(Serialize, ToSchema)]
#[schema(as = DigestTimes)]
pub(super) struct DigestTimes {
    /// The digest.
    digest: String,
    /// The times that may be chosen: `on`, `at` or both.
    choose: Vec<&'static str>,
    /// `day`, `weekday`, `week` or `month`.
    every: &'static str,
    /// The day in force, `mon` to `sun`, or 1 to 31; null for daily digests.
    on: Option<Word>,
    /// The time in force.
    at: String,
    /// The source of the day.
    on_from: TimeFrom,
    /// The source of the time.
    at_from: TimeFrom,
    /// The day after a reset of the choice: in a tenant's view the recipient's own, else the digest's.
    default_on: Option<Word>,
    /// The time after a reset of the choice.
    default_at: String,
    /// The time zone of both: that of the digest if it has one, else the recipient's.
    tz: String,
}

/// The digests that let recipients choose times, by name.
pub(super) fn digest_times(
    rules: &Rules,
    chosen: &[Choice],
    (tenant, tz): (Option<&Id>, &str),
) -> Vec<DigestTimes> {
    let open =
        rules.digests.iter().filter(|(_, digest)| digest.choose != ChoosableTimes::default());
    open.map(|(name, digest)| DigestTimes::of(name, digest, chosen, (tenant, tz))).collect()
}

impl DigestTimes {
    fn of(
        name: &str,
        digest: &Digest,
        chosen: &[Choice],
        (tenant, tz): (Option<&Id>, &str),
    ) -> Self {
        let SlotTimes { day, minute } = SlotTimes::of(name, digest, chosen, tenant);
        let time = |minute: u16| Mode::Time(minute).to_string();
        Self {
            digest: name.to_owned(),
            choose: digest.choose.words(),
            every: match digest.every {
                Every::Week(_) => "week",
                Every::Month(_) => "month",
                Every::Weekday => "weekday",
                Every::Day | Every::Hours(_) => "day",
            },
            on: day.map(|day| day.now.into()),
            at: time(minute.now),
            on_from: day.map_or(TimeFrom::Default, |day| day.from),
            at_from: minute.from,
            default_on: day.map(|day| day.default.into()),
            default_at: time(minute.default),
            tz: digest.tz.as_deref().unwrap_or(tz).to_owned(),
        }
    }
}
