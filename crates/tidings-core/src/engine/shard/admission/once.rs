//! Deliveries of types with `once_ever`, which outlive their day in sets of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use super::AdmissionKeySpec;
use crate::engine::intake::state::Intake;
use crate::engine::message::sent::Sent;
use crate::engine::rows::draft::Draft;
use crate::engine::shard::state::Shard;
use crate::engine::shard::tenant::TenantRemoval;
use crate::index::SearchFilter;
use crate::index::headers::Header;
use crate::journal::record::Variant;
use crate::journal::stored::{StoredArrival, Unreadable, decode, encode};
use crate::journal::table::{Key, Owner, Partition, Table, after_prefix};
use crate::model::id::{BucketNo, Id};
use crate::model::number::{ClosingId, Seq, TypeNo};
use crate::model::reason::Ending;
use crate::model::tenant::TenantNo;
use crate::rules::compiled::{CompiledRules, Type};
use crate::rules::{Admission, AdmissionKeyPart};
use crate::sets::set::Set;

/// The key of deliveries that are kept for ever: a type in a bucket, and the subject of its entries.
#[derive(Clone, Copy)]
pub(super) struct OnceKey<'a> {
    pub(super) bucket: BucketNo,
    pub(super) spec: AdmissionKeySpec,
    pub(super) tenant: Option<TenantNo>,
    pub(super) object: &'a Id,
    pub(super) target: Option<&'a Id>,
}

impl OnceKey<'_> {
    /// The key of a page of the set.
    fn page(&self, page: u32) -> Vec<u8> {
        let AdmissionKeySpec { type_no, per } = self.spec;
        let subject = match per {
            AdmissionKeyPart::Type => "",
            AdmissionKeyPart::Object => self.object.as_str(),
            AdmissionKeyPart::Target => self.target.map_or("", Id::as_str),
        };
        once_of(self.bucket, self.tenant)
            .u32(type_no.0)
            .bytes(&[per as u8])
            .bytes(subject.as_bytes())
            .bytes(&[0])
            .u32(page)
            .done()
    }

    /// The recipients of a set to whom an entry was ever delivered.
    pub(super) fn delivered(
        &self,
        draft: &Draft<'_>,
        recipients: &RoaringBitmap,
    ) -> Result<RoaringBitmap, Unreadable> {
        let mut delivered = RoaringBitmap::new();
        for (page, recipients) in pages(recipients) {
            delivered |= recipients & read_set(draft, &self.page(page))?;
        }
        Ok(delivered)
    }
}

/// The beginning of the keys of a tenant, or of none.
fn once_of(bucket: BucketNo, tenant: Option<TenantNo>) -> Key {
    Key::of(Owner::Bucket(bucket), Table::DeliveredOnce).u32(TenantNo::raw(tenant))
}

/// A set in pieces of 2^16 numbers, each with its page.
fn pages(numbers: &RoaringBitmap) -> BTreeMap<u32, RoaringBitmap> {
    let mut pages: BTreeMap<u32, RoaringBitmap> = BTreeMap::new();
    for number in numbers {
        pages.entry(number >> 16).or_default().insert(number);
    }
    pages
}

/// A delivery of an entry of a type with `once_ever`.
pub(crate) struct DeliveredOnce {
    pub(crate) type_no: TypeNo,
    pub(crate) tenant: Option<TenantNo>,
    pub(crate) header: Header,
    pub(crate) recipients: RoaringBitmap,
}

impl DeliveredOnce {
    /// Remembers who got it, if its type is still one of `once_ever`.
    pub(crate) fn remember(
        &self,
        compiled: &CompiledRules,
        draft: &mut Draft<'_>,
        bucket: BucketNo,
    ) -> Result<(), Unreadable> {
        let &Self { type_no, tenant, ref header, .. } = self;
        let of_type = compiled.current().and_then(|version| version.of_type(type_no));
        let Some(rules) = of_type.map(|of_type| &of_type.rules) else {
            return Ok(());
        };
        if rules.admission != Admission::OnceEver {
            return Ok(());
        }
        let spec = AdmissionKeySpec { type_no, per: rules.per };
        let (object, target) = (&header.object, header.target.as_ref());
        let key = OnceKey { bucket, spec, tenant, object, target };
        for (page, recipients) in pages(&self.recipients) {
            let key = key.page(page);
            let known = read_set(draft, &key)?;
            if !recipients.is_subset(&known) {
                draft.put(Partition::Base, key, encode(&Set::from(known | recipients)));
            }
        }
        Ok(())
    }
}

