//! The owner of a call or a command: the intake, or the shard of the recipient that it concerns.

use std::collections::BTreeSet;

use percent_encoding::percent_decode_str;
use tidings_core::engine::{Engine, shard_of, shard_with};
use tidings_core::model::{BucketNo, MessageName};
use tidings_core::{Command, Id};

/// The owner within the engine that decides about a call or a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// The node that has the intake.
    Intake,
    /// The node that has the shard of this number.
    Shard(u16),
}

/// The shards that a node has, and the division of recipients among all shards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owners {
    /// Number of buckets of the store.
    pub buckets: u16,
    /// Number of shards of the store.
    pub shards: u16,
    /// The numbers of the shards that the node has.
    pub held: BTreeSet<u16>,
    /// True if the node has the intake.
    pub intake: bool,
}

impl Owners {
    /// The shards that an engine has.
    #[must_use]
    pub fn of(engine: &Engine) -> Self {
        Self {
            buckets: engine.replica().of_buckets(),
            shards: engine.replica().of_shards(),
            held: engine.replica().shard_numbers().into_iter().collect(),
            intake: engine.replica().holds_intake(),
        }
    }

    /// Returns true if the node has everything.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.intake && self.held.len() == usize::from(self.shards)
    }

    /// Returns true if the node has a home.
    #[must_use]
    pub fn has(&self, home: Owner) -> bool {
        match home {
            Owner::Intake => self.intake,
            Owner::Shard(shard) => self.held.contains(&shard),
        }
    }

    /// The owner of a recipient.
    #[must_use]
    pub fn of_recipient(&self, recipient: &Id) -> Owner {
        Owner::Shard(shard_of(recipient, self.buckets, self.shards))
    }

    /// The owner of a bucket. The intake refuses those that do not exist.
    #[must_use]
    pub fn of_bucket(&self, bucket: BucketNo) -> Owner {
        if bucket.0 >= self.buckets {
            return Owner::Intake;
        }
        Owner::Shard(shard_with(bucket, self.buckets, self.shards))
    }

    /// The owner of a command.
    #[must_use]
    pub fn of_command(&self, command: &Command) -> Owner {
        match command {
            Command::Message { message, .. } | Command::Report { message, .. } => {
                self.of_bucket(message.id.closing.bucket)
            }
            other => {
                other.recipient().map_or(Owner::Intake, |recipient| self.of_recipient(recipient))
            }
        }
    }

    /// The owner of the recipient or the message that a path names; `None` if it names none.
    #[must_use]
    pub fn of_path(&self, path: &str) -> Option<Owner> {
        let below = |start: &str| {
            let rest = path.strip_prefix(start)?;
            let segment = rest.split('/').next().unwrap_or_default();
            percent_decode_str(segment).decode_utf8().ok()
        };
        if let Some(id) = below("/v1/recipients/") {
            return Some(self.of_recipient(&Id::new(&id).ok()?));
        }
        if let Some(recipient) = member_of(path) {
            return Some(self.of_recipient(&recipient));
        }
        let name: MessageName = below("/v1/messages/")?.parse().ok()?;
        Some(self.of_bucket(name.id.closing.bucket))
    }
}

/// The recipient in the path of a member.
fn member_of(path: &str) -> Option<Id> {
    let mut rest = path.strip_prefix("/v1/tenants/")?.split('/').skip(1);
    let (members, recipient) = (rest.next()?, rest.next()?);
    let named = || Id::new(&percent_decode_str(recipient).decode_utf8().ok()?).ok();
    if members == "members" { named() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_call_of_a_member_is_at_home_with_the_recipient() {
        let owners = Owners { buckets: 64, shards: 4, held: BTreeSet::new(), intake: true };
        let of = |path: &str| owners.of_path(path);
        let ada = Some(owners.of_recipient(&Id::new("a/da").unwrap()));
        assert_eq!(of("/v1/tenants/acme/members/a%2Fda"), ada);
        assert_eq!(of("/v1/recipients/a%2Fda/inbox"), ada);
        for path in ["/v1/tenants/acme", "/v1/tenants/acme/members", "/v1/tenants/a/other/ada"] {
            assert_eq!(of(path), None, "{path}");
        }
    }
}
