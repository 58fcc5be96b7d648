//! Against a small mail server on the loopback that says what it is told to say.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use tidings_core::model::EMAIL_NO;

use super::super::provider::ProviderTarget;
use super::super::sample::email;
use super::super::sample::{GO, HOST, batch, clock, mail, rendered};
use super::*;

mod by_token;
mod postfix;
mod refused;
mod slow;

const PATIENT: ServerTimeouts =
    ServerTimeouts { answer_ms: 20_000, begin_ms: 60_000, delivery_ms: 20_000, stranger_ms: 2_000 };

/// An action of the server at one point.
#[derive(Clone, Copy)]
enum Does {
    Says(&'static str),
    HangsUp,
    /// Says nothing until the client hangs up.
    Waits,
}

use Does::{HangsUp, Says, Waits};

/// One connection.
#[derive(Clone, Copy)]
struct Script {
    greeting: Does,
    hello: &'static str,
    mail: Does,
    recipient: Does,
    data: Does,
    dot: Does,
    /// True if the line drops after the first message.
    once: bool,
}

const FINE: Script = Script {
    greeting: Says("220 ready"),
    hello: "250 mail.example.org",
    mail: Says("250 2.1.0 ok"),
    recipient: Says("250 2.1.5 ok"),
    data: Says("354 go on"),
    dot: Says("250 2.0.0 queued as 7"),
    once: false,
};

/// The conversation as the server heard it: all commands, and the messages that it took.
#[derive(Default)]
struct Heard {
    commands: Vec<String>,
    messages: Vec<String>,
}

struct TestServer {
    port: u16,
    thread: JoinHandle<Heard>,
}

impl TestServer {
    /// Serves one connection a script, one after the other.
    fn start(scripts: &[Script]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let scripts = scripts.to_vec();
        let thread = std::thread::spawn(move || {
            let mut heard = Heard::default();
            for script in scripts {
                let (stream, _) = listener.accept().unwrap();
                // That a line breaks is part of the tests.
                let _ = serve(stream, script, &mut heard);
            }
            heard
        });
        Self { port, thread }
    }

    fn channel(&self, patience: ServerTimeouts) -> Smtp {
        self.channel_as("", "?tls=none", patience)
    }

    fn channel_as(&self, login: &str, options: &str, patience: ServerTimeouts) -> Smtp {
        let server = server_at(&format!("smtp://{login}127.0.0.1:{}{options}", self.port));
        Smtp::new(&server, HOST, patience, &clock()).unwrap()
    }

    /// Sends one mail and tells what both sides saw.
    fn exchange(self, patience: ServerTimeouts) -> (Outcome, Heard) {
        let channel = self.channel(patience);
        let outcome = channel.send(&mail("b1", "One"), GO);
        (outcome, self.finish(channel))
    }

    /// Hangs up, and waits for the server to end.
    fn finish(self, channel: Smtp) -> Heard {
        drop(channel);
        self.thread.join().unwrap()
    }
}

fn server_at(address: &str) -> MailServer {
    let secret = |name: &str| Ok(format!("value of {name}"));
    match ProviderTarget::parse(email(), address, &secret).unwrap() {
        ProviderTarget::Smtp(server) => server,
        ProviderTarget::Caught | ProviderTarget::Maildir(_) | ProviderTarget::Http(_) => {
            panic!("{address} is a server")
        }
    }
}

/// Does one thing; `None` where the line is over.
fn act(stream: &mut BufReader<TcpStream>, does: Does) -> std::io::Result<Option<()>> {
    match does {
        Says(text) => {
            stream.get_mut().write_all(format!("{text}\r\n").as_bytes())?;
            Ok((!text.starts_with("421")).then_some(()))
        }
        HangsUp => Ok(None),
        Waits => {
            stream.read_to_end(&mut Vec::new())?;
            Ok(None)
        }
    }
}

fn serve(stream: TcpStream, script: Script, heard: &mut Heard) -> std::io::Result<Option<()>> {
    let mut stream = BufReader::new(stream);
    if act(&mut stream, script.greeting)?.is_none() {
        return Ok(None);
    }
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let command = line.trim_end().to_owned();
        let verb = command.split([' ', ':']).next().unwrap().to_ascii_uppercase();
        heard.commands.push(command);
        let does = match verb.as_str() {
            "EHLO" => Says(script.hello),
            "AUTH" => Says("235 2.7.0 ok"),
            "MAIL" => script.mail,
            "RCPT" => script.recipient,
            "DATA" => script.data,
            "RSET" => Says("250 2.0.0 ok"),
            "QUIT" => Says("221 2.0.0 bye"),
            _ => Says("500 5.5.1 what"),
        };
        if act(&mut stream, does)?.is_none() {
            return Ok(None);
        }
        if verb == "DATA" && matches!(does, Says(text) if text.starts_with("354")) {
            let message = read_message(&mut stream)?;
            let is_taken = matches!(script.dot, Says(text) if text.starts_with("250"));
            if is_taken {
                heard.messages.push(message);
            }
            if act(&mut stream, script.dot)?.is_none() || script.once {
                return Ok(None);
            }
        }
    }
}

