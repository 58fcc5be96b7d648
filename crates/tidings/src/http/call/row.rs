//! The table of calls: what each needs, and what can go wrong.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::CallKind;
use crate::http::error::Code;
use crate::http::request::roles::Needs;
use crate::token::Scope;

/// A row of `calls.tsv`.
pub(super) struct CallRow {
    pub(super) kind: CallKind,
    pub(super) callers: Callers,
    /// Errors beside those of its kind.
    pub(super) codes: Vec<Code>,
}

/// Those who may make a call.
#[derive(Clone, Copy)]
pub(super) enum Callers {
    /// Keys of some roles.
    Keys(Needs),
    /// Tokens of end users with a scope.
    Tokens(Scope),
}

static ROWS: LazyLock<BTreeMap<&str, CallRow>> = LazyLock::new(|| {
    let lines = include_str!("calls.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| CallRow::read(line).expect("a row of this binary, as tests know")).collect()
});

impl CallRow {
    /// The row of a call.
    ///
    /// # Panics
    /// There is none, as each test of the API would find.
    pub(super) fn of(name: &str) -> &'static Self {
        ROWS.get(name).expect("each call has a row")
    }

    fn read(line: &'static str) -> Option<(&'static str, Self)> {
        let mut fields = line.split('\t');
        let (name, kind, callers) = (fields.next()?, fields.next()?, fields.next()?);
        let kind = match kind {
            "open" => CallKind::Open,
            "knows" => CallKind::Knows,
            "looks" => CallKind::Looks,
            "changes" => CallKind::Changes,
            _ => return None,
        };
        let callers = match (callers, callers.strip_prefix("token:")) {
            (_, Some(scope)) => Callers::Tokens(Scope::of_word(scope)?),
            ("any", None) => Callers::Keys(Needs::Reading),
            ("publish", None) => Callers::Keys(Needs::Publish),
            ("operate", None) => Callers::Keys(Needs::Operate),
            ("admin", None) => Callers::Keys(Needs::Admin),
            _ => return None,
        };
        let codes = fields.next().unwrap_or_default().split_whitespace();
        let code = |name| Code::ALL.iter().find(|code| code.row().code == name).copied();
        Some((name, Self { kind, callers, codes: codes.map(code).collect::<Option<_>>()? }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_that_of_a_call() {
        let names = crate::http::call_names();
        let unknown: Vec<_> = ROWS.keys().filter(|name| !names.contains(name)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
