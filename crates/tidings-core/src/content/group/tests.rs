use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::content::group::*;
use crate::model::event::Score;
use crate::model::event::host_text::HostText;
use crate::model::number::EventNo;
use crate::rules::{Category, Defaults, StoreRules, TypeRules};

fn grouped(entries: &[Entry], rules: &Rules) -> Vec<Group> {
    group(entries.iter().collect(), rules)
}

fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

fn type_rules(group: Option<Pivot>) -> TypeRules {
    TypeRules { category: "talk".to_owned(), group, ..TypeRules::default() }
}

fn rules(types: &[(&str, Option<Pivot>)]) -> Rules {
    Rules {
        defaults: Defaults::default(),
        categories: [("talk".to_owned(), Category::default())].into(),
        digests: BTreeMap::new(),
        types: types.iter().map(|(name, pivot)| ((*name).to_owned(), type_rules(*pivot))).collect(),
        store: StoreRules::default(),
        channels: BTreeMap::new(),
        limits: crate::model::limits::Limits::default(),
        presentation: Default::default(),
        caps: Vec::new(),
        resolver: None,
        feedback: Default::default(),
        ..Rules::default()
    }
}

/// `kind actor object target` at second `t`; `-` is none.
fn told(t: i64, text: &str) -> Entry {
    let words: Vec<&str> = text.split(' ').collect();
    let role = |at: usize| words.get(at).filter(|word| **word != "-").map(|word| id(word));
    let object = role(2).unwrap();
    let title = Some(format!("title at {t}").into());
    Entry {
        header: Header {
            place: EventNo(t.unsigned_abs()),
            id: id(&format!("event-{t}")),
            event_type: role(0).unwrap(),
            actor: role(1),
            object: object.clone(),
            target: role(3),
            score: Score::default(),
            occurred_at: None,
            expires_at: None,
        },
        t: Instant(t * 1000),
        reasons: ["everyone".to_owned(), format!("topic:{}", words[1])].into(),
        data: Some(Arc::new(
            [("t".to_owned(), t.into()), ("of".to_owned(), object.as_str().into())]
                .into_iter()
                .collect(),
        )),
        object: Arc::new(Object { title, ..Object::bare(object) }),
        actor: role(1).map(Object::bare).map(Arc::new),
        target: role(3).map(Object::bare).map(Arc::new),
        body: None,
    }
}

fn all(texts: &[&str]) -> Vec<Entry> {
    (1..).zip(texts).map(|(t, text)| told(t, text)).collect()
}

/// Groups as `kind pivot key [actors] {objects}`.
fn shown(groups: &[Group]) -> Vec<String> {
    let joined = |ids: Vec<&str>| ids.join(",");
    let show = |group: &Group| {
        let actors = joined(group.actors.iter().map(|actor| actor.id.as_str()).collect());
        let objects = joined(group.lines.iter().map(|line| line.object.id.as_str()).collect());
        let key = group.key.as_ref().map_or("-", |key| key.id.as_str());
        format!("{} {:?} {key} [{actors}] {{{objects}}}", group.event_type, group.pivot)
    };
    groups.iter().map(show).collect()
}

#[test]
fn h40_who_did_it_twice_is_named_once() {
    let told = all(&["follow A me", "follow B me", "follow B me"]);
    let groups = grouped(&told, &rules(&[("follow", None)]));
    assert_eq!(shown(&groups), ["follow Object me [B,A] {me}"]);
    let line = &groups[0].lines[0];
    assert_eq!((line.entries, line.t), (3, Instant(3000)));
    assert_eq!(line.object.title, Some("title at 3".into()));
    assert_eq!(*line.reasons, ["everyone", "topic:A", "topic:B"]);
    assert_eq!(groups[0].category, "talk");
}

#[test]
fn body_of_a_line_is_the_one_that_all_its_events_have() {
    let rules = rules(&[("comment", None)]);
    let body = |bodies: &[Option<&str>]| {
        let mut told = all(&vec!["comment A X"; bodies.len()]);
        for (entry, body) in told.iter_mut().zip(bodies) {
            entry.body = body.map(HostText::from);
        }
        let groups = grouped(&told, &rules);
        assert_eq!(groups[0].lines[0].entries, bodies.len());
        groups[0].lines[0].body.as_ref().map(|body| body.first().to_owned())
    };
    assert_eq!(body(&[Some("One")]).as_deref(), Some("One"));
    assert_eq!(body(&[Some("One"), Some("One")]).as_deref(), Some("One"));
    let merged: [&[Option<&str>]; 5] = [
        &[None],
        &[Some("One"), Some("Two")],
        &[Some("One"), None],
        &[None, Some("One")],
        &[Some("One"), Some("Two"), Some("One")],
    ];
    for bodies in merged {
        assert_eq!(body(bodies), None, "{bodies:?}");
    }
}

