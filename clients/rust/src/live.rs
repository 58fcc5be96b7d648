//! An inbox that is followed (`text/event-stream`): opened again from where it was, whatever breaks.

use std::time::Duration;

use futures_util::stream::try_unfold;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::generated::error::Error;
use crate::generated::types::{Group, InboxCounts};
use crate::request::Call;
use crate::retry::Retry;
use crate::stream::{ItemStream, Lines};
use crate::transport::{Names, try_to_open};

/// A stream says something every 15 s: after three times as long it is gone.
const SILENCE: Duration = Duration::from_secs(45);

/// An event of an inbox that is followed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LiveEvent {
    /// The stream has begun, or has begun anew.
    Hello(Hello),
    /// The inbox has changed.
    Inbox(InboxChange),
    /// The stream is over for a reason for which it is not opened again.
    End(LiveEnd),
    /// An event that this client does not know.
    Other {
        /// Its name.
        event: String,
        /// Its content.
        data: Value,
    },
}

/// The first event of a stream.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Hello {
    /// True if changes were missed: read the page anew.
    #[serde(default)]
    pub reset: bool,
    /// The counts of the inbox.
    #[serde(flatten)]
    pub counts: InboxCounts,
}

/// A change of an inbox.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct InboxChange {
    /// The groups that are new or have changed.
    #[serde(default)]
    pub changed: Vec<Group>,
    /// The keys of the groups that are no longer there.
    #[serde(default)]
    pub gone: Vec<String>,
    /// The counts of the inbox.
    #[serde(flatten)]
    pub counts: InboxCounts,
}

/// The end of a stream.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct LiveEnd {
    /// The reason: `replaced`, `token_expired`, `token_revoked`, `token_key` and others to come.
    pub code: String,
    /// The wait before it may be opened again, in milliseconds.
    #[serde(default)]
    pub retry_ms: Option<u64>,
    /// Fields that this client does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

struct Following {
    call: Call,
    retry: Retry,
    lines: Option<Lines>,
    is_over: bool,
}

/// Follows an inbox.
pub(crate) fn follow(call: Call) -> ItemStream<LiveEvent> {
    let retry = call.retry();
    let state = Following { call, retry, lines: None, is_over: false };
    ItemStream::new(try_unfold(state, |mut state| async move {
        let event = state.next().await?;
        Ok(event.map(|event| (event, state)))
    }))
}

impl Following {
    async fn next(&mut self) -> Result<Option<LiveEvent>, Error> {
        while !self.is_over {
            match self.event().await {
                Ok(LiveEvent::End(end)) if end.code == "restart" => {
                    self.lines = None;
                    tokio::time::sleep(Duration::from_millis(end.retry_ms.unwrap_or_default()))
                        .await;
                }
                Ok(event) => {
                    self.is_over = matches!(event, LiveEvent::End(_));
                    return Ok(Some(event));
                }
                Err(error) => {
                    self.lines = None;
                    self.retry.after(error).await?;
                }
            }
        }
        Ok(None)
    }

    async fn event(&mut self) -> Result<LiveEvent, Error> {
        let lines = match &mut self.lines {
            Some(lines) => lines,
            None => {
                let opened = match try_to_open(&self.call, &Names::of(&self.call)).await {
                    Ok(opened) => opened,
                    Err(fault) => {
                        self.retry.after(fault).await?;
                        return Box::pin(self.event()).await;
                    }
                };
                self.lines.insert(Lines::of(opened, SILENCE.max(self.call.timeout())))
            }
        };
        let (mut event, mut data) = ("message".to_owned(), String::new());
        while let Some(line) = lines.next().await? {
            let line = String::from_utf8_lossy(&line);
            let (field, value) = line.split_once(':').unwrap_or((&line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "" if line.is_empty() && !data.is_empty() => {
                    let event = read(&event, data.trim_end(), lines)?;
                    self.retry.reset();
                    return Ok(event);
                }
                "event" => event = value.to_owned(),
                "id" => self.call.last_event = Some(value.to_owned()),
                "data" => data += &format!("{value}\n"),
                // A comment, or nothing.
                _ => {}
            }
        }
        let request_id = lines.request_id().to_owned();
        Err(Error::Connection { detail: "the stream ended".to_owned(), request_id })
    }
}

fn read(event: &str, data: &str, lines: &Lines) -> Result<LiveEvent, Error> {
    fn of<T: DeserializeOwned>(data: &str, lines: &Lines) -> Result<T, Error> {
        lines.parse(data.as_bytes())
    }
    Ok(match event {
        "hello" => LiveEvent::Hello(of(data, lines)?),
        "inbox" => LiveEvent::Inbox(of(data, lines)?),
        "end" => LiveEvent::End(of(data, lines)?),
        other => LiveEvent::Other { event: other.to_owned(), data: of(data, lines)? },
    })
}
