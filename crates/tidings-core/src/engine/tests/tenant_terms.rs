//! Tests of the terms of tenants: zone, quiet hours and defaults, preferences with a tenant, and lanes of their own.

use crate::engine::tests::*;
use crate::model::channel::EMAIL_NO;
use crate::model::command::PauseSubject;
use crate::model::limits::{Bound, ExceededBound};
use crate::model::reason::Reason;
use crate::model::recipient::OwnHours;
use crate::model::tenant::{Tenant, TenantChange};
use crate::model::time::{HOUR_MS, MINUTE_MS};
use crate::rules::{Cap, Digest, Every, QuietHours, TenantRules};

const SECOND: i64 = 1_000;
const NIGHT: QuietHours =
    QuietHours { from_minute: 22 * 60, to_minute: 7 * 60, days: QuietHours::EVERY_DAY };

/// A recipient `a` of four types, and the tenants `zed` and `acme`, made in this order.
struct World {
    stored: Stored,
    engine: Engine,
    options: Options,
}

fn mail(policy: Policy) -> TypeRules {
    TypeRules {
        category: "works".to_owned(),
        channels: [("email".to_owned(), Route::of(policy))].into(),
        ..TypeRules::default()
    }
}

fn digest(name: &str) -> Policy {
    Policy::Digest { digest: name.to_owned() }
}

impl World {
    fn new() -> Self {
        Self::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut Rules)) -> Self {
        let mut rules = rules();
        rules.defaults = Defaults { tz: "UTC".to_owned(), locale: "en".to_owned() };
        rules.tenants = Some(TenantRules::default());
        let daily = Digest::new(Every::Day, 9 * 60);
        rules.digests.insert("few".to_owned(), Digest { min_items: 2, ..daily.clone() });
        rules.digests.insert("daily".to_owned(), daily);
        rules.types.insert("news".to_owned(), mail(digest("daily")));
        rules.types.insert("few".to_owned(), mail(digest("few")));
        let cooldown = Policy::Cooldown { quiet_ms: SECOND, max_wait_ms: Some(10 * SECOND) };
        rules.types.insert("soon".to_owned(), mail(cooldown));
        change(&mut rules);
        let options = Options { buckets: 1, checkpoint_after: 0, ..Options::default() };
        let (mut stored, mut engine) = with_recipient(options);
        let step = engine.set_rules(&stored, &Reach::new(), Instant(0), rules).unwrap();
        stored.commit(step.writes);
        let mut world = Self { stored, engine, options };
        let addresses = [(EMAIL_NO, vec!["a@example.org".into()])].into();
        let profile = RecipientChange { addresses, ..RecipientChange::nothing(id("a")) };
        let of = |tenant| set(tenant, TenantChange::default());
        world.run(0, &[Command::Recipient(Box::new(profile)), of("zed"), of("acme")]);
        world
    }

    fn replies(&mut self, at: i64, commands: &[Command]) -> Vec<Result<Reply, Refused>> {
        let step = self.engine.step(&self.stored, &Reach::new(), Instant(at), commands).unwrap();
        self.stored.commit(step.writes);
        step.replies
    }

    /// Runs commands, none of which is refused.
    fn run(&mut self, at: i64, commands: &[Command]) {
        let replies = self.replies(at, commands);
        assert!(replies.iter().all(Result::is_ok), "{replies:?}");
    }

    /// When and in which lanes events wait, as the engine says it and as it is recovered, from the journal and from a
    /// checkpoint.
    fn waiting(&self) -> Vec<(String, String, Option<i64>)> {
        let days: Vec<Day> = (0..4).map(Day).collect();
        let waiting = |engine: &Engine, stored: &Stored| {
            let mut all = Vec::new();
            for lane in engine.reader(stored).open_lanes(&id("a")).unwrap() {
                let due = lane.due.map(|due| due.0);
                for entry in &lane.entries {
                    all.push((entry.event.as_str().to_owned(), lane.lane.clone(), due));
                }
            }
            all.sort();
            all
        };
        let now = waiting(&self.engine, &self.stored);
        let mut stored = Stored(self.stored.0.clone());
        let mut engine = Engine::open(&stored, &days, self.options).unwrap();
        assert_eq!(waiting(&engine, &stored), now, "from the journal");
        while let Some(writes) = engine.chore(&stored).unwrap() {
            stored.commit(writes);
        }
        let engine = Engine::open(&stored, &days, self.options).unwrap();
        assert_eq!(waiting(&engine, &stored), now, "from a checkpoint");
        now
    }

    /// The deadline of an event's lane.
    fn due(&self, event: &str) -> Option<i64> {
        let waiting = self.waiting().into_iter().find(|(name, ..)| name == event);
        waiting.unwrap_or_else(|| panic!("{event} does not wait")).2
    }

    /// The reasons for which the entries of an event ended, with their number.
    fn ended(&self, event: &str) -> Vec<(Reason, u64)> {
        let trace = self.engine.reader(&self.stored).trace(&id(event)).unwrap();
        let report = trace.unwrap().report(&self.stored).unwrap();
        report.channels.values().flat_map(|of| of.reasons.clone()).collect()
    }
}

