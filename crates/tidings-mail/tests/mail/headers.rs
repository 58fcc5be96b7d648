//! The headers by which mail programs treat a mail, read by a parser that is not ours.

use mail_parser::{Address, HeaderName, HeaderValue, Message, MessageParser};
use tidings_core::Rules;
use tidings_core::model::{BatchKey, EMAIL_NO};
use tidings_core::rules::{Brand, Quota, TypeRules};
use tidings_mail::{Design, Mail, Rest, SECRET_BYTES, TokenKey, Unsubscribe};

use crate::fixture::{assert_proper, bodies, id, of_titles, render, sender};

fn key() -> TokenKey {
    TokenKey::new(&[1; SECRET_BYTES])
}

/// The design of a host with a public address.
fn linked(required: bool) -> Design {
    let mut rules = Rules::default();
    rules.presentation.brand =
        Brand { url: Some("https://art.example/notes/".to_owned()), ..Brand::default() };
    let kind = TypeRules { required, ..TypeRules::default() };
    rules.types.insert("artwork_published".to_owned(), kind);
    let two = Quota { show: 2, show_per: Vec::new() };
    rules.presentation.digests.insert("weekly".to_owned(), two);
    Design::new(sender(), &rules).unwrap().linked(key())
}

fn parsed(mail: &Mail) -> Message<'_> {
    assert_proper_or_long(mail);
    MessageParser::default().parse(&mail.bytes).unwrap()
}

fn assert_proper_or_long(mail: &Mail) {
    if mail.bytes.is_ascii() {
        assert_proper(mail);
    }
}

fn raw<'m>(message: &'m Message<'_>, name: &'static str) -> Option<&'m str> {
    message.header_raw(HeaderName::from(name)).map(str::trim)
}

#[test]
fn a_list_can_be_left_by_one_click() {
    let batch = of_titles(&["One".to_owned()]);
    let mail = tidings_mail::render(&batch, &linked(false)).unwrap();
    let message = parsed(&mail);
    let link = match message.list_unsubscribe() {
        HeaderValue::Address(Address::List(list)) => list[0].address.as_deref().unwrap(),
        other => panic!("{other:?}"),
    };
    let token = link.strip_prefix("https://art.example/notes/u/").unwrap();
    let opened = Unsubscribe::open(&key(), token).unwrap();
    assert_eq!((opened.recipient.as_str(), opened.channel), ("r1", EMAIL_NO));
    assert_eq!(raw(&message, "List-Unsubscribe-Post"), Some("List-Unsubscribe=One-Click"));
    assert_eq!(raw(&message, "List-ID"), Some("<weekly.example.org>"));
    let feedback = raw(&message, "Feedback-ID").unwrap();
    assert!(feedback.starts_with("weekly:email:tidings:"), "{feedback}");
    assert_eq!(raw(&message, "Auto-Submitted"), Some("auto-generated"));
    assert_eq!(raw(&message, "X-Auto-Response-Suppress"), Some("OOF, AutoReply"));
    assert_eq!(raw(&message, "X-Tidings-Reason"), Some("topic:artist/andy-warhol"));
    assert!(!link.contains("r1@") && !String::from_utf8_lossy(&mail.bytes).contains("r1>"));
    // The reader's own eyes find it, too.
    for body in <[String; 2]>::from(bodies(&mail)) {
        assert!(body.contains(link), "{body}");
    }
    assert_eq!(mail, tidings_mail::render(&batch, &linked(false)).unwrap());
}

#[test]
fn what_is_required_is_no_list() {
    let mail = tidings_mail::render(&of_titles(&["One".to_owned()]), &linked(true)).unwrap();
    let message = parsed(&mail);
    for name in ["List-ID", "List-Unsubscribe", "List-Unsubscribe-Post", "Feedback-ID"] {
        assert_eq!(raw(&message, name), None, "{name}");
    }
    assert!(!bodies(&mail).1.contains("/u/"));
}

