//! The executor of a node: what runs its commits and its senders, chosen when the node is opened.

/// The executor of commits, packing and sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Executor {
    /// The caller of the node: each step is a commit, which is written at once.
    Caller,
    /// Threads of the node.
    Threads,
    /// The driver, in its own thread.
    Hand,
}
