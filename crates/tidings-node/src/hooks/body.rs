//! The body of a call: an occurrence as the host reads it.

use serde_json::{Map, Value, json};
use tidings_core::Instant;
use tidings_core::model::{
    ALL_CATEGORIES, EACH_CHANNEL, MessageOccurrence, MessageTurn, Occurrence, PreferenceScope,
};

/// The body of a call about an occurrence of an instant.
pub(crate) fn body(occurrence: &Occurrence, at: Instant) -> String {
    let data = match occurrence {
        Occurrence::Message(message) => of_message(message),
        Occurrence::Preference { recipient, scope, channel, mode, by, tenant } => {
            let (level, name) = match scope {
                PreferenceScope::Type(name) => ("type", &**name),
                PreferenceScope::Category(name) => ("category", &**name),
                PreferenceScope::AllCategories => ("category", ALL_CATEGORIES),
                PreferenceScope::Topic(topic) => ("topic", topic.as_str()),
                PreferenceScope::Object(object) => ("object", object.as_str()),
                PreferenceScope::DigestDay(name) | PreferenceScope::DigestTime(name) => {
                    ("digest", &**name)
                }
            };
            let mut data = json!({"recipient": recipient, level: name, "by": by.word()});
            match scope {
                PreferenceScope::DigestDay(_) => data["on"] = json!(mode.to_string()),
                PreferenceScope::DigestTime(_) => data["at"] = json!(mode.to_string()),
                _ => {
                    let channel = channel.map_or(EACH_CHANNEL, |channel| channel.name());
                    data["channel"] = json!(channel);
                    data["mode"] = json!(mode.to_string());
                }
            }
            if let Some(tenant) = tenant {
                data["tenant"] = json!(tenant);
            }
            data
        }
        Occurrence::Suppressed { address, reason, recipient, by } => {
            let mut data = json!({
                "channel": address.channel().name(),
                "address": address.address(),
                "reason": reason.word(),
                "by": by.word(),
            });
            if let Some(recipient) = recipient {
                data["recipient"] = json!(recipient);
            }
            data
        }
    };
    let mut body = Map::new();
    body.insert("type".to_owned(), occurrence.kind().name().into());
    body.insert("timestamp".to_owned(), at.to_string().into());
    body.insert("data".to_owned(), data);
    Value::Object(body).to_string()
}

fn of_message(message: &MessageOccurrence) -> Value {
    let MessageOccurrence {
        turn,
        message,
        recipient,
        channel,
        tenant,
        address,
        types,
        events,
        provider,
        words,
    } = message;
    let mut data = json!({
        "message": message.to_string(),
        "recipient": recipient,
        "channel": channel.name(),
        "address": address,
        "types": types,
        "events": events,
        "provider": provider,
    });
    if let Some(tenant) = tenant {
        data["tenant"] = json!(tenant);
    }
    let reason = match turn {
        MessageTurn::Sent => None,
        MessageTurn::Failed(reason) => reason.map(|reason| json!(reason)),
        MessageTurn::Bounced | MessageTurn::Complained => (!words.is_empty()).then(|| json!(words)),
    };
    if let Some(reason) = reason {
        data["reason"] = reason;
    }
    data
}

#[cfg(test)]
mod tests {
    use tidings_core::Id;
    use tidings_core::model::{ChangedBy, ChannelAddress, EMAIL_NO, Mode, SlotDay, SuppressedFor};

    use super::*;

    #[test]
    fn a_body_says_what_the_contract_says() {
        let at = Instant::parse("2024-03-07T08:00:00Z").unwrap();
        let read = |occurrence: &Occurrence| -> Value {
            serde_json::from_str(&body(occurrence, at)).unwrap()
        };
        let recipient = Id::new("ada").unwrap();
        let message = |turn| {
            Occurrence::Message(Box::new(MessageOccurrence {
                turn,
                message: "2024-03-07.3.12.77".parse().unwrap(),
                recipient: recipient.clone(),
                channel: EMAIL_NO,
                tenant: None,
                address: Some("ada@example.org".to_owned()),
                types: vec![Id::new("comment").unwrap()],
                events: vec![Id::new("e1").unwrap()],
                provider: Some("smtp://mail".to_owned()),
                words: "552".to_owned(),
            }))
        };
        let mut expected = json!({
            "type": "message.sent", "timestamp": "2024-03-07T08:00:00Z",
            "data": {"message": "2024-03-07.3.12.77", "recipient": "ada", "channel": "email",
                "address": "ada@example.org", "types": ["comment"], "events": ["e1"],
                "provider": "smtp://mail"},
        });
        assert_eq!(read(&message(MessageTurn::Sent)), expected);
        expected["type"] = json!("message.bounced");
        expected["data"]["reason"] = json!("552");
        assert_eq!(read(&message(MessageTurn::Bounced)), expected);
        let failed = MessageTurn::Failed(Some(tidings_core::model::Reason::Refused));
        assert_eq!(read(&message(failed))["data"]["reason"], "refused");
        let preference = |scope, channel, mode| {
            let (recipient, by, tenant) = (recipient.clone(), ChangedBy::Link, None);
            read(&Occurrence::Preference { recipient, scope, channel, mode, by, tenant })
        };
        let daily = Mode::Digest("daily".to_owned());
        assert_eq!(
            preference(PreferenceScope::Category("social".to_owned()), Some(EMAIL_NO), daily),
            json!({"type": "preference.changed", "timestamp": "2024-03-07T08:00:00Z",
                "data": {"recipient": "ada", "category": "social", "channel": "email",
                    "mode": "daily", "by": "link"}}),
        );
        let each = preference(PreferenceScope::AllCategories, None, Mode::Never);
        assert_eq!(
            (&each["data"]["category"], &each["data"]["channel"]),
            (&json!("*"), &json!("*"))
        );
        let weekly = || "weekly".to_owned();
        let friday = Mode::Day(SlotDay::Week(5));
        assert_eq!(
            preference(PreferenceScope::DigestDay(weekly()), None, friday)["data"],
            json!({"recipient": "ada", "digest": "weekly", "on": "fri", "by": "link"}),
        );
        assert_eq!(
            preference(PreferenceScope::DigestTime(weekly()), None, Mode::Default)["data"],
            json!({"recipient": "ada", "digest": "weekly", "at": "default", "by": "link"}),
        );
        let suppressed = |recipient| Occurrence::Suppressed {
            address: ChannelAddress::new(EMAIL_NO, "ada@example.org"),
            reason: SuppressedFor::Bounce,
            recipient,
            by: ChangedBy::Provider,
        };
        let mut expected = json!({"channel": "email", "address": "ada@example.org",
            "reason": "bounce", "by": "provider"});
        assert_eq!(read(&suppressed(None))["data"], expected);
        expected["recipient"] = json!("ada");
        assert_eq!(read(&suppressed(Some(recipient.clone())))["data"], expected);
    }
}
