//! From text to an expression: names and functions are known then, and its depth is bounded.

use super::call::Function;
use super::fault::CelFault;
use super::lex::{PlacedToken, Token, tokens};
use super::names::{DEPTH_MAX, EXPRESSION_BYTES_MAX, Root};

/// An expression, with its depth.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expression {
    pub(super) node: ExpressionNode,
    pub(super) depth: u16,
    pub(super) offset: usize,
}

/// A node of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ExpressionNode {
    Literal(Literal),
    Name(String),
    /// A field, or whether there is one.
    Select {
        of: Box<Expression>,
        field: String,
        is_test: bool,
    },
    Index(Box<[Expression; 2]>),
    Not(Box<Expression>),
    Negate(Box<Expression>),
    Binary(Operator, Box<[Expression; 2]>),
    All(Vec<Expression>),
    Any(Vec<Expression>),
    Choose(Box<[Expression; 3]>),
    List(Vec<Expression>),
    Map(Vec<[Expression; 2]>),
    Call(Function, Vec<Expression>),
    Fold(Box<ListMacro>),
}

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(String),
}

/// A macro over the elements of a list or the keys of a map.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ListMacro {
    pub(super) kind: MacroKind,
    pub(super) over: Expression,
    pub(super) name: String,
    pub(super) test: Option<Expression>,
    pub(super) result: Option<Expression>,
}

/// The kind of a macro.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MacroKind {
    All,
    Exists,
    ExistsOne,
    /// `map` and `filter`.
    Gather,
}

/// An operator with two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// Words that are no names.
const RESERVED: [&str; 19] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
    "in",
    "null",
];

/// A parser of one expression.
pub(super) struct Parser {
    tokens: Vec<PlacedToken>,
    next: usize,
    /// The names from outside.
    roots: &'static [Root],
    /// The names of the macros around.
    locals: Vec<String>,
    /// The names from outside that the expression asks for.
    names_read: Vec<&'static str>,
    /// Expressions within each other that are open; each takes several levels of the stack.
    open: u16,
}

type Parsed = Result<Expression, CelFault>;

impl Parser {
    /// Reads a whole expression, and the names from outside that it asks for.
    pub(super) fn parse(
        text: &str,
        roots: &'static [Root],
    ) -> Result<(Expression, Vec<&'static str>), CelFault> {
        if text.len() > EXPRESSION_BYTES_MAX {
            let what = format!("the expression has {} bytes", text.len());
            let help = format!("at most {EXPRESSION_BYTES_MAX} are allowed");
            return Err(CelFault::new(EXPRESSION_BYTES_MAX, what, help));
        }
        let mut parser = Self {
            tokens: tokens(text)?,
            next: 0,
            roots,
            locals: Vec::new(),
            names_read: Vec::new(),
            open: 0,
        };
        let expression = parser.expression()?;
        match parser.token() {
            Token::End => Ok((expression, parser.names_read)),
            _ => Err(parser.unexpected("an operator")),
        }
    }

    fn token(&self) -> &Token {
        self.tokens.get(self.next).map_or(&Token::End, |placed| &placed.token)
    }

    fn at(&self) -> usize {
        self.tokens.get(self.next).map_or(0, |placed| placed.offset)
    }

