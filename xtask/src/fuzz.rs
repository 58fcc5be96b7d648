//! Coverage-guided input for the readers that take any bytes (`fuzz`), on the stable toolchain and without cargo-fuzz.
//!
//! The compiler instruments every crate as cargo-fuzz asks it to where there is no sanitizer; libFuzzer is linked by
//! its crate, which needs a C++ compiler. The layout is that of cargo-fuzz, which runs the targets as well:
//! `cargo fuzz run --sanitizer none TARGET`.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::ci::pass;
use crate::source::entries;
use crate::{Failure, cargo, output};

/// The flags with which cargo-fuzz calls the compiler.
const FLAGS: [&str; 7] = [
    "--cfg fuzzing",
    "-Cpasses=sancov-module",
    "-Ccodegen-units=1",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// Bounds of one input: its length, its time, and the memory that reading it takes.
const BOUNDS: [&str; 3] = ["-max_len=20000", "-timeout=10", "-rss_limit_mb=2560"];

/// Builds the targets and runs those that are named, or all, one after the other.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<(), Failure> {
    let (seconds, named) = match arguments {
        [flag, seconds, named @ ..] if flag == "--seconds" => (seconds.as_str(), named),
        named => ("600", named),
    };
    seconds.parse::<u32>().map_err(|_| format!("`{seconds}` is no number of seconds"))?;
    let fuzz = root.join("fuzz");
    let targets = targets(&fuzz)?;
    if let Some(unknown) = named.iter().find(|name| !targets.contains(name)) {
        let known = targets.join(", ");
        return Err(format!("`{unknown}` is no target; there are {known}"));
    }
    let host = host()?;
    let mut build = cargo();
    build.args(["build", "--release", "--locked", "--bins"]);
    // With a target of its own cargo does not instrument what runs while it builds.
    build.args(["--target", &host, "--manifest-path"]);
    build.arg(fuzz.join("Cargo.toml"));
    build.env("RUSTFLAGS", FLAGS.join(" "));
    build.env("CARGO_TARGET_DIR", fuzz.join("target"));
    pass(&mut build)?;
    let built = fuzz.join("target").join(&host).join("release");
    for target in targets {
        if named.is_empty() || named.contains(&target) {
            try_for(&fuzz, &built.join(&target), &target, seconds)?;
        }
    }
    Ok(())
}

/// Runs a target; what it has found so far stays in `fuzz/corpus`, an input that ended it in `fuzz/artifacts`.
fn try_for(fuzz: &Path, program: &Path, target: &str, seconds: &str) -> Result<(), Failure> {
    println!("== {target}");
    let folder = |kind: &str| fuzz.join(kind).join(target);
    for made in [folder("corpus"), folder("artifacts")] {
        fs::create_dir_all(&made).map_err(|fault| format!("{}: {fault}", made.display()))?;
    }
    let mut run = Command::new(program);
    run.arg(folder("corpus")).arg(folder("seeds")).args(BOUNDS);
    run.arg(format!("-max_total_time={seconds}"));
    run.arg(format!("-artifact_prefix={}/", folder("artifacts").display()));
    run.args(["-print_final_stats=1", "-verbosity=0"]);
    pass(&mut run)
}

/// The names of all targets, in their order.
fn targets(fuzz: &Path) -> Result<Vec<String>, Failure> {
    let files = entries(&fuzz.join("fuzz_targets"))?;
    let mut names: Vec<String> = files
        .iter()
        .filter_map(|file| file.file_stem())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    Ok(names)
}

/// The triple of this machine.
fn host() -> Result<String, Failure> {
    let said = output(Command::new("rustc").arg("-vV"))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "`rustc -vV` names no host".to_owned())
}
