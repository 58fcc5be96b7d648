//! The trial of a host's templates, before any mail depends on them.
//!
//! What a template names is compared with what there is, also where the template would seldom get to; then
//! samples are rendered, with everything that an item can have and with nothing that it need not.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use tidings_core::{Id, Rules};

use crate::design::Design;
use crate::error::DesignError;
use crate::page::Page;
use crate::sample::{Detail, detailed};

/// The variables that the layout gives to what it includes.
const GIVEN: [&str; 6] = ["alone", "item", "section", "block", "column", "at"];
/// The names that the language itself knows.
const BUILT_IN: [&str; 6] = ["loop", "range", "dict", "namespace", "debug", "lipsum"];

impl Design {
    /// Tries the host's own templates; returns every fault.
    #[must_use]
    pub fn faults(&self, rules: &Rules) -> Vec<DesignError> {
        let data = self.data_that_templates_name();
        let mut faults = self.unknown_variables(rules, &data);
        if !faults.is_empty() {
            return faults;
        }
        for event_type in self.types_with_templates(rules) {
            for locale in self.locales_of_templates() {
                for (items, detail) in [
                    (1, Detail::Full),
                    (1, Detail::Bare),
                    (30, Detail::Full),
                    (2, Detail::Bare),
                ] {
                    let batch = detailed(&event_type, rules, &locale, items, detail, &data);
                    let Some(page) = Page::of(&batch, self, usize::MAX) else {
                        continue;
                    };
                    let rendered =
                        self.templates
                            .render(&page, &page.mail.locale, &self.usual_locale);
                    let Err(fault) = rendered else { continue };
                    let fault = DesignError::Template {
                        name: format!("of `{event_type}`"),
                        reason: fault.to_string(),
                    };
                    if !faults.contains(&fault) {
                        faults.push(fault);
                    }
                }
            }
        }
        faults
    }

    /// The variables that templates name and nobody gives.
    fn unknown_variables(&self, rules: &Rules, data: &Map<String, Value>) -> Vec<DesignError> {
        let known = self.known(rules, data);
        let mut faults = Vec::new();
        for (name, variables) in self.templates.variables() {
            let unknown = variables.into_iter().filter(|variable| {
                let (first, second) = variable.split_once('.').unwrap_or((variable, ""));
                let second = second.split('.').next().unwrap_or_default();
                match known.get(first) {
                    None => !BUILT_IN.contains(&first),
                    Some(fields) => {
                        !second.is_empty() && !fields.is_empty() && !fields.contains(second)
                    }
                }
            });
            let unknown: Vec<String> = unknown.map(|name| format!("`{name}`")).collect();
            if !unknown.is_empty() {
                faults.push(DesignError::Template {
                    name,
                    reason: format!("there is no {}", unknown.join(", ")),
                });
            }
        }
        faults
    }

    /// The variables that there are, with their fields.
    fn known(
        &self,
        rules: &Rules,
        data: &Map<String, Value>,
    ) -> BTreeMap<String, BTreeSet<String>> {
        let fields = |value: &Value| -> BTreeSet<String> {
            let table = value.as_object();
            table.map_or_else(BTreeSet::new, |table| table.keys().cloned().collect())
        };
        let mut known: BTreeMap<String, BTreeSet<String>> = GIVEN
            .iter()
            .map(|name| ((*name).to_owned(), BTreeSet::new()))
            .collect();
        let types = self.types_with_templates(rules);
        for items in [1, 2] {
            let Some(event_type) = types.first() else {
                continue;
            };
            let batch = detailed(
                event_type,
                rules,
                &self.usual_locale,
                items,
                Detail::Full,
                data,
            );
            let page = Page::of(&batch, self, usize::MAX);
            let page = page.and_then(|page| serde_json::to_value(page).ok());
            for (name, value) in page.iter().filter_map(Value::as_object).flatten() {
                known.entry(name.clone()).or_default().extend(fields(value));
            }
        }
        if let Some(item) = known.get_mut("item") {
            item.insert("data".to_owned());
        }
        known
    }

    /// The `data` of events as templates want it: each name that they use, with a text.
    fn data_that_templates_name(&self) -> Map<String, Value> {
        let mut data = Map::new();
        for (_, variables) in self.templates.variables() {
            for path in variables
                .iter()
                .filter_map(|name| name.strip_prefix("item.data."))
            {
                put(&mut data, path);
            }
        }
        data
    }

    /// The types that have templates of their own, or else any: it shows what the layout does.
    fn types_with_templates(&self, rules: &Rules) -> Vec<Id> {
        let ids = rules.types.keys().filter_map(|name| Id::new(name).ok());
        let own: Vec<Id> = ids
            .filter(|event_type| self.templates.has_own(event_type.as_str()))
            .collect();
        match own.is_empty() {
            true => Id::new("example").into_iter().collect(),
            false => own,
        }
    }

    fn locales_of_templates(&self) -> BTreeSet<String> {
        let mut locales = self.templates.locales();
        locales.insert(self.usual_locale.clone());
        locales
    }
}

/// Puts a text at a dotted path.
fn put(data: &mut Map<String, Value>, path: &str) {
    match path.split_once('.') {
        None => {
            data.entry(path).or_insert_with(|| Value::from("example"));
        }
        Some((first, rest)) => {
            let inner = data.entry(first).or_insert_with(|| Value::from(Map::new()));
            if !inner.is_object() {
                *inner = Value::from(Map::new());
            }
            if let Some(inner) = inner.as_object_mut() {
                put(inner, rest);
            }
        }
    }
}
