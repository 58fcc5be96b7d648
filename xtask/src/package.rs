//! The archive that users download: the binary, its licences, pages, examples, completions, manual and unit,
//! with checksums.
//!
//! `tar` and `sha256sum` do the packing: they are on every machine that builds for Linux, and the
//! archive can be checked with the same tools.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build::target;
use crate::ci::pass;
use crate::{Failure, cargo, notices, output, source};

/// Files and folders of the repository that are in the archive, where they are in the repository.
const CONTENT: [&str; 17] = [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "clients",
    "docs",
    "packaging",
    "examples/art/CREDITS.md",
    "examples/deciding",
    "examples/embed",
    "examples/first",
    "examples/inbox",
    "examples/modelling",
    "examples/outbox",
    "ui/README.md",
];

/// Names of folders that tools write beside the sources; so are all that begin with a dot.
const WRITTEN: [&str; 4] = ["__pycache__", "dist", "node_modules", "target"];

/// Shells for which completions are included.
const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// Arguments of the build.
const BUILD: &str = "build --profile dist --locked --package tidings";

/// Builds the binary and packs `target/package/tidings-VERSION-ARCH-OS.tar.gz` beside a
/// `SHA256SUMS` that `sha256sum --check` reads.
pub(crate) fn run(root: &Path) -> Result<(), Failure> {
    pass(cargo().args(BUILD.split(' ')))?;
    let target = target(root);
    let binary = target.join("dist/tidings");
    let version = output(Command::new(&binary).arg("--version"))?;
    let version = version.trim().rsplit(' ').next().unwrap_or_default();
    let (arch, os) = (std::env::consts::ARCH, std::env::consts::OS);
    let name = format!("tidings-{version}-{arch}-{os}");
    let package = target.join("package");
    let folder = package.join(&name);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|fault| failed("remove", &folder, &fault))?;
    }
    for file in content(root)? {
        copy(&root.join(&file), &folder.join(&file))?;
    }
    copy(&binary, &folder.join("tidings"))?;
    for shell in SHELLS {
        let text = output(Command::new(&binary).args(["completions", shell]))?;
        write(&folder.join(format!("completions/tidings.{shell}")), &text)?;
    }
    let manual = folder.join("man/man1");
    fs::create_dir_all(&manual).map_err(|fault| failed("make", &manual, &fault))?;
    pass(Command::new(&binary).arg("man").arg(&manual))?;
    let code = fs::read(&binary).map_err(|fault| failed("read", &binary, &fault))?;
    write(&folder.join("INSTALL.txt"), &install(&name, &code))?;
    write(&folder.join("THIRD-PARTY.txt"), &notices::third_party()?)?;
    pack(root, &package, &name)
}

/// Packs a folder: the same content gives the same archive, whoever packs it and when.
fn pack(root: &Path, package: &Path, name: &str) -> Result<(), Failure> {
    let archive = format!("{name}.tar.gz");
    pass(in_folder("tar", package).args([
        "--create",
        "--gzip",
        "--format=gnu",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--mode=u=rwX,go=rX",
        &format!("--mtime=@{}", seconds(root)),
        "--sort=name",
        "--file",
        &archive,
        name,
    ]))?;
    let sums = output(in_folder("sha256sum", package).arg(&archive))?;
    write(&package.join("SHA256SUMS"), &sums)?;
    print!("{sums}");
    println!("{}", package.join(&archive).display());
    Ok(())
}

/// The files of the archive that are in the repository, by their paths there.
fn content(root: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for part in CONTENT {
        if root.join(part).is_dir() {
            let files = source::files(&root.join(part), "")?;
            let files = files.iter().map(|file| PathBuf::from(source::named(root, file)));
            found.extend(files.filter(|file| !is_written(file)));
        } else {
            found.push(part.into());
        }
    }
    Ok(found)
}

/// Returns true for what tools wrote, which is not in the repository.
fn is_written(file: &Path) -> bool {
    let mut names = file.iter().map(|name| name.to_string_lossy());
    names.any(|name| name.starts_with('.') || WRITTEN.contains(&name.as_ref()))
}

