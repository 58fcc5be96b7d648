//! The holder of an API key.

use tidings_node::{CallerId, Role};

/// The holder of an API key.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The role of the key.
    pub(crate) role: Role,
    /// The identity by which the rooms of the server are shared.
    pub(crate) id: CallerId,
}
