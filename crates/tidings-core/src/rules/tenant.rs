//! The rules of tenants, and the causes for which recipients are left out of an event.

use serde::{Deserialize, Serialize};

use super::config::Admission;

/// The rules of tenants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenantRules {
    /// The effect of an event of a tenant that is not there.
    pub unknown: UnknownTenant,
}

/// The effect of an event of a tenant that is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownTenant {
    /// It is refused.
    #[default]
    Refuse,
    /// It makes the tenant.
    Make,
}

/// The cause for which recipients are left out of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum LeftOutBy {
    /// The admission of its type.
    Admission(Admission),
    /// The limit of its tenant on notifications of a day.
    TenantLimit,
}

impl LeftOutBy {
    /// The reason as it is shown.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Admission(admission) => admission.word(),
            Self::TenantLimit => "tenant_limit",
        }
    }
}
