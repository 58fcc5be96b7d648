//! The engine as a test subject: over a store in memory, on a virtual clock.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidings_core::content::{Message, Totals};
use tidings_core::engine::{
    CommandConcerns, FiguresQuery, GroupBy, InboxGroup, InboxQuery, InboxState, Options, Refused,
    Reply, Search,
};
use tidings_core::model::{Timed, View};
use tidings_core::{Command, Day, Id, Instant, Rules};
use tidings_node::{Node, Observer, PlayError, Player, PlayerOutput};
use tidings_store::{MemoryStore, Store};

use crate::figures::{Figures, plain};
use crate::inbox::{Inbox, Row};
use crate::lists::{HitInWords, Lists};
use crate::mix::mix;
use crate::nodes::NodesPlayer;
use crate::subject::{ModelAnswer, Subject};

mod lists;

/// The engine with its usual options.
#[must_use]
pub fn engine(rules: Rules) -> Box<dyn Subject> {
    with_options(rules, Options::default())
}

/// The engine with one bucket that indexes at once.
#[must_use]
pub fn indexed_at_once(rules: Rules) -> Box<dyn Subject> {
    with_options(
        rules,
        Options { buckets: 1, index_after: Some(0), checkpoint_after: 0, ..Options::default() },
    )
}

/// The engine with three buckets that never index.
#[must_use]
pub fn never_indexed(rules: Rules) -> Box<dyn Subject> {
    with_options(
        rules,
        Options {
            buckets: 3,
            index_after: None,
            checkpoint_after: 5,
            slice_bytes: 1,
            ..Options::default()
        },
    )
}

/// The engine with its buckets divided into two shards: each applies every act to its half alone.
#[must_use]
pub fn in_halves(rules: Rules) -> Box<dyn Subject> {
    with_options(rules, Options { shards: 2, ..Options::default() })
}

/// Three nodes that share five shards of a store, over a perfect network.
#[must_use]
pub fn on_three_nodes(rules: Rules) -> Box<dyn Subject> {
    Box::new(NodesSubject::Waiting(Box::new(rules), NodesPlayer::into))
}

/// The same over a slow network: acts arrive an instant late.
#[must_use]
pub fn on_slow_nodes(rules: Rules) -> Box<dyn Subject> {
    Box::new(NodesSubject::Waiting(Box::new(rules), NodesPlayer::with_late_acts))
}

/// The same over a faulty network, where nodes die.
#[must_use]
pub fn on_faulty_nodes(rules: Rules) -> Box<dyn Subject> {
    let over = |nodes: NodesPlayer| {
        let mut number = 0;
        let choose = move |below: u64| {
            number += 1;
            mix(number) % below
        };
        nodes.with_faults(Box::new(choose))
    };
    Box::new(NodesSubject::Waiting(Box::new(rules), over))
}

fn with_options(rules: Rules, options: Options) -> Box<dyn Subject> {
    let store = Arc::new(MemoryStore::default());
    let player =
        Player::open(store, options, PlayerOutput::Messages).expect("a new store can be opened");
    let mut player = player.past_refusals();
    let answers = PlayerAnswers::default();
    player.observe_by(Box::new(answers.clone()));
    Box::new(EngineSubject { player, answers, rules: Some(rules), messages: Vec::new() })
}

/// The answers of a player, shared by its clones.
#[derive(Clone, Default)]
pub(crate) struct PlayerAnswers {
    all: Arc<Mutex<Vec<ModelAnswer>>>,
    /// The first refusal that is not of a change of an object that may be another's.
    fault: Arc<Mutex<Option<String>>>,
    /// The commands that wait for theirs: true if it erases.
    erases: Vec<bool>,
}

impl PlayerAnswers {
    pub(crate) fn all(&self) -> Vec<ModelAnswer> {
        self.lock().clone()
    }

