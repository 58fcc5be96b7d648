//! Tests against a real mail server: Postfix, which delivers into a Maildir, with Dovecot to check
//! passwords.
//!
//! Both run on loopback in a directory of their own. That takes root; where they are not installed or
//! not allowed the test says that it is skipped, but with `TIDINGS_REQUIRE_SERVERS` set it fails.

#![cfg(target_os = "linux")]

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tidings_core::Rules;
use tidings_core::model::{CHANNEL_KINDS, EMAIL_NO};
use tidings_core::rules::ChannelRules;

use super::*;
use crate::channel::sample::{GO, batch, rendered};
use crate::channel::{Durability, ProviderSetup, open};

/// A user of the mail server, with the right to send from anywhere.
const USER: &str = "ann@mail.example.org";
const PASSWORD: &str = "s3cret";

struct MailServer {
    directory: tempfile::TempDir,
    /// The port that accepts mail from loopback, with or without STARTTLS.
    plain: u16,
    /// The port with TLS from the first byte.
    wrapped: u16,
    /// The port that accepts mail of users only, and passwords only over TLS.
    submission: u16,
}

impl MailServer {
    fn start() -> Option<Self> {
        let is_root = said("id", &["-u"]).is_some_and(|id| id.trim() == "0");
        let is_there = said("postconf", &["-d", "mail_version"]).is_some()
            && said("dovecot", &["--version"]).is_some();
        if !is_root || !is_there {
            let required = std::env::var_os("TIDINGS_REQUIRE_SERVERS").is_some();
            assert!(!required, "Postfix and Dovecot can't be run");
            println!("skipped: it takes Postfix, Dovecot and root");
            return None;
        }
        let server = Self {
            directory: tempfile::tempdir().unwrap(),
            plain: free_port(),
            wrapped: free_port(),
            submission: free_port(),
        };
        server.write();
        server.begin();
        server.run("dovecot", &["-c", &server.path("dovecot.conf")]);
        Some(server)
    }

    fn path(&self, name: &str) -> String {
        self.directory.path().join(name).display().to_string()
    }

    fn begin(&self) {
        self.run("postfix", &["-c", &self.path("etc"), "start"]);
    }

    fn end(&self) {
        self.run("postfix", &["-c", &self.path("etc"), "stop"]);
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        // What it says goes nowhere: a daemon would keep a pipe open, and its reader waiting.
        let status = Command::new(program)
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(status.unwrap().success(), "{program} {arguments:?}");
    }

    fn write(&self) {
        for name in ["etc", "spool", "data", "box", "dovecot"] {
            fs::create_dir(self.path(name)).unwrap();
        }
        // Its daemons give up root, and have to get in.
        self.run("chmod", &["755", &self.path("")]);
        self.run("chown", &["postfix", &self.path("data"), &self.path("box")]);
        self.certificates();
        let fill = |text: &str| {
            text.replace("DIR", self.path("").trim_end_matches('/'))
                .replace("PLAIN", &self.plain.to_string())
                .replace("WRAPPED", &self.wrapped.to_string())
                .replace("SUBMISSION", &self.submission.to_string())
                .replace("UID", said("id", &["-u", "postfix"]).unwrap().trim())
                .replace("GID", said("id", &["-g", "postfix"]).unwrap().trim())
                .replace("PASSWORD", PASSWORD)
        };
        for (name, text) in
            [("etc/main.cf", MAIN), ("etc/master.cf", MASTER), ("dovecot.conf", DOVECOT)]
        {
            fs::write(self.path(name), fill(text)).unwrap();
        }
    }

    /// Creates an unknown authority, and the server's certificate by it.
    fn certificates(&self) {
        let (authority, key) = (self.path("ca.pem"), self.path("ca.key"));
        let own = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"];
        let ca = [
            &own[..],
            &["-subj", "/CN=Authority", "-keyout", &key, "-out", &authority],
            &["-addext", "basicConstraints=critical,CA:TRUE"],
        ];
        self.run("openssl", &ca.concat());
        let (server_key, server) = (self.path("key.pem"), self.path("cert.pem"));
        let of_server = [
            &own[..],
            &["-subj", "/CN=localhost", "-keyout", &server_key, "-out", &server],
            &["-CA", &authority, "-CAkey", &key],
            &["-addext", "subjectAltName=DNS:localhost"],
            &["-addext", "basicConstraints=critical,CA:FALSE"],
        ];
        self.run("openssl", &of_server.concat());
    }

