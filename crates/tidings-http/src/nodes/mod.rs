//! Calls between the nodes of a cluster.

pub(crate) mod dry;
pub mod follow;
pub(crate) mod own;
