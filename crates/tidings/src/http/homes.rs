//! The home of a call or a command: the intake, or the part of the recipient whom it concerns.

use std::collections::BTreeSet;

use percent_encoding::percent_decode_str;
use tidings_core::engine::{Engine, part_of, part_with};
use tidings_core::messages::MessageName;
use tidings_core::{BucketNo, Command, Id};

/// The place where a call or a command is at home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Home {
    /// The node that has the intake.
    Intake,
    /// The node that has the part of this number.
    Part(u16),
}

/// The parts that a node has, and the division of recipients among all parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Homes {
    /// Number of buckets of the store.
    pub buckets: u16,
    /// Number of parts of the store.
    pub parts: u16,
    /// The numbers of the parts that the node has.
    pub held: BTreeSet<u16>,
    /// True if the node has the intake.
    pub intake: bool,
}

impl Homes {
    /// The parts that an engine has.
    #[must_use]
    pub fn of(engine: &Engine) -> Self {
        Self {
            buckets: engine.replica().of_buckets(),
            parts: engine.replica().of_parts(),
            held: engine.replica().part_numbers().into_iter().collect(),
            intake: engine.replica().holds_intake(),
        }
    }

    /// Tells whether the node has everything.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.intake && self.held.len() == usize::from(self.parts)
    }

    /// Tells whether the node has a home.
    #[must_use]
    pub fn has(&self, home: Home) -> bool {
        match home {
            Home::Intake => self.intake,
            Home::Part(part) => self.held.contains(&part),
        }
    }

    /// The home of a recipient.
    #[must_use]
    pub fn of_recipient(&self, recipient: &Id) -> Home {
        Home::Part(part_of(recipient, self.buckets, self.parts))
    }

    /// The home of a bucket. One that there is not is the intake's, which says so.
    #[must_use]
    pub fn of_bucket(&self, bucket: BucketNo) -> Home {
        if bucket.0 >= self.buckets {
            return Home::Intake;
        }
        Home::Part(part_with(bucket, self.buckets, self.parts))
    }

    /// The home of a command.
    #[must_use]
    pub fn of_command(&self, command: &Command) -> Home {
        match command {
            Command::Message { message, .. } | Command::Report { message, .. } => {
                self.of_bucket(message.id.closing.bucket)
            }
            other => {
                other.recipient().map_or(Home::Intake, |recipient| self.of_recipient(recipient))
            }
        }
    }

    /// The home of the recipient or the message that a path names; `None` if it names none.
    #[must_use]
    pub fn of_path(&self, path: &str) -> Option<Home> {
        let below = |start: &str| {
            let rest = path.strip_prefix(start)?;
            let segment = rest.split('/').next().unwrap_or_default();
            percent_decode_str(segment).decode_utf8().ok()
        };
        if let Some(id) = below("/v1/recipients/") {
            return Some(self.of_recipient(&Id::new(&id).ok()?));
        }
        let name: MessageName = below("/v1/messages/")?.parse().ok()?;
        Some(self.of_bucket(name.id.closing.bucket))
    }
}
