//! The shape of a schema: as much of it as the type systems of languages can say.

use std::collections::BTreeMap;

use serde_json::Value;

use super::names::{Taken, pascal};

/// The most levels that are followed; below it is anything.
const LEVELS_MAX: usize = 32;

/// The shape of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// Anything.
    Any,
    Null,
    Bool,
    Whole,
    Number,
    Text,
    /// One of some values; the name is for languages that need one.
    Words(String, Vec<Value>),
    List(Box<Shape>),
    /// An object whose fields have any names.
    Map(Box<Shape>),
    /// A shape that is declared under a name. A `back` one is within itself.
    Named {
        name: String,
        back: bool,
    },
    /// One of several; the name is for languages that need one.
    Either(String, Vec<Shape>),
}

impl Shape {
    /// The shape without `null`, and true if it had it.
    pub(super) fn split_null(&self) -> (Self, bool) {
        match self {
            Self::Either(name, shapes) => {
                let rest: Vec<Self> =
                    shapes.iter().filter(|one| **one != Self::Null).cloned().collect();
                let has_null = rest.len() < shapes.len();
                (one_of(name, rest), has_null)
            }
            other => (other.clone(), *other == Self::Null),
        }
    }
}

/// A field of a record.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) shape: Shape,
    pub(super) is_required: bool,
}

/// A shape with a name.
#[derive(Debug)]
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    Record(Vec<Field>),
    Alias(Shape),
}

/// The shapes of a configuration, gathered.
#[derive(Default)]
pub(super) struct Shapes {
    declared: Vec<Declared>,
    taken: Taken,
}

/// The schema that is read, and what of it has names already.
struct Document<'s> {
    root: &'s Value,
    /// The begin of the names of what is below `$defs`.
    prefix: String,
    /// The names of references, true while what they name is being read.
    known: BTreeMap<String, (String, bool)>,
}

impl Shapes {
    /// The declared shapes in their order: what others name comes before them, where that is possible.
    pub(super) fn finish(self) -> Vec<Declared> {
        self.declared
    }

    /// Declares the `data` of a type of event; returns its name.
    pub(super) fn root(&mut self, event_type: &str, schema: &Value) -> String {
        let prefix = pascal(event_type);
        let name = self.taken.take(format!("{prefix}Data"));
        let known = BTreeMap::from([("#".to_owned(), (name.clone(), true))]);
        let mut document = Document { root: schema, prefix, known };
        let about = format!("`data` of `{event_type}`.");
        let about = match describes(schema) {
            "" => about,
            more => format!("{about}\n\n{more}"),
        };
        self.declare(&mut document, &name, about, schema, 0);
        name
    }

    fn declare(
        &mut self,
        document: &mut Document<'_>,
        name: &str,
        about: String,
        schema: &Value,
        level: usize,
    ) {
        let what = match self.fields(document, name, schema, level) {
            Some(fields) => What::Record(fields),
            // The `data` of an event is an object, whether its schema says so or not.
            None if level == 0 && schema.get("anyOf").or(schema.get("oneOf")).is_none() => {
                What::Alias(self.map(document, name, schema, level))
            }
            None => What::Alias(self.inner(document, name, schema, level)),
        };
        self.declared.push(Declared { name: name.to_owned(), about, what });
    }

    /// The fields of an object with names for them; `None` = it is none.
    fn fields(
        &mut self,
        document: &mut Document<'_>,
        name: &str,
        schema: &Value,
        level: usize,
    ) -> Option<Vec<Field>> {
        let mut merged = Merged::default();
        merged.add(document.root, schema, 0);
        let Merged { properties, required, is_closed } = merged;
        if properties.is_empty() && required.is_empty() && !is_closed {
            return None;
        }
        let any = Value::Bool(true);
        let unsaid = required.iter().filter(|name| !properties.contains_key(**name));
        let all = properties.iter().map(|(name, value)| (name.as_str(), *value));
        let all: Vec<(&str, &Value)> = all.chain(unsaid.map(|name| (*name, &any))).collect();
        let fields = all.into_iter().map(|(key, value)| Field {
            name: key.to_owned(),
            about: describes(value).to_owned(),
            shape: self.shape(document, &format!("{name}{}", pascal(key)), value, level + 1),
            is_required: required.contains(&key),
        });
        Some(fields.collect())
    }

    /// The shape of a schema; `name` is for what of it has to be declared.
    fn shape(
        &mut self,
        document: &mut Document<'_>,
        name: &str,
        schema: &Value,
        level: usize,
    ) -> Shape {
        if level > LEVELS_MAX {
            return Shape::Any;
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return self.referred(document, reference, level);
        }
        let is_record = is_kind(schema, "object") && self.is_record(document, schema);
        if !is_record {
            return self.inner(document, name, schema, level);
        }
        let name = self.taken.take(name.to_owned());
        self.declare(document, &name, describes(schema).to_owned(), schema, level);
        Shape::Named { name, back: false }
    }

    fn is_record(&self, document: &Document<'_>, schema: &Value) -> bool {
        let mut merged = Merged::default();
        merged.add(document.root, schema, 0);
        !merged.properties.is_empty() || merged.is_closed || !merged.required.is_empty()
    }

