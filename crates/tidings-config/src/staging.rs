//! The keys of channels for staging: `redirect` and `allow`.

use tidings_core::model::{AddressKind, ChannelKind};
use tidings_core::rules::AllowedAddresses;

use super::walk::{ConfigReader, PlacedValue, Section};
use crate::wording::quoted;

/// The keys.
pub(super) const KEYS: [&str; 2] = ["redirect", "allow"];

/// Reports the keys on a channel that may have neither, with the way to keep its messages in. True if it has one.
pub(super) fn refused(walk: &mut ConfigReader, section: &Section<'_>, kind: &ChannelKind) -> bool {
    let mut is_any = false;
    for key in section.keys().filter(|key| KEYS.contains(&key.value)) {
        is_any = true;
        let reason = format!(
            "`{}` is a key of `[channels.email]` and `[channels.sms]` alone: an address of {} is of one device or place",
            key.value, kind.title
        );
        let hint = "for staging write `provider = \"caught://\"`: nothing leaves then";
        walk.bad(&key.span, reason, hint);
    }
    is_any
}

/// The address to which all messages go.
pub(super) fn redirect(
    walk: &mut ConfigReader,
    section: &Section<'_>,
    kind: &ChannelKind,
) -> Option<String> {
    let hint = format!("write one address, such as `redirect = {:?}`", example(kind));
    let text = walk.text(section, "redirect", &hint)?;
    if is_address(kind, text.value) {
        return Some(text.value.to_owned());
    }
    bad(walk, &text, kind, &hint);
    None
}

/// The addresses to which messages may go.
pub(super) fn allow(
    walk: &mut ConfigReader,
    section: &Section<'_>,
    kind: &ChannelKind,
) -> Option<Vec<AllowedAddresses>> {
    let hint = match kind.address {
        Some(AddressKind::Email) => {
            "write domains and addresses, such as `allow = [\"@example.org\", \"ann@example.com\"]`"
        }
        _ => "write numbers, such as `allow = [\"+12025550123\"]`",
    };
    let list = walk.texts(section, "allow", hint)?;
    if list.value.is_empty() {
        let reason = "`allow` is empty, so no message could go to anybody";
        walk.bad(&list.span, reason, hint);
    }
    let mut allowed = Vec::with_capacity(list.value.len());
    for text in &list.value {
        let is_domain = text.value.starts_with('@') && kind.address == Some(AddressKind::Email);
        // A domain is good that an address may have.
        let address = if is_domain { format!("x{}", text.value) } else { text.value.to_owned() };
        if is_address(kind, &address) {
            allowed.push(AllowedAddresses::new(kind.number, text.value));
        } else {
            bad(walk, text, kind, hint);
        }
    }
    Some(allowed)
}

fn is_address(kind: &ChannelKind, text: &str) -> bool {
    kind.address.is_some_and(|address| address.accepts(text))
}

fn bad(walk: &mut ConfigReader, text: &PlacedValue<&str>, kind: &ChannelKind, hint: &str) {
    let what = match kind.address {
        Some(AddressKind::Phone) => "number",
        _ => "address",
    };
    walk.bad(&text.span, format!("{} is no {what}", quoted(text.value)), hint);
}

fn example(kind: &ChannelKind) -> &'static str {
    match kind.address {
        Some(AddressKind::Phone) => "+12025550123",
        _ => "qa@example.org",
    }
}
