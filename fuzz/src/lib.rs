//! The functions behind the targets: each runs a reader that takes any bytes, and checks its result.
//!
//! The main workspace compiles this file, too: a test plays the seeds (`crates/tidings/tests/seeds.rs`).

use std::sync::LazyLock;

use tidings::import::{
    BadRows, Format, Import, InputPosition, Kind, Observer, PendingSlice, Sink, SinkError, Source,
    Tally,
};
use tidings_core::codec::ByteReader;
use tidings_core::index::{HeaderRows, PostingBlock};
use tidings_core::journal::{Record, decode, encode};
use tidings_core::model::CHANNEL_KINDS;
use tidings_core::sets::{PackedColumn, PackedTexts, Set};
use tidings_core::{Command, Event, Instant, Rules, cel};
use tidings_mail::{Design, MailTag, Report, Rest, Sender, Sentence, TokenKey, Unsubscribe};

/// A target: its name, which is that of its seeds, and what it does with bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 13] = [
    ("addresses", addresses),
    ("configuration", configuration),
    ("expressions", expressions),
    ("forms", forms),
    ("imports", imports),
    ("lines", lines),
    ("links", links),
    ("records", records),
    ("reports", reports),
    ("sentences", sentences),
    ("templates", templates),
    ("tokens", tokens),
    ("users", users),
];

const RULES: &str = "[categories.news]\n[types.note]\ncategory = \"news\"\n\
    channels = { inbox = { policy = \"now\" }, email = { policy = \"now\" } }\n";

static NOTE: LazyLock<Rules> =
    LazyLock::new(|| tidings_config::parse(RULES, "rules.toml").expect("they are some"));

/// An event for expressions.
static EVENT: LazyLock<Box<Event>> = LazyLock::new(|| {
    let line = br#"{"at":"2024-01-01T00:00:00Z","op":"publish","id":"e","type":"note","actor":{"id":"a"},
        "object":{"id":"o/1","title":"T"},"to":{"recipients":["r"]},"data":{"n":1,"f":0.5,"t":"x","l":[1,"a",{"b":null}],
        "m":{"k":true}}}"#;
    match tidings_api::timeline::read_line(&NOTE, 1, line).expect("it is one").command {
        Command::Publish(event) => event,
        other => unreachable!("{other:?}"),
    }
});

fn with_text(bytes: &[u8], try_it: impl Fn(&str)) {
    if let Ok(text) = str::from_utf8(bytes) {
        try_it(text);
    }
}

/// Addresses of recipients on every channel, and of senders.
pub fn addresses(bytes: &[u8]) {
    with_text(bytes, |text| {
        let _ = Sender::parse(text);
        for kind in CHANNEL_KINDS.iter().filter_map(|channel| channel.address) {
            let _ = (kind.fault(text), kind.destination(text));
            if let Some(read) = kind.read(text) {
                assert!(kind.accepts(text), "{kind:?} reads {text:?} and does not take it");
                assert_eq!(kind.read(&read).as_ref(), Some(&read), "{kind:?}");
            }
        }
    });
}

/// Configurations.
pub fn configuration(bytes: &[u8]) {
    with_text(bytes, |text| {
        if let Err(faults) = tidings_config::parse(text, "tidings.toml") {
            assert!(!faults.list.is_empty() && !faults.to_string().is_empty());
        }
    });
}

/// Expressions of the configuration, and their values for an event.
pub fn expressions(bytes: &[u8]) {
    with_text(bytes, |text| {
        for wanted in [None, Some(cel::ValueKind::Bool)] {
            let Ok(program) = cel::Program::checked(text, cel::OF_CONDITION, wanted) else {
                continue;
            };
            let event = cel::of_entered(&EVENT, Instant(0));
            let names = [("event", event), ("object", cel::of_object(&EVENT.object))];
            let _ = program.holds(&names);
            let _ = program.value(&names);
        }
        if let Ok(program) = cel::Program::compile(text, cel::OF_EVENT) {
            let _ = program.key(&EVENT);
        }
    });
}

/// Forms, whose first line is their type.
pub fn forms(bytes: &[u8]) {
    let mut parts = bytes.splitn(2, |byte| *byte == b'\n');
    let kind = parts.next().unwrap_or_default();
    tidings_http::read_form(kind, parts.next().unwrap_or_default());
}

/// Rows of CSV and of JSON, of each kind, our own and those of other products.
pub fn imports(bytes: &[u8]) {
    for format in [Format::Csv, Format::Ndjson] {
        for kind in [Kind::Recipients, Kind::Subscriptions, Kind::Objects] {
            for from in [None, Some(Source::Knock), Some(Source::Novu)] {
                let bad = BadRows::Skip;
                let import = Import { input: bytes, format, kind, from, bad };
                let mut seen = Seen::default();
                let (tally, _) = import.run(&mut Nowhere, &mut seen);
                assert_eq!(tally.skipped, seen.0, "each row that is left out is told");
            }
        }
    }
}

