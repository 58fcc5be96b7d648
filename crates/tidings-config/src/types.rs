//! The types: the policy units and their routes.

pub mod data_schema;
mod schema;

use std::collections::BTreeMap;

use tidings_core::cel::{OF_CONDITION, OF_EVENT, Program, Root, ValueKind};
use tidings_core::model::{CHANNELS, ID_BYTES_MAX, INBOX, Pivot};
use tidings_core::rules::{
    Admission, AdmissionKeyPart, Decide, MAX_ITEMS_MOST, Policy, REQUIRED, Route, StoreRules,
    TypeRules, UnknownOutcome,
};

use super::duration;
use super::lanes::{self, LaneUse};
use super::presentation;
use super::services::resolver;
use super::texts;
use super::walk::{ByteSpan, ConfigReader, PlacedValue, Section};
use crate::wording::{did_you_mean, quoted};

const TYPE_KEYS: [&str; 16] = [
    "category",
    "admission",
    "per",
    "include_actor",
    "urgent",
    "required",
    "look_back",
    "drop_if_seen",
    "condition",
    "group",
    "unresolved",
    "channels",
    "unknown_outcome",
    "give_up_after",
    "reply_to",
    "schema",
];
/// A policy without its parameters.
#[derive(Clone, Copy)]
enum PolicyKind {
    Now,
    FirstEvent,
    Cooldown,
    Leading,
    Digest,
    Never,
}

/// The policies: each with its word, and the keys that not all policies have.
const POLICIES: [(PolicyKind, &str, &[&str]); 6] = [
    (PolicyKind::Now, "now", &[]),
    (PolicyKind::FirstEvent, "first_event", &["hold", "decide", "batch_key", "max_items"]),
    (PolicyKind::Cooldown, "cooldown", &["quiet", "max_wait", "batch_key", "max_items"]),
    (PolicyKind::Leading, "leading", &["quiet", "batch_key", "max_items"]),
    (PolicyKind::Digest, "digest", &["digest", "max_items"]),
    (PolicyKind::Never, "never", &[]),
];
const ROUTE_KEYS: [&str; 10] = [
    "policy",
    "lane",
    "hold",
    "decide",
    "quiet",
    "max_wait",
    "digest",
    "batch_key",
    "max_items",
    "after",
];

pub(super) fn types(
    walk: &mut ConfigReader,
    root: &Section<'_>,
    store: Option<&StoreRules>,
) -> BTreeMap<String, TypeRules> {
    let names = |key: &str| -> Vec<&str> {
        let mut quiet = ConfigReader::default();
        let section = quiet.section(root, key, "");
        section.map(|s| s.keys().map(|key| key.value).collect()).unwrap_or_default()
    };
    let known = TypeReferences {
        categories: names("categories"),
        digests: names("digests"),
        keep_ms: store.map(|store| store.keep_ms),
    };
    let of_categories = of_categories(walk, root, &known);
    let none = BTreeMap::new();
    let mut uses = Vec::new();
    let mut types = BTreeMap::new();
    for (name, section) in walk.named(root, "types", "write `[types.NAME]`") {
        let mut known_keys = texts::quoted_keys(&section, &presentation::TEXT_KEYS);
        known_keys.extend(TYPE_KEYS);
        known_keys.extend(presentation::TEXT_KEYS);
        walk.only(&section, &known_keys);
        let category = category(walk, &section, &known);
        let inherited = of_categories.get(&category).unwrap_or(&none);
        let placed = routes(walk, name, &section, &known, inherited);
        let mut rules = TypeRules {
            channels: BTreeMap::new(),
            category,
            include_actor: walk.flag(&section, "include_actor").unwrap_or(false),
            urgent: walk.flag(&section, "urgent").unwrap_or(false),
            required: walk.flag(&section, "required").unwrap_or(false),
            look_back_ms: look_back(walk, &section, known.keep_ms),
            drop_if_seen: walk.flag(&section, "drop_if_seen"),
            admission: word_of(walk, &section, "admission", Admission::ALL, Admission::word),
            per: word_of(walk, &section, "per", AdmissionKeyPart::ALL, AdmissionKeyPart::word),
            condition: condition(walk, &section),
            schema: schema::schema(walk, &section),
            group: pivot(walk, &section),
            unresolved: resolver::unresolved(walk, &section),
            unknown_outcome: word_of(
                walk,
                &section,
                "unknown_outcome",
                UnknownOutcome::ALL,
                UnknownOutcome::word,
            ),
            give_up_after_ms: walk.duration(&section, "give_up_after").map(|found| found.value),
        };
        rules.channels = placed
            .into_iter()
            .map(|(channel, placed)| {
                uses.extend(lane_use(walk, name, &rules, &channel, &placed));
                (channel, placed.route)
            })
            .collect();
        types.insert(name.to_owned(), rules);
    }
    lanes::check(walk, uses);
    types
}

