//! Plays the story through the real engine: a store on disk, a Maildir, a virtual clock.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use tidings_core::content::{Batch, Totals};
use tidings_core::engine::Options;
use tidings_core::model::{EMAIL, channel_kind};
use tidings_core::{Instant, Rules};
use tidings_mail::{Design, SECRET_BYTES, Sender, TokenKey};
use tidings_node::channel::{
    self, Channel as _, Durability, ProviderOpenError, ProviderSetup, RenderingChannel,
    ServerTimeouts,
};
use tidings_node::{Clock, Delivery, Node, PlayError, Player, PlayerOutput, Retries, SystemClock};
use tidings_store::{Expected, FjallStore, StoreId};

use super::fan_out::{FanOuts, Foremost};
use super::postbox::{Files, Indexed, Postbox};
use super::scenario::Scenario;
use super::spool::Spool;
use super::stopwatch::Stopwatch;
use super::world::World;

/// The configuration of the demo, as text.
pub const RULES: &str = include_str!("../../../examples/art/tidings.toml");

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
    pub mails: usize,
}

/// The fate of the directory afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Afterwards {
    /// It stays: the mails are durable before they are shown.
    Kept,
    /// It is removed: the mails are in one file, which is gone at once, and none is made durable first.
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
    /// The look of its mails, and of the pages to which they lead.
    pub design: Design,
    /// The mails.
    pub postbox: Postbox,
    /// The outcome in numbers.
    pub telling: Telling,
}

/// The outcome in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Telling {
    /// Counted by walking the store.
    pub books: Totals,
    /// The Warhol event and that of the largest audience.
    pub foremost: Foremost,
    /// From the empty directory to the counted books, in seconds of this machine.
    pub seconds: f64,
}

/// The key of the tokens in the links of mails. It protects nothing: the story has no secrets.
pub(crate) fn tokens() -> TokenKey {
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

/// The path of the file with all mails in a data directory that does not stay.
#[must_use]
pub fn spool_in(dir: &Path) -> PathBuf {
    dir.join("mails")
}

/// Has mails go into the Maildir of a data directory, or nowhere but into the one file.
fn sent_into(mut rules: Rules, dir: &Path, afterwards: Afterwards) -> Rules {
    let email = rules.channels.entry(EMAIL.to_owned()).or_default();
    email.providers = vec![match afterwards {
        Afterwards::Kept => format!("file://{}", maildir_in(dir).display()),
        Afterwards::Removed => "caught://".to_owned(),
    }];
    rules
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
    let rules = sent_into(rules, dir, afterwards);
    let options = tidings_store::Options::default();
    let store = FjallStore::open(store_in(dir), Expected::OrNew(id), options)?;
    let files = match afterwards {
        Afterwards::Kept => Files::Each(maildir_in(dir).join("new")),
        Afterwards::Removed => {
            let spool = Spool::create(&spool_in(dir));
            Files::Spool(Arc::new(
                spool.map_err(|source| PlayFault::Directory { dir: spool_in(dir), source })?,
            ))
        }
    };
    let mails = mails(&rules, &scenario.world, files)?;
    let outlet = RenderingChannel::new(Arc::clone(&mails) as _, Arc::clone(&mails) as _);
    let channels = BTreeMap::from([(EMAIL.to_owned(), outlet)]);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let delivery = Delivery::new(channels, Retries::default()).on_threads(threads);
    let (store, options) = (Arc::new(store), Options::default());
    let mut player =
        Player::with_delivery(store, options, PlayerOutput::Nothing, delivery, Instant(0))?;
    let (fan_outs, foremost) = FanOuts::of(scenario.warhol_event.clone());
    player.observe_by(Box::new(fan_outs));
    play_story(&mut player, scenario, rules.clone(), &mails, report)?;
    if afterwards == Afterwards::Kept {
        mails.sync().map_err(|source| PlayFault::Directory { dir: maildir_in(dir), source })?;
    }
    let books = player.books()?;
    let foremost = foremost.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let telling = Telling { books, foremost, seconds: watch.seconds() };
    Ok(PlayedStory {
        node: player.into_node(),
        design: design(&rules)?,
        rules,
        postbox: mails.postbox(),
        telling,
    })
}

fn occupy(dir: &Path) -> Result<(), PlayFault> {
    let fault = |source| PlayFault::Directory { dir: dir.to_owned(), source };
    std::fs::create_dir_all(dir).map_err(fault)?;
    match std::fs::read_dir(dir).map_err(fault)?.next() {
        None => Ok(()),
        Some(_) => Err(PlayFault::Occupied(dir.to_owned())),
    }
}

fn mails(rules: &Rules, world: &World, files: Files) -> Result<Arc<Indexed>, PlayFault> {
    let kind = channel_kind(EMAIL).ok_or(ProviderOpenError::Missing)?;
    let tokens = tokens();
    let setup = ProviderSetup {
        secret: &|_| Err("the demo sends nothing away".to_owned()),
        durability: Durability::AtEnd,
        patience: ServerTimeouts::default(),
        clock: &(Arc::new(SystemClock) as Arc<dyn Clock>),
        tokens: Some(&tokens),
        caught: &Arc::default(),
    };
    Ok(Indexed::new(channel::open(kind, rules, &setup)?, files, finder(world)))
}

/// The look of the mails, and of the pages to which they lead.
fn design(rules: &Rules) -> Result<Design, ProviderOpenError> {
    let email = rules.channels.get(EMAIL);
    let from = email.and_then(|email| email.from.as_deref());
    let sender = Sender::parse(from.ok_or(ProviderOpenError::NoSender)?)?;
    Ok(Design::new(sender, rules)?)
}

/// Finds the places of a batch's recipient and of their city.
fn finder(world: &World) -> impl Fn(&Batch) -> Option<(u32, u32)> + Send + Sync + 'static {
    let numbered = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let people: HashMap<String, u32> = (world.people.iter().enumerate())
        .map(|(n, person)| (person.id.to_string(), numbered(n)))
        .collect();
    let cities: HashMap<(u64, u64), u32> = (world.museum.cities.iter().enumerate())
        .map(|(n, city)| ((city.lat.to_bits(), city.lon.to_bits()), numbered(n)))
        .collect();
    move |batch| {
        let person = people.get(batch.recipient.id.as_str())?;
        let (lat, lon) = batch.recipient.place?;
        Some((*person, *cities.get(&(lat.to_bits(), lon.to_bits()))?))
    }
}

fn play_story(
    player: &mut Player,
    scenario: &Scenario,
    rules: Rules,
    mails: &Indexed,
    report: Hear<'_>,
) -> Result<(), PlayFault> {
    let mut unwanted = |_| {};
    let mut shown: Option<Instant> = None;
    player.set_rules(scenario.starts, rules, &mut unwanted).map_err(refused)?;
    for timed in scenario.commands() {
        if shown != Some(timed.at) {
            shown = Some(timed.at);
            if report(StoryProgress { at: timed.at, mails: mails.count() }).is_break() {
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
