//! Bodies of marks and snoozes, which select inbox items.

use serde::Deserialize;
use tidings_core::model::{DAY_MS, ItemChange, Marked, TypeFilter};
use tidings_core::{Id, Instant, Rules};
use utoipa::ToSchema;

use super::fault::Fault;
use super::text::{Text, Wait};
use super::{not_one, unknown};

/// The furthest end of a snooze, in milliseconds from now.
const SNOOZE_MS_MAX: i64 = 365 * DAY_MS;
/// The shortest snooze that is given as a duration.
const SNOOZE_MS_MIN: i64 = 60_000;

/// The items to mark: exactly one of `event`, `object`, `group`, `up_to` and `all`.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"group": "comment:6f1d3c2a9b8e7f05:2024-03-07:new"}))]
pub struct Items {
    /// The item of this event.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    event: Option<Text<Id>>,
    /// All items about this object that entered so far.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    object: Option<Text<Id>>,
    /// The items of the group with this key, as a page shows it.
    group: Option<String>,
    /// All items up to this time.
    #[schema(value_type = Option<String>, format = "date-time")]
    up_to: Option<Text<Instant>>,
    /// True = all items so far.
    all: Option<bool>,
    /// With `up_to` or `all`: only items of this category.
    category: Option<String>,
    /// With `up_to` or `all`: only items of this type.
    r#type: Option<String>,
    /// For a snooze: its end, at most 365 days ahead.
    #[schema(value_type = Option<String>, format = "date-time")]
    until: Option<Text<Instant>>,
    /// For a snooze: its duration, `1m` to `365d`.
    #[schema(value_type = Option<String>, example = "1h")]
    r#for: Option<Text<Wait>>,
    /// Only items of this tenant and those without a tenant.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256)]
    tenant: Option<Text<Id>>,
}

impl Items {
    /// The tenant that it names.
    pub fn tenant(&mut self) -> Option<Id> {
        self.tenant.take().map(Text::inner)
    }

    /// The items that it names.
    ///
    /// # Errors
    /// It does not name exactly one thing, or one that is not configured.
    pub fn named(self, rules: &Rules, now: Instant) -> Result<Marked, Fault> {
        if self.until.is_some() || self.r#for.is_some() {
            let field = if self.until.is_some() { "until" } else { "for" };
            return Err(Fault::new(format!("unknown field `{field}`"), "remove it"));
        }
        self.what(rules, now)
    }

    /// The items that it names, and the end of their snooze.
    ///
    /// # Errors
    /// As [`Items::named`]; or the end is missing or out of range.
    pub fn snoozed(mut self, rules: &Rules, now: Instant) -> Result<(Marked, ItemChange), Fault> {
        let until = match (self.until.take(), self.r#for.take()) {
            (Some(Text(until)), None) => until,
            (None, Some(Text(Wait(ms)))) if ms < SNOOZE_MS_MIN => {
                return Err(Fault::new("`for` must be 1m to 365d", "snooze for a minute at least"));
            }
            (None, Some(Text(Wait(ms)))) => now.plus_ms(ms),
            (until, of) => {
                return Err(not_one(&[("until", until.is_some()), ("for", of.is_some())]));
            }
        };
        if until <= now || until > now.plus_ms(SNOOZE_MS_MAX) {
            let reason = "a snooze must end in the future, at most 365 days ahead";
            return Err(Fault::new(reason, "choose a later, or a nearer, time"));
        }
        Ok((self.what(rules, now)?, ItemChange::Snooze(until)))
    }

    fn what(self, rules: &Rules, now: Instant) -> Result<Marked, Fault> {
        let all = match self.all {
            Some(false) => return Err(Fault::new("`all` must be true", "or leave it out")),
            all => all.is_some(),
        };
        let given = [
            ("event", self.event.is_some()),
            ("object", self.object.is_some()),
            ("group", self.group.is_some()),
            ("up_to", self.up_to.is_some()),
            ("all", all),
        ];
        if given.iter().filter(|(_, is_given)| *is_given).count() != 1 {
            return Err(not_one(&given));
        }
        let filter = match (self.category, self.r#type) {
            (None, None) => None,
            (Some(_), Some(_)) => {
                return Err(not_one(&[("category", true), ("type", true)]));
            }
            (Some(name), None) => {
                let names = rules.categories.keys().map(String::as_str);
                if !rules.categories.contains_key(&name) {
                    return Err(unknown("category", &name, names));
                }
                Some(TypeFilter::Category(name))
            }
            (None, Some(name)) => {
                let names = rules.types.keys().map(String::as_str);
                if !rules.types.contains_key(&name) {
                    return Err(unknown("type", &name, names));
                }
                Some(TypeFilter::Type(name))
            }
        };
        let up_to = self.up_to.map(|Text(up_to)| up_to).or(all.then_some(now));
        match (up_to, filter) {
            (Some(up_to), None) => Ok(Marked::UpTo(up_to)),
            (Some(up_to), Some(filter)) => Ok(Marked::UpToOf(up_to, filter)),
            (None, Some(_)) => {
                let reason = "`category` and `type` go with `up_to` or `all`";
                Err(Fault::new(reason, "leave them out"))
            }
            (None, None) => Ok(match (self.event, self.object, self.group) {
                (Some(Text(event)), ..) => Marked::Event(event),
                (_, Some(Text(object)), _) => Marked::Object(object),
                (.., group) => Marked::Row(group.unwrap_or_default()),
            }),
        }
    }
}