#[test]
fn p5_more_leads_to_what_is_not_shown() {
    let mut batch = of_titles(&["One", "Two", "Three", "Four"].map(str::to_owned));
    batch.message.number = tidings_core::model::RecipientNo(7);
    let mail = tidings_mail::render(&batch, &linked(false)).unwrap();
    let (text, html) = bodies(&mail);
    let (_, after) = text.split_once("and 2 more\nhttps://art.example/notes/more/").unwrap();
    let token = after.split('\n').next().unwrap();
    assert!(html.contains(&format!("href=\"https://art.example/notes/more/{token}\"")), "{html}");
    let rest = Rest { message: batch.message, day: batch.at.day(), shown: [0, 1].into() };
    assert_eq!(Rest::open(&key(), token), Some(rest));
}

#[test]
fn messages_of_a_batch_key_are_a_thread() {
    let thread = |key: &str, batch_id: &str| {
        let mut batch = of_titles(&["One".to_owned()]);
        batch.key = BatchKey::new(key).unwrap();
        batch.id = batch_id.to_owned();
        let mail = render(&batch);
        let message = parsed(&mail);
        raw(&message, "References").map(str::to_owned)
    };
    let first = thread("issue/7", "a");
    assert!(first.as_deref().is_some_and(|root| root.ends_with("@example.org>")));
    assert_eq!(first, thread("issue/7", "b"));
    assert_ne!(first, thread("issue/8", "a"));
    assert_ne!(first, thread("a\r\nX: y", "a"));
    assert_eq!(thread("", "a"), None);
}

#[test]
fn reasons_are_few_and_plain() {
    let mut batch = of_titles(&["One".to_owned()]);
    let line = &mut batch.groups[0].lines[0];
    let odd = ["everyone", "near\r\nX: y", "topic:a b\r\nX: y", "nonsense"];
    let long = format!("topic:{}", "x".repeat(256));
    let many = (0..9).map(|n| format!("topic:t/{n}"));
    let odd = odd.map(str::to_owned).into_iter();
    line.reasons = odd.chain([long]).chain(many).collect();
    let mail = render(&batch);
    let reasons = raw(&parsed(&mail), "X-Tidings-Reason").unwrap().replace("\r\n ", " ");
    assert_eq!(
        reasons,
        "everyone, topic:a%20b%0D%0AX:%20y, topic:t/0, topic:t/1, topic:t/2, topic:t/3"
    );
}

#[test]
fn addresses_of_every_script_are_taken() {
    for (address, sent) in [
        ("ana@b\u{fc}cher.example", "ana@xn--bcher-kva.example"),
        ("ana@EXAMPLE.org", "ana@example.org"),
        ("o'brien+news@example.org", "o'brien+news@example.org"),
        ("\u{442}\u{435}\u{441}\u{442}@example.org", "\u{442}\u{435}\u{441}\u{442}@example.org"),
        (
            "\u{7528}\u{6237}@\u{4f8b}\u{3048}.\u{30c6}\u{30b9}\u{30c8}",
            "\u{7528}\u{6237}@xn--r8jz45g.xn--zckzah",
        ),
    ] {
        let mut batch = of_titles(&["One".to_owned()]);
        batch.recipient.addresses.set(EMAIL_NO, &[address]);
        let mail = render(&batch);
        assert_eq!(mail.to, sent);
        let message = parsed(&mail);
        let to = message.to().and_then(|to| to.first()).unwrap();
        assert_eq!(to.address(), Some(sent));
        assert_eq!(mail.bytes.is_ascii(), sent.is_ascii());
    }
}

#[test]
fn the_longest_names_fit_a_line() {
    let mut batch = of_titles(&["One".to_owned()]);
    batch.recipient.id = id(&"r".repeat(256));
    batch.groups[0].lines[0].types = (0..100).map(|n| id(&format!("kind_{n}"))).collect();
    let mail = tidings_mail::render(&batch, &linked(false)).unwrap();
    let text = String::from_utf8(mail.bytes).unwrap();
    let longest = text.split("\r\n").map(str::len).max().unwrap();
    assert!((551..=998).contains(&longest), "{longest}");
}
