//! The quick start in the README of the product, to the letter but for the address, run against a server.

use tidings_client::Client;
use tidings_client::api::InboxQuery;
use tidings_client::types::{Audience, Event, EventObject, RecipientChange};

use crate::server::Server;

#[rustfmt::skip]
async fn printed(url: &str, key: &str) -> tidings_client::Result<()> {
    let tidings = Client::new(url, key)?;
    tidings.recipients().upsert("ana", &RecipientChange::new().email("ana@example.org")).await?;
    let event = Event::new("comment", EventObject::new("note-7"), Audience::new().recipients(["ana"])).actor("ben");
    tidings.events().publish(&event).await?;
    println!("{}", tidings.inbox().page("ana", &InboxQuery::new()).await?.unread);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_quick_start_of_the_product_is_run_as_it_is_printed() {
    let readme = include_str!("../../../../README.md");
    let mut blocks = readme.split("\n```rust\n").skip(1);
    let shown = blocks.next().and_then(|rest| rest.split("\n```").next()).unwrap();
    assert!(blocks.next().is_none(), "only the first block is run");
    let shown = shown.replace("\"http://127.0.0.1:8990\"", "url");
    let of_function = include_str!("readme.rs").lines().map(str::trim);
    let run: Vec<&str> = of_function
        .skip_while(|line| !line.starts_with("async fn printed"))
        .skip(1)
        .take_while(|line| *line != "Ok(())")
        .collect();
    assert_eq!(shown.lines().collect::<Vec<_>>(), run);

    let Some(server) = Server::start() else { return };
    printed(&server.url, &server.key).await.unwrap();
    let inbox = server.client().inbox().page("ana", &InboxQuery::new()).await.unwrap();
    assert_eq!((inbox.unread, inbox.groups.len()), (1, 1));
    assert_eq!(inbox.groups[0].items[0].object.id, "note-7");
}
