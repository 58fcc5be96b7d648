//! The providers `smtp://` and `smtps://`: a mail server, one command at a time.
//!
//! The steps are taken one by one, rather than through the mail library's transport, because an
//! outcome depends on the step: a line that drops before the final dot has surely delivered nothing,
//! one that drops after it may have delivered everything (RFC 5321, sections 4.2.5 and 6.1). A
//! transaction as a whole has a deadline, so no server holds a thread for longer ([`mod@line`]).

use std::sync::{Arc, Mutex, PoisonError};

use super::outcome::Scope;
use super::patience::ServerTimeouts;
use super::provider_open_error::ProviderOpenError;
use super::{Channel, Outcome, Receipt, Rendered};
use crate::clock::Clock;
use lettre::Address;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::commands::{Data, Mail as MailFrom, Rcpt, Rset};
use lettre::transport::smtp::extension::{ClientId, MailBodyParameter, MailParameter};
use lettre::transport::smtp::response::{Response, Severity};
use line::{SmtpConnection, SmtpError, TransactionDeadline};
use oauth::Tokens;
use rustls::ClientConfig;
use server::{Login, LoginProof, MailServer, Security};
use tidings_core::model::SuppressedFor;
use tidings_mail::{self as mail, EnhancedStatus, RefusalStage, Verdict};
use tidings_tls::Authorities;

/// The most connections that are kept open between mails.
const IDLE_MAX: usize = 8;
/// Maximum length of the reference kept from a server's answer, in characters.
const REFERENCE_CHARS_MAX: usize = 200;

/// A channel that hands mails over to a mail server.
pub(super) struct Smtp {
    server: MailServer,
    trust: Arc<ClientConfig>,
    hello: ClientId,
    patience: ServerTimeouts,
    idle: Mutex<Vec<SmtpConnection>>,
    /// The tokens of a login that shows one.
    tokens: Option<Tokens>,
}

/// The steps of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SmtpStep {
    Connect,
    Mail,
    Recipient,
    Data,
    /// The content, up to but without the final dot.
    Content,
    /// The final dot.
    Dot,
}

/// The end of a transaction without a fault.
enum SmtpTransactionEnd {
    /// The server took the message, and answered.
    Taken(Response),
    /// The sender was asked to stop before the final dot.
    Withheld,
}

/// The failure of a transaction: its step, and the reason.
struct SmtpTransactionError {
    step: SmtpStep,
    error: SmtpError,
}

