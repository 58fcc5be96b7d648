//! Calls: a struct for each tag of the document, with a method for each operation.

use std::collections::BTreeMap;

use serde_json::Value;

use super::schema::{Schemas, Way, camel, doc, field, properties, reference};
use super::types::taken;

/// Names of resources for tags that are no good names.
const RESOURCES: &[(&str, &str)] = &[("operating", "server")];

/// Parts of paths that are resources, whatever their tag.
const PATHS: &[&str] = &["feeds", "hooks"];

/// Names of methods for which the rule (the operation's id without the words of its resource) gives no good one.
const METHODS: &[(&str, &str)] = &[
    ("cancel_all", "cancel_all"),
    ("withdraw", "withdraw_all"),
    ("withdraw_event", "withdraw"),
    ("change_objects", "upsert_many"),
    ("put_object", "upsert"),
    ("change_recipients", "patch_many"),
    ("put_recipient", "upsert"),
    ("change_tenants", "patch_many"),
    ("put_tenant", "upsert"),
    ("list_members", "members"),
    ("list_event_recipients", "recipients"),
    ("list_followers", "followers"),
    ("list_parked", "parked"),
    ("put_member", "add_member"),
    ("preview_message", "preview_message"),
    ("cancel_messages", "cancel_many"),
    ("resend_messages", "resend_many"),
    ("retry_messages", "retry_many"),
    ("healthz", "health"),
    ("readyz", "ready"),
    ("put_preferences", "replace"),
    ("pending", "list"),
    ("inbox", "list"),
    ("suppress", "add"),
    ("unsuppress", "remove"),
    ("get_suppression", "get"),
    ("pause_type", "pause_type"),
    ("get_error", "error"),
    ("my_inbox_counts", "counts"),
    ("delete_my_items", "delete"),
    ("delete_items", "delete"),
    ("join_my_push", "add_push"),
    ("leave_my_push", "remove_push"),
    ("join_push", "add_push"),
    ("leave_push", "remove_push"),
    ("list_types", "types"),
    ("list_nodes", "nodes"),
];

struct Call<'a> {
    id: &'a str,
    method: String,
    verb: &'a str,
    path: &'a str,
    operation: &'a Value,
}

impl<'a> Call<'a> {
    fn parameters(&self, place: &str) -> Vec<&'a Value> {
        let all = self.operation["parameters"].as_array().map_or(&[][..], Vec::as_slice);
        // Which lines are answered is the client's own matter.
        all.iter().filter(|one| one["in"] == place && one["name"] != "answers").collect()
    }

    fn has(&self, parameter: &str) -> bool {
        let all = self.operation["parameters"].as_array().map_or(&[][..], Vec::as_slice);
        let shared = format!("#/components/parameters/{parameter}");
        all.iter().any(|one| one["name"] == parameter || one["$ref"] == shared)
    }

    /// The contents of answers of success, by media type.
    fn answers(&self) -> BTreeMap<&'a str, &'a Value> {
        let all = self.operation["responses"].as_object().expect("a call has answers");
        let good = all.iter().filter(|(status, _)| status.starts_with('2'));
        good.flat_map(|(_, answer)| answer["content"].as_object().into_iter().flatten())
            .map(|(kind, content)| (kind.as_str(), &content["schema"]))
            .collect()
    }

    fn said(&self, more: &str) -> String {
        let summary = self.operation["summary"].as_str().unwrap_or(self.id);
        let mut said = format!("{}{more}.", summary.trim_end_matches('.'));
        if let Some(description) = self.operation["description"].as_str() {
            said += &format!("\n\n{description}");
        }
        said += &format!("\n\n`{} {}`", self.verb, self.path);
        doc(Some(&said), "")
    }
}

