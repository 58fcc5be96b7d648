//! Writes `src/generated` from the API document and the page of errors: types, calls, and a variant of the error for each
//! code. `TIDINGS_BLESS=1 cargo test --test generated` runs it.

mod calls;
mod schema;
mod types;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

const HEAD: &str = "// Written from docs/openapi.json and docs/errors.md by the code in `generate`: change these, and run\n\
    // `TIDINGS_BLESS=1 cargo test --test generated`.\n\n";

/// The generated files by name; `None` = there is no rustfmt to lay them out.
pub(crate) fn files(api: &Value, errors: &str) -> Option<BTreeMap<&'static str, String>> {
    let written = [
        ("types.rs", types::types(api)),
        ("api.rs", calls::calls(api)),
        ("error.rs", error_of(errors, api)),
    ];
    written
        .into_iter()
        .map(|(name, text)| Some((name, laid_out(&(HEAD.to_owned() + &text))?)))
        .collect()
}

fn laid_out(text: &str) -> Option<String> {
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--config-path", env!("CARGO_MANIFEST_DIR")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = rustfmt.stdin.take()?;
    let text = text.to_owned();
    let writing = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let out = rustfmt.wait_with_output().ok()?;
    writing.join().ok()?.ok()?;
    assert!(out.status.success(), "rustfmt refuses what was generated");
    String::from_utf8(out.stdout).ok()
}

/// The enum of errors, with a variant for each code of the page.
fn error_of(page: &str, api: &Value) -> String {
    let codes: Vec<(&str, &str)> = page
        .split("\n## `")
        .skip(1)
        .filter_map(|section| {
            let (code, rest) = section.split_once('`')?;
            Some((code, rest.trim_start().lines().next()?))
        })
        .collect();
    assert!(!codes.is_empty(), "docs/errors.md lists no code");
    let mut variants = String::new();
    let (mut from, mut all) = (String::new(), String::new());
    for (code, line) in &codes {
        let name = schema::camel(code);
        variants += &format!("/// `{code}`: {line}\n{name}(Box<Problem>),\n");
        from += &format!("\"{code}\" => Self::{name}(problem),\n");
        all += &format!("Self::{name}(problem) | ");
    }
    let version = api["info"]["version"].as_str().expect("the API document has a version");
    format!(
        r#"use std::time::Duration;

use crate::error::Problem;

/// The version of the API document that this client was made from.
pub const API_VERSION: &str = "{version}";

/// The failure of a call. Each code of the API has a variant; new ones are [`Error::UnknownCode`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {{
{variants}
/// A code that this client does not know; the problem has it.
UnknownCode(Box<Problem>),
/// The server could not be reached, or the connection broke before the whole answer was there, at the last try too.
Connection {{
    /// The fault of the connection.
    detail: String,
    /// The id of the request.
    request_id: String,
}},
/// There was no whole answer in time, at the last try too.
Timeout {{
    /// The time that was waited for the last try.
    after: Duration,
    /// The id of the request.
    request_id: String,
}},
/// The answer is none of tidings' API: something else answered, or a version of the server that is too far away.
Unexpected {{
    /// The status of the answer.
    status: u16,
    /// The difference.
    detail: String,
    /// The id of the request.
    request_id: String,
    /// `X-Tidings-Version` of the answer.
    server_version: Option<String>,
}},
/// The call was not made: what it was given can't be sent.
Invalid {{
    /// The fault.
    detail: String,
}},
}}

impl From<Problem> for Error {{
    fn from(problem: Problem) -> Self {{
        let problem = Box::new(problem);
        match problem.code.as_str() {{
            {from}
            _ => Self::UnknownCode(problem),
        }}
    }}
}}

impl Error {{
    /// The problem that the server answered, if it answered one.
    #[must_use]
    pub fn problem(&self) -> Option<&Problem> {{
        match self {{
            {all} Self::UnknownCode(problem) => Some(problem),
            Self::Connection {{ .. }} | Self::Timeout {{ .. }} | Self::Unexpected {{ .. }} | Self::Invalid {{ .. }} => None,
        }}
    }}
}}
"#
    )
}
