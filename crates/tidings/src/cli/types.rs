//! `tidings types`: prints the schemas of events' `data` as one JSON Schema, for generators of types.

use std::io;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use tidings_core::Rules;

use super::{Status, Streams};

/// Arguments of `types`.
#[derive(clap::Args)]
pub(super) struct TypesArguments {
    /// Configuration
    #[arg(long, value_name = "FILE", default_value = "tidings.toml")]
    config: PathBuf,
}

/// Runs the command.
pub(super) fn run(arguments: &TypesArguments, streams: &mut Streams<'_>) -> io::Result<Status> {
    match tidings_config::read(&arguments.config) {
        Ok(rules) => {
            writeln!(streams.out, "{:#}", document(&rules))?;
            Ok(Status::Done)
        }
        Err(faults) => {
            write!(streams.err, "{faults}")?;
            Ok(Status::Wrong)
        }
    }
}

/// The schema of an object with a field for each type of event, which holds its `data`.
fn document(rules: &Rules) -> Value {
    let data = |(event_type, rules): (&String, &tidings_core::rules::TypeRules)| {
        let text = rules.schema.as_ref().map(|schema| schema.text());
        // The configuration was read, so that it is JSON.
        let schema = text.and_then(|text| serde_json::from_str(text).ok());
        let mut schema = schema.unwrap_or_else(|| json!({ "type": "object" }));
        let pointer = event_type.replace('~', "~0").replace('/', "~1");
        move_references(&mut schema, &format!("#/properties/{pointer}"));
        (event_type.clone(), schema)
    };
    let properties: Map<String, Value> = rules.types.iter().map(data).collect();
    let names: Vec<&String> = properties.keys().collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "EventData",
        "type": "object",
        "additionalProperties": false,
        "required": names,
        "properties": properties,
    })
}

/// Makes references within a schema right for its new place: many generators know no `$id` of a part.
fn move_references(schema: &mut Value, root: &str) {
    match schema {
        Value::Object(fields) if !fields.contains_key("$id") => {
            for (name, value) in fields {
                match (name.as_str(), &mut *value) {
                    ("const" | "enum" | "default" | "examples", _) => {}
                    ("$ref", Value::String(reference)) => {
                        let pointer = reference.strip_prefix('#');
                        if let Some(pointer) =
                            pointer.filter(|at| at.is_empty() || at.starts_with('/'))
                        {
                            *reference = format!("{root}{pointer}");
                        }
                    }
                    _ => move_references(value, root),
                }
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|one| move_references(one, root)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = r##"
        [categories.sales]
        [types.order_paid]
        category = "sales"
        channels.inbox = { policy = "now" }
        [types.order_paid.schema]
        type = "object"
        properties.total = { "$ref" = "#/$defs/money" }
        properties.status = { enum = ["#/a"] }
        "$defs".money = { type = "number" }
        [types.thread]
        category = "sales"
        channels.inbox = { policy = "now" }
        schema = { properties = { parent = { "$ref" = "#" } } }
        [types."9-lives"]
        category = "sales"
        channels.inbox = { policy = "now" }
    "##;

    #[test]
    fn all_schemas_are_one_whose_references_hold() {
        let document = document(&tidings_config::parse(CONFIG, "tidings.toml").unwrap());
        let order = &document["properties"]["order_paid"];
        assert_eq!(order["properties"]["total"]["$ref"], "#/properties/order_paid/$defs/money");
        assert_eq!(order["properties"]["status"]["enum"][0], "#/a");
        let schema = tidings_config::data_schema::compile(&document).unwrap();
        let parent = |parent: Value| {
            let data =
                json!({"order_paid": {"total": 1}, "9-lives": {}, "thread": {"parent": parent}});
            schema.fault(&data).map(|fault| fault.pointer)
        };
        assert_eq!(parent(json!({"parent": {}})), None);
        let without = json!({"order_paid": {"total": "1"}, "9-lives": {}, "thread": {}});
        assert_eq!(schema.fault(&without).unwrap().pointer, "/order_paid/total");
    }
}
