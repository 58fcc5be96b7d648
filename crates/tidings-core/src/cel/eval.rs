//! The evaluation of an expression: total, and bounded in steps.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::call::call;
use super::fault::EvaluationFailure;
use super::parse::{Expression, ExpressionNode, ListMacro, Literal, MacroKind, Operator};
use super::steps::StepBudget;
use super::value::{Value, duration, timestamp};

type Evaluated<'a> = Result<Value<'a>, EvaluationFailure>;

struct Evaluation<'a, 'n> {
    names: &'n [(&'a str, Value<'a>)],
    locals: Vec<(&'a str, Value<'a>)>,
    steps: StepBudget,
}

/// The value of an expression.
pub(super) fn evaluate<'a>(
    expression: &'a Expression,
    names: &[(&'a str, Value<'a>)],
) -> Evaluated<'a> {
    let mut evaluation = Evaluation { names, locals: Vec::new(), steps: StepBudget::new() };
    evaluation.value(expression)
}

impl<'a> Evaluation<'a, '_> {
    fn value(&mut self, expression: &'a Expression) -> Evaluated<'a> {
        self.steps.take(1)?;
        match &expression.node {
            ExpressionNode::Literal(literal) => Ok(of_literal(literal)),
            ExpressionNode::Name(name) => {
                // The innermost loop comes first: its name hides those of the same word outside.
                let local = self.locals.iter().rev().find(|(of, _)| of == name);
                let found = local
                    .or_else(|| self.names.iter().find(|(of, _)| of == name))
                    .ok_or(EvaluationFailure::new("a name has no value"))?;
                Ok(found.1.clone())
            }
            ExpressionNode::Select { of, field, is_test } => self.select(of, field, *is_test),
            ExpressionNode::Index(sides) => {
                let (of, key) = (self.value(&sides[0])?, self.value(&sides[1])?);
                let found = of.at(&key, &mut self.steps)?;
                found.ok_or(EvaluationFailure::new("there is no such element"))
            }
            ExpressionNode::Not(of) => match self.value(of)? {
                Value::Bool(value) => Ok(Value::Bool(!value)),
                _ => Err(EvaluationFailure::new("`!` is for bools")),
            },
            ExpressionNode::Negate(of) => match self.value(of)? {
                Value::Int(value) => int(value.checked_neg()),
                Value::Double(value) => Ok(Value::Double(-value)),
                Value::Duration(value) => duration(value.checked_neg()),
                _ => Err(EvaluationFailure::new("`-` is for numbers and durations")),
            },
            ExpressionNode::Binary(operator, sides) => {
                let (left, right) = (self.value(&sides[0])?, self.value(&sides[1])?);
                binary(*operator, &left, &right, &mut self.steps)
            }
            ExpressionNode::All(parts) => self.decide(parts, false),
            ExpressionNode::Any(parts) => self.decide(parts, true),
            ExpressionNode::Choose(parts) => match self.value(&parts[0])? {
                Value::Bool(true) => self.value(&parts[1]),
                Value::Bool(false) => self.value(&parts[2]),
                _ => Err(EvaluationFailure::new("what stands before `?` is no bool")),
            },
            ExpressionNode::List(parts) => {
                let parts = parts.iter().map(|part| self.value(part));
                Ok(Value::List(parts.collect::<Result<_, _>>()?))
            }
            ExpressionNode::Map(pairs) => {
                let pairs = pairs.iter().map(|[key, value]| {
                    let key = self.value(key)?;
                    match key {
                        Value::Text(_) | Value::Int(_) | Value::Uint(_) | Value::Bool(_) => {
                            Ok((key, self.value(value)?))
                        }
                        _ => Err(EvaluationFailure::new(
                            "a key of a map is a text, an integer or a bool",
                        )),
                    }
                });
                let pairs: Vec<(Value<'a>, Value<'a>)> = pairs.collect::<Result<_, _>>()?;
                for (at, (key, _)) in pairs.iter().enumerate() {
                    for (before, _) in &pairs[..at] {
                        if key.equals(before, &mut self.steps)? {
                            return Err(EvaluationFailure::new("a key of a map comes twice"));
                        }
                    }
                }
                Ok(Value::Map(pairs.into()))
            }
            ExpressionNode::Call(function, arguments) => {
                let arguments = arguments
                    .iter()
                    .map(|argument| self.value(argument))
                    .collect::<Result<Vec<_>, _>>()?;
                call(*function, &arguments, &mut self.steps)
            }
            ExpressionNode::Fold(fold) => self.fold(fold),
        }
    }

    fn select(&mut self, of: &'a Expression, field: &'a str, is_test: bool) -> Evaluated<'a> {
        let of = self.value(of)?;
        if !of.is_map() {
            return Err(EvaluationFailure::new("only maps have fields"));
        }
        let found = of.at(&Value::of_text(field), &mut self.steps)?;
        if is_test {
            Ok(Value::Bool(found.is_some()))
        } else {
            found.ok_or(EvaluationFailure::new("there is no such field"))
        }
    }

    /// `&&` and `||`: a part that decides makes up for those that fail.
    fn decide(&mut self, parts: &'a [Expression], decides: bool) -> Evaluated<'a> {
        let mut failed = None;
        for part in parts {
            match self.value(part) {
                Ok(Value::Bool(value)) if value == decides => return Ok(Value::Bool(decides)),
                Ok(Value::Bool(_)) => {}
                Ok(_) => failed = Some(EvaluationFailure::new("`&&` and `||` are for bools")),
                Err(fault) => failed = Some(fault),
            }
            // No further part can be evaluated, so none can make up for the failure.
            if self.steps.are_used_up() {
                break;
            }
        }
        failed.map_or(Ok(Value::Bool(!decides)), Err)
    }

    fn fold(&mut self, fold: &'a ListMacro) -> Evaluated<'a> {
        let over = self.value(&fold.over)?;
        let elements = over
            .elements()
            .or_else(|| over.keys())
            .ok_or(EvaluationFailure::new("only lists and maps have elements"))?;
        self.steps.take_elements(elements.len())?;
        let (mut gathered, mut hits, mut failed) = (Vec::new(), 0_u32, None);
        for element in elements {
            self.locals.push((&fold.name, element));
            let passes = fold.test.as_ref().map(|test| self.value(test));
            let result = match &passes {
                None | Some(Ok(Value::Bool(true))) => {
                    fold.result.as_ref().map(|result| self.value(result))
                }
                Some(_) => None,
            };
            let element = self.locals.pop().map(|(_, element)| element);
            let passes = match passes.unwrap_or(Ok(Value::Bool(true))) {
                Ok(Value::Bool(passes)) => Ok(passes),
                Ok(_) => Err(EvaluationFailure::new("what is asked of an element is no bool")),
                Err(fault) => Err(fault),
            };
            match (fold.kind, passes) {
                (MacroKind::All, Ok(false)) => return Ok(Value::Bool(false)),
                (MacroKind::Exists, Ok(true)) => return Ok(Value::Bool(true)),
                // As with `&&` and `||`: a later element may decide, and make up for this one.
                (MacroKind::All | MacroKind::Exists, Err(fault)) if !self.steps.are_used_up() => {
                    failed = Some(fault);
                }
                (_, Err(fault)) => return Err(fault),
                (MacroKind::Gather, Ok(true)) => gathered.extend(match result {
                    Some(result) => Some(result?),
                    None => element,
                }),
                (_, Ok(passes)) => hits += u32::from(passes),
            }
        }
        if let Some(fault) = failed {
            return Err(fault);
        }
        Ok(match fold.kind {
            MacroKind::All => Value::Bool(true),
            MacroKind::Exists => Value::Bool(false),
            MacroKind::ExistsOne => Value::Bool(hits == 1),
            MacroKind::Gather => Value::List(gathered.into()),
        })
    }
}

fn of_literal(literal: &Literal) -> Value<'_> {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(value) => Value::Int(*value),
        Literal::Uint(value) => Value::Uint(*value),
        Literal::Double(value) => Value::Double(*value),
        Literal::Text(text) => Value::of_text(text),
    }
}

