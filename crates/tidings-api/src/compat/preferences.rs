//! Preferences of other products as preferences of ours: everything switched off stays off.
//!
//! Things that are on need no preference. With several levels, the other products send only what is on at each of them,
//! and so does a `never`: only the narrowest level that is set becomes a preference.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::body::Fault;

/// The types and categories of a configuration, with the channels that each has.
#[derive(Debug, Default)]
pub struct ConfiguredTypes {
    /// The channels of each type.
    pub types: BTreeMap<String, BTreeSet<String>>,
    /// The channels of each category.
    pub categories: BTreeMap<String, BTreeSet<String>>,
    /// Types that can't be switched off.
    pub required: BTreeSet<String>,
}

impl ConfiguredTypes {
    /// Reads the answer of `GET /v1/types`.
    #[must_use]
    pub fn of(answer: &Value) -> Self {
        let mut known = Self::default();
        for (name, of_type) in answer["types"].as_object().into_iter().flatten() {
            let channels = of_type["channels"].as_object().into_iter().flatten();
            let channels: BTreeSet<String> = channels.map(|(name, _)| name.clone()).collect();
            let category = of_type["category"].as_str().unwrap_or_default().to_owned();
            known.categories.entry(category).or_default().extend(channels.iter().cloned());
            known.types.insert(name.clone(), channels);
            if of_type["required"] == true {
                known.required.insert(name.clone());
            }
        }
        known
    }
}

/// Preferences of a recipient, and those that could not be mapped.
#[derive(Debug, Default)]
pub struct MappedPreferences {
    /// The recipient.
    pub recipient: String,
    /// Bodies of preferences.
    pub list: Vec<Value>,
    /// The parts that were left out, in words.
    pub left_out: Vec<String>,
}

impl MappedPreferences {
    fn never(&mut self, scope: &str, name: &str, channel: &str) {
        self.list.push(json!({ scope: name, "channel": channel, "mode": "never" }));
    }

    /// Switches off a channel of theirs everywhere.
    fn never_by(&mut self, theirs: &str) {
        match ours(theirs) {
            [] => self.left_out.push(format!("the channel `{theirs}`")),
            channels => channels.iter().for_each(|channel| self.never("category", "*", channel)),
        }
    }

    /// Switches off a type or category: by one channel of theirs, or by all.
    fn never_of(&mut self, known: &ConfiguredTypes, scope: &str, name: &str, theirs: Option<&str>) {
        let all = if scope == "type" { &known.types } else { &known.categories };
        let Some(channels) = all.get(name) else {
            self.left_out.push(format!("the {scope} `{name}`, which is not configured"));
            return;
        };
        if scope == "type" && known.required.contains(name) {
            self.left_out.push(format!("the type `{name}`, which is required"));
            return;
        }
        let wanted = theirs.map(ours);
        if wanted == Some(&[]) {
            self.left_out.push(format!("the channel `{}`", theirs.unwrap_or_default()));
        }
        let is_meant =
            |channel: &&String| wanted.is_none_or(|wanted| wanted.contains(&channel.as_str()));
        for channel in channels.iter().filter(is_meant) {
            self.never(scope, name, channel);
        }
    }
}

/// Our channels for one of theirs.
fn ours(theirs: &str) -> &'static [&'static str] {
    match theirs {
        "email" => &["email"],
        "in_app_feed" | "in_app" | "inApp" => &["inbox"],
        "sms" => &["sms"],
        "push" => &["webpush", "fcm", "apns"],
        "chat" => &["slack", "discord", "teams", "telegram"],
        "http" => &["webhook"],
        _ => &[],
    }
}

