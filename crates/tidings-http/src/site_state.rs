//! The pages' state: their look, the key of their tokens, the room for them.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tidings_core::Rules;
use tidings_mail::{Design, NoticePage, Sender, TokenKey};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

/// The most pages in progress: each reads the store.
const PAGES_MAX: usize = 4;

pub(super) const CHOICES: &str = "site_choices";
pub(super) const CHOOSE: &str = "site_choose";
pub(super) const REST: &str = "site_rest";

/// The names of the pages, for measurements.
pub(crate) const NAMES: [&str; 3] = [CHOICES, CHOOSE, REST];

/// The pages of a server.
pub(crate) struct Site {
    tokens: TokenKey,
    design: RwLock<Arc<Design>>,
    room: Semaphore,
}

impl Site {
    /// The pages in the look of a configuration.
    pub(crate) fn new(rules: &Rules, tokens: TokenKey) -> Self {
        Self {
            design: RwLock::new(Arc::new(design(rules))),
            tokens,
            room: Semaphore::new(PAGES_MAX),
        }
    }

    /// The key of the tokens.
    pub(crate) fn tokens(&self) -> &TokenKey {
        &self.tokens
    }

    /// Puts the look of another configuration in force.
    pub(crate) fn configure(&self, rules: &Rules) {
        let design = Arc::new(design(rules));
        *self.design.write().unwrap_or_else(PoisonError::into_inner) = design;
    }

    /// Room for one more page. A mail program that unsubscribes may not come again, so it waits for a while.
    pub(super) async fn room(&self, patience: Duration) -> Result<SemaphorePermit<'_>, NoticePage> {
        let room = timeout(patience, self.room.acquire());
        room.await.ok().and_then(Result::ok).ok_or(NoticePage::Busy)
    }

    /// The look in force.
    pub(crate) fn design(&self) -> Arc<Design> {
        Arc::clone(&self.design.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The look of a configuration; the plain one if it has a fault, which keeps its channels from being opened, too.
pub(crate) fn design(rules: &Rules) -> Design {
    let from = rules.channels.get("email").and_then(|email| email.from.as_deref());
    let sender = from.and_then(|from| Sender::parse(from).ok()).unwrap_or_else(|| {
        Sender::parse("Tidings <tidings@example.org>").expect("the address is one")
    });
    Design::new(sender.clone(), rules).unwrap_or_else(|_| Design::plain(sender))
}
