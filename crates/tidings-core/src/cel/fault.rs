//! Faults: what keeps an expression from being compiled, or an evaluation from giving a value.

/// A fault of an expression, with the byte at which it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {help}")]
pub struct CelFault {
    /// The byte in the expression.
    pub offset: usize,
    /// The fault in words.
    pub what: String,
    /// Advice on how to mend it.
    pub help: String,
}

impl CelFault {
    pub(super) fn new(offset: usize, what: impl Into<String>, help: impl Into<String>) -> Self {
        let (what, help) = (what.into(), help.into());
        Self { offset, what, help }
    }
}

/// The failure of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EvaluationFailure(&'static str);

impl EvaluationFailure {
    pub(super) fn new(what: &'static str) -> Self {
        Self(what)
    }
}
