//! JSON in its strictest form: objects whose members are there once, at every level.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::TokenRefusal;

/// The most objects and lists within each other.
const LEVELS_MAX: usize = 32;

/// The members of an object, each of which is there once.
pub(super) struct UniqueMembers<'t>(Vec<(String, Value<'t>)>);

/// A value as it is written.
#[derive(Clone, Copy)]
pub(super) struct Value<'t>(&'t RawValue);

impl<'t> UniqueMembers<'t> {
    /// Reads an object.
    ///
    /// # Errors
    /// [`TokenRefusal::Malformed`] with `what`.
    pub(super) fn read(bytes: &'t [u8], what: &'static str) -> Result<Self, TokenRefusal> {
        let members: Option<Self> = serde_json::from_slice(bytes).ok();
        let members = members.filter(|members| are_once(members, 0));
        members.ok_or(TokenRefusal::Malformed(what))
    }

    /// The value of a member.
    pub(super) fn get(&self, name: &str) -> Option<Value<'t>> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }
}

fn are_once(members: &UniqueMembers<'_>, level: usize) -> bool {
    level < LEVELS_MAX && members.0.iter().all(|(_, value)| is_strict(*value, level + 1))
}

/// Returns true if every object of a value has its members once. Numbers are not checked: an unused claim may have any.
fn is_strict(value: Value<'_>, level: usize) -> bool {
    let text = value.0.get();
    match text.as_bytes().first() {
        Some(b'{') => serde_json::from_str(text)
            .is_ok_and(|members: UniqueMembers<'_>| are_once(&members, level)),
        Some(b'[') => {
            let items: Result<JsonItems<'_>, _> = serde_json::from_str(text);
            level < LEVELS_MAX
                && items.is_ok_and(|items| {
                    items.0.into_iter().all(|item| is_strict(Value(item), level + 1))
                })
        }
        _ => true,
    }
}

impl Value<'_> {
    pub(super) fn texts(self) -> Option<Vec<String>> {
        serde_json::from_str(self.0.get()).ok()
    }

    pub(super) fn text(self) -> Option<String> {
        serde_json::from_str(self.0.get()).ok()
    }

    /// A number; one that no number of the machine holds is infinite.
    pub(super) fn number(self) -> Option<f64> {
        let text = self.0.get();
        let is_number = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        text.parse().ok().filter(|_| is_number)
    }

    pub(super) fn is_null(self) -> bool {
        self.0.get() == "null"
    }
}

impl<'de> Deserialize<'de> for UniqueMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = UniqueMembers<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<UniqueMembers<'de>, A::Error> {
        let mut members: Vec<(String, Value<'de>)> = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
            members.push((name, Value(value)));
        }
        let mut names: Vec<&String> = members.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        if names.windows(2).any(|two| two[0] == two[1]) {
            return Err(A::Error::custom("a member is there twice"));
        }
        Ok(UniqueMembers(members))
    }
}

struct JsonItems<'t>(Vec<&'t RawValue>);

impl<'de> Deserialize<'de> for JsonItems<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ItemsVisitor;
        impl<'de> Visitor<'de> for ItemsVisitor {
            type Value = JsonItems<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<JsonItems<'de>, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(JsonItems(items))
            }
        }
        deserializer.deserialize_seq(ItemsVisitor)
    }
}
