//! Configurations that are accepted, and what each rule refuses.

use tidings_core::model::{Bound, DAY_MS, HOUR_MS, Limits, MINUTE_MS};
use tidings_core::rules::{Decide, Every, Policy};

use super::*;

mod choice;
mod console;
mod documented;
mod hooks;
mod presentation;
mod telemetry;
mod tenants;
mod timing;
mod users;
mod words;

fn rules(text: &str) -> Rules {
    parse(text, "t.toml").unwrap_or_else(|faults| panic!("{faults}"))
}

/// The reasons of all faults, each with its line.
fn reasons(text: &str) -> Vec<(usize, String)> {
    let faults = parse(text, "t.toml").expect_err("the configuration has faults");
    let line = |fault: &Fault| fault.place.as_ref().map_or(0, |place| place.line);
    faults.list.iter().map(|fault| (line(fault), fault.reason.clone())).collect()
}

fn email(route: &str) -> String {
    format!(
        "[categories.c]\n[digests.d]\nevery = \"day\"\n[types.a]\ncategory = \"c\"\n\
         [types.a.channels]\nemail = {route}\n"
    )
}

fn policy_of(route: &str) -> Policy {
    rules(&email(route)).types["a"].channels["email"].policy.clone()
}

#[track_caller]
fn refused(text: &str, part: &str) {
    let reasons = reasons(text);
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    assert!(reasons[0].1.contains(part), "{reasons:?} should say {part}");
}

#[test]
fn the_printed_default_passes() {
    let rules = rules(DEFAULT);
    assert_eq!(warnings(&rules), Vec::<String>::new());
    assert_eq!(rules.types.len(), 5);
    assert_eq!(rules.store.keep_ms, 35 * DAY_MS);
}

#[test]
fn limits_are_read_and_refused_beyond_what_rows_can_hold() {
    let given = rules("[limits]\ntopic_levels = 4\nsubscriptions = 20_000");
    assert_eq!(given.limits.of(Bound::TopicLevels), 4);
    assert_eq!(given.limits.of(Bound::Subscriptions), 20_000);
    assert_eq!(given.limits.of(Bound::EventBytes), 256 << 10);
    assert_eq!(rules(DEFAULT).limits, Limits::default());
    for bound in Bound::ALL {
        let text = format!("[limits]\n{} = {}", bound.key(), u64::from(bound.most()) + 1);
        let found = reasons(&text);
        let beyond = format!("`limits.{}` cannot be", bound.key());
        assert!(
            found.iter().any(|(line, reason)| *line == 2 && reason.contains(&beyond)),
            "{found:?}"
        );
        refused(&format!("[limits]\n{} = 0", bound.key()), "cannot be 0");
    }
    refused("[limits]\nevent_topics = 1000", "the topics of one event");
    refused("[limits]\nbytes = 1", "unknown");
}

#[test]
fn the_contracts_example_is_read() {
    let rules = rules(
        r#"
        [defaults]
        tz = "UTC"
        locale = "en"
        [categories.following]
        title = "Artists and galleries you follow"
        [digests.weekly]
        every = "week"
        on = "mon"
        at = "09:00"
        [types.artwork_published]
        category = "following"
        admission = "always"
        per = "type"
        include_actor = false
        urgent = false
        look_back = "14d"
        drop_if_seen = true
        [types.artwork_published.channels]
        inbox = { policy = "now" }
        email = { policy = "digest", digest = "weekly" }
        [store]
        keep = "35d"
        [channels.email]
        provider = "smtp://user@host:587"
        from = "Art <art@example.org>"
        "#,
    );
    let kind = &rules.types["artwork_published"];
    assert_eq!(kind.look_back_ms, Some(14 * DAY_MS));
    assert_eq!(kind.drop_if_seen, Some(true));
    assert_eq!(kind.channels["email"].policy, Policy::Digest { digest: "weekly".to_owned() });
    assert_eq!(rules.digests["weekly"].every, Every::Week(1));
    assert_eq!(rules.digests["weekly"].at_minute, 540);
    assert_eq!(rules.channels["email"].from.as_deref(), Some("Art <art@example.org>"));
}

#[test]
fn an_empty_file_is_a_configuration_with_a_warning() {
    let rules = rules("");
    assert_eq!(rules.defaults.tz, "UTC");
    assert_eq!(warnings(&rules).len(), 1);
}

