//! Documents that have to name what the configuration knows.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tidings_core::model::sending_channels;
use tidings_node::channel::schemes;

use super::*;

/// The names in a text.
fn names(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').collect()
}

#[test]
fn the_default_names_every_key() {
    let mut texts = vec![DEFAULT.to_owned()];
    let checked = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tidings/tests/check");
    for entry in fs::read_dir(checked).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            texts.push(String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned());
        }
    }
    for text in &texts {
        // Whether it has faults does not matter: its sections are read.
        let _ = parse(text, "t.toml");
    }
    let known = walk::KNOWN.take();
    assert!(known.contains("give_up_after"), "{known:?}");
    // `sentence.de` and the like are keys of whoever wrote them.
    let known = known.iter().filter(|key| !key.contains('.'));
    let documented = names(DEFAULT);
    let missing: Vec<_> = known.filter(|key| !documented.contains(key.as_str())).collect();
    assert_eq!(missing, Vec::<&String>::new());
}

#[test]
fn the_page_of_channels_names_every_channel_and_every_form_of_a_provider() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/channels.md");
    let page = fs::read_to_string(page).unwrap();
    for kind in sending_channels() {
        assert!(page.contains(&format!("`{}`", kind.name)), "{}", kind.name);
        assert!(names(DEFAULT).contains(kind.name), "{}", kind.name);
        for scheme in schemes(kind) {
            assert!(page.contains(&format!("`{scheme}://")), "{scheme}");
        }
    }
}
