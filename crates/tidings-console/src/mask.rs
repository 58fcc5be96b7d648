//! Masking: what nobody at the console sees without opening a person (contract, section 11, "Masked").
//!
//! A text is hidden unless the name of its field is known to hold an id, a word of the API or an instant. So a field
//! that a call gains later is hidden until somebody decides about it. What belongs to a person who has been opened is
//! left as it is.

mod text;
mod values;

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::viewer::Viewer;

pub(crate) use text::address as masked_address;
pub use values::{MASKED, ValueMask};

/// Stands for a text of which nothing is shown.
pub(crate) const HIDDEN: &str = "•••";

/// The fields whose texts are shown: ids, words of the API, instants, zones, and what operators wrote.
const SHOWN: &str = "id event recipient object target actor type tenant tenants topic topics channel channels category \
     digest lane key job message batch cancellation_key request state reason reasons outcome verb kind matched role \
     action via policy decide admission unresolved unknown_outcome per group look_back give_up_after condition \
     batch_key quiet max_wait after hold spread source rule result mode modes choose every on at from to until began \
     begun ended used made built due next_try t arrived_at occurred_at deliver_at deliver_local expires_at \
     snoozed_until newest newest_at newest_step now oldest_due since forgotten_before scheduled_for hour day days \
     days_without complete_to zone as_of first default_at default_on locale lang tz order config node version \
     provider providers destination types missing next cursor trace delay except recipients code status subject_kind \
     row receipt what file line column dry shape warning topics_all diff held_by quiet_hours \
     set_by";

/// The resources whose `name` is one that operators gave: of a tenant, a key, a feed.
const NAMED_BY_OPERATORS: [&str; 4] = ["tenants", "feeds", "hooks", "types"];

/// The fields that hold a name or a title.
const NAMES: [&str; 5] = ["name", "title", "tenant_name", "from_name", "actors"];

/// The fields that quote providers, problems and rules.
const QUOTES: [&str; 9] =
    ["answer", "reply", "why", "problem", "detail", "hint", "fault", "looked_at", "faults"];

/// The mask of one answer.
pub(crate) struct Mask<'a> {
    viewer: &'a Viewer,
    now: Timestamp,
    /// The resource of the call: the first segment of its path.
    resource: &'a str,
    /// The fields of `data` that are shown, as `data.plan`.
    shown_data: &'a [String],
    /// True for a message that was built with masked values.
    is_built_masked: bool,
}

/// The texts of a message.
const BUILT: [&str; 3] = ["subject", "html", "text"];

impl<'a> Mask<'a> {
    pub(crate) fn new(
        resource: &'a str,
        viewer: &'a Viewer,
        now: Timestamp,
        shown_data: &'a [String],
    ) -> Self {
        Self { viewer, now, resource, shown_data, is_built_masked: false }
    }

    /// Masks the answer of a call about a recipient, or about nobody in particular.
    pub(crate) fn answer(&self, answer: &mut Value, recipient: Option<&str>) {
        if recipient.is_some_and(|recipient| self.viewer.sees(recipient, self.now)) {
            return;
        }
        let is_built_masked = answer[MASKED] == true;
        Mask { is_built_masked, ..*self }.value(answer);
    }

    /// Masks a problem: what it quotes may be a name or an address.
    pub(crate) fn problem(&self, problem: &mut Value) {
        for name in ["detail", "hint"] {
            if let Some(Value::String(quoted)) = problem.get_mut(name) {
                *quoted = text::without_addresses(quoted);
            }
        }
    }

    fn value(&self, value: &mut Value) {
        match value {
            Value::Array(values) => values.iter_mut().for_each(|value| self.value(value)),
            Value::Object(fields) => self.object(fields),
            Value::String(hidden) => HIDDEN.clone_into(hidden),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn object(&self, fields: &mut Map<String, Value>) {
        let recipient = fields.get("recipient").and_then(Value::as_str);
        let recipient = recipient.or_else(|| self.listed_person(fields));
        if recipient.is_some_and(|recipient| self.viewer.sees(recipient, self.now)) {
            return;
        }
        for (name, value) in fields {
            self.field(name, value);
        }
    }

    /// The id of a row of the list of recipients.
    fn listed_person<'f>(&self, fields: &'f Map<String, Value>) -> Option<&'f str> {
        let is_row = self.resource == "recipients" && fields.contains_key("name");
        fields.get("id").filter(|_| is_row).and_then(Value::as_str)
    }

    fn field(&self, name: &str, value: &mut Value) {
        match name {
            "data" => values::data(self.shown_data, "data", value),
            "addresses" => addresses(value),
            // A channel may be the name of a field as well: `channels.email` has no address.
            "email" | "address" | "reply_to" | "url" if !value.is_object() => addresses(value),
            "name" if NAMED_BY_OPERATORS.contains(&self.resource) => {}
            // Categories have titles that operators wrote.
            "title" if self.resource == "types" => {}
            // The holder of a key, in lists of keys, is named by operators as well.
            "name" if self.resource == "admin" => {}
            // A message that was built with masked values may still have an address in words of its own.
            name if self.is_built_masked && BUILT.contains(&name) => {
                texts(value, &text::without_addresses);
            }
            name if NAMES.contains(&name) => texts(value, &text::name),
            // Of what holds a message, the reason is what its provider said.
            "reason" if value.as_str().is_some_and(|reason| !is_word(reason)) => {
                texts(value, &text::without_addresses);
            }
            name if QUOTES.contains(&name) => texts(value, &text::without_addresses),
            _ => match value {
                Value::Object(_) => self.value(value),
                Value::Array(values) => {
                    values.iter_mut().for_each(|value| self.field(name, value));
                }
                // The source of a mail is all of it.
                Value::String(hidden) if name == "source" && !is_word(hidden) => {
                    HIDDEN.clone_into(hidden);
                }
                Value::String(hidden) if !is_shown(name) => HIDDEN.clone_into(hidden),
                Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
            },
        }
    }
}

