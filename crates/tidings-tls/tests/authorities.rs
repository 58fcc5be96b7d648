//! A server with a certificate of an authority of its own, asked by processes that believe it and by others.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use rustls::ClientConnection;
use tidings_loopback::{Server, certify, find, free_port};
use tidings_tls::{Authorities, client, http_client};

/// The variable that names the port of the server to the process that is to ask it.
const PORT: &str = "TIDINGS_TEST_PORT";

/// Shakes hands with the server.
fn handshake(port: u16, authorities: Authorities<'_>) -> Result<(), String> {
    let config = client(authorities)?;
    let name = "localhost".try_into().unwrap();
    let mut connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    while connection.is_handshaking() {
        let done = connection.complete_io(&mut socket);
        done.map_err(|fault| fault.to_string())?;
    }
    Ok(())
}

/// Makes a call over HTTP.
fn call(port: u16) -> Result<(), String> {
    let agent = ureq::Agent::config_builder().tls_config(http_client()).build().new_agent();
    let called = agent.get(format!("https://localhost:{port}/")).call();
    called.map(drop).map_err(|fault| fault.to_string())
}

/// Every way of asking the server, by a process with these variables.
fn asked(port: u16, variables: &[(&str, &Path)]) -> String {
    let mut process = Command::new(std::env::current_exe().unwrap());
    process
        .args(["--exact", "f37_a_process_asks", "--nocapture"])
        .env_remove("SSL_CERT_DIR")
        .env_remove("SSL_CERT_FILE")
        .env(PORT, port.to_string())
        .envs(variables.iter().copied());
    String::from_utf8(process.output().unwrap().stdout).unwrap()
}

#[test]
fn f37_a_process_asks() {
    // Without the variable it is one of the tests.
    let Ok(port) = std::env::var(PORT) else {
        return;
    };
    let port = port.parse().unwrap();
    println!("handshake: {:?};", handshake(port, Authorities::Machine));
    println!("call: {:?};", call(port));
}

#[test]
fn f37_an_authority_that_the_machine_trusts_is_believed() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path();
    let Some(openssl) = find("openssl") else {
        let required = std::env::var_os("TIDINGS_REQUIRE_SERVERS").is_some();
        assert!(!required, "openssl is not installed");
        println!("skipped: openssl is not installed");
        return;
    };
    certify(home).unwrap();
    let port = free_port().unwrap();
    let mut serve = Command::new(openssl);
    let accept = port.to_string();
    let arguments = ["s_server", "-quiet", "-www", "-accept", &accept];
    serve.args(arguments).current_dir(home);
    serve.args(["-cert", "cert.pem", "-key", "key.pem"]);
    let log = home.join("log");
    let mut server = Server::start(serve, &log).unwrap();
    let reached = || TcpStream::connect(("127.0.0.1", port)).ok();
    server.until(&log, reached).unwrap();

    let authority = home.join("ca.pem");
    let known = asked(port, &[("SSL_CERT_FILE", &authority)]);
    assert!(known.contains("handshake: Ok(());") && known.contains("call: Ok(());"), "{known}");
    let unknown = asked(port, &[]);
    assert_eq!(unknown.matches("UnknownIssuer").count(), 2, "{unknown}");

    // A file that is not there is a fault: whoever names one wants no others.
    let nowhere = home.join("nowhere.pem");
    let said = asked(port, &[("SSL_CERT_FILE", &nowhere)]);
    let place = format!("`SSL_CERT_FILE` is {}", nowhere.display());
    assert!(said.contains(&place) && !said.contains("Ok(())"), "{said}");

    // Files that the configuration names.
    assert!(handshake(port, Authorities::Only(&authority)).is_ok());
    assert!(handshake(port, Authorities::MachineAnd(&authority)).is_ok());
    let another = home.join("key.pem");
    let said = handshake(port, Authorities::Only(&another)).unwrap_err();
    assert!(said.contains("it has no certificate"), "{said}");
}

/// A server whose certificate nobody but itself has signed.
fn self_signed(directory: &Path, subject: &str, more: &str) -> Option<(Server, u16)> {
    let openssl = find("openssl")?;
    let mut make = Command::new(&openssl);
    make.current_dir(directory)
        .args(
            "req -new -x509 -days 2 -nodes -newkey rsa:2048 -keyout key.pem -out cert.pem"
                .split(' '),
        )
        .args(["-subj", subject])
        .args(more.split_whitespace());
    assert!(make.output().unwrap().status.success());
    let port = free_port().unwrap();
    let mut serve = Command::new(openssl);
    serve
        .current_dir(directory)
        .args(["s_server", "-quiet", "-www", "-cert", "cert.pem", "-key", "key.pem", "-accept"])
        .arg(port.to_string());
    let log = directory.join("log");
    let mut server = Server::start(serve, &log).unwrap();
    server.until(&log, || TcpStream::connect(("127.0.0.1", port)).ok()).unwrap();
    Some((server, port))
}

#[test]
fn field_4_a_self_signed_certificate_that_is_named_is_believed() {
    // As in PostgreSQL's manual, 18.9.5, and with the names that browsers want.
    for (subject, more, is_valid) in [
        ("/CN=localhost", "", true),
        ("/CN=any", "-addext subjectAltName=DNS:localhost", true),
        ("/CN=other.example", "", false),
        ("/CN=localhost", "-addext subjectAltName=DNS:other.example", false),
    ] {
        let home = tempfile::tempdir().unwrap();
        let Some((_server, port)) = self_signed(home.path(), subject, more) else {
            return;
        };
        let named = home.path().join("cert.pem");
        for authorities in [Authorities::Only(&named), Authorities::MachineAnd(&named)] {
            let shaken = handshake(port, authorities);
            assert_eq!(shaken.is_ok(), is_valid, "{subject} {more}: {shaken:?}");
        }
        // One that nobody named is not, though it says of itself whatever it likes.
        let other = tempfile::tempdir().unwrap();
        certify(other.path()).unwrap();
        assert!(handshake(port, Authorities::Only(&other.path().join("ca.pem"))).is_err());
    }
}
