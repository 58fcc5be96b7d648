//! A mail server on loopback that stops where a test says, and tells what it was handed.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Time that a mail is waited for; the server that is tested has a clock of its own.
const WAIT: Duration = Duration::from_secs(300);

/// The point at which a line stops answering for good.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stops {
    Never,
    /// At `DATA`: the message was not handed over.
    BeforeContent,
    /// After the final dot: it was, and the client can't know it.
    AfterDot,
    /// Never, but each message is to come again later.
    Defers,
    /// Never, but there is no mailbox whose name begins with `bad`.
    RefusesBad,
    /// Never, but the first message to each address is refused for good, since its mailbox is full.
    RefusesFirst,
}

/// A report of a line to the test.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// It stopped before the content.
    Announced,
    /// A whole message, byte by byte.
    Message(String),
}

/// A mail server that plays one script a line, and the last one for ever.
pub(crate) struct MailServer {
    pub(crate) port: u16,
    pub(crate) heard: Receiver<Heard>,
}

impl MailServer {
    /// Starts it on a free port of loopback.
    pub(crate) fn start(scripts: &'static [Stops]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tell, heard) = mpsc::channel();
        let refused = Arc::<Mutex<BTreeSet<String>>>::default();
        std::thread::spawn(move || {
            for number in 0_usize.. {
                let Ok((stream, _)) = listener.accept() else {
                    return;
                };
                let script = scripts[number.min(scripts.len() - 1)];
                let (tell, refused) = (tell.clone(), Arc::clone(&refused));
                // A client keeps lines open and uses several. That it is killed breaks them.
                std::thread::spawn(move || drop(answer(stream, script, &tell, &refused)));
            }
        });
        Self { port, heard }
    }

    /// The next thing that it hears.
    pub(crate) fn next(&self) -> Heard {
        self.heard.recv_timeout(WAIT).unwrap()
    }

    /// The next message, which is the next that it hears.
    pub(crate) fn next_message(&self) -> String {
        match self.next() {
            Heard::Message(text) => text,
            Heard::Announced => panic!("it stopped before the content"),
        }
    }
}

/// Speaks SMTP on one line until the client hangs up.
fn answer(
    stream: TcpStream,
    stops: Stops,
    tell: &Sender<Heard>,
    refused: &Mutex<BTreeSet<String>>,
) -> std::io::Result<()> {
    let mut line = BufReader::new(stream);
    let mut says = b"220 mail.example.org ready\r\n".to_vec();
    loop {
        line.get_mut().write_all(&says)?;
        let mut command = String::new();
        if line.read_line(&mut command)? == 0 {
            return Ok(());
        }
        if stops == Stops::RefusesBad && command.starts_with("RCPT TO:<bad") {
            says = b"550 5.1.1 no such user\r\n".to_vec();
            continue;
        }
        if stops == Stops::RefusesFirst
            && command.starts_with("RCPT TO:")
            && refused.lock().unwrap().insert(command.clone())
        {
            says = b"552 5.2.2 mailbox full\r\n".to_vec();
            continue;
        }
        let is_data = command.starts_with("DATA");
        if is_data && stops == Stops::BeforeContent {
            tell.send(Heard::Announced).unwrap();
            return line.read_to_end(&mut Vec::new()).map(drop);
        }
        if is_data && stops == Stops::Defers {
            says = b"451 4.3.0 <ana@example.org> is busy\r\n".to_vec();
            continue;
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

/// The line of a mail that names it.
pub(crate) fn message_id(mail: &str) -> &str {
    let line = mail.lines().find(|line| line.starts_with("Message-ID:"));
    line.unwrap()
}
