//! The kinds of values that an expression can have, found before its first evaluation.
//!
//! Published values may be of any kind. An operation that fails for all of them is a fault of the configuration, and
//! has a place there.

use super::call::Function;
use super::fault::CelFault;
use super::names::{Root, ValueKind};
use super::parse;
use super::parse::{Expression, ExpressionNode, ListMacro, Literal, MacroKind, Operator};

/// Refuses an expression that is not of the kind that it has to have.
pub(super) fn check(
    expression: &Expression,
    kind: ValueKind,
    wanted: Option<ValueKind>,
) -> Result<(), CelFault> {
    match wanted.filter(|wanted| !kind.may_be(&[*wanted])) {
        None => Ok(()),
        Some(wanted) => {
            let what = format!("the expression is {}", kind.name());
            Err(CelFault::new(expression.offset, what, format!("{} is wanted", wanted.name())))
        }
    }
}

const NUMBERS: [ValueKind; 3] = [ValueKind::Int, ValueKind::Uint, ValueKind::Double];

type KindResult = Result<ValueKind, CelFault>;

/// The walk over an expression.
pub(super) struct KindInference<'a> {
    roots: &'static [Root],
    /// The names of the macros around.
    locals: Vec<&'a str>,
}

impl<'a> KindInference<'a> {
    /// The kind of a whole expression.
    pub(super) fn of(expression: &'a Expression, roots: &'static [Root]) -> KindResult {
        let locals = Vec::new();
        Self { roots, locals }.kind(expression)
    }

    fn kind(&mut self, expression: &'a Expression) -> KindResult {
        let at = expression.offset;
        match &expression.node {
            ExpressionNode::Literal(literal) => Ok(of_literal(literal)),
            ExpressionNode::Name(_) => {
                Ok(self.root(expression).map_or(ValueKind::Any, |root| root.kind))
            }
            ExpressionNode::Select { of, is_test, .. } => {
                self.wants(of, &[ValueKind::Map], "only objects have fields")?;
                Ok(if *is_test {
                    ValueKind::Bool
                } else {
                    self.root(expression).map_or(ValueKind::Any, |root| root.kind)
                })
            }
            ExpressionNode::Index(sides) => {
                let kinds = [ValueKind::List, ValueKind::Map];
                self.wants(&sides[0], &kinds, "only lists and objects have elements")?;
                self.kind(&sides[1])?;
                Ok(ValueKind::Any)
            }
            ExpressionNode::Not(of) => {
                self.wants(of, &[ValueKind::Bool], "`!` is for true and false")
            }
            ExpressionNode::Negate(of) => {
                let kinds = [ValueKind::Int, ValueKind::Double, ValueKind::Duration];
                self.wants(of, &kinds, "`-` is for numbers and durations")
            }
            ExpressionNode::Binary(operator, sides) => {
                let (left, right) = (self.kind(&sides[0])?, self.kind(&sides[1])?);
                binary(*operator, left, right).ok_or_else(|| apart(at, left, right))
            }
            ExpressionNode::All(parts) | ExpressionNode::Any(parts) => {
                for part in parts {
                    self.wants(part, &[ValueKind::Bool], "`&&` and `||` are for true and false")?;
                }
                Ok(ValueKind::Bool)
            }
            ExpressionNode::Choose(parts) => {
                let what = "what stands before `?` is true or false";
                self.wants(&parts[0], &[ValueKind::Bool], what)?;
                let (yes, no) = (self.kind(&parts[1])?, self.kind(&parts[2])?);
                Ok(if yes == no { yes } else { ValueKind::Any })
            }
            ExpressionNode::List(parts) => {
                parts.iter().try_for_each(|part| self.kind(part).map(drop))?;
                Ok(ValueKind::List)
            }
            ExpressionNode::Map(pairs) => {
                let mut parts = pairs.iter().flatten();
                parts.try_for_each(|part| self.kind(part).map(drop))?;
                Ok(ValueKind::Map)
            }
            ExpressionNode::Call(function, arguments) => self.call(*function, arguments),
            ExpressionNode::Fold(fold) => self.fold(fold),
        }
    }

    /// The kind of an expression that has to be one of some kinds.
    fn wants(&mut self, of: &'a Expression, kinds: &[ValueKind], what: &str) -> KindResult {
        let kind = self.kind(of)?;
        if kind.may_be(kinds) {
            Ok(kind)
        } else {
            Err(CelFault::new(of.offset, what, format!("this is {}", kind.name())))
        }
    }

    fn fold(&mut self, fold: &'a ListMacro) -> KindResult {
        let kinds = [ValueKind::List, ValueKind::Map];
        self.wants(&fold.over, &kinds, "only lists and objects have elements")?;
        self.locals.push(&fold.name);
        if let Some(test) = &fold.test {
            let what = "what is asked of an element is true or false";
            self.wants(test, &[ValueKind::Bool], what)?;
        }
        if let Some(result) = &fold.result {
            self.kind(result)?;
        }
        self.locals.pop();
        Ok(match fold.kind {
            MacroKind::All | MacroKind::Exists | MacroKind::ExistsOne => ValueKind::Bool,
            MacroKind::Gather => ValueKind::List,
        })
    }

