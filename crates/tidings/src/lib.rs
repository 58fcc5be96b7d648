//! The embeddable face of tidings.

pub mod demo;
