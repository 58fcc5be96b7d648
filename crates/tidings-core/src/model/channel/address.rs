//! Kinds of addresses, and checks of their form.
//!
//! The checks are rough: they refuse what can't be an address, so that a mistake is reported where it is made. Only the
//! provider knows whether the address exists.

use serde::{Deserialize, Serialize};

use super::mailbox::{Mailbox, NotAMailbox};

/// The most bytes of an address of the web.
const URL_BYTES_MAX: usize = 2048;

/// A kind of address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressKind {
    /// An e-mail address.
    Email,
    /// A telephone number (E.164).
    Phone,
    /// A browser's subscription to Web Push ([`Subscription`]).
    WebPush,
    /// A registration token of Firebase Cloud Messaging.
    Fcm,
    /// A device token of Apple's push service.
    Apns,
    /// An id of a Slack channel or member, or the address of an incoming webhook.
    Slack,
    /// An id of a Discord channel, or the address of a webhook.
    Discord,
    /// The address of a webhook of Microsoft Teams.
    Teams,
    /// An id of a Telegram chat or the name of a public one, and `:THREAD` for a topic of it.
    Telegram,
    /// An address of the web.
    Webhook,
}

impl AddressKind {
    /// The form of such an address, for hints.
    #[must_use]
    pub fn form(self) -> &'static str {
        match self {
            Self::Email => "local@domain",
            Self::Phone => "+4915112345678",
            Self::WebPush => {
                "{\"endpoint\": \"https://...\", \"keys\": {\"p256dh\": \"...\", \"auth\": \"...\"}}"
            }
            Self::Fcm => "a registration token",
            Self::Apns => "a device token in hexadecimal digits",
            Self::Slack => {
                "C0123456789 (a channel), U0123456789 (a member) or https://hooks.slack.com/services/..."
            }
            Self::Discord => "123456789012345678, or https://discord.com/api/webhooks/...",
            Self::Teams => "https://HOST/...",
            Self::Telegram => "123456789 or @channel, with :THREAD for a topic of a group",
            Self::Webhook => "https://HOST/...",
        }
    }

    /// The most bytes of such an address.
    #[must_use]
    pub fn bytes_max(self) -> usize {
        match self {
            Self::Email => 320,
            Self::Phone => 16,
            Self::Telegram => 64,
            Self::Fcm => 4096,
            Self::Apns => 200,
            Self::WebPush | Self::Slack | Self::Discord | Self::Teams | Self::Webhook => {
                URL_BYTES_MAX
            }
        }
    }

    /// The most of them that a recipient has: one for each device, or one at all.
    #[must_use]
    pub fn most(self) -> usize {
        match self {
            Self::WebPush | Self::Fcm | Self::Apns => 20,
            Self::Email
            | Self::Phone
            | Self::Slack
            | Self::Discord
            | Self::Teams
            | Self::Telegram
            | Self::Webhook => 1,
        }
    }

    /// The most of them that a recipient has for all tenants together, where each may be of a tenant.
    #[must_use]
    pub fn most_of_all_tenants(self) -> usize {
        match self {
            Self::WebPush => 2 * self.most(),
            _ => self.most(),
        }
    }

    /// The text by which addresses of this kind are compared: those that reach the same are the same text.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::model::AddressKind;
    ///
    /// assert_eq!(AddressKind::Email.compared("Ada@Example.org"), "ada@example.org");
    /// assert_eq!(AddressKind::Phone.compared("+49 (151) 123-45678"), "+4915112345678");
    /// assert_eq!(AddressKind::Fcm.compared("dXp:APA91b"), "dXp:APA91b");
    /// ```
    #[must_use]
    pub fn compared(self, text: &str) -> String {
        match self {
            Self::Email => Mailbox::parse(text)
                .map_or_else(|_| text.to_lowercase(), |mailbox| mailbox.compared()),
            // Hexadecimal digits.
            Self::Apns => text.to_ascii_lowercase(),
            // The keys of a subscription may change, its endpoint is the device.
            Self::WebPush => Subscription::parse(text)
                .map_or_else(|| text.to_owned(), |subscription| subscription.endpoint),
            Self::Phone => {
                let number: String = text.chars().filter(|c| !is_between_digits(*c)).collect();
                if is_phone(&number) { number } else { text.to_owned() }
            }
            Self::Fcm
            | Self::Slack
            | Self::Discord
            | Self::Teams
            | Self::Telegram
            | Self::Webhook => text.to_owned(),
        }
    }

    /// The destination of an address beyond the provider, in small letters: the host that its owner names, or the domain
    /// of a mailbox. `None` = the provider itself, as of a telephone number.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::model::AddressKind;
    ///
    /// let hook = AddressKind::Webhook.destination("https://Hooks.example:8443/x");
    /// assert_eq!(hook.as_deref(), Some("hooks.example"));
    /// assert_eq!(AddressKind::Phone.destination("+4915112345678"), None);
    /// ```
    #[must_use]
    pub fn destination(self, text: &str) -> Option<String> {
        match self {
            Self::Email => Some(Mailbox::parse(text).ok()?.domain().to_owned()),
            Self::WebPush => host_of(&Subscription::parse(text)?.endpoint).map(canonical_host),
            Self::Teams | Self::Webhook => host_of(text).map(canonical_host),
            // Those of Slack and Discord that are addresses of the web are of the provider's own hosts.
            Self::Phone | Self::Fcm | Self::Apns | Self::Slack | Self::Discord | Self::Telegram => {
                None
            }
        }
    }

    /// Returns true if the owner of an address names the host that is called.
    #[must_use]
    pub fn names_host(self) -> bool {
        matches!(self, Self::WebPush | Self::Teams | Self::Webhook)
    }

    /// Returns true if an address is of a device, or of a browser on one, which shows a badge.
    #[must_use]
    pub fn is_device(self) -> bool {
        matches!(self, Self::WebPush | Self::Fcm | Self::Apns)
    }

    /// The address as it is stored, if a text is one.
    #[must_use]
    pub fn read(self, text: &str) -> Option<String> {
        if self == Self::WebPush {
            let subscription = Subscription::parse(text)?;
            return Some(subscription.to_string()).filter(|text| text.len() <= self.bytes_max());
        }
        self.accepts(text).then(|| text.to_owned())
    }

    /// The fault of a text that is not such an address, if it is known in words.
    #[must_use]
    pub fn fault(self, text: &str) -> Option<NotAMailbox> {
        let mailbox = (self == Self::Email).then(|| Mailbox::parse(text));
        mailbox.and_then(Result::err)
    }

    /// Returns true if a text is such an address, roughly; a mail address exactly as mails are sent.
    #[must_use]
    pub fn accepts(self, text: &str) -> bool {
        text.len() <= self.bytes_max()
            && match self {
                Self::Email => Mailbox::parse(text).is_ok(),
                Self::Phone => is_phone(text),
                Self::WebPush => Subscription::parse(text).is_some(),
                Self::Fcm => !text.is_empty() && text.bytes().all(is_token_byte),
                Self::Apns => text.len() >= 64 && text.bytes().all(|b| b.is_ascii_hexdigit()),
                Self::Slack => is_slack_id(text) || is_web_of(text, &["hooks.slack.com"]),
                Self::Discord => {
                    is_digits(text, 15, 20)
                        || (is_web_of(text, &["discord.com", "discordapp.com"])
                            && text.contains("/api/webhooks/"))
                }
                Self::Telegram => is_telegram_chat(text),
                Self::Teams | Self::Webhook => host_of(text).is_some(),
            }
    }
}