    fn call(&mut self, function: Function, arguments: &'a [Expression]) -> KindResult {
        let (takes, gives) = function.kinds();
        for (argument, kinds) in arguments.iter().zip([takes, &[ValueKind::Text]]) {
            if kinds.is_empty() {
                self.kind(argument)?;
            } else {
                self.wants(argument, kinds, function.usage())?;
            }
        }
        Ok(gives)
    }

    /// The name from outside, or its field, that an expression is.
    fn root(&self, of: &Expression) -> Option<&'static Root> {
        let is_local = |name: &str| self.locals.contains(&name);
        parse::root(self.roots, &is_local, of)
    }
}

fn apart(offset: usize, left: ValueKind, right: ValueKind) -> CelFault {
    let what = "the operator is not for values of these types";
    let help = format!("on the left is {}, on the right {}", left.name(), right.name());
    CelFault::new(offset, what, help)
}

fn of_literal(literal: &Literal) -> ValueKind {
    match literal {
        Literal::Null => ValueKind::Null,
        Literal::Bool(_) => ValueKind::Bool,
        Literal::Int(_) => ValueKind::Int,
        Literal::Uint(_) => ValueKind::Uint,
        Literal::Double(_) => ValueKind::Double,
        Literal::Text(_) => ValueKind::Text,
    }
}

/// The kind of an operator's result; `None` = it always fails, or is always false.
fn binary(operator: Operator, left: ValueKind, right: ValueKind) -> Option<ValueKind> {
    let is_open = left == ValueKind::Any || right == ValueKind::Any;
    let numbers = left.is_number() && right.is_number();
    let orders = [ValueKind::Bool, ValueKind::Text, ValueKind::Timestamp, ValueKind::Duration];
    match operator {
        Operator::Equal | Operator::NotEqual => {
            let is_null = left == ValueKind::Null || right == ValueKind::Null;
            (is_open || is_null || numbers || left == right).then_some(ValueKind::Bool)
        }
        Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => {
            let is_good = |kind: ValueKind| kind.may_be(&orders) || kind.is_number();
            let alike = is_open || numbers || left == right;
            (alike && is_good(left) && is_good(right)).then_some(ValueKind::Bool)
        }
        Operator::In => right.may_be(&[ValueKind::List, ValueKind::Map]).then_some(ValueKind::Bool),
        Operator::Add => match (left, right) {
            (ValueKind::Timestamp, of) | (of, ValueKind::Timestamp) => {
                of.may_be(&[ValueKind::Duration]).then_some(ValueKind::Timestamp)
            }
            _ => {
                let kinds = [ValueKind::Text, ValueKind::List, ValueKind::Duration];
                alike(left, right, &kinds)
            }
        },
        Operator::Subtract => match (left, right) {
            (ValueKind::Timestamp, ValueKind::Timestamp) => Some(ValueKind::Duration),
            (ValueKind::Timestamp, ValueKind::Duration) => Some(ValueKind::Timestamp),
            (ValueKind::Timestamp, ValueKind::Any) | (ValueKind::Any, ValueKind::Timestamp) => {
                Some(ValueKind::Any)
            }
            _ => alike(left, right, &[ValueKind::Duration]),
        },
        Operator::Multiply | Operator::Divide => alike(left, right, &[]),
        Operator::Remainder => {
            let kind = alike(left, right, &[])?;
            (kind != ValueKind::Double).then_some(kind)
        }
    }
}

/// The kind of two sides that have to be of one kind: a number, or one of these.
fn alike(left: ValueKind, right: ValueKind, kinds: &[ValueKind]) -> Option<ValueKind> {
    let is_good = |kind: ValueKind| kind.may_be(&NUMBERS) || kinds.contains(&kind);
    match (left, right) {
        (left, right) if !is_good(left) || !is_good(right) => None,
        (ValueKind::Any, _) | (_, ValueKind::Any) => Some(ValueKind::Any),
        (left, right) => (left == right).then_some(left),
    }
}

impl Function {
    /// The kinds of what it is called on, where not all will do, and the kind of what it gives.
    fn kinds(self) -> (&'static [ValueKind], ValueKind) {
        use ValueKind::{Any, Bool, Double, Duration, Int, List, Map, Text, Timestamp, Type, Uint};
        match self {
            Self::Size => (&[Text, List, Map], Int),
            Self::Contains | Self::StartsWith | Self::EndsWith => (&[Text], Bool),
            Self::ToInt => (&[Int, Uint, Double, Text, Timestamp], Int),
            Self::ToUint => (&[Int, Uint, Double, Text], Uint),
            Self::ToDouble => (&[Int, Uint, Double, Text], Double),
            Self::ToText => (&[Text, Int, Uint, Double, Bool, Timestamp, Duration], Text),
            Self::ToBool => (&[Bool, Text], Bool),
            Self::ToTimestamp => (&[Timestamp, Int, Text], Timestamp),
            Self::ToDuration => (&[Duration, Text], Duration),
            Self::TypeOf => (&[], Type),
            Self::Dyn => (&[], Any),
            Self::Year
            | Self::Month
            | Self::Date
            | Self::DayOfMonth
            | Self::DayOfWeek
            | Self::DayOfYear => (&[Timestamp], Int),
            Self::Hours | Self::Minutes | Self::Seconds | Self::Milliseconds => {
                (&[Timestamp, Duration], Int)
            }
        }
    }
}
