//! Names and addresses stand where the contract shows them, and nowhere else: not in a log line, a metric, a header, a
//! cursor, a table or a list without them.

use std::fmt::Write as _;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::Method;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use tidings_api::keys::NewKey;
use tidings_core::Instant;
use tidings_node::channel::{Channel, MailRenderer, Outcome, Receipt, Rendered, RenderingChannel};
use tidings_node::{KeyChange, Role};
use tracing_subscriber::fmt::MakeWriter;

use super::rig::{Answered, CONFIG, Rig};

/// Number of people whose names and addresses are planted.
const PLANTED: usize = 10_000;
/// Number of people that a request brings.
const TOGETHER: usize = 1_000;
/// A text that is in each of the names.
const NAME: &str = "quillon";
/// A text that is in each of the addresses, by channel.
const ADDRESSES: [&str; 2] = ["@planted.example", "+3469990"];

fn address(number: usize) -> String {
    format!("Zq{number:05}@Planted.example")
}

/// The lines that all threads of the process log.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for Lines {
    type Writer = Self;

    fn make_writer(&'w self) -> Self {
        self.clone()
    }
}

/// A provider that takes some mails, and repeats the address of the others in its refusal.
struct Outspoken;

impl Channel for Outspoken {
    fn send(&self, message: &Rendered, go: &dyn Fn() -> bool) -> Outcome {
        if !go() {
            return Outcome::Withheld;
        }
        let recipient = message.head.recipient.as_ref().unwrap().as_str();
        let number: usize = recipient[1..].parse().unwrap();
        if number.is_multiple_of(50) {
            let why = format!("RCPT: 550 5.1.1 <{}> is unknown here", address(number));
            return Outcome::Failed { why, suppress: None };
        }
        Outcome::Sent(Receipt::default())
    }
}

/// A caller with a key, who notes where something stands that must not.
struct Caller<'r> {
    rig: &'r Rig,
    bearer: String,
    leaks: Vec<String>,
}

/// The names and addresses that an answer may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shows {
    Nothing,
    Names,
    All,
}

/// The planted words in a text.
fn planted_in(text: &str, shows: Shows) -> Option<&'static str> {
    let text = text.to_lowercase();
    let name = (shows == Shows::Nothing).then_some(NAME);
    let addresses = ADDRESSES.into_iter().filter(|_| shows != Shows::All);
    addresses.chain(name).find(|word| text.contains(word))
}

impl<'r> Caller<'r> {
    fn new(rig: &'r Rig, role: Role) -> Self {
        let key = NewKey::make(String::new(), role, Instant(0)).unwrap();
        let bearer = format!("Bearer {}", key.secret.text());
        rig.change_keys(KeyChange::Make(key.stored));
        Self { rig, bearer, leaks: Vec::new() }
    }

    fn ask(&mut self, shows: Shows, call: (Method, &str, &Value), accept: &str) -> Answered {
        let (method, path, body) = call;
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let headers = [
            ("authorization", self.bearer.as_str()),
            ("content-type", "application/json"),
            ("accept", accept),
        ];
        let answer = self.rig.send(method, path, &headers, body);
        assert!(answer.status.is_success(), "{path}: {answer:?}");
        let text = String::from_utf8(answer.bytes.clone()).unwrap();
        for (place, text, shows) in
            [("body", &*text, shows), ("headers", &format!("{:?}", answer.headers), Shows::Nothing)]
        {
            if let Some(word) = planted_in(text, shows) {
                self.leaks.push(format!("{path}: {word} in the {place}"));
            }
        }
        answer
    }

    fn get(&mut self, shows: Shows, path: &str) -> Value {
        let answer = self.ask(shows, (Method::GET, path, &Value::Null), "application/json");
        answer.json()
    }

    fn post(&mut self, shows: Shows, path: &str, body: &Value) -> Value {
        self.ask(shows, (Method::POST, path, body), "application/json").json()
    }

    /// Walks a list and returns the number of its rows. A cursor stands in the address of the next page.
    fn walk(&mut self, shows: Shows, path: &str, name: &str) -> usize {
        let (mut rows, mut cursor) = (0, String::new());
        loop {
            let page = self.get(shows, &format!("{path}{cursor}"));
            rows += page[name].as_array().unwrap().len();
            let Some(next) = page["next"].as_str() else {
                return rows;
            };
            cursor = format!("&cursor={next}");
            if shows == Shows::All {
                // The calls of suppressed addresses have the address in their paths too.
                continue;
            }
            let decoded = URL_SAFE_NO_PAD.decode(next).unwrap_or_default();
            for text in [next, &String::from_utf8_lossy(&decoded)] {
                if let Some(word) = planted_in(text, Shows::Nothing) {
                    self.leaks.push(format!("{path}: {word} in the cursor"));
                }
            }
        }
    }
}

