//! The store's last days as a timeline, which `tidings simulate` plays under any configuration.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::{Arc, Weak};

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt as _, stream};
use serde::Serialize;
use tidings_api::body::preference::Preference;
use tidings_core::engine::{FollowedTopic, TenantDirectory};
use tidings_core::model::{ChangeSubject, SubjectKind, Tenant, View};
use tidings_core::{Day, Id, Instant};
use tidings_node::{DurableSnapshot, RuntimeError};
use utoipa_axum::routes;

use super::log::Export;
use super::recipients::RecipientProfile;
use super::tenants::{self, TenantShown};
use crate::Service;
use crate::call::Calls;
use crate::error::{Code, Problem};
use crate::request::gather::OtherShards;
use crate::request::query::{FromQuery, InQuery, Parameters};
use crate::shares::places::CallerPlace;
use crate::shares::{caller, over_share};
use crate::streaming::streamed;
use crate::v1::events::outcome::PublishedAs;

/// Default number of days of an export.
const DAYS: u16 = 7;

/// Maximum number of days of an export.
const DAYS_MAX: u16 = 3650;

/// The call that exports.
pub(super) fn calls(calls: Calls) -> Calls {
    calls.add("export", routes!(export))
}

struct ExportQuery {
    days: u16,
    tenant: Option<Id>,
}

impl FromQuery for ExportQuery {
    const KNOWN: &'static [&'static str] = &["days", "tenant"];

    fn read(query: &Parameters) -> Result<Self, Problem> {
        let days = query.whole_number("days", 1..=DAYS_MAX)?;
        let tenant = query.parsed("tenant", Id::new, "an id")?;
        Ok(Self { days: days.unwrap_or(DAYS), tenant })
    }
}

/// Export the last days as a timeline
///
/// Streams lines that `tidings simulate` plays: first all tenants, recipients, memberships, subscriptions and
/// preferences as they are now, then the events of the last days as they were accepted, today included, and last the
/// disabled tenants. Scheduled events, changes of objects, marks and cancels are not included, nor are events of
/// deleted tenants. The export of one tenant has its members by name, and its events. Two exports may run at once, one
/// for each API key. The stream ends if its reader takes less than 64 KiB a second over a minute.
#[utoipa::path(
    get, path = "/v1/export", tag = "admin",
    params(
        ("days" = Option<u16>, Query, description = "Days, today included; 7 if absent", minimum = 1, maximum = 3650),
        ("tenant" = Option<String>, Query, description = "Only data of this tenant", min_length = 1, max_length = 256),
    ),
    responses((status = 200, description = "The timeline, one JSON object per line", content((String = "application/x-ndjson", example = json!("{\"at\":\"2024-03-07T08:00:00Z\",\"op\":\"recipient\",\"id\":\"ada\"}\n")))))
)]
async fn export(
    State(service): State<Arc<Service>>,
    InQuery(query): InQuery<ExportQuery>,
    others: OtherShards,
) -> Result<Response, Problem> {
    let tenant = query.tenant;
    tenants::known_if_named(&service, tenant.as_ref()).await?;
    let permit = place_of_export(&service)?;
    let Day(today) = service.clock.now().day();
    let from = Day(today - i32::from(query.days) + 1);
    let life = service.look(DurableSnapshot::life).await?;
    let durable = service.handle.durable()?;
    let patience = service.settings.backup_patience;
    let has_intake = service.shards.cluster_view().is_none_or(|(owners, _)| owners.intake);
    // Of an export from several nodes one has the line.
    if has_intake {
        let subject = match &tenant {
            Some(tenant) => ChangeSubject::new(SubjectKind::Tenant, tenant.as_str()),
            None => ChangeSubject::all(SubjectKind::Store),
        };
        Export { subject }.log(&service).await?;
    }
    let recipients = {
        let (durable, tenant) = (Arc::clone(&durable), tenant.clone());
        streamed(Weak::clone(&life), patience, move |out| {
            if has_intake {
                write_tenants(&durable, from, tenant.as_ref(), out)?;
            }
            match &tenant {
                None => write_recipients(&durable, from, out),
                Some(tenant) => write_members(&durable, from, tenant, out),
            }
        })
    };
    let gathered = others.streams().await;
    if !gathered.missing.is_empty() {
        let missing = gathered.missing.join("`, `");
        let detail = format!("no answer from `{missing}`, whose recipients would be left out");
        return Err(Problem::new(Code::NoHolder, detail));
    }
    let of_others = stream::iter(gathered.found).flat_map(|answer| {
        let data = answer.into_body().into_data_stream();
        data.map(|chunk| chunk.map_err(io::Error::other))
    });
    // It begins only once the others are read: its reader is not to be waited for before.
    let events = stream::once(async move {
        streamed(life, patience, move |out| {
            let written = match has_intake {
                true => write_events(&durable, from, tenant.as_ref(), out)
                    .and_then(|()| write_disabled(&durable, tenant.as_ref(), out)),
                false => Ok(()),
            };
            drop((durable, permit));
            written
        })
    });
    let stream = recipients.chain(of_others).chain(events.flatten());
    let lines = HeaderValue::from_static("application/x-ndjson");
    Ok(([(header::CONTENT_TYPE, lines)], Body::from_stream(stream)).into_response())
}

