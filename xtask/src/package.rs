//! The archive that users download: the binary, its licences, completions and unit, with checksums.
//!
//! `tar` and `sha256sum` do the packing: they are on every machine that builds for Linux, and the
//! archive can be checked with the same tools.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::ci::pass;
use crate::{Failure, cargo};

/// Files of the repository that go into the archive as they are.
const FILES: [&str; 7] = [
    "README.md",
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "docs/operating.md",
    "packaging/tidings.service",
    "examples/first/tidings.toml",
];

/// Shells for which completions are included.
const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// Builds the release binary and packs `target/package/tidings-VERSION-ARCH-OS.tar.gz` beside a
/// `SHA256SUMS` that `sha256sum --check` reads.
pub(crate) fn run(root: &Path) -> Result<(), Failure> {
    pass(cargo().args(["build", "--release", "--locked", "--package", "tidings"]))?;
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root.join("target"), |dir| root.join(dir));
    let binary = target.join("release/tidings");
    let version = output(Command::new(&binary).arg("--version"))?;
    let version = version.trim().rsplit(' ').next().unwrap_or_default();
    let (arch, os) = (std::env::consts::ARCH, std::env::consts::OS);
    let name = format!("tidings-{version}-{arch}-{os}");
    let package = target.join("package");
    let folder = package.join(&name);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|fault| failed("remove", &folder, &fault))?;
    }
    let completions = folder.join("completions");
    fs::create_dir_all(&completions).map_err(|fault| failed("make", &completions, &fault))?;
    let files = FILES.iter().map(|file| root.join(file));
    for file in files.chain([binary.clone()]) {
        let to = folder.join(file.file_name().unwrap_or_default());
        fs::copy(&file, &to).map_err(|fault| failed("copy", &file, &fault))?;
    }
    for shell in SHELLS {
        let text = output(Command::new(&binary).args(["completions", shell]))?;
        let file = completions.join(format!("tidings.{shell}"));
        fs::write(&file, text).map_err(|fault| failed("write", &file, &fault))?;
    }
    let archive = format!("{name}.tar.gz");
    pass(in_folder("tar", &package).args([
        "--create",
        "--gzip",
        "--owner=0",
        "--group=0",
        "--sort=name",
        "--file",
        &archive,
        &name,
    ]))?;
    let sums = output(in_folder("sha256sum", &package).arg(&archive))?;
    let file = package.join("SHA256SUMS");
    fs::write(&file, &sums).map_err(|fault| failed("write", &file, &fault))?;
    print!("{sums}");
    println!("{}", package.join(&archive).display());
    Ok(())
}

fn in_folder(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    command
}

fn output(command: &mut Command) -> Result<String, Failure> {
    let output = command
        .output()
        .map_err(|fault| format!("cannot run {command:?}: {fault}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?} ended with {}: {said}", output.status));
    }
    String::from_utf8(output.stdout).map_err(|fault| format!("{command:?}: {fault}"))
}

fn failed(what: &str, path: &Path, fault: &std::io::Error) -> Failure {
    format!("cannot {what} {}: {fault}", path.display())
}
