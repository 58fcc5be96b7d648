//! The functions of expressions.

use std::borrow::Cow;

use super::fault::EvaluationFailure;
use super::steps::StepBudget;
use super::value::{Value, duration, timestamp, whole};
use crate::model::time::{DAY_MS, HOUR_MS, Instant, MINUTE_MS, SECOND_MS};
use crate::rules::calendar::Zone;

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Size,
    Contains,
    StartsWith,
    EndsWith,
    ToInt,
    ToUint,
    ToDouble,
    ToText,
    ToBool,
    ToTimestamp,
    ToDuration,
    TypeOf,
    Dyn,
    Year,
    Month,
    Date,
    DayOfMonth,
    DayOfWeek,
    DayOfYear,
    Hours,
    Minutes,
    Seconds,
    Milliseconds,
}

/// The functions that are called by name alone.
const GLOBALS: [(&str, Function); 10] = [
    ("size", Function::Size),
    ("int", Function::ToInt),
    ("uint", Function::ToUint),
    ("double", Function::ToDouble),
    ("string", Function::ToText),
    ("bool", Function::ToBool),
    ("timestamp", Function::ToTimestamp),
    ("duration", Function::ToDuration),
    ("type", Function::TypeOf),
    ("dyn", Function::Dyn),
];

/// The functions that are called on a value.
const METHODS: [(&str, Function); 14] = [
    ("size", Function::Size),
    ("contains", Function::Contains),
    ("startsWith", Function::StartsWith),
    ("endsWith", Function::EndsWith),
    ("getFullYear", Function::Year),
    ("getMonth", Function::Month),
    ("getDate", Function::Date),
    ("getDayOfMonth", Function::DayOfMonth),
    ("getDayOfWeek", Function::DayOfWeek),
    ("getDayOfYear", Function::DayOfYear),
    ("getHours", Function::Hours),
    ("getMinutes", Function::Minutes),
    ("getSeconds", Function::Seconds),
    ("getMilliseconds", Function::Milliseconds),
];

impl Function {
    pub(super) fn global(name: &str) -> Option<Self> {
        named(&GLOBALS, name)
    }

    pub(super) fn method(name: &str) -> Option<Self> {
        named(&METHODS, name)
    }

    pub(super) fn globals() -> Vec<&'static str> {
        GLOBALS.iter().map(|(name, _)| *name).chain(["has"]).collect()
    }

    pub(super) fn methods() -> Vec<&'static str> {
        let names = METHODS.iter().map(|(name, _)| *name);
        let macros = ["all", "exists", "exists_one", "map", "filter"];
        names.chain(macros).collect()
    }

    /// Returns true if it takes this number of arguments, the value that it is called on included.
    pub(super) fn takes(self, arguments: usize) -> bool {
        match self {
            Self::Contains | Self::StartsWith | Self::EndsWith => arguments == 2,
            _ if self.is_part_of_time() => matches!(arguments, 1 | 2),
            _ => arguments == 1,
        }
    }

    pub(super) fn usage(self) -> &'static str {
        match self {
            Self::Contains | Self::StartsWith | Self::EndsWith => "it takes one text",
            _ if self.is_part_of_time() => "it takes nothing, or the name of a time zone",
            _ => "it takes one value",
        }
    }

    fn is_part_of_time(self) -> bool {
        METHODS[4..].iter().any(|(_, function)| *function == self)
    }
}

fn named(functions: &[(&str, Function)], name: &str) -> Option<Function> {
    let found = functions.iter().find(|(of, _)| *of == name);
    found.map(|(_, function)| *function)
}

