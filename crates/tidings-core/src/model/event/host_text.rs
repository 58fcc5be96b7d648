//! Titles and bodies that a host gives with objects and events.
//!
//! One value holds a text or several: a second field `titles` would leave every reader to find out which is newer. Conditions
//! see the first text, not that of the default locale: an event would be decided differently after the default changes.

use std::fmt;
use std::sync::Arc;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A title or a body: one text for all languages, or a text for each of some locales, in the order given.
///
/// # Examples
/// ```
/// use tidings_core::model::HostText;
///
/// let one = HostText::from("Water Lilies");
/// assert_eq!((one.one(), one.first()), (Some("Water Lilies"), "Water Lilies"));
/// let both: HostText = serde_json::from_str(r#"{"fr": "Nymphéas", "en": "Water Lilies"}"#)?;
/// assert_eq!((both.one(), both.first()), (None, "Nymphéas"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct HostText(GivenText);

#[derive(Clone, PartialEq, Eq, Hash)]
enum GivenText {
    One(Arc<str>),
    /// At least one.
    ByLocale(Arc<[(String, String)]>),
}

impl HostText {
    /// A text by locale; `None` = the list is empty.
    #[must_use]
    pub fn by_locale(texts: Vec<(String, String)>) -> Option<Self> {
        (!texts.is_empty()).then(|| Self(GivenText::ByLocale(texts.into())))
    }

    /// The text for all languages; `None` = there is one for each locale.
    #[must_use]
    pub fn one(&self) -> Option<&str> {
        match &self.0 {
            GivenText::One(text) => Some(text),
            GivenText::ByLocale(_) => None,
        }
    }

    /// The text for uses without a language, such as conditions: the first one given.
    #[must_use]
    pub fn first(&self) -> &str {
        match &self.0 {
            GivenText::One(text) => text,
            GivenText::ByLocale(texts) => texts.first().map_or("", |(_, text)| text),
        }
    }

    /// The texts by locale; empty if there is one for all languages.
    #[must_use]
    pub fn locales(&self) -> &[(String, String)] {
        match &self.0 {
            GivenText::One(_) => &[],
            GivenText::ByLocale(texts) => texts,
        }
    }
}

impl<T: Into<Arc<str>>> From<T> for HostText {
    fn from(text: T) -> Self {
        Self(GivenText::One(text.into()))
    }
}

impl fmt::Debug for HostText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            GivenText::One(text) => fmt::Debug::fmt(text, f),
            GivenText::ByLocale(texts) => {
                f.debug_map().entries(texts.iter().map(|(locale, text)| (locale, text))).finish()
            }
        }
    }
}

impl Serialize for HostText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            GivenText::One(text) => serializer.serialize_str(text),
            GivenText::ByLocale(texts) => {
                serializer.collect_map(texts.iter().map(|(locale, text)| (locale, text)))
            }
        }
    }
}

impl<'de> Deserialize<'de> for HostText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct HostTextVisitor;

        impl<'de> Visitor<'de> for HostTextVisitor {
            type Value = HostText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or an object of texts by locale")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<HostText, E> {
                Ok(text.into())
            }

            fn visit_string<E: Error>(self, text: String) -> Result<HostText, E> {
                Ok(text.into())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<HostText, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = map.next_entry()? {
                    texts.push(text);
                }
                HostText::by_locale(texts)
                    .ok_or_else(|| A::Error::custom("an object of texts has at least one"))
            }
        }

        deserializer.deserialize_any(HostTextVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_stored_as_it_was_given() {
        for json in [r#""a""#, r#""""#, r#"{"fr":"b","de-AT":"a"}"#] {
            let text: HostText = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_string(&text).unwrap(), json);
        }
        for json in ["{}", "3", "null", r#"{"fr":3}"#, "[]"] {
            assert!(serde_json::from_str::<HostText>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn one_text_takes_no_more_room_than_a_string() {
        assert_eq!(size_of::<Option<HostText>>(), size_of::<Option<String>>());
    }
}
