//! The export of a person's data: everything that is known about them at one moment, as one document.
//!
//! What grows without a bound (inbox, messages, log) is read page by page while it is written, so an export takes
//! little memory however long somebody has been there.

use std::io;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::ser::{Error as _, SerializeSeq as _};
use serde::{Serialize, Serializer};
use tidings_api::body::preference::Preference;
use tidings_core::Id;
use tidings_core::engine::{
    Cursor, FollowedTopic, InboxQuery, InboxState, ListPage, MessageFilter, NewestFirst,
    PersonChanges, Reader, Refused, SuppressionFilter, TenantDirectory,
};
use tidings_core::model::{ChangeSubject, ChannelAddress, SubjectKind, View};
use tidings_mail::Design;
use tidings_node::{DurableSnapshot, StoreView};
use utoipa::ToSchema;

use crate::Service;
use crate::error::Problem;
use crate::live::shown::{Item, items};
use crate::request::InPath;
use crate::streaming::streamed;
use crate::v1::export::place_of_export;
use crate::v1::log::{Export, LineShown};
use crate::v1::messages::MessageDetails;
use crate::v1::preferences::known;
use crate::v1::recipients::RecipientProfile;
use crate::v1::suppressions::SuppressionShown;

/// Number of rows that are read at once.
const ROWS: usize = 200;

/// Everything that is known about a recipient, at one moment.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"recipient": {"id": "ada", "name": "Ada", "email": "ada@example.org", "addresses": {"email": "ada@example.org"}, "tz": "Europe/Paris", "locale": "fr", "lat": null, "lon": null, "state": "active", "data": null, "quiet_hours": "default"}, "preferences": [{"type": "comment", "channel": "email", "mode": "never"}], "subscriptions": [{"topic": "artist/42"}], "memberships": [], "inbox": [], "messages": [], "suppressions": [], "log": []}))]
pub(super) struct RecipientExport {
    /// The profile.
    recipient: RecipientProfile,
    /// All preferences, as `GET /v1/recipients/{id}/preferences` lists them.
    preferences: Vec<Preference>,
    /// The topics that they follow, sorted by bytes.
    subscriptions: Vec<ExportedSubscription>,
    /// The tenants of which they are a member, sorted by the bytes of their ids.
    memberships: Vec<ExportedMembership>,
    /// All items of the inbox that they have not deleted, newest first.
    #[schema(value_type = Vec<Item>)]
    inbox: PagedRows<Item, Cursor>,
    /// All messages to them, newest first, each as `GET /v1/messages/{id}` shows it.
    #[schema(value_type = Vec<MessageDetails>)]
    messages: PagedRows<MessageDetails, NewestFirst>,
    /// Those of their addresses that are suppressed.
    #[schema(value_type = Vec<SuppressionShown>)]
    suppressions: PagedRows<SuppressionShown, ChannelAddress>,
    /// The lines of the log of changes about them and their addresses, and those that they caused, newest first.
    #[schema(value_type = Vec<LineShown>)]
    log: PagedRows<LineShown, NewestFirst>,
}

/// A topic that a recipient follows.
#[derive(Serialize, ToSchema)]
struct ExportedSubscription {
    /// The topic.
    #[schema(value_type = String)]
    topic: Id,
    /// The tenant of the topic; absent = none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    tenant: Option<Id>,
}

/// A tenant of which a recipient is a member.
#[derive(Serialize, ToSchema)]
struct ExportedMembership {
    /// The tenant.
    #[schema(value_type = String)]
    tenant: Id,
}

/// Rows, and the position after which there are more.
type RowsPage<T, P> = (Vec<T>, Option<P>);

/// Reads the page after a position.
type PageReader<T, P> = dyn Fn(Option<&P>) -> io::Result<RowsPage<T, P>>;

/// Rows that are read, page by page, while they are written.
struct PagedRows<T, P>(Box<PageReader<T, P>>);

impl<T: Serialize, P> Serialize for PagedRows<T, P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut written = serializer.serialize_seq(None)?;
        let mut after = None;
        loop {
            let (rows, next) = (self.0)(after.as_ref()).map_err(S::Error::custom)?;
            for row in &rows {
                written.serialize_element(row)?;
            }
            after = next;
            if after.is_none() {
                return written.end();
            }
        }
    }
}

/// A person as of one moment.
struct ExportedPerson {
    id: Id,
    durable: Arc<DurableSnapshot>,
    /// The store with the lines that other nodes have written; `None` = there are no other nodes.
    shared: Option<StoreView>,
    design: Arc<Design>,
}