impl Smtp {
    /// Prepares a channel to a server, without connecting. `host` is the sender's: the name in greetings
    /// where this machine has none.
    ///
    /// # Errors
    /// [`ProviderOpenError::Tls`] where no certificate could be made out for such a host.
    pub(super) fn new(
        server: &MailServer,
        host: &str,
        patience: ServerTimeouts,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self, ProviderOpenError> {
        let tokens = match server.login.as_ref().map(|login| &login.proof) {
            Some(LoginProof::Token(source)) => Some(Tokens::new(source, patience, clock)?),
            Some(LoginProof::Password(_)) | None => None,
        };
        let authorities = match &server.authority {
            None => Authorities::Machine,
            Some(file) => Authorities::MachineAnd(file),
        };
        let trust = tidings_tls::client(authorities)
            .map_err(|why| ProviderOpenError::Tls { host: server.host.clone(), why })?;
        let hello = match ClientId::default() {
            ClientId::Domain(name) if name.contains('.') => ClientId::Domain(name),
            // A bare name is refused by many servers (RFC 5321, section 2.3.5).
            _ => ClientId::Domain(host.to_owned()),
        };
        Ok(Self {
            server: server.clone(),
            trust: Arc::new(trust),
            hello,
            patience,
            idle: Mutex::default(),
            tokens,
        })
    }

    /// Connects; a mismatch of the server's scheme and port is a fault.
    fn connect(&self, bound: TransactionDeadline) -> Result<SmtpConnection, SmtpError> {
        self.connected(bound).map_err(|error| match (error, self.server.slip()) {
            (SmtpError::Broken(why), Some(slip)) => SmtpError::Broken(format!("{why}; {slip}")),
            // What rustls says of an answer in clear.
            (SmtpError::Broken(why), None) if why.contains("InvalidContentType") => {
                SmtpError::Broken(format!(
                    "{why}; the server speaks without TLS there: write `smtp://`"
                ))
            }
            (error, _) => error,
        })
    }

    fn connected(&self, bound: TransactionDeadline) -> Result<SmtpConnection, SmtpError> {
        // Is fetched before there is a connection, which would not stay open for long meanwhile.
        let token =
            self.tokens.as_ref().map(Tokens::token).transpose().map_err(SmtpError::Broken)?;
        let (server, hello) = (&self.server, &self.hello);
        let wrapped = (server.security == Security::Wrapped).then_some(&self.trust);
        let mut line = SmtpConnection::connect(server, wrapped, hello, bound)?;
        let is_encrypted_now = match server.security {
            Security::Required => true,
            Security::Opportunistic => line.can_be_encrypted(),
            Security::Wrapped | Security::Plain => false,
        };
        if is_encrypted_now {
            line = line.encrypt(server, &self.trust, hello, bound)?;
        }
        match (&server.login, token) {
            (Some(Login { user, .. }), Some(token)) => {
                let credentials = Credentials::new(user.clone(), token);
                let logged_in = line.log_in_by_token(credentials, bound);
                if let (Err(SmtpError::Refused(_)), Some(tokens)) = (&logged_in, &self.tokens) {
                    tokens.forget();
                }
                logged_in?;
            }
            (Some(Login { user, proof: LoginProof::Password(password) }), None) => {
                line.log_in(&Credentials::new(user.clone(), password.clone()), bound)?;
            }
            (Some(_), None) | (None, _) => {}
        }
        Ok(line)
    }

    /// Returns a line on which the server has accepted the sender. The server may have closed an idle
    /// one; then the next is tried, and finally a new one.
    fn begin(
        &self,
        from: &Address,
        is_ascii: bool,
        bound: TransactionDeadline,
    ) -> Result<SmtpConnection, SmtpTransactionError> {
        let parameters = if is_ascii {
            Vec::new()
        } else {
            vec![MailParameter::SmtpUtfEight, MailParameter::Body(MailBodyParameter::EightBitMime)]
        };
        let greet = |line: &mut SmtpConnection| {
            if !is_ascii && !line.takes_unicode() {
                return Err(SmtpError::NoUnicode);
            }
            line.command(MailFrom::new(Some(from.clone()), parameters.clone()), bound).map(drop)
        };
        while let Some(mut line) = self.take_idle() {
            match greet(&mut line) {
                Ok(()) => return Ok(line),
                Err(error) if error.is_broken() || is_closing(&error) => {}
                Err(error) => {
                    return Err(self.keep_after(line, SmtpStep::Mail, error, bound));
                }
            }
        }
        let mut line = self
            .connect(bound)
            .map_err(|error| SmtpTransactionError { step: SmtpStep::Connect, error })?;
        match greet(&mut line) {
            Ok(()) => Ok(line),
            Err(error) => Err(self.keep_after(line, SmtpStep::Mail, error, bound)),
        }
    }

    fn transact(
        &self,
        from: &Address,
        to: &Address,
        bytes: &[u8],
        go: &dyn Fn() -> bool,
    ) -> Result<SmtpTransactionEnd, SmtpTransactionError> {
        let ServerTimeouts { answer_ms, begin_ms, delivery_ms, .. } = self.patience;
        let bound = TransactionDeadline::new(begin_ms, answer_ms);
        let to_text: &str = to.as_ref();
        let mut line = self.begin(from, to_text.is_ascii(), bound)?;
        if let Err(error) = line.command(Rcpt::new(to.clone(), Vec::new()), bound) {
            return Err(self.keep_after(line, SmtpStep::Recipient, error, bound));
        }
        match line.command(Data, bound) {
            Ok(reply) if reply.has_code(354) => {}
            // It asks for no content, so none is given to it; the line is of no further use.
            Ok(reply) => return Err(out_of_turn(SmtpStep::Data, &reply)),
            Err(error) => return Err(self.keep_after(line, SmtpStep::Data, error, bound)),
        }
        // The last line end is sent with the final dot.
        let content = stuffed(bytes.strip_suffix(b"\r\n").unwrap_or(bytes));
        let fault = |step| move |error| SmtpTransactionError { step, error };
        line.write(&content, bound.for_content()).map_err(fault(SmtpStep::Content))?;
        // Is asked as late as possible: up to here the server has surely delivered nothing.
        if !go() {
            // The server drops a message whose end it never saw; the line is of no further use.
            return Ok(SmtpTransactionEnd::Withheld);
        }
        // Waits longer than for other answers: giving up here leaves the mail in doubt, and it may be sent
        // twice.
        let last = TransactionDeadline::new(delivery_ms, delivery_ms);
        match line.command("\r\n.\r\n", last) {
            Ok(response) if response.code().severity == Severity::PositiveCompletion => {
                self.keep(line);
                Ok(SmtpTransactionEnd::Taken(response))
            }
            Ok(response) => Err(out_of_turn(SmtpStep::Dot, &response)),
            Err(error) => Err(self.keep_after(line, SmtpStep::Dot, error, bound)),
        }
    }

    fn take_idle(&self) -> Option<SmtpConnection> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn keep(&self, line: SmtpConnection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_MAX {
            idle.push(line);
        }
    }

    /// Keeps the line after a refusal if the server is still usable; returns the fault.
    fn keep_after(
        &self,
        mut line: SmtpConnection,
        step: SmtpStep,
        error: SmtpError,
        bound: TransactionDeadline,
    ) -> SmtpTransactionError {
        let goes_on = !error.is_broken() && !is_closing(&error);
        if goes_on && line.command(Rset, bound).is_ok() {
            self.keep(line);
        }
        SmtpTransactionError { step, error }
    }
}

impl Channel for Smtp {
    // A server says both at the same moment.
    fn undoes_refusals(&self) -> bool {
        true
    }

    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        // The renderer has checked both.
        let addresses = (
            tidings_mail::address(message.return_path.as_ref().unwrap_or(&message.from)),
            message.to.first().and_then(|to| tidings_mail::address(to)),
        );
        let (Some(from), Some(to)) = addresses else {
            return Outcome::Failed { why: "an address is not one".to_owned(), suppress: None };
        };
        match self.transact(&from, &to, &message.bytes, go) {
            Ok(SmtpTransactionEnd::Withheld) => Outcome::Withheld,
            Ok(SmtpTransactionEnd::Taken(response)) => {
                let reference =
                    response.first_line().map(reference).filter(|text| !text.is_empty());
                let dead = Vec::new();
                Outcome::Sent(Receipt { reference, dead })
            }
            Err(fault) => fault.outcome(),
        }
    }
}

