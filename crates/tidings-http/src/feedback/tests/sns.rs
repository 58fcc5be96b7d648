//! Calls of SNS, signed by a key and a certificate of the test's own.

use std::sync::{Arc, Mutex};

use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};

use super::*;

const TOPIC: &str = "arn:aws:sns:eu-west-1:123456789012:mail";
const PLACE: &str = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem";
const WELCOME: &str = "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription";

/// A call with its signature.
pub(super) fn signed(mut call: Value) -> Value {
    let names = [
        "Message",
        "MessageId",
        "Subject",
        "SubscribeURL",
        "Timestamp",
        "Token",
        "TopicArn",
        "Type",
    ];
    let text: String = names
        .iter()
        .filter_map(|name| Some(format!("{name}\n{}\n", call[*name].as_str()?)))
        .collect();
    let pair = RsaKeyPair::from_pkcs8(include_bytes!("sns.der")).unwrap();
    let mut signature = vec![0; pair.public().modulus_len()];
    pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature).unwrap();
    call["Signature"] = STANDARD.encode(signature).into();
    call
}

pub(super) fn call(kind: &str, message: &Value) -> Value {
    json!({
        "Type": kind, "MessageId": "m1", "TopicArn": TOPIC, "Message": message.to_string(),
        "Timestamp": "2024-01-01T12:00:00.000Z", "SignatureVersion": "2", "SigningCertURL": PLACE,
    })
}

/// The certificates of a place that notes what is fetched from it.
pub(super) fn certificates() -> (ses::Certificates, Arc<Mutex<Vec<String>>>) {
    let fetched = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&fetched);
    let fetch = move |address: &str| {
        notes.lock().unwrap().push(address.to_owned());
        Ok(include_bytes!("sns.pem").to_vec())
    };
    (ses::Certificates::fetched_by(Box::new(fetch)), fetched)
}

pub(super) fn read(
    certificates: &ses::Certificates,
    call: &Value,
) -> Result<Vec<Reported>, Problem> {
    heard(&[], &call.to_string(), |call| ses::read(call, TOPIC, certificates))
}

#[test]
fn calls_of_ses_are_signed_by_sns() {
    let (post, tag) = sent();
    let (certificates, fetched) = certificates();
    let headers =
        json!([{"name": "Subject", "value": "x"}, {"name": "X-Tidings-Message", "value": tag}]);
    let bounce = |kind: &str, status: &str| {
        signed(call(
            "Notification",
            &json!({
                "eventType": "Bounce", "mail": {"headers": headers},
                "bounce": {"bounceType": kind, "bouncedRecipients": [{"emailAddress": "ana@example.org", "status": status}]},
            }),
        ))
    };
    for (kind, status) in [("Transient", "4.2.2"), ("Permanent", "5.1.1")] {
        take(&post, read(&certificates, &bounce(kind, status)).unwrap());
    }
    let answers = ["ses bounced 1x 4.2.2", "ses bounced 1x 5.1.1"];
    assert_eq!(state(&post), (answers.map(str::to_owned).into(), vec![json!("bounce")]));
    // The certificate is fetched once.
    assert_eq!(*fetched.lock().unwrap(), [PLACE]);

    let good = bounce("Permanent", "5.1.1");
    let but = |name: &str, value: &str| {
        let mut odd = good.clone();
        odd[name] = value.into();
        odd
    };
    for odd in [
        but("Message", "{}"),
        but("TopicArn", "arn:aws:sns:eu-west-1:123456789012:other"),
        but("SignatureVersion", "1"),
        but("Signature", "é"),
        but("SigningCertURL", "https://sns.example.org/cert.pem"),
        but("SigningCertURL", "https://sns.eu.amazonaws.com.example.org/cert.pem"),
    ] {
        assert_eq!(read(&certificates, &odd).unwrap_err().code, Code::Unauthorized, "{odd}");
    }
    assert_eq!(fetched.lock().unwrap().len(), 1);
}

#[test]
fn a_topic_that_asks_is_answered() {
    let (certificates, fetched) = certificates();
    let asks = |address: &str| {
        let mut asks = call("SubscriptionConfirmation", &json!("hello"));
        asks["SubscribeURL"] = address.into();
        asks["Token"] = "t".into();
        signed(asks)
    };
    assert_eq!(read(&certificates, &asks(WELCOME)), Ok(Vec::new()));
    assert_eq!(*fetched.lock().unwrap(), [PLACE, WELCOME]);
    assert_eq!(read(&certificates, &asks("https://example.org/")), Ok(Vec::new()));
    assert_eq!(fetched.lock().unwrap().len(), 2);
}
