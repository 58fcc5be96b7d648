//! The documents print what happens: the README's first configuration, its timeline and their
//! outcome, and every command of a shell block.

#![allow(clippy::unwrap_used, reason = "a test ends where something is not as it should be")]

mod serving;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The blocks of the README that begin with this fence.
fn blocks(fence: &str) -> Vec<String> {
    blocks_of("README.md", fence)
}

/// The blocks of a page that begin with this fence.
fn blocks_of(page: &str, fence: &str) -> Vec<String> {
    let page = fs::read_to_string(root().join(page)).unwrap();
    let opened = format!("\n```{fence}\n");
    let after = page.split(&opened).skip(1);
    after.map(|rest| format!("{}\n", rest.split("\n```").next().unwrap())).collect()
}

fn file(name: &str) -> String {
    fs::read_to_string(root().join("examples/first").join(name)).unwrap()
}

#[test]
fn the_first_files_are_those_that_are_printed() {
    assert_eq!(blocks("toml"), [file("tidings.toml")]);
    let timelines = blocks_of("docs/deciding.md", "json");
    assert_eq!(timelines, [file("timeline.ndjson")]);
}

#[test]
fn the_first_simulation_ends_as_printed() {
    let shown = blocks("sh");
    let command = shown.iter().find(|block| block.contains("simulate")).unwrap();
    let words = command.replace("\\\n", " ");
    let words = words.trim().strip_prefix("cargo run --release --").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_tidings"))
        .current_dir(root())
        .args(words.split_whitespace())
        .output()
        .unwrap();
    assert!(output.status.success());
    assert_eq!(blocks("text")[0], String::from_utf8(output.stdout).unwrap());
}

#[test]
fn the_models_end_as_printed() {
    let commands = blocks_of("docs/modelling.md", "sh");
    let printed = blocks_of("docs/modelling.md", "text");
    assert_eq!((commands.len(), printed.len()), (3, 3));
    for (command, printed) in commands.iter().zip(printed) {
        let words = command.trim().strip_prefix("tidings").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_tidings"))
            .current_dir(root())
            .args(words.split_whitespace())
            .output()
            .unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
        let out = String::from_utf8(output.stdout).unwrap();
        let (messages, _) = out.split_once("\n\n").unwrap();
        assert_eq!(printed.trim_end(), messages.trim_end(), "{command}");
    }
}

#[test]
fn there_are_exactly_two_commands_before_the_rest() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (start, _) = readme.split_once("\n## ").unwrap();
    let commands: Vec<&str> = start.split("```sh").skip(1).collect();
    let commands: Vec<&str> = commands
        .iter()
        .map(|block| block.split("\n```").next().unwrap())
        .map(|block| block.split_once('\n').unwrap().1)
        .collect();
    assert_eq!(commands, ["cargo run --release -- demo", "cargo xtask test"]);
}

/// The port that the documents name.
const PORT: &str = "8990";

/// The start of the info string of a block that is shown and not run; the reason follows.
const NOT_RUN: &str = "sh not run: ";

/// The pages whose commands are run.
fn documents() -> Vec<PathBuf> {
    let pages = fs::read_dir(root().join("docs")).unwrap();
    let pages = pages.map(|entry| entry.unwrap().path());
    let is_page = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
    let mut pages: Vec<PathBuf> = pages.filter(is_page).collect();
    pages.sort();
    pages.insert(0, root().join("README.md"));
    pages
}

/// The shell blocks of a page that are to be run, each with the line where it begins. A block that is
/// not run says so and why: "```sh not run: REASON".
fn shell_blocks(page: &str) -> Vec<(usize, String)> {
    let mut blocks = Vec::new();
    let mut lines = (1..).zip(page.lines());
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            continue;
        };
        let body = lines.by_ref().map(|(_, line)| line);
        let body: Vec<&str> = body.take_while(|line| *line != "```").collect();
        match info.split(' ').next() {
            Some("sh") if info == "sh" => blocks.push((number, body.join("\n"))),
            Some("sh") => {
                let reason = info.strip_prefix(NOT_RUN).unwrap_or_default();
                assert!(reason.len() > 8, "line {number}: `{NOT_RUN}REASON`");
            }
            Some("bash" | "shell" | "console" | "zsh") => {
                panic!("line {number}: commands stand in a block of `sh`, so that they are run")
            }
            _ => {}
        }
    }
    blocks
}

/// A command as it is run here: this binary, on a free port, a server in the background.
fn as_run(command: &str, port: u16) -> String {
    let command = command.replace("cargo run --release -- ", "tidings ");
    let command = command.replace(PORT, &port.to_string());
    if command.starts_with("cargo install ") {
        return ":".to_owned();
    }
    if command.starts_with("cat mail/new/") {
        // A person takes longer to type than the mail takes to arrive.
        return format!(
            "for _ in {{1..600}}; do compgen -G 'mail/new/*' > /dev/null && break; sleep 0.1; done; {command}"
        );
    }
    if !command.starts_with("tidings serve ") {
        return command;
    }
    let command = command.split(" #").next().unwrap_or_default();
    let command = command.trim_end().trim_end_matches('&').trim_end();
    let listen = if command.contains("--listen") {
        String::new()
    } else {
        format!("--listen 127.0.0.1:{port}")
    };
    format!(
        "{command} {listen} >> ~/serve.log 2>&1 &\n\
         for _ in {{1..600}}; do curl http://127.0.0.1:{port}/readyz > /dev/null 2>&1 && break; sleep 0.1; done"
    )
}