#[test]
fn policies_and_their_defaults_are_read() {
    assert_eq!(policy_of("{ policy = 'now' }"), Policy::Now);
    assert_eq!(policy_of("{ policy = 'never' }"), Policy::Never);
    let hold_ms = 5 * MINUTE_MS;
    assert_eq!(
        policy_of("{ policy = 'first_event', hold = '5m' }"),
        Policy::FirstEvent { hold_ms, decide: Decide::First }
    );
    assert_eq!(
        policy_of("{ policy = 'first_event', hold = 'PT5M', decide = 'earliest' }"),
        Policy::FirstEvent { hold_ms, decide: Decide::Earliest }
    );
    let quiet_ms = 4 * MINUTE_MS;
    for (max_wait, max_wait_ms) in [
        ("", Some(16 * MINUTE_MS)),
        (", max_wait = 'none'", None),
        (", max_wait = '4m'", Some(quiet_ms)),
        (", max_wait = '1h'", Some(HOUR_MS)),
    ] {
        let route = format!("{{ policy = 'cooldown', quiet = '4m'{max_wait} }}");
        assert_eq!(policy_of(&route), Policy::Cooldown { quiet_ms, max_wait_ms });
    }
    assert_eq!(policy_of("{ policy = 'leading', quiet = '4m' }"), Policy::Leading { quiet_ms });
}

#[test]
fn keys_of_another_policy_and_lacking_ones_are_refused() {
    for (route, part) in [
        ("{ policy = 'digest', digest = 'd', quiet = '4m' }", "`quiet` is not a key"),
        ("{ policy = 'now', hold = '4m' }", "`hold` is not a key"),
        ("{ policy = 'leading', quiet = '4m', max_wait = '5m' }", "`max_wait` is not a key"),
        ("{ policy = 'digest' }", "lacks `digest`"),
        ("{ policy = 'digest', digest = 'x' }", "unknown digest `x`"),
        ("{ policy = 'cooldown' }", "lacks `quiet`"),
        ("{ policy = 'first_event' }", "lacks `hold`"),
        ("{ hold = '4m' }", "lacks `policy`"),
        ("{ policy = 'cooldwn' }", "cannot be `cooldwn`"),
        ("{ policy = 'cooldown', quiet = '4m', max_wait = '3m' }", "shorter"),
        ("{ policy = 'cooldown', quiet = 4 }", "expected text, got a whole number"),
        ("{ policy = 'cooldown', quiet = '0m' }", "more than 0"),
        ("{ policy = 'cooldown', quiet = '3651d' }", "at most 3650d"),
        (
            "{ policy = 'now', batch_key = 'event.id' }",
            "`batch_key` is not a key of the policy `now`",
        ),
        (
            "{ policy = 'cooldown', quiet = '4m', batch_key = 'event.objekt.id' }",
            "unknown field `objekt`",
        ),
        ("{ policy = 'never', lane = 'x' }", "no lane"),
        ("{ policy = 'now', lane = 'now' }", "reserved"),
        ("{ policy = 'now', lane = 'paused' }", "reserved"),
        ("{ policy = 'now', lane = 'digest:x' }", "reserved"),
        ("{ policy = 'now', lane = '' }", "not a valid lane name"),
        ("'now'", "expected a table, got text"),
    ] {
        refused(&email(route), part);
    }
}

#[test]
fn the_inbox_knows_only_now_and_never() {
    let inbox = |route: &str| email(route).replace("email =", "inbox =");
    assert!(parse(&inbox("{ policy = 'never' }"), "t").is_ok());
    refused(&inbox("{ policy = 'leading', quiet = '4m' }"), "inbox cannot");
    refused(&inbox("{ policy = 'now', lane = 'x' }"), "cannot have a `lane`");
    refused(
        &email("{ policy = 'now' }").replace("email =", "pigeon ="),
        "unknown channel `pigeon`",
    );
}