pub(crate) fn calls(api: &Value) -> String {
    let schemas = Schemas::of(api);
    let mut resources: Vec<(String, Option<&str>, Vec<Call<'_>>)> = Vec::new();
    for (path, item) in api["paths"].as_object().expect("the document has paths") {
        for verb in ["get", "put", "post", "patch", "delete"] {
            let operation = &item[verb];
            let Some(id) = operation["operationId"].as_str() else { continue };
            let part = path.split('/').nth(2).filter(|part| PATHS.contains(part));
            let tag = part.or(operation["tags"][0].as_str()).unwrap_or("server");
            let resource =
                RESOURCES.iter().find(|(of, _)| *of == tag).map_or(tag, |(_, name)| name);
            let resource = resource.replace('-', "_");
            let described =
                api["tags"].as_array().into_iter().flatten().find(|one| one["name"] == tag);
            let described = described.and_then(|one| one["description"].as_str());
            let method =
                METHODS.iter().find(|(of, _)| *of == id).map(|(_, name)| (*name).to_owned());
            let method = method.unwrap_or_else(|| method_of(id, tag));
            let verb = match verb {
                "get" => "GET",
                "put" => "PUT",
                "post" => "POST",
                "patch" => "PATCH",
                _ => "DELETE",
            };
            let call = Call { id, method, verb, path, operation };
            match resources.iter_mut().find(|(name, ..)| *name == resource) {
                Some((_, _, calls)) => {
                    let twice = calls.iter().any(|other| other.method == call.method);
                    assert!(
                        !twice,
                        "{resource}.{} is there twice: name {id} in generate/calls.rs",
                        call.method
                    );
                    calls.push(call);
                }
                None => resources.push((resource, described, vec![call])),
            }
        }
    }
    let mut text = "use bytes::Bytes;\nuse futures_util::Stream;\nuse http::Method;\nuse serde_json::Value;\n\n\
        use crate::client::Client;\nuse crate::import::Import;\nuse crate::live::LiveEvent;\n\
        use crate::request::Request;\nuse crate::stream::ItemStream;\nuse crate::transport::{Query, segment};\n#[allow(clippy::wildcard_imports, reason = \"all that calls take and give\")]\n\
        use crate::types::*;\n\n"
        .to_owned();
    let mut ways = String::new();
    for (resource, described, calls) in &resources {
        let name = format!("{}Calls", camel(resource));
        let said = doc(*described, &format!("The calls of `{resource}`."));
        ways += &format!(
            "{said}#[must_use]\npub fn {resource}(&self) -> {name}<'_> {{ {name}(self) }}\n\n"
        );
        for call in calls {
            text += &query(&schemas, call);
        }
        text += &format!(
            "{said}#[derive(Clone, Copy, Debug)]\npub struct {name}<'c>(&'c Client);\n\nimpl {name}<'_> {{\n"
        );
        for call in calls {
            text += &methods(&schemas, call);
        }
        text += "}\n\n";
    }
    text + &format!("impl Client {{\n{ways}}}\n")
}

/// `list_feeds` of the tag `feeds` is `list`, `archive_mine` of `me` is `archive`.
fn method_of(id: &str, tag: &str) -> String {
    let (one, of_y) =
        (tag.trim_end_matches('s'), tag.strip_suffix("ies").map(|stem| format!("{stem}y")));
    let is_own = |word: &&str| match tag {
        "me" => ["my", "mine"].contains(word),
        _ => *word == tag || *word == one || of_y.as_deref() == Some(word),
    };
    let words: Vec<&str> = id.split('_').filter(|word| !is_own(word)).collect();
    if words.is_empty() { id.to_owned() } else { words.join("_") }
}

/// The parameters of a call's query. A tenant is named once: in the body, where that has a place for it.
fn query_of<'a>(schemas: &Schemas<'_>, call: &Call<'a>) -> Vec<&'a Value> {
    let schema = &call.operation["requestBody"]["content"]["application/json"]["schema"];
    let named_in_body = reference(schema).is_some_and(|name| {
        properties(schemas, &schemas.all[name]).iter().any(|of| of.0 == "tenant")
    });
    let is_given = |name: &Value| *name != "choices" && !(named_in_body && *name == "tenant");
    call.parameters("query").into_iter().filter(|one| is_given(&one["name"])).collect()
}

/// The type of a call's query.
fn query(schemas: &Schemas<'_>, call: &Call<'_>) -> String {
    let parameters = query_of(schemas, call);
    if parameters.is_empty() {
        return String::new();
    }
    let name = format!("{}Query", camel(call.id));
    let (mut fields, mut setters, mut pairs) = (String::new(), String::new(), String::new());
    for parameter in parameters {
        let name = parameter["name"].as_str().expect("a parameter has a name");
        let field = field(name);
        let said = doc(parameter["description"].as_str(), &format!("`{name}`"));
        let schema = &parameter["schema"];
        let is_list = schema["type"] == "array";
        let (typed, taken_as, value) = match schema["type"].as_str() {
            Some("boolean") => ("Option<bool>", "bool".to_owned(), format!("Some({field})")),
            Some("integer") => ("Option<u64>", "u64".to_owned(), format!("Some({field})")),
            Some("array") => {
                let (taken_as, value) = taken("Vec<String>", &field);
                ("Vec<String>", taken_as, value)
            }
            _ => {
                ("Option<String>", "impl Into<String>".to_owned(), format!("Some({field}.into())"))
            }
        };
        fields += &format!("{said}pub {field}: {typed},\n");
        setters += &format!(
            "{said}#[must_use]\npub fn {field}(mut self, {field}: {taken_as}) -> Self {{ self.{field} = {value}; self }}\n\n"
        );
        pairs += &if is_list {
            format!("for one in &self.{field} {{ query.add(\"{name}\", one); }}\n")
        } else {
            format!("if let Some(one) = &self.{field} {{ query.add(\"{name}\", one); }}\n")
        };
    }
    let said = format!("/// The query of `{} {}`.\n", call.verb, call.path);
    format!(
        "{said}#[derive(Clone, Debug, Default, PartialEq, Eq)]\n#[non_exhaustive]\npub struct {name} {{\n{fields}}}\n\n\
         impl {name} {{\n/// Nothing yet.\n#[must_use]\npub fn new() -> Self {{ Self::default() }}\n\n{setters}\n\
         fn query(&self) -> Query {{ let mut query = Query::default(); {pairs} query }}\n}}\n\n"
    )
}

fn methods(schemas: &Schemas<'_>, call: &Call<'_>) -> String {
    match call.id {
        "get_preferences" => {
            let list = method(
                schemas,
                call,
                &One { name: "get", answer: Some("Vec<PreferenceOut>"), ..One::default() },
            );
            let all = One {
                name: "choices",
                answer: Some("AllPreferences"),
                fixed: "choices=true",
                more: ", with all that may be chosen",
                ..One::default()
            };
            return list + &method(schemas, call, &all);
        }
        "my_preferences" => {
            return method(
                schemas,
                call,
                &One { name: "preferences", answer: Some("AllPreferences"), ..One::default() },
            );
        }
        "publish" => {
            let one = One {
                name: "publish",
                answer: Some("PublishedEvent"),
                body: Some(("&Event", "event")),
                more: ": one",
                ..One::default()
            };
            let many = One {
                name: "publish_many",
                answer: Some("Vec<EventOutcome>"),
                body: Some(("&[Event]", "events")),
                more: ": several at once",
                ..One::default()
            };
            return method(schemas, call, &one)
                + &method(schemas, call, &many)
                + &import(schemas, call);
        }
        _ => {}
    }
    let one = One { name: &call.method, ..One::default() };
    if call.has("cursor") {
        return pages(schemas, call);
    }
    let mut text = method(schemas, call, &one);
    let lines = &call.operation["requestBody"]["content"]["application/x-ndjson"]["schema"];
    if !lines.is_null() {
        text += &import(schemas, call);
    }
    text
}

#[derive(Default)]
struct One<'a> {
    name: &'a str,
    answer: Option<&'a str>,
    body: Option<(&'a str, &'a str)>,
    fixed: &'a str,
    more: &'a str,
    /// True if the answer may be that there is nothing newer.
    may_be_none: bool,
}

