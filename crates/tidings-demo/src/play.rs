//! Plays the story through the real engine: a store on disk, a Maildir, a virtual clock.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use tidings_core::content::Totals;
use tidings_core::engine::Options;
use tidings_core::model::{EMAIL, channel_kind};
use tidings_core::{Day, Instant, Rules};
use tidings_mail::{SECRET_BYTES, TokenKey};
use tidings_node::channel::{
    self, CAUGHT_MAX, CaughtMailbox, Channel as _, Durability, ProviderOpenError, ProviderSetup,
    RenderingChannel, ServerTimeouts,
};
use tidings_node::{Clock, Delivery, Node, PlayError, Player, PlayerOutput, Retries, VirtualClock};
use tidings_store::{Expected, FjallStore, StoreId};

use super::fan_out::{FanOuts, Foremost};
use super::postbox::Postbox;
use super::scenario::Scenario;
use super::stopwatch::Stopwatch;

/// The configuration of the demo, as text.
pub const RULES: &str = include_str!("../../../examples/art/tidings.toml");

/// The file of [`RULES`], as faults name it.
pub const RULES_FILE: &str = "examples/art/tidings.toml";

/// The reason why the story stopped before its end.
#[derive(Debug, thiserror::Error)]
pub enum PlayFault {
    /// The directory can't be used.
    #[error("{}: {source}", dir.display())]
    Directory {
        /// The directory.
        dir: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The directory holds something already.
    #[error("{} is not empty: name a directory that is empty or absent", .0.display())]
    Occupied(PathBuf),
    /// The store can't be opened.
    #[error(transparent)]
    Store(#[from] tidings_store::Error),
    /// The Maildir can't be opened.
    #[error(transparent)]
    Provider(#[from] ProviderOpenError),
    /// The node failed.
    #[error(transparent)]
    Node(#[from] tidings_node::Error),
    /// A command was refused: a defect of the story.
    #[error("the story can't be played: {0}")]
    Story(String),
    /// Somebody stopped it.
    #[error("stopped")]
    Stopped,
}

/// The progress of the story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoryProgress {
    /// The instant that is played.
    pub at: Instant,
    /// Number of mails sent so far.
    pub mails: u64,
}

/// The fate of the directory afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Afterwards {
    /// It stays, with every mail in a Maildir.
    Kept,
    /// It is removed, so that no mail needs a file: as many take minutes to delete.
    Removed,
}

/// Hears of progress; a break stops the story.
pub type Hear<'h> = &'h mut dyn FnMut(StoryProgress) -> ControlFlow<()>;

/// A story that was played, to be looked at.
pub struct PlayedStory {
    /// The engine over its store, at the end of the story.
    pub node: Node,
    /// The rules that it was played by.
    pub rules: Rules,
    /// The mails of some recipients.
    pub mailbox: Arc<CaughtMailbox>,
    /// The outcome in numbers.
    pub telling: Telling,
}

/// The outcome in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Telling {
    /// Counted by walking the store.
    pub books: Totals,
    /// Number of mails by day, in UTC.
    pub mails: BTreeMap<Day, u64>,
    /// The Warhol event and that of the largest audience.
    pub foremost: Foremost,
    /// From the empty directory to the counted books, in seconds of this machine.
    pub seconds: f64,
}

/// The key of the tokens in the links of mails. It protects nothing: the story has no secrets.
#[must_use]
pub fn tokens() -> TokenKey {
    TokenKey::new(&[0; SECRET_BYTES])
}

/// The path of the store in a data directory.
#[must_use]
pub fn store_in(dir: &Path) -> PathBuf {
    dir.join("store")
}

/// The path of the Maildir in a data directory.
#[must_use]
pub fn maildir_in(dir: &Path) -> PathBuf {
    dir.join("mail")
}

/// Plays a scenario into a directory that is empty or absent, where it makes a store of this identity, by the rules that [`RULES`] contains.
///
/// # Errors
/// [`PlayFault`]; what is in the directory is of no use then.
pub fn play(
    scenario: &Scenario,
    rules: Rules,
    dir: &Path,
    id: StoreId,
    afterwards: Afterwards,
    report: Hear<'_>,
) -> Result<PlayedStory, PlayFault> {
    let watch = Stopwatch::start();
    occupy(dir)?;
    let rules = with_provider(rules, "caught://".to_owned());
    let options = tidings_store::Options::default();
    let store = FjallStore::open(store_in(dir), Expected::OrNew(id), options)?;
    let clock = Arc::<VirtualClock>::default();
    let mailbox = Arc::new(CaughtMailbox::of(CAUGHT_MAX));
    let kept = open(&rules, &clock, &mailbox)?;
    // The mailbox has no room for all, and one without room drops what it is given.
    let all = match afterwards {
        Afterwards::Kept => {
            let maildir = format!("file://{}", maildir_in(dir).display());
            open(&with_provider(rules.clone(), maildir), &clock, &mailbox)?
        }
        Afterwards::Removed => open(&rules, &clock, &Arc::default())?,
    };
    let postbox = Arc::new(Postbox::new(&scenario.world, all.first(), kept.first(), clock));
    let outlet = RenderingChannel::new(all.renderer, Arc::clone(&postbox) as _);
    let channels = BTreeMap::from([(EMAIL.to_owned(), outlet)]);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let delivery = Delivery::new(channels, Retries::default()).on_threads(threads);
    let (store, options) = (Arc::new(store), Options::default());
    let mut player =
        Player::with_delivery(store, options, PlayerOutput::Nothing, delivery, Instant(0))?;
    let (fan_outs, foremost) = FanOuts::of(scenario.warhol_event.clone());
    player.observe_by(Box::new(fan_outs));
    play_story(&mut player, scenario, rules.clone(), &postbox, report)?;
    if afterwards == Afterwards::Kept {
        postbox.sync().map_err(|source| PlayFault::Directory { dir: maildir_in(dir), source })?;
    }
    let books = player.books()?;
    let foremost = foremost.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let telling = Telling { books, mails: postbox.by_day(), foremost, seconds: watch.seconds() };
    Ok(PlayedStory { node: player.into_node(), rules, mailbox, telling })
}

fn occupy(dir: &Path) -> Result<(), PlayFault> {
    let fault = |source| PlayFault::Directory { dir: dir.to_owned(), source };
    std::fs::create_dir_all(dir).map_err(fault)?;
    match std::fs::read_dir(dir).map_err(fault)?.next() {
        None => Ok(()),
        Some(_) => Err(PlayFault::Occupied(dir.to_owned())),
    }
}

/// The same rules with a provider of mails.
fn with_provider(mut rules: Rules, provider: String) -> Rules {
    rules.channels.entry(EMAIL.to_owned()).or_default().providers = vec![provider];
    rules
}

/// The channel of mails by the rules' provider.
fn open(
    rules: &Rules,
    clock: &Arc<VirtualClock>,
    caught: &Arc<CaughtMailbox>,
) -> Result<RenderingChannel, ProviderOpenError> {
    let kind = channel_kind(EMAIL).ok_or(ProviderOpenError::Missing)?;
    let setup = ProviderSetup {
        secret: &|_| Err("the demo sends nothing away".to_owned()),
        durability: Durability::AtEnd,
        patience: ServerTimeouts::default(),
        clock: &(Arc::clone(clock) as Arc<dyn Clock>),
        tokens: Some(&tokens()),
        caught,
    };
    channel::open(kind, rules, &setup)
}

fn play_story(
    player: &mut Player,
    scenario: &Scenario,
    rules: Rules,
    postbox: &Postbox,
    report: Hear<'_>,
) -> Result<(), PlayFault> {
    let mut unwanted = |_| {};
    let mut shown: Option<Instant> = None;
    player.set_rules(scenario.starts, rules, &mut unwanted).map_err(refused)?;
    for timed in scenario.commands() {
        if shown != Some(timed.at) {
            shown = Some(timed.at);
            if report(StoryProgress { at: timed.at, mails: postbox.count() }).is_break() {
                return Err(PlayFault::Stopped);
            }
        }
        player.play(timed, &mut unwanted).map_err(refused)?;
    }
    player.finish(Some(scenario.ends), &mut unwanted).map_err(refused)
}

fn refused(fault: PlayError) -> PlayFault {
    match fault {
        PlayError::Node(fault) => PlayFault::Node(fault),
        PlayError::Refused(_) | PlayError::Back { .. } | PlayError::Stopped => {
            PlayFault::Story(fault.to_string())
        }
    }
}
