//! Messages through their states: what lists and time lines show, and what retry, cancel and resend change.

use super::ended::with_mail;
use crate::content::content_hash::ContentHash;
use crate::content::message::Totals;
use crate::engine::tests::*;
use crate::journal::record::Attempts;
use crate::model::command::PauseSubject;
use crate::model::messages::{Answered, Attempt, MessageAct, MessageName, MessageState};
use crate::model::number::{ClosingId, MessageId, RecipientNo};
use crate::model::reason::{Ending, Reason};
use crate::model::tenant::{TenantChange, View};
use crate::rules::TenantRules;

const OPTIONS: Options = Options {
    buckets: 1,
    shards: 1,
    index_after: Some(0),
    checkpoint_after: 0,
    slice_bytes: 1,
    row_bytes: 1 << 20,
    fresh_key: [0; 16],
};

/// An engine over a view, driven as a node drives it.
struct Driven {
    stored: Stored,
    engine: Engine,
    now: Instant,
}

impl Driven {
    /// One recipient with an entry whose lane is due, and no message built.
    fn due() -> (Self, MessageName) {
        Self::due_after(&[event(0)])
    }

    /// The same after these commands, of which one publishes.
    fn due_after(commands: &[Command]) -> (Self, MessageName) {
        let (mut stored, mut engine) = with_mail(OPTIONS);
        let mut rules = engine.rules().unwrap().clone();
        rules.tenants = Some(TenantRules::default());
        let step = engine.set_rules(&stored, &Reach::new(), Instant(0), rules).unwrap();
        stored.commit(step.writes);
        let now = Instant(2_000);
        let mut driven = Self { stored, engine, now: Instant(0) };
        driven.step(commands, &Reach::new());
        driven.now = now;
        let step = driven.engine.fall_due(&driven.stored, now).unwrap();
        driven.stored.commit(step.writes);
        let name = MessageName {
            due: now.day(),
            id: driven.engine.open_closings().unmade()[0].message(RecipientNo(0)),
        };
        (driven, name)
    }

    /// A dry run of each command answers what the step does.
    fn step(&mut self, commands: &[Command], reach: &Reach) -> Step {
        let dry: Vec<_> = match commands {
            [command] => vec![self.dry_run(command, reach).reply],
            _ => Vec::new(),
        };
        let step = self.engine.step(&self.stored, reach, self.now, commands);
        let mut step = step.unwrap();
        assert!(dry.is_empty() || dry == step.replies, "{dry:?} {:?}", step.replies);
        self.stored.commit(std::mem::take(&mut step.writes));
        step
    }

    fn dry_run(&self, command: &Command, reach: &Reach) -> DryRun {
        self.engine.dry_run(&self.stored, reach, self.now, command).unwrap()
    }

    /// The entries and messages that a change of a message would concern.
    fn concerned(&self, message: MessageName, act: MessageAct, reach: &Reach) -> (u64, u64, u64) {
        let dry = self.dry_run(&Command::Message { message, act }, reach);
        let CommandConcerns { people, entries, messages } = dry.concerns;
        (people, entries, messages)
    }

    fn make(&mut self) {
        let closing = self.engine.open_closings().unmade()[0];
        let plan = self.engine.planner(&self.stored).plan(closing, 9).unwrap().unwrap();
        let step = self.engine.made(&self.stored, self.now, &[plan]).unwrap();
        self.stored.commit(step.writes);
    }

    /// Notes an outcome, and what the provider said.
    fn end(&mut self, name: MessageName, ending: Ending, reply: &str) {
        let MessageId { closing, number } = name.id;
        let plans = self.engine.planner(&self.stored).unsettled().unwrap();
        let seqs = plans[0].seqs(&plans[0].messages[0]);
        let attempt = Attempt {
            at: self.now,
            provider: "smtp://mail".to_owned(),
            answer: Answered::Failed,
            reply: reply.to_owned(),
        };
        let settled = ClosingResults {
            closing,
            sent: vec![Sent { number, seqs, ending, resent: 0 }],
            attempts: vec![AttemptedMessage { number, attempt }],
            ..ClosingResults::default()
        };
        let step = self.engine.outcome(&self.stored, self.now, &[settled]);
        self.stored.commit(step.unwrap().writes);
    }

