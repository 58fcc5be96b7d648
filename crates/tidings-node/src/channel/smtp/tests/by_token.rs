//! Logins by a token (XOAUTH2), against a mail server and a token endpoint on the loopback.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::*;
use crate::channel::provider::ProviderTarget;
use crate::channel::sample::{GO, HOST, email, mail};
use crate::clock::virtual_clock::VirtualClock;

/// A token endpoint that gives these answers, and what it was asked.
fn endpoint(answers: &'static [(u16, &'static str)]) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/token", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let asked = answers.iter().map(|(status, body)| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut length = 0;
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                let line = line.trim_end().to_ascii_lowercase();
                if let Some(value) = line.strip_prefix("content-length: ") {
                    length = value.parse().unwrap();
                }
                if line.is_empty() {
                    break;
                }
            }
            let mut asked = vec![0; length];
            reader.read_exact(&mut asked).unwrap();
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 {status} Said\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
            );
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8(asked).unwrap()
        });
        asked.collect()
    });
    (url, thread)
}

/// A mail server of one mechanism that takes one mail of each of so many connections, or refuses each token; what was
/// shown to it.
fn mail_server(mechanism: &'static str, takes: &'static [bool]) -> (u16, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        let mut shown = Vec::new();
        for takes in takes {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            stream.write_all(b"220 ready\r\n").unwrap();
            let mut is_content = false;
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap() == 0 {
                    break;
                }
                let line = line.trim_end();
                let hello = format!("250-mail\r\n250 AUTH {mechanism}");
                let answer = match line.split(' ').next().unwrap() {
                    _ if is_content && line != "." => continue,
                    "EHLO" => &*hello,
                    "AUTH" if *takes => {
                        shown.push(line.to_owned());
                        "235 2.7.0 ok"
                    }
                    // `{"status":"401"}`
                    "AUTH" => {
                        shown.push(line.to_owned());
                        "334 eyJzdGF0dXMiOiI0MDEifQ=="
                    }
                    "" => "535 5.7.3 Authentication unsuccessful",
                    "DATA" => {
                        is_content = true;
                        "354 go on"
                    }
                    "." => "250 2.0.0 queued\r\n421 bye",
                    _ => "250 2.0.0 ok",
                };
                stream.write_all(format!("{answer}\r\n").as_bytes()).unwrap();
                if line == "." || line.is_empty() {
                    break;
                }
            }
        }
        shown
    });
    (port, thread)
}

fn channel(address: &str, clock: &Arc<VirtualClock>) -> Smtp {
    let secret = |name: &str| Ok(format!("value of {name}"));
    let ProviderTarget::Smtp(server) = ProviderTarget::parse(email(), address, &secret).unwrap()
    else {
        panic!("{address} is a server");
    };
    let clock: Arc<dyn Clock> = Arc::clone(clock) as _;
    Smtp::new(&server, HOST, ServerTimeouts::default(), &clock).unwrap()
}

fn is_sent(channel: &Smtp) -> bool {
    matches!(channel.send(&mail("b1", "One"), GO), Outcome::Sent(_))
}

/// The line of a login with a token.
fn login(token: &str) -> String {
    let said = format!("user=art@example.org\x01auth=Bearer {token}\x01\x01");
    format!("AUTH XOAUTH2 {}", STANDARD.encode(said))
}

const FIRST: &str =
    r#"{"access_token":"t1","expires_in":3600,"token_type":"Bearer","refresh_token":"r2"}"#;
const SECOND: &str = r#"{"access_token":"t2","expires_in":"3600","token_type":"Bearer"}"#;

#[test]
fn field_4_a_token_is_asked_for_kept_until_it_ends_and_asked_for_again() {
    let (url, asked) = endpoint(&[(200, FIRST), (200, SECOND)]);
    let (port, shown) = mail_server("XOAUTH2", &[true, true, true]);
    let clock = Arc::new(VirtualClock::default());
    let channel = channel(
        &format!(
            "smtp://art%40example.org@127.0.0.1:{port}?tls=none&token_url={url}&client_id=c%201\
             &client_secret=${{SECRET}}&refresh_token=${{REFRESH}}&scope=mail%20offline"
        ),
        &clock,
    );
    assert!(is_sent(&channel) && is_sent(&channel));
    clock.set(clock.now().plus_ms(3_590_000));
    assert!(is_sent(&channel));
    assert_eq!(shown.join().unwrap(), [login("t1"), login("t1"), login("t2")]);
    let asked = asked.join().unwrap();
    assert_eq!(
        asked[0],
        "client_id=c%201&client_secret=value%20of%20SECRET&grant_type=refresh%5Ftoken\
         &refresh_token=value%20of%20REFRESH&scope=mail%20offline"
    );
    assert!(asked[1].contains("&refresh_token=r2&"), "{}", asked[1]);
}

