//! The test rig: the engine with a failing store, a lying channel, and a process that dies between any
//! two writes.
//!
//! The rig plays a world and, whenever something breaks, does what a node does: throws everything in
//! memory away, opens what is stored, and goes on where that says it was. A sentinel object, written
//! with the commands of each stretch, tells whether a commit with an unknown outcome has happened.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidings_core::content::{Batch, ContentHash, Totals};
use tidings_core::engine::Options;
use tidings_core::model::Timed;
use tidings_core::{Command, Id, Instant, Object};
use tidings_node::channel::{
    Channel, MessageHead, Outcome, Receipt, Rendered, Renderer, RenderingChannel, Unrenderable,
};
use tidings_node::{Delivery, PlayError, Player, PlayerOutput, Retries};
use tidings_store::{FaultStore, Faults, Store};

use crate::engine::PlayerAnswers;
use crate::mix::mix;
use crate::random::World;
use crate::subject::Step;

/// The batches that a channel took: batch id -> entries, number of times, recipient.
pub type TakenBatches = BTreeMap<String, TakenBatch>;

/// One batch that a channel took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenBatch {
    /// The recipient.
    pub recipient: Id,
    /// Number of entries.
    pub entries: usize,
    /// Number of times it was handed over.
    pub times: u32,
    /// The lives of the process in which that was.
    pub lives: BTreeSet<u32>,
    /// Number of times that the line dropped after it was taken.
    pub doubts: u32,
}

impl TakenBatch {
    /// Returns true if it was handed over no more often than it may be: once, and once more where nobody knew
    /// whether it was taken, or in a later life, which can't know of what the one before had not noted.
    #[must_use]
    pub fn was_needed_each_time(&self) -> bool {
        self.times as usize <= (self.lives.len() + self.doubts as usize).min(2)
    }
}

/// A rule for what a lying channel does with a batch. Numbers of hand-overs count from 1.
pub type ChannelLie = fn(seed: u64, number: u64) -> ChannelAnswer;

/// An answer of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelAnswer {
    /// Accepts the message.
    Sent,
    /// Does not take it; try again.
    Retry,
    /// Does not take it, for good.
    Failed,
    /// Takes it and the line drops.
    UnknownTaken,
    /// Does not take it and the line drops.
    UnknownLost,
}

/// A channel that always tells the truth.
#[must_use]
pub fn honest(_seed: u64, _number: u64) -> ChannelAnswer {
    ChannelAnswer::Sent
}

/// A channel that accepts four of five messages and answers the rest at random.
#[must_use]
pub fn lying(seed: u64, number: u64) -> ChannelAnswer {
    match mix(seed ^ number.wrapping_mul(0x9e37_79b9)) % 20 {
        0 => ChannelAnswer::Retry,
        1 => ChannelAnswer::Failed,
        2 => ChannelAnswer::UnknownTaken,
        3 => ChannelAnswer::UnknownLost,
        _ => ChannelAnswer::Sent,
    }
}

/// A channel that lies on demand, and keeps what it accepted.
pub(crate) struct LyingChannel {
    seed: u64,
    lie: ChannelLie,
    state: Mutex<Record>,
}

#[derive(Default)]
struct Record {
    handed_over: u64,
    life: u32,
    taken: TakenBatches,
}

impl LyingChannel {
    pub(crate) fn new(seed: u64, lie: ChannelLie) -> Self {
        let state = Mutex::default();
        Self { seed, lie, state }
    }

    /// The batches that it took.
    pub(crate) fn taken(&self) -> TakenBatches {
        self.state().taken.clone()
    }

    /// The process that hands over is another one from now on.
    pub(crate) fn begin_life(&self) {
        self.state().life += 1;
    }

