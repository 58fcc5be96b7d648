//! `--dry` and `--expect` of commands whose calls can be tried.

use std::io::{self, Write};

use clap::{Arg, ArgAction};
use serde_json::Value;

use super::argument::{Argument, RequestPart};
use super::given::GivenArguments;
use crate::cli::print::table::cell;

/// The name of the flag.
pub(super) const DRY: &str = "dry";

/// The name of the argument with the most people.
const EXPECT: &str = "expect";

/// The two, for a command with these arguments of its own.
pub(super) fn arguments(own: &'static [Argument]) -> [Arg; 2] {
    let dry = Arg::new(DRY).long(DRY).action(ArgAction::SetTrue);
    let expect = Arg::new(EXPECT).long(EXPECT).value_name("N");
    let expect = expect.value_parser(|text: &str| {
        text.parse::<u64>().map(|n| n.to_string()).map_err(|fault| fault.to_string())
    });
    // A flag that the command reads itself makes it many calls.
    let many = || own.iter().filter(|one| one.place == RequestPart::Own && one.is_flag);
    let apart = |arg: Arg| arg.conflicts_with_all(many().map(|one| &*one.name));
    [
        apart(dry.help("Say what it would do, and do nothing")),
        apart(expect.help("Do nothing if it would touch more people than N")),
    ]
}

/// The parameters of the call.
pub(super) fn parameters(given: &GivenArguments) -> [(&str, Option<&str>); 2] {
    let dry = given.has(DRY).then_some("true");
    [(DRY, dry), (EXPECT, given.text(EXPECT))]
}

/// Writes what a call would touch, if it did nothing.
pub(in crate::cli) fn write(answer: &Value, out: &mut dyn Write) -> io::Result<()> {
    if answer[DRY] != true {
        return Ok(());
    }
    let [people, entries, messages] =
        ["people", "entries", "messages"].map(|name| cell(&answer["concerns"], name));
    writeln!(
        out,
        "Dry run, nothing is done. It would concern {people} people, {entries} entries, {messages} messages"
    )
}