/// A browser's subscription to Web Push.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscription {
    /// The address of the browser's push service, which is a secret.
    pub endpoint: String,
    /// The keys of the browser.
    pub keys: SubscriptionKeys,
}

/// The keys of a browser, in base64url without padding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscriptionKeys {
    /// The public key: a point of the curve P-256.
    pub p256dh: String,
    /// The authentication secret: 16 bytes.
    pub auth: String,
}

impl Subscription {
    /// Reads the JSON that browsers make of a subscription; other fields are passed over.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut found: Self = serde_json::from_str(text).ok()?;
        for key in [&mut found.keys.p256dh, &mut found.keys.auth] {
            key.truncate(key.trim_end_matches('=').len());
        }
        let is_base64 = |text: &str, length: usize| {
            let is_letter = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
            text.len() == length && text.bytes().all(is_letter)
        };
        let is_good = host_of(&found.endpoint).is_some()
            && is_base64(&found.keys.p256dh, 87)
            && is_base64(&found.keys.auth, 22);
        is_good.then_some(found)
    }
}

impl std::fmt::Display for Subscription {
    /// Writes the JSON that [`Subscription::parse`] reads.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let json = serde_json::to_string(self).map_err(|_| std::fmt::Error)?;
        f.write_str(&json)
    }
}

