//! Reports about messages after they were handed over: bounces, complaints, deliveries.
//!
//! Providers report by calls (`POST /feedback/PROVIDER`), mail servers by mails that come back ([`maildir`]). Anybody
//! may send either. So a call has to be signed as its provider documents, and a report has to name its message by a tag
//! that nobody else can make. It is recorded with the message; an address that does not exist, and one whose owner
//! complained, is suppressed.

mod addresses;
pub mod maildir;
mod mailgun;
mod postmark;
mod sendgrid;
mod ses;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use serde::de::DeserializeOwned;
use tidings_core::channel::EMAIL_NO;
use tidings_core::messages::{Answered, Attempt};
use tidings_core::rules::FeedbackRules;
use tidings_core::suppression::{AddressReport, ChannelAddress, SuppressedFor};
use tidings_core::time::{DAY_MS, MINUTE_MS};
use tidings_core::{Command, Instant};
use tidings_mail::{Event, MailTag, Stage, Status, TokenKey, Verdict, judge};
use tokio::task::spawn_blocking;

use super::call::CallName;
use super::error::{Code, Problem};
use super::service::Service;
use crate::http::request::extract::whole;

/// The name of the calls in metrics.
pub(super) const FEEDBACK: &str = "feedback";
/// The most bytes of a call. No provider makes larger ones: SendGrid, which sends many events at once, ends at 768 kB.
const CALL_BYTES_MAX: usize = 2 << 20;
/// The age from which on a signed call is not believed any more.
const AGE_MS_MAX: i64 = DAY_MS;
/// The time by which a provider's clock may be ahead.
const AHEAD_MS_MAX: i64 = 5 * MINUTE_MS;

/// A report about a message.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Reported {
    event: Event,
    /// Name of the provider that reports.
    by: &'static str,
    /// Texts of which one has the message's tag.
    hints: Vec<String>,
    /// Codes, without addresses.
    words: String,
    /// The instant of the report, by which one that comes again is known as the same; `None` = each is another.
    at: Option<Instant>,
    /// The address that is meant, where the provider names it and no message; `None` = that of the message.
    address: Option<String>,
    /// The addresses that the report names, where it has nothing but words for people: if the message's is not among
    /// them, the address stays as it is. Empty = there is more.
    named: Vec<String>,
}

/// Numbers of reports, and what is kept between calls.
#[derive(Debug, Default)]
pub(super) struct Feedback {
    /// By kind of report.
    known: [AtomicU64; Answered::ALL.len()],
    /// Those whose reader wants messages again.
    opted_in: AtomicU64,
    /// Those that name no message of ours.
    unknown: AtomicU64,
    certificates: ses::Certificates,
}

