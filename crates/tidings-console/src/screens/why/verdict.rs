//! The answer to "why", in a sentence for each channel: what became of the event there, the rule that decided, and what
//! would have to differ.

use minijinja::{Value as Shown, context};
use serde_json::Value;

use crate::sentence::Sentence;
use crate::words::channel;

/// The answer for a channel, or for all.
pub(crate) struct Answer {
    pub(crate) sentence: Sentence,
    /// The difference that would have had it sent; `None` = it was sent.
    pub(crate) otherwise: Option<&'static str>,
    /// The class of its colour.
    pub(super) tone: &'static str,
}

impl Answer {
    /// The sentence, and what would have to differ.
    pub(crate) fn plain(&self) -> String {
        let otherwise = self.otherwise.map(|otherwise| format!(" {otherwise}"));
        self.sentence.plain() + &otherwise.unwrap_or_default()
    }

    pub(super) fn shown(&self) -> Shown {
        context! { sentence => self.sentence.shown(), otherwise => self.otherwise, tone => self.tone }
    }
}

/// The answers of an explanation, as `POST /v1/explain` has it for a recipient: what was not told comes first, since
/// that is what is asked about.
pub(crate) fn answers(explained: &Value) -> Vec<Answer> {
    let recipient = explained["recipient"].as_str().unwrap_or_default();
    let channels = rows(&explained["channels"]);
    let ended = rows(&explained["steps"]).iter().find(|step| step["ends"] == true);
    if let Some(step) = ended.filter(|_| channels.is_empty()) {
        let sentence = Sentence::new(format!("{recipient} was not told: {}.", because(step)));
        return vec![Answer { sentence, otherwise: Some(otherwise(step)), tone: "state-off" }];
    }
    if channels.is_empty() {
        let sentence = Sentence::new("The type has no channel that the event allows.");
        return vec![Answer { sentence, otherwise: None, tone: "state-off" }];
    }
    let mut answers: Vec<(u8, Answer)> = channels.iter().map(answer).collect();
    answers.sort_by_key(|(order, _)| *order);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

/// The index of the step of a channel that decided.
pub(super) fn deciding(path: &Value) -> Option<usize> {
    let steps = rows(&path["steps"]);
    let last = |rules: &[&str]| {
        steps.iter().rposition(|step| rules.iter().any(|rule| step["rule"] == *rule))
    };
    if let Some(ends) = steps.iter().rposition(|step| step["ends"] == true) {
        return Some(ends);
    }
    match path["state"].as_str().unwrap_or_default() {
        "delivered" | "sending" => last(&["delivery"]).or(last(&["message"])),
        "scheduled" => last(&["schedule"]),
        _ => {
            // What moved the deadline last, or else set it.
            let moved = steps.iter().rposition(|step| {
                let moves = ["moves it to their end", "keeps the window open"];
                let result = step["result"].as_str().unwrap_or_default();
                moves.iter().any(|begin| result.starts_with(begin))
            });
            last(&["hold"])
                .or(moved)
                .or(last(&["message"]))
                .or(last(&["deadline"]))
                .or(last(&["lane"]))
        }
    }
}

/// The answer of a channel, and its place among the others.
fn answer(path: &Value) -> (u8, Answer) {
    let steps = rows(&path["steps"]);
    let name = channel(path["channel"].as_str().unwrap_or_default());
    let bare = name.strip_prefix("the ").unwrap_or(name);
    let decided = deciding(path).and_then(|index| steps.get(index));
    let at = path["at"].as_str();
    let state = path["state"].as_str().unwrap_or_default();
    let found = |rule: &str| steps.iter().rfind(|step| step["rule"] == rule);
    let lane = found("lane").map(|step| text(step, "looked_at")).unwrap_or_default();
    let no = |sentence: Sentence| Answer {
        sentence,
        otherwise: decided.map(otherwise),
        tone: if state == "failed" { "state-failed" } else { "state-off" },
    };
    let why = decided.map_or_else(|| "no rule of it is kept".to_owned(), because);
    match state {
        "delivered" if path["channel"] == "inbox" => {
            let mark =
                found("seen").filter(|step| text(step, "looked_at") == "the marks of the inbox");
            let sentence = Sentence::new("In the inbox").at(" since ", at);
            let sentence = match mark {
                Some(mark) if text(mark, "result").contains("read") => {
                    sentence.at(", read by ", mark["at"].as_str())
                }
                Some(mark) => sentence.at(", seen by ", mark["at"].as_str()),
                None => sentence.text(", not seen yet"),
            };
            (4, sent(sentence.text(".")))
        }
        "delivered" => (3, sent(Sentence::new(format!("Sent by {name}")).at(" ", at).text("."))),
        "sending" if at.is_some() => {
            let tries = decided.map(|step| text(step, "looked_at")).unwrap_or_default();
            let sentence = Sentence::new(format!("Not sent by {name} yet: {tries}"));
            (1, waits(sentence.at(", the next is ", at).text(".")))
        }
        "sending" => (2, waits(Sentence::new(format!("Being sent by {name} now.")))),
        "scheduled" => {
            (2, waits(Sentence::new(format!("Scheduled for {name}")).at(", ", at).text(".")))
        }
        "pending" => (1, waiting(path, decided, bare, lane)),
        "failed" => (
            0,
            no(Sentence::new(format!("The {bare} failed")).at(" ", at).text(format!(": {why}."))),
        ),
        "unknown" => {
            let sentence = Sentence::new(format!("It is not known whether the {bare} arrived"));
            let sentence = sentence.at(" (", at).text(format!("): {why}."));
            (0, Answer { tone: "state-failed", ..no(sentence) })
        }
        _ => {
            let begin = format!("No {bare}: {why}");
            (0, no(Sentence::new(begin).at(", decided ", at).text(".")))
        }
    }
}

fn sent(sentence: Sentence) -> Answer {
    Answer { sentence, otherwise: None, tone: "state-ok" }
}

fn waits(sentence: Sentence) -> Answer {
    Answer { sentence, otherwise: None, tone: "state-wait" }
}

/// The answer of an entry that waits.
fn waiting(path: &Value, decided: Option<&Value>, bare: &str, lane: &str) -> Answer {
    let at = path["at"].as_str();
    let steps = rows(&path["steps"]);
    let is_being_made = steps.iter().any(|step| text(step, "result") == "it is being made");
    let held = steps.iter().find(|step| step["rule"] == "hold");
    let sentence = if is_being_made {
        Sentence::new(format!("The {bare} is being made, due")).at(" since ", at)
    } else if let Some(held) = held {
        Sentence::new(format!("The {bare} is held: {}", text(held, "looked_at")))
    } else if lane.is_empty() {
        // It waits for nothing: its policy is to go at once.
        Sentence::new(format!("The {bare} is due")).at(" at ", at)
    } else if at.is_some() {
        Sentence::new(format!("The {bare} waits in {lane}")).at(" until ", at)
    } else {
        Sentence::new(format!("The {bare} waits in {lane}, without a due time at present"))
    };
    match decided.filter(|step| step["ends"] == true) {
        // The look ahead: what would end it if it were due now.
        Some(step) => {
            let sentence =
                sentence.text(format!("; as things are it will be left out: {}.", because(step)));
            Answer { otherwise: Some(otherwise(step)), ..waits(sentence) }
        }
        None => waits(sentence.text(".")),
    }
}

/// The rule that ended it, in words.
fn because(step: &Value) -> String {
    quoted(&reason(step))
}

/// A text with quotation marks in place of those of code.
fn quoted(text: &str) -> String {
    let mut is_open = false;
    text.chars()
        .map(|letter| match letter {
            '`' => {
                is_open = !is_open;
                if is_open { '“' } else { '”' }
            }
            letter => letter,
        })
        .collect()
}

fn reason(step: &Value) -> String {
    let (looked_at, result) = (text(step, "looked_at"), text(step, "result"));
    match step["rule"].as_str().unwrap_or_default() {
        "preference" if looked_at == "the type's policy is never" || result.starts_with("the type's policy is never") => {
            "the type’s own policy there is never".to_owned()
        }
        "preference" => match looked_at.strip_prefix("muted: ") {
            Some(muted) => format!("they muted {muted}"),
            None if looked_at.starts_with("a preference or a mute") => {
                "a preference or a mute ended it, which is another now".to_owned()
            }
            None => format!("they chose so ({looked_at})"),
        },
        "mute" => format!("they muted {looked_at}"),
        "audience" if result == "left out by `except`" => "the event’s `except` names them".to_owned(),
        "audience" if result.starts_with("there was no entry") => {
            "there was no notification when it arrived; audience, preferences or rules were others than now".to_owned()
        }
        "audience" => format!("{result} ({looked_at})"),
        "actor" => "they did it themselves, and actors are left out of their own events".to_owned(),
        "admission" => format!("the type admits {} ({result})", looked_at.replace('_', " ")),
        "type" => format!("the type {looked_at} is not configured"),
        "recipient" if looked_at == "disabled" => "they are disabled".to_owned(),
        "recipient" => "they were gone or disabled when it was due".to_owned(),
        "tenant" => format!("the tenant {looked_at} is deleted or disabled"),
        "expires_at" => format!("it expired at {looked_at}"),
        "condition" => format!("the type’s condition did not hold ({looked_at})"),
        "object" => format!("its object {looked_at} was withdrawn, or is not notifiable"),
        "seen" => match looked_at.rsplit_once("; seen by ") {
            Some((_, at)) => format!("they saw it in the inbox first (by {at})"),
            None => "they saw it in the inbox first".to_owned(),
        },
        "look_back" => format!("it was older than `look_back` ({looked_at}) by then"),
        "address" if looked_at == "none" => "they have no address there".to_owned(),
        "address" => "the channel’s `allow` list leaves their address out".to_owned(),
        "suppression" => format!("their address was suppressed ({looked_at})"),
        "cancel" => format!("it was cancelled ({looked_at})"),
        "delivery" => looked_at.to_owned(),
        rule => format!("by the rule {rule}: {looked_at}"),
    }
}

/// The difference that would lead to the other outcome.
fn otherwise(step: &Value) -> &'static str {
    match step["rule"].as_str().unwrap_or_default() {
        "preference" => "With another preference it goes by the type’s policy.",
        "mute" => "Without that mute it goes by the type’s policy.",
        "audience" => {
            "They would have to be named, follow one of its topics, or be within one of its circles when it arrives."
        }
        "actor" => "`include_actor = true` of the type tells actors of their own events.",
        "admission" => "`admission = \"always\"` of the type tells them of each event.",
        "type" => "The type would have to be configured when it is due.",
        "recipient" => "They would have to be there and active when it is due.",
        "tenant" => "The tenant would have to be active.",
        "expires_at" => "A later `expires_at`, or an earlier deadline.",
        "condition" => "The condition would have to hold when the message is made.",
        "object" => "The object would have to be there and notifiable when the message is made.",
        "seen" => {
            "Had they not seen it first it would have gone out; `drop_if_seen = false` of the type sends it anyway."
        }
        "look_back" => "A longer `look_back` of the type, or an earlier deadline.",
        "address" => "They need an address there that the channel allows.",
        "suppression" => {
            "Lift the suppression: what comes later goes out again, this does not come back by itself."
        }
        "cancel" => "Nobody would have to cancel it.",
        "delivery" => {
            "The provider would have to take it. Mend what it says, then retry the message."
        }
        _ => "That rule would have to let it pass.",
    }
}

fn text<'a>(step: &'a Value, name: &str) -> &'a str {
    step[name].as_str().unwrap_or_default()
}

fn rows(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests;
