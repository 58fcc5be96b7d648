//! tidings within a program: it opens a store, publishes events, and sends the messages itself.

use std::error::Error;
use std::path::Path;

use serde_json::json;
use tidings::embed::Tidings;

fn main() -> Result<(), Box<dyn Error>> {
    let tidings = Tidings::open(rules()?, Path::new("data"))?;
    comment(&tidings, "c1", "Ben")?;
    comment(&tidings, "c2", "Cy")?;
    // Four minutes of quiet later both go out as one message.
    if let Some(message) = tidings.messages().iter().next() {
        println!("to {}: {}", message.to[0], message.title);
        message.sent();
    }
    println!("{}", tidings.call("GET", "/v1/recipients/ana/inbox", &())?);
    Ok(tidings.close()?)
}

fn rules() -> Result<tidings::Rules, tidings::config::Faults> {
    tidings::config::parse(include_str!("../tidings.toml"), "tidings.toml")
}

fn comment(tidings: &Tidings, id: &str, actor: &str) -> Result<(), tidings::embed::CallFault> {
    let ana = json!({"id": "ana", "addresses": {"sms": "+15550100"}});
    tidings.publish(&json!({
        "id": id, "type": "comment", "actor": {"id": actor, "title": actor},
        "object": {"id": "notes/7", "title": "Frames"}, "to": {"recipients": [ana]},
    }))?;
    Ok(())
}

#[cfg(test)]
mod tests;
