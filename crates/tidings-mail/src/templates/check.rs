//! The trial of a host's templates, before any mail depends on them.
//!
//! The names in a template are compared with what there is, also where the template would seldom get to. Then samples are
//! rendered: with everything, without each field that may be absent, without each name of `data`, and without all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use minijinja::value::Serde;
use minijinja::{ErrorKind, UndefinedBehavior};
use serde_json::{Map, Value, json};
use tidings_core::{Id, Rules};

use crate::Sender;
use crate::error::DesignError;
use crate::page::MailPage;
use crate::page::design::Design;
use crate::templates::sample::{detailed, put};
use crate::templates::template::{Templates, reason_of, without_nulls};

/// The variables that the layout gives to what it includes.
const GIVEN: [&str; 6] = ["alone", "item", "section", "block", "column", "at"];
/// The names that the language itself knows.
const BUILT_IN: [&str; 1] = ["loop"];
/// The fields that may be absent.
const OPTIONAL: [(&str, &[&str]); 3] = [
    (
        "mail",
        &[
            "recipient",
            "more",
            "more_url",
            "unsubscribe",
            "why",
            "when",
            "title_url",
            "tally",
            "action",
            "action_url",
        ],
    ),
    ("brand", &["logo", "logo_dark", "url", "footer", "postal_address"]),
    (
        "item",
        &[
            "url",
            "image",
            "actor",
            "target",
            "body",
            "time",
            "headline",
            "object",
            "face",
            "paragraphs",
            "action",
            "notice",
        ],
    ),
];

/// The values that a trial leaves out.
#[derive(Clone, Debug, PartialEq, Eq)]
enum OmittedValues {
    /// Nothing: whatever is undefined then is misspelt.
    Nothing,
    /// A field, or all that may be absent.
    Fields(Vec<(&'static str, &'static str)>),
    /// Names in `data`, or all of it.
    Data(Vec<String>),
}

/// A place in a template.
type TemplatePlace = (String, usize);

impl Design {
    /// Tries a configuration's own templates; returns the faults, each once for its place.
    #[must_use]
    pub fn faults(rules: &Rules) -> Vec<DesignError> {
        let (templates, mut faults) = Templates::with_faults(&rules.presentation.templates);
        let mut without = rules.clone();
        without.presentation.templates.clear();
        let sender = Sender::parse("preview@example.org").expect("the address is one");
        let mut design = match Self::new(sender, &without) {
            Ok(design) => design,
            Err(fault) => return vec![fault],
        };
        design.templates = Arc::new(templates);
        let unknown = design.unknown_variables(rules);
        let misspelt: BTreeSet<String> = unknown.iter().filter_map(DesignError::template).collect();
        faults.extend(unknown);
        for (place, fault) in design.tried(rules) {
            let is_known = fault.kind == ErrorKind::UndefinedError && misspelt.contains(&place.0);
            if !is_known {
                faults.push(fault.error);
            }
        }
        faults
    }

    /// Renders samples in all ways; returns the first fault of each place.
    fn tried(&self, rules: &Rules) -> BTreeMap<TemplatePlace, TrialFault> {
        let names = self.names_in_data();
        let mut ways = vec![OmittedValues::Nothing];
        let fields = || OPTIONAL.iter().flat_map(|(of, keys)| keys.iter().map(|key| (*of, *key)));
        ways.extend(fields().map(|field| OmittedValues::Fields(vec![field])));
        ways.push(OmittedValues::Fields(fields().collect()));
        ways.extend(names.iter().map(|name| OmittedValues::Data(vec![name.clone()])));
        ways.push(OmittedValues::Data(names.clone()));
        let mut faults = BTreeMap::new();
        for event_type in self.types_with_templates(rules) {
            for locale in self.locales_of_templates() {
                for items in [1, 3] {
                    for way in &ways {
                        for (place, fault) in
                            self.trial(rules, &event_type, &locale, items, way, &names)
                        {
                            faults.entry(place).or_insert(fault);
                        }
                    }
                }
            }
        }
        faults
    }

