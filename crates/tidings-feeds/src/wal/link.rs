//! A connection over which a server sends its log: the streaming replication protocol, which `tokio-postgres` has not.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::frontend;
use rustls::pki_types::ServerName;
use tidings_tls::postgres::{Database, Tls};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;
use tokio_postgres::Config;
use tokio_postgres::config::Host;
use tokio_postgres::types::PgLsn;
use tokio_rustls::TlsConnector;

use super::decode;
use crate::Fault;

/// Time that a connection, a command or a confirmation may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// The port where none is written.
const PORT: u16 = 5432;

/// The most bytes of a message from the server: PostgreSQL has no value beyond 1 GiB.
const MESSAGE_BYTES_MAX: usize = (1 << 30) + (64 << 10);

/// Bytes that are read at once.
const READ_BYTES: usize = 64 << 10;

/// A way to a server, encrypted or not.
trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<W: AsyncRead + AsyncWrite + Send + Unpin> Wire for W {}

/// A message of the server, without its length.
struct Said {
    kind: u8,
    body: Bytes,
}

/// A connection of a reader of the log.
pub(super) struct Link {
    wire: Box<dyn Wire>,
    received: BytesMut,
}

fn broken(fault: &std::io::Error) -> Fault {
    Fault::Passing(format!("the connection for the log broke: {fault}"))
}

fn odd(what: &str) -> Fault {
    Fault::Passing(format!("the connection for the log: {what}"))
}

async fn within<T>(asked: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    match timeout(PATIENCE, asked).await {
        Ok(answer) => answer,
        Err(_) => {
            let seconds = PATIENCE.as_secs();
            Err(odd(&format!("no answer within {seconds} s")))
        }
    }
}

impl Link {
    /// Connects to the server, and begins to read its log from a place.
    pub(super) async fn start(
        database: &Database,
        slot: &str,
        publication: &str,
        from: PgLsn,
    ) -> Result<Self, Fault> {
        let mut link = within(Self::connect(database)).await?;
        let slot = crate::sql::quoted(slot);
        let publication = crate::sql::literal(&crate::sql::quoted(publication));
        let start = format!(
            "START_REPLICATION SLOT {slot} LOGICAL {from} \
             (proto_version '1', publication_names {publication}, messages 'true')"
        );
        within(link.begin_stream(&start)).await?;
        Ok(link)
    }

    async fn begin_stream(&mut self, start: &str) -> Result<(), Fault> {
        self.send(|out| frontend::query(start, out)).await?;
        match self.said().await?.kind {
            b'W' => Ok(()),
            _ => Err(odd("the server does not send its log")),
        }
    }

    /// Connects to the first host that is there and writes.
    async fn connect(database: &Database) -> Result<Self, Fault> {
        let config = &database.config;
        let hosts = config.get_hosts();
        let mut last = odd("the address names no host");
        for (index, host) in hosts.iter().enumerate() {
            let port = match config.get_ports() {
                [] => PORT,
                [port] => *port,
                ports => ports.get(index).copied().unwrap_or(PORT),
            };
            let address = config.get_hostaddrs().get(index).map(ToString::to_string);
            let attempt = Self::connect_to(database, host, address, port, hosts.len() > 1);
            let patience = config.get_connect_timeout().copied().unwrap_or(PATIENCE);
            match timeout(patience.max(Duration::from_secs(1)), attempt).await {
                Ok(Ok(link)) => return Ok(link),
                Ok(Err(fault)) => last = fault,
                Err(_) => last = odd("no connection in time"),
            }
        }
        Err(last)
    }

    async fn connect_to(
        database: &Database,
        host: &Host,
        address: Option<String>,
        port: u16,
        asks_if_writable: bool,
    ) -> Result<Self, Fault> {
        let wire: Box<dyn Wire> = match host {
            Host::Unix(folder) => {
                let path = folder.join(format!(".s.PGSQL.{port}"));
                Box::new(UnixStream::connect(path).await.map_err(|fault| broken(&fault))?)
            }
            Host::Tcp(name) => {
                let to = address.as_deref().unwrap_or(name);
                let tcp = TcpStream::connect((to, port)).await.map_err(|fault| broken(&fault))?;
                tcp.set_nodelay(true).map_err(|fault| broken(&fault))?;
                match &database.tls {
                    Tls::Off => Box::new(tcp),
                    Tls::Verified(trust) => encrypted(tcp, name, trust).await?,
                }
            }
        };
        let mut link = Self { wire, received: BytesMut::new() };
        link.log_in(&database.config).await?;
        if asks_if_writable && !link.is_writable().await? {
            return Err(odd("the server is a standby"));
        }
        Ok(link)
    }