impl Shard {
    /// Remembers who was sent an entry of a type with `once_ever`.
    pub(crate) fn remember_sent(
        &self,
        intake: &Intake,
        draft: &mut Draft<'_>,
        closing: ClosingId,
        sent: &[Sent],
    ) -> Result<(), Unreadable> {
        let asks = |rules: &Type| rules.rules.admission == Admission::OnceEver;
        let Some(version) = self.version().filter(|version| version.has_kind(asks)) else {
            return Ok(());
        };
        let bucket = &self.buckets[closing.bucket];
        let Some(open) = bucket.closings.get(&closing.seq) else {
            return Ok(());
        };
        // Outcomes that come twice are of messages that are not on their way any more: they change nothing.
        let delivered = sent.iter().filter(|sent| {
            sent.ending == Ending::Delivered && open.sending.contains(sent.number.0)
        });
        let seqs_of: FxHashMap<u32, &Vec<Seq>> =
            delivered.map(|sent| (sent.number.0, &sent.seqs)).collect();
        let seqs = || seqs_of.values().flat_map(|seqs| seqs.iter().copied());
        let (Some(from), Some(to)) = (seqs().min(), seqs().max()) else {
            return Ok(());
        };
        let takes = |kept: &StoredArrival, variant: &Variant| {
            version.of_type(kept.arrival.type_no).is_some_and(asks)
                && open.lane.has(&self.compiled.names, &kept.arrival, variant)
        };
        let look = SearchFilter {
            from,
            to,
            recipients: &seqs_of.keys().copied().collect(),
            takes: &takes,
            has: &|number, kept| seqs_of.get(&number).is_some_and(|seqs| seqs.contains(&kept.seq)),
        };
        let found = bucket.index.look(draft.view, &look)?;
        for (source, recipients) in found.by_source() {
            let arrival = &found.source(source).0.arrival;
            let (type_no, tenant) = (arrival.type_no, arrival.tenant);
            if tenant.is_some_and(|tenant| intake.tenants.get(tenant).is_none()) {
                continue;
            }
            let header =
                intake.with_header(draft, arrival.at.day(), arrival.event, Header::clone)?;
            let delivered = DeliveredOnce { type_no, tenant, header, recipients };
            delivered.remember(&self.compiled, draft, closing.bucket)?;
        }
        Ok(())
    }
}

impl TenantRemoval<'_, '_> {
    /// Deletes who was delivered something once.
    pub(in crate::engine::shard) fn forget_delivered(
        &mut self,
        bucket: BucketNo,
    ) -> Result<(), Unreadable> {
        let prefix = once_of(bucket, Some(self.tenant)).done();
        let written = self.draft.written(Partition::Base, &prefix);
        let mut rows: BTreeSet<Vec<u8>> = written.map(|(key, _)| key.to_vec()).collect();
        let (end, room) = (after_prefix(&prefix), self.room);
        self.draft.view.scan(Partition::Base, &prefix, end.as_deref(), &mut |key, _| {
            if rows.len() >= room {
                return ControlFlow::Break(());
            }
            rows.insert(key.to_vec());
            ControlFlow::Continue(())
        })?;
        self.room = room.saturating_sub(rows.len());
        rows.into_iter().for_each(|key| self.draft.delete(Partition::Base, key));
        Ok(())
    }
}

/// Returns true if something of a tenant that was delivered once is remembered.
pub(crate) fn remembers_of(
    draft: &Draft<'_>,
    bucket: BucketNo,
    tenant: TenantNo,
) -> Result<bool, Unreadable> {
    let prefix = once_of(bucket, Some(tenant)).done();
    let (end, mut is_any) = (after_prefix(&prefix), false);
    draft.view.scan(Partition::Base, &prefix, end.as_deref(), &mut |_, _| {
        is_any = true;
        ControlFlow::Break(())
    })?;
    Ok(is_any)
}

fn read_set(draft: &Draft<'_>, key: &[u8]) -> Result<RoaringBitmap, Unreadable> {
    let row = draft.get(Partition::Base, key)?;
    let set = row.map(|row| decode::<Set>("recipients was delivered once", &row));
    Ok(set.transpose()?.unwrap_or_default().0)
}
