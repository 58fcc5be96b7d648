//! The `tidings` binary.
fn main() {}
