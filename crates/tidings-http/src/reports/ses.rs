//! The calls of Amazon SNS with the events of SES, signed by a key of SNS.
//!
//! SNS signs for everybody who has a topic, so a call has to be of the configured one. Its certificate is fetched from
//! an address that only Amazon can have, and kept.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use serde::Deserialize;
use tidings_core::Instant;
use tidings_core::model::EMAIL_NO;
use tidings_mail::{EnhancedStatus, MailEvent};
use webpki::EndEntityCert;
use webpki::ring::RSA_PKCS1_2048_8192_SHA256;

use super::call::{Call, not_signed};
use super::reported::{Reported, permanent};
use crate::error::{Code, Problem};

/// The most bytes of a certificate.
const CERTIFICATE_BYTES_MAX: u64 = 64 << 10;
/// The most certificates that are kept.
const CERTIFICATES_MAX: usize = 8;

/// The header of a mail by which it is known, as SES repeats it.
const HEADER: &str = tidings_mail::MESSAGE_HEADER;

/// Fetches what is at an address.
type Fetch = Box<dyn Fn(&str) -> Result<Vec<u8>, String> + Send + Sync>;

/// The certificates of SNS that were fetched, by address.
pub(crate) struct Certificates {
    fetch: Fetch,
    kept: Mutex<BTreeMap<String, CertificateDer<'static>>>,
}

impl fmt::Debug for Certificates {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Certificates(…)")
    }
}

impl Default for Certificates {
    fn default() -> Self {
        Self::fetched_by(Box::new(fetch))
    }
}

impl Certificates {
    pub(crate) fn fetched_by(fetch: Fetch) -> Self {
        Self { fetch, kept: Mutex::default() }
    }

    fn at(&self, address: &str) -> Result<CertificateDer<'static>, String> {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept().get(address) {
            return Ok(known.clone());
        }
        let pem = (self.fetch)(address)?;
        let certificate =
            CertificateDer::from_pem_slice(&pem).map_err(|fault| fault.to_string())?;
        let mut kept = kept();
        if kept.len() >= CERTIFICATES_MAX {
            kept.clear();
        }
        kept.insert(address.to_owned(), certificate.clone());
        Ok(certificate)
    }
}

