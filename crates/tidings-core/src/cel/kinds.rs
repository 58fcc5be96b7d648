//! The kinds of values that an expression can have, found before its first evaluation.
//!
//! Published values may be of any kind. An operation that fails for all of them is a fault of the configuration, and
//! has a place there.

use super::call::Function;
use super::fault::Fault;
use super::names::{Kind, Root};
use super::parse;
use super::parse::{Expression, Fold, Folding, Literal, Node, Operator};

/// Refuses an expression that is not of the kind that it has to have.
pub(super) fn check(
    expression: &Expression,
    kind: Kind,
    wanted: Option<Kind>,
) -> Result<(), Fault> {
    match wanted.filter(|wanted| !kind.may_be(&[*wanted])) {
        None => Ok(()),
        Some(wanted) => {
            let what = format!("the expression is {}", kind.name());
            Err(Fault::new(expression.at, what, format!("{} is wanted", wanted.name())))
        }
    }
}

const NUMBERS: [Kind; 3] = [Kind::Int, Kind::Uint, Kind::Double];

type Found = Result<Kind, Fault>;

/// The walk over an expression.
pub(super) struct Kinds<'a> {
    roots: &'static [Root],
    /// The names of the macros around.
    locals: Vec<&'a str>,
}

impl<'a> Kinds<'a> {
    /// The kind of a whole expression.
    pub(super) fn of(expression: &'a Expression, roots: &'static [Root]) -> Found {
        let locals = Vec::new();
        Self { roots, locals }.kind(expression)
    }

    fn kind(&mut self, expression: &'a Expression) -> Found {
        let at = expression.at;
        match &expression.node {
            Node::Literal(literal) => Ok(of_literal(literal)),
            Node::Name(_) => Ok(self.root(expression).map_or(Kind::Any, |root| root.kind)),
            Node::Select { of, is_test, .. } => {
                self.wants(of, &[Kind::Map], "only objects have fields")?;
                Ok(if *is_test {
                    Kind::Bool
                } else {
                    self.root(expression).map_or(Kind::Any, |root| root.kind)
                })
            }
            Node::Index(sides) => {
                let kinds = [Kind::List, Kind::Map];
                self.wants(&sides[0], &kinds, "only lists and objects have elements")?;
                self.kind(&sides[1])?;
                Ok(Kind::Any)
            }
            Node::Not(of) => self.wants(of, &[Kind::Bool], "`!` is for true and false"),
            Node::Negate(of) => {
                let kinds = [Kind::Int, Kind::Double, Kind::Duration];
                self.wants(of, &kinds, "`-` is for numbers and durations")
            }
            Node::Binary(operator, sides) => {
                let (left, right) = (self.kind(&sides[0])?, self.kind(&sides[1])?);
                binary(*operator, left, right).ok_or_else(|| apart(at, left, right))
            }
            Node::All(parts) | Node::Any(parts) => {
                for part in parts {
                    self.wants(part, &[Kind::Bool], "`&&` and `||` are for true and false")?;
                }
                Ok(Kind::Bool)
            }
            Node::Choose(parts) => {
                let what = "what stands before `?` is true or false";
                self.wants(&parts[0], &[Kind::Bool], what)?;
                let (yes, no) = (self.kind(&parts[1])?, self.kind(&parts[2])?);
                Ok(if yes == no { yes } else { Kind::Any })
            }
            Node::List(parts) => {
                parts.iter().try_for_each(|part| self.kind(part).map(drop))?;
                Ok(Kind::List)
            }
            Node::Map(pairs) => {
                let mut parts = pairs.iter().flatten();
                parts.try_for_each(|part| self.kind(part).map(drop))?;
                Ok(Kind::Map)
            }
            Node::Call(function, arguments) => self.call(*function, arguments),
            Node::Fold(fold) => self.fold(fold),
        }
    }

    /// The kind of an expression that has to be one of some kinds.
    fn wants(&mut self, of: &'a Expression, kinds: &[Kind], what: &str) -> Found {
        let kind = self.kind(of)?;
        if kind.may_be(kinds) {
            Ok(kind)
        } else {
            Err(Fault::new(of.at, what, format!("this is {}", kind.name())))
        }
    }