#[test]
fn h42_many_comments_on_one_document_are_one_line() {
    let told = all(&["comment C X", "comment D X", "comment B X", "comment E X", "comment A X"]);
    let groups = grouped(&told, &rules(&[("comment", None)]));
    assert_eq!(shown(&groups), ["comment Object X [A,E,B,D,C] {X}"]);
}

#[test]
fn equal_objects_of_several_types_are_one_line_of_the_first() {
    let told = all(&["comment A X", "share B X", "share A Y", "comment A X"]);
    let groups = grouped(&told, &rules(&[("comment", None), ("share", None)]));
    assert_eq!(shown(&groups), ["comment Object X [A,B] {X}", "share Object Y [A] {Y}"]);
    assert_eq!(groups[0].lines[0].types, [id("comment"), id("share")]);
    assert_eq!(groups[0].lines[0].entries, 3);
}

#[test]
fn the_role_with_the_fewest_groups_decides() {
    let rules = rules(&[("work", None)]);
    let shown_of = |texts: &[&str]| shown(&grouped(&all(texts), &rules));
    assert_eq!(
        shown_of(&["work A 1 t", "work A 2 u", "work B 3 v", "work A 4 t"]),
        ["work Actor A [A] {4,2,1}", "work Actor B [B] {3}"]
    );
    assert_eq!(
        shown_of(&["work A 1 t", "work B 2 t", "work A 3 t"]),
        ["work Target t [A,B] {3,2,1}"]
    );
    assert_eq!(shown_of(&["work A 1 t"]), ["work Object 1 [A] {1}"]);
    assert_eq!(shown_of(&["work A 1 t", "work A 2 t"]), ["work Actor A [A] {2,1}"]);
    assert_eq!(
        shown_of(&["work - 1", "work - 2"]),
        ["work Object 2 [] {2}", "work Object 1 [] {1}"]
    );
}

#[test]
fn the_highest_score_is_first_then_the_newest_then_the_first_to_arrive() {
    let by_object = rules(&[("work", Some(Pivot::Object))]);
    let mut told = all(&["work A 1", "work A 2", "work A 3", "work A 4", "work A 5"]);
    for (at, score) in [(0, 2.5), (1, 0.5), (2, -1.0)] {
        told[at].header.score = Score::new(score).unwrap();
    }
    told[3].t = told[4].t;
    let shown = |told: &[Entry]| {
        let groups = grouped(told, &by_object);
        groups
            .iter()
            .flat_map(|group| &group.lines)
            .map(|line| line.object.id.as_str().to_owned())
            .collect::<Vec<_>>()
    };
    let orders: Vec<usize> =
        grouped(&told, &by_object).iter().map(|group| group.lines[0].order).collect();
    assert_eq!(orders, [0, 1, 2, 3, 4]);
    assert_eq!(shown(&told), ["1", "2", "4", "5", "3"]);
    // A line stands where its best entry puts it.
    let mut again = super::tests::told(6, "work B 3");
    again.header.score = Score::new(3.0).unwrap();
    told.push(again);
    assert_eq!(shown(&told), ["3", "1", "2", "4", "5"]);
}

#[test]
fn a_line_without_the_role_stands_alone() {
    let by_actor = rules(&[("work", Some(Pivot::Actor))]);
    let told = all(&["work A 1", "work - 2", "work A 3", "work - 4", "work B 5", "work A 5"]);
    assert_eq!(
        shown(&grouped(&told, &by_actor)),
        [
            "work Actor - [A,B] {5}",
            "work Actor - [] {4}",
            "work Actor A [A] {3,1}",
            "work Actor - [] {2}"
        ]
    );
}

#[test]
fn a_groups_actors_are_told_by_their_latest_act() {
    let by_target = rules(&[("work", Some(Pivot::Target))]);
    let told = all(&["work B 1 t", "work C 2 t", "work A 1 t"]);
    assert_eq!(shown(&grouped(&told, &by_target)), ["work Target t [A,C,B] {1,2}"]);
}

