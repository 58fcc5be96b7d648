//! Months on a virtual clock over the store on disk: memory, open files and disk level off once `keep`
//! is reached, however long it goes on. Alone in its binary, because it weighs the whole process.
//!
//! `TIDINGS_SOAK_DAYS=365` goes on for longer.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use tidings::config;
use tidings_api::timeline::read_line;
use tidings_core::engine::Options;
use tidings_core::model::DAY_MS;
use tidings_core::{Instant, Rules};
use tidings_node::{Player, PlayerOutput};
use tidings_store::{Expected, FjallStore, StoreId};

const CONFIG: &str = r#"
[categories.news]

[digests.daily]
every = "day"
at = "09:00"

[types.note]
category = "news"
[types.note.channels]
inbox = { policy = "now" }
email = { policy = "digest", digest = "daily" }

[store]
keep = "7d"
"#;

const KEEP_DAYS: usize = 7;
const RECIPIENTS: usize = 2_000;
const EVENTS_A_DAY: usize = 150;

/// The engine's list of keyspaces, which gets three tiny files with every day and loses them only when
/// it is opened again.
const LIST: &str = "engine/keyspaces/0/";

/// The resources that the process and its directory take at the end of a day.
#[derive(Clone, Copy, Debug)]
struct Weight {
    memory_kib: u64,
    open_files: u64,
    /// Without the journals.
    tables_bytes: u64,
    journal_bytes: u64,
}

fn weigh(dir: &Path) -> Weight {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let memory_kib = line.unwrap().trim_end_matches("kB").trim().parse().unwrap();
    let links = fs::read_dir("/proc/self/fd").unwrap();
    let open_files = links
        .filter_map(|link| fs::read_link(link.unwrap().path()).ok())
        .filter(|path| !is_list(path))
        .count() as u64;
    let (mut tables_bytes, mut journal_bytes) = (0, 0);
    each_file(dir, &mut |path, bytes| {
        if path.extension().is_some_and(|extension| extension == "jnl") {
            journal_bytes += bytes;
        } else if !is_list(path) {
            tables_bytes += bytes;
        }
    });
    Weight { memory_kib, open_files, tables_bytes, journal_bytes }
}

fn is_list(path: &Path) -> bool {
    path.to_string_lossy().contains(LIST)
}

/// Bytes on disk of every file in a directory; what vanishes meanwhile is left out.
fn each_file(dir: &Path, take: &mut dyn FnMut(&Path, u64)) {
    for entry in fs::read_dir(dir).into_iter().flatten() {
        let path = entry.unwrap().path();
        match fs::metadata(&path) {
            Ok(found) if found.is_dir() => each_file(&path, take),
            Ok(found) => take(&path, std::os::unix::fs::MetadataExt::blocks(&found) * 512),
            Err(_) => {}
        }
    }
}

fn play(player: &mut Player, rules: &Rules, at: Instant, mut line: serde_json::Value) {
    line["at"] = at.to_string().into();
    let timed = read_line(rules, 1, line.to_string().as_bytes()).unwrap();
    player.play(timed, &mut |_| ()).unwrap();
}

/// The most of some days.
fn most(days: &[Weight], what: impl Fn(&Weight) -> u64) -> u64 {
    days.iter().map(what).max().unwrap()
}

#[test]
fn memory_files_and_disk_level_off_once_days_are_forgotten() {
    let days = std::env::var("TIDINGS_SOAK_DAYS").map_or(60, |days| days.parse().unwrap());
    assert!(days >= 4 * KEEP_DAYS, "too short to tell");
    let rules = config::parse(CONFIG, "tidings.toml").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let options =
        tidings_store::Options { cache_bytes: 4 << 20, ..tidings_store::Options::default() };
    let store = FjallStore::open(&data, Expected::OrNew(StoreId([0; 16])), options).unwrap();
    let mut player =
        Player::open(Arc::new(store), Options::default(), PlayerOutput::Nothing).unwrap();
    let start = Instant::parse("2024-01-01T00:00:00Z").unwrap();
    player.set_rules(start, rules.clone(), &mut |_| ()).unwrap();
    for number in 0..RECIPIENTS {
        let (id, topic) = (format!("r{number}"), format!("topic/{}", number % 10));
        let profile = serde_json::json!({"op": "recipient", "id": id, "email": "r@example.org"});
        play(&mut player, &rules, start, profile);
        let follow = serde_json::json!({"op": "subscribe", "recipient": id, "topic": topic});
        play(&mut player, &rules, start, follow);
    }
    let mut weights = Vec::new();
    for day in 0..days {
        for event in 0..EVENTS_A_DAY {
            let step_ms = DAY_MS / i64::try_from(EVENTS_A_DAY).unwrap();
            let at = start.0 + i64::try_from(day).unwrap() * DAY_MS;
            let at = Instant(at + i64::try_from(event).unwrap() * step_ms + 1_000);
            let publish = serde_json::json!({
                "op": "publish", "id": format!("d{day}-{event}"), "type": "note",
                "object": {"id": format!("o{day}-{event}"), "title": "A thing that happened"},
                "to": {"topics": [format!("topic/{}", event % 10)]},
            });
            play(&mut player, &rules, at, publish);
        }
        weights.push(weigh(&data));
    }
    player.finish(None, &mut |_| ()).unwrap();
    let books = player.books().unwrap();
    assert!(books.balance() && books.lost == 0 && books.duplicates == 0);
    for (day, weight) in weights.iter().enumerate() {
        println!("day {day}: {weight:?}");
    }
    let (before, last) = weights[days / 2..].split_at(days / 4);
    let levels_off = |what: fn(&Weight) -> u64, slack: u64, name: &str| {
        let (before, after) = (most(before, what), most(last, what));
        let bound = before + before / 10 + slack;
        assert!(after <= bound, "{name}: {before}, later {after}");
    };
    levels_off(|weight| weight.memory_kib, 2 << 10, "memory (KiB)");
    levels_off(|weight| weight.open_files, 2, "open files");
    levels_off(|weight| weight.tables_bytes, 1 << 20, "disk (bytes)");
    assert!(most(&weights, |weight| weight.journal_bytes) < 200 << 20);
}
