//! Frames of HTTP/2 of a client that never reads the answers.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// SETTINGS with an initial window of 0: no byte of a body is accepted.
const SETTINGS: &[u8] = &[0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0];

/// The acknowledgement of the server's SETTINGS.
const SETTINGS_ACK: &[u8] = &[0, 0, 0, 4, 1, 0, 0, 0, 0];

/// The type of a frame that a connection has to answer.
const PING: u8 = 6;

/// Sends N requests on one connection, and accepts no byte of their answers. Pings are answered until the server
/// closes the connection. Each request has this many fields more, of a byte each by HPACK.
pub(super) async fn never_read(
    address: SocketAddr,
    requests: u32,
    (path, token): (&str, &str),
    fields: usize,
) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(address).await?;
    let mut out = [PREFACE, SETTINGS, SETTINGS_ACK].concat();
    for request in 0..requests {
        let mut block = Vec::new();
        field(&mut block, b":method", b"GET");
        field(&mut block, b":scheme", b"http");
        field(&mut block, b":path", path.as_bytes());
        field(&mut block, b":authority", b"localhost");
        field(&mut block, b"authorization", format!("Bearer {token}").as_bytes());
        if fields > 0 && request == 0 {
            // It becomes the first entry of the table, so that a byte is a field.
            block.push(0x40);
            text(&mut block, b"x");
            text(&mut block, &[b'y'; 32]);
        }
        block.resize(block.len() + fields, 0x80 | 62);
        headers(&mut out, 2 * request + 1, &block);
    }
    stream.write_all(&out).await?;
    let mut head = [0; 9];
    let mut body = Vec::new();
    loop {
        stream.read_exact(&mut head).await?;
        let [a, b, c, kind, flags, ..] = head;
        body.resize(u32::from_be_bytes([0, a, b, c]) as usize, 0);
        stream.read_exact(&mut body).await?;
        if kind == PING && flags & 1 == 0 {
            stream.write_all(&[0, 0, 8, PING, 1, 0, 0, 0, 0]).await?;
            stream.write_all(&body).await?;
        }
    }
}

/// A HEADERS frame that ends its stream.
fn headers(out: &mut Vec<u8>, stream: u32, block: &[u8]) {
    let length = u32::try_from(block.len()).unwrap_or_default().to_be_bytes();
    out.extend_from_slice(&length[1..]);
    // END_STREAM and END_HEADERS.
    out.extend_from_slice(&[1, 0x05]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(block);
}

/// A field that is not added to the table.
fn field(block: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    block.push(0);
    text(block, name);
    text(block, value);
}

/// A text that is not compressed.
fn text(block: &mut Vec<u8>, text: &[u8]) {
    let mut left = text.len();
    if left < 127 {
        block.push(u8::try_from(left).unwrap_or_default());
    } else {
        block.push(127);
        left -= 127;
        while left >= 128 {
            block.push(u8::try_from(left % 128).unwrap_or_default() | 128);
            left /= 128;
        }
        block.push(u8::try_from(left).unwrap_or_default());
    }
    block.extend_from_slice(text);
}
