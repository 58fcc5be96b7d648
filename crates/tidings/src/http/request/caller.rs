//! The holder of an API key.

use tidings_node::Role;

/// The holder of an API key.
#[derive(Clone, Debug)]
pub(in crate::http) struct Caller {
    /// The role of the key.
    pub(in crate::http) role: Role,
}