/// The things that a type may refer to; of categories and digests the names alone, so that a fault in a digest is
/// reported once.
struct TypeReferences<'t> {
    categories: Vec<&'t str>,
    digests: Vec<&'t str>,
    /// `None` where it has a fault.
    keep_ms: Option<i64>,
}

/// The value of a key that is one of some words; the default where it is left out.
fn word_of<T: Copy + Default, const N: usize>(
    walk: &mut ConfigReader,
    section: &Section<'_>,
    key: &str,
    all: [T; N],
    to_word: fn(T) -> &'static str,
) -> T {
    let word = walk.word(section, key, &all.map(to_word));
    all.into_iter().find(|of| Some(to_word(*of)) == word).unwrap_or_default()
}

fn category(walk: &mut ConfigReader, section: &Section<'_>, known: &TypeReferences<'_>) -> String {
    if !section.has("category") {
        let hint = "add `category = \"NAME\"` and declare `[categories.NAME]`";
        walk.missing(section, "category", hint);
        return String::new();
    }
    let hint = "write the name of a category in quotes";
    let Some(text) = walk.text(section, "category", hint) else {
        return String::new();
    };
    refer(walk, &text, "category", "categories", &known.categories);
    text.value.to_owned()
}

/// Checks that a name is declared; `section` is where that would be done.
fn refer(
    walk: &mut ConfigReader,
    text: &PlacedValue<&str>,
    what: &str,
    section: &str,
    declared: &[&str],
) {
    if declared.contains(&text.value) {
        return;
    }
    let near = did_you_mean(text.value, declared.iter().copied());
    let declare = format!("declare it as [{section}.{}]", text.value.escape_debug());
    let hint = near.map_or(declare.clone(), |near| {
        let stop = if near.ends_with('?') { "" } else { "." };
        format!("{near}{stop} Or {declare}")
    });
    walk.absent(&text.span, format!("unknown {what} {}", quoted(text.value)), hint);
}

fn look_back(walk: &mut ConfigReader, section: &Section<'_>, keep_ms: Option<i64>) -> Option<i64> {
    let look_back = walk.duration_or_none(section, "look_back")??;
    fits_in(walk, keep_ms, "look_back", &look_back);
    Some(look_back.value)
}

/// Refuses a duration for which days are not kept.
fn fits_in(walk: &mut ConfigReader, keep_ms: Option<i64>, key: &str, found: &PlacedValue<i64>) {
    let Some(keep_ms) = keep_ms.filter(|keep_ms| found.value > *keep_ms) else {
        return;
    };
    let (long, keep) = (duration::print(found.value), duration::print(keep_ms));
    walk.bad(
        &found.span,
        format!("`{key}` = {long} is too long: days are kept for {keep}"),
        format!("set `keep` of [store] to {long} or more, or `{key}` to {keep} or less"),
    );
}

fn pivot(walk: &mut ConfigReader, section: &Section<'_>) -> Option<Pivot> {
    match walk.word(section, "group", &["object", "actor", "target"])? {
        "object" => Some(Pivot::Object),
        "actor" => Some(Pivot::Actor),
        _ => Some(Pivot::Target),
    }
}

