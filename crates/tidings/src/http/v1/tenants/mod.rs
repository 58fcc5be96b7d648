//! Tenants and their members.

mod members;
mod shown;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use tidings_core::engine::{Refused, TenantDirectory};
use tidings_core::tenant::TenantNo;
use tidings_core::{Command, Id};
use tidings_node::RuntimeError;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{PartialSchema, ToSchema};
use utoipa_axum::routes;

pub(in crate::http) use self::shown::TenantShown;
use self::shown::TenantsPage;
use super::schema::with_id;
use crate::body::tenant::TenantBody;
use crate::http::call::Calls;
use crate::http::error::{Code, Problem};
use crate::http::request::InPath;
use crate::http::request::array::{self, ItemAnswer};
use crate::http::request::catch_up::look;
use crate::http::request::lines::{Each, LineAnswer, LinesQuery};
use crate::http::request::query::{FromQuery, InQuery, Parameters};
use crate::http::{Answer, Change, Service};
use crate::wording::{nearest, quoted};

/// Default number of rows of a page.
const ROWS_USUAL: u16 = 50;
/// Maximum number of rows of a page.
const ROWS_MAX: u16 = 500;

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

/// The choice of a page.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
struct PageQuery {
    /// Maximum number of rows; 50 if absent.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u16>,
    /// Start of the page: `next` of the previous page.
    #[param(value_type = Option<String>, min_length = 1, max_length = 256)]
    cursor: Option<Id>,
}

impl FromQuery for PageQuery {
    const KNOWN: &'static [&'static str] = &["limit", "cursor"];

    fn read(query: &Parameters) -> Result<Self, Problem> {
        Ok(Self {
            limit: query.whole_number("limit", 1..=ROWS_MAX)?,
            cursor: query.parsed("cursor", Id::new, "what a page gave as `next`")?,
        })
    }
}

impl PageQuery {
    fn most(&self) -> usize {
        usize::from(self.limit.unwrap_or(ROWS_USUAL))
    }
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

/// The number of the tenant in a body or a query, if there is one.
///
/// # Errors
/// [`Code::UnknownTenant`], [`Code::TenantsOff`].
pub(in crate::http) async fn known_if_named(
    service: &Service,
    id: Option<&Id>,
) -> Result<Option<TenantNo>, Problem> {
    match id {
        Some(id) => known(service, id).await.map(Some),
        None => Ok(None),
    }
}

async fn known(service: &Service, id: &Id) -> Result<TenantNo, Problem> {
    are_on(service)?;
    let found = look(service, |tenants| tenants.number(id)).await?;
    let unknown = || format!("unknown tenant {}", quoted(id.as_str()));
    found.ok_or_else(|| Problem::new(Code::UnknownTenant, unknown()).hint(hint(service, id)))
}

/// The hint for an unknown tenant: the tenant with the most similar id.
pub(in crate::http) fn hint(service: &Service, id: &Id) -> String {
    let near = service.handle.look(|node| {
        let tenants = TenantDirectory::of(node.engine()).all(None).take(NEAR_MAX);
        let ids = tenants.map(|known| known.id.as_str());
        nearest(id.as_str(), ids).map(str::to_owned)
    });
    let near = near.ok().flatten();
    near.map(|near| format!("did you mean `{near}`?")).unwrap_or_default()
}

/// Maximum number of tenants that are searched for a similar id.
const NEAR_MAX: usize = 10_000;

/// Returns true if the store has tenants.
///
/// # Errors
/// [`RuntimeError`] where the store can't be read.
pub fn are_there(service: &Service) -> Result<bool, RuntimeError> {
    service.handle.look(|node| TenantDirectory::of(node.engine()).is_any())
}

/// Checks that the configuration has tenants.
fn are_on(service: &Service) -> Result<(), Problem> {
    match service.rules().tenants {
        Some(_) => Ok(()),
        None => Err(Refused::TenantsOff.into()),
    }
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
    params(LinesQuery),
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
    InQuery(wanted): InQuery<LinesQuery>,
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
    params(PageQuery),
    responses((status = 200, description = "A page of tenants", body = TenantsPage))
)]
async fn list_tenants(
    State(service): State<Arc<Service>>,
    InQuery(query): InQuery<PageQuery>,
) -> Result<Answer, Problem> {
    are_on(&service)?;
    let page = service.look(move |node| {
        let page = TenantDirectory::of(node.engine()).page(query.cursor.as_ref(), query.most());
        TenantsPage::from(page)
    });
    Answer::json(StatusCode::OK, &page.await?)
}
