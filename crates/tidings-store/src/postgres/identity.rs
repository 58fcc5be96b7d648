//! The identity of the store in a database.

/// The query for the identity of the store.
pub(super) const IDENTITY: &str = "SELECT store FROM tidings_format";

/// The words for a database with another store than the expected one.
pub(super) fn other(id: impl std::fmt::Display) -> String {
    format!("the database has another store than before ({id}); put back the one that was there")
}
