//! The channels in force: a reload replaces them under the threads that send.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, Weak};

use tidings_core::Instant;

use crate::channel::outlet::{Away, Outlet};

/// The channels that have a provider, by name.
pub type Channels = BTreeMap<String, Outlet>;

/// The channels shared by all sending threads: a reload replaces them.
#[derive(Clone, Default)]
pub(crate) struct InForce(Arc<RwLock<Channels>>);

/// The channels in force, as long as something else keeps them.
#[derive(Debug)]
pub(crate) struct WeakInForce(Weak<RwLock<Channels>>);

impl WeakInForce {
    pub(crate) fn upgrade(&self) -> Option<InForce> {
        self.0.upgrade().map(InForce)
    }
}

impl std::fmt::Debug for InForce {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InForce").finish_non_exhaustive()
    }
}

impl InForce {
    pub(crate) fn new(channels: Channels) -> Self {
        Self(Arc::new(RwLock::new(channels)))
    }

    /// The same without keeping them.
    pub(crate) fn downgrade(&self) -> WeakInForce {
        WeakInForce(Arc::downgrade(&self.0))
    }

    /// The channel of a name. A message in progress during a reload is finished by the old one.
    pub(crate) fn outlet(&self, name: &str) -> Option<Outlet> {
        let channels = self.0.read().unwrap_or_else(PoisonError::into_inner);
        channels.get(name).cloned()
    }

    /// The providers and destinations that are left alone at an instant, by channel.
    pub(crate) fn left_alone(&self, now: Instant) -> Vec<(String, Away)> {
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
        channels.values_mut().for_each(Outlet::renew_gate);
    }

    /// Replaces the channels.
    pub(crate) fn replace(&self, channels: Channels) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = channels;
    }
}
