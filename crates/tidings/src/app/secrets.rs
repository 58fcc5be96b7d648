//! The secrets without which a server does not start.

use std::cell::Cell;

use tidings_config::secret_here;
use tidings_core::Rules;
use tidings_node::channel::{check_with, configured};

use super::feeds::{FeedSecretLookup, feed_settings};
use super::resolver::ResolverService;

/// A secret without which `serve` refuses to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretFault {
    /// Its place in the configuration, and the fault.
    pub text: String,
    /// True if it is not set here, as where a configuration is checked elsewhere; false if it is, and can't be read or is
    /// wrong.
    pub is_unset: bool,
}

/// The secrets of a configuration that are not set here, or can't be used.
#[must_use]
pub fn secret_faults(rules: &Rules) -> Vec<SecretFault> {
    let mut faults = Vec::new();
    let mut judge = |place: &str, read: &dyn Fn(FeedSecretLookup<'_>) -> Result<(), String>| {
        let is_unset = Cell::new(false);
        let looked_up = |name: &str| {
            let found = secret_here(name);
            is_unset.set(is_unset.get() || !is_set_here(name));
            found
        };
        if let Err(fault) = read(&looked_up) {
            let text = format!("{place}: {fault}; `serve` needs it");
            faults.push(SecretFault { text, is_unset: is_unset.get() });
        }
    };
    for (kind, channel) in configured(rules) {
        for provider in &channel.providers {
            let place = format!("channels.{}.provider", kind.name);
            judge(&place, &|secret| {
                check_with(kind, provider, secret).map_err(|fault| fault.to_string())
            });
        }
    }
    if let Some(resolver) = &rules.resolver {
        judge("`[resolver]`", &|secret| ResolverService::new(resolver, secret).map(drop));
    }
    for (provider, name) in &rules.feedback.providers {
        // The ARN of a topic is no secret.
        if !name.starts_with("arn:") {
            judge(&format!("feedback.{provider}"), &|secret| secret(name).map(drop));
        }
    }
    for (name, feed) in &rules.feeds {
        let place = format!("feeds.{name}.url");
        judge(&place, &|secret| feed_settings(name, feed, secret).map(drop));
    }
    for hook in &rules.hooks {
        let place = format!("hooks.{}.secret", hook.name);
        judge(&place, &|secret| secret(&hook.secret).map(drop));
    }
    faults
}

/// Returns true if a secret is set here, or the path of its file is.
fn is_set_here(name: &str) -> bool {
    [name.to_owned(), format!("{name}_FILE")].iter().any(|name| std::env::var_os(name).is_some())
}
