//! Builds that several commands use: the program, in the profile of the README's first command.

use std::path::{Path, PathBuf};

use crate::ci::pass;
use crate::{Failure, cargo};

/// The folder in which cargo builds.
pub(crate) fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir))
}

/// Builds the program as `cargo run --release` and `cargo xtask test` do, and returns its path.
pub(crate) fn program(root: &Path) -> Result<PathBuf, Failure> {
    pass(cargo().args(["build", "--release", "--locked", "--package", "tidings"]))?;
    Ok(target(root).join("release/tidings"))
}
