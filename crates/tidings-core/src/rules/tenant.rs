//! The rules of tenants, and the causes of leaving recipients out of an event.

use serde::{Deserialize, Serialize};

use super::config::Admission;

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

/// The cause of leaving recipients out of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum LeftOutBy {
    /// The admission of its type.
    Admission(Admission),
    /// The daily limit of its tenant.
    TenantLimit,
}

impl LeftOutBy {
    /// The reason in answers.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Admission(admission) => admission.word(),
            Self::TenantLimit => "tenant_limit",
        }
    }
}
