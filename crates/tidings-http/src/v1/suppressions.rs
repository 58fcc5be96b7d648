//! The list of suppressed addresses.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use tidings_api::body::About;
use tidings_api::body::suppression::{self, SuppressionBody, SuppressionReason};
use tidings_core::engine::{Positioned, SuppressedAddress, SuppressionFilter};
use tidings_core::model::{
    ChannelAddress, ChannelNo, EMAIL_NO, SuppressedFor, Suppression, channel_no,
};
use tidings_core::{Command, Id, Instant, Rules};
use utoipa::ToSchema;
use utoipa_axum::routes;

use crate::call::Calls;
use crate::error::{Code, Problem};
use crate::request::InPath;
use crate::request::list::{ListFilter, ListPageQuery, ListQuery, PageBounds, page_body};
use crate::request::query::Parameters;
use crate::{Answer, Change, Service};

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
    /// Only addresses that this recipient has now.
    #[param(value_type = Option<String>, min_length = 1, max_length = 256)]
    recipient: Option<Id>,
    /// Only addresses that are suppressed for this reason.
    #[param(value_type = Option<SuppressionReason>)]
    reason: Option<SuppressedFor>,
    /// Only addresses that are suppressed since this time or a later one.
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Instant>,
}

impl ListFilter for SuppressionsQuery {
    const KNOWN: &'static [&'static str] = &["channel", "recipient", "reason", "since"];

    fn read(query: &Parameters, rules: &Rules) -> Result<Self, Problem> {
        let reasons = SuppressedFor::ALL.map(|reason| (reason.word(), reason));
        Ok(Self {
            channel: query.sending_channel("channel", rules)?,
            recipient: query.id("recipient")?,
            reason: query.word("reason", &reasons)?,
            since: query.instant("since")?,
        })
    }
}

/// A suppressed address.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(as = SuppressedAddress, example = json!({"channel": "email", "address": "ada@example.org", "reason": "bounce", "since": "2024-03-07T08:03:00Z", "expires_at": null}))]
pub(super) struct SuppressionShown {
    /// The channel.
    #[schema(value_type = String)]
    channel: Cow<'static, str>,
    /// The address in the form in which addresses are compared: that of an e-mail in small letters, the endpoint of a
    /// Web Push subscription.
    address: String,
    /// The reason.
    #[schema(value_type = SuppressionReason)]
    reason: Cow<'static, str>,
    /// Time since which it is suppressed.
    #[schema(format = "date-time")]
    since: String,
    /// Time at which the suppression ends; null = never.
    #[schema(format = "date-time")]
    expires_at: Option<String>,
}

impl SuppressionShown {
    pub(super) fn of(address: &ChannelAddress, suppression: &Suppression) -> Self {
        Self {
            channel: address.channel().name().into(),
            address: address.address().to_owned(),
            reason: suppression.reason.word().into(),
            since: suppression.since.to_string(),
            expires_at: suppression.until.map(|until| until.to_string()),
        }
    }
}

impl Positioned for SuppressionShown {
    type Position = ChannelAddress;

    fn position(&self) -> ChannelAddress {
        let channel = channel_no(&self.channel).unwrap_or(EMAIL_NO);
        ChannelAddress::new(channel, &self.address)
    }
}

page_body! {
    /// A page of suppressed addresses, by channel and address.
    #[schema(example = json!({"suppressions": [{"channel": "email", "address": "ada@example.org", "reason": "bounce", "since": "2024-03-07T08:03:00Z", "expires_at": null}], "next": null}))]
    SuppressionPage {
        /// The addresses.
        suppressions: SuppressionShown
    }
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
    params(SuppressionsQuery, ListQuery),
    responses((status = 200, description = "A page of addresses", body = SuppressionPage))
)]
async fn list_suppressions(
    State(service): State<Arc<Service>>,
    ListPageQuery { filter, pages }: ListPageQuery<SuppressionsQuery, ChannelAddress>,
) -> Result<Answer, Problem> {
    if let Some(recipient) = &filter.recipient {
        service.shards.at_home(recipient)?;
    }
    let SuppressionsQuery { channel, recipient, reason, since } = filter;
    let filter = SuppressionFilter { channel, recipient, reason, since };
    let PageBounds { after, most, .. } = pages.clone();
    let page = service
        .look(move |node| {
            node.engine().reader(node.view()).suppressions(&filter, after.as_ref(), most)
        })
        .await?;
    let shown = |of: SuppressedAddress| SuppressionShown::of(&of.address, &of.suppression);
    pages.answer::<SuppressionPage>(page.map(shown))
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
    responses((status = 200, description = "The address is suppressed", body = SuppressionShown))
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
    Answer::json(StatusCode::OK, &SuppressionShown::of(&address, &found))
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