/// The place of an export, until it is dropped: of a key's exports one is read at a time.
///
/// # Errors
/// The caller, or everybody, has as many as there may be.
pub(super) fn place_of_export(service: &Service) -> Result<CallerPlace, Problem> {
    service.exports.enter(caller()).map_err(|full| match full {
        RuntimeError::OverShare => over_share("exports: one is read at a time"),
        _ => Problem::new(Code::TooBusy, "two exports are being read; wait for one of them to end"),
    })
}

/// A line of a timeline.
#[derive(Serialize)]
struct TimelineLine<T> {
    at: String,
    op: &'static str,
    #[serde(flatten)]
    body: T,
}

/// The body of a `subscribe` line.
#[derive(Serialize)]
struct SubscribeBody<'f> {
    recipient: &'f str,
    topic: Id,
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant: Option<Id>,
}

/// The body of a `recipient` line of a tenant's export.
#[derive(Serialize)]
struct RecipientNameBody<'n> {
    id: &'n str,
    name: Option<&'n str>,
}

/// The body of a `member` line.
#[derive(Serialize)]
struct MembershipLine<'m> {
    tenant: Id,
    recipient: &'m str,
}

/// The body of a `tenant` line that disables it.
#[derive(Serialize)]
struct DisabledTenantBody<'t> {
    id: &'t str,
    disabled: bool,
}

/// The body of a `preference` line.
#[derive(Serialize)]
struct PreferenceLineBody<'c> {
    recipient: &'c str,
    #[serde(flatten)]
    preference: Preference,
}

/// Writes the recipients of this node's shards.
pub(crate) fn write_recipients(
    durable: &DurableSnapshot,
    from: Day,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (engine, view) = (durable.engine(), durable.view());
    // All of them are there before the first event. Memberships are lines of their own.
    let at = from.start();
    let tenants = TenantDirectory::of(engine);
    let profiles = engine.reader(view).profiles();
    for profile in &profiles {
        write_line(out, at, "recipient", RecipientProfile::of(profile, tenants))?;
    }
    for profile in &profiles {
        let recipient = profile.id.as_str();
        // Recipients are erased between steps, and this is one moment.
        let topics = engine.reader(view).following(&profile.id).map_err(odd)?;
        for tenant in tenants.tenants_of(&profile.id).map_err(odd)? {
            write_line(out, at, "member", MembershipLine { tenant, recipient })?;
        }
        for FollowedTopic { topic, tenant } in topics {
            write_line(out, at, "subscribe", SubscribeBody { recipient, topic, tenant })?;
        }
        for choice in engine.preferences(&profile.id, &View::All).map_err(odd)? {
            let preference = Preference::of(choice);
            let body = PreferenceLineBody { recipient, preference };
            write_line(out, at, "preference", body)?;
        }
    }
    Ok(())
}

