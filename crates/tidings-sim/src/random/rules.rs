//! Random configurations that `tidings check` would pass.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;
use tidings_core::Rules;
use tidings_core::model::{DAY_MS, EMAIL, EMAIL_NO, HOUR_MS, HostText, INBOX, MINUTE_MS, OwnHours};
use tidings_core::rules::{
    Admission, AdmissionKeyPart, AllowedAddresses, Cap, Category, ChannelRules, ChoosableTimes,
    Decide, Defaults, Digest, Every, Policy, QuietHours, Route, StoreRules, TenantRules, TypeRules,
    UnknownTenant,
};

/// Greatest number of types.
pub(super) const TYPES: u8 = 5;
/// Greatest number of categories.
pub(super) const CATEGORIES: u8 = 2;
/// Greatest number of digests.
pub(super) const DIGESTS: u8 = 6;

const HOLDS: [i64; 5] = [MINUTE_MS, 2 * MINUTE_MS, 5 * MINUTE_MS, HOUR_MS, DAY_MS];
const AFTERS: [i64; 3] = [MINUTE_MS, HOUR_MS, DAY_MS];
const LOOK_BACKS: [i64; 3] = [2 * MINUTE_MS, HOUR_MS, DAY_MS];
const KEEPS: [i64; 3] = [35 * DAY_MS, 3 * DAY_MS, 36 * HOUR_MS];
/// Expressions that name one field, as the model can read them.
const KEYS: [&str; 4] = ["event.object.id", "event.target.id", "event.data.n", "event.actor.id"];
/// Conditions as the model can read them.
const CONDITIONS: [&str; 10] = [
    "event.data.n == 2",
    "event.t < now",
    "object.title != 'A title'",
    "object.data.n > 1",
    "has(target.id)",
    "has(event.target)",
    "recipient.tz == 'Europe/Paris'",
    "recipient.data.n < object.data.n",
    "event.body != 'One'",
    "has(event.body)",
];
/// Conditions where there are tenants.
const OF_TENANTS: [&str; 4] =
    ["tenant.id == 'n0'", "has(tenant.id)", "event.tenant != 'n1'", "tenant.data.n > 1"];
const SLOTS: [u16; 5] = [9 * 60, 2 * 60 + 30, 0, 60 + 30, 60];
const SPREADS: [u16; 5] = [0, 0, 30, 0, 3];
const MIN_ITEMS: [u32; 5] = [0, 2, 0, 3, 2];

/// Numbers from which rules are made.
#[derive(Clone, Debug)]
pub(super) struct RawRules {
    pub(super) types: Vec<Option<RawType>>,
    pub(super) keep: u8,
    /// Minute of the day of each digest: index into the slots.
    pub(super) slots: Vec<u8>,
    /// True if the lane `first_event` decides by the earliest.
    pub(super) earliest: bool,
    /// The policy kind of the lane `x`, and whether it decides by the earliest.
    pub(super) own: (u8, bool),
    /// The policy kind of types that have no kind of their own, so that lanes are often shared.
    pub(super) usual: u8,
    /// The quiet hours of the e-mail channel: index; beyond, none.
    pub(super) quiet: u8,
    /// The caps of the e-mail channel: index; beyond, none.
    pub(super) caps: u8,
    /// The addresses that the e-mail channel allows: index; beyond, all.
    pub(super) allow: u8,
    /// Tenants are on, and an event makes one that isn't there, or not.
    pub(super) tenants: Option<bool>,
}

/// Numbers from which a type is made.
#[derive(Clone, Debug)]
pub(super) struct RawType {
    category: u8,
    /// Includes the actor, is urgent, is required.
    flags: (bool, bool, bool),
    look_back: Option<u8>,
    drop_if_seen: Option<bool>,
    condition: Option<u8>,
    admission: (u8, u8),
    inbox: bool,
    email: RawRoute,
}