fn is_digits(text: &str, least: usize, most: usize) -> bool {
    (least..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
}

/// Returns true if a text is an international number: `+`, a country code, 15 digits at most.
fn is_phone(text: &str) -> bool {
    text.strip_prefix('+')
        .is_some_and(|digits| is_digits(digits, 7, 15) && !digits.starts_with('0'))
}

/// Returns true for what people write between the digits of a number.
fn is_between_digits(c: char) -> bool {
    c.is_whitespace() || "-./()".contains(c)
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_:.".contains(&byte)
}

fn is_slack_id(text: &str) -> bool {
    let is_kind = text.starts_with(['C', 'D', 'G', 'U', 'W']);
    let is_letter = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit();
    is_kind && (9..=20).contains(&text.len()) && text.bytes().all(is_letter)
}

fn is_telegram_chat(text: &str) -> bool {
    let is_name = |name: &str| {
        let is_letter = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        (5..=32).contains(&name.len()) && name.bytes().all(is_letter)
    };
    let (chat, thread) = telegram_chat(text);
    let is_thread = |thread: &str| {
        is_digits(thread, 1, 10) && thread.parse::<i32>().is_ok_and(|thread| thread > 0)
    };
    let is_chat = chat.strip_prefix('@').is_some_and(is_name)
        || is_digits(chat.strip_prefix('-').unwrap_or(chat), 1, 20);
    is_chat && thread.is_none_or(is_thread)
}

/// The chat of a Telegram address, and the thread of its topic: `CHAT[:THREAD]`.
///
/// # Examples
/// ```
/// use tidings_core::model::telegram_chat;
///
/// assert_eq!(telegram_chat("-1001234567890:45"), ("-1001234567890", Some("45")));
/// assert_eq!(telegram_chat("@art"), ("@art", None));
/// ```
#[must_use]
pub fn telegram_chat(address: &str) -> (&str, Option<&str>) {
    match address.split_once(':') {
        Some((chat, thread)) => (chat, Some(thread)),
        None => (address, None),
    }
}

/// The host of an `https` address without a user.
fn host_of(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("https://")?;
    let is_plain = |b: u8| b.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&b);
    let authority = rest.split(['/', '?', '#']).next()?;
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let is_port = |port: &str| {
        let port = port.strip_prefix(':').filter(|port| is_digits(port, 1, 5));
        port.is_some_and(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
    };
    let is_host = |b: u8| b.is_ascii_alphanumeric() || b"-._:".contains(&b);
    let is_good = !host.is_empty()
        && (port.is_empty() || is_port(port))
        && host.bytes().all(is_host)
        && !authority.contains('@')
        && text.bytes().all(is_plain);
    is_good.then_some(host)
}

/// A host as hosts are compared.
fn canonical_host(host: &str) -> String {
    host.trim_end_matches('.').to_ascii_lowercase()
}

fn is_web_of(text: &str, hosts: &[&str]) -> bool {
    host_of(text).is_some_and(|host| hosts.contains(&host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_and_not_too_long() {
        let kind = AddressKind::Email;
        for good in ["a@b", "ann.o'neil+x@example.org"] {
            assert!(kind.accepts(good), "{good}");
        }
        let long = format!("{}@b", "a".repeat(kind.bytes_max()));
        for bad in ["", "ann", "@b", "a@", "a@b@c", "a b@c", "a@b,c@d", &long] {
            assert!(!kind.accepts(bad), "{bad}");
        }
    }

    #[test]
    fn each_kind_has_its_form() {
        use AddressKind::{Apns, Discord, Fcm, Phone, Slack, Teams, Telegram, Webhook};
        for (kind, good, bad) in [
            (
                Phone,
                &["+4915112345678", "+12025550123"][..],
                &["", "015112345678", "+0151123456", "+49 151 123", "+1234567890123456"][..],
            ),
            (Fcm, &["dXp:APA91b-_x"], &["", "a b", "a/b"]),
            (
                Apns,
                &["740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad"],
                &[
                    "",
                    "740f4707",
                    "x40f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad",
                ],
            ),
            (
                Slack,
                &["C0123456789", "U012AB3CD", "https://hooks.slack.com/services/T0/B0/x"],
                &["general", "C01", "https://example.org/services/x", "http://hooks.slack.com/x"],
            ),
            (
                Discord,
                &["123456789012345678", "https://discord.com/api/webhooks/1/x"],
                &["12", "https://discord.com/channels/1", "https://example.org/api/webhooks/1"],
            ),
            (
                Telegram,
                &["123456789", "-1001234567890", "@artists", "-1001234567890:45", "@artists:1"],
                &[
                    "",
                    "-",
                    "@art",
                    "artists",
                    "@a b c d e",
                    ":45",
                    "@artists:",
                    "-100:0",
                    "-100:-4",
                    "-100:4:5",
                    "-100:9999999999",
                ],
            ),
            (
                Webhook,
                &["https://example.org", "https://example.org:8443/a?b=c", "https://[2a00::1]/x"],
                &[
                    "http://example.org",
                    "https://",
                    "https:///x",
                    "https://u:p@example.org",
                    "https://exa mple.org",
                    "https://example.org/\r\nx",
                    "https://[::1",
                ],
            ),
            (Teams, &["https://prod-1.westus.logic.azure.com/x"], &["teams"]),
        ] {
            for good in good {
                assert_eq!(kind.read(good).as_deref(), Some(*good), "{kind:?}");
            }
            for bad in bad {
                assert_eq!(kind.read(bad), None, "{kind:?} {bad}");
            }
        }
    }

    #[test]
    fn a_subscription_is_what_browsers_give() {
        let (p256dh, auth) = ("B".repeat(87), "a".repeat(22));
        let given = format!(
            r#"{{"endpoint":"https://push.example.net/x","expirationTime":null,"keys":{{"p256dh":"{p256dh}=","auth":"{auth}=="}}}}"#
        );
        let read = AddressKind::WebPush.read(&given).unwrap();
        let expected = format!(
            r#"{{"endpoint":"https://push.example.net/x","keys":{{"p256dh":"{p256dh}","auth":"{auth}"}}}}"#
        );
        assert_eq!(read, expected);
        assert_eq!(AddressKind::WebPush.read(&read), Some(read));
        for bad in [
            given.replace("https", "http"),
            given.replace(&auth, "short"),
            given.replace(&p256dh, &format!("{p256dh}x")),
            "{}".to_owned(),
            "token".to_owned(),
        ] {
            assert_eq!(AddressKind::WebPush.read(&bad), None, "{bad}");
        }
    }
}
