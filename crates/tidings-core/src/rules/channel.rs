//! The configuration of channels: their providers, and when and how fast their messages go.

use serde::{Deserialize, Serialize};

use crate::model::channel::ChannelNo;
use crate::model::suppression::ChannelAddress;
use crate::model::time::{DAY_MS, HOUR_MS, MINUTE_MS};

/// The configuration of a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelRules {
    /// The addresses of its providers, such as `file://DIR` or `smtp://user@host:587`, in the order in which they are
    /// asked; none = nothing is sent.
    pub providers: Vec<String>,
    /// Sender address.
    pub from: Option<String>,
    /// The quiet hours of recipients who say nothing of their own.
    pub quiet_hours: Option<QuietHours>,
    /// The key that signs mails; `None` = they are not signed.
    #[serde(default)]
    pub dkim: Option<DkimRules>,
    /// Rate at which messages leave; `None` = as fast as the providers take them.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Rate at which those to one domain of recipients leave.
    #[serde(default)]
    pub rate_per_domain: Option<Rate>,
    /// The address to which each message goes in place of its recipient's; `None` = messages go to recipients.
    #[serde(default)]
    pub redirect: Option<String>,
    /// The addresses to which messages may go; `None` = all.
    #[serde(default)]
    pub allow: Option<Vec<AllowedAddresses>>,
}

/// The addresses to which messages of a channel may go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AllowedAddresses {
    /// One address, in the form in which addresses are compared.
    Address(String),
    /// The addresses of a domain, in the same form.
    Domain(String),
}

impl AllowedAddresses {
    /// The address of a channel, or `@` and a domain.
    #[must_use]
    pub fn new(channel: ChannelNo, text: &str) -> Self {
        let compared = |text: &str| ChannelAddress::new(channel, text).address().to_owned();
        if text.starts_with('@') {
            // A domain is compared as a part of an address.
            let mailbox = compared(&format!("x{text}"));
            return Self::Domain(mailbox.get(2..).unwrap_or_default().to_owned());
        }
        Self::Address(compared(text))
    }

    fn has(&self, address: &ChannelAddress) -> bool {
        match self {
            Self::Address(allowed) => allowed == address.address(),
            Self::Domain(domain) => {
                address.address().rsplit_once('@').is_some_and(|(_, of)| of == domain)
            }
        }
    }
}

impl ChannelRules {
    /// Returns true if messages may go to an address of the channel.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::model::EMAIL_NO;
    /// use tidings_core::rules::{AllowedAddresses, ChannelRules};
    ///
    /// let mut rules = ChannelRules::default();
    /// assert!(rules.allows(EMAIL_NO, "ann@example.org"));
    /// rules.allow = Some(vec![AllowedAddresses::new(EMAIL_NO, "@Example.org")]);
    /// assert!(rules.allows(EMAIL_NO, "ann@EXAMPLE.org"));
    /// assert!(!rules.allows(EMAIL_NO, "ann@mail.example.org"));
    /// ```
    #[must_use]
    pub fn allows(&self, channel: ChannelNo, address: &str) -> bool {
        let address = ChannelAddress::new(channel, address);
        self.allow.as_ref().is_none_or(|allow| allow.iter().any(|allowed| allowed.has(&address)))
    }
}

/// A number of messages in a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// The number, 1 to [`Rate::COUNT_MAX`].
    count: u32,
    /// The time in milliseconds.
    per_ms: i64,
}

impl Rate {
    /// The largest number of a rate.
    pub const COUNT_MAX: u32 = 100_000;

    /// Reads a rate: a number per second, minute, hour or day, such as `50/s` or `1000/h`.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::rules::Rate;
    ///
    /// assert_eq!(Rate::parse("50/s").map(Rate::interval_us), Some(20_000));
    /// assert_eq!(Rate::parse("0/s"), None);
    /// assert_eq!(Rate::parse("50"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (count, unit) = text.split_once('/')?;
        let per_ms = match unit {
            "s" => 1_000,
            "m" => MINUTE_MS,
            "h" => HOUR_MS,
            "d" => DAY_MS,
            _ => return None,
        };
        let is_plain = count.bytes().all(|byte| byte.is_ascii_digit());
        let count: u32 = count.parse().ok().filter(|_| is_plain)?;
        (1..=Self::COUNT_MAX).contains(&count).then_some(Self { count, per_ms })
    }

    /// The time in microseconds from one message to the next.
    #[must_use]
    pub fn interval_us(self) -> i64 {
        self.per_ms * 1_000 / i64::from(self.count)
    }
}

/// The key that signs mails (DKIM), and where receivers find its public half.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DkimRules {
    /// The domain that signs.
    pub domain: String,
    /// The name of the key in that domain.
    pub selector: String,
    /// The file with the private key, in PEM.
    pub key_file: String,
}

/// Quiet hours: a stretch of the wall clock in which nothing goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuietHours {
    /// The minute after local midnight at which they begin, 0 to 1439.
    pub from_minute: u16,
    /// The minute at which they end, another one; on the next day where it is before the first.
    pub to_minute: u16,
    /// The weekdays on which they begin: a bit each, from 1 = Monday to 64 = Sunday.
    pub days: u8,
}

impl QuietHours {
    /// All weekdays.
    pub const EVERY_DAY: u8 = 0b111_1111;

    /// Returns true if they begin on a weekday, 1 = Monday to 7 = Sunday.
    #[must_use]
    pub fn begin_on(&self, weekday: u8) -> bool {
        let bit = 1_u8.checked_shl(u32::from(weekday).saturating_sub(1));
        bit.is_some_and(|bit| self.days & bit > 0)
    }
}