fn set(tenant: &str, change: TenantChange) -> Command {
    Command::Tenant { tenant: id(tenant), change: Box::new(change) }
}

fn zone(tenant: &str, tz: Option<&str>) -> Command {
    let tz = Some(tz.map(str::to_owned));
    set(tenant, TenantChange { tz, ..TenantChange::default() })
}

fn quiet(tenant: &str, hours: Option<OwnHours>) -> Command {
    let quiet_hours = Some(hours.map(Box::new));
    set(tenant, TenantChange { quiet_hours, ..TenantChange::default() })
}

fn night() -> OwnHours {
    OwnHours { hours: Some(NIGHT), channels: None }
}

fn own(change: RecipientChange) -> Command {
    Command::Recipient(Box::new(change))
}

fn own_zone(tz: &str) -> Command {
    own(RecipientChange { tz: Some(Some(tz.to_owned())), ..RecipientChange::nothing(id("a")) })
}

fn publish(name: &str, of_type: &str, tenant: Option<&str>) -> Command {
    let to = Audience { recipients: vec![id("a")], ..Audience::default() };
    let event = Event::new(id(name), id(of_type), Object::bare(id("o")), to);
    Command::Publish(Box::new(Event { tenant: tenant.map(id), ..event }))
}

fn of_type(name: &str) -> PreferenceScope {
    PreferenceScope::Type(name.to_owned())
}

fn works() -> PreferenceScope {
    PreferenceScope::Category("works".to_owned())
}

fn choice(scope: PreferenceScope, mode: Mode, tenant: Option<&str>) -> Choice {
    Choice { scope, channel: "email".to_owned(), mode, tenant: tenant.map(id) }
}

fn prefer(Choice { scope, channel, mode, tenant }: Choice) -> Command {
    Command::Preference { recipient: id("a"), scope, channel, mode, tenant, by: ChangedBy::Key }
}

fn defaults(tenant: &str, preferences: Vec<Choice>) -> Command {
    let preferences = Some(preferences);
    set(tenant, TenantChange { preferences, ..TenantChange::default() })
}

fn never() -> Choice {
    choice(works(), Mode::Never, None)
}

const HOUR: i64 = HOUR_MS;

