//! Raw random numbers from which steps are built.

use proptest::prelude::*;

use super::rules::{CATEGORIES, DIGESTS, HOURS, RawChange, TYPES, raw_change};

/// Number of gaps.
pub(super) const GAPS: u8 = 20;
pub(super) const TOPICS: [&str; 6] = ["a", "a/b", "a/b/c", "a/bc", "b", "b/c"];
pub(super) const OBJECTS: u8 = 6;
/// Greatest number of recipients.
pub const RECIPIENTS: u8 = 9;
/// Greatest number of tenants.
pub const TENANTS: u8 = 3;

/// Numbers from which a profile is made.
#[derive(Clone, Debug)]
pub(super) struct RawPerson {
    pub(super) zone: u8,
    pub(super) state: u8,
    pub(super) email: bool,
    pub(super) place: u8,
    /// Own quiet hours; beyond, none at all, and then the channel's.
    pub(super) quiet: u8,
}

/// Numbers from which a step is made.
#[derive(Clone, Debug)]
pub(super) struct RawStep {
    pub(super) gap: u8,
    /// The tenant that it names, if tenants are on; beyond, none.
    pub(super) of: u8,
    pub(super) op: RawOp,
}

#[derive(Clone, Debug)]
pub(super) enum RawOp {
    Publish(RawEvent),
    Person(u8, RawPerson, u8),
    Follow(u8, u8, bool),
    Mark(u8, u8, u8),
    Cancel(u8),
    Preference(u8, u8, bool, u8),
    Flush(u8, u8),
    Object(u8, u8),
    Forget(u8),
    Pause(u8, bool),
    Suppress(u8, bool, u8),
    Device(u8, bool, bool),
    Choose(u8, Vec<(u8, bool, u8)>, bool),
    Erase(u8),
    Rules(RawChange),
    Tenant(RawTenant),
    Member(u8, bool),
    DeleteTenant,
}

/// Numbers from which a tenant is made, or changed.
#[derive(Clone, Debug)]
pub(super) struct RawTenant {
    pub(super) zone: u8,
    pub(super) quiet: u8,
    pub(super) disabled: bool,
    pub(super) chosen: Vec<(u8, bool, u8)>,
    /// The fields that are given.
    pub(super) what: u8,
}

#[derive(Clone, Debug)]
pub(super) struct RawEvent {
    pub(super) kind: u8,
    pub(super) object: u8,
    pub(super) actor: u8,
    pub(super) named: u8,
    /// The data of those that are named.
    pub(super) profile: Option<(RawPerson, u8)>,
    pub(super) topics: u8,
    pub(super) circle: u8,
    pub(super) everyone: bool,
    /// A bit for each recipient who is left out.
    pub(super) except: u8,
    pub(super) channels: u8,
    pub(super) deliver: Option<u8>,
    pub(super) expires: Option<u8>,
    pub(super) key: u8,
    pub(super) again: u8,
}

pub(super) fn raw_person() -> impl Strategy<Value = RawPerson> {
    let state = prop_oneof![8 => Just(0_u8), 3 => Just(1), 1 => Just(2)];
    let quiet = prop_oneof![3 => Just(u8::MAX), 2 => 0..=HOURS];
    let email = proptest::bool::weighted(0.85);
    (0..7_u8, state, email, 0..4_u8, quiet).prop_map(|(zone, state, email, place, quiet)| {
        RawPerson { zone, state, email, place, quiet }
    })
}

/// Number of levels of a preference: types, categories, all categories.
pub(super) const LEVELS: u8 = TYPES + CATEGORIES + 1;
/// Number of scopes of a preference: levels, topics, objects.
pub(super) const SCOPES: u8 = LEVELS + TOPICS.len() as u8 + OBJECTS;

fn raw_choice() -> impl Strategy<Value = (u8, bool, u8)> {
    (
        prop_oneof![3 => 0..LEVELS, 2 => LEVELS..SCOPES],
        proptest::bool::weighted(0.3),
        0..9 + DIGESTS,
    )
}