fn int<'a>(value: Option<i64>) -> Evaluated<'a> {
    value.map(Value::Int).ok_or(EvaluationFailure::new("an integer is out of range"))
}

fn uint<'a>(value: Option<u64>) -> Evaluated<'a> {
    value.map(Value::Uint).ok_or(EvaluationFailure::new("an integer is out of range"))
}

fn binary<'a>(
    operator: Operator,
    left: &Value<'a>,
    right: &Value<'a>,
    steps: &mut StepBudget,
) -> Evaluated<'a> {
    let order = |steps: &mut StepBudget, is: fn(Ordering) -> bool| {
        Ok(Value::Bool(is(left.order(right, steps)?)))
    };
    match operator {
        Operator::Equal => Ok(Value::Bool(left.equals(right, steps)?)),
        Operator::NotEqual => Ok(Value::Bool(!left.equals(right, steps)?)),
        Operator::Less => order(steps, Ordering::is_lt),
        Operator::LessOrEqual => order(steps, Ordering::is_le),
        Operator::Greater => order(steps, Ordering::is_gt),
        Operator::GreaterOrEqual => order(steps, Ordering::is_ge),
        Operator::In => is_in(left, right, steps),
        Operator::Add => add(left, right, steps),
        Operator::Subtract | Operator::Multiply | Operator::Divide | Operator::Remainder => {
            arithmetic(operator, left, right)
        }
    }
}