#[test]
fn f12_types_of_a_category_have_one_group_of_a_target() {
    let told = all(&["comment A c1 t", "mention B c2 t", "comment C c3 t", "mention A c4 u"]);
    let target = Some(Pivot::Target);
    let shown_of = |rules: &Rules| shown(&grouped(&told, rules));
    let joined = "comment Target t [C,B,A] {c3,c2,c1}";
    let said = rules(&[("comment", target), ("mention", target)]);
    assert_eq!(shown_of(&said), ["mention Target u [A] {c4}", joined]);
    // Where nothing is said a mention joins the talk that it belongs to.
    let unsaid = rules(&[("comment", None), ("mention", None)]);
    assert_eq!(shown_of(&unsaid), ["mention Object c4 [A] {c4}", joined]);
    let apart = ["mention Object c4 [A] {c4}", "comment Target t [C,A] {c3,c1}"];
    let by_object = rules(&[("comment", None), ("mention", Some(Pivot::Object))]);
    assert_eq!(shown_of(&by_object)[..2], apart);
    let mut other = said;
    other.types.get_mut("mention").unwrap().category = "mentions".to_owned();
    assert_eq!(
        shown_of(&other)[1..],
        ["comment Target t [C,A] {c3,c1}", "mention Target t [B] {c2}"]
    );
}

#[test]
fn a_type_without_rules_or_title_is_shown_all_the_same() {
    assert!(grouped(&[], &rules(&[])).is_empty());
    let groups = grouped(&all(&["gone A 1"]), &rules(&[]));
    assert_eq!((groups.len(), groups[0].category.as_str()), (1, ""));
}

#[test]
fn p12_a_hundred_thousand_entries_are_gathered() {
    // Quadratic cost would make this test the one that never ends.
    let rules = rules(&[("work", None)]);
    for (objects, actors) in [(100_000, 1), (1, 100_000), (100_000, 100_000), (300, 300)] {
        let told: Vec<Entry> = (0..100_000)
            .map(|n| told(n, &format!("work a{} o{}", n % actors, n % objects)))
            .collect();
        let groups = grouped(&told, &rules);
        let lines: Vec<&Line> = groups.iter().flat_map(|group| &group.lines).collect();
        assert_eq!(lines.len() as i64, objects);
        assert_eq!(lines.iter().map(|line| line.entries).sum::<usize>(), 100_000);
    }
}

proptest! {
    #[test]
    fn every_entry_is_in_one_line_and_order_does_not_matter(
        picks in prop::collection::vec((0_u8..3, 0_u8..4, 0_u8..6, 0_u8..3), 0..40),
        seed: u64,
    ) {
        let rules = rules(&[("k0", None), ("k1", None), ("k2", Some(Pivot::Target))]);
        let entries: Vec<Entry> = (0..)
            .zip(&picks)
            .map(|(t, (kind, actor, object, target))| {
                let role = |letter, n: &u8| if *n == 0 { "-".to_owned() } else { format!("{letter}{n}") };
                let told = told(t, &format!("k{kind} {} o{object} {}", role('a', actor), role('t', target)));
                Entry { body: (*actor > 1).then(|| role('b', kind).into()), ..told }
            })
            .collect();
        let mut mixed = entries.clone();
        mixed.sort_by_key(|told| (told.header.place.0 ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let groups = grouped(&entries, &rules);
        prop_assert_eq!(&grouped(&mixed, &rules), &groups);
        let lines: Vec<&Line> = groups.iter().flat_map(|group| &group.lines).collect();
        prop_assert_eq!(lines.iter().map(|line| line.entries).sum::<usize>(), picks.len());
        let objects: FxHashSet<&Id> = lines.iter().map(|line| &line.object.id).collect();
        prop_assert_eq!(objects.len(), lines.len());
        // F3: what is said of a line is true of each of its entries.
        for line in &lines {
            let of: Vec<&Entry> = entries.iter().filter(|told| told.header.object == line.object.id).collect();
            prop_assert_eq!(line.lacks_actor, of.iter().any(|told| told.actor.is_none()));
            let target = of[0].header.target.as_ref();
            let shared = target.filter(|_| of.iter().all(|told| told.header.target.as_ref() == target));
            prop_assert_eq!(line.target.as_ref().map(|target| &target.id), shared);
            let body = of[0].body.as_ref().filter(|body| of.iter().all(|told| told.body.as_ref() == Some(body)));
            prop_assert_eq!(line.body.as_ref(), body);
            let data = line.data.as_ref().unwrap();
            prop_assert_eq!(data.contains_key("t"), of.len() == 1);
            prop_assert_eq!(data["of"].as_str(), Some(line.object.id.as_str()));
        }
        for group in &groups {
            prop_assert!(group.lines.is_sorted_by(|a, b| a.t > b.t));
            let is_of_type = |line: &Line| line.types[0] == group.event_type;
            prop_assert!(is_of_type(&group.lines[0]));
            // Types share groups of a target alone.
            prop_assert!(group.pivot == Pivot::Target || group.lines.iter().all(is_of_type));
        }
        prop_assert!(groups.is_sorted_by(|a, b| a.lines[0].t > b.lines[0].t));
    }
}