pub(super) fn raw_step() -> impl Strategy<Value = RawStep> {
    let gap = prop_oneof![
        8 => Just(0_u8),
        14 => 1..9_u8,
        3 => 9..12_u8,
        2 => 12..GAPS - 2,
        1 => 0..GAPS,
    ];
    // Most concerns the first two, so that much happens to one person.
    let person = || prop_oneof![3 => 0..2_u8, 1 => 0..RECIPIENTS];
    let op = prop_oneof![
        30 => raw_event().prop_map(RawOp::Publish),
        5 => (person(), raw_person(), 0..64_u8).prop_map(|(a, b, c)| RawOp::Person(a, b, c)),
        3 => (person(), 0..6_u8, any::<bool>()).prop_map(|(a, b, c)| RawOp::Follow(a, b, c)),
        8 => (person(), 0..12_u8, any::<u8>()).prop_map(|(a, b, c)| RawOp::Mark(a, b, c)),
        4 => any::<u8>().prop_map(RawOp::Cancel),
        14 => (person(), 0..LEVELS, proptest::bool::weighted(0.08), 0..9 + DIGESTS)
            .prop_map(|(a, b, c, d)| RawOp::Preference(a, b, c, d)),
        6 => (person(), LEVELS..SCOPES, proptest::bool::weighted(0.3), 0..15_u8)
            .prop_map(|(a, b, c, d)| RawOp::Preference(a, b, c, d)),
        4 => (person(), 0..12_u8).prop_map(|(a, b)| RawOp::Flush(a, b)),
        5 => (0..OBJECTS, 0..14_u8).prop_map(|(a, b)| RawOp::Object(a, b)),
        1 => (0..4_u8).prop_map(RawOp::Forget),
        4 => (0..TYPES + 2, proptest::bool::weighted(0.4)).prop_map(|(a, b)| RawOp::Pause(a, b)),
        3 => (person(), proptest::bool::weighted(0.6), 0..13_u8)
            .prop_map(|(a, b, c)| RawOp::Suppress(a, b, c)),
        4 => (person(), any::<bool>(), proptest::bool::weighted(0.7))
            .prop_map(|(a, b, c)| RawOp::Device(a, b, c)),
        3 => (person(), proptest::collection::vec(raw_choice(), 0..4), any::<bool>())
            .prop_map(|(a, b, c)| RawOp::Choose(a, b, c)),
        1 => person().prop_map(RawOp::Erase),
        7 => raw_change().prop_map(RawOp::Rules),
        4 => raw_tenant().prop_map(RawOp::Tenant),
        4 => (person(), any::<bool>()).prop_map(|(a, b)| RawOp::Member(a, b)),
        1 => Just(RawOp::DeleteTenant),
    ];
    let of = prop_oneof![3 => Just(TENANTS), 5 => 0..TENANTS];
    (gap, of, op).prop_map(|(gap, of, op)| RawStep { gap, of, op })
}

fn raw_tenant() -> impl Strategy<Value = RawTenant> {
    let disabled = proptest::bool::weighted(0.3);
    let chosen = proptest::collection::vec((0..LEVELS, Just(false), 0..9 + DIGESTS), 0..3);
    (0..7_u8, 0..2 * HOURS, disabled, chosen, 0..16_u8).prop_map(
        |(zone, quiet, disabled, chosen, what)| RawTenant { zone, quiet, disabled, chosen, what },
    )
}

fn raw_event() -> impl Strategy<Value = RawEvent> {
    let audience = (
        prop_oneof![2 => Just(0_u8), 2 => 1..4_u8, 1 => any::<u8>()],
        prop_oneof![2 => Just(0_u8), 2 => 0..64_u8],
        prop_oneof![5 => Just(3_u8), 1 => 0..3_u8],
        proptest::bool::weighted(0.35),
        prop_oneof![5 => Just(0_u8), 1 => any::<u8>()],
        proptest::option::weighted(0.15, (raw_person(), 0..64_u8)),
    );
    let times =
        (proptest::option::weighted(0.25, 0..GAPS), proptest::option::weighted(0.1, 0..GAPS));
    let rest = (prop_oneof![5 => Just(0_u8), 1 => 1..3_u8], 0..6_u8, any::<u8>());
    (0..TYPES, 0..OBJECTS, 0..4 * RECIPIENTS, audience, times, rest).prop_map(
        |(
            kind,
            object,
            actor,
            (named, topics, circle, everyone, except, profile),
            (deliver, expires),
            (channels, key, again),
        )| RawEvent {
            kind,
            object,
            actor,
            named,
            profile,
            topics,
            circle,
            everyone,
            except,
            channels,
            deliver,
            expires,
            key,
            again,
        },
    )
}
