//! The body of a search.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::fault::Fault;

/// Maximum number of bytes of the text of a search.
const TEXT_BYTES_MAX: usize = 512;

/// The text of a search.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Search, example = json!({"q": "ada@example.org"}))]
pub struct SearchBody {
    /// An id, the tag of a mail, a cancellation key or an address, of 1 to 512 bytes.
    #[schema(min_length = 1, max_length = 512)]
    q: String,
}

// It may be an address, which belongs in no log.
impl fmt::Debug for SearchBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SearchBody(…)")
    }
}

impl SearchBody {
    /// The text.
    ///
    /// # Errors
    /// It is empty or too long.
    pub fn text(self) -> Result<String, Fault> {
        let bytes = self.q.len();
        if (1..=TEXT_BYTES_MAX).contains(&bytes) {
            return Ok(self.q);
        }
        let reason = format!("`q` must have 1 to {TEXT_BYTES_MAX} bytes, got {bytes}");
        Err(Fault::new(reason, "search for an id or an address"))
    }
}
