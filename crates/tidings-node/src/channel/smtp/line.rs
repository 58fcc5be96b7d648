//! A connection to a mail server on which no step outlasts its deadline.
//!
//! The mail library bounds each read of the socket: a server that answers one byte every few seconds
//! would hold a thread for hours, in the middle of a TLS handshake too. Here every read and write gets
//! what is left of a deadline, so the library's commands and replies go over a socket of our own.

use std::fmt::Display;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS, Mechanism};
use lettre::transport::smtp::commands::{Auth, Ehlo, Starttls};
use lettre::transport::smtp::extension::{ClientId, Extension, ServerInfo};
use lettre::transport::smtp::response::{Response, Severity};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use super::server::MailServer;

/// Maximum number of bytes of one line of a reply; RFC 5321 allows 512.
const REPLY_LINE_BYTES_MAX: u64 = 1_000;
/// Maximum number of bytes of a whole reply.
const REPLY_BYTES_MAX: usize = 100_000;
/// Maximum number of rounds of a login.
const CHALLENGES_MAX: usize = 10;

/// The reason why a step failed.
#[derive(Debug)]
pub(super) enum SmtpError {
    /// The server refused it.
    Refused(Response),
    /// There was no complete reply.
    Broken(String),
    /// The server accepts ASCII addresses only, so nothing was sent to it.
    NoUnicode,
}

/// The deadline of a transaction, and the time limit of each of its answers.
#[derive(Clone, Copy, Debug)]
pub(super) struct TransactionDeadline {
    end: Instant,
    answer: Duration,
}

/// A connection to a mail server.
pub(super) struct SmtpConnection {
    stream: BufReader<SmtpStream>,
    offers: ServerInfo,
}

enum SmtpStream {
    Plain(DeadlineSocket),
    Encrypted(Box<StreamOwned<ClientConnection, DeadlineSocket>>),
}

/// A socket with a deadline for every read and write.
struct DeadlineSocket {
    socket: TcpStream,
    until: Instant,
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long a server is waited for is no decision of the engine's"
)]
fn now() -> Instant {
    Instant::now()
}

impl TransactionDeadline {
    /// Creates a deadline from now, with a limit for each answer.
    pub(super) fn new(whole_ms: u64, answer_ms: u64) -> Self {
        Self {
            end: now() + Duration::from_millis(whole_ms),
            answer: Duration::from_millis(answer_ms),
        }
    }

    /// The same deadline without a limit for each answer: a content may be large and the line slow.
    pub(super) fn for_content(self) -> Self {
        Self { answer: self.end.saturating_duration_since(now()), ..self }
    }

    /// The deadline of an answer that is requested now.
    fn answer(&self) -> Instant {
        self.end.min(now() + self.answer)
    }
}

impl SmtpConnection {
    /// Connects, encrypted from the first byte if `trust` is given, and exchanges greetings.
    pub(super) fn connect(
        server: &MailServer,
        trust: Option<&Arc<ClientConfig>>,
        hello: &ClientId,
        bound: TransactionDeadline,
    ) -> Result<Self, SmtpError> {
        let mut stream = SmtpStream::Plain(dial(server, bound)?);
        if let Some(trust) = trust {
            stream = stream.encrypted(server, trust)?;
        }
        let mut line = Self { stream: BufReader::new(stream), offers: ServerInfo::default() };
        line.until(bound.answer());
        line.reply()?;
        line.greet(hello, bound)?;
        Ok(line)
    }

    /// Returns true if the server offers encryption.
    pub(super) fn can_be_encrypted(&self) -> bool {
        self.offers.supports_feature(Extension::StartTls)
    }

    /// Returns true if the server takes addresses and headers beyond ASCII (RFC 6531).
    pub(super) fn takes_unicode(&self) -> bool {
        self.offers.supports_feature(Extension::SmtpUtfEight)
            && self.offers.supports_feature(Extension::EightBitMime)
    }