    /// The first refusal, but for those of changes of objects that may be another's.
    pub(crate) fn fault(&self) -> Option<String> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<ModelAnswer>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for PlayerAnswers {
    fn before(&mut self, _: Instant, commands: &[Command]) {
        let erases = |command: &Command| matches!(command, Command::Erase { .. });
        self.erases = commands.iter().map(erases).collect();
    }

    fn after(&mut self, _: Instant, replies: &[Result<Reply, Refused>]) {
        let mut all = self.lock();
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        for (reply, erases) in replies.iter().zip(&self.erases) {
            if let Err(refused) = reply
                && !erases
            {
                fault.get_or_insert_with(|| refused.to_string());
            }
            all.push(match reply {
                // The model keeps no count of erased rows.
                Err(refused) if !erases => Err(refused.to_string()),
                _ => Ok(()),
            });
        }
    }
}

struct EngineSubject {
    player: Player,
    answers: PlayerAnswers,
    /// Put in force at the first instant.
    rules: Option<Rules>,
    messages: Vec<Message>,
}

impl EngineSubject {
    fn begin(&mut self, at: Instant) -> Result<(), String> {
        let Some(rules) = self.rules.take() else {
            return Ok(());
        };
        self.reconfigure(at, &rules)
    }
}

impl Subject for EngineSubject {
    fn play(&mut self, timed: &Timed) -> Result<(), String> {
        self.begin(timed.at)?;
        let messages = &mut self.messages;
        let played = self.player.play(timed.clone(), &mut |message| messages.push(message));
        if let Err(back @ PlayError::Back { .. }) = &played {
            // Those before it are answered first.
            self.player.take_in().map_err(|fault| fault.to_string())?;
            self.answers.lock().push(Err(back.to_string()));
            return Ok(());
        }
        played.map_err(|fault| fault.to_string())
    }

    fn dry_run(&mut self, timed: &Timed) -> Result<Option<CommandConcerns>, String> {
        self.begin(timed.at)?;
        let messages = &mut self.messages;
        match self.player.dry_run(timed, &mut |message| messages.push(message)) {
            Ok(run) => Ok(run.reply.is_ok().then_some(run.concerns)),
            Err(PlayError::Back { .. }) => Ok(None),
            Err(fault) => Err(fault.to_string()),
        }
    }

    fn reconfigure(&mut self, at: Instant, rules: &Rules) -> Result<(), String> {
        self.begin(at)?;
        let messages = &mut self.messages;
        self.player
            .set_rules(at, rules.clone(), &mut |message| messages.push(message))
            .map_err(|fault| fault.to_string())
    }

    fn finish(&mut self, until: Option<Instant>) -> Result<(), String> {
        let messages = &mut self.messages;
        self.player
            .finish(until, &mut |message| messages.push(message))
            .map_err(|fault| fault.to_string())
    }

    fn answers(&self) -> Vec<ModelAnswer> {
        self.answers.all()
    }

    fn messages(&self) -> Vec<Message> {
        self.messages.clone()
    }

    fn books(&self) -> Totals {
        self.player.books().unwrap_or_else(|fault| panic!("{fault}"))
    }

    fn inbox(&self, recipient: &Id, tenant: Option<&Id>) -> Option<Inbox> {
        let node = self.player.node();
        let view = tenant.cloned().map_or(View::All, View::Of);
        let state = InboxState::All;
        let query = InboxQuery { state, view, ..InboxQuery::newest(usize::MAX) };
        let stored = node.view().expect("the store is open");
        let page = node.engine().reader(&stored).inbox(recipient, &query).ok()?;
        let of_tenants = page.counts.tenants.into_iter().flatten();
        let of_tenants = of_tenants.filter_map(|(id, of)| Some((Id::new(&id).ok()?, of)));
        Some(Inbox {
            rows: page.groups.iter().map(row).collect(),
            unseen: page.counts.unseen,
            unread: page.counts.unread,
            tenants: of_tenants.map(|(id, of)| (id, (of.unseen, of.unread))).collect(),
        })
    }

    fn figures(&self, by: &[GroupBy]) -> Option<Figures> {
        Some(figures_of(self.player.node(), by))
    }

    fn lists(&self, topics: &[Id]) -> Option<Lists> {
        let node = self.player.node();
        let stored = node.view().expect("the store is open");
        Some(lists::of(node.engine().reader(&stored), topics))
    }

