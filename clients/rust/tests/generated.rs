//! The generated files are what the document of the API gives.

#[path = "../generate/mod.rs"]
mod generate;

use std::fs;
use std::path::Path;

#[test]
fn generated_files_are_current() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = here.join("../../docs");
    let api = fs::read(docs.join("openapi.json")).unwrap();
    let errors = fs::read_to_string(docs.join("errors.md")).unwrap();
    let Some(files) = generate::files(&serde_json::from_slice(&api).unwrap(), &errors) else {
        eprintln!("skipped: there is no rustfmt");
        assert!(std::env::var_os("TIDINGS_REQUIRE_SERVERS").is_none(), "rustfmt has to be there");
        return;
    };
    for (name, text) in files {
        let path = here.join("src/generated").join(name);
        if std::env::var_os("TIDINGS_BLESS").is_some() {
            fs::write(&path, text).unwrap();
        } else {
            let is = fs::read_to_string(&path).unwrap_or_default();
            assert!(
                is == text,
                "{name} is not current: TIDINGS_BLESS=1 cargo test --test generated"
            );
        }
    }
}
