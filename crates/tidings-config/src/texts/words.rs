//! The host's books of words: files in `locales`, next to the configuration.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use tidings_core::Rules;
use tidings_mail::{LocaleError, book_faults, canonical_locale, check_locale};

use crate::fault::{Fault, SourceSpan};
use crate::wording::{did_you_mean, quoted};

/// Maximum length of a book, in bytes; tidings' own have about 4 KiB.
const BOOK_BYTES_MAX: u64 = 64 << 10;
/// Maximum number of books.
const BOOKS_MAX: usize = 200;

/// The directory of a configuration's books of words.
fn directory(config: &Path) -> PathBuf {
    config.parent().unwrap_or(Path::new("")).join("locales")
}

/// Reads the books of words next to a configuration into its rules; returns all of their faults.
pub(crate) fn read(config: &Path, rules: &mut Rules) -> Vec<Fault> {
    let directory = directory(config);
    let paths = match listed(&directory) {
        Ok(paths) => paths,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            return vec![fault(&directory, &error.to_string(), "make it readable, or remove it")];
        }
    };
    let mut faults = Vec::new();
    let mut books: BTreeMap<String, String> = BTreeMap::new();
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        if name.starts_with('.') {
            continue;
        }
        let locale = match locale_of(name) {
            Ok(locale) => locale,
            Err(hint) => {
                faults.push(fault(&path, "is not named after a locale", &hint));
                continue;
            }
        };
        let text = match load(&path) {
            Ok(text) => text,
            Err(reason) => {
                faults.push(fault(&path, &reason, "write a text in UTF-8"));
                continue;
            }
        };
        faults.extend(faults_of(&path, locale, &text));
        if books.len() == BOOKS_MAX {
            let reason = format!("more than {BOOKS_MAX} books of words");
            faults.push(fault(&path, &reason, "remove some"));
            break;
        }
        if books.insert(canonical_locale(locale), text).is_some() {
            let reason = format!("second book of words for {}", quoted(locale));
            faults.push(fault(&path, &reason, "keep one of the two"));
        }
    }
    rules.presentation.words = books;
    faults
}

fn listed(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(directory)?;
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    paths.sort_unstable();
    Ok(paths)
}

/// The locale in the name of a file.
fn locale_of(name: &str) -> Result<&str, String> {
    let Some(locale) = name.strip_suffix(".toml") else {
        return Err("call it TAG.toml, such as `de.toml`, or move it elsewhere".to_owned());
    };
    match check_locale(locale) {
        Ok(()) => Ok(locale),
        Err(LocaleError::Near(near)) => Err(format!("did you mean `{near}.toml`?")),
        Err(LocaleError::Unknown) => {
            Err("name it after a BCP 47 tag, such as `de.toml` or `pt-BR.toml`".to_owned())
        }
    }
}

fn load(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(BOOK_BYTES_MAX + 1).read_to_end(&mut bytes))
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > BOOK_BYTES_MAX {
        return Err(format!("it is larger than {BOOK_BYTES_MAX} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

fn faults_of(path: &Path, locale: &str, text: &str) -> Vec<Fault> {
    let found = book_faults(locale, text).into_iter();
    found
        .map(|fault| {
            let near = fault
                .misspelt
                .and_then(|(name, names)| did_you_mean(&name, names.iter().map(String::as_str)));
            Fault {
                place: Some(SourceSpan::of(text, &fault.span).in_file(path)),
                reason: fault.reason,
                hint: near.unwrap_or(fault.hint),
            }
        })
        .collect()
}

fn fault(path: &Path, reason: &str, hint: &str) -> Fault {
    Fault { place: None, reason: format!("{}: {reason}", path.display()), hint: hint.to_owned() }
}