    async fn log_in(&mut self, config: &Config) -> Result<(), Fault> {
        let user = config.get_user().ok_or_else(|| odd("the address names no user"))?;
        let mut parameters = vec![
            ("user", user),
            ("database", config.get_dbname().unwrap_or(user)),
            ("replication", "database"),
            ("client_encoding", "UTF8"),
        ];
        parameters.extend(config.get_options().map(|options| ("options", options)));
        parameters.extend(config.get_application_name().map(|name| ("application_name", name)));
        self.send(|out| frontend::startup_message(parameters, out)).await?;
        let password = config.get_password();
        let mut scram: Option<ScramSha256> = None;
        loop {
            let Said { kind, body } = self.said().await?;
            if kind != b'R' {
                return Err(odd("the server does not ask who it is"));
            }
            let mut body = decode::Bytes(&body);
            let asked = body.u32().map_err(|why| odd(why.0))?;
            let needed = || password.ok_or_else(|| odd("the server asks for a password"));
            match (asked, &mut scram) {
                // A server that asked for a proof has to give its own.
                (0, None) => break,
                (3, None) => {
                    let password = needed()?;
                    self.send(|out| frontend::password_message(password, out)).await?;
                }
                (5, None) => {
                    let salt = body.0.try_into().map_err(|_| odd("a salt is torn"))?;
                    let hash = md5_hash(user.as_bytes(), needed()?, salt);
                    self.send(|out| frontend::password_message(hash.as_bytes(), out)).await?;
                }
                (10, None) => {
                    if !body.0.split(|byte| *byte == 0).any(|one| one == SCRAM_SHA_256.as_bytes()) {
                        return Err(odd("the server takes no SCRAM-SHA-256"));
                    }
                    let begun = ScramSha256::new(needed()?, ChannelBinding::unsupported());
                    let first = begun.message().to_vec();
                    scram = Some(begun);
                    self.send(|out| frontend::sasl_initial_response(SCRAM_SHA_256, &first, out))
                        .await?;
                }
                (11, Some(begun)) => {
                    begun.update(body.0).map_err(|fault| broken(&fault))?;
                    let answer = begun.message().to_vec();
                    self.send(|out| frontend::sasl_response(&answer, out)).await?;
                }
                (12, Some(begun)) => {
                    begun.finish(body.0).map_err(|fault| broken(&fault))?;
                    scram = None;
                }
                _ => return Err(odd("the server asks for an authentication that is not known")),
            }
        }
        self.until_ready().await.map(drop)
    }

    /// Returns true if the server is not a standby.
    async fn is_writable(&mut self) -> Result<bool, Fault> {
        self.send(|out| frontend::query("SELECT pg_is_in_recovery()", out)).await?;
        // One column, one byte long.
        Ok(self.until_ready().await?.is_some_and(|row| row.ends_with(b"\0\0\0\x01f")))
    }

    /// Reads answers until the server waits for a command; returns the last row.
    async fn until_ready(&mut self) -> Result<Option<Bytes>, Fault> {
        let mut row = None;
        loop {
            let Said { kind, body } = self.said().await?;
            match kind {
                b'Z' => return Ok(row),
                b'D' => row = Some(body),
                _ => {}
            }
        }
    }

    async fn send(
        &mut self,
        write: impl FnOnce(&mut BytesMut) -> std::io::Result<()>,
    ) -> Result<(), Fault> {
        let mut out = BytesMut::new();
        write(&mut out).map_err(|fault| broken(&fault))?;
        self.wire.write_all(&out).await.map_err(|fault| broken(&fault))?;
        self.wire.flush().await.map_err(|fault| broken(&fault))
    }

    /// Tells the server that all up to a place is durable here, and asks for a sign of life.
    pub(super) async fn confirm(&mut self, place: PgLsn) -> Result<(), Fault> {
        let mut data = vec![b'r'];
        // Written, flushed and applied are the same.
        for _ in 0..3 {
            data.extend(u64::from(place).to_be_bytes());
        }
        // The time, which the server only shows.
        data.extend([0; 8]);
        data.push(1);
        within(self.send(|out| {
            frontend::CopyData::new(&data[..])?.write(out);
            Ok(())
        }))
        .await
    }

    /// The next frame of the log. Dropped at a wait it loses nothing.
    pub(super) async fn frame(&mut self) -> Result<Bytes, Fault> {
        self.awaited(b'd').await
    }

    /// The next frame of the log that is here already.
    pub(super) async fn frame_here(&mut self) -> Result<Option<Bytes>, Fault> {
        tokio::select! {
            biased;
            frame = self.awaited(b'd') => frame.map(Some),
            () = std::future::ready(()) => Ok(None),
        }
    }

