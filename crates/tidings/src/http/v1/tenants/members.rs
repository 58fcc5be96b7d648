//! Members of a tenant: one by one, many at once, and pages of them.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use tidings_core::engine::TenantDirectory;
use tidings_core::{Command, Id, Recipient};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{PageQuery, in_path, of_path};
use crate::body::tenant::MemberBody;
use crate::http::call::Calls;
use crate::http::cluster::gather::OtherShards;
use crate::http::error::Problem;
use crate::http::request::InPath;
use crate::http::request::array::{self, ItemAnswer};
use crate::http::request::lines::{Each, LineAnswer, LinesQuery};
use crate::http::request::query::InQuery;
use crate::http::{Answer, Change, Service};

/// The calls of members.
pub(super) fn calls(calls: Calls) -> Calls {
    calls
        .add("put_member", routes!(put_member))
        .add("remove_member", routes!(remove_member))
        .add("change_members", routes!(change_members))
        .add("list_members", routes!(list_members))
}

/// A page of members.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"members": [{"id": "ada", "name": "Ada"}], "next": null}))]
struct MembersPage {
    /// The members, sorted by the bytes of their ids.
    members: Vec<Member>,
    /// The next page's cursor; null = this is the last.
    #[schema(required)]
    next: Option<String>,
    /// Nodes of a cluster that did not answer: their members are left out. Absent if all answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    missing: Option<Vec<String>>,
}

/// A member of a tenant.
#[derive(Serialize, Deserialize, ToSchema)]
struct Member {
    /// Id of the recipient.
    id: String,
    /// Name to show.
    #[schema(required)]
    name: Option<String>,
}

impl From<&Recipient> for Member {
    fn from(recipient: &Recipient) -> Self {
        Self { id: recipient.id.as_str().to_owned(), name: recipient.name.clone() }
    }
}

impl MembersPage {
    /// Merges the pages of several nodes.
    fn merged(pages: Vec<Self>, most: usize) -> Self {
        let mut has_more = pages.iter().any(|page| page.next.is_some());
        let mut members: Vec<Member> = pages.into_iter().flat_map(|page| page.members).collect();
        members.sort_by(|a, b| a.id.cmp(&b.id));
        has_more |= members.len() > most;
        members.truncate(most);
        let last = members.last().filter(|_| has_more);
        Self { next: last.map(|member| member.id.clone()), members, missing: None }
    }
}

/// Make a recipient a member
///
/// Adds the recipient to the members. A recipient may be a member of many tenants.
#[utoipa::path(
    put, path = "/v1/tenants/{id}/members/{recipient}", tag = "tenants",
    params(
        ("id" = String, Path, description = "Tenant id", example = "acme", min_length = 1, max_length = 256),
        ("recipient" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
    ),
    responses((status = 204, description = "The recipient is a member"))
)]
async fn put_member(
    State(service): State<Arc<Service>>,
    InPath((tenant, recipient)): InPath<(Id, Id)>,
    change: Change,
) -> Result<Answer, Problem> {
    in_path(&service, &tenant).await?;
    service.done(&change, Command::Join { recipient, tenant }).await.map_err(of_path)
}

/// Remove a member
///
/// Removes the membership and the recipient's subscriptions of the tenant. Notifications and preferences stay.
#[utoipa::path(
    delete, path = "/v1/tenants/{id}/members/{recipient}", tag = "tenants",
    params(
        ("id" = String, Path, description = "Tenant id", example = "acme", min_length = 1, max_length = 256),
        ("recipient" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
    ),
    responses((status = 204, description = "The recipient is no member"))
)]
async fn remove_member(
    State(service): State<Arc<Service>>,
    InPath((tenant, recipient)): InPath<(Id, Id)>,
    change: Change,
) -> Result<Answer, Problem> {
    in_path(&service, &tenant).await?;
    service.done(&change, Command::Leave { recipient, tenant }).await.map_err(of_path)
}

/// Add and remove many members
///
/// Takes an array of at most 10,000 members, or a stream of any length with one per line; `remove` removes a member.
/// Each item is accepted or rejected by itself; the answers are in order.
#[utoipa::path(
    post, path = "/v1/tenants/{id}/members", tag = "tenants",
    params(
        ("id" = String, Path, description = "Tenant id", example = "acme", min_length = 1, max_length = 256),
        LinesQuery,
    ),
    request_body(content(
        (Vec<MemberBody> = "application/json", example = json!([{"recipient": "ada"}, {"recipient": "bob", "remove": true}])),
        (MemberBody = "application/x-ndjson"),
    )),
    responses((status = 200, description = "The result of each item", content(
        (Vec<ItemAnswer> = "application/json", example = json!([{"status": "done"}, {"status": "done"}])),
        (LineAnswer = "application/x-ndjson", example = json!({"line": 1, "status": "done"})))))
)]
async fn change_members(
    State(service): State<Arc<Service>>,
    InPath(tenant): InPath<Id>,
    InQuery(wanted): InQuery<LinesQuery>,
    request: Request,
) -> Result<Response, Problem> {
    in_path(&service, &tenant).await?;
    let each = Each::new(move |_, fields| Ok(fields.body::<MemberBody>()?.command(tenant.clone())));
    array::many(service, request, wanted, each).await
}

/// List the members of a tenant
///
/// Returns members, sorted by the bytes of their ids.
#[utoipa::path(
    get, path = "/v1/tenants/{id}/members", tag = "tenants",
    params(
        ("id" = String, Path, description = "Tenant id", example = "acme", min_length = 1, max_length = 256),
        PageQuery,
    ),
    responses((status = 200, description = "A page of members", body = MembersPage))
)]
async fn list_members(
    State(service): State<Arc<Service>>,
    InPath(tenant): InPath<Id>,
    InQuery(query): InQuery<PageQuery>,
    others: OtherShards,
) -> Result<Answer, Problem> {
    in_path(&service, &tenant).await?;
    let most = query.most();
    let own = service.look(move |node| -> Result<MembersPage, Problem> {
        let tenants = TenantDirectory::of(node.engine());
        let members = tenants.members(&tenant, query.cursor.as_ref(), most.saturating_add(1))?;
        let members = members.into_iter().map(Member::from).collect();
        let page = MembersPage { members, next: None, missing: None };
        Ok(MembersPage::merged(vec![page], most))
    });
    if others.is_none() {
        return Answer::json(StatusCode::OK, &own.await?.map_err(of_path)?);
    }
    let (own, mut gathered) = tokio::join!(own, others.gather());
    let mut pages = std::mem::take(&mut gathered.found);
    pages.push(own?.map_err(of_path)?);
    let page = MembersPage { missing: gathered.missing(), ..MembersPage::merged(pages, most) };
    Answer::json(StatusCode::OK, &page)
}
