//! Recipients: profiles.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use tidings_api::body::addresses;
use tidings_api::body::quiet;
use tidings_api::body::recipient::{ProfileChange, StateWord};
use tidings_core::engine::{Refused, TenantDirectory};
use tidings_core::model::{Data, EMAIL_NO};
use tidings_core::{Id, Recipient};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{PartialSchema, ToSchema};
use utoipa_axum::routes;

use super::schema::with_id;
use crate::call::Calls;
use crate::error::Problem;
use crate::request::InPath;
use crate::request::array::{self, ItemAnswer};
use crate::request::lines::{BulkLinesQuery, Each, LineAnswer};
use crate::request::query::InQuery;
use crate::{Answer, Change, Service};

/// The calls of recipients.
pub(super) fn calls(calls: Calls) -> Calls {
    calls
        .add("put_recipient", routes!(put_recipient))
        .add("patch_recipient", routes!(patch_recipient))
        .add("get_recipient", routes!(get_recipient))
        .add("change_recipients", routes!(change_recipients))
}

/// A recipient's profile.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"id": "ada", "name": "Ada", "email": "ada@example.org", "addresses": {"email": "ada@example.org", "sms": "+33612345678"}, "tz": "Europe/Paris", "locale": "fr", "lat": 48.8566, "lon": 2.3522, "state": "active", "data": {"plan": "gold"}, "quiet_hours": "default"}))]
pub(super) struct RecipientProfile {
    /// Id of the recipient.
    #[schema(min_length = 1, max_length = 256)]
    id: String,
    /// Name to show.
    name: Option<String>,
    /// Address of the e-mail channel.
    email: Option<String>,
    /// Addresses by channel, that of the e-mail channel included.
    addresses: addresses::ShownAddresses,
    /// IANA time zone; null = the configuration's default.
    tz: Option<String>,
    /// BCP 47 locale; null = the configuration's default.
    locale: Option<String>,
    /// Latitude, in degrees north.
    #[schema(minimum = -90, maximum = 90)]
    lat: Option<f64>,
    /// Longitude, in degrees east.
    #[schema(minimum = -180, maximum = 180)]
    lon: Option<f64>,
    /// The state, which decides whether messages are sent.
    state: StateWord,
    /// Data of the host.
    #[schema(value_type = Option<std::collections::BTreeMap<String, serde_json::Value>>)]
    data: Option<Data>,
    /// Quiet hours: null = none, `default` = those of each channel.
    quiet_hours: Option<quiet::QuietHoursShown>,
    /// The tenants of which the recipient is a member, sorted by the bytes of their ids; absent = none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>, required = false)]
    tenants: Vec<Id>,
}

/// A change of a profile that names its recipient.
struct NamedRecipient;

impl PartialSchema for NamedRecipient {
    fn schema() -> RefOr<Schema> {
        let about = "A change of a profile, with the recipient's id. Fields that are left out keep their value.";
        with_id::<ProfileChange>(about, "ada")
    }
}

impl ToSchema for NamedRecipient {}

impl RecipientProfile {
    /// The profile of a recipient, without their tenants; `directory` knows those of their addresses.
    pub(super) fn of(recipient: &Recipient, directory: TenantDirectory<'_>) -> Self {
        let (lat, lon) = recipient.place.unzip();
        Self {
            id: recipient.id.as_str().to_owned(),
            name: recipient.name.clone(),
            email: recipient.addresses.get(EMAIL_NO).map(str::to_owned),
            addresses: addresses::ShownAddresses::of(&recipient.addresses, directory),
            tz: recipient.tz.clone(),
            locale: recipient.locale.clone(),
            lat,
            lon,
            state: recipient.state.into(),
            data: recipient.data.clone(),
            quiet_hours: quiet::QuietHoursShown::of(recipient.quiet_hours.as_deref()),
            tenants: Vec::new(),
        }
    }

    /// The same with the tenants of which the recipient is a member.
    pub(super) fn with_tenants(self, tenants: Vec<Id>) -> Self {
        Self { tenants, ..self }
    }
}

/// Put a recipient's whole profile
///
/// Creates or replaces the recipient. Absent fields get their default. A profile from `GET` can be put back unchanged.
#[utoipa::path(
    put, path = "/v1/recipients/{id}", tag = "recipients",
    params(("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256)),
    request_body = ProfileChange,
    responses((status = 204, description = "The profile is saved"))
)]
async fn put_recipient(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    let command = change.parse::<ProfileChange>()?.whole(id)?;
    service.done(&change, command).await
}

/// Change a recipient's profile
///
/// Creates the recipient if it is unknown. Changes the given fields only; null removes a value.
#[utoipa::path(
    patch, path = "/v1/recipients/{id}", tag = "recipients",
    params(("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256)),
    request_body = ProfileChange,
    responses((status = 204, description = "The profile is changed"))
)]
async fn patch_recipient(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
    change: Change,
) -> Result<Answer, Problem> {
    let command = change.parse::<ProfileChange>()?.command(Some(id))?;
    service.done(&change, command).await
}

/// Get a recipient's profile
///
/// Returns the profile. Every field but `tenants` is present; null = the default of the configuration applies.
#[utoipa::path(
    get, path = "/v1/recipients/{id}", tag = "recipients",
    params(("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256)),
    responses((status = 200, description = "The profile", body = RecipientProfile))
)]
async fn get_recipient(
    State(service): State<Arc<Service>>,
    InPath(id): InPath<Id>,
) -> Result<Answer, Problem> {
    let wanted = id.clone();
    let profile = service
        .look(move |node| {
            let directory = TenantDirectory::of(node.engine());
            let profile = RecipientProfile::of(node.engine().recipient(&wanted)?, directory);
            Some(profile.with_tenants(directory.tenants_of(&wanted).ok()?))
        })
        .await?;
    match profile {
        Some(profile) => Answer::json(StatusCode::OK, &profile),
        None => Err(Refused::UnknownRecipient(id).into()),
    }
}

/// Create or change many recipients
///
/// Takes an array of at most 10,000 profiles, or a stream of any length with one per line. Creates unknown recipients,
/// and changes the given fields only. Each item is accepted or rejected by itself; the answers are in order.
#[utoipa::path(
    post, path = "/v1/recipients", tag = "recipients",
    params(BulkLinesQuery),
    request_body(content(
        (Vec<NamedRecipient> = "application/json", example = json!([{"id": "ada", "email": "ada@example.org", "tz": "Europe/Paris"}, {"id": "bob"}])),
        (NamedRecipient = "application/x-ndjson"),
    )),
    responses((status = 200, description = "The result of each item", content(
        (Vec<ItemAnswer> = "application/json", example = json!([{"status": "done"}, {"status": "done"}])),
        (LineAnswer = "application/x-ndjson", example = json!({"line": 1, "status": "done"})))))
)]
async fn change_recipients(
    State(service): State<Arc<Service>>,
    InQuery(wanted): InQuery<BulkLinesQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let each = Each::new(|_, fields| Ok(fields.body::<ProfileChange>()?.command(None)?));
    array::many(service, request, wanted, each).await
}