    /// Opens a channel to `address`, in which `CA` is the authority's file.
    fn channel(&self, address: &str) -> std::sync::Arc<dyn Channel> {
        let channel = ChannelRules {
            providers: vec![address.replace("CA", &self.path("ca.pem"))],
            from: Some("Art <art@example.org>".to_owned()),
            ..ChannelRules::default()
        };
        let kind = &CHANNEL_KINDS[usize::from(EMAIL_NO)];
        let rules =
            Rules { channels: [(kind.name.to_owned(), channel)].into(), ..Rules::default() };
        let setup = ProviderSetup {
            secret: &|name| match name {
                "RIGHT" => Ok(PASSWORD.to_owned()),
                "WRONG" => Ok("guess".to_owned()),
                _ => Err("unknown".to_owned()),
            },
            durability: Durability::Each,
            patience: ServerTimeouts::default(),
            clock: &crate::channel::sample::clock(),
            tokens: None,
            caught: &std::sync::Arc::default(),
        };
        open(kind, &rules, &setup).unwrap().first()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.path("box/log")).unwrap()
    }

    /// Waits until a mail with this Message-ID is in the mailbox, and reads it.
    fn delivered(&self, id: &str) -> String {
        let is_it = |mail: &String| mail.contains(&format!("<{id}@example.org>"));
        for _ in 0..1_000_000 {
            if let Some(mail) = self.mailbox().into_iter().find(is_it) {
                return mail;
            }
            std::thread::yield_now();
        }
        panic!("{id} never came:\n{}", self.log());
    }

    fn mailbox(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(PathBuf::from(self.path("box/all/new"))) else {
            return Vec::new();
        };
        entries
            .map(|entry| entry.unwrap().path())
            .map(|path| fs::read_to_string(path).unwrap())
            .collect()
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        for (program, arguments) in [
            ("postfix", ["-c", &self.path("etc"), "stop"]),
            ("dovecot", ["-c", &self.path("dovecot.conf"), "stop"]),
        ] {
            // One of them may not have begun, and a test that fails should tell of its own fault.
            let _ = Command::new(program)
                .args(arguments)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
        }
    }
}

fn said(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then_some(text)
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn to(address: &str, id: &str) -> Rendered {
    let mut batch = batch(id, "One");
    batch.recipient.addresses = [(EMAIL_NO, address)].into();
    rendered(&batch)
}

fn is_sent(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Sent(receipt) if receipt.reference.is_some())
}

#[test]
fn a_real_mail_server_takes_what_we_send_and_is_understood_where_it_refuses() {
    let Some(server) = MailServer::start() else {
        return;
    };
    what_arrives_is_what_was_rendered(&server);
    a_connection_is_kept_and_a_refusal_concerns_its_mail_alone(&server);
    nothing_is_said_to_a_server_that_cannot_prove_who_it_is(&server);
    passwords_are_checked(&server);
    a_server_that_was_away_is_found_again(&server);
}

fn what_arrives_is_what_was_rendered(server: &MailServer) {
    let channel = server.channel(&format!("smtp://localhost:{}?tls=none", server.plain));
    let outcome = channel.send(&to("r1@example.org", "plain"), GO);
    assert!(is_sent(&outcome), "{outcome:?}");
    let mail = to("r1@example.org", "plain");
    let rendered = String::from_utf8(mail.bytes).unwrap().replace("\r\n", "\n");
    let delivered = server.delivered("plain");
    assert!(delivered.ends_with(&rendered), "{delivered}");
}

fn a_connection_is_kept_and_a_refusal_concerns_its_mail_alone(server: &MailServer) {
    let before = server.log().matches(": connect from").count();
    let channel = server.channel(&format!("smtp://localhost:{}?tls=none", server.plain));
    assert!(is_sent(&channel.send(&to("r1@example.org", "kept-1"), GO)));
    let gone = channel.send(&to("gone@example.org", "kept-2"), GO);
    assert!(matches!(gone, Outcome::Failed { suppress: Some(_), .. }), "{gone:?}");
    let later = channel.send(&to("later@example.org", "kept-3"), GO);
    assert!(matches!(later, Outcome::Retry { .. }), "{later:?}");
    assert!(is_sent(&channel.send(&to("r2@example.org", "kept-4"), GO)));
    server.delivered("kept-1");
    server.delivered("kept-4");
    let connections = server.log().matches(": connect from").count() - before;
    assert_eq!(connections, 1, "{}", server.log());
}

