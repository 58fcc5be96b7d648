use std::io::Read as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::*;

fn finding(mail: &str) -> Vec<(MailEvent, String)> {
    let report = Report::read(mail.as_bytes()).unwrap_or_else(|| panic!("no report: {mail}"));
    report
        .findings
        .into_iter()
        .map(|found| {
            let status = found.status.map(|status| status.to_string());
            (found.event, status.unwrap_or_default())
        })
        .collect()
}

/// A delivery status with these fields of a recipient.
fn status(fields: &str) -> String {
    format!(
        "From: MAILER-DAEMON\nContent-Type: multipart/report; boundary=b\n\n--b\nContent-Type: text/plain\n\n\
         Sorry.\n--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx\n\n\
         Final-Recipient: rfc822; ada@example.org\n{fields}\n--b--\n"
    )
}

fn words(text: &str) -> String {
    format!("From: Mail Delivery Subsystem <MAILER-DAEMON@mx>\nSubject: Undelivered\n\n{text}\n")
}

#[test]
fn what_a_delivery_status_says_is_read() {
    for (fields, event, code) in [
        ("Action: failed\nStatus: 5.1.1", MailEvent::Gone, "5.1.1"),
        ("Action: failed\nStatus: 5.2.2", MailEvent::Bounced, "5.2.2"),
        (
            "Action: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 5.7.1 blocked",
            MailEvent::Blocked,
            "5.7.1",
        ),
        ("Action: delayed\nStatus: 4.4.1", MailEvent::Delayed, "4.4.1"),
        ("Action: delivered\nStatus: 2.1.5", MailEvent::Delivered, "2.1.5"),
        // A quota does not make an address go.
        (
            "Action: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 552 Mailbox full",
            MailEvent::Bounced,
            "5.1.1",
        ),
        ("Action: failed", MailEvent::Bounced, ""),
    ] {
        assert_eq!(finding(&status(fields)), [(event, code.to_owned())], "{fields}");
    }
}

#[test]
fn what_servers_say_in_words_is_read() {
    for (text, event, code) in [
        (
            "550 5.1.1 <ada@example.org>... User unknown (in reply to RCPT TO command)",
            MailEvent::Gone,
            "5.1.1",
        ),
        (
            "<ada@example.org>:\nSorry, I couldn't find a mail exchanger. (#5.1.2)",
            MailEvent::Gone,
            "5.1.2",
        ),
        // Only once the server had the mail: it may be about the mail.
        (">>> DATA\n<<< 550 user unknown", MailEvent::Bounced, ""),
        ("Delivery is delayed. It will be retried.\n451 4.3.0", MailEvent::Delayed, "4.3.0"),
        ("It was sent from 192.5.1.1 by version 5.1.1.7", MailEvent::Bounced, ""),
        // What comes back after the words is not theirs.
        (
            "It failed.\n--- Original message ---\nSubject: 550 5.1.1 user unknown",
            MailEvent::Bounced,
            "",
        ),
    ] {
        assert_eq!(finding(&words(text)), [(event, code.to_owned())], "{text}");
    }
}

#[test]
fn a6_words_alone_name_the_addresses_that_they_are_about() {
    let named = |text: &str| {
        let report = Report::read(words(text).as_bytes()).unwrap();
        let found = report.findings.into_iter();
        found.map(|found| (found.event, found.named.join(" "))).collect::<Vec<_>>()
    };
    assert_eq!(
        named("<ada@example.org>: User unknown.\n<Bob@example.org>:\nNo such user."),
        [
            (MailEvent::Gone, "ada@example.org".to_owned()),
            (MailEvent::Gone, "Bob@example.org".to_owned())
        ]
    );
    assert_eq!(named("550 5.1.1 User unknown"), [(MailEvent::Bounced, String::new())]);
    // Where a delivery status tells, nothing else need be named.
    let mail = status("Action: failed\nStatus: 5.1.1");
    let report = Report::read(mail.as_bytes()).unwrap();
    assert!(report.findings[0].named.is_empty());
}

#[test]
fn a6_a_person_who_cites_a_report_makes_none() {
    let cited = "Hello,\nI got this:\n\nFinal-Recipient: rfc822; ada@example.org\nAction: failed\nStatus: 5.1.1\n\n\
                 550 5.1.1 <ada@example.org>: user unknown\n";
    let of_person = format!("From: Ada <ada@example.net>\nSubject: Fwd: failure\n\n{cited}");
    assert_eq!(Report::read(of_person.as_bytes()), None);
    let of_server = format!("From: MAILER-DAEMON@mx\nSubject: failure\n\n{cited}");
    assert_eq!(finding(&of_server), [(MailEvent::Gone, "5.1.1".to_owned())]);
}

