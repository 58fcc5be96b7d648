//! A reader of textproto, the text form of the vectors: messages of fields, and nothing of their types.

use std::iter::Peekable;
use std::str::Chars;

/// A value: a message, or a scalar as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Message(Message),
    /// A number or a word.
    Word(String),
    /// A text; the bytes of what stood in quotes.
    Text(Vec<u8>),
}

/// The fields of a message, in order; a field may occur several times.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Message(pub(crate) Vec<(String, Value)>);

impl Message {
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        let mut fields = self.0.iter();
        fields.find(|(of, _)| of == name).map(|(_, value)| value)
    }

    pub(crate) fn all<'m>(&'m self, name: &'m str) -> impl Iterator<Item = &'m Value> {
        let fields = self.0.iter().filter(move |(of, _)| of == name);
        fields.map(|(_, value)| value)
    }

    pub(crate) fn messages<'m>(&'m self, name: &'m str) -> impl Iterator<Item = &'m Message> {
        self.all(name).filter_map(|value| match value {
            Value::Message(message) => Some(message),
            Value::Word(_) | Value::Text(_) => None,
        })
    }

    pub(crate) fn text(&self, name: &str) -> String {
        match self.get(name) {
            Some(Value::Text(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
            Some(Value::Word(word)) => word.clone(),
            _ => String::new(),
        }
    }
}

/// Reads a file.
pub(crate) fn parse(text: &str) -> Message {
    let mut reader = Reader(text.chars().peekable());
    let message = reader.fields();
    assert!(reader.peek().is_none(), "the file goes on");
    message
}

struct Reader<'t>(Peekable<Chars<'t>>);

impl Reader<'_> {
    /// The next character that is neither space nor comment.
    fn peek(&mut self) -> Option<char> {
        loop {
            match self.0.peek()? {
                '#' => while self.0.next_if(|c| *c != '\n').is_some() {},
                c if c.is_whitespace() || matches!(c, ',' | ';') => drop(self.0.next()),
                c => return Some(*c),
            }
        }
    }

    fn fields(&mut self) -> Message {
        let mut message = Message::default();
        while let Some(c) = self.peek().filter(|c| *c != '}') {
            let name = match c {
                '[' => self.until(']'),
                _ => self.word(),
            };
            assert!(!name.is_empty(), "a field has a name, not {c}");
            if self.peek() == Some(':') {
                self.0.next();
            }
            let value = self.value();
            match value {
                List::One(value) => message.0.push((name, value)),
                List::Many(values) => {
                    let fields = values.into_iter().map(|value| (name.clone(), value));
                    message.0.extend(fields);
                }
            }
        }
        message
    }

    fn value(&mut self) -> List {
        match self.peek() {
            Some('{') => {
                self.0.next();
                let message = self.fields();
                assert_eq!(self.0.next(), Some('}'));
                List::One(Value::Message(message))
            }
            Some('[') => {
                self.0.next();
                let mut values = Vec::new();
                while self.peek() != Some(']') {
                    match self.value() {
                        List::One(value) => values.push(value),
                        List::Many(more) => values.extend(more),
                    }
                }
                self.0.next();
                List::Many(values)
            }
            Some('"' | '\'') => {
                let mut bytes = Vec::new();
                while let Some(quote @ ('"' | '\'')) = self.peek() {
                    self.0.next();
                    self.quoted(quote, &mut bytes);
                }
                List::One(Value::Text(bytes))
            }
            _ => List::One(Value::Word(self.word())),
        }
    }

    fn word(&mut self) -> String {
        let mut word = String::new();
        let is_part = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.' | '/');
        while let Some(c) = self.0.next_if(is_part) {
            word.push(c);
        }
        word
    }

    fn until(&mut self, end: char) -> String {
        self.0.next();
        let mut text = String::new();
        while let Some(c) = self.0.next_if(|c| *c != end) {
            text.push(c);
        }
        self.0.next();
        text
    }

    fn quoted(&mut self, quote: char, bytes: &mut Vec<u8>) {
        let push = |bytes: &mut Vec<u8>, c: char| {
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        };
        while let Some(c) = self.0.next().filter(|c| *c != quote) {
            if c != '\\' {
                push(bytes, c);
                continue;
            }
            match self.0.next().expect("something is escaped") {
                'n' => bytes.push(b'\n'),
                't' => bytes.push(b'\t'),
                'r' => bytes.push(b'\r'),
                'a' => bytes.push(7),
                'b' => bytes.push(8),
                'f' => bytes.push(12),
                'v' => bytes.push(11),
                'x' => bytes.push(self.coded("", 16, 2).try_into().expect("one byte")),
                'u' => push(
                    bytes,
                    char::from_u32(self.coded("", 16, 4)).expect("a character"),
                ),
                'U' => push(
                    bytes,
                    char::from_u32(self.coded("", 16, 8)).expect("a character"),
                ),
                c @ '0'..='7' => {
                    let code = self.coded(&c.to_string(), 8, 3);
                    bytes.push(code.try_into().expect("one byte"));
                }
                c => push(bytes, c),
            }
        }
    }

    fn coded(&mut self, begin: &str, radix: u32, most: usize) -> u32 {
        let mut digits = begin.to_owned();
        while digits.len() < most {
            match self.0.next_if(|c| c.is_digit(radix)) {
                Some(c) => digits.push(c),
                None => break,
            }
        }
        u32::from_str_radix(&digits, radix).expect("digits")
    }
}

enum List {
    One(Value),
    Many(Vec<Value>),
}
