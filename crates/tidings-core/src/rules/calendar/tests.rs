use std::path::PathBuf;

use proptest::prelude::*;

use crate::model::preference::SlotDay;
use crate::model::time::{DAY_MS, HOUR_MS, SECOND_MS};
use crate::rules::calendar::*;
use crate::rules::{ChoosableTimes, HOURS, QUARTER_MINUTES};

fn digest(every: Every, at: (u16, u16)) -> Digest {
    Digest::new(every, at.0 * 60 + at.1)
}

fn zone(name: &str) -> Zone {
    Zone::find(name).unwrap()
}

fn instant(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

fn slots(digest: &Digest, zone_name: &str, after: &str, count: usize) -> Vec<String> {
    let mut at = instant(after);
    let next = |_| {
        at = next_slot(digest, &zone(zone_name), at);
        at.to_string()
    };
    (0..count).map(next).collect()
}

#[test]
fn zones_have_iana_names() {
    assert_eq!(zone("europe/paris").name(), "Europe/Paris");
    assert_eq!(zone("UTC").name(), "UTC");
    assert_eq!(Zone::utc().name(), "UTC");
    for none in ["", "Europe/Nowhere", "EST5EDT,M3.2.0,M11.1.0", "+01:00", "Etc/Unknown", "../x"] {
        assert_eq!(Zone::find(none), None, "{none}");
    }
}

#[test]
fn h6_one_zone_is_due_in_each_hour() {
    let at_nine = digest(Every::Day, (9, 0));
    let mut hours: Vec<i64> = (-11..=12_i64)
        .map(|west| zone(&format!("Etc/GMT{west:+}")))
        .map(|zone| next_slot(&at_nine, &zone, instant("2024-05-01T00:00:00Z")).0 / HOUR_MS % 24)
        .collect();
    hours.sort_unstable();
    assert_eq!(hours, (0..24).collect::<Vec<_>>());
    let after = "2024-05-01T00:00:00Z";
    assert_eq!(slots(&at_nine, "Asia/Kolkata", after, 1), ["2024-05-01T03:30:00Z"]);
    assert_eq!(slots(&at_nine, "Asia/Kathmandu", after, 1), ["2024-05-01T03:15:00Z"]);
}

#[test]
fn h8_weeks_cross_the_date_line() {
    let after = "2024-05-01T00:00:00Z";
    let auckland = slots(&digest(Every::Week(1), (1, 0)), "Pacific/Auckland", after, 2);
    assert_eq!(auckland, ["2024-05-05T13:00:00Z", "2024-05-12T13:00:00Z"]);
    let honolulu = slots(&digest(Every::Week(7), (23, 0)), "Pacific/Honolulu", after, 2);
    assert_eq!(honolulu, ["2024-05-06T09:00:00Z", "2024-05-13T09:00:00Z"]);
}

#[test]
fn h9_a_gap_moves_and_an_overlap_counts_once() {
    let gap = slots(&digest(Every::Day, (2, 30)), "America/New_York", "2024-03-09T12:00:00Z", 2);
    assert_eq!(gap, ["2024-03-10T07:00:00Z", "2024-03-11T06:30:00Z"]);
    let twice = slots(&digest(Every::Day, (1, 30)), "America/New_York", "2024-11-02T12:00:00Z", 2);
    assert_eq!(twice, ["2024-11-03T05:30:00Z", "2024-11-04T06:30:00Z"]);
}

#[test]
fn gaps_at_midnight_and_skipped_days_move() {
    let midnight = digest(Every::Day, (0, 0));
    let beirut = slots(&midnight, "Asia/Beirut", "2022-03-26T12:00:00Z", 2);
    assert_eq!(beirut, ["2022-03-26T22:00:00Z", "2022-03-27T21:00:00Z"]);
    let sao_paulo = slots(&midnight, "America/Sao_Paulo", "2018-11-03T12:00:00Z", 2);
    assert_eq!(sao_paulo, ["2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"]);
    // Apia had no 30 December 2011: its slot is the first minute of the 31st.
    let apia = slots(&digest(Every::Day, (9, 0)), "Pacific/Apia", "2011-12-29T12:00:00Z", 3);
    assert_eq!(apia, ["2011-12-29T19:00:00Z", "2011-12-30T10:00:00Z", "2011-12-30T19:00:00Z"]);
}

#[test]
fn months_lack_days() {
    let last = slots(&digest(Every::Month(31), (9, 0)), "UTC", "2024-01-31T09:00:00Z", 4);
    assert_eq!(
        last,
        [
            "2024-02-29T09:00:00Z",
            "2024-03-31T09:00:00Z",
            "2024-04-30T09:00:00Z",
            "2024-05-31T09:00:00Z"
        ]
    );
    let weekdays = slots(&digest(Every::Weekday, (9, 0)), "UTC", "2024-05-03T08:59:59.999Z", 2);
    assert_eq!(weekdays, ["2024-05-03T09:00:00Z", "2024-05-06T09:00:00Z"]);
}

#[test]
fn the_ends_of_the_calendar_are_safe() {
    for every in [Every::Day, Every::Weekday, Every::Week(7), Every::Month(31)] {
        for name in ["Pacific/Kiritimati", "Etc/GMT+12", "UTC", "Africa/Monrovia"] {
            for at in [(0, 0), (23, 59)] {
                let digest = digest(every, at);
                for text in ["0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z"] {
                    let slot = next_slot(&digest, &zone(name), instant(text));
                    assert!(slot > instant(text) && slot < instant("0001-03-01T00:00:00Z"));
                }
                let near = instant("9999-12-01T00:00:00Z");
                assert!(next_slot(&digest, &zone(name), near) > near);
                for end in [Instant::MAX, Instant(i64::MAX)] {
                    assert_eq!(next_slot(&digest, &zone(name), end), Instant::MAX);
                }
                assert!(
                    next_slot(&digest, &zone(name), Instant(i64::MIN))
                        >= Instant::MIN.plus_ms(-2 * DAY_MS)
                );
            }
        }
    }
    for every in [Every::Month(0), Every::Hours(0), Every::Hours(u8::MAX)] {
        let odd = Digest::new(every, u16::MAX);
        assert!(next_slot(&odd, &zone("UTC"), Instant(0)) > Instant(0));
    }
}

/// Returns true if a date is one of a rule, said once more and otherwise.
fn is_date(every: Every, date: Date) -> bool {
    let weekday = date.weekday().to_monday_one_offset().cast_unsigned();
    let (day, days) = (date.day().cast_unsigned(), date.days_in_month().cast_unsigned());
    match every {
        Every::Day | Every::Hours(_) => true,
        Every::Weekday => weekday < 6,
        Every::Week(on) => weekday == on,
        Every::Month(on) => day == on || day == days && on > days,
    }
}

/// Walks second by second or minute by minute from some days before, and notes the highest wall
/// minute that the clock has shown: a slot is where the clock first reaches or passes its wall time
/// at a whole minute.
fn walked(digest: &Digest, zone: &Zone, after: Instant, step_ms: i64) -> Instant {
    let wall_seconds = |at: i64| {
        let at = Timestamp::from_millisecond(at).unwrap();
        at.as_second() + i64::from(zone.0.to_offset(at).seconds())
    };
    let start = (after.0 - 2 * DAY_MS).div_euclid(MINUTE_MS) * MINUTE_MS;
    let mut reached = wall_seconds(start).div_euclid(60);
    for at in (start + step_ms..).step_by(usize::try_from(step_ms).unwrap()) {
        let wall = wall_seconds(at);
        if wall % 60 != 0 || wall / 60 <= reached {
            continue;
        }
        let passed = reached + 1..=wall / 60;
        reached = wall / 60;
        let every = match digest.every {
            Every::Hours(hours) => 60 * i64::from(hours),
            _ => 1440,
        };
        let hit = passed.into_iter().any(|minute| {
            let date = Timestamp::from_second(minute * 60).unwrap();
            (minute - i64::from(digest.at_minute)).rem_euclid(every) == 0
                && is_date(digest.every, TimeZone::UTC.to_datetime(date).date())
        });
        if hit && at > after.0 {
            return Instant(at);
        }
    }
    unreachable!("the walk has no end")
}

/// Instants around changes of clocks, some of them strange.
fn turning_points() -> impl Strategy<Value = (&'static str, i64)> {
    prop::sample::select(vec![
        ("America/New_York", "2024-03-10T07:00:00Z"),
        ("America/New_York", "2024-11-03T06:00:00Z"),
        ("Australia/Lord_Howe", "2024-04-06T15:00:00Z"),
        ("Australia/Lord_Howe", "2024-10-05T15:30:00Z"),
        ("Asia/Beirut", "2022-03-26T22:00:00Z"),
        ("America/Sao_Paulo", "2018-11-04T03:00:00Z"),
        ("America/Sao_Paulo", "2018-02-18T02:00:00Z"),
        ("America/Havana", "2024-11-03T05:00:00Z"),
        ("Pacific/Apia", "2011-12-30T10:00:00Z"),
        ("Pacific/Kwajalein", "1993-08-21T12:00:00Z"),
        ("Pacific/Kwajalein", "1969-09-30T13:00:00Z"),
        ("Africa/Casablanca", "2024-03-10T02:00:00Z"),
        ("Antarctica/Troll", "2024-03-31T01:00:00Z"),
        ("Europe/Dublin", "2024-10-27T01:00:00Z"),
        ("Asia/Pyongyang", "2018-05-04T15:00:00Z"),
    ])
    .prop_map(|(zone, at)| (zone, instant(at).0))
}

fn rule() -> impl Strategy<Value = Digest> {
    let every = prop_oneof![
        4 => Just(Every::Day),
        1 => Just(Every::Weekday),
        1 => (1_u8..=7).prop_map(Every::Week),
        1 => (1_u8..=31).prop_map(Every::Month),
        3 => prop::sample::select(&HOURS[..]).prop_map(Every::Hours),
    ];
    let minute = prop_oneof![0_u16..300, 0_u16..1440];
    (every, minute).prop_map(|(every, at_minute)| Digest::new(every, at_minute))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn slots_are_those_of_a_minute_by_minute_walk(
        (name, around) in turning_points(),
        minutes in -2 * 1440_i64..1440,
        ms in prop_oneof![Just(0), 0..MINUTE_MS],
        digest in rule(),
    ) {
        let after = Instant(around + minutes * MINUTE_MS + ms);
        let zone = zone(name);
        prop_assert_eq!(next_slot(&digest, &zone, after), walked(&digest, &zone, after, MINUTE_MS));
    }

    #[test]
    fn slots_at_own_times_are_those_of_a_walk_where_they_may_be_chosen(
        (name, around) in turning_points(),
        minutes in -2 * 1440_i64..1440,
        digest in rule(),
        choose in (any::<bool>(), any::<bool>()),
        week_day in 1_u8..=7,
        month_day in 1_u8..=31,
        of_month in any::<bool>(),
        quarter in 0_u16..96,
    ) {
        let day = if of_month { SlotDay::Month(month_day) } else { SlotDay::Week(week_day) };
        let own = OwnTimes { day: Some(day), minute: Some(quarter * QUARTER_MINUTES) };
        let choose = ChoosableTimes { day: choose.0, minute: choose.1 };
        let digest = Digest { choose, ..digest };
        // What the walk looks for, said once more.
        let mut expected = digest.clone();
        match digest.every {
            Every::Week(_) if choose.day && !of_month => expected.every = Every::Week(week_day),
            Every::Month(_) if choose.day && of_month => expected.every = Every::Month(month_day),
            _ => {}
        }
        if choose.minute && !matches!(digest.every, Every::Hours(_)) {
            expected.at_minute = quarter * QUARTER_MINUTES;
        }
        let after = Instant(around + minutes * MINUTE_MS);
        let zone = zone(name);
        let slot = next_slot(&digest.at_own_times(own), &zone, after);
        prop_assert_eq!(slot, walked(&expected, &zone, after, MINUTE_MS));
    }

    #[test]
    fn offsets_with_seconds_keep_whole_minutes(
        (name, around) in prop::sample::select(vec![
            ("Africa/Monrovia", "1972-01-07T00:44:30Z"),
            ("Europe/Amsterdam", "1937-06-30T22:40:28Z"),
            ("America/New_York", "1883-11-18T17:00:00Z"),
            ("Asia/Manila", "1844-12-31T15:56:08Z"),
            ("America/Juneau", "1867-10-19T15:33:32Z"),
        ]),
        minutes in -1500_i64..1500,
        at_minute in 0_u16..1440,
    ) {
        let digest = Digest::new(Every::Day, at_minute);
        let after = Instant(instant(around).0 + minutes * MINUTE_MS);
        let zone = zone(name);
        prop_assert_eq!(next_slot(&digest, &zone, after), walked(&digest, &zone, after, SECOND_MS));
    }
}

/// The given data, where it is there.
fn given(path: &str) -> Option<String> {
    let shared = std::env::var_os("TIDINGS_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    );
    let text = std::fs::read_to_string(shared.join(path)).ok();
    if text.is_none() {
        println!("skipped: {path} is not there");
    }
    text
}

/// A line of the file: the zone, the instant, seconds since 1970 on the wall, the offset.
fn vector(line: &str) -> (&str, i64, i64, i64) {
    let fields: Vec<&str> = line.split('\t').collect();
    let utc = instant(fields[1]).0 / SECOND_MS;
    let wall = instant(&format!("{}Z", fields[2])).0 / SECOND_MS;
    (fields[0], utc, wall, fields[5].parse().unwrap())
}

#[test]
fn the_transitions_of_2005_to_2025_hold() {
    let Some(text) = given("data/vectors/tz_transitions.tsv") else {
        return;
    };
    let lines: Vec<&str> = text.lines().skip(1).collect();
    // Announced by 2025b; later ones have been changed since, and will be again.
    let known_until = instant("2025-03-01T00:00:00Z").0 / SECOND_MS;
    let mut checked = 0;
    for pair in lines.chunks_exact(2) {
        let (name, _, last, offset_before) = vector(pair[0]);
        let (_, change, first, _) = vector(pair[1]);
        let start = last + 1;
        let (low, high) = (start.min(first), start.max(first));
        if change > known_until || high - low < 120 || high - low > 3 * 3600 {
            continue;
        }
        let wall = (low + (high - low) / 2).div_euclid(60) * 60;
        let at_minute = u16::try_from(wall.rem_euclid(86_400) / 60).unwrap();
        let daily = Digest::new(Every::Day, at_minute);
        // In a gap: the change itself. In an overlap: as the clock before the change has it.
        let slot = if first > start { change } else { wall - offset_before };
        let slot = Instant(slot * SECOND_MS);
        assert_eq!(next_slot(&daily, &zone(name), slot.plus_ms(-1)), slot, "{}", pair[1]);
        let next = next_slot(&daily, &zone(name), slot);
        assert!((21..=27).contains(&((next.0 - slot.0) / HOUR_MS)), "{}: {next}", pair[1]);
        checked += 1;
    }
    assert!(checked > 1000, "only {checked} transitions");
}