#[test]
fn slots_of_a_tenants_digest_are_in_its_zone_unless_the_recipient_has_one() {
    let mut world = World::new();
    world.run(1, &[zone("acme", Some("Asia/Tokyo"))]);
    let events = [Some("acme"), Some("zed"), None];
    let events = ["acme", "zed", "none"].into_iter().zip(events);
    let events: Vec<Command> = events.map(|(name, tenant)| publish(name, "news", tenant)).collect();
    world.run(2, &events);
    // It is past nine in Tokyo.
    assert_eq!(world.due("acme"), Some(24 * HOUR));
    assert_eq!((world.due("zed"), world.due("none")), (Some(9 * HOUR), Some(9 * HOUR)));
    world.run(3, &[zone("acme", Some("America/New_York"))]);
    assert_eq!(world.due("acme"), Some(14 * HOUR));
    world.run(4, &[zone("acme", None)]);
    assert_eq!(world.due("acme"), Some(9 * HOUR));
    world.run(5, &[zone("acme", Some("Asia/Tokyo")), own_zone("Europe/Paris")]);
    for event in ["acme", "zed", "none"] {
        assert_eq!(world.due(event), Some(8 * HOUR), "{event}");
    }
    // A zone that is said holds for all, though it is the default.
    world.run(6, &[own_zone("UTC")]);
    assert_eq!((world.due("acme"), world.due("none")), (Some(9 * HOUR), Some(9 * HOUR)));
    let mut rules = world.engine.rules().unwrap().clone();
    rules.defaults.tz = "Europe/Paris".to_owned();
    let nobodys = own(RecipientChange { tz: Some(None), ..RecipientChange::nothing(id("a")) });
    world.run(7, &[nobodys]);
    assert_eq!((world.due("acme"), world.due("none")), (Some(24 * HOUR), Some(9 * HOUR)));
    let step = world.engine.set_rules(&world.stored, &Reach::new(), Instant(8), rules).unwrap();
    world.stored.commit(step.writes);
    assert_eq!((world.due("acme"), world.due("none")), (Some(24 * HOUR), Some(8 * HOUR)));
    world.run(24 * HOUR, &[]);
    assert_eq!(world.waiting(), [], "all have gone out");
}

#[test]
fn windows_are_counted_and_filled_by_tenant() {
    let mut world = World::with(|rules| {
        rules.types.get_mut("news").unwrap().channels.get_mut("email").unwrap().max_items = Some(2);
    });
    let few = |name: &str, tenant| publish(name, "few", tenant);
    let events = [
        few("acme", Some("acme")),
        few("none", None),
        few("zed1", Some("zed")),
        few("zed2", Some("zed")),
        publish("news1", "news", Some("acme")),
        publish("news2", "news", Some("zed")),
        publish("news3", "news", None),
        publish("news4", "news", None),
    ];
    world.run(1, &events);
    world.run(2, &[]);
    // Two of none fill their window; one of each tenant fills none.
    let news = |world: &World| {
        let waiting = world.waiting().into_iter().filter(|(name, ..)| name.starts_with("news"));
        waiting.map(|(name, ..)| name).collect::<Vec<_>>()
    };
    assert_eq!(news(&world), ["news1", "news2"]);
    world.run(3, &[publish("news5", "news", Some("acme"))]);
    world.run(4, &[]);
    assert_eq!(news(&world), ["news2"]);
    world.run(9 * HOUR, &[]);
    // Those with fewer are passed over, once.
    assert_eq!(
        world.waiting(),
        ["acme", "none"].map(|name| (name.to_owned(), "digest:few".to_owned(), Some(33 * HOUR)))
    );
    world.run(33 * HOUR, &[]);
    assert_eq!(world.waiting(), []);
}

#[test]
fn quiet_hours_of_a_tenant_hold_for_its_entries_and_a_change_is_asked_at_once() {
    let mut world = World::new();
    world.run(1, &[quiet("acme", Some(night()))]);
    let at = 23 * HOUR;
    world.run(at, &[publish("acme", "soon", Some("acme")), publish("zed", "soon", Some("zed"))]);
    assert_eq!(world.due("zed"), Some(at + SECOND));
    assert_eq!(world.due("acme"), Some(31 * HOUR));
    // The recipient's own come first, but on channels that they don't name.
    let hours = |hours| {
        let quiet_hours = Some(Some(Box::new(hours)));
        own(RecipientChange { quiet_hours, ..RecipientChange::nothing(id("a")) })
    };
    let short = QuietHours { to_minute: 5 * 60, ..NIGHT };
    world.run(at + 1, &[hours(OwnHours { hours: Some(short), channels: None })]);
    assert_eq!(world.due("acme"), Some(29 * HOUR));
    world.run(at + 2, &[hours(OwnHours { hours: Some(short), channels: Some(Vec::new()) })]);
    assert_eq!(world.due("acme"), Some(31 * HOUR));
    world.run(at + 3, &[quiet("acme", Some(OwnHours { hours: None, channels: None }))]);
    assert_eq!(world.due("acme"), Some(at + SECOND));
    world.run(at + 4, &[quiet("acme", Some(night()))]);
    assert_eq!(world.due("acme"), Some(31 * HOUR));
    world.run(at + SECOND, &[]);
    assert_eq!(world.waiting().len(), 1);
    // They are in the tenant's zone. What was kept goes out once nothing keeps it.
    world.run(at + 2 * SECOND, &[zone("acme", Some("Asia/Tokyo"))]);
    world.run(at + 2 * SECOND + 1, &[]);
    assert_eq!(world.waiting(), []);
}

