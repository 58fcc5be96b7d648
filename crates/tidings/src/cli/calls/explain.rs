//! `tidings explain`, and the text of explanations.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::cli::calls::Call;
use crate::cli::print::table::{Table, cell, list};
use crate::cli::reach::To;
use crate::client::Request;

/// `tidings explain`.
#[derive(clap::Args)]
pub(in crate::cli) struct Explain {
    /// Event id; or a hypothetical event, as JSON: nothing is published
    event: String,
    /// Recipient id
    recipient: String,
    #[command(flatten)]
    to: To,
}

impl Call for Explain {
    fn to(&self) -> &To {
        &self.to
    }

    fn request(&self) -> Request {
        Request::question("/v1/explain".to_owned()).json(&body(&self.event, &self.recipient))
    }

    fn write(&self, answer: &Value, out: &mut dyn Write) -> io::Result<()> {
        write(answer, out)
    }
}

/// The body of the call. What begins like a JSON object is a supposed event; what is wrong with it the call says.
pub(in crate::cli) fn body(event: &str, recipient: &str) -> Value {
    let supposed =
        event.trim_start().starts_with('{').then(|| serde_json::from_str::<Value>(event).ok());
    let event = supposed.flatten().unwrap_or_else(|| json!(event));
    json!({"event": event, "recipient": recipient})
}

/// Writes an explanation for people: the rules as a table, then a line for each channel.
pub(in crate::cli) fn write(answer: &Value, out: &mut dyn Write) -> io::Result<()> {
    let supposed = match answer.get("supposed") {
        Some(Value::Bool(true)) => "supposed event",
        _ => "event",
    };
    let [event, kind, recipient, as_of] =
        ["event", "type", "recipient", "as_of"].map(|field| cell(answer, field));
    writeln!(out, "{supposed} {event} ({kind}) for {recipient}, as of {as_of}\n")?;
    let mut table = Table::new(&["CHANNEL", "RULE", "AT", "RESULT", "LOOKED AT"]);
    let mut add = |channel: &str, steps: &[Value]| {
        for step in steps {
            let cells = ["rule", "at", "result", "looked_at"].map(|field| cell(step, field));
            table.whole_row([channel.to_owned()].into_iter().chain(cells));
        }
    };
    add("", list(answer, "steps"));
    let channels = list(answer, "channels");
    for channel in channels {
        add(&cell(channel, "channel"), list(channel, "steps"));
    }
    table.write_all(out)?;
    writeln!(out)?;
    for channel in channels {
        let [name, state, reason, at] =
            ["channel", "state", "reason", "at"].map(|field| cell(channel, field));
        let reason = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
        let at = match (&*state, at.is_empty()) {
            (_, true) => String::new(),
            ("pending", false) => format!(", due {at}"),
            (_, false) => format!(", {at}"),
        };
        let state = match &*state {
            "none" => "no entry",
            state => state,
        };
        writeln!(out, "{name}: {state}{reason}{at}")?;
    }
    if channels.is_empty() {
        writeln!(out, "no entry on any channel")?;
    }
    Ok(())
}
