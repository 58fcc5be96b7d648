//! The loop of a server, driven step by step on a virtual clock by a seed: commits fail or are lost, messages are sent
//! early or late, the process is killed, stops for hours and days, starts again, and finds that its clock has jumped.
//!
//! It is the loop of production, without its threads ([`SteppedLoop`]). The clock goes from one command straight to the
//! next, so everything in between is missed and made up for. Before each command what came due has been sent: a command
//! that meets a message on its way has another outcome in the model, which sends at once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use tidings_core::content::Totals;
use tidings_core::engine::{BulkMessages, MessageFilter, Options};
use tidings_core::model::{DAY_MS, HOUR_MS, MINUTE_MS, MessageAct, NewJob, Timed};
use tidings_core::rules::{Decide, Policy};
use tidings_core::{Command, Id, Instant, Object, Rules};
use tidings_node::channel::{Channels, RenderingChannel};
use tidings_node::{
    Delivery, Node, OpenStore, Replies, Retries, Settings, SteppedLoop, VirtualClock,
};
use tidings_store::{FaultStore, Faults, Store};

use crate::mix::mix;
use crate::model::Model;
use crate::random::World;
use crate::rig::{BareRenderer, ChannelLie, LyingChannel, TakenBatches};
use crate::subject::{self, Played, Step, play_all, refuses_none};

/// The result of a run.
#[derive(Debug)]
pub struct LiveRunResult {
    /// The books at the end.
    pub books: Totals,
    /// The batches that the channel took.
    pub taken: TakenBatches,
    /// Number of stops and kills of the process.
    pub stops: u32,
    /// Number of writes tried.
    pub writes: u64,
    /// Executor batch, how often an operator had its message sent again.
    pub attempts: BTreeMap<String, u32>,
}

/// The distance of a command's instant from all those at which something is due: what arrives at
/// the instant of a message meets it on its way.
const APART_MS: i64 = 100;

/// The same world where each configuration, and what arrives together, has an instant of its own that is
/// no deadline; and the instants where the clock stops.
#[must_use]
pub fn apart(world: &World, seed: u64) -> World {
    let mut steps: Vec<Step> = Vec::new();
    let mut shift_ms = 0;
    let mut last: Option<(Instant, bool)> = None;
    for step in &world.steps {
        let is_rules = matches!(step, Step::Reconfigure(..));
        let joins = |(at, was_rules): (Instant, bool)| at == step.at() && !is_rules && !was_rules;
        if !last.is_some_and(joins) {
            shift_ms += APART_MS;
        }
        last = Some((step.at(), is_rules));
        let at = step.at().plus_ms(shift_ms);
        steps.push(match step {
            Step::Play(Timed { command, .. }) => Step::Play(Timed { at, command: command.clone() }),
            Step::Reconfigure(_, rules) => Step::Reconfigure(at, rules.clone()),
        });
    }
    let days = i64::try_from(mix(seed) % 9).unwrap_or_default();
    let end = steps.last().map_or(Instant(0), Step::at);
    let until = world.until.unwrap_or(end.plus_ms(days * DAY_MS));
    steps.retain(|step| step.at() <= until);
    World { rules: world.rules.clone(), steps, until: Some(until) }
}

/// Takes a world [`apart`], and has the model play it.
///
/// It keeps its caps and its `leading` lanes where each closing that they count tells something: a server counts what it
/// has not made yet, so what they keep otherwise depends on when messages are made.
///
/// # Errors
/// The step that the model refused, and why.
pub fn with_model(world: &World, seed: u64) -> Result<(World, Played), String> {
    let world = apart(world, seed);
    let mut model = Model::new(world.rules.clone());
    for step in &world.steps {
        step.play(&mut model)?;
    }
    model.finish(world.until);
    refuses_none(world.steps.iter(), &model.answers)?;
    if !model.has_passed_empty() {
        let (messages, books) = (model.messages().to_vec(), model.books());
        return Ok((world, Played { messages, books }));
    }
    let world = without_memory(world);
    let played = play_all(subject::model, &world.rules, &world.steps, world.until)?;
    Ok((world, played))
}