/// Reads a line of Knock: a user's id, and the preference set.
///
/// # Errors
/// It is something else.
pub fn knock(line: &Value, known: &ConfiguredTypes) -> Result<MappedPreferences, Fault> {
    let id = line.get("user_id").or(line.get("id")).and_then(Value::as_str);
    let hint = "write `{\"user_id\": \"…\", \"preferences\": …}`, with what Knock answers for its users' preferences";
    let id = id.ok_or_else(|| Fault::new("`user_id` is missing", hint))?;
    let mut mapped = MappedPreferences { recipient: id.to_owned(), ..MappedPreferences::default() };
    let set = match line.get("preferences") {
        // All sets of a user.
        Some(Value::Array(sets)) => sets.iter().find(|set| set["id"] == "default"),
        // Sets by their id, as users are identified with them.
        Some(set @ Value::Object(_)) => set.get("default").or(Some(set)),
        _ => return Err(Fault::new("`preferences` is missing", hint)),
    };
    let Some(set) = set else {
        return Ok(mapped);
    };
    let fields = |name: &str| set.get(name).and_then(Value::as_object).into_iter().flatten();
    for (channel, setting) in fields("channel_types") {
        match off(setting) {
            Some(true) => mapped.never_by(channel),
            Some(false) => {}
            None => mapped.left_out.push(format!("conditions of `{channel}`")),
        }
    }
    for (theirs, scope) in [("categories", "category"), ("workflows", "type")] {
        for (name, setting) in fields(theirs) {
            if off(setting) == Some(true) {
                mapped.never_of(known, scope, name, None);
                continue;
            }
            if setting.get("conditions").is_some_and(|all| !is_empty(all)) {
                mapped.left_out.push(format!("conditions of `{name}`"));
            }
            let channels = setting.get("channel_types").and_then(Value::as_object);
            for (channel, setting) in channels.into_iter().flatten() {
                match off(setting) {
                    Some(true) => mapped.never_of(known, scope, name, Some(channel)),
                    Some(false) => {}
                    None => mapped.left_out.push(format!("conditions of `{name}`, `{channel}`")),
                }
            }
        }
    }
    for (channel, setting) in fields("channels") {
        if off(setting) != Some(false) {
            mapped.left_out.push(format!("the provider `{channel}`"));
        }
    }
    if set.get("commercial_subscribed") == Some(&Value::Bool(false)) {
        mapped.left_out.push("`commercial_subscribed`".to_owned());
    }
    Ok(mapped)
}

/// Returns true for what is off, false for what is on; `None` = conditions decide.
fn off(setting: &Value) -> Option<bool> {
    match setting {
        Value::Bool(on) => Some(!on),
        Value::Object(of) if of.get("conditions").is_some_and(|all| !is_empty(all)) => {
            // Conditions of workflows and categories are reported where those are read.
            (of.contains_key("channel_types")).then_some(false)
        }
        _ => Some(false),
    }
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

/// Reads a line of Novu: a subscriber's id, and the preferences.
///
/// # Errors
/// It is something else.
pub fn novu(line: &Value, known: &ConfiguredTypes) -> Result<MappedPreferences, Fault> {
    let id = line.get("subscriberId").and_then(Value::as_str);
    let hint = "write `{\"subscriberId\": \"…\", \"preferences\": …}`, with what Novu answers for its subscribers' preferences";
    let id = id.ok_or_else(|| Fault::new("`subscriberId` is missing", hint))?;
    let mut mapped = MappedPreferences { recipient: id.to_owned(), ..MappedPreferences::default() };
    let preferences = line.get("preferences").filter(|of| of.is_object());
    let preferences = preferences.ok_or_else(|| Fault::new("`preferences` is missing", hint))?;
    // Answers stand in `data`.
    let preferences = preferences.get("data").filter(|of| of.is_object()).unwrap_or(preferences);
    let global = &preferences["global"];
    if global["enabled"] == false {
        mapped.never("category", "*", "*");
    } else {
        for channel in switched_off(global) {
            mapped.never_by(channel);
        }
    }
    if global.get("schedule").is_some_and(|schedule| schedule["isEnabled"] == true) {
        mapped.left_out.push("`schedule`".to_owned());
    }
    for of in preferences["workflows"].as_array().into_iter().flatten() {
        let name = of["workflow"]["identifier"].as_str().unwrap_or_default();
        if of["enabled"] == false {
            mapped.never_of(known, "type", name, None);
            continue;
        }
        // Where it is said, only what the subscriber chose counts; the rest is the workflow's own.
        let chosen = |channel: &str| {
            let mut all = of["overrides"].as_array().into_iter().flatten();
            all.find(|one| one["channel"] == channel)
                .is_none_or(|one| one["source"] == "subscriber")
        };
        for channel in switched_off(of).filter(|channel| chosen(channel)) {
            mapped.never_of(known, "type", name, Some(channel));
        }
        if of.get("condition").is_some_and(|condition| !condition.is_null()) {
            mapped.left_out.push(format!("the condition of `{name}`"));
        }
    }
    Ok(mapped)
}

/// The channels that are off.
fn switched_off(of: &Value) -> impl Iterator<Item = &str> {
    let channels = of.get("channels").and_then(Value::as_object).into_iter().flatten();
    channels.filter(|(_, on)| **on == false).map(|(name, _)| name.as_str())
}