/// The channels of a type: its own, and those of its category that it does not name itself.
fn routes(
    walk: &mut ConfigReader,
    name: &str,
    section: &Section<'_>,
    known: &TypeReferences<'_>,
    inherited: &BTreeMap<String, PlacedPolicy>,
) -> BTreeMap<String, PlacedPolicy> {
    let outer = walk.section(section, "channels", CHANNELS_HINT);
    let is_bare = |outer: &Section<'_>| outer.keys().next().is_none() && inherited.is_empty();
    if let Some(outer) = outer.as_ref().filter(|outer| is_bare(outer)) {
        let reason = format!("the type {} has no channel", quoted(name));
        walk.absent(&outer.header, reason, CHANNELS_HINT);
    }
    if !section.has("channels") && inherited.is_empty() {
        let hint = format!("write `[{}.channels]`", section.path);
        walk.missing(section, "channels", &hint);
    }
    // A fault of an inbox is reported at its place.
    let names_inbox = outer.as_ref().is_some_and(|outer| outer.has(INBOX));
    let mut placed = inherited.clone();
    if let Some(outer) = outer {
        for channel in outer.keys() {
            placed.remove(channel.value);
        }
        placed.append(&mut channels(walk, &outer, known));
    }
    let inbox = placed.get(INBOX);
    let has_inbox = inbox.map_or(names_inbox, |inbox| inbox.route.policy != Policy::Never);
    for after in placed.values().filter_map(|placed| placed.after.as_ref()) {
        if !has_inbox {
            walk.bad(
                after,
                format!("`after` needs an inbox, and the type {} has none", quoted(name)),
                "add `inbox = { policy = \"now\" }` to its channels, or remove `after`",
            );
        }
    }
    placed
}

/// The lane into which a type's own policy on a channel puts entries.
fn lane_use(
    walk: &mut ConfigReader,
    name: &str,
    rules: &TypeRules,
    channel: &str,
    placed: &PlacedPolicy,
) -> Option<LaneUse> {
    let lane = rules.own_lane(channel, &placed.route)?;
    if placed.route.lane.is_some() && lane.len() > ID_BYTES_MAX {
        walk.bad(
            &placed.span,
            format!("the lane name {} is too long", quoted(&lane)),
            format!("a required type's lane has `{REQUIRED}` at its end: use at most 247 bytes"),
        );
    }
    Some(LaneUse {
        channel: channel.to_owned(),
        lane,
        policy: placed.route.policy.clone(),
        kind: name.to_owned(),
        span: placed.span.clone(),
    })
}

const CHANNELS_HINT: &str = "add `inbox = { policy = \"now\" }` or `email = { … }` below it";

/// A policy on a channel, with its place.
#[derive(Clone, Debug)]
struct PlacedPolicy {
    route: Route,
    span: ByteSpan,
    /// The place of its `after`.
    after: Option<ByteSpan>,
}

/// The channels that categories give to their types, by category.
fn of_categories(
    walk: &mut ConfigReader,
    root: &Section<'_>,
    known: &TypeReferences<'_>,
) -> BTreeMap<String, BTreeMap<String, PlacedPolicy>> {
    // Other faults of a category are reported where its title is read.
    let sections = ConfigReader::default().named(root, "categories", "").into_iter().filter_map(
        |(name, section)| {
            let outer = walk.section(&section, "channels", CHANNELS_HINT)?;
            Some((name.to_owned(), channels(walk, &outer, known)))
        },
    );
    sections.collect()
}

/// The policies of a table of channels.
fn channels(
    walk: &mut ConfigReader,
    outer: &Section<'_>,
    known: &TypeReferences<'_>,
) -> BTreeMap<String, PlacedPolicy> {
    let mut routes = BTreeMap::new();
    for channel in outer.keys() {
        if !CHANNELS.contains(&channel.value) {
            let hint = did_you_mean(channel.value, CHANNELS).unwrap_or_default();
            walk.bad(&channel.span, format!("unknown channel {}", quoted(channel.value)), hint);
        }
        let hint = "write a table, such as `{ policy = \"now\" }`";
        let Some(table) = walk.section(outer, channel.value, hint) else {
            continue;
        };
        if let Some(route) = route(walk, channel.value, &table, known) {
            let after = table.keys().find(|key| key.value == "after");
            let placed = PlacedPolicy {
                after: after.filter(|_| route.after_ms.is_some()).map(|key| key.span),
                route,
                span: table.header,
            };
            routes.insert(channel.value.to_owned(), placed);
        }
    }
    routes
}

