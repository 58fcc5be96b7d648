//! Pages of messages, and the merge of pages of several nodes.

use std::borrow::Cow;
use std::cmp::Reverse;

use serde::{Deserialize, Serialize};
use tidings_core::batch_key::BatchKey;
use tidings_core::channel::channel_no;
use tidings_core::engine::{Engine, MessageSummary, MessagesPage, TenantDirectory};
use tidings_core::messages::{MessageName, MessageState};
use tidings_core::number::{RecipientNo, Seq};
use tidings_core::time::Day;
use tidings_core::{BucketNo, Instant};
use tidings_node::Vitals;
use utoipa::ToSchema;

/// A page of messages: those that are not built yet, then by the day on which they were built, newest first.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"messages": [{"id": "2024-03-07.3.12.77", "recipient": "ada", "channel": "email", "lane": "cooldown", "state": "failed", "reason": "refused", "due": "2024-03-07T08:07:00Z", "built": "2024-03-07T08:07:00Z", "ended": "2024-03-07T08:07:01Z", "entries": 2, "failed_attempts": 0, "next_try": null}], "next": null}))]
pub(in crate::http::v1) struct MessagePage {
    /// The messages.
    pub(in crate::http::v1) messages: Vec<MessageShown>,
    /// The next page's cursor; null = this is the last. A page with few messages, or none, may have a next one, since a
    /// page reads a bounded number of messages.
    #[schema(required)]
    pub(in crate::http::v1) next: Option<String>,
    /// Nodes of a cluster that did not answer: their messages are left out. Absent if all answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(in crate::http::v1) missing: Option<Vec<String>>,
}

/// A message to one recipient.
#[derive(Serialize, Deserialize, ToSchema)]
pub(in crate::http::v1) struct MessageShown {
    /// Its id.
    pub(in crate::http::v1) id: String,
    /// The recipient; null = erased.
    recipient: Option<String>,
    /// The channel.
    #[schema(value_type = String)]
    channel: Cow<'static, str>,
    /// The lane.
    lane: String,
    /// Batch key of the lane; absent = empty.
    #[serde(default, skip_serializing_if = "BatchKey::is_empty")]
    #[schema(value_type = Option<String>)]
    key: BatchKey,
    /// Tenant of its notifications; absent = none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tenant: Option<String>,
    /// `planned` (due, not built yet), `sending`, `retrying` (an attempt failed, another one follows), `sent`,
    /// `failed`, `unknown` (it may or may not have been handed over), `suppressed` (the checks before sending left no
    /// notification) or `cancelled` (all notifications were removed).
    #[schema(value_type = String)]
    pub(in crate::http::v1) state: Cow<'static, str>,
    /// The reason why it was not handed over; null = it was, or the outcome is open.
    #[schema(value_type = Option<String>)]
    reason: Option<Cow<'static, str>>,
    /// Time at which its lane was due.
    #[schema(format = "date-time")]
    due: String,
    /// Time at which it was built, which fixed its content; null = not built yet.
    #[schema(format = "date-time")]
    pub(in crate::http::v1) built: Option<String>,
    /// Time of its outcome; null = none yet.
    #[schema(format = "date-time")]
    ended: Option<String>,
    /// Number of its notifications; null = not built yet.
    entries: Option<usize>,
    /// Number of failed attempts of a message that is retried, else 0.
    failed_attempts: u32,
    /// Time of the next attempt; null = none.
    #[schema(format = "date-time")]
    pub(in crate::http::v1) next_try: Option<String>,
    /// The unavailable destination or channel that holds it; absent = none known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(in crate::http::v1) held: Option<HeldShown>,
}

/// The reason why a message is held: its destination, or all providers of its channel, are unavailable.
#[derive(Serialize, Deserialize, ToSchema)]
pub(in crate::http::v1) struct HeldShown {
    /// Time of the next attempt to send any message to it.
    #[schema(format = "date-time")]
    until: String,
    /// The host that the recipient names, or the domain of the mail address; absent = the whole channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    destination: Option<String>,
    /// The channel, if all of its providers are unavailable; else absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    channel: Option<String>,
    /// Its last answer.
    reason: String,
}

