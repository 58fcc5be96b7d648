//! The index of addresses, and what searches find by it.

use std::collections::BTreeMap;

use crate::engine::address_index::hash::HashKey;
use crate::engine::tests::*;
use crate::model::channel::{ChannelNo, EMAIL_NO};
use crate::model::recipient::GivenAddress;
use crate::model::tenant::TenantChange;
use crate::model::time::DAY_MS;
use crate::rules::TenantRules;

const OPTIONS: fn() -> Options =
    || Options { buckets: 3, shards: 2, fresh_key: [7; 16], ..Options::default() };
const SMS_NO: ChannelNo = ChannelNo(2);

struct World {
    stored: Stored,
    engine: Engine,
    now: i64,
}

impl World {
    fn new() -> Self {
        let mut stored = Stored::default();
        let mut engine = Engine::open(&stored, &[], OPTIONS()).unwrap();
        let rules = Rules { tenants: Some(TenantRules::default()), ..rules() };
        let step = engine.set_rules(&stored, &Reach::new(), Instant(0), rules).unwrap();
        stored.commit(step.writes);
        Self { stored, engine, now: 0 }
    }

    fn run(&mut self, commands: &[Command]) {
        self.now += 1;
        let step = self.engine.step(&self.stored, &Reach::new(), Instant(self.now), commands);
        let step = step.unwrap();
        self.stored.commit(step.writes);
        assert!(step.replies.iter().all(Result::is_ok), "{:?}", step.replies);
    }

    fn open_again(&mut self) {
        let days: Vec<Day> = self.stored.days().into_iter().collect();
        // Another key would find nothing: the first one stays.
        let options = Options { fresh_key: [8; 16], ..OPTIONS() };
        self.engine = Engine::open(&self.stored, &days, options).unwrap();
    }

    /// Does what there is to do; returns the number of slices that changed the index.
    fn do_chores(&mut self) -> usize {
        let mut slices = 0;
        while let Some(writes) = self.engine.chore(&self.stored).unwrap() {
            let of_index = writes.iter().filter(|write| is_of_index(&write.key)).count();
            assert!(of_index <= 2_500, "a slice of {of_index} rows");
            self.stored.commit(writes);
            slices += usize::from(of_index > 0);
        }
        assert!(!self.engine.has_chores());
        slices
    }

    fn result(&self, text: &str) -> SearchResult {
        let now = Instant(self.now);
        let search = Search { text: text.to_owned(), tagged: None, now };
        self.engine.reader(&self.stored).search(&search).unwrap()
    }

    /// The hits as `id:way`.
    fn found(&self, text: &str) -> String {
        let hits = self.result(text).hits;
        let hits = hits.iter().map(|hit| format!("{}:{}", hit.id, hit.matched.word()));
        hits.collect::<Vec<_>>().join(" ")
    }

    /// Number of rows of the index: those of present and former addresses.
    fn rows(&self) -> (usize, usize) {
        let of = |table| {
            let prefix = Key::of(Owner::Shared, table).done();
            let rows = self.stored.0.iter();
            rows.filter(|((_, key), _)| key.starts_with(&prefix)).collect::<Vec<_>>()
        };
        let (all, former) = (of(Table::Addresses), of(Table::FormerAddresses));
        let is_former = |value: &[u8]| !value.is_empty();
        assert_eq!(all.iter().filter(|(_, value)| is_former(value)).count(), former.len());
        (all.len() - former.len(), former.len())
    }
}

fn is_of_index(key: &[u8]) -> bool {
    matches!(key.get(2), Some(100 | 101))
}

fn with(who: &str, channel: ChannelNo, addresses: &[&str]) -> Command {
    let given = addresses.iter().map(|text| GivenAddress::from(*text)).collect();
    let addresses = [(channel, given)].into();
    Command::Recipient(Box::new(RecipientChange { addresses, ..RecipientChange::nothing(id(who)) }))
}

fn erase(who: &str) -> Command {
    Command::Erase { recipient: id(who) }
}

#[test]
fn an_address_is_found_in_every_spelling_by_all_who_have_it() {
    let mut world = World::new();
    world.run(&[
        with("zoe", EMAIL_NO, &["Ana+news@bücher.example"]),
        with("ana", EMAIL_NO, &["ana+NEWS@xn--bcher-kva.example"]),
        with("ana", SMS_NO, &["+34600111212"]),
        with("bob", EMAIL_NO, &["ana@bücher.example"]),
    ]);
    for text in
        ["ANA+news@BÜCHER.example", "ana+news@xn--bcher-kva.example", " ana+news@bücher.example"]
    {
        assert_eq!(world.found(text), "ana:address zoe:address", "{text}");
    }
    assert_eq!(world.found("+34 600 11 12 12"), "ana:address");
    assert_eq!(world.found("+34 600 11 12 13"), "");
    // One hit for each: that by the id comes first.
    world.run(&[with("ana@bücher.example", EMAIL_NO, &["ana@bücher.example"])]);
    assert_eq!(world.found("ana@bücher.example"), "ana@bücher.example:id bob:address");
    assert_eq!(world.rows(), (5, 0));
    assert_eq!(
        format!("{:?}", Search { text: "x@y".into(), tagged: None, now: Instant(0) }),
        "Search(…)"
    );
}

