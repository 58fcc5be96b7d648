//! The providers `smtp://` and `smtps://`: a mail server, spoken to one command at a time.
//!
//! The steps are taken one by one, rather than through the mail library's transport, because an
//! outcome depends on the step: a line that drops before the final dot has surely delivered nothing,
//! one that drops after it may have delivered everything (RFC 5321, sections 4.2.5 and 6.1).

use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use lettre::Address;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{Certificate, SmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail as MailFrom, Rcpt, Rset};
use lettre::transport::smtp::extension::ClientId;
use lettre::transport::smtp::response::Response;
use tidings_core::Batch;
use tidings_core::time::Instant;
use tidings_mail::{Mail, Sender};

use super::provider::{ProviderError, Security, Server};
use super::{Channel, Outcome, Receipt, unrenderable};

/// The most connections that are kept open between mails.
const IDLE_MAX: usize = 8;
/// The longest reference that is kept of what a server says, in characters.
const REFERENCE_CHARS_MAX: usize = 200;

/// How long a server is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For a connection and for each answer, in milliseconds; more than 0.
    pub answer_ms: u64,
    /// For the answer to the final dot, in milliseconds; more than 0. Longer, since a server may do all
    /// its checks then (RFC 5321, section 4.5.3.2.6, would have ten minutes).
    pub delivery_ms: u64,
}

impl Default for Patience {
    /// 30 seconds, and three minutes for the final dot.
    fn default() -> Self {
        Self {
            answer_ms: 30_000,
            delivery_ms: 180_000,
        }
    }
}

/// A mail server that mails are handed over to.
pub(super) struct Smtp {
    server: Server,
    tls: TlsParameters,
    hello: ClientId,
    sender: Sender,
    patience: Patience,
    idle: Mutex<Vec<SmtpConnection>>,
}

/// The steps of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Connect,
    Mail,
    Recipient,
    Data,
    /// The content, up to but without the final dot.
    Content,
    /// The final dot.
    Dot,
}

/// Where a transaction ended, and how.
struct Fault {
    step: Step,
    error: Error,
}

impl Smtp {
    /// Prepares a channel to a server, without calling it.
    ///
    /// # Errors
    /// [`ProviderError::Tls`] where no certificate could be made out for such a host.
    pub(super) fn new(
        server: &Server,
        sender: Sender,
        patience: Patience,
    ) -> Result<Self, ProviderError> {
        let tls = tls_parameters(server).map_err(|why| ProviderError::Tls {
            host: server.host.clone(),
            why,
        })?;
        let hello = match ClientId::default() {
            ClientId::Domain(name) if name.contains('.') => ClientId::Domain(name),
            // A bare name is refused by many servers (RFC 5321, section 2.3.5).
            _ => ClientId::Domain(sender.host().to_owned()),
        };
        Ok(Self {
            server: server.clone(),
            tls,
            hello,
            sender,
            patience,
            idle: Mutex::default(),
        })
    }

    fn connect(&self) -> Result<SmtpConnection, Error> {
        let wrapped = (self.server.security == Security::Wrapped).then_some(&self.tls);
        let mut connection = SmtpConnection::connect(
            (self.server.host.as_str(), self.server.port),
            Some(Duration::from_millis(self.patience.answer_ms)),
            &self.hello,
            wrapped,
            None,
        )?;
        let starts_tls = match self.server.security {
            Security::Required => true,
            Security::Opportunistic => connection.can_starttls(),
            Security::Wrapped | Security::Plain => false,
        };
        if starts_tls {
            connection.starttls(&self.tls, &self.hello)?;
        }
        if let Some((user, password)) = &self.server.login {
            let credentials = Credentials::new(user.clone(), password.clone());
            connection.auth(DEFAULT_MECHANISMS, &credentials)?;
        }
        Ok(connection)
    }

    /// A connection on which the server has accepted the sender. One that was kept may have been closed
    /// by the server meanwhile; then the next is tried, and at last a new one.
    fn begin(&self, from: &Address) -> Result<SmtpConnection, Fault> {
        let greet = |connection: &mut SmtpConnection| {
            connection
                .command(MailFrom::new(Some(from.clone()), Vec::new()))
                .map(drop)
        };
        while let Some(mut connection) = self.take_idle() {
            match greet(&mut connection) {
                Ok(()) => return Ok(connection),
                Err(error) if error.status().is_none() || is_closing(&error) => {}
                Err(error) => return Err(self.keep_after(connection, Step::Mail, error)),
            }
        }
        let mut connection = self.connect().map_err(|error| Fault {
            step: Step::Connect,
            error,
        })?;
        match greet(&mut connection) {
            Ok(()) => Ok(connection),
            Err(error) => Err(self.keep_after(connection, Step::Mail, error)),
        }
    }

    fn transact(&self, from: &Address, to: &Address, bytes: &[u8]) -> Result<Response, Fault> {
        let mut connection = self.begin(from)?;
        if let Err(error) = connection.command(Rcpt::new(to.clone(), Vec::new())) {
            return Err(self.keep_after(connection, Step::Recipient, error));
        }
        if let Err(error) = connection.command(Data) {
            return Err(self.keep_after(connection, Step::Data, error));
        }
        // The connection would keep the old time-out; failing to set it is a broken line.
        let _ = connection.set_timeout(Some(Duration::from_millis(self.patience.delivery_ms)));
        let mut content = Some(bytes.strip_suffix(b"\r\n").unwrap_or(bytes));
        let mut step = Step::Content;
        // The dot is written once this has no more to give, so that tells the two steps apart.
        let parts = std::iter::from_fn(|| {
            let part = content.take();
            if part.is_none() {
                step = Step::Dot;
            }
            part
        });
        match connection.message_iter(parts) {
            Ok(response) => {
                self.keep(connection);
                Ok(response)
            }
            Err(error) if error.status().is_some() => Err(self.keep_after(connection, step, error)),
            Err(error) => Err(Fault { step, error }),
        }
    }