    fn take(&mut self, sign: &'static str) -> bool {
        let is_it = *self.token() == Token::Sign(sign);
        self.next += usize::from(is_it);
        is_it
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), CelFault> {
        if self.take(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    fn unexpected(&self, expected: &str) -> CelFault {
        let help = format!("{expected} is expected here");
        let found = match self.token() {
            Token::End => return CelFault::new(self.at(), "the expression ends too early", help),
            Token::Name(name) => format!("`{name}`"),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::Text(_) => "a text".to_owned(),
            Token::Int(_) | Token::IntBound | Token::Uint(_) | Token::Double(_) => {
                "a number".to_owned()
            }
        };
        CelFault::new(self.at(), format!("the expression goes on with {found}"), help)
    }

    /// An expression of a kind around others, if it is not too deep.
    fn around(&self, offset: usize, node: ExpressionNode) -> Parsed {
        let below = match &node {
            ExpressionNode::Literal(_) | ExpressionNode::Name(_) => 0,
            ExpressionNode::Select { of, .. }
            | ExpressionNode::Not(of)
            | ExpressionNode::Negate(of) => of.depth,
            ExpressionNode::Index(sides) | ExpressionNode::Binary(_, sides) => deepest(&**sides),
            ExpressionNode::Choose(parts) => deepest(&**parts),
            ExpressionNode::All(parts)
            | ExpressionNode::Any(parts)
            | ExpressionNode::List(parts)
            | ExpressionNode::Call(_, parts) => deepest(parts),
            ExpressionNode::Map(pairs) => deepest(pairs.as_flattened()),
            ExpressionNode::Fold(fold) => {
                let parts = [&fold.test, &fold.result].into_iter().flatten();
                parts.map(|part| part.depth).chain([fold.over.depth]).max().unwrap_or(0)
            }
        };
        match below {
            DEPTH_MAX.. => Err(too_deep(offset)),
            below => Ok(Expression { node, depth: below + 1, offset }),
        }
    }

    fn expression(&mut self) -> Parsed {
        let at = self.at();
        self.open += 1;
        if self.open > DEPTH_MAX / 2 + 1 {
            return Err(too_deep(at));
        }
        let condition = self.several("||", ExpressionNode::Any, |parser| {
            parser.several("&&", ExpressionNode::All, Self::comparison)
        })?;
        let whole = if self.take("?") {
            let yes = self.expression()?;
            self.expect(":")?;
            let no = self.expression()?;
            self.around(at, ExpressionNode::Choose(Box::new([condition, yes, no])))?
        } else {
            condition
        };
        self.open -= 1;
        Ok(whole)
    }

    /// Several parts with the same sign between them, or one.
    fn several(
        &mut self,
        sign: &'static str,
        node: fn(Vec<Expression>) -> ExpressionNode,
        mut part: impl FnMut(&mut Self) -> Parsed,
    ) -> Parsed {
        let at = self.at();
        let first = part(self)?;
        if *self.token() != Token::Sign(sign) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.take(sign) {
            parts.push(part(self)?);
        }
        self.around(at, node(parts))
    }

    fn comparison(&mut self) -> Parsed {
        const SIGNS: [(&str, Operator); 6] = [
            ("==", Operator::Equal),
            ("!=", Operator::NotEqual),
            ("<=", Operator::LessOrEqual),
            (">=", Operator::GreaterOrEqual),
            ("<", Operator::Less),
            (">", Operator::Greater),
        ];
        let mut left = self.sum()?;
        loop {
            let at = self.at();
            let sign = SIGNS.iter().find(|(sign, _)| *self.token() == Token::Sign(sign));
            let operator = match (sign, self.token()) {
                (Some((_, operator)), _) => *operator,
                (None, Token::Name(name)) if name == "in" => Operator::In,
                _ => return Ok(left),
            };
            self.next += 1;
            let right = self.sum()?;
            left = self.around(at, ExpressionNode::Binary(operator, Box::new([left, right])))?;
        }
    }

    fn sum(&mut self) -> Parsed {
        const SIGNS: [(&str, Operator); 2] = [("+", Operator::Add), ("-", Operator::Subtract)];
        self.left_to_right(&SIGNS, |parser| {
            const SIGNS: [(&str, Operator); 3] =
                [("*", Operator::Multiply), ("/", Operator::Divide), ("%", Operator::Remainder)];
            parser.left_to_right(&SIGNS, Self::unary)
        })
    }

    fn left_to_right(
        &mut self,
        signs: &[(&'static str, Operator)],
        part: impl Fn(&mut Self) -> Parsed,
    ) -> Parsed {
        let mut left = part(self)?;
        loop {
            let at = self.at();
            let Some((_, operator)) = signs.iter().find(|(sign, _)| self.take(sign)) else {
                return Ok(left);
            };
            let right = part(self)?;
            left = self.around(at, ExpressionNode::Binary(*operator, Box::new([left, right])))?;
        }
    }

    fn unary(&mut self) -> Parsed {
        let at = self.at();
        let mut nots = 0;
        while self.take("!") {
            nots += 1;
        }
        let mut negations = 0;
        while nots == 0 && self.take("-") {
            negations += 1;
        }
        // The least integer has no counterpart to be negated.
        if negations > 0 && *self.token() == Token::IntBound {
            self.next += 1;
            let least = Expression {
                node: ExpressionNode::Literal(Literal::Int(i64::MIN)),
                depth: 1,
                offset: at,
            };
            return self.wrapped(at, negations - 1, ExpressionNode::Negate, least);
        }
        let of = self.member()?;
        let of = self.wrapped(at, negations, ExpressionNode::Negate, of)?;
        self.wrapped(at, nots, ExpressionNode::Not, of)
    }

    fn wrapped(
        &self,
        offset: usize,
        times: usize,
        node: fn(Box<Expression>) -> ExpressionNode,
        of: Expression,
    ) -> Parsed {
        (0..times).try_fold(of, |of, _| self.around(offset, node(Box::new(of))))
    }

    /// A primary with fields, indexes and calls behind it.
    fn member(&mut self) -> Parsed {
        let mut of = self.primary()?;
        loop {
            let at = self.at();
            if self.take("[") {
                let index = self.expression()?;
                self.expect("]")?;
                of = self.around(at, ExpressionNode::Index(Box::new([of, index])))?;
            } else if self.take(".") {
                let at = self.at();
                let field = self.name("the name of a field")?;
                of = if self.take("(") {
                    self.method(at, &field, of)?
                } else {
                    self.check_field(at, &of, &field)?;
                    let of = Box::new(of);
                    let is_test = false;
                    self.around(at, ExpressionNode::Select { of, field, is_test })?
                };
            } else {
                return Ok(of);
            }
        }
    }

    fn name(&mut self, expected: &str) -> Result<String, CelFault> {
        let name = match self.token() {
            Token::Name(name) => name.clone(),
            _ => return Err(self.unexpected(expected)),
        };
        self.next += 1;
        Ok(name)
    }

    fn primary(&mut self) -> Parsed {
        let at = self.at();
        let literal = match self.token().clone() {
            Token::Int(value) => Literal::Int(value),
            Token::Uint(value) => Literal::Uint(value),
            Token::Double(value) => Literal::Double(value),
            Token::Text(text) => Literal::Text(text),
            Token::Name(name) => match &*name {
                "true" => Literal::Bool(true),
                "false" => Literal::Bool(false),
                "null" => Literal::Null,
                _ => {
                    self.next += 1;
                    return self.named(at, name);
                }
            },
            Token::Sign("(") => {
                self.next += 1;
                let within = self.expression()?;
                self.expect(")")?;
                return Ok(within);
            }
            Token::Sign("[") => {
                self.next += 1;
                let parts = self.list("]")?;
                return self.around(at, ExpressionNode::List(parts));
            }
            Token::Sign("{") => {
                self.next += 1;
                return self.map(at);
            }
            Token::Sign(_) | Token::IntBound | Token::End => {
                return Err(self.unexpected("a value"));
            }
        };
        self.next += 1;
        self.around(at, ExpressionNode::Literal(literal))
    }

    fn list(&mut self, end: &'static str) -> Result<Vec<Expression>, CelFault> {
        let mut parts = Vec::new();
        while !self.take(end) {
            parts.push(self.expression()?);
            if !self.take(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(parts)
    }

    fn map(&mut self, offset: usize) -> Parsed {
        let mut pairs = Vec::new();
        while !self.take("}") {
            let key = self.expression()?;
            self.expect(":")?;
            pairs.push([key, self.expression()?]);
            if !self.take(",") {
                self.expect("}")?;
                break;
            }
        }
        self.around(offset, ExpressionNode::Map(pairs))
    }

    /// A name: a value from outside, one of a macro, or a function.
    fn named(&mut self, offset: usize, name: String) -> Parsed {
        if self.take("(") {
            if name == "has" {
                return self.has(offset);
            }
            let function = Function::global(&name);
            let function =
                function.ok_or_else(|| unknown(offset, "function", &name, &Function::globals()))?;
            let arguments = self.list(")")?;
            return self.call(offset, function, arguments);
        }
        if RESERVED.contains(&&*name) {
            let what = format!("`{name}` is a reserved word");
            return Err(CelFault::new(offset, what, "a name or a value is expected here"));
        }
        let is_local = self.locals.contains(&name);
        let root = self.roots.iter().find(|root| root.name == name);
        if let Some(root) = root.filter(|_| !is_local) {
            self.names_read.push(root.name);
        }
        if root.is_none() && !is_local {
            let known: Vec<&str> = self
                .roots
                .iter()
                .map(|root| root.name)
                .chain(self.locals.iter().map(String::as_str))
                .collect();
            return Err(unknown(offset, "name", &name, &known));
        }
        self.around(offset, ExpressionNode::Name(name))
    }

    fn has(&mut self, offset: usize) -> Parsed {
        let argument = self.expression()?;
        self.expect(")")?;
        match argument.node {
            ExpressionNode::Select { of, field, .. } => {
                let is_test = true;
                self.around(offset, ExpressionNode::Select { of, field, is_test })
            }
            _ => {
                let help = "ask for a field, as in `has(event.target)`";
                Err(CelFault::new(
                    argument.offset,
                    "`has` asks for something that is no field",
                    help,
                ))
            }
        }
    }

    fn method(&mut self, offset: usize, name: &str, of: Expression) -> Parsed {
        let kind = match name {
            "all" => MacroKind::All,
            "exists" => MacroKind::Exists,
            "exists_one" => MacroKind::ExistsOne,
            "map" | "filter" => MacroKind::Gather,
            _ => {
                let function = Function::method(name);
                let function = function
                    .ok_or_else(|| unknown(offset, "function", name, &Function::methods()))?;
                let mut arguments = vec![of];
                arguments.extend(self.list(")")?);
                return self.call(offset, function, arguments);
            }
        };
        let variable = self.name("a name for the element")?;
        self.expect(",")?;
        self.locals.push(variable.clone());
        let first = self.expression()?;
        let second = if name == "map" && self.take(",") { Some(self.expression()?) } else { None };
        self.locals.pop();
        self.expect(")")?;
        let (test, result) = match (name, second) {
            ("map", Some(result)) => (Some(first), Some(result)),
            ("map", None) => (None, Some(first)),
            _ => (Some(first), None),
        };
        let fold = ListMacro { kind, over: of, name: variable, test, result };
        self.around(offset, ExpressionNode::Fold(Box::new(fold)))
    }

    fn call(&self, offset: usize, function: Function, arguments: Vec<Expression>) -> Parsed {
        if function.takes(arguments.len()) {
            return self.around(offset, ExpressionNode::Call(function, arguments));
        }
        let what = "the function has another number of arguments";
        Err(CelFault::new(offset, what, function.usage()))
    }

    /// Refuses a field that its object never has.
    fn check_field(&self, offset: usize, of: &Expression, field: &str) -> Result<(), CelFault> {
        let Some(fields) = self.fields_of(of) else {
            return Ok(());
        };
        if fields.iter().any(|known| known.name == field) {
            Ok(())
        } else {
            let known: Vec<&str> = fields.iter().map(|known| known.name).collect();
            Err(unknown(offset, "field", field, &known))
        }
    }

    /// The fields of what an expression names; `None` = any.
    fn fields_of(&self, of: &Expression) -> Option<&'static [Root]> {
        let is_local = |name: &str| self.locals.iter().any(|local| local == name);
        root(self.roots, &is_local, of)?.fields
    }
}

/// The name from outside, or its field, that an expression is.
pub(super) fn root(
    roots: &'static [Root],
    is_local: &dyn Fn(&str) -> bool,
    of: &Expression,
) -> Option<&'static Root> {
    let (fields, name) = match &of.node {
        ExpressionNode::Name(name) if !is_local(name) => (roots, name),
        ExpressionNode::Select { of, field, .. } => (root(roots, is_local, of)?.fields?, field),
        _ => return None,
    };
    fields.iter().find(|root| root.name == name)
}

fn deepest<'a>(parts: impl IntoIterator<Item = &'a Expression>) -> u16 {
    parts.into_iter().map(|part| part.depth).max().unwrap_or(0)
}

fn too_deep(offset: usize) -> CelFault {
    let help = format!("at most {DEPTH_MAX} levels are allowed");
    CelFault::new(offset, "the expression is too deep", help)
}

fn unknown(offset: usize, what: &str, name: &str, known: &[&str]) -> CelFault {
    let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    let mut help = format!("known are {}", known.join(", "));
    if name == "matches" {
        help = format!("there are no regular expressions; {help}");
    }
    CelFault::new(offset, format!("unknown {what} `{name}`"), help)
}
