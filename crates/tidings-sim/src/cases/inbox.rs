//! Inboxes as a case writes them.

use std::collections::BTreeMap;

use tidings_core::Id;

use crate::inbox::{Inbox, Row};

/// An inbox, or a view of it, as a case writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedInbox {
    /// Recipient.
    pub recipient: Id,
    /// The tenant whose view it is; `None` = the whole.
    pub tenant: Option<Id>,
    /// Number of active rows with an unseen item, and with an unread one.
    pub counts: (u64, u64),
    /// The same by tenant, in the whole.
    pub tenants: BTreeMap<Id, (u64, u64)>,
    /// Its rows, newest first, as `EVENT+EVENT@TENANT:STATE`.
    pub rows: Vec<String>,
}

impl ExpectedInbox {
    /// An inbox in the words of a case.
    pub(super) fn as_seen(&self, inbox: &Inbox) -> Self {
        Self {
            recipient: self.recipient.clone(),
            tenant: self.tenant.clone(),
            counts: (inbox.unseen, inbox.unread),
            tenants: inbox.tenants.clone(),
            rows: inbox.rows.iter().map(row).collect(),
        }
    }
}

fn row(row: &Row) -> String {
    let events: Vec<&str> = row.events.iter().map(Id::as_str).collect();
    let tenant = row.tenant.as_ref().map_or(String::new(), |tenant| format!("@{tenant}"));
    let state = match row {
        Row { archived: true, .. } => ":archived",
        Row { snoozed_until: Some(_), .. } => ":snoozed",
        Row { read: true, .. } => ":read",
        Row { seen: true, .. } => ":seen",
        _ => "",
    };
    format!("{}{tenant}{state}", events.join("+"))
}