fn route(
    walk: &mut ConfigReader,
    channel: &str,
    table: &Section<'_>,
    known: &TypeReferences<'_>,
) -> Option<Route> {
    walk.only(table, &ROUTE_KEYS);
    let words = POLICIES.map(|(_, word, _)| word);
    if !table.has("policy") {
        let words = crate::wording::one_of(&words);
        walk.missing(table, "policy", &format!("add `policy = …`: {words}"));
        return None;
    }
    let word = walk.word(table, "policy", &words)?;
    let (kind, ..) = POLICIES.into_iter().find(|(_, known, _)| *known == word)?;
    let lane = lane(walk, channel, word, table);
    if channel == INBOX && !matches!(kind, PolicyKind::Now | PolicyKind::Never) {
        walk.bad(
            &table.header,
            format!("the inbox cannot have the policy `{word}`"),
            "an inbox shows entries at once: write `now` or `never`",
        );
        return None;
    }
    strangers(walk, word, table);
    let hint = "write an expression in quotes, such as \"event.target.id\"";
    let batch_key = expression(walk, table, "batch_key", hint, OF_EVENT, None);
    let max_items = max_items(walk, table);
    let after_ms = after(walk, channel, table, known);
    let policy = policy(walk, kind, table, known)?;
    Some(Route { policy, lane, batch_key, max_items, after_ms })
}

/// The time by which entries come later than those of the inbox.
fn after(
    walk: &mut ConfigReader,
    channel: &str,
    table: &Section<'_>,
    known: &TypeReferences<'_>,
) -> Option<i64> {
    let key = table.keys().find(|key| key.value == "after")?;
    if channel == INBOX {
        let hint = "remove it: `after` is how much later than the inbox another channel comes";
        walk.bad(&key.span, "the inbox cannot have `after`", hint);
        return None;
    }
    let after = walk.duration(table, "after")?;
    fits_in(walk, known.keep_ms, "after", &after);
    Some(after.value)
}

/// The number of entries that makes a window due.
fn max_items(walk: &mut ConfigReader, table: &Section<'_>) -> Option<u16> {
    let hint = "leave it out for any number";
    let found = walk.whole(table, "max_items", hint)?;
    let most = u16::try_from(found.value).ok();
    let most = most.filter(|most| (1..=MAX_ITEMS_MOST).contains(most));
    if most.is_none() {
        let reason = format!("`max_items` must be 1 to {MAX_ITEMS_MOST}");
        walk.bad(&found.span, reason, hint);
    }
    most
}

/// The words of the policies that know a key: all of them where none has it for its own.
fn owners(key: &str) -> Vec<&'static str> {
    let owners: Vec<_> = POLICIES
        .into_iter()
        .filter(|(_, _, keys)| keys.contains(&key))
        .map(|(_, word, _)| word)
        .collect();
    if owners.is_empty() { POLICIES.map(|(_, word, _)| word).to_vec() } else { owners }
}

/// Refuses keys that another policy has.
fn strangers(walk: &mut ConfigReader, policy: &str, table: &Section<'_>) {
    for key in table.keys() {
        let owners = owners(key.value);
        if !owners.contains(&policy) {
            walk.bad(
                &key.span,
                format!("`{}` is not a key of the policy `{policy}`", key.value),
                format!("remove it, or choose the policy {}", crate::wording::one_of(&owners)),
            );
        }
    }
}

fn lane(
    walk: &mut ConfigReader,
    channel: &str,
    policy: &str,
    table: &Section<'_>,
) -> Option<String> {
    let key = table.keys().find(|key| key.value == "lane")?;
    if policy == "never" {
        walk.bad(&key.span, "the policy `never` has no lane", "remove `lane`");
        return None;
    }
    if channel == INBOX {
        walk.bad(&key.span, "the inbox cannot have a `lane`", "remove `lane`");
        return None;
    }
    let text = walk.text(table, "lane", "write the lane's name in quotes")?;
    let reserved = ["now", "first_event", "cooldown", "leading", "paused"].contains(&text.value)
        || text.value.starts_with("digest:");
    if text.value.ends_with(REQUIRED) {
        walk.bad(
            &text.span,
            format!("the lane name {} is reserved: it ends with `{REQUIRED}`", quoted(text.value)),
            "choose another name: lanes of `required` types get this ending by themselves",
        );
        return None;
    }
    if reserved {
        walk.bad(
            &text.span,
            format!("the lane name {} is reserved", quoted(text.value)),
            "it is the name of a policy's own lane: leave `lane` out, or choose another name",
        );
        return None;
    }
    walk.id(&text, "lane name");
    Some(text.value.to_owned())
}

