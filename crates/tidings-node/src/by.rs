//! The one who does the work of a node: it is chosen when the node is opened.

/// The writer of commits, who also packs days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// Whoever calls the node: each step is a commit, which is written at once.
    Caller,
    /// Threads of the node.
    Threads,
    /// The driver, in its own thread.
    Hand,
}