    fn referred(&mut self, document: &mut Document<'_>, reference: &str, level: usize) -> Shape {
        if let Some((name, back)) = document.known.get(reference) {
            return Shape::Named { name: name.clone(), back: *back };
        }
        let Some(schema) = document.root.pointer(reference.trim_start_matches('#')) else {
            // An anchor.
            return Shape::Any;
        };
        let last = reference.rsplit('/').next().unwrap_or_default();
        let name = self.taken.take(format!("{}{}", document.prefix, pascal(last)));
        document.known.insert(reference.to_owned(), (name.clone(), true));
        self.declare(document, &name, describes(schema).to_owned(), schema, level.max(1));
        document.known.insert(reference.to_owned(), (name.clone(), false));
        Shape::Named { name, back: false }
    }

    /// The shape of what is no record.
    fn inner(
        &mut self,
        document: &mut Document<'_>,
        name: &str,
        schema: &Value,
        level: usize,
    ) -> Shape {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return self.referred(document, reference, level + 1);
        }
        if let Some(value) = schema.get("const") {
            return Shape::Words(name.to_owned(), vec![value.clone()]);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            let has_null = values.contains(&Value::Null);
            let values = values.iter().filter(|value| !value.is_null()).cloned().collect();
            let null = has_null.then_some(Shape::Null);
            let words = Shape::Words(name.to_owned(), values);
            return one_of(name, std::iter::once(words).chain(null).collect());
        }
        let forms = schema.get("anyOf").or(schema.get("oneOf")).and_then(Value::as_array);
        if let Some(forms) = forms {
            let form = |(at, form): (usize, &Value)| {
                self.shape(document, &format!("{name}{}", at + 1), form, level + 1)
            };
            let shapes = forms.iter().enumerate().map(form).collect();
            return one_of(name, shapes);
        }
        let kinds: Vec<&str> = match schema.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ if schema.get("properties").is_some() => vec!["object"],
            _ => return Shape::Any,
        };
        let mut shapes = Vec::new();
        for kind in kinds {
            shapes.push(match kind {
                "null" => Shape::Null,
                "boolean" => Shape::Bool,
                "integer" => Shape::Whole,
                "number" => Shape::Number,
                "string" => Shape::Text,
                "array" => {
                    let item = schema.get("items").filter(|_| schema.get("prefixItems").is_none());
                    let item = item
                        .map(|item| self.shape(document, &format!("{name}Item"), item, level + 1));
                    Shape::List(Box::new(item.unwrap_or(Shape::Any)))
                }
                "object" if level > 0 && self.is_record(document, schema) => {
                    let name = self.taken.take(format!("{name}Fields"));
                    let mut alone = schema.clone();
                    alone["type"] = "object".into();
                    self.declare(document, &name, describes(schema).to_owned(), &alone, level + 1);
                    Shape::Named { name, back: false }
                }
                "object" => self.map(document, name, schema, level),
                _ => Shape::Any,
            });
        }
        one_of(name, shapes)
    }

    fn map(
        &mut self,
        document: &mut Document<'_>,
        name: &str,
        schema: &Value,
        level: usize,
    ) -> Shape {
        let value = schema.get("additionalProperties").filter(|value| value.is_object());
        let value =
            value.map(|value| self.shape(document, &format!("{name}Value"), value, level + 1));
        Shape::Map(Box::new(value.unwrap_or(Shape::Any)))
    }
}

/// The fields of an object, of its own schema and of all that `allOf` adds.
#[derive(Default)]
struct Merged<'s> {
    properties: BTreeMap<String, &'s Value>,
    required: Vec<&'s str>,
    /// True if it has no other fields.
    is_closed: bool,
}

impl<'s> Merged<'s> {
    fn add(&mut self, root: &'s Value, schema: &'s Value, level: usize) {
        if level > LEVELS_MAX {
            return;
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str).filter(|_| level > 0)
            && let Some(referred) = root.pointer(reference.trim_start_matches('#'))
        {
            self.add(root, referred, level + 1);
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, value) in properties.into_iter().flatten() {
            // What is never there is no field.
            if *value != Value::Bool(false) {
                self.properties.insert(name.clone(), value);
            }
        }
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        for name in required {
            if !self.required.contains(&name) {
                self.required.push(name);
            }
        }
        self.is_closed |= schema.get("additionalProperties") == Some(&Value::Bool(false));
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.add(root, part, level + 1);
        }
    }
}

/// One of several shapes: each once, and those of others within others among them.
fn one_of(name: &str, shapes: Vec<Shape>) -> Shape {
    let mut each: Vec<Shape> = Vec::new();
    for shape in shapes {
        let inner = match shape {
            Shape::Either(_, inner) => inner,
            other => vec![other],
        };
        for one in inner {
            if !each.contains(&one) {
                each.push(one);
            }
        }
    }
    if each.contains(&Shape::Any) {
        return Shape::Any;
    }
    match each.len() {
        0 => Shape::Any,
        1 => each.remove(0),
        _ => Shape::Either(name.to_owned(), each),
    }
}

/// Returns true if a schema is of this kind alone, said or not.
fn is_kind(schema: &Value, kind: &str) -> bool {
    match schema.get("type") {
        Some(said) => said == kind,
        None => ["const", "enum", "anyOf", "oneOf"].iter().all(|key| schema.get(key).is_none()),
    }
}

fn describes(schema: &Value) -> &str {
    let of = |key: &str| schema.get(key).and_then(Value::as_str);
    of("description").or(of("title")).unwrap_or_default()
}
