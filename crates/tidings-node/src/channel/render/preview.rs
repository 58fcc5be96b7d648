//! Messages as their readers would see them, built and not sent.

use std::sync::Arc;

use tidings_core::content::{Batch, ContentHash};
use tidings_core::model::{ChannelKind, EMAIL, channel_kind};
use tidings_mail::Design;

use super::{MessageHead, Rendered, Unrenderable, short_content};
use crate::channel::caught::MessageAppearance;

/// The content of a message as its reader sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessagePreview {
    /// Subject of a mail, or the title of a push message or a card.
    pub subject: Option<String>,
    /// The HTML of a mail.
    pub html: Option<String>,
    /// The words; of a call the body of its request.
    pub text: String,
    /// Number of parts of a text message that are paid for.
    pub parts: Option<usize>,
    /// The page that it opens, where its words don't say it.
    pub url: Option<String>,
    /// The hash of the content, as a renderer of the same design gives it.
    pub content: ContentHash,
}

/// Builds a message in a design of its channel, whether its recipient has an address or not.
///
/// # Errors
/// [`Unrenderable`].
pub fn preview(batch: &Batch, design: &Design) -> Result<MessagePreview, Unrenderable> {
    if batch.channel == EMAIL {
        let (subject, bodies) = tidings_mail::content(batch, design)?;
        let content = tidings_mail::content_hash(&subject, &bodies);
        let (html, subject) = (Some(bodies.html), Some(subject));
        return Ok(MessagePreview {
            subject,
            html,
            text: bodies.text,
            content,
            ..MessagePreview::default()
        });
    }
    let channel = channel_kind(&batch.channel).filter(|channel| !channel.is_inbox());
    let nothing = || Unrenderable {
        why: format!("the channel `{}` has no messages", batch.channel),
        ..Unrenderable::default()
    };
    short_preview(batch, design, channel.ok_or_else(nothing)?)?.ok_or_else(nothing)
}

/// Builds a message in a few words; `None` = its channel shows none.
fn short_preview(
    batch: &Batch,
    design: &Design,
    channel: &ChannelKind,
) -> Result<Option<MessagePreview>, Unrenderable> {
    let words = short_content(batch, design, channel)?;
    let content = ContentHash::of([&*words]);
    let message = Rendered {
        head: Arc::new(MessageHead::of(batch)),
        from: String::new(),
        return_path: None,
        to: Vec::new(),
        message_id: batch.id.clone(),
        content,
        bytes: words.into_bytes(),
    };
    let preview = MessagePreview { content, ..MessagePreview::default() };
    Ok(MessageAppearance::of(&message, batch.at).and_then(|look| match look {
        MessageAppearance::Mail => None,
        MessageAppearance::Text { text, parts, .. } => {
            Some(MessagePreview { text, parts: Some(parts), ..preview })
        }
        MessageAppearance::Push { title, text, url } => {
            Some(MessagePreview { subject: Some(title), text, url, ..preview })
        }
        MessageAppearance::Chat { title: None, text, url } => {
            // The link is the last line of the words.
            let text = url.map_or(text.clone(), |url| format!("{text}\n{url}"));
            Some(MessagePreview { text, ..preview })
        }
        MessageAppearance::Chat { title, text, url } => {
            Some(MessagePreview { subject: title, text, url, ..preview })
        }
        MessageAppearance::Call { body, .. } => {
            Some(MessagePreview { text: body.to_string(), ..preview })
        }
    }))
}

#[cfg(test)]
mod tests {
    use tidings_core::Rules;

    use super::*;
    use crate::channel::sample::{batch, sender};
    use crate::channel::{MailRenderer, Renderer as _, ShortRenderer};

    #[test]
    fn the_content_is_that_of_the_message_that_is_sent() {
        let rules = Rules::default();
        for channel in tidings_core::model::sending_channels() {
            let mut sent = Batch { channel: channel.name.to_owned(), ..batch("b", "Flowers") };
            sent.recipient.addresses = [(channel.number, "r1@example.org")].into();
            let head = Arc::new(MessageHead::of(&sent));
            let (design, rendered) = if channel.name == EMAIL {
                let design = Design::plain(sender());
                (design.clone(), MailRenderer::new(design).render(&head, &sent).unwrap())
            } else {
                let design = Design::short(channel.name, &rules).unwrap();
                let renderer = ShortRenderer::new(design.clone(), channel, None);
                (design, renderer.render(&head, &sent).unwrap())
            };
            // The address is gone since.
            sent.recipient.addresses = [].into();
            let shown = preview(&sent, &design).unwrap();
            assert_eq!(shown.content, rendered.content, "{}", channel.name);
            let words = format!("{:?} {}", shown.subject, shown.text);
            assert!(words.contains("Flowers"), "{}: {words}", channel.name);
            let other = Batch { channel: channel.name.to_owned(), ..batch("b", "Leaves") };
            let other = preview(&other, &design).unwrap();
            assert_ne!(other.content, rendered.content, "{}", channel.name);
        }
        let inbox = Batch { channel: "inbox".to_owned(), ..batch("b", "Flowers") };
        let design = Design::short("sms", &rules).unwrap();
        assert!(preview(&inbox, &design).unwrap_err().why.contains("`inbox`"));
    }
}