impl HeldShown {
    /// The reason why a message on its way is held.
    pub(in crate::http::v1) fn of(
        engine: &Engine,
        vitals: &Vitals,
        message: &MessageSummary,
        now: Instant,
    ) -> Option<Self> {
        let is_on_its_way = matches!(message.state, MessageState::Sending | MessageState::Retrying);
        let recipient = message.recipient.as_ref().filter(|_| is_on_its_way)?;
        let channel = channel_no(message.channel)?;
        let tenants = TenantDirectory::of(engine);
        let tenant = message.tenant.as_ref().and_then(|id| tenants.number(id));
        let addresses = engine.recipient(recipient)?.addresses.taking(channel, tenant);
        let addresses: Vec<String> = addresses.map(str::to_owned).collect();
        let away = vitals.holds(message.channel, &addresses, now)?;
        Some(Self {
            until: away.until.to_string(),
            channel: away.destination.is_none().then(|| message.channel.to_owned()),
            destination: away.destination,
            reason: away.why,
        })
    }
}

impl MessageShown {
    /// A message with the reason why it is held.
    pub(in crate::http::v1) fn held(
        message: MessageSummary,
        (engine, vitals): (&Engine, &Vitals),
        now: Instant,
    ) -> Self {
        let held = HeldShown::of(engine, vitals, &message, now);
        Self { held, ..message.into() }
    }
}

impl From<MessageSummary> for MessageShown {
    fn from(message: MessageSummary) -> Self {
        Self {
            id: message.name.to_string(),
            recipient: message.recipient.map(|id| id.as_str().to_owned()),
            channel: message.channel.into(),
            lane: message.lane,
            key: message.key,
            tenant: message.tenant.map(|id| id.as_str().to_owned()),
            state: message.state.word().into(),
            reason: message.reason.map(|reason| reason.word().into()),
            due: message.due.to_string(),
            built: message.built.map(|at| at.to_string()),
            ended: message.ended.map(|at| at.to_string()),
            entries: message.entries,
            failed_attempts: message.tried.map_or(0, |tried| tried.count),
            next_try: message.tried.map(|tried| tried.until.to_string()),
            held: None,
        }
    }
}

impl MessagePage {
    /// A page, with the reasons why its messages are held.
    pub(in crate::http::v1) fn of(
        page: MessagesPage,
        known: (&Engine, &Vitals),
        now: Instant,
    ) -> Self {
        let shown = page.messages.into_iter().map(|of| MessageShown::held(of, known, now));
        Self {
            messages: shown.collect(),
            next: page.next.map(|next| next.to_string()),
            missing: None,
        }
    }
}

/// The place of a message in a list: those on their way first, the others by the day on which they were built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum MessagePosition {
    OnItsWay(BucketNo, Seq, RecipientNo),
    Built(Reverse<Day>, BucketNo, RecipientNo, Seq),
}

impl MessagePosition {
    fn on_its_way(MessageName { id, .. }: MessageName) -> Self {
        let closing = id.closing;
        Self::OnItsWay(closing.bucket, closing.seq, id.number)
    }

    fn built(day: Day, MessageName { id, .. }: MessageName) -> Self {
        let closing = id.closing;
        Self::Built(Reverse(day), closing.bucket, id.number, closing.seq)
    }

    /// The place that a cursor names.
    fn of_cursor(text: &str) -> Option<Self> {
        let (sign, name) = text.split_once('.')?;
        let name: MessageName = name.parse().ok()?;
        Some(match sign {
            "d" => Self::built(name.due, name),
            _ => Self::on_its_way(name),
        })
    }
}

impl MessageShown {
    /// Its place in a list of messages in a state, and the cursor of what comes after it.
    fn place(&self, only: Option<MessageState>) -> Option<(MessagePosition, String)> {
        let name: MessageName = self.id.parse().ok()?;
        let on_their_way = [MessageState::Planned, MessageState::Sending, MessageState::Retrying];
        let is_on_its_way = only.is_some_and(|state| on_their_way.contains(&state));
        let day = self.built.as_deref().and_then(|at| at.get(..10));
        let day = day.and_then(|day| Day::parse(day).ok());
        match day.filter(|_| !is_on_its_way) {
            Some(due) => {
                let cursor = MessageName { due, ..name };
                Some((MessagePosition::built(due, name), format!("d.{cursor}")))
            }
            None => {
                let due = Day::default();
                let cursor = MessageName { due, ..name };
                Some((MessagePosition::on_its_way(name), format!("w.{cursor}")))
            }
        }
    }
}

