//! The parts of a condition by whether they ask for a name, so that what does not is asked once for many.

use super::Program;
use super::parse::{Expression, ExpressionNode};

impl Program {
    /// The condition as two, which both have to hold: one that does not ask for a name, and one that does; `None` = it
    /// always holds. An answer of one makes up for the failure of the other only where it is false, as with `&&`.
    ///
    /// # Examples
    /// ```
    /// use tidings_core::cel::{OF_CONDITION, Program, Value};
    ///
    /// let text = "now < timestamp('2024-01-01T00:00:00Z') && recipient.id != 'ada'";
    /// let (once, each) = Program::compile(text, OF_CONDITION).unwrap().apart("recipient");
    /// assert!(once.is_some_and(|program| program.reads("now") && !program.reads("recipient")));
    /// assert!(each.is_some_and(|program| program.reads("recipient") && !program.reads("now")));
    /// ```
    #[must_use]
    pub fn apart(&self, name: &str) -> (Option<Self>, Option<Self>) {
        let parts = match &self.expression.node {
            ExpressionNode::All(parts) => &parts[..],
            _ => std::slice::from_ref(&self.expression),
        };
        let (each, once) = parts.iter().cloned().partition::<Vec<_>, _>(|part| part.names(name));
        let of = |parts: Vec<Expression>| {
            let names_read = self
                .names_read
                .iter()
                .copied()
                .filter(|name| parts.iter().any(|part| part.names(name)))
                .collect();
            let expression = match <[_; 1]>::try_from(parts) {
                Ok([part]) => part,
                Err(parts) if parts.is_empty() => return None,
                Err(parts) => Expression { node: ExpressionNode::All(parts), ..self.expression },
            };
            let text = self.text.clone();
            Some(Self { text, expression, names_read })
        };
        (of(once), of(each))
    }
}

impl Expression {
    /// Returns true if a name comes in it.
    pub(super) fn names(&self, name: &str) -> bool {
        let names = |part: &Self| part.names(name);
        match &self.node {
            ExpressionNode::Literal(_) => false,
            ExpressionNode::Name(of) => of == name,
            ExpressionNode::Select { of, .. }
            | ExpressionNode::Not(of)
            | ExpressionNode::Negate(of) => of.names(name),
            ExpressionNode::Index(parts) | ExpressionNode::Binary(_, parts) => {
                parts.iter().any(names)
            }
            ExpressionNode::Choose(parts) => parts.iter().any(names),
            ExpressionNode::All(parts)
            | ExpressionNode::Any(parts)
            | ExpressionNode::List(parts)
            | ExpressionNode::Call(_, parts) => parts.iter().any(names),
            ExpressionNode::Map(pairs) => pairs.iter().flatten().any(names),
            ExpressionNode::Fold(fold) => {
                let parts = [fold.test.as_ref(), fold.result.as_ref()];
                fold.over.names(name) || parts.into_iter().flatten().any(names)
            }
        }
    }
}