struct Nowhere;

impl Sink for Nowhere {
    fn slice_rows(&self) -> usize {
        100
    }

    fn wants_lines(&self) -> bool {
        true
    }

    fn give(
        &mut self,
        _commands: Vec<Command>,
        _lines: Vec<u8>,
    ) -> Result<PendingSlice, SinkError> {
        Ok(PendingSlice::Durable(Vec::new()))
    }
}

#[derive(Default)]
struct Seen(u64);

impl Observer for Seen {
    fn advanced(&mut self, _position: InputPosition, _tally: Tally) {}

    fn skipped(&mut self, fault: &tidings_api::timeline::Fault) {
        assert!(!fault.to_string().is_empty());
        self.0 += 1;
    }
}

/// Lines of timelines: the bodies of calls.
pub fn lines(bytes: &[u8]) {
    if let Err(fault) = tidings_api::timeline::read_line(&NOTE, 1, bytes) {
        assert!(!fault.to_string().is_empty());
    }
}

/// Addresses of links and pictures, durations, locales, secrets of webhooks.
pub fn links(bytes: &[u8]) {
    with_text(bytes, |text| {
        let _ = tidings_mail::LinkAddress::parse(text);
        let _ = tidings_mail::web_address(text);
        let _ = tidings_mail::picture_address(text);
        let _ = tidings_mail::check_locale(text);
        let _ = tidings_mail::canonical_locale(text);
        let _ = tidings_node::channel::WebhookKey::parse(text);
        if let Ok(ms) = tidings_config::duration::parse(text) {
            let _ = tidings_config::duration::rounded(ms);
        }
    });
}

/// Whatever is stored: sets, records, columns, headers, postings.
pub fn records(bytes: &[u8]) {
    if let Ok(set) = Set::decode(bytes) {
        let mut again = Vec::new();
        set.encode(&mut again);
        assert_eq!(Set::decode(&again).as_ref(), Ok(&set));
    }
    if let Ok(record) = decode::<Record>("record", bytes) {
        let again = encode(&record);
        assert_eq!(decode("record", &again).as_ref(), Ok(&record));
    }
    if let Some((len, rest)) = bytes.split_first() {
        let len = usize::from(*len);
        if let Ok(column) = PackedColumn::read(&mut ByteReader::new(rest, "column"), len) {
            assert!((0..len).all(|at| column.get(at).is_some()) && column.get(len).is_none());
        }
        if let Ok(texts) = PackedTexts::read(&mut ByteReader::new(rest, "texts"), len, "texts") {
            for at in 0..=len {
                let _ = texts.get(at);
            }
        }
    }
    if let Ok(rows) = HeaderRows::parse(bytes) {
        for at in 0..=rows.len().min(1_000) {
            let _ = rows.get(at);
        }
    }
    if let Ok(block) = PostingBlock::parse(bytes) {
        let below = |ordinal| assert!(ordinal < block.ordinals());
        for slot in 0..=u8::MAX {
            let _ = block.row(slot, &mut { below });
        }
        let _ = block.each(|_| true, |_, ordinal| below(ordinal));
    }
}

/// Mails that report what became of another.
pub fn reports(bytes: &[u8]) {
    let _ = Report::read(bytes);
}

/// Sentences of the configuration.
pub fn sentences(bytes: &[u8]) {
    with_text(bytes, |text| {
        for locale in ["en", "pl", "ar"] {
            let faults = Sentence::faults(text, locale);
            let read = Sentence::parse(text, locale);
            assert_eq!(faults.is_empty(), read.is_ok(), "{locale}: {text:?}");
        }
    });
}

/// Templates of mails, tried on samples.
pub fn templates(bytes: &[u8]) {
    with_text(bytes, |text| {
        let mut rules = NOTE.clone();
        let templates = &mut rules.presentation.templates;
        templates.insert("email/note.html".to_owned(), text.to_owned());
        let _ = Design::faults(&rules);
    });
}

/// Tokens of links, and tags of messages.
pub fn tokens(bytes: &[u8]) {
    static KEY: LazyLock<TokenKey> =
        LazyLock::new(|| TokenKey::new(&[7; tidings_mail::SECRET_BYTES]));
    with_text(bytes, |text| {
        let _ = Unsubscribe::open(&KEY, text);
        let _ = Rest::open(&KEY, text);
        let _ = MailTag::find(&KEY, text);
    });
}

/// Tokens of end users, and their parts behind a right signature.
pub fn users(bytes: &[u8]) {
    tidings_api::token::read(bytes);
}