    fn state(&self) -> MutexGuard<'_, Record> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A renderer of nothing but the facts.
#[derive(Debug)]
pub struct BareRenderer;

impl Renderer for BareRenderer {
    fn render(&self, head: &Arc<MessageHead>, _: &Batch) -> Result<Rendered, Unrenderable> {
        Ok(Rendered {
            head: Arc::clone(head),
            from: String::new(),
            return_path: None,
            to: Vec::new(),
            message_id: head.id.clone(),
            bytes: Vec::new(),
            content: ContentHash::default(),
        })
    }
}

impl Channel for LyingChannel {
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        if !go() {
            return Outcome::Withheld;
        }
        let head = &message.head;
        let mut state = self.state();
        state.handed_over += 1;
        let answer = (self.lie)(self.seed, state.handed_over);
        if matches!(answer, ChannelAnswer::Sent | ChannelAnswer::UnknownTaken) {
            let life = state.life;
            let taken = state.taken.entry(head.id.clone()).or_insert_with(|| TakenBatch {
                recipient: head.recipient.clone().expect("a message is for somebody"),
                entries: head.entries,
                times: 0,
                lives: BTreeSet::new(),
                doubts: 0,
            });
            taken.times += 1;
            taken.lives.insert(life);
            taken.doubts += u32::from(answer == ChannelAnswer::UnknownTaken);
            assert_eq!(taken.entries, head.entries, "a batch is always the same");
        }
        let why = || "the simulation says so".to_owned();
        match answer {
            ChannelAnswer::Sent => Outcome::Sent(Receipt::default()),
            ChannelAnswer::Retry => Outcome::Retry { why: why(), after_ms: None },
            ChannelAnswer::Failed => Outcome::Failed { why: why(), suppress: None },
            ChannelAnswer::UnknownTaken | ChannelAnswer::UnknownLost => {
                Outcome::Unknown { why: why() }
            }
        }
    }
}

/// The result of a run.
#[derive(Debug)]
pub struct RigResult {
    /// The books at the end.
    pub books: Totals,
    /// The batches that the channel took.
    pub taken: TakenBatches,
    /// Number of writes that were tried.
    pub writes: u64,
    /// Number of times that everything in memory was thrown away.
    pub restarts: u32,
}

/// Plays a world over a store with these faults and a channel with these lies.
///
/// # Errors
/// A failure that is no fault of the world around.
pub fn run(
    world: &World,
    options: Options,
    faults: impl Faults + 'static,
    lie: ChannelLie,
    seed: u64,
) -> Result<RigResult, String> {
    let store = Arc::new(FaultStore::new(faults));
    let recorder = Arc::new(LyingChannel::new(seed, lie));
    let mut rig = CrashRig {
        store,
        recorder,
        options,
        player: None,
        answers: PlayerAnswers::default(),
        restarts: 0,
        instants: 0,
    };
    let mut rest = world.steps.as_slice();
    let mut first = Some(&world.rules);
    while let Some(at) = rest.first().map(Step::at) {
        let until = world.until.is_none_or(|until| at <= until);
        let count = rest.iter().take_while(|step| step.at() == at).count();
        let (now, later) = rest.split_at(count);
        rest = later;
        if !until {
            break;
        }
        let mut stretches = stretches(now);
        if let Some(rules) = first.take() {
            stretches.insert(0, CommandStretch { commands: Vec::new(), rules: Some(rules) });
        }
        rig.instant(at, &stretches)?;
    }
    loop {
        let finished = rig.player(Instant(i64::MAX))?.finish(world.until, &mut |_| {});
        match finished {
            Ok(()) => break,
            Err(PlayError::Node(_)) => rig.restart(),
            Err(fault) => return Err(fault.to_string()),
        }
    }
    let books = rig.player(Instant(i64::MAX))?.books().map_err(|fault| fault.to_string())?;
    if let Some(refused) = rig.answers.fault() {
        return Err(refused);
    }
    let taken = rig.recorder.taken();
    Ok(RigResult { books, taken, writes: rig.store.writes(), restarts: rig.restarts })
}

/// Commands that are taken in together, and the rules that follow them.
struct CommandStretch<'a> {
    commands: Vec<&'a Command>,
    rules: Option<&'a tidings_core::Rules>,
}

fn stretches(steps: &[Step]) -> Vec<CommandStretch<'_>> {
    let mut stretches = vec![CommandStretch { commands: Vec::new(), rules: None }];
    for step in steps {
        match (step, stretches.last_mut()) {
            (Step::Play(timed), Some(last)) => last.commands.push(&timed.command),
            (Step::Reconfigure(_, rules), Some(last)) => {
                last.rules = Some(rules);
                stretches.push(CommandStretch { commands: Vec::new(), rules: None });
            }
            (_, None) => {}
        }
    }
    stretches
}