#[test]
fn a_former_address_is_found_within_keep_and_leaves_no_row_after_it() {
    let mut world = World::new();
    let (old, new) = ("old@example.org", "new@example.org");
    world.run(&[with("ana", EMAIL_NO, &[old]), with("bob", EMAIL_NO, &["bob@example.org"])]);
    world.run(&[with("ana", EMAIL_NO, &[new])]);
    assert_eq!(
        (world.found(old), world.found(new)),
        ("ana:former_address".into(), "ana:address".into())
    );
    // Who has it again has no former one, until they lose it once more.
    world.run(&[with("ana", EMAIL_NO, &[old])]);
    assert_eq!((world.found(old), world.rows()), ("ana:address".into(), (2, 1)));
    world.now += 5 * DAY_MS;
    world.run(&[with("ana", EMAIL_NO, &[])]);
    world.open_again();
    let keep_ms = StoreRules::default().keep_ms;
    world.now += keep_ms - 5 * DAY_MS;
    world.run(&[]);
    assert_eq!((world.found(new), world.found(old)), (String::new(), "ana:former_address".into()));
    assert_eq!(world.rows(), (1, 2));
    world.do_chores();
    assert_eq!(world.rows(), (1, 1), "the older one is gone");
    world.now += 5 * DAY_MS;
    // Whether the slice of that day was there yet or not.
    assert_eq!(world.found(old), "");
    world.run(&[]);
    world.do_chores();
    assert_eq!(world.rows(), (1, 0));
    world.open_again();
    assert_eq!(world.do_chores(), 0);
}

#[test]
fn nothing_is_left_of_who_is_erased() {
    let mut world = World::new();
    let (old, new) = ("old@example.org", "new@example.org");
    world.run(&[with("ana", EMAIL_NO, &[old]), with("bob", EMAIL_NO, &[old])]);
    world.run(&[with("ana", EMAIL_NO, &[new])]);
    assert_eq!(world.found(old), "ana:former_address bob:address");
    world.run(&[with("ana", EMAIL_NO, &["newer@example.org"]), erase("ana")]);
    assert_eq!((world.found(old), world.found(new)), ("bob:address".into(), String::new()));
    assert_eq!(world.rows(), (1, 0));
    // Made anew under the same id they are another, and have no past.
    world.run(&[with("ana", EMAIL_NO, &[new])]);
    assert_eq!((world.found(old), world.found(new)), ("bob:address".into(), "ana:address".into()));
}

#[test]
fn devices_events_and_the_end_of_a_tenant_change_the_index() {
    let mut world = World::new();
    let acme = Command::Tenant { tenant: id("acme"), change: Box::new(TenantChange::default()) };
    world.run(&[acme, recipient()]);
    let device = |text: &str, tenant: Option<&str>, joins| {
        let address = GivenAddress { text: text.to_owned(), tenant: tenant.map(id) };
        Command::Device { recipient: id("a"), channel: ChannelNo(4), address, joins }
    };
    world.run(&[device("fcm:One", None, true), device("fcm:Two", Some("acme"), true)]);
    assert_eq!(
        (world.found("fcm:One"), world.found("fcm:Two")),
        ("a:address".into(), "a:address".into())
    );
    assert_eq!(world.found("fcm:one"), "", "a token in other letters is another");
    world.run(&[device("fcm:One", None, false), Command::DeleteTenant { tenant: id("acme") }]);
    for _ in 0..5 {
        world.run(&[]);
    }
    for text in ["fcm:One", "fcm:Two"] {
        assert_eq!(world.found(text), "a:former_address", "{text}");
    }
}