    fn take_idle(&self) -> Option<SmtpConnection> {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
    }

    fn keep(&self, mut connection: SmtpConnection) {
        let patience = Some(Duration::from_millis(self.patience.answer_ms));
        if connection.set_timeout(patience).is_err() {
            return;
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_MAX {
            idle.push(connection);
        }
    }

    /// Keeps the connection after a refusal if the server goes on talking; returns the fault.
    fn keep_after(&self, mut connection: SmtpConnection, step: Step, error: Error) -> Fault {
        let goes_on = error.status().is_some() && !is_closing(&error);
        if goes_on && connection.command(Rset).is_ok() {
            self.keep(connection);
        }
        Fault { step, error }
    }

    fn hand_over(&self, mail: &Mail) -> Outcome {
        // The renderer has checked both.
        let (Ok(from), Ok(to)) = (Address::from_str(&mail.from), Address::from_str(&mail.to))
        else {
            return Outcome::Failed {
                why: "an address is not one".to_owned(),
                address_dead: false,
            };
        };
        match self.transact(&from, &to, &mail.bytes) {
            Ok(response) => {
                let reference = response
                    .first_line()
                    .map(reference)
                    .filter(|text| !text.is_empty());
                Outcome::Sent(Receipt { reference })
            }
            Err(fault) => fault.outcome(),
        }
    }
}

impl Channel for Smtp {
    fn send(&self, batch: &Batch, _now: Instant) -> Outcome {
        match tidings_mail::render(batch, &self.sender) {
            Ok(mail) => self.hand_over(&mail),
            Err(error) => unrenderable(&error),
        }
    }
}

impl Fault {
    fn outcome(&self) -> Outcome {
        let why = self.why();
        if self.error.is_permanent() && !self.is_operators() {
            return Outcome::Failed {
                why,
                address_dead: self.is_address_dead(),
            };
        }
        if self.error.status().is_none() && self.step == Step::Dot {
            return Outcome::Unknown { why };
        }
        Outcome::Retry {
            why,
            after_ms: None,
        }
    }

    /// Whether it is the server or our right to use it that is refused, which says nothing about this
    /// message and which an operator can mend: any refusal before a message is spoken of, and those
    /// that ask for a login or for encryption (RFC 4954, section 6).
    fn is_operators(&self) -> bool {
        let code = self.code();
        self.step == Step::Connect || ["530", "534", "535", "538"].contains(&code.as_str())
    }

    /// Whether the refusal says that there is no such mailbox: the enhanced codes of RFC 3463, section
    /// 3.2, that speak of the recipient's address, and 5.1.10 (RFC 7505). A bare 550 does not count: it
    /// is as often about policy, and an address that is given up wrongly is a reader lost.
    fn is_address_dead(&self) -> bool {
        matches!(self.step, Step::Recipient | Step::Dot)
            && matches!(
                self.enhanced().as_deref(),
                Some("5.1.1" | "5.1.2" | "5.1.3" | "5.1.6" | "5.1.10")
            )
    }

    fn code(&self) -> String {
        self.error
            .status()
            .map(|code| code.to_string())
            .unwrap_or_default()
    }

    /// The enhanced status code that a refusal's text begins with (RFC 2034, section 4).
    fn enhanced(&self) -> Option<String> {
        self.error.status()?;
        let text = std::error::Error::source(&self.error)?.to_string();
        let first = text.split_whitespace().next()?;
        let parts: Vec<&str> = first.split('.').collect();
        let is_code = parts.len() == 3
            && parts.iter().all(|part| {
                (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
            });
        is_code.then(|| first.to_owned())
    }

    /// For the log. What a server says of its own accord may hold the address, so of a refusal only the
    /// codes are told.
    fn why(&self) -> String {
        let what = match self.step {
            Step::Connect => "connecting",
            Step::Mail => "naming the sender",
            Step::Recipient => "naming the recipient",
            Step::Data => "announcing the message",
            Step::Content => "writing the message",
            Step::Dot => "ending the message",
        };
        match (self.error.status(), self.enhanced()) {
            (Some(code), Some(enhanced)) => format!("{what}: {code} {enhanced}"),
            (Some(code), None) => format!("{what}: {code}"),
            (None, _) => format!("{what}: {}", self.error),
        }
    }
}

/// How the server proves who it is: by a certificate for its host, of a public authority or of the one
/// that the address names.
fn tls_parameters(server: &Server) -> Result<TlsParameters, String> {
    let mut tls = TlsParameters::builder(server.host.clone());
    if let Some(path) = &server.authority {
        let told = |fault: &dyn std::fmt::Display| format!("{}: {fault}", path.display());
        let pem = std::fs::read(path).map_err(|fault| told(&fault))?;
        let authority = Certificate::from_pem(&pem).map_err(|fault| told(&fault))?;
        tls = tls.add_root_certificate(authority);
    }
    tls.build().map_err(|fault| fault.to_string())
}

/// Whether the server says that it closes the line (RFC 5321, section 3.8).
fn is_closing(error: &Error) -> bool {
    error.status().is_some_and(|code| code.to_string() == "421")
}

fn reference(line: &str) -> String {
    line.chars()
        .filter(|c| !c.is_control())
        .take(REFERENCE_CHARS_MAX)
        .collect()
}

#[cfg(test)]
mod postfix;
#[cfg(test)]
mod tests;
