//! Titles and bodies in requests: one text, or an object with a text for each locale.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use tidings_config::wording::quoted;
use tidings_core::model::HostText;
use tidings_mail::{canonical_locale, check_locale};
use utoipa::ToSchema;

use super::address::within;
use super::fault::Fault;
use super::text::TITLE_BYTES_MAX;

/// Maximum length of the body of an event, in bytes.
const BODY_BYTES_MAX: usize = 2 << 10;
/// Maximum length of all texts of a title or a body together, in bytes.
const ALL_BYTES_MAX: usize = 16 << 10;

/// A text for all languages, or an object with a text for each locale (BCP 47). A message shows the text in its language.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = HostText, example = json!({"en": "Water Lilies", "fr": "Nymphéas"}))]
#[expect(missing_docs, reason = "a text of a variant would be one of the API's document")]
pub enum TextBody {
    One(String),
    ByLocale(BTreeMap<String, String>),
}

/// Reads a title.
pub(super) fn title<'de, D: Deserializer<'de>>(value: D) -> Result<Option<HostText>, D::Error> {
    checked(value, TITLE_BYTES_MAX)
}

/// Reads the `body` of an event.
pub(super) fn body<'de, D: Deserializer<'de>>(value: D) -> Result<Option<HostText>, D::Error> {
    checked(value, BODY_BYTES_MAX)
}

fn checked<'de, D: Deserializer<'de>>(
    value: D,
    bytes_max: usize,
) -> Result<Option<HostText>, D::Error> {
    let Some(HostTextBody(text)) = Option::<HostTextBody>::deserialize(value)? else {
        return Ok(None);
    };
    match fault(&text, bytes_max) {
        None => Ok(Some(text)),
        Some(fault) => Err(D::Error::custom(fault)),
    }
}

fn fault(text: &HostText, bytes_max: usize) -> Option<Fault> {
    if let Some(one) = text.one() {
        return within(one, bytes_max).err();
    }
    let mut given: Vec<String> = Vec::new();
    let mut bytes = 0;
    for (locale, text) in text.locales() {
        if let Err(fault) = check_locale(locale) {
            let reason = format!("has {}, which is not a locale", quoted(locale));
            return Some(Fault::new(reason, fault.to_string()));
        }
        let canonical = canonical_locale(locale);
        if given.contains(&canonical) {
            let reason = format!("has two texts in {}", quoted(locale));
            return Some(Fault::new(reason, "keep one of the two"));
        }
        given.push(canonical);
        if let Err(fault) = within(text, bytes_max) {
            return Some(fault);
        }
        bytes += locale.len() + text.len();
    }
    if bytes > ALL_BYTES_MAX {
        let reason = format!("has {bytes} bytes in all its locales, more than {ALL_BYTES_MAX}");
        return Some(Fault::new(reason, "give fewer of them, or shorter ones"));
    }
    None
}

/// A text as it is in the request.
struct HostTextBody(HostText);

impl<'de> Deserialize<'de> for HostTextBody {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct HostTextVisitor;

        impl<'de> Visitor<'de> for HostTextVisitor {
            type Value = HostTextBody;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a string, or an object of strings by locale\n  = help: Example: \"Water Lilies\" or \
                     {\"en\": \"Water Lilies\", \"fr\": \"Nymphéas\"}",
                )
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<HostTextBody, E> {
                Ok(HostTextBody(text.into()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<HostTextBody, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = map.next_entry::<String, String>()? {
                    texts.push(text);
                }
                let fault = || {
                    let hint = "write at least one, such as `{\"en\": \"Water Lilies\"}`";
                    A::Error::custom(Fault::new("has no text in any locale", hint))
                };
                HostText::by_locale(texts).map(HostTextBody).ok_or_else(fault)
            }
        }

        deserializer.deserialize_any(HostTextVisitor)
    }
}
