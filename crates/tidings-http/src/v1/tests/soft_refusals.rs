//! Mailboxes that a mail server refuses for a while, from the server's answer to the list of suppressed addresses.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use tidings_core::Instant;
use tidings_core::model::{DAY_MS, HOUR_MS};
use tidings_node::channel::Channels;
use tidings_node::{Clock, VirtualClock};

use super::{get, publish, put};
use crate::rig::{Rig, channels};

const FULL: &str = "552 5.2.2 mailbox full";
const TAKEN: &str = "250 2.1.5 ok";
const LATER: &str = "452 4.2.2 mailbox full";
const ADA: &str = "/v1/suppressions/email/ada@example.org";

/// A mail server whose answer to recipients is set.
struct MailServer {
    port: u16,
    says: Arc<Mutex<&'static str>>,
    /// Number of recipients that it was asked to take.
    asked: Arc<AtomicUsize>,
}

impl MailServer {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (says, asked) = (Arc::new(Mutex::new(TAKEN)), Arc::new(AtomicUsize::new(0)));
        let server = Self { port, says: Arc::clone(&says), asked: Arc::clone(&asked) };
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (says, asked) = (Arc::clone(&says), Arc::clone(&asked));
                // That the line ends is no fault.
                std::thread::spawn(move || drop(answer(stream, &says, &asked)));
            }
        });
        server
    }

    fn config(&self) -> String {
        format!(
            "[categories.news]\n[types.note]\ncategory = \"news\"\n\
             channels = {{ email = {{ policy = \"now\" }} }}\n[channels.email]\n\
             provider = \"smtp://127.0.0.1:{}?tls=none\"\nfrom = \"News <news@example.org>\"\n",
            self.port
        )
    }

    fn channels(&self) -> Channels {
        let rules = tidings_config::parse(&self.config(), "tidings.toml").unwrap();
        let clock: Arc<dyn Clock> = Arc::new(VirtualClock::default());
        channels(&rules, &clock, &Arc::default())
    }
}

/// Speaks SMTP until the client hangs up.
fn answer(
    stream: TcpStream,
    says: &Mutex<&'static str>,
    asked: &AtomicUsize,
) -> std::io::Result<()> {
    let mut line = BufReader::new(stream);
    let (mut reply, mut is_content) = ("220 mx.example.org", false);
    loop {
        if !reply.is_empty() {
            line.get_mut().write_all(format!("{reply}\r\n").as_bytes())?;
        }
        let mut command = String::new();
        if line.read_line(&mut command)? == 0 {
            return Ok(());
        }
        let verb = command.split([' ', '\r', ':']).next().unwrap_or_default();
        reply = match verb {
            _ if is_content => {
                is_content = command != ".\r\n";
                if is_content { "" } else { "250 2.0.0 queued" }
            }
            "RCPT" => {
                asked.fetch_add(1, Ordering::Relaxed);
                *says.lock().unwrap()
            }
            "DATA" => {
                is_content = true;
                "354 go on"
            }
            _ => "250 ok",
        };
    }
}

/// A server of ours whose mails go to that mail server.
struct World {
    rig: Rig,
    mails: MailServer,
    events: usize,
}

impl World {
    fn new() -> Self {
        let mails = MailServer::start();
        let rig = Rig::with_channels(&mails.config(), mails.channels());
        put(&rig, "/v1/recipients/ada", &json!({"email": "ada@example.org"}));
        Self { rig, mails, events: 0 }
    }

    fn at(&self, day: i64, hour: i64) {
        let begin = Instant::parse("2024-01-02T00:00:00Z").unwrap();
        self.rig.at(&begin.plus_ms((day - 2) * DAY_MS + hour * HOUR_MS).to_string());
    }

    fn email(&self) -> Value {
        get(&self.rig, &format!("/v1/events/e{}", self.events))["channels"]["email"].clone()
    }

    /// Sends a mail at an hour of a day of 2024, of which the server says this, and returns how it ended.
    fn send(&mut self, day: i64, hour: i64, says: &'static str) -> Value {
        self.begin(day, hour, says);
        while self.email()["pending"] != 0 {
            std::thread::yield_now();
        }
        self.email()["outcomes"].clone()
    }

