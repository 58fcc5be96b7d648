//! The index: a bucket's arrivals, found by recipient.
//!
//! It has four verbs. `add` puts an arrival into the tail of its day, in memory, with its sets. `look` finds the
//! entries of some recipients. `build` makes a segment of a tail: its arrivals as rows without their sets, and
//! postings that say for each recipient which of them are theirs. `merge` makes one segment of several. Building and
//! merging go on a slice at a time, with steps in between; the last slice makes the new segment count, in one
//! commit.

mod build;
mod day;
pub(crate) mod facets;
pub(crate) mod headers;
mod look;
mod merge;
pub(crate) mod postings;
mod segment;
mod slice;
mod state;

pub(crate) use build::TailIndexing;
pub(crate) use day::{DayIndex, SegmentAt};
pub use headers::{Header, HeaderRows, encode_headers};
pub(crate) use look::{Found, FoundArrival, FoundEntry, SearchFilter};
pub(crate) use merge::SegmentMerge;
pub use postings::{PostingBlock, build_blocks, merge_blocks};
pub(crate) use slice::Slice;
pub(crate) use state::Index;
