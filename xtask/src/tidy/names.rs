//! Names: a type name has few meanings in the workspace, and words that say nothing of what they name are barred.
//!
//! A reader who meets `Row` or `State` must know which of them is meant. Two definitions of a name are borne, such as
//! an event of the engine and that of the model. The sources are scanned, not parsed; tests do not count.

use std::collections::BTreeMap;
use std::path::Path;

use crate::Failure;
use crate::source::{files, is_test, named, read};

/// Types of one name that the workspace may have.
const MEANINGS_MAX: usize = 2;

/// Words that no binding, field or function may have in its name, each with what to say instead.
const BARRED: [(&str, &str); 11] = [
    ("among", "the filter, the set or the check that it is"),
    ("asked", "what was asked for, or `pending`"),
    ("beside", "`with`, or the directory that it is"),
    ("hear", "`receive`"),
    ("heard", "`received`, or the replies that it is"),
    ("homes", "`owners`"),
    ("obey", "`apply`"),
    ("tell", "`send`, `report` or `write`"),
    ("told", "`sent`, `reported`, `shown` or the text that it is"),
    ("who", "`recipients`, `recipient` or `person`"),
    ("whom", "`recipients` or `audience`"),
];

pub(super) fn check(root: &Path) -> Result<Vec<String>, Failure> {
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut faults = Vec::new();
    for path in files(&root.join("crates"), ".rs")? {
        let name = named(root, &path);
        if is_test(&name) || !name.contains("/src/") {
            continue;
        }
        let code = without_tests(&code(&read(&path)?));
        for defined in defined(&code) {
            types.entry(defined.to_owned()).or_default().push(name.clone());
        }
        faults.extend(barred(&name, &code, &BARRED));
    }
    faults.extend(repeated(&types));
    Ok(faults)
}

/// The names that more types have than may; the ones with most meanings first.
fn repeated(types: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut many: Vec<_> = types.iter().filter(|(_, files)| files.len() > MEANINGS_MAX).collect();
    many.sort_by_key(|(_, files)| std::cmp::Reverse(files.len()));
    let fault = |(name, files): (&String, &Vec<String>)| {
        let count = files.len();
        format!("names: {count} types are named {name}, in {}", files.join(", "))
    };
    many.into_iter().map(fault).collect()
}

/// The types that code defines, apart from those within an `impl` or a trait.
fn defined(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in code.lines() {
        let trimmed = line.trim_start();
        let item = match trimmed.strip_prefix("pub") {
            Some(rest) if rest.starts_with('(') => {
                rest.split_once(") ").map_or("", |(_, item)| item)
            }
            Some(rest) => rest.trim_start(),
            None => trimmed,
        };
        let Some((kind, rest)) = item.split_once(' ') else { continue };
        let is_outer_type = kind == "type" && trimmed.len() == line.len();
        if is_outer_type || ["struct", "enum", "trait", "union"].contains(&kind) {
            let end = rest.find(|letter| !is_of_name(letter)).unwrap_or(rest.len());
            found.push(&rest[..end]);
        }
    }
    found
}

/// Barred words of the names in code; the words of a name are apart by `_`.
fn barred(file: &str, code: &str, words: &[(&str, &str)]) -> Vec<String> {
    let mut faults = Vec::new();
    for (number, line) in code.lines().enumerate() {
        for name in line.split(|letter| !is_of_name(letter)) {
            for (word, instead) in
                words.iter().filter(|(word, _)| name.split('_').any(|part| part == *word))
            {
                let line = number + 1;
                faults.push(format!(
                    "names: {file}:{line}: `{name}` has the word \"{word}\"; say {instead}"
                ));
            }
        }
    }
    faults
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// A source with spaces in place of comments and texts.
fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let raw = raw_text(rest, code.chars().next_back());
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '"' => quoted(rest, '"'),
            // A lifetime has no closing quote beside it.
            '\'' if rest[1..].starts_with('\\') || rest.chars().nth(2) == Some('\'') => {
                quoted(rest, '\'')
            }
            'r' if raw.is_some() => raw.unwrap_or(1),
            _ => {
                code.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            }
        };
        let (cut, after) = rest.split_at(length);
        code.extend(cut.chars().map(|letter| if letter == '\n' { '\n' } else { ' ' }));
        rest = after;
    }
    code
}

/// The length of a text in quotes.
fn quoted(rest: &str, quote: char) -> usize {
    let mut letters = rest.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' {
            letters.next();
        } else if letter == quote {
            return at + 1;
        }
    }
    rest.len()
}

/// The length of a raw text, if one begins here.
fn raw_text(rest: &str, before: Option<char>) -> Option<usize> {
    let inner = rest.strip_prefix('r')?;
    let fences = inner.len() - inner.trim_start_matches('#').len();
    let is_name = before.is_some_and(|letter| is_of_name(letter) && letter != 'b');
    if is_name || !inner[fences..].starts_with('"') {
        return None;
    }
    let end = format!("\"{}", "#".repeat(fences));
    let from = 1 + fences + 1;
    Some(rest[from..].find(&end).map_or(rest.len(), |at| from + at + end.len()))
}

/// Code without its modules of tests.
fn without_tests(code: &str) -> String {
    let mut kept = String::with_capacity(code.len());
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        kept.push('\n');
        let is_test =
            line.trim_start().starts_with("#[cfg(test)]") || line.contains("#[cfg(all(test");
        if !is_test {
            kept.push_str(line);
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        for line in lines.by_ref() {
            kept.push('\n');
            let is_inner = line.len() - line.trim_start().len() > indent;
            let trimmed = line.trim_end();
            if !is_inner && (trimmed.ends_with('}') || trimmed.ends_with(';')) {
                break;
            }
        }
    }
    kept.split_off(kept.len().min(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r##"
//! struct Comment
pub(in crate::a) struct Row<'a> { of: &'a str }
enum Kind { A }
impl Iterator for Row<'_> {
    type Item = &'static str;
}
type Pair = (u8, u8);
const TEXT: &str = "struct Text; who";
const RAW: &str = r#"
struct Raw;"#;
const QUOTE: char = '"';
fn who_may(who: &str) {}
#[cfg(test)]
mod tests {
    const RAW: &str = r#"a
b"#;
    struct Tested;
    fn who() {}
}
struct Last;
"##;

    #[test]
    fn types_are_counted_outside_of_texts_comments_and_tests() {
        let code = without_tests(&code(SOURCE));
        assert_eq!(defined(&code), ["Row", "Kind", "Pair", "Last"]);
    }

    #[test]
    fn a_third_type_of_a_name_is_a_fault() {
        let files = |count: usize| vec!["a.rs".to_owned(); count];
        let types = [("Row".to_owned(), files(3)), ("Kind".to_owned(), files(2))].into();
        assert_eq!(repeated(&types), ["names: 3 types are named Row, in a.rs, a.rs, a.rs"]);
    }

    #[test]
    fn barred_words_are_found_in_names_with_their_line() {
        let code = without_tests(&code(SOURCE));
        let faults = barred("a.rs", &code, &[("who", "recipient")]);
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults[0].starts_with("names: a.rs:13: `who_may`"), "{faults:?}");
    }
}
