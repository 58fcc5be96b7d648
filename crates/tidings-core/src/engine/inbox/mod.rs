//! A recipient's inbox: its entries, the rows that they form, pages and counts, and marks of items.

pub(super) mod counts;
pub(super) mod cursor;
pub(super) mod mark;
pub(super) mod page;
pub(super) mod rows;
pub(super) mod walk;
