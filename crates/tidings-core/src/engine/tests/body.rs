//! The body of an event: with the entries that tell of it alone, as it was published.

use crate::engine::InboxQuery;
use crate::engine::intake::state::EventContent;
use crate::engine::message::present::Presenter;
use crate::engine::tests::*;
use crate::model::event::host_text::HostText;

const TEXT: &str = "Well done,\n\tBen!\u{202e} \u{1f3a8}";

fn with_body(name: usize, body: Option<&str>) -> Command {
    let Command::Publish(mut event) = event(name) else { unreachable!("an event is published") };
    event.body = body.map(HostText::from);
    Command::Publish(event)
}

fn step(stored: &mut Stored, engine: &mut Engine, commands: &[Command]) -> Step {
    let mut step = engine.step(&*stored, &Reach::new(), Instant(0), commands).unwrap();
    stored.commit(std::mem::take(&mut step.writes));
    step
}

/// The bodies of the items of `a`'s inbox, newest first.
fn bodies(engine: &Engine, stored: &Stored) -> Vec<Option<String>> {
    let page = engine.reader(stored).inbox(&id("a"), &InboxQuery::newest(20)).unwrap();
    let items = page.groups.into_iter().flat_map(|group| group.items);
    items.map(|item| item.body.map(|body| body.first().to_owned())).collect()
}

#[test]
fn body_is_in_its_inbox_item_as_it_was_given_and_after_a_start() {
    let options = Options { buckets: 1, ..Options::default() };
    let (mut stored, mut engine) = with_recipient(options);
    let commands = [with_body(0, Some(TEXT)), with_body(1, None), with_body(2, Some("Two"))];
    step(&mut stored, &mut engine, &commands);
    let expected = [Some("Two".to_owned()), None, Some(TEXT.to_owned())];
    assert_eq!(bodies(&engine, &stored), expected);
    // From the cache, too.
    assert_eq!(bodies(&engine, &stored), expected);
    while let Some(writes) = engine.chore(&stored).unwrap() {
        stored.commit(writes);
    }
    let again = Engine::open(&stored, &[Day(0)], options).unwrap();
    assert_eq!(bodies(&again, &stored), expected);
}

#[test]
fn body_counts_among_the_bytes_of_the_cache() {
    let (mut stored, mut engine) = with_recipient(Options { buckets: 1, ..Options::default() });
    let long = "x".repeat(70 << 10);
    step(&mut stored, &mut engine, &[with_body(0, Some(&long)), with_body(1, Some("Short"))]);
    assert_eq!(bodies(&engine, &stored), [Some("Short".to_owned()), Some(long)]);
    let known = |ordinal| {
        let at = EventAt { day: Day(0), ordinal };
        engine.intake.contents.get(&(Day(0), at)).is_some()
    };
    assert_eq!((known(0), known(1)), (false, true));
    let mut presenter = Presenter::new(&engine, &stored);
    let at = EventAt { day: Day(0), ordinal: 1 };
    let EventContent { data, body, trace: _ } = presenter.content(Day(0), at).unwrap();
    assert_eq!((data, body), (None, Some("Short".into())));
}

#[test]
fn body_that_differs_under_an_id_that_came_is_warned_of_and_not_taken() {
    let (mut stored, mut engine) = with_recipient(Options { buckets: 1, ..Options::default() });
    step(&mut stored, &mut engine, &[with_body(0, Some("One"))]);
    let mut warnings = |body| {
        let step = step(&mut stored, &mut engine, &[with_body(0, body)]);
        let Ok(Reply::Published(published)) = &step.replies[0] else {
            panic!("{:?}", step.replies)
        };
        published.warnings.clone()
    };
    assert_eq!(warnings(Some("One")), []);
    assert_eq!(warnings(Some("Two")), [Warning::Differs]);
    assert_eq!(warnings(None), [Warning::Differs]);
    assert_eq!(bodies(&engine, &stored), [Some("One".to_owned())]);
}