/// Returns true if texts of a field of this name are ids, words of the API, instants, or what operators wrote.
pub(crate) fn is_shown(name: &str) -> bool {
    SHOWN.split_ascii_whitespace().any(|shown| shown == name)
}

/// Returns true for a word of the API, such as `no_address`.
pub(crate) fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// Masks every text within a value.
fn texts(value: &mut Value, masked: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = masked(text),
        Value::Array(values) => values.iter_mut().for_each(|value| texts(value, masked)),
        Value::Object(fields) => fields.values_mut().for_each(|value| texts(value, masked)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn addresses(value: &mut Value) {
    texts(value, &text::address);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use jiff::tz::TimeZone;
    use serde_json::json;

    use super::*;
    use crate::api::{Caller, CallerKind, Way};

    fn masked(resource: &str, of: Option<&str>, opened: &[&str], mut answer: Value) -> Value {
        let until = Timestamp::from_second(900).unwrap();
        let shown = opened.iter().map(|id| ((*id).to_owned(), until));
        let viewer = Viewer {
            caller: Caller {
                kind: CallerKind::Key,
                id: "k".to_owned(),
                role: "support",
                way: Way::Console,
            },
            session: String::new(),
            shown: shown.collect::<BTreeMap<_, _>>(),
            zone: TimeZone::UTC,
        };
        let plan = ["data.plan".to_owned()];
        Mask::new(resource, &viewer, Timestamp::UNIX_EPOCH, &plan).answer(&mut answer, of);
        answer
    }

    #[test]
    fn names_addresses_data_and_texts_are_masked_and_ids_are_not() {
        let ana = json!({
            "id": "ana", "name": "Ana Ruiz", "email": "ana@example.org", "tz": "Europe/Madrid",
            "addresses": {"sms": "+34612345612", "slack": "U0123", "fcm": ["token"]},
            "data": {"plan": "gold", "age": 41, "home": {"city": "Madrid"}},
        });
        let shown = json!({
            "id": "ana", "name": "A•• R•••", "email": "a••@e••••••.org", "tz": "Europe/Madrid",
            "addresses": {"sms": "+34•••••••12", "slack": "••••", "fcm": ["••••"]},
            "data": {"plan": "gold", "age": HIDDEN, "home": {"city": HIDDEN}},
        });
        assert_eq!(masked("recipients", Some("ana"), &[], ana.clone()), shown);
        assert_eq!(masked("recipients", Some("ana"), &["ben"], ana.clone()), shown);
        assert_eq!(masked("recipients", Some("ana"), &["ana"], ana.clone()), ana);
    }

    #[test]
    fn an_opened_person_is_shown_in_lists_and_others_are_not() {
        let people = json!({"recipients": [
            {"id": "ana", "name": "Ana Ruiz"}, {"id": "ben", "name": "Ben"},
        ]});
        let shown = masked("recipients", None, &["ana"], people);
        assert_eq!(shown["recipients"][0]["name"], "Ana Ruiz");
        assert_eq!(shown["recipients"][1]["name"], "B••");
    }

    #[test]
    fn what_providers_say_has_no_address_and_unknown_texts_are_hidden() {
        let message = json!({
            "id": "m", "recipient": "ana", "state": "failed", "new_field": "Ana Ruiz",
            "attempts": [{"answer": "550 5.1.1 <ana@example.org>: no such user"}],
        });
        let shown = masked("messages", None, &[], message);
        assert_eq!(shown["attempts"][0]["answer"], "550 5.1.1 <a••@e••••••.org>: no such user");
        assert_eq!((&shown["new_field"], &shown["state"]), (&json!(HIDDEN), &json!("failed")));
    }

    #[test]
    fn what_holds_a_message_is_quoted_without_addresses() {
        let message =
            json!({"reason": "refused", "held": {"reason": "451 <ana@example.org> later"}});
        let shown = masked("messages", None, &[], message);
        assert_eq!(shown["reason"], "refused");
        assert_eq!(shown["held"]["reason"], "451 <a••@e••••••.org> later");
    }

    #[test]
    fn the_source_of_a_mail_is_hidden() {
        let next =
            json!({"message": {"source": "To: ana@example.org\r\n\r\nAna"}, "source": "category"});
        let shown = json!({"message": {"source": HIDDEN}, "source": "category"});
        assert_eq!(masked("recipients", None, &[], next), shown);
    }

    #[test]
    fn a_channel_is_not_an_address() {
        let status = json!({"channels": {"email": {"providers": ["smtp"], "paused": false}}});
        assert_eq!(masked("admin", None, &[], status.clone()), status);
    }

    #[test]
    fn what_is_said_by_channel_is_no_address() {
        let fates = json!({"channels": {"email": {"state": "failed", "reason": "refused", "message": "m", "note": "x"}}});
        let shown = masked("events", None, &[], fates);
        let fate = json!({"state": "failed", "reason": "refused", "message": "m", "note": HIDDEN});
        assert_eq!(shown["channels"]["email"], fate);
    }

    #[test]
    fn names_of_tenants_are_shown() {
        let tenants = json!({"tenants": [{"id": "acme", "name": "Acme"}]});
        assert_eq!(masked("tenants", None, &[], tenants.clone()), tenants);
    }
}
