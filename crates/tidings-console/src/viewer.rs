//! The person at the console: what they may do, what they may see, and in which zone they read the time.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::api::Caller;

/// A person who is signed in, for one request.
#[derive(Clone, Debug)]
pub struct Viewer {
    /// Who calls the API.
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