#[derive(Clone, Debug)]
struct RawRoute {
    kind: u8,
    hold: u8,
    wait: u8,
    digest: u8,
    own: bool,
    most: u8,
    /// Index, where its type has an inbox; beyond, none.
    after: u8,
}

/// A change of the configuration.
#[derive(Clone, Debug)]
pub(super) enum RawChange {
    Type(u8, Option<RawType>),
    Keep(u8),
    Slot(u8, u8),
    Decide(bool),
    Own(u8, bool),
    Usual(u8),
    Quiet(u8),
    Caps(u8),
    Make(bool),
    Allow(u8),
}

/// Rules, of which a percentage has tenants.
pub(super) fn raw_rules(with_tenants: u8) -> impl Strategy<Value = RawRules> {
    let types = vec(proptest::option::weighted(0.95, raw_type()), usize::from(TYPES));
    let slots = vec(0..5_u8, usize::from(DIGESTS));
    let keep = prop_oneof![5 => Just(0_u8), 1 => 1..3_u8];
    let lanes = (0..KINDS - 1, any::<bool>(), 0..KINDS - 1);
    let quiet = prop_oneof![2 => Just(u8::MAX), 1 => 0..HOURS];
    let caps = prop_oneof![2 => Just(u8::MAX), 1 => 0..CAPS];
    let tenants = (0..100_u8, any::<bool>()).prop_map(move |(nth, make)| {
        // The simplest have none.
        (nth >= 100 - with_tenants).then_some(make)
    });
    let allow = prop_oneof![5 => Just(u8::MAX), 1 => 0..ALLOWS];
    let bounds = (quiet, caps, tenants, allow);
    (types, keep, slots, any::<bool>(), lanes, bounds).prop_map(
        |(
            types,
            keep,
            slots,
            earliest,
            (own, own_earliest, usual),
            (quiet, caps, tenants, allow),
        )| {
            RawRules {
                types,
                keep,
                slots,
                earliest,
                own: (own, own_earliest),
                usual,
                quiet,
                caps,
                allow,
                tenants,
            }
        },
    )
}

fn raw_type() -> impl Strategy<Value = RawType> {
    let flags = (
        proptest::bool::weighted(0.2),
        proptest::bool::weighted(0.08),
        proptest::bool::weighted(0.1),
    );
    let look_back = proptest::option::weighted(0.15, 0..3_u8);
    let drop_if_seen = proptest::option::weighted(0.3, any::<bool>());
    let kind = prop_oneof![4 => Just(USUAL), 4 => 0..=KINDS];
    let email = (
        kind,
        0..5_u8,
        0..4_u8,
        0..DIGESTS,
        proptest::bool::weighted(0.3),
        prop_oneof![3 => Just(0), 1 => 1..5_u8],
        prop_oneof![3 => Just(u8::MAX), 2 => 0..AFTERS.len() as u8],
    );
    (
        0..CATEGORIES,
        (
            flags,
            proptest::option::weighted(0.2, 0..(CONDITIONS.len() + OF_TENANTS.len()) as u8),
            (prop_oneof![3 => Just(0_u8), 2 => 1..4_u8], 0..3_u8),
        ),
        look_back,
        drop_if_seen,
        proptest::bool::weighted(0.6),
        email,
    )
        .prop_map(
            |(
                category,
                (flags, condition, admission),
                look_back,
                drop_if_seen,
                inbox,
                (kind, hold, wait, digest, own, most, after),
            )| {
                let email = RawRoute { kind, hold, wait, digest, own, most, after };
                RawType {
                    category,
                    flags,
                    look_back,
                    drop_if_seen,
                    condition,
                    admission,
                    inbox,
                    email,
                }
            },
        )
}

