//! The reasons why a reader ends.

use tokio_postgres::error::SqlState;

/// A reason why a reader ends.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeedFault {
    /// It may pass: the reader begins again after a while.
    #[error("{0}")]
    Passing(String),
    /// It stays until an operator acts: the feed stops until it is resumed or configured anew.
    #[error("{0}")]
    Lasting(String),
}

impl From<tokio_postgres::Error> for FeedFault {
    fn from(fault: tokio_postgres::Error) -> Self {
        if let Some(why) = tidings_tls::postgres::untrusted(&fault) {
            return Self::Passing(why);
        }
        let Some(said) = fault.as_db_error() else {
            return Self::Passing(match std::error::Error::source(&fault) {
                Some(source) => format!("{fault}: {source}"),
                None => fault.to_string(),
            });
        };
        let hint = match *said.code() {
            SqlState::UNDEFINED_TABLE | SqlState::UNDEFINED_COLUMN => {
                "; run the migration that `tidings outbox sql` prints, as the owner of the database"
            }
            SqlState::INSUFFICIENT_PRIVILEGE => {
                "; grant SELECT, UPDATE and DELETE on the table to the user of the feed's `url`"
            }
            _ => "",
        };
        let code = said.code().code();
        Self::Passing(format!("PostgreSQL: {} (SQLSTATE {code}){hint}", said.message()))
    }
}
