//! Hooks of the real process: killed and told again, told of all that may occur, and configured anew.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

mod serving;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use serving::mail::{MailServer, Stops};
use serving::{Api, Chance, Patience, Server};
use tempfile::TempDir;

/// The secret of hooks, and the login of reports.
const SECRET: &str = "reports:0123456789abcdef";

/// A service of the host on loopback, which keeps what it is told.
struct Host {
    port: u16,
    told: Arc<Mutex<Vec<(String, Value)>>>,
    /// Set: some calls are answered 503, and others are never answered.
    falters: Arc<AtomicBool>,
}

impl Host {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let host = Self { port, told: Arc::default(), falters: Arc::default() };
        let (told, falters) = (Arc::clone(&host.told), Arc::clone(&host.falters));
        let calls = Arc::new(AtomicUsize::new(0));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (told, falters) = (Arc::clone(&told), Arc::clone(&falters));
                let calls = Arc::clone(&calls);
                std::thread::spawn(move || {
                    // Who is killed breaks the connection.
                    let _ = answer(stream, &told, || {
                        falters.load(Ordering::SeqCst).then(|| calls.fetch_add(1, Ordering::SeqCst))
                    });
                });
            }
        });
        host
    }

    fn section(&self, of: &str) -> String {
        format!(
            "[[hooks]]\nname = \"app\"\nurl = \"http://127.0.0.1:{}/told\"\nsecret = \"${{SECRET}}\"\nof = {of}\n",
            self.port
        )
    }

    fn told(&self) -> Vec<(String, Value)> {
        self.told.lock().unwrap().clone()
    }

    /// Waits until it was told something with this type and these members of `data`; returns the data.
    fn until_told(&self, kind: &str, data: &Value) -> Value {
        let has = |body: &Value| {
            let mut wanted = data.as_object().unwrap().iter();
            body["type"] == kind && wanted.all(|(name, value)| body["data"][name] == *value)
        };
        let patience = Patience::new();
        loop {
            if let Some((_, body)) = self.told().into_iter().find(|(_, body)| has(body)) {
                return body["data"].clone();
            }
            patience.wait(|| format!("not told: {kind} {data}; told {:#?}", self.told()));
            std::thread::park_timeout(Duration::from_millis(10));
        }
    }
}

/// Takes calls of a connection until it breaks; `falter` numbers those that may go wrong.
fn answer(
    stream: TcpStream,
    told: &Mutex<Vec<(String, Value)>>,
    falter: impl Fn() -> Option<usize>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut id, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            match line.split_once(": ") {
                Some(("webhook-id", text)) => text.clone_into(&mut id),
                Some(("content-length", text)) => length = text.parse().unwrap(),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        told.lock().unwrap().push((id, serde_json::from_slice(&body).unwrap()));
        let status = match falter() {
            Some(call) if call % 7 == 3 => "503 Service Unavailable",
            Some(call) if call % 11 == 5 => return Ok(()),
            _ => "204 No Content",
        };
        write!(reader.get_mut(), "HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n")?;
    }
}

struct Place {
    dir: TempDir,
    config: PathBuf,
    data: PathBuf,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (config, data) = (dir.path().join("tidings.toml"), dir.path().join("data"));
        Self { dir, config, data }
    }

    fn configure(&self, text: &str) {
        fs::write(&self.config, text).unwrap();
    }

    fn start(&self) -> Server {
        Server::start_with(&self.config, &self.data, "SECRET", SECRET)
    }
}

fn backlog(api: &Api) -> u64 {
    let (status, hooks) = api.get("/v1/hooks").unwrap();
    assert_eq!(status, 200, "{hooks}");
    hooks[0]["backlog"].as_u64().unwrap()
}

fn note(id: &str, to: &str) -> Value {
    json!({"id": id, "type": "note", "object": {"id": id, "title": id}, "to": {"recipients": [to]}})
}