impl ExportedPerson {
    fn reader(&self) -> Reader<'_> {
        self.durable.engine().reader(self.durable.view())
    }

    /// All of their data.
    fn export(self) -> io::Result<RecipientExport> {
        let person = Arc::new(self);
        let engine = person.durable.engine();
        let directory = TenantDirectory::of(engine);
        let profile = engine.recipient(&person.id);
        let profile = profile.ok_or_else(|| io::Error::other("the recipient is unknown"))?;
        let tenants = directory.tenants_of(&person.id).map_err(io::Error::other)?;
        let chosen = engine.preferences(&person.id, &View::All).map_err(io::Error::other)?;
        let topics = person.reader().following(&person.id).map_err(io::Error::other)?;
        let changes = person.reader().changes_of(&person.id).map_err(io::Error::other)?;
        Ok(RecipientExport {
            preferences: Preference::list(chosen),
            subscriptions: topics
                .into_iter()
                .map(|FollowedTopic { topic, tenant }| ExportedSubscription { topic, tenant })
                .collect(),
            memberships: tenants
                .iter()
                .map(|tenant| ExportedMembership { tenant: tenant.clone() })
                .collect(),
            recipient: RecipientProfile::of(profile, directory).with_tenants(tenants),
            inbox: person.rows(Self::inbox),
            messages: person.rows(Self::messages),
            suppressions: person.rows(Self::suppressions),
            log: person.rows(move |person, after| person.log(&changes, after)),
        })
    }

    fn rows<T, P>(
        self: &Arc<Self>,
        read: impl Fn(&Self, Option<&P>) -> io::Result<RowsPage<T, P>> + 'static,
    ) -> PagedRows<T, P> {
        let person = Arc::clone(self);
        PagedRows(Box::new(move |after| read(&person, after)))
    }

    fn inbox(&self, after: Option<&Cursor>) -> io::Result<RowsPage<Item, Cursor>> {
        let state = InboxState::All;
        let query = InboxQuery {
            from: after.copied(),
            state,
            is_grouped: false,
            ..InboxQuery::newest(ROWS)
        };
        let page = self.reader().inbox(&self.id, &query).map_err(io::Error::other)?;
        let next = page.next;
        Ok((items(page, &self.design), next))
    }

    fn messages(
        &self,
        after: Option<&NewestFirst>,
    ) -> io::Result<RowsPage<MessageDetails, NewestFirst>> {
        let filter = MessageFilter { recipient: Some(self.id.clone()), ..MessageFilter::default() };
        let reader = self.reader();
        let page = reader.messages(&filter, after, ROWS).map_err(io::Error::other)?;
        let mut rows = Vec::new();
        for message in page.rows {
            let report = reader.message_report(message.name).map_err(io::Error::other)?;
            rows.extend(report.map(MessageDetails::from));
        }
        Ok((rows, page.next))
    }

    fn suppressions(
        &self,
        after: Option<&ChannelAddress>,
    ) -> io::Result<RowsPage<SuppressionShown, ChannelAddress>> {
        let filter =
            SuppressionFilter { recipient: Some(self.id.clone()), ..SuppressionFilter::default() };
        let page = self.reader().suppressions(&filter, after, ROWS);
        let rows = page.rows.iter().map(|of| SuppressionShown::of(&of.address, &of.suppression));
        Ok((rows.collect(), page.next))
    }

    fn log(
        &self,
        changes: &PersonChanges,
        after: Option<&NewestFirst>,
    ) -> io::Result<RowsPage<LineShown, NewestFirst>> {
        let view = self.shared.as_ref().unwrap_or_else(|| self.durable.view());
        let page = changes.page(view, after, ROWS).map_err(io::Error::other)?;
        let ListPage { rows, next } = page;
        Ok((rows.into_iter().map(LineShown::from).collect(), next))
    }
}

/// Export a recipient's data
///
/// Streams everything that is known about the recipient at one moment: profile, preferences, subscriptions, memberships,
/// the inbox in all its states, messages with their notifications, suppressed addresses, and the lines of the log of
/// changes. There is no limit of rows. The export itself has a line in that log. Two exports may run at once, one for
/// each API key. The stream ends if its reader takes less than 64 KiB a second over a minute.
#[utoipa::path(
    get, path = "/v1/recipients/{id}/export", tag = "recipients",
    params(("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256)),
    responses((status = 200, description = "The data of the recipient", body = RecipientExport))
)]
pub(super) async fn export_recipient(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
) -> Result<Response, Problem> {
    known(&service, &id).await?;
    let place = place_of_export(&service)?;
    let subject = ChangeSubject::new(SubjectKind::Recipient, id.as_str());
    Export { subject }.log(&service).await?;
    let is_shared = service.shards.cluster_view().is_some();
    let design = service.design();
    let durable = service.handle.durable()?;
    if durable.engine().recipient(&id).is_none() {
        return Err(Refused::UnknownRecipient(id).into());
    }
    let shared = is_shared.then(|| StoreView::of(&**durable.store())).transpose()?;
    let (life, patience) = (durable.life(), service.settings.backup_patience);
    let person = ExportedPerson { id, durable, shared, design: Arc::new(design) };
    let stream = streamed(life, patience, move |out| {
        serde_json::to_writer(out, &person.export()?)?;
        drop(place);
        Ok(())
    });
    let json = HeaderValue::from_static("application/json");
    Ok(([(header::CONTENT_TYPE, json)], Body::from_stream(stream)).into_response())
}
