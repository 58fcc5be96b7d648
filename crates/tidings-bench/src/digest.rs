//! `digest`: a weekly digest that comes due for everyone at one instant, until every mail is its bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tidings_core::content::Batch;
use tidings_core::model::{EMAIL, HOUR_MS, ImageSize, channel_kind};
use tidings_core::rules::{ChannelRules, DkimRules};
use tidings_core::{Command, Instant, Object, Rules};
use tidings_node::channel::{
    Durability, MessageHead, ProviderSetup, RenderingChannel, ServerTimeouts, open,
};
use tidings_node::{Clock, SystemClock, token_key};

use super::plan::{TYPE, Weekly, settle};
use super::rival::{Rival, mjml};
use super::stopwatch::Stopwatch;
use super::world;
use super::{BenchFault, Measurement, number};

/// Arguments of `digest`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct DigestParams {
    /// Number of recipients that get a digest
    #[arg(long, default_value_t = 20_000)]
    recipients: u32,
    /// Number of items of a digest
    #[arg(long, default_value_t = 10)]
    items: u32,
    /// Number of events; each goes to its share of the recipients
    #[arg(long, default_value_t = 1000)]
    events: u32,
    /// Number of weeks without a signature; as many more are signed
    #[arg(long, default_value_t = 3)]
    runs: u32,
    /// Render the same items with other software
    #[arg(long, value_name = "SOFTWARE", value_parser = ["mjml"])]
    vs: Option<String>,
    /// Directory with the packages `mjml` and `handlebars` in its node_modules
    #[arg(long, value_name = "DIR", default_value = ".")]
    modules: PathBuf,
    /// Directory of the store, which is deleted when the benchmark ends
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
}

/// The key of RFC 8032, section 7.1, test 1: it signs nothing that anybody gets.
const KEY: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
-----END PRIVATE KEY-----
";

/// Number of mails that other software renders.
const RENDERED_BY_OTHERS: usize = 300;

impl DigestParams {
    /// The software that it is held against.
    pub(crate) fn rivals(&self) -> &'static [Rival] {
        match self.vs {
            Some(_) => &[Rival::Mjml],
            None => &[],
        }
    }
}

/// Runs it.
pub(crate) fn run(params: &DigestParams, mut rules: Rules) -> Result<Vec<Measurement>, BenchFault> {
    let directory = world::directory(&params.dir)?;
    let key_file = directory.path().join("dkim.pem");
    fs::write(&key_file, KEY)?;
    let provider = format!("file://{}", directory.path().join("mail").display());
    let mut channel = ChannelRules {
        providers: vec![provider],
        from: Some("Art <art@example.org>".to_owned()),
        ..ChannelRules::default()
    };
    rules.channels.insert(EMAIL.to_owned(), channel.clone());
    let mut weekly = Weekly::begin(
        directory.path(),
        rules.clone(),
        params.recipients,
        params.items,
        params.events,
    )?;
    let plain = outlet(&weekly, &rules)?;
    channel.dkim = Some(DkimRules {
        domain: "example.org".to_owned(),
        selector: "t1".to_owned(),
        key_file: key_file.display().to_string(),
    });
    rules.channels.insert(EMAIL.to_owned(), channel);
    let signed = outlet(&weekly, &rules)?;
    let (mut rates, mut bytes) = ([Vec::new(), Vec::new()], Vec::new());
    let mut for_others = Vec::new();
    for week in 0..2 * i64::from(params.runs) {
        let due = weekly.publish(week, shown)?;
        let is_signed = week % 2 == 1;
        let outlet = if is_signed { &signed } else { &plain };
        for_others.clear();
        let made = digest(&mut weekly, due, outlet, &mut for_others)?;
        rates[usize::from(is_signed)].push(number(made.mails) / made.seconds);
        bytes.push(number(made.bytes) / number(made.mails));
    }
    let named = BTreeMap::from([
        ("recipients", u64::from(params.recipients)),
        ("items", u64::from(params.items)),
        ("events", u64::from(params.events)),
    ]);
    let of =
        |metric, unit, samples: &[f64]| Measurement::of("digest", &named, (metric, unit), samples);
    let mut rendered = of("rendered_rate", "mails/s", &rates[0]);
    if params.vs.is_some() {
        let other = mjml::rendered_rate(&params.modules, &for_others)?;
        rendered = rendered.against(Rival::Mjml.name(), &[other]);
    }
    Ok(vec![
        rendered,
        of("rendered_rate_ed25519", "mails/s", &rates[1]),
        of("bytes_per_mail", "bytes", &bytes),
    ])
}