#[test]
fn a_preference_with_a_tenant_moves_and_ends_what_waits_of_it_alone() {
    let mut world = World::new();
    let tenants = [Some("acme"), Some("zed"), None];
    let events = ["acme", "zed", "none"].into_iter().zip(tenants);
    let events: Vec<Command> = events.map(|(name, tenant)| publish(name, "soon", tenant)).collect();
    world.run(1, &events);
    let lanes = |world: &World| {
        let waiting = world.waiting().into_iter();
        waiting.map(|(name, lane, _)| format!("{name} {lane}")).collect::<Vec<_>>()
    };
    let daily = || Mode::Digest("daily".to_owned());
    world.run(2, &[prefer(choice(of_type("soon"), daily(), Some("acme")))]);
    assert_eq!(lanes(&world), ["acme digest:daily", "none cooldown", "zed cooldown"]);
    world.run(3, &[prefer(choice(works(), daily(), None))]);
    assert_eq!(lanes(&world), ["acme digest:daily", "none digest:daily", "zed digest:daily"]);
    // The category with the tenant goes before the type without.
    world.run(4, &[prefer(choice(works(), Mode::Immediate, Some("zed")))]);
    world.run(5, &[prefer(choice(of_type("soon"), daily(), None))]);
    assert_eq!(lanes(&world), ["acme digest:daily", "none digest:daily", "zed cooldown"]);
    world.run(6, &[prefer(choice(of_type("soon"), Mode::Never, Some("acme")))]);
    assert_eq!(lanes(&world), ["none digest:daily", "zed cooldown"]);
    assert_eq!(world.ended("acme"), [(Reason::Preference, 1)]);
    // What comes later has the same lanes.
    let events = [publish("later", "soon", Some("acme")), publish("soon", "soon", Some("zed"))];
    world.run(7, &events);
    assert_eq!(lanes(&world), ["none digest:daily", "soon cooldown", "zed cooldown"]);
    // A mute with a tenant ends what waits of it.
    let object = PreferenceScope::Object(id("o"));
    world.run(8, &[prefer(choice(object, Mode::Never, Some("zed")))]);
    assert_eq!(lanes(&world), ["none digest:daily"]);
}

