//! Deliveries of types with `once_ever`, which outlive their day in sets of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;

use super::AdmissionKeySpec;
use crate::engine::intake::state::Intake;
use crate::engine::rows::draft::Draft;
use crate::engine::rows::sent::Sent;
use crate::engine::shard::state::Shard;
use crate::index::Look;
use crate::index::headers::Header;
use crate::journal::record::Variant;
use crate::journal::stored::{StoredArrival, Unreadable, decode, encode};
use crate::journal::table::{Key, Owner, Partition, Table, after_prefix};
use crate::model::id::{BucketNo, Id};
use crate::model::number::{ClosingId, Seq, TypeNo};
use crate::model::reason::Ending;
use crate::model::tenant::TenantNo;
use crate::rules::compiled::Type;
use crate::rules::{Admission, Per};
use crate::sets::set::Set;

/// The text of a key, for what is kept for ever.
pub(super) fn subject<'a>(per: Per, object: &'a Id, target: Option<&'a Id>) -> &'a str {
    match per {
        Per::Type => "",
        Per::Object => object.as_str(),
        Per::Target => target.map_or("", Id::as_str),
    }
}

/// The subject of an entry, for deliveries that are kept for ever.
#[derive(Clone, Copy)]
pub(super) struct About<'a> {
    pub(super) tenant: Option<TenantNo>,
    pub(super) subject: &'a str,
}

/// The beginning of the keys of a tenant, or of none.
fn once_of(bucket: BucketNo, tenant: Option<TenantNo>) -> Key {
    Key::of(Owner::Bucket(bucket), Table::DeliveredOnce).u32(TenantNo::raw(tenant))
}

fn once_key(bucket: BucketNo, of: AdmissionKeySpec, about: About<'_>, page: u32) -> Vec<u8> {
    once_of(bucket, about.tenant)
        .u32(of.type_no.0)
        .bytes(&[of.per as u8])
        .bytes(about.subject.as_bytes())
        .bytes(&[0])
        .u32(page)
        .done()
}

/// A set in pieces of 2^16 numbers, each with its page.
fn pages(who: &RoaringBitmap) -> BTreeMap<u32, RoaringBitmap> {
    let mut pages: BTreeMap<u32, RoaringBitmap> = BTreeMap::new();
    for number in who {
        pages.entry(number >> 16).or_default().insert(number);
    }
    pages
}

/// Remembers who was delivered an entry of a type with `once_ever`.
pub(crate) fn remember(
    shard: &Shard,
    draft: &mut Draft<'_>,
    no: BucketNo,
    (type_no, tenant): (TypeNo, Option<TenantNo>),
    header: &Header,
    who: &RoaringBitmap,
) -> Result<(), Unreadable> {
    let version = shard.compiled.current();
    let Some(rules) = version.and_then(|version| version.of_type(type_no)) else {
        return Ok(());
    };
    if rules.rules.admission != Admission::OnceEver {
        return Ok(());
    }
    let per = rules.rules.per;
    let subject = subject(per, &header.object, header.target.as_ref());
    let about = About { tenant, subject };
    for (page, who) in pages(who) {
        let key = once_key(no, AdmissionKeySpec { type_no, per }, about, page);
        let known = read_set(draft, &key)?;
        if !who.is_subset(&known) {
            draft.put(Partition::Base, key, encode(&Set::from(known | who)));
        }
    }
    Ok(())
}

