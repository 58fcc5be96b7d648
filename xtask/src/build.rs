//! Builds that several commands use: the program, in the profile of the README's first command.

use std::path::{Path, PathBuf};

use crate::ci::pass;
use crate::{Failure, cargo};

/// The folder in which cargo builds.
pub(crate) fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir))
}

/// Variable that names a program that is built already. The tests of the clients read it, too.
pub(crate) const BINARY: &str = "TIDINGS_BIN";

/// Builds the program as `cargo run --release` and `cargo xtask test` do, unless [`BINARY`] names one, and returns its
/// path.
pub(crate) fn program(root: &Path) -> Result<PathBuf, Failure> {
    if let Some(built) = std::env::var_os(BINARY) {
        return Ok(root.join(built));
    }
    pass(cargo().args(["build", "--release", "--locked", "--package", "tidings"]))?;
    Ok(target(root).join("release/tidings"))
}
