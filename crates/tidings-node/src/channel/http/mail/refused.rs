//! Refusals of mails by providers over HTTP, judged as those of mail servers are.

use tidings_core::Instant;
use tidings_core::model::SuppressedFor;
use tidings_mail::{self as mail, EnhancedStatus, OperatorFault, RefusalStage, Verdict};

use crate::channel::http::HttpAnswer;
use crate::channel::{Outcome, Scope};

/// The words of an answer about a mail.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MailAnswer<'a> {
    /// The provider's own word for the fault.
    pub(crate) code: Option<&'a str>,
    /// The text for people.
    pub(crate) text: &'a str,
    /// The step of a mail server to which it corresponds: the sender's address, the recipient's, or the mail.
    pub(crate) stage: RefusalStage,
    /// The verdict, if the code decides it.
    pub(crate) verdict: Option<Verdict>,
}

impl HttpAnswer {
    /// The outcome of a mail. What is about us is the same for all recipients: it waits, and fails no message.
    pub(crate) fn of_mail(&self, answer: MailAnswer<'_>, now: Instant) -> Outcome {
        let MailAnswer { stage, text, .. } = answer;
        let verdict = answer.verdict.unwrap_or_else(|| match self.status {
            401 | 403 | 407 => match judged(stage, text) {
                Verdict::Ours(fault) => Verdict::Ours(fault),
                _ => Verdict::Ours(OperatorFault::Access),
            },
            402 => Verdict::Ours(OperatorFault::Quota),
            _ => judged(stage, text),
        });
        match (self.of_provider(answer.code, now), verdict) {
            (Outcome::Failed { why, .. }, Verdict::Ours(fault)) => {
                Outcome::away(format!("{why} ({})", fault.remedy()))
            }
            (Outcome::Away { why, after_ms, .. }, Verdict::Ours(fault)) => Outcome::Away {
                scope: Scope::Provider,
                why: format!("{why} ({})", fault.remedy()),
                after_ms,
            },
            (Outcome::Failed { why, .. }, Verdict::Mailbox) if stage == RefusalStage::Recipient => {
                Outcome::SoftBounce { why, is_permanent: true }
            }
            // Words alone that name no recipient may be about any address.
            (Outcome::Failed { why, .. }, Verdict::Gone) if stage == RefusalStage::Recipient => {
                Outcome::Failed { why, suppress: Some(SuppressedFor::Bounce) }
            }
            (other, _) => other,
        }
    }
}

fn judged(stage: RefusalStage, text: &str) -> Verdict {
    // Nothing is said: the status decides.
    match text {
        "" => Verdict::Soft,
        text => mail::judge(stage, None, EnhancedStatus::find(text), text),
    }
}
