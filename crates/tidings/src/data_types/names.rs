//! Names of types and fields, as languages allow them.

use std::collections::BTreeSet;

/// A name in words that begin with capitals: `artwork_published` is `ArtworkPublished`.
pub(super) fn pascal(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name: String = words
        .map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_ascii_uppercase() + rest
        })
        .collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return format!("T{name}");
    }
    name
}

/// A name in small letters: `totalPrice` is `total_price`.
pub(super) fn snake(text: &str) -> String {
    let mut name = String::new();
    let mut was_small = false;
    for c in text.chars() {
        if c.is_ascii_uppercase() && was_small {
            name.push('_');
        }
        was_small = c.is_ascii_lowercase() || c.is_ascii_digit();
        name.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
    }
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, '_');
    }
    // A lone underscore is no name.
    if name.trim_matches('_').is_empty() { format!("field{name}") } else { name }
}

/// Returns true if a text is a name in every language, keywords apart.
pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The names that are taken.
#[derive(Default)]
pub(super) struct Taken(BTreeSet<String>);

impl Taken {
    /// Takes a name, with a number behind it where it is taken already.
    pub(super) fn take(&mut self, wanted: String) -> String {
        let numbered = (2..).map(|number| format!("{wanted}{number}"));
        let free = std::iter::once(wanted.clone()).chain(numbered);
        let name = free.into_iter().find(|name| !self.0.contains(name)).unwrap_or(wanted);
        self.0.insert(name.clone());
        name
    }
}

/// The lines of a description, cut where a comment would end.
pub(super) fn comment_lines(text: &str) -> Vec<String> {
    text.lines().map(|line| line.trim().replace("*/", "* /")).collect()
}