pub(super) fn raw_change() -> impl Strategy<Value = RawChange> {
    prop_oneof![
        6 => (0..TYPES, proptest::option::weighted(0.8, raw_type()))
            .prop_map(|(index, raw)| RawChange::Type(index, raw)),
        1 => (0..3_u8).prop_map(RawChange::Keep),
        1 => (0..DIGESTS, 0..5_u8).prop_map(|(index, slot)| RawChange::Slot(index, slot)),
        1 => any::<bool>().prop_map(RawChange::Decide),
        1 => (0..KINDS, any::<bool>()).prop_map(|(kind, earliest)| RawChange::Own(kind, earliest)),
        1 => (0..KINDS).prop_map(RawChange::Usual),
        1 => (0..2 * HOURS).prop_map(RawChange::Quiet),
        1 => (0..2 * CAPS).prop_map(RawChange::Caps),
        1 => any::<bool>().prop_map(RawChange::Make),
        1 => (0..2 * ALLOWS).prop_map(RawChange::Allow),
    ]
}

impl RawRules {
    pub(super) fn change(&mut self, change: &RawChange) {
        match change {
            RawChange::Type(index, raw) => self.types[usize::from(*index)].clone_from(raw),
            RawChange::Keep(keep) => self.keep = *keep,
            RawChange::Slot(index, slot) => self.slots[usize::from(*index)] = *slot,
            RawChange::Decide(earliest) => self.earliest = *earliest,
            RawChange::Own(kind, earliest) => self.own = (*kind, *earliest),
            RawChange::Usual(kind) => self.usual = *kind,
            RawChange::Quiet(quiet) => self.quiet = *quiet,
            RawChange::Caps(caps) => self.caps = *caps,
            RawChange::Allow(allow) => self.allow = *allow,
            RawChange::Make(make) => self.tenants = self.tenants.map(|_| *make),
        }
    }

    pub(super) fn build(&self) -> Rules {
        let keep_ms = KEEPS[usize::from(self.keep) % KEEPS.len()];
        let digests: BTreeMap<String, Digest> = (0..DIGESTS)
            .map(|index| (digest_name(index), self.digest(index)))
            .filter(|(_, digest)| period(digest.every) <= keep_ms)
            .collect();
        let types = self.types.iter().enumerate().filter_map(|(index, raw)| {
            let name = format!("t{index}");
            raw.as_ref().map(|raw| (name, self.type_rules(raw, &digests)))
        });
        Rules {
            resolver: None,
            feedback: Default::default(),
            limits: tidings_core::model::Limits::default(),
            presentation: Default::default(),
            caps: caps(self.caps),
            defaults: Defaults::default(),
            categories: (0..CATEGORIES)
                .map(|index| (format!("c{index}"), Category::default()))
                .collect(),
            types: types.collect(),
            digests,
            store: StoreRules { keep_ms, ..StoreRules::default() },
            channels: self.channels(),
            tenants: self.tenants.map(|make| TenantRules {
                unknown: if make { UnknownTenant::Make } else { UnknownTenant::Refuse },
            }),
            ..Rules::default()
        }
    }

    fn channels(&self) -> BTreeMap<String, ChannelRules> {
        let (quiet_hours, allow) = (quiet_hours(self.quiet), allow(self.allow));
        if quiet_hours.is_none() && allow.is_none() {
            return BTreeMap::new();
        }
        let rules = ChannelRules { quiet_hours, allow, ..ChannelRules::default() };
        BTreeMap::from([(EMAIL.to_owned(), rules)])
    }

    fn digest(&self, index: u8) -> Digest {
        let (every, tz) = match index {
            0 => (Every::Day, None),
            1 => (Every::Week(1), None),
            2 => (Every::Month(31), None),
            5 => (Every::Hours(6), None),
            3 => (Every::Weekday, Some("Europe/Paris".to_owned())),
            _ => (Every::Day, Some("America/New_York".to_owned())),
        };
        let slot = self.slots[usize::from(index)];
        Digest {
            every,
            at_minute: SLOTS[usize::from(slot) % SLOTS.len()],
            tz,
            spread_minutes: SPREADS[usize::from(slot) % SPREADS.len()],
            min_items: MIN_ITEMS[usize::from(slot) % MIN_ITEMS.len()],
            choose: ChoosableTimes {
                day: matches!(every, Every::Week(_) | Every::Month(_)),
                minute: !matches!(every, Every::Hours(_)) && slot.is_multiple_of(2),
            },
        }
    }

