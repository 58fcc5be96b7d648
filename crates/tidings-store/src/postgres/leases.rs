//! Leases in the database: a row of the store, a row for each member, and one for each share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_postgres::Row;

use super::PostgresStore;
use super::address::DatabaseAddress;
use super::attempts;
use super::identity::other;
use super::link::{Link, LinkFault};
use super::schema::{self, PreparedStore};
use crate::lease::{
    Epoch, Fence, Lease, Leases, Member, MemberStatus, Membership, NodeId, NodeToken, Role, Share,
    TermNo,
};
use crate::{Error, Expected, Store, StoreId};

/// Time that a call may take: a heartbeat that takes longer is no sign of life.
const PATIENCE: Duration = Duration::from_secs(2);

/// A heartbeat; one that arrives late changes nothing.
const HEARTBEAT: &str = "
INSERT INTO tidings_node AS n (id, name, address, token, heartbeat, unanswered, role, lag_ms, config, heard, since)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, clock_timestamp(), clock_timestamp())
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, address = excluded.address, token = excluded.token,
    heartbeat = excluded.heartbeat, unanswered = excluded.unanswered,
    role = excluded.role, lag_ms = excluded.lag_ms, config = excluded.config, heard = excluded.heard,
    since = CASE WHEN n.role = excluded.role THEN n.since ELSE excluded.since END
WHERE n.heartbeat < excluded.heartbeat";

/// The lease, the members, and the shares: a row is of a member or of a share. It is a statement of its own: it must
/// see who acquired the lease while a heartbeat waited.
const MEMBERSHIP: &str = "
SELECT p.epoch, p.holder, n.id, n.name, n.address, n.token, n.heartbeat, n.unanswered, n.role, n.lag_ms,
    (extract(epoch FROM clock_timestamp() - n.heard) * 1000)::bigint,
    (extract(epoch FROM n.since) * 1000)::bigint, n.config,
    s.term, s.node, s.parts, s.of_parts, s.ends,
    (SELECT store FROM tidings_format)
FROM tidings_lease p LEFT JOIN (tidings_node n FULL JOIN tidings_share s ON false) ON true
WHERE p.no = 0 ORDER BY n.name COLLATE \"C\", n.id, s.term";

/// The acquisition of the lease. The row of its holder is locked, so that a heartbeat comes before it or after it.
const ACQUIRE: &str = "
WITH holder AS (SELECT heartbeat FROM tidings_node WHERE id = $2 FOR UPDATE)
UPDATE tidings_lease SET epoch = epoch + 1, holder = $4
WHERE no = 0 AND epoch = $1 AND holder IS NOT DISTINCT FROM $2
AND NOT EXISTS (SELECT FROM holder WHERE heartbeat > $3)
RETURNING epoch";

const RELEASE: &str = "UPDATE tidings_lease SET holder = NULL WHERE no = 0 AND epoch = $1";

/// The grant of a share, done as a whole. The row of the lease is locked before the statement that looks for the shards:
/// so of two grants, even if one was lost and arrives late, the second sees the first.
fn grant(epoch: Epoch, term: TermNo, node: NodeId, shards: &[u16], of: u16) -> String {
    let (epoch, term, node) = (epoch.0, term.0, node.0);
    let shards: Vec<String> = shards.iter().map(u16::to_string).collect();
    let shards = shards.join(",");
    format!(
        "SELECT 1 FROM tidings_lease WHERE no = 0 FOR UPDATE;
         INSERT INTO tidings_share (term, node, parts, of_parts, at, ends)
         SELECT {term}, {node}, '{{{shards}}}'::int[], {of}, 0, false FROM tidings_lease WHERE no = 0 AND epoch = {epoch}
         AND NOT EXISTS (SELECT FROM tidings_share WHERE parts && '{{{shards}}}'::int[])"
    )
}

const RECALL: &str = "
WITH lease AS (SELECT 1 FROM tidings_lease WHERE no = 0 AND epoch = $1 FOR SHARE)
UPDATE tidings_share SET ends = true FROM lease WHERE term = $2";

