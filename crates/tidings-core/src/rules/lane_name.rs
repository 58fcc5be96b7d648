//! Names of lanes. The engine, the configuration and mails derive them from a type's rules, so they have one place.

use crate::model::channel::INBOX;
use crate::rules::config::{Policy, Route, TypeRules};

/// The end of the names of lanes of required types; no other lane's name ends so.
pub const REQUIRED: &str = ":required";

/// The name of a lane without the ending of required types: what the types of both have in common goes by it.
#[must_use]
pub fn lane_stem(lane: &str) -> &str {
    lane.strip_suffix(REQUIRED).unwrap_or(lane)
}

impl TypeRules {
    /// The lane of the type's own policy on a channel; `None` for `never`, which has no lane.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::rules::{Policy, Route, TypeRules};
    ///
    /// let route = Route::of(Policy::Now);
    /// let invoice = TypeRules { required: true, ..TypeRules::default() };
    /// assert_eq!(invoice.own_lane("email", &route).as_deref(), Some("now:required"));
    /// assert_eq!(invoice.own_lane("inbox", &route).as_deref(), Some("now"));
    /// ```
    #[must_use]
    pub fn own_lane(&self, channel: &str, route: &Route) -> Option<String> {
        let name = route.lane.clone().or_else(|| route.policy.lane_name())?;
        Some(self.lane_called(channel, name))
    }

    /// The lane on a channel that would have this name if the type were not required.
    #[must_use]
    pub(crate) fn lane_called(&self, channel: &str, mut name: String) -> String {
        if self.required && channel != INBOX {
            name.push_str(REQUIRED);
        }
        name
    }
}

impl Policy {
    /// The default lane name of this policy (contract, section 2); these names are reserved.
    /// `None` for `never`, which has no lane.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::rules::Policy;
    ///
    /// let weekly = Policy::Digest { digest: "weekly".to_owned() };
    /// assert_eq!(weekly.lane_name().as_deref(), Some("digest:weekly"));
    /// // Policies of one kind share a lane, whatever their durations.
    /// let [short, long] = [1_000, 60_000].map(|quiet_ms| Policy::Leading { quiet_ms });
    /// assert_eq!(short.lane_name(), long.lane_name());
    /// assert_eq!(Policy::Never.lane_name(), None);
    /// ```
    #[must_use]
    pub fn lane_name(&self) -> Option<String> {
        match self {
            Self::Now => Some("now".to_owned()),
            Self::FirstEvent { .. } => Some("first_event".to_owned()),
            Self::Cooldown { .. } => Some("cooldown".to_owned()),
            Self::Leading { .. } => Some("leading".to_owned()),
            Self::Digest { digest } => Some(format!("digest:{digest}")),
            Self::Never => None,
        }
    }
}