impl Feedback {
    /// Numbers of reports by kind, and of those about no message of ours.
    pub(super) fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let known = Answered::ALL.iter().zip(&self.known).map(|(kind, count)| (kind.name(), count));
        let others = [("opted_in", &self.opted_in), ("unknown_message", &self.unknown)];
        known.chain(others).map(|(kind, count)| (kind, count.load(Ordering::Relaxed)))
    }

    fn count(&self, report: &Reported, is_known: bool) {
        let counter = match answered(report.event) {
            None => &self.opted_in,
            Some(kind) if is_known || report.address.is_some() => &self.known[kind as usize],
            Some(_) => &self.unknown,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// The route of the calls.
pub(super) fn routes() -> Router<Arc<Service>> {
    Router::new().route("/feedback/{provider}", post(hear))
}

async fn hear(
    State(service): State<Arc<Service>>,
    Path(provider): Path<String>,
    request: Request,
) -> Response {
    let heard = heard(&service, &provider, request).await;
    let mut response =
        heard.map_or_else(Problem::into_response, |()| StatusCode::NO_CONTENT.into_response());
    response.extensions_mut().insert(CallName(FEEDBACK));
    response
}

async fn heard(service: &Arc<Service>, provider: &str, request: Request) -> Result<(), Problem> {
    let rules = service.rules();
    let known = rules.feedback.providers.get(provider).cloned();
    let Some(known) = known else {
        let detail = "`[feedback]` of the configuration names no such provider";
        return Err(Problem::new(Code::NotFound, detail));
    };
    let (parts, body) = request.into_parts();
    let share = (&service.open_bodies, CALL_BYTES_MAX);
    let (body, _room) = whole(&parts, body, share).await?;
    let (reader, provider) = (Arc::clone(service), provider.to_owned());
    let judge = move || {
        let call = Call { headers: &parts.headers, body: &body, now: reader.now() };
        read(&reader, (&provider, &known), &call)
    };
    let judged = spawn_blocking(judge).await;
    let reports = judged.map_err(|fault| Problem::new(Code::Internal, fault.to_string()))??;
    service.take(reports).await
}

/// A provider's call.
struct Call<'c> {
    headers: &'c HeaderMap,
    body: &'c Bytes,
    now: Instant,
}

impl Call<'_> {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    fn json<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let json = serde_json::from_slice(self.body);
        json.map_err(|fault| Problem::new(Code::InvalidBody, fault.to_string()))
    }

    /// The instant of a call that was signed then, if it is believed now. No report of it is of later.
    fn of_now(&self, signed: Instant) -> Result<Instant, Problem> {
        let age = self.now.0.saturating_sub(signed.0);
        if (-AHEAD_MS_MAX..=AGE_MS_MAX).contains(&age) {
            return Ok(signed.min(self.now));
        }
        Err(not_signed("its time is not of the last 24 hours; compare the clocks"))
    }

    /// The same of a second since 1970, as text.
    fn of_second(&self, seconds: &str) -> Result<Instant, Problem> {
        let seconds: Option<i64> = seconds.parse().ok();
        let signed = seconds.and_then(|seconds| seconds.checked_mul(1_000));
        self.of_now(Instant(signed.unwrap_or(i64::MIN)))
    }
}

fn not_signed(why: &str) -> Problem {
    Problem::new(Code::Unauthorized, format!("the call is not signed: {why}"))
}

/// The reports of a call that is its provider's.
fn read(
    service: &Service,
    (provider, known): (&str, &str),
    call: &Call<'_>,
) -> Result<Vec<Reported>, Problem> {
    let secret = || {
        crate::app::secret_here(known).map_err(|why| {
            // Whoever calls is not known yet, and is told no more than that it is our fault.
            tracing::error!(provider, secret = known, reason = why, "reports can't be checked");
            Problem::new(Code::Internal, "the server lacks the secret of this provider")
        })
    };
    match provider {
        "mailgun" => mailgun::read(call, &secret()?),
        "postmark" => postmark::read(call, &secret()?),
        "sendgrid" => sendgrid::read(call, &secret()?),
        _ => ses::read(call, known, &service.feedback.certificates),
    }
}

impl Service {
    /// Records reports, and suppresses the addresses that follow from them.
    ///
    /// # Errors
    /// A [`Problem`] of the node: the same reports may be given again.
    async fn take(&self, reports: Vec<Reported>) -> Result<(), Problem> {
        let Some(key) = self.tokens().cloned().filter(|_| !reports.is_empty()) else {
            return Ok(());
        };
        let (rules, now) = (self.rules(), self.now());
        let judged: Vec<Option<Judged>> =
            reports.iter().map(|report| report.judged((&key, &rules.feedback), now)).collect();
        let is_known: Vec<bool> = judged.iter().map(Option::is_some).collect();
        // Most reports are of arrivals, and most addresses never bounced.
        let awaits = self.look(|node| node.engine().awaits_arrivals()).await?;
        let change_of = |report: &Reported| {
            let change = report.address_change(now);
            change.filter(|change| awaits || change.report != AddressReport::Arrived)
        };
        let messages = judged
            .iter()
            .zip(&reports)
            .filter(|(_, report)| change_of(report).is_some())
            .filter_map(|(known, _)| Some(known.as_ref()?.tag.message));
        let messages = messages.collect();
        let addresses = self.email_addresses(messages).await?;
        let mut commands = Vec::new();
        for (known, report) in judged.into_iter().zip(&reports) {
            let change = change_of(report);
            let Some(known) = known else {
                // A provider that names an address, and whose call is its own, needs no message for that.
                let named = report.address.as_deref().zip(change);
                commands.extend(named.map(|(address, change)| change.of(address)));
                continue;
            };
            let of = addresses.get(&known.tag.message).map_or(&[][..], Vec::as_slice);
            let address = known.address(of, &key);
            let is_meant = |address: &&str| report.means(address);
            let address = address.filter(is_meant);
            let changed = address.zip(change).map(|(address, change)| change.of(address));
            commands.extend(known.report.into_iter().chain(changed));
        }
        if !commands.is_empty() {
            for refused in self.submit(commands).await?.into_iter().filter_map(Result::err) {
                tracing::debug!(reason = %refused.detail, "a report about a message is refused");
            }
        }
        for (report, is_known) in reports.iter().zip(is_known) {
            self.feedback.count(report, is_known);
        }
        Ok(())
    }
}

