//! Signatures, checked by a verifier that is not ours: dkimpy. Without it the test says that it is skipped, but with
//! `TIDINGS_REQUIRE_SERVERS` set it fails. The keys sign nothing but these tests.

use std::io::Write as _;
use std::process::{Command, Stdio};

use tidings_core::model::EMAIL_NO;
use tidings_mail::{Design, Dkim};

use crate::fixture::{of_titles, sender};
use crate::golden::{by_artist, design, to};

const KEYS: [(&str, &str, &str); 2] = [
    (
        "ed25519-sha256",
        include_str!("ed25519.pem"),
        "v=DKIM1; k=ed25519; p=n1ytQ0uc/1W54LHKblxlDUOEvIrjVWHVcHtX8/EBy6o=",
    ),
    (
        "rsa-sha256",
        include_str!("rsa.pem"),
        "v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAitAi5YpEhHeZ9PEhqxAhrdb+LvxQDisdZGELHWkR36QUMt0X6mYLNi1FCzzDoNhVEnMsmoDP44K8wR0CW84E0dvIHdD+S8B2MXT7A2klytOBHJdGprH71ogd9Rr87ODRAUmvXjsqbB/WUaVxHAr498LkqPx827FGfmem2E0l4z/GJrjXOqEp7WQnGAaZYdEg5sBJlMG4I/oCL3LewnXn8tVAsq1xOo8Bkl4/3pLZ1fNrDZDF+S8FN4h/xWS+1SEPh1pFGjV92wh8pNDsVAxbW1zGFbSJG8+8SFxObJ/Ukd4Pu5OJIWXJWaaAyWhCY7HYQ8lWtd4ZZ9ejKyuWdoXzEQIDAQAB",
    ),
];

/// Prints True where the signature of what comes in holds.
const VERIFIER: &str = "
import sys, dkim
name, record = sys.argv[1].encode(), sys.argv[2].encode()
dns = lambda asked, timeout=5: record if asked.rstrip(b'.') == name else None
print(dkim.verify(sys.stdin.buffer.read(), dnsfunc=dns))
";

fn signed(design: Design, pem: &str) -> Design {
    design.signed(Dkim::new("example.org", "t1", pem.as_bytes()).unwrap())
}

/// The verdict of the verifier; `None` where there is none.
fn verdict(mail: &[u8], record: &str) -> Option<bool> {
    let python = || Command::new("python3");
    let has = python().args(["-c", "import dkim, nacl"]).stderr(Stdio::null()).status();
    if !has.is_ok_and(|status| status.success()) {
        assert!(std::env::var_os("TIDINGS_REQUIRE_SERVERS").is_none(), "python3 has no dkimpy");
        println!("skipped: it takes python3 with dkimpy and PyNaCl");
        return None;
    }
    let mut verifier = python()
        .args(["-c", VERIFIER, "t1._domainkey.example.org", record])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    verifier.stdin.take().unwrap().write_all(mail).unwrap();
    let output = verifier.wait_with_output().unwrap();
    Some(String::from_utf8_lossy(&output.stdout).trim() == "True")
}

#[test]
fn an_independent_verifier_accepts_what_is_signed_and_nothing_else() {
    let mut foreign = of_titles(&["Ünï  \t .code".to_owned(), "Two ".to_owned()]);
    foreign.recipient.addresses.set(EMAIL_NO, &["ana@bücher.example"]);
    for batch in [of_titles(&["One".to_owned()]), foreign, to("ja", by_artist(30))] {
        for (algorithm, pem, record) in KEYS {
            let mail = tidings_mail::render(&batch, &signed(design(), pem)).unwrap();
            let text = String::from_utf8(mail.bytes.clone()).unwrap();
            assert!(
                text.starts_with(&format!("DKIM-Signature: v=1; a={algorithm};")),
                "{text:.300}"
            );
            for line in text.split("\r\n").take_while(|line| !line.starts_with("Date:")) {
                assert!(line.len() <= 78, "{line}");
            }
            assert_eq!(mail, tidings_mail::render(&batch, &signed(design(), pem)).unwrap());
            let Some(holds) = verdict(&mail.bytes, record) else {
                return;
            };
            assert!(holds, "{algorithm}: {text:.1500}");
            for (from, to) in [
                ("Subject: ", "Subject: Re "),
                ("List-Unsubscribe-Post: ", "List-Unsubscribe-Post: x"),
                ("\r\nDate:", "\r\nFrom: eve@example.org\r\nDate:"),
                ("text/html", "text/plain"),
            ] {
                assert!(text.contains(from), "{from}");
                let changed = text.replacen(from, to, 1);
                assert_eq!(verdict(changed.as_bytes(), record), Some(false), "{to}");
            }
        }
    }
}

#[test]
fn a_mail_without_a_list_is_signed_as_well() {
    let plain = Design::plain(sender());
    for (_, pem, record) in KEYS {
        let mail =
            tidings_mail::render(&of_titles(&["One".to_owned()]), &signed(plain.clone(), pem));
        let holds = verdict(&mail.unwrap().bytes, record);
        assert!(holds.unwrap_or(true));
    }
}
