#![doc = include_str!("../README.md")]

mod client;
mod error;
mod generated;
mod import;
mod live;
mod patch;
mod request;
mod retry;
mod stream;
mod token;
mod transport;
mod values;
mod webhook;

pub use client::{Builder, Client};
pub use error::Problem;
pub use generated::error::{API_VERSION, Error};
pub use import::{Import, Imported};
pub use live::{Hello, InboxChange, LiveEnd, LiveEvent};
pub use patch::Patch;
pub use request::{Call, Request};
pub use stream::ItemStream;
pub use token::SigningKey;
pub use values::OneOrMany;
pub use webhook::{Hook, Webhook, WebhookError};

/// The calls by their subject, each reached by a method of [`Client`]; and their queries.
pub mod api {
    pub use crate::generated::api::*;
}

/// Bodies and answers of calls.
///
/// Types of requests are made by `new` and changed by methods. Types of answers keep fields that this client does not
/// know in `extra`. Instants are texts as RFC 3339 has them. Where both ways have a type of one name, that of answers ends
/// in `Out`.
pub mod types {
    pub use crate::generated::types::*;
}

/// The result of a call.
pub type Result<T> = std::result::Result<T, Error>;
