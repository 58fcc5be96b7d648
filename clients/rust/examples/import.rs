//! An import of people: `TIDINGS_KEY=… cargo run --example import`.

use tidings_client::types::NamedRecipient;
use tidings_client::{Client, Imported};

/// Imports so many people, and says who was refused.
pub(crate) async fn run(url: &str, key: &str, people: u32) -> tidings_client::Result<Imported> {
    let tidings = Client::new(url, key)?;
    let people = (0..people).map(|n| {
        NamedRecipient::new(format!("person/{n}")).name(format!("Person {n}")).tz("Europe/Paris")
    });
    let imported = tidings.recipients().import(people).run().await?;
    for rejected in &imported.rejected {
        eprintln!("line {:?}: {}", rejected.line, rejected.problem);
    }
    Ok(imported)
}

/// Imports them into the server of the quick start.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let imported = run("http://127.0.0.1:8990", &std::env::var("TIDINGS_KEY")?, 5_000).await?;
    println!("{} of {} people", imported.done, imported.lines);
    Ok(())
}
