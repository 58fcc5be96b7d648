//! Amazon SES, API v2: whole mails (`Raw`), requests signed by Signature Version 4.

use ring::{digest, hmac};
use serde_json::{Value, json};
use tidings_core::Instant;
use tidings_mail::{OperatorFault, RefusalStage, Verdict, hex};

use super::aws_role::{AwsRole, Credentials};
use super::mime;
use super::refused::MailAnswer;
use crate::channel::http::{HttpAnswer, HttpRequest, ProviderUrl, Shape, sent};
use crate::channel::{Outcome, ProviderOpenError, Rendered};

/// The form of its address.
pub(crate) const FORM: &str = "ses://KEY_ID:${SECRET}@REGION";

const PATH: &str = "/v2/email/outbound-emails";

/// An account of SES in a region.
pub(crate) struct Ses {
    account: SigningAccount,
    region: String,
    base: String,
    /// The configuration set.
    set: Option<String>,
}

/// The account that signs.
enum SigningAccount {
    Given(Credentials),
    OfRole(AwsRole),
}

impl Ses {
    pub(crate) fn parse(mut url: ProviderUrl<'_>) -> Result<Self, ProviderOpenError> {
        let account = match url.login()? {
            None => {
                let variable = |name: &str| std::env::var(name).ok();
                SigningAccount::OfRole(AwsRole::of(&variable, url.option("metadata")?)?)
            }
            Some(_) => {
                let ((key_id, secret), session) = (url.user()?, url.option("session")?);
                SigningAccount::Given(Credentials { key_id, secret, session })
            }
        };
        let region = url.place("the region, such as `eu-west-1`,")?;
        let shape = Self {
            account,
            base: url.base(&format!("https://email.{region}.amazonaws.com"))?,
            set: url.option("set")?,
            region,
        };
        url.done().map(|()| shape)
    }
}

impl Shape for Ses {
    fn shown(&self) -> String {
        format!("ses {}", self.base)
    }

    fn login(&self, now: Instant) -> Result<Option<HttpRequest>, Outcome> {
        match &self.account {
            SigningAccount::Given(_) => Ok(None),
            SigningAccount::OfRole(role) => role.login(now),
        }
    }

    fn logged_in(&self, answer: &HttpAnswer, now: Instant) -> Result<(), Outcome> {
        match &self.account {
            SigningAccount::Given(_) => Ok(()),
            SigningAccount::OfRole(role) => role.logged_in(answer, now),
        }
    }

    fn request(&self, message: &Rendered, to: &str, now: Instant) -> Result<HttpRequest, Outcome> {
        let mut body = json!({
            "FromEmailAddress": message.from,
            "Destination": { "ToAddresses": [to] },
            "Content": { "Raw": { "Data": mime::in_base64(message) } },
            "EmailTags": [{ "Name": "tidings_batch", "Value": message.head.id }],
        });
        if let Some(set) = &self.set {
            body["ConfigurationSetName"] = Value::from(set.as_str());
        }
        let request = HttpRequest::json(format!("{}{PATH}", self.base), &body);
        let credentials = match &self.account {
            SigningAccount::Given(credentials) => credentials.clone(),
            SigningAccount::OfRole(role) => role.credentials()?,
        };
        Ok(self.signed(request, &credentials, now))
    }

    fn outcome(&self, answer: &HttpAnswer, now: Instant) -> Outcome {
        let json = answer.json();
        let kind = answer
            .header("x-amzn-errortype")
            .or_else(|| json["__type"].as_str())
            .unwrap_or_default();
        // `Name:http://…` and `com.amazonaws…#Name` are forms of it.
        let kind = kind.split(':').next().unwrap_or_default();
        let kind = kind.rsplit('#').next().filter(|kind| !kind.is_empty());
        let text = json["message"].as_str().unwrap_or_default();
        let says = |words: &str| text.to_lowercase().contains(words);
        let fault = match kind.unwrap_or_default() {
            "MailFromDomainNotVerifiedException" => Some(OperatorFault::Sender),
            "LimitExceededException" | "TooManyRequestsException" => Some(OperatorFault::Quota),
            kind if kind.starts_with("Throttling") => Some(OperatorFault::Quota),
            "AccountSuspendedException" | "NotFoundException" | "SendingPausedException" => {
                Some(OperatorFault::Access)
            }
            "MessageRejected" if says("not verified") => Some(OperatorFault::Sender),
            "MessageRejected" if says("sending suspended") || says("sending paused") => {
                Some(OperatorFault::Access)
            }
            _ => None,
        };
        let mail_answer = MailAnswer {
            code: kind,
            text,
            stage: RefusalStage::Data,
            verdict: fault.map(Verdict::Ours),
        };
        match answer.of_mail(mail_answer, now) {
            Outcome::Sent(_) => sent(json["MessageId"].as_str()),
            other => other,
        }
    }
}

