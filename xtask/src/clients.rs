//! The checks of the clients in other languages, and of the one in Rust that is no part of the workspace.
//!
//! Each client has checks of its own in the manner of its ecosystem, and so have the examples of an outbox, which need
//! PostgreSQL: that in Python is checked with the client. All of them call the binary that is built here.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build::{self, BINARY, target};
use crate::ci::pass;
use crate::{Failure, cargo, output};

/// A folder, and the check of it.
type Checked = (&'static str, fn(&Tree, &Path) -> Result<(), Failure>);

/// The workspace, and the program that the clients are tried on.
struct Tree {
    root: PathBuf,
    program: PathBuf,
}

const CHECKED: [Checked; 4] = [
    ("clients/typescript", typescript),
    ("examples/outbox/typescript", typescript),
    ("clients/python", python),
    ("clients/rust", rust),
];

pub(crate) fn run(root: &Path) -> Result<(), Failure> {
    let tree = Tree { root: root.to_path_buf(), program: build::program(root)? };
    for (folder, check) in CHECKED {
        println!("== {folder}");
        check(&tree, &root.join(folder))?;
    }
    Ok(())
}

fn typescript(tree: &Tree, folder: &Path) -> Result<(), Failure> {
    let npm = |arguments: &[&str]| {
        let mut command = Command::new("npm");
        command.args(arguments).current_dir(folder).env(BINARY, &tree.program);
        command
    };
    pass(&mut npm(&["ci", "--no-audit", "--no-fund"]))?;
    pass(&mut npm(&["run", "check"]))
}

/// Types and tests, those of the outbox among them, and the wheel, which must say that it has types.
fn python(tree: &Tree, folder: &Path) -> Result<(), Failure> {
    let environment = tree.root.join("target/tools/clients-python");
    let program = |name: &str| {
        let mut command = Command::new(environment.join("bin").join(name));
        command.current_dir(folder).env(BINARY, &tree.program);
        command
    };
    if !environment.join("bin/pip").exists() {
        pass(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    }
    let install = ["install", "--quiet", "--disable-pip-version-check", "--requirement"];
    pass(program("pip").args(install).arg("requirements-dev.txt"))?;
    pass(program("python").args(["-m", "codegen", "--check"]))?;
    pass(&mut program("mypy"))?;
    pass(program("python").args(["-m", "pytest"]))?;
    let wheels = tree.root.join("target/clients-python");
    let wheel = ["wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir"];
    pass(program("pip").args(wheel).arg(&wheels).arg("."))?;
    let file = wheels.join(format!("tidings-{}-py3-none-any.whl", env!("CARGO_PKG_VERSION")));
    let held = output(program("python").args(["-m", "zipfile", "--list"]).arg(&file))?;
    if held.contains("tidings/py.typed") {
        return Ok(());
    }
    Err(format!("{} has no py.typed", file.display()))
}

/// Tests and the package. Both build in one folder: dependencies are compiled once.
fn rust(tree: &Tree, folder: &Path) -> Result<(), Failure> {
    let manifest = folder.join("Cargo.toml");
    let on = |command: &str| {
        let mut cargo = cargo();
        cargo.args([command, "--locked", "--manifest-path"]).arg(&manifest);
        cargo.env("CARGO_TARGET_DIR", target(&tree.root).join("clients-rust"));
        cargo.env(BINARY, &tree.program);
        cargo
    };
    pass(&mut on("test"))?;
    pass(on("package").arg("--allow-dirty"))
}
