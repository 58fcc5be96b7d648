//! The search of operators. Its text may be an address, so it stands in the body, and in no path.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use tidings_api::body::search::SearchBody;
use tidings_config::wording::nearest;
use tidings_core::engine::{FoundKind, NEAREST_MAX, NearId, Search, SearchHit, SearchResult};
use tidings_mail::MailTag;
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::call::Calls;
use crate::error::Problem;
use crate::request::gather::OtherShards;
use crate::{Answer, Change, Service};

/// Maximum number of bytes of a body: a text of the largest size, written with escapes.
const BODY_BYTES_MAX: usize = 8 << 10;

/// The call that searches.
pub(super) fn calls(calls: Calls) -> Calls {
    calls.add("search", routes!(search))
}

/// A kind of what is found.
#[derive(ToSchema)]
#[schema(as = FoundKind, rename_all = "snake_case")]
#[expect(dead_code, reason = "the document has its words")]
enum FoundKindWord {
    Recipient,
    Event,
    Message,
    Object,
    Topic,
    Tenant,
    Type,
}

/// The way in which a hit matched: by its id; as the message of a mail's tag; as an event with this cancellation key; as a
/// recipient who has the address, or had it within `keep`.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "the document has its words")]
enum Matched {
    Id,
    Tag,
    CancellationKey,
    Address,
    FormerAddress,
}

/// A hit of a search.
#[derive(ToSchema)]
#[schema(as = SearchHit)]
#[expect(dead_code, reason = "the schema of the core's hit")]
struct HitShown {
    /// The kind.
    kind: FoundKindWord,
    /// Its id.
    id: String,
    /// The way in which it matched.
    matched: Matched,
}

/// Something of which the id is spelled alike.
#[derive(ToSchema)]
#[schema(as = NearId)]
#[expect(dead_code, reason = "the schema of the core's id")]
struct NearShown {
    /// The kind.
    kind: FoundKindWord,
    /// Its id.
    id: String,
}

/// The result of a search.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(as = SearchResult, example = json!({"hits": [{"kind": "recipient", "id": "ada", "matched": "address"}]}))]
struct SearchAnswer {
    /// The hits, at most 50: those by id, then the message of a tag, events by cancellation key, recipients by address;
    /// those of one way by id.
    #[schema(value_type = Vec<HitShown>)]
    hits: Vec<SearchHit>,
    /// Without a hit: at most three ids that are spelled alike. Absent where there is a hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Vec<NearShown>>)]
    nearest: Option<Vec<NearId>>,
    /// Nodes of a cluster that did not answer: what they have is not found. Absent if all answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    missing: Option<Vec<String>>,
}

impl From<SearchAnswer> for SearchResult {
    fn from(found: SearchAnswer) -> Self {
        Self { hits: found.hits, nearest: found.nearest.unwrap_or_default() }
    }
}

/// Search by id or address
///
/// Returns what has this very id; the message whose tag stands in its mail's `X-Tidings-Message`; events with this
/// cancellation key; and recipients with this address on any channel, as suppressions compare addresses, also those who
/// had it within `keep`. Without a hit the answer has ids that are spelled alike.
#[utoipa::path(
    post, path = "/v1/search", tag = "operating",
    request_body = SearchBody,
    responses((status = 200, description = "What was found", body = SearchAnswer))
)]
async fn search(
    State(service): State<Arc<Service>>,
    others: OtherShards,
    request: Request,
) -> Result<Answer, Problem> {
    let (parts, body) = request.into_parts();
    let change = Change::read_within(&parts, body, &service, BODY_BYTES_MAX).await?;
    let text = change.parse::<SearchBody>()?.text()?;
    let tag = service.tokens().and_then(|key| MailTag::find(key, &text));
    let tagged = tag.map(|tag| tag.message);
    let search = Search { text: text.clone(), tagged, now: service.now() };
    let own = service.look(move |node| node.engine().reader(node.view()).search(&search));
    let (own, mut gathered) =
        tokio::join!(own, others.gather_by::<SearchAnswer>(change.body.to_vec()));
    let mut all = vec![own??];
    all.extend(std::mem::take(&mut gathered.found).into_iter().map(SearchResult::from));
    let SearchResult { hits, mut nearest } = SearchResult::merged(all, &text);
    if hits.is_empty() {
        let rules = service.rules();
        let types = rules.types.keys().map(String::as_str);
        if let Some(name) = self::nearest(&text, types) {
            nearest.insert(0, NearId { kind: FoundKind::Type, id: name.to_owned() });
            nearest.truncate(NEAREST_MAX);
        }
    }
    let nearest = hits.is_empty().then_some(nearest);
    let found = SearchAnswer { hits, nearest, missing: gathered.missing() };
    Answer::json(StatusCode::OK, &found)
}

#[cfg(test)]
mod tests;
