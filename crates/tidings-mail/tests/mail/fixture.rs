//! Batches to render.

use std::sync::Arc;

use tidings_core::content::{Batch, Group, Line};
use tidings_core::model::{BatchKey, EMAIL_NO, MessageId, Pivot, RecipientState};
use tidings_core::{Id, Instant, Object, Recipient};
use tidings_mail::{Design, Mail, Sender};

pub(crate) fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

pub(crate) fn instant(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

pub(crate) fn object(name: &str, title: &str) -> Object {
    Object {
        id: id(name),
        title: Some(title.into()),
        url: None,
        image: None,
        image_size: None,
        data: None,
        notifiable: None,
    }
}

/// An actor, a target or a topic as it is now.
pub(crate) fn role(name: &str, title: &str) -> Arc<Object> {
    Arc::new(object(name, title))
}

pub(crate) fn line(object: Object, reasons: &[&str]) -> Line {
    Line {
        object: Arc::new(object),
        types: vec![id("artwork_published")],
        actors: Vec::new(),
        lacks_actor: false,
        target: None,
        reasons: reasons.iter().map(|r| (*r).to_owned()).collect(),
        t: instant("2024-03-01T10:00:00Z"),
        data: None,
        entries: 1,
        order: 0,
        body: None,
    }
}

pub(crate) fn group(pivot: Pivot, key: Option<Arc<Object>>, lines: Vec<Line>) -> Group {
    let mut actors: Vec<Arc<Object>> = Vec::new();
    for actor in lines.iter().flat_map(|line| &line.actors) {
        if !actors.contains(actor) {
            actors.push(Arc::clone(actor));
        }
    }
    Group {
        event_type: id("artwork_published"),
        category: "Artists and galleries you follow".to_owned(),
        pivot,
        key,
        actors,
        lines,
    }
}

pub(crate) fn batch(groups: Vec<Group>) -> Batch {
    Batch {
        tenant: None,
        id: "0123456789abcdef0123456789abcdef".to_owned(),
        message: MessageId::default(),
        recipient: Recipient {
            id: id("r1"),
            name: None,
            addresses: [(EMAIL_NO, "r1@example.org")].into(),
            tz: None,
            locale: None,
            place: None,
            state: RecipientState::Active,
            data: None,
            quiet_hours: None,
        },
        meant_for: None,
        tz: "Europe/Paris".to_owned(),
        locale: "en".to_owned(),
        channel: "email".to_owned(),
        lane: "digest:weekly".to_owned(),
        key: BatchKey::EMPTY,
        at: instant("2024-03-04T08:00:00Z"),
        entries: groups.iter().flat_map(|group| &group.lines).map(|line| line.entries).sum(),
        groups,
        topics: vec![role("artist/andy-warhol", "Andy Warhol")],
        traces: Vec::new(),
        badge: None,
    }
}

pub(crate) fn of_titles(titles: &[String]) -> Batch {
    let lines = titles
        .iter()
        .enumerate()
        .map(|(at, title)| {
            let object = object(&format!("o{at}"), title);
            let mut line = line(object, &["topic:artist/andy-warhol"]);
            line.order = at;
            line
        })
        .collect();
    batch(vec![group(Pivot::Target, None, lines)])
}

pub(crate) fn sender() -> Sender {
    Sender::parse("Art <art@example.org>").unwrap()
}

/// The design of a sender who has configured nothing else.
pub(crate) fn design() -> Design {
    Design::plain(sender())
}

pub(crate) fn render(batch: &Batch) -> Mail {
    tidings_mail::render(batch, &design()).unwrap()
}

/// The two bodies as a mail program reads them.
pub(crate) fn bodies(mail: &Mail) -> (String, String) {
    let parsed = mail_parser::MessageParser::default().parse(&mail.bytes).unwrap();
    assert_eq!((parsed.text_body.len(), parsed.html_body.len()), (1, 1));
    let text = parsed.body_text(0).unwrap().replace("\r\n", "\n");
    let html = parsed.body_html(0).unwrap().replace("\r\n", "\n");
    (text, html)
}

/// The headers of mails, and whether each has it.
const HEADERS: [(&str, bool); 18] = [
    ("Date", true),
    ("From", true),
    ("Reply-To", false),
    ("To", true),
    ("Subject", true),
    ("Message-ID", true),
    ("References", false),
    ("List-ID", false),
    ("List-Unsubscribe", false),
    ("List-Unsubscribe-Post", false),
    ("Feedback-ID", false),
    ("Auto-Submitted", true),
    ("X-Auto-Response-Suppress", true),
    ("X-Tidings-Reason", false),
    ("X-Tidings-Batch", true),
    ("X-Tidings-Message", false),
    ("MIME-Version", true),
    ("Content-Type", true),
];

/// Asserts what every mail must hold, whatever it tells (H25, RFC 5322 section 2.1.1).
pub(crate) fn assert_proper(mail: &Mail) {
    assert!(mail.bytes.is_ascii() && mail.bytes.ends_with(b"\r\n"));
    let text = std::str::from_utf8(&mail.bytes).unwrap();
    for line in text.split("\r\n") {
        assert!(line.len() <= 550, "{} bytes: {line}", line.len());
        assert!(!line.contains(['\r', '\n']), "a bare line end in {line:?}");
    }
    let head = text.split("\r\n\r\n").next().unwrap();
    let names: Vec<&str> = head
        .split("\r\n")
        .filter(|line| !line.starts_with([' ', '\t']))
        .map(|line| line.split(':').next().unwrap())
        .collect();
    // Each at most once, in this order, and none beside them.
    let expected =
        HEADERS.into_iter().filter(|(name, is_in_each)| *is_in_each || names.contains(name));
    assert_eq!(names, expected.map(|(name, _)| name).collect::<Vec<_>>());
    let (_, html) = bodies(mail);
    assert!(!html.to_ascii_lowercase().contains("<script"));
    for link in html.split("href=\"").skip(1).chain(html.split("src=\"").skip(1)) {
        assert!(
            ["https://", "http://", "mailto:"].iter().any(|begin| link.starts_with(begin)),
            "{link:.60}"
        );
    }
}
