//! The seeds of the fuzz targets, each read by its target as the fuzzer would.

#![allow(
    clippy::unwrap_used,
    missing_docs,
    unreachable_pub,
    reason = "a test ends where something is not as it should be; the targets are a crate's of their own"
)]

#[path = "../../../fuzz/src/lib.rs"]
mod targets;

use std::fs;
use std::path::Path;

use targets::TARGETS;

#[test]
fn f37_every_seed_is_read_by_its_target() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
    let mut known = fs::read_dir(fuzz.join("seeds")).unwrap().count();
    for (name, read) in TARGETS {
        assert!(fuzz.join("fuzz_targets").join(format!("{name}.rs")).is_file());
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
        let seeds: Vec<_> = fs::read_dir(fuzz.join("seeds").join(name))
            .unwrap_or_else(|_| panic!("{name} has no seeds"))
            .map(|seed| seed.unwrap().path())
            .collect();
        assert!(!seeds.is_empty(), "{name} has no seeds");
        for seed in seeds {
            let bytes = fs::read(&seed).unwrap();
            // Halves and broken bytes, too: a reader takes any.
            read(&bytes[..bytes.len() / 2]);
            read(&bytes.iter().rev().copied().collect::<Vec<u8>>());
            read(&bytes);
        }
        known -= 1;
    }
    assert_eq!(known, 0, "a directory of seeds is no target's");
}
