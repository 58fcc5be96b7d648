//! Reports about messages after they were handed over: bounces, complaints, deliveries.
//!
//! Providers report by calls (`POST /feedback/PROVIDER`), mail servers by mails that come back ([`maildir`]). Anybody
//! can send either. So a call has to be signed as its provider documents, and a report has to name its message by a tag
//! that can't be forged. It is recorded with the message; an address that does not exist, and one whose owner
//! complained, is suppressed.

mod addresses;
pub mod maildir;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use tidings_core::engine::Reply;
use tidings_core::model::{AddressReport, Origin, SuppressionSource};
use tidings_node::Once;
use tokio::task::spawn_blocking;

use super::answer::Answer;
use super::call::CallName;
use super::error::{Code, Problem};
use super::service::Service;
use crate::change::Change;
use crate::change::origin::with_origin;
use crate::reports::call::Call;
use crate::reports::reported::{Judged, Reported};
use crate::reports::state::FEEDBACK;
use crate::reports::{mailgun, postmark, sendgrid, ses, twilio};
use crate::request::extract::whole;

/// The most bytes of a call. No provider makes larger ones: SendGrid, which sends many events at once, ends at 768 kB.
const CALL_BYTES_MAX: usize = 2 << 20;
/// The route of the calls.
pub(super) fn routes() -> Router<Arc<Service>> {
    Router::new().route("/feedback/{provider}", post(receive))
}

async fn receive(
    State(service): State<Arc<Service>>,
    Path(provider): Path<String>,
    request: Request,
) -> Response {
    let received = received(&service, &provider, request).await;
    let mut response =
        received.map_or_else(Problem::into_response, |()| StatusCode::NO_CONTENT.into_response());
    response.extensions_mut().insert(CallName(FEEDBACK));
    response
}

async fn received(service: &Arc<Service>, provider: &str, request: Request) -> Result<(), Problem> {
    let rules = service.rules();
    let known = rules.feedback.providers.get(provider).cloned();
    let Some(known) = known else {
        let detail = "`[feedback]` of the configuration names no such provider";
        return Err(Problem::new(Code::NotFound, detail));
    };
    let (parts, body) = request.into_parts();
    if provider == "postmark" {
        // The password is in the head: nobody else's body is waited for.
        postmark::check(&parts.headers, &secret_of(provider, &known)?)?;
    }
    let (body, _room) = whole(&parts, body, &service.open_bodies, CALL_BYTES_MAX).await?;
    let (reader, provider) = (Arc::clone(service), provider.to_owned());
    let judge = move || {
        let call = Call { headers: &parts.headers, body: &body, now: reader.now() };
        let reports = read(&reader, &provider, &known, &call)?;
        // Others say of when a call is.
        let once = (provider == "twilio").then(|| twilio::identity(&call));
        Ok::<_, Problem>((reports, once))
    };
    let judged = spawn_blocking(judge).await;
    let judged = judged.map_err(|fault| Problem::new(Code::Internal, fault.to_string()))?;
    let (reports, once) = judged?;
    service.take(reports, once).await
}

/// The secret by which the calls of a provider are known.
fn secret_of(provider: &str, known: &str) -> Result<String, Problem> {
    tidings_config::secret_here(known).map_err(|why| {
        // The caller is not known yet, and learns no more than that the fault is ours.
        tracing::error!(provider, secret = known, reason = why, "reports can't be checked");
        Problem::new(Code::Internal, "the server lacks the secret of this provider")
    })
}

/// The reports of a call that is its provider's.
fn read(
    service: &Service,
    provider: &str,
    known: &str,
    call: &Call<'_>,
) -> Result<Vec<Reported>, Problem> {
    let secret = || secret_of(provider, known);
    match provider {
        "mailgun" => mailgun::read(call, &secret()?),
        // Its head was checked before its body was read.
        "postmark" => postmark::read(call),
        "sendgrid" => sendgrid::read(call, &secret()?),
        "twilio" => {
            twilio::read(call, &secret()?, service.rules().presentation.brand.url.as_deref())
        }
        _ => ses::read(call, known, &service.feedback.certificates),
    }
}

impl Service {
    /// Records reports, and suppresses the addresses that follow from them. Those of a call with the identity of an
    /// earlier one change nothing.
    ///
    /// # Errors
    /// A [`Problem`] of the node: the same reports may be given again.
    async fn take(&self, reports: Vec<Reported>, once: Option<Once>) -> Result<(), Problem> {
        let Some(key) = self.tokens().cloned().filter(|_| !reports.is_empty()) else {
            return Ok(());
        };
        let (rules, now) = (self.rules(), self.now());
        let judged: Vec<Option<Judged>> =
            reports.iter().map(|report| report.judged(&key, &rules.feedback, now)).collect();
        let is_known: Vec<bool> = judged.iter().map(Option::is_some).collect();
        // Most reports are of arrivals, and most addresses never bounced.
        let awaits = self.look(|node| node.engine().suppressions().awaits_arrivals()).await?;
        let change_of = |report: &Reported| {
            let change = report.address_change(now);
            change.filter(|change| {
                awaits || change.report != AddressReport::Arrived(SuppressionSource::Report)
            })
        };
        let messages = judged
            .iter()
            .zip(&reports)
            .filter(|(_, report)| change_of(report).is_some())
            .filter_map(|(known, _)| Some(known.as_ref()?.tag.message));
        let messages = messages.collect();
        let addressees = self.addressees(messages).await?;
        let mut commands = Vec::new();
        for (known, report) in judged.into_iter().zip(&reports) {
            let change = change_of(report);
            let Some(known) = known else {
                // A provider that names an address, and whose call is its own, needs no message for that.
                let named = report.address.as_deref().zip(change);
                commands.extend(named.map(|(address, change)| change.of(address, None)));
                continue;
            };
            let of = addressees.get(&known.tag.message).cloned().unwrap_or_default();
            let address = known.address(&of.addresses, &key);
            let is_meant = |address: &&str| report.means(address);
            let address = address.filter(is_meant);
            let changed = address.zip(change);
            let changed = changed.map(|(address, change)| change.of(address, of.recipient.clone()));
            commands.extend(known.report.into_iter().chain(changed));
        }
        if !commands.is_empty() {
            let change = Change::new(Bytes::new(), once, None);
            let noted = |replies: Vec<Result<Reply, Problem>>| {
                for refused in replies.into_iter().filter_map(Result::err) {
                    tracing::debug!(reason = %refused.detail, "a report about a message is refused");
                }
                Ok(Answer::done())
            };
            let origin = reports.first().map(|report| Arc::new(Origin::of_provider(report.by)));
            with_origin(origin, self.change(&change, commands, noted)).await?;
        }
        for (report, is_known) in reports.iter().zip(is_known) {
            self.feedback.count(report, is_known);
        }
        Ok(())
    }
}
