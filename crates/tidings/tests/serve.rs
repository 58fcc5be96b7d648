//! The real process: how it starts, is refused, reads its configuration again, and ends.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

mod serving;

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::json;
use serving::{Api, Patience, Server};
use tempfile::TempDir;

const CONFIG: &str = r#"
[categories.news]
[types.note]
category = "news"
channels = { inbox = { policy = "now" } }
"#;

struct Place {
    dir: TempDir,
    config: PathBuf,
    data: PathBuf,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (config, data) = (dir.path().join("tidings.toml"), dir.path().join("data"));
        fs::write(&config, CONFIG).unwrap();
        Self { dir, config, data }
    }

    fn start(&self) -> Server {
        Server::start(&self.config, &self.data)
    }

    /// Runs `tidings` with these arguments, and `--config` and `--data` if it is to serve.
    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidings"));
        command.args(arguments).arg("--data").arg(&self.data);
        if arguments[0] == "serve" {
            command.arg("--config").arg(&self.config);
        }
        command.stdin(Stdio::null()).output().unwrap()
    }
}

fn said(output: &Output) -> (i32, String) {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap_or(-1), text)
}

fn event(id: &str, kind: &str) -> serde_json::Value {
    json!({ "id": id, "type": kind, "object": { "id": "a" }, "to": { "everyone": true } })
}

fn address(data: &Path) -> Option<String> {
    let text = fs::read_to_string(data.join("address")).ok()?;
    Some(text.trim().to_owned())
}

#[test]
fn what_has_begun_is_finished_before_the_process_ends() {
    let place = Place::new();
    let server = place.start();
    assert_eq!(address(&place.data).as_deref(), Some(server.url.as_str()));
    let host = server.url.strip_prefix("http://").unwrap().to_owned();
    let mut half = TcpStream::connect(&host).unwrap();
    let body = event("e1", "note").to_string();
    let (first, last) = body.split_at(10);
    let length = body.len();
    write!(
        half,
        "POST /v1/events HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n\
         expect: 100-continue\r\n\r\n"
    )
    .unwrap();
    // That it asks for the body says that the request has begun.
    let mut go_on = [0; 25];
    half.read_exact(&mut go_on).unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    half.write_all(first.as_bytes()).unwrap();
    server.signal("TERM");
    let patience = Patience::new();
    while TcpStream::connect(&host).is_ok() {
        patience.wait(|| "it still accepts connections".to_owned());
    }
    half.write_all(last.as_bytes()).unwrap();
    let mut answer = String::new();
    half.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 202 "), "{answer}");
    assert_eq!(server.wait().code(), Some(0));
    assert_eq!(address(&place.data), None);

    let server = place.start();
    let again = Api::new(&server.url).post("/v1/events", &event("e1", "note"));
    assert_eq!(again.unwrap().1["status"], "duplicate");
}

#[test]
fn the_configuration_is_read_again_or_refused_whole() {
    let place = Place::new();
    let log = place.dir.path().join("log");
    let server = Server::start_logging(&place.config, &place.data, File::create(&log).unwrap());
    let api = Api::new(&server.url);
    let publish = |id: &str| api.post("/v1/events", &event(id, "extra")).unwrap();
    assert_eq!(publish("e1").1["code"], "unknown_type");

    let more = CONFIG.replace("[types.note]", "[types.extra]");
    let both = format!("{CONFIG}{}", more.replace("[categories.news]", ""));
    fs::write(&place.config, &both).unwrap();
    server.signal("HUP");
    let patience = Patience::new();
    while publish("e1").0 != 202 {
        patience.wait(|| "the new type is not known".to_owned());
    }
    fs::write(&place.config, format!("{both}\n[types.extra2]\ncategory = 7\n")).unwrap();
    server.signal("HUP");
    let told = || fs::read_to_string(&log).unwrap();
    while !told().contains("the old configuration stays in force") {
        patience.wait(told);
    }
    assert!(told().contains("tidings.toml:13:12"), "{}", told());
    assert_eq!(publish("e2").0, 202);

    // A file that an editor has cut off, or a pipe that was read at the start.
    fs::write(&place.config, "").unwrap();
    server.signal("HUP");
    while !told().contains("no types any more") {
        patience.wait(told);
    }
    fs::remove_file(&place.config).unwrap();
    let made = Command::new("mkfifo").arg(&place.config).status().unwrap();
    assert!(made.success());
    server.signal("HUP");
    while !told().contains("can't be read again") {
        patience.wait(told);
    }
    assert_eq!(publish("e3").0, 202);
    fs::remove_file(&place.config).unwrap();
    fs::write(&place.config, CONFIG).unwrap();
    server.signal("HUP");
    while !told().contains("the type is gone") {
        patience.wait(told);
    }
}

