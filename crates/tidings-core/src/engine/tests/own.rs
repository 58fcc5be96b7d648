//! Objects by whose key made them (contract, section 12, "Keys").

use std::sync::Arc;

use super::tenants::{World, change, delete};
use crate::engine::tests::*;
use crate::model::command::OwnChange;
use crate::model::tenant::TenantNo;
use crate::model::time::DAY_MS;
use crate::rules::UnknownTenant;

fn titled(object: &str, title: &str) -> Object {
    Object { title: Some(title.into()), ..Object::bare(id(object)) }
}

fn put(tenant: &str, object: &str, title: &str) -> Command {
    let change = OwnChange::Put(titled(object, title));
    Command::OwnObject { tenant: id(tenant), change }
}

fn retract(tenant: &str, object: &str) -> Command {
    Command::OwnObject { tenant: id(tenant), change: OwnChange::Retract(id(object)) }
}

fn not_yours(object: &str) -> Result<Reply, Refused> {
    Err(Refused::ObjectNotYours(id(object)))
}

/// An event to the member, of a tenant; `by_tenant` = with its key.
fn event(name: &str, tenant: &str, by_tenant: bool, object: Object) -> Event {
    let to = Audience { recipients: vec![id("a")], ..Audience::default() };
    let tenant = Some(id(tenant));
    Event { tenant, by_tenant, ..Event::new(id(name), id("told"), object, to) }
}

fn publish(event: Event) -> Command {
    Command::Publish(Box::new(event))
}

fn warnings(reply: &Result<Reply, Refused>) -> Vec<Warning> {
    match reply {
        Ok(Reply::Published(published)) => published.warnings.clone(),
        other => panic!("{other:?}"),
    }
}

impl World {
    /// A world whose recipient is a member of both tenants.
    fn with_member() -> Self {
        let mut world = Self::new(UnknownTenant::Refuse);
        let join = |tenant: &str| Command::Join { recipient: id("a"), tenant: id(tenant) };
        assert_eq!(world.run(&[join("acme"), join("bolt")]), [Ok(Reply::Done), Ok(Reply::Done)]);
        world
    }

    fn number(&self, tenant: &str) -> TenantNo {
        TenantDirectory::of(&self.engine).number(&id(tenant)).unwrap()
    }

    /// The title of an object, where a view has it.
    fn title_in(&self, object: &str, view: View<TenantNo>) -> Option<String> {
        let found = self.engine.reader(&self.stored).object(&id(object), view).unwrap()?;
        found.object.title.map(|title| title.first().to_owned())
    }

    fn title(&self, object: &str) -> Option<String> {
        self.title_in(object, View::All)
    }

    fn item(&self, event: &str) -> InboxItem {
        let page = self.engine.reader(&self.stored).inbox(&id("a"), &InboxQuery::newest(99));
        let mut items = page.unwrap().groups.into_iter().flat_map(|group| group.items);
        items.find(|item| item.event == id(event)).unwrap()
    }

    /// The titles of the object, the actor and the target of an item.
    fn shown(&self, event: &str) -> [Option<String>; 3] {
        let item = self.item(event);
        let title = |object: &Arc<Object>| object.title.as_ref().map(|of| of.first().to_owned());
        [
            title(&item.object),
            item.actor.as_ref().and_then(title),
            item.target.as_ref().and_then(title),
        ]
    }
}

