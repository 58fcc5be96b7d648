//! The output of `tidings check` for each configuration beside this file, to the letter.
//!
//! Run with `UPDATE_GOLDEN=1` to write the expected outputs anew; read the difference before keeping it.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn configurations() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check");
    let mut paths: Vec<PathBuf> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    paths.sort();
    paths
}

/// Exit code and output of `tidings check NAME`, run where the file is.
fn check(path: &Path, form: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_tidings"))
        .current_dir(path.parent().unwrap())
        .arg("check")
        .arg(path.file_name().unwrap())
        .args(form)
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(text).unwrap())
}

#[test]
fn each_configuration_is_reported_as_it_stands_beside_it() {
    let paths = configurations();
    assert!(paths.len() > 12, "{paths:?}");
    for path in paths {
        let (code, told) = check(&path, &[]);
        let golden = path.with_extension("txt");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&golden, &told).unwrap();
        }
        let expected = fs::read_to_string(&golden).unwrap();
        assert_eq!(told, expected, "{}", path.display());
        assert_eq!(code, if path.ends_with("in_order.toml") { 0 } else { 2 });
    }
}

#[test]
fn both_forms_tell_the_same_faults() {
    for path in configurations() {
        let (code, text) = check(&path, &[]);
        let (json_code, json) = check(&path, &["--json"]);
        assert_eq!(code, json_code);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let empty = Vec::new();
        let faults = json["faults"].as_array().unwrap_or(&empty);
        assert_eq!(faults.len(), text.matches(" = help: ").count(), "{}", path.display());
        for fault in faults {
            let place = format!(
                "--> {}:{}:{}\n",
                fault["file"].as_str().unwrap(),
                fault["line"],
                fault["column"]
            );
            assert!(text.contains(&place), "{place}");
            assert!(!fault["hint"].as_str().unwrap().is_empty());
        }
    }
}