/// Writes the tenants.
pub(crate) fn write_tenants(
    durable: &DurableSnapshot,
    from: Day,
    only: Option<&Id>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let tenants = TenantDirectory::of(durable.engine()).all(only);
    for known in tenants.take_while(|known| only.is_none_or(|only| only == known.id)) {
        // What was published for one that is disabled now came before.
        let tenant = Tenant { disabled: false, ..known.tenant.clone() };
        write_line(out, from.start(), "tenant", TenantShown::of(known.id, &tenant))?;
    }
    Ok(())
}

/// Writes that tenants are disabled.
pub(crate) fn write_disabled(
    durable: &DurableSnapshot,
    only: Option<&Id>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (engine, disabled) = (durable.engine(), true);
    let tenants = TenantDirectory::of(engine).all(only);
    let tenants = tenants.take_while(|known| only.is_none_or(|only| only == known.id));
    for known in tenants.filter(|known| known.tenant.disabled) {
        let id = known.id.as_str();
        write_line(out, engine.newest_step(), "tenant", DisabledTenantBody { id, disabled })?;
    }
    Ok(())
}

/// Writes the members of a tenant in this node's shards, with their subscriptions and preferences of the tenant.
fn write_members(
    durable: &DurableSnapshot,
    from: Day,
    tenant: &Id,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (engine, view) = (durable.engine(), durable.view());
    let at = from.start();
    let members = TenantDirectory::of(engine).members(tenant, None, usize::MAX).map_err(odd)?;
    for profile in &members {
        let (id, name) = (profile.id.as_str(), profile.name.as_deref());
        write_line(out, at, "recipient", RecipientNameBody { id, name })?;
        let membership = MembershipLine { tenant: tenant.clone(), recipient: id };
        write_line(out, at, "member", membership)?;
    }
    for profile in &members {
        let recipient = profile.id.as_str();
        let topics = engine.reader(view).following(&profile.id).map_err(odd)?;
        for FollowedTopic { topic, tenant: of } in topics {
            if of.as_ref() == Some(tenant) {
                write_line(out, at, "subscribe", SubscribeBody { recipient, topic, tenant: of })?;
            }
        }
        let own = View::Only(tenant.clone());
        for choice in engine.preferences(&profile.id, &own).map_err(odd)? {
            let body = PreferenceLineBody { recipient, preference: Preference::of(choice) };
            write_line(out, at, "preference", body)?;
        }
    }
    Ok(())
}

/// Writes the events, or those of one tenant.
pub(crate) fn write_events(
    durable: &DurableSnapshot,
    from: Day,
    only: Option<&Id>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (engine, view) = (durable.engine(), durable.view());
    let tenants = TenantDirectory::of(engine);
    // A tenant that was made anew is another one.
    let is_there = |id: &Id, at| tenants.get(id).is_some_and(|known| known.made <= at);
    let mut written = Ok(());
    let read = engine.reader(view).each_event(from, &mut |at, event| {
        let of = event.tenant.as_ref();
        if of.is_some_and(|id| !is_there(id, at)) || only.is_some() && only != of {
            return ControlFlow::Continue(());
        }
        written = write_line(out, at, "publish", PublishedAs::from(event));
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    });
    read.map_err(odd).and(written)
}

fn write_line<T: Serialize>(
    out: &mut dyn Write,
    at: Instant,
    op: &'static str,
    body: T,
) -> io::Result<()> {
    let line = TimelineLine { at: at.to_string(), op, body };
    serde_json::to_writer(&mut *out, &line)?;
    out.write_all(b"\n")
}

fn odd(fault: impl std::fmt::Display) -> io::Error {
    io::Error::other(fault.to_string())
}
