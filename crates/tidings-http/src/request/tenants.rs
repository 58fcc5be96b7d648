//! The tenants that tokens and requests name, as the node has them.

use tidings_config::wording::{nearest, quoted};
use tidings_core::Id;
use tidings_core::engine::{Refused, TenantDirectory};
use tidings_core::model::TenantNo;
use tidings_node::Handle;

use crate::error::{Code, Problem};
use crate::request::catch_up::look;
use crate::service::Service;

/// The number of the tenant of a token that was issued in this second, if it is there and can be read now.
pub(crate) fn of_token(handle: &Handle, id: &Id, issued_s: i64) -> Option<TenantNo> {
    let found = handle.look(|node| TenantDirectory::of(node.engine()).of_token(id, issued_s));
    found.ok().flatten()
}

/// The id of a tenant, if it is there and can be read now.
pub(crate) fn id(handle: &Handle, number: TenantNo) -> Option<Id> {
    let found = handle.look(|node| TenantDirectory::of(node.engine()).id(number).cloned());
    found.ok().flatten()
}

/// The number of the tenant in a body or a query, if there is one.
///
/// # Errors
/// [`Code::UnknownTenant`], [`Code::TenantsOff`].
pub(crate) async fn known_if_named(
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
pub(crate) fn hint(service: &Service, id: &Id) -> String {
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

/// Checks that the configuration has tenants.
pub(crate) fn are_on(service: &Service) -> Result<(), Problem> {
    match service.rules().tenants {
        Some(_) => Ok(()),
        None => Err(Refused::TenantsOff.into()),
    }
}
