//! The rows of a feed that are parked with their problem.

use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use tidings_config::wording::quoted;
use tidings_core::engine::{ListPage, ListPositionError, Positioned};
use tidings_core::{Id, Instant};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::call::Calls;
use crate::error::{Code, Problem};
use crate::feeds::ParkedOutboxRow;
use crate::request::InPath;
use crate::request::list::{ListPageQuery, ListQuery, page_body};
use crate::{Answer, Service};

/// The call of parked rows.
pub(crate) fn calls(calls: Calls) -> Calls {
    calls.add("list_parked", routes!(list_parked))
}

/// A row of a feed that was refused. It is read again once it is changed, or its `refused` is set to null.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(as = ParkedRow)]
struct ParkedShown {
    /// Number of the row in the table.
    row: String,
    /// Key that the host gave it.
    #[schema(required)]
    key: Option<String>,
    /// Time when the host wrote it.
    #[schema(format = "date-time")]
    at: String,
    /// The problem, as the call that publishes events answers it.
    #[schema(value_type = std::collections::BTreeMap<String, serde_json::Value>)]
    problem: serde_json::Value,
}

/// The position of a parked row: newest first, and by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ParkedPosition {
    at: Reverse<Instant>,
    row: i64,
}

impl fmt::Display for ParkedPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.at.0.0, self.row)
    }
}

impl FromStr for ParkedPosition {
    type Err = ListPositionError;

    fn from_str(text: &str) -> Result<Self, ListPositionError> {
        let (at, row) = text.split_once('.').ok_or(ListPositionError)?;
        let number = |text: &str| text.parse().map_err(|_| ListPositionError);
        Ok(Self { at: Reverse(Instant(number(at)?)), row: number(row)? })
    }
}

impl Positioned for ParkedShown {
    type Position = ParkedPosition;

    fn position(&self) -> ParkedPosition {
        let at = Instant::parse(&self.at).unwrap_or_default();
        ParkedPosition { at: Reverse(at), row: self.row.parse().unwrap_or_default() }
    }
}

impl From<ParkedOutboxRow> for ParkedShown {
    fn from(parked: ParkedOutboxRow) -> Self {
        Self {
            row: parked.row.to_string(),
            key: parked.key,
            at: Instant(parked.at_ms).to_string(),
            // It is `jsonb` in the table, and so JSON.
            problem: serde_json::from_str(&parked.problem).unwrap_or_default(),
        }
    }
}

page_body! {
    /// A page of parked rows, newest first. `missing` names the feed where its database can't be read now.
    #[schema(example = json!({"parked": [{"row": "4711", "key": "order-7", "at": "2024-03-07T08:03:00Z", "problem": {"type": "/errors/unknown_type", "title": "The type is not configured", "status": 422, "code": "unknown_type", "detail": "unknown type `shiped`", "hint": "did you mean `shipped`?"}}], "next": null}))]
    ParkedPage {
        /// The rows.
        parked: ParkedShown
    }
}

/// List the parked rows of a feed
///
/// Returns the rows that were refused, newest first by the time when the host wrote them, each with its problem.
#[utoipa::path(
    get, path = "/v1/feeds/{name}/parked", tag = "operating",
    params(
        ("name" = String, Path, description = "Name of the feed", example = "app", min_length = 1, max_length = 256),
        ListQuery,
    ),
    responses((status = 200, description = "A page of rows", body = ParkedPage))
)]
async fn list_parked(
    State(service): State<Arc<Service>>,
    InPath(name): InPath<Id>,
    ListPageQuery { pages, .. }: ListPageQuery<(), ParkedPosition>,
) -> Result<Answer, Problem> {
    if !service.rules().feeds.contains_key(name.as_str()) {
        let detail = format!("unknown feed {}", quoted(name.as_str()));
        return Err(Problem::new(Code::FeedNotFound, detail));
    }
    let after = pages.after.map(|of| (of.at.0.0, of.row));
    let read = service.feeds.parked(name.as_str(), after, pages.most.saturating_add(1)).await;
    let missing = read.is_none().then(|| vec![format!("feed {name}")]);
    let rows = read.unwrap_or_default().into_iter().map(ParkedShown::from).collect();
    let page = ListPage::merged(vec![ListPage { rows, next: None }], pages.most);
    Answer::json(StatusCode::OK, &pages.body::<ParkedPage>(page, missing))
}
