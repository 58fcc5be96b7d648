//! The provider `caught://`: keeps the newest messages in memory and sends none, for staging and a developer's machine.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tidings_core::Instant;
use tidings_core::model::{AddressKind, channel_kind};

use super::http::chat::{discord, slack, telegram};
use super::http::note::Note;
use super::http::push;
use super::http::{sms, webhook};
use super::{Channel, Outcome, Receipt, Rendered};
use crate::clock::Clock;

/// The scheme of its address.
pub(super) const SCHEME: &str = "caught";

/// Number of messages that a developer's server keeps.
pub const CAUGHT_MAX: usize = 1_000;

/// The messages that `caught://` keeps, of all channels together. A reload leaves them there.
#[derive(Debug, Default)]
pub struct CaughtMailbox {
    most: usize,
    caught: Mutex<CaughtMessages>,
}

#[derive(Debug, Default)]
struct CaughtMessages {
    /// The number of messages since the start.
    count: u64,
    messages: VecDeque<Arc<CaughtMessage>>,
}

/// A message that was kept in place of being sent.
#[derive(Debug)]
pub struct CaughtMessage {
    /// Its number among those of the process, from 1.
    pub number: u64,
    /// The instant at which it would have left.
    pub at: Instant,
    /// The message.
    pub message: Rendered,
}

/// The appearance of a message for its reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageAppearance {
    /// A mail: the message as it is.
    Mail,
    /// A text message.
    Text {
        /// The words and the link, as the provider would get them.
        text: String,
        /// Number of parts that are paid for.
        parts: usize,
        /// True if all of it is in the default alphabet of GSM.
        is_gsm: bool,
    },
    /// A push message.
    Push {
        /// The title.
        title: String,
        /// The words below it.
        text: String,
        /// The page that it opens.
        url: Option<String>,
    },
    /// A message in a chat.
    Chat {
        /// The title, where it stands in bold above the words.
        title: Option<String>,
        /// The words.
        text: String,
        /// The page behind the link or the button at the end.
        url: Option<String>,
    },
    /// A call of a program.
    Call {
        /// The headers of the request, but for the signature: `caught://` has no secret.
        headers: Vec<(&'static str, String)>,
        /// The body.
        body: Value,
    },
}

impl CaughtMailbox {
    /// Room for a number of messages; with 0 they are dropped as soon as they are taken.
    #[must_use]
    pub fn of(most: usize) -> Self {
        Self { most, caught: Mutex::default() }
    }

    /// The messages, the newest first.
    #[must_use]
    pub fn newest_first(&self) -> Vec<Arc<CaughtMessage>> {
        self.caught().messages.iter().rev().cloned().collect()
    }

    /// The message with a number, if it is still there.
    #[must_use]
    pub fn get(&self, number: u64) -> Option<Arc<CaughtMessage>> {
        self.caught().messages.iter().find(|caught| caught.number == number).cloned()
    }

    /// Keeps a message, and returns its number.
    fn keep(&self, message: Rendered, at: Instant) -> u64 {
        let mut caught = self.caught();
        caught.count += 1;
        let number = caught.count;
        caught.messages.push_back(Arc::new(CaughtMessage { number, at, message }));
        let over = caught.messages.len().saturating_sub(self.most);
        caught.messages.drain(..over);
        number
    }