/// The value of a call. The parser has checked the number of arguments.
pub(super) fn call<'a>(
    function: Function,
    arguments: &[Value<'a>],
    steps: &mut StepBudget,
) -> Result<Value<'a>, EvaluationFailure> {
    let (of, argument) = match arguments {
        [of] => (of, None),
        [of, argument] => (of, Some(argument)),
        _ => return Err(EvaluationFailure::new("a function has another number of arguments")),
    };
    // Functions on texts cost by their length: otherwise a long text would pass the bound on steps.
    if let Value::Text(text) = of {
        steps.take_bytes(text.len())?;
    }
    match function {
        Function::Size => {
            let size = of.size().and_then(|size| i64::try_from(size).ok());
            size.map(Value::Int).ok_or(EvaluationFailure::new("the value has no size"))
        }
        Function::Contains | Function::StartsWith | Function::EndsWith => {
            let (Value::Text(text), Some(Value::Text(part))) = (of, argument) else {
                return Err(EvaluationFailure::new("the function is for texts"));
            };
            Ok(Value::Bool(match function {
                Function::StartsWith => text.starts_with(&**part),
                Function::EndsWith => text.ends_with(&**part),
                _ => text.contains(&**part),
            }))
        }
        Function::ToInt => to_int(of),
        Function::ToUint => to_uint(of),
        Function::ToDouble => to_double(of),
        Function::ToText => to_text(of),
        Function::ToBool => match of {
            Value::Bool(value) => Ok(Value::Bool(*value)),
            Value::Text(text) => match &**text {
                "true" | "True" | "TRUE" | "t" | "1" => Ok(Value::Bool(true)),
                "false" | "False" | "FALSE" | "f" | "0" => Ok(Value::Bool(false)),
                _ => Err(EvaluationFailure::new("the text is no bool")),
            },
            _ => Err(EvaluationFailure::new("the value is no bool")),
        },
        Function::ToTimestamp => match of {
            Value::Timestamp(at) => Ok(Value::Timestamp(*at)),
            Value::Int(seconds) => timestamp(seconds.checked_mul(SECOND_MS)),
            Value::Text(text) => {
                let at = Instant::parse(text).ok().map(|at| at.0);
                timestamp(at)
            }
            _ => Err(EvaluationFailure::new("the value is no time")),
        },
        Function::ToDuration => match of {
            Value::Duration(ms) => Ok(Value::Duration(*ms)),
            Value::Text(text) => duration(duration_of(text)),
            _ => Err(EvaluationFailure::new("the value is no duration")),
        },
        Function::TypeOf => Ok(Value::Type(of.type_name())),
        Function::Dyn => Ok(of.clone()),
        part => match of {
            Value::Timestamp(at) => part_of_time(part, *at, argument),
            Value::Duration(ms) if argument.is_none() => part_of_duration(part, *ms),
            _ => Err(EvaluationFailure::new("the function is for times")),
        },
    }
}

fn to_int<'a>(of: &Value<'a>) -> Result<Value<'a>, EvaluationFailure> {
    let int = match of {
        Value::Int(value) => Some(*value),
        Value::Uint(value) => i64::try_from(*value).ok(),
        // The least integer is out of range, as the specification has it.
        Value::Double(value) => whole(value.trunc())
            .and_then(|value| i64::try_from(value).ok())
            .filter(|value| *value > i64::MIN),
        Value::Text(text) => text.parse().ok(),
        Value::Timestamp(at) => Some(at.0.div_euclid(SECOND_MS)),
        _ => None,
    };
    int.map(Value::Int).ok_or(EvaluationFailure::new("the value is no integer"))
}

fn to_uint<'a>(of: &Value<'a>) -> Result<Value<'a>, EvaluationFailure> {
    let uint = match of {
        Value::Int(value) => u64::try_from(*value).ok(),
        Value::Uint(value) => Some(*value),
        Value::Double(value) => whole(value.trunc()).and_then(|value| u64::try_from(value).ok()),
        Value::Text(text) => text.parse().ok(),
        _ => None,
    };
    uint.map(Value::Uint)
        .ok_or(EvaluationFailure::new("the value is no integer that is not negative"))
}

#[expect(clippy::cast_precision_loss, reason = "that is what `double` does")]
fn to_double<'a>(of: &Value<'a>) -> Result<Value<'a>, EvaluationFailure> {
    let double = match of {
        Value::Int(value) => Some(*value as f64),
        Value::Uint(value) => Some(*value as f64),
        Value::Double(value) => Some(*value),
        Value::Text(text) => text.parse().ok(),
        _ => None,
    };
    double.map(Value::Double).ok_or(EvaluationFailure::new("the value is no number"))
}

fn to_text<'a>(of: &Value<'a>) -> Result<Value<'a>, EvaluationFailure> {
    let text = match of {
        Value::Text(text) => return Ok(Value::Text(text.clone())),
        Value::Timestamp(at) => Some(at.to_string()),
        Value::Duration(ms) => {
            let sign = if *ms < 0 { "-" } else { "" };
            let (seconds, rest) = (ms.unsigned_abs() / 1000, ms.unsigned_abs() % 1000);
            let fraction = match rest {
                0 => String::new(),
                rest => format!(".{rest:03}").trim_end_matches('0').to_owned(),
            };
            Some(format!("{sign}{seconds}{fraction}s"))
        }
        Value::Double(value) if !value.is_finite() => Some(value.to_string()),
        other => other.as_text(),
    };
    let text = text.ok_or(EvaluationFailure::new("the value can't be written as text"))?;
    Ok(Value::Text(Cow::Owned(text)))
}