/// All blocks of a page as one script. Every command must succeed; the server ends with the script.
fn script(blocks: &[(usize, String)], port: u16) -> String {
    let mut script =
        "set -euo pipefail\ntrap 'kill $(jobs -p) 2> /dev/null || true; wait' EXIT\n".to_owned();
    for (number, block) in blocks {
        writeln!(script, "echo 'the block of line {number}' >&2").unwrap();
        // A command goes on behind a backslash.
        let commands = block.replace("\\\n", " ");
        for command in commands.lines() {
            writeln!(script, "{}", as_run(command, port)).unwrap();
        }
    }
    script
}

/// Prepares what the pages take for granted: the examples, a configuration and what is imported.
fn prepare(dir: &Path) {
    let bin = dir.join("bin");
    fs::create_dir(&bin).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_tidings"), bin.join("tidings")).unwrap();
    // An answer that is an error is a command that failed.
    fs::write(dir.join(".curlrc"), "fail\nsilent\nshow-error\n").unwrap();
    for example in ["art", "first", "inbox", "modelling"] {
        let to = dir.join("examples").join(example);
        fs::create_dir_all(&to).unwrap();
        for file in fs::read_dir(root().join("examples").join(example)).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), to.join(file.file_name())).unwrap();
        }
    }
    fs::write(dir.join("tidings.toml"), file("tidings.toml")).unwrap();
    fs::write(dir.join("people.csv"), "id,email\nann,ann@example.org\n").unwrap();
    let follows = "{\"recipient\":\"ann\",\"topic\":\"artist/1\"}\n";
    fs::write(dir.join("follows.ndjson"), follows).unwrap();
}

#[test]
fn every_command_of_a_document_does_what_it_says() {
    if !(serving::can_run("bash") && serving::can_run("curl")) {
        return;
    }
    let mut ran = 0;
    for page in documents() {
        let blocks = shell_blocks(&fs::read_to_string(&page).unwrap());
        if blocks.is_empty() {
            continue;
        }
        ran += blocks.len();
        let dir = tempfile::tempdir().unwrap();
        prepare(dir.path());
        let port = {
            let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            free.local_addr().unwrap().port()
        };
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", dir.path().join("bin").display());
        let output = Command::new("bash")
            .args(["-c", &script(&blocks, port)])
            .current_dir(dir.path())
            .env("HOME", dir.path())
            .env("PATH", path)
            .env("TIDINGS_URL", format!("http://127.0.0.1:{port}"))
            .env("PORT", "0")
            .env_remove("TIDINGS_KEY")
            .env_remove("TIDINGS_DATA")
            .output()
            .unwrap();
        let log = fs::read_to_string(dir.path().join("serve.log")).unwrap_or_default();
        assert!(
            output.status.success(),
            "{}: {}{}{log}",
            page.display(),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        if page.ends_with("README.md") {
            answers_as_printed(&String::from_utf8_lossy(&output.stdout));
            mails_as_printed(dir.path());
        }
    }
    assert!(ran > 3, "there are commands in the documents");
}

/// The README's JSON of the answer to a publish is what the server answers, and its inbox begins as the command prints it.
fn answers_as_printed(output: &str) {
    let answers = output.find("[{").unwrap_or(output.len());
    let stream = serde_json::Deserializer::from_str(&output[answers..]);
    let told: Vec<serde_json::Value> =
        stream.into_iter::<serde_json::Value>().map_while(Result::ok).take(1).collect();
    let printed: Vec<_> = blocks("json")
        .into_iter()
        .map(|block| serde_json::from_str::<serde_json::Value>(&block).unwrap())
        .collect();
    assert_eq!(printed.len(), 1);
    assert_eq!(told, printed);
    let inbox = blocks("text")[1].lines().next().unwrap_or_default().to_owned();
    assert!(!inbox.is_empty() && output.contains(&inbox), "{inbox}: {output}");
}

/// The README's text of a mail is the text part of the mail that its commands send, but for the date.
fn mails_as_printed(dir: &Path) {
    let mails: Vec<PathBuf> =
        fs::read_dir(dir.join("mail/new")).unwrap().map(|mail| mail.unwrap().path()).collect();
    assert_eq!(mails.len(), 1);
    let mail = fs::read(&mails[0]).unwrap();
    let mail = mail_parser::MessageParser::default().parse(&mail).unwrap();
    let days = ["Mon", "Tues", "Wednes", "Thurs", "Fri", "Satur", "Sun"];
    let undated = |text: &str| -> Vec<String> {
        let cut = |line: &str| {
            let day = days.iter().filter_map(|day| line.find(&format!("{day}day, ")));
            line[..day.min().unwrap_or(line.len())].to_owned()
        };
        text.trim().lines().map(cut).collect()
    };
    let text = mail.body_text(0).unwrap();
    assert_eq!(undated(&blocks("text")[2]), undated(&text));
}

#[test]
fn a_block_is_run_unless_it_says_why_not() {
    let page = "a\n```sh\ntidings x \\\n  y\n```\n```sh not run: takes a minute\nz\n```\n```toml\nsh\n```\n";
    assert_eq!(shell_blocks(page), [(2, "tidings x \\\n  y".to_owned())]);
    let run = script(&shell_blocks(page), 1);
    assert!(run.ends_with("tidings x    y\n"), "{run}");
    assert!(
        as_run("tidings serve --data d &  # so", 7)
            .starts_with("tidings serve --data d --listen 127.0.0.1:7 >>")
    );
    assert_eq!(as_run("curl http://127.0.0.1:8990/x", 7), "curl http://127.0.0.1:7/x");
    for odd in ["```sh not run:\n```\n", "```sh -x\n```\n", "```bash\n```\n"] {
        assert!(std::panic::catch_unwind(|| shell_blocks(odd)).is_err(), "{odd}");
    }
}