    fn begin(&mut self, day: i64, hour: i64, says: &'static str) {
        self.at(day, hour);
        *self.mails.says.lock().unwrap() = says;
        self.events += 1;
        publish(&self.rig, &format!("e{}", self.events), "note", &["ada"]);
    }

    /// Number of failed attempts of the message that is tried again.
    fn attempts(&self) -> u64 {
        let messages = get(&self.rig, "/v1/messages?state=retrying");
        messages["messages"][0]["failed_attempts"].as_u64().unwrap_or(0)
    }

    /// The end of the suppression; null = there is none.
    fn suppressed_until(&self) -> Value {
        let answer = self.rig.call(Method::GET, ADA, &Value::Null);
        match answer.status {
            StatusCode::NOT_FOUND => Value::Null,
            _ => {
                assert_eq!(answer.json()["reason"], "bounce");
                answer.json()["expires_at"].clone()
            }
        }
    }

    fn restart(self) -> Self {
        let (config, channels) = (self.mails.config(), self.mails.channels());
        Self { rig: self.rig.restart_with_channels(&config, channels), ..self }
    }
}

#[test]
fn soft_refusals_at_smtp_on_five_days_suppress_for_thirty_days() {
    let mut world = World::new();
    for day in 2..6 {
        for hour in [1, 2] {
            assert_eq!(world.send(day, hour, FULL)["failed"], 1);
        }
    }
    assert_eq!(world.suppressed_until(), Value::Null);
    // What was counted is stored.
    let mut world = world.restart();
    assert_eq!(world.suppressed_until(), Value::Null);
    assert_eq!(world.send(6, 1, FULL)["failed"], 1);
    assert_eq!(world.suppressed_until(), "2024-02-05T01:00:00Z");
    let mut world = world.restart();
    assert_eq!(world.suppressed_until(), "2024-02-05T01:00:00Z");
    let asked = world.mails.asked.load(Ordering::Relaxed);
    assert_eq!(world.send(7, 1, TAKEN)["skipped"], 1);
    assert_eq!(world.mails.asked.load(Ordering::Relaxed), asked);
    assert_eq!(world.send(36, 2, TAKEN)["delivered"], 1);
}

#[test]
fn soft_refusals_at_smtp_before_an_accepted_mail_count_no_more() {
    let mut world = World::new();
    for day in 2..6 {
        world.send(day, 1, FULL);
    }
    assert_eq!(world.send(5, 2, TAKEN)["delivered"], 1);
    let mut world = world.restart();
    for day in 6..10 {
        world.send(day, 1, FULL);
    }
    assert_eq!(world.suppressed_until(), Value::Null);
    world.send(10, 1, FULL);
    assert_eq!(world.suppressed_until(), "2024-02-09T01:00:00Z");
}

#[test]
fn soft_refusals_at_smtp_of_a_mail_that_is_tried_again_count_once_it_failed() {
    let mut world = World::new();
    for day in 2..6 {
        world.send(day, 1, FULL);
    }
    world.begin(6, 1, LATER);
    let mut hours = 1;
    let mut seen = 0;
    loop {
        let until = world.suppressed_until();
        if world.email()["pending"] == 0 {
            break;
        }
        assert_eq!(until, Value::Null);
        // The clock goes on once the answer is noted, from which the next wait counts.
        let noted = world.attempts();
        if noted > seen {
            seen = noted;
            hours += 2;
            world.at(6, hours);
        }
        std::thread::yield_now();
    }
    assert!(seen > 1);
    assert_eq!(world.email()["outcomes"]["failed"], 1);
    assert_ne!(world.suppressed_until(), Value::Null);
}

#[test]
fn soft_refusals_at_smtp_count_where_they_are_about_the_mailbox_alone() {
    let mut world = World::new();
    for (day, says) in [
        (2, "554 5.3.4 message too large"),
        (3, "550 5.1.1 refused by recipient preferences"),
        (4, "554 5.0.0 transaction failed"),
        (5, FULL),
        (6, FULL),
        (7, FULL),
        (8, FULL),
    ] {
        assert_eq!(world.send(day, 1, says)["failed"], 1, "{says}");
        assert_eq!(world.suppressed_until(), Value::Null, "{says}");
    }
    world.send(9, 1, FULL);
    assert_ne!(world.suppressed_until(), Value::Null);
}
