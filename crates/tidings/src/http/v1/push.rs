//! Browsers of a recipient: their subscriptions to Web Push, which join and leave the recipient's addresses.

use std::sync::Arc;

use axum::extract::State;
use tidings_core::Command;
use tidings_core::channel::ChannelNo;
use tidings_core::recipient::GivenAddress;
use utoipa_axum::routes;

use crate::body::addresses::{Browser, GonePushSubscription, PushSubscription};
use crate::http::call::Calls;
use crate::http::error::Problem;
use crate::http::request::query::InQuery;
use crate::http::users::reader::{Reader, TenantAlone};
use crate::http::{Answer, Change, Service};

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
/// The body is the browser's subscription to Web Push, as `JSON.stringify(subscription)` gives it. It joins the
/// recipient's addresses of the channel `webpush`, for messages of the tenant of the token and of none, or of all where
/// the token has no tenant; one with the same endpoint and tenant is replaced. Of more than 20 browsers of a tenant, or of
/// all, the oldest of them leaves, and of more than 40 in all the oldest of the recipient.
#[utoipa::path(
    put, path = "/v1/recipients/{id}/push", tag = "recipients",
    params(
        ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
        ("tenant" = Option<String>, Query, description = "For messages of this tenant and of none, as with a token with this claim", min_length = 1, max_length = 256),
    ),
    request_body = PushSubscription,
    responses((status = 204, description = "The browser is an address of the recipient"))
)]
pub(in crate::http) async fn join_push(
    State(service): State<Arc<Service>>,
    reader: Reader,
    _: InQuery<TenantAlone>,
    change: Change,
) -> Result<Answer, Problem> {
    let Browser(subscription) = change.parse()?;
    service.done(&change, device(&reader, subscription, true)).await
}

/// Remove a browser of a recipient
///
/// The body is the browser's subscription to Web Push; its `endpoint` is enough. One that joined for another tenant than
/// that of the token, or for all, stays; a token without a tenant removes it for all. One that is no address of the
/// recipient is not an error.
#[utoipa::path(
    delete, path = "/v1/recipients/{id}/push", tag = "recipients",
    params(
        ("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256),
        ("tenant" = Option<String>, Query, description = "Only as it joined for this tenant, as with a token with this claim", min_length = 1, max_length = 256),
    ),
    request_body = GonePushSubscription,
    responses((status = 204, description = "The browser is no address of the recipient"))
)]
pub(in crate::http) async fn leave_push(
    State(service): State<Arc<Service>>,
    reader: Reader,
    _: InQuery<TenantAlone>,
    change: Change,
) -> Result<Answer, Problem> {
    let GonePushSubscription { endpoint } = change.parse()?;
    service.done(&change, device(&reader, endpoint, false)).await
}

/// The command with which a browser joins or leaves. It joins for the tenant of the token, if that has one.
fn device(reader: &Reader, text: String, joins: bool) -> Command {
    Command::Device {
        recipient: reader.recipient.clone(),
        channel: WEBPUSH_NO,
        address: GivenAddress { text, tenant: reader.view().tenant().cloned() },
        joins,
    }
}