/// The end of a share. The row of its node is locked, and then that of the lease, in the order of an acquisition: a
/// heartbeat and an acquisition come before or after. The deletion waits for a commit under way.
const REVOKE: &str = "
WITH node AS (
    SELECT n.heartbeat FROM tidings_share s JOIN tidings_node n ON n.id = s.node WHERE s.term = $2 FOR UPDATE OF n
), lease AS (
    SELECT 1 FROM tidings_lease WHERE no = 0 AND epoch = $1
    AND NOT EXISTS (SELECT FROM node WHERE heartbeat > $3) FOR SHARE
)
DELETE FROM tidings_share USING lease WHERE term = $2";

const GIVE_BACK: &str = "DELETE FROM tidings_share WHERE term = $1";

/// A share that is not over.
const IS_GRANTED: &str = "SELECT FROM tidings_share WHERE term = $1";

/// Members that are long gone need not be shown for ever.
const LEAVE: &str =
    "DELETE FROM tidings_node WHERE id = $1 OR heard < clock_timestamp() - interval '1 day'";

/// The leases of a PostgreSQL database.
pub struct PostgresLeases {
    address: DatabaseAddress,
    link: Mutex<Option<Link>>,
    /// Set once there is a share, for the stores that are opened here.
    shared: Arc<AtomicBool>,
    id: StoreId,
    is_new: bool,
}

impl PostgresLeases {
    /// Opens the leases of the expected store of a database, `postgres://USER@HOST/DB`. Only with
    /// [`Expected::OrNew`], its tables are made where they are missing. From then on they are of that store alone:
    /// if the database gets another one, nothing is changed in it, and calls fail until the right one is back.
    ///
    /// # Errors
    /// [`Error::Unusable`], [`Error::Missing`], [`Error::Format`] or [`Error::Unavailable`].
    pub fn open(url: &str, expected: Expected) -> Result<Self, Error> {
        let address = DatabaseAddress::of(url)?;
        let mut link = Link::connect(&address, attempts::PATIENCE)?;
        let PreparedStore { id, is_new } = schema::prepare(&mut link, expected)?;
        // Its bound in time is another.
        drop(link);
        Ok(Self {
            address: address.of_store(id),
            link: Mutex::default(),
            shared: Arc::default(),
            id,
            is_new,
        })
    }

    /// The identity of the store.
    #[must_use]
    pub fn id(&self) -> StoreId {
        self.id
    }

    /// Returns true if the store was created when the leases were opened.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// The members, if they are those of this store: a connection outlives tables that are dropped and made anew.
    fn members_of(&self, link: &mut Link) -> Result<Membership, LinkFault> {
        let rows = link.query(MEMBERSHIP, &[])?;
        let store = rows.first().and_then(|row| row.get::<_, Option<&str>>(18));
        match store {
            Some(store) if store == self.id.to_string() => membership(&rows),
            store => Err(LinkFault::Unusable(other(store.unwrap_or("none")))),
        }
    }

    fn ask<T>(&self, ask: impl FnOnce(&mut Link) -> Result<T, LinkFault>) -> Result<T, Error> {
        let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        let connected = match link.take().filter(|link| !link.is_closed()) {
            Some(connected) => Ok(connected),
            None => Link::connect(&self.address, PATIENCE),
        };
        let mut connected = connected?;
        let answer = ask(&mut connected);
        if !matches!(answer, Err(LinkFault::Broken(_))) {
            *link = Some(connected);
        }
        Ok(answer?)
    }

    /// Notes that others write beside the holder, if there is a share.
    fn seen(&self, membership: Membership) -> Membership {
        if !membership.shares.is_empty() {
            self.shared.store(true, Ordering::Release);
        }
        membership
    }

    fn is_granted(&self, term: TermNo) -> Result<bool, Error> {
        let found = self.ask(|link| link.query(IS_GRANTED, &[&term.0]))?;
        Ok(!found.is_empty())
    }
}

fn membership(rows: &[Row]) -> Result<Membership, LinkFault> {
    let lease_row =
        rows.first().ok_or_else(|| LinkFault::Broken("it has no row of the lease".to_owned()))?;
    let lease = Lease {
        epoch: Epoch(lease_row.get(0)),
        holder: lease_row.get::<_, Option<i64>>(1).map(NodeId),
    };
    let members = rows.iter().filter_map(seen).collect();
    let shares = rows.iter().filter_map(share).collect();
    Ok(Membership { lease, members, shares })
}

