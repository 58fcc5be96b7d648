//! The arguments of a command.

use clap::ArgMatches;

use crate::cli::reach::TargetArguments;

/// The arguments that were given to a command.
pub(super) struct GivenArguments {
    pub(super) matches: ArgMatches,
    pub(super) to: TargetArguments,
}

impl GivenArguments {
    /// The value of an argument.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.matches.try_get_one::<String>(name).ok().flatten().map(String::as_str)
    }

    /// Returns true if a flag is given.
    pub(super) fn has(&self, name: &str) -> bool {
        matches!(self.matches.try_get_one::<bool>(name), Ok(Some(true)))
    }
}
