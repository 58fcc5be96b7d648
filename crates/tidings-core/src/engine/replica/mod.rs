//! Acts: what the intake has accepted for everybody, as parts here and on other nodes apply it.

pub(super) mod act;
pub(super) mod told;
pub(super) mod told_rows;