/// The entry of an event in the history of a message; `None` = it is about later messages.
fn answered(event: Event) -> Option<Answered> {
    Some(match event {
        Event::Delivered => Answered::Delivered,
        Event::Delayed => Answered::Delayed,
        Event::Blocked | Event::Bounced | Event::Gone => Answered::Bounced,
        Event::Complained | Event::OptedOut => Answered::Complained,
        Event::Opened => Answered::Opened,
        Event::Clicked => Answered::Clicked,
        Event::OptedIn => return None,
    })
}

/// The event of a bounce that a provider calls permanent: where the server's words are about us, no address is gone.
fn permanent(words: &str) -> Event {
    match judge(Stage::Unknown, None, Status::find(words), words) {
        Verdict::Ours(_) => Event::Blocked,
        Verdict::Gone | Verdict::Soft => Event::Gone,
    }
}

/// A report about a message of ours.
struct Judged {
    tag: MailTag,
    /// The command that records it; `None` = it is only counted.
    report: Option<Command>,
}

impl Judged {
    /// The address of the message, if it is still its recipient's.
    fn address<'a>(&self, addresses: &'a [String], key: &TokenKey) -> Option<&'a str> {
        let mut addresses = addresses.iter();
        let address = addresses.find(|text| self.tag.is_of(EMAIL_NO, text, key));
        address.map(String::as_str)
    }
}

/// The statement of a report about an address.
#[derive(Clone, Copy)]
struct AddressChange {
    report: AddressReport,
    at: Instant,
}

impl AddressChange {
    fn of(self, address: &str) -> Command {
        Command::ReportAddress {
            address: ChannelAddress::new(EMAIL_NO, address),
            report: self.report,
            at: self.at,
        }
    }
}

impl Reported {
    /// The message that is meant, and what follows from the report; `None` = it names no message of ours.
    fn judged(&self, (key, rules): (&TokenKey, &FeedbackRules), now: Instant) -> Option<Judged> {
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
    fn means(&self, address: &str) -> bool {
        let of = |text: &str| ChannelAddress::new(EMAIL_NO, text);
        self.named.is_empty() || self.named.iter().any(|named| of(named) == of(address))
    }

    /// The change of the address; `None` = none.
    fn address_change(&self, now: Instant) -> Option<AddressChange> {
        let report = match self.event {
            Event::Gone => AddressReport::Suppressed(SuppressedFor::Bounce),
            Event::Complained => AddressReport::Suppressed(SuppressedFor::Complaint),
            Event::OptedOut => AddressReport::Suppressed(SuppressedFor::Stop),
            Event::OptedIn => AddressReport::OptedIn,
            Event::Bounced => AddressReport::Bounced,
            Event::Delivered | Event::Opened | Event::Clicked => AddressReport::Arrived,
            Event::Delayed | Event::Blocked => return None,
        };
        let at = self.at.map_or(now, |at| at.min(now));
        Some(AddressChange { report, at })
    }
}