#[test]
fn the_report_of_apples_server_is_read() {
    let text = "This report relates to a message you sent with the following header fields:\n\n  To: ada@example.org\n\n\
                Your message cannot be delivered to the following recipients:\n\n  \
                Recipient address: ada@example.org\n  Reason: Remote SMTP server has rejected address\n  \
                Diagnostic code: smtp;550 User unknown\n  Remote system: dns;mx.example.org (TCP|192.0.2.1|33442)";
    let in_words = words(text);
    assert_eq!(finding(&in_words), [(MailEvent::Gone, String::new())]);
    let with_status = status(
        "Action: failed\nStatus: 5.0.0 (Remote SMTP server has rejected address)\n\
         Diagnostic-code: smtp;550 User unknown",
    )
    .replace("Sorry.", text);
    assert_eq!(finding(&with_status), [(MailEvent::Gone, "5.0.0".to_owned())]);
}

#[test]
fn complaints_are_read_and_mistakes_are_none() {
    let report = |kind: &str| {
        format!(
            "From: a@b.example\nContent-Type: multipart/report; boundary=b\n\n--b\n\
             Content-Type: message/feedback-report\n\nFeedback-Type: {kind}\n\n--b--\n"
        )
    };
    assert_eq!(finding(&report("abuse"))[0].0, MailEvent::Complained);
    assert_eq!(finding(&report("opt-out"))[0].0, MailEvent::OptedOut);
    assert_eq!(finding(&report("not-spam")), []);
}

/// The most bytes of a mail that the server reads.
const MAIL_BYTES: usize = 1 << 20;

/// Mails of the greatest size that is read, which nest as deep as such a mail can.
fn nested() -> Vec<String> {
    let levels = |level: &str| level.repeat(MAIL_BYTES / level.len());
    let numbered = |kind: &str| {
        let mut mail = String::new();
        for number in 0.. {
            let level = format!("Content-Type: {kind}; boundary=b{number}\n\n--b{number}\n");
            if mail.len() + level.len() > MAIL_BYTES {
                break;
            }
            mail.push_str(&level);
        }
        mail
    };
    let encoded = |inner: &str| {
        let inner: String = inner.chars().take(MAIL_BYTES / 4 * 3 - 3000).collect();
        let text = STANDARD.encode(inner);
        format!("Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n{text}\n")
    };
    vec![
        levels("Content-Type:message/rfc822\n\n"),
        levels("content-TYPE\t:\r\n message (of a mail) /rfc822\r\n\r\n"),
        levels("Con tent-Type:message/global\n\n"),
        levels("Content-Type:multipart/digest;boundary=b\n\n--b\n\n"),
        levels("Content-Type:multipart/mixed;boundary=b\n\n--b\n"),
        numbered("multipart/mixed"),
        numbered("multipart/digest"),
        encoded(&levels("Content-Type:message/rfc822\n\n")),
        levels("Content-Type:message/rfc822\nContent-Transfer-Encoding:quoted-printable\n\n"),
    ]
}

#[test]
fn a1_the_depth_of_a_mail_is_bounded() {
    for (which, mail) in nested().into_iter().enumerate() {
        // A tenth of what a thread of the server has.
        let reads = std::thread::Builder::new().stack_size(200 << 10);
        let read = reads.spawn(move || Report::read(mail.as_bytes())).unwrap();
        assert!(read.join().unwrap().is_none(), "{which}");
    }
    // What stands before the depth is read all the same.
    let deep = "Content-Type:message/rfc822\n\n".repeat(10_000);
    let mail =
        status("Action: failed\nStatus: 5.1.1").replace("--b--", &format!("--b\n{deep}\n--b--"));
    assert_eq!(finding(&mail), [(MailEvent::Gone, "5.1.1".to_owned())]);
}

#[test]
fn a_boundary_counts_only_at_the_beginning_of_a_line() {
    let mail = status("Action: failed\nStatus: 5.1.1")
        .replace("Sorry.", "Sorry --b about a--b--and --b--.");
    assert_eq!(finding(&mail), [(MailEvent::Gone, "5.1.1".to_owned())]);
}

#[test]
fn complaints_in_the_old_form_of_microsoft_are_read() {
    let mail = "From: staff@hotmail.com\nSubject: complaint about message from 192.0.2.1\n\
                Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n\n\
                X-Tidings-Message: TAG\nSubject: News\n\nHello\n--b--\n";
    let report = Report::read(mail.as_bytes()).unwrap();
    assert_eq!(report.findings[0].event, MailEvent::Complained);
    assert!(report.hints.contains(&"TAG".to_owned()));
}

#[test]
fn other_mails_are_no_reports() {
    for mail in [
        // A vacation note, a receipt, a person who cites a server, and a newsletter.
        "Return-Path: <>\nFrom: ada@example.org\nAuto-Submitted: auto-replied\nSubject: Away\n\nNo delivery until May.\n",
        "Return-Path: <>\nFrom: ada@example.org\nX-Auto-Response-Suppress: All\nSubject: Away\n\nNo delivery: user unknown.\n",
        "Return-Path: <>\nFrom: ada@example.org\nPrecedence: auto_reply\nSubject: Failure\n\nuser unknown\n",
        "From: ada@example.org\nContent-Type: multipart/report; report-type=disposition-notification; boundary=b\n\n--b\n\n\
         Read.\n--b\nContent-Type: message/disposition-notification\n\nFinal-Recipient: rfc822; ada@example.org\n\
         Disposition: manual-action; displayed\n--b--\n",
        "From: ada@example.org\nSubject: Re: your mail\n\nIt could not be delivered to my old account: 550 5.1.1 user \
         unknown.\n",
        "From: postmaster@example.org\nSubject: News of May\n\nA new printer.\n",
        "",
        "x",
        "From: ada@example.org\nSubject: Lunch?\n\nAt noon.\n",
        "From: ada@example.org\nAuto-Submitted: auto-replied\nSubject: Away\n\nYour delivery will wait.\n",
    ] {
        assert_eq!(Report::read(mail.as_bytes()), None, "{mail}");
    }
}

