//! Lists of recipients: all of them, and the followers of a topic.

mod erasure;
mod export;

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use tidings_api::body::recipient::StateWord;
use tidings_core::engine::{ListedFollower, ListedRecipient, Positioned, RecipientFilter};
use tidings_core::model::RecipientState;
use tidings_core::{Id, Rules};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::tenants;
use crate::call::Calls;
use crate::error::Problem;
use crate::request::InPath;
use crate::request::gather::OtherShards;
use crate::request::list::{ListFilter, ListPageQuery, ListQuery, PageBody, PageBounds, page_body};
use crate::request::query::Parameters;
use crate::{Answer, Service};

/// The lists of recipients.
pub(super) fn calls(calls: Calls) -> Calls {
    calls
        .add("list_recipients", routes!(list_recipients))
        .add("list_followers", routes!(list_followers))
        .add("erase_recipient", routes!(erasure::erase_recipient))
        .add("export_recipient", routes!(export::export_recipient))
}

/// The choice of recipients.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
struct RecipientsQuery {
    /// Only recipients whose id begins so.
    #[param(value_type = Option<String>, min_length = 1, max_length = 256)]
    id_prefix: Option<Id>,
    /// Only members of this tenant.
    #[param(value_type = Option<String>, min_length = 1, max_length = 256)]
    tenant: Option<Id>,
    /// Only recipients in this state.
    #[param(value_type = Option<StateWord>)]
    state: Option<RecipientState>,
}

impl ListFilter for RecipientsQuery {
    const KNOWN: &'static [&'static str] = &["id_prefix", "tenant", "state"];

    fn read(query: &Parameters, _: &Rules) -> Result<Self, Problem> {
        let states = [
            ("active", RecipientState::Active),
            ("unconfirmed", RecipientState::Unconfirmed),
            ("disabled", RecipientState::Disabled),
        ];
        Ok(Self {
            id_prefix: query.id("id_prefix")?,
            tenant: query.id("tenant")?,
            state: query.word("state", &states)?,
        })
    }
}

/// A recipient in a list.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(as = ListedRecipient, example = json!({"id": "ada", "name": "Ada", "state": "active"}))]
struct RecipientShown {
    /// Id of the recipient.
    #[schema(value_type = String)]
    id: Id,
    /// Name to show.
    #[schema(required)]
    name: Option<String>,
    /// The state.
    #[schema(value_type = StateWord)]
    state: RecipientState,
    /// The tenants of which the recipient is a member, sorted by the bytes of their ids; absent = none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>, required = false)]
    tenants: Vec<Id>,
}

impl Positioned for RecipientShown {
    type Position = Id;

    fn position(&self) -> Id {
        self.id.clone()
    }
}

impl From<ListedRecipient> for RecipientShown {
    fn from(listed: ListedRecipient) -> Self {
        let ListedRecipient { id, name, state, tenants } = listed;
        Self { id, name, state, tenants }
    }
}

page_body! {
    /// A page of recipients.
    #[schema(example = json!({"recipients": [{"id": "ada", "name": "Ada", "state": "active"}], "next": null}))]
    RecipientsPage {
        /// The recipients, sorted by the bytes of their ids.
        recipients: RecipientShown
    }
}

/// A follower of a topic.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(as = Follower, example = json!({"recipient": "ada"}))]
struct FollowerShown {
    /// Id of the recipient.
    #[schema(value_type = String)]
    recipient: Id,
}

impl Positioned for FollowerShown {
    type Position = Id;

    fn position(&self) -> Id {
        self.recipient.clone()
    }
}

impl From<ListedFollower> for FollowerShown {
    fn from(ListedFollower { recipient }: ListedFollower) -> Self {
        Self { recipient }
    }
}

