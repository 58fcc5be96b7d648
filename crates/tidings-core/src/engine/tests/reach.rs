//! A step is a function of what it is handed, the messages that the senders keep back among it.

use super::ended::with_mail;
use crate::engine::tests::*;
use crate::model::command::Cancelled;
use crate::model::number::RecipientNo;
use crate::model::occurrence::ChangedBy;

#[test]
fn a_step_can_be_replayed() {
    let options = Options { buckets: 1, ..Options::default() };
    let (mut stored, mut engine) = with_mail(options);
    let step = engine.step(&stored, &Reach::new(), Instant(0), &[event(0)]).unwrap();
    stored.commit(step.writes);
    let due = Instant(2_000);
    let step = engine.fall_due(&stored, due).unwrap();
    stored.commit(step.writes);
    let closing = engine.open_closings().unmade()[0];
    let plan = engine.planner(&stored).plan(closing, 9).unwrap().unwrap();
    let step = engine.made(&stored, due, &[plan]).unwrap();
    stored.commit(step.writes);

    let message = closing.message(RecipientNo(0));
    let never = Command::Preference {
        recipient: id("a"),
        scope: PreferenceScope::Type("told".to_owned()),
        channel: "email".to_owned(),
        mode: Mode::Never,
        tenant: None,
        by: ChangedBy::Key,
    };
    let erase = Command::Erase { recipient: id("a") };
    let cancel = Command::Cancel { what: Cancelled::Event(id("e0")), tenant: None };
    let reach_of =
        |reached: Option<KeptBackState>| Reach::from_iter(reached.map(|it| (message, it)));
    for command in [cancel, never, erase] {
        let commands = slice::from_ref(&command);
        let touched = engine.may_touch(&stored, UpcomingStep::Commands(commands));
        assert_eq!(touched.unwrap(), BTreeSet::from([message]), "{command:?}");
        let states = [None, Some(KeptBackState::InDoubt), Some(KeptBackState::KeptBack)];
        let mut seen = Vec::new();
        for reach in states.map(reach_of) {
            let play = || {
                let mut engine = Engine::open(&stored, &[Day(0)], options).unwrap();
                let step = engine.step(&stored, &reach, due, commands).unwrap();
                (step.writes, step.replies)
            };
            assert_eq!(play(), play(), "{command:?} {reach:?}");
            seen.push(play());
        }
        assert_ne!(seen[0], seen[2], "{command:?} changes what is kept back");
    }
    let others = [event(1), recipient()];
    let touched = engine.may_touch(&stored, UpcomingStep::Commands(&others));
    assert_eq!(touched.unwrap(), BTreeSet::new());
}