fn read_message(stream: &mut BufReader<TcpStream>) -> std::io::Result<String> {
    let mut message = String::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if line == ".\r\n" {
            return Ok(message);
        }
        message.push_str(line.strip_prefix('.').unwrap_or(&line));
    }
}

fn exchange(script: Script) -> Outcome {
    TestServer::start(&[script]).exchange(PATIENT).0
}

#[test]
fn a_mail_arrives_as_it_was_rendered() {
    let (outcome, heard) = TestServer::start(&[FINE]).exchange(PATIENT);
    let reference = Some("2.0.0 queued as 7".to_owned());
    assert_eq!(outcome, Outcome::Sent(Receipt { reference, ..Receipt::default() }));
    let rendered = mail("b1", "One");
    assert_eq!(heard.messages, [String::from_utf8(rendered.bytes).unwrap()]);
    let spoken: Vec<&str> = heard.commands.iter().map(String::as_str).collect();
    assert_eq!(spoken[1..], ["MAIL FROM:<art@example.org>", "RCPT TO:<r1@example.org>", "DATA"]);
}

#[test]
fn an_address_beyond_ascii_needs_a_server_that_takes_it() {
    let mut batch = batch("b1", "One");
    batch.recipient.addresses = [(EMAIL_NO, "тест@example.org")].into();
    let foreign = rendered(&batch);
    let takes = Script { hello: "250-mail.example.org\r\n250-8BITMIME\r\n250 SMTPUTF8", ..FINE };
    let server = TestServer::start(&[takes]);
    let channel = server.channel(PATIENT);
    assert!(matches!(channel.send(&foreign, GO), Outcome::Sent(_)));
    assert!(matches!(channel.send(&mail("b2", "Two"), GO), Outcome::Sent(_)));
    let heard = server.finish(channel);
    for command in [
        "MAIL FROM:<art@example.org> SMTPUTF8 BODY=8BITMIME",
        "RCPT TO:<тест@example.org>",
        "MAIL FROM:<art@example.org>",
    ] {
        assert!(heard.commands.iter().any(|one| one == command), "{command}");
    }
    let server = TestServer::start(&[FINE]);
    let channel = server.channel(PATIENT);
    let bounces = "bounces+2024-03-07.3.12.77.a1b2c3.0123456789abcdef@example.org";
    let returned = Rendered { return_path: Some(bounces.to_owned()), ..mail("b1", "One") };
    assert!(matches!(channel.send(&returned, GO), Outcome::Sent(_)));
    let heard = server.finish(channel);
    let from = format!("MAIL FROM:<{bounces}>");
    assert!(heard.commands.contains(&from), "{:?}", heard.commands);
    let server = TestServer::start(&[FINE]);
    let channel = server.channel(PATIENT);
    let fault = channel.send(&foreign, GO);
    let is_failed =
        matches!(&fault, Outcome::Failed { suppress: None, why } if why.contains("SMTPUTF8"));
    assert!(is_failed, "{fault:?}");
    // The line is still good for others.
    assert!(matches!(channel.send(&mail("b2", "Two"), GO), Outcome::Sent(_)));
    assert_eq!(server.finish(channel).messages.len(), 1);
}

