//! The real process, killed beside a mail server: between making a message and handing it over, and
//! between handing it over and noting that it was taken (acceptance A19).

#![allow(
    clippy::unwrap_used,
    reason = "a test ends where something is not as it should be"
)]

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use serde_json::{Value, json};

mod serving;

use serving::{Api, Patience, Server};

const CONFIG: &str = r#"
[categories.news]

[types.note]
category = "news"
[types.note.channels]
inbox = { policy = "now" }
email = { policy = "now" }

[channels.email]
provider = "smtp://127.0.0.1:PORT?tls=none"
from = "News <news@example.org>"
"#;

/// How long a mail is waited for; the server that is tested has a clock of its own.
const WAIT: Duration = Duration::from_secs(60);

/// Where a line stops answering for good.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stops {
    Never,
    /// At `DATA`: the message was not handed over.
    BeforeContent,
    /// After the final dot: it was, and the client can't know it.
    AfterDot,
}

/// What a line tells the test.
#[derive(Debug, PartialEq, Eq)]
enum Heard {
    /// It stopped before the content.
    Announced,
    /// A whole message, byte by byte.
    Message(String),
}

/// A mail server that plays one script a line, and the last one for ever.
struct MailServer {
    port: u16,
    heard: Receiver<Heard>,
}

impl MailServer {
    fn start(scripts: &'static [Stops]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tell, heard) = mpsc::channel();
        std::thread::spawn(move || {
            for number in 0_usize.. {
                let Ok((stream, _)) = listener.accept() else {
                    return;
                };
                let script = scripts[number.min(scripts.len() - 1)];
                let tell = tell.clone();
                // A client keeps lines open and uses several. That it is killed breaks them.
                std::thread::spawn(move || drop(answer(stream, script, &tell)));
            }
        });
        Self { port, heard }
    }

    fn next(&self) -> Heard {
        self.heard.recv_timeout(WAIT).unwrap()
    }

    fn next_message(&self) -> String {
        match self.next() {
            Heard::Message(text) => text,
            Heard::Announced => panic!("it stopped before the content"),
        }
    }
}

/// Speaks SMTP on one line until the client hangs up.
fn answer(stream: TcpStream, stops: Stops, tell: &Sender<Heard>) -> std::io::Result<()> {
    let mut line = BufReader::new(stream);
    let mut says = b"220 mail.example.org ready\r\n".to_vec();
    loop {
        line.get_mut().write_all(&says)?;
        let mut command = String::new();
        if line.read_line(&mut command)? == 0 {
            return Ok(());
        }
        let is_data = command.starts_with("DATA");
        if is_data && stops == Stops::BeforeContent {
            tell.send(Heard::Announced).unwrap();
            return line.read_to_end(&mut Vec::new()).map(drop);
        }
        if is_data {
            line.get_mut().write_all(b"354 go on\r\n")?;
            tell.send(Heard::Message(read_content(&mut line)?)).unwrap();
            if stops == Stops::AfterDot {
                return line.read_to_end(&mut Vec::new()).map(drop);
            }
        }
        says = b"250 2.0.0 ok\r\n".to_vec();
    }
}

