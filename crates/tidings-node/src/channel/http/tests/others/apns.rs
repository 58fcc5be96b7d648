//! Apple's push service, against a server of HTTP/2.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _,
    UnparsedPublicKey,
};
use tokio::runtime::Builder;
use ureq::http::Response;

use super::super::super::super::patience::ServerTimeouts;
use super::super::super::{Http, ProviderUrl};
use super::*;
use crate::channel::http::push::apns::Apns;
use crate::clock::Clock;
use crate::clock::virtual_clock::VirtualClock;

const DEVICE: &str = "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad";

/// An answer: the status and the reason; `None` = the stream is refused.
type Told = Option<(u16, &'static str)>;

/// A server that answers each request of each connection as it is told.
fn serve(told: Receiver<Told>, hear: Sender<Heard>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let Ok(mut connection) = h2::server::handshake(stream).await else {
                    continue;
                };
                while let Some(Ok((request, mut respond))) = connection.accept().await {
                    let Ok(answer) = told.recv() else {
                        return;
                    };
                    let Some((status, reason)) = answer else {
                        respond.send_reset(h2::Reason::REFUSED_STREAM);
                        continue;
                    };
                    let (head, mut content) = request.into_parts();
                    // The content comes while the connection is driven.
                    let read = async {
                        let mut body = Vec::new();
                        while let Some(Ok(part)) = content.data().await {
                            body.extend_from_slice(&part);
                        }
                        body
                    };
                    let body = tokio::select! {
                        body = read => body,
                        _ = std::future::poll_fn(|cx| connection.poll_closed(cx)) => return,
                    };
                    let headers = head.headers.iter().map(|(name, value)| {
                        (name.to_string(), value.to_str().unwrap().to_owned())
                    });
                    let heard = Heard {
                        line: format!("{} {}", head.method, head.uri.path()),
                        headers: headers.collect(),
                        body,
                    };
                    let _nobody_asks = hear.send(heard);
                    let response = Response::builder()
                        .status(status)
                        .header("apns-id", "eabeae54-14a8-11e5-b60b-1697f925ec7b")
                        .body(())
                        .unwrap();
                    let mut stream = respond.send_response(response, reason.is_empty()).unwrap();
                    if !reason.is_empty() {
                        let body = format!(r#"{{"reason":"{reason}"}}"#);
                        stream.send_data(body.into_bytes().into(), true).unwrap();
                    }
                }
            }
        });
    });
    base
}

struct Bench {
    channel: Http,
    clock: Arc<VirtualClock>,
    tell: Sender<Told>,
    heard: Receiver<Heard>,
    public: Vec<u8>,
}

impl Bench {
    fn new() -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let der = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, der.as_ref(), &random).unwrap();
        let pem = format!(
            "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
            STANDARD.encode(der.as_ref())
        );
        let ((tell, told), (hear, heard)) = (channel(), channel());
        let base = serve(told, hear);
        let rest = format!("K1:${{KEY}}@T1?topic=org.example.art&base={base}");
        let secrets = |_: &str| Ok(pem.clone());
        let url = ProviderUrl::parse("apns", &rest, &secrets).unwrap();
        let clock = Arc::new(VirtualClock::default());
        clock.set(super::super::super::super::sample::NOW);
        let by_clock: Arc<dyn Clock> = Arc::clone(&clock) as _;
        let shape = Arc::new(Apns::parse(url).unwrap());
        Self {
            channel: Http::new(shape, ServerTimeouts::default(), by_clock).unwrap(),
            clock,
            tell,
            heard,
            public: pair.public_key().as_ref().to_vec(),
        }
    }

    fn send(&self, told: Told) -> Outcome {
        self.tell.send(told).unwrap();
        self.channel.send(&note("apns", &[DEVICE], None), GO)
    }
}

