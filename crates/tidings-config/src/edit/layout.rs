//! The layout of a file: its headers and pairs with their places, as they stand one below the other.

use std::collections::BTreeMap;
use std::ops::Range;

use toml_parser::decoder::Encoding;
use toml_parser::parser::{Event, EventKind, parse_document, parse_key};
use toml_parser::{ParseError, Source};

/// The pairs below a header, or before the first one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HeaderPairs {
    /// The header with its brackets; empty before the first one.
    pub(super) header: Range<usize>,
    /// The table that it opens; an item of an array has its index as its name.
    pub(super) path: Vec<String>,
    pub(super) pairs: Vec<KeyPair>,
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyPair {
    /// The key, from its first name to its last.
    pub(super) key: Range<usize>,
    /// Its names.
    pub(super) path: Vec<String>,
    pub(super) value: Range<usize>,
    /// The pairs of an inline table.
    pub(super) inline: Option<Vec<KeyPair>>,
}

/// The names of a dotted key; `None` = the text is none.
pub(super) fn key_path(key: &str) -> Option<Vec<String>> {
    let source = Source::new(key);
    let (mut events, mut fault) = (Vec::<Event>::new(), None::<ParseError>);
    parse_key(&source.lex().into_vec(), &mut events, &mut fault);
    let names = events.iter().filter(|event| event.kind() == EventKind::SimpleKey);
    let names: Option<Vec<String>> = names.map(|event| name(source, event)).collect();
    let is_plain = |event: &Event| matches!(event.kind(), EventKind::SimpleKey | EventKind::KeySep);
    names.filter(|_| fault.is_none() && events.iter().all(is_plain))
}

/// The decoded name of a key.
fn name(source: Source<'_>, event: &Event) -> Option<String> {
    if matches!(event.encoding(), Some(Encoding::MlBasicString | Encoding::MlLiteralString)) {
        return None;
    }
    let (mut name, mut fault) = (std::borrow::Cow::Borrowed(""), None::<ParseError>);
    source.get(event)?.decode_key(&mut name, &mut fault);
    fault.is_none().then(|| name.into_owned())
}

/// Reads the layout of a text; `None` = it is not TOML.
pub(super) fn layout(text: &str) -> Option<Vec<HeaderPairs>> {
    let source = Source::new(text);
    let (mut events, mut fault) = (Vec::<Event>::new(), None::<ParseError>);
    parse_document(&source.lex().into_vec(), &mut events, &mut fault);
    if fault.is_some() {
        return None;
    }
    let is_shown = |event: &Event| {
        !matches!(event.kind(), EventKind::Whitespace | EventKind::Comment | EventKind::Newline)
    };
    events.retain(is_shown);
    LayoutReader { source, events: &events }.document()
}

/// A reader of the events of a document.
struct LayoutReader<'e> {
    source: Source<'e>,
    events: &'e [Event],
}

impl LayoutReader<'_> {
    fn next(&mut self) -> Option<Event> {
        let (first, rest) = self.events.split_first()?;
        self.events = rest;
        Some(*first)
    }

    fn peek(&self) -> Option<EventKind> {
        self.events.first().map(Event::kind)
    }

    fn document(&mut self) -> Option<Vec<HeaderPairs>> {
        let mut all = vec![HeaderPairs { header: 0..0, path: Vec::new(), pairs: Vec::new() }];
        // Of each array the number of its items so far.
        let mut arrays: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        while let Some(kind) = self.peek() {
            if kind == EventKind::SimpleKey {
                let pair = self.pair()?;
                all.last_mut()?.pairs.push(pair);
                continue;
            }
            let open = self.next()?;
            let (_, names) = self.key()?;
            let close = self.next()?;
            let mut path: Vec<String> = Vec::new();
            for (at, name) in names.iter().enumerate() {
                path.push(name.clone());
                let opens = kind == EventKind::ArrayTableOpen && at + 1 == names.len();
                let items = match arrays.get_mut(&path) {
                    None if opens => arrays.entry(path.clone()).or_default(),
                    None => continue,
                    Some(items) => items,
                };
                *items += usize::from(opens);
                path.push((*items - 1).to_string());
            }
            let header = open.span().start()..close.span().end();
            all.push(HeaderPairs { header, path, pairs: Vec::new() });
        }
        Some(all)
    }

    fn key(&mut self) -> Option<(Range<usize>, Vec<String>)> {
        let mut path = Vec::new();
        let mut span: Option<Range<usize>> = None;
        while let Some(EventKind::SimpleKey | EventKind::KeySep) = self.peek() {
            let event = self.next()?;
            if event.kind() == EventKind::SimpleKey {
                path.push(name(self.source, &event)?);
            }
            let start = span.map_or(event.span().start(), |span| span.start);
            span = Some(start..event.span().end());
        }
        Some((span?, path))
    }

    fn pair(&mut self) -> Option<KeyPair> {
        let (key, path) = self.key()?;
        let separator = self.next()?;
        if separator.kind() != EventKind::KeyValSep {
            return None;
        }
        let (value, inline) = self.value()?;
        Some(KeyPair { key, path, value, inline })
    }

    fn value(&mut self) -> Option<(Range<usize>, Option<Vec<KeyPair>>)> {
        let open = self.next()?;
        let start = open.span().start();
        match open.kind() {
            EventKind::Scalar => Some((start..open.span().end(), None)),
            EventKind::ArrayOpen => loop {
                match self.peek()? {
                    EventKind::ArrayClose => break Some((start..self.next()?.span().end(), None)),
                    EventKind::ValueSep => drop(self.next()),
                    _ => drop(self.value()?),
                }
            },
            EventKind::InlineTableOpen => {
                let mut pairs = Vec::new();
                loop {
                    match self.peek()? {
                        EventKind::InlineTableClose => {
                            break Some((start..self.next()?.span().end(), Some(pairs)));
                        }
                        EventKind::ValueSep => drop(self.next()),
                        _ => pairs.push(self.pair()?),
                    }
                }
            }
            _ => None,
        }
    }
}
