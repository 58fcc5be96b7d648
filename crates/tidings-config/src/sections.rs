//! The sections beside the types: defaults, categories, digests, retention, providers.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use tidings_core::model::{ALL_CATEGORIES, DAY_MS, HOUR_MS, MINUTE_MS};
use tidings_core::rules::{
    Category, ChoosableTimes, Defaults, Digest, Every, REQUIRED, StoreRules, TenantRules,
    UnknownTenant,
};
use tidings_mail::check_locale;

use super::duration;
use super::presentation::QUOTA_KEYS;
use super::texts::{LocalizedText, length_faults, quoted_keys, texts};
use super::walk::{ConfigReader, Section};
use crate::wording::quoted;

pub(super) const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const EVERY: [&str; 11] =
    ["day", "weekday", "week", "month", "1h", "2h", "3h", "4h", "6h", "8h", "12h"];
/// Modes of a preference (contract, section 2): a digest of such a name could not be chosen.
const MODES: [&str; 3] = ["never", "immediate", "default"];
/// Minutes after midnight at which a digest goes out that doesn't say when (contract, section 2).
const DIGEST_AT_MINUTE: u16 = 9 * 60;
/// The largest number of entries that a digest may ask for.
const MIN_ITEMS_MAX: u32 = 10_000;

pub(super) fn defaults(walk: &mut ConfigReader, root: &Section<'_>) -> Defaults {
    let mut defaults = Defaults::default();
    let Some(section) = walk.section(root, "defaults", "write `[defaults]`") else {
        return defaults;
    };
    walk.only(&section, &["tz", "locale"]);
    if let Some(tz) = walk.zone(&section, "tz") {
        defaults.tz = tz;
    }
    if let Some(locale) = walk.text(&section, "locale", "write it in quotes, such as `\"en\"`") {
        match check_locale(locale.value) {
            Ok(()) => locale.value.clone_into(&mut defaults.locale),
            Err(fault) => {
                let reason = format!("{} is not a locale", quoted(locale.value));
                walk.bad(&locale.span, reason, fault.to_string());
            }
        }
    }
    defaults
}

pub(super) fn categories(
    walk: &mut ConfigReader,
    root: &Section<'_>,
    usual_locale: &str,
) -> BTreeMap<String, Category> {
    let hint = "write `[categories.NAME]`";
    let mut categories = BTreeMap::new();
    for (name, section) in walk.named(root, "categories", hint) {
        // The channels belong to the types of the category, `reply_to` to their words.
        let mut known = quoted_keys(&section, &["title"]);
        known.extend(["title", "channels", "reply_to"]);
        walk.only(&section, &known);
        if name == ALL_CATEGORIES {
            walk.bad(
                &section.header,
                format!("a category cannot be called {}", quoted(name)),
                "choose another name: in preferences it stands for every category",
            );
        }
        let wanted = LocalizedText { key: "title", usual_locale, faults: length_faults };
        let title = texts(walk, &section, &wanted);
        categories.insert(name.to_owned(), Category { title });
    }
    categories
}

pub(super) fn store(walk: &mut ConfigReader, root: &Section<'_>) -> Option<StoreRules> {
    if !root.has("store") {
        return Some(StoreRules::default());
    }
    let section = walk.section(root, "store", "write `[store]`")?;
    walk.only(&section, &["keep", "parts"]);
    let mut store = StoreRules::default();
    if section.has("parts") {
        store.parts = parts(walk, &section)?;
    }
    if section.has("keep") {
        store.keep_ms = walk.duration(&section, "keep")?.value;
    }
    Some(store)
}

/// The time for which figures and the log of changes may be kept.
const KEPT_MS: RangeInclusive<i64> = DAY_MS..=3_650 * DAY_MS;

/// The retention of the content of a section, by its keys, each with its default.
pub(super) fn kept<const N: usize>(
    walk: &mut ConfigReader,
    root: &Section<'_>,
    name: &str,
    keys: [(&str, i64); N],
) -> [i64; N] {
    let usual_ms = keys.map(|(_, usual_ms)| usual_ms);
    if !root.has(name) {
        return usual_ms;
    }
    let Some(section) = walk.section(root, name, &format!("write `[{name}]`")) else {
        return usual_ms;
    };
    walk.only(&section, &keys.map(|(key, _)| key));
    keys.map(|(key, usual_ms)| {
        if !section.has(key) {
            return usual_ms;
        }
        let Some(kept) = walk.duration(&section, key) else {
            return usual_ms;
        };
        if !KEPT_MS.contains(&kept.value) {
            let reason = format!("`{key}` of [{name}] is {}", duration::print(kept.value));
            walk.bad(&kept.span, reason, "write 1d to 3650d");
        }
        kept.value
    })
}

