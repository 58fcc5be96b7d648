//! Several nodes that share the shards of a store, on a virtual clock, over a network that is perfect, or slow, or faulty.
//!
//! Over a perfect network the result is that of one node: at each instant all nodes close what is due, then commands go to
//! the node that has them to decide, the acts of the intake go to all at once, and then each ends the instant. Over a
//! slow one acts arrive an instant late. Over a faulty one answers and reports are lost, late and doubled as well, and
//! nodes die between two instants and start again.

use std::sync::Arc;

use tidings_core::content::Totals;
use tidings_core::engine::{HeldShards, LogEntry, OpenReply, Options, Refused, Reply, read_log};
use tidings_core::model::Timed;
use tidings_core::{Command, Instant, Rules};
use tidings_store::Store;

use tidings_node::{
    Accepted, Error, MessageReceiver, Node, PlayError, Player, PlayerOutput, sort_messages,
};

/// Nodes on a virtual clock: the first has the intake.
pub struct NodesPlayer {
    players: Vec<Player>,
    /// The open instant.
    open: Option<Instant>,
    network: NodesNetwork,
    reopen: Box<NodeReopener>,
}

/// Opens the node with a number again, with the clock at an instant.
type NodeReopener = dyn Fn(usize, Instant) -> Result<Player, Error>;

/// A choice of a number below another one.
pub type NumberChooser = Box<dyn FnMut(u64) -> u64>;

enum NodesNetwork {
    Perfect,
    /// The acts on their way.
    Slow(Vec<Arc<LogEntry>>),
    /// Faults that are chosen; with the answers that may arrive once more.
    Faulty(NumberChooser, Vec<Vec<Arc<LogEntry>>>),
}

/// The shards of one of N nodes, in a store with M shards.
fn held(node: u16, nodes: u16, shards: u16) -> HeldShards {
    HeldShards {
        intake: node == 0,
        shards: (0..shards).filter(|shard| shard % nodes == node).collect(),
    }
}

impl NodesPlayer {
    /// Opens N nodes over a new store, under these rules from an instant on.
    ///
    /// # Errors
    /// [`PlayError`].
    pub fn open(
        store: &Arc<dyn Store>,
        nodes: u16,
        options: Options,
        collect: PlayerOutput,
        at: Instant,
        rules: Rules,
    ) -> Result<Self, PlayError> {
        // The first one makes the store and its shards.
        let mut first = Player::open(Arc::clone(store), options, collect)?;
        first.set_rules(at, rules, &mut |_| {})?;
        drop(first);
        let store = Arc::clone(store);
        let reopen = move |node: usize, at: Instant| {
            let no = u16::try_from(node).unwrap_or(u16::MAX);
            let held = held(no, nodes, options.shards);
            Player::open_held(Arc::clone(&store), options, &held, collect, at)
        };
        let players = (0..usize::from(nodes)).map(|node| reopen(node, at));
        Ok(Self {
            players: players.collect::<Result<_, Error>>()?,
            open: Some(at),
            network: NodesNetwork::Perfect,
            reopen: Box::new(reopen),
        })
    }

    /// The same nodes over a slow network.
    #[must_use]
    pub fn with_late_acts(self) -> Self {
        Self { network: NodesNetwork::Slow(Vec::new()), ..self }
    }

    /// The same nodes over a faulty network, where nodes die. What happens when is chosen.
    #[must_use]
    pub fn with_faults(self, choose: NumberChooser) -> Self {
        let before = vec![Vec::new(); self.players.len()];
        Self { network: NodesNetwork::Faulty(choose, before), ..self }
    }

    /// Returns true if acts may be lost, so that a node may not have heard of a digest yet.
    #[must_use]
    pub fn has_faults(&self) -> bool {
        matches!(self.network, NodesNetwork::Faulty(..))
    }

    /// Plays the next command. Messages of instants that are over go to `out`.
    ///
    /// # Errors
    /// [`PlayError`]; after [`PlayError::Refused`] and [`PlayError::Back`] nothing has changed.
    pub fn play(&mut self, timed: Timed, out: &mut MessageReceiver<'_>) -> Result<(), PlayError> {
        let Timed { at, command } = timed;
        self.turn_to(at, out)?;
        self.begin(at)?;
        let home = command.recipient().and_then(|recipient| {
            let has = |player: &Player| player.node().engine().replica().has_home_of(recipient);
            self.players.iter().position(has)
        });
        match home {
            None | Some(0) => self.lead(at, &[command]),
            Some(home) => {
                // The node with the list takes addresses off it, as for a change of its own recipients.
                let given = self.players[0].node().engine().suppressions().given_again(&command);
                let lifted: Vec<Command> =
                    given.into_iter().map(|address| Command::Unsuppress { address }).collect();
                if !lifted.is_empty() {
                    self.lead(at, &lifted)?;
                }
                let player = &mut self.players[home];
                if command.names_tenant() {
                    player.catch_up(at)?;
                }
                player.accept(at, &[command]).map(drop)
            }
        }
    }