#[test]
fn digests_follow_the_calendar() {
    let digest = |body: &str| format!("[digests.d]\n{body}\n");
    for (body, every) in [
        ("every = 'day'", Every::Day),
        ("every = 'weekday'", Every::Weekday),
        ("every = 'week'\non = 'sun'", Every::Week(7)),
        ("every = 'month'\non = 31", Every::Month(31)),
        ("every = '1h'", Every::Hours(1)),
        ("every = '12h'", Every::Hours(12)),
    ] {
        assert_eq!(rules(&digest(body)).digests["d"].every, every);
    }
    for (body, part) in [
        ("at = '09:00'", "lacks `every`"),
        ("every = 'week'", "lacks `on`"),
        ("every = 'month'", "lacks `on`"),
        ("every = 'day'\non = 'mon'", "is not allowed in"),
        ("every = 'week'\non = 'monday'", "cannot be `monday`"),
        ("every = 'week'\non = 1", "expected text"),
        ("every = 'month'\non = 'mon'", "expected a whole number"),
        ("every = 'month'\non = 0", "1 to 31"),
        ("every = 'month'\non = 99999999999999999999999999999999999999999", "1 to 31"),
        ("every = '0 9 * * 1'", "cannot be"),
        ("every = '5h'", "cannot be `5h`"),
        ("every = '24h'", "cannot be `24h`"),
        ("every = '6h'\non = 'mon'", "is not allowed in"),
        ("every = 'day'\nat = '24:00'", "not a time of day"),
        ("every = 'day'\nat = '9:00'", "not a time of day"),
        ("every = 'day'\nat = 09:00:00", "expected text, got a date or time"),
        ("every = 'day'\ntz = 'Europe/Pari'", "unknown time zone"),
    ] {
        refused(&digest(body), part);
    }
    refused("[digests.never]\nevery = 'day'", "cannot be called");
}

#[test]
fn look_backs_and_digests_fit_in_what_is_kept() {
    let kept = |keep: &str| format!("{}[store]\nkeep = '{keep}'\n", email("{ policy = 'now' }"));
    assert!(parse(&kept("1d"), "t").is_ok());
    refused(&kept("23h"), "covers 1d");
    for (every, keep, fits) in [
        ("'weekday'", "3d", true),
        ("'weekday'", "2d", false),
        ("'week'\non = 'mon'", "7d", true),
        ("'week'\non = 'mon'", "6d", false),
        ("'month'\non = 1", "31d", true),
        ("'month'\non = 1", "30d", false),
    ] {
        let text = format!("[digests.d]\nevery = {every}\n[store]\nkeep = '{keep}'\n");
        assert_eq!(parse(&text, "t").is_ok(), fits, "{text}");
    }
    let back = |back: &str| {
        email("{ policy = 'now' }")
            .replace("[types.a]", &format!("[types.a]\nlook_back = '{back}'"))
    };
    assert_eq!(rules(&back("none")).types["a"].look_back_ms, None);
    assert_eq!(rules(&back("35d")).types["a"].look_back_ms, Some(35 * DAY_MS));
    refused(&back("36d"), "is too long");
}

#[test]
fn figures_and_the_log_of_changes_are_kept_for_a_day_to_ten_years() {
    let with = |section: &str, keep: &str| {
        format!("{}[{section}]\nkeep = '{keep}'\n", email("{ policy = 'now' }"))
    };
    assert_eq!(rules(&email("{ policy = 'now' }")).log.keep_ms, 400 * DAY_MS);
    assert_eq!(rules(&with("log", "30d")).log.keep_ms, 30 * DAY_MS);
    for section in ["log", "figures"] {
        for keep in ["1d", "3650d"] {
            assert!(parse(&with(section, keep), "t").is_ok(), "{section} {keep}");
        }
        for keep in ["23h", "3651d"] {
            refused(&with(section, keep), "keep");
        }
    }
    refused(&with("log", "30d").replace("keep", "kept"), "kept");
}

#[test]
fn types_of_a_lane_have_the_same_policy() {
    let two = |one: &str, other: &str| {
        format!(
            "{}[digests.e]\nevery = \"day\"\n[types.b]\ncategory = \"c\"\n\
             channels.email = {other}\n",
            email(one)
        )
    };
    let earliest = "{ policy = 'first_event', hold = '5m', decide = 'earliest' }";
    for (one, other, agree) in [
        ("{ policy = 'now', lane = 'x' }", "{ policy = 'now', lane = 'x' }", true),
        ("{ policy = 'now', lane = 'x' }", "{ policy = 'now', lane = 'y' }", true),
        (
            "{ policy = 'cooldown', quiet = '1m', lane = 'x' }",
            "{ policy = 'cooldown', quiet = '9m', lane = 'x' }",
            true,
        ),
        (
            "{ policy = 'cooldown', quiet = '1m', lane = 'x' }",
            "{ policy = 'leading', quiet = '1m', lane = 'x' }",
            false,
        ),
        (
            "{ policy = 'digest', digest = 'd', lane = 'x' }",
            "{ policy = 'digest', digest = 'e', lane = 'x' }",
            false,
        ),
        ("{ policy = 'first_event', hold = '9m' }", earliest, false),
        ("{ policy = 'first_event', hold = '9m', lane = 'x' }", earliest, true),
    ] {
        assert_eq!(parse(&two(one, other), "t").is_ok(), agree, "{one} and {other}");
    }
}