/// Returns true if a world has caps at any time.
#[must_use]
pub fn has_caps(world: &World) -> bool {
    let mut steps = world.steps.iter();
    let later = |step: &Step| match step {
        Step::Reconfigure(_, rules) => !rules.caps.is_empty(),
        Step::Play(_) => false,
    };
    !world.rules.caps.is_empty() || steps.any(later)
}

/// The same world where no deadline depends on earlier messages.
fn without_memory(mut world: World) -> World {
    let forget = |rules: &mut Rules| {
        rules.caps.clear();
        for route in rules.types.values_mut().flat_map(|kind| kind.channels.values_mut()) {
            if let Policy::Leading { quiet_ms } = route.policy {
                // A lane holds one way to decide.
                route.lane.get_or_insert_with(|| "was_leading".to_owned());
                route.policy = Policy::FirstEvent { hold_ms: quiet_ms, decide: Decide::First };
            }
        }
    };
    forget(&mut world.rules);
    for step in &mut world.steps {
        if let Step::Reconfigure(_, rules) = step {
            forget(rules);
        }
    }
    world
}

/// Plays a world that was taken [`apart`], over a store with these faults and a channel with these lies.
///
/// # Errors
/// A failure that is no fault of the world around.
pub fn run(
    world: &World,
    options: Options,
    faults: impl Faults + 'static,
    lie: ChannelLie,
    seed: u64,
) -> Result<LiveRunResult, String> {
    live(world, options, faults, lie, false, seed)
}

/// [`run`] with an operator, who has messages retried, cancelled and resent, by the seed.
///
/// # Errors
/// As [`run`].
pub fn run_operated(
    world: &World,
    options: Options,
    faults: impl Faults + 'static,
    lie: ChannelLie,
    seed: u64,
) -> Result<LiveRunResult, String> {
    live(world, options, faults, lie, true, seed)
}

/// [`run`] by a clock that is ahead for a while, by minutes, hours or days, and is put right, as often as the seed has it.
/// A new process continues the one before; under caps it plans again, at other instants.
///
/// # Errors
/// As [`run`], and where that does not hold.
pub fn run_by_a_wrong_clock(
    world: &World,
    options: Options,
    faults: impl Faults + 'static,
    lie: ChannelLie,
    seed: u64,
) -> Result<LiveRunResult, String> {
    let mut life = LiveRun { goes_wrong: true, ..LiveRun::new(world, options, faults, lie, seed) };
    let mut rest = world.steps.as_slice();
    while let Some(at) = rest.first().map(Step::at) {
        let (now, later) = rest.split_at(rest.iter().take_while(|step| step.at() == at).count());
        rest = later;
        let stops = life.draw(3) == 0;
        life.advance_to(at.plus_ms(-APART_MS / 2), stops)?;
        life.arrive(at, now)?;
        if life.draw(4) == 0 && !has_caps(world) {
            life.starts_again_as_it_was()?;
        }
    }
    (life.goes_wrong, life.ahead_ms) = (false, 0);
    let until = world.until.ok_or("the world has no end")?;
    life.advance_to(until, false)?;
    if !has_caps(world) {
        life.starts_again_as_it_was()?;
    }
    life.lived()
}

fn live(
    world: &World,
    options: Options,
    faults: impl Faults + 'static,
    lie: ChannelLie,
    has_operator: bool,
    seed: u64,
) -> Result<LiveRunResult, String> {
    let mut life = LiveRun::new(world, options, faults, lie, seed);
    let mut rest = world.steps.as_slice();
    while let Some(at) = rest.first().map(Step::at) {
        let (now, later) = rest.split_at(rest.iter().take_while(|step| step.at() == at).count());
        rest = later;
        let stops = life.draw(3) == 0;
        life.advance_to(at.plus_ms(-APART_MS / 2), stops)?;
        life.arrive(at, now)?;
        if has_operator {
            life.operate()?;
        }
    }
    let until = world.until.ok_or("the world has no end")?;
    let stops = life.draw(2) == 0;
    life.advance_to(until, stops)?;
    life.lived()
}

