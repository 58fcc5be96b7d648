//! Mixed load on the real process for as long as one likes: memory and open files level off, and
//! answers don't get slower. `TIDINGS_SOAK_MINUTES=60` is the long run (with `--release`, and
//! `--nocapture` for its table); a third of a minute is played where nobody asks for more. What days do
//! to it (forgetting, the disk) is in `retention.rs`, on a virtual clock.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test ends where something is not as it should be, and this one is about real time"
)]

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

mod serving;

use serving::{Api, Chance, Server};

/// An hour brings each of them some thousands of entries: more than a day does to the busiest.
const RECIPIENTS: u64 = 2_000;
/// Each recipient follows one of these.
const TOPICS: u64 = 100;
const CLIENTS: u64 = 4;
/// Requests of one client a second: what a busy application asks for, not what the machine can carry.
const RATE: u64 = 40;
/// The run is weighed at least this often, a long one once a minute.
const WINDOWS_MIN: u32 = 12;
/// The bytes that the store may keep of its journals until it has written tables of it.
const JOURNALS_BYTES: f64 = (128 << 20) as f64;

const CONFIG: &str = r#"
[categories.news]

[types.note]
category = "news"
[types.note.channels]
inbox = { policy = "now" }
email = { policy = "cooldown", quiet = "15s", max_wait = "1m" }

[types.alert]
category = "news"
[types.alert.channels]
inbox = { policy = "now" }
email = { policy = "leading", quiet = "1m" }

[channels.email]
provider = "file://MAILDIR"
from = "News <news@example.org>"
"#;

/// The sums of a window of time.
#[derive(Clone, Copy, Debug)]
struct Window {
    memory_kib: u64,
    open_files: u64,
    disk_bytes: u64,
    requests: usize,
    p50_ms: f64,
    p99_ms: f64,
}

fn body(chance: &mut Chance, number: u64) -> Value {
    let to = match chance.below(200) {
        0 => json!({"topics": ["all"]}),
        1..=40 => json!({"topics": [format!("some/{}", chance.below(TOPICS))]}),
        _ => json!({"recipients": [format!("r{}", chance.below(RECIPIENTS))]}),
    };
    json!({
        "id": format!("e{number}"),
        "type": if chance.below(4) == 0 { "alert" } else { "note" },
        "actor": format!("r{}", chance.below(RECIPIENTS)),
        "object": {"id": format!("o{}", chance.below(5_000)), "title": "A thing that happened"},
        "to": to,
    })
}

impl Window {
    fn print(&self) {
        let Self { memory_kib, open_files, disk_bytes, requests, p50_ms, p99_ms } = self;
        println!(
            "{requests:>8} requests  p50 {p50_ms:>8.2} ms  p99 {p99_ms:>8.2} ms  \
             {memory_kib:>9} KiB  {open_files:>4} open files  {:>8} KiB on disk",
            disk_bytes >> 10
        );
    }
}

/// One request of many kinds.
fn ask(api: &Api, chance: &mut Chance, next: &AtomicU64) -> u16 {
    let number = chance.below(RECIPIENTS);
    let who = format!("/v1/recipients/r{number}");
    let followed = format!("{who}/subscriptions/some/{}", number % TOPICS);
    let answer = match chance.below(20) {
        0..=8 => api.post("/v1/events", &body(chance, next.fetch_add(1, Ordering::Relaxed))),
        9 => {
            let events = (0..20).map(|_| body(chance, next.fetch_add(1, Ordering::Relaxed)));
            api.post("/v1/events", &events.collect())
        }
        10..=14 => api.get(&format!("{who}/inbox?limit=20")),
        15 => api.post(
            &format!("{who}/inbox/seen"),
            &json!({"object": format!("o{}", chance.below(5_000))}),
        ),
        16 => api.get(&format!("{who}/pending")),
        17 => {
            let mode = ["never", "immediate", "default"][usize::try_from(chance.below(3)).unwrap()];
            let chosen = json!([{"type": "note", "channel": "email", "mode": mode}]);
            api.put(&format!("{who}/preferences"), &chosen)
        }
        // As many come as go, so that what an event costs stays the same.
        18 if chance.below(2) == 0 => api.delete(&followed),
        18 => api.put(&followed, &Value::Null),
        _ => api.post(&format!("/v1/events/e{}/cancel", chance.below(1_000)), &Value::Null),
    };
    answer.unwrap().0
}

fn client(
    api: &Api,
    mut chance: Chance,
    next: &AtomicU64,
    over: &AtomicBool,
    ms: &Mutex<Vec<f64>>,
) {
    let between = Duration::from_micros(1_000_000 / RATE);
    let mut due = Instant::now();
    while !over.load(Ordering::Relaxed) {
        let began = Instant::now();
        let status = ask(api, &mut chance, next);
        assert!(matches!(status, 200..=299 | 404), "{status}");
        ms.lock().unwrap().push(began.elapsed().as_secs_f64() * 1_000.0);
        due += between;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }
}

