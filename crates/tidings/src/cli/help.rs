//! The help of the command line: commands in groups by purpose, and an example under each.
//!
//! `clap` lists commands in one row and has no groups of its own, so the list stands in the template of the help.

use std::fmt::Write as _;

use serde::Deserialize;

/// The groups of commands.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Groups {
    groups: Vec<HelpGroup>,
}

/// A group of commands.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HelpGroup {
    name: String,
    /// An example of each command, which is its first word.
    examples: Vec<String>,
}

fn groups() -> Vec<HelpGroup> {
    let read = toml::from_str(include_str!("help.toml"));
    let Groups { groups } = read.expect("a file of this binary, as tests know");
    groups
}

/// The command of an example.
fn command_of(example: &str) -> &str {
    example.split(' ').next().unwrap_or_default()
}

/// Groups the commands in the help, and puts an example under the help of each.
pub(super) fn grouped(mut command: clap::Command) -> clap::Command {
    let mut list = String::new();
    for HelpGroup { name: group, examples } in groups() {
        let mut rows = String::new();
        for example in &examples {
            let name = command_of(example);
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
        let grouped: Vec<String> = groups().into_iter().flat_map(|group| group.examples).collect();
        for known in all.get_subcommands() {
            let in_groups =
                grouped.iter().filter(|example| command_of(example) == known.get_name());
            assert_eq!(in_groups.count(), 1, "{}", known.get_name());
        }
        for example in &grouped {
            let name = command_of(example);
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