#[test]
fn what_is_stopped_before_the_final_dot_is_not_delivered() {
    let server = TestServer::start(&[FINE, FINE]);
    let channel = server.channel(PATIENT);
    assert_eq!(channel.send(&mail("b1", "One"), &|| false), Outcome::Withheld);
    assert!(matches!(channel.send(&mail("b2", "Two"), GO), Outcome::Sent(_)));
    let heard = server.finish(channel);
    let content = String::from_utf8(mail("b2", "Two").bytes).unwrap();
    assert_eq!(heard.messages, [content]);
    let begun = heard.commands.iter().filter(|command| *command == "DATA");
    assert_eq!(begun.count(), 2);
}

#[test]
fn lines_that_begin_with_a_dot_arrive() {
    let server = TestServer::start(&[FINE]);
    let channel = server.channel(PATIENT);
    let dotted = mail("b1", ".hidden");
    assert!(matches!(channel.send(&dotted, GO), Outcome::Sent(_)));
    let heard = server.finish(channel);
    assert!(dotted.bytes.windows(9).any(|bytes| bytes == b"\r\n.hidden"));
    assert_eq!(heard.messages, [String::from_utf8(dotted.bytes).unwrap()]);
}

#[test]
fn t20_what_may_pass_is_tried_again() {
    for script in [
        Script { greeting: Says("421 4.3.2 busy"), ..FINE },
        Script { greeting: Says("554 no service"), ..FINE },
        Script { greeting: HangsUp, ..FINE },
        Script { mail: Says("450 4.2.0 later"), ..FINE },
        Script { mail: Says("530 5.7.0 log in first"), ..FINE },
        Script { mail: HangsUp, ..FINE },
        Script { recipient: Says("450 4.2.0 grey"), ..FINE },
        Script { recipient: HangsUp, ..FINE },
        Script { data: Says("451 4.3.0 not now"), ..FINE },
        Script { data: HangsUp, ..FINE },
        Script { dot: Says("452 4.3.1 full"), ..FINE },
        Script { dot: Says("421 4.3.2 closing"), ..FINE },
    ] {
        let outcome = exchange(script);
        // What the server puts off is about this message; the rest is about the server (T23, P7).
        let is_told = match &outcome {
            Outcome::Retry { why, .. } => why.ends_with("450 4.2.0"),
            Outcome::Away { why, .. } => !why.ends_with("450 4.2.0"),
            _ => false,
        };
        assert!(is_told, "{outcome:?}");
    }
}

#[test]
fn b6_a_system_that_fails_for_a_recipient_concerns_its_domain() {
    for (says, scope) in
        [("451 4.3.0 lookup failed", Scope::Destination), ("421 4.3.2 closing", Scope::Provider)]
    {
        let outcome = exchange(Script { recipient: Says(says), ..FINE });
        assert!(matches!(&outcome, Outcome::Away { scope: of, .. } if *of == scope));
    }
}

#[test]
fn t20_a_refusal_for_good_is_failed() {
    for (script, dead) in [
        (Script { recipient: Says("550 5.1.1 <r1@example.org>: unknown"), ..FINE }, true),
        (Script { recipient: Says("553-5.1.3 no\r\n553 5.1.3 such"), ..FINE }, true),
        (Script { recipient: Says("556 5.1.10 null MX"), ..FINE }, true),
        (Script { dot: Says("550 5.1.1 unknown after all"), ..FINE }, true),
        (Script { recipient: Says("550 no"), ..FINE }, false),
        (Script { data: Says("554 5.5.0 no"), ..FINE }, false),
        (Script { dot: Says("554 5.6.0 refused"), ..FINE }, false),
    ] {
        match exchange(script) {
            Outcome::Failed { why, suppress } => {
                assert_eq!(suppress.is_some(), dead, "{why}");
                assert!(!why.contains("r1@"), "{why}");
            }
            outcome => panic!("{outcome:?}"),
        }
    }
}

#[test]
fn t20_a_line_that_breaks_after_the_last_byte_leaves_it_unknown() {
    let outcome = exchange(Script { dot: HangsUp, ..FINE });
    assert!(matches!(outcome, Outcome::Unknown { .. }), "{outcome:?}");
    let outcome = exchange(Script { dot: Says("what is this"), ..FINE });
    assert!(matches!(outcome, Outcome::Unknown { .. }), "{outcome:?}");
}

#[test]
fn t20_silence_after_the_last_byte_leaves_it_unknown() {
    let short = ServerTimeouts { delivery_ms: 50, ..PATIENT };
    let script = Script { dot: Waits, ..FINE };
    let (outcome, _) = TestServer::start(&[script]).exchange(short);
    assert!(matches!(outcome, Outcome::Unknown { .. }), "{outcome:?}");
}

