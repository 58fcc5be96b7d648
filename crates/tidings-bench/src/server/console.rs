//! `console`: the screens of the console over a large store.

use std::io::Write as _;
use std::net::SocketAddr;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use super::operate::fill::{ANSWERED_EVENT, LARGE_EVENT, ask, fill, request};
use super::operate::{RULES, StoreParams};
use super::{Connection, process, unexpected};
use crate::stopwatch::{Stopwatch, ms};
use crate::{BenchFault, Measurement, number, quantile, world};

/// Arguments of `console`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ConsoleParams {
    #[command(flatten)]
    store: StoreParams,
}

/// The bars: milliseconds up to a page, and kilobytes of it.
const PAGE_MS: f64 = 100.0;
const PAGE_KB: f64 = 60.0;

/// A screen, and what its page took.
struct ScreenTimes {
    name: &'static str,
    times: Vec<f64>,
    kilobytes: f64,
}

/// Runs it.
pub(crate) fn run(params: &ConsoleParams) -> Result<Vec<Measurement>, BenchFault> {
    let named = params.store.named()?;
    let screens = process::measure(&params.store.dir, RULES, &[], async |server| {
        fill(server.address, &params.store).await?;
        measure(server.address, &params.store).await
    })?;
    let mut measured = Vec::new();
    for screen in &screens {
        let of = |unit, samples: &[f64]| {
            Measurement::of("console", &named, (screen.name, unit), samples)
        };
        let p99 = [quantile(&screen.times, 0.99)];
        measured.extend([
            of("ms", &screen.times),
            of("ms (p99)", &p99).against("bar", &[PAGE_MS]),
            of("kB (gzip)", &[screen.kilobytes]).against("bar", &[PAGE_KB]),
        ]);
    }
    Ok(measured)
}

/// The screens, by name.
async fn screens(
    host: &mut Connection,
    store: &StoreParams,
) -> Result<Vec<(&'static str, String)>, BenchFault> {
    let person = world::recipient(7);
    let failed = ask(host, "GET", "/v1/messages?state=failed&limit=1", &Value::Null).await?;
    let message = failed["messages"][0]["id"].as_str().unwrap_or_default().to_owned();
    let middle = world::recipient(store.recipients() / 2);
    Ok(vec![
        ("now", String::new()),
        ("people", "people".to_owned()),
        ("people_by_prefix", format!("people?id_prefix={middle}")),
        ("person", format!("people/{person}")),
        ("person_inbox", format!("people/{person}?tab=inbox")),
        ("person_messages", format!("people/{person}?tab=messages")),
        ("why", format!("people/{person}/why/{LARGE_EVENT}")),
        ("events", "events".to_owned()),
        ("event", format!("events/{LARGE_EVENT}")),
        ("event_answered", format!("events/{ANSWERED_EVENT}")),
        ("messages", "messages".to_owned()),
        ("messages_failed", "messages?state=failed".to_owned()),
        ("messages_rare", "messages?state=failed&type=rare".to_owned()),
        ("message", format!("messages/{message}")),
        ("bulk_retry", "messages/retry?state=failed&type=mailed".to_owned()),
        ("types", "types".to_owned()),
        ("type", "types/mailed".to_owned()),
        ("figures", "figures".to_owned()),
        ("suppressions", "system/suppressions".to_owned()),
        ("log", "system/log".to_owned()),
        ("jobs", "system/jobs".to_owned()),
    ])
}

/// Opens each screen several times.
async fn measure(address: SocketAddr, store: &StoreParams) -> Result<Vec<ScreenTimes>, BenchFault> {
    let mut host = Connection::open(address).await?;
    let mut measured = Vec::new();
    for (name, path) in screens(&mut host, store).await? {
        let wanted = request("GET", &format!("/console/{path}"), &Value::Null);
        let mut screen = ScreenTimes { name, times: Vec::new(), kilobytes: 0.0 };
        for _ in 0..store.runs {
            let watch = Stopwatch::start();
            let answer = host.ask(&wanted).await?;
            screen.times.push(ms(watch.elapsed()));
            if !answer.starts_with(b"HTTP/1.1 200") {
                return Err(unexpected(answer));
            }
            screen.kilobytes = gzipped_kilobytes(answer)?;
        }
        measured.push(screen);
    }
    Ok(measured)
}

fn gzipped_kilobytes(page: &[u8]) -> Result<f64, BenchFault> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(page)?;
    Ok(number(u64::try_from(gzip.finish()?.len()).unwrap_or(u64::MAX)) / 1_000.0)
}
