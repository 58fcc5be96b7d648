//! Synthetic recipients and events: the same on every machine and in every run.

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use tempfile::TempDir;
use tidings_core::engine::{Options, Refused, Reply, StepError};
use tidings_core::model::{Audience, EMAIL_NO, RecipientChange};
use tidings_core::{Command, Event, Id, Instant, Object};
use tidings_node::Node;
use tidings_store::{Expected, FjallStore, PostgresStore, Store, StoreId};

use super::BenchFault;
use super::gauge::Gauge;
use super::stopwatch::Stopwatch;

/// The store of a benchmark, made where there is none.
pub(crate) const NEW_STORE: Expected = Expected::OrNew(StoreId([0; 16]));

/// Commands that are taken in together while a world is made.
const TOGETHER: usize = 65_536;

/// The time when a world begins: a Tuesday.
pub(crate) const BEGIN: Instant = Instant(1_704_186_000_000);

/// The configuration of every work, as text.
pub const RULES: &str = r##"
[categories.works]
title = "Works"
[brand]
name = "Art"
url = "https://art.example"
color = "#7a1f5c"
footer = "Art, new works every week"
postal_address = "1 Museum Street, London"
[digests.weekly]
every = "week"
on = "mon"
at = "09:00"
[types.told]
category = "works"
[types.told.channels]
inbox = { policy = "now" }
email = { policy = "cooldown", quiet = "4m" }
[types.shown]
category = "works"
[types.shown.channels]
inbox = { policy = "now" }
[types.lane]
category = "works"
[types.lane.channels]
email = { policy = "cooldown", quiet = "4m" }
[types.gathered]
category = "works"
[types.gathered.channels]
inbox = { policy = "now" }
email = { policy = "digest", digest = "weekly" }
"##;

/// A directory that goes when this does, in a place that the user chose.
pub(crate) fn directory(place: &std::path::Path) -> Result<TempDir, BenchFault> {
    let made = tempfile::Builder::new().prefix("tidings-bench-").tempdir_in(place);
    made.map_err(|fault| BenchFault::Directory(place.to_owned(), fault))
}

/// A store, and the same as one of files if it is.
type OpenStore = (Arc<dyn Store>, Option<Arc<FjallStore>>);

/// The place of a benchmark's store: a directory, or a database in place of it.
#[derive(Clone, Copy)]
pub(crate) struct StoreLocation<'p> {
    pub(crate) directory: &'p std::path::Path,
    pub(crate) database: Option<&'p str>,
}

impl<'p> From<&'p std::path::Path> for StoreLocation<'p> {
    fn from(directory: &'p std::path::Path) -> Self {
        Self { directory, database: None }
    }
}

impl StoreLocation<'_> {
    /// Opens (or makes) the store; that in a directory also as what it is.
    pub(crate) fn open(
        self,
        options: tidings_store::Options,
    ) -> Result<OpenStore, tidings_store::Error> {
        if let Some(url) = self.database {
            return Ok((Arc::new(PostgresStore::open(url, NEW_STORE)?), None));
        }
        let store = Arc::new(FjallStore::open(self.directory.join("store"), NEW_STORE, options)?);
        Ok((Arc::clone(&store) as Arc<dyn Store>, Some(store)))
    }

    /// Fails if the database has a store: what is measured would depend on it.
    pub(crate) fn ensure_new(self) -> Result<Self, BenchFault> {
        match self.database.map(PostgresStore::is_in).transpose()? {
            Some(true) => Err(BenchFault::Wrong(
                "the database has a store already; name one that has none".to_owned(),
            )),
            _ => Ok(self),
        }
    }
}

/// A node under a gauge.
pub(crate) struct OnDisk {
    /// Absent if the store is in a database.
    pub(crate) files: Option<Arc<FjallStore>>,
    pub(crate) gauge: Arc<Gauge<dyn Store>>,
    pub(crate) node: Node,
    /// Time that it took to open the store.
    pub(crate) opened: Duration,
}

impl OnDisk {
    /// Opens (or makes) the store at a place.
    pub(crate) fn open<'p>(
        at: impl Into<StoreLocation<'p>>,
        options: Options,
    ) -> Result<Self, BenchFault> {
        let watch = Stopwatch::start();
        let (store, files) = at.into().open(tidings_store::Options::default())?;
        let opened = watch.elapsed();
        let gauge = Arc::new(Gauge::on(store));
        let node = Node::open(Arc::clone(&gauge) as Arc<dyn Store>, options)?;
        Ok(Self { files, gauge, node, opened })
    }

    /// The store's files.
    pub(crate) fn files(&self) -> Result<&Arc<FjallStore>, BenchFault> {
        let none =
            || BenchFault::Wrong("only a store in a directory has files to measure".to_owned());
        self.files.as_ref().ok_or_else(none)
    }

    /// Takes commands in, many at once, and writes the checkpoints that come due.
    pub(crate) fn fill(
        &mut self,
        now: Instant,
        commands: impl Iterator<Item = Command>,
    ) -> Result<(), BenchFault> {
        in_chunks(commands, |commands| {
            let replies = self.node.take_in(now, commands)?.replies;
            self.node.chores()?;
            accepted(replies)
        })
    }
}

/// Hands commands on, many at once.
pub(crate) fn in_chunks(
    mut commands: impl Iterator<Item = Command>,
    mut take: impl FnMut(&[Command]) -> Result<(), BenchFault>,
) -> Result<(), BenchFault> {
    loop {
        let chunk: Vec<Command> = commands.by_ref().take(TOGETHER).collect();
        if chunk.is_empty() {
            return Ok(());
        }
        take(&chunk)?;
    }
}

