//! Changes of keys in the log of changes.

use serde_json::{Value, json};
use tidings_core::engine::LoggedChange;
use tidings_core::journal::{ReadView, Unreadable};
use tidings_core::model::{ChangeSubject, ChangedField, SubjectKind};

use super::{ApiKey, KeyChange, KeyRequest, Session, SigningKey, feeds, signing, stored};

/// A line about a change of keys.
pub(super) struct KeyLine {
    pub(super) change: LoggedChange,
    /// Its action; `None` = that of the origin.
    pub(super) action: Option<&'static str>,
}

/// The lines of a change, and of the sessions that it ends; none where nothing is changed.
pub(super) fn lines(
    request: &KeyRequest,
    ended: &[Session],
    view: &dyn ReadView,
) -> Result<Vec<KeyLine>, Unreadable> {
    let mut lines = Vec::new();
    match &request.change {
        KeyChange::BeginSession(session) => lines.push(of_session(None, Some(session))),
        KeyChange::UseSession(_) | KeyChange::EndSession(_) => {}
        change => {
            let change = of_key(change, request, view)?;
            lines.extend(change.map(|change| KeyLine { change, action: None }));
        }
    }
    lines.extend(ended.iter().map(|session| of_session(Some(session), None)));
    Ok(lines)
}

/// The line of a session that begins or ends. It does not name who is signed in, which is the author of the first one.
fn of_session(from: Option<&Session>, to: Option<&Session>) -> KeyLine {
    let role = |session: Option<&Session>| json!(session.map(|session| session.role.name()));
    let id = from.or(to).map(|session| session.id.clone()).unwrap_or_default();
    let subject = ChangeSubject::new(SubjectKind::Session, id);
    let fields = ChangedField::shown("role", role(from), role(to)).into_iter().collect();
    let action = if to.is_some() { "session.begun" } else { "session.ended" };
    KeyLine { change: LoggedChange { subject, fields }, action: Some(action) }
}

/// The change of a key, of tokens or of a feed as it is logged; `None` = nothing is changed.
fn of_key(
    change: &KeyChange,
    request: &KeyRequest,
    view: &dyn ReadView,
) -> Result<Option<LoggedChange>, Unreadable> {
    let (kind, fields) = match change {
        KeyChange::Make(key) => (SubjectKind::Key, api(None, Some(key))),
        KeyChange::Revoke(id) => {
            let known = stored(view)?;
            let known = known.iter().find(|key| key.id == *id);
            (SubjectKind::Key, api(known, None))
        }
        KeyChange::MakeSigning(key) => (SubjectKind::SigningKey, of_signing(None, Some(key))),
        KeyChange::RevokeSigning(id) => {
            let known = signing::stored(view)?;
            let known = known.iter().find(|key| key.id == *id);
            (SubjectKind::SigningKey, of_signing(known, None))
        }
        KeyChange::RevokeTokens(recipient, before) => {
            let known = request.keys.revoked(recipient);
            let is_new = known.is_none_or(|known| known < *before);
            let field = ChangedField::shown("tokens_until", shown(known), shown(Some(*before)));
            (SubjectKind::Recipient, field.filter(|_| is_new).into_iter().collect())
        }
        KeyChange::PauseFeed(name) | KeyChange::ResumeFeed(name) => {
            let pauses = matches!(change, KeyChange::PauseFeed(_));
            let is_paused = feeds::stored(view)?.contains(name);
            let field = ChangedField::shown("paused", is_paused.into(), pauses.into());
            (SubjectKind::Feed, field.into_iter().collect::<Vec<_>>())
        }
        KeyChange::BeginSession(_) | KeyChange::UseSession(_) | KeyChange::EndSession(_) => {
            return Ok(None);
        }
    };
    let subject = ChangeSubject::new(kind, change.id());
    Ok((!fields.is_empty()).then_some(LoggedChange { subject, fields }))
}

fn shown(at: Option<tidings_core::Instant>) -> Value {
    json!(at.map(|at| at.to_string()))
}

fn api(from: Option<&ApiKey>, to: Option<&ApiKey>) -> Vec<ChangedField> {
    let role = |key: Option<&ApiKey>| json!(key.map(|key| key.role.name()));
    let name = |key: &ApiKey| key.name.clone();
    let fields = [
        ChangedField::masked("name", from.map(name), to.map(name)),
        ChangedField::shown("role", role(from), role(to)),
    ];
    fields.into_iter().flatten().collect()
}

fn of_signing(from: Option<&SigningKey>, to: Option<&SigningKey>) -> Vec<ChangedField> {
    let alg = |key: Option<&SigningKey>| json!(key.map(|key| key.secret.alg()));
    let scope = |key: Option<&SigningKey>| json!(key.and_then(|key| key.scope.as_deref()));
    let name = |key: &SigningKey| key.name.clone();
    let fields = [
        ChangedField::masked("name", from.map(name), to.map(name)),
        ChangedField::shown("alg", alg(from), alg(to)),
        ChangedField::shown("scope", scope(from), scope(to)),
    ];
    fields.into_iter().flatten().collect()
}