/// The parameters of a path, and the expression of it.
fn path(call: &Call<'_>) -> (String, String) {
    let mut given = String::new();
    let mut text = call.path.to_owned();
    let mut values = String::new();
    for parameter in call.parameters("path") {
        let name = parameter["name"].as_str().expect("a parameter has a name");
        let field = field(name);
        given += &format!(", {field}: &str");
        text = text.replace(&format!("{{{name}}}"), "{}");
        values += &format!(", segment({field})");
    }
    let path = if values.is_empty() {
        format!("\"{text}\".to_owned()")
    } else {
        format!("format!(\"{text}\"{values})")
    };
    (given, path)
}

fn method(schemas: &Schemas<'_>, call: &Call<'_>, one: &One<'_>) -> String {
    let (mut given, path) = path(call);
    let answers = call.answers();
    let json = answers.get("application/json");
    let mut make = format!("self.0.call(Method::{}, {path})", call.verb);
    let schema = &call.operation["requestBody"]["content"]["application/json"]["schema"];
    let query = !query_of(schemas, call).is_empty();
    if query {
        given += &format!(", query: &{}Query", camel(call.id));
        make += ".query(query.query())";
    }
    if let Some((name, value)) = one.fixed.split_once('=') {
        make += &format!(".query(Query::of(\"{name}\", \"{value}\"))");
    }
    if let Some((typed, name)) = one.body {
        given += &format!(", {name}: {typed}");
        make += &format!(".json({name})");
    } else if !schema.is_null() {
        let typed = schemas.typed(schema, Way::In).name;
        let is_choice = reference(schema).is_some_and(|name| schemas.all[name]["oneOf"].is_array());
        if let Some(item) = typed.strip_prefix("Vec<").and_then(|rest| rest.strip_suffix('>')) {
            given += &format!(", body: &[{item}]");
            make += ".json(body)";
        } else if is_choice {
            given += &format!(", body: impl Into<{typed}>");
            make += ".json(&body.into())";
        } else {
            given += &format!(", body: &{typed}");
            make += ".json(body)";
        }
    }
    if call.has("Idempotency-Key") {
        make += ".once()";
    }
    if query && call.has("wait") {
        make += ".waits(query.wait.as_deref())";
    }
    let statuses = &call.operation["responses"];
    let may_be_none = one.may_be_none || !statuses["204"].is_null();
    let (answer, make) = match (json, answers.keys().next()) {
        (Some(schema), _) => {
            let typed =
                one.answer.map_or_else(|| schemas.typed(schema, Way::Out).name, str::to_owned);
            let typed = if typed == "Map<String, Value>" { "Value".to_owned() } else { typed };
            if may_be_none {
                (format!("Request<Option<{typed}>>"), format!("{make}.maybe()"))
            } else {
                (format!("Request<{typed}>"), format!("{make}.answer()"))
            }
        }
        (None, Some(&"text/plain")) => ("Request<String>".to_owned(), format!("{make}.text()")),
        (None, Some(&"application/x-ndjson")) => {
            ("ItemStream<Value>".to_owned(), format!("{make}.lines()"))
        }
        (None, Some(&"text/event-stream")) => {
            ("ItemStream<LiveEvent>".to_owned(), format!("{make}.live()"))
        }
        (None, Some(&"application/octet-stream")) => {
            ("ItemStream<Bytes>".to_owned(), format!("{make}.bytes()"))
        }
        (None, Some(other)) => {
            panic!("{} answers {other}, which generate/calls.rs doesn't know", call.id)
        }
        (None, None) => ("Request<()>".to_owned(), format!("{make}.nothing()")),
    };
    format!("{}pub fn {}(&self{given}) -> {answer} {{ {make} }}\n\n", call.said(one.more), one.name)
}