#[test]
fn t42_a_key_of_a_tenant_changes_reads_and_retracts_what_it_made_and_nothing_else() {
    let mut world = World::with_member();
    let done = Ok(Reply::Done);
    let made = world.run(&[
        put("acme", "of-acme", "A1"),
        put("bolt", "of-bolt", "B1"),
        Command::Object(titled("of-host", "H1")),
        put("acme", "of-acme", "A2"),
    ]);
    assert_eq!(made, vec![done.clone(); 4]);
    let refused = world.run(&[
        put("acme", "of-bolt", "A"),
        put("acme", "of-host", "A"),
        put("bolt", "of-acme", "B"),
        retract("acme", "of-bolt"),
        retract("acme", "of-host"),
        retract("acme", "of-nobody"),
    ]);
    let of = ["of-bolt", "of-host", "of-acme", "of-bolt", "of-host", "of-nobody"];
    assert_eq!(refused, of.map(not_yours));
    let titles = ["of-acme", "of-bolt", "of-host"].map(|object| world.title(object).unwrap());
    assert_eq!(titles, ["A2", "B1", "H1"]);
    assert!(world.engine.intake.objects.withdrawn.is_empty());
    let own = View::Only(world.number("acme"));
    let seen = ["of-acme", "of-bolt", "of-host"].map(|object| world.title_in(object, own));
    assert_eq!(seen, [Some("A2".to_owned()), None, None]);
    assert_eq!(world.run(&[retract("acme", "of-acme")]), [done]);
    assert!(world.engine.intake.objects.withdrawn.contains_key(&id("of-acme")));
    // It stays its own: nobody takes a retracted object over.
    assert_eq!(world.run(&[put("bolt", "of-acme", "B")]), [not_yours("of-acme")]);
    world.run(&[put("acme", "of-acme", "A3")]);
    assert!(world.engine.intake.objects.withdrawn.is_empty());
    // The host changes any, which takes it from nobody.
    world.run(&[Command::Object(titled("of-acme", "H2")), put("acme", "of-acme", "A4")]);
    assert_eq!(world.title("of-acme").as_deref(), Some("A4"));
}

#[test]
fn t42_what_an_event_says_of_objects_that_the_tenant_did_not_make_is_ignored() {
    let mut world = World::with_member();
    world.run(&[
        Command::Object(titled("of-host", "H")),
        put("bolt", "of-bolt", "B"),
        put("acme", "of-acme", "A"),
    ]);
    let mut told = event("e1", "acme", true, titled("of-bolt", "A of B"));
    told.actor = Some(titled("of-host", "A of H"));
    told.target = Some(titled("of-acme", "A2"));
    let replies = world.run(&[publish(told.clone())]);
    let ignored = ["of-host", "of-bolt"].map(|object| Warning::ObjectNotYours(id(object)));
    assert_eq!(warnings(&replies[0]), ignored);
    let titles = ["of-host", "of-bolt", "of-acme"].map(|object| world.title(object).unwrap());
    assert_eq!(titles, ["H", "B", "A2"]);
    // In its entries such an object is its id alone, and stays so.
    assert_eq!(world.shown("e1"), [None, None, Some("A2".to_owned())]);
    assert_eq!(*world.item("e1").object, Object::bare(id("of-bolt")));
    // Neither is it part of the event.
    let trace = world.engine.reader(&world.stored).trace(&id("e1")).unwrap().unwrap();
    let stored = trace.report(&world.stored).unwrap().event;
    assert_eq!(stored.object, Object::bare(id("of-bolt")));
    assert_eq!(stored.actor, Some(Object::bare(id("of-host"))));
    // The same event again is the same, the key of the host or not.
    let again = world.run(&[publish(told.clone())]);
    assert_eq!(warnings(&again[0]), []);
    told.by_tenant = false;
    assert_eq!(warnings(&world.run(&[publish(told.clone())])[0]), []);
    told.target = Some(titled("of-acme", "Other"));
    assert_eq!(warnings(&world.run(&[publish(told)])[0]), [Warning::Differs]);
    // To name one without a word of it is no fault.
    let named = event("e2", "acme", true, Object::bare(id("of-bolt")));
    assert_eq!(warnings(&world.run(&[publish(named)])[0]), []);
    assert_eq!(world.shown("e2"), [None, None, None]);
    // Those of the host about the same objects show them.
    let mut of_host = event("e3", "acme", false, titled("of-bolt", "B2"));
    of_host.actor = Some(Object::bare(id("of-host")));
    world.run(&[publish(of_host)]);
    assert_eq!(world.shown("e3"), [Some("B2".to_owned()), Some("H".to_owned()), None]);
    assert_eq!(world.shown("e1")[0], None);
}