    async fn awaited(&mut self, kind: u8) -> Result<Bytes, Fault> {
        loop {
            let said = self.said().await?;
            match said.kind {
                _ if said.kind == kind => return Ok(said.body),
                b'c' => return Err(odd("the server ends the log; it may be stopping")),
                _ => {}
            }
        }
    }

    /// The next message that is no note on the side.
    async fn said(&mut self) -> Result<Said, Fault> {
        loop {
            let said = self.message().await?;
            match said.kind {
                b'E' => return Err(refused(&said.body)),
                b'N' | b'S' | b'K' | b'A' => {}
                _ => return Ok(said),
            }
        }
    }

    async fn message(&mut self) -> Result<Said, Fault> {
        loop {
            if let Some(said) = split(&mut self.received)? {
                return Ok(said);
            }
            self.received.reserve(READ_BYTES);
            let read = self.wire.read_buf(&mut self.received).await;
            if read.map_err(|fault| broken(&fault))? == 0 {
                return Err(odd("the server closed it"));
            }
        }
    }
}

async fn encrypted(
    mut tcp: TcpStream,
    name: &str,
    trust: &Arc<rustls::ClientConfig>,
) -> Result<Box<dyn Wire>, Fault> {
    let mut asked = BytesMut::new();
    frontend::ssl_request(&mut asked);
    tcp.write_all(&asked).await.map_err(|fault| broken(&fault))?;
    // What follows belongs to the handshake: one byte and no more.
    if tcp.read_u8().await.map_err(|fault| broken(&fault))? != b'S' {
        return Err(odd("the server has no TLS"));
    }
    let name = ServerName::try_from(name.to_owned()).map_err(|why| odd(&why.to_string()))?;
    let connecting = TlsConnector::from(Arc::clone(trust)).connect(name, tcp);
    Ok(Box::new(connecting.await.map_err(|fault| broken(&fault))?))
}

/// Takes a whole message off what was received.
fn split(received: &mut BytesMut) -> Result<Option<Said>, Fault> {
    let Some((&[kind, a, b, c, d], _)) = received.split_first_chunk() else {
        return Ok(None);
    };
    let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).unwrap_or(usize::MAX);
    if !(4..=MESSAGE_BYTES_MAX).contains(&length) {
        return Err(odd("a message of an impossible length"));
    }
    if received.len() <= length {
        return Ok(None);
    }
    let mut body = received.split_to(length + 1).freeze();
    body.advance(5);
    Ok(Some(Said { kind, body }))
}

/// The fault of a refusal of the server.
fn refused(body: &[u8]) -> Fault {
    let mut fields = decode::Bytes(body);
    let (mut message, mut code) = (String::new(), String::new());
    while let (Ok(kind @ 1..), Ok(text)) = (fields.byte(), fields.text()) {
        let text = String::from_utf8_lossy(text);
        match kind {
            b'M' => message = text.into_owned(),
            b'C' => code = text.into_owned(),
            _ => {}
        }
    }
    let hint = match code.as_str() {
        "42501" | "28000" => super::slot::RIGHTS,
        "42704" if message.contains("publication") => super::slot::PUBLISHED_LATE,
        _ => "",
    };
    Fault::Passing(format!("PostgreSQL: {message} (SQLSTATE {code}){hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_split_where_they_end() {
        let mut received = BytesMut::new();
        for byte in b"d\0\0\0\x06" {
            assert!(split(&mut received).unwrap().is_none());
            received.extend([*byte]);
        }
        received.clear();
        received.extend(b"d\0\0\0\x06xyW\0\0\0\x04d\0");
        let said = split(&mut received).unwrap().unwrap();
        assert_eq!((said.kind, &said.body[..]), (b'd', &b"xy"[..]));
        let said = split(&mut received).unwrap().unwrap();
        assert_eq!((said.kind, said.body.len()), (b'W', 0));
        assert!(split(&mut received).unwrap().is_none());
        for length in [0_u32, 3, u32::MAX] {
            let mut received = BytesMut::from(&[&b"d"[..], &length.to_be_bytes()].concat()[..]);
            assert!(split(&mut received).is_err());
        }
    }

    #[test]
    fn a_refusal_is_told_with_a_way_to_mend_it() {
        let body = b"SFATAL\0C42501\0Mmust be superuser or replication role\0\0";
        let said = refused(body).to_string();
        assert!(said.contains("replication role (SQLSTATE 42501)"), "{said}");
        assert!(said.contains("ALTER ROLE"), "{said}");
        assert!(refused(b"M").to_string().contains("PostgreSQL"));
    }
}
