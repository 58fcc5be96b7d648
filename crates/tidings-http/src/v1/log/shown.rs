//! Lines of the log, as they are answered.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tidings_core::engine::{NewestFirst, Positioned};
use tidings_core::model::ChangeLine;
use tidings_core::{Id, Instant};
use utoipa::ToSchema;

/// A change.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(as = LoggedChange, example = json!({"id": "log_8000018df906f800ffffffffffff", "at": "2024-03-01T08:00:00Z", "by": {"kind": "key", "id": "k1", "role": "operate"}, "via": "api", "action": "pause_channel", "subject": {"kind": "channel", "id": "email"}, "fields": [{"name": "paused", "from": false, "to": true}], "result": "done"}))]
pub(in crate::v1) struct LineShown {
    /// Id of the line.
    id: String,
    /// Time of the change.
    #[schema(format = "date-time")]
    at: String,
    /// The author.
    by: AuthorShown,
    /// The way in: `api`, `console`, `mcp`, `page`, or `cli` for a process that opened the store itself.
    via: Cow<'static, str>,
    /// The name of the call, or `configuration.loaded`, `suppressed`, `data.exported`, `store.restored` and the like.
    action: Cow<'static, str>,
    /// The subject.
    subject: SubjectShown,
    /// The tenant; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tenant: Option<String>,
    /// The request's `X-Request-Id`, or the trace that it is of; absent = neither was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    request: Option<String>,
    /// Number of changes, where a line is about those of a whole commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    count: Option<u64>,
    /// The fields that were changed.
    fields: Vec<FieldShown>,
    /// The result in a word: `done`, or what a cancel came to.
    result: Cow<'static, str>,
}

/// The author of a change.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(as = ChangeAuthor)]
struct AuthorShown {
    /// `key`, `person`, `user` (with a token), `link`, `feed`, `provider`, `command` or `configuration`.
    kind: Cow<'static, str>,
    /// Id of the key or the recipient, or the name of the rest.
    id: String,
    /// Role of a key or a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    role: Option<String>,
}

/// The subject of a change.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(as = ChangeSubject)]
struct SubjectShown {
    /// The kind.
    kind: Cow<'static, str>,
    /// Its id; of an address, and of an erased recipient, a keyed hash. Null = several of the kind, or the only one.
    #[schema(required)]
    id: Option<String>,
}

/// A field that was changed.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(as = ChangedField)]
struct FieldShown {
    /// Its name.
    name: String,
    /// The value before; `"changed"` for names, addresses, data and texts, null for none.
    from: Value,
    /// The value after.
    to: Value,
}

impl From<ChangeLine> for LineShown {
    fn from(line: ChangeLine) -> Self {
        let ChangeLine { id, by, via, action, subject, tenant, request, count, .. } = line;
        let fields = line.fields.into_iter().map(|field| FieldShown {
            name: field.name,
            from: field.from,
            to: field.to,
        });
        Self {
            id: id.to_string(),
            at: id.at.to_string(),
            by: AuthorShown {
                kind: by.kind.word().into(),
                id: by.id,
                role: by.role.map(Cow::into_owned),
            },
            via: via.word().into(),
            action,
            subject: SubjectShown { kind: subject.kind.word().into(), id: subject.id },
            tenant: tenant.map(|tenant| tenant.as_str().to_owned()),
            request,
            count,
            fields: fields.collect(),
            result: line.result,
        }
    }
}

impl Positioned for LineShown {
    type Position = NewestFirst;

    fn position(&self) -> NewestFirst {
        let at = Instant::parse(&self.at).unwrap_or(Instant::MIN);
        // Whatever is no id comes from no node.
        let id = Id::new(&self.id).unwrap_or_else(|_| Id::new("log").expect("letters are an id"));
        NewestFirst { at, id }
    }
}
