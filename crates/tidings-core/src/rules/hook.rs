//! Hooks: services of the host that are called about occurrences.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::model::occurrence::OccurrenceKind;

/// A service of the host that is called about occurrences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookRules {
    /// The name, which no other hook has.
    pub name: String,
    /// Its URL, without a secret.
    pub url: String,
    /// The name of the secret by which calls are signed.
    pub secret: String,
    /// The kinds of occurrences that it wants, at least one.
    pub of: BTreeSet<OccurrenceKind>,
    /// True if it may be a host that is not of the public network, and without TLS.
    pub allow_private: bool,
}