#[test]
fn a_reload_opens_providers_anew_or_leaves_them() {
    let place = Place::new();
    let log = place.dir.path().join("log");
    let told = || fs::read_to_string(&log).unwrap();
    let (first, second) = (place.dir.path().join("first"), place.dir.path().join("new"));
    let with = |provider: &str| {
        let mails = CONFIG.replace("inbox =", "email = { policy = \"now\" }, inbox =");
        let channel = format!("provider = \"{provider}\"\nfrom = \"News <news@example.org>\"\n");
        fs::write(&place.config, format!("{mails}[channels.email]\n{channel}")).unwrap();
    };
    let into = |dir: &Path| with(&format!("file://{}", dir.display()));
    let mails = |dir: &Path| fs::read_dir(dir.join("new")).map_or(0, Iterator::count);
    into(&first);
    let server = Server::start_logging(&place.config, &place.data, File::create(&log).unwrap());
    let api = Api::new(&server.url);
    let tell = |id: &str, dir: &Path, count: usize| {
        assert_eq!(api.post("/v1/events", &event(id, "note")).unwrap().0, 202);
        let patience = Patience::new();
        while mails(dir) < count {
            patience.wait(|| format!("no mail tells {id}"));
        }
    };
    let person = json!({ "id": "ann", "email": "ann@example.org" });
    api.put("/v1/recipients/ann", &person).unwrap();
    tell("e1", &first, 1);

    into(&second);
    server.signal("HUP");
    let patience = Patience::new();
    while !told().contains("the configuration is in force") {
        patience.wait(told);
    }
    tell("e2", &second, 1);

    with("smtp://news:${NO_SUCH_SECRET}@mail.example.org");
    server.signal("HUP");
    let patience = Patience::new();
    while !told().contains("the old configuration stays in force") {
        patience.wait(told);
    }
    assert!(told().contains("NO_SUCH_SECRET_FILE"), "{}", told());
    tell("e3", &second, 2);
    assert_eq!(mails(&first), 1);
}

#[test]
fn a_server_that_must_not_start_says_why() {
    let place = Place::new();
    let server = place.start();
    let (code, text) = said(&place.run(&["serve", "--dev", "--listen", "127.0.0.1:0"]));
    assert!(code == 3 && text.contains("is open in process"), "{code} {text}");
    let port = server.url.rsplit(':').next().unwrap().to_owned();

    let other = Place::new();
    let taken = format!("127.0.0.1:{port}");
    let (code, text) = said(&other.run(&["serve", "--dev", "--listen", &taken]));
    assert!(code == 1 && text.contains("cannot listen"), "{code} {text}");
    let (code, text) = said(&other.run(&["serve", "--dev", "--listen", "0.0.0.0:0"]));
    assert!(code == 2 && text.contains("key new"), "{code} {text}");
    fs::write(&other.config, "[types.note]\n").unwrap();
    let (code, text) = said(&other.run(&["serve", "--dev", "--listen", "127.0.0.1:0"]));
    assert!(code == 2 && text.contains("tidings.toml:1:"), "{code} {text}");
    fs::write(&other.config, CONFIG).unwrap();
    fs::write(other.data.join("TIDINGS"), "format = 99\n").unwrap();
    let (code, text) = said(&other.run(&["serve", "--dev", "--listen", "127.0.0.1:0"]));
    assert!(code == 3 && text.contains("format 99"), "{code} {text}");
}

