//! The table of calls: what each needs, and what can go wrong.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use tidings_api::token::Scope;

use super::CallKind;
use crate::change::origin::Logged;
use crate::error::Code;
use crate::request::roles::Roles;

/// A row of `calls.tsv`.
pub(super) struct CallRow {
    pub(super) kind: CallKind,
    /// The lines that it leaves in the log of changes.
    pub(super) logged: Logged,
    pub(super) callers: Callers,
    /// Errors beside those of its kind.
    pub(super) codes: Vec<Code>,
}

/// Those who may make a call.
pub(super) enum Callers {
    /// Keys of some roles.
    Keys(Roles),
    /// Tokens of end users with a scope.
    Tokens(Scope),
}

static ROWS: LazyLock<BTreeMap<&str, CallRow>> = LazyLock::new(|| {
    let lines = include_str!("calls.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| CallRow::read(line).expect("a row of this binary, as tests know")).collect()
});

/// The actions of the calls that are logged under their names.
pub(super) fn logged_actions() -> impl Iterator<Item = &'static str> + Clone {
    ROWS.iter().filter_map(|(name, row)| match row.logged {
        Logged::As(action) => Some(action).filter(|action| action == name),
        Logged::Counted(action) => Some(action),
        Logged::Nothing => None,
    })
}

impl CallRow {
    /// The row of a call.
    ///
    /// # Panics
    /// There is none, as each test of the API would find.
    pub(super) fn of(name: &str) -> &'static Self {
        ROWS.get(name).expect("each call has a row")
    }

    /// The row of a call, if there is a call of this name.
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        ROWS.get(name)
    }

    fn read(line: &'static str) -> Option<(&'static str, Self)> {
        let mut fields = line.split('\t');
        let (name, kind, callers) = (fields.next()?, fields.next()?, fields.next()?);
        let (kind, logged) = match kind.split_once(':') {
            Some((kind, logged)) => (kind, Some(logged)),
            None => (kind, None),
        };
        let kind = match kind {
            "open" => CallKind::Open,
            "knows" => CallKind::Knows,
            "looks" => CallKind::Looks,
            "changes" => CallKind::Changes,
            "changes,dry" => CallKind::ChangesDry,
            _ => return None,
        };
        let logged = match logged {
            None if kind.changes() => Logged::As(name),
            None | Some("nothing") => Logged::Nothing,
            Some("counted") => Logged::Counted(name),
            Some(action) => Logged::As(action),
        };
        let callers = match callers.strip_prefix("token:") {
            Some(scope) => Callers::Tokens(Scope::of_word(scope)?),
            None => Callers::Keys(Roles::of_least(callers)?),
        };
        let codes = fields.next().unwrap_or_default().split_whitespace();
        let code = |name| Code::ALL.iter().find(|code| code.row().code == name).copied();
        Some((name, Self { kind, logged, callers, codes: codes.map(code).collect::<Option<_>>()? }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_that_of_a_call() {
        let names = crate::call_names();
        let unknown: Vec<_> = ROWS.keys().filter(|name| !names.contains(name)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
