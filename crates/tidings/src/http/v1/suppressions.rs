//! The list of suppressed addresses.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use tidings_core::Command;
use tidings_core::channel::{ChannelNo, sending};
use tidings_core::suppression::{ChannelAddress, Suppression};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::body::About;
use crate::body::suppression::{self, SuppressionBody, SuppressionReason};
use crate::http::call::Calls;
use crate::http::error::{Code, Problem};
use crate::http::request::InPath;
use crate::http::request::query::{FromQuery, InQuery, Parameters};
use crate::http::{Answer, Change, Service};

/// Default number of addresses of a page.
const ADDRESSES_USUAL: u16 = 100;
/// Maximum number of addresses of a page.
const ADDRESSES_MAX: u16 = 1_000;

/// The calls of suppressed addresses.
pub(super) fn calls(calls: Calls) -> Calls {
    calls
        .add("list_suppressions", routes!(list_suppressions))
        .add("get_suppression", routes!(get_suppression))
        .add("suppress", routes!(suppress))
        .add("unsuppress", routes!(unsuppress))
}

/// The choice of suppressed addresses.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
struct SuppressionsQuery {
    /// Only addresses of this channel.
    #[param(value_type = Option<String>)]
    channel: Option<ChannelNo>,
    /// Maximum number of addresses; 100 if absent.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u16>,
    /// Start of the page: `next` of the previous page.
    #[param(value_type = Option<String>)]
    cursor: Option<ChannelAddress>,
}

impl FromQuery for SuppressionsQuery {
    const KNOWN: &'static [&'static str] = &["channel", "limit", "cursor"];

    fn read(query: &Parameters) -> Result<Self, Problem> {
        let channels: Vec<_> = sending().map(|channel| (channel.name, channel.number)).collect();
        Ok(Self {
            channel: query.word("channel", &channels)?,
            limit: query.whole_number("limit", 1..=ADDRESSES_MAX)?,
            cursor: query.parsed("cursor", str::parse, "what a page gave as `next`")?,
        })
    }
}

/// A suppressed address.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"channel": "email", "address": "ada@example.org", "reason": "bounce", "since": "2024-03-07T08:03:00Z", "expires_at": null}))]
struct SuppressedAddress {
    /// The channel.
    channel: &'static str,
    /// The address in the form in which addresses are compared: that of an e-mail in small letters, the endpoint of a
    /// Web Push subscription.
    address: String,
    /// The reason.
    #[schema(value_type = SuppressionReason)]
    reason: &'static str,
    /// Time since which it is suppressed.
    #[schema(format = "date-time")]
    since: String,
    /// Time at which the suppression ends; null = never.
    #[schema(format = "date-time")]
    expires_at: Option<String>,
}

impl SuppressedAddress {
    fn of(address: &ChannelAddress, suppression: &Suppression) -> Self {
        Self {
            channel: address.channel().name(),
            address: address.address().to_owned(),
            reason: suppression.reason.word(),
            since: suppression.since.to_string(),
            expires_at: suppression.until.map(|until| until.to_string()),
        }
    }
}

/// A page of suppressed addresses, by channel and address.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"suppressions": [{"channel": "email", "address": "ada@example.org", "reason": "bounce", "since": "2024-03-07T08:03:00Z", "expires_at": null}], "next": null}))]
struct SuppressionPage {
    /// The addresses.
    suppressions: Vec<SuppressedAddress>,
    /// The next page's cursor; null = this is the last.
    #[schema(required)]
    next: Option<String>,
}

/// The address that a path names.
fn named((channel, address): &(String, String)) -> Result<ChannelAddress, Problem> {
    suppression::address(channel, address).map_err(|fault| {
        let code = match fault.about {
            About::UnknownChannel => Code::ChannelNotFound,
            _ => Code::InvalidPath,
        };
        Problem::new(code, fault.reason).hint(fault.hint)
    })
}