impl SmtpTransactionError {
    fn outcome(&self) -> Outcome {
        let why = self.why();
        // After the final dot only a refusal is a sure no.
        if self.error.refusal().is_none() && self.step == SmtpStep::Dot {
            return Outcome::Unknown { why };
        }
        let suppress = None;
        if matches!(self.error, SmtpError::NoUnicode) {
            return Outcome::Failed { why, suppress };
        }
        if self.is_away() {
            return Outcome::away(why);
        }
        // A relay may fail for one domain alone, as where it can't be looked up.
        if self.fails() {
            return Outcome::Away { scope: Scope::Destination, why, after_ms: None };
        }
        let is_permanent = self.error.is_permanent();
        match self.verdict() {
            Verdict::Mailbox => Outcome::SoftBounce { why, is_permanent },
            _ if !is_permanent => Outcome::Retry { why, after_ms: None },
            Verdict::Gone => Outcome::Failed { why, suppress: Some(SuppressedFor::Bounce) },
            Verdict::Soft => Outcome::Failed { why, suppress },
            // What is refused at MAIL, or for a quota, is refused whoever the recipient is.
            Verdict::Ours(fault) => Outcome::Away {
                scope: if self.step == SmtpStep::Mail || fault == mail::OperatorFault::Quota {
                    Scope::Provider
                } else {
                    Scope::Destination
                },
                why: format!("{why} ({})", fault.remedy()),
                after_ms: None,
            },
        }
    }

