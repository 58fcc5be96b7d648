//! Sets of recipients, how they are stored, and values whose clones share what neither has changed.

pub mod audience;
pub mod codec;
pub mod packed;
pub(crate) mod pairs;
pub mod places;
pub mod set;
pub(crate) mod shared;
