//! The messages that are built and not handed over, which the senders hold during a step.
//!
//! Only the senders know which messages they still have, and a step never calls them. Before the step the engine names
//! the messages that it may touch, the caller lets the senders hold those, and passes their answers to the step. So a
//! step is a function of state, commands, instant and answers (decision 062).

use std::collections::BTreeMap;

use crate::model::number::MessageId;

/// The state of a message that the senders keep back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptBackState {
    /// It was surely not handed over.
    KeptBack,
    /// An earlier attempt may have handed it over.
    InDoubt,
}

/// The messages that the senders keep back for a step; any other is being handed over, or was.
pub type Reach = BTreeMap<MessageId, KeptBackState>;