/// Bytes on disk below a directory; what vanishes meanwhile is left out.
fn bytes_below(dir: &Path) -> u64 {
    fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| match fs::metadata(entry.path()) {
            Ok(found) if found.is_dir() => bytes_below(&entry.path()),
            Ok(found) => std::os::unix::fs::MetadataExt::blocks(&found) * 512,
            Err(_) => 0,
        })
        .sum()
}

fn weigh(process: u32, data: &Path, mut ms: Vec<f64>) -> Window {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    ms.sort_unstable_by(f64::total_cmp);
    let rank = |of_hundred: usize| ms[(ms.len() * of_hundred / 100).min(ms.len() - 1)];
    Window {
        memory_kib: line.unwrap().trim_end_matches("kB").trim().parse().unwrap(),
        open_files: fs::read_dir(format!("/proc/{process}/fd")).unwrap().count() as u64,
        disk_bytes: bytes_below(data),
        requests: ms.len(),
        p50_ms: rank(50),
        p99_ms: rank(99),
    }
}

fn setup(api: &Api) {
    for number in 0..RECIPIENTS {
        let who = format!("/v1/recipients/r{number}");
        let profile = json!({"email": format!("r{number}@example.org")});
        assert!(api.put(&who, &profile).unwrap().0 < 300);
        for topic in ["all".to_owned(), format!("some/{}", number % TOPICS)] {
            let path = format!("{who}/subscriptions/{topic}");
            assert!(api.put(&path, &Value::Null).unwrap().0 < 300);
        }
    }
}

fn play(server: &Server, data: &Path, minutes: f64) -> Vec<Window> {
    let length = Duration::from_secs_f64(minutes * 60.0);
    let count = WINDOWS_MIN.max(minutes as u32);
    let api = Api::new(&server.url);
    setup(&api);
    let (next, over, ms) = (AtomicU64::new(0), AtomicBool::new(false), Mutex::default());
    let mut windows = Vec::new();
    std::thread::scope(|scope| {
        for seed in 0..CLIENTS {
            let (api, next, over, ms) = (api.clone(), &next, &over, &ms);
            scope.spawn(move || client(&api, Chance::new(seed), next, over, ms));
        }
        let began = Instant::now();
        for window in 1..=count {
            let end = began + length * window / count;
            std::thread::sleep(end.saturating_duration_since(Instant::now()));
            let window = weigh(server.process(), data, std::mem::take(&mut *ms.lock().unwrap()));
            window.print();
            windows.push(window);
        }
        over.store(true, Ordering::Relaxed);
    });
    windows
}

fn most(windows: &[Window], what: impl Fn(&Window) -> f64) -> f64 {
    windows.iter().map(what).fold(0.0, f64::max)
}

#[test]
fn under_mixed_load_nothing_creeps() {
    let minutes = std::env::var("TIDINGS_SOAK_MINUTES").map_or(1.0 / 3.0, |n| n.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("tidings.toml");
    let maildir = directory.path().join("mail");
    let text = CONFIG.replace("MAILDIR", maildir.to_str().unwrap());
    fs::write(&config, text).unwrap();
    let data = directory.path().join("data");
    let server = Server::start(&config, &data);
    let windows = play(&server, &data, minutes);
    let third = windows.len() / 3;
    let (first, middle, last) =
        (&windows[..third], &windows[third..2 * third], &windows[2 * third..]);
    let files = |window: &Window| window.open_files as f64;
    assert!(most(last, files) <= most(middle, files) + 8.0, "open files");
    // An hour writes into one day: what the day holds grows, and so do the caches, up to their bounds.
    let memory = |window: &Window| window.memory_kib as f64;
    let bound = most(middle, memory) * 1.25 + 16_384.0;
    assert!(most(last, memory) <= bound, "memory");
    // The load is even, so the disk grows evenly, give and take what the store has in hand.
    let grown = |windows: &[Window]| {
        let bytes = |window: Option<&Window>| window.map_or(0.0, |window| window.disk_bytes as f64);
        bytes(windows.last()) - bytes(windows.first())
    };
    let bound = grown(middle).max(0.0) * 2.0 + JOURNALS_BYTES;
    assert!(grown(last) <= bound, "disk");
    // Of a run of seconds the machine's other work would decide.
    if std::env::var_os("TIDINGS_SOAK_MINUTES").is_some() {
        let slow = |window: &Window| window.p99_ms;
        let bound = most(first, slow) * 3.0 + 50.0;
        assert!(most(last, slow) <= bound, "answers get slower");
    }
}
