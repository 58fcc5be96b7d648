//! The judge of refusals: what an answer of a server, or its words in a report, means for an address.
//!
//! Asked in this order: at which moment the server refused, whose fault its words name, what they say of the address,
//! and only then what the codes say. Codes are used so differently that words which are plain outweigh them. Where
//! doubt remains, the address is kept: who is taken for gone receives nothing any more.

mod phrases;
#[cfg(test)]
mod tests;

use crate::EnhancedStatus;
use phrases::{
    DENIALS, ENDED, FULL_UNSPACED, GONE, GONE_AT_RECIPIENT, GONE_UNSPACED, MAILBOX, NOUNS,
    OF_RECIPIENT, OURS_UNSPACED, PhraseList, SENDERS, SIZE, SOFT, SOFT_UNSPACED, STRONG, WEAK,
};

/// The moment of a refusal within a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalStage {
    /// Before the mail began: the greeting, the login, the names.
    Connect,
    /// At the sender's address.
    Mail,
    /// At the recipient's address.
    Recipient,
    /// At the command `DATA`, or once the server had the mail.
    Data,
    /// Not stated.
    Unknown,
}

/// The verdict on a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is no such address: it is suppressed.
    Gone,
    /// It is about this mail or this moment; the next mail may arrive.
    Soft,
    /// It is about the mailbox, which is full, disabled or unused; the next mail may arrive.
    Mailbox,
    /// It is about us, independent of the recipient: it is never held against an address.
    Ours(OperatorFault),
}

/// A fault that an operator has to mend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorFault {
    /// The name of the sending server: HELO and the reverse name of its address (PTR).
    Name,
    /// The proof that the mail is ours: SPF, DKIM or DMARC.
    Authentication,
    /// The sender's address.
    Sender,
    /// The right to use the server: a login, or the permission to relay.
    Access,
    /// The sender's quota.
    Quota,
    /// The reputation of the server or the domain, or a policy on what is sent.
    Reputation,
}

impl OperatorFault {
    /// The fault in words for an operator.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Name => {
                "the server's name is refused: check its HELO name and its reverse DNS (PTR)"
            }
            Self::Authentication => {
                "the mail is not proven to be yours: check SPF, DKIM and DMARC of the sender's domain"
            }
            Self::Sender => {
                "the sender's address is refused: check `from` and that its domain exists and takes mail"
            }
            Self::Access => {
                "the server does not let you send: check the login and the right to relay"
            }
            Self::Quota => "the sender's quota is used up: wait, or raise it at the provider",
            Self::Reputation => {
                "your server or domain is blocked or distrusted: check block lists, and ask for removal"
            }
        }
    }
}

/// Judges a refusal. `text` is the answer of the server, without comments of others.
#[must_use]
pub fn judge(
    stage: RefusalStage,
    code: Option<u16>,
    status: Option<EnhancedStatus>,
    text: &str,
) -> Verdict {
    let words = RefusalWords::of(text);
    match judge_words(stage, code, status, &words) {
        Verdict::Soft if stage != RefusalStage::Mail && words.is_of_mailbox(status) => {
            Verdict::Mailbox
        }
        verdict => verdict,
    }
}

