//! Chats: by a bot, or by webhooks that the chat gives.

pub(crate) mod discord;
pub(crate) mod slack;
pub(crate) mod teams;
pub(crate) mod telegram;