    fn caught(&self) -> MutexGuard<'_, CaughtMessages> {
        self.caught.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CaughtMessage {
    /// The appearance of the message; `None` = its channel is unknown, or its content can't be read.
    #[must_use]
    pub fn look(&self) -> Option<MessageAppearance> {
        MessageAppearance::of(&self.message, self.at)
    }
}

impl MessageAppearance {
    /// The appearance of a message that is sent at an instant; `None` = its channel is unknown, or its content can't be
    /// read.
    #[must_use]
    pub fn of(message: &Rendered, at: Instant) -> Option<Self> {
        let address = channel_kind(&message.head.channel)?.address?;
        if address == AddressKind::Email {
            return Some(Self::Mail);
        }
        let note = Note::of(message).ok()?;
        Some(match address {
            AddressKind::Email => Self::Mail,
            AddressKind::Phone => {
                let text = sms::text_of(&note);
                Self::Text { parts: sms::parts(&text), is_gsm: sms::is_gsm(&text), text }
            }
            AddressKind::WebPush | AddressKind::Fcm | AddressKind::Apns => {
                let cut = |text: &str| tidings_mail::cut(text, push::CHARS_MAX[0]);
                Self::Push { title: cut(&note.title), text: cut(&note.text), url: note.url }
            }
            AddressKind::Slack => in_lines(note, slack::CHARS_MAX),
            AddressKind::Discord => in_lines(note, discord::CHARS_MAX),
            AddressKind::Telegram => in_lines(note, telegram::CHARS_MAX),
            AddressKind::Teams => {
                Self::Chat { title: Some(note.title), text: note.text, url: note.url }
            }
            AddressKind::Webhook => {
                let unix_s = at.0.div_euclid(1_000);
                let headers = vec![
                    ("content-type", "application/json".to_owned()),
                    (webhook::ID, webhook::id_of(message)),
                    (webhook::TIMESTAMP, unix_s.to_string()),
                ];
                Self::Call { headers, body: webhook::body_of(message) }
            }
        })
    }
}

/// A message of plain lines, the link below them.
fn in_lines(note: Note, chars_max: usize) -> MessageAppearance {
    let lines = note.lines(chars_max);
    let url = note.url.filter(|url| lines.ends_with(&format!("\n{url}")));
    let words = url.as_ref().map_or(lines.len(), |url| lines.len() - url.len());
    MessageAppearance::Chat { title: None, text: lines[..words].trim_end().to_owned(), url }
}

/// A channel that keeps what it is given.
pub(super) struct CatchingChannel {
    pub(super) caught: Arc<CaughtMailbox>,
    pub(super) clock: Arc<dyn Clock>,
}

impl Channel for CatchingChannel {
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        if !go() {
            return Outcome::Withheld;
        }
        let number = self.caught.keep(message.clone(), self.clock.now());
        Outcome::Sent(Receipt { reference: Some(format!("caught {number}")), dead: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use tidings_core::content::ContentHash;

    use super::*;
    use crate::channel::MessageHead;
    use crate::channel::sample::{GO, NOW, batch, clock, mail};

    fn note(channel: &str, content: &Value) -> Rendered {
        let batch =
            tidings_core::content::Batch { channel: channel.to_owned(), ..batch("b", "One") };
        Rendered {
            head: Arc::new(MessageHead::of(&batch)),
            from: String::new(),
            return_path: None,
            to: vec!["somewhere".to_owned()],
            message_id: "b".to_owned(),
            bytes: content.to_string().into_bytes(),
            content: ContentHash::default(),
        }
    }

    #[test]
    fn the_newest_messages_are_kept() {
        let caught = Arc::new(CaughtMailbox::of(2));
        let keeper = CatchingChannel { caught: Arc::clone(&caught), clock: clock() };
        for title in ["One", "Two", "Three"] {
            assert!(matches!(keeper.send(&mail("b", title), GO), Outcome::Sent(_)));
        }
        // What the loop withdraws is not kept.
        assert_eq!(keeper.send(&mail("b", "Four"), &|| false), Outcome::Withheld);
        let numbers = |caught: &CaughtMailbox| {
            caught.newest_first().iter().map(|caught| caught.number).collect::<Vec<_>>()
        };
        assert_eq!(numbers(&caught), [3, 2]);
        assert_eq!(caught.get(2).map(|caught| caught.at), Some(NOW));
        assert!(caught.get(1).is_none());
        let none = Arc::new(CaughtMailbox::default());
        let keeper = CatchingChannel { caught: Arc::clone(&none), clock: clock() };
        assert!(matches!(keeper.send(&mail("b", "One"), GO), Outcome::Sent(_)));
        assert!(none.newest_first().is_empty());
    }

    #[test]
    fn a_message_looks_as_its_channel_shows_it() {
        let content = json!({
            "title": "Ann wrote", "text": "Привет", "url": "https://a.example/x",
            "at": "2024-01-01T09:00:00Z",
        });
        let look = |channel: &str| {
            let message = note(channel, &content);
            CaughtMessage { number: 1, at: NOW, message }.look().unwrap()
        };
        let text = "Ann wrote\nПривет\nhttps://a.example/x".to_owned();
        assert_eq!(look("sms"), MessageAppearance::Text { text, parts: 1, is_gsm: false });
        let (words, url) = ("Ann wrote\nПривет".to_owned(), Some("https://a.example/x".to_owned()));
        for chat in ["slack", "discord", "telegram"] {
            let text = words.clone();
            assert_eq!(
                look(chat),
                MessageAppearance::Chat { title: None, text, url: url.clone() },
                "{chat}"
            );
        }
        let (title, text) = ("Ann wrote".to_owned(), "Привет".to_owned());
        let card = MessageAppearance::Chat {
            title: Some(title.clone()),
            text: text.clone(),
            url: url.clone(),
        };
        assert_eq!(look("teams"), card);
        for push in ["webpush", "fcm", "apns"] {
            let (title, text, url) = (title.clone(), text.clone(), url.clone());
            assert_eq!(look(push), MessageAppearance::Push { title, text, url });
        }
        let MessageAppearance::Call { headers, body } = look("webhook") else {
            panic!("no call");
        };
        assert_eq!(body["timestamp"], "2024-01-01T09:00:00Z");
        assert_eq!(body["data"]["title"], "Ann wrote");
        assert!(headers.contains(&("webhook-id", "msg_b".to_owned())), "{headers:?}");
        let mail = CaughtMessage { number: 1, at: NOW, message: mail("b", "One") };
        assert_eq!(mail.look(), Some(MessageAppearance::Mail));
    }
}