#[test]
fn defaults_of_a_tenant_are_the_last_resort_and_a_change_acts_on_what_waits() {
    let mut world = World::new();
    let events = [publish("acme", "soon", Some("acme")), publish("zed", "soon", Some("zed"))];
    world.run(1, &events);
    let daily = || Mode::Digest("daily".to_owned());
    world.run(2, &[defaults("acme", vec![choice(works(), daily(), None)])]);
    let lane_of = |world: &World, event: &str| {
        let waiting = world.waiting().into_iter().find(|(name, ..)| name == event);
        waiting.map(|(_, lane, _)| lane)
    };
    assert_eq!(lane_of(&world, "acme").as_deref(), Some("digest:daily"));
    assert_eq!(lane_of(&world, "zed").as_deref(), Some("cooldown"));
    // What the recipient set without a tenant goes before.
    world.run(3, &[prefer(choice(works(), Mode::Immediate, None))]);
    assert_eq!(lane_of(&world, "acme").as_deref(), Some("cooldown"));
    world.run(4, &[defaults("acme", vec![never()])]);
    assert_eq!(lane_of(&world, "acme").as_deref(), Some("cooldown"));
    world.run(5, &[prefer(choice(works(), Mode::Default, None))]);
    assert_eq!(world.ended("acme"), [(Reason::Preference, 1)]);
    // They hold again at the instant of what is scheduled.
    world.run(6, &[defaults("acme", Vec::new())]);
    let Command::Publish(mut event) = publish("late", "soon", Some("acme")) else {
        unreachable!("that is what it makes");
    };
    event.delay_ms = Some(MINUTE_MS);
    world.run(7, &[Command::Publish(event), defaults("acme", vec![never()])]);
    world.run(8 + MINUTE_MS, &[]);
    assert_eq!(world.ended("late"), [(Reason::Preference, 1)]);
    let applying = |tenant: Option<&str>| {
        let tenant = tenant.map(id);
        let reader = world.engine.reader(&world.stored);
        let mut found = reader.applying(&id("a"), EMAIL_NO, tenant.as_ref()).unwrap();
        found.remove("soon").map(|applying| (applying.set_by, applying.mode))
    };
    assert_eq!(applying(Some("acme")), Some((SetBy::Tenant, Mode::Never)));
    assert_eq!(applying(Some("zed")), None);
}

#[test]
fn caps_go_by_the_ids_of_tenants_and_none_comes_first() {
    let mut world = World::with(|rules| {
        let channel = "email".to_owned();
        rules.caps.push(Cap { channel, per_ms: 24 * HOUR, max: 2 });
    });
    let events = [
        publish("zed", "news", Some("zed")),
        publish("acme", "news", Some("acme")),
        publish("none", "news", None),
    ];
    world.run(1, &events);
    let step = world.engine.step(&world.stored, &Reach::new(), Instant(9 * HOUR), &[]).unwrap();
    world.stored.commit(step.writes);
    let lanes = world.engine.reader(&world.stored).open_lanes(&id("a")).unwrap();
    assert_eq!(lanes.len(), 1);
    assert_eq!(
        (lanes[0].entries[0].event.as_str(), lanes[0].due),
        ("zed", Some(Instant(33 * HOUR)))
    );
}

#[test]
fn a_flush_reaches_what_its_view_holds() {
    let mut world = World::new();
    let tenants = [Some("acme"), Some("zed"), None];
    let events = ["acme", "zed", "none"].into_iter().zip(tenants);
    let events: Vec<Command> = events.map(|(name, tenant)| publish(name, "news", tenant)).collect();
    world.run(1, &events);
    let flush = |view: View| Command::Flush {
        recipient: id("a"),
        channel: None,
        lane: None,
        key: None,
        view,
    };
    let names =
        |world: &World| world.waiting().into_iter().map(|(name, ..)| name).collect::<Vec<_>>();
    world.run(2, &[flush(View::Only(id("acme")))]);
    assert_eq!(names(&world), ["none", "zed"]);
    world.run(3, &[flush(View::Of(id("acme")))]);
    assert_eq!(names(&world), ["zed"]);
    assert!(world.replies(4, &[flush(View::Only(id("nobody")))])[0].is_err());
    world.run(5, &[flush(View::All)]);
    assert_eq!(names(&world), Vec::<String>::new());
}

#[test]
fn what_is_paused_of_a_tenant_waits_apart_and_comes_back() {
    let mut world = World::new();
    world.run(1, &[publish("acme", "soon", Some("acme"))]);
    let what = || PauseSubject::Type(id("soon"));
    world.run(2, &[Command::Pause(what())]);
    assert_eq!(world.due("acme"), None);
    world.run(3, &[publish("later", "soon", Some("acme"))]);
    world.run(2 * HOUR, &[]);
    assert_eq!(world.waiting().len(), 2, "nothing closes meanwhile");
    world.run(3 * HOUR, &[Command::Resume(what())]);
    world.run(3 * HOUR + SECOND, &[]);
    assert_eq!(world.waiting(), []);
    assert_eq!(world.ended("acme"), []);
}

