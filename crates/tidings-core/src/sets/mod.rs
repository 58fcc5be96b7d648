//! Sets of recipients, how they are stored, and values whose clones share what neither has changed.

pub(crate) mod audience;
pub(crate) mod geo_index;
pub(crate) mod packed;
pub(crate) mod pairs;
pub(crate) mod set;
pub(crate) mod shared;

pub use audience::partition;
pub use geo_index::{GeoIndex, distance_km};
pub use packed::{PackedColumn, PackedTexts, put_column, put_texts};
pub use set::Set;