struct LiveRun {
    clock: Arc<VirtualClock>,
    store: Arc<FaultStore>,
    recorder: Arc<LyingChannel>,
    options: Options,
    rules: Rules,
    /// The running process.
    process: Option<SteppedLoop>,
    stops: u32,
    /// Executor batch, how often an operator had its message sent again.
    attempts: BTreeMap<String, u32>,
    seed: u64,
    draws: u64,
    /// True if the clock is ahead at times.
    goes_wrong: bool,
    /// Executor how much it is now.
    ahead_ms: i64,
}

/// More steps than any world needs.
const STEPS_MAX: usize = 100_000;

/// The process is killed once in this many steps.
const STEPS_PER_KILL: u64 = 200;

impl LiveRun {
    fn new(
        world: &World,
        options: Options,
        faults: impl Faults + 'static,
        lie: ChannelLie,
        seed: u64,
    ) -> Self {
        Self {
            clock: Arc::default(),
            store: Arc::new(FaultStore::new(faults)),
            recorder: Arc::new(LyingChannel::new(seed, lie)),
            options,
            rules: world.rules.clone(),
            process: None,
            stops: 0,
            attempts: BTreeMap::new(),
            seed,
            draws: 0,
            goes_wrong: false,
            ahead_ms: 0,
        }
    }

    fn lived(mut self) -> Result<LiveRunResult, String> {
        let books = self.books()?;
        Ok(LiveRunResult {
            books,
            taken: self.recorder.taken(),
            stops: self.stops,
            writes: self.store.writes(),
            attempts: self.attempts,
        })
    }

    /// Sets the clock, which may be wrong.
    fn show(&self, at: Instant) {
        self.clock.set(at.plus_ms(self.ahead_ms));
    }

    /// A number below `of`, by the seed.
    fn draw(&mut self, of: u64) -> u64 {
        self.draws += 1;
        mix(self.seed ^ self.draws.rotate_left(32)) % of
    }

    /// The process, started if there is none.
    fn process(&mut self) -> Result<&mut SteppedLoop, String> {
        for _ in 0..1_000 {
            if self.process.is_some() {
                break;
            }
            let store = Arc::clone(&self.store);
            let open: OpenStore = Box::new(move || {
                store.restart();
                Ok(Arc::clone(&store) as Arc<dyn Store>)
            });
            let delivery = Delivery::new(self.channels(), Retries::default());
            let settings = Settings { options: self.options, ..Settings::default() };
            let clock = Arc::clone(&self.clock);
            match SteppedLoop::open(open, None, self.rules.clone(), delivery, clock, settings) {
                Ok(process) => self.process = Some(process),
                Err(tidings_node::Error::Store(_) | tidings_node::Error::Unreadable(_)) => {}
                Err(fault) => return Err(fault.to_string()),
            }
        }
        let process = self.process.as_mut();
        process.ok_or_else(|| "the store can't be opened any more".to_owned())
    }

    fn channels(&self) -> Channels {
        let outlet = RenderingChannel::new(Arc::new(BareRenderer), Arc::clone(&self.recorder) as _);
        BTreeMap::from([("email".to_owned(), outlet.on_threads(1))])
    }

    fn kill(&mut self) {
        if let Some(process) = self.process.take() {
            process.crash();
            self.stops += 1;
            self.recorder.begin_life();
        }
    }

    /// Runs the process's next action, chosen by the seed.
    fn step(&mut self) -> Result<(), String> {
        if self.draw(STEPS_PER_KILL) == 0 {
            self.kill();
        }
        let what = self.draw(6);
        let process = self.process()?;
        match what {
            0 | 1 => {
                process.write();
            }
            2 | 3 => {
                process.send();
            }
            _ => process.turn(),
        }
        Ok(())
    }

    /// Lets the process do everything that it has to do now.
    fn settle(&mut self) -> Result<(), String> {
        for _ in 0..STEPS_MAX {
            self.step()?;
            let process = self.process()?;
            if process.node().is_none() || process.has_work() {
                continue;
            }
            // What is queued, and what was decided last.
            if !process.send() && !process.write() && !process.has_answers() {
                return Ok(());
            }
        }
        Err("the process never comes to rest".to_owned())
    }

