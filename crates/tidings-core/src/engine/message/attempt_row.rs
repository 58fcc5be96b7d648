//! Rows of attempts: the answers of providers about a message, and the hash of what they were asked to take, by day.
//!
//! They are outside of the journal: no decision depends on them, and a start does not read them.

use serde::{Deserialize, Serialize};

use crate::codec::encode_onto;
use crate::content::content_hash::ContentHash;
use crate::engine::rows::draft::Draft;
use crate::journal::chunks;
use crate::journal::stored::{ReadView, Unreadable, body, encode};
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
#[derive(Debug, Default, PartialEq, Eq)]
struct AttemptRow {
    runs: Vec<AttemptRun>,
    /// The newest content; `None` = none was rendered, or the row is of a version that kept none.
    content: Option<TriedContent>,
}

/// The content that a provider was asked to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriedContent {
    /// Its hash.
    pub hash: ContentHash,
    /// True if the provider took it, or may have.
    pub handed_over: bool,
}

impl TriedContent {
    /// The content to remember of two attempts, of which `self` is the later one: an attempt that handed nothing over
    /// doesn't change what was sent before.
    fn after(self, earlier: Option<Self>) -> Self {
        earlier.filter(|earlier| earlier.handed_over && !self.handed_over).unwrap_or(self)
    }
}

/// One recipient's message of a closing with an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptedMessage {
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
    /// The bytes of the row: the runs, then the content, which rows of older versions lack.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = encode(&self.runs);
        if let Some(content) = &self.content {
            encode_onto(&mut bytes, content);
        }
        bytes
    }

    fn of_bytes(bytes: &[u8]) -> Result<Self, Unreadable> {
        let unreadable = |fault| Unreadable::decode("attempts", &fault);
        let bytes = body("attempts", bytes)?;
        let (runs, rest) = postcard::take_from_bytes(bytes).map_err(unreadable)?;
        let has_content = !rest.is_empty();
        let content = has_content.then(|| postcard::from_bytes(rest)).transpose();
        Ok(Self { runs, content: content.map_err(unreadable)? })
    }

    /// Adds a report, unless it is here: who reports may do so again with the same instant.
    fn add_report(&mut self, report: &Attempt) -> NotedReport {
        let mut like_it = self.runs.iter().filter(|run| {
            run.answer == report.answer
                && run.provider == report.provider
                && run.reply == cut(&report.reply)
        });
        let is_new = like_it.all(|run| run.first != report.at && run.last != report.at);
        if !is_new {
            return NotedReport::Before;
        }
        let is_first = self.runs.iter().all(|run| run.answer != report.answer);
        self.add(report);
        if is_first { NotedReport::First } else { NotedReport::Again }
    }

    fn add(&mut self, attempt: &Attempt) {
        let reply = cut(&attempt.reply);
        if let Some(last) = self.runs.last_mut()
            && last.answer == attempt.answer
            && last.provider == attempt.provider
            && last.reply == reply
        {
            last.last = attempt.at;
            last.count += 1;
            return;
        }
        if self.runs.len() >= RUNS_MAX {
            self.runs.remove(0);
        }
        self.runs.push(AttemptRun {
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

/// Adds attempts and the content of the last one to the row of a day. `is_first` = nothing was noted of the message
/// before.
pub(crate) fn note_attempts(
    draft: &mut Draft<'_>,
    day: Day,
    message: MessageId,
    attempts: &[&Attempt],
    content: Option<TriedContent>,
    is_first: bool,
) -> Result<(), Unreadable> {
    let (partition, key) = (Partition::Day(day), attempts_key(message));
    let mut row = if is_first { AttemptRow::default() } else { row_of(draft, partition, &key)? };
    attempts.iter().for_each(|attempt| row.add(attempt));
    row.content = content.map(|content| content.after(row.content)).or(row.content);
    draft.put_chunked(partition, key, &row.to_bytes());
    Ok(())
}

/// A report about a message, beside those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotedReport {
    /// The same one came before.
    Before,
    /// It is new, and says something that another one has said.
    Again,
    /// It is the first that says this.
    First,
}

/// Adds a later report about a message to the row of a day. The same report changes nothing.
pub(crate) fn note_report(
    draft: &mut Draft<'_>,
    day: Day,
    message: MessageId,
    report: &Attempt,
) -> Result<NotedReport, Unreadable> {
    let (partition, key) = (Partition::Day(day), reports_key(message));
    let mut row = row_of(draft, partition, &key)?;
    let noted = row.add_report(report);
    draft.put_chunked(partition, key, &row.to_bytes());
    Ok(noted)
}

fn row_of(draft: &Draft<'_>, partition: Partition, key: &[u8]) -> Result<AttemptRow, Unreadable> {
    let known = draft.get_chunked(partition, key)?;
    known.map_or_else(|| Ok(AttemptRow::default()), |bytes| AttemptRow::of_bytes(&bytes))
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
        for key in &keys {
            let row = stored_row(view, Partition::Day(*day), key)?;
            all.extend(row.into_iter().flat_map(|row| row.runs));
        }
    }
    // Of one instant the attempt is first.
    all.sort_by_key(|run: &AttemptRun| run.first);
    Ok(all)
}

/// The content of a message that was sent, else that of the last attempt of these days, which ascend.
pub(crate) fn tried_content<'d>(
    view: &dyn ReadView,
    message: MessageId,
    days: impl Iterator<Item = &'d Day>,
) -> Result<Option<TriedContent>, Unreadable> {
    let key = attempts_key(message);
    let mut newest: Option<TriedContent> = None;
    for day in days {
        let row = stored_row(view, Partition::Day(*day), &key)?;
        if let Some(content) = row.and_then(|row| row.content) {
            newest = Some(content.after(newest));
        }
    }
    Ok(newest)
}

fn stored_row(
    view: &dyn ReadView,
    partition: Partition,
    key: &[u8],
) -> Result<Option<AttemptRow>, Unreadable> {
    let Some(row) = view.get(partition, key)? else {
        return Ok(None);
    };
    let bytes = chunks::whole(key, &row, |key| view.get(partition, key))?;
    AttemptRow::of_bytes(&bytes).map(Some)
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
            row.runs.iter().map(|run| run.count).collect::<Vec<_>>()
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
            row.runs.clone()
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
    #[test]
    fn a_row_of_an_older_version_has_no_content() {
        let content = TriedContent { hash: ContentHash::of(["News"]), handed_over: true };
        let mut row = AttemptRow::default();
        row.add(&Attempt {
            at: Instant(1),
            provider: "smtp://mail".to_owned(),
            answer: Answered::Sent,
            reply: "250".to_owned(),
        });
        let old = encode(&row.runs);
        assert_eq!(AttemptRow::of_bytes(&old), Ok(AttemptRow { content: None, ..row }));
        let row = AttemptRow { content: Some(content), ..AttemptRow::of_bytes(&old).unwrap() };
        assert_eq!(AttemptRow::of_bytes(&row.to_bytes()), Ok(row));
    }

    #[test]
    fn an_attempt_that_hands_nothing_over_leaves_the_content_that_was_sent() {
        let content = |text: &str, handed_over: bool| TriedContent {
            hash: ContentHash::of([text]),
            handed_over,
        };
        let (sent, refused) = (content("sent", true), content("refused", false));
        assert_eq!(refused.after(None), refused);
        assert_eq!(refused.after(Some(sent)), sent);
        assert_eq!(sent.after(Some(refused)), sent);
        assert_eq!(content("again", true).after(Some(sent)), content("again", true));
    }
}
