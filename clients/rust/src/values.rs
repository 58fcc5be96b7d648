//! Shapes that several types have.

use serde::{Deserialize, Serialize};

/// One or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany<T> {
    /// One.
    One(T),
    /// Several.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// All of them.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

impl<T> From<T> for OneOrMany<T> {
    fn from(one: T) -> Self {
        Self::One(one)
    }
}

impl From<&str> for OneOrMany<String> {
    fn from(one: &str) -> Self {
        Self::One(one.to_owned())
    }
}

impl<T> From<Vec<T>> for OneOrMany<T> {
    fn from(many: Vec<T>) -> Self {
        Self::Many(many)
    }
}

/// Defines a word of the API: an enum that keeps words that it does not know.
macro_rules! words {
    ($(#[$said:meta])* $name:ident { $($(#[$of_variant:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$said])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$of_variant])* $variant,)*
            /// A word that this client does not know.
            Other(String),
        }

        impl $name {
            /// The word.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)*
                    Self::Other(word) => word,
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word {
                    $($word => Self::$variant,)*
                    other => Self::Other(other.to_owned()),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Ok(Self::from(&*word))
            }
        }
    };
}

pub(crate) use words;

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use crate::types::{
        IdOrProfileOut, ItemAnswer, KeyShown, LineAnswer, PublishAnswer, RecipientProfile, RoleName,
    };

    #[test]
    fn what_is_not_known_is_kept() {
        let role: RoleName = from_value(json!("auditor")).unwrap();
        assert_eq!(role, RoleName::Other("auditor".to_owned()));
        let key = json!({"id": "k", "name": "n", "made": "2026-01-01T00:00:00Z", "role": "admin", "region": "a"});
        let shown: KeyShown = from_value(key.clone()).unwrap();
        assert_eq!(shown.extra["region"], "a");
        assert_eq!(serde_json::to_value(&shown).unwrap(), key);
        let other: IdOrProfileOut = from_value(json!(["odd"])).unwrap();
        assert_eq!(other, IdOrProfileOut::Other(json!(["odd"])));
    }

    #[test]
    fn forms_of_an_answer_are_told_apart() {
        let problem = json!({"code": "invalid_body", "status": 422, "detail": "", "hint": "", "title": "", "type": ""});
        let rejected = json!({"status": "rejected", "line": 2, "problem": problem});
        let is = |value: &Value| from_value::<LineAnswer>(value.clone()).unwrap();
        assert!(matches!(is(&rejected), LineAnswer::Rejected(_)));
        assert!(matches!(is(&json!({"status": "done", "line": 1})), LineAnswer::Done(_)));
        let counted = json!({"lines": 1, "done": 1, "problems": 0});
        assert!(matches!(is(&counted), LineAnswer::Counted(_)));
        assert!(matches!(from_value(rejected).unwrap(), ItemAnswer::Rejected(_)));
        let one = json!({"id": "a", "status": "accepted", "notifications": 1, "suppressed": 0, "warnings": []});
        assert!(matches!(from_value(one.clone()).unwrap(), PublishAnswer::PublishedEvent(_)));
        assert!(matches!(from_value(json!([one])).unwrap(), PublishAnswer::List(_)));
    }

    #[test]
    fn addresses_may_be_one_or_several() {
        let profile = json!({"id": "a", "state": "active", "addresses": {"fcm": ["1", "2"], "apns": "3", "matrix": "@a"}});
        let profile: RecipientProfile = from_value(profile).unwrap();
        assert_eq!(profile.addresses.fcm.unwrap().as_slice().len(), 2);
        assert_eq!(profile.addresses.apns.unwrap().as_slice(), ["3"]);
        assert_eq!(profile.addresses.extra["matrix"], "@a");
    }
}
