//! The documentation as the server has it, for people and programs that know nothing but its address: `/llms.txt` lists
//! what there is, and `/docs/NAME.md` is the page of that name.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use tidings_config::wording::quoted;
use utoipa::openapi::OpenApi;

use super::access::DOCS;
use super::call::methods;
use super::error::{Code, Problem};
use super::service::Service;

/// The pages, by name.
macro_rules! pages {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../docs/", $name)))),*]
    };
}

/// The pages in the order in which they are read.
static PAGES: [(&str, &str); 34] = pages![
    "quickstart.md",
    "concepts.md",
    "data.md",
    "conditions.md",
    "mail.md",
    "languages.md",
    "channels.md",
    "deciding.md",
    "timeline.md",
    "modelling.md",
    "tokens.md",
    "tenants.md",
    "outbox.md",
    "hooks.md",
    "ui/elements.md",
    "installing.md",
    "running.md",
    "commands.md",
    "console.md",
    "mcp.md",
    "operators.md",
    "signing-in.md",
    "messages.md",
    "before-you-change.md",
    "bounces.md",
    "figures.md",
    "monitoring.md",
    "log.md",
    "troubleshooting.md",
    "cluster.md",
    "security.md",
    "moving.md",
    "embedding.md",
    "errors.md",
];

/// The step of the quick start that shows a call.
const FIRST_CALLS: &str = "## 2. Run it, publish, look\n";

/// The routes of the pages.
pub(super) fn routes() -> Router<Arc<Service>> {
    Router::new().route("/docs/{*name}", get(page))
}

async fn page(Path(name): Path<String>) -> Result<impl IntoResponse, Problem> {
    match PAGES.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => Ok(([(header::CONTENT_TYPE, "text/markdown; charset=utf-8")], *text)),
        None => {
            let detail = format!("there is no page {}", quoted(&format!("{DOCS}{name}")));
            Err(Problem::new(Code::NotFound, detail).hint("`/llms.txt` lists the pages."))
        }
    }
}

/// The name, the title and a description of each page.
pub(super) fn listed() -> impl Iterator<Item = (&'static str, &'static str, String)> {
    PAGES.iter().map(|(name, page)| {
        (*name, title(page), described(page).trim_start_matches(": ").to_owned())
    })
}

/// The text of `/llms.txt`, by the API's document.
pub(super) fn guide(document: &OpenApi) -> String {
    let about = document.info.description.as_deref().unwrap_or_default();
    let mut out = format!("# tidings {}\n\n> {about}\n", document.info.version);
    // Writing to a text can't fail.
    out.push_str("\n## Pages\n\n");
    for (name, page) in &PAGES {
        let _ = writeln!(out, "- [{}]({DOCS}{name}){}", title(page), described(page));
    }
    let _ = write!(
        out,
        "\n## API\n\n\
         - [openapi.json](/v1/openapi.json): every call with its body, its answers and its errors\n\
         - `/errors/CODE`: an error by the `code` of a problem, and how to fix it\n\n\
         These, the pages, `/healthz` and `/readyz` need no key.\n"
    );
    out.push_str(&first_calls());
    let mut by_tag: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (path, item) in &document.paths.paths {
        for method in methods(item) {
            let operation = match method {
                "GET" => &item.get,
                "PUT" => &item.put,
                "POST" => &item.post,
                "DELETE" => &item.delete,
                _ => &item.patch,
            };
            let Some(operation) = operation else {
                continue;
            };
            let tag = operation.tags.iter().flatten().next().map_or("", String::as_str);
            let summary = operation.summary.as_deref().unwrap_or_default();
            by_tag.entry(tag).or_default().push(format!("- `{method} {path}`: {summary}\n"));
        }
    }
    for tag in document.tags.iter().flatten() {
        let Some(calls) = by_tag.get(tag.name.as_str()) else {
            continue;
        };
        let about = tag.description.as_deref().unwrap_or_default();
        let _ = write!(out, "\n## Calls: {}\n\n{about}.\n\n{}", tag.name, calls.concat());
    }
    out
}

