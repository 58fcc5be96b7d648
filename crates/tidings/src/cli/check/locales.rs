//! `tidings check --locales`: the texts that are missing in the locales of recipients.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, Write};

use serde_json::{Value, json};
use tidings_config::{CheckedConfig, Languages, MissingTexts};
use tidings_mail::{OwnWords, canonical_locale};

use super::super::print::table::TextTable;
use super::super::reach::{self, TargetArguments};
use super::super::{Status, Streams, export, report};
use crate::client::Purpose;

/// A locale of recipients, and the texts that are missing in it.
struct LocaleRow {
    locale: String,
    recipients: u64,
    missing: MissingTexts,
}

/// Lists the locales of the recipients of a store.
pub(super) fn list(
    file: &str,
    checked: &CheckedConfig,
    to: &TargetArguments,
    streams: &mut Streams<'_>,
) -> io::Result<Status> {
    let mut reach = match reach::find(to, Purpose::Look, streams) {
        Ok(reach) => reach,
        Err(status) => return Ok(status),
    };
    let counted = match reach.stream(&export::request(1, None)) {
        Ok(lines) => count_by_locale(lines),
        Err(fault) => return Ok(reach::report_fault(&fault, streams)),
    };
    let closed = reach.close();
    let counts = match counted {
        Ok(counts) => counts,
        Err(fault) => {
            let message = format!("cannot read the recipients: {fault}");
            return Ok(report(streams, &message, Status::Failed));
        }
    };
    if let Err(fault) = closed {
        return Ok(reach::report_fault(&fault, streams));
    }
    let rows = rows(counts, &checked.rules.defaults.locale, &checked.languages);
    let lacks = rows.iter().any(|row| !row.missing.is_nothing());
    match to.json {
        true => writeln!(streams.out, "{}", to_json(file, &rows))?,
        false => write_table(file, &rows, streams.out)?,
    }
    Ok(if lacks { Status::Failed } else { Status::Done })
}

/// Counts recipients by locale; `None` = they have none.
fn count_by_locale(lines: impl io::Read) -> io::Result<BTreeMap<Option<String>, u64>> {
    let mut counts = BTreeMap::new();
    for line in io::BufReader::new(lines).lines() {
        let line: Value = serde_json::from_str(&line?).map_err(io::Error::other)?;
        if line["op"] == "recipient" {
            let locale = line["locale"].as_str().map(str::to_owned);
            *counts.entry(locale).or_insert(0) += 1;
        }
    }
    Ok(counts)
}

/// The rows, one for each locale without regard to case. A recipient without a locale has the default one.
fn rows(
    counts: BTreeMap<Option<String>, u64>,
    usual: &str,
    languages: &Languages,
) -> Vec<LocaleRow> {
    let mut rows: BTreeMap<String, LocaleRow> = BTreeMap::new();
    for (locale, recipients) in counts {
        let locale = locale.unwrap_or_else(|| usual.to_owned());
        let row = rows.entry(canonical_locale(&locale)).or_insert_with(|| LocaleRow {
            missing: languages.missing(&locale),
            locale,
            recipients: 0,
        });
        row.recipients += recipients;
    }
    rows.into_values().collect()
}

fn to_json(file: &str, rows: &[LocaleRow]) -> Value {
    let words = |words: &OwnWords| match words {
        OwnWords::All => json!([]),
        OwnWords::Without(phrases) => json!(phrases),
        OwnWords::None => json!("all"),
    };
    let row = |row: &LocaleRow| {
        let texts = row.missing.texts.iter();
        json!({
            "locale": row.locale,
            "recipients": row.recipients,
            "ok": row.missing.is_nothing(),
            "texts": texts.map(|(path, line)| json!({"text": path, "line": line})).collect::<Vec<_>>(),
            "words": words(&row.missing.words),
        })
    };
    let is_whole = rows.iter().all(|row| row.missing.is_nothing());
    json!({"file": file, "ok": is_whole, "locales": rows.iter().map(row).collect::<Vec<_>>()})
}

fn write_table(file: &str, rows: &[LocaleRow], out: &mut dyn Write) -> io::Result<()> {
    if rows.is_empty() {
        return writeln!(out, "there are no recipients");
    }
    let mut table = TextTable::new(&["locale", "recipients", "lacks"]);
    for row in rows {
        let mut lacks = row.missing.in_words(file).join(", ");
        if lacks.is_empty() {
            lacks.push_str("nothing");
        }
        table.whole_row([row.locale.clone(), row.recipients.to_string(), lacks]);
    }
    table.write(out)
}
