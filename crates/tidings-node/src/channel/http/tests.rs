//! Each provider against a server on loopback, which checks the request as the provider documents it and answers with
//! the errors that it documents.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use mail_parser::MessageParser;
use serde_json::{Value, json};
use tidings_core::Rules;
use tidings_core::model::{SuppressedFor, channel_kind};
use tidings_core::rules::ChannelRules;

use tidings_mail::{Design, SECRET_BYTES, TokenKey};

use super::super::sample::{GO, batch, clock, sender};
use super::super::{
    Channel, Durability, MailRenderer, MessageHead, Outcome, ProviderSetup, Rendered, Renderer,
    ServerTimeouts, open,
};

mod body;
mod others;
mod proxy;
mod refused;

/// A request as the server heard it.
pub(super) struct Heard {
    pub(super) line: String,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Heard {
    pub(super) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    pub(super) fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), "application/json");
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// Answer of the server to a request.
#[derive(Clone, Copy)]
pub(super) struct Says {
    pub(super) status: u16,
    pub(super) headers: &'static str,
    pub(super) body: &'static str,
}

pub(super) fn says(status: u16, headers: &'static str, body: &'static str) -> Says {
    Says { status, headers, body }
}

/// A server that answers each request as it is told, and hangs up where it is told nothing.
pub(super) struct Server {
    pub(super) base: String,
    answers: Option<Sender<Option<Says>>>,
    pub(super) heard: Receiver<Heard>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let (answers, told) = channel::<Option<Says>>();
        let (hear, heard) = channel();
        let thread = std::thread::spawn(move || {
            for answer in told {
                let (mut stream, _) = listener.accept().unwrap();
                let Some(request) = read_request(&stream) else {
                    continue;
                };
                hear.send(request).unwrap();
                if let Some(Says { status, headers, body }) = answer {
                    let length = body.len();
                    let whole = format!(
                        "HTTP/1.1 {status} Said\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
                    );
                    stream.write_all(whole.as_bytes()).unwrap();
                }
            }
        });
        Self { base, answers: Some(answers), heard, thread: Some(thread) }
    }

    /// Has the next request answered.
    pub(super) fn answer(&self, answer: Option<Says>) {
        self.answers.as_ref().unwrap().send(answer).unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.answers.take();
        let ended = self.thread.take().unwrap().join();
        if !std::thread::panicking() {
            ended.unwrap();
        }
    }
}

/// Reads a request; `None` if it ends too early.
fn read_request(stream: &TcpStream) -> Option<Heard> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        let Some((name, value)) = header.trim_end().split_once(": ") else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(Heard { line: line.trim_end().to_owned(), headers, body })
}

/// A channel of the configuration with a provider, whose secrets are their names in lower case.
pub(super) fn channel_of(kind: &str, provider: &str, from: Option<&str>) -> Arc<dyn Channel> {
    patient_channel_of(kind, provider, from, ServerTimeouts::default())
}

pub(super) fn patient_channel_of(
    kind: &str,
    provider: &str,
    from: Option<&str>,
    patience: ServerTimeouts,
) -> Arc<dyn Channel> {
    let rules = ChannelRules {
        providers: vec![provider.to_owned()],
        from: from.map(str::to_owned),
        ..ChannelRules::default()
    };
    let rules = Rules { channels: [(kind.to_owned(), rules)].into(), ..Rules::default() };
    let clock = clock();
    let setup = ProviderSetup {
        secret: &|name| {
            Ok(match name {
                "VAPID" => "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw".to_owned(),
                name => name.to_lowercase(),
            })
        },
        durability: Durability::Each,
        patience,
        clock: &clock,
        tokens: None,
        caught: &Arc::default(),
    };
    open(channel_kind(kind).unwrap(), &rules, &setup).unwrap().first()
}