/// List suppressed addresses
///
/// Returns the suppressed addresses, sorted by channel and address, without those whose suppression has expired.
#[utoipa::path(
    get, path = "/v1/suppressions", tag = "suppressions",
    params(SuppressionsQuery),
    responses((status = 200, description = "A page of addresses", body = SuppressionPage))
)]
async fn list_suppressions(
    State(service): State<Arc<Service>>,
    InQuery(query): InQuery<SuppressionsQuery>,
) -> Result<Answer, Problem> {
    let most = usize::from(query.limit.unwrap_or(ADDRESSES_USUAL));
    let page = service
        .look(move |node| {
            let all = node.engine().reader(node.view());
            let mut all = all.suppressions(query.channel, query.cursor.as_ref());
            let page: Vec<_> = all.by_ref().take(most).collect();
            let next = page.last().filter(|_| all.next().is_some());
            SuppressionPage {
                next: next.map(|(address, _)| address.to_string()),
                suppressions: page
                    .iter()
                    .map(|(address, suppression)| SuppressedAddress::of(address, suppression))
                    .collect(),
            }
        })
        .await?;
    Answer::json(StatusCode::OK, &page)
}

/// Get a suppressed address
///
/// Returns the reason, the beginning and the end of a suppression.
#[utoipa::path(
    get, path = "/v1/suppressions/{channel}/{address}", tag = "suppressions",
    params(
        ("channel" = String, Path, description = "Channel", example = "email"),
        ("address" = String, Path, description = "Address on the channel", example = "ada@example.org"),
    ),
    responses((status = 200, description = "The address is suppressed", body = SuppressedAddress))
)]
async fn get_suppression(
    State(service): State<Arc<Service>>,
    InPath(path): InPath<(String, String)>,
) -> Result<Answer, Problem> {
    let address = named(&path)?;
    let of = address.clone();
    let found = service
        .look(move |node| node.engine().reader(node.view()).suppression(&of))
        .await?
        .ok_or_else(|| {
            let detail = "the address is not suppressed on this channel";
            Problem::new(Code::SuppressionNotFound, detail)
        })?;
    Answer::json(StatusCode::OK, &SuppressedAddress::of(&address, &found))
}

/// Suppress an address
///
/// Stops all messages to the address on this channel, whichever recipient has it: due notifications end as `skipped`,
/// with the reason `suppressed`. Replaces an earlier suppression of the address. The body is optional.
#[utoipa::path(
    put, path = "/v1/suppressions/{channel}/{address}", tag = "suppressions",
    params(
        ("channel" = String, Path, description = "Channel", example = "email"),
        ("address" = String, Path, description = "Address on the channel", example = "ada@example.org"),
    ),
    request_body(
        content = Option<SuppressionBody>,
        example = json!({"reason": "complaint", "expires_at": "2024-06-01T00:00:00Z"}),
    ),
    responses((status = 204, description = "The address is suppressed"))
)]
async fn suppress(
    State(service): State<Arc<Service>>,
    InPath(path): InPath<(String, String)>,
    change: Change,
) -> Result<Answer, Problem> {
    let address = named(&path)?;
    let body: SuppressionBody =
        if change.body.is_empty() { SuppressionBody::default() } else { change.parse()? };
    service.done(&change, body.command(address)).await
}

/// Lift the suppression of an address
///
/// Allows messages to the address again. Skipped notifications do not come back. An address that is not suppressed is
/// not an error.
#[utoipa::path(
    delete, path = "/v1/suppressions/{channel}/{address}", tag = "suppressions",
    params(
        ("channel" = String, Path, description = "Channel", example = "email"),
        ("address" = String, Path, description = "Address on the channel", example = "ada@example.org"),
    ),
    responses((status = 204, description = "The address is not suppressed"))
)]
async fn unsuppress(
    State(service): State<Arc<Service>>,
    InPath(path): InPath<(String, String)>,
    change: Change,
) -> Result<Answer, Problem> {
    let address = named(&path)?;
    let command = Command::Unsuppress { address };
    service.done(&change, command).await
}
