//! Conversion of real data (follows and publishes) into timelines of the contract.
//!
//! The data lies outside of this repository; where it is absent, there is nothing to convert.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::Value;
use tidings_core::model::{Audience, EMAIL, EMAIL_NO, INBOX, RecipientChange, Timed};
use tidings_core::rules::{
    Category, Defaults, Digest, Every, Policy, Route, StoreRules, Texts, TypeRules,
};
use tidings_core::{Command, Event, Id, Instant, Object, Rules};

/// The path of the data, seen from the folder that is handed in to the functions of this module.
const CRATES: &str = "data/facts_no_licence/crates_timeline_2014_2023.ndjson.gz";
const GITHUB_FOLLOWS: &str = "data/social/github_mutual_follows.csv.gz";
const GITHUB_HOURS: [&str; 6] = [
    "data/facts_no_licence/github_2015-02-22-21.ndjson.gz",
    "data/facts_no_licence/github_2015-02-22-22.ndjson.gz",
    "data/facts_no_licence/github_2015-02-22-23.ndjson.gz",
    "data/facts_no_licence/github_2015-04-23-10.ndjson.gz",
    "data/facts_no_licence/github_2015-04-23-11.ndjson.gz",
    "data/facts_no_licence/github_2016-07-28-01.ndjson.gz",
];
const WEEKLY: &str = "weekly";

/// A configuration and what happened under it.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    /// The configuration.
    pub(crate) rules: Rules,
    /// The commands, in order of time.
    pub(crate) commands: Vec<Timed>,
}

/// The reason why real data could not be converted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConvertError {
    /// A file cannot be read.
    #[error("{0}: {1}")]
    File(PathBuf, #[source] io::Error),
    /// A line is invalid.
    #[error("{path}, line {line}: no {missing}")]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// The missing field.
        missing: &'static str,
    },
}

/// The folder with the real data: `TIDINGS_SHARED`, or `../shared` beside the repository. `None` where
/// there is none.
pub(crate) fn shared() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("TIDINGS_SHARED").map_or_else(beside, PathBuf::from);
    folder.join(CRATES).is_file().then_some(folder)
}

/// Packages that publish versions and follow what they depend on. Each version's own follows and
/// unfollows take effect at its line, before it is told to those who follow the package.
///
/// Recipients are packages, with a topic `crate/NAME` each; an inbox and a mail on Mondays 09:00 UTC.
pub(crate) fn crates(shared: &Path) -> Result<Timeline, ConvertError> {
    let mut commands = Vec::new();
    let mut made = BTreeSet::new();
    each_line(&shared.join(CRATES), |line| {
        let version: Value = serde_json::from_str(line).map_err(|_| "JSON")?;
        let at = instant(&version)?;
        let name = version["actor"].as_str().ok_or("actor")?;
        let number = version["version"].as_str().ok_or("version")?;
        let actor = id(name)?;
        if made.insert(actor.clone()) {
            let email = Some(format!("{name}@crates.example"));
            commands.push(Timed { at, command: recipient(actor.clone(), email) });
        }
        let others = |key: &str| version[key].as_array().cloned().unwrap_or_default();
        for other in others("follow") {
            let topic = id(&format!("crate/{}", other.as_str().ok_or("follow")?))?;
            commands.push(Timed {
                at,
                command: Command::Subscribe { tenant: None, recipient: actor.clone(), topic },
            });
        }
        for other in others("unfollow") {
            let topic = id(&format!("crate/{}", other.as_str().ok_or("unfollow")?))?;
            commands.push(Timed {
                at,
                command: Command::Unsubscribe { tenant: None, recipient: actor.clone(), topic },
            });
        }
        let object = Object {
            id: id(&format!("{name}@{number}"))?,
            title: Some(format!("{name} {number}").into()),
            url: None,
            image: None,
            image_size: None,
            data: None,
            notifiable: None,
        };
        let topic = id(&format!("crate/{name}"))?;
        let event_id = id(&format!("{name}@{number}"))?;
        let command = publish(event_id, id("version_published")?, actor, object, topic);
        commands.push(Timed { at, command });
        Ok(())
    })?;
    Ok(Timeline { rules: rules(["version_published"]), commands })
}

