//! Names of the calls that are taken for other products, for those who know them by no more than that.

/// The names of the calls, for measurements.
pub(in crate::http) const COMPAT: [&str; 2] = ["knock_trigger", "novu_trigger"];

/// The path of Novu's trigger. An event of this id has it too.
pub(in crate::http) const NOVU_PATH: &str = "/v1/events/trigger";