#[test]
fn apns_takes_messages_over_http_2() {
    let bench = Bench::new();
    let outcome = bench.send(Some((200, "")));
    let Outcome::Sent(receipt) = &outcome else {
        panic!("{outcome:?}");
    };
    let id = "eabeae54-14a8-11e5-b60b-1697f925ec7b";
    assert_eq!(receipt.reference.as_deref(), Some(id));
    let heard = bench.heard.recv().unwrap();
    assert_eq!(heard.line, format!("POST /3/device/{DEVICE}"));
    for (name, value) in [
        ("apns-topic", "org.example.art"),
        ("apns-push-type", "alert"),
        ("apns-priority", "10"),
        ("apns-collapse-id", "b1"),
        ("apns-expiration", "1700086400"),
    ] {
        assert_eq!(heard.header(name), value);
    }
    let aps = &heard.json()["aps"];
    assert_eq!(aps["alert"]["title"], "A <title> & more");
    assert_eq!((&aps["sound"], aps.get("badge")), (&json!("default"), None));
    let token = heard.header("authorization").strip_prefix("bearer ");
    let (signed, signature) = token.unwrap().rsplit_once('.').unwrap();
    let decoded = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
    let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, &bench.public);
    let checked = public.verify(signed.as_bytes(), &decoded(signature));
    assert!(checked.is_ok());
    let (head, claims) = signed.split_once('.').unwrap();
    let json = |text: &str| serde_json::from_slice::<Value>(&decoded(text)).unwrap();
    assert_eq!(json(head), json!({"alg": "ES256", "kid": "K1"}));
    assert_eq!(json(claims), json!({"iss": "T1", "iat": 1_700_000_000}));

    for (status, reason, expected) in [
        (400, "BadDeviceToken", "dead"),
        (400, "DeviceTokenNotForTopic", "away"),
        (400, "PayloadEmpty", "failed"),
        (400, "TopicDisallowed", "away"),
        (403, "ExpiredProviderToken", "away"),
        (403, "InvalidProviderToken", "away"),
        (410, "Unregistered", "dead"),
        (413, "PayloadTooLarge", "failed"),
        (429, "TooManyRequests", "retry"),
        (429, "TooManyProviderTokenUpdates", "away"),
        (500, "InternalServerError", "away"),
        (503, "ServiceUnavailable", "away"),
    ] {
        let outcome = bench.send(Some((status, reason)));
        assert_eq!(class(&outcome), expected, "{status} {reason}: {outcome:?}");
        let words = outcome.words().unwrap_or_default();
        assert!(!words.contains(DEVICE), "{words}");
    }
    // What was refused so was surely not looked at.
    assert_eq!(class(&bench.send(None)), "away");
}

#[test]
fn field_3_a_wrong_environment_uses_up_no_token() {
    let bench = Bench::new();
    for _ in 0..10 {
        let outcome = bench.send(Some((400, "BadDeviceToken")));
        assert_eq!(class(&outcome), "away");
    }
    // A message that is taken vouches for the settings.
    assert_eq!(class(&bench.send(Some((200, "")))), "sent");
    for expected in ["dead", "dead", "dead", "dead", "dead", "away", "away"] {
        let outcome = bench.send(Some((400, "BadDeviceToken")));
        assert_eq!(class(&outcome), expected);
    }
}

#[test]
fn a_token_of_apns_is_used_for_a_while() {
    let bench = Bench::new();
    let mut tokens = Vec::new();
    for minutes in [0, 39, 41, 42] {
        let now = super::super::super::super::sample::NOW;
        bench.clock.set(now.plus_ms(minutes * 60_000));
        assert_eq!(class(&bench.send(Some((200, "")))), "sent");
        let heard = bench.heard.recv().unwrap();
        tokens.push(heard.header("authorization").to_owned());
    }
    assert_eq!(tokens[0], tokens[1]);
    assert_ne!(tokens[1], tokens[2]);
    assert_eq!(tokens[2], tokens[3]);
}

#[test]
fn over_http_2_nothing_is_handed_over_before_the_question_and_nothing_after_a_no() {
    let bench = Bench::new();
    let message = note("apns", &[DEVICE], None);
    assert_eq!(bench.channel.send(&message, &|| false), Outcome::Withheld);
    assert!(bench.heard.try_recv().is_err());
}

#[test]
fn a_key_of_apns_that_is_none_is_told() {
    for (secret, told) in [
        ("key", "`.p8`"),
        ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "P-256"),
    ] {
        let secrets = |_: &str| Ok(secret.to_owned());
        let url = ProviderUrl::parse("apns", "K1:${KEY}@T1?topic=a", &secrets).unwrap();
        let fault = Apns::parse(url).err().unwrap().to_string();
        assert!(fault.contains(told), "{fault}");
    }
}
