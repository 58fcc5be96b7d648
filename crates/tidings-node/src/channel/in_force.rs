//! The channels in force: a reload replaces them under the threads that send.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, Weak};

use tidings_core::Instant;

use crate::channel::outlet::{AwayProvider, RenderingChannel};

/// The channels that have a provider, by name.
pub type Channels = BTreeMap<String, RenderingChannel>;

/// The channels shared by all sending threads: a reload replaces them.
#[derive(Clone, Default)]
pub(crate) struct ActiveChannels(Arc<RwLock<Channels>>);

/// The channels in force, as long as something else keeps them.
#[derive(Debug)]
pub(crate) struct WeakActiveChannels(Weak<RwLock<Channels>>);

impl WeakActiveChannels {
    pub(crate) fn upgrade(&self) -> Option<ActiveChannels> {
        self.0.upgrade().map(ActiveChannels)
    }
}

impl std::fmt::Debug for ActiveChannels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ActiveChannels").finish_non_exhaustive()
    }
}

impl ActiveChannels {
    pub(crate) fn new(channels: Channels) -> Self {
        Self(Arc::new(RwLock::new(channels)))
    }

    /// The same without keeping them.
    pub(crate) fn downgrade(&self) -> WeakActiveChannels {
        WeakActiveChannels(Arc::downgrade(&self.0))
    }

    /// The channel of a name. A message in progress during a reload is finished by the old one.
    pub(crate) fn outlet(&self, name: &str) -> Option<RenderingChannel> {
        let channels = self.0.read().unwrap_or_else(PoisonError::into_inner);
        channels.get(name).cloned()
    }

    /// The providers and destinations that are left alone at an instant, by channel.
    pub(crate) fn left_alone(&self, now: Instant) -> Vec<(String, AwayProvider)> {
        let channels = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let away = channels.iter().flat_map(|(name, outlet)| {
            let away = outlet.left_alone(now).into_iter();
            away.map(|away| (name.clone(), away))
        });
        away.collect()
    }

    /// Makes their gates anew: the clock was put back.
    pub(crate) fn renew_gates(&self) {
        let mut channels = self.0.write().unwrap_or_else(PoisonError::into_inner);
        channels.values_mut().for_each(RenderingChannel::renew_gate);
    }

    /// Replaces the channels.
    pub(crate) fn replace(&self, channels: Channels) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = channels;
    }
}