#[test]
fn a_store_of_an_earlier_version_is_indexed_once_and_searched_meanwhile() {
    let mut world = World::new();
    let people: Vec<String> = (0..5_000).map(|n| format!("p-{n}")).collect();
    let address = |who: &String| format!("{who}@Example.org");
    let all: Vec<Command> =
        people.iter().map(|who| with(who, EMAIL_NO, &[&address(who)])).collect();
    world.run(&all);
    let rows = world.stored.0.clone();
    world.do_chores();
    // As an earlier version has left it.
    world.stored.0.retain(|(_, key), _| !is_of_index(key));
    world.open_again();
    assert!(world.engine.has_chores());
    for who in [&people[0], &people[4_999]] {
        assert_eq!(world.found(&address(who)), format!("{who}:address"));
    }
    // Changes before and amid the slices, of those who are indexed already and those who aren't.
    world.run(&[
        with("p-0", EMAIL_NO, &["zero@example.org"]),
        with("new", EMAIL_NO, &["n@example.org"]),
    ]);
    while !world.stored.0.keys().any(|(_, key)| key.get(2) == Some(&100) && key.len() > 20) {
        let writes = world.engine.chore(&world.stored).unwrap().unwrap();
        world.stored.commit(writes);
    }
    world.run(&[with("p-4999", EMAIL_NO, &["last@example.org"]), erase("p-4998")]);
    assert!(world.do_chores() > 4);
    assert_eq!(world.rows(), (5_000, 2));
    for (text, found) in [
        ("p-0@example.org", "p-0:former_address"),
        ("zero@example.org", "p-0:address"),
        ("n@example.org", "new:address"),
        ("P-4999@example.org", "p-4999:former_address"),
        ("last@example.org", "p-4999:address"),
        ("p-4998@example.org", ""),
        ("p-77@example.org", "p-77:address"),
    ] {
        assert_eq!(world.found(text), found, "{text}");
    }
    world.open_again();
    assert_eq!(world.do_chores(), 0, "it is indexed once");
    assert_eq!(world.found("p-77@example.org"), "p-77:address");
    // Hashes alone are in it, about 28 bytes an address.
    let rows = rows.iter().filter(|((_, key), _)| is_of_index(key) && key.len() > 3);
    let bytes: usize = rows.map(|((_, key), value)| key.len() + value.len()).sum();
    assert!(bytes <= 28 * 5_000, "{bytes}");
}

#[test]
fn hashes_are_by_the_key_of_the_store() {
    let rows = |fresh_key| {
        let mut stored = Stored::default();
        let options = Options { fresh_key, ..OPTIONS() };
        let mut engine = Engine::open(&stored, &[], options).unwrap();
        let step = engine.set_rules(&stored, &Reach::new(), Instant(0), rules()).unwrap();
        stored.commit(step.writes);
        let ana = [with("ana", EMAIL_NO, &["ana@example.org"])];
        let step = engine.step(&stored, &Reach::new(), Instant(0), &ana).unwrap();
        stored.commit(step.writes);
        assert_eq!(HashKey::read(&stored), Ok(Some(HashKey::new(fresh_key))));
        let index = Key::of(Owner::Shared, Table::Addresses).done();
        let rows: BTreeMap<_, _> =
            stored.0.into_iter().filter(|((_, key), _)| key.starts_with(&index)).collect();
        assert_eq!(rows.len(), 1);
        rows
    };
    assert_eq!(rows([1; 16]), rows([1; 16]));
    assert_ne!(rows([1; 16]), rows([2; 16]));
}

#[test]
fn a_search_finds_each_kind_by_its_id_and_events_by_their_key() {
    let mut world = World::new();
    let x = id("x");
    let acme = Command::Tenant { tenant: x.clone(), change: Box::new(TenantChange::default()) };
    world.run(&[acme, with("x", EMAIL_NO, &[])]);
    let event = |name: &str, key: &str, tenant: Option<&str>, in_ms: Option<i64>| {
        let to = Audience { recipients: vec![x.clone()], ..Audience::default() };
        let event = Event::new(id(name), id("told"), Object::bare(x.clone()), to);
        let at = in_ms.map(Instant);
        Command::Publish(Box::new(Event {
            cancellation_key: Some(id(key)),
            tenant: tenant.map(id),
            deliver_at: at,
            ..event
        }))
    };
    let follow = |tenant: Option<&str>, topic: &str| Command::Subscribe {
        recipient: x.clone(),
        topic: id(topic),
        tenant: tenant.map(id),
    };
    let object = Command::Object(Object::bare(x.clone()));
    world.run(&[
        event("x", "key", None, None),
        event("b", "key", Some("x"), None),
        event("a", "key", None, Some(9_000_000)),
        event("key", "other", None, None),
        object,
        follow(Some("x"), "x"),
        follow(None, "art/1"),
    ]);
    let kinds: Vec<_> = world.result("x").hits.iter().map(|hit| hit.kind.word()).collect();
    assert_eq!(kinds, ["recipient", "event", "object", "topic", "tenant"]);
    assert_eq!(world.found("told"), "told:id");
    assert_eq!(world.result("told").hits[0].kind, FoundKind::Type);
    assert_eq!(
        world.found("key"),
        "key:id a:cancellation_key b:cancellation_key x:cancellation_key"
    );
    let near = world.result("art/2");
    assert_eq!((near.hits.len(), near.nearest.len()), (0, 1));
    assert_eq!((near.nearest[0].kind, &*near.nearest[0].id), (FoundKind::Topic, "art/1"));
    assert_eq!(world.result("ar").nearest, []);
}
