//! The calls of end users, under `/v1/me`: their routes, and the scope that each needs.
//!
//! Each is the handler of its twin at `/v1/recipients/{id}`. The reader comes from a token here, and from the path
//! there (`Reader`).

#[cfg(test)]
mod tests;

use utoipa_axum::routes;

use super::call::Calls;
use super::v1::inbox::{live, marks};
use super::v1::{inbox, preferences, push, subscriptions, waiting};

/// The calls.
pub(super) fn calls(calls: Calls) -> Calls {
    calls
        .mine("my_inbox", routes!(inbox::inbox))
        .mine("my_live", routes!(live::live))
        .mine("my_inbox_counts", routes!(inbox::counts))
        .mine("mark_mine_seen", routes!(marks::mark_seen))
        .mine("mark_mine_read", routes!(marks::mark_read))
        .mine("mark_mine_unread", routes!(marks::mark_unread))
        .mine("archive_mine", routes!(marks::archive))
        .mine("unarchive_mine", routes!(marks::unarchive))
        .mine("snooze_mine", routes!(marks::snooze))
        .mine("unsnooze_mine", routes!(marks::unsnooze))
        .mine("delete_my_items", routes!(marks::delete_items))
        .mine("my_pending", routes!(waiting::pending))
        .mine("flush_mine", routes!(waiting::flush))
        .mine("my_preferences", routes!(preferences::get_preferences))
        .mine("patch_my_preferences", routes!(preferences::patch_preferences))
        .mine("my_subscriptions", routes!(subscriptions::list_subscriptions))
        .mine("follow_mine", routes!(subscriptions::follow))
        .mine("unfollow_mine", routes!(subscriptions::unfollow))
        .mine("join_my_push", routes!(push::join_push))
        .mine("leave_my_push", routes!(push::leave_push))
}
