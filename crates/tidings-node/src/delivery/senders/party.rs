//! Parties: recipients and destinations, each of which may hold up its own messages and nobody else's.
//!
//! The share of a host is that of its domain, since the owner of a domain can name any number of hosts; a share by resolved
//! address would have the queue resolve names, which may hang too. Domains of mail addresses have none: a mail goes to the
//! configured relay, which has queues of its own. Hosts that have not answered yet are in groups with one call at a time, so
//! that many of them hold up nobody who has answered.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

use tidings_core::Id;

/// A recipient, or a destination beyond the provider: the host of an endpoint, or the domain of a mail address. Hosts
/// that recipients name have shares of the threads in groups.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Party {
    Recipient(Id),
    Destination(Arc<str>),
    /// The hosts of a domain that have answered.
    Domain(Arc<str>),
    /// Hosts that have not answered yet: those of a domain are in one of some groups, each of which has one call at a time.
    Untried(u64),
}

/// The names below which anybody can register one, in domains of countries.
const REGISTRIES: [&str; 10] = ["ac", "co", "com", "edu", "go", "gov", "ne", "net", "or", "org"];

impl Party {
    /// The destinations of a job, then its recipient, if it has one.
    pub(crate) fn of(
        recipient: Option<&Id>,
        destinations: &[Arc<str>],
    ) -> impl Iterator<Item = Self> {
        let destinations = destinations.iter().cloned();
        let recipient = recipient.cloned().map(Self::Recipient);
        destinations.map(Self::Destination).chain(recipient)
    }

    /// The group in which a host has a share; those that have not answered have this number of groups.
    pub(super) fn group_of(host: &str, has_answered: bool, untried: usize) -> Self {
        let domain = domain_of(host);
        if has_answered {
            return Self::Domain(domain.into());
        }
        let mut hasher = DefaultHasher::new();
        domain.hash(&mut hasher);
        Self::Untried(hasher.finish() % untried.max(1) as u64)
    }
}

/// The registered part of a host's name, roughly: two labels, or three below `co.uk` and the like.
fn domain_of(host: &str) -> &str {
    let is_name = host.bytes().any(|byte| byte.is_ascii_alphabetic()) && !host.contains(':');
    if !is_name {
        return host;
    }
    let mut labels = host.rsplit('.');
    let (last, second) = (labels.next(), labels.next());
    let is_registry = last.is_some_and(|last| last.len() == 2)
        && second.is_some_and(|second| REGISTRIES.contains(&second));
    let count = if is_registry { 3 } else { 2 };
    let mut dots = host.rmatch_indices('.').map(|(at, _)| at + 1);
    let begin = dots.nth(count - 1);
    &host[begin.unwrap_or_default()..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b3_hosts_have_the_domain_that_somebody_registered() {
        for (host, domain) in [
            ("h.example", "h.example"),
            ("a.b.evil.example", "evil.example"),
            ("a.evil.co.uk", "evil.co.uk"),
            ("evil.co.uk", "evil.co.uk"),
            ("co.uk", "co.uk"),
            // Not below the name of a registry.
            ("a.co.example", "co.example"),
            ("a.t.co", "t.co"),
            ("localhost", "localhost"),
            ("192.0.2.1", "192.0.2.1"),
            ("2001:db8::a", "2001:db8::a"),
        ] {
            assert_eq!(domain_of(host), domain, "{host}");
        }
    }
}
