//! Keys of the groups of an inbox.

use crate::engine::read::inbox::key_of;
use crate::engine::tests::*;
use crate::index::headers::Header;
use crate::journal::record::About;
use crate::model::number::EventNo;

#[test]
fn the_key_of_a_group_is_its_own() {
    let header = |kind: &str, object: &str, target: Option<&str>| Header {
        place: EventNo(1),
        id: id("e"),
        event_type: id(kind),
        actor: None,
        object: id(object),
        target: target.map(id),
        score: Default::default(),
        occurred_at: None,
        expires_at: None,
    };
    let key = |header: &Header, group: u64| key_of(header, group, Day(0), false);
    let by_object = |kind, object| {
        let header = header(kind, object, None);
        key(&header, About::object_hash(&header.object))
    };
    assert_eq!(by_object("note", "o1"), "note:o1:1970-01-01:new");
    assert_ne!(by_object("x", "y:z"), by_object("x:y", "z"));
    assert_ne!(by_object("x", "a:b"), by_object("x", "a%3Ab"));
    // One has the target `e`, the other none and is `e` itself.
    let with = header("x", "o", Some("e"));
    let without = header("x", "o", None);
    let by_target = key(&with, About::pivot_hash("target", &id("e")));
    assert_ne!(by_target, key(&without, About::pivot_hash("event", &id("e"))));
    assert_ne!(by_target, by_object("x", "e"));
}
