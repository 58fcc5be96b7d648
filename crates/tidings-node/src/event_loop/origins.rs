//! Origins of changes that no caller asked for: those of the configuration, and of what providers answer.

use std::sync::Arc;

use tidings_core::Rules;
use tidings_core::engine::NewRules;
use tidings_core::model::{Author, AuthorKind, Origin, Via};

/// Rules of the configuration, which the process that has the store open reads.
pub(super) fn of_configuration(rules: Rules) -> NewRules {
    let origin = Origin {
        by: Author::new(AuthorKind::Configuration, "tidings.toml"),
        via: Via::Cli,
        action: Some("configuration.loaded".into()),
        is_counted: false,
        request: None,
    };
    NewRules { rules, origin: Some(Arc::new(origin)) }
}

/// The origin of what follows from the answers of a provider.
pub(super) fn of_provider(provider: &str) -> Arc<Origin> {
    Arc::new(Origin::of_provider(provider))
}