    /// Puts rules in force at an instant, between the commands before and after.
    ///
    /// # Errors
    /// [`PlayError`].
    pub fn set_rules(
        &mut self,
        at: Instant,
        rules: Rules,
        out: &mut MessageReceiver<'_>,
    ) -> Result<(), PlayError> {
        self.turn_to(at, out)?;
        self.begin(at)?;
        self.players[0].put_rules(at, rules)?;
        self.pass_on(at, Vec::new()).map(drop)
    }

    /// Runs the clock until no pending entry can become due, or to `until` with all steps of that instant.
    ///
    /// # Errors
    /// [`PlayError::Node`].
    pub fn finish(
        &mut self,
        until: Option<Instant>,
        out: &mut MessageReceiver<'_>,
    ) -> Result<(), PlayError> {
        self.close(out)?;
        self.mend()?;
        if self.players[0].node().forgets_late() {
            let now = self.now();
            self.report(now)?;
            self.players[0].forget_late(now)?;
            self.pass_on(now, Vec::new())?;
        }
        self.arrive(self.now())?;
        while let Some(due) = self.next_due() {
            let due = due.max(self.now());
            match until {
                Some(until) if due > until => break,
                None if !self.waits()? => break,
                _ => {}
            }
            match self.next_forget() {
                Some(midnight) if midnight < due => self.instant(midnight, out)?,
                _ => self.instant(due, out)?,
            }
        }
        while let (Some(midnight), Some(until)) = (self.next_forget(), until) {
            if midnight > until {
                break;
            }
            self.instant(midnight, out)?;
        }
        self.arrive(self.now())
    }

    /// Counts everything in the store: each node what it has.
    ///
    /// # Errors
    /// [`Error::Disagreement`] where a walk and a ledger don't agree.
    pub fn books(&self) -> Result<Totals, Error> {
        self.players.iter().map(Player::books).sum()
    }

    /// The node with the intake.
    #[must_use]
    pub fn first(&self) -> &Node {
        self.players[0].node()
    }

    fn now(&self) -> Instant {
        self.players
            .iter()
            .map(|player| player.node().engine())
            .map(|engine| engine.now())
            .max()
            .unwrap_or(Instant::MIN)
    }

    fn next_due(&mut self) -> Option<Instant> {
        self.players.iter_mut().filter_map(Player::next_due).min()
    }

    fn next_forget(&self) -> Option<Instant> {
        self.players[0].node().engine().next_forget()
    }

