//! Types of events' `data` in other languages, from the schemas of a configuration.
//!
//! A type says less than its schema: what a language can't say (bounds, patterns, conditions) stays the server's to check.

mod names;
mod python;
mod rust;
mod shape;
mod typescript;

use serde_json::Value;
use tidings_core::Rules;

use shape::{Declared, Shapes};

/// A language for which types are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Language {
    /// TypeScript: interfaces, and one that maps each type of event to its data
    Ts,
    /// Python 3.10 or newer: `TypedDict`s
    Python,
    /// Rust: structs for serde
    Rust,
}

/// The `data` of a type of event.
struct EventData<'r> {
    /// The type of event.
    event_type: &'r str,
    /// The name of its type; `None` = it has no schema.
    declared: Option<String>,
}

/// The types of the `data` of all events of a configuration, as a file of a language.
#[must_use]
pub fn write(rules: &Rules, language: Language) -> String {
    let mut shapes = Shapes::default();
    let events: Vec<EventData<'_>> = rules
        .types
        .iter()
        .map(|(event_type, rules)| {
            // The configuration was read, so that it is JSON.
            let schema: Option<Value> =
                rules.schema.as_ref().and_then(|schema| serde_json::from_str(schema.text()).ok());
            let declared = schema.map(|schema| shapes.root(event_type, &schema));
            EventData { event_type, declared }
        })
        .collect();
    let declared: Vec<Declared> = shapes.finish();
    match language {
        Language::Ts => typescript::write(&events, &declared),
        Language::Python => python::write(&events, &declared),
        Language::Rust => rust::write(&events, &declared),
    }
}