fn seen(row: &Row) -> Option<MemberStatus> {
    let member = Member {
        id: NodeId(row.get::<_, Option<i64>>(2)?),
        name: row.get(3),
        address: row.get(4),
        token: NodeToken(row.get(5)),
        heartbeat: row.get(6),
        unanswered: row.get(7),
        role: Role::of(row.get(8))?,
        lag_ms: row.get(9),
        config: row.get(12),
    };
    Some(MemberStatus { member, silent_ms: row.get::<_, i64>(10).max(0), since_ms: row.get(11) })
}

fn share(row: &Row) -> Option<Share> {
    let term = TermNo(row.get::<_, Option<i64>>(13)?);
    // All of them were numbers of this type when they were granted.
    let shards = row.get::<_, Vec<i32>>(15).into_iter();
    Some(Share {
        term,
        node: NodeId(row.get(14)),
        shards: shards.map(u16::try_from).collect::<Result<_, _>>().ok()?,
        of: u16::try_from(row.get::<_, i32>(16)).ok()?,
        ends: row.get(17),
    })
}

impl Leases for PostgresLeases {
    fn heartbeat(&self, me: &Member) -> Result<Membership, Error> {
        self.ask(|link| {
            link.query(
                HEARTBEAT,
                &[
                    &me.id.0,
                    &me.name,
                    &me.address,
                    &me.token.0,
                    &me.heartbeat,
                    &me.unanswered,
                    &me.role.name(),
                    &me.lag_ms,
                    &me.config,
                ],
            )?;
            self.members_of(link)
        })
        .map(|membership| self.seen(membership))
    }

    fn membership(&self) -> Result<Membership, Error> {
        let membership = self.ask(|link| self.members_of(link))?;
        Ok(self.seen(membership))
    }

    fn acquire(
        &self,
        seen: Lease,
        heartbeat: Option<i64>,
        me: NodeId,
    ) -> Result<Option<Epoch>, Error> {
        let holder = seen.holder.map(|id| id.0);
        let heartbeat = heartbeat.unwrap_or(i64::MIN);
        let acquired =
            self.ask(|link| link.query(ACQUIRE, &[&seen.epoch.0, &holder, &heartbeat, &me.0]))?;
        Ok(acquired.first().map(|row| Epoch(row.get(0))))
    }

    fn release(&self, epoch: Epoch) -> Result<(), Error> {
        self.ask(|link| link.query(RELEASE, &[&epoch.0])).map(drop)
    }

    fn leave(&self, id: NodeId) -> Result<(), Error> {
        self.ask(|link| link.query(LEAVE, &[&id.0])).map(drop)
    }

    fn open(&self, epoch: Epoch) -> Result<Arc<dyn Store>, Error> {
        let shared = Arc::clone(&self.shared);
        let store = PostgresStore::of(self.address.clone(), Fence::Lease(epoch), shared)?;
        Ok(Arc::new(store))
    }

    fn grant(
        &self,
        epoch: Epoch,
        node: NodeId,
        shards: &[u16],
        of: u16,
    ) -> Result<Option<TermNo>, Error> {
        // The holder's store must know before the other writes.
        self.shared.store(true, Ordering::Release);
        let term = self
            .ask(|link| link.query("SELECT nextval('tidings_term')", &[]))?
            .first()
            .map(|row| TermNo(row.get(0)))
            .ok_or_else(|| Error::Unavailable("no number".to_owned()))?;
        self.ask(|link| link.run(&grant(epoch, term, node, shards, of)))?;
        Ok(self.is_granted(term)?.then_some(term))
    }

    fn recall(&self, epoch: Epoch, term: TermNo) -> Result<(), Error> {
        self.ask(|link| link.query(RECALL, &[&epoch.0, &term.0])).map(drop)
    }

    fn revoke(&self, epoch: Epoch, term: TermNo, heartbeat: Option<i64>) -> Result<bool, Error> {
        let heartbeat = heartbeat.unwrap_or(i64::MIN);
        self.ask(|link| link.query(REVOKE, &[&epoch.0, &term.0, &heartbeat]))?;
        Ok(!self.is_granted(term)?)
    }

    fn give_back(&self, term: TermNo) -> Result<(), Error> {
        self.ask(|link| link.query(GIVE_BACK, &[&term.0])).map(drop)
    }

    fn open_share(&self, term: TermNo) -> Result<Arc<dyn Store>, Error> {
        let shared = Arc::new(AtomicBool::new(true));
        let store = PostgresStore::of(self.address.clone(), Fence::Share(term), shared)?;
        Ok(Arc::new(store))
    }
}
