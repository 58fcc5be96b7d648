//! Tenants and their members.

mod members;
mod shown;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use tidings_api::body::tenant::TenantBody;
use tidings_config::wording::quoted;
use tidings_core::engine::{ListPage, TenantDirectory};
use tidings_core::model::TenantNo;
use tidings_core::{Command, Id};
use tidings_node::RuntimeError;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{PartialSchema, ToSchema};
use utoipa_axum::routes;

pub(crate) use self::shown::TenantShown;
use self::shown::TenantsPage;
use super::schema::with_id;
use crate::call::Calls;
use crate::error::{Code, Problem};
use crate::request::InPath;
use crate::request::array::{self, ItemAnswer};
use crate::request::catch_up::look;
use crate::request::lines::{BulkLinesQuery, Each, LineAnswer};
use crate::request::list::{ListPageQuery, ListQuery, PageBounds};
use crate::request::query::InQuery;
use crate::request::tenants::are_on;
pub(crate) use crate::request::tenants::{hint, known_if_named};
use crate::{Answer, Change, Service};

/// The calls of tenants.
pub(super) fn calls(calls: Calls) -> Calls {
    let calls = calls
        .add("put_tenant", routes!(put_tenant))
        .add("patch_tenant", routes!(patch_tenant))
        .add("get_tenant", routes!(get_tenant))
        .add("delete_tenant", routes!(delete_tenant))
        .add("change_tenants", routes!(change_tenants))
        .add("list_tenants", routes!(list_tenants));
    members::calls(calls)
}

/// A change of a tenant that names it.
struct NamedTenant;

impl PartialSchema for NamedTenant {
    fn schema() -> RefOr<Schema> {
        let about = "A change of a tenant, with its id. Fields that are left out keep their value.";
        with_id::<TenantBody>(about, "acme")
    }
}

impl ToSchema for NamedTenant {}

/// Returns true if the store has tenants.
///
/// # Errors
/// [`RuntimeError`] where the store can't be read.
pub fn are_there(service: &Service) -> Result<bool, RuntimeError> {
    service.handle.look(|node| TenantDirectory::of(node.engine()).is_any())
}

/// The number of the tenant that a path names.
///
/// # Errors
/// [`Code::TenantNotFound`], [`Code::TenantsOff`].
async fn in_path(service: &Service, id: &Id) -> Result<TenantNo, Problem> {
    are_on(service)?;
    let found = look(service, |tenants| tenants.number(id)).await?;
    found.ok_or_else(|| no_tenant(id).hint(hint(service, id)))
}

/// The problem of a path with an unknown tenant.
fn no_tenant(id: &Id) -> Problem {
    let detail = format!("unknown tenant {}", quoted(id.as_str()));
    Problem::new(Code::TenantNotFound, detail)
}

/// A problem of a call whose path names the tenant.
fn of_path(problem: Problem) -> Problem {
    let code = match problem.code {
        Code::UnknownTenant => Code::TenantNotFound,
        code => code,
    };
    Problem { code, ..problem }
}

/// Put a whole tenant
///
/// Creates or replaces the tenant. Absent fields get their defaults. A tenant from `GET` can be put back unchanged.
#[utoipa::path(
    put, path = "/v1/tenants/{id}", tag = "tenants",
    params(("id" = String, Path, description = "Tenant id", example = "acme", min_length = 1, max_length = 256)),
    request_body = TenantBody,
    responses((status = 204, description = "The tenant is saved"))
)]
async fn put_tenant(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    are_on(&service)?;
    let command = change.parse::<TenantBody>()?.command(&service.rules(), Some(id), true)?;
    service.done(&change, command).await
}

/// Change a tenant
///
/// Changes the given fields, and of `brand` the given keys; null removes a value. Pending notifications use
/// the new values.
#[utoipa::path(
    patch, path = "/v1/tenants/{id}", tag = "tenants",
    params(("id" = String, Path, description = "Tenant id", example = "acme", min_length = 1, max_length = 256)),
    request_body = TenantBody,
    responses((status = 204, description = "The tenant is changed"))
)]
async fn patch_tenant(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    in_path(&service, &id).await?;
    let command = change.parse::<TenantBody>()?.command(&service.rules(), Some(id), false)?;
    service.done(&change, command).await.map_err(of_path)
}

