//! The quick start: `TIDINGS_URL=http://127.0.0.1:8990 TIDINGS_KEY=… cargo run --example quickstart`.

use tidings_client::Client;
use tidings_client::api::InboxQuery;
use tidings_client::types::{Audience, Event, EventObject, RecipientChange};

/// Makes a recipient, publishes an event, and reads the inbox.
pub(crate) async fn run(tidings: Client) -> tidings_client::Result<Vec<String>> {
    let ana = RecipientChange::new().email("ana@example.org").name("Ana Ruiz");
    tidings.recipients().upsert("ana", &ana).await?;
    let plan = EventObject::new("note-7").title("Plan");
    let event =
        Event::new("comment", plan, Audience::new().recipients(["ana"])).id("c1").actor("ben");
    tidings.events().publish(&event).await?;
    let groups = tidings.inbox().list("ana", &InboxQuery::new()).all().await?;
    Ok(groups.into_iter().map(|group| format!("{} ({})", group.text, group.count)).collect())
}

/// Asks the server of the quick start.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    for line in run(Client::from_env()?).await? {
        println!("{line}");
    }
    Ok(())
}