    /// Puts the clock, and lets everything be sent that came due meanwhile.
    fn advance_to(&mut self, at: Instant, stops: bool) -> Result<(), String> {
        if stops {
            self.kill();
        }
        if self.goes_wrong {
            self.ahead_ms = match self.draw(8) {
                0 => MINUTE_MS / 2,
                1 => 2 * MINUTE_MS,
                2 => HOUR_MS,
                3 => 3 * DAY_MS,
                _ => 0,
            };
        }
        self.show(at);
        // What is made up for may leave something to be done to the next turn.
        self.settle()?;
        self.process()?.turn();
        self.settle()
    }

    /// Submits steps at an instant, and again those whose fate is unknown.
    fn arrive(&mut self, at: Instant, steps: &[Step]) -> Result<(), String> {
        self.process()?;
        self.show(at);
        if let [Step::Reconfigure(_, rules)] = steps {
            self.rules.clone_from(rules);
            return self.configure();
        }
        let name = format!("sentinel-{}", self.draws);
        let sentinel = Object {
            id: Id::new(&name).map_err(|fault| fault.to_string())?,
            title: None,
            url: None,
            image: None,
            image_size: None,
            data: None,
            notifiable: None,
        };
        let commands: Vec<Command> = steps
            .iter()
            .filter_map(|step| match step {
                Step::Play(timed) => Some(timed.command.clone()),
                Step::Reconfigure(..) => None,
            })
            .chain([Command::Object(sentinel.clone())])
            .collect();
        for _ in 0..1_000 {
            let (then, answer) = channel();
            let handle = self.process()?.handle().clone();
            let submitted = handle.submit_then(commands.clone(), move |replies: Replies| {
                let _nobody_waits = then.send(replies);
            });
            submitted.map_err(|fault| fault.to_string())?;
            match self.answer(&answer)? {
                Some(Ok(replies)) => {
                    for (command, reply) in commands.iter().zip(replies) {
                        match (command, reply) {
                            // The model keeps no count of erased rows.
                            (Command::Erase { .. }, Err(_)) => {}
                            (_, reply) => {
                                reply.map_err(|refused| refused.to_string())?;
                            }
                        }
                    }
                    return Ok(());
                }
                // The process was killed, or its store failed.
                Some(Err(_)) | None => {
                    if self.has_happened(&sentinel.id)? {
                        return Ok(());
                    }
                }
            }
        }
        Err("commands are never taken in".to_owned())
    }

    /// Has an operator change some of the messages.
    fn operate(&mut self) -> Result<(), String> {
        let names = self.look(|node| {
            let view = node.view().ok()?;
            let all = MessageFilter::default();
            let page = node.engine().reader(&view).messages(&all, None, 100);
            let messages = page.ok()?.rows.into_iter();
            Some(messages.map(|message| message.name).collect::<Vec<_>>())
        })?;
        for message in names {
            if self.draw(4) > 0 {
                continue;
            }
            let batch = self.look(|node| {
                let view = node.view().ok()?;
                let report = node.engine().reader(&view).message_report(message).ok()?;
                Some(report.and_then(|report| report.batch))
            })?;
            let act = match self.draw(3) {
                0 => MessageAct::Retry,
                1 => MessageAct::Cancel,
                _ => MessageAct::Resend,
            };
            if let Some(batch) = batch.filter(|_| act != MessageAct::Cancel) {
                *self.attempts.entry(batch).or_default() += 1;
            }
            self.ask(Command::Message { message, act })?;
        }
        if self.draw(3) == 0 { self.operate_on_all() } else { Ok(()) }
    }

    /// Has an operator make a job about all messages, which goes on while the process is killed and started again.
    fn operate_on_all(&mut self) -> Result<(), String> {
        let act = if self.draw(2) == 0 { MessageAct::Retry } else { MessageAct::Resend };
        let (messages, batches) = self.look(|node| {
            let view = node.view().ok()?;
            let (reader, all) = (node.engine().reader(&view), MessageFilter::default());
            let found = BulkMessages::find(reader, &all, act, 100_000).ok()??;
            let (mut batches, mut after) = (Vec::new(), None);
            loop {
                let page = reader.messages(&all, after.as_ref(), 500).ok()?;
                for message in &page.rows {
                    batches.extend(reader.message_report(message.name).ok()??.batch);
                }
                match page.next {
                    Some(next) => after = Some(next),
                    None => return Some((found.messages, batches)),
                }
            }
        })?;
        for batch in batches {
            // Each is acted on once.
            *self.attempts.entry(batch).or_default() += 1;
        }
        let new = NewJob { act, filter: "{}".to_owned(), origin: None, at_once: true, messages };
        self.ask(Command::BeginJob(Box::new(new)))
    }

