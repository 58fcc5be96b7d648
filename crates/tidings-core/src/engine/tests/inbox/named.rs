//! The badge and the marks of an inbox, case by case.

use crate::engine::message::present::Presenter;
use crate::engine::tests::inbox::*;

fn lone() -> World {
    World::new(Options::default())
}

fn badge(world: &mut World) -> u64 {
    world.page(0, &InboxQuery::newest(20)).counts.unseen
}

#[test]
fn h32_the_badge_counts_groups_with_something_unseen() {
    let mut world = lone();
    assert_eq!(badge(&mut world), 0);
    world.publish(0, (1, 1, 0), 1, 0);
    assert_eq!(badge(&mut world), 1);
    world.publish(0, (1, 2, 0), 1, 0);
    assert_eq!(badge(&mut world), 1, "the second of the same group");
    world.mark(0, 4, 0, 0);
    assert_eq!(badge(&mut world), 0);
    world.publish(0, (1, 3, 0), 1, 0);
    world.publish(0, (1, 1, 0), 1, 0);
    assert_eq!(badge(&mut world), 1);
    world.publish(0, (2, 1, 0), 1, 0);
    world.publish(0, (3, 1, 0), 1, 0);
    assert_eq!(badge(&mut world), 3, "two of two other groups");
}

#[test]
fn field_4_a_message_to_a_device_has_the_badge_of_the_inbox() {
    let mut world = lone();
    let shown = |world: &World, channel: &str| {
        let presenter = Presenter::new(&world.engine, &world.stored);
        presenter.badge(channel, &id(PEOPLE[0])).unwrap()
    };
    assert_eq!(shown(&world, "apns"), None, "an icon of which nothing is known stays as it is");
    world.publish(0, (1, 1, 0), 1, 0);
    world.publish(0, (2, 1, 0), 1, 0);
    for channel in ["apns", "fcm", "webpush"] {
        assert_eq!(shown(&world, channel), Some(badge(&mut world)), "{channel}");
    }
    for channel in ["email", "sms", "slack"] {
        assert_eq!(shown(&world, channel), None, "{channel}");
    }
}

#[test]
fn h33_what_is_new_does_not_merge_into_a_group_that_was_read() {
    let mut world = lone();
    world.publish(0, (1, 1, 0), 1, 0);
    world.mark(0, 0, 1, 3);
    world.publish(0, (1, 2, 0), 1, 0);
    let page = world.page(0, &InboxQuery::newest(20));
    let states: Vec<_> = page.groups.iter().map(|g| (g.read, g.count)).collect();
    assert_eq!(states, [(false, 1), (true, 1)]);
    assert_eq!((page.counts.unseen, page.counts.unread), (1, 1));
}

#[test]
fn h20_a_group_ends_with_its_day() {
    let mut world = lone();
    for wait in [0, 0, 24, 0] {
        if wait > 0 {
            world.play(&Op::Wait(wait));
        }
        world.publish(0, (1, 1, 0), 1, 0);
    }
    let counts: Vec<_> =
        world.page(0, &InboxQuery::newest(20)).groups.iter().map(|g| g.count).collect();
    assert_eq!(counts, [2, 2]);
}

#[test]
fn t27_an_opened_menu_clears_the_badge_and_leaves_items_unread() {
    let mut world = lone();
    world.publish(0, (1, 1, 0), 1, 0);
    world.publish(1, (2, 1, 0), 1, 0);
    world.mark(0, 4, 0, 0);
    let page = world.page(0, &InboxQuery::newest(20));
    assert_eq!((page.counts.unseen, page.counts.unread), (0, 2));
    assert!(page.groups.iter().all(|group| group.seen && !group.read));
}

#[test]
fn t28_an_object_that_was_opened_is_read_wherever_it_stands() {
    let mut world = lone();
    world.publish(0, (1, 1, 0), 1, 0);
    world.publish(1, (1, 2, 0), 1, 0);
    world.publish(0, (2, 1, 0), 1, 0);
    world.mark(0, 0, 1, 3);
    let page = world.page(0, &InboxQuery::newest(20));
    assert_eq!((page.counts.unseen, page.counts.unread), (1, 1));
    let items = page.groups.iter().flat_map(|group| &group.items);
    for item in items {
        let about = item.object.id.as_str() == "o1";
        assert_eq!((item.seen, item.read), (about, about));
    }
}

#[test]
fn a_group_lists_its_newest_items_and_counts_all() {
    let mut world = lone();
    for actor in 0..40 {
        world.publish(0, (1, actor, 0), 1, 0);
    }
    let page = world.page(0, &InboxQuery::newest(20));
    assert_eq!((page.groups[0].count, page.counts.unseen), (40, 1));
    let listed = page.groups[0].items.len();
    assert_eq!((listed, page.groups[0].actors.len()), (ITEMS_LISTED, ITEMS_LISTED));
    assert_eq!(page.groups[0].items[0].event, id("e39"));
}

#[test]
fn a_cursor_is_read_as_it_was_written_or_not_at_all() {
    for text in ["", "-", "1", "1-", "x-1", "01-2", "1-2-3", "+1-2", "-1-2", "A-1"] {
        assert_eq!(text.parse::<Cursor>(), Err(CursorError), "{text}");
    }
    let cursor: Cursor = "1f-a0".parse().unwrap();
    assert_eq!(cursor.to_string(), "1f-a0");
    let mut world = lone();
    world.publish(0, (1, 1, 0), 1, 0);
    for odd in ["0-0", "ffffffffffffffff-ffffffffffffffff", "0-ffffffffffffffff"] {
        let from = Some(odd.parse().unwrap());
        world.page(0, &InboxQuery { from, ..InboxQuery::newest(20) });
    }
}