fn judge_words(
    stage: RefusalStage,
    code: Option<u16>,
    status: Option<EnhancedStatus>,
    words: &RefusalWords,
) -> Verdict {
    let fault = words.fault(status);
    match stage {
        RefusalStage::Connect => return Verdict::Ours(fault.unwrap_or(OperatorFault::Reputation)),
        // Of what may be refused here, only the size and letters beyond ASCII are of this mail.
        RefusalStage::Mail
            if words.is_size()
                || code == Some(552)
                || matches!(status, Some(EnhancedStatus(5, 3, 4) | EnhancedStatus(5, 6, 7))) =>
        {
            return Verdict::Soft;
        }
        RefusalStage::Mail => return Verdict::Ours(fault.unwrap_or(OperatorFault::Sender)),
        _ => {}
    }
    // Precedes the signs of our own faults: such a refusal is the recipient's setting, and no operator can
    // mend it.
    if words.has(&OF_RECIPIENT) {
        return Verdict::Soft;
    }
    let is_temporary = match code {
        Some(code) => code / 100 == 4,
        None => status.is_some_and(|status| status.class() == 4),
    };
    let fault_in_words = words.fault_of(&STRONG);
    if let Some(fault) = fault_in_words {
        return Verdict::Ours(fault);
    }
    // A temporary refusal never ends an address.
    if !is_temporary && words.has(&ENDED) {
        return Verdict::Gone;
    }
    if words.has(&SOFT) || words.has(&MAILBOX) || words.is_size() {
        return Verdict::Soft;
    }
    let is_status_ours =
        matches!(status, Some(EnhancedStatus(_, 7, _) | EnhancedStatus(_, 1, 7 | 8 | 90)));
    if is_temporary {
        return match fault.filter(|_| words.fault_of(&WEAK).is_some() || is_status_ours) {
            Some(fault) => Verdict::Ours(fault),
            None => Verdict::Soft,
        };
    }
    // Some refusals of the sender read like those of an unknown recipient, who must not be suppressed for them.
    if matches!(status, Some(EnhancedStatus(_, 1, 7 | 8))) || words.names_the_sender_alone() {
        return Verdict::Ours(fault.unwrap_or(OperatorFault::Sender));
    }
    if words.says_gone() {
        return Verdict::Gone;
    }
    if let Some(fault) = words.fault_of(&WEAK) {
        return Verdict::Ours(fault);
    }
    // Of the recipient alone these phrases mean that it does not exist; of a whole mail they mean nothing.
    let is_of_the_address =
        stage == RefusalStage::Recipient || status.is_some_and(EnhancedStatus::is_of_the_address);
    if stage != RefusalStage::Data
        && is_of_the_address
        && (words.has(&GONE_AT_RECIPIENT) || words.ends_in_rejected())
    {
        return Verdict::Gone;
    }
    match status {
        Some(status) if status.is_gone() => Verdict::Gone,
        Some(EnhancedStatus(5, 1, 351) | EnhancedStatus(5, 7, 17)) => Verdict::Gone,
        _ if is_status_ours => Verdict::Ours(fault.unwrap_or(OperatorFault::Reputation)),
        _ if matches!(code, Some(513 | 530 | 534 | 535 | 538)) => {
            Verdict::Ours(OperatorFault::Access)
        }
        _ => Verdict::Soft,
    }
}

/// The words of a text, in small letters, apart by single spaces, without addresses.
struct RefusalWords {
    line: String,
    tokens: Vec<String>,
}

impl RefusalWords {
    fn of(text: &str) -> Self {
        let small: String =
            text.to_lowercase().replace(['\'', '’'], "").chars().map(without_accent).collect();
        // What follows the host in an address of the web is no word of the server.
        let words = small.split_whitespace().map(|word| {
            let Some((before, address)) = word.split_once("://") else {
                return word;
            };
            let host = address.find(['/', '?']).unwrap_or(address.len());
            &word[..before.len() + "://".len() + host]
        });
        let small = words.collect::<Vec<_>>().join(" ");
        // What stands in an address is a name.
        let is_of_address = |c: char| c.is_alphanumeric() || "@._-+=".contains(c);
        let apart = small
            .split(|c: char| !is_of_address(c))
            .filter(|word| !word.contains('@'))
            .collect::<Vec<_>>()
            .join(" ");
        // So Amazon SES begins, whatever the server said.
        let apart = apart.replace("unknown address error", "");
        let tokens: Vec<String> = apart
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        let line = format!(" {} ", tokens.join(" "));
        Self { line, tokens }
    }