/// Fails where one of them was refused.
pub(crate) fn accepted(replies: Vec<Result<Reply, Refused>>) -> Result<(), BenchFault> {
    match replies.into_iter().find_map(Result::err) {
        Some(refused) => Err(StepError::from(refused).into()),
        None => Ok(()),
    }
}

/// Counts the entries that events made.
pub(crate) fn entries(replies: &[Result<Reply, Refused>]) -> u64 {
    replies
        .iter()
        .map(|reply| match reply {
            Ok(Reply::Published(published)) => published.entries,
            _ => 0,
        })
        .sum()
}

/// Counts the notifications that events made.
pub(crate) fn notifications(replies: &[Result<Reply, Refused>]) -> u64 {
    let made = replies.iter().map(|reply| match reply {
        Ok(Reply::Published(published)) => published.notifications,
        _ => 0,
    });
    made.sum()
}

/// Has so many of all recipients, spread over everybody, follow a topic.
pub(crate) fn followers(topic: u32, followers: u32, recipients: u32) -> Vec<Command> {
    let is_follower = |number: &u32| {
        let seed = u64::from(topic) << 32 | u64::from(*number);
        Rng::with_seed(seed).u32(..recipients) < followers
    };
    (0..recipients).filter(is_follower).map(|number| follow(number, &self::topic(topic))).collect()
}

/// The name of a topic.
pub(crate) fn topic(number: u32) -> String {
    format!("topic/{number}")
}

/// The name of a work.
pub(crate) fn artwork(number: u64) -> Id {
    id(&format!("artwork/{number:06}"))
}

/// The name of an artist.
pub(crate) fn artist(number: u64) -> Option<Id> {
    Id::new(&format!("artist/{number:04}")).ok()
}

/// The name of a recipient.
pub(crate) fn recipient(number: u32) -> Id {
    id(&format!("recipient-{number:07}"))
}

/// Makes a recipient.
pub(crate) fn make(number: u32) -> Command {
    Command::Recipient(Box::new(RecipientChange {
        addresses: [(EMAIL_NO, vec![format!("recipient-{number:07}@example.org").into()])].into(),
        ..RecipientChange::nothing(recipient(number))
    }))
}

/// Makes a recipient in a time zone.
pub(crate) fn make_in(number: u32, zone: &str) -> Command {
    let mut made = make(number);
    if let Command::Recipient(change) = &mut made {
        change.tz = Some(Some(zone.to_owned()));
    }
    made
}

/// Lets a recipient follow a topic.
pub(crate) fn follow(number: u32, topic: &str) -> Command {
    Command::Subscribe { tenant: None, recipient: recipient(number), topic: id(topic) }
}

/// The name of a tenant.
pub(crate) fn tenant_id(number: u32) -> Id {
    id(&format!("tenant-{number:06}"))
}

/// Makes a tenant.
pub(crate) fn tenant(number: u32) -> Command {
    Command::Tenant { tenant: tenant_id(number), change: Box::default() }
}

/// Makes a recipient a member of a tenant.
pub(crate) fn join(number: u32, tenant: u32) -> Command {
    Command::Join { recipient: recipient(number), tenant: tenant_id(tenant) }
}

/// Withdraws an object that no event is about.
pub(crate) fn withdraw(number: u32) -> Command {
    Command::Retract { object: id(&format!("withdrawn/{number}")) }
}

/// An event about a work of its own, for those who follow a topic; for everyone without one.
pub(crate) fn event(name: u64, event_type: &str, topic: Option<&str>) -> Command {
    let to = Audience {
        topics: topic.into_iter().map(id).collect(),
        everyone: topic.is_none(),
        ..Audience::default()
    };
    event_to(name, event_type, to)
}

/// An event about a work of its own.
pub(crate) fn event_to(name: u64, event_type: &str, to: Audience) -> Command {
    Command::Publish(Box::new(Event {
        actor: Some(Object::bare(id("artist/0042"))),
        ..Event::new(
            id(&format!("event-{name:06}")),
            id(event_type),
            Object {
                id: artwork(name),
                title: Some(format!("Untitled {name}").into()),
                url: Some(format!("https://art.example/artwork/{name}")),
                image: None,
                image_size: None,
                data: None,
                notifiable: None,
            },
            to,
        )
    }))
}

/// An event for one recipient, as an application sends it over HTTP.
pub(crate) fn body(name: u64, recipient: u32) -> String {
    let to = self::recipient(recipient);
    format!(
        r#"{{"id":"event-{name:06}","type":"shown","actor":"artist/0042","object":{{"id":"artwork/{name:06}","title":"Untitled {name}","url":"https://art.example/artwork/{name}"}},"to":{{"recipients":["{to}"]}}}}"#
    )
}

/// An event for everybody, as an application sends it over HTTP.
pub(crate) fn body_to_everybody(name: u64, event_type: &str) -> String {
    format!(
        r#"{{"id":"event-{name:06}","type":"{event_type}","actor":"artist/0042","object":{{"id":"artwork/{name:06}","title":"Untitled {name}","url":"https://art.example/artwork/{name}"}},"to":{{"everyone":true}}}}"#
    )
}

/// An event for those who follow a topic, as an application sends it over HTTP.
pub(crate) fn body_to_topic(name: u64, event_type: &str, topic: &str) -> String {
    format!(
        r#"{{"id":"event-{name:06}","type":"{event_type}","actor":"artist/0042","object":{{"id":"artwork/{name:06}","title":"Untitled {name}","url":"https://art.example/artwork/{name}"}},"to":{{"topics":["{topic}"]}}}}"#
    )
}

fn id(text: &str) -> Id {
    Id::new(text).expect("names of a benchmark are short and printable")
}
