//! A walk over the parsed tables that collects faults instead of stopping at the first.
//!
//! It knows TOML and how to complain, nothing of what the keys mean.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;

use tidings_core::Id;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::duration;
use super::fault::{Fault, Faults, SourceSpan};
use super::texts::ConfigText;
use crate::wording::{did_you_mean, nearest, one_of, quoted};
use crate::zone;

#[cfg(test)]
thread_local! {
    /// The keys that a thread's walks knew.
    pub(super) static KNOWN: std::cell::RefCell<BTreeSet<String>> = std::cell::RefCell::default();
}

/// A stretch of bytes of the file.
pub(super) type ByteSpan = Range<usize>;

/// The kind of a fault: some are only echoes of a fault in the syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FaultKind {
    /// The file is not TOML here.
    Syntax,
    /// Something is not there, or what it refers to is not there.
    Absent,
    /// Something is there and wrong.
    Bad,
}

/// The faults found so far.
#[derive(Debug, Default)]
pub(super) struct ConfigReader {
    found: Vec<(ByteSpan, FaultKind, String, String)>,
    /// The texts for people.
    pub(super) texts: Vec<ConfigText>,
    /// The directory from which files are named; `None` where none is looked at.
    pub(super) directory: Option<PathBuf>,
}

/// A table under its name.
#[derive(Clone, Debug)]
pub(super) struct Section<'t> {
    table: &'t DeTable<'t>,
    /// The dotted path, such as `types.artwork_published`.
    pub(super) path: String,
    /// The place of its name, which is that of what it lacks.
    pub(super) header: ByteSpan,
}

/// A value with its place.
#[derive(Clone, Debug)]
pub(super) struct PlacedValue<T> {
    pub(super) value: T,
    pub(super) span: ByteSpan,
}

impl PlacedValue<&str> {
    /// The place of a byte of a text, as far as its text stands in the file as it is: without escapes.
    pub(super) fn within(&self, offset: usize) -> ByteSpan {
        let quotes = self.span.len().saturating_sub(self.value.len());
        let first = match quotes {
            2 => self.span.start + 1,
            6 => self.span.start + 3,
            _ => return self.span.clone(),
        };
        let offset = (first + offset).min(self.span.end - 1);
        offset..offset + 1
    }
}

impl<'t> Section<'t> {
    /// The document itself.
    pub(super) fn root(table: &'t DeTable<'t>) -> Self {
        Self { table, path: String::new(), header: 0..0 }
    }

    /// Returns true if the key is there, whatever its value.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Returns true if the value of a key is a table.
    pub(super) fn is_table(&self, key: &str) -> bool {
        self.entry(key).is_some_and(|(_, value)| value.get_ref().as_table().is_some())
    }

    /// The keys, whatever their values.
    pub(super) fn keys(&self) -> impl Iterator<Item = PlacedValue<&'t str>> {
        self.table.keys().map(|key| PlacedValue { value: &**key.get_ref(), span: key.span() })
    }

    /// The value of a key, for readers of many kinds.
    pub(super) fn value(&self, key: &str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.table.get(key)
    }

    fn entry(&self, key: &str) -> Option<(ByteSpan, &'t Spanned<DeValue<'t>>)> {
        self.table.get_key_value(key).map(|(name, value)| (name.span(), value))
    }

    pub(super) fn below(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}

impl ConfigReader {
    /// Notes something that is there and wrong.
    pub(super) fn bad(
        &mut self,
        span: &ByteSpan,
        reason: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.found.push((span.clone(), FaultKind::Bad, reason.into(), hint.into()));
    }

    /// The number of faults so far.
    pub(super) fn count(&self) -> usize {
        self.found.len()
    }

    /// Notes something that is not there.
    pub(super) fn absent(
        &mut self,
        span: &ByteSpan,
        reason: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.found.push((span.clone(), FaultKind::Absent, reason.into(), hint.into()));
    }

