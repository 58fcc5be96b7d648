//! Figures by commands: of a store, and of a timeline that is played.

use super::*;

#[test]
fn figures_are_tables_for_people_and_for_programs() {
    for world in [World::new(), World::served()] {
        let world = world.with_people();
        let event = ["publish", "--type", "note", "--object", "o", "--id", "e1"];
        world.run(&[&event[..], &["--topic", "artist/1"]].concat()).done();
        let asked = ["figures", "--by", "type", "--measure", "events,notifications"];
        let shown = world.run(&asked).done().out;
        let rows: Vec<Vec<&str>> =
            shown.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["TYPE", "EVENTS", "NOTIFICATIONS"], "{shown}");
        assert_eq!(rows[1], ["note", "1", "1"], "{shown}");
        assert!(shown.contains("There are no figures of 27 days"), "{shown}");
        let table = world.run(&[&asked[..], &["--csv"]].concat()).done().out;
        assert_eq!(table, "type,events,notifications\r\nnote,1,1\r\n");
        let answer = world.run(&["figures", "--json"]).done().json();
        assert_eq!(answer["rows"][0]["events"], 1);
        assert!(answer["rows"][0]["day"].is_string(), "by day if nothing is said: {answer}");
        let refused = world.run(&["figures", "--by", "typ"]);
        assert!(refused.code != 0 && refused.err.contains("type"), "{}", refused.err);
    }
}

#[test]
fn a_simulation_prints_figures_before_its_summary() {
    let world = World::new();
    let lines = [
        r#"{"at":"2024-03-01T12:00:00Z","op":"recipient","id":"ada"}"#,
        r#"{"at":"2024-03-01T12:00:00Z","op":"publish","id":"e1","type":"note","object":{"id":"o"},"to":{"everyone":true}}"#,
        r#"{"at":"2024-03-01T13:00:00Z","op":"seen","recipient":"ada","event":"e1"}"#,
    ];
    let timeline = world.file("t.ndjson", &lines.join("\n"));
    let config = world.path("tidings.toml");
    let simulate =
        ["simulate", "--config", config.to_str().unwrap(), "--timeline", &timeline, "--figures"];
    let printed = ran(&[&simulate[..], &["--json"]].concat()).done().lines();
    let [.., figures, summary] = &printed[..] else { panic!("{printed:?}") };
    assert!(summary["summary"].is_object(), "{summary}");
    let rows = figures["figures"].as_array().unwrap();
    let of: Vec<_> = rows.iter().map(|row| (&row["day"], &row["type"], &row["channel"])).collect();
    let (first, note) = (json!("2024-03-01"), json!("note"));
    assert!(of.contains(&(&first, &note, &json!("inbox"))), "{of:?}");
    let inbox = rows.iter().find(|row| row["channel"] == "inbox").unwrap();
    assert_eq!(
        (&inbox["entries"], &inbox["items"], &inbox["seen"]),
        (&json!(1), &json!(1), &json!(1))
    );
    let shown = ran(&simulate).done().out;
    assert!(shown.contains("DAY") && shown.contains("ENDED.DELIVERED"), "{shown}");
}
