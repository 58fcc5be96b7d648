//! The figures, counted naively (contract, section 11, "Figures"): all that ever happened, one by one.

mod facts;
mod log;
mod muted;

pub(super) use log::{FiguresLog, FirstMarks, SuppressedMessage};
pub(super) use muted::ReceivedBefore;
