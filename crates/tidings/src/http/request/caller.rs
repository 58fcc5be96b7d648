//! The holder of an API key.

use tidings_node::{CallerId, Role};

/// The holder of an API key.
#[derive(Clone, Debug)]
pub(in crate::http) struct Caller {
    /// The role of the key.
    pub(in crate::http) role: Role,
    /// The identity by which the rooms of the server are shared.
    pub(in crate::http) id: CallerId,
}
