//! The loop of a server on a virtual clock, which stops for hours and days, starts again, and finds that
//! its clock has jumped.
//!
//! The clock goes from one command straight to the next, so that everything in between is missed and
//! made up for. Before each command what came due has gone out: what a server does about a message that is on
//! its way depends on threads, and is no matter for this.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::channel;

use tidings_core::engine::Options;
use tidings_core::time::DAY_MS;
use tidings_core::{Books, Command, Instant, Rules, Timed};
use tidings_node::channel::{Channel, Channels};
use tidings_node::{
    Delivery, Handle, OpenStore, Retries, Runtime, RuntimeError, Settings, VirtualClock,
};
use tidings_store::{MemoryStore, Store};

use crate::random::World;
use crate::rig::{Recorder, Taken, honest, mix};
use crate::subject::Step;

/// The result of a run.
#[derive(Debug)]
pub struct Lived {
    /// The books at the end.
    pub books: Books,
    /// The batches that the channel took.
    pub taken: Taken,
    /// Number of stops and restarts of the process.
    pub stops: u32,
}

/// So far apart are the instants of commands from all those at which something comes due: what arrives at
/// the instant of a message meets it on its way.
const APART_MS: i64 = 100;

/// The same world where each configuration, and what arrives together, has an instant of its own that is
/// nobody's deadline; and where the clock stops.
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
            Step::Play(Timed { command, .. }) => Step::Play(Timed {
                at,
                command: command.clone(),
            }),
            Step::Reconfigure(_, rules) => Step::Reconfigure(at, rules.clone()),
        });
    }
    let days = i64::try_from(mix(seed) % 9).unwrap_or_default();
    let end = steps.last().map_or(Instant(0), Step::at);
    let until = world.until.unwrap_or(end.plus_ms(days * DAY_MS));
    steps.retain(|step| step.at() <= until);
    World {
        rules: world.rules.clone(),
        steps,
        until: Some(until),
    }
}

/// Plays a world that was taken [`apart`].
///
/// # Errors
/// What went wrong.
pub fn run(world: &World, options: Options, seed: u64) -> Result<Lived, String> {
    let mut life = Life {
        clock: Arc::default(),
        store: Arc::new(MemoryStore::new()),
        recorder: Arc::new(Recorder::new(seed, honest)),
        options,
        rules: world.rules.clone(),
        runtime: None,
        stops: 0,
    };
    let mut rest = world.steps.as_slice();
    while let Some(at) = rest.first().map(Step::at) {
        let (now, later) = rest.split_at(rest.iter().take_while(|step| step.at() == at).count());
        rest = later;
        let stops = mix(seed ^ (rest.len() as u64).rotate_left(32)).is_multiple_of(3);
        life.come_to(at.plus_ms(-APART_MS / 2), stops)?;
        life.arrive(at, now)?;
    }
    let until = world.until.ok_or("the world has no end")?;
    life.come_to(until, mix(seed).is_multiple_of(2))?;
    let books = life.look(|node| node.books().map_err(|fault| fault.to_string()))??;
    let (stops, taken) = (life.stops, life.recorder.taken());
    life.stop()?;
    Ok(Lived {
        books,
        taken,
        stops,
    })
}

struct Life {
    clock: Arc<VirtualClock>,
    store: Arc<dyn Store>,
    recorder: Arc<Recorder>,
    options: Options,
    rules: Rules,
    runtime: Option<Runtime>,
    stops: u32,
}

/// More turns than any world needs.
const TURNS_MAX: usize = 1_000_000;

impl Life {
    fn handle(&mut self) -> Result<Handle, String> {
        let runtime = match self.runtime.take() {
            Some(runtime) => runtime,
            None => self.start()?,
        };
        Ok(self.runtime.insert(runtime).handle())
    }

    fn start(&mut self) -> Result<Runtime, String> {
        let store = Arc::clone(&self.store);
        let open: OpenStore = Box::new(move || Ok(Arc::clone(&store)));
        let delivery = Delivery::new(self.channels(), Retries::default(), 1);
        let settings = Settings {
            options: self.options,
            senders: 1,
            ..Settings::default()
        };
        let clock = Arc::clone(&self.clock);
        Runtime::start(open, self.rules.clone(), delivery, clock, settings)
            .map_err(|fault| fault.to_string())
    }

    fn channels(&self) -> Channels {
        let channel: Arc<dyn Channel> = Arc::clone(&self.recorder) as _;
        BTreeMap::from([("email".to_owned(), channel)])
    }

    fn stop(&mut self) -> Result<(), String> {
        match self.runtime.take() {
            Some(runtime) => runtime.stop().map_err(|fault| fault.to_string()),
            None => Ok(()),
        }
    }

    /// Puts the clock, and lets everything go out that came due meanwhile.
    fn come_to(&mut self, at: Instant, stops: bool) -> Result<(), String> {
        if stops && self.runtime.is_some() {
            self.stop()?;
            self.stops += 1;
            self.recorder.begin_life();
        }
        self.clock.set(at);
        let handle = self.handle()?;
        // Who asks for something is answered once nothing is missed any more.
        let caught_up = || handle.submit(Vec::new()).map_err(|fault| fault.to_string());
        caught_up()?;
        for _ in 0..TURNS_MAX {
            if self.look(|node| node.engine().oldest_due())?.is_none() {
                return caught_up().map(|_| ());
            }
            std::thread::yield_now();
        }
        Err("what came due never goes out".to_owned())
    }

    /// Has steps arrive at an instant: the clock is put while the loop waits for them.
    fn arrive(&mut self, at: Instant, steps: &[Step]) -> Result<(), String> {
        let handle = self.handle()?;
        let ((enter, entered), (clock, others)) =
            (channel(), (Arc::clone(&self.clock), handle.clone()));
        let put = move |_: &tidings_node::Node| {
            let _nobody_waits = enter.send(());
            while others.waiting() == 0 {
                std::thread::yield_now();
            }
            clock.set(at);
        };
        let asked = handle.look_then(put, |_| {});
        asked.map_err(|fault| fault.to_string())?;
        entered.recv().map_err(|fault| fault.to_string())?;
        if let [Step::Reconfigure(_, rules)] = steps {
            self.rules.clone_from(rules);
            let done = handle.configure((**rules).clone(), self.channels());
            return done.map_err(|fault| fault.to_string());
        }
        let commands: Vec<Command> = steps
            .iter()
            .filter_map(|step| match step {
                Step::Play(timed) => Some(timed.command.clone()),
                Step::Reconfigure(..) => None,
            })
            .collect();
        let asked = commands.clone();
        let replies = handle.submit(asked).map_err(|fault| fault.to_string())?;
        for (command, reply) in commands.iter().zip(replies) {
            match (command, reply) {
                // The model has nothing to erase and says nothing.
                (Command::Erase { .. }, Err(_)) => {}
                (_, reply) => drop(reply.map_err(|refused| refused.to_string())?),
            }
        }
        Ok(())
    }

    fn look<T: Send + 'static>(
        &mut self,
        look: impl FnOnce(&tidings_node::Node) -> T + Send + 'static,
    ) -> Result<T, String> {
        let looked = self.handle()?.look(look);
        looked.map_err(|fault: RuntimeError| fault.to_string())
    }
}
