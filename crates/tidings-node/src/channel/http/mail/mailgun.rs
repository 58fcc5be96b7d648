//! Mailgun: whole mails (`messages.mime`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tidings_core::Instant;
use tidings_mail::{OperatorFault, RefusalStage, Verdict};

use super::mime::known_by;
use super::refused::MailAnswer;
use crate::channel::http::{HttpAnswer, HttpRequest, ProviderUrl, Shape, sent};
use crate::channel::{Outcome, ProviderOpenError, Rendered};

/// The form of its address.
pub(crate) const FORM: &str = "mailgun://${KEY}@DOMAIN";

/// A domain of a Mailgun account.
pub(crate) struct Mailgun {
    key: String,
    domain: String,
    base: String,
}

impl Mailgun {
    pub(crate) fn parse(mut url: ProviderUrl<'_>) -> Result<Self, ProviderOpenError> {
        let own = match url.option("region")?.as_deref() {
            None | Some("us") => "https://api.mailgun.net",
            Some("eu") => "https://api.eu.mailgun.net",
            Some(_) => {
                let why = "`region` is `us` or `eu`".to_owned();
                return Err(ProviderOpenError::Address(why));
            }
        };
        let shape =
            Self { key: url.key()?, domain: url.place("the domain")?, base: url.base(own)? };
        url.done().map(|()| shape)
    }
}

impl Shape for Mailgun {
    fn shown(&self) -> String {
        format!("mailgun {} {}", self.domain, self.base)
    }

    fn request(&self, message: &Rendered, to: &str, _now: Instant) -> Result<HttpRequest, Outcome> {
        // A mail's own boundaries are made of its batch's id too, but for another prefix.
        let boundary = format!("tidings-form-{}", message.head.id);
        let fields =
            known_by(message).into_iter().map(|(name, value)| (format!("v:{name}"), value));
        let fields = [("to".to_owned(), to)].into_iter().chain(fields);
        let mut body = Vec::new();
        for (name, value) in fields {
            let field = format!(
                "--{boundary}\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
            );
            body.extend_from_slice(field.as_bytes());
        }
        let file = format!(
            "--{boundary}\r\ncontent-disposition: form-data; name=\"message\"; filename=\"message.eml\"\r\n\
             content-type: message/rfc822\r\n\r\n"
        );
        body.extend_from_slice(file.as_bytes());
        body.extend_from_slice(&message.bytes);
        body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
        let login = STANDARD.encode(format!("api:{}", self.key));
        Ok(HttpRequest {
            method: "POST",
            url: format!("{}/v3/{}/messages.mime", self.base, self.domain),
            headers: vec![
                ("content-type", format!("multipart/form-data; boundary={boundary}")),
                ("authorization", format!("Basic {login}")),
            ],
            body,
        })
    }

    fn outcome(&self, answer: &HttpAnswer, now: Instant) -> Outcome {
        let json = answer.json();
        let text = json["message"].as_str().unwrap_or_default();
        let begins = |name: &str| {
            let text = text.replace('\'', "");
            text.starts_with(&format!("{name} parameter"))
        };
        let (stage, verdict) = if begins("to") && text.contains("not a valid address") {
            (RefusalStage::Recipient, Some(Verdict::Gone))
        } else if begins("from") {
            (RefusalStage::Mail, Some(Verdict::Ours(OperatorFault::Sender)))
        } else if answer.status == 404
            || text.contains("not allowed to send")
            || text.starts_with("Sandbox")
        {
            // The domain is not one of the account, or not one of which it may send this.
            (RefusalStage::Connect, Some(Verdict::Ours(OperatorFault::Access)))
        } else {
            (RefusalStage::Data, None)
        };
        let mail_answer = MailAnswer { code: None, text, stage, verdict };
        match answer.of_mail(mail_answer, now) {
            Outcome::Sent(_) => sent(json["id"].as_str()),
            other => other,
        }
    }
}
