//! The choice of lines of the log, as a query.

use tidings_config::wording::{did_you_mean, quoted};
use tidings_core::model::{AuthorKind, ChangeSubject, SubjectKind};
use tidings_core::{Id, Instant, Rules};

use crate::call::logged_actions;
use crate::error::Problem;
use crate::request::list::{InstantRange, ListFilter};
use crate::request::query::{Parameters, wrong};

/// The choice of lines.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct LogQuery {
    /// Only changes of this author: `KIND:ID`, such as `key:k1` or `user:ada`.
    #[param(value_type = Option<String>)]
    pub(super) by: Option<(AuthorKind, String)>,
    /// Only changes of this action: the name of a call, or one of the actions that are no calls.
    pub(super) action: Option<String>,
    /// Only changes of this subject: `KIND:ID`, such as `recipient:ada` or `channel:email`.
    #[param(value_type = Option<String>)]
    pub(super) subject: Option<ChangeSubject>,
    /// Only changes of this tenant.
    #[param(value_type = Option<String>, min_length = 1, max_length = 256)]
    pub(super) tenant: Option<Id>,
    /// Only changes of this time or later.
    #[param(value_type = Option<String>, format = DateTime)]
    pub(super) from: Option<Instant>,
    /// Only changes before this time.
    #[param(value_type = Option<String>, format = DateTime)]
    pub(super) to: Option<Instant>,
}

impl ListFilter for LogQuery {
    const KNOWN: &'static [&'static str] = &["by", "action", "subject", "tenant", "from", "to"];

    fn read(query: &Parameters, _: &Rules) -> Result<Self, Problem> {
        let InstantRange { from, to } = InstantRange::read(query)?;
        let action = query.text("action");
        if let Some(action) = action.filter(|action| !logged_actions().any(|of| of == *action)) {
            let detail = format!("no line has the `action` {}", quoted(action));
            let hint = did_you_mean(action, logged_actions());
            return Err(wrong(detail).hint(hint.unwrap_or_default()));
        }
        let subject = kind_and_id(query, "subject", SubjectKind::ALL, SubjectKind::word)?;
        Ok(Self {
            by: kind_and_id(query, "by", AuthorKind::ALL, AuthorKind::word)?,
            action: action.map(str::to_owned),
            subject: subject.map(|(kind, id)| ChangeSubject::new(kind, id)),
            tenant: query.id("tenant")?,
            from,
            to,
        })
    }
}

/// Reads `KIND:ID`.
fn kind_and_id<K: Copy>(
    query: &Parameters,
    name: &str,
    kinds: &[K],
    word: impl Fn(K) -> &'static str,
) -> Result<Option<(K, String)>, Problem> {
    let Some(text) = query.text(name) else {
        return Ok(None);
    };
    let given = text.split_once(':').filter(|(_, id)| !id.is_empty());
    let Some((kind, id)) = given else {
        let detail = format!("`{name}` must be `KIND:ID`, got {}", quoted(text));
        let hint = kinds.first().map(|kind| format!("Example: `{name}={}:ID`", word(*kind)));
        return Err(wrong(detail).hint(hint.unwrap_or_default()));
    };
    let known = kinds.iter().copied().find(|known| word(*known) == kind);
    match known {
        Some(known) => Ok(Some((known, id.to_owned()))),
        None => {
            let detail = format!("`{name}` has the unknown kind {}", quoted(kind));
            let hint = did_you_mean(kind, kinds.iter().map(|kind| word(*kind)));
            Err(wrong(detail).hint(hint.unwrap_or_default()))
        }
    }
}
