//! The types of Rust that schemas of the document are.

use std::collections::BTreeSet;

use serde_json::Value;

/// The direction in which a type goes: what is sent is made by callers, what is answered may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    In,
    Out,
}

/// The document with the ways that its schemas go.
pub(crate) struct Schemas<'a> {
    pub(crate) all: &'a serde_json::Map<String, Value>,
    pub(crate) sent: BTreeSet<String>,
    pub(crate) answered: BTreeSet<String>,
}

/// The type of a property.
pub(crate) struct Typed {
    /// Its type, without the option that it may be.
    pub(crate) name: String,
    pub(crate) nullable: bool,
}

impl<'a> Schemas<'a> {
    pub(crate) fn of(api: &'a Value) -> Self {
        let all = api["components"]["schemas"].as_object().expect("the document has schemas");
        let mut it = Self { all, sent: BTreeSet::new(), answered: BTreeSet::new() };
        let (mut sent, mut answered) = (BTreeSet::new(), BTreeSet::new());
        for item in api["paths"].as_object().expect("the document has paths").values() {
            for call in item.as_object().expect("a path has calls").values() {
                it.walk(&call["requestBody"], &mut sent);
                it.walk(&call["responses"], &mut answered);
            }
        }
        (it.sent, it.answered) = (sent, answered);
        it
    }

    fn walk(&self, value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Array(list) => list.iter().for_each(|one| self.walk(one, found)),
            Value::Object(table) => {
                if let Some(name) = reference(value)
                    && found.insert(name.to_owned())
                {
                    self.walk(&self.all[name], found);
                }
                table.values().for_each(|one| self.walk(one, found));
            }
            _ => {}
        }
    }

    /// The name of a schema as it goes a way: what goes both ways is two types.
    pub(crate) fn name(&self, schema: &str, way: Way) -> String {
        let is_both = self.sent.contains(schema) && self.answered.contains(schema);
        let body = &self.all[schema];
        if body["type"] == "string" && body["enum"].is_null() {
            return "String".to_owned();
        }
        if way == Way::Out && is_both && body["enum"].is_null() && !is_one_or_many(body) {
            return format!("{schema}Out");
        }
        schema.to_owned()
    }

    /// The type of a schema that stands somewhere.
    pub(crate) fn typed(&self, schema: &Value, way: Way) -> Typed {
        let plain = |name: &str| Typed { name: name.to_owned(), nullable: false };
        if let Some(name) = reference(schema) {
            let body = &self.all[name];
            if let Some(of) = one_or_many(body) {
                return plain(&format!("OneOrMany<{}>", self.typed(of, way).name));
            }
            return plain(&self.name(name, way));
        }
        if let Some(of) = schema["oneOf"].as_array() {
            let rest: Vec<&Value> = of.iter().filter(|one| one["type"] != "null").collect();
            let nullable = rest.len() < of.len();
            let name = match rest[..] {
                [one] => self.typed(one, way).name,
                [one, many] if many["items"] == *one || is_list_of(many, one) => {
                    format!("OneOrMany<{}>", self.typed(one, way).name)
                }
                _ => panic!("a choice without a name: {schema}"),
            };
            return Typed { name, nullable };
        }
        let (kind, nullable) = kind_of(schema);
        let name = match kind {
            "string" => "String".to_owned(),
            "boolean" => "bool".to_owned(),
            "number" => "f64".to_owned(),
            "integer" => {
                let unsigned = schema["minimum"].as_f64().is_some_and(|least| least >= 0.0);
                let bits = if schema["format"] == "int32" { "32" } else { "64" };
                format!("{}{bits}", if unsigned { "u" } else { "i" })
            }
            "array" => format!("Vec<{}>", self.typed(&schema["items"], way).name),
            "object" => match &schema["additionalProperties"] {
                Value::Object(of) if !of.is_empty() => {
                    format!(
                        "BTreeMap<String, {}>",
                        self.typed(&schema["additionalProperties"], way).name
                    )
                }
                _ if way == Way::In => "Value".to_owned(),
                _ => "Map<String, Value>".to_owned(),
            },
            _ => "Value".to_owned(),
        };
        Typed { name, nullable }
    }
}

/// The name that a reference names.
pub(crate) fn reference(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix("#/components/schemas/")
}

fn kind_of(schema: &Value) -> (&str, bool) {
    match &schema["type"] {
        Value::String(kind) => (kind, false),
        Value::Array(kinds) => {
            let kind = kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null");
            (kind.unwrap_or_default(), kinds.iter().any(|kind| kind == "null"))
        }
        _ => ("", false),
    }
}

fn is_list_of(list: &Value, one: &Value) -> bool {
    list["type"] == "array"
        && kind_of(&list["items"]) == kind_of(one)
        && reference(&list["items"]) == reference(one)
}

/// The schema of which one or a list may be given.
fn one_or_many(schema: &Value) -> Option<&Value> {
    match schema["oneOf"].as_array().map(Vec::as_slice) {
        Some([one, many]) if reference(one).is_some() && is_list_of(many, one) => Some(one),
        _ => None,
    }
}

pub(crate) fn is_one_or_many(schema: &Value) -> bool {
    one_or_many(schema).is_some()
}

/// The properties of a schema and of those that it adds to.
pub(crate) fn properties<'v>(
    schemas: &'v Schemas<'_>,
    schema: &'v Value,
) -> Vec<(&'v String, &'v Value, bool)> {
    let parts =
        schema["allOf"].as_array().map_or_else(|| vec![schema], |parts| parts.iter().collect());
    let mut found = Vec::new();
    for part in parts {
        if let Some(name) = reference(part) {
            found.extend(properties(schemas, &schemas.all[name]));
            continue;
        }
        let required = part["required"].as_array().map_or(&[][..], Vec::as_slice);
        for (name, property) in part["properties"].as_object().into_iter().flatten() {
            found.push((name, property, required.iter().any(|one| one == name)));
        }
    }
    found
}

/// `review_requested` as the name of a type.
pub(crate) fn camel(text: &str) -> String {
    let words = text.split(|at: char| !at.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

/// A property's name as a field's.
pub(crate) fn field(name: &str) -> String {
    let name = name.to_lowercase().replace('-', "_");
    if matches!(name.as_str(), "type" | "for" | "in" | "ref" | "match" | "move" | "use") {
        format!("{name}_")
    } else {
        name
    }
}

/// A description as a doc comment.
pub(crate) fn doc(text: Option<&str>, without: &str) -> String {
    let text = text.unwrap_or(without).trim();
    text.lines().map(|line| format!("/// {}\n", line.trim_end())).collect()
}
