//! Assembly of the parts: the only place that knows all of them.

mod feeds;
mod opened;
pub mod resolver;
mod secrets;
pub mod server_files;
pub mod telemetry;

use std::sync::Arc;

use tidings_config::secret_here;
use tidings_core::Rules;
use tidings_mail::TokenKey;
use tidings_node::Clock;
use tidings_node::channel::{
    self, CaughtMailbox, ChannelOpenError, Channels, Durability, ProviderSetup, ServerTimeouts,
};

pub use feeds::feeds;
pub use opened::{ReopenableStore, expect_or_make, log_new_store};
use resolver::ResolverService;
pub use secrets::{SecretFault, secret_faults};

/// The reason why a node can't be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A channel or a hook of the configuration can't be opened.
    #[error(transparent)]
    Channel(#[from] ChannelOpenError),
    /// The host's service can't be asked.
    #[error("`[resolver]`: {0}")]
    Resolver(String),
    /// A database of `[feeds]` can't be used.
    #[error("feeds.{0}")]
    Feed(String),
    /// A secret of `[feedback]` is not set.
    #[error("feedback.{0}; without it no call of that provider can be believed")]
    Feedback(String),
    /// The store can't be opened or read.
    #[error(transparent)]
    Node(#[from] tidings_node::Error),
}

/// The channels with a configured provider, and the hooks. A secret `NAME` is the value of that environment variable, or
/// the content of the file whose path the variable `NAME_FILE` holds. `caught` takes what `caught://` keeps.
///
/// # Errors
/// [`StartError::Channel`].
pub fn channels(
    rules: &Rules,
    tokens: &TokenKey,
    clock: &Arc<dyn Clock>,
    caught: &Arc<CaughtMailbox>,
) -> Result<Channels, StartError> {
    let setup = ProviderSetup {
        secret: &secret_here,
        durability: Durability::Each,
        patience: ServerTimeouts::default(),
        clock,
        tokens: Some(tokens),
        caught,
    };
    Ok(channel::open_all(rules, &setup)?)
}

/// The client of the configured host's service.
///
/// # Errors
/// [`StartError::Resolver`].
pub fn host_service(rules: &Rules) -> Result<Option<ResolverService>, StartError> {
    let service = rules.resolver.as_ref().map(|rules| ResolverService::new(rules, &secret_here));
    service.transpose().map_err(StartError::Resolver)
}

/// Checks that the secrets are set by which calls of `[feedback]` are known.
///
/// # Errors
/// [`StartError::Feedback`], of the first that is not.
pub fn check_feedback(rules: &Rules) -> Result<(), StartError> {
    let fault = unset_feedback(rules).next();
    fault.map_or(Ok(()), |fault| Err(StartError::Feedback(fault)))
}

/// The providers of `[feedback]` whose secret is not set here. The ARN of a topic is no secret.
fn unset_feedback(rules: &Rules) -> impl Iterator<Item = String> {
    rules.feedback.providers.iter().filter(|(_, secret)| !secret.starts_with("arn:")).filter_map(
        |(provider, secret)| {
            let fault = secret_here(secret).err()?;
            Some(format!("{provider}: {fault}"))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f14_a_server_does_not_start_without_the_secret_of_a_report() {
        for provider in ["mailgun", "postmark", "sendgrid"] {
            let config = format!("[feedback]\n{provider} = \"${{TIDINGS_TEST_UNSET}}\"\n");
            let rules = tidings_config::parse(&config, "tidings.toml").unwrap();
            let fault = check_feedback(&rules).unwrap_err().to_string();
            let expected = format!("feedback.{provider}: set TIDINGS_TEST_UNSET, or ");
            assert!(fault.starts_with(&expected), "{fault}");
        }
        let topic = "[feedback]\nses = \"arn:aws:sns:eu-west-1:123456789012:mail\"\n";
        let rules = tidings_config::parse(topic, "tidings.toml").unwrap();
        check_feedback(&rules).unwrap();
    }
}