    fn search(&self, text: &str, now: Instant) -> Option<BTreeSet<HitInWords>> {
        let node = self.player.node();
        let stored = node.view().expect("the store is open");
        let search = Search { text: text.to_owned(), tagged: None, now };
        let result = node.engine().reader(&stored).search(&search).expect("the store is sound");
        let hits = result.hits.into_iter();
        Some(hits.map(|hit| (hit.kind.word(), hit.id, hit.matched.word())).collect())
    }
}

/// The figures of a node's shards and of those that share its store.
fn figures_of(node: &Node, by: &[GroupBy]) -> Figures {
    let query =
        FiguresQuery { by: by.to_vec(), ..FiguresQuery::of_days(Day(-1_000_000)..Day(1_000_000)) };
    let stored = node.view().expect("the store is open");
    let today = node.engine().now().day();
    let report = node.engine().reader(&stored).figures(&query, today);
    plain(&report.unwrap_or_else(|fault| panic!("{fault}")))
}

fn row(group: &InboxGroup) -> Row {
    Row {
        tenant: group.tenant.clone(),
        event_type: group.event_type.clone(),
        count: group.count,
        events: group.items.iter().map(|item| item.event.clone()).collect(),
        seen: group.seen,
        read: group.read,
        archived: group.archived,
        snoozed_until: group.snoozed_until,
        newest_at: group.newest_at,
    }
}

/// Nodes that share the shards of a store.
enum NodesSubject {
    /// The rules come into force at the first instant. True if acts are late.
    Waiting(Box<Rules>, fn(NodesPlayer) -> NodesPlayer),
    Open(Box<NodesPlayer>, Vec<Message>, Vec<ModelAnswer>),
}

impl NodesSubject {
    fn begin(&mut self, at: Instant) -> Result<(&mut NodesPlayer, &mut Vec<Message>), String> {
        if let Self::Waiting(rules, over) = self {
            let options = Options { shards: 5, ..Options::default() };
            let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
            let first = (**rules).clone();
            let player = NodesPlayer::open(&store, 3, options, PlayerOutput::Messages, at, first);
            let player = over(player.map_err(|fault| fault.to_string())?);
            *self = Self::Open(Box::new(player), Vec::new(), Vec::new());
        }
        match self {
            Self::Open(player, messages, _) => Ok((player, messages)),
            Self::Waiting(..) => Err("unreachable: it was just opened".to_owned()),
        }
    }
}

impl Subject for NodesSubject {
    fn play(&mut self, timed: &Timed) -> Result<(), String> {
        let (player, messages) = self.begin(timed.at)?;
        let played = player.play(timed.clone(), &mut |message| messages.push(message));
        let answer = match (&timed.command, played) {
            // The model keeps no count of erased rows.
            (Command::Erase { .. }, Err(PlayError::Refused(_))) => Ok(()),
            (Command::Preference { .. }, Err(PlayError::Refused(_))) if player.has_faults() => {
                Ok(())
            }
            (_, Err(fault @ (PlayError::Refused(_) | PlayError::Back { .. }))) => {
                Err(fault.to_string())
            }
            (_, played) => Ok(played.map_err(|fault| fault.to_string())?),
        };
        if let Self::Open(_, _, answers) = self {
            answers.push(answer);
        }
        Ok(())
    }

    fn reconfigure(&mut self, at: Instant, rules: &Rules) -> Result<(), String> {
        let (player, messages) = self.begin(at)?;
        player
            .set_rules(at, rules.clone(), &mut |message| messages.push(message))
            .map_err(|fault| fault.to_string())
    }

    fn finish(&mut self, until: Option<Instant>) -> Result<(), String> {
        let Self::Open(player, messages, _) = self else {
            return Ok(());
        };
        player
            .finish(until, &mut |message| messages.push(message))
            .map_err(|fault| fault.to_string())
    }

    fn answers(&self) -> Vec<ModelAnswer> {
        match self {
            Self::Open(_, _, answers) => answers.clone(),
            Self::Waiting(..) => Vec::new(),
        }
    }

    fn messages(&self) -> Vec<Message> {
        match self {
            Self::Open(_, messages, _) => messages.clone(),
            Self::Waiting(..) => Vec::new(),
        }
    }

    fn books(&self) -> Totals {
        match self {
            Self::Open(player, ..) => player.books().unwrap_or_else(|fault| panic!("{fault}")),
            Self::Waiting(..) => Totals::default(),
        }
    }

    fn figures(&self, by: &[GroupBy]) -> Option<Figures> {
        match self {
            Self::Open(player, ..) => Some(figures_of(player.first(), by)),
            Self::Waiting(..) => None,
        }
    }
}
