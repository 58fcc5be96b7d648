//! A proxy that does harm to the requests that pass through it. Each connection has one request.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// The fate of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Harm {
    CutBefore,
    CutIn,
    /// The server gets it, and its answer is lost.
    CutAfter,
    /// The answer breaks off before its last bytes.
    CutInAnswer,
    /// The server gets it, and its answer never comes.
    Slow,
    /// Something else answers, and the server gets nothing.
    Answer(String),
}

#[derive(Clone, Default)]
pub(crate) struct Proxy {
    /// The fates of the next requests; what comes after them passes.
    pub(crate) harms: Arc<Mutex<VecDeque<Harm>>>,
    /// The heads of all requests.
    pub(crate) heads: Arc<Mutex<Vec<String>>>,
    pub(crate) url: String,
}

impl Proxy {
    pub(crate) async fn start(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let proxy = Self { url, ..Self::default() };
        let (it, target) = (proxy.clone(), target.trim_start_matches("http://").to_owned());
        tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let (it, target) = (it.clone(), target.clone());
                // Connections that break are what this is for.
                tokio::spawn(async move { it.serve(client, &target).await });
            }
        });
        proxy
    }

    pub(crate) fn harm(&self, harms: impl IntoIterator<Item = Harm>) {
        self.harms.lock().unwrap().extend(harms);
    }

    /// The values of a header of all requests so far; then they are forgotten.
    pub(crate) fn take(&self, header: &str) -> Vec<String> {
        let heads = std::mem::take(&mut *self.heads.lock().unwrap());
        let value = |head: &String| {
            let of = |line: &str| {
                Some(line.split_once(": ").filter(|(name, _)| *name == header)?.1.to_owned())
            };
            head.lines().find_map(of).unwrap_or_default()
        };
        heads.iter().map(value).collect()
    }

    async fn serve(&self, mut client: TcpStream, target: &str) -> io::Result<()> {
        let harm = self.harms.lock().unwrap().pop_front();
        if harm == Some(Harm::CutBefore) {
            return Ok(());
        }
        let mut request = Vec::new();
        while !is_whole(&request) {
            if client.read_buf(&mut request).await? == 0 {
                return Ok(());
            }
            // Its head has come, and its body not as a whole.
            if harm == Some(Harm::CutIn) && request.windows(4).any(|end| end == b"\r\n\r\n") {
                self.note(&request);
                return Ok(());
            }
        }
        self.note(&request);
        if let Some(Harm::Answer(answer)) = &harm {
            client.write_all(answer.as_bytes()).await?;
            return client.shutdown().await;
        }
        let mut server = TcpStream::connect(target).await?;
        let line = request.iter().position(|byte| *byte == b'\n').unwrap_or_default() + 1;
        server.write_all(&request[..line]).await?;
        server.write_all(b"connection: close\r\n").await?;
        server.write_all(&request[line..]).await?;
        if harm.is_none() {
            tokio::io::copy(&mut server, &mut client).await?;
            return client.shutdown().await;
        }
        let mut answer = Vec::new();
        server.read_to_end(&mut answer).await?;
        match harm {
            Some(Harm::CutInAnswer) => client.write_all(&answer[..answer.len() - 3]).await,
            // Until the client has enough of it.
            Some(Harm::Slow) => client.read_buf(&mut answer).await.map(|_| ()),
            _ => Ok(()),
        }
    }

    fn note(&self, request: &[u8]) {
        let head = String::from_utf8_lossy(request);
        let head = head.split("\r\n\r\n").next().unwrap_or_default().to_owned();
        self.heads.lock().unwrap().push(head);
    }
}

fn is_whole(request: &[u8]) -> bool {
    let Some(end) = request.windows(4).position(|end| end == b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(&request[..end]).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    request.len() - end - 4 >= length.unwrap_or(0)
}

/// An answer of something that is not the server.
pub(crate) fn answer(status: &str, more: &str, body: &str) -> Harm {
    let length = body.len();
    Harm::Answer(format!(
        "HTTP/1.1 {status}\r\n{more}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    ))
}