/// A page of the followers of a topic.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"followers": [{"recipient": "ada"}], "count": 1, "next": null}))]
struct FollowersBody {
    /// The followers, sorted by the bytes of their ids.
    followers: Vec<FollowerShown>,
    /// Number of all followers of the topic.
    count: u64,
    /// The next page's cursor; null = this is the last. A page with few rows, or none, may have a next one, since a
    /// page looks at a bounded number of rows.
    #[schema(required)]
    next: Option<String>,
    /// Nodes of a cluster that did not answer: their rows are left out and not counted. Absent if all answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    missing: Option<Vec<String>>,
}

impl PageBody for FollowersBody {
    type Row = FollowerShown;

    fn into_parts(self) -> (Vec<FollowerShown>, Option<String>) {
        (self.followers, self.next)
    }

    fn of(
        followers: Vec<FollowerShown>,
        next: Option<String>,
        missing: Option<Vec<String>>,
    ) -> Self {
        Self { followers, count: 0, next, missing }
    }
}

/// List recipients
///
/// Returns recipients, sorted by the bytes of their ids.
#[utoipa::path(
    get, path = "/v1/recipients", tag = "recipients",
    params(RecipientsQuery, ListQuery),
    responses((status = 200, description = "A page of recipients", body = RecipientsPage))
)]
async fn list_recipients(
    State(service): State<Arc<Service>>,
    ListPageQuery { filter, pages }: ListPageQuery<RecipientsQuery, Id>,
    others: OtherShards,
) -> Result<Answer, Problem> {
    let RecipientsQuery { id_prefix, tenant, state } = filter;
    let tenant = tenants::known_if_named(&service, tenant.as_ref()).await?;
    let filter = RecipientFilter { id_prefix, tenant, state };
    let PageBounds { after, most, .. } = pages.clone();
    let own = service.look(move |node| {
        let page = node.engine().reader(node.view()).recipients(&filter, after, most);
        page.map(RecipientShown::from)
    });
    pages.gathered::<RecipientsPage>(own, &others).await
}

/// The choice of a topic's followers.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
struct FollowersQuery {
    /// The followers of this tenant's topic; if absent, those of the topic without a tenant.
    #[param(value_type = Option<String>, min_length = 1, max_length = 256)]
    tenant: Option<Id>,
}

impl ListFilter for FollowersQuery {
    const KNOWN: &'static [&'static str] = &["tenant"];

    fn read(query: &Parameters, _: &Rules) -> Result<Self, Problem> {
        Ok(Self { tenant: query.id("tenant")? })
    }
}

/// List the followers of a topic
///
/// Returns the recipients who follow this very topic, not those of topics above or below it, sorted by the bytes of
/// their ids. A topic that nobody follows has none.
#[utoipa::path(
    get, path = "/v1/topics/{topic}/followers", tag = "subscriptions",
    params(
        ("topic" = String, Path, description = "Topic, with slashes encoded", example = "artist%2F42", min_length = 1, max_length = 256),
        FollowersQuery,
        ListQuery,
    ),
    responses((status = 200, description = "A page of followers", body = FollowersBody))
)]
async fn list_followers(
    State(service): State<Arc<Service>>,
    InPath(topic): InPath<Id>,
    ListPageQuery { filter, pages }: ListPageQuery<FollowersQuery, Id>,
    others: OtherShards,
) -> Result<Answer, Problem> {
    let tenant = tenants::known_if_named(&service, filter.tenant.as_ref()).await?;
    let PageBounds { after, most, .. } = pages.clone();
    let own = service
        .look(move |node| node.engine().reader(node.view()).followers(&topic, tenant, after, most));
    let (own, mut gathered) = tokio::join!(own, others.gather::<FollowersBody>());
    let own = own?;
    let bodies = std::mem::take(&mut gathered.found);
    let count = bodies.iter().map(|body| body.count).sum::<u64>() + own.count;
    let page = pages.merged(own.page.map(FollowerShown::from), bodies);
    let body = FollowersBody { count, ..pages.body(page, gathered.missing()) };
    Answer::json(StatusCode::OK, &body)
}

#[cfg(test)]
mod tests;