    /// Notes a failed attempt, after which the message waits for an instant.
    fn try_again(&mut self, name: MessageName, answer: Answered, until: Instant) {
        let MessageId { closing, number } = name.id;
        let attempt = Attempt {
            at: self.now,
            provider: "smtp://mail".to_owned(),
            answer,
            reply: "DATA: 451".to_owned(),
        };
        let in_doubt = answer == Answered::Unknown;
        let attempts = Attempts {
            count: 1,
            until,
            in_doubt,
            resent: u32::from(in_doubt),
            delivered: false,
            again: false,
        };
        let settled = ClosingResults {
            closing,
            attempts: vec![AttemptedMessage { number, attempt }],
            tried: vec![RetriedAttempt { number, attempts }],
            ..ClosingResults::default()
        };
        let step = self.engine.outcome(&self.stored, self.now, &[settled]);
        self.stored.commit(step.unwrap().writes);
    }

    fn operate(
        &mut self,
        message: MessageName,
        act: MessageAct,
    ) -> Result<OperatedMessage, Refused> {
        self.operate_within(message, act, &Reach::new()).0
    }

    fn operate_within(
        &mut self,
        message: MessageName,
        act: MessageAct,
        reach: &Reach,
    ) -> (Result<OperatedMessage, Refused>, Vec<GoingMessage>) {
        let step = self.step(&[Command::Message { message, act }], reach);
        let reply = match step.replies.into_iter().next().unwrap() {
            Ok(Reply::Operated(operated)) => Ok(operated),
            Ok(other) => panic!("{other:?}"),
            Err(refused) => Err(refused),
        };
        (reply, step.going)
    }

    /// The states of all messages, the same after a start; the books agree with a walk.
    fn states(&self) -> Vec<MessageState> {
        let states = |engine: &Engine| {
            let all = engine
                .reader(&self.stored)
                .messages(&MessageFilter::default(), None, 9)
                .unwrap()
                .rows
                .into_iter();
            all.map(|message| message.state).collect::<Vec<_>>()
        };
        let again = Engine::open(&self.stored, &[Day(0)], OPTIONS).unwrap();
        let walk = again.reader(&self.stored).walk().unwrap();
        assert_eq!(walk.disagreements, Vec::<String>::new());
        assert_eq!(states(&self.engine), states(&again));
        states(&again)
    }

    fn books(&self) -> Totals {
        let walk = self.engine.reader(&self.stored).walk().unwrap();
        assert_eq!(walk.disagreements, Vec::<String>::new());
        walk.books
    }
}

#[test]
fn what_is_not_built_is_planned_and_can_be_cancelled() {
    let (mut driven, name) = Driven::due();
    assert_eq!(driven.states(), [MessageState::Planned]);
    let report = driven.engine.reader(&driven.stored).message_report(name).unwrap();
    assert_eq!(report.unwrap().items.len(), 1);
    let state = MessageState::Planned;
    for act in [MessageAct::Retry, MessageAct::Resend] {
        let refused = Err(Refused::MessageState { state, act });
        assert_eq!(driven.operate(name, act), refused);
    }
    let cancelled = driven.operate(name, MessageAct::Cancel);
    assert_eq!(cancelled, Ok(OperatedMessage::Cancelled(1)));
    driven.make();
    assert_eq!(driven.states(), []);
    let row = driven.engine.ledger()[&Day(0)].clone();
    assert_eq!(row.reasons, [(Reason::Message, 1)].into());
}