/// Get a tenant
///
/// Returns the tenant. Every field is present; null = the default of the configuration applies.
#[utoipa::path(
    get, path = "/v1/tenants/{id}", tag = "tenants",
    params(("id" = String, Path, description = "Tenant id", example = "acme", min_length = 1, max_length = 256)),
    responses((status = 200, description = "The tenant", body = TenantShown))
)]
async fn get_tenant(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
) -> Result<Answer, Problem> {
    in_path(&service, &id).await?;
    let wanted = id.clone();
    let shown = service.look(move |node| {
        let known = TenantDirectory::of(node.engine()).get(&wanted)?;
        Some(TenantShown::of(known.id, known.tenant))
    });
    match shown.await? {
        Some(shown) => Answer::json(StatusCode::OK, &shown),
        None => Err(no_tenant(&id)),
    }
}

/// Delete a tenant
///
/// Cancels pending notifications immediately, and removes the tenant's notifications from inboxes. Deletes its members,
/// subscriptions, preferences and tokens. A new tenant with the same id inherits nothing.
#[utoipa::path(
    delete, path = "/v1/tenants/{id}", tag = "tenants",
    params(("id" = String, Path, description = "Tenant id", example = "acme", min_length = 1, max_length = 256)),
    responses((status = 204, description = "The tenant is deleted"))
)]
async fn delete_tenant(
    State(service): State<Arc<Service>>,
    InPath(tenant): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    are_on(&service)?;
    service.done(&change, Command::DeleteTenant { tenant }).await.map_err(of_path)
}

/// Create or change many tenants
///
/// Takes an array of at most 10,000 tenants, or a stream of any length with one per line. Creates unknown tenants; of others
/// the given fields change. Each item is accepted or rejected by itself; the answers are in order.
#[utoipa::path(
    post, path = "/v1/tenants", tag = "tenants",
    params(BulkLinesQuery),
    request_body(content(
        (Vec<NamedTenant> = "application/json", example = json!([{"id": "acme", "name": "Acme"}, {"id": "globex", "disabled": true}])),
        (NamedTenant = "application/x-ndjson"),
    )),
    responses((status = 200, description = "The result of each item", content(
        (Vec<ItemAnswer> = "application/json", example = json!([{"status": "done"}, {"status": "done"}])),
        (LineAnswer = "application/x-ndjson", example = json!({"line": 1, "status": "done"})))))
)]
async fn change_tenants(
    State(service): State<Arc<Service>>,
    InQuery(wanted): InQuery<BulkLinesQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let each =
        Each::new(|rules, fields| Ok(fields.body::<TenantBody>()?.command(rules, None, false)?));
    array::many(service, request, wanted, each).await
}

/// List tenants
///
/// Returns tenants, sorted by the bytes of their ids.
#[utoipa::path(
    get, path = "/v1/tenants", tag = "tenants",
    params(ListQuery),
    responses((status = 200, description = "A page of tenants", body = TenantsPage))
)]
async fn list_tenants(
    State(service): State<Arc<Service>>,
    ListPageQuery { pages, .. }: ListPageQuery<(), Id>,
) -> Result<Answer, Problem> {
    are_on(&service)?;
    let PageBounds { after, most, .. } = pages.clone();
    let page = service.look(move |node| {
        let after = after.as_ref();
        let tenants = TenantDirectory::of(node.engine()).all(after);
        let rest = tenants.filter(|known| Some(known.id) != after).take(most.saturating_add(1));
        let rows = rest.map(|known| TenantShown::of(known.id, known.tenant)).collect();
        ListPage::merged(vec![ListPage { rows, next: None }], most)
    });
    pages.answer::<TenantsPage>(page.await?)
}
