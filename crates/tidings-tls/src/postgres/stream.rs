//! TLS under a connection to a database: `rustls` behind the interface of `tokio-postgres`.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use ring::digest::{SHA256, SHA384, SHA512, digest};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream as Stream;

use crate::der::signature_algorithm;

/// Encryption of connections, or none.
#[derive(Clone)]
pub enum Tls {
    /// They are not.
    Off,
    /// They are, to a server with a certificate that is believed.
    Verified(Arc<ClientConfig>),
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Encrypted;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        let Self::Verified(config) = self else {
            return Ok(Handshake(None));
        };
        if host.is_empty() {
            return Ok(Handshake(None));
        }
        let host = ServerName::try_from(host.to_owned())
            .map_err(|fault| io::Error::new(io::ErrorKind::InvalidInput, fault))?;
        Ok(Handshake(Some((Arc::clone(config), host))))
    }
}

/// A handshake that is to be done with a host; `None` where there is none to do, or the host has no name.
pub struct Handshake(Option<(Arc<ClientConfig>, ServerName<'static>)>);

impl TlsConnect<Socket> for Handshake {
    type Stream = Encrypted;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let (config, host) = self.0.ok_or_else(|| io::Error::other("the host has no name"))?;
            let stream = TlsConnector::from(config).connect(host, socket).await?;
            Ok(Encrypted(Box::new(stream)))
        })
    }
}

/// The hash of a server's certificate that binds a login to the connection (`tls-server-end-point`, RFC 5929, section
/// 4.1); `None` = there is none for its signature.
fn end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    // 1.2.840.113549.1.1 and 1.2.840.10045.4, and their last numbers.
    const RSA: [u8; 8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
    const ECDSA: [u8; 6] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04];
    let id = signature_algorithm(certificate)?;
    let algorithm = match (id.strip_prefix(&RSA), id.strip_prefix(&ECDSA)) {
        // MD5 and SHA-1 count as SHA-256.
        (Some([4 | 5 | 11]), _) | (_, Some([1] | [3, 2])) => &SHA256,
        (Some([12]), _) | (_, Some([3, 3])) => &SHA384,
        (Some([13]), _) | (_, Some([3, 4])) => &SHA512,
        _ => return None,
    };
    Some(digest(algorithm, certificate).as_ref().to_vec())
}

/// An encrypted connection.
pub struct Encrypted(Box<Stream<Socket>>);

impl TlsStream for Encrypted {
    fn channel_binding(&self) -> ChannelBinding {
        let certificates = self.0.get_ref().1.peer_certificates();
        let hashed = certificates.and_then(|known| end_point(known.first()?));
        hashed.map_or_else(ChannelBinding::none, ChannelBinding::tls_server_end_point)
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_read(context, into)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_shutdown(context)
    }
}