fn nothing_is_said_to_a_server_that_cannot_prove_who_it_is(server: &MailServer) {
    for (known, unknown) in [
        (
            format!("smtp://localhost:{}?tls=required&ca=CA", server.plain),
            format!("smtp://localhost:{}?tls=required", server.plain),
        ),
        (
            format!("smtps://localhost:{}?ca=CA", server.wrapped),
            format!("smtps://localhost:{}", server.wrapped),
        ),
        (
            // The certificate is for `localhost`, not for the address.
            format!("smtp://localhost:{}?tls=opportunistic&ca=CA", server.plain),
            format!("smtp://127.0.0.1:{}?tls=required&ca=CA", server.plain),
        ),
    ] {
        let refused = server.channel(&unknown).send(&to("r1@example.org", "tls"), GO);
        assert!(matches!(refused, Outcome::Away { .. }), "{unknown}: {refused:?}");
        let sent = server.channel(&known).send(&to("r1@example.org", "tls"), GO);
        assert!(is_sent(&sent), "{known}: {sent:?}");
    }
    assert!(server.delivered("tls").contains("with ESMTPS"));
}

fn passwords_are_checked(server: &MailServer) {
    let address = |secret: &str| {
        let port = server.submission;
        format!("smtp://{USER}:${{{secret}}}@localhost:{port}?ca=CA")
    };
    let sent = server.channel(&address("RIGHT")).send(&to("r1@example.org", "login"), GO);
    assert!(is_sent(&sent), "{sent:?}");
    assert!(server.delivered("login").contains("with ESMTPSA"));
    // It is the operator's to mend, and says nothing about the message.
    let wrong = server.channel(&address("WRONG")).send(&to("r1@example.org", "wrong"), GO);
    assert!(matches!(&wrong, Outcome::Away { why, .. } if why.contains("535")), "{wrong:?}");
    let nobody = format!("smtp://localhost:{}?tls=required&ca=CA", server.submission);
    let refused = server.channel(&nobody).send(&to("r1@example.org", "nobody"), GO);
    assert!(!is_sent(&refused), "{refused:?}");
}

fn a_server_that_was_away_is_found_again(server: &MailServer) {
    let channel = server.channel(&format!("smtp://localhost:{}?tls=none", server.plain));
    assert!(is_sent(&channel.send(&to("r1@example.org", "away-1"), GO)));
    server.end();
    let away = channel.send(&to("r1@example.org", "away-2"), GO);
    assert!(matches!(away, Outcome::Away { .. }), "{away:?}");
    server.begin();
    assert!(is_sent(&channel.send(&to("r1@example.org", "away-2"), GO)));
    server.delivered("away-2");
}

const MAIN: &str = "compatibility_level = 3.6
queue_directory = DIR/spool
data_directory = DIR/data
maillog_file = DIR/box/log
maillog_file_prefixes = DIR
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
myhostname = mail.example.org
mydestination =
alias_maps =
alias_database =
local_recipient_maps =
mynetworks = 127.0.0.0/8
virtual_mailbox_domains = example.org
virtual_mailbox_base = DIR/box
virtual_mailbox_maps = static:all/
virtual_minimum_uid = 1
virtual_uid_maps = static:UID
virtual_gid_maps = static:GID
smtpd_recipient_restrictions =
  check_recipient_access inline:{ {gone@example.org = 550 5.1.1 no such mailbox}, {later@example.org = 450 4.2.0 come again} },
  permit_mynetworks, reject
smtpd_tls_cert_file = DIR/cert.pem
smtpd_tls_key_file = DIR/key.pem
smtpd_tls_security_level = may
smtpd_sasl_type = dovecot
smtpd_sasl_path = private/auth
smtpd_client_connection_count_limit = 0
";

const MASTER: &str = "127.0.0.1:PLAIN inet n - n - - smtpd
127.0.0.1:WRAPPED inet n - n - - smtpd -o smtpd_tls_wrappermode=yes
127.0.0.1:SUBMISSION inet n - n - - smtpd -o smtpd_tls_auth_only=yes -o smtpd_sasl_auth_enable=yes -o smtpd_recipient_restrictions=permit_sasl_authenticated,reject
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
proxymap unix - - n - - proxymap
error unix - - n - - error
retry unix - - n - - error
virtual unix - n n - - virtual
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
";

const DOVECOT: &str = "base_dir = DIR/dovecot
state_dir = DIR/dovecot
log_path = DIR/dovecot.log
protocols =
ssl = no
auth_mechanisms = plain login
passdb {
  driver = static
  args = password=PASSWORD
}
userdb {
  driver = static
  args = uid=postfix gid=postfix home=DIR
}
service auth {
  unix_listener DIR/spool/private/auth {
    mode = 0666
  }
}
";