/// The way of mails with the links and signatures that rules ask for.
fn outlet(weekly: &Weekly, rules: &Rules) -> Result<RenderingChannel, BenchFault> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let tokens = token_key(&*weekly.disk.gauge, &[7; 32])?;
    let setup = ProviderSetup {
        secret: &|name| Err(format!("there is no {name}")),
        durability: Durability::AtEnd,
        patience: ServerTimeouts::default(),
        clock: &clock,
        tokens: Some(&tokens),
        caught: &Arc::default(),
    };
    let email = channel_kind(EMAIL).ok_or(BenchFault::Unknown("its channel of mails"))?;
    open(email, rules, &setup).map_err(|fault| BenchFault::Wrong(fault.to_string()))
}

/// An event about a work with a picture, by an artist with a name.
fn shown(name: u64, topic: &str) -> Command {
    let mut command = world::event(name, TYPE, Some(topic));
    if let Command::Publish(event) = &mut command {
        event.object.image = Some(format!("https://art.example/pictures/{name}.jpg"));
        event.object.image_size = Some(ImageSize {
            width: 1_200,
            height: 900 + u16::try_from(name % 7).unwrap_or(0) * 100,
        });
        let artist = name % 100;
        event.actor = world::artist(artist).map(|id| Object {
            title: Some(format!("Artist {artist}").into()),
            ..Object::bare(id)
        });
    }
    command
}

/// The mails of a week.
struct WeekOfMails {
    mails: u64,
    bytes: u64,
    seconds: f64,
}

/// Has a week's digest come due, and makes its mails.
fn digest(
    weekly: &mut Weekly,
    due: Instant,
    outlet: &RenderingChannel,
    for_others: &mut Vec<Value>,
) -> Result<WeekOfMails, BenchFault> {
    let disk = &mut weekly.disk;
    let (mut mails, mut bytes, mut seconds) = (0, 0, 0.0);
    let mut made = Vec::new();
    disk.node.fall_due(due)?;
    loop {
        let watch = Stopwatch::start();
        let plans = disk.node.make(due)?;
        if plans.is_empty() {
            break;
        }
        for plan in plans {
            let ready = disk.node.present(plan)?;
            for (_, batch) in &ready.batches {
                let head = Arc::new(MessageHead::of(batch));
                let rendered = outlet
                    .renderer
                    .render(&head, batch)
                    .map_err(|fault| BenchFault::Wrong(fault.why))?;
                mails += 1;
                bytes += rendered.bytes.len() as u64;
            }
            let room = RENDERED_BY_OTHERS.saturating_sub(for_others.len());
            seconds += watch.elapsed().as_secs_f64();
            for_others.extend(ready.batches.iter().take(room).map(|(_, batch)| content(batch)));
            made.push(ready.plan);
        }
    }
    settle(disk, due.plus_ms(HOUR_MS), &made)?;
    Ok(WeekOfMails { mails, bytes, seconds })
}

/// The content of a mail as other software gets it.
fn content(batch: &Batch) -> Value {
    let items = batch.groups.iter().flat_map(|group| &group.lines).map(|line| {
        json!({
            "title": line.object.title,
            "url": line.object.url,
            "image": line.object.image,
            "artist": line.actors.first().and_then(|artist| artist.title.as_ref()),
        })
    });
    json!({"to": batch.recipient.id, "items": items.collect::<Vec<_>>()})
}