#[test]
fn conditions_see_the_tenant_and_the_zone_and_locale_that_hold_for_its_entries() {
    let conditions = [
        ("id", "tenant.id == 'acme' && event.tenant == 'acme'"),
        ("tz", "recipient.tz == 'Asia/Tokyo' && recipient.locale == 'ja'"),
        ("data", "tenant.data.plan == 'big' && tenant.name == 'Acme'"),
        ("none", "!has(tenant.id) && !has(event.tenant) && recipient.tz == 'UTC'"),
    ];
    let mut world = World::with(|rules| {
        for (name, condition) in conditions {
            let told = rules.types["told"].clone();
            let condition = Some(condition.to_owned());
            rules.types.insert(name.to_owned(), TypeRules { condition, ..told });
        }
    });
    let acme: TenantChange = serde_json::from_value(serde_json::json!({
        "tz": "Asia/Tokyo", "locale": "ja", "name": "Acme", "data": {"plan": "big"},
    }))
    .unwrap();
    world.run(1, &[set("acme", acme)]);
    for (name, _) in conditions {
        for tenant in ["acme", "zed", ""] {
            let of = Some(tenant).filter(|tenant| !tenant.is_empty());
            world.run(2, &[publish(&format!("{name}{tenant}"), name, of)]);
            let holds = (name == "none") == tenant.is_empty() && tenant != "zed";
            let ended = world.ended(&format!("{name}{tenant}"));
            assert_eq!(ended.is_empty(), holds, "{name} of {tenant}: {ended:?}");
        }
    }
    assert_eq!(world.ended("datazed"), [(Reason::ConditionError, 1)]);
}

#[test]
fn preferences_of_a_recipient_are_bounded_over_all_tenants() {
    let mut world = World::with(|rules| rules.limits = rules.limits.with(Bound::Preferences, 2));
    let choice = |kind: &str, tenant: Option<&str>, mode| Choice {
        scope: PreferenceScope::Type(kind.to_owned()),
        channel: "email".to_owned(),
        mode,
        tenant: tenant.map(id),
    };
    let choose = |chosen: Vec<Choice>, whole| Command::Preferences {
        recipient: id("a"),
        chosen,
        whole,
        tenant: None,
        by: ChangedBy::User,
    };
    let two = [choice("news", None, Mode::Never), choice("news", Some("acme"), Mode::Never)];
    world.run(1, &[choose(two.to_vec(), false)]);
    let third = choice("news", Some("zed"), Mode::Never);
    let refused =
        Err(Refused::Exceeded(ExceededBound { bound: Bound::Preferences, got: 3, most: 2 }));
    for whole in [false, true] {
        let of =
            if whole { [&two[..], slice::from_ref(&third)].concat() } else { vec![third.clone()] };
        assert_eq!(world.replies(2, &[choose(of, whole)]), std::slice::from_ref(&refused));
    }
    // What takes the place of another is no more.
    let changed = choice("news", None, Mode::Immediate);
    let lifted = choice("news", Some("acme"), Mode::Default);
    world.run(3, &[choose(vec![changed, lifted, third.clone()], false)]);
    // A mute is bounded by itself, and those of a deleted tenant count no more.
    let mute = Choice { scope: PreferenceScope::Topic(id("t")), ..third };
    let delete = Command::DeleteTenant { tenant: id("zed") };
    world.run(4, &[choose(vec![mute], false), delete]);
    world.run(4, &[choose(vec![choice("soon", None, Mode::Never)], false)]);
}

