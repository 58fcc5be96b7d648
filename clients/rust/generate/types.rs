//! Types: what is sent has constructors and setters, what is answered keeps fields that are not known.

use serde_json::Value;

use super::schema::{Schemas, Way, camel, doc, field, is_one_or_many, properties, reference};

/// The form of a patch: absent, null and a value are three things.
const PATCHES: &[&str] = &[
    "Addresses",
    "EventObject",
    "NamedObject",
    "NamedRecipient",
    "ObjectChange",
    "PreferencesAndHours",
    "RecipientChange",
];

/// Written by hand: an error has more to say than its body.
const BY_HAND: &[&str] = &["Problem"];

pub(crate) fn types(api: &Value) -> String {
    let schemas = Schemas::of(api);
    for name in PATCHES {
        assert!(
            schemas.all.contains_key(*name),
            "no schema is called {name}: mend PATCHES in generate/types.rs"
        );
    }
    let mut text = "use std::collections::BTreeMap;\n\nuse serde::{Deserialize, Serialize};\nuse serde_json::{Map, Value};\n\n\
        use crate::error::Problem;\nuse crate::patch::Patch;\nuse crate::values::{OneOrMany, words};\n\n"
        .to_owned();
    for (name, schema) in schemas.all {
        if BY_HAND.contains(&name.as_str()) || is_one_or_many(schema) {
            continue;
        }
        let sent = schemas.sent.contains(name);
        let answered = schemas.answered.contains(name);
        if let Some(of) = schema["enum"].as_array() {
            text += &words(name, schema, of);
            continue;
        }
        if schema["type"] == "string" {
            continue;
        }
        for (way, goes) in [(Way::In, sent), (Way::Out, answered)] {
            if !goes {
                continue;
            }
            text += &match schema["oneOf"].as_array() {
                Some(of) => choice(&schemas, name, schema, of, way),
                None if way == Way::In => sent_type(&schemas, name, schema),
                None => answered_type(&schemas, name, schema),
            };
        }
    }
    text
}

fn description(schema: &Value) -> Option<&str> {
    let of_one = || schema["oneOf"].as_array()?.iter().find_map(|one| one["description"].as_str());
    schema["description"].as_str().or_else(of_one)
}

fn words(name: &str, schema: &Value, of: &[Value]) -> String {
    let mut text = format!(
        "words! {{\n{}{name} {{\n",
        doc(description(schema), &format!("One of the words of `{name}`."))
    );
    for word in of.iter().filter_map(Value::as_str) {
        let variant = if word == "*" { "All".to_owned() } else { camel(word) };
        text += &format!("/// `{word}`\n{variant} = \"{word}\",\n");
    }
    text + "}\n}\n\n"
}

fn choice(schemas: &Schemas<'_>, name: &str, schema: &Value, of: &[Value], way: Way) -> String {
    let full = schemas.name(name, way);
    let has_table = of.iter().any(|one| one["type"] == "object");
    let has_number = of.iter().any(|one| one["type"] == "integer");
    let mut variants: Vec<(usize, String, String)> = of
        .iter()
        .map(|one| {
            let typed = schemas.typed(one, way).name;
            let variant = match (reference(one), one["type"].as_str()) {
                (Some(to), _)
                    if schemas.all[to]["type"] == "string" && schemas.all[to]["enum"].is_null() =>
                {
                    "Id".to_owned()
                }
                (Some(to), _) => to.to_owned(),
                (None, Some("array")) => "List".to_owned(),
                (None, Some("object")) => "ByLocale".to_owned(),
                (None, Some("integer")) => "Number".to_owned(),
                (None, Some("string")) if has_table => "Text".to_owned(),
                (None, Some("string")) if has_number => "Word".to_owned(),
                _ => "Id".to_owned(),
            };
            let of = reference(one).map_or(one, |to| &schemas.all[to]);
            let required =
                properties(schemas, of).iter().filter(|(_, _, required)| *required).count();
            (required, variant, typed)
        })
        .collect();
    // What requires more is tried first: a `rejected` has all that a `done` requires.
    variants.sort_by_key(|(required, ..)| std::cmp::Reverse(*required));
    let derives = if way == Way::In { "Serialize" } else { "Serialize, Deserialize" };
    let said = doc(description(schema), &format!("One of the forms of `{name}`."));
    let mut text = format!(
        "{said}#[derive(Clone, Debug, PartialEq, {derives})]\n#[serde(untagged)]\n#[non_exhaustive]\npub enum {full} {{\n"
    );
    for (_, variant, typed) in &variants {
        let said = match variant.as_str() {
            "Id" => "An id alone.".to_owned(),
            "List" => "A list.".to_owned(),
            "Text" => "One text for all languages.".to_owned(),
            "ByLocale" => "A text for each of some locales.".to_owned(),
            "Number" => "A number.".to_owned(),
            "Word" => "A word.".to_owned(),
            other => format!("As `{other}`."),
        };
        text += &format!("/// {said}\n{variant}({typed}),\n");
    }
    if way == Way::Out {
        text += "/// A form that this client does not know.\nOther(Value),\n";
    }
    text += "}\n\n";
    if way == Way::Out {
        return text;
    }
    for (_, variant, typed) in &variants {
        if typed == "String" {
            text += &format!(
                "impl From<&str> for {full} {{ fn from(id: &str) -> Self {{ Self::{variant}(id.to_owned()) }} }}\n\n"
            );
        }
        text += &format!(
            "impl From<{typed}> for {full} {{ fn from(of: {typed}) -> Self {{ Self::{variant}(of) }} }}\n\n"
        );
    }
    text
}

