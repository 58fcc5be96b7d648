//! A batch, and what is rendered of it, for the channels' tests.

use tidings_core::content::{Batch, Group, Line};
use tidings_core::model::{BatchKey, EMAIL_NO, MessageId, Pivot, RecipientState};
use tidings_core::{Id, Instant, Object, Recipient};
use tidings_mail::Sender;

use super::{MailRenderer, MessageHead, Rendered, Renderer};

pub(super) const NOW: Instant = Instant(1_700_000_000_000);

pub(crate) fn batch(id: &str, title: &str) -> Batch {
    let name = |text: &str| Id::new(text).unwrap();
    let object = Object {
        id: name("work/1"),
        title: Some(title.into()),
        url: None,
        image: None,
        image_size: None,
        data: None,
        notifiable: None,
    };
    let line = Line {
        object: std::sync::Arc::new(object),
        types: vec![name("artwork_published")],
        actors: Vec::new(),
        lacks_actor: false,
        target: None,
        reasons: ["named".to_owned()].into(),
        t: NOW,
        data: None,
        entries: 1,
        order: 0,
        body: None,
    };
    let group = Group {
        event_type: name("artwork_published"),
        category: "Following".to_owned(),
        pivot: Pivot::Object,
        key: None,
        actors: Vec::new(),
        lines: vec![line],
    };
    let recipient = Recipient {
        id: name("r1"),
        name: None,
        addresses: [(EMAIL_NO, "r1@example.org")].into(),
        tz: None,
        locale: None,
        place: None,
        state: RecipientState::Active,
        data: None,
        quiet_hours: None,
    };
    Batch {
        tenant: None,
        id: id.to_owned(),
        message: MessageId::default(),
        recipient,
        meant_for: None,
        tz: "UTC".to_owned(),
        locale: "en".to_owned(),
        channel: "email".to_owned(),
        lane: "now".to_owned(),
        key: BatchKey::EMPTY,
        at: NOW,
        entries: 1,
        groups: vec![group],
        topics: Vec::new(),
        traces: Vec::new(),
        badge: None,
    }
}

/// The point of no return is never barred.
pub(super) const GO: &dyn Fn() -> bool = &|| true;

pub(super) fn rendered(batch: &Batch) -> Rendered {
    let head = std::sync::Arc::new(MessageHead::of(batch));
    MailRenderer::plain(sender()).render(&head, batch).unwrap()
}

pub(super) fn mail(id: &str, title: &str) -> Rendered {
    rendered(&batch(id, title))
}

/// The sender's host.
pub(super) const HOST: &str = "example.org";

pub(crate) fn sender() -> Sender {
    Sender::parse("Art <art@example.org>").unwrap()
}

/// A clock at [`NOW`].
pub(super) fn clock() -> std::sync::Arc<dyn crate::clock::Clock> {
    let clock = crate::clock::virtual_clock::VirtualClock::default();
    clock.set(NOW);
    std::sync::Arc::new(clock)
}

/// The e-mail channel.
pub(super) fn email() -> &'static tidings_core::model::ChannelKind {
    tidings_core::model::channel_kind("email").unwrap()
}
