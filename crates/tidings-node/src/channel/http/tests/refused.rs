//! Refusals of providers: about our account, or about a recipient.

use super::*;

/// The words of the outcome of a mail that a provider answers so.
fn told(provider: &str, answer: Says) -> (&'static str, String) {
    let server = Server::start();
    let provider = provider.replace("BASE", &server.base);
    let channel = channel_of("email", &provider, Some("Art <art@example.org>"));
    server.answer(Some(answer));
    let outcome = channel.send(&listed(), GO);
    (class(&outcome), outcome.words().unwrap_or_default().to_owned())
}

#[test]
fn mail_3_what_is_about_us_waits_and_tells_what_to_mend() {
    let (sendgrid, postmark) = ("sendgrid://${KEY}?base=BASE", "postmark://${KEY}?base=BASE");
    let mailgun = "mailgun://${KEY}@mg.example.org?base=BASE";
    let ses = "ses://AKIDEXAMPLE:${KEY}@eu-west-1?base=BASE";
    for (provider, answer, mend) in [
        (
            sendgrid,
            says(
                403,
                "",
                r#"{"errors":[{"message":"The from address does not match a verified Sender Identity.","field":"from"}]}"#,
            ),
            "check `from`",
        ),
        (
            sendgrid,
            says(401, "", r#"{"errors":[{"message":"Maximum credits exceeded","field":null}]}"#),
            "quota",
        ),
        (
            sendgrid,
            says(
                401,
                "",
                r#"{"errors":[{"message":"The provided authorization grant is invalid, expired, or revoked","field":null}]}"#,
            ),
            "check the login",
        ),
        (
            sendgrid,
            says(400, "", r#"{"errors":[{"message":"Sender domain fails DMARC","field":null}]}"#),
            "SPF, DKIM and DMARC",
        ),
        (postmark, says(422, "", r#"{"ErrorCode":405,"Message":"Not allowed to send"}"#), "quota"),
        (
            postmark,
            says(422, "", r#"{"ErrorCode":401,"Message":"The Sender Signature is not confirmed"}"#),
            "check `from`",
        ),
        (mailgun, says(402, "", r#"{"message":"Payment required"}"#), "quota"),
        (
            mailgun,
            says(
                400,
                "",
                r#"{"message":"from parameter is not a valid address. please check documentation"}"#,
            ),
            "check `from`",
        ),
        (
            ses,
            says(
                400,
                "x-amzn-errortype: MessageRejected\r\n",
                r#"{"message":"Email address is not verified. The following identities failed the check in region EU-WEST-1: r1@example.org"}"#,
            ),
            "check `from`",
        ),
        (
            ses,
            says(
                400,
                "x-amzn-errortype: LimitExceededException\r\n",
                r#"{"message":"Daily message quota exceeded"}"#,
            ),
            "quota",
        ),
    ] {
        let (class, why) = told(provider, answer);
        assert_eq!(class, "away", "{why}");
        assert!(why.contains(mend), "{mend}: {why}");
    }
}

#[test]
fn words_that_name_no_recipient_suppress_nobody() {
    for (provider, answer) in [
        (
            "postmark://${KEY}?base=BASE",
            says(422, "", r#"{"ErrorCode":300,"Message":"Invalid email request: no such user"}"#),
        ),
        (
            "mailgun://${KEY}@mg.example.org?base=BASE",
            says(400, "", r#"{"message":"cc parameter is not a valid address"}"#),
        ),
    ] {
        assert_eq!(told(provider, answer).0, "failed");
    }
}