    fn type_rules(&self, raw: &RawType, digests: &BTreeMap<String, Digest>) -> TypeRules {
        let mut channels = BTreeMap::new();
        if let Some(mut route) = self.route(&raw.email, digests) {
            let after_ms = AFTERS.get(usize::from(raw.email.after)).copied();
            route.after_ms = after_ms.filter(|_| raw.inbox);
            channels.insert(EMAIL.to_owned(), route);
        }
        if raw.inbox || channels.is_empty() {
            channels.insert(INBOX.to_owned(), Route::of(Policy::Now));
        }
        TypeRules {
            category: format!("c{}", raw.category),
            include_actor: raw.flags.0,
            urgent: raw.flags.1,
            required: raw.flags.2,
            look_back_ms: raw.look_back.map(|index| LOOK_BACKS[usize::from(index)]),
            drop_if_seen: raw.drop_if_seen,
            admission: Admission::ALL[usize::from(raw.admission.0)],
            per: AdmissionKeyPart::ALL[usize::from(raw.admission.1)],
            condition: raw.condition.map(|index| self.condition(index).to_owned()),
            group: None,
            schema: None,
            unresolved: Default::default(),
            unknown_outcome: Default::default(),
            give_up_after_ms: None,
            channels,
        }
    }

    /// A condition; of tenants where there are some.
    fn condition(&self, index: u8) -> &'static str {
        let index = usize::from(index);
        let of_tenants = index.checked_sub(CONDITIONS.len()).filter(|_| self.tenants.is_some());
        of_tenants.map_or_else(|| CONDITIONS[index % CONDITIONS.len()], |index| OF_TENANTS[index])
    }

    /// All types of a lane have one policy kind; digests the same digest, `first_event` one `decide`.
    fn route(&self, raw: &RawRoute, digests: &BTreeMap<String, Digest>) -> Option<Route> {
        let kind = if raw.kind == USUAL { self.usual } else { raw.kind };
        let own = raw.own && kind == self.own.0 && kind != NEVER;
        let earliest = if own { self.own.1 } else { self.earliest };
        let digest = if own { 0 } else { raw.digest };
        let hold_ms = HOLDS[usize::from(raw.hold)];
        let policy = match kind {
            0 => Policy::Now,
            1 => Policy::FirstEvent {
                hold_ms,
                decide: if earliest { Decide::Earliest } else { Decide::First },
            },
            2 => Policy::Cooldown {
                quiet_ms: hold_ms,
                max_wait_ms: [None, Some(1), Some(4), None][usize::from(raw.wait)]
                    .map(|times: i64| times * hold_ms),
            },
            3 => Policy::Leading { quiet_ms: hold_ms },
            4 if digests.contains_key(&digest_name(digest)) => {
                Policy::Digest { digest: digest_name(digest) }
            }
            4 => Policy::Digest { digest: digest_name(0) },
            NEVER => Policy::Never,
            _ => return None,
        };
        let may_have_key = matches!(kind, 1..=3);
        // About one in two, by a number that decides nothing else of such a policy.
        let index = usize::from(raw.digest * 2 + raw.wait % 2);
        let has_tenants = self.tenants.is_some();
        let of_tenant = (has_tenants && index == KEYS.len()).then_some(&"event.tenant");
        let key = KEYS.get(index).or(of_tenant).filter(|_| may_have_key);
        Some(Route {
            lane: own.then(|| "x".to_owned()),
            batch_key: key.map(|key| (*key).to_owned()),
            max_items: matches!(kind, 1..=4)
                .then_some(u16::from(raw.most))
                .filter(|most| *most > 0),
            ..Route::of(policy)
        })
    }
}

/// Policy kinds: now, first_event, cooldown, leading, digest, never; beyond, no e-mail at all.
const KINDS: u8 = 6;
const NEVER: u8 = 5;
const USUAL: u8 = u8::MAX;