#[test]
fn a_message_is_built_again_with_what_a_provider_was_asked_to_take() {
    let (mut driven, name) = Driven::due();
    let built =
        |driven: &Driven| driven.engine.reader(&driven.stored).built_again(name).unwrap().unwrap();
    let planned = built(&driven);
    let BuiltContent::Batch(batch) = &planned.content else {
        panic!("{planned:?}");
    };
    assert_eq!((batch.entries, planned.tried), (1, None));
    driven.make();
    // It is what it would have been, and nobody was asked yet.
    assert_eq!(built(&driven), planned);
    let MessageId { closing, number } = name.id;
    let plans = driven.engine.planner(&driven.stored).unsettled().unwrap();
    let seqs = plans[0].seqs(&plans[0].messages[0]);
    let content = TriedContent { hash: ContentHash::of(["News"]), handed_over: true };
    let settled = ClosingResults {
        closing,
        sent: vec![Sent { number, seqs, ending: Ending::Delivered, resent: 0 }],
        contents: [(number, content)].into(),
        ..ClosingResults::default()
    };
    let step = driven.engine.outcome(&driven.stored, driven.now, &[settled]);
    driven.stored.commit(step.unwrap().writes);
    assert_eq!(built(&driven).tried, Some(content));
    // The provider gave no words, so there is no attempt to show.
    let report = driven.engine.reader(&driven.stored).message_report(name).unwrap().unwrap();
    assert_eq!(report.attempts, []);
}

#[test]
fn item14_a_report_before_the_answer_of_its_message_is_kept() {
    let (mut driven, name) = Driven::due();
    driven.make();
    let report = Box::new(Attempt {
        at: Instant(2_001),
        provider: "sendgrid".to_owned(),
        answer: Answered::Delivered,
        reply: "250 OK".to_owned(),
    });
    let report = Command::Report { message: name, report };
    // Twice, as a provider may: the second says nothing new.
    for _ in 0..2 {
        assert_eq!(
            driven.step(std::slice::from_ref(&report), &Reach::new()).replies,
            [Ok(Reply::Done)]
        );
    }
    driven.end(name, Ending::Delivered, "250 queued");
    let told = driven.engine.reader(&driven.stored).message_report(name).unwrap().unwrap();
    let answers: Vec<_> = told.attempts.iter().map(|run| (run.answer, run.count)).collect();
    assert_eq!(answers, [(Answered::Failed, 1), (Answered::Delivered, 1)]);
}

#[test]
fn a_failed_message_goes_again_as_it_was() {
    let (mut driven, name) = Driven::due();
    driven.make();
    assert_eq!(driven.states(), [MessageState::Sending]);
    driven.end(name, Ending::Refused, "RCPT: 550");
    assert_eq!(driven.states(), [MessageState::Failed]);
    driven.now = Instant(60_000);
    let (reply, going) = driven.operate_within(name, MessageAct::Retry, &Reach::new());
    assert_eq!(reply, Ok(OperatedMessage::Goes));
    let message = name.id;
    let had_ended = true;
    assert_eq!(going, [GoingMessage { message, had_ended, by_job: false }]);
    assert_eq!(driven.states(), [MessageState::Sending]);
    assert_eq!((driven.books().failed, driven.books().pending), (0, 1));
    // Once is enough.
    assert!(driven.operate(name, MessageAct::Retry).is_err());
    driven.end(name, Ending::Delivered, "250 queued");
    assert_eq!(driven.states(), [MessageState::Sent]);
    // One of each is the inbox's.
    assert_eq!((driven.books().delivered, driven.books().messages), (2, 2));
    let report = driven.engine.reader(&driven.stored).message_report(name).unwrap().unwrap();
    let replies: Vec<&str> = report.attempts.iter().map(|run| &*run.reply).collect();
    assert_eq!(replies, ["RCPT: 550", "250 queued"]);
    // A copy changes nothing, whatever becomes of it.
    assert_eq!(driven.operate(name, MessageAct::Resend), Ok(OperatedMessage::Goes));
    assert_eq!(driven.books().pending, 1);
    driven.end(name, Ending::Unreachable, "connect: refused");
    assert_eq!(driven.states(), [MessageState::Sent]);
    assert_eq!((driven.books().delivered, driven.books().failed), (2, 0));
}

