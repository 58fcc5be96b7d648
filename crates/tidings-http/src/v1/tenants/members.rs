//! Members of a tenant: one by one, many at once, and pages of them.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use tidings_api::body::tenant::MemberBody;
use tidings_core::engine::{ListPage, Positioned, TenantDirectory};
use tidings_core::{Command, Id, Recipient};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::{in_path, of_path};
use crate::call::Calls;
use crate::error::Problem;
use crate::request::InPath;
use crate::request::array::{self, ItemAnswer};
use crate::request::gather::OtherShards;
use crate::request::lines::{BulkLinesQuery, Each, LineAnswer};
use crate::request::list::{ListPageQuery, ListQuery, PageBounds, page_body};
use crate::request::query::InQuery;
use crate::{Answer, Change, Service};

/// The calls of members.
pub(super) fn calls(calls: Calls) -> Calls {
    calls
        .add("put_member", routes!(put_member))
        .add("remove_member", routes!(remove_member))
        .add("change_members", routes!(change_members))
        .add("list_members", routes!(list_members))
}

page_body! {
    /// A page of members.
    #[schema(example = json!({"members": [{"id": "ada", "name": "Ada"}], "next": null}))]
    MembersPage {
        /// The members, sorted by the bytes of their ids.
        members: Member
    }
}

/// A member of a tenant.
#[derive(Serialize, Deserialize, ToSchema)]
struct Member {
    /// Id of the recipient.
    #[schema(value_type = String)]
    id: Id,
    /// Name to show.
    #[schema(required)]
    name: Option<String>,
}

impl From<&Recipient> for Member {
    fn from(recipient: &Recipient) -> Self {
        Self { id: recipient.id.clone(), name: recipient.name.clone() }
    }
}

impl Positioned for Member {
    type Position = Id;

    fn position(&self) -> Id {
        self.id.clone()
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
        BulkLinesQuery,
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
    InQuery(wanted): InQuery<BulkLinesQuery>,
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
        ListQuery,
    ),
    responses((status = 200, description = "A page of members", body = MembersPage))
)]
async fn list_members(
    State(service): State<Arc<Service>>,
    InPath(tenant): InPath<Id>,
    ListPageQuery { pages, .. }: ListPageQuery<(), Id>,
    others: OtherShards,
) -> Result<Answer, Problem> {
    in_path(&service, &tenant).await?;
    let PageBounds { after, most, .. } = pages.clone();
    let own = service.look(move |node| -> Result<_, Problem> {
        let tenants = TenantDirectory::of(node.engine());
        let members = tenants.members(&tenant, after.as_ref(), most.saturating_add(1))?;
        let rows = members.into_iter().map(Member::from).collect();
        Ok(ListPage::merged(vec![ListPage { rows, next: None }], most))
    });
    let own = async { own.await?.map_err(of_path) };
    pages.gathered::<MembersPage>(own, &others).await
}
