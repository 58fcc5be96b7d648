//! Values of edits: as values of TOML, and as its text.

use std::fmt::Write as _;

use serde_json::Value as Json;
use toml::{Table, Value};

use super::EditError;

/// The value of TOML of a JSON value; `None` for null.
pub(super) fn of_json(key: &str, value: &Json) -> Result<Option<Value>, EditError> {
    let fault = |reason| EditError::Value { key: key.to_owned(), reason };
    match value {
        Json::Null => Ok(None),
        value => converted(value).map(Some).map_err(fault),
    }
}

fn converted(value: &Json) -> Result<Value, &'static str> {
    Ok(match value {
        Json::Null => return Err("it has a null"),
        Json::Bool(value) => Value::Boolean(*value),
        Json::String(value) => Value::String(value.clone()),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::Integer(whole),
            (None, Some(real)) if !number.is_u64() => Value::Float(real),
            _ => return Err("the number is too large"),
        },
        Json::Array(values) => {
            Value::Array(values.iter().map(converted).collect::<Result<_, _>>()?)
        }
        Json::Object(fields) => {
            let fields = fields.iter();
            let fields =
                fields.map(|(name, value)| Ok::<_, &str>((name.clone(), converted(value)?)));
            Value::Table(fields.collect::<Result<Table, _>>()?)
        }
    })
}

/// The text of a value on one line.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Integer(number) => number.to_string(),
        // With a point or an exponent, unlike `Display`.
        Value::Float(number) => format!("{number:?}"),
        Value::Boolean(value) => value.to_string(),
        Value::Datetime(at) => at.to_string(),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(text_of).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Table(table) if table.is_empty() => "{}".to_owned(),
        Value::Table(table) => {
            let fields: Vec<String> = table.iter().map(|(name, value)| pair(name, value)).collect();
            format!("{{ {} }}", fields.join(", "))
        }
    }
}

/// The text of a key with its value.
pub(super) fn pair(name: &str, value: &Value) -> String {
    format!("{} = {}", key(&[name.to_owned()]), text_of(value))
}

/// The text of a dotted key.
pub(super) fn key(path: &[String]) -> String {
    let is_bare = |letter: u8| letter.is_ascii_alphanumeric() || b"-_".contains(&letter);
    let name = |name: &String| match !name.is_empty() && name.bytes().all(is_bare) {
        true => name.clone(),
        false => quoted(name),
    };
    path.iter().map(name).collect::<Vec<_>>().join(".")
}

fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            letter if letter.is_control() => {
                // Writing into a String can't fail.
                let _ = write!(quoted, "\\u{:04X}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// The value at a path, in which an index names an item of an array.
pub(super) fn value_at<'v>(document: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(document, |value, name| match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        value => value.as_table()?.get(name),
    })
}

/// Sets or removes a value of a document. An item after the last is added to its array.
///
/// # Errors
/// The number of names up to what can't have the next one.
pub(super) fn change(
    document: &mut Value,
    path: &[String],
    value: Option<&Value>,
) -> Result<(), usize> {
    let Some((name, rest)) = path.split_first() else {
        return Ok(());
    };
    match document {
        Value::Table(table) => {
            match (table.get_mut(name), value) {
                (Some(below), _) if !rest.is_empty() => {
                    return change(below, rest, value).map_err(|depth| depth + 1);
                }
                (None, Some(_)) if !rest.is_empty() => {
                    // The section that is an array.
                    let is_array = name == "caps" && rest[0] == "0";
                    let mut below = match is_array {
                        true => Value::Array(Vec::new()),
                        false => Value::Table(Table::new()),
                    };
                    change(&mut below, rest, value)?;
                    table.insert(name.clone(), below);
                }
                (_, Some(value)) => drop(table.insert(name.clone(), value.clone())),
                (_, None) => drop(table.remove(name)),
            }
            Ok(())
        }
        Value::Array(items) => {
            let (index, len) = (name.parse::<usize>().ok(), items.len());
            let item = index.and_then(|index| items.get_mut(index));
            match (item, index, value) {
                (Some(item), ..) if !rest.is_empty() => {
                    return change(item, rest, value).map_err(|depth| depth + 1);
                }
                (Some(item), _, Some(value)) => *item = value.clone(),
                (Some(_), Some(index), None) => drop(items.remove(index)),
                (None, Some(index), Some(value)) if index == len && rest.is_empty() => {
                    items.push(value.clone());
                }
                (None, Some(_), None) => {}
                _ => return Err(0),
            }
            Ok(())
        }
        _ => Err(0),
    }
}
