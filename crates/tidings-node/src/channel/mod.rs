//! Channels, which send messages. A channel can't see the store.

use std::io;

pub use caught::{CAUGHT_MAX, CaughtMailbox, CaughtMessage, MessageAppearance};
pub use http::hook::HostPlace;
pub use http::sms::sms;
pub use in_force::Channels;
pub(crate) use in_force::{ActiveChannels, WeakActiveChannels};
pub use maildir::{Durability, Maildir};
pub use open::{
    ProviderSetup, check, check_with, configured, hook_channel, open, open_all, open_hook, slip,
};
pub use outcome::{Outcome, Receipt, Scope};
pub use outlet::{AwayProvider, Provider, RenderingChannel};
pub(crate) use outlet::{GateId, HandOverPass, ProviderReplies, RecoveredProviders};
pub use patience::ServerTimeouts;
pub use provider::{forms, schemes};
pub use provider_open_error::{ChannelOpenError, ProviderOpenError};
pub use render::preview::{MessagePreview, preview};
pub use render::{MailRenderer, MessageHead, Rendered, Renderer, ShortRenderer, Unrenderable};
pub(crate) use render::{destinations_of, render};
pub use signer::{SignerError, signer};
pub use webhook_key::WebhookKey;

mod breaker;
mod caught;
mod destinations;
mod gate;
mod http;
mod in_force;
mod jwt;
mod maildir;
mod open;
mod outcome;
mod outlet;
mod pace;
mod patience;
mod provider;
mod provider_open_error;
mod render;
#[cfg(test)]
pub(crate) mod sample;
mod signer;
mod smtp;
mod webhook_key;

/// A channel: hands messages over to a provider. It is called from several threads at once.
pub trait Channel: Send + Sync {
    /// Sends; the batch's id is the idempotency key. Blocks until the outcome is known or the channel's own
    /// time-out has passed.
    ///
    /// `go` is called right before the step after which the message may be delivered, and always before
    /// [`Outcome::Sent`] and [`Outcome::Unknown`]. If it returns false, nothing is handed over, and the outcome is
    /// [`Outcome::Withheld`].
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome;

    /// Returns true if an answer applies to other recipients too; not if each recipient names a service of their own.
    fn answers_for_all(&self) -> bool {
        true
    }

    /// Returns true if a message that is taken undoes refusals of the same mailbox before; not where a mailbox is looked at
    /// only after the message was taken.
    fn undoes_refusals(&self) -> bool {
        false
    }

    /// Syncs everything handed over so far, if [`Channel::send`] left that for the end (see
    /// [`Durability::AtEnd`]).
    ///
    /// # Errors
    /// The disk's; what was not made durable stays due for the next call.
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
