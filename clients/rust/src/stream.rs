//! Streams: pages as their items, lines of JSON, bytes.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use futures_util::stream::try_unfold;
use futures_util::{StreamExt as _, TryStreamExt as _};
use http::Method;
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::generated::error::Error;
use crate::request::Call;
use crate::transport::{Opened, Query, open, whole};

/// A sequence of items: a [`Stream`], and without its traits [`ItemStream::next`]. Nothing is asked for before
/// it is polled, and nothing after an error.
#[must_use = "a stream does nothing until it is polled"]
pub struct ItemStream<T>(Pin<Box<dyn Stream<Item = Result<T, Error>> + Send>>);

impl<T: Send + 'static> ItemStream<T> {
    pub(crate) fn new(of: impl Stream<Item = Result<T, Error>> + Send + 'static) -> Self {
        Self(Box::pin(of.fuse()))
    }

    /// The next one; `None` = that was all.
    pub async fn next(&mut self) -> Option<Result<T, Error>> {
        self.0.next().await
    }

    /// All of them, in memory.
    ///
    /// # Errors
    /// The first that there is.
    pub async fn all(self) -> Result<Vec<T>, Error> {
        self.0.try_collect().await
    }
}

impl<T> Stream for ItemStream<T> {
    type Item = Result<T, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(context)
    }
}

impl<T> std::fmt::Debug for ItemStream<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ItemStream")
    }
}

impl Client {
    /// All items of pages: `parts` divides a page into its items and the cursor of the next one.
    pub(crate) fn pages<P, T>(
        &self,
        path: String,
        query: Query,
        parts: fn(P) -> (Vec<T>, Option<String>),
    ) -> ItemStream<T>
    where
        P: DeserializeOwned + 'static,
        T: Send + 'static,
    {
        let first = Call::new(self, Method::GET, path).query(query);
        let state = (VecDeque::new(), Some(first));
        ItemStream::new(try_unfold(state, move |(mut items, mut next)| async move {
            loop {
                if let Some(item) = items.pop_front() {
                    return Ok(Some((item, (items, next))));
                }
                let Some(mut call) = next.take() else { return Ok(None) };
                let (found, cursor) = parts(whole(&call).await?.json::<P>()?);
                items = found.into();
                next = cursor.map(|cursor| {
                    call.query = call.query.without("cursor");
                    call.query.add("cursor", cursor);
                    call
                });
            }
        }))
    }
}

/// The lines of an answer as they come.
pub(crate) struct Lines {
    opened: Opened,
    limit: Duration,
    read: Vec<u8>,
    /// Bytes of `read` that have no line end.
    looked_at: usize,
}

impl Lines {
    pub(crate) fn of(opened: Opened, limit: Duration) -> Self {
        Self { opened, limit, read: Vec::new(), looked_at: 0 }
    }

    pub(crate) fn request_id(&self) -> &str {
        &self.opened.request_id
    }

    /// The next line, without its end; `None` = that was all.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        loop {
            if let Some(at) = self.read[self.looked_at..].iter().position(|byte| *byte == b'\n') {
                let rest = self.read.split_off(self.looked_at + at + 1);
                let mut line = std::mem::replace(&mut self.read, rest);
                self.looked_at = 0;
                line.pop();
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                return Ok(Some(line));
            }
            self.looked_at = self.read.len();
            match self.opened.piece(self.limit).await? {
                Some(piece) => self.read.extend_from_slice(&piece),
                None if self.read.is_empty() => return Ok(None),
                None => {
                    self.looked_at = 0;
                    return Ok(Some(std::mem::take(&mut self.read)));
                }
            }
        }
    }

    pub(crate) fn parse<T: DeserializeOwned>(&self, line: &[u8]) -> Result<T, Error> {
        serde_json::from_slice(line).map_err(|fault| Error::Unexpected {
            status: 200,
            detail: format!("a line is none: {fault}"),
            request_id: self.opened.request_id.clone(),
            server_version: None,
        })
    }
}

pub(crate) fn lines<T: DeserializeOwned + Send + 'static>(call: Call) -> ItemStream<T> {
    ItemStream::new(try_unfold((call, None), |(call, lines)| async move {
        let mut lines = match lines {
            Some(lines) => lines,
            None => Lines::of(open(&call).await?, call.timeout()),
        };
        while let Some(line) = lines.next().await? {
            if !line.is_empty() {
                return Ok(Some((lines.parse(&line)?, (call, Some(lines)))));
            }
        }
        Ok(None)
    }))
}

pub(crate) fn bytes(call: Call) -> ItemStream<Bytes> {
    ItemStream::new(try_unfold((call, None), |(call, opened)| async move {
        let mut opened = match opened {
            Some(opened) => opened,
            None => open(&call).await?,
        };
        let piece = opened.piece(call.timeout()).await?;
        Ok(piece.map(|piece| (piece, (call, Some(opened)))))
    }))
}
