//! The recipients of a bucket: profiles, followings, preferences, mutes, marks.

pub(super) mod clocks;
pub(super) mod column;
pub(super) mod counted;
pub(super) mod covering;
pub(super) mod digest_times;
pub(super) mod followers;
pub(super) mod inbox_item_states;
pub(super) mod marks;
pub(super) mod members;
pub(super) mod mutes;
pub(super) mod newest;
pub(super) mod preferences;
pub(super) mod roster;
pub(super) mod tenant_choices;
pub(super) mod values;