/// A call with pages: all items, a page, and where it can wait, what is newer.
fn pages(schemas: &Schemas<'_>, call: &Call<'_>) -> String {
    let (given, path) = path(call);
    let page = reference(call.answers()["application/json"]).expect("a page is a schema");
    let of_page = properties(schemas, &schemas.all[page]);
    let items = of_page.iter().find(|(name, of, _)| of["type"] == "array" && *name != "missing");
    let (items, of, _) = items.expect("a page has items");
    let item = schemas.typed(&of["items"], Way::Out).name;
    let query = format!("{}Query", camel(call.id));
    let list = &call.method;
    let prefix = if list == "list" { String::new() } else { format!("{list}_") };
    let items = field(items);
    let mut text = format!(
        "{}pub fn {list}(&self{given}, query: &{query}) -> ItemStream<{item}> {{\n\
         self.0.pages({path}, query.query(), |page: {page}| (page.{items}, page.next))\n}}\n\n",
        call.said(", page after page as they are reached")
    );
    let name = format!("{prefix}page");
    text += &method(schemas, call, &One { name: &name, more: ": one page", ..One::default() });
    if !call.operation["responses"]["304"].is_null() {
        let name = format!("{prefix}newer");
        text += &method(
            schemas,
            call,
            &One {
                name: &name,
                more: ": a page, or `None` where nothing is newer than `since`",
                may_be_none: true,
                ..One::default()
            },
        );
    }
    text
}

fn import(schemas: &Schemas<'_>, call: &Call<'_>) -> String {
    let content = &call.operation["requestBody"]["content"]["application/x-ndjson"]["schema"];
    let line = schemas.typed(content, Way::In).name;
    let answer = schemas.typed(call.answers()["application/x-ndjson"], Way::Out).name;
    let (given, path) = path(call);
    // What is below something else is named after it.
    let below = call.method.split_once('_').filter(|_| !given.is_empty());
    let name = below.map_or("import".to_owned(), |(_, below)| format!("import_{below}"));
    format!(
        "{}pub fn {name}<L>(&self{given}, lines: L) -> Import<{answer}>\nwhere L: IntoIterator<Item = {line}>, L::IntoIter: Send + 'static,\n{{\n\
         Import::new(self.0, {path}, futures_util::stream::iter(lines))\n}}\n\n\
         {}pub fn {name}_stream(&self{given}, lines: impl Stream<Item = {line}> + Send + 'static) -> Import<{answer}> {{\n\
         Import::new(self.0, {path}, lines)\n}}\n\n",
        call.said(": any number, sent in parts"),
        call.said(": any number as they come, sent in parts"),
    )
}