#[test]
fn field_4_a_client_logs_in_by_its_own_credentials_and_a_refused_token_is_forgotten() {
    let (url, asked) =
        endpoint(&[(200, FIRST), (200, SECOND), (400, r#"{"error":"invalid_client"}"#)]);
    let (port, shown) = mail_server("XOAUTH2", &[false, true]);
    let clock = Arc::new(VirtualClock::default());
    let channel = channel(
        &format!(
            "smtp://art%40example.org@127.0.0.1:{port}?tls=none&token_url={url}&client_id=c\
             &client_secret=${{SECRET}}&scope=s"
        ),
        &clock,
    );
    let refused = channel.send(&mail("b1", "One"), GO);
    assert_eq!(refused, Outcome::away("connect: 535 5.7.3"));
    // There is another one by then.
    assert!(is_sent(&channel));
    clock.set(clock.now().plus_ms(3_600_000));
    let none = channel.send(&mail("b1", "One"), GO);
    assert_eq!(none, Outcome::away("connect: `token_url`: reply: 400 invalid_client"));
    assert_eq!(shown.join().unwrap(), [login("t1"), login("t2")]);
    let form =
        "client_id=c&client_secret=value%20of%20SECRET&grant_type=client%5Fcredentials&scope=s";
    assert_eq!(asked.join().unwrap(), [form; 3]);
}

#[test]
fn field_4_a_token_is_that_of_a_file_or_a_fixed_one() {
    let clock = Arc::new(VirtualClock::default());
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("token");
    let (port, shown) = mail_server("XOAUTH2", &[true, true, true]);
    let by_file = channel(
        &format!(
            "smtp://art%40example.org@127.0.0.1:{port}?tls=none&token_file={}",
            file.display()
        ),
        &clock,
    );
    let absent = by_file.send(&mail("b1", "One"), GO);
    assert!(absent.words().unwrap().contains("No such file"), "{absent:?}");
    for token in ["t1", "t2\n"] {
        std::fs::write(&file, token).unwrap();
        assert!(is_sent(&by_file));
    }
    let fixed = channel(
        &format!("smtp://art%40example.org:${{T}}@127.0.0.1:{port}?tls=none&auth=xoauth2"),
        &clock,
    );
    assert!(is_sent(&fixed));
    assert_eq!(shown.join().unwrap(), [login("t1"), login("t2"), login("value of T")]);
}

#[test]
fn field_4_a_server_that_wants_a_token_says_so_and_a_wrong_port_too() {
    let clock = Arc::new(VirtualClock::default());
    let (port, shown) = mail_server("XOAUTH2", &[true]);
    let by_password = channel(&format!("smtp://ann:${{PW}}@127.0.0.1:{port}?tls=none"), &clock);
    let refused = by_password.send(&mail("b1", "One"), GO);
    assert!(refused.words().unwrap().contains("`auth=xoauth2`"), "{refused:?}");
    assert!(shown.join().unwrap().is_empty());
    for (address, slip) in [
        ("smtp://h:465", Some("smtps://")),
        ("smtp://ann:${PW}@h:465", Some("smtps://")),
        ("smtps://h:587", Some("smtp://")),
        ("smtps://h:25", Some("smtp://")),
        ("smtps://h", None),
        ("smtp://h:587", None),
        ("smtp://h:2525", None),
    ] {
        let told = crate::channel::slip(email(), address);
        assert_eq!(told.is_some(), slip.is_some(), "{address}");
        assert!(told.unwrap_or_default().contains(slip.unwrap_or_default()), "{address}");
    }
    // A server that answers in the clear where TLS is spoken.
    let (port, shown) = mail_server("PLAIN", &[true]);
    let wrapped = channel(&format!("smtps://127.0.0.1:{port}"), &clock);
    let refused = wrapped.send(&mail("b1", "One"), GO);
    assert!(refused.words().unwrap().contains("without TLS"), "{refused:?}");
    drop(shown);
}
