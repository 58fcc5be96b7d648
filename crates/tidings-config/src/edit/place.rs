//! The places where an edit may be written, in the order in which people would choose them.

use std::ops::Range;

use toml::{Table, Value};

use super::EditError;
use super::layout::{HeaderPairs, KeyPair, layout};
use super::value::{self, pair, text_of, value_at};

/// A text with a value set, or removed.
///
/// # Errors
/// [`EditError`].
pub(super) fn edited(
    text: &str,
    path: &[String],
    value: Option<&Value>,
) -> Result<String, EditError> {
    let unwritable = || EditError::Layout(value::key(path));
    let before = document_of(text).ok_or_else(unwritable)?;
    let no_table = |depth| EditError::NoTable(value::key(&path[..depth]));
    let mut after = before.clone();
    value::change(&mut after, path, value).map_err(no_table)?;
    if is_same(&before, &after) {
        return Ok(text.to_owned());
    }
    let headers = layout(text).ok_or_else(unwritable)?;
    let place = EditPlace { text, headers: &headers, path, after: &after };
    let has_values = |text: &String| document_of(text).is_some_and(|of| is_same(&of, &after));
    if let (Some(Value::Table(fields)), Some(Value::Table(old))) = (value, value_at(&before, path))
        && !matches!(place.found(), Found::Pair { .. })
        && let Ok(text) = by_key(text, path, old, fields)
        && has_values(&text)
    {
        return Ok(text);
    }
    let ways = match value {
        Some(value) => place.set(value),
        None => place.removed(),
    };
    ways.into_iter().find(has_values).ok_or_else(unwritable)
}

/// A text in which a table has these fields, each edited by itself.
fn by_key(text: &str, path: &[String], old: &Table, fields: &Table) -> Result<String, EditError> {
    let below = |name: &String| [path, std::slice::from_ref(name)].concat();
    let mut text = text.to_owned();
    for name in old.keys().filter(|name| !fields.contains_key(*name)) {
        text = edited(&text, &below(name), None)?;
    }
    for (name, value) in fields {
        text = edited(&text, &below(name), Some(value))?;
    }
    Ok(text)
}

fn document_of(text: &str) -> Option<Value> {
    text.parse().ok().map(Value::Table)
}

/// Returns true if two documents have the same values. A section that is empty says no more than one that is absent.
fn is_same(one: &Value, other: &Value) -> bool {
    let is_filled = |value: &Value| match value {
        Value::Table(table) => !table.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    };
    let filled = |of: &Value| -> Vec<(String, Value)> {
        let sections = of.as_table().into_iter().flatten();
        let mut filled: Vec<_> = sections.filter(|(_, value)| is_filled(value)).collect();
        filled.sort_by_key(|(name, _)| *name);
        filled.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    filled(one) == filled(other)
}

/// A text with the key that is edited.
struct EditPlace<'e> {
    text: &'e str,
    headers: &'e [HeaderPairs],
    path: &'e [String],
    /// The values that the document has afterwards.
    after: &'e Value,
}

/// The part of a file that has a key.
enum Found<'e> {
    /// A pair, and the inline table that it is in.
    Pair { pair: &'e KeyPair, within: Option<&'e KeyPair> },
    /// A value in a line that would have it, and the key from there on.
    Within { table: &'e KeyPair, rest: &'e [String] },
    /// Headers and pairs below it, if any.
    Parts,
}

/// Finds a key in pairs.
fn find<'e>(
    pairs: &'e [KeyPair],
    rest: &'e [String],
    within: Option<&'e KeyPair>,
) -> Option<Found<'e>> {
    let pair = pairs.iter().find(|pair| rest.starts_with(&pair.path))?;
    let below = &rest[pair.path.len()..];
    if below.is_empty() {
        return Some(Found::Pair { pair, within });
    }
    let table = pair.inline.as_deref().unwrap_or_default();
    Some(find(table, below, Some(pair)).unwrap_or(Found::Within { table: pair, rest: below }))
}

impl<'e> EditPlace<'e> {
    /// The headers whose tables have the key, each with the key from there on.
    fn above(&self) -> impl Iterator<Item = (&'e HeaderPairs, &'e [String])> {
        let path = self.path;
        let headers = self.headers.iter();
        headers.filter_map(move |header| Some((header, path.strip_prefix(&*header.path)?)))
    }

