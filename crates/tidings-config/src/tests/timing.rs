//! Tests of what says when messages go out: slots, quiet hours, caps.

use tidings_core::model::DAY_MS;
use tidings_core::rules::{ChoosableTimes, QuietHours};

use super::{refused, rules};

#[test]
fn slots_are_spread_over_less_than_their_distance() {
    let digest =
        |every: &str, spread: &str| format!("[digests.d]\nevery = {every}\nspread = '{spread}'\n");
    for (every, spread, minutes) in [
        ("'6h'", "30m", 30),
        ("'1h'", "PT59M", 59),
        ("'day'", "23h", 23 * 60),
        ("'week'\non = 'mon'", "6d", 6 * 24 * 60),
        ("'month'\non = 31", "27d", 27 * 24 * 60),
    ] {
        let rules = rules(&digest(every, spread));
        assert_eq!(rules.digests["d"].spread_minutes, minutes);
    }
    for (every, spread, part) in [
        ("'1h'", "1h", "may come after 1h"),
        ("'day'", "1d", "may come after 1d"),
        ("'month'\non = 31", "28d", "may come after 28d"),
        ("'6h'", "90s", "whole minutes"),
        ("'6h'", "soon", "soon"),
    ] {
        refused(&digest(every, spread), part);
    }
}

#[test]
fn a_digest_may_ask_for_a_number_of_items() {
    let digest = |items: &str| format!("[digests.d]\nevery = 'day'\nmin_items = {items}\n");
    for (items, number) in [("1", 1), ("3", 3), ("10_000", 10_000)] {
        assert_eq!(rules(&digest(items)).digests["d"].min_items, number);
    }
    for items in ["0", "-1", "10_001", "99999999999999999999"] {
        refused(&digest(items), "1 to 10000");
    }
    refused(&digest("'3'"), "expected a whole number");
}

#[test]
fn a_digest_says_what_recipients_may_choose() {
    let digest =
        |every: &str, choose: &str| format!("[digests.d]\nevery = {every}\nchoose = {choose}\n");
    let chosen = |every: &str, choose: &str| rules(&digest(every, choose)).digests["d"].choose;
    assert_eq!(
        rules("[digests.d]\nevery = 'day'\n").digests["d"].choose,
        ChoosableTimes::default()
    );
    for (every, choose, day, minute) in [
        ("'week'\non = 'mon'", "['on', 'at']", true, true),
        ("'month'\non = 31", "['on']", true, false),
        ("'day'", "['at']", false, true),
        ("'weekday'", "[]", false, false),
        ("'6h'", "[]", false, false),
    ] {
        assert_eq!(chosen(every, choose), ChoosableTimes { day, minute }, "{every} {choose}");
    }
    for (every, choose, part) in [
        ("'day'", "['on']", "`on` is that of a week or a month"),
        ("'weekday'", "['on', 'at']", "`choose` does not fit `every`"),
        ("'6h'", "['at']", "a digest of hours comes round the day"),
        ("'week'\non = 'mon'", "['tz']", "tz"),
        ("'week'\non = 'mon'", "'on'", "expected"),
    ] {
        refused(&digest(every, choose), part);
    }
}

#[test]
fn a_store_is_divided_into_as_many_parts_as_there_are_buckets_at_most() {
    let store = |parts: &str| format!("[store]\nparts = {parts}\n");
    assert_eq!(rules("").store.parts, 1);
    for (parts, number) in [("1", 1), ("4", 4), ("16", 16)] {
        assert_eq!(rules(&store(parts)).store.parts, number);
    }
    for parts in ["0", "-1", "17", "65537"] {
        refused(&store(parts), "`parts` must be 1 to 16");
    }
    refused(&store("'4'"), "expected a whole number");
}

#[test]
fn quiet_hours_are_a_stretch_of_the_clock() {
    let channel = |hours: &str| format!("[channels.email]\nquiet_hours = {hours}\n");
    let hours = |text: &str| rules(&channel(text)).channels["email"].quiet_hours.unwrap();
    let night = hours("{ from = '22:00', to = '07:00' }");
    assert_eq!((night.from_minute, night.to_minute), (22 * 60, 7 * 60));
    assert_eq!(night.days, QuietHours::EVERY_DAY);
    let some = hours("{ from = '12:00', to = '13:30', days = ['mon', 'sun'] }");
    assert_eq!((some.to_minute, some.days), (13 * 60 + 30, 0b100_0001));
    for (text, part) in [
        ("'night'", "expected a table"),
        ("{ from = '22:00' }", "lacks `to`"),
        ("{ from = '22:00', to = '22:00' }", "at the same time"),
        ("{ from = '25:00', to = '07:00' }", "not a time of day"),
        ("{ from = '22:00', to = '07:00', days = [] }", "no weekday"),
        ("{ from = '22:00', to = '07:00', days = ['monday'] }", "cannot hold `monday`"),
        ("{ from = '22:00', to = '07:00', days = [1] }", "expected text"),
        ("{ from = '22:00', to = '07:00', days = 'mon' }", "expected a list"),
        ("{ from = '22:00', to = '07:00', tz = 'UTC' }", "unknown key"),
    ] {
        refused(&channel(text), part);
    }
}

#[test]
fn caps_bound_the_messages_of_a_channel() {
    let two = "[[caps]]\nchannel = 'email'\nper = '24h'\nmax = 3\n\
               [[caps]]\nchannel = 'email'\nper = '7d'\nmax = 10\n";
    let caps: Vec<_> = rules(two).caps.iter().map(|cap| (cap.per_ms, cap.max)).collect();
    assert_eq!(caps, [(DAY_MS, 3), (7 * DAY_MS, 10)]);
    let cap = |channel: &str, per: &str, max: &str| {
        format!("[[caps]]\nchannel = {channel}\nper = {per}\nmax = {max}\n")
    };
    for (channel, per, max, part) in [
        ("'inbox'", "'24h'", "3", "cannot be `inbox`"),
        ("'fax'", "'24h'", "3", "cannot be `fax`"),
        ("'email'", "'59s'", "3", "not between 1m and 31d"),
        ("'email'", "'32d'", "3", "not between 1m and 31d"),
        ("'email'", "'24h'", "0", "1 to 100"),
        ("'email'", "'24h'", "101", "1 to 100"),
        ("'email'", "'24h'", "'3'", "expected a whole number"),
    ] {
        refused(&cap(channel, per, max), part);
    }
    refused("[[caps]]\nchannel = 'email'\nper = '1h'\n", "lacks `max`");
    refused("[caps]\nchannel = 'email'\n", "expected a list of tables");
    refused(&format!("{}most = 1\n", cap("'email'", "'1h'", "1")), "unknown key");
}