fn fetch(address: &str) -> Result<Vec<u8>, String> {
    let agent = ureq::Agent::config_builder()
        .timeout_global(Some(Duration::from_secs(10)))
        .max_redirects(0)
        .tls_config(tidings_tls::http_client())
        .proxy(tidings_tls::Proxies::to(address))
        .build()
        .new_agent();
    let mut answer = agent.get(address).call().map_err(|fault| fault.to_string())?;
    let mut bytes = Vec::new();
    let body = answer.body_mut().as_reader().take(CERTIFICATE_BYTES_MAX);
    let read = { body }.read_to_end(&mut bytes);
    read.map(|_| bytes).map_err(|fault| fault.to_string())
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Envelope {
    #[serde(rename = "Type")]
    kind: String,
    message_id: String,
    topic_arn: String,
    message: String,
    timestamp: String,
    subject: Option<String>,
    token: Option<String>,
    signature_version: String,
    signature: String,
    #[serde(rename = "SigningCertURL")]
    certificate: String,
    #[serde(rename = "SubscribeURL")]
    subscribe: Option<String>,
}

impl Envelope {
    /// The text that is signed: names and values in the order that SNS documents.
    fn signed(&self) -> String {
        let fields = [
            ("Message", Some(&self.message)),
            ("MessageId", Some(&self.message_id)),
            ("Subject", self.subject.as_ref()),
            ("SubscribeURL", self.subscribe.as_ref()),
            ("Timestamp", Some(&self.timestamp)),
            ("Token", self.token.as_ref()),
            ("TopicArn", Some(&self.topic_arn)),
            ("Type", Some(&self.kind)),
        ];
        fields
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .map(|(name, value)| format!("{name}\n{value}\n"))
            .collect()
    }

    fn is_signed(&self, certificates: &Certificates) -> Result<bool, String> {
        if !is_of_sns(&self.certificate) {
            return Ok(false);
        }
        let Ok(signature) = STANDARD.decode(&self.signature) else {
            return Ok(false);
        };
        let der = certificates.at(&self.certificate)?;
        let certificate = EndEntityCert::try_from(&der).map_err(|fault| fault.to_string())?;
        let signed = self.signed();
        let verified =
            certificate.verify_signature(RSA_PKCS1_2048_8192_SHA256, signed.as_bytes(), &signature);
        Ok(verified.is_ok())
    }
}

/// Returns true if an address is one of SNS.
fn is_of_sns(address: &str) -> bool {
    let host = address.strip_prefix("https://").and_then(|rest| rest.split('/').next());
    let region = host.and_then(|host| {
        let host = host.strip_suffix(".cn").unwrap_or(host);
        host.strip_prefix("sns.")?.strip_suffix(".amazonaws.com")
    });
    region.is_some_and(|region| {
        !region.is_empty()
            && region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    })
}

/// The reports of a call of a topic. A call that asks whether the topic's calls are wanted is answered.
pub(crate) fn read(
    call: &Call<'_>,
    topic: &str,
    certificates: &Certificates,
) -> Result<Vec<Reported>, Problem> {
    let envelope: Envelope = call.json()?;
    if envelope.topic_arn != topic {
        return Err(not_signed("it is of another topic"));
    }
    if envelope.signature_version != "2" {
        let why = "set the attribute `SignatureVersion` of the topic to 2, which is SHA-256";
        return Err(not_signed(why));
    }
    let away = |why: String| Problem::new(Code::Internal, format!("SNS: {why}"));
    if !envelope.is_signed(certificates).map_err(away)? {
        return Err(not_signed("the signature is another one"));
    }
    let signed = Instant::parse(&envelope.timestamp).unwrap_or(Instant(i64::MIN));
    let signed = call.of_now(signed)?;
    match (&*envelope.kind, &envelope.subscribe) {
        ("SubscriptionConfirmation", Some(address)) if is_of_sns(address) => {
            (certificates.fetch)(address).map_err(away)?;
            Ok(Vec::new())
        }
        ("Notification", _) => {
            let line: SesNotification = serde_json::from_str(&envelope.message)
                .map_err(|fault| Problem::new(Code::InvalidBody, fault.to_string()))?;
            Ok(reported(line, signed).into_iter().collect())
        }
        _ => Ok(Vec::new()),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SesNotification {
    #[serde(alias = "notificationType")]
    event_type: String,
    #[serde(default)]
    mail: Mail,
    #[serde(default)]
    bounce: Bounce,
    #[serde(default)]
    subscription: SesSubscription,
}

/// The choice of a reader on a contact list.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SesSubscription {
    #[serde(rename = "newTopicPreferences")]
    now: TopicPreferences,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct TopicPreferences {
    unsubscribe_all: bool,
    topic_subscription_status: Vec<TopicStatus>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TopicStatus {
    subscription_status: String,
}

impl TopicPreferences {
    /// Returns true if the reader opted out of everything, or of one of the topics: the topic of a mail is not
    /// reported.
    fn is_out(&self) -> bool {
        let mut topics = self.topic_subscription_status.iter();
        self.unsubscribe_all || topics.any(|topic| topic.subscription_status == "OptOut")
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Mail {
    headers: Vec<Header>,
}

#[derive(Deserialize)]
struct Header {
    name: String,
    value: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Bounce {
    bounce_type: String,
    bounce_sub_type: String,
    bounced_recipients: Vec<BouncedRecipient>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BouncedRecipient {
    status: Option<String>,
    /// The words of the server that refused.
    diagnostic_code: Option<String>,
}

fn reported(line: SesNotification, signed: Instant) -> Option<Reported> {
    let Bounce { bounce_type, bounce_sub_type, bounced_recipients } = line.bounce;
    let mut said = bounced_recipients.iter();
    let said = said.find_map(|of| of.diagnostic_code.as_deref());
    let event = match &*line.event_type {
        "Delivery" => MailEvent::Delivered,
        "DeliveryDelay" => MailEvent::Delayed,
        "Bounce" if bounce_type == "Permanent" => permanent(said.unwrap_or_default()),
        "Bounce" if matches!(&*bounce_sub_type, "General" | "MailboxFull" | "") => {
            MailEvent::Bounced
        }
        "Bounce" | "Reject" => MailEvent::Blocked,
        "Complaint" => MailEvent::Complained,
        "Subscription" if line.subscription.now.is_out() => MailEvent::OptedOut,
        "Subscription" => MailEvent::OptedIn,
        "Open" => MailEvent::Opened,
        "Click" => MailEvent::Clicked,
        _ => return None,
    };
    let mut statuses = bounced_recipients.into_iter().filter_map(|of| of.status);
    let status = statuses.find_map(|text| EnhancedStatus::find(&text));
    let tags =
        line.mail.headers.into_iter().filter(|header| header.name.eq_ignore_ascii_case(HEADER));
    Some(Reported {
        at: Some(signed),
        address: None,
        named: Vec::new(),
        event,
        channel: EMAIL_NO,
        by: "ses",
        hints: tags.map(|header| header.value).collect(),
        words: status.map(|status| status.to_string()).unwrap_or_default(),
    })
}