/// The deeds of people in six hours, told to those who follow them; what others did is left out.
///
/// Recipients are users, with a topic `user/NUMBER` each; a type for each verb, an inbox and a mail on
/// Mondays 09:00 UTC.
pub(crate) fn github(shared: &Path) -> Result<Timeline, ConvertError> {
    let mut follows: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    each_line(&shared.join(GITHUB_FOLLOWS), |line| {
        let Some((one, other)) = line.split_once(',').filter(|_| !line.starts_with("user")) else {
            return Ok(());
        };
        let one = one.trim().parse().map_err(|_| "user_1")?;
        let other = other.trim().parse().map_err(|_| "user_2")?;
        follows.entry(one).or_default().insert(other);
        follows.entry(other).or_default().insert(one);
        Ok(())
    })?;
    let mut events = Vec::new();
    let mut verbs = BTreeSet::new();
    for hour in GITHUB_HOURS {
        each_line(&shared.join(hour), |line| {
            let event: Value = serde_json::from_str(line).map_err(|_| "JSON")?;
            let actor = event["actor"].as_u64().ok_or("actor")?;
            if !follows.contains_key(&actor) {
                return Ok(());
            }
            let verb = event["verb"].as_str().ok_or("verb")?;
            verbs.insert(verb.to_owned());
            let object = Object {
                id: id(&format!("repository/{}", event["object"].as_u64().ok_or("object")?))?,
                title: None,
                url: None,
                image: None,
                image_size: None,
                data: None,
                notifiable: None,
            };
            let topic = id(&format!("user/{actor}"))?;
            let event_id = id(event["id"].as_str().ok_or("id")?)?;
            let command = publish(event_id, id(verb)?, id(&actor.to_string())?, object, topic);
            events.push(Timed { at: instant(&event)?, command });
            Ok(())
        })?;
    }
    // Some lines of the source are a little out of order.
    events.sort_by_key(|timed| timed.at);
    let mut commands = Vec::new();
    if let Some(first) = events.first() {
        let graph = people(&follows).map_err(|missing| ConvertError::Line {
            path: shared.join(GITHUB_FOLLOWS),
            line: 0,
            missing,
        })?;
        commands.extend(graph.into_iter().map(|command| Timed { at: first.at, command }));
    }
    commands.extend(events);
    Ok(Timeline { rules: rules(verbs.iter().map(String::as_str)), commands })
}

fn people(follows: &BTreeMap<u64, BTreeSet<u64>>) -> Result<Vec<Command>, &'static str> {
    let mut commands = Vec::new();
    for (user, others) in follows {
        let who = id(&user.to_string())?;
        let email = Some(format!("{user}@users.example"));
        commands.push(recipient(who.clone(), email));
        for other in others {
            let topic = id(&format!("user/{other}"))?;
            commands.push(Command::Subscribe { tenant: None, recipient: who.clone(), topic });
        }
    }
    Ok(commands)
}

/// An inbox at once, and a mail on Mondays at 09:00 UTC.
fn rules<'a>(types: impl IntoIterator<Item = &'a str>) -> Rules {
    let weekly = Digest { tz: Some("UTC".to_owned()), ..Digest::new(Every::Week(1), 9 * 60) };
    let digest = Policy::Digest { digest: WEEKLY.to_owned() };
    let type_rules = TypeRules {
        category: "following".to_owned(),
        channels: BTreeMap::from([
            (INBOX.to_owned(), Route::of(Policy::Now)),
            (EMAIL.to_owned(), Route::of(digest)),
        ]),
        ..TypeRules::default()
    };
    Rules {
        limits: tidings_core::model::Limits::default(),
        presentation: Default::default(),
        caps: Vec::new(),
        resolver: None,
        feedback: Default::default(),
        defaults: Defaults::default(),
        categories: BTreeMap::from([(
            "following".to_owned(),
            Category { title: Texts([(String::new(), "What you follow".to_owned())].into()) },
        )]),
        digests: BTreeMap::from([(WEEKLY.to_owned(), weekly)]),
        types: types.into_iter().map(|name| (name.to_owned(), type_rules.clone())).collect(),
        store: StoreRules::default(),
        channels: BTreeMap::new(),
        ..Rules::default()
    }
}

fn recipient(who: Id, email: Option<String>) -> Command {
    Command::Recipient(Box::new(RecipientChange {
        addresses: [(EMAIL_NO, email.into_iter().map(Into::into).collect())].into(),
        ..RecipientChange::nothing(who)
    }))
}

fn publish(event: Id, kind: Id, actor: Id, object: Object, topic: Id) -> Command {
    Command::Publish(Box::new(Event {
        actor: Some(Object::bare(actor)),
        ..Event::new(event, kind, object, Audience { topics: vec![topic], ..Audience::default() })
    }))
}

fn instant(value: &Value) -> Result<Instant, &'static str> {
    value["t"].as_str().and_then(|t| Instant::parse(t).ok()).ok_or("t")
}

fn id(text: &str) -> Result<Id, &'static str> {
    Id::new(text).map_err(|_| "valid id")
}

/// Reads a compressed file line by line.
fn each_line(
    path: &Path,
    mut read: impl FnMut(&str) -> Result<(), &'static str>,
) -> Result<(), ConvertError> {
    let fault = |fault| ConvertError::File(path.to_owned(), fault);
    let file = File::open(path).map_err(fault)?;
    for (number, line) in BufReader::new(GzDecoder::new(file)).lines().enumerate() {
        read(&line.map_err(fault)?).map_err(|missing| ConvertError::Line {
            path: path.to_owned(),
            line: number + 1,
            missing,
        })?;
    }
    Ok(())
}