impl Ses {
    /// The request with its signature.
    fn signed(&self, request: HttpRequest, by: &Credentials, now: Instant) -> HttpRequest {
        let time = basic_time(now);
        let host = self.base.split("://").nth(1).unwrap_or_default().to_owned();
        let mut headers = vec![
            ("content-type", "application/json".to_owned()),
            ("host", host),
            ("x-amz-date", time.clone()),
        ];
        let session = by.session.iter();
        headers.extend(session.map(|token| ("x-amz-security-token", token.clone())));
        let signed = SignatureFacts {
            key_id: &by.key_id,
            secret: &by.secret,
            region: &self.region,
            service: "ses",
            time: &time,
        };
        let authorization = signed.authorization("POST", PATH, &headers, &request.body);
        let mut request = request.with("x-amz-date", time);
        if let Some(token) = &by.session {
            request = request.with("x-amz-security-token", token.as_str());
        }
        request.with("authorization", authorization)
    }
}

/// The facts of a signature.
struct SignatureFacts<'a> {
    key_id: &'a str,
    secret: &'a str,
    region: &'a str,
    service: &'a str,
    time: &'a str,
}

impl SignatureFacts<'_> {
    /// The header that signs a request with these headers, in the order of their names.
    fn authorization(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, String)],
        body: &[u8],
    ) -> String {
        let Self { key_id, secret, region, service, time } = self;
        let date = &time[..8];
        let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
        let names = names.join(";");
        let lines: String =
            headers.iter().map(|(name, value)| format!("{name}:{}\n", value.trim())).collect();
        let canonical = format!("{method}\n{path}\n\n{lines}\n{names}\n{}", hash(body));
        let scope = format!("{date}/{region}/{service}/aws4_request");
        let to_sign = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", hash(canonical.as_bytes()));
        let mut key = format!("AWS4{secret}").into_bytes();
        for part in [date, region, service, "aws4_request"] {
            key = mac(&key, part);
        }
        let signature = hex(&mac(&key, &to_sign));
        format!(
            "AWS4-HMAC-SHA256 Credential={key_id}/{scope}, SignedHeaders={names}, Signature={signature}"
        )
    }
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    hmac::sign(&key, text.as_bytes()).as_ref().to_vec()
}

fn hash(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

/// An instant as `20240307T080000Z`.
fn basic_time(now: Instant) -> String {
    let seconds = Instant(now.0.div_euclid(1_000) * 1_000);
    seconds.to_string().replace(['-', ':'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example "get-vanilla" of Amazon's test suite for Signature Version 4.
    #[test]
    fn a_signature_is_that_of_amazons_test_suite() {
        let signing = SignatureFacts {
            key_id: "AKIDEXAMPLE",
            secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            region: "us-east-1",
            service: "service",
            time: "20150830T123600Z",
        };
        let headers = [
            ("host", "example.amazonaws.com".to_owned()),
            ("x-amz-date", "20150830T123600Z".to_owned()),
        ];
        for (method, signature) in [
            ("GET", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            ("POST", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        ] {
            assert_eq!(
                signing.authorization(method, "/", &headers, b""),
                format!(
                    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
                     SignedHeaders=host;x-amz-date, Signature={signature}"
                )
            );
        }
    }

    #[test]
    fn times_are_in_the_basic_form() {
        let now = Instant::parse("2024-03-07T08:00:00.123Z").unwrap();
        assert_eq!(basic_time(now), "20240307T080000Z");
    }
}
