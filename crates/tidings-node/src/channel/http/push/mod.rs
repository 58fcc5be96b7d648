//! Push services: of devices and of browsers.

pub(crate) mod apns;
pub(crate) mod fcm;
pub(crate) mod vapid;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{Context, SHA256};
use serde_json::Value;

use crate::channel::http::ProviderUrl;
use crate::channel::{MessageHead, ProviderOpenError};

/// The most characters of a tag: those of a topic of Web Push (RFC 8030, section 5.4).
const TAG_CHARS: usize = 32;

/// The tag of a push, by which a device shows it in place of an earlier one with the same: of a lane with a batch key
/// the newest message, else a message that comes twice.
fn tag(head: &MessageHead) -> String {
    if head.key.as_str().is_empty() {
        return head.id.chars().take(TAG_CHARS).collect();
    }
    let mut context = Context::new(&SHA256);
    let tenant = head.tenant.as_ref().map(tidings_core::Id::as_str).unwrap_or_default();
    for part in [head.lane.as_str(), tenant, head.key.as_str()] {
        context.update(&part.len().to_be_bytes());
        context.update(part.as_bytes());
    }
    let digest = URL_SAFE_NO_PAD.encode(context.finish());
    digest.chars().take(TAG_CHARS).collect()
}

/// The most characters of the words of a push, and fewer and fewer until it fits in whatever script they are.
pub(crate) const CHARS_MAX: [usize; 4] = [600, 300, 150, 75];

/// The content of a push, whose words are cut to a maximum number of bytes in all.
fn fitted(bytes_max: usize, of: impl Fn(usize) -> Value) -> String {
    let [most, fewer @ ..] = CHARS_MAX;
    fewer.into_iter().fold(of(most).to_string(), |content, chars_max| {
        if content.len() <= bytes_max { content } else { of(chars_max).to_string() }
    })
}

/// The option `sound`: the sound that an iPhone plays; `None` = it is silent.
fn sound(url: &mut ProviderUrl<'_>) -> Result<Option<String>, ProviderOpenError> {
    let named = url.option("sound")?;
    Ok(match named.as_deref() {
        None => Some("default".to_owned()),
        Some("none") => None,
        Some(_) => named,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::sample;
    use tidings_core::Id;
    use tidings_core::model::BatchKey;

    #[test]
    fn field_4_the_newest_message_of_a_batch_key_replaces_those_before() {
        let head = |id: &str, key: &str, tenant: Option<&str>| MessageHead {
            key: BatchKey::new(key).unwrap(),
            tenant: tenant.map(|tenant| Id::new(tenant).unwrap()),
            ..MessageHead::of(&sample::batch(id, "One"))
        };
        let first = tag(&head("b1", "doc/7", None));
        assert_eq!(first, tag(&head("b2", "doc/7", None)));
        assert_eq!(first.len(), TAG_CHARS);
        for other in [head("b1", "doc/8", None), head("b1", "doc/7", Some("acme"))] {
            assert_ne!(first, tag(&other));
        }
        // Without a key only a message that comes twice is replaced.
        assert_eq!(tag(&head("b1", "", None)), "b1");
        assert_eq!(tag(&head(&"x".repeat(40), "", None)), "x".repeat(TAG_CHARS));
    }
}
