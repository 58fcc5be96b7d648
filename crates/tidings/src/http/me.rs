//! The calls of end users, under `/v1/me`: their routes, and the scope that each needs.
//!
//! Each is the handler of its twin at `/v1/recipients/{id}`. Who reads is said by a token here, and by the path there
//! (`Reader`).

#[cfg(test)]
mod tests;

use utoipa_axum::routes;

use super::call::{Calls, Kind};
use super::error::Code;
use super::v1::inbox::marks;
use super::v1::{inbox, preferences, push, subscriptions, waiting};
use crate::token::Scope;

/// The errors of a body.
const BODY: &[Code] =
    &[Code::InvalidJson, Code::InvalidBody, Code::UnsupportedMediaType, Code::RecipientNotFound];

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
    let reads = |scope| (scope, Kind::Looks);
    let changes = |scope| (scope, Kind::Changes);
    calls
        .mine("my_inbox", reads(Scope::INBOX_READ), routes!(inbox::inbox), &[Code::InvalidQuery])
        .mine("my_inbox_counts", reads(Scope::INBOX_READ), routes!(inbox::counts), &[])
        .mine("mark_mine_seen", changes(Scope::INBOX), routes!(marks::mark_seen), BODY)
        .mine("mark_mine_read", changes(Scope::INBOX), routes!(marks::mark_read), BODY)
        .mine("mark_mine_unread", changes(Scope::INBOX), routes!(marks::mark_unread), BODY)
        .mine("archive_mine", changes(Scope::INBOX), routes!(marks::archive), BODY)
        .mine("unarchive_mine", changes(Scope::INBOX), routes!(marks::unarchive), BODY)
        .mine("snooze_mine", changes(Scope::INBOX), routes!(marks::snooze), BODY)
        .mine("unsnooze_mine", changes(Scope::INBOX), routes!(marks::unsnooze), BODY)
        .mine("delete_my_items", changes(Scope::INBOX), routes!(marks::delete_items), BODY)
        .mine("my_pending", reads(Scope::INBOX_READ), routes!(waiting::pending), &[])
        .mine(
            "flush_mine",
            changes(Scope::INBOX),
            routes!(waiting::flush),
            &[
                Code::InvalidJson,
                Code::InvalidBody,
                Code::UnsupportedMediaType,
                Code::RecipientNotFound,
                Code::UnknownChannel,
            ],
        )
        .mine(
            "my_preferences",
            reads(Scope::PREFERENCES),
            routes!(preferences::get_preferences),
            &[Code::InvalidQuery],
        )
        .mine(
            "patch_my_preferences",
            changes(Scope::PREFERENCES),
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
            ],
        )
        .mine(
            "my_subscriptions",
            reads(Scope::SUBSCRIPTIONS),
            routes!(subscriptions::list_subscriptions),
            &[],
        )
        .mine("follow_mine", changes(Scope::SUBSCRIPTIONS), routes!(subscriptions::follow), FOLLOW)
        .mine(
            "unfollow_mine",
            changes(Scope::SUBSCRIPTIONS),
            routes!(subscriptions::unfollow),
            TOPIC,
        )
        .mine("join_my_push", changes(Scope::PUSH), routes!(push::join_push), BODY)
        .mine("leave_my_push", changes(Scope::PUSH), routes!(push::leave_push), BODY)
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
