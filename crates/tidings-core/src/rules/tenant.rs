//! The rules of tenants.

use serde::{Deserialize, Serialize};

/// The rules of tenants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenantRules {
    /// The effect of an event of an unknown tenant.
    pub unknown: UnknownTenant,
}

/// The effect of an event of an unknown tenant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownTenant {
    /// It is refused.
    #[default]
    Refuse,
    /// It creates the tenant.
    Make,
}