/// `TIDINGS_HOOKS=10000` plays as many.
#[test]
fn hooks_tell_each_occurrence_under_one_id_though_the_server_is_killed() {
    const PEOPLE: usize = 50;
    let count: usize = std::env::var("TIDINGS_HOOKS").map_or(400, |count| count.parse().unwrap());
    let (place, host) = (Place::new(), Host::start());
    let mails = place.dir.path().join("mails");
    place.configure(&format!(
        "[categories.news]\n[types.note]\ncategory = \"news\"\nchannels = {{ email = {{ policy = \"now\" }} }}\n\
         [channels.email]\nprovider = \"file://{}\"\nfrom = \"News <news@example.org>\"\n{}",
        mails.display(),
        host.section("[\"message.sent\"]")
    ));
    let server = place.start();
    let api = Api::new(&server.url);
    for person in 0..PEOPLE {
        let profile = json!({"email": format!("p{person}@example.org")});
        assert_eq!(api.put(&format!("/v1/recipients/p{person}"), &profile).unwrap().0, 204);
    }
    drop(server);
    host.falters.store(true, Ordering::SeqCst);
    let mut chance = Chance::new(41);
    let (mut number, mut kills) = (0, 0);
    while number < count {
        let server = place.start();
        let api = Api::new(&server.url);
        let until = (number + count.div_ceil(8)).min(count);
        while number < until {
            let some = PEOPLE.min(until - number);
            let one = |n: usize| note(&format!("e{}", number + n), &format!("p{n}"));
            let events: Vec<Value> = (0..some).map(one).collect();
            assert_eq!(api.post("/v1/events", &Value::from(events)).unwrap().0, 202);
            number += some;
        }
        // What is tested is that the moment does not matter, so there is nothing to wait for.
        std::thread::park_timeout(Duration::from_millis(chance.below(700)));
        server.kill();
        kills += 1;
    }
    host.falters.store(false, Ordering::SeqCst);
    let server = place.start();
    let api = Api::new(&server.url);
    // Events of one instant share a message.
    let events_of = |body: &Value| -> Vec<String> {
        let events = body["data"]["events"].as_array().unwrap().iter();
        events.map(|event| event.as_str().unwrap().to_owned()).collect()
    };
    let events = || -> BTreeSet<String> {
        host.told().iter().flat_map(|(_, body)| events_of(body)).collect()
    };
    // One call that succeeds has those follow that failed before.
    api.post("/v1/events", &note("last", "p0")).unwrap();
    let (mut patience, mut seen) = (Patience::new(), 0);
    while events().len() <= count || backlog(&api) > 0 {
        let now = host.told().len();
        if now > seen {
            (patience, seen) = (Patience::new(), now);
        }
        patience
            .wait(|| format!("{} of {count} are told, {} are open", events().len(), backlog(&api)));
        std::thread::park_timeout(Duration::from_millis(50));
    }
    let told = host.told();
    let (mut bodies, mut ids) = (BTreeMap::new(), BTreeMap::new());
    for (id, body) in &told {
        assert_eq!(bodies.entry(id).or_insert(body), &body, "one id, one occurrence");
        for event in events_of(body) {
            let known = ids.entry(event.clone()).or_insert(id);
            assert_eq!(*known, id, "one occurrence, one id: {event}");
        }
    }
    println!("{count} occurrences in {} calls over {kills} kills", told.len());
}

