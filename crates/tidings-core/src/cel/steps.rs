//! The steps of an evaluation, which bound it.

use super::fault::EvaluationFailure;

/// Maximum number of steps of an evaluation: parts of the expression, elements, and 64 bytes of text each.
pub const STEPS_MAX: u32 = 20_000;

/// The steps that are left.
#[derive(Debug)]
pub(super) struct StepBudget(u32);

impl StepBudget {
    pub(super) fn new() -> Self {
        Self(STEPS_MAX)
    }

    /// Returns true if there are none left.
    pub(super) fn are_used_up(&self) -> bool {
        self.0 == 0
    }

    pub(super) fn take(&mut self, steps: u32) -> Result<(), EvaluationFailure> {
        let left = self.0.checked_sub(steps);
        self.0 = left.unwrap_or(0);
        left.map(drop).ok_or(EvaluationFailure::new("the evaluation takes too many steps"))
    }

    /// Takes the steps of a number of bytes of text.
    pub(super) fn take_bytes(&mut self, bytes: usize) -> Result<(), EvaluationFailure> {
        self.take(u32::try_from(bytes / 64).unwrap_or(u32::MAX))
    }

    /// Takes the steps of a number of elements.
    pub(super) fn take_elements(&mut self, elements: usize) -> Result<(), EvaluationFailure> {
        self.take(u32::try_from(elements).unwrap_or(u32::MAX))
    }
}