fn is_in<'a>(left: &Value<'a>, right: &Value<'a>, steps: &mut StepBudget) -> Evaluated<'a> {
    if let Some(elements) = right.elements() {
        steps.take_elements(elements.len())?;
        for element in elements {
            if element.equals(left, steps)? {
                return Ok(Value::Bool(true));
            }
        }
        return Ok(Value::Bool(false));
    }
    if right.is_map() {
        return Ok(Value::Bool(right.at(left, steps)?.is_some()));
    }
    Err(EvaluationFailure::new("`in` is for lists and maps"))
}

fn add<'a>(left: &Value<'a>, right: &Value<'a>, steps: &mut StepBudget) -> Evaluated<'a> {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_add(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_add(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a + b)),
        (Value::Text(a), Value::Text(b)) => {
            steps.take_bytes(a.len() + b.len())?;
            Ok(Value::Text(Cow::Owned(format!("{a}{b}"))))
        }
        (Value::Duration(a), Value::Duration(b)) => duration(a.checked_add(*b)),
        (Value::Timestamp(at), Value::Duration(ms))
        | (Value::Duration(ms), Value::Timestamp(at)) => timestamp(at.0.checked_add(*ms)),
        (a, b) => {
            let (a, b) = (a.elements(), b.elements());
            let (a, b) =
                a.zip(b).ok_or(EvaluationFailure::new("`+` is not for values of these types"))?;
            steps.take_elements(a.len() + b.len())?;
            Ok(Value::of_list(a.into_iter().chain(b)))
        }
    }
}

fn arithmetic<'a>(operator: Operator, left: &Value<'a>, right: &Value<'a>) -> Evaluated<'a> {
    match (operator, left, right) {
        (Operator::Subtract, Value::Int(a), Value::Int(b)) => int(a.checked_sub(*b)),
        (Operator::Multiply, Value::Int(a), Value::Int(b)) => int(a.checked_mul(*b)),
        (Operator::Divide, Value::Int(a), Value::Int(b)) => int(a.checked_div(*b)),
        (Operator::Remainder, Value::Int(a), Value::Int(b)) => int(a.checked_rem(*b)),
        (Operator::Subtract, Value::Uint(a), Value::Uint(b)) => uint(a.checked_sub(*b)),
        (Operator::Multiply, Value::Uint(a), Value::Uint(b)) => uint(a.checked_mul(*b)),
        (Operator::Divide, Value::Uint(a), Value::Uint(b)) => uint(a.checked_div(*b)),
        (Operator::Remainder, Value::Uint(a), Value::Uint(b)) => uint(a.checked_rem(*b)),
        (Operator::Subtract, Value::Double(a), Value::Double(b)) => Ok(Value::Double(a - b)),
        (Operator::Multiply, Value::Double(a), Value::Double(b)) => Ok(Value::Double(a * b)),
        (Operator::Divide, Value::Double(a), Value::Double(b)) => Ok(Value::Double(a / b)),
        (Operator::Subtract, Value::Duration(a), Value::Duration(b)) => duration(a.checked_sub(*b)),
        (Operator::Subtract, Value::Timestamp(a), Value::Timestamp(b)) => {
            duration(a.0.checked_sub(b.0))
        }
        (Operator::Subtract, Value::Timestamp(at), Value::Duration(ms)) => {
            timestamp(at.0.checked_sub(*ms))
        }
        _ => Err(EvaluationFailure::new("the operator is not for values of these types")),
    }
}
