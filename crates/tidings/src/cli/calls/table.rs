//! The table of commands that are one call, as `commands.toml` has it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use clap::{Args as _, Command};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::argument::{Argument, CHOICE, RequestPart};
use super::given::GivenArguments;
use super::show::AnswerForm;
use super::{answer, before, messages, nodes, steer, tenant};
use crate::cli::reach::TargetArguments;
use crate::cli::{Status, Streams};
use crate::client::{Purpose, Request, parameters};

/// The table.
pub(super) static TABLE: LazyLock<CommandTable> = LazyLock::new(|| {
    let table = toml::from_str(include_str!("commands.toml"));
    let mut table: CommandTable = table.expect("a table of this binary, as tests know");
    let arguments = table.commands.iter_mut().flat_map(|row| &mut row.arguments);
    arguments.for_each(Argument::name_value);
    table
});

/// Commands, and the groups of some.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandTable {
    pub(super) groups: BTreeMap<String, CommandGroup>,
    pub(super) commands: Vec<CommandRow>,
}

/// Commands with the same first word.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandGroup {
    about: String,
    /// The command that runs where the group alone is named.
    pub(super) default: Option<String>,
}

/// A command of one call.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandRow {
    /// The words of the command.
    pub(super) name: String,
    about: String,
    /// Method and path; of several the first whose arguments are all given.
    call: Vec<String>,
    #[serde(default)]
    arguments: Vec<Argument>,
    /// True if the call decides nothing, so that a store is opened without a configuration.
    #[serde(default)]
    is_question: bool,
    /// True if a directory without a store gets one.
    #[serde(default)]
    makes_store: bool,
    /// True if the call can be tried (`--dry`), and takes the most people that it may touch (`--expect`).
    #[serde(default)]
    takes_dry: bool,
    /// The thing that is deleted for good: the user is asked before.
    pub(super) deletes: Option<String>,
    /// The step that runs before the call, and perhaps in its place.
    pub(super) first: Option<PreliminaryStep>,
    #[serde(default)]
    pub(super) show: AnswerForm,
    /// Values of `status` in an answer that end the command as failed.
    #[serde(default)]
    pub(super) failed: Vec<String>,
}

/// A step before a call; returns how the command ends if that was all.
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct PreliminaryStep(
    pub(super) fn(&GivenArguments, &mut Streams<'_>) -> std::io::Result<Option<Status>>,
);

impl TryFrom<String> for PreliminaryStep {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Ok(Self(match &*name {
            "nodes" => nodes::show,
            "resume-all" => steer::resume_all,
            "retry-failed" => messages::retry_failed,
            "set-tenant" => tenant::set,
            _ => return Err(format!("there is no step {name}")),
        }))
    }
}

impl CommandTable {
    pub(super) fn row(&self, name: &str) -> Option<&CommandRow> {
        self.commands.iter().find(|row| row.name == name)
    }

    /// Adds the commands to those of the command line.
    pub(super) fn augment(&'static self, mut command: Command) -> Command {
        for (name, group) in &self.groups {
            let default = group.default.as_ref().and_then(|default| self.row(default));
            let of_group = Command::new(name.as_str());
            let of_group = match default {
                Some(row) => row.augment(of_group).args_conflicts_with_subcommands(true),
                None => of_group.subcommand_required(true).arg_required_else_help(true),
            };
            command = command.subcommand(of_group.about(&*group.about));
        }
        for row in &self.commands {
            // Arguments bring a line of their own along.
            let of_row = |word| row.augment(Command::new(word)).about(&*row.about);
            command = match row.name.split_once(' ') {
                Some((group, word)) => {
                    command.mut_subcommand(group, |group| group.subcommand(of_row(word)))
                }
                None => command.subcommand(of_row(&*row.name)),
            };
        }
        command
    }
}

impl CommandRow {
    fn augment(&'static self, mut command: Command) -> Command {
        for argument in &self.arguments {
            command = command.arg(argument.clap());
        }
        if self.arguments.iter().any(|argument| argument.alternative) {
            command = command.group(clap::ArgGroup::new(CHOICE).required(true));
        }
        if self.deletes.is_some() {
            let yes = clap::Arg::new("yes").long("yes").action(clap::ArgAction::SetTrue);
            command = command.arg(yes.help("Do not ask for confirmation"));
        }
        if self.takes_dry {
            command = command.args(before::arguments(&self.arguments));
        }
        TargetArguments::augment_args(command)
    }

    pub(super) fn request(&self, given: &GivenArguments) -> Request {
        let value = |name: &str| given.text(name).map(crate::client::segment);
        let call =
            self.call.iter().find_map(|call| answer::filled(call, value)).unwrap_or_default();
        let (verb, path) = call.split_once(' ').unwrap_or_default();
        let of = |place: RequestPart| self.arguments.iter().filter(move |one| one.place == place);
        let query = of(RequestPart::Query).map(|one| (&*one.name, given.text(&one.name)));
        let query = parameters(query.chain(before::parameters(given))).replacen('&', "?", 1);
        let path = format!("{path}{query}");
        let request = match verb {
            "GET" => Request::get(path),
            "PUT" => Request::put(path),
            "DELETE" => Request::delete(path),
            _ => Request::post(path),
        };
        let is_question = self.is_question || given.has(before::DRY);
        let request = match (is_question, self.makes_store) {
            (true, _) => request.for_purpose(Purpose::Look),
            (false, true) => request.for_purpose(Purpose::MakeBare),
            (false, false) => request,
        };
        let fields: Map<String, Value> = of(RequestPart::Body)
            .filter_map(|one| Some((one.field(), one.value_in_body(given)?)))
            .collect();
        if fields.is_empty() { request } else { request.json(&fields) }
    }
}