/// Calls with what `ureq` has for it.
fn sent(answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> u16 {
    answer.unwrap().status().as_u16()
}

#[test]
fn hooks_are_told_of_failures_bounces_complaints_and_who_changed_a_preference() {
    let (place, host) = (Place::new(), Host::start());
    let mails = MailServer::start(&[Stops::RefusesBad]);
    place.configure(&format!(
        "[users]\norigins = [\"https://app.example.org\"]\n[brand]\nurl = \"https://art.example\"\n\
         [categories.news]\n[types.note]\ncategory = \"news\"\nchannels = {{ email = {{ policy = \"now\" }} }}\n\
         [channels.email]\nprovider = \"smtp://127.0.0.1:{}?tls=none\"\nfrom = \"News <news@example.org>\"\n\
         [feedback]\npostmark = \"${{SECRET}}\"\n{}",
        mails.port,
        host.section(
            "[\"message.sent\", \"message.failed\", \"message.bounced\", \"message.complained\", \
             \"preference.changed\", \"address.suppressed\"]"
        )
    ));
    let server = place.start();
    let api = Api::new(&server.url);
    for name in ["ann", "cleo", "bad"] {
        let profile = json!({"email": format!("{name}@example.org")});
        assert_eq!(api.put(&format!("/v1/recipients/{name}"), &profile).unwrap().0, 204);
    }
    // Of a mail its tag, and the way out of it.
    let mailed = |event: &str, to: &str| {
        assert_eq!(api.post("/v1/events", &note(event, to)).unwrap().0, 202);
        let mail = mails.next_message();
        let of = |start: &str, end: char| {
            let (_, rest) = mail.split_once(start).unwrap_or_else(|| panic!("no {start}: {mail}"));
            rest.split(end).next().unwrap().to_owned()
        };
        (of("X-Tidings-Message: ", '\r'), of("List-Unsubscribe: <https://art.example", '>'))
    };
    let (ann_tag, _) = mailed("e1", "ann");
    let of_ann = host.until_told("message.sent", &json!({"recipient": "ann"}));
    assert_eq!(
        (&of_ann["channel"], &of_ann["address"], &of_ann["types"], &of_ann["events"]),
        (&json!("email"), &json!("ann@example.org"), &json!(["note"]), &json!(["e1"]))
    );
    assert!(of_ann["provider"].as_str().unwrap().starts_with("smtp"), "{of_ann}");
    let (cleo_tag, way_out) = mailed("e2", "cleo");
    host.until_told("message.sent", &json!({"recipient": "cleo"}));

    let report = |tag: &str, kind: &str| {
        let call = json!({"RecordType": "Bounce", "Type": kind, "Metadata": {"tidings_message": tag},
            "Details": "550 5.1.1 no such user"});
        // `SECRET` in base64.
        let signed = ureq::post(format!("{}/feedback/postmark", server.url))
            .header("authorization", "Basic cmVwb3J0czowMTIzNDU2Nzg5YWJjZGVm");
        assert_eq!(sent(signed.send_json(&call)), 204);
    };
    report(&ann_tag, "HardBounce");
    let bounced = host.until_told("message.bounced", &json!({"message": of_ann["message"]}));
    assert_eq!((&bounced["recipient"], &bounced["events"]), (&json!("ann"), &json!(["e1"])));
    let gone = host.until_told("address.suppressed", &json!({"address": "ann@example.org"}));
    assert_eq!(
        (&gone["by"], &gone["recipient"], &gone["channel"]),
        (&json!("provider"), &json!("ann"), &json!("email"))
    );
    report(&cleo_tag, "SpamComplaint");
    host.until_told("message.complained", &json!({"recipient": "cleo", "events": ["e2"]}));
    let complained = host.until_told("address.suppressed", &json!({"address": "cleo@example.org"}));
    assert_eq!(
        (&complained["by"], &complained["reason"]),
        (&json!("provider"), &json!("complaint"))
    );
    assert_eq!(api.post("/v1/events", &note("e3", "bad")).unwrap().0, 202);
    let failed = host.until_told("message.failed", &json!({"recipient": "bad"}));
    assert_eq!((&failed["reason"], &failed["events"]), (&json!("refused"), &json!(["e3"])));

    let way_out = ureq::post(format!("{}{way_out}", server.url));
    assert_eq!(sent(way_out.send_form([("List-Unsubscribe", "One-Click")])), 200);
    let changed = json!({"recipient": "cleo", "type": "note", "channel": "email", "mode": "never"});
    assert_eq!(host.until_told("preference.changed", &changed)["by"], "link");
    let mut token = Command::new(env!("CARGO_BIN_EXE_tidings"));
    let token = token.args(["token", "ann", "--config"]).arg(&place.config).arg("--data");
    let token = token.arg(&place.data).env("SECRET", SECRET).output().unwrap();
    let bearer = format!("Bearer {}", String::from_utf8(token.stdout).unwrap().trim());
    let mine = ureq::patch(format!("{}/v1/me/preferences", server.url));
    let never = json!([{"category": "news", "channel": "email", "mode": "never"}]);
    assert!(sent(mine.header("authorization", bearer).send_json(&never)) < 300);
    let changed =
        json!({"recipient": "ann", "category": "news", "channel": "email", "mode": "never"});
    assert_eq!(host.until_told("preference.changed", &changed)["by"], "user");
    let put = json!([{"type": "note", "channel": "email", "mode": "never"}]);
    assert_eq!(api.put("/v1/recipients/bad/preferences", &put).unwrap().0, 204);
    let by_key = host.until_told("preference.changed", &json!({"recipient": "bad"}));
    assert_eq!(by_key["by"], "key");
    assert_eq!(api.put("/v1/suppressions/email/dan@example.org", &json!({})).unwrap().0, 204);
    let by_key = host.until_told("address.suppressed", &json!({"address": "dan@example.org"}));
    assert_eq!((&by_key["by"], &by_key["recipient"]), (&json!("key"), &Value::Null));
    let told = host.told();
    let ids: BTreeSet<&String> = told.iter().map(|(id, _)| id).collect();
    assert!(ids.iter().all(|id| id.starts_with("occ_")), "{ids:?}");
}

#[test]
fn a_reload_puts_hooks_in_force_and_takes_them_away() {
    const TYPES: &str = "[categories.news]\n[types.note]\ncategory = \"news\"\n\
                         channels = { inbox = { policy = \"now\" } }\n";
    let place = Place::new();
    let (first, second) = (Host::start(), Host::start());
    place.configure(TYPES);
    let server = place.start();
    let api = Api::new(&server.url);
    let suppress = |name: &str| {
        let path = format!("/v1/suppressions/email/{name}@example.org");
        assert_eq!(api.put(&path, &json!({})).unwrap().0, 204);
    };
    let told = |host: &Host, name: &str| {
        let address = json!({"address": format!("{name}@example.org")});
        host.until_told("address.suppressed", &address);
    };
    // Configures anew, and waits until it is in force.
    let reload = |hooks: &str, port: Option<u16>| {
        place.configure(&format!("{TYPES}{hooks}"));
        server.signal("HUP");
        let patience = Patience::new();
        loop {
            let (_, hooks) = api.get("/v1/hooks").unwrap();
            let has = |port: u16| hooks[0]["url"] == format!("http://127.0.0.1:{port}/told");
            if port.map_or_else(|| hooks == json!([]), has) {
                return;
            }
            patience.wait(|| format!("not in force: {hooks}"));
            std::thread::park_timeout(Duration::from_millis(10));
        }
    };
    suppress("before");
    let of = "[\"address.suppressed\"]";
    reload(&first.section(of), Some(first.port));
    suppress("one");
    told(&first, "one");
    reload(&second.section(of), Some(second.port));
    suppress("two");
    told(&second, "two");
    reload("", None);
    suppress("unheard");
    // One that comes back begins anew.
    reload(&first.section(of), Some(first.port));
    suppress("three");
    told(&first, "three");
    let names = |host: &Host| -> Vec<String> {
        let name =
            |(_, body): (String, Value)| body["data"]["address"].as_str().unwrap().to_owned();
        host.told().into_iter().map(name).collect()
    };
    assert_eq!(names(&first), ["one@example.org", "three@example.org"]);
    assert_eq!(names(&second), ["two@example.org"]);
}
