//! Sets of recipients, how they are stored, and values whose clones share what neither has changed.

pub mod audience;
pub mod codec;
pub mod geo_index;
pub mod packed;
pub(crate) mod pairs;
pub mod set;
pub(crate) mod shared;