    fn verdict(&self) -> Verdict {
        let stage = match self.step {
            SmtpStep::Connect => RefusalStage::Connect,
            SmtpStep::Mail => RefusalStage::Mail,
            SmtpStep::Recipient => RefusalStage::Recipient,
            SmtpStep::Data | SmtpStep::Content | SmtpStep::Dot => RefusalStage::Data,
        };
        let text = self
            .error
            .refusal()
            .into_iter()
            .flat_map(Response::message)
            .collect::<Vec<_>>()
            .join(" ");
        let code = self.code().and_then(|code| code.parse().ok());
        let status = self.enhanced().as_deref().and_then(EnhancedStatus::find);
        mail::judge(stage, code, status, &text)
    }

    /// Returns true if the server takes nothing now, from whomever to whomever: there is no line to it, it closes the
    /// line (421), its system fails (RFC 3463, section 3.4), or an operator has to mend our access.
    fn is_away(&self) -> bool {
        let closes = self.code().as_deref() == Some("421");
        let fails = self.fails() && self.step != SmtpStep::Recipient;
        self.error.refusal().is_none() || closes || fails || self.is_operators()
    }

    /// Returns true if the server reports the failure of a system: its own, or another one that it asks about a
    /// recipient.
    fn fails(&self) -> bool {
        self.enhanced().is_some_and(|code| code.starts_with("4.3."))
    }

    /// Returns true if a refusal is about the server or our right to use it, not about this message, so that an
    /// operator can fix it: any refusal before the message begins, and those that ask for a login or for
    /// encryption (RFC 4954, section 6).
    fn is_operators(&self) -> bool {
        let asks = ["530", "534", "535", "538"];
        self.step == SmtpStep::Connect || self.code().is_some_and(|code| asks.contains(&&*code))
    }

    fn code(&self) -> Option<String> {
        Some(self.error.refusal()?.code().to_string())
    }

    /// The enhanced status code at the start of a refusal's text (RFC 2034, section 4).
    fn enhanced(&self) -> Option<String> {
        let first = self.error.refusal()?.first_word()?;
        let parts: Vec<&str> = first.split('.').collect();
        let is_code = parts.len() == 3
            && parts.iter().all(|part| {
                (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
            });
        is_code.then(|| first.to_owned())
    }

    /// The reason for the log. A server's text may contain the address, so only the codes of a refusal
    /// are shown.
    fn why(&self) -> String {
        let stage = match self.step {
            SmtpStep::Connect => "connect",
            SmtpStep::Mail => "MAIL",
            SmtpStep::Recipient => "RCPT",
            SmtpStep::Data => "DATA",
            SmtpStep::Content => "content",
            SmtpStep::Dot => "end of DATA",
        };
        match (&self.error, self.code(), self.enhanced()) {
            (SmtpError::Broken(why), ..) => format!("{stage}: {why}"),
            (SmtpError::NoUnicode, ..) => {
                format!("{stage}: the server takes no address with letters beyond ASCII (SMTPUTF8)")
            }
            (_, Some(code), Some(enhanced)) => format!("{stage}: {code} {enhanced}"),
            (_, code, _) => format!("{stage}: {}", code.unwrap_or_default()),
        }
    }
}

/// The fault of a server that answers with a code that does not belong to the step.
fn out_of_turn(step: SmtpStep, reply: &Response) -> SmtpTransactionError {
    SmtpTransactionError {
        step,
        error: SmtpError::Broken(format!("the server answered {}", reply.code())),
    }
}

/// A message's content with a second dot where a line begins with one (RFC 5321, section 4.5.2).
fn stuffed(content: &[u8]) -> Vec<u8> {
    let mut stuffed = Vec::with_capacity(content.len());
    let mut last = *b"\r\n";
    for &byte in content {
        if byte == b'.' && last == *b"\r\n" {
            stuffed.push(b'.');
        }
        stuffed.push(byte);
        last = [last[1], byte];
    }
    stuffed
}

/// Returns true if the server announces that it closes the line (RFC 5321, section 3.8).
fn is_closing(error: &SmtpError) -> bool {
    error.refusal().is_some_and(|reply| reply.has_code(421))
}

fn reference(line: &str) -> String {
    line.chars().filter(|c| !c.is_control()).take(REFERENCE_CHARS_MAX).collect()
}

mod line;
mod oauth;
pub(super) mod server;
#[cfg(test)]
mod tests;
