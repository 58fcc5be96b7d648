//! A server that answers what it is told to.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// An answer by the beginning of the request's first line.
pub(crate) type Answers = Vec<(&'static str, &'static str, String)>;

pub(crate) struct Stub {
    pub(crate) url: String,
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
}

impl Stub {
    /// A server that says this version, and gives these answers: (begin of the first line, status, body).
    pub(crate) async fn start(version: &'static str, answers: Answers) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let (noted, answers) = (Arc::clone(&requests), Arc::new(answers));
        tokio::spawn(async move {
            loop {
                let (mut client, _) = listener.accept().await.unwrap();
                let (noted, answers) = (Arc::clone(&noted), Arc::clone(&answers));
                tokio::spawn(async move {
                    let mut read = Vec::new();
                    while !read.windows(4).any(|end| end == b"\r\n\r\n") {
                        if client.read_buf(&mut read).await.unwrap_or(0) == 0 {
                            return;
                        }
                    }
                    let request = String::from_utf8_lossy(&read).into_owned();
                    let found = answers.iter().find(|(begin, ..)| request.starts_with(begin));
                    let (_, status, body) = found.cloned().unwrap_or_else(|| {
                        let lacks = r#"{"type": "/errors/not_found", "title": "Not found", "status": 404, "detail": "no call has the path", "code": "not_found", "hint": ""}"#;
                        ("", "404 Not Found", lacks.to_owned())
                    });
                    noted.lock().unwrap().push(request);
                    let length = body.len();
                    let answer = format!(
                        "HTTP/1.1 {status}\r\nx-tidings-version: {version}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
                    );
                    let _ = client.write_all(answer.as_bytes()).await;
                    let _ = client.shutdown().await;
                });
            }
        });
        Self { url, requests }
    }
}