#[test]
fn t42_an_event_makes_what_nobody_made_its_tenants_own() {
    let mut world = World::with_member();
    let mut first = event("e1", "acme", true, Object::bare(id("doc")));
    first.actor = Some(titled("who", "Who"));
    first.target = Some(Object::bare(id("place")));
    world.run(&[publish(first)]);
    let of_others =
        ["doc", "who", "place"].map(|object| world.run(&[put("bolt", object, "B")]).remove(0));
    // To name an actor or a target by its id alone says nothing of it: nobody has made it yet.
    assert_eq!(of_others, [not_yours("doc"), not_yours("who"), Ok(Reply::Done)]);
    assert_eq!(world.run(&[put("acme", "doc", "D")]), [Ok(Reply::Done)]);
    assert_eq!(world.shown("e1"), [Some("D".to_owned()), Some("Who".to_owned()), None]);
    let found = world.engine.reader(&world.stored).object(&id("doc"), View::All).unwrap();
    assert_eq!(found.unwrap().tenant, Some(id("acme")));
}

#[test]
fn t42_a_retraction_reaches_all_and_no_event_of_another_tenant_lifts_it() {
    let mut world = World::with_member();
    let about = |name: &str, tenant: &str| event(name, tenant, true, Object::bare(id("doc")));
    world.run(&[put("acme", "doc", "D"), publish(about("e1", "bolt"))]);
    world.run(&[retract("acme", "doc")]);
    let is_withdrawn =
        |world: &World| world.engine.intake.objects.withdrawn.contains_key(&id("doc"));
    world.run(&[publish(about("e2", "bolt"))]);
    assert!(is_withdrawn(&world));
    world.now = 60_000;
    world.run(&[]);
    let closings = world.engine.open_closings().unmade();
    let planner = world.engine.planner(&world.stored);
    let ends = closings.iter().flat_map(|closing| {
        let plan = planner.plan(*closing, 9).unwrap().unwrap();
        let ended = plan.messages.iter().flat_map(|planned| planned.ended.clone());
        ended.collect::<Vec<_>>()
    });
    assert_eq!(ends.count(), 2, "both entries of the other tenant are skipped");
    world.run(&[publish(about("e3", "acme"))]);
    assert!(!is_withdrawn(&world));
}

#[test]
fn t42_ownership_ends_with_the_tenant_and_with_the_object() {
    let mut world = World::with_member();
    world.run(&[put("acme", "doc", "D"), put("bolt", "of-bolt", "B")]);
    let told = event("e1", "bolt", true, titled("fleeting", "F"));
    world.run(&[publish(told), delete("acme"), change("acme", None)]);
    // Made anew, the id is another tenant.
    assert_eq!(world.run(&[put("acme", "doc", "Anew")]), [not_yours("doc")]);
    let own = View::Only(world.number("acme"));
    assert_eq!((world.title_in("doc", own), world.title("doc").as_deref()), (None, Some("D")));
    let found = world.engine.reader(&world.stored).object(&id("doc"), View::All).unwrap();
    assert_eq!(found.unwrap().tenant, None);
    assert_eq!(world.run(&[put("gone", "new", "N")]), [not_yours("new")]);
    // What only an event gave is unknown once its days are forgotten; what was put stays its own.
    assert_eq!(world.run(&[put("acme", "fleeting", "Anew")]), [not_yours("fleeting")]);
    world.now = 2 * DAY_MS;
    world.run(&[Command::Forget { before: Day(1) }]);
    let anew = world.run(&[put("acme", "fleeting", "Anew"), put("acme", "of-bolt", "Anew")]);
    assert_eq!(anew, [Ok(Reply::Done), not_yours("of-bolt")]);
    assert_eq!(world.title_in("fleeting", own).as_deref(), Some("Anew"));
    // One that was retracted goes with its days.
    world.run(&[retract("bolt", "of-bolt")]);
    world.now = 4 * DAY_MS;
    world.run(&[Command::Forget { before: Day(3) }]);
    assert_eq!(world.run(&[put("acme", "of-bolt", "Anew")]), [Ok(Reply::Done)]);
}

