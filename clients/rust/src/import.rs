//! Imports: lines of any number, sent in parts. A part that breaks goes on behind the last line that was answered.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::pin::Pin;

use bytes::Bytes;
use futures_core::Stream;
use futures_util::StreamExt as _;
use futures_util::stream::try_unfold;
use http::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::client::Client;
use crate::error::Problem;
use crate::generated::error::Error;
use crate::generated::types::Rejected;
use crate::request::Call;
use crate::retry::{Retry, id};
use crate::stream::{ItemStream, Lines};
use crate::transport::{Names, try_to_open};

/// The lines of a part, at most.
const LINES: usize = 1_000;
/// The bytes of a part from which on it is sent.
const BYTES: usize = 1 << 20;

type Source = Pin<Box<dyn Stream<Item = Result<Vec<u8>, Error>> + Send>>;

/// An import, which is done by [`Import::run`], or while its answers are read.
#[must_use = "an import does nothing until it is run"]
pub struct Import<A> {
    call: Call,
    lines: Source,
    answers: PhantomData<fn() -> A>,
}

/// The outcome of an import.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Imported {
    /// Number of lines.
    pub lines: u64,
    /// Number of lines that succeeded.
    pub done: u64,
    /// The answers to lines that were rejected.
    pub rejected: Vec<Rejected>,
}

impl<A> std::fmt::Debug for Import<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Import").field("path", &self.call.path).finish_non_exhaustive()
    }
}

impl<A: DeserializeOwned + Send + 'static> Import<A> {
    pub(crate) fn new<T: Serialize>(
        client: &Client,
        path: String,
        lines: impl Stream<Item = T> + Send + 'static,
    ) -> Self {
        let lines = lines.map(|line| {
            let text = serde_json::to_vec(&line);
            text.map_err(|fault| Error::invalid(format!("a line can't be sent: {fault}")))
        });
        let mut call = Call::new(client, Method::POST, path).once();
        call.content_type = "application/x-ndjson";
        Self { call, lines: Box::pin(lines.fuse()), answers: PhantomData }
    }

    /// Sets what the `Idempotency-Key`s of its parts begin with, at most 230 visible ASCII characters: done again from
    /// its first line, events without an id are the same events.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.key = Some(key.into());
        self
    }

    /// The answer to each line, in their order.
    pub fn answers(self) -> ItemStream<A> {
        ItemStream::new(try_unfold(self.parts(), |mut parts| async move {
            let answer = parts.answer().await?;
            let Some(answer) = answer else { return Ok(None) };
            let answer = serde_json::from_value(Value::Object(answer));
            let answer = answer.map_err(|fault| parts.unexpected(fault.to_string()))?;
            Ok(Some((answer, parts)))
        }))
    }

    /// Sends all lines.
    ///
    /// # Errors
    /// [`Error`] where a part could not be done; what was answered before is done. A line that is rejected is no error.
    pub async fn run(self) -> Result<Imported, Error> {
        let mut parts = self.parts();
        let mut all = Imported::default();
        while let Some(answer) = parts.answer().await? {
            all.lines += 1;
            if answer.get("status").is_some_and(|status| status == "rejected") {
                let rejected = serde_json::from_value(Value::Object(answer));
                all.rejected.push(rejected.map_err(|fault| parts.unexpected(fault.to_string()))?);
            } else {
                all.done += 1;
            }
        }
        Ok(all)
    }

    fn parts(self) -> Parts {
        let key = self.call.key.clone().unwrap_or_else(id);
        let retry = self.call.retry();
        let names = Names::of(&self.call);
        Parts {
            call: self.call,
            source: self.lines,
            is_over: false,
            key,
            names,
            retry,
            before: 0,
            part: VecDeque::new(),
            answered: 0,
            reading: None,
        }
    }
}

struct Parts {
    call: Call,
    source: Source,
    is_over: bool,
    /// The prefix of the keys of parts.
    key: String,
    /// The names of this part's request.
    names: Names,
    retry: Retry,
    /// Number of lines before this part.
    before: u64,
    /// The lines of this part that are not answered.
    part: VecDeque<Vec<u8>>,
    /// Number of lines of this part that are.
    answered: u64,
    reading: Option<Lines>,
}

impl Parts {
    fn unexpected(&self, detail: String) -> Error {
        let request_id = self.names.request_id.clone();
        Error::Unexpected { status: 200, detail, request_id, server_version: None }
    }

    /// The answer to the next line; `None` = all are answered.
    async fn answer(&mut self) -> Result<Option<Map<String, Value>>, Error> {
        loop {
            if self.part.is_empty() && !self.begin().await? {
                return Ok(None);
            }
            match self.next_answer().await {
                Ok(mut answer) => {
                    let line = answer.get("line").and_then(Value::as_u64).unwrap_or_default();
                    // All lines are answered in their order.
                    let lines = line.saturating_sub(self.answered);
                    for _ in 0..lines {
                        self.part.pop_front();
                    }
                    self.answered = line;
                    self.retry.reset();
                    answer.insert("line".to_owned(), Value::from(self.before + line));
                    return Ok(Some(answer));
                }
                Err(error) => {
                    self.reading = None;
                    self.retry.after(error).await?;
                }
            }
        }
    }

    /// Takes the lines of the next part; false = there are none.
    async fn begin(&mut self) -> Result<bool, Error> {
        self.before += self.answered;
        (self.answered, self.reading) = (0, None);
        let mut bytes = 0;
        while !self.is_over && self.part.len() < LINES && bytes < BYTES {
            match self.source.next().await {
                Some(line) => {
                    let line = line?;
                    bytes += line.len();
                    self.part.push_back(line);
                }
                None => self.is_over = true,
            }
        }
        self.call.key = Some(format!("{}-{}", self.key, self.before));
        self.names = Names::of(&self.call);
        self.retry.reset();
        Ok(!self.part.is_empty())
    }

    /// The next answer of the part's request, which is made where there is none.
    async fn next_answer(&mut self) -> Result<Map<String, Value>, Error> {
        let lines = match &mut self.reading {
            Some(lines) => lines,
            None => {
                // Empty lines stand for those that are answered: an event without an id gets its id by its line's number.
                let mut body = vec![b'\n'; usize::try_from(self.answered).unwrap_or_default()];
                for line in &self.part {
                    body.extend_from_slice(line);
                    body.push(b'\n');
                }
                self.call.body = Ok(Some(Bytes::from(body)));
                let opened = loop {
                    match try_to_open(&self.call, &self.names).await {
                        Ok(opened) => break opened,
                        Err(fault) => self.retry.after(fault).await?,
                    }
                };
                self.reading.insert(Lines::of(opened, self.call.timeout()))
            }
        };
        while let Some(line) = lines.next().await? {
            let answer: Map<String, Value> = lines.parse(&line)?;
            if answer.get("line").and_then(Value::as_u64).is_none() {
                continue;
            }
            // A fault of the server ends the answer: this line and those behind it are not done.
            let problem = answer.get("problem").cloned();
            if let Some(mut problem) =
                problem.and_then(|problem| serde_json::from_value::<Problem>(problem).ok())
                && (problem.status == 429 || problem.status >= 500)
            {
                problem.request_id = Some(lines.request_id().to_owned());
                return Err(problem.into());
            }
            return Ok(answer);
        }
        let request_id = lines.request_id().to_owned();
        let detail = "the answer ended before the last line".to_owned();
        Err(Error::Connection { detail, request_id })
    }
}