#[test]
fn deliver_local_of_a_tenants_event_is_on_the_clock_that_holds_for_it() {
    let mut world = World::new();
    world.run(1, &[zone("acme", Some("America/New_York"))]);
    for (name, tenant) in [("acme", Some("acme")), ("none", None)] {
        let Command::Publish(mut event) = publish(name, "soon", tenant) else {
            unreachable!("that is what it makes");
        };
        event.deliver_local = crate::model::time::WallTime::parse("1970-01-01T12:00");
        assert!(event.deliver_local.is_some());
        world.run(2, &[Command::Publish(event)]);
    }
    let scheduled = world.engine.reader(&world.stored).scheduled(&id("a")).unwrap();
    let at: Vec<_> = scheduled.iter().map(|of| (of.event.as_str(), of.t.0 / HOUR)).collect();
    assert_eq!(at, [("none", 12), ("acme", 17)]);
}

#[test]
fn lists_of_preferences_are_of_a_view_and_a_whole_list_replaces_its_tenants() {
    let mut world = World::new();
    let list = |chosen: Vec<Choice>, tenant: Option<&str>| Command::Preferences {
        recipient: id("a"),
        chosen,
        whole: true,
        tenant: tenant.map(id),
        by: ChangedBy::Key,
    };
    let of = |tenant| choice(works(), Mode::Never, tenant);
    world.run(1, &[list(vec![of(None), of(Some("acme")), of(Some("zed"))], None)]);
    let shown = |world: &World, view: View| -> Vec<Option<String>> {
        let listed = world.engine.preferences(&id("a"), &view).unwrap().into_iter();
        listed.map(|of| of.tenant.map(|tenant| tenant.as_str().to_owned())).collect()
    };
    let [acme, zed] = ["acme", "zed"].map(|tenant| Some(tenant.to_owned()));
    assert_eq!(shown(&world, View::All), [None, zed.clone(), acme.clone()]);
    assert_eq!(shown(&world, View::Of(id("acme"))), [None, acme.clone()]);
    assert_eq!(shown(&world, View::Only(id("acme"))), slice::from_ref(&acme));
    world.run(2, &[list(Vec::new(), Some("acme"))]);
    assert_eq!(shown(&world, View::All), [None, zed.clone()]);
    world.run(3, &[prefer(choice(works(), Mode::Default, None))]);
    assert_eq!(shown(&world, View::All), slice::from_ref(&zed));
    let unknown = prefer(of(Some("nobody")));
    assert!(matches!(&world.replies(4, &[unknown])[0], Err(Refused::UnknownTenant { .. })));
    world.run(5, &[Command::DeleteTenant { tenant: id("zed") }]);
    world.run(6, &[]);
    assert_eq!(shown(&world, View::All), []);
    let bucket = world.engine.shards.bucket(BucketNo(0));
    assert_eq!(bucket.preferences.of(0), [], "nothing is left of it");
    let required = |required: bool| {
        World::with(|rules| rules.types.get_mut("soon").unwrap().required = required)
    };
    for (is_required, tenant) in [(true, Some("acme")), (true, None), (false, Some("acme"))] {
        let refused = prefer(choice(of_type("soon"), Mode::Never, tenant));
        assert_eq!(required(is_required).replies(7, &[refused])[0].is_err(), is_required);
    }
}

#[test]
fn terms_of_a_tenant_are_stored_only_where_it_sets_some() {
    let mut world = World::new();
    assert_eq!(Tenant::default().terms(), Default::default());
    let rows = |world: &World| {
        let prefix = Key::of(Owner::Bucket(BucketNo(0)), Table::TenantTerms).done();
        world.stored.0.keys().filter(|(_, key)| key.starts_with(&prefix)).count()
    };
    let rest = |world: &mut World| {
        while let Some(writes) = world.engine.chore(&world.stored).unwrap() {
            world.stored.commit(writes);
        }
    };
    rest(&mut world);
    assert_eq!(rows(&world), 0);
    world.run(1, &[zone("acme", Some("Asia/Tokyo")), defaults("zed", vec![never()])]);
    rest(&mut world);
    assert_eq!(rows(&world), 2);
    world.run(2, &[zone("acme", None)]);
    world.run(3, &[Command::DeleteTenant { tenant: id("zed") }]);
    rest(&mut world);
    assert_eq!(rows(&world), 0);
}