#[test]
fn t20_silence_before_the_last_byte_is_tried_again() {
    let short = ServerTimeouts { answer_ms: 50, ..PATIENT };
    let script = Script { recipient: Waits, ..FINE };
    let (outcome, _) = TestServer::start(&[script]).exchange(short);
    assert!(matches!(outcome, Outcome::Away { .. }), "{outcome:?}");
}

#[test]
fn p7_a_server_that_is_down_is_tried_again() {
    // The port is held on one address of the loopback, so that nobody serves it on another.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = server_at(&format!("smtp://127.0.0.3:{port}?tls=none"));
    let channel = Smtp::new(&server, HOST, PATIENT, &clock()).unwrap();
    let outcome = channel.send(&mail("b1", "One"), GO);
    assert!(matches!(outcome, Outcome::Away { .. }), "{outcome:?}");
}

#[test]
fn h26_a_refused_recipient_leaves_the_line_to_the_next() {
    let server = TestServer::start(&[FINE]);
    let channel = server.channel(PATIENT);
    let mut bad = mail("b0", "Zero");
    bad.to = vec!["not an address".to_owned()];
    assert!(matches!(channel.send(&bad, GO), Outcome::Failed { .. }));
    for id in ["b1", "b2", "b3"] {
        assert!(matches!(channel.send(&mail(id, "One"), GO), Outcome::Sent(_)));
    }
    // One script is one connection.
    assert_eq!(server.finish(channel).messages.len(), 3);
}

#[test]
fn after_a_refusal_the_line_is_reset_and_used_again() {
    let server = TestServer::start(&[Script { recipient: Says("450 4.2.0 grey"), ..FINE }]);
    let channel = server.channel(PATIENT);
    for _ in 0..2 {
        assert!(matches!(channel.send(&mail("b1", "One"), GO), Outcome::Retry { .. }));
    }
    let heard = server.finish(channel);
    assert_eq!(heard.commands.iter().filter(|command| *command == "RSET").count(), 2);
    assert_eq!(heard.commands.iter().filter(|command| command.starts_with("EHLO")).count(), 1);
}

#[test]
fn a_line_that_the_server_closed_meanwhile_is_opened_again() {
    let server = TestServer::start(&[Script { once: true, ..FINE }, FINE]);
    let channel = server.channel(PATIENT);
    for id in ["b1", "b2"] {
        assert!(matches!(channel.send(&mail(id, "One"), GO), Outcome::Sent(_)));
    }
    assert_eq!(server.finish(channel).messages.len(), 2);
}

#[test]
fn a_login_is_made_with_the_secret() {
    let server = TestServer::start(&[Script { hello: "250-mail\r\n250 AUTH PLAIN", ..FINE }]);
    let channel = server.channel_as("ann:${PASS}@", "?tls=none", PATIENT);
    assert!(matches!(channel.send(&mail("b1", "One"), GO), Outcome::Sent(_)));
    let heard = server.finish(channel);
    // Base64 of NUL, user, NUL, password (RFC 4616).
    assert_eq!(heard.commands[1], "AUTH PLAIN AGFubgB2YWx1ZSBvZiBQQVNT");
}

#[test]
fn without_encryption_where_it_is_required_nothing_is_said() {
    for (login, options) in [("", "?tls=required"), ("ann:${PASS}@", "")] {
        let server = TestServer::start(&[Script { hello: "250-mail\r\n250 AUTH PLAIN", ..FINE }]);
        let channel = server.channel_as(login, options, PATIENT);
        let outcome = channel.send(&mail("b1", "One"), GO);
        assert!(matches!(outcome, Outcome::Away { .. }), "{outcome:?}");
        let heard = server.finish(channel);
        assert!(heard.commands.iter().all(|command| command.starts_with("EHLO")), "told too much");
    }
}

#[test]
fn an_opportunistic_line_stays_plain_where_no_encryption_is_offered() {
    let server = TestServer::start(&[FINE]);
    let channel = server.channel_as("", "", PATIENT);
    assert!(matches!(channel.send(&mail("b1", "One"), GO), Outcome::Sent(_)));
    assert_eq!(server.finish(channel).messages.len(), 1);
}