/// Remembers who was sent an entry of a type with `once_ever`.
pub(crate) fn remember_sent(
    shard: &Shard,
    intake: &Intake,
    draft: &mut Draft<'_>,
    ClosingId { bucket: no, seq }: ClosingId,
    sent: &[Sent],
) -> Result<(), Unreadable> {
    let asks = |rules: &Type| rules.rules.admission == Admission::OnceEver;
    let Some(version) = shard.version().filter(|version| version.has_kind(asks)) else {
        return Ok(());
    };
    let bucket = &shard.buckets[no];
    let Some(open) = bucket.closings.get(&seq) else {
        return Ok(());
    };
    let delivered = sent
        .iter()
        // Outcomes that come twice are of messages that are not on their way any more: they change nothing.
        .filter(|sent| sent.ending == Ending::Delivered && open.sending.contains(sent.number.0));
    let seqs_of: FxHashMap<u32, &Vec<Seq>> =
        delivered.map(|sent| (sent.number.0, &sent.seqs)).collect();
    let seqs = || seqs_of.values().flat_map(|seqs| seqs.iter().copied());
    let (Some(from), Some(to)) = (seqs().min(), seqs().max()) else {
        return Ok(());
    };
    let takes = |kept: &StoredArrival, variant: &Variant| {
        version.of_type(kept.arrival.type_no).is_some_and(asks)
            && open.lane.has(&shard.compiled.names, &kept.arrival, variant)
    };
    let look = Look {
        from,
        to,
        who: &seqs_of.keys().copied().collect(),
        takes: &takes,
        has: &|number, kept| seqs_of.get(&number).is_some_and(|seqs| seqs.contains(&kept.seq)),
    };
    let found = bucket.index.look(draft.view, &look)?;
    for (source, who) in found.by_source() {
        let arrival = &found.source(source).0.arrival;
        if arrival.tenant.is_some_and(|tenant| intake.tenants.get(tenant).is_none()) {
            continue;
        }
        let day = arrival.at.day();
        let header = intake.with_header(draft, day, arrival.event, Header::clone)?;
        remember(shard, draft, no, (arrival.type_no, arrival.tenant), &header, &who)?;
    }
    Ok(())
}

/// The recipients of a set to whom an entry of a type and a key was ever delivered.
pub(super) fn delivered_once(
    draft: &Draft<'_>,
    no: BucketNo,
    of: AdmissionKeySpec,
    about: About<'_>,
    who: &RoaringBitmap,
) -> Result<RoaringBitmap, Unreadable> {
    let mut delivered = RoaringBitmap::new();
    for (page, who) in pages(who) {
        delivered |= who & read_set(draft, &once_key(no, of, about, page))?;
    }
    Ok(delivered)
}

/// Deletes who was delivered something of a tenant once, as far as there is room for rows, which gets less.
pub(crate) fn forget_delivered(
    draft: &mut Draft<'_>,
    no: BucketNo,
    tenant: TenantNo,
    room: &mut usize,
) -> Result<(), Unreadable> {
    let prefix = once_of(no, Some(tenant)).done();
    let written = draft.written(Partition::Base, &prefix);
    let mut rows: BTreeSet<Vec<u8>> = written.map(|(key, _)| key.to_vec()).collect();
    let end = after_prefix(&prefix);
    draft.view.scan(Partition::Base, &prefix, end.as_deref(), &mut |key, _| {
        if rows.len() >= *room {
            return ControlFlow::Break(());
        }
        rows.insert(key.to_vec());
        ControlFlow::Continue(())
    })?;
    *room = room.saturating_sub(rows.len());
    rows.into_iter().for_each(|key| draft.delete(Partition::Base, key));
    Ok(())
}

/// Returns true if something of a tenant that was delivered once is remembered.
pub(crate) fn remembers_of(
    draft: &Draft<'_>,
    no: BucketNo,
    tenant: TenantNo,
) -> Result<bool, Unreadable> {
    let prefix = once_of(no, Some(tenant)).done();
    let (end, mut is_any) = (after_prefix(&prefix), false);
    draft.view.scan(Partition::Base, &prefix, end.as_deref(), &mut |_, _| {
        is_any = true;
        ControlFlow::Break(())
    })?;
    Ok(is_any)
}

fn read_set(draft: &Draft<'_>, key: &[u8]) -> Result<RoaringBitmap, Unreadable> {
    let row = draft.get(Partition::Base, key)?;
    let set = row.map(|row| decode::<Set>("who was delivered once", &row));
    Ok(set.transpose()?.unwrap_or_default().0)
}
