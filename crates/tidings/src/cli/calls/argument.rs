//! Arguments of the commands of the table.

use std::fmt::Display;

use clap::builder::{PossibleValuesParser, RangedU64ValueParser, TypedValueParser as _};
use clap::{Arg, ArgAction};
use serde::Deserialize;
use serde_json::Value;
use tidings_core::model::{BatchKey, SuppressedFor};
use tidings_core::{Day, Id, Instant};

use super::given::GivenArguments;
use super::{events, keys, steer};

/// The group of the arguments of which one has to be given.
pub(super) const CHOICE: &str = "which";

/// An argument.
#[expect(clippy::struct_excessive_bools, reason = "a row of the table has a column for each")]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Argument {
    pub(super) name: String,
    help: String,
    #[serde(default, rename = "in")]
    pub(super) place: RequestPart,
    /// The field of the body, where it has another name.
    field: Option<String>,
    /// The name of its value in the help.
    value: Option<String>,
    read: Option<ValueReader>,
    #[serde(default)]
    words: Vec<String>,
    range: Option<[u64; 2]>,
    default: Option<String>,
    #[serde(default)]
    pub(super) is_flag: bool,
    /// True if what begins like a JSON object is sent as one.
    #[serde(default)]
    pub(super) is_json: bool,
    is_positional: Option<bool>,
    #[serde(default)]
    is_required: bool,
    /// One of such arguments has to be given.
    #[serde(default)]
    pub(super) alternative: bool,
    /// The arguments without which it is required.
    #[serde(default)]
    unless: Vec<String>,
    requires: Option<String>,
    #[serde(default)]
    conflicts: Vec<String>,
}

/// The part of a request that an argument fills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RequestPart {
    #[default]
    Path,
    Query,
    Body,
    /// None: the command itself reads it.
    Own,
}

impl Argument {
    /// The name of its field in a body.
    pub(super) fn field(&self) -> String {
        self.field.clone().unwrap_or_else(|| self.name.replace('-', "_"))
    }

    /// Its value in a body, if it is given.
    pub(super) fn value_in_body(&self, given: &GivenArguments) -> Option<Value> {
        if self.is_flag {
            return given.has(&self.name).then_some(Value::Bool(true));
        }
        let text = given.text(&self.name)?;
        Some(if self.is_json { events::named(text) } else { text.into() })
    }

    /// Names its value, where the table does not.
    pub(super) fn name_value(&mut self) {
        let (name, is_number) = (&self.name, self.range.is_some());
        let named = || if is_number { "N".to_owned() } else { name.to_uppercase() };
        self.value.get_or_insert_with(named);
    }

    pub(super) fn clap(&'static self) -> Arg {
        let is_positional = self.is_positional.unwrap_or(self.place == RequestPart::Path);
        let is_free = self.alternative || !self.unless.is_empty() || self.default.is_some();
        let arg = Arg::new(&*self.name)
            .help(&*self.help)
            .required(self.is_required || is_positional && !is_free)
            .required_unless_present_any(self.unless.iter().map(String::as_str))
            .conflicts_with_all(self.conflicts.iter().map(String::as_str))
            .default_values(self.default.iter().map(String::as_str))
            .groups(self.alternative.then_some(CHOICE));
        let arg = if is_positional { arg } else { arg.long(&*self.name) };
        let arg = match self.requires.as_deref() {
            Some(other) => arg.requires(other),
            None => arg,
        };
        if self.is_flag {
            return arg.action(ArgAction::SetTrue);
        }
        let arg = arg.value_name(self.value.as_deref().unwrap_or(&self.name));
        match (&self.read, self.range, &*self.words) {
            (Some(ValueReader(read)), ..) => arg.value_parser(*read),
            (None, Some([least, most]), _) => arg.value_parser(
                RangedU64ValueParser::<u64>::new().range(least..=most).map(|n| n.to_string()),
            ),
            (None, None, []) => arg,
            (None, None, words) => {
                arg.value_parser(PossibleValuesParser::new(words.iter().map(String::as_str)))
            }
        }
    }
}

/// A reader of a value, which is passed on as it was read.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct ValueReader(fn(&str) -> Result<String, String>);

impl TryFrom<String> for ValueReader {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Ok(Self(match &*name {
            "id" => |text| read(Id::new(text)),
            "day" => |text| read(Day::parse(text)),
            "instant" => |text| read(Instant::parse(text)),
            "batch-key" => |text| {
                BatchKey::new(text).map(|_| text.to_owned()).map_err(|fault| fault.to_string())
            },
            "reason" => |text| {
                let is_known = SuppressedFor::ALL.into_iter().any(|reason| reason.word() == text);
                let fault = "one of manual, bounce, complaint, stop and gone";
                if is_known { Ok(text.to_owned()) } else { Err(fault.to_owned()) }
            },
            "key-name" => keys::name,
            "scope" => keys::scope,
            "pem" => keys::pem,
            "pausable" => |text| steer::kind(text, "pause"),
            "resumable" => |text| steer::kind(text, "resume"),
            _ => return Err(format!("there is no reader {name}")),
        }))
    }
}

fn read<T: Display, E: Display>(value: Result<T, E>) -> Result<String, String> {
    value.map(|value| value.to_string()).map_err(|fault| fault.to_string())
}
