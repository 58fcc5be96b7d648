//! The mails that were sent: a compact index in memory, and the mails in files.
//!
//! The index holds what lists are ordered and searched by. A mail's content is read from its file
//! when it is opened, so that the page shows the bytes that were sent.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidings_core::Instant;
use tidings_core::content::Batch;
use tidings_node::channel::{
    Channel, MessageHead, Outcome, Rendered, Renderer, RenderingChannel, Unrenderable,
};

use super::spool::Spool;

/// A mail in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posted {
    /// The instant of the closing.
    pub at: Instant,
    /// The batch id as a number.
    pub id: u128,
    /// The recipient's place in the world.
    pub person: u32,
    /// Their city then: an index into the museum's cities.
    pub city: u32,
    /// Number of its entries.
    pub entries: u32,
    /// Place in [`Postbox::lanes`].
    pub lane: u16,
}

/// All mails, by (instant, recipient, lane).
pub struct Postbox {
    /// The mails.
    pub mails: Vec<Posted>,
    /// The lanes through which they went, by name.
    pub lanes: Vec<String>,
    files: Files,
}

/// The directory of the mails.
#[derive(Clone)]
pub(crate) enum Files {
    /// A file for each, in a directory.
    Each(PathBuf),
    /// One file for all.
    Spool(Arc<Spool>),
}

impl Postbox {
    /// The start of a mail, long enough to hold its header.
    ///
    /// # Errors
    /// The disk's.
    pub fn head(&self, mail: &Posted) -> io::Result<Vec<u8>> {
        const HEAD_BYTES: u64 = 4096;
        self.files.read(mail, HEAD_BYTES)
    }

    /// A mail as it was sent.
    ///
    /// # Errors
    /// The disk's.
    pub fn read(&self, mail: &Posted) -> io::Result<Vec<u8>> {
        self.files.read(mail, u64::MAX)
    }

    /// The mail of this batch id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<&Posted> {
        let id = number(id)?;
        self.mails.iter().find(|mail| mail.id == id)
    }
}

impl Files {
    /// The bytes of a mail, up to a number.
    fn read(&self, mail: &Posted, most: u64) -> io::Result<Vec<u8>> {
        match self {
            Self::Each(dir) => {
                let mut bytes = Vec::new();
                let file = std::fs::File::open(dir.join(mail.name()))?;
                file.take(most).read_to_end(&mut bytes)?;
                Ok(bytes)
            }
            Self::Spool(spool) => spool.read(mail.id, most),
        }
    }
}

impl Posted {
    /// The batch id, which is the file's name as well.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{:032x}", self.id)
    }
}

/// Finds the place of a batch's recipient and of their city.
type Find = Box<dyn Fn(&Batch) -> Option<(u32, u32)> + Send + Sync>;

/// A channel that keeps an index of what another channel has sent.
pub struct Indexed {
    outlet: RenderingChannel,
    files: Files,
    /// Place of a recipient and of the city with these coordinates.
    find: Find,
    sent: Mutex<Sent>,
}

#[derive(Default)]
struct Sent {
    /// Places of the person and the city of mails that are rendered and not sent, by batch id.
    places: BTreeMap<u128, (u32, u32)>,
    mails: Vec<Posted>,
    lanes: Vec<String>,
}

impl Indexed {
    /// An index over a channel; `files` are those that the channel writes, or the spool into which the index does.
    /// `find` gives the places of a batch's recipient and of their city.
    #[must_use]
    pub(crate) fn new(
        outlet: RenderingChannel,
        files: Files,
        find: impl Fn(&Batch) -> Option<(u32, u32)> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { outlet, files, find: Box::new(find), sent: Mutex::default() })
    }

    /// Everything that was sent; the index is empty afterwards.
    #[must_use]
    pub fn postbox(&self) -> Postbox {
        let Sent { mut mails, lanes, .. } = std::mem::take(&mut *self.sent());
        // Threads find lanes in any order; names have but one.
        let names: Vec<String> =
            lanes.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect();
        for mail in &mut mails {
            let place = names.binary_search(&lanes[usize::from(mail.lane)]);
            mail.lane = place.ok().and_then(|place| u16::try_from(place).ok()).unwrap_or(0);
        }
        mails.sort_unstable_by_key(|mail| (mail.at, mail.person, mail.lane, mail.id));
        mails.dedup_by_key(|mail| mail.id);
        Postbox { mails, lanes: names, files: self.files.clone() }
    }

    /// The number of mails sent so far.
    #[must_use]
    pub fn count(&self) -> usize {
        self.sent().mails.len()
    }

    fn sent(&self) -> MutexGuard<'_, Sent> {
        // Nothing is left half done under the lock.
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A batch id as a number.
fn number(id: &str) -> Option<u128> {
    u128::from_str_radix(id, 16).ok()
}

impl Renderer for Indexed {
    fn render(&self, head: &Arc<MessageHead>, batch: &Batch) -> Result<Rendered, Unrenderable> {
        if let (Some(id), Some(places)) = (number(&head.id), (self.find)(batch)) {
            self.sent().places.insert(id, places);
        }
        self.outlet.renderer.render(head, batch)
    }
}

impl Channel for Indexed {
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        let outcome = self.outlet.first().send(message, go);
        let (Outcome::Sent(_), Some(id)) = (&outcome, number(&message.head.id)) else {
            return outcome;
        };
        if let Files::Spool(spool) = &self.files
            && let Err(fault) = spool.add(id, &message.bytes)
        {
            return Outcome::Failed { why: fault.to_string(), suppress: None };
        }
        let mut sent = self.sent();
        if let Some((person, city)) = sent.places.remove(&id) {
            let head = &message.head;
            let known = sent.lanes.iter().position(|lane| *lane == head.lane);
            let lane = known.unwrap_or_else(|| {
                sent.lanes.push(head.lane.clone());
                sent.lanes.len() - 1
            });
            sent.mails.push(Posted {
                at: head.at,
                id,
                person,
                city,
                entries: u32::try_from(head.entries).unwrap_or(u32::MAX),
                lane: u16::try_from(lane).unwrap_or(0),
            });
        }
        outcome
    }

    fn sync(&self) -> io::Result<()> {
        self.outlet.first().sync()
    }
}
