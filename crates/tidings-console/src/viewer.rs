//! The person at the console: what they may do, what they may see, and in which zone they read the time.

use std::collections::BTreeMap;

use axum::http::{HeaderMap, header};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::api::Caller;

/// A person who is signed in, for one request.
#[derive(Clone, Debug)]
pub struct Viewer {
    /// The caller of the API.
    pub caller: Caller,
    /// The public id of the session; empty on a developer's server.
    pub session: String,
    /// The recipients whose names and addresses are open, and until when.
    pub shown: BTreeMap<String, Timestamp>,
    /// The zone of instants on the pages.
    pub zone: TimeZone,
}

impl Viewer {
    /// Returns true if the viewer may see a recipient's name, addresses and texts.
    #[must_use]
    pub fn sees(&self, recipient: &str, now: Timestamp) -> bool {
        self.shown.get(recipient).is_some_and(|until| now < *until)
    }
}

/// The value of the only cookie of a name.
pub(crate) fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let all = headers.get_all(header::COOKIE).into_iter();
    let pairs = all.filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(';'));
    let mut values =
        pairs.filter_map(|pair| pair.trim().split_once('=')).filter(|pair| pair.0 == name);
    let value = values.next()?.1;
    values.next().is_none().then_some(value)
}

/// The zone that the script has found, or UTC.
pub(crate) fn zone(headers: &HeaderMap) -> TimeZone {
    let name = cookie(headers, "tidings-zone").map(|name| name.replace("%2F", "/"));
    name.and_then(|name| TimeZone::get(&name).ok()).unwrap_or(TimeZone::UTC)
}
