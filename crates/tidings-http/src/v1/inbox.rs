//! Inboxes: pages, counts, and marks of their items.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use tidings_config::duration::{self, DurationError};
use tidings_config::wording::{did_you_mean, quoted};
use tidings_core::Rules;
use tidings_core::engine::{Cursor, InboxCounts, InboxPage, InboxState, Refused, StepError};
use tidings_core::model::View;
use tidings_node::DurableSnapshot;
use utoipa_axum::routes;

use crate::call::Calls;
use crate::error::{Code, Problem};
use crate::live::shown::{Counts, Page};
use crate::request::query::{FromQuery, InQuery, Parameters};
use crate::request::reader::{InboxReader, TenantAlone};
use crate::{Answer, Service};

pub(crate) mod live;
pub(crate) mod marks;
#[cfg(test)]
mod tests;

/// Default number of groups of a page.
const GROUPS_USUAL: u16 = 20;
/// Maximum number of groups of a page.
const GROUPS_MAX: u16 = 100;

/// The calls of the inbox.
pub(super) fn calls(calls: Calls) -> Calls {
    let calls = calls.add("inbox", routes!(inbox)).add("inbox_counts", routes!(counts));
    live::calls(marks::calls(calls))
}

/// The choice of a page.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct InboxQuery {
    /// Maximum number of groups; 20 if absent.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u16>,
    /// Start of the page: `next` of the previous page.
    cursor: Option<String>,
    /// The groups to list: `active` (the default), `unseen`, `unread`, `archived`, `snoozed` or `all`.
    #[param(value_type = Option<String>)]
    state: Option<InboxState>,
    /// Only items of this category; may be given several times.
    #[param(required = false)]
    category: Vec<String>,
    /// Only items of this type; may be given several times.
    #[param(required = false)]
    r#type: Vec<String>,
    /// False = each item is a group.
    #[param(value_type = Option<bool>)]
    grouped: Option<bool>,
    /// A revision to wait for: the answer comes once `rev` is higher, or is 304 after `wait`.
    since: Option<u64>,
    /// Time to wait with `since`, such as `25s`, at most `60s`; `0s` if absent. A recipient may have 8 calls that wait.
    #[param(value_type = Option<String>, example = "25s")]
    wait: Option<Duration>,
    /// Only items of this tenant and those without a tenant; implied by a token with the claim `tenant`.
    #[param(value_type = Option<String>, min_length = 1, max_length = 256)]
    #[expect(dead_code, reason = "`Reader` reads it")]
    tenant: (),
}

/// The longest wait for a change.
const WAIT_MAX: Duration = Duration::from_secs(60);

fn wait(text: &str) -> Result<Duration, ()> {
    let wait = match duration::parse(text) {
        Ok(ms) => Duration::from_millis(ms.unsigned_abs()),
        Err(DurationError::Zero) => Duration::ZERO,
        Err(_) => return Err(()),
    };
    if wait <= WAIT_MAX { Ok(wait) } else { Err(()) }
}

/// A `rev`, which fits the signed integers of the API's document.
fn revision(text: &str) -> Result<u64, ()> {
    let rev: u64 = text.parse().map_err(drop)?;
    if i64::try_from(rev).is_ok() { Ok(rev) } else { Err(()) }
}

/// The states by the words of a query.
const STATES: [(&str, InboxState); 6] = [
    ("active", InboxState::Active),
    ("unseen", InboxState::Unseen),
    ("unread", InboxState::Unread),
    ("archived", InboxState::Archived),
    ("snoozed", InboxState::Snoozed),
    ("all", InboxState::All),
];

impl FromQuery for InboxQuery {
    // `Reader` reads `tenant`, as for every call of a reader.
    const KNOWN: &'static [&'static str] =
        &["limit", "cursor", "state", "category", "type", "grouped", "since", "wait", "tenant"];
    const REPEATED: &'static [&'static str] = &["category", "type"];

    fn read(query: &Parameters) -> Result<Self, Problem> {
        Ok(Self {
            limit: query.whole_number("limit", 1..=GROUPS_MAX)?,
            cursor: query.text("cursor").map(str::to_owned),
            state: query.word("state", &STATES)?,
            category: query.texts("category"),
            r#type: query.texts("type"),
            grouped: query.word("grouped", &[("true", true), ("false", false)])?,
            since: query.parsed("since", revision, "the `rev` of an answer")?,
            wait: query.parsed("wait", wait, "a duration of at most 60s, such as 25s")?,
            tenant: (),
        })
    }
}

