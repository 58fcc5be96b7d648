//! Changes of keys in the log of changes.

use serde_json::{Value, json};
use tidings_core::engine::LoggedChange;
use tidings_core::journal::{ReadView, Unreadable};
use tidings_core::model::{ChangeSubject, ChangedField, SubjectKind};

use super::{ApiKey, KeyChange, KeyRequest, SigningKey, feeds, signing, stored};

/// The change as it is logged; `None` = nothing is changed.
pub(super) fn change(
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