    /// Renders a sample in one way; returns the places that fail whether `data` has texts, numbers or lists.
    fn trial(
        &self,
        rules: &Rules,
        event_type: &Id,
        locale: &str,
        items: usize,
        way: &OmittedValues,
        names: &[String],
    ) -> BTreeMap<TemplatePlace, TrialFault> {
        let templates = self.templates.taking_undefined(match way {
            OmittedValues::Nothing => UndefinedBehavior::SemiStrict,
            // A picture without an address is no gap that a reader would pass over.
            OmittedValues::Fields(_) => UndefinedBehavior::Lenient,
            OmittedValues::Data(_) => UndefinedBehavior::Chainable,
        });
        let mut failing: Option<BTreeMap<TemplatePlace, TrialFault>> = None;
        for value in [json!("example"), json!(3), json!(["example"])] {
            let mut data = Map::new();
            for name in names {
                put(&mut data, name, &value);
            }
            let batch = detailed(event_type, rules, locale, items, &data);
            let Some(page) = MailPage::of(&batch, self, usize::MAX) else {
                break;
            };
            let layouts = templates.layouts(&page.language, &self.usual);
            let mut page = serde_json::to_value(&page).expect("pages are JSON");
            complete(&mut page);
            way.leave_out(&mut page);
            if *way != OmittedValues::Nothing {
                page = without_nulls(page);
            }
            let page = minijinja::Value::from(Serde(page));
            let mut found = BTreeMap::new();
            for layout in layouts {
                if let Err(fault) = templates.body(&layout, &page) {
                    let (place, fault) = TrialFault::new(&layout, &fault, way);
                    found.insert(place, fault);
                }
            }
            failing = Some(match failing {
                None => found,
                Some(before) => {
                    before.into_iter().filter(|(place, _)| found.contains_key(place)).collect()
                }
            });
        }
        failing.unwrap_or_default()
    }

