//! Reports of providers and mail servers, and what follows from one for its message and its address.

use tidings_core::model::{
    AddressReport, Answered, Attempt, ChannelAddress, ChannelNo, EMAIL_NO, SuppressedFor,
    SuppressionSource,
};
use tidings_core::rules::FeedbackRules;
use tidings_core::{Command, Id, Instant};
use tidings_mail::{EnhancedStatus, MailEvent, MailTag, RefusalStage, TokenKey, Verdict, judge};

/// A report about a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reported {
    pub(crate) event: MailEvent,
    /// The channel of its address.
    pub(crate) channel: ChannelNo,
    /// Name of the provider that reports.
    pub(crate) by: &'static str,
    /// Texts of which one has the message's tag.
    pub(crate) hints: Vec<String>,
    /// Codes, without addresses.
    pub(crate) words: String,
    /// The instant of the report, by which one that comes again is known as the same; `None` = each is another.
    pub(crate) at: Option<Instant>,
    /// The address that is meant, where the provider names it and no message; `None` = that of the message.
    pub(crate) address: Option<String>,
    /// The addresses that the report names, where it has nothing but words for people: if the message's is not among
    /// them, the address stays as it is. Empty = there is more.
    pub(crate) named: Vec<String>,
}

/// The entry of an event in the history of a message; `None` = it is about later messages.
pub(crate) fn answered(event: MailEvent) -> Option<Answered> {
    Some(match event {
        MailEvent::Delivered => Answered::Delivered,
        MailEvent::Delayed => Answered::Delayed,
        MailEvent::Blocked | MailEvent::Bounced | MailEvent::Gone => Answered::Bounced,
        MailEvent::Complained | MailEvent::OptedOut => Answered::Complained,
        MailEvent::Opened => Answered::Opened,
        MailEvent::Clicked => Answered::Clicked,
        MailEvent::OptedIn => return None,
    })
}

/// A report about a message of ours.
pub(crate) struct Judged {
    pub(crate) tag: MailTag,
    /// The command that records it; `None` = it is only counted.
    pub(crate) report: Option<Command>,
}

impl Judged {
    /// The address of the message, if it is still its recipient's.
    pub(crate) fn address<'a>(&self, addresses: &'a [String], key: &TokenKey) -> Option<&'a str> {
        let mut addresses = addresses.iter();
        let address = addresses.find(|text| self.tag.is_of(EMAIL_NO, text, key));
        address.map(String::as_str)
    }
}

/// The statement of a report about an address.
#[derive(Clone, Copy)]
pub(crate) struct AddressChange {
    pub(crate) report: AddressReport,
    channel: ChannelNo,
    at: Instant,
}

impl AddressChange {
    /// The command that does it, for an address and the recipient of the message that led to it.
    pub(crate) fn of(self, address: &str, recipient: Option<Id>) -> Command {
        Command::ReportAddress {
            address: ChannelAddress::new(self.channel, address),
            report: self.report,
            at: self.at,
            recipient,
        }
    }
}

impl Reported {
    /// The message that is meant, and what follows from the report; `None` = it names no message of ours.
    pub(crate) fn judged(
        &self,
        key: &TokenKey,
        rules: &FeedbackRules,
        now: Instant,
    ) -> Option<Judged> {
        let tag = self.hints.iter().find_map(|text| MailTag::find(key, text))?;
        let kind = answered(self.event).filter(|kind| match kind {
            Answered::Opened => rules.opened,
            Answered::Clicked => rules.clicked,
            _ => true,
        });
        let report = kind.map(|kind| Command::Report {
            message: tag.message,
            report: Box::new(Attempt {
                at: self.at.map_or(now, |at| at.min(now)),
                provider: self.by.to_owned(),
                answer: kind,
                reply: self.words.clone(),
            }),
        });
        Some(Judged { tag, report })
    }

    /// Returns true if a report in words alone names an address, or is one of more than words.
    pub(crate) fn means(&self, address: &str) -> bool {
        let of = |text: &str| ChannelAddress::new(EMAIL_NO, text);
        self.named.is_empty() || self.named.iter().any(|named| of(named) == of(address))
    }

    /// The change of the address; `None` = none.
    pub(crate) fn address_change(&self, now: Instant) -> Option<AddressChange> {
        let report = match self.event {
            MailEvent::Gone => AddressReport::Suppressed(SuppressedFor::Bounce),
            MailEvent::Complained => AddressReport::Suppressed(SuppressedFor::Complaint),
            MailEvent::OptedOut => AddressReport::Suppressed(SuppressedFor::Stop),
            MailEvent::OptedIn => AddressReport::OptedIn,
            MailEvent::Bounced => AddressReport::Bounced(SuppressionSource::Report),
            MailEvent::Delivered | MailEvent::Opened | MailEvent::Clicked => {
                AddressReport::Arrived(SuppressionSource::Report)
            }
            MailEvent::Delayed | MailEvent::Blocked => return None,
        };
        let at = self.at.map_or(now, |at| at.min(now));
        Some(AddressChange { report, channel: self.channel, at })
    }
}

/// The event of a bounce that a provider calls permanent: where the server's words are about us, no address is gone.
pub(crate) fn permanent(words: &str) -> MailEvent {
    match judge(RefusalStage::Unknown, None, EnhancedStatus::find(words), words) {
        Verdict::Ours(_) => MailEvent::Blocked,
        Verdict::Gone | Verdict::Soft | Verdict::Mailbox => MailEvent::Gone,
    }
}