#[test]
fn t42_actors_without_a_title_have_the_names_of_members_alone() {
    let mut world = World::with_member();
    let person = |name: &str| {
        let mut change = RecipientChange::nothing(id(name));
        change.name = Some(Some(format!("Name {name}")));
        Command::Recipient(Box::new(change))
    };
    let join = Command::Join { recipient: id("member"), tenant: id("acme") };
    world.run(&[person("member"), person("stranger"), join]);
    let by = |name: &str, actor: &str, by_tenant: bool| {
        let mut event = event(name, "acme", by_tenant, Object::bare(id("doc")));
        event.actor = Some(Object::bare(id(actor)));
        publish(event)
    };
    world.run(&[by("e1", "member", true), by("e2", "stranger", true), by("e3", "stranger", false)]);
    let names = ["e1", "e2", "e3"].map(|event| world.shown(event)[1].clone());
    assert_eq!(names, [Some("Name member".to_owned()), None, Some("Name stranger".to_owned())]);
}

#[test]
fn t42_messages_show_what_anothers_is_by_its_id_alone() {
    let mut world = World::with_member();
    let follow = |topic: &str| Command::Subscribe {
        recipient: id("a"),
        topic: id(topic),
        tenant: Some(id("acme")),
    };
    world.run(&[
        Command::Object(titled("topic", "Topic")),
        put("bolt", "of-bolt", "B"),
        put("acme", "of-acme", "A"),
        follow("topic"),
        follow("of-acme"),
    ]);
    let told = |name: &str, by_tenant: bool, object: &str| {
        let mut event = event(name, "acme", by_tenant, Object::bare(id(object)));
        event.to = Audience { topics: vec![id("topic"), id("of-acme")], ..Audience::default() };
        event
    };
    let mut told_of_both = told("e1", true, "of-bolt");
    told_of_both.target = Some(Object::bare(id("of-acme")));
    world.run(&[publish(told_of_both)]);
    let batch = |world: &mut World, now: i64| {
        world.now = now;
        world.run(&[]);
        let closing = *world.engine.open_closings().unmade().last().unwrap();
        let plan = world.engine.planner(&world.stored).plan(closing, 9).unwrap().unwrap();
        let mut presenter = Presenter::new(&world.engine, &world.stored);
        presenter.batch(&plan, &plan.messages[0]).unwrap().unwrap()
    };
    let shown = format!("{:?}", batch(&mut world, 60_000));
    assert!(shown.contains("of-bolt") && shown.contains("\"A\""), "{shown}");
    assert!(!shown.contains("\"B\"") && !shown.contains("\"Topic\""), "{shown}");
    // What the host publishes of the same tenant is shown whole.
    world.run(&[publish(told("e2", false, "of-bolt"))]);
    let shown = format!("{:?}", batch(&mut world, 120_000));
    assert!(shown.contains("\"B\"") && shown.contains("\"Topic\""), "{shown}");
}

#[test]
fn t42_what_a_tenant_ignored_ahead_of_its_event_is_warned_of() {
    let mut world = World::with_member();
    let what = crate::model::command::Cancelled::Event(id("e1"));
    world.run(&[
        Command::Object(titled("of-host", "H")),
        Command::Cancel { what, tenant: Some(id("acme")) },
    ]);
    let replies = world.run(&[publish(event("e1", "acme", true, titled("of-host", "A")))]);
    assert_eq!(warnings(&replies[0]), [Warning::ObjectNotYours(id("of-host"))]);
    assert_eq!(world.title("of-host").as_deref(), Some("H"));
}

#[test]
fn t42_what_the_hosts_service_says_of_an_id_that_a_tenant_took_is_not_the_tenants() {
    let mut world = World::with_member();
    world.run(&[publish(event("e1", "acme", true, Object::bare(id("secret"))))]);
    world.run(&[Command::Resolved(titled("secret", "Secret"))]);
    assert_eq!(world.title("secret"), None);
    world.run(&[delete("acme"), Command::Resolved(titled("secret", "Secret"))]);
    assert_eq!(world.title("secret").as_deref(), Some("Secret"));
}

#[test]
fn t42_a_key_of_a_tenant_that_is_gone_makes_none() {
    let mut world = World::new(UnknownTenant::Make);
    let late =
        world.run(&[delete("acme"), publish(event("e1", "acme", true, Object::bare(id("o"))))]);
    assert_eq!(late[1], Err(Refused::TenantGone(id("acme"))));
    assert!(TenantDirectory::of(&world.engine).get(&id("acme")).is_none());
}
