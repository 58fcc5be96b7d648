//! The values of expressions. What was published is borrowed.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::fault::EvaluationFailure;
use super::steps::StepBudget;
use crate::model::time::Instant;

/// A value of an expression: what its fields hold, and what it comes to.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer that is not negative, written with `u` or too great for the others.
    Uint(u64),
    /// A number of floating point.
    Double(f64),
    /// A text.
    Text(Cow<'a, str>),
    /// An instant.
    Timestamp(Instant),
    /// A duration in milliseconds.
    Duration(i64),
    /// A list that was published.
    Array(&'a [Json]),
    /// An object that was published.
    Object(&'a Map<String, Json>),
    /// A list that was made.
    List(Arc<[Value<'a>]>),
    /// A map that was made, with its keys.
    Map(Arc<[(Value<'a>, Value<'a>)]>),
    /// The name of a type.
    Type(&'static str),
}

impl<'a> Value<'a> {
    /// The value of a text.
    #[must_use]
    pub(crate) fn of_text(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    /// A map with nothing in it.
    #[must_use]
    pub fn empty() -> Self {
        Self::Map(Arc::new([]))
    }

    /// A map of fields.
    #[must_use]
    pub(crate) fn of_fields(fields: impl IntoIterator<Item = (&'a str, Self)>) -> Self {
        let fields = fields.into_iter();
        Self::Map(fields.map(|(name, value)| (Self::of_text(name), value)).collect())
    }

    /// The value of a list.
    #[must_use]
    pub fn of_list(values: impl IntoIterator<Item = Self>) -> Self {
        Self::List(values.into_iter().collect())
    }

    /// A value that was published. Whole numbers are integers.
    pub(super) fn of_json(json: &'a Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(number) => {
                let int =
                    number.as_i64().map(Self::Int).or_else(|| number.as_u64().map(Self::Uint));
                int.unwrap_or_else(|| Self::Double(number.as_f64().unwrap_or(f64::NAN)))
            }
            Json::String(text) => Self::of_text(text),
            Json::Array(values) => Self::Array(values),
            Json::Object(fields) => Self::Object(fields),
        }
    }

    /// A text, a number or a bool as text; `None` for anything else. A whole number has no point.
    pub(super) fn as_text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone().into_owned()),
            Self::Bool(value) => Some(value.to_string()),
            Self::Int(value) => Some(value.to_string()),
            Self::Uint(value) => Some(value.to_string()),
            // Without the addition the text of -0 would have a sign.
            Self::Double(value) if value.is_finite() => Some((value + 0.0).to_string()),
            _ => None,
        }
    }

    /// The name of its type.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::Text(_) => "string",
            Self::Timestamp(_) => "google.protobuf.Timestamp",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::Array(_) | Self::List(_) => "list",
            Self::Object(_) | Self::Map(_) => "map",
            Self::Type(_) => "type",
        }
    }

    /// The elements of a list.
    pub(super) fn elements(&self) -> Option<Vec<Value<'a>>> {
        match self {
            Self::Array(values) => Some(values.iter().map(Self::of_json).collect()),
            Self::List(values) => Some(values.to_vec()),
            _ => None,
        }
    }

    /// Returns true if it is a map.
    pub(super) fn is_map(&self) -> bool {
        matches!(self, Self::Object(_) | Self::Map(_))
    }

    /// The keys of a map.
    pub(super) fn keys(&self) -> Option<Vec<Value<'a>>> {
        match self {
            Self::Object(fields) => Some(fields.keys().map(|key| Self::of_text(key)).collect()),
            Self::Map(pairs) => Some(pairs.iter().map(|(key, _)| key.clone()).collect()),
            _ => None,
        }
    }

    /// Number of elements of a list, of pairs of a map, or of characters of a text.
    pub(super) fn size(&self) -> Option<usize> {
        match self {
            Self::Text(text) => Some(text.chars().count()),
            Self::Array(values) => Some(values.len()),
            Self::Object(fields) => Some(fields.len()),
            Self::List(values) => Some(values.len()),
            Self::Map(pairs) => Some(pairs.len()),
            _ => None,
        }
    }

    /// The element of a list at an index, or of a map under a key.
    pub(super) fn at(
        &self,
        key: &Value<'a>,
        steps: &mut StepBudget,
    ) -> Result<Option<Self>, EvaluationFailure> {
        let index = || key.as_index();
        Ok(match self {
            Self::Array(values) => index().and_then(|at| values.get(at)).map(Self::of_json),
            Self::List(values) => index().and_then(|at| values.get(at)).cloned(),
            Self::Object(fields) => match key {
                Self::Text(key) => {
                    steps.take_bytes(key.len())?;
                    fields.get(&**key).map(Self::of_json)
                }
                _ => None,
            },
            Self::Map(pairs) => {
                for (of, value) in &**pairs {
                    if of.equals(key, steps)? {
                        return Ok(Some(value.clone()));
                    }
                }
                None
            }
            _ => return Err(EvaluationFailure::new("only lists and maps have elements")),
        })
    }

    fn as_index(&self) -> Option<usize> {
        match self {
            Self::Int(at) => usize::try_from(*at).ok(),
            Self::Uint(at) => usize::try_from(*at).ok(),
            Self::Double(at) if at.fract() == 0.0 && (0.0..1e9).contains(at) => {
                usize::try_from(whole(*at)?).ok()
            }
            _ => None,
        }
    }

    /// Equality: numbers by value whatever their type, values of different types never.
    pub(super) fn equals(
        &self,
        other: &Self,
        steps: &mut StepBudget,
    ) -> Result<bool, EvaluationFailure> {
        steps.take(1)?;
        if let Some(order) = self.number_order(other) {
            return Ok(order == Some(Ordering::Equal));
        }
        Ok(match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Text(a), Self::Text(b)) => {
                steps.take_bytes(a.len().min(b.len()))?;
                a == b
            }
            (Self::Timestamp(a), Self::Timestamp(b)) => a == b,
            (Self::Duration(a), Self::Duration(b)) => a == b,
            (Self::Type(a), Self::Type(b)) => a == b,
            (a, b) if a.size() != b.size() => false,
            (a, b) => {
                steps.take_elements(a.size().unwrap_or(0))?;
                if let (Some(a), Some(b)) = (a.elements(), b.elements()) {
                    for (a, b) in a.iter().zip(&b) {
                        if !a.equals(b, steps)? {
                            return Ok(false);
                        }
                    }
                    return Ok(true);
                }
                let (Some(keys), Some(_)) = (a.keys(), b.keys()) else {
                    return Ok(false);
                };
                for key in &keys {
                    let (Some(a), Some(b)) = (a.at(key, steps)?, b.at(key, steps)?) else {
                        return Ok(false);
                    };
                    if !a.equals(&b, steps)? {
                        return Ok(false);
                    }
                }
                true
            }
        })
    }

    /// The order of two values of one kind.
    pub(super) fn order(
        &self,
        other: &Self,
        steps: &mut StepBudget,
    ) -> Result<Ordering, EvaluationFailure> {
        if let Some(order) = self.number_order(other) {
            return order.ok_or(EvaluationFailure::new("NaN has no order"));
        }
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => Ok(a.cmp(b)),
            (Self::Text(a), Self::Text(b)) => {
                steps.take_bytes(a.len().min(b.len()))?;
                Ok(a.cmp(b))
            }
            (Self::Timestamp(a), Self::Timestamp(b)) => Ok(a.cmp(b)),
            (Self::Duration(a), Self::Duration(b)) => Ok(a.cmp(b)),
            _ => Err(EvaluationFailure::new("values of these types have no order")),
        }
    }

    /// The order of two numbers, where both are numbers; within it `None` = NaN is one of them.
    fn number_order(&self, other: &Self) -> Option<Option<Ordering>> {
        let whole = |value: &Self| match value {
            Self::Int(value) => Some(i128::from(*value)),
            Self::Uint(value) => Some(i128::from(*value)),
            _ => None,
        };
        if let (Some(a), Some(b)) = (whole(self), whole(other)) {
            return Some(Some(a.cmp(&b)));
        }
        match (self, other) {
            (Self::Double(a), Self::Double(b)) => Some(a.partial_cmp(b)),
            (Self::Double(a), b) => Some(double_order(*a, whole(b)?)),
            (a, Self::Double(b)) => Some(double_order(*b, whole(a)?).map(Ordering::reverse)),
            _ => None,
        }
    }
}

