//! The numbers of a type's policies as fields of a form, and the edits that its values make.

use minijinja::{Value as Shown, context};
use serde_json::{Value, json};

/// A number of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Number {
    /// Its key, as the configuration writes it.
    pub(super) key: String,
    /// The channel, or the digest, that it belongs to.
    pub(super) of: String,
    /// Its own name.
    pub(super) name: &'static str,
    /// Its value in force; empty if there is none.
    pub(super) now: String,
    is_count: bool,
}

/// The numbers of a type, channel by channel.
pub(super) fn numbers(kind: &str, all: &Value) -> Vec<Number> {
    let mut numbers: Vec<Number> = Vec::new();
    for (channel, policy) in all["types"][kind]["channels"].as_object().into_iter().flatten() {
        let word = policy["policy"].as_str().unwrap_or_default();
        let names: &[&str] = match word {
            "first_event" => &["hold", "max_items"],
            "cooldown" => &["quiet", "max_wait", "max_items"],
            "leading" => &["quiet", "max_items"],
            "digest" => &["max_items"],
            _ => &[],
        };
        for &name in names {
            let key = key(&["types", kind, "channels", channel, name]);
            numbers.push(Number::new(key, channel, name, &policy[name]));
        }
        if word == "digest" {
            let digest = policy["digest"].as_str().unwrap_or_default();
            let of = format!("digest {digest}");
            // Several channels may have the same digest.
            if !numbers.iter().any(|number| number.of == of) {
                let value = &all["digests"][digest];
                for name in ["every", "on", "at"] {
                    numbers.push(Number::new(
                        key(&["digests", digest, name]),
                        &of,
                        name,
                        &value[name],
                    ));
                }
            }
        }
    }
    numbers
}

impl Number {
    fn new(key: String, of: &str, name: &'static str, value: &Value) -> Self {
        let now = match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        Self { key, of: of.to_owned(), name, now, is_count: name == "max_items" }
    }

    /// Its field in the form.
    pub(super) fn shown(&self, value: &str) -> Shown {
        context! {
            key => &self.key, of => &self.of, name => self.name, now => &self.now, value,
            is_changed => value != self.now,
        }
    }

    /// The edit that puts a value in its place; nothing if it is the value in force.
    pub(super) fn edit(&self, value: &str) -> Option<Value> {
        if value == self.now {
            return None;
        }
        let value = match value {
            "" => Value::Null,
            value if self.is_count => {
                value.parse::<u64>().map_or_else(|_| value.into(), Value::from)
            }
            value => value.into(),
        };
        Some(json!({"key": &self.key, "value": value}))
    }
}

/// A key as TOML writes it: names that aren't plain words are quoted.
fn key(names: &[&str]) -> String {
    let names = names.iter().map(|name| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        match !name.is_empty() && name.bytes().all(is_plain) {
            true => (*name).to_owned(),
            false => Value::from(*name).to_string(),
        }
    });
    names.collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Value {
        json!({
            "types": {"a.b": {"channels": {
                "email": {"policy": "cooldown", "quiet": "4m", "max_wait": "15m"},
                "push": {"policy": "digest", "digest": "weekly"},
                "sms": {"policy": "digest", "digest": "weekly", "max_items": 5},
                "inbox": {"policy": "now"},
            }}},
            "digests": {"weekly": {"every": "week", "on": "mon", "at": "09:00"}},
        })
    }

    #[test]
    fn numbers_of_a_type_have_the_keys_of_the_file() {
        let numbers = numbers("a.b", &all());
        let keys: Vec<&str> = numbers.iter().map(|number| number.key.as_str()).collect();
        for key in [
            "types.\"a.b\".channels.email.quiet",
            "types.\"a.b\".channels.email.max_wait",
            "types.\"a.b\".channels.sms.max_items",
            "digests.weekly.at",
        ] {
            assert_eq!(keys.iter().filter(|of| **of == key).count(), 1, "{key} in {keys:?}");
        }
        assert!(!keys.iter().any(|key| key.contains("inbox")), "{keys:?}");
    }

    #[test]
    fn only_what_differs_is_an_edit() {
        let numbers = numbers("a.b", &all());
        let number = |end: &str| numbers.iter().find(|number| number.key.ends_with(end)).unwrap();
        assert_eq!(number("email.quiet").edit("4m"), None);
        assert_eq!(number("email.quiet").edit("10m").unwrap()["value"], "10m");
        assert_eq!(number("email.max_wait").edit("").unwrap()["value"], Value::Null);
        assert_eq!(number("sms.max_items").edit("7").unwrap()["value"], 7);
        assert_eq!(number("sms.max_items").edit("many").unwrap()["value"], "many");
        assert_eq!(number("email.max_items").edit(""), None);
    }
}