/// The corpus of bounces, where it is: see CONTRIBUTING.md.
fn corpus() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder =
        std::env::var_os("TIDINGS_SHARED").map_or_else(beside, PathBuf::from).join("data/email");
    folder.join("dsn_sisimai.tar.gz").is_file().then_some(folder)
}

/// The files of an archive by their paths.
fn unpacked(archive: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(archive).unwrap();
    flate2::read::GzDecoder::new(file).read_to_end(&mut bytes).unwrap();
    let mut files = BTreeMap::new();
    let mut at = 0;
    while let Some(head) = bytes.get(at..at + 512).filter(|head| head[0] != 0) {
        let field = |from: usize, to: usize| {
            let field = String::from_utf8_lossy(&head[from..to]).into_owned();
            field.trim_matches(['\0', ' ']).to_owned()
        };
        let size = usize::from_str_radix(&field(124, 136), 8).unwrap();
        files.insert(field(0, 100), bytes[at + 512..at + 512 + size].to_vec());
        at += 512 + size.next_multiple_of(512);
    }
    files
}

/// Real bounces of some fifty kinds of servers, with what another parser found in them. Codes that begin with 5.0.9 or
/// 4.0.9 are that parser's own, for mails that have none: of them only the class is compared.
#[test]
fn real_bounces_are_read_as_others_read_them() {
    let Some(folder) = corpus() else {
        return;
    };
    let files = unpacked(&folder.join("dsn_sisimai.tar.gz"));
    let rows = std::fs::read_to_string(folder.join("dsn_expected.tsv")).unwrap();
    let (mut all, mut codes, mut hard) = (0, 0, 0);
    let (mut gone_of_filtered, mut others, mut hard_of_others) = (0, 0, 0);
    let mut complaints = 0;
    for row in rows.lines().skip(1) {
        let row: Vec<&str> = row.split('\t').collect();
        let [file, number, status, _, reason, is_hard, feedback] = row[..] else {
            panic!("{row:?}");
        };
        let mail = files.iter().find(|(path, _)| path.ends_with(file));
        let report = Report::read(mail.expect("it is in the archive").1);
        let number: usize = number.parse().unwrap();
        let found = report.as_ref().and_then(|report| report.findings.get(number - 1));
        let code = found.and_then(|found| found.status);
        let is_code = if status.contains(".0.9") {
            code.is_none_or(|code| status.starts_with(&code.class().to_string()))
        } else {
            code.map(|code| code.to_string()).unwrap_or_default() == status
        };
        let is_gone = found.is_some_and(|found| found.event == MailEvent::Gone);
        all += 1;
        codes += u32::from(is_code);
        let is_right = is_gone == (is_hard == "true");
        hard += u32::from(is_right);
        match reason {
            "filtered" => gone_of_filtered += u32::from(is_gone),
            _ => {
                others += 1;
                hard_of_others += u32::from(is_right);
            }
        }
        complaints += u32::from(
            ["abuse", "opt-out"].contains(&feedback)
                && found.is_some_and(|found| found.event >= MailEvent::Complained),
        );
    }
    println!(
        "{all} rows: {codes} codes as expected; {hard} hard or soft; {complaints} complaints. Of the {others} not \
         labelled `filtered` {hard_of_others} hard or soft; of those {gone_of_filtered} gone"
    );
    assert!(codes * 100 >= all * 95);
    // "Filtered" is what the other parser makes of a server that says "User unknown" once it has the mail, or with
    // another code than 5.1.1: it takes that for a filter, and its label says soft. Nearly all of these 30 say in so
    // many words that there is no such user, and here that is what it means. They count as errors
    // of the figure over all rows; a second one is over the rows whose label can be compared.
    assert!(hard * 100 >= all * 90);
    assert!(hard_of_others * 100 >= others * 96);
    // One mail complains for two recipients at once, and is read as one complaint.
    assert!(complaints >= 8);
    // Each of the others is read without harm.
    for mail in files.values() {
        for end in [mail.len(), mail.len() / 2, mail.len() / 3] {
            let _report = Report::read(&mail[..end]);
        }
    }
}

proptest::proptest! {
    #[test]
    fn nothing_that_comes_back_does_harm(mail in ".{0,400}", at in 0_usize..400) {
        let _report = Report::read(mail.as_bytes());
        let bounce = status("Action: failed\nStatus: 5.1.1");
        let cut = bounce.len().min(at);
        let mixed = format!("{}{mail}{}", &bounce[..cut], &bounce[cut..]);
        let _report = Report::read(mixed.as_bytes());
    }
}