    fn found(&self) -> Found<'e> {
        let mut found = self.above().filter_map(|(header, rest)| find(&header.pairs, rest, None));
        found.next().unwrap_or(Found::Parts)
    }

    /// The ways to set a value.
    fn set(&self, value: &Value) -> Vec<String> {
        match self.found() {
            Found::Pair { pair, .. } => vec![self.with(&pair.value, &text_of(value))],
            Found::Within { table, rest } => {
                let written = self.with_field(table, rest, value);
                written.into_iter().chain(self.rewritten(table)).collect()
            }
            Found::Parts => {
                let parts = self.parts();
                if parts.is_empty() {
                    return self.inserted(value);
                }
                let text = without(self.text, &parts);
                let headers = layout(&text).unwrap_or_default();
                EditPlace { text: &text, headers: &headers, ..*self }.inserted(value)
            }
        }
    }

    /// The ways to remove the key.
    fn removed(&self) -> Vec<String> {
        match self.found() {
            Found::Pair { pair, within: Some(table) } => {
                let without = self.without_field(table, pair);
                without.into_iter().chain(self.rewritten(table)).collect()
            }
            Found::Within { table, .. } => self.rewritten(table).into_iter().collect(),
            Found::Pair { pair, within: None } => {
                let lines = self.lines(pair.key.start..pair.value.end);
                let mut ways = vec![self.with(&lines, "")];
                if let Some((_, parent)) = pair.path.split_last().filter(|(_, of)| !of.is_empty()) {
                    let empty = format!("{} = {{}}", value::key(parent));
                    ways.push(self.with(&(pair.key.start..pair.value.end), &empty));
                }
                ways
            }
            Found::Parts => {
                let parts = self.parts();
                let all = without(self.text, &parts);
                let Some((parent, first)) =
                    self.path.split_last().map(|(_, of)| of).zip(parts.first())
                else {
                    return vec![all];
                };
                // The table that had it may be there by it alone.
                let rest = without(self.text, &parts[1..]);
                let header = format!("[{}]{}", value::key(parent), self.newline());
                vec![all, replaced(&rest, first, &header)]
            }
        }
    }

    /// The headers with their pairs, and the pairs, that are below the key, as whole lines.
    fn parts(&self) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        for header in self.headers.iter().filter(|header| header.path.starts_with(self.path)) {
            let end = header.pairs.last().map_or(header.header.end, |last| last.value.end);
            let mut lines = self.lines(header.header.start..end);
            // One empty line is left between what is before and after.
            let before = self.text[..lines.start].trim_end_matches('\r');
            if before.is_empty() || before.ends_with("\n\n") || before.ends_with("\r\n\r\n") {
                let rest = &self.text[lines.end..];
                let blank = rest.len() - rest.trim_start_matches(['\r', '\n']).len();
                lines.end += blank;
            }
            parts.push(lines);
        }
        for (header, rest) in self.above().filter(|(_, rest)| !rest.is_empty()) {
            let below = header.pairs.iter().filter(|pair| pair.path.starts_with(rest));
            parts.extend(below.map(|pair| self.lines(pair.key.start..pair.value.end)));
        }
        parts.sort_by_key(|part| part.start);
        parts
    }

    /// The ways to write a key that is not there.
    fn inserted(&self, value: &Value) -> Vec<String> {
        let parent = &self.path[..self.path.len() - 1];
        let is_sibling = |header: &HeaderPairs| {
            header.path.starts_with(parent) && header.path.len() > parent.len()
        };
        let has_headers = value.is_table() && self.headers.iter().any(is_sibling);
        let (shared, dotted) = self.dotted(value).unzip();
        let header = Some(self.below_header(value));
        let ways = match shared {
            Some(1..) if !has_headers => [dotted, header],
            _ => [header, dotted],
        };
        ways.into_iter().flatten().collect()
    }

    /// The text with the key in the table that is nearest to it, and the number of names that they share.
    fn dotted(&self, value: &Value) -> Option<(usize, String)> {
        let near = self.above().filter(|(_, rest)| !rest.is_empty()).map(|(header, rest)| {
            let pair = nearest(&header.pairs, rest);
            (header.path.len() + pair.map_or(0, |(shared, _)| shared), header, rest, pair)
        });
        let (shared, header, rest, pair) =
            near.max_by_key(|(shared, header, ..)| (*shared, header.path.len()))?;
        let (start, end) = match pair {
            Some((_, pair)) => (pair.key.start, pair.value.end),
            None if header.header.is_empty() => return None,
            None => (header.header.start, header.header.end),
        };
        let at = self.line_end(end);
        let line = format!(
            "{}{}{} = {}",
            self.newline(),
            self.indent(start),
            value::key(rest),
            text_of(value)
        );
        Some((shared, self.with(&(at..at), &line)))
    }

    /// The text with a header for the key: of its own if it is a table, else of the table that has it.
    fn below_header(&self, value: &Value) -> String {
        let newline = self.newline();
        let (name, parent) =
            self.path.split_last().map_or(("", self.path), |(name, of)| (name.as_str(), of));
        let is_item = value_at(self.after, parent).is_some_and(Value::is_array);
        let (of, blocks) = match value {
            Value::Table(fields) if is_item => {
                (self.path, vec![(format!("[[{}]]", value::key(parent)), pairs(fields))])
            }
            Value::Table(fields) => {
                (self.path, vec![(format!("[{}]", value::key(self.path)), pairs(fields))])
            }
            Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_table) => {
                let header = format!("[[{}]]", value::key(self.path));
                let items = items.iter().filter_map(Value::as_table);
                (self.path, items.map(|fields| (header.clone(), pairs(fields))).collect())
            }
            value => (parent, vec![(format!("[{}]", value::key(parent)), vec![pair(name, value)])]),
        };
        let block =
            |(header, lines): (String, Vec<String>)| [vec![header], lines].concat().join(newline);
        let blocks: Vec<String> = blocks.into_iter().map(block).collect();
        let lines = blocks.join(&newline.repeat(2));
        let below = self.headers.iter().find(|header| header.path.starts_with(of));
        if let Some(below) = below.filter(|below| !below.header.is_empty()) {
            let at = self.comment_start(below.header.start);
            return self.with(&(at..at), &format!("{lines}{newline}{newline}"));
        }
        let shared = |header: &HeaderPairs| shared(&header.path, of);
        let near = self.headers.iter().filter(|header| shared(header) > 0);
        let Some(near) = near.max_by_key(|header| shared(header)) else {
            let (end, gap) = (self.text.len(), self.text.trim_end().len());
            let lead = if gap == 0 { String::new() } else { newline.repeat(2) };
            return self.with(&(gap..end), &format!("{lead}{lines}{newline}"));
        };
        let end = near.pairs.last().map_or(near.header.end, |last| last.value.end);
        let at = self.line_end(end);
        self.with(&(at..at), &format!("{newline}{newline}{lines}"))
    }

    /// The text with a field of an inline table.
    fn with_field(&self, table: &KeyPair, rest: &[String], value: &Value) -> Option<String> {
        let pairs = table.inline.as_ref()?;
        let field = format!("{} = {}", value::key(rest), text_of(value));
        let Some((_, near)) = nearest(pairs, rest) else {
            return Some(self.with(&table.value, &format!("{{ {field} }}")));
        };
        let start = self.line_start(near.key.start);
        let indent = &self.text[start..near.key.start];
        let gap = match indent.trim().is_empty() && start > table.value.start {
            true => format!("{}{indent}", self.newline()),
            false => " ".to_owned(),
        };
        let at = near.value.end;
        Some(self.with(&(at..at), &format!(",{gap}{field}")))
    }

    /// The text without a field of an inline table.
    fn without_field(&self, table: &KeyPair, pair: &KeyPair) -> Option<String> {
        let pairs = table.inline.as_ref()?;
        let at = pairs.iter().position(|of| of.key == pair.key)?;
        let lines = self.lines(pair.key.start..pair.value.end);
        let (before, after) =
            (&self.text[lines.start..pair.key.start], &self.text[pair.value.end..lines.end]);
        let after = after.trim_start().strip_prefix(',').unwrap_or(after).trim();
        let is_alone = before.trim().is_empty() && (after.is_empty() || after.starts_with('#'));
        let span = match at.checked_sub(1).and_then(|before| pairs.get(before)) {
            _ if is_alone && lines.start > table.value.start && lines.end < table.value.end => {
                lines
            }
            Some(before) => before.value.end..pair.value.end,
            None => match pairs.get(1) {
                Some(next) => pair.key.start..next.key.start,
                None => table.value.start + 1..table.value.end - 1,
            },
        };
        Some(self.with(&span, ""))
    }

    /// The text with the value of a line written anew, as it is to be.
    fn rewritten(&self, table: &KeyPair) -> Option<String> {
        let depth = self.depth(table)?;
        let value = value_at(self.after, &self.path[..depth])?;
        Some(self.with(&table.value, &text_of(value)))
    }

    /// The number of names of the key that lead to the value of a line.
    fn depth(&self, table: &KeyPair) -> Option<usize> {
        fn within(pairs: &[KeyPair], rest: &[String], table: &KeyPair) -> Option<usize> {
            let pair = pairs.iter().find(|pair| rest.starts_with(&pair.path))?;
            if pair.key == table.key {
                return Some(pair.path.len());
            }
            let below = within(pair.inline.as_ref()?, &rest[pair.path.len()..], table)?;
            Some(pair.path.len() + below)
        }
        let mut found = self.above().filter_map(|(header, rest)| {
            Some(header.path.len() + within(&header.pairs, rest, table)?)
        });
        found.next()
    }

    fn with(&self, span: &Range<usize>, new: &str) -> String {
        replaced(self.text, span, new)
    }

    fn newline(&self) -> &'static str {
        let first = self.text.find('\n').is_some_and(|at| self.text[..at].ends_with('\r'));
        if first { "\r\n" } else { "\n" }
    }

    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |before| before + 1)
    }

    /// The end of a line, before its line break.
    fn line_end(&self, at: usize) -> usize {
        let end = self.text[at..].find('\n').map_or(self.text.len(), |of| at + of);
        if self.text[at..end].ends_with('\r') { end - 1 } else { end }
    }

    /// The white space at the start of a line.
    fn indent(&self, at: usize) -> &'e str {
        let text = self.text;
        let before = &text[self.line_start(at)..at];
        &before[..before.len() - before.trim_start().len()]
    }

    /// Whole lines, with their line breaks.
    fn lines(&self, span: Range<usize>) -> Range<usize> {
        let end = self.text[span.end..].find('\n');
        self.line_start(span.start)..end.map_or(self.text.len(), |of| span.end + of + 1)
    }

    /// The start of the comment right above a line, or of the line.
    fn comment_start(&self, at: usize) -> usize {
        let mut start = self.line_start(at);
        while start > 0 {
            let before = self.line_start(start - 1);
            if !self.text[before..start].trim_start().starts_with('#') {
                break;
            }
            start = before;
        }
        start
    }
}

/// The pair that shares most names with a key, the last of several, with the number of those.
fn nearest<'e>(pairs: &'e [KeyPair], rest: &[String]) -> Option<(usize, &'e KeyPair)> {
    let table = |path: &'e [String]| path.split_last().map_or(path, |(_, table)| table);
    let parent = &rest[..rest.len().saturating_sub(1)];
    let near = pairs.iter().map(|pair| (shared(table(&pair.path), parent), pair));
    near.max_by_key(|(shared, _)| *shared)
}

/// The number of names that two keys begin with.
fn shared(one: &[String], other: &[String]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// The lines of fields.
fn pairs(fields: &Table) -> Vec<String> {
    fields.iter().map(|(name, value)| pair(name, value)).collect()
}

fn replaced(text: &str, span: &Range<usize>, new: &str) -> String {
    [&text[..span.start], new, &text[span.end..]].concat()
}

/// A text without stretches of it, which are in order.
fn without(text: &str, spans: &[Range<usize>]) -> String {
    spans.iter().rev().fold(text.to_owned(), |text, span| replaced(&text, span, ""))
}
