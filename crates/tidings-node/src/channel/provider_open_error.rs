//! The reasons why a provider can't be opened.

use std::io;
use std::path::PathBuf;

use tidings_mail::{DesignError, SenderError};

use crate::channel::signer::SignerError;

/// The channel or hook that can't be opened, and the reason.
#[derive(Debug, thiserror::Error)]
pub enum ChannelOpenError {
    /// A channel of the configuration can't be opened.
    #[error("`[channels.{channel}]`: {fault}")]
    Channel {
        /// The channel.
        channel: String,
        /// The reason, and what to write instead.
        fault: ProviderOpenError,
    },
    /// A hook can't be called.
    #[error("`[[hooks]]` `{name}`: {fault}")]
    Hook {
        /// The name of the hook.
        name: String,
        /// The reason, and what to write instead.
        fault: ProviderOpenError,
    },
}

/// The reason why a provider can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum ProviderOpenError {
    /// The channel has no provider.
    #[error(
        "the channel has no provider: write `provider = \"file://DIR\"` or `provider = \"smtp://user@host:587\"`"
    )]
    Missing,
    /// The inbox has no provider.
    #[error("the inbox has no provider")]
    Inbox,
    /// The channel has no sender.
    #[error("the channel has no sender: write `from = \"Art <art@example.org>\"`")]
    NoSender,
    /// The sender is not a valid mailbox.
    #[error(transparent)]
    Sender(#[from] SenderError),
    /// The rules give no design of mails.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// The key that signs mails can't be used.
    #[error("`dkim`: {0}: {help}", help = .0.help())]
    Dkim(#[from] SignerError),
    /// The scheme is unknown.
    #[error("no provider of this channel is called `{name}`: write {forms}")]
    Scheme {
        /// The scheme.
        name: String,
        /// Forms that addresses of the channel's providers have.
        forms: String,
    },
    /// A part of the address is wrong. The address itself is not shown, as it may contain a password.
    #[error("the provider's address: {0}")]
    Address(String),
    /// A secret that the address names is not available.
    #[error("the secret `{name}` is not available: {why}")]
    Secret {
        /// Its name in the address.
        name: String,
        /// The reason, and where to put it.
        why: String,
    },
    /// The address contains a password.
    #[error(
        "the configuration must not contain a password: write `${{NAME}}` in its place, and set the environment variable NAME"
    )]
    PlainPassword,
    /// The Maildir can't be created.
    #[error("the Maildir {}: {source}", dir.display())]
    Maildir {
        /// Its path.
        dir: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A client for a provider can't be set up.
    #[error("the provider's client: {0}")]
    Http(io::Error),
    /// TLS can't be set up for this host.
    #[error("TLS to `{host}`: {why}")]
    Tls {
        /// The server.
        host: String,
        /// The TLS library's error.
        why: String,
    },
}
