//! The elements for pages of hosts, and what they load: files of `ui/dist`, which every page may load.
//!
//! `/ui/NAME` is the newest for an hour, `/ui/VERSION/NAME` the same for ever.

#[cfg(test)]
mod tests;

use std::io::Write as _;
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::Bytes;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use flate2::Compression;
use flate2::write::GzEncoder;
use tidings_config::wording::quoted;
use xxhash_rust::xxh3::xxh3_128;

use super::error::{Code, Problem};
use super::service::Service;

/// The version in the address of files that never change.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The files, by name.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_bytes!(concat!("../../../ui/dist/", $name)).as_slice())),*]
    };
}

static FILES: [(&str, &[u8]); 29] = files![
    "core.js",
    "follow.js",
    "inbox-panel.js",
    "inbox.js",
    "locales/ar.js",
    "locales/cs.js",
    "locales/da.js",
    "locales/de.js",
    "locales/es.js",
    "locales/fa.js",
    "locales/fi.js",
    "locales/fr.js",
    "locales/he.js",
    "locales/hi.js",
    "locales/it.js",
    "locales/ja.js",
    "locales/ko.js",
    "locales/nb.js",
    "locales/nl.js",
    "locales/pl.js",
    "locales/pt.js",
    "locales/ru.js",
    "locales/sv.js",
    "locales/tr.js",
    "locales/uk.js",
    "locales/zh-Hant.js",
    "locales/zh.js",
    "preferences.js",
    "worker.js",
];

/// The script of Web Push, which a browser runs for as much of a site as it is allowed.
const WORKER: &str = "worker.js";

/// Files that change with the next release are cached for an hour.
const FOR_AN_HOUR: &str = "public, max-age=3600, must-revalidate";
const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// A file as it is sent.
struct ServedFile {
    name: &'static str,
    plain: EncodedFile,
    gzipped: EncodedFile,
}

/// A file in one encoding.
struct EncodedFile {
    bytes: Bytes,
    etag: HeaderValue,
}

impl EncodedFile {
    fn of(bytes: Bytes) -> Self {
        let etag = format!("\"{:032x}\"", xxh3_128(&bytes));
        let etag = HeaderValue::try_from(etag).unwrap_or(HeaderValue::from_static("\"\""));
        Self { bytes, etag }
    }
}

/// The files, compressed once.
static SENT: LazyLock<Vec<ServedFile>> = LazyLock::new(|| {
    let file = |(name, bytes): &(&'static str, &'static [u8])| ServedFile {
        name,
        plain: EncodedFile::of(Bytes::from_static(bytes)),
        gzipped: EncodedFile::of(gzipped(bytes).into()),
    };
    FILES.iter().map(file).collect()
});

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

/// The routes of the files.
pub(super) fn routes() -> Router<Arc<Service>> {
    Router::new().route("/ui/{*name}", get(file))
}

async fn file(Path(path): Path<String>, headers: HeaderMap) -> Result<Response, Problem> {
    let versioned = path.strip_prefix(VERSION).and_then(|rest| rest.strip_prefix('/'));
    let name = versioned.unwrap_or(&path);
    let file = SENT.iter().find(|file| file.name == name).ok_or_else(|| unknown(&path))?;
    let is_gzipped = takes_gzip(&headers);
    let form = if is_gzipped { &file.gzipped } else { &file.plain };
    let mut response = if is_known(&headers, form) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        form.bytes.clone().into_response()
    };
    let sent = response.headers_mut();
    let kept = if versioned.is_some() { FOR_EVER } else { FOR_AN_HOUR };
    let always: [(HeaderName, &str); 5] = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (header::CACHE_CONTROL, kept),
        (header::VARY, "Accept-Encoding"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Pages that isolate themselves (`Cross-Origin-Embedder-Policy`) may load it too.
        (HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
    ];
    for (name, value) in always {
        sent.insert(name, HeaderValue::from_static(value));
    }
    sent.insert(header::ETAG, form.etag.clone());
    if is_gzipped {
        sent.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if file.name == WORKER {
        // A host that serves this path under its own origin may register it for all of its pages.
        sent.insert("service-worker-allowed", HeaderValue::from_static("/"));
    }
    Ok(response)
}

fn unknown(path: &str) -> Problem {
    let detail = format!("there is no file {}", quoted(&format!("/ui/{path}")));
    let hint = format!("write `/ui/NAME.js`, or `/ui/{VERSION}/NAME.js` for this server's version");
    Problem::new(Code::NotFound, detail).hint(hint)
}

/// Returns true if the caller takes gzip (RFC 9110, section 12.5.3).
fn takes_gzip(headers: &HeaderMap) -> bool {
    let fields = headers.get_all(header::ACCEPT_ENCODING).iter();
    let codings = fields.filter_map(|field| field.to_str().ok()).flat_map(|field| field.split(','));
    let mut any = false;
    for coding in codings {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").map(str::trim);
        let is_taken = weight.is_none_or(|weight| weight.parse::<f32>().is_ok_and(|q| q > 0.0));
        match name.trim().to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => return is_taken,
            "*" => any = is_taken,
            _ => {}
        }
    }
    any
}

/// Returns true if the caller has the file already (RFC 9110, section 13.1.2).
fn is_known(headers: &HeaderMap, form: &EncodedFile) -> bool {
    let fields = headers.get_all(header::IF_NONE_MATCH).iter();
    let mut tags =
        fields.filter_map(|field| field.to_str().ok()).flat_map(|field| field.split(','));
    tags.any(|tag| {
        let tag = tag.trim();
        tag == "*" || tag.strip_prefix("W/").unwrap_or(tag).as_bytes() == form.etag.as_bytes()
    })
}