    /// The unknown variables in templates.
    fn unknown_variables(&self, rules: &Rules) -> Vec<DesignError> {
        let known = self.known(rules, &Map::new());
        let mut faults = Vec::new();
        for (name, variables) in self.templates.variables() {
            for variable in variables {
                let (first, second) = variable.split_once('.').unwrap_or((&variable, ""));
                let second = second.split('.').next().unwrap_or_default();
                let hint = match known.get(first) {
                    None if BUILT_IN.contains(&first) => continue,
                    None => {
                        let there: Vec<String> =
                            known.keys().map(|name| format!("`{name}`")).collect();
                        format!("there are {}", there.join(", "))
                    }
                    Some(fields)
                        if second.is_empty() || fields.is_empty() || fields.contains(second) =>
                    {
                        continue;
                    }
                    Some(fields) => {
                        let there: Vec<&str> = fields.iter().map(String::as_str).collect();
                        format!("`{first}` has {}", there.join(", "))
                    }
                };
                let line = self.templates.line_of(&name, &variable);
                let line = line.map_or_else(String::new, |line| format!("line {line}: "));
                faults.push(DesignError::Template {
                    name: name.clone(),
                    reason: format!("{line}there is no `{variable}`"),
                    hint,
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
        let mut known: BTreeMap<String, BTreeSet<String>> =
            GIVEN.iter().map(|name| ((*name).to_owned(), BTreeSet::new())).collect();
        let types = self.types_with_templates(rules);
        for items in [1, 2] {
            let Some(event_type) = types.first() else {
                continue;
            };
            let batch = detailed(event_type, rules, &self.usual.tag(), items, data);
            let page = MailPage::of(&batch, self, usize::MAX);
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

    /// The paths in `data` that templates name, each once.
    fn names_in_data(&self) -> Vec<String> {
        let variables = self.templates.variables();
        let names: BTreeSet<String> = variables
            .iter()
            .flat_map(|(_, variables)| variables)
            .filter_map(|name| name.strip_prefix("item.data.").map(str::to_owned))
            .collect();
        names.into_iter().collect()
    }

    /// The types that have templates of their own, or else any: it shows what the layout does.
    fn types_with_templates(&self, rules: &Rules) -> Vec<Id> {
        let own: Vec<Id> = rules
            .types
            .keys()
            .filter_map(|name| Id::new(name).ok())
            .filter(|event_type| self.templates.has_own(event_type.as_str()))
            .collect();
        if own.is_empty() { Id::new("example").into_iter().collect() } else { own }
    }

    fn locales_of_templates(&self) -> BTreeSet<String> {
        let mut locales = self.templates.locales();
        locales.insert(self.usual.tag());
        locales
    }
}

/// A fault that a trial found.
struct TrialFault {
    error: DesignError,
    kind: ErrorKind,
}

impl TrialFault {
    /// The fault at its innermost place.
    fn new(layout: &str, fault: &minijinja::Error, way: &OmittedValues) -> (TemplatePlace, Self) {
        let mut inner = fault;
        let causes =
            std::iter::successors(std::error::Error::source(fault), |cause| cause.source());
        for cause in causes.filter_map(|cause| cause.downcast_ref::<minijinja::Error>()) {
            inner = cause;
        }
        let place = (inner.name().unwrap_or(layout).to_owned(), inner.line().unwrap_or_default());
        let error = DesignError::Template {
            name: place.0.clone(),
            reason: format!("{}{}", reason_of(inner), way.words()),
            hint: match (way, inner.kind()) {
                (OmittedValues::Fields(_) | OmittedValues::Data(_), _) => {
                    "put what may be absent within `{% if … %}`, or write `|default(…)` after it"
                }
                (_, ErrorKind::TemplateNotFound | ErrorKind::BadInclude) => {
                    "include a file of the templates' directory, such as `email/_NAME.html`"
                }
                (_, ErrorKind::UndefinedError) => {
                    "`docs/mail.md` lists the variables and what they have"
                }
                (_, ErrorKind::OutOfFuel | ErrorKind::WriteFailure) => {
                    "repeat over items, not over products of them"
                }
                _ => "`docs/mail.md` lists the variables, filters and tests that there are",
            }
            .to_owned(),
        };
        let kind = inner.kind();
        (place, Self { error, kind })
    }
}

impl OmittedValues {
    fn leave_out(&self, page: &mut Value) {
        match self {
            Self::Nothing => {}
            Self::Fields(fields) => {
                for (of, key) in fields {
                    match *of {
                        "item" => items_of(page).for_each(|item| remove(item, key)),
                        of => remove(&mut page[of], key),
                    }
                }
            }
            Self::Data(names) => {
                for item in items_of(page) {
                    for name in names {
                        remove(&mut item["data"], name);
                    }
                }
            }
        }
    }

    /// Its name in a fault.
    fn words(&self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Fields(fields) => match &fields[..] {
                [(of, key)] => format!(", where `{of}.{key}` is absent"),
                _ => ", where all is absent that may be".to_owned(),
            },
            Self::Data(names) => match &names[..] {
                [name] => format!(", where `item.data.{name}` is absent"),
                _ => ", where `item.data` is empty".to_owned(),
            },
        }
    }
}

/// Fills in the fields that a sample has no value for.
fn complete(page: &mut Value) {
    for (of, keys) in &OPTIONAL[..2] {
        for key in *keys {
            if page[*of][*key].is_null() {
                page[*of][*key] = json!("https://example.org/");
            }
        }
    }
    for item in items_of(page) {
        for key in ["body", "time", "headline", "object", "action"] {
            if item[key].is_null() {
                item[key] = json!("A few words");
            }
        }
        for key in ["paragraphs", "notice"] {
            if item[key].is_null() {
                item[key] = json!([]);
            }
        }
        if item["face"].is_null() {
            item["face"] = json!({"src": "https://example.org/", "initials": "AB"});
        }
    }
}

/// The items of a page.
fn items_of(page: &mut Value) -> impl Iterator<Item = &mut Value> {
    let (mut alone, mut sections) = (None, None);
    for (name, value) in page.as_object_mut().into_iter().flatten() {
        match name.as_str() {
            "item" if value.is_object() => alone = Some(value),
            "sections" => sections = value.as_array_mut(),
            _ => {}
        }
    }
    alone.into_iter().chain(
        sections
            .into_iter()
            .flatten()
            .filter_map(|section| section["blocks"].as_array_mut())
            .flatten()
            .filter_map(|block| block["items"].as_array_mut())
            .flatten(),
    )
}

/// Removes what stands at a dotted path.
fn remove(value: &mut Value, path: &str) {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let Some(fields) = value.as_object_mut() else {
        return;
    };
    match (rest, fields.get_mut(first)) {
        ("", _) => {
            fields.remove(first);
        }
        (rest, Some(inner)) => remove(inner, rest),
        (_, None) => {}
    }
}