    fn fold(&mut self, fold: &'a Fold) -> Found {
        let kinds = [Kind::List, Kind::Map];
        self.wants(&fold.over, &kinds, "only lists and objects have elements")?;
        self.locals.push(&fold.name);
        if let Some(test) = &fold.test {
            let what = "what is asked of an element is true or false";
            self.wants(test, &[Kind::Bool], what)?;
        }
        if let Some(result) = &fold.result {
            self.kind(result)?;
        }
        self.locals.pop();
        Ok(match fold.kind {
            Folding::All | Folding::Exists | Folding::ExistsOne => Kind::Bool,
            Folding::Gather => Kind::List,
        })
    }

    fn call(&mut self, function: Function, arguments: &'a [Expression]) -> Found {
        let (takes, gives) = function.kinds();
        for (argument, kinds) in arguments.iter().zip([takes, &[Kind::Text]]) {
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

fn apart(at: usize, left: Kind, right: Kind) -> Fault {
    let what = "the operator is not for values of these types";
    let help = format!("on the left is {}, on the right {}", left.name(), right.name());
    Fault::new(at, what, help)
}

fn of_literal(literal: &Literal) -> Kind {
    match literal {
        Literal::Null => Kind::Null,
        Literal::Bool(_) => Kind::Bool,
        Literal::Int(_) => Kind::Int,
        Literal::Uint(_) => Kind::Uint,
        Literal::Double(_) => Kind::Double,
        Literal::Text(_) => Kind::Text,
    }
}

/// The kind of an operator's result; `None` = it always fails, or is always false.
fn binary(operator: Operator, left: Kind, right: Kind) -> Option<Kind> {
    let is_open = left == Kind::Any || right == Kind::Any;
    let numbers = left.is_number() && right.is_number();
    let orders = [Kind::Bool, Kind::Text, Kind::Timestamp, Kind::Duration];
    match operator {
        Operator::Equal | Operator::NotEqual => {
            let is_null = left == Kind::Null || right == Kind::Null;
            (is_open || is_null || numbers || left == right).then_some(Kind::Bool)
        }
        Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => {
            let is_good = |kind: Kind| kind.may_be(&orders) || kind.is_number();
            let alike = is_open || numbers || left == right;
            (alike && is_good(left) && is_good(right)).then_some(Kind::Bool)
        }
        Operator::In => right.may_be(&[Kind::List, Kind::Map]).then_some(Kind::Bool),
        Operator::Add => match (left, right) {
            (Kind::Timestamp, of) | (of, Kind::Timestamp) => {
                of.may_be(&[Kind::Duration]).then_some(Kind::Timestamp)
            }
            _ => {
                let kinds = [Kind::Text, Kind::List, Kind::Duration];
                alike(left, right, &kinds)
            }
        },
        Operator::Subtract => match (left, right) {
            (Kind::Timestamp, Kind::Timestamp) => Some(Kind::Duration),
            (Kind::Timestamp, Kind::Duration) => Some(Kind::Timestamp),
            (Kind::Timestamp, Kind::Any) | (Kind::Any, Kind::Timestamp) => Some(Kind::Any),
            _ => alike(left, right, &[Kind::Duration]),
        },
        Operator::Multiply | Operator::Divide => alike(left, right, &[]),
        Operator::Remainder => {
            let kind = alike(left, right, &[])?;
            (kind != Kind::Double).then_some(kind)
        }
    }
}

/// The kind of two sides that have to be of one kind: a number, or one of these.
fn alike(left: Kind, right: Kind, kinds: &[Kind]) -> Option<Kind> {
    let is_good = |kind: Kind| kind.may_be(&NUMBERS) || kinds.contains(&kind);
    match (left, right) {
        (left, right) if !is_good(left) || !is_good(right) => None,
        (Kind::Any, _) | (_, Kind::Any) => Some(Kind::Any),
        (left, right) => (left == right).then_some(left),
    }
}

impl Function {
    /// The kinds of what it is called on, where not all will do, and the kind of what it gives.
    fn kinds(self) -> (&'static [Kind], Kind) {
        use Kind::{Any, Bool, Double, Duration, Int, List, Map, Text, Timestamp, Type, Uint};
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