    fn waits(&self) -> Result<bool, Error> {
        for player in &self.players {
            if player.node().waits()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Plays everything before `at` and opens that instant.
    fn turn_to(&mut self, at: Instant, out: &mut MessageReceiver<'_>) -> Result<(), PlayError> {
        if let Some(open) = self.open {
            if at == open {
                return Ok(());
            }
            if at < open {
                return Err(PlayError::Back { at, last: open });
            }
        }
        self.close(out)?;
        loop {
            let due = self.next_due().filter(|due| *due < at);
            let forget = self.next_forget().filter(|midnight| *midnight < at);
            let Some(next) = due.into_iter().chain(forget).min() else {
                break;
            };
            let next = next.max(self.now());
            if next >= at {
                break;
            }
            self.instant(next, out)?;
        }
        self.open_at(at);
        Ok(())
    }

    fn open_at(&mut self, at: Instant) {
        self.open = Some(at);
        for player in &mut self.players {
            player.open_instant();
        }
    }

    /// Plays an instant without commands.
    fn instant(&mut self, at: Instant, out: &mut MessageReceiver<'_>) -> Result<(), PlayError> {
        self.open_at(at);
        self.close(out)
    }

    /// Plays the open instant to its end.
    fn close(&mut self, out: &mut MessageReceiver<'_>) -> Result<(), PlayError> {
        let Some(at) = self.open.take() else {
            return Ok(());
        };
        self.arrive(at)?;
        self.begin(at)?;
        let mut messages = Vec::new();
        for player in &mut self.players {
            messages.extend(player.end(at, &[])?);
        }
        self.report(at)?;
        sort_messages(&mut messages);
        messages.into_iter().for_each(out);
        self.kill(at)
    }

    /// Has nodes die and start again, where that is chosen: it is between two instants.
    fn kill(&mut self, at: Instant) -> Result<(), PlayError> {
        let NodesNetwork::Faulty(choose, before) = &mut self.network else {
            return Ok(());
        };
        for (no, before) in before.iter_mut().enumerate().take(self.players.len()) {
            if choose(12) == 0 {
                // The handles of its store go first.
                drop(self.players.remove(no));
                self.players.insert(no, (self.reopen)(no, at)?);
                before.clear();
            }
        }
        Ok(())
    }

    /// Ends the faults: what was lost is asked for again.
    fn mend(&mut self) -> Result<(), PlayError> {
        if let NodesNetwork::Faulty(..) = self.network {
            self.network = NodesNetwork::Slow(Vec::new());
            for no in 1..self.players.len() {
                let logged = self.unapplied(no)?;
                self.apply(no, self.now(), &logged)?;
            }
        }
        Ok(())
    }

    /// Begins the instant everywhere, if it has not begun: what is due closes, days are forgotten, and scheduled events
    /// enter.
    fn begin(&mut self, at: Instant) -> Result<(), PlayError> {
        if self.players[0].has_begun() {
            return Ok(());
        }
        for player in &mut self.players[1..] {
            player.begin(at)?;
        }
        self.report(at)?;
        self.players[0].begin(at)?;
        self.lead(at, &[])
    }

    /// Has the node with the intake decide about commands, and the others apply its acts.
    fn lead(&mut self, at: Instant, commands: &[Command]) -> Result<(), PlayError> {
        let Accepted { open_replies, .. } = self.players[0].accept(at, commands)?;
        let replies = self.pass_on(at, open_replies)?;
        match replies.into_iter().find_map(Result::err) {
            Some(refused) => Err(refused.into()),
            None => Ok(()),
        }
    }

    /// Applies the log of the node with the intake on all other nodes, and completes its commands.
    fn pass_on(
        &mut self,
        at: Instant,
        mut open: Vec<OpenReply>,
    ) -> Result<Vec<Result<Reply, Refused>>, PlayError> {
        let (leader, others) = self.players.split_first_mut().expect("there is a first node");
        let mut logged = leader.take_log();
        match &mut self.network {
            NodesNetwork::Perfect => {}
            NodesNetwork::Slow(late) => late.append(&mut logged),
            // They read the log from the store.
            NodesNetwork::Faulty(..) => logged.clear(),
        }
        for player in others.iter_mut().filter(|_| !logged.is_empty()) {
            let applied = player.apply_log(at, &logged)?;
            leader.keep_objects(at, &applied.kept_objects)?;
            for (_, answers) in &applied.answers {
                open.iter_mut().for_each(|open| open.add(answers));
            }
        }
        self.report(at)?;
        Ok(self.players[0].conclude(at, &open)?)
    }

    /// Has acts arrive that were late.
    fn arrive(&mut self, at: Instant) -> Result<(), PlayError> {
        for no in 1..self.players.len() {
            let logged = match &mut self.network {
                NodesNetwork::Perfect => return Ok(()),
                NodesNetwork::Slow(late) => late.clone(),
                NodesNetwork::Faulty(choose, before) => match choose(4) {
                    // It is lost, or an earlier one arrives once more.
                    0 => continue,
                    1 => before[no].clone(),
                    _ => self.unapplied(no)?,
                },
            };
            self.apply(no, at, &logged)?;
            if let NodesNetwork::Faulty(_, before) = &mut self.network {
                before[no] = logged;
            }
        }
        if let NodesNetwork::Slow(late) = &mut self.network {
            late.clear();
        }
        Ok(self.report(at)?)
    }

    /// The acts that a node has not applied.
    fn unapplied(&self, no: usize) -> Result<Vec<Arc<LogEntry>>, Error> {
        let applied = self.players[no].node().engine().replica().applied();
        let leader = self.players[0].node();
        Ok(read_log(&leader.view()?, applied, usize::MAX)?)
    }

    fn apply(&mut self, no: usize, at: Instant, logged: &[Arc<LogEntry>]) -> Result<(), Error> {
        if logged.is_empty() {
            return Ok(());
        }
        self.players[no].apply_log(at, logged).map(drop)
    }

    /// Tells the node with the intake how far the others are.
    fn report(&mut self, at: Instant) -> Result<(), Error> {
        let (leader, others) = self.players.split_first_mut().expect("there is a first node");
        for player in others {
            if let NodesNetwork::Faulty(choose, _) = &mut self.network
                && choose(4) == 0
            {
                continue;
            }
            leader.keep_objects(at, &player.take_kept_objects())?;
            leader.take_progress(at, &player.node().engine().replica().progress())?;
        }
        Ok(())
    }
}
