//! Fields of one JSON object, taken out one by one, each with its type.
//!
//! Null counts as absent, except where a caller asks for it (`Fields::change`).

use std::borrow::Cow;

use tidings_core::{Id, Instant};

use super::address;
use super::fault::Fault;
use super::json::{Json, Table};
use crate::wording::{did_you_mean, nearest, one_of, quoted};

/// What names something, or says more of it.
#[derive(Debug)]
pub(super) enum IdOrObject<'a> {
    /// Its id.
    Id(Id),
    /// The fields of an object.
    Object(Fields<'a>),
}

/// The fields that have not been taken yet.
#[derive(Debug)]
pub struct Fields<'a> {
    table: Table<'a>,
    /// The path of the object, such as `to.near`; empty for the body itself.
    path: &'static str,
}

impl<'a> Fields<'a> {
    /// The fields of a body.
    #[must_use]
    pub fn new(table: Table<'a>) -> Self {
        Self { table, path: "" }
    }

    /// The field as faults name it.
    pub(super) fn name(&self, key: &str) -> String {
        if self.path.is_empty() {
            format!("`{key}`")
        } else {
            format!("`{}.{key}`", self.path)
        }
    }

    /// Refuses fields that are not among `known`; what was taken before is not looked at.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), Fault> {
        let Some((key, _)) = self.table.iter().find(|(key, _)| !known.contains(&&**key)) else {
            return Ok(());
        };
        let reason = match self.path {
            "" => format!("unknown field {}", quoted(key)),
            path => format!("unknown field {} in `{path}`", quoted(key)),
        };
        let hint = did_you_mean(key, known.iter().copied());
        Err(Fault::new(
            reason,
            hint.unwrap_or_else(|| "remove it".to_owned()),
        ))
    }

    fn take_any(&mut self, key: &str) -> Option<Json<'a>> {
        let at = self.table.iter().position(|(name, _)| name == key)?;
        Some(self.table.remove(at).1)
    }

    fn take(&mut self, key: &str) -> Option<Json<'a>> {
        self.take_any(key).filter(|value| *value != Json::Null)
    }

    /// The fault of a field that is of another type.
    pub(super) fn wrong(&self, key: &str, wanted: &str, got: &Json<'_>) -> Fault {
        let name = self.name(key);
        let reason = format!("{name} must be {wanted}, got {}", got.kind());
        Fault::new(reason, example(key, wanted))
    }

    /// The fault of a field that must be there.
    pub(super) fn missing(&self, key: &str) -> Fault {
        let near = nearest(key, self.table.iter().map(|(name, _)| &**name));
        let hint = match near {
            Some(near) => format!("is {} meant to be `{key}`?", quoted(near)),
            None => format!("add {}", self.name(key)),
        };
        Fault::new(format!("{} is missing", self.name(key)), hint)
    }

    /// Text.
    pub(super) fn text(&mut self, key: &str) -> Result<Option<Cow<'a, str>>, Fault> {
        match self.take(key) {
            None => Ok(None),
            Some(Json::Text(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(key, "a string", &other)),
        }
    }

    /// Text that must be there.
    pub(super) fn required_text(&mut self, key: &str) -> Result<Cow<'a, str>, Fault> {
        match self.text(key)? {
            Some(text) => Ok(text),
            None => Err(self.missing(key)),
        }
    }

    /// Text of one's own.
    pub(super) fn owned(&mut self, key: &str) -> Result<Option<String>, Fault> {
        Ok(self.text(key)?.map(Cow::into_owned))
    }

    /// An id.
    pub(super) fn id(&mut self, key: &str) -> Result<Option<Id>, Fault> {
        let text = self.text(key)?;
        text.map(|text| read_id(&self.name(key), &text)).transpose()
    }

    /// An id, or the fields of an object.
    pub(super) fn id_or_object(
        &mut self,
        key: &'static str,
    ) -> Result<Option<IdOrObject<'a>>, Fault> {
        match self.take(key) {
            None => Ok(None),
            Some(Json::Text(text)) => Ok(Some(IdOrObject::Id(read_id(&self.name(key), &text)?))),
            Some(Json::Table(table)) => Ok(Some(IdOrObject::Object(Fields { table, path: key }))),
            Some(other) => Err(self.wrong(key, "an id or an object", &other)),
        }
    }

    /// The address of a page or a picture.
    pub(super) fn address(&mut self, key: &str) -> Result<Option<String>, Fault> {
        let address = self.owned(key)?;
        if let Some(address) = &address {
            address::check(&self.name(key), address)?;
        }
        Ok(address)
    }

    /// An id that must be there.
    pub(super) fn required_id(&mut self, key: &str) -> Result<Id, Fault> {
        match self.id(key)? {
            Some(id) => Ok(id),
            None => Err(self.missing(key)),
        }
    }

    /// A list of ids; empty where absent.
    pub(super) fn ids(&mut self, key: &str) -> Result<Vec<Id>, Fault> {
        self.list(key)?
            .unwrap_or_default()
            .into_iter()
            .map(|item| match item {
                Json::Text(text) => read_id(&self.name(key), &text),
                other => Err(self.wrong(key, "an array of strings", &other)),
            })
            .collect()
    }

    /// A list.
    pub(super) fn list(&mut self, key: &str) -> Result<Option<Vec<Json<'a>>>, Fault> {
        match self.take(key) {
            None => Ok(None),
            Some(Json::List(list)) => Ok(Some(list)),
            Some(other) => Err(self.wrong(key, "an array", &other)),
        }
    }

    /// True or false.
    pub(super) fn flag(&mut self, key: &str) -> Result<Option<bool>, Fault> {
        match self.take(key) {
            None => Ok(None),
            Some(Json::Bool(flag)) => Ok(Some(flag)),
            Some(other) => Err(self.wrong(key, "a boolean", &other)),
        }
    }

    /// A number from `least` to `most` that must be there.
    pub(super) fn required_number(
        &mut self,
        key: &str,
        (least, most): (f64, f64),
    ) -> Result<f64, Fault> {
        match self.take(key) {
            None => Err(self.missing(key)),
            Some(value) => self.number_within(key, &value, (least, most)),
        }
    }

    fn number_within(
        &self,
        key: &str,
        value: &Json<'_>,
        (least, most): (f64, f64),
    ) -> Result<f64, Fault> {
        let Json::Number(number) = value else {
            return Err(self.wrong(key, "a number", value));
        };
        match number.as_f64() {
            Some(number) if (least..=most).contains(&number) => Ok(number),
            _ => {
                let range = format!("a number from {least} to {most}");
                let reason = format!("{} must be {range}, got {number}", self.name(key));
                Err(Fault::new(reason, format!("write {range}")))
            }
        }
    }

    /// An instant.
    pub(super) fn instant(&mut self, key: &str) -> Result<Option<Instant>, Fault> {
        let Some(text) = self.text(key)? else {
            return Ok(None);
        };
        match Instant::parse(&text) {
            Ok(instant) => Ok(Some(instant)),
            Err(_) => {
                let reason = format!("{} must be a time, got {}", self.name(key), quoted(&text));
                let hint = "write RFC 3339 with an offset, such as `2024-01-01T09:00:00Z`, until \
                            9999-12-30T22:00:00Z";
                Err(Fault::new(reason, hint))
            }
        }
    }

    /// The fields of an object below this one.
    pub(super) fn object(
        &mut self,
        key: &str,
        path: &'static str,
    ) -> Result<Option<Fields<'a>>, Fault> {
        Ok(self.table(key)?.map(|table| Fields { table, path }))
    }

    /// The fields of an object below this one, which null takes away: `Some(None)`.
    pub(super) fn object_change(
        &mut self,
        key: &str,
        path: &'static str,
    ) -> Result<Option<Option<Fields<'a>>>, Fault> {
        match self.take_any(key) {
            None => Ok(None),
            Some(Json::Null) => Ok(Some(None)),
            Some(Json::Table(table)) => Ok(Some(Some(Fields { table, path }))),
            Some(other) => Err(self.wrong(key, "an object", &other)),
        }
    }

    /// The fields of an object below this one, or of each object of a list; empty where absent.
    pub(super) fn one_or_many(
        &mut self,
        key: &str,
        path: &'static str,
    ) -> Result<Vec<Fields<'a>>, Fault> {
        let list = match self.take(key) {
            None => Vec::new(),
            Some(Json::List(list)) => list,
            Some(one) => vec![one],
        };
        let fields = list.into_iter().map(|item| match item {
            Json::Table(table) => Ok(Fields { table, path }),
            other => Err(self.wrong(key, "an object, or a list of objects", &other)),
        });
        fields.collect()
    }

    /// An object whose fields are anybody's.
    pub(super) fn table(&mut self, key: &str) -> Result<Option<Table<'a>>, Fault> {
        match self.take(key) {
            None => Ok(None),
            Some(Json::Table(table)) => Ok(Some(table)),
            Some(other) => Err(self.wrong(key, "an object", &other)),
        }
    }

    /// Text that null takes away: `Some(None)`.
    pub(super) fn change(&mut self, key: &str) -> Result<Option<Option<Cow<'a, str>>>, Fault> {
        match self.take_any(key) {
            None => Ok(None),
            Some(Json::Null) => Ok(Some(None)),
            Some(Json::Text(text)) => Ok(Some(Some(text))),
            Some(other) => Err(self.wrong(key, "a string or null", &other)),
        }
    }

    /// A number from `least` to `most` that null takes away: `Some(None)`.
    pub(super) fn number_change(
        &mut self,
        key: &str,
        (least, most): (f64, f64),
    ) -> Result<Option<Option<f64>>, Fault> {
        match self.take_any(key) {
            None => Ok(None),
            Some(Json::Null) => Ok(Some(None)),
            Some(value) => self
                .number_within(key, &value, (least, most))
                .map(|n| Some(Some(n))),
        }
    }

    /// The only one of some fields that is given.
    pub(super) fn one_of(&self, keys: &[&'static str]) -> Result<&'static str, Fault> {
        let given: Vec<&'static str> = keys
            .iter()
            .copied()
            .filter(|key| {
                self.table
                    .iter()
                    .any(|(name, value)| name == key && *value != Json::Null)
            })
            .collect();
        let hint = format!("give exactly one of {}", one_of(keys));
        match given.as_slice() {
            [one] => Ok(one),
            [] => Err(Fault::new(format!("{} is missing", one_of(keys)), hint)),
            [first, second, ..] => Err(Fault::new(
                format!("`{first}` and `{second}` are mutually exclusive"),
                hint,
            )),
        }
    }
}

/// How a field is written, for faults.
fn example(key: &str, wanted: &str) -> &'static str {
    match (wanted, key) {
        ("an object", "to") => r#"Example: {"recipients": ["ada"]}"#,
        ("an object", "object" | "target") => r#"Example: {"id": "works/1"}"#,
        ("an object", "addresses") => r#"Example: {"email": "ada@example.org"}"#,
        ("an object", "near") => r#"Example: {"lat": 48.86, "lon": 2.35, "km": 10}"#,
        ("an object", _) => r#"Example: {"excerpt": "Well done"}"#,
        ("an array" | "an array of strings", "topics") => r#"Example: ["artist/42"]"#,
        ("an array" | "an array of strings", "channels") => r#"Example: ["email"]"#,
        ("an array" | "an array of strings", _) => r#"Example: ["ada"]"#,
        ("an id or an object", _) => r#"Example: "ada" or {"id": "ada", "title": "Ada"}"#,
        ("a boolean", _) => "write true or false, without quotes",
        ("a number", _) => "write it without quotes",
        _ => "write it in quotes",
    }
}

fn read_id(name: &str, text: &str) -> Result<Id, Fault> {
    Id::new(text).map_err(|error| {
        let reason = format!("{name} must be an id, got {}: {error}", quoted(text));
        Fault::new(
            reason,
            "write 1 to 256 bytes of UTF-8 without control characters",
        )
    })
}