/// Number of caps.
const CAPS: u8 = 4;

fn caps(index: u8) -> Vec<Cap> {
    let caps: &[(i64, u32)] = match index {
        0 => &[(HOUR_MS, 1)],
        1 => &[(5 * MINUTE_MS, 1), (DAY_MS, 3)],
        2 => &[(31 * DAY_MS, 2)],
        3 => &[(2 * MINUTE_MS, 2)],
        _ => &[],
    };
    let cap = |&(per_ms, max)| Cap { channel: EMAIL.to_owned(), per_ms, max };
    caps.iter().map(cap).collect()
}

/// Number of quiet hours.
pub(super) const HOURS: u8 = 6;

/// Number of the choices of allowed addresses.
const ALLOWS: u8 = 3;

/// The addresses that a channel of mails allows: a domain of two, and some of its mailboxes.
fn allow(index: u8) -> Option<Vec<AllowedAddresses>> {
    let texts: &[&str] = match index {
        0 => &["@example.org"],
        1 => &["@b.example.org"],
        2 => &["R1@Example.org", "r2@example.org", "@b.example.org"],
        _ => return None,
    };
    Some(texts.iter().map(|text| AllowedAddresses::new(EMAIL_NO, text)).collect())
}

/// Quiet hours: a night, a noon, most of a day, some days, and such as clock changes cut or leave out.
fn quiet_hours(index: u8) -> Option<QuietHours> {
    let (from, to, days) = match index {
        0 => (22 * 60, 7 * 60, QuietHours::EVERY_DAY),
        1 => (9 * 60, 9 * 60 + 3, QuietHours::EVERY_DAY),
        2 => (60, 0, QuietHours::EVERY_DAY),
        3 => (23 * 60, 8 * 60, 0b110_0000),
        4 => (2 * 60 + 15, 2 * 60 + 45, QuietHours::EVERY_DAY),
        5 => (2 * 60 + 30, 2 * 60, QuietHours::EVERY_DAY),
        _ => return None,
    };
    Some(QuietHours { from_minute: from, to_minute: to, days })
}

/// Data with a number, a text, nothing, or none.
pub(super) fn data(which: u8) -> Option<serde_json::Map<String, serde_json::Value>> {
    let n = match which % 5 {
        0 => json!(2.0),
        1 => json!("2"),
        2 => json!(2.5),
        3 => json!(null),
        _ => return None,
    };
    Some([("n".to_owned(), n)].into_iter().collect())
}

/// A text of a person, one with a line break, or none.
/// A host's text: one, or two by locale in either order.
pub(super) fn body(which: u8) -> Option<HostText> {
    match which % 5 {
        0 => Some("One".into()),
        1 => Some("Two\nlines".into()),
        2 => by_locale([("en", "One"), ("de", "Eins")]),
        3 => by_locale([("de", "Eins"), ("en", "One")]),
        _ => None,
    }
}

/// A text by locale.
pub(super) fn by_locale(texts: [(&str, &str); 2]) -> Option<HostText> {
    let texts = texts.map(|(tag, text)| (tag.to_owned(), text.to_owned()));
    HostText::by_locale(texts.into())
}

/// Quiet hours of one's own: one of those, or none at all; `None` = those of each channel.
pub(super) fn own_hours(index: u8) -> Option<Box<OwnHours>> {
    (index <= HOURS).then(|| {
        let (hours, channels) = (quiet_hours(index), None);
        Box::new(OwnHours { hours, channels })
    })
}

/// The name of a digest that is always configured: index 0 is daily, which fits in any `keep`.
pub(super) fn digest_name(index: u8) -> String {
    format!("d{index}")
}

fn period(every: Every) -> i64 {
    match every {
        Every::Day | Every::Hours(_) => DAY_MS,
        Every::Weekday => 3 * DAY_MS,
        Every::Week(_) => 7 * DAY_MS,
        Every::Month(_) => 31 * DAY_MS,
    }
}
