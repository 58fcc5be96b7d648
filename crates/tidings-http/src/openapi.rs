//! The OpenAPI document: its general parts, and the calls that return it.

use std::sync::LazyLock;

use axum::body::Bytes;
use axum::http::header;
use axum::response::IntoResponse;
use serde::Serialize as _;
use serde_json::ser::PrettyFormatter;
use tidings_core::engine::CommandConcerns;
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Document;
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::security::{Http, HttpAuthScheme, HttpBuilder, SecurityScheme};

use utoipa_axum::routes;

use super::call::Calls;
use super::error::{Code, Problem, ProblemBody, section};
use super::pages::guide;
use super::request::InPath;
use super::v1::events::cloud::CloudEvent;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "tidings",
        description = "A notification engine: publish events, and each recipient gets one message for \
                       what has gathered, when the policy says so.",
        license(name = "Apache-2.0 OR MIT", identifier = "Apache-2.0 OR MIT")
    ),
    servers(
        (url = "/", description = "The server that answers with this document"),
        (url = "http://127.0.0.1:8990", description = "A server on this machine, without `--listen`"),
    ),
    tags(
        (name = "events", description = "Publish events, get their outcome, cancel them"),
        (name = "recipients", description = "Profiles of the people who can be notified"),
        (name = "tenants", description = "Organisations with members, defaults and a look of their own"),
        (name = "subscriptions", description = "Topics that recipients follow"),
        (name = "preferences", description = "Choices of recipients by type, category and channel, and their quiet hours"),
        (name = "objects", description = "The things that events are about"),
        (name = "inbox", description = "Inboxes, and seen and read marks"),
        (name = "me", description = "Calls of end users, with a token that the application signs"),
        (name = "messages", description = "Messages of channels: history, retry, cancel and resend"),
        (name = "suppressions", description = "Addresses to which nothing is sent"),
        (name = "pending", description = "Pending notifications, and sending them now"),
        (name = "configuration", description = "List, pause and resume types and channels"),
        (name = "feeds", description = "Databases from which events are read"),
        (name = "hooks", description = "Services of the host that are called about messages, preferences and addresses"),
        (name = "admin", description = "Status and actions for operators"),
        (name = "operating", description = "Health, metrics, this document, and the pages of errors"),
    ),
    // Not a body of `publish` by name: clients that generators make of a call with several bodies of JSON don't run.
    components(schemas(ProblemBody<'static>, CloudEvent)),
    security(("key" = []))
)]
struct DocumentHead;

/// The document without its calls.
pub(super) fn head() -> Document {
    let mut document = DocumentHead::openapi();
    let key = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    let components = document.components.get_or_insert_default();
    components.security_schemes.insert("key".to_owned(), key.into());
    let token = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("JWT").build();
    components.security_schemes.insert("token".to_owned(), SecurityScheme::Http(token).into());
    for code in Code::ALL {
        let example = ExampleBuilder::new()
            .summary(code.row().title)
            .value(serde_json::to_value(example(*code).body()).ok())
            .build();
        let examples = &mut components.examples;
        examples.insert(code.row().code.to_owned(), example.into());
    }
    document
}

/// A problem of a code, as in an answer.
fn example(code: Code) -> Problem {
    match code {
        Code::InvalidBody => Problem::new(code, "`to` must be an object, got an array")
            .hint("Example: `{\"recipients\": [\"ada\"]}`"),
        Code::UnknownType => {
            Problem::new(code, "unknown type `coment`").hint("did you mean `comment`?")
        }
        Code::Grew => Problem::grew(CommandConcerns { people: 120, entries: 240, messages: 0 }),
        // Without the log line that `Problem::new` writes for an internal error.
        _ => Problem {
            code,
            detail: code.row().title.into(),
            hint: None,
            pointer: None,
            concerns: None,
            elsewhere: None,
        },
    }
}

/// The document as it is served and committed.
///
/// # Panics
/// Never: the document is JSON.
#[must_use]
pub(super) fn text(document: &Document) -> String {
    let mut text = Vec::new();
    // A line a value, so that changes can be reviewed; no spaces, which would be a third of what clients download.
    let lines = PrettyFormatter::with_indent(b"");
    let mut json = serde_json::Serializer::with_formatter(&mut text, lines);
    document.serialize(&mut json).expect("the document is made of texts, numbers and lists");
    text.push(b'\n');
    String::from_utf8(text).expect("JSON is text")
}

/// `/v1/openapi.json`, `/llms.txt`, and the page of each error.
pub(super) fn calls(calls: Calls) -> Calls {
    let calls = calls.add("openapi", routes!(openapi));
    calls.add("get_llms_txt", routes!(get_llms_txt)).add("get_error", routes!(get_error))
}

/// Get this document
///
/// Returns the OpenAPI document of this server. The same text is `docs/openapi.json` of the release. Needs no key.
#[utoipa::path(
    get, path = "/v1/openapi.json", tag = "operating", security(()),
    responses((
        status = 200, description = "The document", body = serde_json::Map<String, serde_json::Value>,
        example = json!({"openapi": "3.1.0", "info": {"title": "tidings", "version": "0.1.0"}, "paths": {}}),
    ))
)]
async fn openapi() -> impl IntoResponse {
    static TEXT: LazyLock<Bytes> = LazyLock::new(|| text(&super::document()).into());
    ([(header::CONTENT_TYPE, "application/json")], TEXT.clone())
}

/// Get a guide for language models
///
/// Returns a short text in Markdown (llmstxt.org): an introduction, the first calls, the pages and all calls of this
/// server. Needs no key.
#[utoipa::path(
    get, path = "/llms.txt", tag = "operating", security(()),
    responses((
        status = 200, description = "The text", body = String, content_type = "text/plain",
        example = json!("# tidings 0.1.0\n\n> A notification engine\n"),
    ))
)]
async fn get_llms_txt() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| guide(&super::document()));
    &TEXT
}

/// Get the page of an error
///
/// Returns the section of `docs/errors.md` on one code: the title, the status, whether to retry, and how to
/// fix the fault. The `type` of a problem is the path of this call. Needs no key.
#[utoipa::path(
    get, path = "/errors/{code}", tag = "operating", security(()),
    params(("code" = String, Path, description = "Code of an error", example = "unknown_type")),
    responses((
        status = 200, description = "The page, in Markdown", body = String, content_type = "text/plain",
        example = json!("## `unknown_type`\n\nThe type is not configured. Status 422.\n"),
    ))
)]
async fn get_error(InPath(name): InPath<String>) -> Result<String, Problem> {
    let code = Code::ALL.iter().find(|code| code.row().code == name);
    match code {
        Some(code) => Ok(section(*code)),
        None => Err(Problem::new(Code::NotFound, "no error has this code")),
    }
}
