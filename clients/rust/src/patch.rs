//! Fields of a change: absent, null and a value are three things.

use serde::{Serialize, Serializer};

/// A field of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Patch<T> {
    /// Is not sent: what is there stays.
    #[default]
    Keep,
    /// Is sent as null: what is there is removed.
    Clear,
    /// Replaces what is there.
    Set(T),
}

impl<T> Patch<T> {
    /// Returns true if what is there stays.
    #[must_use]
    pub fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }
}

impl<T> From<T> for Patch<T> {
    fn from(value: T) -> Self {
        Self::Set(value)
    }
}

impl<T: Serialize> Serialize for Patch<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            // Fields that stay are skipped before it comes to this.
            Self::Keep | Self::Clear => serializer.serialize_none(),
            Self::Set(value) => value.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::types::{Addresses, RecipientChange};

    #[test]
    fn absent_null_and_a_value_are_three_things() {
        let change = RecipientChange::new().tz("Europe/Paris").clear_locale();
        let text = serde_json::to_string(&change).unwrap();
        assert_eq!(text, r#"{"locale":null,"tz":"Europe/Paris"}"#);
        let change = RecipientChange::new().addresses(Addresses::new().clear_sms().fcm("t"));
        let text = serde_json::to_string(&change).unwrap();
        assert_eq!(text, r#"{"addresses":{"fcm":"t","sms":null}}"#);
        assert_eq!(serde_json::to_string(&RecipientChange::new()).unwrap(), "{}");
    }
}
