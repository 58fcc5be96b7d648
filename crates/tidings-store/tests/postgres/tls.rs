//! Encrypted connections, to a server with a certificate of an authority of its own.

use tidings_loopback::Postgres as Server;
use tidings_store::lease::Leases as _;
use tidings_store::{Error, Partition, PostgresLeases, PostgresStore, Store as _};

use crate::server::{OnServer, has_server};
use crate::{get, put};

/// The address of the server's database with a host and these parameters.
fn address(server: &Server, host: &str, parameters: &str) -> String {
    let (user, port) = (server.user(), server.port());
    format!("postgres://{user}@{host}:{port}/postgres?hostaddr=127.0.0.1&{parameters}")
}

fn refused(url: &str) -> String {
    match PostgresStore::open(url, crate::NEW_STORE) {
        Err(Error::Unusable(why)) => why,
        Err(other) => panic!("{url}: {other}"),
        Ok(_) => panic!("{url} was taken"),
    }
}

#[test]
fn a_server_is_believed_by_its_certificate_alone() {
    if !has_server() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start_encrypted(directory.path()).unwrap();
    let authority = format!("sslrootcert={}", server.authority().display());

    let plain = refused(&address(&server, "localhost", "sslmode=disable"));
    assert!(plain.contains("no encryption"), "{plain}");
    for (host, parameters, why) in [
        // Nobody whom everybody believes has signed it.
        ("localhost", "sslmode=require", "UnknownIssuer"),
        ("localhost", "sslmode=verify-full", "UnknownIssuer"),
        // It is another host's.
        ("127.0.0.1", authority.as_str(), "not valid for name"),
        ("db.example", authority.as_str(), "not valid for name"),
    ] {
        let said = refused(&address(&server, host, parameters));
        assert!(said.contains(why) && said.contains("`sslrootcert=FILE`"), "{said}");
    }

    for mode in ["", "&sslmode=require", "&sslmode=verify-full"] {
        let url = address(&server, "localhost", &format!("{authority}{mode}"));
        let store = PostgresStore::open(&url, crate::NEW_STORE).unwrap();
        store.commit(put(Partition::Base, 1, 1)).unwrap();
        assert_eq!(get(&store, Partition::Base, 1), Some(1), "{mode}");
        let leases = PostgresLeases::open(&url, crate::NEW_STORE).unwrap();
        leases.membership().unwrap();
        let encrypted = "SELECT bool_and(ssl) AND count(*) >= 3 FROM pg_stat_ssl \
                         JOIN pg_stat_activity USING (pid) WHERE application_name = 'tidings'";
        assert_eq!(server.run("postgres", encrypted).unwrap(), "t", "{mode}");
    }

    // A password is bound to the certificate of the server.
    let role = "CREATE ROLE app LOGIN SUPERUSER PASSWORD 'secret'";
    server.run("postgres", role).unwrap();
    let url = address(&server, "localhost", &authority);
    let with = |login: &str| url.replace(&format!("//{}@", server.user()), &format!("//{login}@"));
    PostgresStore::open(&with("app:secret"), crate::NEW_STORE).unwrap();
    assert!(refused(&with("app:guess")).contains("28P01"));
    assert!(refused(&with("app")).contains("password missing"));
    let bound = format!("{}&channel_binding=require", with("app:secret"));
    PostgresStore::open(&bound, crate::NEW_STORE).unwrap();
    assert!(refused(&format!("{}&channel_binding=require", with("app:guess"))).contains("28P01"));

    // With an authority that is named the name may be another.
    let by_authority = address(&server, "127.0.0.1", &format!("{authority}&sslmode=verify-ca"));
    PostgresStore::open(&by_authority, crate::NEW_STORE).unwrap();
}

#[test]
fn field_4_a_server_is_shown_a_certificate() {
    if !has_server() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start_encrypted(directory.path()).unwrap();
    server.run("postgres", "CREATE ROLE certified LOGIN SUPERUSER").unwrap();
    let home = server.authority().parent().unwrap().to_owned();
    let mut make = std::process::Command::new("openssl");
    make.current_dir(directory.path())
        .args("req -x509 -newkey rsa:2048 -nodes -days 2 -keyout own.key -out own.pem".split(' '))
        .args(["-subj", "/CN=certified", "-addext", "basicConstraints=critical,CA:FALSE", "-CA"])
        .arg(home.join("ca.pem"))
        .arg("-CAkey")
        .arg(home.join("ca.key"));
    assert!(make.output().unwrap().status.success());
    let file = |name: &str| directory.path().join(name).display().to_string();
    let url =
        address(&server, "localhost", &format!("sslrootcert={}", home.join("ca.pem").display()));
    let url = url.replace(&format!("//{}@", server.user()), "//certified@");
    assert!(refused(&url).contains("28000"), "it has no certificate");
    let shown = format!("{url}&sslcert={}&sslkey={}", file("own.pem"), file("own.key"));
    PostgresStore::open(&shown, crate::NEW_STORE).unwrap();
}

#[test]
fn a_server_without_tls_is_refused_where_it_is_asked_for() {
    if !has_server() {
        return;
    }
    let server = OnServer::default();
    let said = refused(&format!("{}&sslmode=require", server.place()));
    assert!(said.contains("does not support TLS"), "{said}");
}