    /// Encrypts the line, and exchanges greetings again.
    pub(super) fn encrypt(
        mut self,
        server: &MailServer,
        trust: &Arc<ClientConfig>,
        hello: &ClientId,
        bound: TransactionDeadline,
    ) -> Result<Self, SmtpError> {
        if !self.can_be_encrypted() {
            return Err(broken("the server offers no STARTTLS"));
        }
        self.command(Starttls, bound)?;
        // What came behind the reply was said by who knows whom.
        if !self.stream.buffer().is_empty() {
            return Err(broken("the server spoke before the line was encrypted"));
        }
        let stream = self.stream.into_inner().encrypted(server, trust)?;
        let mut line = Self { stream: BufReader::new(stream), offers: ServerInfo::default() };
        line.greet(hello, bound)?;
        Ok(line)
    }

    /// Logs in.
    pub(super) fn log_in(
        &mut self,
        credentials: &Credentials,
        bound: TransactionDeadline,
    ) -> Result<(), SmtpError> {
        let mechanism = self.offers.get_auth_mechanism(DEFAULT_MECHANISMS);
        let Some(mechanism) = mechanism else {
            let offers_tokens = self.offers.supports_auth_mechanism(Mechanism::Xoauth2);
            return Err(broken(if offers_tokens {
                "the server offers no login by password, but one by OAuth (`auth=xoauth2`)"
            } else {
                "the server offers no login by password"
            }));
        };
        let odd = |_| broken("the server's challenge is none");
        let first = Auth::new(mechanism, credentials.clone(), None).map_err(odd)?;
        let mut reply = self.command(first, bound)?;
        for _ in 0..CHALLENGES_MAX {
            if !reply.has_code(334) {
                return Ok(());
            }
            let next = Auth::new_from_response(mechanism, credentials.clone(), &reply);
            reply = self.command(next.map_err(odd)?, bound)?;
        }
        Err(broken("the server does not stop asking for the password"))
    }

    /// Logs in with a token of OAuth in place of a password (XOAUTH2).
    pub(super) fn log_in_by_token(
        &mut self,
        credentials: Credentials,
        bound: TransactionDeadline,
    ) -> Result<(), SmtpError> {
        if !self.offers.supports_auth_mechanism(Mechanism::Xoauth2) {
            return Err(broken("the server offers no login by OAuth (XOAUTH2)"));
        }
        let odd = |_| broken("the token can't be sent");
        let first = Auth::new(Mechanism::Xoauth2, credentials, None).map_err(odd)?;
        let mut reply = self.command(first, bound)?;
        // The reason of a refusal is a challenge, to which nothing is answered.
        if reply.has_code(334) {
            reply = self.command("\r\n", bound)?;
        }
        if reply.has_code(334) { Err(broken("the server does not stop asking")) } else { Ok(()) }
    }

    /// Sends a command and waits for its reply.
    pub(super) fn command(
        &mut self,
        command: impl Display,
        bound: TransactionDeadline,
    ) -> Result<Response, SmtpError> {
        self.write(command.to_string().as_bytes(), bound)?;
        self.reply()
    }

    /// Writes data; the reply is read by the same deadline.
    pub(super) fn write(
        &mut self,
        bytes: &[u8],
        bound: TransactionDeadline,
    ) -> Result<(), SmtpError> {
        self.until(bound.answer());
        let stream = self.stream.get_mut();
        stream.write_all(bytes)?;
        Ok(stream.flush()?)
    }

    /// Reads a reply, by the deadline of the last write.
    pub(super) fn reply(&mut self) -> Result<Response, SmtpError> {
        let mut text = String::new();
        loop {
            let mut line = Vec::new();
            let mut bounded = (&mut self.stream).take(REPLY_LINE_BYTES_MAX);
            bounded.read_until(b'\n', &mut line)?;
            if !line.ends_with(b"\n") {
                return Err(broken("the server ended in the middle of a reply"));
            }
            text.push_str(&String::from_utf8_lossy(&line));
            if text.len() > REPLY_BYTES_MAX {
                return Err(broken("the server's reply is too long"));
            }
            if line.get(3) != Some(&b'-') {
                break;
            }
        }
        let reply: Response = text.parse().map_err(|_| broken("the server's reply is not SMTP"))?;
        if reply.is_positive() { Ok(reply) } else { Err(SmtpError::Refused(reply)) }
    }