/// The rules of tenants; `None` = there are none.
pub(super) fn tenants(walk: &mut ConfigReader, root: &Section<'_>) -> Option<TenantRules> {
    let section = walk.section(root, "tenants", "write `[tenants]`")?;
    walk.only(&section, &["on", "unknown"]);
    let is_on = walk.flag(&section, "on").unwrap_or(false);
    let unknown = match walk.word(&section, "unknown", &["refuse", "make"]) {
        Some("make") => UnknownTenant::Make,
        _ => UnknownTenant::Refuse,
    };
    is_on.then_some(TenantRules { unknown })
}

/// The most parts: those of a new store have a bucket each.
const PARTS_MAX: u16 = 16;

fn parts(walk: &mut ConfigReader, section: &Section<'_>) -> Option<u16> {
    let hint = "write a whole number without quotes, such as `parts = 4`";
    let parts = walk.whole(section, "parts", hint)?;
    match u16::try_from(parts.value) {
        Ok(number @ 1..=PARTS_MAX) => Some(number),
        _ => {
            let reason = format!("`parts` must be 1 to {PARTS_MAX}");
            let hint = "write the number of processors that tidings may use, or leave it out for 1";
            walk.bad(&parts.span, reason, hint);
            None
        }
    }
}

pub(super) fn digests(
    walk: &mut ConfigReader,
    root: &Section<'_>,
    store: Option<&StoreRules>,
) -> BTreeMap<String, Digest> {
    let mut digests = BTreeMap::new();
    for (name, section) in walk.named(root, "digests", "write `[digests.NAME]`") {
        if MODES.contains(&name) {
            walk.bad(
                &section.header,
                format!("a digest cannot be called {}", quoted(name)),
                "choose another name: preferences have a mode of this name",
            );
        }
        if name.ends_with(REQUIRED) {
            walk.bad(
                &section.header,
                format!("a digest cannot be called {}", quoted(name)),
                format!("choose a name that does not end with `{REQUIRED}`: the lanes of required types do"),
            );
        }
        let [show, show_per] = QUOTA_KEYS;
        let mut known = quoted_keys(&section, &["title"]);
        known.extend([
            "every",
            "on",
            "at",
            "tz",
            "spread",
            "min_items",
            "choose",
            show,
            show_per,
            "title",
        ]);
        walk.only(&section, &known);
        let every = every(walk, &section);
        let at_minute = time_of_day(walk, &section, "at").unwrap_or(DIGEST_AT_MINUTE);
        let tz = walk.zone(&section, "tz");
        let min_items = min_items(walk, &section).unwrap_or(0);
        let Some(every) = every else { continue };
        let spread_minutes = spread_minutes(walk, &section, every).unwrap_or(0);
        if let Some(store) = store {
            let period_ms = period_ms(every);
            if period_ms > store.keep_ms {
                walk.bad(
                    &section.header,
                    format!(
                        "the digest {} covers {}, but days are kept for {}",
                        quoted(name),
                        duration::print(period_ms),
                        duration::print(store.keep_ms)
                    ),
                    format!("set `keep` of [store] to {} or more", duration::print(period_ms)),
                );
            }
        }
        let choose = choose(walk, &section, every).unwrap_or_default();
        let digest = Digest { every, at_minute, tz, spread_minutes, min_items, choose };
        digests.insert(name.to_owned(), digest);
    }
    digests
}

/// The times that recipients may choose for themselves.
fn choose(walk: &mut ConfigReader, section: &Section<'_>, every: Every) -> Option<ChoosableTimes> {
    let words = walk.words(section, "choose", &["on", "at"])?;
    let fault = match every {
        Every::Hours(_) if !words.value.is_empty() => {
            Some(("a digest of hours comes round the day", "remove `choose`"))
        }
        Every::Day | Every::Weekday if words.value.contains(&"on") => {
            Some(("`on` is that of a week or a month", "write `choose = [\"at\"]`"))
        }
        _ => None,
    };
    if let Some((why, hint)) = fault {
        walk.bad(&words.span, format!("`choose` does not fit `every`: {why}"), hint);
        return None;
    }
    let has = |word| words.value.contains(&word);
    Some(ChoosableTimes { day: has("on"), minute: has("at") })
}

