//! Rendering: a batch becomes the bytes that a channel sends.
//!
//! It happens once per message, before the first attempt. So every attempt sends the same bytes, whatever a
//! reload has changed meanwhile, and a message that can't be rendered fails without asking a channel.

pub(super) mod preview;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde_json::{Value, json};
use tidings_core::content::{Batch, ContentHash, Line};
use tidings_core::model::{AddressKind, BatchKey, ChannelKind, SuppressedFor, Trace, channel_kind};
use tidings_core::{Id, Instant};
use tidings_mail::{Design, RenderError, Sender};

use super::Outcome;

/// The facts of a message that stay when its content has become bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageHead {
    /// The batch's id: the idempotency key.
    pub id: String,
    /// The recipient, if it is for one.
    pub recipient: Option<Id>,
    /// The channel.
    pub channel: String,
    /// The lane's name.
    pub lane: String,
    /// The lane's batch key.
    pub key: BatchKey,
    /// The tenant of its entries, if they are of one.
    pub tenant: Option<Id>,
    /// The instant of the closing.
    pub at: Instant,
    /// Number of entries in the message.
    pub entries: usize,
    /// The types of the entries.
    pub types: BTreeSet<Id>,
    /// The destinations of the recipient's addresses beyond the provider ([`AddressKind::destination`]), each once.
    pub destinations: Vec<Arc<str>>,
    /// True if it goes elsewhere than to the recipient: its answers say nothing of the address.
    pub is_redirected: bool,
    /// The spans that published its events.
    pub traces: Vec<Trace>,
    /// The badge that a device shows with it.
    pub badge: Option<u64>,
}

/// A message as it is sent: bytes with their envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The facts of the message.
    pub head: Arc<MessageHead>,
    /// The address of the sender; empty where the channel shows none.
    pub from: String,
    /// The address to which it comes back where it can't be delivered; `None` = to the sender.
    pub return_path: Option<String>,
    /// The addresses of the recipient, at least one.
    pub to: Vec<String>,
    /// The message's id in the channel's own form, the same for every attempt.
    pub message_id: String,
    /// The whole message.
    pub bytes: Vec<u8>,
    /// The hash of what its reader sees.
    pub content: ContentHash,
}

/// The reason why a batch can't be rendered. A retry never helps, unless a template is mended; no text contains an
/// address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unrenderable {
    /// The reason, for the log.
    pub why: String,
    /// The reason why the address is suppressed, if it is from now on.
    pub suppress: Option<SuppressedFor>,
    /// True if a template of the configuration failed: the mail server has not refused anything.
    pub is_of_template: bool,
}

/// A renderer of batches for a channel. It is called from several threads at once.
pub trait Renderer: Send + Sync {
    /// Renders a batch; the same batch gives the same bytes.
    ///
    /// # Errors
    /// [`Unrenderable`].
    fn render(&self, head: &Arc<MessageHead>, batch: &Batch) -> Result<Rendered, Unrenderable>;
}

/// A renderer of mails of one design.
#[derive(Clone, Debug)]
pub struct MailRenderer(Arc<Design>);

impl MailRenderer {
    /// A renderer of mails of a design.
    #[must_use]
    pub fn new(design: Design) -> Self {
        Self(Arc::new(design))
    }

    /// A renderer of mails for which nothing is configured but their sender.
    #[must_use]
    pub fn plain(sender: Sender) -> Self {
        Self::new(Design::plain(sender))
    }
}

impl Renderer for MailRenderer {
    fn render(&self, head: &Arc<MessageHead>, batch: &Batch) -> Result<Rendered, Unrenderable> {
        let mail = tidings_mail::render(batch, &self.0)?;
        Ok(Rendered {
            head: Arc::clone(head),
            from: mail.from,
            return_path: mail.return_path,
            to: vec![mail.to],
            message_id: mail.message_id,
            bytes: mail.bytes,
            content: mail.content,
        })
    }
}

/// A renderer of messages in a few words, as JSON for a channel's provider: `title`, `text`, `url` and `count`, and, for
/// programs, what a mail would show.
#[derive(Clone, Debug)]
pub struct ShortRenderer {
    design: Arc<Design>,
    channel: &'static ChannelKind,
    from: String,
}

impl ShortRenderer {
    /// A renderer of a channel's messages; `from` is their sender, if they show one.
    #[must_use]
    pub fn new(design: Design, channel: &'static ChannelKind, from: Option<&str>) -> Self {
        Self { design: Arc::new(design), channel, from: from.unwrap_or_default().to_owned() }
    }
}

impl Renderer for ShortRenderer {
    fn render(&self, head: &Arc<MessageHead>, batch: &Batch) -> Result<Rendered, Unrenderable> {
        let to: Vec<String> =
            batch.recipient.addresses.of(self.channel.number).map(str::to_owned).collect();
        if to.is_empty() {
            return Err(RenderError::NoAddress.into());
        }
        let content = short_content(batch, &self.design, self.channel)?;
        Ok(Rendered {
            head: Arc::clone(head),
            from: self.from.clone(),
            return_path: None,
            to,
            message_id: batch.id.clone(),
            content: ContentHash::of([&*content]),
            bytes: content.into_bytes(),
        })
    }
}