#[test]
fn keys_are_made_before_and_while_it_runs() {
    let place = Place::new();
    let key = |name: &str| {
        let made = place.run(&["key", "new", "--name", name]);
        assert_eq!(made.status.code(), Some(0), "{}", said(&made).1);
        String::from_utf8(made.stdout).unwrap().trim().to_owned()
    };
    let before = key("before");
    let server = Server::start_with_keys(&place.config, &place.data);
    let status = |key: &str| {
        let mut stream = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
        let head = format!("authorization: Bearer {key}\r\nconnection: close\r\n");
        write!(stream, "GET /metrics HTTP/1.1\r\nhost: localhost\r\n{head}\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!((status(&before).as_str(), status("x").as_str()), ("200", "401"));
    assert_eq!(status(&key("while")), "200");
    let listed = place.run(&["key", "list", "--json"]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    let first: serde_json::Value = serde_json::from_str(listed.lines().next().unwrap()).unwrap();
    assert_eq!((&first["name"], listed.lines().count()), (&json!("before"), 2));
    assert!(!listed.contains(&before["tidings_".len()..]));
    let id = first["id"].as_str().unwrap();
    let revoke = || place.run(&["key", "revoke", id]);
    let revoked = revoke();
    let out = String::from_utf8(revoked.stdout).unwrap();
    assert_eq!(out, format!("Revoked key {id}\n"));
    assert_eq!(status(&before), "401");
    let unknown = format!("error: unknown key `{id}`; `tidings key list` lists the keys\n");
    assert_eq!(said(&revoke()), (2, unknown));
}

/// The first key can be made while the server runs: who may read its directory is let in.
#[test]
fn a_token_lets_in_who_may_read_the_directory() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let path = place.data.join("token");
    let token = || fs::read_to_string(&path).unwrap().trim().to_owned();
    let made = |arguments: &[&str]| {
        let ran = place.run(arguments);
        assert_eq!(ran.status.code(), Some(0), "{}", said(&ran).1);
        String::from_utf8(ran.stdout).unwrap().trim().to_owned()
    };
    let log = place.dir.path().join("log");
    let status = |server: &Server, key: &str| {
        let key = ["status", "--url", &server.url, "--key", key];
        let ran = Command::new(env!("CARGO_BIN_EXE_tidings")).args(key).output();
        ran.unwrap().status.code()
    };
    let server =
        Server::start_with_keys_logging(&place.config, &place.data, File::create(&log).unwrap());
    let told = || fs::read_to_string(&log).unwrap();
    let hint = format!("tidings key new --data {}", place.data.display());
    assert!(told().contains(&hint), "{}", told());
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let first = token();
    let key = made(&["key", "new", "--name", "site"]);
    assert_eq!(status(&server, &key), Some(0));
    assert_eq!(status(&server, &first), Some(0));
    // Every command is let in, whatever key it has.
    made(&["status", "--key", "none"]);
    let listed = made(&["key", "list"]);
    assert!(listed.contains("site") && !listed.contains(&key), "{listed}");
    // A server that is killed leaves its token, which the next start replaces.
    server.kill();
    assert_eq!(token(), first);
    assert_eq!(made(&["key", "list"]), listed);

    let server = Server::start_with_keys_logging(
        &place.config,
        &place.data,
        File::options().append(true).open(&log).unwrap(),
    );
    let second = token();
    assert_ne!(first, second);
    assert_eq!(status(&server, &first), Some(2));
    assert_eq!((status(&server, &second), status(&server, &key)), (Some(0), Some(0)));
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0));
    assert!(!path.exists());
    for secret in [first, second, key] {
        assert!(!told().contains(&secret["tidings_".len()..]), "{}", told());
    }
}

