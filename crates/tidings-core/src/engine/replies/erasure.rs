//! The reply to the erasure of a recipient.

use serde::{Deserialize, Serialize};

use crate::bucket::{Bucket, preferences_of};
use crate::model::number::RecipientNo;

/// The data that the erasure of a recipient deleted, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erasure {
    /// Number of addresses and devices.
    pub addresses: u64,
    /// Number of preferences.
    pub preferences: u64,
    /// Number of topics that they followed.
    pub subscriptions: u64,
    /// Number of tenants that they were a member of.
    pub memberships: u64,
    /// The trace of it in the log of changes; `None` = it is not logged.
    pub receipt: Option<ErasureReceipt>,
}

/// The trace of an erasure in the log of changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasureReceipt {
    /// The id of its line.
    pub line: String,
    /// The keyed hash that stands for the id of the recipient in all lines.
    pub subject: String,
}

impl Erasure {
    /// Counts the data that there is of a recipient.
    pub(crate) fn of(bucket: &Bucket, number: RecipientNo) -> Self {
        let count = |number: usize| number as u64;
        let addresses = bucket.roster.profile(number).map(|profile| profile.addresses.all());
        Self {
            addresses: count(addresses.map_or(0, |all| all.into_iter().count())),
            preferences: count(preferences_of(bucket, number.0).len()),
            subscriptions: u64::from(bucket.followers.topics_of(number.0)),
            memberships: count(bucket.members.tenants_of(number.0).count()),
            receipt: None,
        }
    }
}