/// A duration such as `1h30m`, `-2.5s` or `100ms`, in milliseconds.
fn duration_of(text: &str) -> Option<i64> {
    const UNITS: [(&str, i64); 4] = [("ms", 1), ("h", HOUR_MS), ("m", MINUTE_MS), ("s", SECOND_MS)];
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut sum: i128 = 0;
    while !rest.is_empty() {
        let len = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(len);
        let (int, fraction) = number.split_once('.').unwrap_or((number, ""));
        if int.is_empty() && fraction.is_empty() || int.len() > 18 || fraction.len() > 18 {
            return None;
        }
        let (unit, ms) = UNITS.iter().find(|(unit, _)| after.starts_with(unit))?;
        let ms = i128::from(*ms);
        let of = |digits: &str| match digits {
            "" => Some(0),
            digits => digits.parse::<i128>().ok(),
        };
        let digits = u32::try_from(fraction.len()).ok()?;
        sum += of(int)? * ms + of(fraction)? * ms / 10_i128.pow(digits);
        rest = &after[unit.len()..];
    }
    (!text.trim_start_matches(['+', '-']).is_empty())
        .then(|| i64::try_from(sign * sum).ok())
        .flatten()
}

fn part_of_duration<'a>(part: Function, ms: i64) -> Result<Value<'a>, EvaluationFailure> {
    Ok(Value::Int(match part {
        Function::Hours => ms / HOUR_MS,
        Function::Minutes => ms / MINUTE_MS,
        Function::Seconds => ms / SECOND_MS,
        Function::Milliseconds => ms % SECOND_MS,
        _ => return Err(EvaluationFailure::new("durations have no date")),
    }))
}

fn part_of_time<'a>(
    part: Function,
    at: Instant,
    zone: Option<&Value<'a>>,
) -> Result<Value<'a>, EvaluationFailure> {
    let offset = match zone {
        None => None,
        Some(Value::Text(name)) => Some(offset_of(name, at)?),
        Some(_) => return Err(EvaluationFailure::new("a time zone is a text")),
    };
    let local = at.0.saturating_add(offset.unwrap_or(0));
    let of_day = local.rem_euclid(DAY_MS);
    let day = local.div_euclid(DAY_MS);
    let number = match part {
        Function::Hours => of_day / HOUR_MS,
        Function::Minutes => of_day / MINUTE_MS % 60,
        Function::Seconds => of_day / SECOND_MS % 60,
        Function::Milliseconds => of_day % SECOND_MS,
        // 1970-01-01 was a Thursday.
        Function::DayOfWeek => (day + 4).rem_euclid(7),
        _ => {
            let text = crate::model::time::Day(i32::try_from(day).unwrap_or(0)).to_string();
            let mut numbers = text.splitn(3, '-').map(str::parse::<i64>);
            let mut next = || numbers.next().and_then(Result::ok).unwrap_or(1);
            let (year, month, date) = (next(), next(), next());
            match part {
                Function::Year => year,
                Function::Month => month - 1,
                Function::Date => date,
                Function::DayOfMonth => date - 1,
                _ => {
                    let first = crate::model::time::Day::parse(&format!("{year:04}-01-01"));
                    first.map_or(0, |first| day - i64::from(first.0))
                }
            }
        }
    };
    Ok(Value::Int(number))
}

/// The offset of a zone by name, or as `+02:00`, in milliseconds.
fn offset_of(name: &str, at: Instant) -> Result<i64, EvaluationFailure> {
    let unknown = EvaluationFailure::new("the time zone is unknown");
    if let Some((hours, minutes)) = name.split_once(':') {
        let negative = hours.starts_with('-');
        let hours: i64 = hours.parse().map_err(|_| unknown)?;
        let minutes: i64 = minutes.parse().map_err(|_| unknown)?;
        if !(-14..=14).contains(&hours) || !(0..60).contains(&minutes) {
            return Err(unknown);
        }
        let minutes = if negative { -minutes } else { minutes };
        return Ok(hours * HOUR_MS + minutes * MINUTE_MS);
    }
    let zone = Zone::find(name).ok_or(unknown)?;
    Ok(zone.offset_ms(at))
}
