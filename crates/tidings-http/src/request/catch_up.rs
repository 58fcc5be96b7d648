//! The tenants that a follower of the log knows.
//!
//! It may not have applied the creation of a tenant that was answered already. So it applies the log up to its end
//! before it refuses an unknown tenant.

use tidings_core::engine::TenantDirectory;
use tokio::sync::oneshot;

use crate::error::Problem;
use crate::service::Service;

/// Reads something of tenants; where it is not there, once more as of the end of the log.
///
/// # Errors
/// A [`Problem`] of the node.
pub(crate) async fn look<T>(
    service: &Service,
    look: impl Fn(TenantDirectory<'_>) -> Option<T> + Send,
) -> Result<Option<T>, Problem> {
    let now = || service.handle.look(|node| look(TenantDirectory::of(node.engine())));
    let found = now()?;
    if found.is_some() || !catch_up(service).await? {
        return Ok(found);
    }
    Ok(now()?)
}

/// Applies the log up to its current end; false = the intake is here, so there is nothing to apply.
///
/// # Errors
/// A [`Problem`] of the node, which may be too far behind.
pub(crate) async fn catch_up(service: &Service) -> Result<bool, Problem> {
    if service.shards.cluster_view().is_none_or(|(owners, _)| owners.intake) {
        return Ok(false);
    }
    let (send, done) = oneshot::channel();
    service.handle.catch_up_then(move |done| {
        let _ = send.send(done.map_err(Problem::from));
    })?;
    service.answered(done).await?;
    Ok(true)
}
