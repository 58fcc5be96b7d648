//! Clients that publish at random, and the judge of what their recipients were told: what was acknowledged exactly
//! once, what was not never twice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use mail_parser::MessageParser;
use serde_json::{Value, json};

use super::mail::{Heard, MailServer, message_id};
use super::{Api, Chance, Patience};

/// Recipients; all of them follow `topic/N` of the last digit of their number.
pub(crate) const RECIPIENTS: u64 = 40;

/// The knowledge of the clients.
#[derive(Default)]
pub(crate) struct Known {
    /// By event id: whom it is for.
    pub(crate) asked: BTreeMap<String, BTreeSet<String>>,
    pub(crate) acknowledged: BTreeSet<String>,
    /// Asked, and the connection broke before the answer: the same is asked again.
    pub(crate) open: Vec<Value>,
}

pub(crate) fn name(number: u64) -> String {
    format!("r{number}")
}

/// An event, with whom it is for.
pub(crate) fn event(chance: &mut Chance, number: u64) -> (Value, BTreeSet<String>) {
    let kind = if chance.below(3) == 0 { "alert" } else { "note" };
    let mut event = json!({
        "id": format!("e{number}"),
        "type": kind,
        "object": {"id": format!("o{number}"), "title": title(number)},
    });
    let to = if chance.below(4) == 0 {
        let topic = chance.below(10);
        event["to"] = json!({"topics": [format!("topic/{topic}")]});
        (0..RECIPIENTS).filter(|number| number % 10 == topic).map(name).collect()
    } else {
        let to: BTreeSet<String> =
            (0..=chance.below(2)).map(|_| name(chance.below(RECIPIENTS))).collect();
        event["to"] = json!({"recipients": to});
        to
    };
    (event, to)
}

/// A word that stands in no other event's title.
fn title(number: u64) -> String {
    format!("Note{number:07}end")
}

/// The results of a publish: an array's one by one, or the single one.
pub(crate) fn results(answer: &Value) -> Vec<&Value> {
    match answer {
        Value::Array(list) => list.iter().collect(),
        other => match other["events"].as_array() {
            Some(list) => list.iter().collect(),
            None => vec![other],
        },
    }
}

pub(crate) fn setup(api: &Api) {
    for number in 0..RECIPIENTS {
        let id = name(number);
        let profile = json!({"email": format!("{id}@example.org")});
        let (status, answer) = api.put(&format!("/v1/recipients/{id}"), &profile).unwrap();
        assert!(matches!(status, 200 | 201 | 204), "{status} {answer}");
        let topic = format!("/v1/recipients/{id}/subscriptions/topic/{}", number % 10);
        let (status, answer) = api.put(&topic, &Value::Null).unwrap();
        assert!(matches!(status, 200 | 201 | 204), "{status} {answer}");
    }
}

/// The mails that the mail server was handed.
#[derive(Default)]
pub(crate) struct Told {
    /// By the name of a mail: the mail, and how often it came.
    mails: BTreeMap<String, (String, u64)>,
    /// By recipient and event: the names of the mails that tell it.
    events: BTreeMap<(String, u64), BTreeSet<String>>,
    /// By recipient: the number of events that long mails count and don't name.
    counted: BTreeMap<String, u64>,
}

impl Told {
    /// Notes the mails that a server is handed, from now on.
    pub(crate) fn follow(mail: MailServer) -> Arc<Mutex<Self>> {
        let told: Arc<Mutex<Self>> = Arc::default();
        let notes = Arc::clone(&told);
        std::thread::spawn(move || {
            for heard in mail.heard {
                if let Heard::Message(mail) = heard {
                    notes.lock().unwrap().add(&mail);
                }
            }
        });
        told
    }

    /// Number of mails, those that came again included.
    pub(crate) fn count(&self) -> u64 {
        self.mails.values().map(|(_, times)| times).sum()
    }

    fn add(&mut self, mail: &str) {
        let name = message_id(mail).to_owned();
        let parsed = MessageParser::default().parse(mail.as_bytes()).unwrap();
        let to = parsed.to().unwrap().first().unwrap().address().unwrap();
        let recipient = to.split('@').next().unwrap().to_owned();
        let text = parsed.body_text(0).unwrap();
        let numbers =
            text.split("Note").skip(1).filter_map(|rest| rest.split_once("end")?.0.parse().ok());
        for number in numbers {
            let telling = self.events.entry((recipient.clone(), number)).or_default();
            telling.insert(name.clone());
        }
        if !self.mails.contains_key(&name) {
            let more = text.lines().find_map(|line| {
                let count = line.trim().strip_prefix("and ")?.split_once(" more")?.0;
                count.replace(',', "").parse::<u64>().ok()
            });
            *self.counted.entry(recipient).or_default() += more.unwrap_or(0);
        }
        let (first, times) = self.mails.entry(name).or_insert_with(|| (mail.to_owned(), 0));
        assert_eq!(*first, mail, "one name, and other bytes");
        *times += 1;
    }

    /// Number of mails that came more than once.
    fn again(&self) -> u64 {
        self.mails.values().filter(|(_, times)| *times > 1).count() as u64
    }
}