    /// Hands a command of an operator in. Whatever the answer, and whether there is one: it may not be done.
    fn ask(&mut self, command: Command) -> Result<(), String> {
        let (then, answer) = channel();
        let handle = self.process()?.handle().clone();
        let submitted = handle.submit_then(vec![command], move |replies: Replies| {
            let _nobody_waits = then.send(replies);
        });
        submitted.map_err(|fault| fault.to_string())?;
        self.answer(&answer).map(drop)
    }

    /// Puts the rules in force.
    fn configure(&mut self) -> Result<(), String> {
        for _ in 0..1_000 {
            let (rules, channels) = (self.rules.clone(), self.channels());
            let submitted = self.process()?.handle().ask_to_configure(rules, channels);
            let submitted = submitted.map_err(|fault| fault.to_string())?;
            self.process()?.turn();
            if matches!(submitted.try_recv(), Ok(Ok(()))) {
                return Ok(());
            }
        }
        Err("the configuration is never taken".to_owned())
    }

    /// The answer to what was asked; `None` if the process was killed before it.
    fn answer<T>(&mut self, answer: &Receiver<T>) -> Result<Option<T>, String> {
        for _ in 0..STEPS_MAX {
            self.step()?;
            match answer.try_recv() {
                Ok(answer) => return Ok(Some(answer)),
                Err(TryRecvError::Disconnected) => return Ok(None),
                Err(TryRecvError::Empty) => {}
            }
        }
        Err("nobody answers".to_owned())
    }

    fn has_happened(&mut self, sentinel: &Id) -> Result<bool, String> {
        self.look(|node| {
            let view = node.view().ok()?;
            node.engine().reader(&view).knows_object(sentinel).ok()
        })
    }

    fn books(&mut self) -> Result<Totals, String> {
        let books = self.look(|node| match node.books() {
            Err(fault @ tidings_node::Error::Disagreement(_)) => Some(Err(fault.to_string())),
            books => books.ok().map(Ok),
        })??;
        self.agree_with_reads()?;
        Ok(books)
    }

    /// Kills the process once it is at rest, and compares what waits then with what the next one has.
    fn starts_again_as_it_was(&mut self) -> Result<(), String> {
        let agenda = |life: &mut Self| {
            life.settle()?;
            life.look(|node| {
                let (engine, view) = (node.engine(), node.view().ok()?);
                engine.reader(&view).agenda(10).ok()
            })
        };
        let before = agenda(self)?;
        self.kill();
        self.process()?.turn();
        let after = agenda(self)?;
        if before == after { Ok(()) } else { Err(format!("before: {before:?}; after: {after:?}")) }
    }

    /// Compares the readers' snapshot with the node, while nothing is being written.
    fn agree_with_reads(&mut self) -> Result<(), String> {
        let said = self.look(|node| {
            let (engine, view) = (node.engine(), node.view().ok()?);
            let agenda = engine.reader(&view).agenda(10).ok()?;
            Some((agenda, engine.ledger(), node.books().ok()?))
        })?;
        let handle = self.process()?.handle();
        let seen = handle.look(|node| {
            let (engine, view) = (node.engine(), node.view());
            let agenda = engine.reader(view).agenda(10).ok()?;
            Some((agenda, engine.ledger(), node.books().ok()?))
        });
        match seen {
            // The store may fail at any read.
            Ok(Some(seen)) if seen != said => Err(format!("readers see {seen:?}, not {said:?}")),
            _ => Ok(()),
        }
    }

    /// Looks at the node as soon as it can be looked at and nothing is being written.
    fn look<T>(&mut self, look: impl Fn(&Node) -> Option<T>) -> Result<T, String> {
        for _ in 0..1_000 {
            let process = self.process()?;
            process.turn();
            if !process.write()
                && let Some(seen) = process.node().and_then(&look)
            {
                return Ok(seen);
            }
        }
        Err("the node can't be looked at".to_owned())
    }
}