/// One page of the pages of several nodes, each of which has a next one from where it has looked on.
pub(in crate::http::v1) fn merged(
    pages: Vec<MessagePage>,
    only: Option<MessageState>,
    most: usize,
) -> MessagePage {
    let ends = pages
        .iter()
        .filter_map(|page| page.next.clone())
        .filter_map(|next| Some((MessagePosition::of_cursor(&next)?, next)));
    let end = ends.min();
    let mut messages: Vec<(MessagePosition, String, MessageShown)> = Vec::new();
    for message in pages.into_iter().flat_map(|page| page.messages) {
        // What is behind the end of a page comes with the next one: the node of that page may have some before it.
        if let Some((place, cursor)) = message.place(only)
            && end.as_ref().is_none_or(|(end, _)| place <= *end)
        {
            messages.push((place, cursor, message));
        }
    }
    messages.sort_by_key(|(place, ..)| *place);
    let next = if messages.len() > most {
        messages.get(most.saturating_sub(1)).map(|(_, cursor, _)| cursor.clone())
    } else {
        end.map(|(_, next)| next)
    };
    messages.truncate(most);
    MessagePage {
        messages: messages.into_iter().map(|(.., message)| message).collect(),
        next,
        missing: None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page(ids: &[(&str, Option<&str>)], next: Option<&str>) -> MessagePage {
        let messages: Vec<_> = ids.iter()
            .map(|(id, built)| {
                let state = if built.is_some() { "sent" } else { "planned" };
                json!({
                    "id": id, "recipient": null, "channel": "email", "lane": "now", "state": state, "reason": null,
                    "due": "2024-03-07T08:00:00Z", "built": built.map(|day| format!("{day}T08:00:00Z")), "ended": null,
                    "entries": 1, "failed_attempts": 0, "next_try": null,
                })
            })
            .collect();
        serde_json::from_value(json!({"messages": messages, "next": next})).unwrap()
    }

    fn ids(page: &MessagePage) -> Vec<&str> {
        page.messages.iter().map(|message| message.id.as_str()).collect()
    }

    #[test]
    fn pages_of_nodes_become_one_in_the_order_of_lists() {
        let (new, old) = (Some("2024-03-08"), Some("2024-03-07"));
        let a = || {
            page(
                &[("2024-03-09.0.1.9", None), ("2024-03-08.1.7.2", new), ("2024-03-07.0.1.1", old)],
                None,
            )
        };
        let b = || page(&[("2024-03-09.32.1.4", None), ("2024-03-08.32.1.1", new)], None);
        let all = merged(vec![b(), a()], None, 10);
        let expected = [
            "2024-03-09.0.1.9",
            "2024-03-09.32.1.4",
            "2024-03-08.1.7.2",
            "2024-03-08.32.1.1",
            "2024-03-07.0.1.1",
        ];
        assert_eq!((ids(&all).as_slice(), &all.next), (&expected[..], &None));

        let first = merged(vec![b(), a()], None, 3);
        assert_eq!(ids(&first), &expected[..3]);
        assert_eq!(first.next.as_deref(), Some("d.2024-03-08.1.7.2"));
        let first = merged(vec![b(), a()], None, 1);
        assert_eq!(first.next.as_deref(), Some("w.1970-01-01.0.1.9"));
    }

    #[test]
    fn a_page_ends_where_the_first_of_the_nodes_has_stopped_looking() {
        let new = Some("2024-03-08");
        let a = page(&[("2024-03-08.1.7.2", new)], Some("d.2024-03-08.1.8.1"));
        let b = page(&[("2024-03-08.32.1.1", new)], Some("d.2024-03-08.32.5.1"));
        let all = merged(vec![a, b], None, 10);
        assert_eq!(ids(&all), ["2024-03-08.1.7.2"]);
        assert_eq!(all.next.as_deref(), Some("d.2024-03-08.1.8.1"));
        // Both have looked at a bounded number of messages, and shown none.
        let none = merged(vec![page(&[], Some("w.1970-01-01.3.1.1")), page(&[], None)], None, 5);
        assert_eq!(none.next.as_deref(), Some("w.1970-01-01.3.1.1"));
    }
}
