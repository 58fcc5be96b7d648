//! The calls of end users, under `/v1/me`: their routes, and the scope that each needs.
//!
//! Each is the handler of its twin at `/v1/recipients/{id}`. Who reads is said by a token here, and by the path there
//! (`Reader`).

#[cfg(test)]
mod tests;

use utoipa_axum::routes;

use super::call::{Calls, Kind};
use super::error::Code;
use super::v1::inbox::{live, marks};
use super::v1::{inbox, preferences, push, subscriptions, waiting};
use crate::token::Scope;

/// The errors of asking for a tenant's view.
const VIEW: &[Code] = &[Code::InvalidQuery, Code::UnknownTenant, Code::TenantsOff];

/// The errors of a stream.
const STREAM: &[Code] =
    &[Code::InvalidQuery, Code::StreamsFull, Code::UnknownTenant, Code::TenantsOff];

/// The errors of marks, and of browsers that join or leave.
const MARKS: &[Code] = JOIN.split_at(1).1;

/// The errors of a browser that joins; the first comes of a profile that is too long, and only there.
const JOIN: &[Code] = &[
    Code::TooLarge,
    Code::InvalidQuery,
    Code::InvalidJson,
    Code::InvalidBody,
    Code::UnsupportedMediaType,
    Code::RecipientNotFound,
    Code::UnknownTenant,
    Code::TenantsOff,
];

/// The errors of following and unfollowing.
const TOPIC: &[Code] = &[
    Code::InvalidPath,
    Code::InvalidBody,
    Code::UnsupportedMediaType,
    Code::RecipientNotFound,
    Code::TopicNotOpen,
];

/// The calls.
pub(super) fn calls(calls: Calls) -> Calls {
    calls
        .mine("my_inbox", Scope::INBOX_READ, Kind::Looks, routes!(inbox::inbox), STREAM)
        .mine("my_live", Scope::INBOX_READ, Kind::Looks, routes!(live::live), STREAM)
        .mine("my_inbox_counts", Scope::INBOX_READ, Kind::Looks, routes!(inbox::counts), VIEW)
        .mine("mark_mine_seen", Scope::INBOX, Kind::Changes, routes!(marks::mark_seen), MARKS)
        .mine("mark_mine_read", Scope::INBOX, Kind::Changes, routes!(marks::mark_read), MARKS)
        .mine("mark_mine_unread", Scope::INBOX, Kind::Changes, routes!(marks::mark_unread), MARKS)
        .mine("archive_mine", Scope::INBOX, Kind::Changes, routes!(marks::archive), MARKS)
        .mine("unarchive_mine", Scope::INBOX, Kind::Changes, routes!(marks::unarchive), MARKS)
        .mine("snooze_mine", Scope::INBOX, Kind::Changes, routes!(marks::snooze), MARKS)
        .mine("unsnooze_mine", Scope::INBOX, Kind::Changes, routes!(marks::unsnooze), MARKS)
        .mine("delete_my_items", Scope::INBOX, Kind::Changes, routes!(marks::delete_items), MARKS)
        .mine("my_pending", Scope::INBOX_READ, Kind::Looks, routes!(waiting::pending), VIEW)
        .mine(
            "flush_mine",
            Scope::INBOX,
            Kind::Changes,
            routes!(waiting::flush),
            &[
                Code::InvalidQuery,
                Code::UnknownTenant,
                Code::TenantsOff,
                Code::InvalidJson,
                Code::InvalidBody,
                Code::UnsupportedMediaType,
                Code::RecipientNotFound,
                Code::UnknownChannel,
            ],
        )
        .mine(
            "my_preferences",
            Scope::PREFERENCES,
            Kind::Looks,
            routes!(preferences::get_preferences),
            &[Code::InvalidQuery],
        )
        .mine(
            "patch_my_preferences",
            Scope::PREFERENCES,
            Kind::Changes,
            routes!(preferences::patch_preferences),
            &[
                Code::InvalidJson,
                Code::InvalidBody,
                Code::UnsupportedMediaType,
                Code::RecipientNotFound,
                Code::UnknownType,
                Code::UnknownChannel,
                Code::UnknownPreference,
                Code::LimitExceeded,
                Code::TooLarge,
                Code::Busy,
            ],
        )
        .mine(
            "my_subscriptions",
            Scope::SUBSCRIPTIONS,
            Kind::Looks,
            routes!(subscriptions::list_subscriptions),
            &[],
        )
        .mine(
            "follow_mine",
            Scope::SUBSCRIPTIONS,
            Kind::Changes,
            routes!(subscriptions::follow),
            FOLLOW,
        )
        .mine(
            "unfollow_mine",
            Scope::SUBSCRIPTIONS,
            Kind::Changes,
            routes!(subscriptions::unfollow),
            TOPIC,
        )
        .mine("join_my_push", Scope::PUSH, Kind::Changes, routes!(push::join_push), JOIN)
        .mine("leave_my_push", Scope::PUSH, Kind::Changes, routes!(push::leave_push), MARKS)
}

/// The errors of following: those of unfollowing, and limits.
const FOLLOW: &[Code] = &[
    Code::InvalidPath,
    Code::InvalidBody,
    Code::UnsupportedMediaType,
    Code::RecipientNotFound,
    Code::TopicNotOpen,
    Code::LimitExceeded,
];