/// A client that writes all of a body that is too large before looking for the answer gets it all the same.
#[test]
fn a_body_that_is_too_large_is_answered() {
    let place = Place::new();
    let server = place.start();
    let address = server.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let body = vec![b' '; 17 << 20];
    let head = format!(
        "POST /v1/events HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&body).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("body_too_large"), "{answer}");
}

/// Links of mails need no key, and work after a restart and after a restore.
#[test]
fn links_of_mails_outlive_the_server() {
    let place = Place::new();
    let config = format!(
        "{CONFIG}\n[types.mail]\ncategory = \"news\"\nchannels = {{ email = {{ policy = \"now\" }} }}\n\
         [brand]\nurl = \"https://art.example\"\n\
         [channels.email]\nprovider = \"file://{}\"\nfrom = \"Art <art@example.org>\"\n",
        place.dir.path().join("mail").display()
    );
    fs::write(&place.config, config).unwrap();
    let server = place.start();
    let api = Api::new(&server.url);
    let ana = json!({ "email": "ana@example.org" });
    assert_eq!(api.put("/v1/recipients/ana", &ana).unwrap().0, 204);
    assert_eq!(api.post("/v1/events", &event("e1", "mail")).unwrap().0, 202);
    let (patience, new) = (Patience::new(), place.dir.path().join("mail/new"));
    let mail = loop {
        let file = fs::read_dir(&new).unwrap().next();
        match file {
            Some(file) => break fs::read_to_string(file.unwrap().path()).unwrap(),
            None => patience.wait(|| "there is no mail".to_owned()),
        }
    };
    let (_, link) = mail.split_once("List-Unsubscribe: <https://art.example").unwrap();
    let path = link.split('>').next().unwrap();
    let page = |server: &Server| {
        let answer = ureq::get(format!("{}{path}", server.url)).call().unwrap();
        let kind = answer.headers()["content-type"].to_str().unwrap().to_owned();
        let html = answer.into_body().read_to_string().unwrap();
        assert!(kind.starts_with("text/html") && html.contains("What Art sends you"), "{html}");
    };
    page(&server);
    server.signal("TERM");
    server.wait();
    page(&Server::start_with_keys(&place.config, &place.data));

    let backup = place.dir.path().join("backup");
    let (code, text) = said(&place.run(&["backup", "--to", backup.to_str().unwrap()]));
    assert_eq!(code, 0, "{text}");
    let restored = place.dir.path().join("restored");
    let restored =
        Place { data: restored, config: place.config, dir: tempfile::tempdir().unwrap() };
    let (code, text) = said(&restored.run(&["restore", "--from", backup.to_str().unwrap()]));
    assert_eq!(code, 0, "{text}");
    let server = restored.start();
    page(&server);
    let one_click = ureq::post(format!("{}{path}", server.url));
    let answer = one_click.send_form([("List-Unsubscribe", "One-Click")]).unwrap();
    assert_eq!(answer.status(), 200);
    let chosen = Api::new(&server.url).get("/v1/recipients/ana/preferences").unwrap().1;
    assert_eq!(chosen[0], json!({ "type": "mail", "channel": "email", "mode": "never" }));
}

#[test]
fn a_developers_mailbox_shows_mails_that_lead_to_the_server() {
    let place = Place::new();
    let config = format!(
        "{CONFIG}\n[types.mail]\ncategory = \"news\"\nsentence = \"{{actor}} showed {{object}}\"\n\
         channels = {{ email = {{ policy = \"now\" }} }}\n\
         [channels.email]\nprovider = \"file://{}\"\nfrom = \"Art <art@example.org>\"\n",
        place.dir.path().join("mail").display()
    );
    fs::write(&place.config, config).unwrap();
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let server = Server::start_at(&address, &place.config, &place.data);
    let api = Api::new(&server.url);
    let ana = json!({ "email": "ana@example.org" });
    assert_eq!(api.put("/v1/recipients/ana", &ana).unwrap().0, 204);
    let shown = json!({
        "id": "e1", "type": "mail", "actor": { "id": "ben", "title": "Ben Okafor" },
        "object": { "id": "a", "title": "Nocturne" }, "body": "Before the fire.",
        "to": { "everyone": true },
    });
    assert_eq!(api.post("/v1/events", &shown).unwrap().0, 202);
    let page = |path: &str| {
        let answer = ureq::get(format!("{}{path}", server.url)).call().unwrap();
        answer.into_body().read_to_string().unwrap()
    };
    let patience = Patience::new();
    let name = loop {
        match page("/_mail/-/newest") {
            name if name.is_empty() => patience.wait(|| "no mail was caught".to_owned()),
            name => break name,
        }
    };
    for path in ["/_mail".to_owned(), format!("/_mail/{name}"), format!("/_mail/{name}?as=dark")] {
        assert!(page(&path).contains("Ben Okafor showed Nocturne"), "{path}");
    }
    let html = page(&format!("/_mail/{name}/html"));
    assert!(html.contains("Before the fire."), "{html}");
    let (_, link) = html.split_once(&format!("{}/u/", server.url)).expect("a way out");
    let path = format!("/u/{}", link.split('"').next().unwrap());
    let choices = page(&path);
    assert!(choices.contains("What Art sends you"), "{choices}");
    // The page's own first form, as a browser sends it.
    let (_, form) = choices.split_once("<form").unwrap();
    let (_, field) = form.split_once("name=\"").unwrap();
    let (field, value) = field.split_once("\" value=\"").unwrap();
    let value = value.split('"').next().unwrap().replace("&quot;", "\"");
    let answer = ureq::post(format!("{}{path}", server.url)).send_form([(field, &*value)]).unwrap();
    let saved = answer.into_body().read_to_string().unwrap();
    assert!(saved.contains("No more e-mail about “Nocturne”."), "{saved}");
    let chosen = api.get("/v1/recipients/ana/preferences").unwrap().1;
    assert_eq!(chosen[0]["mode"], "never", "{chosen}");
}