    fn has(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.has_one(phrase))
    }

    fn has_one(&self, phrase: &str) -> bool {
        let mut at = 0;
        while let Some(found) = self.line[at..].find(phrase) {
            let begin = at + found;
            let end = begin + phrase.len();
            if self.line[..begin].ends_with(' ') && self.line[end..].starts_with(' ') {
                return true;
            }
            at = end;
        }
        phrase == "quota" && self.line.contains("overquota")
    }

    fn names_the_sender_alone(&self) -> bool {
        let names = |some: &[&str]| self.tokens.iter().any(|token| some.contains(&&**token));
        let readers = ["recipient", "recipients", "user", "mailbox", "account", "rcpt"];
        names(&["sender", "senders"]) && !names(&readers)
    }

    /// Returns true if it rejects the address, and gives no reason.
    fn ends_in_rejected(&self) -> bool {
        let ends = ["address rejected", "recipient rejected"];
        ends.iter().any(|end| self.line.trim_end().ends_with(end))
    }

    /// Returns true if it is about the mailbox alone, and not about the mail, a system or an account of ours, for which
    /// a server would refuse all recipients.
    fn is_of_mailbox(&self, status: Option<EnhancedStatus>) -> bool {
        if self.has(&OF_RECIPIENT) || self.has(&SENDERS) {
            return false;
        }
        match status {
            Some(EnhancedStatus(_, 2, 2)) => true,
            Some(EnhancedStatus(_, 3 | 4 | 6 | 7, _)) => false,
            _ => {
                let is_full = || FULL_UNSPACED.iter().any(|words| self.line.contains(words));
                !self.is_size() && (self.has(&MAILBOX) || is_full())
            }
        }
    }

    fn is_size(&self) -> bool {
        self.has(&SIZE)
    }

    fn fault_of(&self, lists: &[(OperatorFault, Vec<&str>)]) -> Option<OperatorFault> {
        lists.iter().find(|(_, phrases)| self.has(phrases)).map(|(fault, _)| *fault)
    }

    fn fault(&self, status: Option<EnhancedStatus>) -> Option<OperatorFault> {
        let of_status = match status {
            Some(EnhancedStatus(_, 7, 25)) => Some(OperatorFault::Name),
            Some(EnhancedStatus(_, 7, 20..=30 | 509 | 515)) => Some(OperatorFault::Authentication),
            Some(EnhancedStatus(_, 1, 7 | 8)) => Some(OperatorFault::Sender),
            Some(EnhancedStatus(_, 1, 90)) => Some(OperatorFault::Quota),
            _ => None,
        };
        of_status.or_else(|| self.fault_of(&STRONG)).or_else(|| self.fault_of(&WEAK)).or(
            match status {
                Some(EnhancedStatus(_, 7, _)) => Some(OperatorFault::Reputation),
                _ => None,
            },
        )
    }

    /// Returns true if it denies the address: by itself, or by a noun with a denial close by.
    fn says_gone(&self) -> bool {
        let unspaced = |list: &PhraseList| list.iter().any(|words| self.line.contains(words));
        if [&SOFT_UNSPACED, &FULL_UNSPACED, &OURS_UNSPACED].into_iter().any(unspaced) {
            return false;
        }
        if unspaced(&GONE_UNSPACED) || self.has(&GONE) {
            return true;
        }
        let nouns: Vec<usize> =
            (0..self.tokens.len()).filter(|&at| NOUNS.contains(&&*self.tokens[at])).collect();
        DENIALS.iter().any(|denial| {
            let denial: Vec<&str> = denial.split(' ').collect();
            self.tokens.windows(denial.len()).enumerate().any(|(at, window)| {
                let is_it = window.iter().zip(&denial).all(|(word, of)| word == of);
                is_it
                    && nouns.iter().any(|noun| {
                        noun.abs_diff(at).min(noun.abs_diff(at + denial.len() - 1)) <= 8
                    })
            })
        })
    }
}

/// A small letter of European languages without its accent: servers write both.
fn without_accent(letter: char) -> char {
    match letter {
        'à'..='å' | 'ą' => 'a',
        'ç' | 'ć' | 'č' => 'c',
        'è'..='ë' | 'ę' | 'ě' => 'e',
        'ì'..='ï' | 'ı' => 'i',
        'ł' => 'l',
        'ñ' | 'ń' => 'n',
        'ò'..='ö' | 'ő' => 'o',
        'ś' | 'š' => 's',
        'ù'..='ü' | 'ů' | 'ű' => 'u',
        'ý' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        other => other,
    }
}
