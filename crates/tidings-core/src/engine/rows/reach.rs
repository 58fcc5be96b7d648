//! The messages that are built and not handed over, as the senders keep them back for a step.
//!
//! Only the senders know which messages they still have. A step never asks them: before it, the engine
//! names the messages that the step may touch, the caller has the senders keep those back, and hands in
//! what they answered. So a step is a function of state, commands, instant and answers (decision 062).

use std::collections::BTreeMap;

use crate::model::number::MessageId;

/// The state of a message that the senders keep back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// It was surely not handed over.
    KeptBack,
    /// An earlier attempt may have handed it over.
    InDoubt,
}

/// The messages that the senders keep back for a step; any other is being handed over, or was.
pub type Reach = BTreeMap<MessageId, Reached>;
