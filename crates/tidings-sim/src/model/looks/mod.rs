//! The views of operators: lists and the search.

mod lists;
mod search;

pub(crate) use lists::ModelLists;
pub(super) use search::PastAddresses;
pub(crate) use search::{ChangedAddresses, ModelSearch};
