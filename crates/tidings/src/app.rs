//! The only place where parts are put together.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tidings_core::engine::Options;
use tidings_core::{Books, Instant, Message, Rules, Timed};
use tidings_node::channel::{self, Channel, Durability, Patience, ProviderError, Setup};
use tidings_node::{Delivery, Player, Retries, Runtime, Settings, SystemClock, Watch};
use tidings_store::{FjallStore, MemoryStore, Store};

use crate::simulate::{Play, PlayError};

/// What `tidings simulate` plays a timeline through: the engine on a virtual clock, over a store in
/// memory.
///
/// # Errors
/// [`PlayError::Broken`] where it cannot be set up.
pub fn player(rules: Rules) -> Result<Box<dyn Play>, PlayError> {
    let store = Arc::new(MemoryStore::default());
    let options = Options {
        buckets: 1,
        ..Options::default()
    };
    let player = Player::open(store, options, Watch::Messages).map_err(broken)?;
    Ok(Box::new(Simulation {
        player,
        rules: Some(rules),
    }))
}

struct Simulation {
    player: Player,
    /// Set at the first command's instant.
    rules: Option<Rules>,
}

impl Play for Simulation {
    fn play(&mut self, timed: Timed, out: &mut dyn FnMut(&Message)) -> Result<(), PlayError> {
        let mut each = |message: Message| out(&message);
        if let Some(rules) = self.rules.take() {
            self.player
                .set_rules(timed.at, rules, &mut each)
                .map_err(refused)?;
        }
        self.player.play(timed, &mut each).map_err(refused)
    }

    fn finish(
        &mut self,
        until: Option<Instant>,
        out: &mut dyn FnMut(&Message),
    ) -> Result<Books, PlayError> {
        self.player
            .finish(until, &mut |message| out(&message))
            .map_err(refused)?;
        self.player.books().map_err(broken)
    }
}

fn broken(fault: impl std::fmt::Display) -> PlayError {
    PlayError::Broken(fault.to_string())
}

fn refused(fault: tidings_node::PlayError) -> PlayError {
    use tidings_core::engine::Refused;
    let reason = fault.to_string();
    let hint = match fault {
        tidings_node::PlayError::Refused(Refused::UnknownRecipient(_)) => {
            "a `recipient` line has to come before the first line that names them"
        }
        tidings_node::PlayError::Refused(Refused::UnknownType(_)) => {
            "declare it under [types] in the configuration"
        }
        tidings_node::PlayError::Refused(Refused::UnknownChannel(_) | Refused::Preference(_)) => {
            "see the channels and digests of the configuration"
        }
        tidings_node::PlayError::Back { .. } => "sort the timeline, or run with --sort",
        tidings_node::PlayError::Node(fault) => return broken(fault),
    };
    PlayError::Refused {
        reason,
        hint: hint.to_owned(),
    }
}

/// Why a node does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The store can't be opened.
    #[error(transparent)]
    Store(tidings_store::Error),
    /// What is stored makes no sense.
    #[error(transparent)]
    Node(tidings_node::Error),
    /// A channel's provider can't be opened.
    #[error("[channels.{channel}]: {fault}")]
    Channel {
        /// Which channel.
        channel: String,
        /// Why not.
        fault: ProviderError,
    },
}

impl From<tidings_node::Error> for StartError {
    fn from(fault: tidings_node::Error) -> Self {
        match fault {
            tidings_node::Error::Store(fault) => Self::Store(fault),
            other => Self::Node(other),
        }
    }
}

/// A node in real time over a directory, with the channels of its rules.
///
/// # Errors
/// [`StartError`].
pub fn runtime(data: &Path, rules: Rules) -> Result<Runtime, StartError> {
    let settings = Settings::default();
    let delivery = Delivery::new(channels(&rules)?, Retries::default(), settings.senders);
    let data = data.to_owned();
    let open = move || {
        let store = FjallStore::open(&data, tidings_store::Options::default())?;
        Ok(Arc::new(store) as Arc<dyn Store>)
    };
    let clock = Arc::new(SystemClock);
    Ok(Runtime::start(
        Box::new(open),
        rules,
        delivery,
        clock,
        settings,
    )?)
}

fn channels(rules: &Rules) -> Result<BTreeMap<String, Arc<dyn Channel>>, StartError> {
    let setup = Setup {
        secret: &|name| std::env::var(name).ok(),
        durability: Durability::Each,
        patience: Patience::default(),
    };
    let named = rules.channels.iter();
    let named = named.filter(|(_, rules)| rules.provider.is_some());
    let opened = named.map(|(name, rules)| match channel::open(rules, &setup) {
        Ok(channel) => Ok((name.clone(), Arc::from(channel))),
        Err(fault) => Err(StartError::Channel {
            channel: name.clone(),
            fault,
        }),
    });
    opened.collect()
}