struct CrashRig {
    store: Arc<FaultStore>,
    recorder: Arc<LyingChannel>,
    options: Options,
    player: Option<Player>,
    answers: PlayerAnswers,
    restarts: u32,
    instants: u32,
}

impl CrashRig {
    fn player(&mut self, reached: Instant) -> Result<&mut Player, String> {
        let mut tries = 0;
        while self.player.is_none() {
            tries += 1;
            if tries > 1_000 {
                return Err("the store can't be opened any more".to_owned());
            }
            self.store.restart();
            let outlet =
                RenderingChannel::new(Arc::new(BareRenderer), Arc::clone(&self.recorder) as _);
            let channels = BTreeMap::from([("email".to_owned(), outlet)]);
            let delivery = Delivery::new(channels, Retries::default());
            let store: Arc<dyn Store> = Arc::clone(&self.store) as _;
            match Player::with_delivery(
                store,
                self.options,
                PlayerOutput::Nothing,
                delivery,
                reached,
            ) {
                Ok(player) => {
                    let mut player = player.past_refusals();
                    player.observe_by(Box::new(self.answers.clone()));
                    self.player = Some(player);
                }
                Err(tidings_node::Error::Store(_)) => {}
                Err(fault) => return Err(fault.to_string()),
            }
        }
        self.player.as_mut().ok_or_else(|| "unreachable: it was just opened".to_owned())
    }

    fn restart(&mut self) {
        self.player = None;
        self.restarts += 1;
        self.recorder.begin_life();
    }

    /// Plays an instant to its end, however often it takes.
    fn instant(&mut self, at: Instant, stretches: &[CommandStretch<'_>]) -> Result<(), String> {
        self.instants += 1;
        for tries in 0.. {
            if tries > 1_000 {
                return Err("an instant never comes to its end".to_owned());
            }
            let instant = self.instants;
            let played = play_instant(self.player(at)?, at, stretches, instant, tries > 0);
            match played {
                Ok(()) => return Ok(()),
                Err(PlayError::Node(tidings_node::Error::Store(_))) => self.restart(),
                // A store that is down looks unreadable from the core.
                Err(PlayError::Node(tidings_node::Error::Unreadable(fault)))
                    if self.store.snapshot().is_err() =>
                {
                    drop(fault);
                    self.restart();
                }
                Err(fault) => return Err(fault.to_string()),
            }
        }
        Ok(())
    }
}

fn play_instant(
    player: &mut Player,
    at: Instant,
    stretches: &[CommandStretch<'_>],
    instant: u32,
    again: bool,
) -> Result<(), PlayError> {
    let done: Vec<bool> = (0..stretches.len())
        .map(|shard| Ok(again && has_happened(player, &sentinel(instant, shard))?))
        .collect::<Result<_, tidings_node::Error>>()?;
    if done.contains(&true) {
        player.resume(at);
    }
    for (shard, (stretch, done)) in stretches.iter().zip(done).enumerate() {
        if !done {
            let marker = Command::Object(Object {
                id: sentinel(instant, shard),
                title: None,
                url: None,
                image: None,
                image_size: None,
                data: None,
                notifiable: None,
            });
            for command in stretch.commands.iter().map(|command| (*command).clone()).chain([marker])
            {
                player.play(Timed { at, command }, &mut |_| {})?;
            }
        }
        if let Some(rules) = stretch.rules {
            player.set_rules(at, rules.clone(), &mut |_| {})?;
        }
    }
    player.end_instant(&mut |_| {})
}

fn sentinel(instant: u32, shard: usize) -> Id {
    Id::new(&format!("sentinel-{instant}-{shard}")).expect("it has no control character")
}

fn has_happened(player: &Player, sentinel: &Id) -> Result<bool, tidings_node::Error> {
    let view = player.node().view()?;
    Ok(player.node().engine().reader(&view).knows_object(sentinel)?)
}
