//! Other servers to compare with, started for one benchmark and removed with it: on loopback, with their
//! data in the benchmark's own directory.
//!
//! Settings are the servers' own but for those that are said ([`Rival::settings`]). Where two ways are
//! fair, the one that is faster for the rival is taken.

use super::BenchFault;

pub(crate) mod mjml;
pub(crate) mod postgres;
pub(crate) mod redis;

/// A server that tidings is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Rival {
    /// Redis: a list for each inbox and each mail lane
    Redis,
    /// PostgreSQL: a table of notifications with two indexes
    Postgres,
    /// MJML with Handlebars on Node
    #[value(skip)]
    Mjml,
}

impl Rival {
    /// Its name in what is measured.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Redis => "redis",
            Self::Postgres => "postgres",
            Self::Mjml => "mjml",
        }
    }

    /// The settings under which it is run.
    #[must_use]
    pub(crate) fn settings(self) -> &'static str {
        match self {
            Self::Redis => redis::SETTINGS,
            Self::Postgres => postgres::SETTINGS,
            Self::Mjml => mjml::SETTINGS,
        }
    }

    /// Refuses a comparison with a rival that did not do the same work.
    pub(crate) fn expect(self, held: u64, expected: u64) -> Result<(), BenchFault> {
        if held == expected {
            return Ok(());
        }
        Err(self.fault(format!("it holds {held} notifications, {expected} were made")))
    }

    fn fault(self, why: impl std::fmt::Display) -> BenchFault {
        BenchFault::Rival(self.name(), why.to_string())
    }
}
