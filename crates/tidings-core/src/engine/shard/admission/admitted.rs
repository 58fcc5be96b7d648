//! Keys of admission: the recipients who may have a pending entry, in memory.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::journal::record::About;
use crate::model::event::Event;
use crate::model::number::EventNo;
use crate::model::tenant::TenantNo;
use crate::model::time::Instant;
use crate::rules::AdmissionKeyPart;

/// Number of keys at which those of a type are found anew: entries end without a word to this index.
const KEYS_MIN: usize = 1024;

/// The recipients of a bucket who may have a pending entry of a type, by key; it may have a few too many.
#[derive(Debug)]
pub(crate) struct PendingKeyRecipients {
    pub(crate) per: AdmissionKeyPart,
    pub(crate) by_key: FxHashMap<u64, RoaringBitmap>,
    /// The scheduled events of the type, each with its key.
    pub(crate) scheduled: BTreeMap<(Instant, EventNo), u64>,
    /// Number of keys at which all of this is found anew.
    most: usize,
}

impl PendingKeyRecipients {
    /// Nobody yet, by these keys.
    pub(crate) fn none(per: AdmissionKeyPart) -> Self {
        Self { per, by_key: FxHashMap::default(), scheduled: BTreeMap::new(), most: KEYS_MIN }
    }

    /// Returns true if it has the keys of a configuration, and not too many of them.
    pub(crate) fn is_good_for(&self, per: AdmissionKeyPart) -> bool {
        self.per == per && self.by_key.len() < self.most
    }

    /// Sets the bound on keys by those that were found.
    pub(crate) fn settle(&mut self) {
        self.most = 2 * self.by_key.len() + KEYS_MIN;
    }
}

/// The key that distinguishes entries of a type.
pub(crate) fn key_of_event(per: AdmissionKeyPart, event: &Event, tenant: Option<TenantNo>) -> u64 {
    let subject = match per {
        AdmissionKeyPart::Type => 0,
        AdmissionKeyPart::Object => About::object_hash(&event.object.id),
        AdmissionKeyPart::Target => {
            let target = event.target.as_ref();
            target.map_or(0, |target| About::object_hash(&target.id))
        }
    };
    of_tenant(subject, tenant)
}

/// The key of a tenant's entries about a subject, by its hash.
pub(crate) fn of_tenant(subject: u64, tenant: Option<TenantNo>) -> u64 {
    match tenant {
        Some(tenant) => xxh3_64_with_seed(&subject.to_le_bytes(), tenant.0.get().into()),
        None => subject,
    }
}
