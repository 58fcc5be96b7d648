//! The table of calls: what each needs, and what can go wrong.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::Kind;
use crate::http::error::Code;
use crate::http::request::roles::Needs;
use crate::token::Scope;

/// A row of `calls.tsv`.
pub(super) struct Row {
    pub(super) kind: Kind,
    pub(super) who: Who,
    /// Errors beside those of its kind.
    pub(super) codes: Vec<Code>,
}

/// Those who may make a call.
#[derive(Clone, Copy)]
pub(super) enum Who {
    /// Keys of some roles.
    Keys(Needs),
    /// Tokens of end users with a scope.
    Tokens(Scope),
}

static ROWS: LazyLock<BTreeMap<&str, Row>> = LazyLock::new(|| {
    let lines = include_str!("calls.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| Row::read(line).expect("a row of this binary, as tests know")).collect()
});

impl Row {
    /// The row of a call.
    ///
    /// # Panics
    /// There is none, as each test of the API would find.
    pub(super) fn of(name: &str) -> &'static Self {
        ROWS.get(name).expect("each call has a row")
    }

    fn read(line: &'static str) -> Option<(&'static str, Self)> {
        let mut fields = line.split('\t');
        let (name, kind, who) = (fields.next()?, fields.next()?, fields.next()?);
        let kind = match kind {
            "open" => Kind::Open,
            "knows" => Kind::Knows,
            "looks" => Kind::Looks,
            "changes" => Kind::Changes,
            _ => return None,
        };
        let who = match (who, who.strip_prefix("token:")) {
            (_, Some(scope)) => Who::Tokens(Scope::of_word(scope)?),
            ("any", None) => Who::Keys(Needs::Reading),
            ("publish", None) => Who::Keys(Needs::Publish),
            ("operate", None) => Who::Keys(Needs::Operate),
            ("admin", None) => Who::Keys(Needs::Admin),
            _ => return None,
        };
        let codes = fields.next().unwrap_or_default().split_whitespace();
        let code = |name| Code::ALL.iter().find(|code| code.row().code == name).copied();
        Some((name, Self { kind, who, codes: codes.map(code).collect::<Option<_>>()? }))
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
