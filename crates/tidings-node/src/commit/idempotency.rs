//! Idempotency: the answer to a request with an `Idempotency-Key` is written in the same commit as its
//! work, so that neither exists without the other.
//!
//! A row lives for a day, independent of `keep`, and outlives restarts. New rows remove expired ones: at most the
//! largest number of a single day stays.

use std::ops::ControlFlow;

use tidings_core::Instant;
use tidings_core::codec::FORM;
use tidings_core::journal::{
    Key, Owner, Partition, REST, ReadView, Table, Unreadable, Write, body, chunks, i64_at,
};
use tidings_core::model::DAY_MS;

use crate::error::Error;

/// Time for which a key is remembered, in milliseconds (contract, section 4).
const RETENTION_MS: i64 = DAY_MS;

/// Number of expired rows deleted with each new one: more than one, so that they get fewer.
const EXPIRED_PER_ROW: usize = 4;

/// The identity of a request that may be sent twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Once {
    /// Hash of the client's key.
    pub key: [u8; 16],
    /// Hash of the request: another request under the same key is refused.
    pub request: [u8; 16],
}

/// The result of a request with a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdempotencyHit {
    /// The request was done now.
    Fresh,
    /// The request was done before, with this stored answer.
    Replayed(Vec<u8>),
    /// The key was used with another request; nothing was done.
    Mismatch,
}

/// An answer as it is stored.
pub(crate) struct AnswerRow {
    at: Instant,
    request: [u8; 16],
    answer: Vec<u8>,
}

fn row_key(key: &[u8; 16]) -> Vec<u8> {
    Key::of(Owner::Intake, Table::Answers).bytes(key).done()
}

fn age_key(at: Instant, key: &[u8; 16]) -> Vec<u8> {
    let ages = Key::of(Owner::Intake, Table::AnswersByAge);
    ages.i64(at.0).bytes(key).done()
}

/// The row of a key, whatever its age.
pub(crate) fn stored(view: &dyn ReadView, key: &[u8; 16]) -> Result<Option<AnswerRow>, Error> {
    let Some(value) = chunks::get(view, Partition::Base, &row_key(key))? else {
        return Ok(None);
    };
    let value = body("an answer that was kept", &value)?;
    let read = || {
        let at = Instant(i64_at(value, 0)?);
        let request = value.get(8..24)?.try_into().ok()?;
        let answer = value.get(24..)?.to_vec();
        Some(AnswerRow { at, request, answer })
    };
    let unreadable = || Unreadable("an answer that was kept is torn".to_owned());
    Ok(Some(read().ok_or_else(unreadable)?))
}

/// The result of a request whose key is remembered.
pub(crate) fn lookup(
    view: &dyn ReadView,
    now: Instant,
    once: Once,
) -> Result<Option<IdempotencyHit>, Error> {
    let row = stored(view, &once.key)?;
    let row = row.filter(|row| now.0 < row.at.0.saturating_add(RETENTION_MS));
    Ok(row.map(|row| {
        if row.request == once.request {
            IdempotencyHit::Replayed(row.answer)
        } else {
            IdempotencyHit::Mismatch
        }
    }))
}

/// The writes that store these answers, and delete expired ones.
pub(crate) fn writes(
    view: &dyn ReadView,
    now: Instant,
    answers: &[(Once, Vec<u8>)],
) -> Result<Vec<Write>, Error> {
    let write =
        |key: Vec<u8>, value: Option<Vec<u8>>| Write { partition: Partition::Base, key, value };
    let mut writes = Vec::with_capacity(answers.len() * 2);
    if answers.is_empty() {
        return Ok(writes);
    }
    // Deletions precede the new rows: a key whose day is over may be used again here, and the later write
    // counts.
    for (at, key) in expired(view, now, answers.len() * EXPIRED_PER_ROW)? {
        writes.push(write(age_key(at, &key), None));
        // The clock may have stepped back since: then the row is younger than its first age.
        if stored(view, &key)?.is_some_and(|row| row.at == at) {
            let key = row_key(&key);
            let row = view.get(Partition::Base, &key)?.unwrap_or_default();
            let more = chunks::more_keys(&key, &row)?.into_iter();
            writes.extend(more.chain([key]).map(|key| write(key, None)));
        }
    }
    for (once, answer) in answers {
        let mut value = Key::of(Owner::Intake, Table::Answers).i64(now.0).done();
        value.splice(..REST, [FORM]);
        value.extend_from_slice(&once.request);
        value.extend_from_slice(answer);
        writes.extend(chunks::rows(Partition::Base, row_key(&once.key), &value));
        writes.push(write(age_key(now, &once.key), Some(Vec::new())));
    }
    Ok(writes)
}

/// The oldest expired rows.
pub(crate) fn expired(
    view: &dyn ReadView,
    now: Instant,
    most: usize,
) -> Result<Vec<(Instant, [u8; 16])>, Error> {
    let ages = Key::of(Owner::Intake, Table::AnswersByAge);
    let until = ages.clone().i64(now.0.saturating_sub(RETENTION_MS)).done();
    let mut expired = Vec::new();
    let mut visit = |key: &[u8], _: &[u8]| {
        let at = i64_at(key, REST).map(Instant);
        let name = key.get(REST + 8..).and_then(|name| name.try_into().ok());
        expired.extend(at.zip(name));
        if expired.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    view.scan(Partition::Base, &ages.done(), Some(&until), &mut visit)?;
    Ok(expired)
}
