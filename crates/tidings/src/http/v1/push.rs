//! Browsers of a recipient: their subscriptions to Web Push, which join and leave the recipient's addresses.

use std::sync::Arc;

use axum::extract::State;
use tidings_core::channel::{AddressKind, ChannelNo};
use tidings_core::engine::{Refused, Reply};
use tidings_core::{Command, Id, RecipientChange};
use utoipa_axum::routes;

use crate::body::addresses::{Browser, GonePushSubscription, PushSubscription};
use crate::http::call::{Calls, Kind};
use crate::http::error::{Code, Problem};
use crate::http::users::reader::Reader;
use crate::http::{Answer, Change, Service};

#[cfg(test)]
mod tests;

/// The number of the channel of browsers.
const WEBPUSH_NO: ChannelNo = ChannelNo(3);

/// The errors of both calls.
const BODY: &[Code] = &[
    Code::InvalidPath,
    Code::InvalidJson,
    Code::InvalidBody,
    Code::UnsupportedMediaType,
    Code::RecipientNotFound,
];

/// The calls of browsers.
pub(super) fn calls(calls: Calls) -> Calls {
    calls.add("join_push", Kind::Changes, routes!(join_push), BODY).add(
        "leave_push",
        Kind::Changes,
        routes!(leave_push),
        BODY,
    )
}

/// Add a browser of a recipient
///
/// The body is the browser's subscription to Web Push, as `JSON.stringify(subscription)` gives it. It joins the
/// recipient's addresses of the channel `webpush`; one with the same endpoint is replaced. Of more than 20 browsers the
/// oldest leaves.
#[utoipa::path(
    put, path = "/v1/recipients/{id}/push", tag = "recipients",
    params(("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256)),
    request_body = PushSubscription,
    responses((status = 204, description = "The browser is an address of the recipient"))
)]
pub(in crate::http) async fn join_push(
    State(service): State<Arc<Service>>,
    reader: Reader,
    change: Change,
) -> Result<Answer, Problem> {
    let subscription = change.parse::<Browser>()?.0;
    let compared = endpoint(&subscription);
    let put = move |mut known: Vec<String>| {
        let is_same = |other: &&mut String| endpoint(other) == compared;
        match known.iter_mut().find(is_same) {
            Some(place) => place.clone_from(&subscription),
            None => known.push(subscription.clone()),
        }
        let surplus = known.len().saturating_sub(AddressKind::WebPush.most());
        Some(known.split_off(surplus))
    };
    set(&service, reader.recipient, &change, put).await
}

/// Remove a browser of a recipient
///
/// The body is the browser's subscription to Web Push; its `endpoint` is enough. One that is no address of the recipient
/// is not an error.
#[utoipa::path(
    delete, path = "/v1/recipients/{id}/push", tag = "recipients",
    params(("id" = String, Path, description = "Recipient id", example = "ada", min_length = 1, max_length = 256)),
    request_body = GonePushSubscription,
    responses((status = 204, description = "The browser is no address of the recipient"))
)]
pub(in crate::http) async fn leave_push(
    State(service): State<Arc<Service>>,
    reader: Reader,
    change: Change,
) -> Result<Answer, Problem> {
    let gone = change.parse::<GonePushSubscription>()?;
    let without = move |mut known: Vec<String>| {
        let before = known.len();
        known.retain(|other| endpoint(other) != gone.endpoint);
        (known.len() < before).then_some(known)
    };
    set(&service, reader.recipient, &change, without).await
}

/// The address of a browser's push service, by which it is known.
fn endpoint(subscription: &str) -> String {
    AddressKind::WebPush.compared(subscription)
}

/// Changes the browsers of a recipient, one request after the other: each keeps those of the others. `None` changes
/// nothing.
async fn set(
    service: &Service,
    recipient: Id,
    change: &Change,
    changed: impl FnOnce(Vec<String>) -> Option<Vec<String>>,
) -> Result<Answer, Problem> {
    let _turn = service.browsers.lock().await;
    let id = recipient.clone();
    let known = service.look(move |node| {
        let profile = node.engine().recipient(&id)?;
        Some(profile.addresses.of(WEBPUSH_NO).map(str::to_owned).collect::<Vec<_>>())
    });
    let unknown = || Refused::UnknownRecipient(recipient.clone());
    let known = known.await?.ok_or_else(unknown)?;
    let profile = changed(known).map(|browsers| RecipientChange {
        addresses: [(WEBPUSH_NO, browsers)].into(),
        ..RecipientChange::nothing(recipient)
    });
    let commands = profile.map(|profile| Command::Recipient(Box::new(profile)));
    let done = |replies: Vec<Result<Reply, Problem>>| {
        replies.into_iter().collect::<Result<Vec<_>, _>>().map(|_| Answer::done())
    };
    service.change(change, commands.into_iter().collect(), done).await
}
