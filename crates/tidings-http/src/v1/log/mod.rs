//! The log of changes: who changed what.

mod query;
mod shown;

use std::sync::Arc;

use axum::extract::State;
use tidings_core::engine::{ChangeFilter, LoggedChange, NewestFirst, changes};
use tidings_core::model::ChangeSubject;
use tidings_node::StoreView;
use tokio::sync::oneshot;
use utoipa_axum::routes;

use self::query::LogQuery;
pub(super) use self::shown::LineShown;
use super::tenants;
use crate::call::Calls;
use crate::change::origin::origin;
use crate::error::Problem;
use crate::request::list::{ListPageQuery, ListQuery, PageBounds, page_body};
use crate::service::Access;
use crate::shares::caller;
use crate::{Answer, Service};

/// The call of the log.
pub(super) fn calls(calls: Calls) -> Calls {
    calls.add("list_log", routes!(list_log))
}

/// A server gives its data away.
pub(super) struct Export {
    /// Its data.
    pub(super) subject: ChangeSubject,
}

impl Export {
    /// Logs it, before it is done.
    ///
    /// # Errors
    /// A [`Problem`] of the node.
    pub(super) async fn log(self, service: &Service) -> Result<(), Problem> {
        // An operator's process that has opened the store itself may not be able to write.
        if let Access::Own(_) = service.access {
            return Ok(());
        }
        let (send, done) = oneshot::channel();
        let handle = service.handle.of(caller()).with_origin(origin());
        let change = LoggedChange { subject: self.subject, fields: Vec::new() };
        handle.log(change, move |logged| {
            let _ = send.send(logged.map_err(Problem::from));
        })?;
        service.answered(done).await
    }
}

page_body! {
    /// A page of the log of changes, newest first.
    #[schema(example = json!({"log": [{"id": "log_8000018df906f800ffffffffffff", "at": "2024-03-01T08:00:00Z", "by": {"kind": "key", "id": "k1", "role": "operate"}, "via": "api", "action": "pause_channel", "subject": {"kind": "channel", "id": "email"}, "fields": [{"name": "paused", "from": false, "to": true}], "result": "done"}], "next": null}))]
    LogPage {
        /// The lines.
        log: LineShown
    }
}

/// List the log of changes
///
/// Returns who changed what, newest first. A line is written in the commit of its change. It has no name, address,
/// data or text. Events, objects, subscriptions and marks are not in the log.
#[utoipa::path(
    get, path = "/v1/admin/log", tag = "admin",
    params(LogQuery, ListQuery),
    responses((status = 200, description = "A page of lines", body = LogPage))
)]
async fn list_log(
    State(service): State<Arc<Service>>,
    ListPageQuery { filter, pages }: ListPageQuery<LogQuery, NewestFirst>,
) -> Result<Answer, Problem> {
    tenants::known_if_named(&service, filter.tenant.as_ref()).await?;
    let LogQuery { by, action, subject, tenant, from, to } = filter;
    let filter = ChangeFilter { by, action, subject, tenant, from, to };
    let PageBounds { after, most, .. } = pages.clone();
    let is_shared = service.shards.cluster_view().is_some();
    let page = service
        .look(move |node| {
            // Other nodes write lines as well: the store has them, and no commit of this node shows them.
            let fresh = is_shared.then(|| StoreView::of(&**node.store())).transpose()?;
            let view = fresh.as_ref().unwrap_or(node.view());
            Ok::<_, tidings_node::Error>(changes(view, &filter, after.as_ref(), most)?)
        })
        .await??;
    pages.answer::<LogPage>(page.map(LineShown::from))
}
