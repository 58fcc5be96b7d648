//! Browsers of a recipient: their Web Push subscriptions, which join and leave the recipient's addresses.

use std::sync::Arc;

use axum::extract::State;
use tidings_api::body::addresses::{
    GonePushSubscription, PushSubscription, StoredBrowserSubscription,
};
use tidings_core::Command;
use tidings_core::model::{ChannelNo, GivenAddress};
use utoipa_axum::routes;

use crate::call::Calls;
use crate::error::Problem;
use crate::request::query::InQuery;
use crate::request::reader::{InboxReader, TenantAlone};
use crate::{Answer, Change, Service};

#[cfg(test)]
mod tests;

/// The number of the channel of browsers.
const WEBPUSH_NO: ChannelNo = ChannelNo(3);

/// The calls of browsers.
pub(super) fn calls(calls: Calls) -> Calls {
    calls.add("join_push", routes!(join_push)).add("leave_push", routes!(leave_push))
}

/// Add a browser of a recipient
///
/// Adds the browser's Web Push subscription, the result of `JSON.stringify(subscription)`, to the recipient's addresses
/// of the channel `webpush`. With a token of a tenant it gets the messages of that tenant and those without one, else
/// all messages. Replaces a subscription with the same endpoint and tenant. Beyond 20 browsers for a tenant, or for all
/// tenants, the oldest of them is removed, and beyond 40 in all the recipient's oldest.
#[utoipa::path(
    put, path = "/v1/recipients/{id}/push", tag = "recipients",
    params(
        ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
        ("tenant" = Option<String>, Query, description = "Subscribe to messages of this tenant and those without a tenant, as with a token with this claim", min_length = 1, max_length = 256),
    ),
    request_body = PushSubscription,
    responses((status = 204, description = "The browser is an address of the recipient"))
)]
pub(crate) async fn join_push(
    State(service): State<Arc<Service>>,
    reader: InboxReader,
    _: InQuery<TenantAlone>,
    change: Change,
) -> Result<Answer, Problem> {
    let StoredBrowserSubscription(subscription) = change.parse()?;
    service.done(&change, device(&reader, subscription, true)).await
}

/// Remove a browser of a recipient
///
/// Removes the browser's Web Push subscription, of which `endpoint` is enough. A subscription for another tenant than
/// that of the token, or for all tenants, stays; a token without a tenant removes it for all. An unknown subscription
/// is not an error.
#[utoipa::path(
    delete, path = "/v1/recipients/{id}/push", tag = "recipients",
    params(
        ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
        ("tenant" = Option<String>, Query, description = "Only the subscription for this tenant, as with a token with this claim", min_length = 1, max_length = 256),
    ),
    request_body = GonePushSubscription,
    responses((status = 204, description = "The browser is no address of the recipient"))
)]
pub(crate) async fn leave_push(
    State(service): State<Arc<Service>>,
    reader: InboxReader,
    _: InQuery<TenantAlone>,
    change: Change,
) -> Result<Answer, Problem> {
    let GonePushSubscription { endpoint } = change.parse()?;
    service.done(&change, device(&reader, endpoint, false)).await
}

/// The command that adds or removes a browser, for the tenant of the token if that has one.
fn device(reader: &InboxReader, text: String, joins: bool) -> Command {
    Command::Device {
        recipient: reader.recipient.clone(),
        channel: WEBPUSH_NO,
        address: GivenAddress { text, tenant: reader.view().tenant().cloned() },
        joins,
    }
}
