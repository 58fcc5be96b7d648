//! Fields of a change that can remove a value, as they are stored and sent to other nodes.
//!
//! An empty list removes, since no value of such a field is a list. `null` means no change, as it did in rows and
//! messages of builds that wrote it for both.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The form of a field that changes.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum FieldChange<T> {
    Remove([(); 0]),
    Set(T),
}

/// Writes a field; `Some(None)` becomes an empty list.
#[expect(clippy::ref_option, reason = "serde calls it with a reference to the field")]
pub(in crate::model) fn serialize<S: Serializer, T: Serialize>(
    field: &Option<Option<T>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let change = field.as_ref().map(|value| match value {
        Some(value) => FieldChange::Set(value),
        None => FieldChange::Remove([]),
    });
    change.serialize(serializer)
}

/// Reads a field: an empty list removes, `null` changes nothing.
pub(in crate::model) fn deserialize<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    field: D,
) -> Result<Option<Option<T>>, D::Error> {
    let change = Option::<FieldChange<T>>::deserialize(field)?;
    Ok(change.map(|change| match change {
        FieldChange::Remove([]) => None,
        FieldChange::Set(value) => Some(value),
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use crate::model::data::Data;
    use crate::model::id::Id;
    use crate::model::recipient::RecipientChange;
    use crate::model::tenant::{BrandChange, TenantChange};

    #[test]
    fn what_is_removed_is_removed_after_it_was_sent_to_another_node() {
        let recipient = RecipientChange {
            tz: Some(None),
            locale: Some(Some("de".to_owned())),
            lat: Some(Some(52.0)),
            lon: Some(None),
            data: Some(Some(Data::from(Map::new()))),
            quiet_hours: Some(None),
            ..RecipientChange::nothing(Id::new("ada").unwrap())
        };
        let brand = BrandChange { logo: Some(None), ..BrandChange::default() };
        let tenant = TenantChange { brand, data: Some(None), ..TenantChange::default() };
        let sent = serde_json::to_vec(&(&recipient, &tenant)).unwrap();
        let read: (RecipientChange, TenantChange) = serde_json::from_slice(&sent).unwrap();
        assert_eq!(read, (recipient, tenant));
    }

    #[test]
    fn a_change_of_an_earlier_build_removes_nothing() {
        let nothing = RecipientChange::nothing(Id::new("ada").unwrap());
        let mut stored = serde_json::to_value(&nothing).unwrap();
        for field in ["name", "tz", "locale", "lat", "lon", "data", "quiet_hours"] {
            stored[field] = json!(null);
        }
        assert_eq!(serde_json::from_value::<RecipientChange>(stored).unwrap(), nothing);
    }
}
