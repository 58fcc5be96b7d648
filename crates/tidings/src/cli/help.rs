//! The help of the command line: commands in groups by purpose, and an example under each.
//!
//! `clap` lists commands in one row and has no groups of its own, so the list stands in the template of the help.

use std::fmt::Write as _;

/// A command and an example of its use, without the program's name.
type Example = (&'static str, &'static str);

/// The groups of commands in their order.
const GROUPS: &[(&str, &[Example])] = &[
    (
        "Run",
        &[
            ("serve", "serve --config tidings.toml --data data"),
            ("demo", "demo"),
            ("check", "check tidings.toml"),
            ("config", "config"),
            ("types", "types --config tidings.toml"),
            ("template", "template --config tidings.toml"),
            ("outbox", "outbox sql --feed app"),
            ("completions", "completions bash"),
            ("man", "man /usr/local/share/man/man1"),
        ],
    ),
    (
        "Change",
        &[
            ("publish", "publish --type comment --object posts/1 --recipient ada"),
            ("import", "import people.csv --kind recipients --data data"),
            ("cancel", "cancel --cancellation-key invoice-42"),
            ("withdraw", "withdraw comment-17"),
            ("flush", "flush ada --channel email"),
            ("pause", "pause channel email"),
            ("resume", "resume channel email"),
            ("suppressions", "suppressions add ada@example.org"),
            ("tenant", "tenant set acme --name Acme"),
            ("forget", "forget --before 2024-01-31"),
        ],
    ),
    (
        "Look",
        &[
            ("status", "status --data data"),
            ("explain", "explain comment-17 ada"),
            ("messages", "messages --recipient ada"),
            ("pending", "pending ada"),
            ("due", "due"),
            ("event", "event comment-17"),
            ("recipient", "recipient ada"),
            ("inbox", "inbox ada"),
            ("preview", "preview comment --open"),
            ("feeds", "feeds --json"),
            ("hooks", "hooks replay app --since 2h"),
            ("nodes", "nodes --store postgres://tidings@db/tidings"),
        ],
    ),
    (
        "Decide",
        &[
            ("simulate", "simulate --config tidings.toml --timeline week.ndjson"),
            ("tune", "tune --timeline week.ndjson --mean-per-day 3"),
            ("export", "export --days 7 --data data"),
            ("bench", "bench fanout"),
        ],
    ),
    (
        "Operate",
        &[
            ("key", "key new --name app --data data"),
            ("signing-key", "signing-key new --name app --data data"),
            ("token", "token ada --for 15m"),
            ("backup", "backup --to tidings.backup --data data"),
            ("restore", "restore --from tidings.backup --data data"),
        ],
    ),
];

/// Groups the commands in the help, and puts an example under the help of each.
pub(super) fn grouped(mut command: clap::Command) -> clap::Command {
    let mut list = String::new();
    for (group, examples) in GROUPS {
        let mut rows = String::new();
        for (name, example) in *examples {
            let Some(about) = command.find_subcommand(name).and_then(clap::Command::get_about)
            else {
                continue;
            };
            let _ = writeln!(rows, "  {name:<14}{about}");
            let after = format!("Example:\n  tidings {example}");
            command = command.mut_subcommand(name, |of| of.after_help(after));
        }
        let _ = write!(list, "{group}:\n{rows}\n");
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}Options:\n{{options}}\n\n\
         `tidings COMMAND --help` shows the options of a command and an example.\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::super::command;
    use super::*;

    #[test]
    fn each_command_is_in_one_group_and_its_example_is_right() {
        let all = command();
        let grouped: Vec<&Example> = GROUPS.iter().flat_map(|(_, examples)| *examples).collect();
        for known in all.get_subcommands() {
            let in_groups = grouped.iter().filter(|(name, _)| *name == known.get_name());
            assert_eq!(in_groups.count(), 1, "{}", known.get_name());
        }
        for (name, example) in grouped {
            assert_eq!(example.split(' ').next(), Some(*name));
            if all.find_subcommand(name).is_none() {
                // Of a build without it.
                continue;
            }
            let words = ["tidings"].into_iter().chain(example.split(' '));
            let parsed = command().try_get_matches_from(words);
            assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
        }
    }

    #[test]
    fn the_help_shows_groups_and_examples() {
        let help = grouped(command()).render_help().to_string();
        let lines: Vec<&str> = help.lines().collect();
        assert!(lines.contains(&"Look:"), "{help}");
        assert!(lines.iter().all(|line| line.chars().count() <= 120), "{help}");
        let mut all = grouped(command());
        let status = all.find_subcommand_mut("status").expect("a command");
        let help = status.render_help().to_string();
        assert!(
            help.contains("Connection:") && help.contains("tidings status --data data"),
            "{help}"
        );
    }
}