fn condition(walk: &mut ConfigReader, section: &Section<'_>) -> Option<String> {
    let hint = "write an expression in quotes, such as \"event.data.amount > 100\"";
    expression(walk, section, "condition", hint, OF_CONDITION, Some(ValueKind::Bool))
}

/// An expression that may use these names, and has a value of this kind.
fn expression(
    walk: &mut ConfigReader,
    table: &Section<'_>,
    key: &str,
    hint: &str,
    names: &'static [Root],
    wanted: Option<ValueKind>,
) -> Option<String> {
    if !table.has(key) {
        return None;
    }
    let text = walk.text(table, key, hint)?;
    match Program::checked(text.value, names, wanted) {
        Ok(_) => Some(text.value.to_owned()),
        Err(fault) => {
            walk.bad(&text.within(fault.offset), fault.what, fault.help);
            None
        }
    }
}

fn policy(
    walk: &mut ConfigReader,
    kind: PolicyKind,
    table: &Section<'_>,
    known: &TypeReferences<'_>,
) -> Option<Policy> {
    match kind {
        PolicyKind::Now => Some(Policy::Now),
        PolicyKind::Never => Some(Policy::Never),
        PolicyKind::FirstEvent => {
            let decide = walk.word(table, "decide", &["first", "earliest"]);
            let decide = if decide == Some("earliest") { Decide::Earliest } else { Decide::First };
            let hold = wait(walk, table, "hold", "add how long the first entry waits")?;
            Some(Policy::FirstEvent { hold_ms: hold.value, decide })
        }
        PolicyKind::Cooldown => cooldown(walk, table),
        PolicyKind::Leading => {
            let hint = "add how long nothing is sent after a message";
            wait(walk, table, "quiet", hint).map(|quiet| Policy::Leading { quiet_ms: quiet.value })
        }
        PolicyKind::Digest => digest(walk, table, known),
    }
}

/// A duration that the policy cannot do without.
fn wait(
    walk: &mut ConfigReader,
    table: &Section<'_>,
    key: &str,
    hint: &str,
) -> Option<PlacedValue<i64>> {
    if !table.has(key) {
        walk.missing(table, key, &format!("{hint}, such as `{key} = \"5m\"`"));
        return None;
    }
    walk.duration(table, key)
}

fn cooldown(walk: &mut ConfigReader, table: &Section<'_>) -> Option<Policy> {
    let quiet = wait(walk, table, "quiet", "add how long it must be quiet");
    let max_wait = walk.duration_or_none(table, "max_wait");
    let quiet_ms = quiet?.value;
    let max_wait_ms = match max_wait {
        None => Some(quiet_ms.saturating_mul(4)),
        Some(None) => None,
        Some(Some(max_wait)) => {
            if max_wait.value < quiet_ms {
                let quiet = duration::print(quiet_ms);
                walk.bad(
                    &max_wait.span,
                    format!("`max_wait` is shorter than `quiet` ({quiet})"),
                    format!("write {quiet} or more, or \"none\" for no bound"),
                );
            }
            Some(max_wait.value)
        }
    };
    Some(Policy::Cooldown { quiet_ms, max_wait_ms })
}

fn digest(
    walk: &mut ConfigReader,
    table: &Section<'_>,
    known: &TypeReferences<'_>,
) -> Option<Policy> {
    if !table.has("digest") {
        walk.missing(table, "digest", "add `digest = \"NAME\"` and declare `[digests.NAME]`");
        return None;
    }
    let text = walk.text(table, "digest", "write the name of a digest in quotes")?;
    refer(walk, &text, "digest", "digests", &known.digests);
    Some(Policy::Digest { digest: text.value.to_owned() })
}
