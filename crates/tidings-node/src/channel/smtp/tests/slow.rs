//! Tests against a mail server that stops answering at some stage, or answers one byte at a time for
//! ever.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use super::*;
use crate::channel::provider::ProviderTarget;
use crate::channel::sample::email;
use crate::channel::sample::{GO, HOST, clock, mail};

/// Limits with which each single answer has enough time.
const WHOLE: ServerTimeouts =
    ServerTimeouts { answer_ms: 60_000, begin_ms: 150, delivery_ms: 150, stranger_ms: 2_000 };

#[derive(Clone, Copy, Debug)]
enum Slow {
    Hangs,
    /// The server drips bytes that could be the beginning of an answer.
    Drips(&'static [u8]),
}

const SLOW: [Slow; 2] = [Slow::Hangs, Slow::Drips(b"250-")];

/// Serves one connection and is slow from the first line on that begins with `stage`, or with the
/// greeting.
fn serve(stage: &'static str, slow: Slow) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        // That the client hangs up is what is tested.
        let _ = speak(BufReader::new(stream), stage, slow);
    });
    port
}

fn speak(mut line: BufReader<TcpStream>, stage: &str, slow: Slow) -> std::io::Result<()> {
    if stage == "greeting" {
        return be_slow(line.get_mut(), slow);
    }
    let mut says = "220 ready";
    loop {
        line.get_mut().write_all(format!("{says}\r\n").as_bytes())?;
        let mut heard = String::new();
        line.read_line(&mut heard)?;
        if heard.starts_with(stage) {
            return be_slow(line.get_mut(), slow);
        }
        says = match heard.split([' ', '\r']).next() {
            Some("EHLO") => "250-mail.example.org\r\n250 STARTTLS",
            Some("STARTTLS") => {
                line.get_mut().write_all(b"220 go on\r\n")?;
                return be_slow(line.get_mut(), slow);
            }
            Some("DATA") => {
                line.get_mut().write_all(b"354 go on\r\n")?;
                while heard != ".\r\n" {
                    heard.clear();
                    line.read_line(&mut heard)?;
                }
                return be_slow(line.get_mut(), slow);
            }
            _ => "250 ok",
        };
    }
}

/// Serves slowly until the client hangs up.
fn be_slow(stream: &mut TcpStream, slow: Slow) -> std::io::Result<()> {
    let Slow::Drips(beginning) = slow else {
        return stream.read_to_end(&mut Vec::new()).map(drop);
    };
    stream.set_read_timeout(Some(Duration::from_millis(5)))?;
    for byte in beginning.iter().chain(std::iter::repeat(&b' ')) {
        stream.write_all(&[*byte])?;
        // The client says nothing meanwhile, so this takes its time.
        match stream.read(&mut [0; 512]) {
            Ok(0) => break,
            Ok(_) => {}
            Err(fault) if matches!(fault.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(fault) => return Err(fault),
        }
    }
    Ok(())
}

fn server_at(address: &str) -> MailServer {
    match ProviderTarget::parse(email(), address, &|name| Err(name.to_owned())).unwrap() {
        ProviderTarget::Smtp(server) => server,
        ProviderTarget::Caught | ProviderTarget::Maildir(_) | ProviderTarget::Http(_) => {
            panic!("{address} is a server")
        }
    }
}

fn outcome(address: &str, patience: ServerTimeouts) -> Outcome {
    let channel = Smtp::new(&server_at(address), HOST, patience, &clock()).unwrap();
    channel.send(&mail("b1", "One"), GO)
}

/// The outcome with a server that is slow at a stage; half of the test is that there is one.
fn slow_at(stage: &'static str, slow: Slow, patience: ServerTimeouts) -> Outcome {
    let port = serve(stage, slow);
    outcome(&format!("smtp://127.0.0.1:{port}?tls=none"), patience)
}

#[test]
fn t20_a_transaction_ends_whatever_stage_is_slow() {
    for slow in SLOW {
        for stage in ["greeting", "EHLO", "MAIL", "RCPT", "DATA"] {
            let outcome = slow_at(stage, slow, WHOLE);
            let is_retry = matches!(&outcome, Outcome::Away { why, .. } if why.contains("in time"));
            assert!(is_retry, "{stage} {slow:?}: {outcome:?}");
        }
        let outcome = slow_at("no stage: after the final dot", slow, WHOLE);
        assert!(matches!(outcome, Outcome::Unknown { .. }), "{outcome:?}");
    }
}

#[test]
fn a_whole_answer_has_a_deadline_of_its_own() {
    let answers = ServerTimeouts { answer_ms: 100, begin_ms: 60_000, delivery_ms: 60_000, ..WHOLE };
    for slow in SLOW {
        for stage in ["greeting", "RCPT"] {
            let outcome = slow_at(stage, slow, answers);
            assert!(matches!(outcome, Outcome::Away { .. }), "{outcome:?}");
        }
    }
}

/// The TLS library reads whole records, however long one takes to arrive.
#[test]
fn a_handshake_of_tls_ends_too() {
    // The header of a record of 16 KiB.
    for slow in [Slow::Hangs, Slow::Drips(&[0x16, 3, 3, 0x3f, 0xff])] {
        let port = serve("greeting", slow);
        let wrapped = outcome(&format!("smtps://127.0.0.1:{port}"), WHOLE);
        assert!(matches!(wrapped, Outcome::Away { .. }), "{wrapped:?}");
        let port = serve("no stage: after STARTTLS", slow);
        let upgraded = outcome(&format!("smtp://127.0.0.1:{port}?tls=required"), WHOLE);
        assert!(matches!(upgraded, Outcome::Away { .. }), "{upgraded:?}");
    }
}

#[test]
fn a_content_that_the_server_does_not_take_ends_too() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = server_at(&format!("smtp://127.0.0.1:{port}?tls=none"));
    // It greets in advance and never reads.
    let greets = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"220 ready\r\n250 mail\r\n").unwrap();
        stream
    });
    let bound = TransactionDeadline::new(150, 60_000);
    let hello = ClientId::Domain("example.org".to_owned());
    let mut line = SmtpConnection::connect(&server, None, &hello, bound).unwrap();
    let _open = greets.join().unwrap();
    // More than the buffers of both sides hold.
    let fault = line.write(&vec![b'x'; 64 << 20], bound.for_content());
    assert!(fault.is_err_and(|fault| fault.refusal().is_none()));
}