fn read_content(line: &mut BufReader<TcpStream>) -> std::io::Result<String> {
    let mut content = String::new();
    while !content.ends_with("\r\n.\r\n") {
        if line.read_line(&mut content)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(content)
}

fn message_id(mail: &str) -> &str {
    let line = mail.lines().find(|line| line.starts_with("Message-ID:"));
    line.unwrap()
}

fn publish(api: &Api, id: &str, title: &str) {
    let event = json!({
        "id": id,
        "type": "note",
        "object": {"id": id, "title": title},
        "to": {"recipients": ["ana"]},
    });
    let (status, answer) = api.post("/v1/events", &event).unwrap();
    assert_eq!(status, 202, "{answer}");
}

/// What became of the mails of an event, once none is on its way any more.
fn mailed(api: &Api, id: &str) -> Value {
    let patience = Patience::new();
    loop {
        let (status, event) = api.get(&format!("/v1/events/{id}")).unwrap();
        assert_eq!(status, 200, "{event}");
        let email = &event["channels"]["email"];
        if email["pending"] == 0 {
            return email["outcomes"].clone();
        }
        patience.wait(|| format!("still on its way: {event}"));
    }
}

/// A server with a recipient, whose mails go to `mail`.
fn begin(mail: &MailServer, directory: &Path) -> Server {
    let config = CONFIG.replace("PORT", &mail.port.to_string());
    std::fs::write(directory.join("tidings.toml"), config).unwrap();
    let server = again(directory);
    let profile = json!({"email": "ana@example.org"});
    let (status, answer) = Api::new(&server.url)
        .put("/v1/recipients/ana", &profile)
        .unwrap();
    assert!(status < 300, "{answer}");
    server
}

fn again(directory: &Path) -> Server {
    Server::start(&directory.join("tidings.toml"), &directory.join("data"))
}

#[test]
fn a19_killed_before_the_hand_over_it_is_handed_over_once() {
    let mail = MailServer::start(&[Stops::BeforeContent, Stops::Never]);
    let directory = tempfile::tempdir().unwrap();
    let server = begin(&mail, directory.path());
    publish(&Api::new(&server.url), "e1", "First");
    assert_eq!(mail.next(), Heard::Announced);
    server.kill();
    let server = again(directory.path());
    let api = Api::new(&server.url);
    // It must not get into the message that was made, and must be told by one of its own.
    publish(&api, "e2", "Second");
    for event in ["e1", "e2"] {
        assert_eq!(mailed(&api, event), json!({"delivered": 1}));
    }
    let mails = [mail.next_message(), mail.next_message()];
    assert_ne!(message_id(&mails[0]), message_id(&mails[1]));
    for title in ["First", "Second"] {
        let telling = mails.iter().filter(|mail| mail.contains(title)).count();
        assert_eq!(telling, 1, "{title}: {mails:?}");
    }
    // Nobody could know that the message was not handed over before.
    assert_eq!(api.metric("tidings_messages_resent_total"), 1);
    server.kill();
    // Nothing is left to be handed over.
    let server = again(directory.path());
    publish(&Api::new(&server.url), "e3", "Third");
    assert!(mail.next_message().contains("Third"));
    assert_eq!(
        mailed(&Api::new(&server.url), "e3"),
        json!({"delivered": 1})
    );
}

#[test]
fn a19_killed_after_the_hand_over_the_same_message_goes_once_more() {
    let mail = MailServer::start(&[Stops::AfterDot, Stops::Never]);
    let directory = tempfile::tempdir().unwrap();
    let server = begin(&mail, directory.path());
    publish(&Api::new(&server.url), "e1", "First");
    let first = mail.next_message();
    server.kill();
    let server = again(directory.path());
    let api = Api::new(&server.url);
    publish(&api, "e2", "Second");
    for event in ["e1", "e2"] {
        assert_eq!(mailed(&api, event), json!({"delivered": 1}));
    }
    let mails = [mail.next_message(), mail.next_message()];
    let is_same = |mail: &&String| message_id(mail) == message_id(&first);
    let same: Vec<&String> = mails.iter().filter(is_same).collect();
    assert_eq!(same, [&first], "the same bytes under the same name");
    let other = mails.iter().find(|mail| !is_same(mail)).unwrap();
    assert!(other.contains("Second") && !other.contains("First"));
    assert_eq!(api.metric("tidings_messages_resent_total"), 1);
    server.kill();
    let server = again(directory.path());
    publish(&Api::new(&server.url), "e3", "Third");
    assert!(
        mail.next_message().contains("Third"),
        "nothing goes a third time"
    );
    assert_eq!(
        mailed(&Api::new(&server.url), "e3"),
        json!({"delivered": 1})
    );
}

/// Starts a server that waits so long at its end, with a mail that the mail server holds.
fn holding(mail: &MailServer, directory: &Path, drain: &str) -> Server {
    drop(begin(mail, directory));
    let log = std::fs::File::create(directory.join("log")).unwrap();
    let (config, data) = (directory.join("tidings.toml"), directory.join("data"));
    let server = Server::start_with_drain(&config, &data, drain, log);
    publish(&Api::new(&server.url), "e1", "First");
    assert_eq!(mail.next(), Heard::Announced);
    server
}

#[test]
fn a19_a_stop_ends_with_its_drain_although_the_mail_server_hangs() {
    let mail = MailServer::start(&[Stops::BeforeContent, Stops::Never]);
    let directory = tempfile::tempdir().unwrap();
    let server = holding(&mail, directory.path(), "100ms");
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0));
    let said = std::fs::read_to_string(directory.path().join("log")).unwrap();
    assert!(said.contains("messages=1"), "{said}");
    // What was under way goes as after a crash.
    let server = again(directory.path());
    let api = Api::new(&server.url);
    assert_eq!(mailed(&api, "e1"), json!({"delivered": 1}));
    assert!(mail.next_message().contains("First"));
    assert_eq!(api.metric("tidings_messages_resent_total"), 1);
}

#[test]
fn a_second_signal_ends_at_once() {
    let mail = MailServer::start(&[Stops::BeforeContent]);
    let directory = tempfile::tempdir().unwrap();
    let server = holding(&mail, directory.path(), "1h");
    server.signal("TERM");
    let patience = Patience::new();
    loop {
        let said = std::fs::read_to_string(directory.path().join("log")).unwrap();
        if said.contains("stopping") {
            break;
        }
        patience.wait(|| said.clone());
    }
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(1));
}