impl InboxQuery {
    /// The choice in a view, checked against a configuration.
    fn checked(
        self,
        rules: &Rules,
        view: View,
    ) -> Result<tidings_core::engine::InboxQuery, Problem> {
        let from: Option<Cursor> = match self.cursor.as_deref().map(str::parse) {
            None => None,
            Some(Ok(cursor)) => Some(cursor),
            Some(Err(fault)) => {
                let detail = format!("`cursor` must be the `next` of a page: {fault}");
                let problem = Problem::new(Code::InvalidQuery, detail);
                return Err(problem.hint("leave it out for the first page"));
            }
        };
        for name in &self.category {
            known("category", name, rules.categories.keys())?;
        }
        for name in &self.r#type {
            known("type", name, rules.types.keys())?;
        }
        Ok(tidings_core::engine::InboxQuery {
            view,
            from,
            limit: usize::from(self.limit.unwrap_or(GROUPS_USUAL)),
            state: self.state.unwrap_or_default(),
            categories: self.category,
            types: self.r#type,
            is_grouped: self.grouped.unwrap_or(true),
        })
    }
}

/// Refuses a name that is not configured.
fn known<'n>(
    what: &str,
    name: &str,
    names: impl Iterator<Item = &'n String> + Clone,
) -> Result<(), Problem> {
    if names.clone().any(|known| known == name) {
        return Ok(());
    }
    let detail = format!("unknown {what} {}", quoted(name));
    let hint = did_you_mean(name, names.map(String::as_str));
    Err(Problem::new(Code::InvalidQuery, detail).hint(hint.unwrap_or_default()))
}

/// Get a page of an inbox
///
/// Returns groups, newest first, with up to 25 items each, and the counts of the whole inbox. Follow `next` for older
/// groups; new arrivals do not shift the pages. A token with the claim `tenant` shows the items of that tenant and of
/// none, here and in counts and streams. The answer with the higher `rev` is newer; with `since` and `wait` the answer
/// comes once there is a newer one (long poll).
#[utoipa::path(
    get, path = "/v1/recipients/{id}/inbox", tag = "inbox",
    params(
        ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
        InboxQuery,
    ),
    responses(
        (status = 200, description = "The page", body = Page),
        (status = 304, description = "`rev` is not above `since`"),
    )
)]
pub(crate) async fn inbox(
    State(service): State<Arc<Service>>,
    reader: InboxReader,
    InQuery(query): InQuery<InboxQuery>,
) -> Result<Answer, Problem> {
    let (since, wait) = (query.since, query.wait.unwrap_or_default());
    let query = query.checked(&service.rules(), reader.view())?;
    let (id, may_be_unknown) = (reader.recipient.clone(), reader.is_user());
    let read = move |node: &DurableSnapshot| -> Result<InboxPage, Problem> {
        match node.engine().reader(node.view()).inbox(&id, &query) {
            Err(StepError::Refused(Refused::UnknownRecipient(_))) if may_be_unknown => {
                Ok(InboxPage::default())
            }
            page => Ok(page?),
        }
    };
    let page = match since {
        None => Some(service.look(read).await??),
        Some(since) => {
            let rev = |page: &InboxPage| page.counts.rev;
            let view = reader.view();
            let numbered =
                move |node: &DurableSnapshot| node.engine().reader(node.view()).numbered(&view);
            let of = service.look(numbered.clone()).await??;
            // A tenant that is made anew while it waits is another one.
            let read = move |node: &DurableSnapshot| match numbered(node)? {
                now if now == of => read(node),
                _ => Err(Problem::new(Code::UnknownTenant, "the tenant was deleted")),
            };
            service.newer(&reader.recipient, (since, wait), rev, read).await?
        }
    };
    match page {
        Some(page) => Answer::json(StatusCode::OK, &Page::of(page, &service.design())),
        None => Ok(Answer::not_modified()),
    }
}

/// Get the counts of an inbox
///
/// Returns the number of groups with an unseen and with an unread item, in the whole inbox and in each category.
#[utoipa::path(
    get, path = "/v1/recipients/{id}/inbox/counts", tag = "inbox",
    params(
        ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
        ("tenant" = Option<String>, Query, description = "Only items of this tenant and those without a tenant, as with a token with this claim", min_length = 1, max_length = 256),
    ),
    responses((status = 200, description = "The counts", body = Counts))
)]
pub(crate) async fn counts(
    State(service): State<Arc<Service>>,
    reader: InboxReader,
    _: InQuery<TenantAlone>,
) -> Result<Answer, Problem> {
    Answer::json(StatusCode::OK, &counted(&service, &reader).await?)
}

/// The counts of a reader's inbox.
pub(crate) async fn counted(service: &Service, reader: &InboxReader) -> Result<Counts, Problem> {
    let (id, of) = (reader.recipient.clone(), reader.view());
    let counts = service
        .look(move |node| -> Result<InboxCounts, Problem> {
            Ok(node.engine().reader(node.view()).inbox_counts(&id, &of)?)
        })
        .await?;
    Ok(reader.or_nothing(counts)?.into())
}