/// Number of times that each recipient has each event in the inbox.
fn told_by_inbox(api: &Api) -> BTreeMap<(String, u64), u64> {
    let mut told = BTreeMap::new();
    for number in 0..RECIPIENTS {
        let recipient = name(number);
        for event in api.inbox_events(&recipient) {
            let event: u64 = event.strip_prefix('e').unwrap().parse().unwrap();
            *told.entry((recipient.clone(), event)).or_insert(0) += 1;
        }
    }
    told
}

/// Does what an operator does with messages of which nobody knows: has them sent again. A message that processes had
/// in hand at two kills is one.
fn resend_unknown(api: &Api) {
    let mut cursor = String::new();
    let mut ids = Vec::new();
    loop {
        let path = format!("/v1/messages?state=unknown&limit=500{cursor}");
        let (_, page) = api.get(&path).unwrap();
        let messages = page["messages"].as_array().unwrap().iter();
        ids.extend(messages.map(|message| message["id"].as_str().unwrap().to_owned()));
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    for id in ids {
        let (status, answer) =
            api.post(&format!("/v1/messages/{id}/resend"), &Value::Null).unwrap();
        assert!(matches!(status, 200 | 202 | 204), "{status} {answer}");
    }
}

/// Waits until nothing waits in a lane any more and every mail has left; how many mails tell each
/// recipient each event then.
fn settle(api: &Api, known: &Known, mails: &Mutex<Told>) -> BTreeMap<(String, u64), u64> {
    let patience = Patience::new();
    loop {
        let missing = {
            let told = mails.lock().unwrap();
            let mut counted = told.counted.clone();
            let mut ids = known.acknowledged.iter();
            ids.find(|id| {
                let number: u64 = id[1..].parse().unwrap();
                let mut to = known.asked[*id].iter();
                to.any(|to| {
                    if told.events.contains_key(&(to.clone(), number)) {
                        return false;
                    }
                    match counted.get_mut(to) {
                        Some(left @ 1..) => {
                            *left -= 1;
                            false
                        }
                        _ => true,
                    }
                })
            })
        };
        let waits = (0..RECIPIENTS).any(|number| api.waits(&name(number)));
        let (_, due) = api.get("/v1/admin/due").unwrap();
        let sending = &due["sending"];
        if missing.is_none() && !waits && *sending == 0 {
            let told = mails.lock().unwrap();
            let times = |(told, mails): (&(String, u64), &BTreeSet<String>)| {
                (told.clone(), mails.len() as u64)
            };
            return told.events.iter().map(times).collect();
        }
        if !waits && *sending == 0 {
            resend_unknown(api);
        }
        patience.wait(|| {
            let became = missing.map(|id| {
                let known = (&known.asked[id], &mails.lock().unwrap().events);
                let of =
                    |to: &String| known.1.get(&(to.clone(), id[1..].parse().unwrap())).cloned();
                let told: Vec<_> = known.0.iter().map(|to| (to, of(to))).collect();
                format!("{id} for {told:?}: {:?}", api.get(&format!("/v1/events/{id}")))
            });
            format!(
                "acknowledged and never told by mail: {became:?}; something waits: {waits}; \
                 {sending} are being sent"
            )
        });
    }
}

/// Waits until everything has left, and checks what was told against what was asked and acknowledged. Each node counts
/// what it sent again.
pub(crate) fn judge(nodes: &[Api], known: &Known, mails: &Mutex<Told>) {
    let api = &nodes[0];
    let by_mail = settle(api, known, mails);
    let resent = nodes.iter().filter_map(|node| node.find_metric("tidings_messages_resent_total"));
    let (again, resent): (u64, u64) = (mails.lock().unwrap().again(), resent.sum());
    println!("{again} mails came more than once, {resent} are counted as sent again");
    assert!(again <= resent, "{again} came more than once, {resent} are counted");
    let by_inbox = told_by_inbox(api);
    for told in [&by_mail, &by_inbox] {
        let twice: Vec<_> = told.iter().filter(|(_, count)| **count > 1).collect();
        assert!(twice.is_empty(), "told twice: {twice:?}");
    }
    let mail: BTreeSet<_> = by_mail.keys().collect();
    let inbox: BTreeSet<_> = by_inbox.keys().collect();
    let apart: Vec<_> = mail.difference(&inbox).collect();
    assert!(apart.is_empty(), "told by mail alone: {apart:?}");
    let mut unnamed: BTreeMap<String, u64> = BTreeMap::new();
    for (recipient, _) in inbox.difference(&mail) {
        *unnamed.entry(recipient.clone()).or_default() += 1;
    }
    let mut counted = mails.lock().unwrap().counted.clone();
    counted.retain(|_, count| *count > 0);
    assert_eq!(unnamed, counted, "told by inbox alone, and counted by mails");
    let mut told = 0;
    for (id, to) in &known.asked {
        let number: u64 = id[1..].parse().unwrap();
        let have: BTreeSet<&String> =
            to.iter().filter(|to| by_inbox.contains_key(&((*to).clone(), number))).collect();
        // What nobody acknowledged happened whole or not at all.
        let all_or_nothing = have.is_empty() || have.len() == to.len();
        let all = have.len() == to.len() || !known.acknowledged.contains(id);
        assert!(all_or_nothing && all, "{id} reached {have:?} of {to:?}");
        told += have.len();
    }
    assert_eq!(told, by_inbox.len(), "told to somebody whom nobody asked for");
    println!(
        "{} events acknowledged, {} asked; {told} notifications",
        known.acknowledged.len(),
        known.asked.len()
    );
}
