//! The quiet hours in force, so that a page of preferences can say why a message waits.
//!
//! A recipient sets `quiet_hours`; where they are `default`, the tenant's and the channel's hours hold.

use serde::Serialize;
use tidings_core::model::{ChannelKind, OwnHours, Tenant, sending_channels};
use tidings_core::rules::QuietHours;
use tidings_core::{Recipient, Rules};
use utoipa::ToSchema;

use tidings_api::body::quiet::Hours;

/// Quiet hours in force on a channel.
#[derive(Serialize, ToSchema)]
#[schema(as = QuietHoursInForce)]
pub(super) struct InForce {
    /// The channel.
    channel: &'static str,
    /// The hours, by the wall clock of `tz`.
    hours: Hours,
    /// Their source: the `recipient`, the `tenant`, or the configuration of the `channel`.
    set_by: SetBy,
}

/// The source of quiet hours.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = QuietHoursSetBy)]
enum SetBy {
    Recipient,
    Tenant,
    Channel,
}

/// The quiet hours in force on the channels that types have, without those on which there are none.
pub(super) fn in_force(
    rules: &Rules,
    recipient: Option<&Recipient>,
    tenant: Option<&Tenant>,
) -> Vec<InForce> {
    let own = recipient.and_then(|of| of.quiet_hours.as_deref());
    let of_tenant = tenant.and_then(|of| of.quiet_hours.as_deref());
    let used = |kind: &&ChannelKind| {
        rules.types.values().any(|of_type| of_type.channels.contains_key(kind.name))
    };
    let channels = sending_channels().filter(used);
    let hours = channels.filter_map(|kind| {
        let of_channel = || rules.channels.get(kind.name).and_then(|of| of.quiet_hours);
        let speaks = |of: &&OwnHours| {
            of.channels.as_ref().is_none_or(|channels| channels.contains(&kind.number))
        };
        let (hours, set_by): (Option<QuietHours>, _) =
            match (own.filter(speaks), of_tenant.filter(speaks)) {
                (Some(own), _) => (own.hours, SetBy::Recipient),
                (None, Some(of_tenant)) => (of_tenant.hours, SetBy::Tenant),
                (None, None) => (of_channel(), SetBy::Channel),
            };
        Some(InForce { channel: kind.name, hours: Hours::of(&hours?), set_by })
    });
    hours.collect()
}