/// The JSON of a channel's message in a few words.
fn short_content(
    batch: &Batch,
    design: &Design,
    channel: &ChannelKind,
) -> Result<String, RenderError> {
    let short = tidings_mail::short(batch, design)?;
    let mut content = json!({
        "title": short.title,
        "text": short.text,
        "url": short.url,
        "count": short.count,
    });
    if channel.address == Some(AddressKind::Webhook) {
        content["recipient"] = json!(batch.recipient.id);
        if let Some(known) = &batch.tenant {
            content["tenant"] = json!(known.id);
        }
        content["lane"] = json!(batch.lane);
        content["at"] = json!(batch.at.to_string());
        content["items"] = items(&design.localised(batch));
    }
    Ok(content.to_string())
}

/// The most items of a message for programs.
const ITEMS_MAX: usize = 100;

/// Lists the items of a message for programs: the first lines in their order.
fn items(batch: &Batch) -> Value {
    let mut lines: Vec<_> = batch.groups.iter().flat_map(|group| &group.lines).collect();
    lines.sort_by_key(|line| line.order);
    let item = |line: &Line| {
        json!({
            "types": line.types,
            "object": *line.object,
            "actors": line.actors.iter().map(|actor| &**actor).collect::<Vec<_>>(),
            "target": line.target.as_deref(),
            "data": line.data.as_deref(),
            "body": line.body,
            "reasons": line.reasons,
            "t": line.t.to_string(),
            "count": line.entries,
        })
    };
    lines.into_iter().take(ITEMS_MAX).map(item).collect()
}

impl From<RenderError> for Unrenderable {
    fn from(error: RenderError) -> Self {
        Self {
            why: error.to_string(),
            suppress: (error == RenderError::Address).then_some(SuppressedFor::Bounce),
            is_of_template: matches!(error, RenderError::Template(_)),
        }
    }
}

impl From<Unrenderable> for Outcome {
    fn from(fault: Unrenderable) -> Self {
        let why = format!("render: {}", fault.why);
        if fault.is_of_template {
            Self::Template { why }
        } else {
            Self::Failed { why, suppress: fault.suppress }
        }
    }
}

impl MessageHead {
    /// The facts of a batch.
    #[must_use]
    pub fn of(batch: &Batch) -> Self {
        Self {
            id: batch.id.clone(),
            recipient: Some(batch.recipient.id.clone()),
            channel: batch.channel.clone(),
            lane: batch.lane.clone(),
            key: batch.key.clone(),
            tenant: batch.tenant.as_ref().map(|tenant| tenant.id.clone()),
            at: batch.at,
            entries: batch.entries,
            types: batch.types().cloned().collect(),
            destinations: channel_kind(&batch.channel)
                .map(|channel| {
                    destinations_of(batch.recipient.addresses.of(channel.number), channel)
                })
                .unwrap_or_default(),
            is_redirected: batch.meant_for.is_some(),
            traces: batch.traces.clone(),
            badge: batch.badge,
        }
    }
}

/// The destinations of addresses of a channel, each once.
pub(crate) fn destinations_of<'a>(
    addresses: impl Iterator<Item = &'a str>,
    channel: &ChannelKind,
) -> Vec<Arc<str>> {
    let destination = |address| channel.address?.destination(address);
    let destinations: BTreeSet<String> = addresses.filter_map(destination).collect();
    destinations.into_iter().map(Arc::from).collect()
}

/// Renders a batch. A renderer that panics over one message must not affect the others.
pub(crate) fn render(
    renderer: &dyn Renderer,
    head: &Arc<MessageHead>,
    batch: &Batch,
) -> Result<Rendered, Unrenderable> {
    catch_unwind(AssertUnwindSafe(|| renderer.render(head, batch))).unwrap_or_else(|_| {
        Err(Unrenderable { why: "the renderer broke down".to_owned(), ..Unrenderable::default() })
    })
}

#[cfg(test)]
mod tests {
    use tidings_core::model::EMAIL_NO;

    use super::super::sample::{batch, sender};
    use super::*;

    fn outcome(renderer: &dyn Renderer, batch: &Batch) -> Result<Rendered, Outcome> {
        render(renderer, &Arc::new(MessageHead::of(batch)), batch).map_err(Outcome::from)
    }

    #[test]
    fn h26_a_bad_address_fails_alone() {
        let renderer = MailRenderer::plain(sender());
        let mut bad = batch("b", "One");
        bad.recipient.addresses = [(EMAIL_NO, "nobody")].into();
        let fault = outcome(&renderer, &bad).unwrap_err();
        let is_dead = matches!(fault, Outcome::Failed { suppress: Some(_), .. });
        assert!(is_dead, "{fault:?}");
        assert!(outcome(&renderer, &batch("c", "One")).is_ok());
    }

    #[test]
    fn f18_a_template_that_fails_is_no_refusal() {
        struct Templates(RenderError);
        impl Renderer for Templates {
            fn render(&self, _: &Arc<MessageHead>, _: &Batch) -> Result<Rendered, Unrenderable> {
                Err(self.0.clone().into())
            }
        }
        let of = |error| outcome(&Templates(error), &batch("b", "One")).unwrap_err();
        let template = of(RenderError::Template("note.html:1: broken".to_owned()));
        let why = "render: template: note.html:1: broken".to_owned();
        assert_eq!(template, Outcome::Template { why });
        assert!(matches!(of(RenderError::Signature), Outcome::Failed { .. }));
    }

    #[test]
    fn a_renderer_that_panics_fails_one_message() {
        struct Broken;
        impl Renderer for Broken {
            fn render(&self, head: &Arc<MessageHead>, _: &Batch) -> Result<Rendered, Unrenderable> {
                panic!("{}", head.id)
            }
        }
        let fault = outcome(&Broken, &batch("b", "One")).unwrap_err();
        assert!(matches!(fault, Outcome::Failed { .. }), "{fault:?}");
    }
}
