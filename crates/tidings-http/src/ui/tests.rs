//! The files of `ui/dist` over HTTP.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use axum::http::{Method, StatusCode};
use flate2::read::GzDecoder;

use super::{FILES, VERSION, gzipped};
use crate::rig::{Answered, CONFIG, Rig};
use crate::{Access, Settings};

fn dist() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/dist")
}

/// The names of the files below a directory.
fn names(directory: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            names.extend(self::names(&entry.path()).iter().map(|below| format!("{name}/{below}")));
        } else {
            names.insert(name);
        }
    }
    names
}

/// A server with API keys: its files need none.
fn rig() -> Rig {
    Rig::with(CONFIG, Access::Keys { token: None }, Settings::default())
}

fn get(rig: &Rig, path: &str, headers: &[(&str, &str)]) -> Answered {
    rig.send(Method::GET, path, headers, "")
}

fn header<'a>(answer: &'a Answered, name: &str) -> &'a str {
    answer.headers.get(name).map_or("", |value| value.to_str().unwrap())
}

#[test]
fn every_file_of_the_elements_is_served_under_both_paths() {
    let rig = rig();
    // The console has its own files at its own path.
    let mut names = names(&dist());
    names.retain(|name| !name.starts_with("console."));
    assert_eq!(names, FILES.iter().map(|(name, _)| (*name).to_owned()).collect());
    for name in names {
        let bytes = fs::read(dist().join(&name)).unwrap();
        for (path, kept) in [
            (format!("/ui/{name}"), "public, max-age=3600, must-revalidate"),
            (format!("/ui/{VERSION}/{name}"), "public, max-age=31536000, immutable"),
        ] {
            let origin = ("origin", "https://anybody.example");
            let plain = get(&rig, &path, &[origin]);
            assert_eq!(plain.status, StatusCode::OK, "{path}");
            assert!(plain.bytes == bytes, "{path}");
            for (name, value) in [
                ("content-type", "text/javascript; charset=utf-8"),
                ("cache-control", kept),
                ("x-content-type-options", "nosniff"),
                ("access-control-allow-origin", "*"),
                ("cross-origin-resource-policy", "cross-origin"),
                ("vary", "Accept-Encoding"),
                ("content-encoding", ""),
                ("service-worker-allowed", if path.ends_with("/worker.js") { "/" } else { "" }),
            ] {
                assert_eq!(header(&plain, name), value, "{path} {name}");
            }
            let small = get(&rig, &path, &[("accept-encoding", "br, gzip;q=0.5")]);
            assert_eq!(header(&small, "content-encoding"), "gzip", "{path}");
            let mut unpacked = Vec::new();
            GzDecoder::new(&*small.bytes).read_to_end(&mut unpacked).unwrap();
            assert!(unpacked == bytes, "{path}");
            // The two are told apart by caches, and each is sent once.
            assert_ne!(header(&small, "etag"), header(&plain, "etag"));
            for (answer, encoding) in [(&plain, "identity"), (&small, "gzip")] {
                let etag = format!("\"other\", W/{}", header(answer, "etag"));
                let known = [("accept-encoding", encoding), ("if-none-match", &*etag)];
                let again = get(&rig, &path, &known);
                assert_eq!(again.status, StatusCode::NOT_MODIFIED, "{path}");
                assert!(again.bytes.is_empty());
                assert_eq!(header(&again, "cache-control"), kept);
                assert_eq!(header(&again, "etag"), header(answer, "etag"));
            }
        }
    }
}

#[test]
fn a_file_is_sent_as_it_is_to_who_does_not_take_gzip() {
    let rig = rig();
    for refusing in ["gzip;q=0", "gzip; q=0.0, *", "br", "*;q=0", ""] {
        let answer = get(&rig, "/ui/follow.js", &[("accept-encoding", refusing)]);
        assert_eq!(header(&answer, "content-encoding"), "", "{refusing}");
    }
    for taking in ["GZIP", "*", "br;q=1.0, gzip;q=0.1"] {
        let answer = get(&rig, "/ui/follow.js", &[("accept-encoding", taking)]);
        assert_eq!(header(&answer, "content-encoding"), "gzip", "{taking}");
    }
    for absent in ["/ui/", "/ui/none.js", "/ui/0.0.0/inbox.js", "/ui/..%2Fpackage.json"] {
        let answer = get(&rig, absent, &[]);
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{absent}");
        assert_eq!(header(&answer, "access-control-allow-origin"), "*", "{absent}");
    }
}

/// The files that a module imports statically, itself included.
fn with_imports(name: &str, found: &mut BTreeSet<String>) {
    if !found.insert(name.to_owned()) {
        return;
    }
    let text = fs::read_to_string(dist().join(name)).unwrap();
    for quote in ['"', '\''] {
        for before in ["from", "import"] {
            for rest in text.split(&format!("{before}{quote}./")).skip(1) {
                with_imports(rest.split(quote).next().unwrap(), found);
            }
        }
    }
}

#[test]
fn the_elements_are_as_small_as_promised() {
    for (name, kilobytes) in [("inbox.js", 15), ("preferences.js", 12), ("follow.js", 5)] {
        let mut files = BTreeSet::new();
        with_imports(name, &mut files);
        let bytes = |name: &String| gzipped(&fs::read(dist().join(name)).unwrap()).len();
        let all: usize = files.iter().map(bytes).sum();
        assert!(all <= kilobytes * 1_024, "{files:?} have {all} bytes");
        let text = fs::read_to_string(dist().join(name)).unwrap();
        assert!(!text.contains("://unpkg") && !text.contains("sourceMappingURL"), "{name}");
    }
}