#[test]
fn f1_what_waits_for_a_retry_is_read_from_the_store_with_its_last_answer() {
    let (mut driven, name) = Driven::due();
    driven.make();
    let waits = |driven: &Driven, of: Option<&Id>, most| {
        let again = Engine::open(&driven.stored, &[Day(0)], OPTIONS).unwrap();
        let read =
            |engine: &Engine| engine.reader(&driven.stored).retrying(of, &View::All, most).unwrap();
        let found = read(&driven.engine);
        assert_eq!(found, read(&again), "as before the start");
        found
    };
    assert_eq!(waits(&driven, None, 9).count, 0, "none has failed");
    let until = driven.now.plus_ms(30_000);
    driven.try_again(name, Answered::Retry, until);
    let found = waits(&driven, None, 9);
    let [message] = &found.messages[..] else { panic!("{found:?}") };
    assert_eq!((message.summary.name, message.is_held), (name, false));
    assert_eq!(message.summary.tried.unwrap().until, until);
    assert_eq!(message.last.as_ref().unwrap().reply, "DATA: 451");
    let of = message.summary.recipient.as_ref();
    assert_eq!(waits(&driven, of, 9), found);
    let none = waits(&driven, of, 0);
    assert_eq!((none.count, none.messages.len()), (1, 0));
    let reader = driven.engine.reader(&driven.stored);
    let nobody = reader.retrying(Some(&id("nobody")), &View::All, 9);
    assert!(matches!(nobody, Err(StepError::Refused(Refused::UnknownRecipient(_)))));

    let pause = Command::Pause(PauseSubject::Type(id("told")));
    driven.step(&[pause], &Reach::new());
    assert!(waits(&driven, None, 9).messages[0].is_held);
    driven.end(name, Ending::Refused, "RCPT: 550");
    assert_eq!(waits(&driven, None, 9).count, 0);
}

#[test]
fn a_refusal_after_doubt_leaves_the_doubt() {
    let (mut driven, name) = Driven::due();
    driven.make();
    driven.try_again(name, Answered::Unknown, driven.now);
    driven.end(name, Ending::Refused, "RCPT: 550");
    assert_eq!(driven.operate(name, MessageAct::Retry), Ok(OperatedMessage::Goes));
    assert!(driven.engine.open_closings().attempts_of(name.id).unwrap().in_doubt);
}

#[test]
fn only_what_is_surely_not_handed_over_is_cancelled() {
    let (mut driven, name) = Driven::due();
    driven.make();
    let reach = |reached| Reach::from([(name.id, reached)]);
    for reach in [Reach::new(), reach(KeptBackState::InDoubt)] {
        let (reply, _) = driven.operate_within(name, MessageAct::Cancel, &reach);
        assert_eq!(reply, Ok(OperatedMessage::TooLate));
    }
    let kept = reach(KeptBackState::KeptBack);
    let (reply, _) = driven.operate_within(name, MessageAct::Cancel, &kept);
    assert_eq!(reply, Ok(OperatedMessage::Cancelled(1)));
    assert_eq!(driven.states(), [MessageState::Cancelled]);
    // What is left is the inbox's.
    assert_eq!((driven.books().cancelled, driven.books().messages), (1, 1));
    let report = driven.engine.reader(&driven.stored).message_report(name).unwrap();
    assert_eq!(report.unwrap().left_out[0].reason, Reason::Message);
    let nothing = driven.operate(name, MessageAct::Cancel);
    assert_eq!(nothing, Ok(OperatedMessage::NothingLeft));
}

