//! The cursor of a page of an inbox: a text that the caller passes back.

use std::fmt;
use std::str::FromStr;

use crate::model::number::Seq;

/// The start of a page: the groups whose newest entry is older than the last one shown, as the inbox was
/// when its first page was read. Later arrivals move nothing and are at the top of a new first page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Entries after this seq are left out.
    pub(crate) as_of: Seq,
    /// Groups whose newest entry has this seq or a later one were shown.
    pub(crate) below: Seq,
}

/// A text that is not a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a cursor is what an inbox page gave as `next`")]
pub struct CursorError;

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{:x}", self.as_of.0, self.below.0)
    }
}

impl FromStr for Cursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, CursorError> {
        let (as_of, below) = text.split_once('-').ok_or(CursorError)?;
        let number = |text: &str| u64::from_str_radix(text, 16).map_err(|_| CursorError);
        let (as_of, below) = (number(as_of)?, number(below)?);
        let cursor = Self { as_of: Seq(as_of), below: Seq(below) };
        // One text a cursor: what parses in another way was not given by a page.
        (cursor.to_string() == text).then_some(cursor).ok_or(CursorError)
    }
}