/// The order of a double and an integer, exactly.
fn double_order(double: f64, int: i128) -> Option<Ordering> {
    if double.is_nan() {
        return None;
    }
    // Beyond these bounds no integer of 64 bits is as great.
    if double >= 2e19 {
        return Some(Ordering::Greater);
    }
    if double <= -2e19 {
        return Some(Ordering::Less);
    }
    let floor = whole(double.floor())?;
    let fraction = if double.fract() == 0.0 { Ordering::Equal } else { Ordering::Greater };
    Some(floor.cmp(&int).then(fraction))
}

/// A double without a fraction as an integer, if its size is below 2^100.
#[expect(clippy::cast_possible_truncation, reason = "the bound is checked")]
pub(super) fn whole(double: f64) -> Option<i128> {
    (double.abs() < 1e30).then_some(double as i128)
}

/// An instant as a value, if it is between the years 1 and 9999.
pub(super) fn timestamp<'a>(ms: Option<i64>) -> Result<Value<'a>, EvaluationFailure> {
    let at = ms
        .filter(|ms| (-62_135_596_800_000..253_402_300_800_000).contains(ms))
        .map(|ms| Value::Timestamp(Instant(ms)));
    at.ok_or(EvaluationFailure::new("a time is out of range"))
}

/// A duration as a value, if it has at most some 10,000 years.
pub(super) fn duration<'a>(ms: Option<i64>) -> Result<Value<'a>, EvaluationFailure> {
    const MOST_MS: i64 = 315_576_000_000_000;
    ms.filter(|ms| (-MOST_MS..=MOST_MS).contains(ms))
        .map(Value::Duration)
        .ok_or(EvaluationFailure::new("a duration is no duration, or out of range"))
}