/// The class of an outcome: P7 and T20 are about it.
pub(super) fn class(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Sent(_) => "sent",
        Outcome::Away { after_ms: None, .. } => "away",
        Outcome::Away { .. } => "away, with a wait",
        Outcome::Retry { after_ms: None, .. } => "retry",
        Outcome::Retry { .. } => "retry, with a wait",
        Outcome::Unknown { .. } => "unknown",
        Outcome::Failed { suppress: Some(SuppressedFor::Stop), .. } => "stopped",
        Outcome::Failed { suppress: Some(_), .. } => "dead",
        Outcome::Failed { .. } => "failed",
        Outcome::Template { .. } => "template",
        Outcome::SoftBounce { .. } => "soft bounce",
        Outcome::Withheld => "withheld",
    }
}

/// A provider, as it documents itself.
pub(super) struct Documented {
    pub(super) channel: &'static str,
    /// Its address, in which BASE is the server's.
    pub(super) provider: &'static str,
    pub(super) from: Option<&'static str>,
    pub(super) message: Rendered,
    pub(super) check: fn(&Heard),
    /// Answer to a message that it takes, and its own name for the message.
    pub(super) takes: (Says, Option<&'static str>),
    /// Its other answers, with the class of the outcome.
    pub(super) answers: Vec<(Says, &'static str)>,
}

impl Documented {
    pub(super) fn hold(&self) {
        let server = Server::start();
        let provider = self.provider.replace("BASE", &server.base);
        let channel = channel_of(self.channel, &provider, self.from);
        server.answer(Some(self.takes.0));
        let outcome = channel.send(&self.message, GO);
        let Outcome::Sent(receipt) = &outcome else {
            panic!("{}: {outcome:?}", self.provider);
        };
        assert_eq!(receipt.reference.as_deref(), self.takes.1);
        let heard = server.heard.recv().unwrap();
        (self.check)(&heard);
        for (answer, expected) in &self.answers {
            server.answer(Some(*answer));
            let outcome = channel.send(&self.message, GO);
            let Says { status, body, .. } = answer;
            let told = format!("{} {status} {body}: {outcome:?}", self.provider);
            assert_eq!(class(&outcome), *expected, "{told}");
            // What is shown to operators has no address and no key in it.
            let address = self.message.to[0].as_str();
            for secret in [address, "key"] {
                assert!(!outcome.words().unwrap_or_default().contains(secret), "{told}");
            }
        }
        // It hangs up after the request: it may have taken it.
        server.answer(None);
        assert_eq!(class(&channel.send(&self.message, GO)), "unknown");
    }
}

const SUBJECT: &str = "Artwork published: A title";

/// The headers that every mail of the sample has, as names with values.
const KEPT: [(&str, &str); 4] = [
    ("Message-ID", "<b1@example.org>"),
    ("Auto-Submitted", "auto-generated"),
    ("X-Auto-Response-Suppress", "OOF, AutoReply"),
    ("X-Tidings-Batch", "b1"),
];

/// A mail that one can leave with a click.
fn listed() -> Rendered {
    let mut rules = Rules::default();
    rules.presentation.brand.url = Some("https://example.org".to_owned());
    let design = Design::new(sender(), &rules).unwrap();
    let design = design.linked(TokenKey::new(&[7; SECRET_BYTES]));
    let batch = batch("b1", "A title");
    let head = Arc::new(MessageHead::of(&batch));
    MailRenderer::new(design).render(&head, &batch).unwrap()
}

fn is_whole(bytes: &[u8]) {
    assert_eq!(bytes, listed().bytes);
    let parsed = MessageParser::default().parse(bytes).unwrap();
    assert_eq!(parsed.message_id(), Some("b1@example.org"));
}

#[test]
fn sendgrid_takes_mails_in_parts() {
    Documented {
        channel: "email",
        provider: "sendgrid://${KEY}?base=BASE",
        from: Some("Art <art@example.org>"),
        message: listed(),
        check: |heard| {
            assert_eq!(heard.line, "POST /v3/mail/send HTTP/1.1");
            assert_eq!(heard.header("authorization"), "Bearer key");
            let body = heard.json();
            assert_eq!(
                body["personalizations"],
                json!([{"to": [{"email": "r1@example.org"}]}])
            );
            assert_eq!(
                body["from"],
                json!({"email": "art@example.org", "name": "Art"})
            );
            assert_eq!(body["subject"], SUBJECT);
            // Text comes before HTML.
            assert_eq!(body["content"][0]["type"], "text/plain");
            assert_eq!(body["content"][1]["type"], "text/html");
            for part in 0..2 {
                let value = body["content"][part]["value"].as_str().unwrap();
                assert!(value.contains("A title"));
            }
            for (name, value) in KEPT {
                assert_eq!(body["headers"][name], value);
            }
            let leave = body["headers"]["List-Unsubscribe"].as_str().unwrap();
            assert!(leave.starts_with("<https://example.org/u/"), "{leave}");
            let one_click = &body["headers"]["List-Unsubscribe-Post"];
            assert_eq!(one_click, "List-Unsubscribe=One-Click");
            // Names that it refuses.
            for name in ["To", "From", "Subject", "Content-Type", "Date"] {
                assert_eq!(body["headers"][name], Value::Null);
            }
        },
        takes: (says(202, "x-message-id: 14c5d75ce93\r\n", ""), Some("14c5d75ce93")),
        answers: vec![
            (says(400, "", r#"{"errors":[{"message":"Does not contain a valid address.","field":"personalizations.0.to.0.email","help":null}]}"#), "dead"),
            (says(400, "", r#"{"errors":[{"message":"The subject is required.","field":"subject","help":null}]}"#), "failed"),
            (says(400, "", r#"{"errors":[{"message":"The from email does not contain a valid address.","field":"from.email","help":null}]}"#), "away"),
            (says(401, "", r#"{"errors":[{"message":"Maximum credits exceeded","field":null,"help":null}]}"#), "away"),
            (says(401, "", r#"{"errors":[{"message":"The provided authorization grant is invalid, expired, or revoked","field":null,"help":null}]}"#), "away"),
            (says(403, "", r#"{"errors":[{"message":"The from address does not match a verified Sender Identity.","field":"from","help":null}]}"#), "away"),
            (says(413, "", ""), "failed"),
            (says(415, "", ""), "failed"),
            (says(429, "x-ratelimit-reset: 1700000060\r\n", r#"{"errors":[{"field":null,"message":"too many requests"}]}"#), "away, with a wait"),
            (says(429, "retry-after: 30\r\n", ""), "away, with a wait"),
            (says(500, "", ""), "away"),
            (says(503, "", ""), "away"),
            (says(504, "", ""), "unknown"),
        ],
    }
    .hold();
}

#[test]
fn postmark_takes_mails_in_parts() {
    Documented {
        channel: "email",
        provider: "postmark://${KEY}?stream=broadcast&base=BASE",
        from: Some("Art <art@example.org>"),
        message: listed(),
        check: |heard| {
            assert_eq!(heard.line, "POST /email HTTP/1.1");
            assert_eq!(heard.header("x-postmark-server-token"), "key");
            assert_eq!(heard.header("accept"), "application/json");
            let body = heard.json();
            assert_eq!(body["From"], "\"Art\" <art@example.org>");
            assert_eq!(body["To"], "r1@example.org");
            assert_eq!(body["Subject"], SUBJECT);
            assert_eq!(body["MessageStream"], "broadcast");
            for part in ["TextBody", "HtmlBody"] {
                assert!(body[part].as_str().unwrap().contains("A title"));
            }
            let headers = body["Headers"].as_array().unwrap();
            for (name, value) in KEPT.into_iter().chain([("X-PM-KeepID", "true")]) {
                let wanted = json!({"Name": name, "Value": value});
                assert!(headers.contains(&wanted), "{name}: {headers:?}");
            }
            let names: Vec<_> = headers.iter().map(|header| &header["Name"]).collect();
            for name in ["List-Unsubscribe", "List-Unsubscribe-Post", "List-ID"] {
                assert!(names.contains(&&json!(name)), "{name}: {names:?}");
            }
        },
        takes: (
            says(200, "", r#"{"To":"r1@example.org","SubmittedAt":"2014-02-17T07:25:01.4178645-05:00","MessageID":"0a129aee-e1cd-480d-b08d-4f48548ff48d","ErrorCode":0,"Message":"OK"}"#),
            Some("0a129aee-e1cd-480d-b08d-4f48548ff48d"),
        ),
        answers: vec![
            (says(401, "", r#"{"ErrorCode":10,"Message":"Bad or missing API token."}"#), "away"),
            (says(422, "", r#"{"ErrorCode":300,"Message":"Error parsing 'To': Illegal email address 'r1@example.org'."}"#), "dead"),
            (says(422, "", r#"{"ErrorCode":300,"Message":"Invalid 'To' address: 'r1@example.org'."}"#), "dead"),
            (says(422, "", r#"{"ErrorCode":400,"Message":"The 'From' address is not a Sender Signature on your account."}"#), "away"),
            (says(422, "", r#"{"ErrorCode":300,"Message":"Error parsing 'From': Illegal email address ']'. It must contain the '@' symbol."}"#), "away"),
            (says(422, "", r#"{"ErrorCode":300,"Message":"Metadata 'a' is not valid: names end at 20 characters."}"#), "failed"),
            (says(422, "", r#"{"ErrorCode":405,"Message":"Not allowed to send"}"#), "away"),
            (says(422, "", r#"{"ErrorCode":406,"Message":"You tried to send to a recipient that has been marked as inactive. r1@example.org"}"#), "dead"),
            (says(422, "", r#"{"ErrorCode":412,"Message":"Your account is pending approval"}"#), "away"),
            (says(413, "", ""), "failed"),
            (says(429, "", r#"{"ErrorCode":429,"Message":"Rate limit exceeded"}"#), "away"),
            (says(500, "", r#"{"ErrorCode":-1,"Message":"Internal Server Error"}"#), "away"),
            (says(503, "retry-after: 10\r\n", r#"{"ErrorCode":100,"Message":"Maintenance"}"#), "away, with a wait"),
        ],
    }
    .hold();
}

#[test]
fn mailgun_takes_whole_mails() {
    Documented {
        channel: "email",
        provider: "mailgun://${KEY}@mg.example.org?base=BASE",
        from: Some("Art <art@example.org>"),
        message: listed(),
        check: |heard| {
            assert_eq!(heard.line, "POST /v3/mg.example.org/messages.mime HTTP/1.1");
            // `api:key`
            assert_eq!(heard.header("authorization"), "Basic YXBpOmtleQ==");
            // The forms are MIME without its first header.
            let head = format!("content-type: {}\r\n\r\n", heard.header("content-type"));
            let whole = [head.as_bytes(), &heard.body].concat();
            let form = MessageParser::default().parse(&whole).unwrap();
            assert!(head.contains("multipart/form-data; boundary="), "{head}");
            let text = String::from_utf8(heard.body.clone()).unwrap();
            assert!(text.contains("form-data; name=\"to\"\r\n\r\nr1@example.org\r\n"));
            assert!(text.contains("form-data; name=\"message\"; filename=\"message.eml\"\r\n"));
            for name in ["v:tidings_batch", "v:tidings_message"] {
                assert!(text.contains(&format!("form-data; name=\"{name}\"\r\n\r\n")));
            }
            assert_eq!(form.parts.len(), 5);
            let boundary = head.trim().split_once("boundary=").unwrap().1.to_owned();
            let (_, content) = text.split_once("message/rfc822\r\n\r\n").unwrap();
            let (content, end) = content.split_once(&format!("\r\n--{boundary}--")).unwrap();
            is_whole(content.as_bytes());
            assert_eq!(end, "\r\n");
        },
        takes: (
            says(200, "", r#"{"id":"<20111114174239.25659.5817@samples.mailgun.org>","message":"Queued. Thank you."}"#),
            Some("<20111114174239.25659.5817@samples.mailgun.org>"),
        ),
        answers: vec![
            (says(400, "", r#"{"message":"'to' parameter is not a valid address. please check documentation"}"#), "dead"),
            (says(400, "", r#"{"message":"Sandbox subdomains are for test purposes only. Please add your own domain or add the address to authorized recipients in Account Settings."}"#), "away"),
            (says(400, "", r#"{"message":"'from' parameter is not a valid address. please check documentation"}"#), "away"),
            (says(400, "", r#"{"message":"Domain mg.example.org is not allowed to send: The domain is unverified and requires DNS configuration."}"#), "away"),
            (says(400, "", r#"{"message":"Need at least one of 'text' or 'html' parameters specified"}"#), "failed"),
            (says(403, "", r#"{"message":"Account is temporarily disabled."}"#), "away"),
            (says(401, "", "Forbidden"), "away"),
            (says(402, "", r#"{"message":"Payment required"}"#), "away"),
            (says(404, "", r#"{"message":"Domain not found: mg.example.org"}"#), "away"),
            (says(413, "", ""), "failed"),
            (says(429, "retry-after: 5\r\n", r#"{"message":"Too many requests"}"#), "away, with a wait"),
            (says(500, "", r#"{"message":"Internal Server Error"}"#), "away"),
            (says(502, "", ""), "unknown"),
        ],
    }
    .hold();
}

#[test]
fn ses_takes_whole_mails() {
    Documented {
        channel: "email",
        provider: "ses://AKIDEXAMPLE:${KEY}@eu-west-1?set=art&base=BASE",
        from: Some("Art <art@example.org>"),
        message: listed(),
        check: |heard| {
            use base64::Engine as _;
            assert_eq!(heard.line, "POST /v2/email/outbound-emails HTTP/1.1");
            assert_eq!(heard.header("x-amz-date"), "20231114T221320Z");
            let signed = heard.header("authorization");
            let scope = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20231114/eu-west-1/ses/aws4_request, \
                         SignedHeaders=content-type;host;x-amz-date, Signature=";
            let signature = signed.strip_prefix(scope).expect(signed);
            assert_eq!(signature.len(), 64);
            assert!(heard.header("host").starts_with("127.0.0.1:"));
            let body = heard.json();
            assert_eq!(body["FromEmailAddress"], "art@example.org");
            assert_eq!(body["Destination"], json!({"ToAddresses": ["r1@example.org"]}));
            assert_eq!(body["ConfigurationSetName"], "art");
            let data = body["Content"]["Raw"]["Data"].as_str().unwrap();
            let standard = base64::engine::general_purpose::STANDARD;
            is_whole(&standard.decode(data).unwrap());
        },
        takes: (
            says(200, "", r#"{"MessageId":"0102018a-5e7c-4b2c"}"#),
            Some("0102018a-5e7c-4b2c"),
        ),
        answers: vec![
            (says(400, "x-amzn-errortype: MessageRejected\r\n", r#"{"message":"Email address is not verified. The following identities failed the check in region EU-WEST-1: art@example.org"}"#), "away"),
            (says(400, "x-amzn-errortype: MessageRejected\r\n", r#"{"message":"Sending suspended for this account."}"#), "away"),
            (says(400, "x-amzn-errortype: MessageRejected\r\n", r#"{"message":"Invalid MIME"}"#), "failed"),
            (says(400, "x-amzn-errortype: BadRequestException\r\n", r#"{"message":"Local address contains control or whitespace"}"#), "failed"),
            (says(400, "x-amzn-errortype: Throttling\r\n", r#"{"message":"Daily message quota exceeded"}"#), "away"),
            (says(400, "x-amzn-errortype: BadRequestException:http://internal.amazon.com/coral/\r\n", ""), "failed"),
            (says(400, "x-amzn-errortype: AccountSuspendedException\r\n", ""), "away"),
            (says(400, "x-amzn-errortype: MailFromDomainNotVerifiedException\r\n", ""), "away"),
            (says(400, "x-amzn-errortype: SendingPausedException\r\n", ""), "away"),
            (says(400, "", r#"{"__type":"com.amazonaws.ses#LimitExceededException"}"#), "away"),
            (says(403, "x-amzn-errortype: SignatureDoesNotMatchException\r\n", ""), "away"),
            (says(404, "x-amzn-errortype: NotFoundException\r\n", ""), "away"),
            (says(429, "x-amzn-errortype: TooManyRequestsException\r\n", ""), "away"),
            (says(500, "", ""), "away"),
        ],
    }
    .hold();
}

#[test]
fn field_4_ses_takes_mails_by_the_role_of_a_machine() {
    let server = Server::start();
    let base = &server.base;
    let provider = format!("ses://eu-west-1?metadata={base}&base={base}");
    let channel = channel_of("email", &provider, Some("Art <art@example.org>"));
    let keys = r#"{"Code":"Success","AccessKeyId":"ASIAROLE","SecretAccessKey":"s","Token":"tok+en/=","Expiration":"2023-11-15T04:00:00Z"}"#;
    let taken = says(200, "", r#"{"MessageId":"1"}"#);
    for answer in
        [says(200, "", "TOKEN"), says(200, "", "mailer"), says(200, "", keys), taken, taken]
    {
        server.answer(Some(answer));
    }
    for _ in 0..2 {
        assert_eq!(class(&channel.send(&listed(), GO)), "sent");
    }
    let heard: Vec<Heard> = (0..5).map(|_| server.heard.recv().unwrap()).collect();
    let lines: Vec<&str> = heard.iter().map(|heard| &*heard.line).collect();
    let mail = "POST /v2/email/outbound-emails HTTP/1.1";
    let roles = "/latest/meta-data/iam/security-credentials/";
    assert_eq!(lines[0], "PUT /latest/api/token HTTP/1.1");
    assert_eq!(lines[1], format!("GET {roles} HTTP/1.1"));
    assert_eq!(lines[2], format!("GET {roles}mailer HTTP/1.1"));
    // The credentials are kept.
    assert_eq!(lines[3..], [mail, mail]);
    assert_eq!(heard[2].header("x-aws-ec2-metadata-token"), "TOKEN");
    for mail in &heard[3..] {
        assert_eq!(mail.header("x-amz-security-token"), "tok+en/=");
        let signed = mail.header("authorization");
        assert!(signed.contains("Credential=ASIAROLE/20231114/eu-west-1/ses/"), "{signed}");
        assert!(signed.contains("host;x-amz-date;x-amz-security-token,"), "{signed}");
    }
    // A machine without a role: the mail waits.
    let channel = channel_of("email", &provider, Some("Art <art@example.org>"));
    server.answer(Some(says(200, "", "TOKEN")));
    server.answer(Some(says(404, "", "")));
    assert_eq!(class(&channel.send(&listed(), GO)), "away");
}

#[test]
fn nothing_is_handed_over_before_the_question_and_nothing_after_a_no() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // Nobody listens on this address of the loopback.
    let away = format!("sendgrid://${{KEY}}?base=http://127.0.0.3:{port}");
    let channel = channel_of("email", &away, Some("art@example.org"));
    let outcome = channel.send(&listed(), &|| panic!("there is no connection"));
    assert_eq!(class(&outcome), "away", "{outcome:?}");

    let server = Server::start();
    let provider = format!("sendgrid://${{KEY}}?base={}", server.base);
    let channel = channel_of("email", &provider, Some("art@example.org"));
    server.answer(Some(says(202, "", "")));
    assert_eq!(channel.send(&listed(), &|| false), Outcome::Withheld);
    drop(channel);
    let base = server.base.clone();
    drop(server);
    assert!(!base.is_empty());
}

#[test]
fn a_mail_in_parts_keeps_its_letters() {
    let mut batch = batch("b1", "Käthe \"K\" Kollwitz: 日本 & <b>");
    batch.locale = "en".to_owned();
    let rendered = super::super::sample::rendered(&batch);
    let parts = crate::channel::http::mail::mime::Parts::of(&rendered).unwrap();
    assert!(parts.subject.contains("Käthe \"K\" Kollwitz: 日本 & <b>"));
    assert!(parts.text.contains("日本 & <b>"));
    assert!(parts.html.contains("日本 &amp; &lt;b&gt;"));
}