/// The step of the quick start that publishes an event, and a note on keys.
fn first_calls() -> String {
    let (_, quickstart) = PAGES[0];
    let step = quickstart.split_once(FIRST_CALLS).map_or("", |(_, rest)| rest);
    let step = step.split("\n## ").next().unwrap_or_default();
    format!(
        "\n## First calls\n{step}\nWithout `--dev` each call has the header `Authorization: Bearer KEY`.\n"
    )
}

fn title(page: &'static str) -> &'static str {
    let first = page.lines().next().unwrap_or_default();
    first.trim_start_matches("# ")
}

/// The first sentence of a page, without its links; nothing where it begins with a heading or a table.
fn described(page: &str) -> String {
    let paragraph = page.split("\n\n").nth(1).unwrap_or_default();
    if paragraph.starts_with(['#', '|', '`', '!']) {
        return String::new();
    }
    let paragraph = paragraph.replace('\n', " ");
    let end = paragraph.find(". ").unwrap_or(paragraph.len());
    format!(": {}", unlinked(paragraph[..end].trim_end_matches('.')))
}

/// A text without the targets of its links.
fn unlinked(text: &str) -> String {
    let mut parts = text.split("](");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.split_once(')').map_or("", |(_, rest)| rest));
    }
    out.replace('[', "")
}

#[cfg(test)]
mod tests {
    use axum::http::{Method, StatusCode};
    use serde_json::Value;

    use super::*;
    use crate::rig::{CONFIG, Rig};
    use crate::{Access, Settings};

    fn get(rig: &Rig, path: &str) -> (StatusCode, String) {
        let answer = rig.call(Method::GET, path, &Value::Null);
        (answer.status, String::from_utf8(answer.bytes).unwrap())
    }

    #[test]
    fn llms_txt_names_every_page_and_every_call_and_needs_no_key() {
        let rig = Rig::with(CONFIG, Access::Keys { token: None }, Settings::default());
        let (status, text) = get(&rig, "/llms.txt");
        assert_eq!(status, StatusCode::OK);
        assert!(text.starts_with("# tidings 0."), "{text}");
        assert!(text.len() < 20_000, "{} bytes are no short text", text.len());
        // Each of its links leads somewhere, without a key.
        let links: Vec<&str> =
            text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
        assert_eq!(links.len(), PAGES.len() + 1, "{links:?}");
        for link in links {
            assert_eq!(get(&rig, link).0, StatusCode::OK, "{link}");
        }
        for (name, page) in &PAGES {
            assert!(text.contains(&format!("[{}]({DOCS}{name})", title(page))), "{name}");
        }
        let document = crate::document();
        for (path, item) in &document.paths.paths {
            for method in methods(item) {
                assert!(text.contains(&format!("`{method} {path}`: ")), "{method} {path}");
            }
        }
        assert!(text.contains("curl http://127.0.0.1:8990/v1/events "), "{text}");
        assert!(text.contains("\"duplicate\""), "the whole step is there");
    }

    #[test]
    fn pages_are_those_of_the_documentation_and_nothing_else_is_served() {
        let rig = Rig::with(CONFIG, Access::Keys { token: None }, Settings::default());
        let (_, page) = get(&rig, "/docs/ui/elements.md");
        assert_eq!(page, include_str!("../../../docs/ui/elements.md"));
        for path in ["/docs/benchmarks.md", "/docs/../Cargo.toml", "/docs/ui", "/docs/"] {
            assert_ne!(get(&rig, path).0, StatusCode::OK, "{path}");
        }
        // Every page for users is there.
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
        for entry in std::fs::read_dir(docs).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let is_for_users = name.ends_with(".md") && name != "benchmarks.md";
            assert!(!is_for_users || PAGES.iter().any(|(known, _)| *known == name), "{name}");
        }
    }

    #[test]
    fn first_sentences_are_told_without_their_links() {
        let page = "# A\n\nSee [b](b.md) and\n[c](c.md). More.\n\n## D\n";
        assert_eq!((title(page), described(page).as_str()), ("A", ": See b and c"));
        assert_eq!(described("# A\n\n## B\n"), "");
    }
}