fn answered_type(schemas: &Schemas<'_>, name: &str, schema: &Value) -> String {
    let full = schemas.name(name, Way::Out);
    let mut text = doc(description(schema), &format!("`{name}` of an answer."));
    text += &format!(
        "#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]\n#[non_exhaustive]\npub struct {full} {{\n"
    );
    for (property, of, required) in properties(schemas, schema) {
        let typed = schemas.typed(of, Way::Out);
        text += &doc(description(of), &format!("`{property}`"));
        let field = field(property);
        let mut how = Vec::new();
        if field != *property {
            how.push(format!("rename = \"{property}\""));
        }
        let optional = !required || typed.nullable;
        if optional {
            how.push("default".to_owned());
        }
        if !required {
            how.push("skip_serializing_if = \"Option::is_none\"".to_owned());
        }
        if !how.is_empty() {
            text += &format!("#[serde({})]\n", how.join(", "));
        }
        let typed = if optional { format!("Option<{}>", typed.name) } else { typed.name };
        text += &format!("pub {field}: {typed},\n");
    }
    text + "/// Fields that this client does not know.\n#[serde(flatten)]\npub extra: Map<String, Value>,\n}\n\n"
}

fn sent_type(schemas: &Schemas<'_>, name: &str, schema: &Value) -> String {
    let patches = PATCHES.contains(&name);
    let properties = properties(schemas, schema);
    let all_optional = properties.iter().all(|(_, _, required)| !required);
    let mut text = doc(description(schema), &format!("`{name}` of a request."));
    let default = if all_optional { ", Default" } else { "" };
    text += &format!(
        "#[derive(Clone, Debug, PartialEq, Serialize{default})]\n#[non_exhaustive]\npub struct {name} {{\n"
    );
    let mut given = Vec::new();
    let (mut made, mut setters) = (String::new(), String::new());
    for (property, of, required) in &properties {
        let typed = schemas.typed(of, Way::In);
        let field = field(property);
        let said = doc(description(of), &format!("`{property}`"));
        text += &said;
        let patch = patches && !required && typed.nullable;
        let mut how = Vec::new();
        if field != **property {
            how.push(format!("rename = \"{property}\""));
        }
        if !required {
            let empty = if patch { "Patch::is_keep" } else { "Option::is_none" };
            how.push(format!("skip_serializing_if = \"{empty}\""));
        }
        if !how.is_empty() {
            text += &format!("#[serde({})]\n", how.join(", "));
        }
        let whole = match (required, patch) {
            (true, _) => typed.name.clone(),
            (false, true) => format!("Patch<{}>", typed.name),
            (false, false) => format!("Option<{}>", typed.name),
        };
        text += &format!("pub {field}: {whole},\n");
        let (taken, value) = taken(&typed.name, &field);
        if *required {
            given.push((order(schema, property), format!("{field}: {taken}, ")));
            made += &format!("{field}: {value}, ");
            continue;
        }
        made += &format!("{field}: {}, ", if patch { "Patch::Keep" } else { "None" });
        let wrapped = if patch { format!("Patch::Set({value})") } else { format!("Some({value})") };
        setters += &format!(
            "{said}#[must_use]\npub fn {field}(mut self, {field}: {taken}) -> Self {{ self.{field} = {wrapped}; self }}\n\n"
        );
        if patch {
            setters += &format!(
                "/// Removes `{property}`.\n#[must_use]\npub fn clear_{field}(mut self) -> Self {{ self.{field} = Patch::Clear; self }}\n\n"
            );
        }
    }
    text += "}\n\n";
    given.sort();
    let given: String = given.into_iter().map(|(_, parameter)| parameter).collect();
    let new = if all_optional {
        "/// Nothing yet.\n#[must_use]\npub fn new() -> Self { Self::default() }\n\n".to_owned()
    } else {
        format!(
            "/// A value with the required fields; methods set the rest.\n#[must_use]\npub fn new({given}) -> Self {{ Self {{ {made} }} }}\n\n"
        )
    };
    text += &format!("impl {name} {{\n{new}{setters}}}\n\n");
    // An id stands for what needs nothing else.
    let required: Vec<&str> = properties
        .iter()
        .filter(|(_, _, required)| *required)
        .map(|(name, ..)| name.as_str())
        .collect();
    if required == ["id"] {
        text += &format!(
            "impl From<&str> for {name} {{ fn from(id: &str) -> Self {{ Self::new(id) }} }}\n\n"
        );
        text += &format!(
            "impl From<String> for {name} {{ fn from(id: String) -> Self {{ Self::new(id) }} }}\n\n"
        );
    }
    text
}

/// The place of a property among those that are required, which is that of its parameter.
fn order(schema: &Value, property: &str) -> Option<usize> {
    schema["required"].as_array()?.iter().position(|one| one == property)
}

/// The type of a parameter for a field, and what the field gets.
pub(crate) fn taken(typed: &str, name: &str) -> (String, String) {
    if matches!(typed, "bool" | "f64" | "u32" | "u64" | "i32" | "i64") {
        return (typed.to_owned(), name.to_owned());
    }
    if let Some(item) = typed.strip_prefix("Vec<").and_then(|rest| rest.strip_suffix('>')) {
        let item = format!("impl IntoIterator<Item = impl Into<{item}>>");
        return (item, format!("{name}.into_iter().map(Into::into).collect()"));
    }
    (format!("impl Into<{typed}>"), format!("{name}.into()"))
}
