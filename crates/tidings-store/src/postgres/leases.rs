//! Leases in the database: a row of the part, and a row for each member.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_postgres::Row;

use super::address::Address;
use super::link::{Fault, Link};
use super::{PostgresStore, schema};
use crate::lease::{
    Epoch, Lease, Leases, Member, MemberStatus, Membership, NodeId, Role, TermNo, Token,
};
use crate::{Error, Store};

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

/// The lease, and the members. It is a statement of its own: it must see who acquired the lease while a heartbeat waited.
const MEMBERSHIP: &str = "
SELECT p.epoch, p.holder, n.id, n.name, n.address, n.token, n.heartbeat, n.unanswered, n.role, n.lag_ms,
    (extract(epoch FROM clock_timestamp() - n.heard) * 1000)::bigint,
    (extract(epoch FROM n.since) * 1000)::bigint, n.config
FROM tidings_part p LEFT JOIN tidings_node n ON true
WHERE p.no = 0 ORDER BY n.name COLLATE \"C\", n.id";

/// The acquisition of the lease. The row of its holder is locked, so that a heartbeat comes before it or after it.
const ACQUIRE: &str = "
WITH holder AS (SELECT heartbeat FROM tidings_node WHERE id = $2 FOR UPDATE)
UPDATE tidings_part SET epoch = epoch + 1, holder = $4
WHERE no = 0 AND epoch = $1 AND holder IS NOT DISTINCT FROM $2
AND NOT EXISTS (SELECT FROM holder WHERE heartbeat > $3)
RETURNING epoch";

const RELEASE: &str = "UPDATE tidings_part SET holder = NULL WHERE no = 0 AND epoch = $1";

/// Members that are long gone need not be shown for ever.
const LEAVE: &str =
    "DELETE FROM tidings_node WHERE id = $1 OR heard < clock_timestamp() - interval '1 day'";

/// The leases of a PostgreSQL database.
pub struct PostgresLeases {
    address: Address,
    link: Mutex<Option<Link>>,
}

impl PostgresLeases {
    /// Opens the leases of a database, `postgres://USER@HOST/DB`, and makes its tables where they are missing.
    ///
    /// # Errors
    /// [`Error::Unusable`], [`Error::Format`] or [`Error::Unavailable`].
    pub fn open(url: &str) -> Result<Self, Error> {
        let address = Address::of(url)?;
        let mut link = Link::connect(&address, super::PATIENCE)?;
        schema::prepare(&mut link)?;
        // Its bound in time is another.
        drop(link);
        Ok(Self {
            address,
            link: Mutex::default(),
        })
    }

    fn ask<T>(&self, ask: impl FnOnce(&mut Link) -> Result<T, Fault>) -> Result<T, Error> {
        let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        let connected = match link.take().filter(|link| !link.is_closed()) {
            Some(connected) => Ok(connected),
            None => Link::connect(&self.address, PATIENCE),
        };
        let mut connected = connected?;
        let answer = ask(&mut connected);
        if !matches!(answer, Err(Fault::Broken(_))) {
            *link = Some(connected);
        }
        Ok(answer?)
    }
}

fn membership(link: &mut Link) -> Result<Membership, Fault> {
    let rows = link.query(MEMBERSHIP, &[])?;
    let part = rows.first();
    let part = part.ok_or_else(|| Fault::Broken("it has no part 0".to_owned()))?;
    let lease = Lease {
        epoch: Epoch(part.get(0)),
        holder: part.get::<_, Option<i64>>(1).map(NodeId),
    };
    let members = rows.iter().filter_map(seen).collect();
    Ok(Membership {
        lease,
        members,
        shares: Vec::new(),
    })
}

fn seen(row: &Row) -> Option<MemberStatus> {
    let member = Member {
        id: NodeId(row.get::<_, Option<i64>>(2)?),
        name: row.get(3),
        address: row.get(4),
        token: Token(row.get(5)),
        heartbeat: row.get(6),
        unanswered: row.get(7),
        role: Role::of(row.get(8))?,
        lag_ms: row.get(9),
        config: row.get(12),
    };
    Some(MemberStatus {
        member,
        silent_ms: row.get::<_, i64>(10).max(0),
        since_ms: row.get(11),
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
            membership(link)
        })
    }

    fn membership(&self) -> Result<Membership, Error> {
        self.ask(membership)
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
        Ok(Arc::new(PostgresStore::of(self.address.clone(), epoch)?))
    }

    fn grant(&self, _: Epoch, _: NodeId, _: &[u16], _: u16) -> Result<Option<TermNo>, Error> {
        Err(no_shares())
    }

    fn recall(&self, _: Epoch, _: TermNo) -> Result<(), Error> {
        Err(no_shares())
    }

    fn revoke(&self, _: Epoch, _: TermNo, _: Option<i64>) -> Result<bool, Error> {
        Err(no_shares())
    }

    fn give_back(&self, _: TermNo) -> Result<(), Error> {
        Err(no_shares())
    }

    fn open_share(&self, _: TermNo) -> Result<Arc<dyn Store>, Error> {
        Err(no_shares())
    }
}

fn no_shares() -> Error {
    Error::Unusable("a PostgreSQL database has no shares yet".to_owned())
}