#[test]
fn a_dry_run_counts_the_built_message_with_its_entries() {
    let (mut driven, name) = Driven::due_after(&[event(0), event(1)]);
    let nothing = Reach::new();
    assert_eq!(driven.concerned(name, MessageAct::Cancel, &nothing), (1, 2, 0), "not built yet");
    driven.make();
    let kept = Reach::from([(name.id, KeptBackState::KeptBack)]);
    assert_eq!(driven.concerned(name, MessageAct::Cancel, &kept), (1, 2, 1));
    assert_eq!(driven.concerned(name, MessageAct::Cancel, &nothing), (0, 0, 0), "too late");
    assert_eq!(driven.concerned(name, MessageAct::Retry, &nothing), (0, 0, 0), "refused");
    let erase = Command::Erase { recipient: id("a") };
    let erased = CommandConcerns { people: 1, entries: 2, messages: 1 };
    assert_eq!(driven.dry_run(&erase, &kept).concerns, erased);
    let handed_over = CommandConcerns { people: 1, entries: 0, messages: 0 };
    assert_eq!(driven.dry_run(&erase, &nothing).concerns, handed_over);
    driven.try_again(name, Answered::Retry, driven.now.plus_ms(30_000));
    assert_eq!(driven.concerned(name, MessageAct::Retry, &kept), (1, 2, 1));
    driven.end(name, Ending::Refused, "RCPT: 550");
    for act in [MessageAct::Retry, MessageAct::Resend] {
        assert_eq!(driven.concerned(name, act, &nothing), (1, 2, 1));
    }
    assert_eq!(driven.states(), [MessageState::Failed]);
    assert_eq!(driven.operate(name, MessageAct::Retry), Ok(OperatedMessage::Goes));
}

#[test]
fn what_is_gone_is_not_sent_again() {
    let (mut driven, name) = Driven::due();
    driven.make();
    driven.end(name, Ending::Refused, "RCPT: 550");
    driven.step(&[Command::Erase { recipient: id("a") }], &Reach::new());
    let gone = driven.operate(name, MessageAct::Retry);
    assert!(matches!(gone, Err(Refused::MessageGone(_))), "{gone:?}");
    driven.now = Instant(3 * crate::model::time::DAY_MS);
    let before = Day(1);
    driven.step(&[Command::Forget { before }], &Reach::new());
    let unknown = Err(Refused::UnknownMessage(name));
    assert_eq!(driven.operate(name, MessageAct::Retry), unknown);
}

#[test]
fn t42_nothing_of_a_tenant_that_is_gone_is_sent_again() {
    let acme = || id("acme");
    let disabled = |disabled| {
        let change = TenantChange { disabled: Some(disabled), ..TenantChange::default() };
        Command::Tenant { tenant: acme(), change: Box::new(change) }
    };
    let Command::Publish(mut event) = event(0) else { panic!() };
    event.tenant = Some(acme());
    event.to = Audience { recipients: vec![id("a")], ..Audience::default() };
    let (mut driven, name) = Driven::due_after(&[disabled(false), Command::Publish(event)]);
    driven.make();
    driven.end(name, Ending::Delivered, "250 queued");
    driven.step(&[disabled(true)], &Reach::new());
    let gone = driven.operate(name, MessageAct::Resend);
    assert!(matches!(gone, Err(Refused::MessageGone(_))), "{gone:?}");
    driven.step(&[disabled(false)], &Reach::new());
    assert_eq!(driven.operate(name, MessageAct::Resend), Ok(OperatedMessage::Goes));
    driven.end(name, Ending::Delivered, "250 queued");
    driven.step(&[Command::DeleteTenant { tenant: acme() }], &Reach::new());
    let gone = driven.operate(name, MessageAct::Resend);
    assert!(matches!(gone, Err(Refused::MessageGone(_))), "{gone:?}");
    assert_eq!((driven.books().pending, driven.states()), (0, vec![MessageState::Sent]));
}

#[test]
fn a_name_that_no_list_gave_is_unknown() {
    let (mut driven, name) = Driven::due();
    driven.make();
    let MessageId { closing, number } = name.id;
    let other = |bucket, seq, number, due| MessageName {
        due,
        id: ClosingId { bucket: BucketNo(bucket), seq }.message(number),
    };
    let names = [
        other(1, closing.seq, number, name.due),
        other(0, closing.seq.next(), number, name.due),
        other(0, closing.seq, RecipientNo(number.0 + 1), name.due),
        other(0, closing.seq, number, Day(1)),
        other(0, closing.seq, number, Day(-1)),
    ];
    for name in names {
        let report = driven.engine.reader(&driven.stored).message_report(name);
        assert_eq!(report.unwrap(), None, "{name}");
        let refused = driven.operate(name, MessageAct::Cancel);
        assert_eq!(refused, Err(Refused::UnknownMessage(name)));
    }
}