/// The instructions of the archive: how to install it, and what it needs.
fn install(name: &str, binary: &[u8]) -> String {
    let glibc = glibc(binary).map_or_else(
        || "no C library of the system".to_owned(),
        |minor| format!("glibc 2.{minor} or newer (`ldd --version` prints yours)"),
    );
    format!(
        "{name}\n\n\
        The binary `tidings` needs Linux and {glibc}.\n\n\
        install -m 0755 tidings /usr/local/bin/tidings\n\n\
        README.md       how to begin; type `tidings` where it has `cargo run --release --`\n\
        docs/           quick start, installing, running, errors, the document of the API\n\
        packaging/      a systemd unit, which says how to install it, and a recipe for an image\n\
        completions/    for bash, zsh and fish\n\
        man/            manual pages: copy man1 to /usr/local/share/man\n\
        clients/        for TypeScript, Python and Rust\n\
        examples/       the configurations and programs of the pages\n\
        THIRD-PARTY.txt licences of the crates in the binary\n\n\
        The crates, tests and `cargo xtask` that some pages name are in the repository.\n"
    )
}

/// The newest 2.x of glibc whose symbols a binary asks for.
fn glibc(binary: &[u8]) -> Option<u32> {
    const SYMBOL: &[u8] = b"GLIBC_2.";
    let found = binary.windows(SYMBOL.len()).enumerate();
    let found = found.filter(|(_, window)| *window == SYMBOL);
    let minors = found.filter_map(|(at, _)| {
        let rest = binary[at + SYMBOL.len()..].iter();
        let digits = rest.take_while(|byte| byte.is_ascii_digit());
        let digits: String = digits.map(|byte| char::from(*byte)).collect();
        digits.parse().ok()
    });
    minors.max()
}

/// The time of all files in the archive: `SOURCE_DATE_EPOCH`, or that of the last commit.
fn seconds(root: &Path) -> String {
    let given = std::env::var("SOURCE_DATE_EPOCH").ok();
    let commit = || output(in_folder("git", root).args(["log", "-1", "--format=%ct"])).ok();
    let seconds = given.or_else(commit).unwrap_or_default();
    let seconds = seconds.trim();
    // Tools for archives take 1980 for the oldest time.
    if seconds.is_empty() { "315532800" } else { seconds }.to_owned()
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    make_folder_of(to)?;
    fs::copy(from, to).map_err(|fault| failed("copy", from, &fault))?;
    Ok(())
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    make_folder_of(file)?;
    fs::write(file, text).map_err(|fault| failed("write", file, &fault))
}

fn make_folder_of(file: &Path) -> Result<(), Failure> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder).map_err(|fault| failed("make", folder, &fault))
}

fn in_folder(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    command
}

fn failed(what: &str, path: &Path, fault: &std::io::Error) -> Failure {
    format!("cannot {what} {}: {fault}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::pages::links;

    #[test]
    fn links_of_packaged_pages_lead_to_packaged_files() {
        let root = crate::root();
        let files = content(&root).unwrap();
        let is_page = |file: &&PathBuf| file.extension().is_some_and(|e| e == "md");
        for page in files.iter().filter(is_page) {
            let text = source::read(&root.join(page)).unwrap();
            for link in links(&text) {
                let mut target = PathBuf::new();
                for part in page.parent().unwrap().join(link).components() {
                    if part.as_os_str() == ".." {
                        assert!(target.pop(), "{link}");
                    } else {
                        target.push(part);
                    }
                }
                let held = files.iter().any(|file| file.starts_with(&target));
                assert!(held, "{} links to {link}", page.display());
            }
        }
    }

    #[test]
    fn what_tools_write_is_not_packed() {
        let written = ["clients/rust/target/debug/x", "clients/typescript/dist/index.js"];
        assert!(written.iter().all(|file| is_written(Path::new(file))));
        assert!(is_written(Path::new("clients/python/.venv/bin/python")));
        assert!(!is_written(Path::new("clients/typescript/src/index.ts")));
    }

    #[test]
    fn the_newest_symbol_names_the_glibc() {
        assert_eq!(glibc(b"\0GLIBC_2.9\0GLIBC_2.34\0GLIBC_2.17\0"), Some(34));
        assert_eq!(glibc(b"GLIBC_PRIVATE"), None);
    }
}