fn plant(admin: &mut Caller<'_>) {
    for first in (0..PLANTED).step_by(TOGETHER) {
        let people = (first..first + TOGETHER).map(|number| {
            json!({"id": format!("p{number}"), "name": format!("Quillon{number} Q."),
                "addresses": {"email": address(number), "sms": format!("+3469990{number:05}")}})
        });
        let people: Vec<Value> = people.collect();
        admin.post(Shows::Nothing, "/v1/recipients", &json!(people));
    }
    let event = json!({"id": "e1", "type": "note", "object": {"id": "o", "title": "A title"},
        "to": {"everyone": true}});
    admin.post(Shows::Nothing, "/v1/events?dry=true", &event);
    admin.post(Shows::Nothing, "/v1/events", &event);
    admin.rig.at("2024-01-01T12:05:00Z");
    // Messages are built and sent beside the calls.
    for _ in 0..1_000_000 {
        let path = "/v1/messages?state=planned&state=sending&limit=1";
        let open = admin.get(Shows::Nothing, path);
        if open["messages"] == json!([]) && open["next"].is_null() {
            return;
        }
        std::thread::yield_now();
    }
    panic!("not all messages came to an end");
}

fn look_as_support(support: &mut Caller<'_>) {
    use Shows::{All, Names, Nothing};
    let failed = PLANTED / 50;
    let lists = [
        (Names, "/v1/recipients?limit=500", "recipients", PLANTED),
        (Nothing, "/v1/events?limit=500", "events", 1),
        (Nothing, "/v1/events/e1/recipients?limit=500", "recipients", PLANTED),
        (Nothing, "/v1/messages?state=failed&limit=60", "messages", failed),
        (Nothing, "/v1/messages?limit=500", "messages", PLANTED),
        (Nothing, "/v1/topics/x/followers?limit=500", "followers", 0),
        (All, "/v1/suppressions?limit=7", "suppressions", 40),
    ];
    for (shows, path, name, count) in lists {
        assert_eq!(support.walk(shows, path, name), count, "{path}");
    }
    for number in (0..PLANTED).step_by(10) {
        let found = support.post(Nothing, "/v1/search", &json!({ "q": address(number) }));
        assert_eq!(found["hits"][0]["id"], json!(format!("p{number}")), "{found}");
    }
    let near = json!({"q": "zq00017@planted.exampl"});
    support.post(Nothing, "/v1/search", &near);
    support.get(Nothing, "/v1/recipients/p7/pending");
    support.get(Nothing, "/v1/events?recipient=p7");
    support.post(Nothing, "/v1/explain", &json!({"event": "e1"}));
    support.post(Nothing, "/v1/explain", &json!({"event": "e1", "recipient": "p7"}));
    support.post(Nothing, "/v1/recipients/p7/flush?dry=true", &json!({}));
    // What `/v1` shows to everybody who reads: a person, and how their messages look.
    support.get(All, "/v1/recipients/p7");
    support.get(All, "/v1/recipients/p7/preview?channel=email");
    let one = support.get(Nothing, "/v1/messages?recipient=p50")["messages"][0]["id"].take();
    let one = one.as_str().unwrap().to_owned();
    let message = support.get(All, &format!("/v1/messages/{one}"));
    assert!(message.to_string().to_lowercase().contains(ADDRESSES[0]), "the provider said it");
    support.get(All, &format!("/v1/messages/{one}/preview"));
}

fn look_at_figures(figures: &mut Caller<'_>) {
    for by in ["day", "type,channel", "hour,channel", "tenant,channel", "category"] {
        let path = format!("/v1/admin/figures?from=2024-01-01&by={by}");
        for accept in ["application/json", "text/csv"] {
            figures.ask(Shows::Nothing, (Method::GET, &path, &Value::Null), accept);
        }
    }
    figures.get(Shows::Nothing, "/v1/types");
}

#[test]
fn no_planted_name_or_address_stands_where_it_is_not_shown() {
    let lines = Lines::default();
    let logged = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(lines.clone())
        .finish();
    tracing::subscriber::set_global_default(logged).unwrap();
    tracing::info!("the log is read");
    let from = tidings_mail::Sender::parse("Art <art@example.org>").unwrap();
    let outlet = RenderingChannel::new(Arc::new(MailRenderer::plain(from)), Arc::new(Outspoken));
    let config = format!("{CONFIG}[tenants]\non = true\n");
    let rig = Rig::with_keys(&config, [("email".to_owned(), outlet)].into());
    let mut admin = Caller::new(&rig, Role::Admin);
    plant(&mut admin);
    for number in 0..40 {
        // Section 7 has the address in the path of a suppression.
        let path = format!("/v1/suppressions/email/{}", address(number).replace('@', "%40"));
        admin.ask(Shows::All, (Method::PUT, &path, &json!({"reason": "manual"})), "*/*");
    }
    let mut support = Caller::new(&rig, Role::Support);
    look_as_support(&mut support);
    let mut figures = Caller::new(&rig, Role::Figures);
    look_at_figures(&mut figures);
    let metrics = admin.ask(Shows::Nothing, (Method::GET, "/metrics", &Value::Null), "*/*");
    assert!(!metrics.bytes.is_empty());
    admin.get(Shows::Nothing, "/v1/admin/status");

    let mut leaks: Vec<String> =
        [admin, support, figures].into_iter().flat_map(|of| of.leaks).collect();
    let logged = lines.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let logged = String::from_utf8_lossy(&logged);
    assert!(logged.contains("the log is read"));
    let odd = logged.lines().filter(|line| planted_in(line, Shows::Nothing).is_some());
    leaks.extend(odd.map(|line| format!("logged: {line}")));
    leaks.truncate(20);
    let mut told = String::new();
    leaks.iter().for_each(|leak| writeln!(told, "{leak}").unwrap());
    assert!(told.is_empty(), "{told}");
}