#[test]
fn types_are_complete() {
    refused("[types.a]\nchannels.inbox = { policy = 'now' }", "lacks `category`");
    refused("[categories.c]\n[types.a]\ncategory = 'c'", "lacks `channels`");
    refused("[categories.c]\n[types.a]\ncategory = 'c'\n[types.a.channels]", "no channel");
    let type_with =
        |key: &str| email("{ policy = 'now' }").replace("[types.a]", &format!("[types.a]\n{key}"));
    refused(&type_with("admission = 'sometimes'"), "cannot be");
    refused(&type_with("urgent = 'yes'"), "expected true or false, got text");
    refused(&type_with("group = 'subject'"), "cannot be");
    assert!(parse(&type_with("per = 'object'"), "t").is_ok());
    refused(
        "[types.\"\"]\ncategory = 'c'\nchannels.inbox = { policy = 'now' }\n[categories.c]",
        "id",
    );
}

#[test]
fn providers_and_senders_are_checked_without_being_opened() {
    let channel = |provider: &str, from: &str| {
        format!("[channels.email]\nprovider = '{provider}'\nfrom = '{from}'\n")
    };
    let from = "a@example.org";
    for provider in [
        "file://mail",
        "smtp://u:${P}@h:587",
        "smtps://h",
        "smtp://[::1]:25",
        "sendgrid://${KEY}",
        "sendgrid://${KEY}?base=http://127.0.0.1:8080",
        "postmark://${TOKEN}?stream=broadcast",
        "mailgun://${KEY}@mg.example.org?region=eu",
        "ses://AKID:${SECRET}@eu-west-1?set=art",
        "ses://${ID}:${SECRET}@eu-west-1?session=${TOKEN}",
    ] {
        assert!(parse(&channel(provider, from), "t").is_ok(), "{provider}");
    }
    for provider in [
        "",
        "mail",
        "file://",
        "smtp://",
        "smtp://u@",
        "http://h",
        "smtp://:25",
        "smtp://u:secret@h",
        "smtp://u:${}@h",
        "smtp://h:99999",
        "smtp://h?tls=maybe",
        "smtp://h?odd=1",
        "smtps://h?tls=none",
        "sendgrid://",
        "sendgrid://key",
        "sendgrid://user@${KEY}",
        "sendgrid://${KEY}?bas=http://127.0.0.1",
        "sendgrid://${KEY}?base=127.0.0.1",
        "postmark://${TOKEN}?stream=",
        "postmark://${TOKEN}?stream=a&stream=b",
        "mailgun://${KEY}",
        "mailgun://${KEY}@",
        "mailgun://${KEY}@a/b",
        "mailgun://key@mg.example.org",
        "mailgun://${KEY}@mg.example.org?region=moon",
        "ses://${SECRET}@eu-west-1",
        "ses://AKID:secret@eu-west-1",
        "ses://AKID:${SECRET}",
    ] {
        refused(&channel(provider, from), "provider");
    }
    assert!(parse(&channel("file://m", "Art <a@b>"), "t").is_ok());
    for from in ["", "a", "@b", "a@", "a@b@c", "Art <a>", "a b@c"] {
        refused(&channel("file://m", from), "not a mailbox");
    }
    refused("[channels.email]\nfrom = \"A\\r\\nBcc: x <a@b>\"", "not a mailbox");
    refused("[channels.email]\nprovider = 'file://m'", "from");
    refused("[channels.inbox]", "no settings");
}

