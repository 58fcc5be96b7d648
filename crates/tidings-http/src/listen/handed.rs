//! Streams of events without the buffers of a connection.
//!
//! A connection of HTTP/1.1 has two buffers of 8 kB, however long it has nothing to say. A stream is open for hours, and
//! its connection answers nothing else, so it is handed over: the socket, and the answer that has begun. What remains
//! writes pieces as they come, and sees the reader go.

use std::io::{self, IoSlice, Write as _};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::response::Parts;
use axum::http::{HeaderValue, Method, Request, Version, header};
use axum::response::Response;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::shares::patience::WRITE_PATIENCE;

/// The hand-over of one connection.
#[derive(Default)]
pub(super) struct ConnectionHandOver {
    /// The answer that is to be written without the connection.
    answer: Mutex<Option<Box<(Parts, Body)>>>,
    /// The socket, once the connection has let go of it.
    socket: Mutex<Option<TcpStream>>,
    wanted: Notify,
}

/// Returns true if the answer to a request may be handed over, if it is a stream.
pub(super) fn may_be(request: &Request<Incoming>) -> bool {
    request.version() == Version::HTTP_11 && request.method() == Method::GET
}

impl ConnectionHandOver {
    /// Takes an answer over if it is a stream of events: then nothing is left to be done with it.
    pub(super) fn take_over(&self, answer: Response) -> Option<Response> {
        let kind = answer.headers().get(header::CONTENT_TYPE);
        if kind != Some(&HeaderValue::from_static("text/event-stream")) {
            return Some(answer);
        }
        *lock(&self.answer) = Some(Box::new(answer.into_parts()));
        self.wanted.notify_one();
        None
    }

    /// Ends once an answer was taken over. The connection is to be dropped then.
    pub(super) async fn wanted(&self) {
        self.wanted.notified().await;
    }

    /// Writes the answer that was taken over, to its end or that of the reader.
    pub(super) async fn write(self: Arc<Self>) {
        let (socket, answer) = (lock(&self.socket).take(), lock(&self.answer).take());
        drop(self);
        let Some((mut socket, answer)) = socket.zip(answer) else { return };
        let (head, mut body) = *answer;
        let mut text = head_of(&head);
        drop(head);
        loop {
            tokio::select! {
                biased;
                piece = body.frame() => {
                    let piece = match piece {
                        Some(Ok(piece)) => piece.into_data().unwrap_or_default(),
                        // The connection breaks, so that the reader notices that the answer is not whole.
                        Some(Err(_)) => return,
                        None => break,
                    };
                    chunk(&mut text, &piece);
                    if !write(&mut socket, std::mem::take(&mut text)).await {
                        return;
                    }
                }
                () = gone(&socket) => return,
            }
        }
        text.extend_from_slice(b"0\r\n\r\n");
        if write(&mut socket, text).await {
            // The reader may be gone by now.
            let _ = socket.shutdown().await;
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The text of a head whose body comes in chunks and ends the connection.
fn head_of(head: &Parts) -> Vec<u8> {
    let reason = head.status.canonical_reason().unwrap_or_default();
    let mut text = format!("HTTP/1.1 {} {reason}\r\n", head.status.as_u16()).into_bytes();
    for (name, value) in &head.headers {
        if name == header::CONTENT_LENGTH || name == header::CONNECTION {
            continue;
        }
        text.extend_from_slice(name.as_str().as_bytes());
        text.extend_from_slice(b": ");
        text.extend_from_slice(value.as_bytes());
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(b"connection: close\r\ntransfer-encoding: chunked\r\n\r\n");
    text
}

fn chunk(text: &mut Vec<u8>, piece: &Bytes) {
    // An empty one would be the last.
    if piece.is_empty() {
        return;
    }
    text.reserve_exact(piece.len() + 20);
    // Writing into a vector can't fail.
    let _ = write!(text, "{:x}\r\n", piece.len());
    text.extend_from_slice(piece);
    text.extend_from_slice(b"\r\n");
}

/// Returns false if the reader is gone, or accepts nothing any more.
async fn write(socket: &mut TcpStream, text: Vec<u8>) -> bool {
    // Mostly there is room.
    let written = match socket.try_write(&text) {
        Ok(written) if written == text.len() => return true,
        Ok(written) => written,
        Err(fault) if fault.kind() == io::ErrorKind::WouldBlock => 0,
        Err(_) => return false,
    };
    let rest = Box::pin(timeout(WRITE_PATIENCE, socket.write_all(&text[written..])));
    matches!(rest.await, Ok(Ok(())))
}

/// Ends when the reader closes the connection or sends anything more, which has no answer.
async fn gone(socket: &TcpStream) {
    loop {
        if socket.readable().await.is_err() {
            return;
        }
        match socket.try_read(&mut [0; 16]) {
            Err(fault) if fault.kind() == io::ErrorKind::WouldBlock => {}
            _ => return,
        }
    }
}

/// A socket that is lent to a connection. What is left of it is in the hand.
pub(super) struct LentSocket {
    socket: Option<TcpStream>,
    hand: Arc<ConnectionHandOver>,
}

impl LentSocket {
    pub(super) fn new(socket: TcpStream, hand: &Arc<ConnectionHandOver>) -> Self {
        Self { socket: Some(socket), hand: Arc::clone(hand) }
    }

    fn socket(&mut self) -> io::Result<Pin<&mut TcpStream>> {
        self.socket.as_mut().map(Pin::new).ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl Drop for LentSocket {
    fn drop(&mut self) {
        // Without an answer to be written it is closed with the connection.
        if lock(&self.hand.answer).is_some() {
            *lock(&self.hand.socket) = self.socket.take();
        }
    }
}

impl AsyncRead for LentSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.socket() {
            Ok(socket) => socket.poll_read(context, buffer),
            Err(fault) => Poll::Ready(Err(fault)),
        }
    }
}

impl AsyncWrite for LentSocket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.socket() {
            Ok(socket) => socket.poll_write(context, bytes),
            Err(fault) => Poll::Ready(Err(fault)),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.socket() {
            Ok(socket) => socket.poll_write_vectored(context, pieces),
            Err(fault) => Poll::Ready(Err(fault)),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.socket() {
            Ok(socket) => socket.poll_flush(context),
            Err(fault) => Poll::Ready(Err(fault)),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.socket() {
            Ok(socket) => socket.poll_shutdown(context),
            Err(fault) => Poll::Ready(Err(fault)),
        }
    }
}
