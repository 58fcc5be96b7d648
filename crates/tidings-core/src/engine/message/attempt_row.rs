//! Rows of attempts: the answers of providers about a message, by day.
//!
//! They are outside of the journal: no decision depends on them, and a start does not read them.

use serde::{Deserialize, Serialize};

use crate::engine::rows::draft::Draft;
use crate::journal::chunks;
use crate::journal::stored::{ReadView, Unreadable, decode, encode};
use crate::journal::table::{Key, Owner, Partition, Table};
use crate::model::messages::{Attempt, AttemptRun};
use crate::model::number::{MessageId, RecipientNo};
use crate::model::time::Day;

/// The most runs that a day keeps of a message: the newest.
const RUNS_MAX: usize = 32;

/// The byte with which the key of reports ends.
const REPORTS: u8 = 1;

/// Maximum number of bytes that are kept of a provider's answer.
const REPLY_BYTES_MAX: usize = 500;

/// The attempts of a day.
#[derive(Debug, Default, Serialize, Deserialize)]
struct AttemptRow(Vec<AttemptRun>);

/// One recipient's message of a closing with an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempted {
    /// The recipient's number in the bucket.
    pub number: RecipientNo,
    /// The attempt.
    pub attempt: Attempt,
}

fn attempts_key(MessageId { closing, number }: MessageId) -> Vec<u8> {
    Key::of(Owner::Bucket(closing.bucket), Table::Attempts).u32(number.0).seq(closing.seq).done()
}

/// The key of reports, in a row of their own: one may come before the answer to its message is recorded, which knows of no
/// row yet.
fn reports_key(message: MessageId) -> Vec<u8> {
    let mut key = attempts_key(message);
    key.push(REPORTS);
    key
}

impl AttemptRow {
    /// Adds a report, and returns true, unless it is here: who reports may do so again with the same instant.
    fn add_report(&mut self, report: &Attempt) -> bool {
        let mut like_it = self.0.iter().filter(|run| {
            run.answer == report.answer
                && run.provider == report.provider
                && run.reply == cut(&report.reply)
        });
        let is_new = like_it.all(|run| run.first != report.at && run.last != report.at);
        if is_new {
            self.add(report);
        }
        is_new
    }

    fn add(&mut self, attempt: &Attempt) {
        let reply = cut(&attempt.reply);
        if let Some(last) = self.0.last_mut()
            && last.answer == attempt.answer
            && last.provider == attempt.provider
            && last.reply == reply
        {
            last.last = attempt.at;
            last.count += 1;
            return;
        }
        if self.0.len() >= RUNS_MAX {
            self.0.remove(0);
        }
        self.0.push(AttemptRun {
            first: attempt.at,
            last: attempt.at,
            count: 1,
            provider: attempt.provider.clone(),
            answer: attempt.answer,
            reply: reply.to_owned(),
        });
    }
}

/// The beginning of a text, whole characters.
fn cut(text: &str) -> &str {
    let mut end = text.len().min(REPLY_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Adds an attempt to the row of a day. `is_first` = nothing was noted of the message before.
pub(crate) fn note_attempt(
    draft: &mut Draft<'_>,
    day: Day,
    message: MessageId,
    attempt: &Attempt,
    is_first: bool,
) -> Result<(), Unreadable> {
    let (partition, key) = (Partition::Day(day), attempts_key(message));
    let mut row = if is_first { AttemptRow::default() } else { row_of(draft, partition, &key)? };
    row.add(attempt);
    draft.put_chunked(partition, key, &encode(&row));
    Ok(())
}

/// Adds a later report about a message to the row of a day. The same report changes nothing, and returns false.
pub(crate) fn note_report(
    draft: &mut Draft<'_>,
    day: Day,
    message: MessageId,
    report: &Attempt,
) -> Result<bool, Unreadable> {
    let (partition, key) = (Partition::Day(day), reports_key(message));
    let mut row = row_of(draft, partition, &key)?;
    let is_new = row.add_report(report);
    draft.put_chunked(partition, key, &encode(&row));
    Ok(is_new)
}

fn row_of(draft: &Draft<'_>, partition: Partition, key: &[u8]) -> Result<AttemptRow, Unreadable> {
    let known = draft.get_chunked(partition, key)?;
    known.map_or_else(|| Ok(AttemptRow::default()), |bytes| decode("attempts", &bytes))
}

/// The attempts of a message on these days and the reports about it, in their order.
pub(crate) fn attempts_of<'d>(
    view: &dyn ReadView,
    message: MessageId,
    days: impl Iterator<Item = &'d Day>,
) -> Result<Vec<AttemptRun>, Unreadable> {
    let keys = [attempts_key(message), reports_key(message)];
    let mut all = Vec::new();
    for day in days {
        let partition = Partition::Day(*day);
        for key in &keys {
            if let Some(row) = view.get(partition, key)? {
                let bytes = chunks::whole(key, &row, |key| view.get(partition, key))?;
                let AttemptRow(runs) = decode("attempts", &bytes)?;
                all.extend(runs);
            }
        }
    }
    // Of one instant the attempt is first.
    all.sort_by_key(|run: &AttemptRun| run.first);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::messages::Answered;
    use crate::model::time::Instant;

    #[test]
    fn the_same_report_twice_is_one() {
        let mut row = AttemptRow::default();
        let mut counts = |at: i64, answer: Answered| {
            row.add_report(&Attempt {
                at: Instant(at),
                provider: "mail".to_owned(),
                answer,
                reply: "552".repeat(REPLY_BYTES_MAX),
            });
            row.0.iter().map(|run| run.count).collect::<Vec<_>>()
        };
        assert_eq!(counts(1, Answered::Bounced), [1]);
        assert_eq!(counts(2, Answered::Bounced), [2]);
        assert_eq!(counts(2, Answered::Complained), [2, 1]);
        // All of them again, after a stop.
        assert_eq!(counts(1, Answered::Bounced), [2, 1]);
        assert_eq!(counts(2, Answered::Bounced), [2, 1]);
        assert_eq!(counts(2, Answered::Complained), [2, 1]);
        assert_eq!(counts(3, Answered::Bounced), [2, 1, 1]);
    }

    #[test]
    fn equal_answers_are_one_run_and_old_ones_go() {
        let mut row = AttemptRow::default();
        let mut tried = |at: i64, reply: &str| {
            row.add(&Attempt {
                at: Instant(at),
                provider: "smtp://mail".to_owned(),
                answer: Answered::Retry,
                reply: reply.to_owned(),
            });
            row.0.clone()
        };
        tried(1, "RCPT: 451");
        let runs = tried(2, "RCPT: 451");
        assert_eq!((runs.len(), runs[0].count), (1, 2));
        assert_eq!((runs[0].first, runs[0].last), (Instant(1), Instant(2)));
        for at in 3..100 {
            tried(at, &format!("connect: {at}"));
        }
        let long = tried(100, &"é".repeat(REPLY_BYTES_MAX));
        assert_eq!(long.len(), RUNS_MAX);
        assert_eq!(long[0].first, Instant(69));
        assert_eq!(long[RUNS_MAX - 1].reply.len(), REPLY_BYTES_MAX);
    }
}