    /// Notes a fault of the TOML itself.
    pub(super) fn syntax(&mut self, error: &toml::de::Error, text: &str) {
        let span = error.span().unwrap_or(text.len()..text.len());
        let message = error.message();
        if message.starts_with("duplicate key") {
            let name = text.get(span.clone()).unwrap_or_default();
            self.bad(
                &span,
                format!("duplicate key {}", quoted(name)),
                "keep one of the two; a type, category or digest is declared in one place",
            );
        } else {
            let message = message.replace('\n', ", ");
            let message = message.strip_suffix(", expected nothing").unwrap_or(&message);
            let reason = format!("not TOML: {message}");
            let hint = if message.contains("with a dotted key") {
                "a key can't be a text and a table: write `\"sentence.de\" = \"…\"` with the key in quotes, or give the \
                 first text a key of its own, such as `sentence.en`"
            } else {
                "fix the syntax: text goes in double quotes, a table on one line in { }"
            };
            self.found.push((span, FaultKind::Syntax, reason, hint.to_owned()));
        }
    }

    /// Refuses keys that are not among `known`.
    pub(super) fn only(&mut self, section: &Section<'_>, known: &[&str]) {
        #[cfg(test)]
        KNOWN.with_borrow_mut(|all| all.extend(known.iter().map(|key| (*key).to_owned())));
        for key in section.keys().filter(|key| !known.contains(&key.value)) {
            let hint = did_you_mean(key.value, known.iter().copied());
            self.bad(
                &key.span,
                format!("unknown key {}", quoted(&section.below(key.value))),
                hint.unwrap_or_else(|| "remove it".to_owned()),
            );
        }
    }

    /// Reports a missing key of a section, unless it is there misspelt, which is reported by itself.
    pub(super) fn missing(&mut self, section: &Section<'_>, key: &str, hint: &str) {
        if nearest(key, section.keys().map(|key| key.value)).is_some() {
            return;
        }
        let reason = format!("{} lacks `{key}`", quoted(&section.path));
        self.absent(&section.header, reason, hint);
    }