#[test]
fn each_channel_has_providers_of_its_own() {
    let public =
        "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8";
    let vapid = format!("vapid://{public}:${{KEY}}?subject=mailto:ops@example.org");
    let bad_vapid = format!("vapid://{public}:${{KEY}}");
    for (channel, more, good, bad) in [
        ("sms", "from = '+12025550123'", "twilio://AC1:${TOKEN}", "twilio://AC1:token"),
        ("sms", "from = 'Museum'", "twilio://AC1:${TOKEN}", "twilio://${TOKEN}"),
        ("webpush", "", &*vapid, &*bad_vapid),
        ("fcm", "", "fcm://${ACCOUNT}", "fcm://account"),
        ("apns", "", "apns://K1:${KEY}@T1?topic=org.example.app", "apns://K1:${KEY}@T1"),
        ("slack", "", "slack://${TOKEN}", "slack://xoxb-token"),
        ("slack", "", "slack://", "sendgrid://${KEY}"),
        ("discord", "", "discord://", "discord://${A}?via=x"),
        ("teams", "", "teams://", "teams://${KEY}"),
        ("telegram", "", "telegram://${TOKEN}", "telegram://"),
        ("webhook", "rate = '10/s'", "webhook://${SECRET}", "webhook://"),
    ] {
        let text =
            |provider: &str| format!("[channels.{channel}]\nprovider = '{provider}'\n{more}\n");
        let read = parse(&text(good), "t");
        assert!(read.is_ok(), "{good}: {}", read.unwrap_err());
        refused(&text(bad), "provider");
    }
    refused("[channels.sms]\nprovider = 'twilio://AC1:${T}'", "from");
    refused("[channels.sms]\nfrom = 'a name that is too long'", "text messages");
    for key in ["from = 'a@b'", "dkim = {}", "rate_per_domain = '1/s'"] {
        refused(&format!("[channels.slack]\n{key}"), "unknown key");
    }
}

#[test]
fn no_fault_repeats_a_password() {
    for provider in [
        "http://u:secret@h",
        "sendgrid://secret",
        "mailgun://secret@mg.example.org",
        "ses://AKID:secret@eu-west-1",
        "postmark://${KEY} , sendgrid://secret",
    ] {
        let text = format!("[channels.email]\nprovider = '{provider}'\n");
        let faults = parse(&text, "t").unwrap_err();
        assert!(!faults.to_string().contains("secret"), "{faults}");
        assert!(!faults.to_json().to_string().contains("secret"));
    }
}

#[test]
fn faults_have_their_place() {
    let faults = parse("[defaults]\nlocale = \"é\"  # x\n\ttz = 'Mars'\n", "t.toml").unwrap_err();
    let places: Vec<_> = faults
        .list
        .iter()
        .map(|f| f.place.as_ref().map(|p| (p.line, p.column, p.chars)).unwrap())
        .collect();
    assert_eq!(places, [(2, 10, 3), (3, 7, 6)]);
}

/// Acceptance H46, as far as this version has the keys: a duplicate type is a fault of the TOML, a
/// cron expression is no calendar, templates are keys of a later version.
#[test]
fn h46_every_fault_of_a_configuration_is_told_at_once() {
    let text = r#"[defaults]
tz = "Mars/Olympus"
[categories.c]
[digests.d]
every = "0 9 * * 1"
[types.a]
category = "c"
template = "a.html"
channels.pigeon = { policy = "now" }
channels.email = { policy = "leading", quiet = "5m", batch_key = "event." }
[types.a]
category = "c"
"#;
    let faults = parse(text, "t.toml").unwrap_err();
    let told: Vec<(usize, &str)> = faults
        .list
        .iter()
        .map(|fault| (fault.place.as_ref().unwrap().line, fault.reason.as_str()))
        .collect();
    let expected = [
        (2, "unknown time zone `Mars/Olympus`"),
        (5, "`digests.d.every` cannot be `0 9 * * 1`"),
        (8, "unknown key `types.a.template`"),
        (9, "unknown channel `pigeon`"),
        (10, "the expression ends too early"),
        (11, "duplicate key `a`"),
        (12, "duplicate key `category`"),
    ];
    assert_eq!(told, expected);
    for fault in &faults.list {
        assert!(!fault.hint.is_empty(), "{fault:?}");
    }
}

#[test]
fn files_that_cannot_be_read_are_faults() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.toml");
    let faults = read(&path).unwrap_err();
    assert_eq!(faults.list.len(), 1);
    assert_eq!(faults.list[0].place, None);
    assert!(read(directory.path()).is_err());
    std::fs::write(&path, b"[defaults]\ntz = \"\xff\"\n").unwrap();
    let faults = read(&path).unwrap_err();
    let place = faults.list[0].place.as_ref().unwrap();
    assert_eq!((place.line, place.column), (2, 7));
    std::fs::write(&path, DEFAULT).unwrap();
    assert!(read(&path).is_ok());
}