    fn greet(&mut self, hello: &ClientId, bound: TransactionDeadline) -> Result<(), SmtpError> {
        let reply = self.command(Ehlo::new(hello.clone()), bound)?;
        let offers = ServerInfo::from_response(&reply);
        self.offers = offers.map_err(|_| broken("the server does not say who it is"))?;
        Ok(())
    }

    fn until(&mut self, deadline: Instant) {
        match self.stream.get_mut() {
            SmtpStream::Plain(socket) => socket.until = deadline,
            SmtpStream::Encrypted(stream) => stream.sock.until = deadline,
        }
    }
}

/// Connects to the first of the server's addresses that answers.
fn dial(server: &MailServer, bound: TransactionDeadline) -> Result<DeadlineSocket, SmtpError> {
    let mut last = broken("the server's name has no address");
    for address in (server.host.as_str(), server.port).to_socket_addrs()? {
        let until = bound.answer();
        let connected = left(until).and_then(|left| TcpStream::connect_timeout(&address, left));
        match connected {
            Ok(socket) => {
                // Commands are small and wait for their replies.
                socket.set_nodelay(true)?;
                return Ok(DeadlineSocket { socket, until });
            }
            Err(fault) => last = fault.into(),
        }
    }
    Err(last)
}

impl SmtpStream {
    /// Encrypts a line; the handshake takes place with the first bytes, by their deadline.
    fn encrypted(self, server: &MailServer, trust: &Arc<ClientConfig>) -> Result<Self, SmtpError> {
        let Self::Plain(socket) = self else {
            return Ok(self);
        };
        let odd = |fault: &dyn Display| broken(&fault.to_string());
        let name = ServerName::try_from(server.host.clone()).map_err(|fault| odd(&fault))?;
        let session =
            ClientConnection::new(Arc::clone(trust), name).map_err(|fault| odd(&fault))?;
        Ok(Self::Encrypted(Box::new(StreamOwned::new(session, socket))))
    }
}

impl Read for SmtpStream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(bytes),
            Self::Encrypted(stream) => stream.read(bytes),
        }
    }
}

impl Write for SmtpStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Encrypted(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            Self::Encrypted(stream) => stream.flush(),
        }
    }
}

impl Read for DeadlineSocket {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.socket.set_read_timeout(Some(left(self.until)?))?;
        self.socket.read(bytes)
    }
}

impl Write for DeadlineSocket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.set_write_timeout(Some(left(self.until)?))?;
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

/// The time left until a deadline; an error if there is none.
fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(now());
    if left.is_zero() {
        return Err(ErrorKind::TimedOut.into());
    }
    Ok(left)
}

impl SmtpError {
    /// The refusal, if the server sent one.
    pub(super) fn refusal(&self) -> Option<&Response> {
        match self {
            Self::Refused(reply) => Some(reply),
            Self::Broken(_) | Self::NoUnicode => None,
        }
    }

    /// Returns true if the line is of no further use.
    pub(super) fn is_broken(&self) -> bool {
        matches!(self, Self::Broken(_))
    }

    /// Returns true if the server refused permanently.
    pub(super) fn is_permanent(&self) -> bool {
        let severity = self.refusal().map(|reply| reply.code().severity);
        severity == Some(Severity::PermanentNegativeCompletion) || matches!(self, Self::NoUnicode)
    }
}

impl From<io::Error> for SmtpError {
    fn from(fault: io::Error) -> Self {
        match fault.kind() {
            // A socket's own time-out has either name.
            ErrorKind::WouldBlock | ErrorKind::TimedOut => broken("no answer in time"),
            _ => Self::Broken(fault.to_string()),
        }
    }
}

fn broken(why: &str) -> SmtpError {
    SmtpError::Broken(why.to_owned())
}
