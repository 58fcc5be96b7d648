//! The examples, run against a server.

use crate::server::Server;

#[allow(dead_code, reason = "its main function is for cargo run")]
#[path = "../../examples/quickstart.rs"]
mod quickstart;

#[allow(dead_code, reason = "its main function is for cargo run")]
#[path = "../../examples/import.rs"]
mod import;

#[tokio::test(flavor = "multi_thread")]
async fn examples_run() {
    let Some(server) = Server::start() else { return };
    let lines = quickstart::run(server.client()).await.unwrap();
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains("Plan") && lines[0].ends_with("(1)"), "{lines:?}");
    let imported = import::run(&server.url, &server.key, 2_100).await.unwrap();
    assert_eq!((imported.lines, imported.done, imported.rejected.len()), (2_100, 2_100, 0));
}

#[test]
fn the_quick_start_of_the_readme_is_the_example() {
    let readme = include_str!("../../README.md");
    let example = include_str!("../../examples/quickstart.rs");
    let code = readme.split("```").nth(1).expect("the README has code");
    let code =
        if code.contains("Client::new") { code } else { readme.split("```").nth(3).unwrap() };
    let shown: Vec<&str> = code
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("let ") || line.starts_with("tidings."))
        .filter(|line| !line.contains("Client::new") && !line.contains(".list("))
        .collect();
    assert!(shown.len() >= 4, "{shown:?}");
    // Lines are broken where they are too long.
    let spaceless = |text: &str| text.split_whitespace().collect::<String>();
    let example = spaceless(example);
    for line in shown {
        assert!(example.contains(&spaceless(line)), "the example lacks: {line}");
    }
}