    fn wrong_type(&mut self, path: &str, value: &Spanned<DeValue<'_>>, wanted: &str, hint: &str) {
        let got = match value.get_ref() {
            DeValue::String(_) => "text",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date or time",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.bad(&value.span(), format!("{}: expected {wanted}, got {got}", quoted(path)), hint);
    }

    /// A table below a key.
    pub(super) fn section<'t>(
        &mut self,
        section: &Section<'t>,
        key: &str,
        hint: &str,
    ) -> Option<Section<'t>> {
        let (header, value) = section.entry(key)?;
        let path = section.below(key);
        let Some(table) = value.get_ref().as_table() else {
            self.wrong_type(&path, value, "a table", hint);
            return None;
        };
        Some(Section { table, path, header })
    }

    /// The tables of a list of tables.
    pub(super) fn tables<'t>(
        &mut self,
        section: &Section<'t>,
        key: &str,
        hint: &str,
    ) -> Vec<Section<'t>> {
        let Some((_, value)) = section.entry(key) else {
            return Vec::new();
        };
        let path = section.below(key);
        let DeValue::Array(list) = value.get_ref() else {
            self.wrong_type(&path, value, "a list of tables", hint);
            return Vec::new();
        };
        let mut tables = Vec::with_capacity(list.len());
        for item in list {
            match item.get_ref().as_table() {
                Some(table) => {
                    tables.push(Section { table, path: path.clone(), header: item.span() });
                }
                None => self.wrong_type(&path, item, "a table", hint),
            }
        }
        tables
    }

    /// The tables of a table of tables, by name; names that are no ids are faults.
    pub(super) fn named<'t>(
        &mut self,
        section: &Section<'t>,
        key: &str,
        hint: &str,
    ) -> Vec<(&'t str, Section<'t>)> {
        let Some(outer) = self.section(section, key, hint) else {
            return Vec::new();
        };
        let mut inner = Vec::new();
        for name in outer.keys() {
            self.id(&name, "name");
            if let Some(section) = self.section(&outer, name.value, hint) {
                inner.push((name.value, section));
            }
        }
        inner
    }

    /// Refuses text that is not an id.
    pub(super) fn id(&mut self, text: &PlacedValue<&str>, what: &str) {
        if let Err(error) = Id::new(text.value) {
            self.bad(
                &text.span,
                format!("{} is not a valid {what}: {error}", quoted(text.value)),
                "write 1 to 256 bytes without control characters",
            );
        }
    }

    /// Text below a key.
    pub(super) fn text<'t>(
        &mut self,
        section: &Section<'t>,
        key: &str,
        hint: &str,
    ) -> Option<PlacedValue<&'t str>> {
        let (_, value) = section.entry(key)?;
        match value.get_ref() {
            DeValue::String(text) => Some(PlacedValue { value: &**text, span: value.span() }),
            _ => {
                self.wrong_type(&section.below(key), value, "text", hint);
                None
            }
        }
    }

    /// True or false below a key.
    pub(super) fn flag(&mut self, section: &Section<'_>, key: &str) -> Option<bool> {
        let (_, value) = section.entry(key)?;
        let flag = value.get_ref().as_bool();
        if flag.is_none() {
            let hint = "write `true` or `false`, without quotes";
            self.wrong_type(&section.below(key), value, "true or false", hint);
        }
        flag
    }

    /// A whole number below a key.
    pub(super) fn whole(
        &mut self,
        section: &Section<'_>,
        key: &str,
        hint: &str,
    ) -> Option<PlacedValue<i128>> {
        let (_, value) = section.entry(key)?;
        let Some(number) = value.get_ref().as_integer() else {
            self.wrong_type(&section.below(key), value, "a whole number", hint);
            return None;
        };
        let digits = number.as_str().replace('_', "");
        // What no machine word holds is out of every range all the same.
        let whole = i128::from_str_radix(&digits, number.radix()).unwrap_or(i128::MAX);
        Some(PlacedValue { value: whole, span: value.span() })
    }

    /// A number below a key, whole or not.
    pub(super) fn number(
        &mut self,
        section: &Section<'_>,
        key: &str,
        hint: &str,
    ) -> Option<PlacedValue<f64>> {
        let (_, value) = section.entry(key)?;
        let text = match value.get_ref() {
            DeValue::Float(number) => Some(number.as_str()),
            DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str()),
            _ => None,
        };
        let Some(number) = text.and_then(|text| text.replace('_', "").parse().ok()) else {
            self.wrong_type(&section.below(key), value, "a number", hint);
            return None;
        };
        Some(PlacedValue { value: number, span: value.span() })
    }

    /// A duration below a key, in milliseconds.
    pub(super) fn duration(
        &mut self,
        section: &Section<'_>,
        key: &str,
    ) -> Option<PlacedValue<i64>> {
        let text = self.text(section, key, "write a duration in quotes, such as `\"4m\"`")?;
        match duration::parse(text.value) {
            Ok(ms) => Some(PlacedValue { value: ms, span: text.span }),
            Err(error) => {
                let path = section.below(key);
                let reason = format!("{} = {}: {error}", quoted(&path), quoted(text.value));
                self.bad(&text.span, reason, error.hint());
                None
            }
        }
    }

    /// A duration below a key, or `"none"`: then `Some(None)`.
    pub(super) fn duration_or_none(
        &mut self,
        section: &Section<'_>,
        key: &str,
    ) -> Option<Option<PlacedValue<i64>>> {
        if let Some((_, value)) = section.entry(key)
            && value.get_ref().as_str() == Some("none")
        {
            return Some(None);
        }
        self.duration(section, key).map(Some)
    }

    /// The name of a time zone below a key.
    pub(super) fn zone(&mut self, section: &Section<'_>, key: &str) -> Option<String> {
        let text = self.text(section, key, "write a zone in quotes, such as `\"Europe/Paris\"`")?;
        if !zone::exists(text.value) {
            let reason = format!("unknown time zone {}", quoted(text.value));
            self.bad(&text.span, reason, zone::hint(text.value));
            return None;
        }
        Some(text.value.to_owned())
    }

    /// Text below a key that is one of some words.
    pub(super) fn word<'w>(
        &mut self,
        section: &Section<'_>,
        key: &str,
        words: &[&'w str],
    ) -> Option<&'w str> {
        let hint = format!("write {} in quotes", one_of(words));
        let text = self.text(section, key, &hint)?;
        let word = words.iter().find(|word| **word == text.value);
        if word.is_none() {
            // "monday" begins with what was meant.
            let begun =
                || words.iter().copied().find(|word| text.value.to_lowercase().starts_with(word));
            // The nearest of several numbers is seldom the one that was meant: all of its unit are named.
            let of_unit: Vec<&str> = match unit(text.value) {
                None => Vec::new(),
                given => words.iter().copied().filter(|word| unit(word) == given).collect(),
            };
            let near = nearest(text.value, words.iter().copied()).or_else(begun);
            let hint = match near {
                _ if !of_unit.is_empty() => format!("write {}", one_of(&of_unit)),
                _ if unit(text.value).is_some() => format!("write {}", one_of(words)),
                Some(near) => format!("did you mean {}?", quoted(near)),
                None => format!("write {}", one_of(words)),
            };
            let path = section.below(key);
            self.bad(
                &text.span,
                format!("{} cannot be {}", quoted(&path), quoted(text.value)),
                hint,
            );
        }
        word.copied()
    }

    /// A list of texts below a key; what is no text is left out.
    pub(super) fn texts<'t>(
        &mut self,
        section: &Section<'t>,
        key: &str,
        hint: &str,
    ) -> Option<PlacedValue<Vec<PlacedValue<&'t str>>>> {
        let (_, value) = section.entry(key)?;
        let path = section.below(key);
        let DeValue::Array(list) = value.get_ref() else {
            self.wrong_type(&path, value, "a list", hint);
            return None;
        };
        let mut found = Vec::with_capacity(list.len());
        for item in list {
            match item.get_ref() {
                DeValue::String(text) => {
                    found.push(PlacedValue { value: &**text, span: item.span() });
                }
                _ => self.wrong_type(&path, item, "text", hint),
            }
        }
        Some(PlacedValue { value: found, span: value.span() })
    }

    /// A list below a key, of texts that are some words each; those that are none are left out.
    pub(super) fn words<'w>(
        &mut self,
        section: &Section<'_>,
        key: &str,
        words: &[&'w str],
    ) -> Option<PlacedValue<Vec<&'w str>>> {
        let before = self.found.len();
        let hint = format!("write a list, such as `{key} = [{:?}]`", words[0]);
        let texts = self.texts(section, key, &hint)?;
        let path = section.below(key);
        let mut found = Vec::with_capacity(texts.value.len());
        for text in texts.value {
            match words.iter().find(|word| **word == text.value) {
                Some(word) => found.push(*word),
                None => {
                    let hint = did_you_mean(text.value, words.iter().copied())
                        .unwrap_or_else(|| format!("write {}", one_of(words)));
                    let reason = format!("{} cannot hold {}", quoted(&path), quoted(text.value));
                    self.bad(&text.span, reason, hint);
                }
            }
        }
        // An empty list is for the caller to judge, one without a good word is not.
        (self.found.len() == before).then_some(PlacedValue { value: found, span: texts.span })
    }

    /// The faults in the order of the file, or nothing where there is none.
    pub(super) fn finish(self, text: &str, file_name: &str) -> Result<(), Faults> {
        let broken: BTreeSet<usize> = self
            .found
            .iter()
            .filter(|(_, kind, ..)| *kind == FaultKind::Syntax)
            .flat_map(|(span, ..)| broken_lines(text, SourceSpan::of(text, span).line))
            .collect();
        let mut reported = BTreeSet::new();
        let mut list: Vec<(usize, Fault)> = Vec::new();
        for (span, kind, reason, hint) in self.found {
            let place = SourceSpan::of(text, &span);
            let echo = match kind {
                FaultKind::Syntax => !reported.insert(place.line),
                FaultKind::Absent => !broken.is_empty(),
                // What the parser puts where it read no value stands nowhere.
                FaultKind::Bad if span.is_empty() => !broken.is_empty(),
                FaultKind::Bad => broken.contains(&place.line),
            };
            if !echo {
                let fault = Fault { place: Some(place), reason, hint };
                list.push((span.start, fault));
            }
        }
        list.sort_by_key(|(start, _)| *start);
        let list: Vec<Fault> = list.into_iter().map(|(_, fault)| fault).collect();
        if list.is_empty() { Ok(()) } else { Err(Faults { file: file_name.to_owned(), list }) }
    }
}

/// The rest of a word that begins with a number.
fn unit(word: &str) -> Option<&str> {
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit());
    (unit.len() < word.len()).then_some(unit)
}

/// The lines that make no sense because of a fault in the syntax of one: that line, and where it names
/// a table all that stands in the table.
fn broken_lines(text: &str, line: usize) -> Range<usize> {
    let names_table = |text: &str| text.trim_start().starts_with('[');
    let mut lines = text.lines().skip(line - 1);
    let is_table = lines.next().is_some_and(names_table);
    let within = if is_table { lines.take_while(|text| !names_table(text)).count() } else { 0 };
    line..line + 1 + within
}
