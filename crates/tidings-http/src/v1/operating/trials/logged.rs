//! Comparisons and the log of changes: their beginnings and ends are written there, and read after a start.

use std::sync::Arc;

use tidings_core::engine::{ChangeFilter, LoggedChange, changes};
use tidings_core::model::Origin;
use tidings_node::StoreView;
use tokio::sync::oneshot;

use crate::error::Problem;
use crate::service::{Access, Service};
use crate::trials::comparison::{BEGUN, ENDED, KEPT_MAX};

/// Adds the comparisons of servers before this one to those of the service, the first time.
///
/// # Errors
/// A [`Problem`] of the node.
pub(in crate::v1) async fn know_earlier(service: &Arc<Service>) -> Result<(), Problem> {
    let read = async {
        let is_shared = service.shards.cluster_view().is_some();
        let lines = service.look(move |node| {
            // Other nodes write lines as well, and no commit of this node shows them.
            let fresh = is_shared.then(|| StoreView::of(&**node.store())).transpose()?;
            let view = fresh.as_ref().unwrap_or(node.view());
            let lines = |action: &str| {
                let action = Some(action.to_owned());
                let filter = ChangeFilter { action, ..ChangeFilter::default() };
                changes(view, &filter, None, KEPT_MAX).map(|page| page.rows)
            };
            Ok::<_, tidings_node::Error>([lines(BEGUN)?, lines(ENDED)?])
        });
        Ok(lines.await??)
    };
    service.trials.comparisons.know(read).await
}

/// Logs a change of a comparison.
///
/// # Errors
/// A [`Problem`] of the node.
pub(in crate::v1) async fn log(
    service: &Arc<Service>,
    change: LoggedChange,
    origin: Option<Arc<Origin>>,
) -> Result<(), Problem> {
    // A process that has opened the store itself may not be able to write.
    if let Access::Own(_) = service.access {
        return Ok(());
    }
    let (send, logged) = oneshot::channel();
    service.handle.clone().with_origin(origin).log(change, move |done| {
        let _ = send.send(done.map_err(Problem::from));
    })?;
    service.answered(logged).await
}