/// The time over which the slots of a digest are spread.
fn spread_minutes(walk: &mut ConfigReader, section: &Section<'_>, every: Every) -> Option<u16> {
    let spread = walk.duration(section, "spread")?;
    if spread.value % MINUTE_MS != 0 {
        let reason = "`spread` must be whole minutes".to_owned();
        walk.bad(&spread.span, reason, "write minutes, such as `\"30m\"`");
        return None;
    }
    let distance_ms = match every {
        Every::Hours(hours) => i64::from(hours) * HOUR_MS,
        Every::Day | Every::Weekday => DAY_MS,
        Every::Week(_) => 7 * DAY_MS,
        Every::Month(_) => 28 * DAY_MS,
    };
    if spread.value >= distance_ms {
        let most = duration::print(distance_ms);
        walk.bad(
            &spread.span,
            format!("`spread` reaches the next slot, which may come after {most}"),
            format!("write less than {most}"),
        );
        return None;
    }
    u16::try_from(spread.value / MINUTE_MS).ok()
}

/// The number of entries below which a slot is passed over.
fn min_items(walk: &mut ConfigReader, section: &Section<'_>) -> Option<u32> {
    let hint = "write a whole number without quotes, such as `min_items = 3`";
    let items = walk.whole(section, "min_items", hint)?;
    match u32::try_from(items.value) {
        Ok(number @ 1..=MIN_ITEMS_MAX) => Some(number),
        _ => {
            let reason = format!("`min_items` must be 1 to {MIN_ITEMS_MAX}");
            walk.bad(&items.span, reason, "leave it out for any number");
            None
        }
    }
}

/// The longest stretch between two slots of a digest.
pub(super) fn period_ms(every: Every) -> i64 {
    match every {
        Every::Hours(hours) => i64::from(hours) * HOUR_MS,
        Every::Day => DAY_MS,
        // From Friday to Monday.
        Every::Weekday => 3 * DAY_MS,
        Every::Week(_) => 7 * DAY_MS,
        Every::Month(_) => 31 * DAY_MS,
    }
}

fn every(walk: &mut ConfigReader, section: &Section<'_>) -> Option<Every> {
    if !section.has("every") {
        walk.missing(
            section,
            "every",
            "add `every = \"day\"`, `weekday`, `week`, `month`, or hours such as `6h`",
        );
        return None;
    }
    match walk.word(section, "every", &EVERY)? {
        "week" => week(walk, section),
        "month" => month(walk, section),
        plain => {
            if let Some(on) = section.keys().find(|key| key.value == "on") {
                walk.bad(
                    &on.span,
                    format!("`on` is not allowed in a digest of every {plain}"),
                    "remove it, or write `every = \"week\"` or `\"month\"`",
                );
            }
            let hours = plain.strip_suffix('h').and_then(|hours| hours.parse().ok());
            Some(match (plain, hours) {
                ("weekday", _) => Every::Weekday,
                (_, Some(hours)) => Every::Hours(hours),
                _ => Every::Day,
            })
        }
    }
}

fn week(walk: &mut ConfigReader, section: &Section<'_>) -> Option<Every> {
    if !section.has("on") {
        walk.missing(section, "on", "add the day of the week, such as `on = \"mon\"`");
        return None;
    }
    let day = walk.word(section, "on", &WEEKDAYS)?;
    let number = (1_u8..).zip(WEEKDAYS).find(|(_, name)| *name == day);
    number.map(|(number, _)| Every::Week(number))
}

fn month(walk: &mut ConfigReader, section: &Section<'_>) -> Option<Every> {
    if !section.has("on") {
        walk.missing(section, "on", "add the day of the month, such as `on = 1`");
        return None;
    }
    let on = walk.whole(section, "on", "write the day of the month without quotes, 1 to 31")?;
    match u8::try_from(on.value) {
        Ok(day @ 1..=31) => Some(Every::Month(day)),
        _ => {
            walk.bad(
                &on.span,
                "the day of the month must be 1 to 31",
                "31 is the last day of every month",
            );
            None
        }
    }
}

pub(super) fn time_of_day(
    walk: &mut ConfigReader,
    section: &Section<'_>,
    key: &str,
) -> Option<u16> {
    let hint = format!("write hours and minutes in quotes, such as `{key} = \"09:00\"`");
    let at = walk.text(section, key, &hint)?;
    let minute = clock_minute(at.value);
    if minute.is_none() {
        walk.bad(&at.span, format!("{} is not a time of day", quoted(at.value)), hint);
    }
    minute
}

/// Reads `HH:MM`, 00:00 to 23:59.
#[must_use]
pub fn clock_minute(text: &str) -> Option<u16> {
    let bytes: &[u8; 5] = text.as_bytes().try_into().ok()?;
    let digit =
        |index: usize| bytes[index].is_ascii_digit().then(|| u16::from(bytes[index] - b'0'));
    let hour = digit(0)? * 10 + digit(1)?;
    let minute = digit(3)? * 10 + digit(4)?;
    (bytes[2] == b':' && hour < 24 && minute < 60).then_some(hour * 60 + minute)
}
